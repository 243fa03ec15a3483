//! The three passes over a stream, and the comparison afterwards.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use backup_stream::{
    BackupEntry, Decoder, Encoder, EntryFault, EntryKind, StreamLayout, Unpacked, Unpacker, packed,
};
use drivers::{AlignedBuffer, WorkDirectory};

use super::source::BackupItem;
use crate::measure::Stop;
use crate::measure::place::{MeasureError, Result, go_on};
use crate::measure::records::{Flow, Gauge, Named, Who, buffer};

/// Bytes of the source read at a time.
const PIECE_BYTES: usize = 256 << 10;
/// What is looked at to find out what a stream is.
const START_BYTES: u64 = 512;
/// What of a list of damages is told.
const LISTED_MAX: usize = 5;

const END: BackupEntry = BackupEntry {
    kind: EntryKind::End,
    mode: 0,
    size: 0,
    name: Vec::new(),
};

impl From<EntryFault> for MeasureError {
    fn from(fault: EntryFault) -> Self {
        Self::Failed(format!("the stream cannot be decoded: {fault}"))
    }
}

/// Bytes that the stream of these items has.
pub(super) fn expected_bytes(items: &[BackupItem], layout: &StreamLayout) -> u64 {
    let heads: u64 = items
        .iter()
        .map(|item| packed(&item.entry).len() as u64)
        .sum();
    let bytes: u64 = items.iter().map(|item| item.entry.size).sum();
    let content = heads + bytes + packed(&END).len() as u64;
    let data = content.div_ceil(layout.payload() as u64);
    let redundancy = match u64::from(layout.group) {
        0 => 0,
        group => data.div_ceil(group),
    };
    (data + redundancy + 2).saturating_mul(u64::from(layout.block))
}

/// Save the items, and see the stream to the storage.
///
/// # Errors
/// When the source or the stream fails, the source changes meanwhile, or somebody stopped it.
pub fn save(
    items: &[BackupItem],
    layout: &StreamLayout,
    stream: Named<'_>,
    stop: &Stop,
) -> Result<Flow> {
    let gauge = Gauge::start(Who::Thread);
    let mut at = 0;
    let mut sink = |block: &[u8]| {
        let written = stream.file.write_all_at(block, at);
        at += block.len() as u64;
        written.map_err(MeasureError::io("write", stream.path))
    };
    let mut encoder = Encoder::new(*layout, &mut sink)?;
    let mut piece = buffer(PIECE_BYTES)?;
    let mut bytes = 0;
    for item in items {
        go_on(stop)?;
        encoder.put(&packed(&item.entry), &mut sink)?;
        bytes += item.entry.size;
        if item.entry.kind == EntryKind::Link {
            encoder.put(&item.link()?, &mut sink)?;
        }
        if !item.has_bytes() {
            continue;
        }
        let file = item.open()?;
        let mut done = 0;
        while done < item.entry.size {
            go_on(stop)?;
            let len = (item.entry.size - done).min(PIECE_BYTES as u64) as usize;
            let read = &mut piece.as_mut_slice()[..len];
            read_source(item, &file, read, done)?;
            encoder.put(read, &mut sink)?;
            done += len as u64;
        }
    }
    encoder.put(&packed(&END), &mut sink)?;
    encoder.finish(&mut sink)?;
    stream
        .file
        .sync_data()
        .map_err(MeasureError::io("sync", stream.path))?;
    Ok(gauge.flow(bytes))
}

/// Read the whole stream, check each block, and compare its content with the items.
///
/// # Errors
/// When anything is wrong with a block, even if redundancy makes up for it; when the content is not
/// that of the items; or when somebody stopped it.
pub fn verify(items: &[BackupItem], stream: Named<'_>, stop: &Stop) -> Result<Flow> {
    let gauge = Gauge::start(Who::Thread);
    let mut comparison = StreamComparison {
        items: items.iter(),
        under_way: None,
        piece: buffer(PIECE_BYTES)?,
        bytes: 0,
    };
    let decoder = read_stream(stream, stop, &mut |it| comparison.take(&it))?;
    if decoder.damages_seen() > 0 {
        return Err(damaged(&decoder, stream));
    }
    if comparison.items.next().is_some() {
        let why = format!("{} ends before all was verified", stream.path.display());
        return Err(MeasureError::Failed(why));
    }
    Ok(gauge.flow(comparison.bytes))
}

/// What was restored, flat and numbered in the order of the stream.
#[derive(Debug)]
pub struct Restored {
    /// What it took.
    pub flow: Flow,
    /// Blocks that redundancy made up for.
    pub repaired: u64,
    entries: Vec<(BackupEntry, PathBuf)>,
}

