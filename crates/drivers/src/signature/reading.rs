//! Reading here and there, each part of the device once.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// What is read at once.
const CHUNK_BYTES: u64 = 64 << 10;

/// A device of which parts were read.
pub(super) struct DeviceChunks<'a> {
    file: &'a File,
    size: u64,
    chunks: HashMap<u64, Vec<u8>>,
}

impl<'a> DeviceChunks<'a> {
    pub(super) fn new(file: &'a File, size: u64) -> Self {
        Self {
            file,
            size,
            chunks: HashMap::new(),
        }
    }

    /// The `len` bytes at `offset`; fewer where the device ends.
    pub(super) fn bytes(&mut self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let end = offset.saturating_add(len as u64).min(self.size);
        let mut found = Vec::with_capacity(len);
        let mut at = offset;
        while at < end {
            let start = at / CHUNK_BYTES * CHUNK_BYTES;
            let chunk = match self.chunks.entry(start) {
                std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
                std::collections::hash_map::Entry::Vacant(place) => {
                    let len = CHUNK_BYTES.min(self.size - start);
                    place.insert(read_up_to(self.file, start, len)?)
                }
            };
            let wanted = (end - at) as usize;
            let rest = chunk.get((at - start) as usize..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            let taken = &rest[..wanted.min(rest.len())];
            found.extend_from_slice(taken);
            at += taken.len() as u64;
        }
        Ok(found)
    }
}

/// The `len` bytes at `offset`; fewer where the file ends.
pub(super) fn read_up_to(file: &File, offset: u64, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(len).map_err(io::Error::other)?];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}
