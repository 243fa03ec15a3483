//! The kernel's block events: parses binary pages of its ring buffer by the format descriptions of
//! tracefs.
//!
//! Sources: the files `events/header_page`, `events/header_event` and `events/block/*/format` of
//! tracefs, `include/linux/ring_buffer.h`, and `blk_fill_rwbs` for the letters of a request.
//! Numbers are in the byte order of this machine, which wrote them.

use crate::record::TraceOp;

const SECTOR_BYTES: u64 = 512;
/// Bits of a page's length: events were lost before it, and their number follows.
const LOST: u64 = 1 << 31;
const LOST_COUNTED: u64 = 1 << 30;
/// Types of entries without an event.
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
/// Bits of an entry's time delta.
const DELTA_BITS: u32 = 27;
/// Bits of an absolute timestamp. The upper bits are as in the previous one.
const STAMP_BITS: u32 = 59;

/// What happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockEventKind {
    /// A program, or the kernel for it, requested it (`block_io_start`, since Linux 6.5).
    Started,
    /// It was issued to the device (`block_rq_issue`).
    Issued,
    /// The device completed it, or a part of it (`block_rq_complete`).
    Completed,
}

impl BlockEventKind {
    /// The event's name in tracefs.
    pub const fn event_name(self) -> &'static str {
        match self {
            Self::Started => "block_io_start",
            Self::Issued => "block_rq_issue",
            Self::Completed => "block_rq_complete",
        }
    }
}

/// Flags of a request: a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoFlags(pub u8);

impl IoFlags {
    /// Something waits for it.
    pub const SYNC: Self = Self(1);
    /// A write that completes only when durable.
    pub const FUA: Self = Self(1 << 1);
    /// File system metadata.
    pub const META: Self = Self(1 << 2);
    /// Read-ahead.
    pub const AHEAD: Self = Self(1 << 3);
    /// A flush precedes it.
    pub const PREFLUSH: Self = Self(1 << 4);

    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockEvent {
    /// Time by the trace clock, nanoseconds.
    pub time_ns: u64,
    pub kind: BlockEventKind,
    /// The current thread, which belongs to the program only when it started a request.
    pub thread: u32,
    /// Its name, zero-padded; all zeroes for a completion.
    pub thread_name: [u8; 16],
    /// The kernel's device number: 12 bits of major, 20 of minor.
    pub device: u32,
    /// First sector of 512 bytes.
    pub sector: u64,
    pub bytes: u64,
    /// `None` if it moves no data, such as commands that bypass the file system.
    pub op: Option<TraceOp>,
    pub flags: IoFlags,
}

/// Location of a field, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct FieldPlace {
    offset: usize,
    size: usize,
}

/// The fields of tracefs's text, each `field:TYPE NAME; offset:N; size:N; signed:N;`.
fn field_places(text: &str) -> impl Iterator<Item = (&str, FieldPlace)> {
    text.lines().filter_map(|line| {
        let mut parts = line.trim().split(';').map(str::trim);
        let declared = parts.next()?.strip_prefix("field:")?.trim();
        let name = declared.rsplit([' ', '*']).next()?;
        let name = name.split('[').next()?;
        let number = |part: Option<&str>, key: &str| part?.strip_prefix(key)?.parse().ok();
        let offset = number(parts.next(), "offset:")?;
        let size = number(parts.next(), "size:")?;
        Some((name, FieldPlace { offset, size }))
    })
}

/// Layout of an event.
#[derive(Clone, Debug)]
struct EventLayout {
    kind: BlockEventKind,
    id: u16,
    thread: FieldPlace,
    device: FieldPlace,
    sector: FieldPlace,
    sectors: FieldPlace,
    bytes: Option<FieldPlace>,
    letters: FieldPlace,
    thread_name: Option<FieldPlace>,
}