/// Restore all entries into `directory`, one file for each that has bytes.
///
/// # Errors
/// When content is lost, a file cannot be written, or somebody stopped it.
pub fn restore(stream: Named<'_>, directory: &WorkDirectory, stop: &Stop) -> Result<Restored> {
    let gauge = Gauge::start(Who::Thread);
    let mut entries = Vec::new();
    let mut under_way: Option<(File, u64)> = None;
    let mut bytes = 0;
    let decoder = read_stream(stream, stop, &mut |it| match it {
        Unpacked::Entry(entry) => {
            finish(&mut under_way, directory)?;
            let name = format!("entry{:08}", entries.len());
            if !matches!(entry.kind, EntryKind::Directory | EntryKind::End) {
                under_way = Some((directory.create_copy(&name)?, 0));
            }
            entries.push((entry.clone(), directory.path().join(name)));
            Ok(())
        }
        Unpacked::Bytes(piece) => {
            let Some((file, at)) = &mut under_way else {
                return Err(MeasureError::Failed(
                    "bytes follow an entry that has none".into(),
                ));
            };
            let written = file.write_all_at(piece, *at);
            written.map_err(MeasureError::io("write in", directory.path()))?;
            *at += piece.len() as u64;
            bytes += piece.len() as u64;
            Ok(())
        }
    })?;
    finish(&mut under_way, directory)?;
    if !decoder.is_whole() {
        return Err(damaged(&decoder, stream));
    }
    let flow = gauge.flow(bytes);
    Ok(Restored {
        flow,
        repaired: decoder.damages_seen(),
        entries,
    })
}

fn finish(under_way: &mut Option<(File, u64)>, directory: &WorkDirectory) -> Result<()> {
    let Some((file, _)) = under_way.take() else {
        return Ok(());
    };
    file.sync_data()
        .map_err(MeasureError::io("sync files in", directory.path()))
}

impl Restored {
    /// Compare what was restored with the items.
    ///
    /// # Errors
    /// When there is a difference.
    pub fn compare(&self, items: &[BackupItem], stop: &Stop) -> Result<()> {
        let (mut saved, mut restored) = (vec![0; PIECE_BYTES], vec![0; PIECE_BYTES]);
        let differs = |what: &PathBuf| {
            MeasureError::Failed(format!("{} was restored differently", what.display()))
        };
        let is_end = |last: &(BackupEntry, PathBuf)| last.0 == END;
        if self.entries.len() != items.len() + 1 || !self.entries.last().is_some_and(is_end) {
            return Err(MeasureError::Failed(format!(
                "{} entries were restored, and {} were saved",
                self.entries.len().saturating_sub(1),
                items.len()
            )));
        }
        for (item, (entry, path)) in items.iter().zip(&self.entries) {
            go_on(stop)?;
            if *entry != item.entry {
                return Err(differs(&item.path));
            }
            if entry.kind == EntryKind::Link {
                let found = std::fs::read(path).map_err(MeasureError::io("read", path))?;
                if found != item.link()? {
                    return Err(differs(&item.path));
                }
            }
            if !item.has_bytes() {
                continue;
            }
            let original = item.open()?;
            let file = File::open(path).map_err(MeasureError::io("open", path))?;
            let mut at = 0;
            while at < entry.size {
                let len = (entry.size - at).min(PIECE_BYTES as u64) as usize;
                read_source(item, &original, &mut saved[..len], at)?;
                let read = file.read_exact_at(&mut restored[..len], at);
                read.map_err(MeasureError::io("read", path))?;
                if saved[..len] != restored[..len] {
                    return Err(differs(&item.path));
                }
                at += len as u64;
            }
        }
        Ok(())
    }
}

/// Compares content with items as it comes.
struct StreamComparison<'a> {
    items: std::slice::Iter<'a, BackupItem>,
    under_way: Option<OpenItem<'a>>,
    piece: AlignedBuffer,
    bytes: u64,
}

/// An item whose bytes are coming.
struct OpenItem<'a> {
    item: &'a BackupItem,
    file: Option<File>,
    link: Vec<u8>,
    at: u64,
}

