//! Content of a stream: files, directories and links one after the other, or an image.

use crate::block::{u32_at, u64_at};

/// Maximum length of a name, which is a path.
pub const NAME_BYTES_MAX: usize = 4096;

/// Size of an entry before its name, bytes.
const HEAD_BYTES: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A file, followed by its bytes.
    File,
    Directory,
    /// A symbolic link, followed by its target.
    Link,
    /// A file system or device as a whole, followed by its bytes.
    Image,
    /// The end.
    End,
}

impl EntryKind {
    const ALL: [(Self, u8); 5] = [
        (Self::File, b'F'),
        (Self::Directory, b'D'),
        (Self::Link, b'L'),
        (Self::Image, b'I'),
        (Self::End, b'E'),
    ];
}

/// A saved file, directory, link or image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupEntry {
    pub kind: EntryKind,
    /// Its permissions.
    pub mode: u32,
    /// Number of bytes that follow.
    pub size: u64,
    /// Path from the top of what was saved, as bytes, since names need not be text.
    pub name: Vec<u8>,
}

/// Why content is not a valid sequence of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryFault {
    /// Unknown start of an entry.
    #[error("byte {at} of the content begins no entry")]
    Unknown { at: u64 },
    /// A name is too long.
    #[error("the entry at byte {at} of the content has a name of {bytes} bytes")]
    NameTooLong {
        at: u64,
        /// Its length.
        bytes: usize,
    },
    /// There is content after the end.
    #[error("content follows its end, at byte {at}")]
    BehindEnd { at: u64 },
}

/// Output of unpacking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unpacked<'a> {
    /// An entry starts.
    Entry(&'a BackupEntry),
    /// The next bytes of the current entry.
    Bytes(&'a [u8]),
}

/// The bytes at the start of an entry.
pub fn packed(entry: &BackupEntry) -> Vec<u8> {
    let code = EntryKind::ALL.iter().find(|(kind, _)| *kind == entry.kind);
    let name_len = u16::try_from(entry.name.len()).unwrap_or(u16::MAX);
    assert!(
        usize::from(name_len) <= NAME_BYTES_MAX,
        "a name of {} bytes",
        entry.name.len()
    );
    let mut bytes = vec![code.map_or(0, |(_, code)| *code), 0];
    bytes.extend(name_len.to_le_bytes());
    bytes.extend(entry.mode.to_le_bytes());
    bytes.extend(entry.size.to_le_bytes());
    bytes.extend(&entry.name);
    bytes
}

/// Unpacks content.
#[derive(Debug, Default)]
pub struct Unpacker {
    /// Start of an incomplete entry.
    head: Vec<u8>,
    /// Remaining bytes of the current entry.
    left: u64,
    at: u64,
    is_ended: bool,
}

impl Unpacker {
    /// Processes the next piece of content.
    ///
    /// # Errors
    /// If it is not a valid sequence of entries, and those of the sink.
    // fuzzed: backup_stream
    pub fn take<E: From<EntryFault>>(
        &mut self,
        mut content: &[u8],
        sink: &mut impl FnMut(Unpacked<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while !content.is_empty() {
            if self.is_ended {
                return Err(EntryFault::BehindEnd { at: self.at }.into());
            }
            let taken = if self.left > 0 {
                let len = usize::try_from(self.left).unwrap_or(usize::MAX);
                let len = len.min(content.len());
                sink(Unpacked::Bytes(&content[..len]))?;
                self.left -= len as u64;
                len
            } else {
                self.take_head(content, sink)?
            };
            self.at += taken as u64;
            content = &content[taken..];
        }
        Ok(())
    }

    /// Whether the end was reached.
    pub const fn is_ended(&self) -> bool {
        self.is_ended
    }

    fn take_head<E: From<EntryFault>>(
        &mut self,
        content: &[u8],
        sink: &mut impl FnMut(Unpacked<'_>) -> Result<(), E>,
    ) -> Result<usize, E> {
        let begun = self.at - self.head.len() as u64;
        let mut taken = 0;
        let mut fill_to = |head: &mut Vec<u8>, len: usize| {
            let missing = len.saturating_sub(head.len()).min(content.len() - taken);
            head.extend(&content[taken..taken + missing]);
            taken += missing;
            head.len() >= len
        };
        if !fill_to(&mut self.head, HEAD_BYTES) {
            return Ok(taken);
        }
        let kind = EntryKind::ALL
            .iter()
            .find(|(_, code)| *code == self.head[0]);
        let (kind, _) = kind.ok_or(EntryFault::Unknown { at: begun })?;
        let name_len = usize::from(u16::from_le_bytes([self.head[2], self.head[3]]));
        if name_len > NAME_BYTES_MAX {
            let bytes = name_len;
            return Err(EntryFault::NameTooLong { at: begun, bytes }.into());
        }
        if !fill_to(&mut self.head, HEAD_BYTES + name_len) {
            return Ok(taken);
        }
        let entry = BackupEntry {
            kind: *kind,
            mode: u32_at(&self.head, 4),
            size: u64_at(&self.head, 8),
            name: self.head[HEAD_BYTES..].to_vec(),
        };
        self.head.clear();
        self.left = entry.size;
        self.is_ended = entry.kind == EntryKind::End;
        sink(Unpacked::Entry(&entry))?;
        Ok(taken)
    }
}