impl EventLayout {
    fn parse(kind: BlockEventKind, text: &str) -> Result<Self, String> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"));
        let id = id.and_then(|it| it.trim().parse().ok());
        let find = |name: &str| {
            field_places(text)
                .find(|(it, _)| *it == name)
                .map(|it| it.1)
        };
        let need = |name: &str| {
            let missing = || format!("the kernel's {} has no field {name}", kind.event_name());
            find(name).ok_or_else(missing)
        };
        Ok(Self {
            kind,
            id: id.ok_or_else(|| format!("the kernel's {} has no ID", kind.event_name()))?,
            thread: need("common_pid")?,
            device: need("dev")?,
            sector: need("sector")?,
            sectors: need("nr_sector")?,
            bytes: find("bytes"),
            letters: need("rwbs")?,
            thread_name: find("comm"),
        })
    }

    /// The event in `data`; `None` if truncated.
    fn event(&self, time_ns: u64, data: &[u8]) -> Option<BlockEvent> {
        let field = |place: FieldPlace| data.get(place.offset..)?.get(..place.size);
        let number = |place: FieldPlace| unsigned(field(place)?);
        let (op, flags) = letters(field(self.letters)?);
        let bytes = match self.bytes {
            Some(place) => number(place)?,
            None => number(self.sectors)?.saturating_mul(SECTOR_BYTES),
        };
        let mut thread_name = [0; 16];
        if let Some(name) = self.thread_name.and_then(field) {
            let length = name.len().min(thread_name.len());
            thread_name[..length].copy_from_slice(&name[..length]);
        }
        Some(BlockEvent {
            time_ns,
            kind: self.kind,
            thread: number(self.thread)? as u32,
            thread_name,
            device: number(self.device)? as u32,
            sector: number(self.sector)?,
            bytes,
            op,
            flags,
        })
    }
}

/// A number of 2, 4 or 8 bytes.
fn unsigned(bytes: &[u8]) -> Option<u64> {
    Some(match bytes.len() {
        2 => u16::from_ne_bytes(bytes.try_into().ok()?).into(),
        4 => u32::from_ne_bytes(bytes.try_into().ok()?).into(),
        8 => u64::from_ne_bytes(bytes.try_into().ok()?),
        _ => return None,
    })
}

/// Parses the kernel's letters, such as `FWFSM`: F before the kind is a preceding flush, F after it
/// a durable write, and F alone a flush.
fn letters(text: &[u8]) -> (Option<TraceOp>, IoFlags) {
    let end = text.iter().position(|&it| it == 0).unwrap_or(text.len());
    let text = &text[..end];
    let (before, rest) = match text {
        [b'F', rest @ ..] if matches!(rest.first(), Some(b'R' | b'W' | b'D' | b'N')) => {
            (IoFlags::PREFLUSH, rest)
        }
        [b'F', b'F', rest @ ..] => return (Some(TraceOp::Sync), behind(rest)),
        _ => (IoFlags::default(), text),
    };
    let op = match rest.first() {
        Some(b'R') => Some(TraceOp::Read),
        // ZA, a zone append, has an offset only when complete.
        Some(b'W') => Some(TraceOp::Write),
        Some(b'D') => Some(TraceOp::Trim),
        Some(b'F') => Some(TraceOp::Sync),
        _ => None,
    };
    (op, behind(rest.get(1..).unwrap_or_default()).and(before))
}

fn behind(letters: &[u8]) -> IoFlags {
    letters.iter().fold(IoFlags::default(), |flags, letter| {
        flags.and(match letter {
            b'S' => IoFlags::SYNC,
            b'F' => IoFlags::FUA,
            b'M' => IoFlags::META,
            b'A' => IoFlags::AHEAD,
            _ => IoFlags::default(),
        })
    })
}

/// Layout of this kernel's pages and events.
#[derive(Clone, Debug, Default)]
pub struct PageLayout {
    /// Location of the length of a page's data, and of the data.
    length: FieldPlace,
    data: usize,
    events: Vec<EventLayout>,
}

impl PageLayout {
    /// From tracefs's `header_page`, and the `format` of each event.
    ///
    /// # Errors
    /// When something is missing there.
    // fuzzed: block_events
    pub fn parse(header_page: &str, events: &[(BlockEventKind, &str)]) -> Result<Self, String> {
        let find = |name: &str| {
            let found = field_places(header_page).find(|(it, _)| *it == name);
            let missing = || format!("the kernel's header_page has no field {name}");
            found.map(|it| it.1).ok_or_else(missing)
        };
        let parse = |(kind, text): &(BlockEventKind, &str)| EventLayout::parse(*kind, text);
        Ok(Self {
            length: find("commit")?,
            data: find("data")?.offset,
            events: events.iter().map(parse).collect::<Result<_, _>>()?,
        })
    }