impl StreamComparison<'_> {
    fn take(&mut self, it: &Unpacked<'_>) -> Result<()> {
        match it {
            Unpacked::Entry(entry) if **entry == END => Ok(()),
            Unpacked::Entry(entry) => {
                let Some(item) = self.items.next().filter(|item| item.entry == **entry) else {
                    let name = String::from_utf8_lossy(&entry.name);
                    let why = format!("the stream holds {name}, and the source has another there");
                    return Err(MeasureError::Failed(why));
                };
                self.bytes += entry.size;
                let is_link = entry.kind == EntryKind::Link;
                self.under_way = Some(OpenItem {
                    item,
                    file: item.has_bytes().then(|| item.open()).transpose()?,
                    link: if is_link { item.link()? } else { Vec::new() },
                    at: 0,
                });
                Ok(())
            }
            Unpacked::Bytes(bytes) => bytes
                .chunks(PIECE_BYTES)
                .try_for_each(|piece| self.compare(piece)),
        }
    }

    fn compare(&mut self, bytes: &[u8]) -> Result<()> {
        let Some(under_way) = &mut self.under_way else {
            return Err(MeasureError::Failed(
                "the stream has bytes without an entry".into(),
            ));
        };
        let OpenItem {
            item,
            file,
            link,
            at,
        } = under_way;
        let known = match file {
            Some(file) => {
                let known = &mut self.piece.as_mut_slice()[..bytes.len()];
                read_source(item, file, known, *at)?;
                &*known
            }
            None => link
                .get(*at as usize..*at as usize + bytes.len())
                .unwrap_or_default(),
        };
        if known != bytes {
            return Err(MeasureError::Failed(format!(
                "{} differs from what was saved, within the {} bytes from {at} on. Do not trust \
                 this storage, unless the source changed meanwhile",
                item.path.display(),
                bytes.len()
            )));
        }
        *at += bytes.len() as u64;
        Ok(())
    }
}

/// Take a stream apart, all of it unless the sink fails. What is wrong with it is in the decoder.
fn read_stream(
    stream: Named<'_>,
    stop: &Stop,
    sink: &mut impl FnMut(Unpacked<'_>) -> Result<()>,
) -> Result<Decoder> {
    let refused = || MeasureError::io("read", stream.path);
    let len = stream.file.metadata().map_err(refused())?.len();
    let mut start = vec![0; len.min(START_BYTES) as usize];
    stream
        .file
        .read_exact_at(&mut start, 0)
        .map_err(refused())?;
    let mut decoder = Decoder::new(&start, len)
        .map_err(|error| MeasureError::Failed(format!("{}: {error}", stream.path.display())))?;
    let block = decoder.layout().block as usize;
    let mut unpacker = Unpacker::default();
    let mut memory = buffer(block)?;
    let mut at = 0;
    while decoder.wanted() > 0 {
        go_on(stop)?;
        let wanted = decoder.wanted();
        if memory.len() < wanted {
            memory = buffer(wanted)?;
        }
        let blocks = &mut memory.as_mut_slice()[..wanted];
        read_blocks(stream, blocks, at, block);
        decoder.take(blocks, &mut |bytes| unpacker.take(bytes, sink))?;
        at += wanted as u64;
    }
    if decoder.is_whole() && !unpacker.is_ended() {
        let why = format!("{}: its content is cut off", stream.path.display());
        return Err(MeasureError::Failed(why));
    }
    Ok(decoder)
}

/// Read blocks; one that cannot be read is all zero, and so a damaged one.
fn read_blocks(stream: Named<'_>, memory: &mut [u8], at: u64, block: usize) {
    if stream.file.read_exact_at(memory, at).is_ok() {
        return;
    }
    for (number, piece) in memory.chunks_mut(block).enumerate() {
        let start = at + (number * block) as u64;
        if stream.file.read_exact_at(piece, start).is_err() {
            piece.fill(0);
        }
    }
}

fn read_source(item: &BackupItem, file: &File, piece: &mut [u8], at: u64) -> Result<()> {
    file.read_exact_at(piece, at).map_err(|error| {
        if error.kind() == std::io::ErrorKind::UnexpectedEof {
            let why = format!("{} was cut short while it was read", item.path.display());
            return MeasureError::Failed(why);
        }
        MeasureError::io("read", &item.path)(error)
    })
}

fn damaged(decoder: &Decoder, stream: Named<'_>) -> MeasureError {
    let listed: Vec<String> = decoder
        .damages()
        .iter()
        .take(LISTED_MAX)
        .map(ToString::to_string)
        .collect();
    let more = decoder.damages_seen().saturating_sub(listed.len() as u64);
    let more = if more > 0 {
        format!(", and {more} more")
    } else {
        String::new()
    };
    MeasureError::Failed(format!(
        "{} is damaged: {}{more}",
        stream.path.display(),
        listed.join("; ")
    ))
}