    /// Add the events of a page in the order of their times. Returns how many were lost before it;
    /// `None` where that was not counted.
    ///
    /// # Errors
    /// When it does not keep to the format.
    // fuzzed: block_events
    pub fn events(&self, page: &[u8], events: &mut Vec<BlockEvent>) -> Result<Option<u64>, String> {
        const SHORT: &str = "a page of the kernel's trace is cut short";
        let word = |at: usize| unsigned(page.get(at..)?.get(..4)?).map(|it| it as u32);
        let length = page.get(self.length.offset..);
        let length = length.and_then(|it| unsigned(it.get(..self.length.size)?));
        let length = length.ok_or(SHORT)?;
        let stamp = page.first_chunk().map(|it| u64::from_ne_bytes(*it));
        let mut time = stamp.ok_or(SHORT)?;
        let is_lost = length & LOST != 0;
        let is_counted = length & LOST_COUNTED != 0;
        let end = self.data + (length & (LOST_COUNTED - 1)) as usize;
        let mut at = self.data;
        while at < end {
            let entry = PageEntry::at(at, word).ok_or(SHORT)?;
            time = entry.time(time);
            match entry.kind {
                PADDING if entry.delta == 0 => break,
                PADDING | TIME_EXTEND | TIME_STAMP => {}
                _ => {
                    let data = page.get(entry.data..entry.end).ok_or(SHORT)?;
                    let id = data.first_chunk().map(|it| u16::from_ne_bytes(*it));
                    let mut layouts = self.events.iter();
                    let layout = layouts.find(|it| Some(it.id) == id);
                    events.extend(layout.and_then(|it| it.event(time, data)));
                }
            }
            at = entry.end;
        }
        Ok(match (is_lost, is_counted) {
            (false, _) => Some(0),
            (true, false) => None,
            (true, true) => page.get(end..).and_then(|it| unsigned(it.get(..8)?)),
        })
    }
}

/// An entry of a page.
struct PageEntry {
    kind: u32,
    delta: u64,
    /// After the first word, if there is one.
    second: u64,
    data: usize,
    end: usize,
}

impl PageEntry {
    fn at(at: usize, word: impl Fn(usize) -> Option<u32>) -> Option<Self> {
        let first = word(at)?;
        let (kind, delta) = match cfg!(target_endian = "big") {
            true => (first >> DELTA_BITS, first & ((1 << DELTA_BITS) - 1)),
            false => (first & 31, first >> 5),
        };
        let second = match kind {
            0 | PADDING | TIME_EXTEND | TIME_STAMP => word(at + 4).unwrap_or(0),
            _ => 0,
        };
        let (data, end) = match kind {
            // The length of long or discarded data precedes it.
            0 => (at + 8, at + 4 + second as usize),
            PADDING => (at + 4, at + 4 + second as usize),
            TIME_EXTEND | TIME_STAMP => (at + 8, at + 8),
            words => (at + 4, at + 4 + 4 * words as usize),
        };
        let entry = Self {
            kind,
            delta: delta.into(),
            second: second.into(),
            data,
            end,
        };
        (entry.data <= entry.end).then_some(entry)
    }

    /// The time of this entry, after one with the time `before`.
    const fn time(&self, before: u64) -> u64 {
        let long = self.second << DELTA_BITS | self.delta;
        match self.kind {
            TIME_EXTEND => before.wrapping_add(long),
            TIME_STAMP => before >> STAMP_BITS << STAMP_BITS | long,
            _ => before.wrapping_add(self.delta),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_say_what_a_request_is() {
        use TraceOp::{Read, Sync, Trim, Write};
        let check = |text: &str, op, flags: &[IoFlags]| {
            let flags = flags
                .iter()
                .fold(IoFlags::default(), |all, it| all.and(*it));
            let mut padded = [0; 10];
            padded[..text.len()].copy_from_slice(text.as_bytes());
            assert_eq!(letters(&padded), (op, flags), "{text}");
        };
        check("RS", Some(Read), &[IoFlags::SYNC]);
        check("RA", Some(Read), &[IoFlags::AHEAD]);
        check("WFS", Some(Write), &[IoFlags::SYNC, IoFlags::FUA]);
        check("FWS", Some(Write), &[IoFlags::SYNC, IoFlags::PREFLUSH]);
        check(
            "FWFSM",
            Some(Write),
            &[
                IoFlags::SYNC,
                IoFlags::FUA,
                IoFlags::META,
                IoFlags::PREFLUSH,
            ],
        );
        check("FF", Some(Sync), &[]);
        check("F", Some(Sync), &[]);
        check("DS", Some(Trim), &[IoFlags::SYNC]);
        check("N", None, &[]);
        check("", None, &[]);
    }
}
