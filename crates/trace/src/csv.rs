//! CSV traces, one request per line: one parser, and a column map for each common collection.
//!
//! Columns as documented by the collections: MSR Cambridge (SNIA IOTTA), Alibaba block traces,
//! Tencent CBS, SPC trace format 1.0.1, and VMware's vscsiStats as text.

use std::collections::VecDeque;
use std::io::BufRead;

use crate::error::TraceError;
use crate::lines::{NumberedLines, check_end, whole};
use crate::record::{Notes, TraceOp, TraceReader, TraceRecord};
use crate::timeline::{Names, Timeline};

const SECTOR_BYTES: u64 = 512;
const SECOND_NS: u64 = 1_000_000_000;
/// Maximum number of records of one second that are spread over it together.
const SECOND_RECORDS_MAX: usize = 1 << 20;
/// Maximum number of columns examined per line.
const COLUMNS_MAX: usize = 16;

/// How a column encodes the operation.
#[derive(Clone, Copy, Debug)]
enum OpWords {
    /// A word that begins with r or w.
    Letters,
    /// 0 for a read, 1 for a write.
    ZeroOne,
    /// The operation code of a SCSI command.
    Scsi,
}

/// Columns of a format, counted from 0.
#[derive(Debug)]
pub(crate) struct CsvColumns {
    name: &'static str,
    /// The columns in words. The last one of `msr` may be missing.
    described: &'static str,
    /// Minimum number of columns per line.
    count: usize,
    /// Those with time, operation, offset and length.
    places: [usize; 4],
    /// Nanoseconds per time unit; whole seconds have no fractions.
    time_ns: u64,
    is_whole_seconds: bool,
    words: OpWords,
    /// Bytes per unit of offset and length.
    units: [u64; 2],
    /// Columns that together identify a device.
    device: &'static [usize],
}

/// The formats.
pub(crate) const MSR: CsvColumns = CsvColumns {
    name: "msr",
    described: "time, host, disk, Read or Write, offset, size, response time",
    count: 6,
    places: [0, 3, 4, 5],
    time_ns: 100,
    is_whole_seconds: false,
    words: OpWords::Letters,
    units: [1, 1],
    device: &[1, 2],
};
pub(crate) const ALIBABA: CsvColumns = CsvColumns {
    name: "alibaba",
    described: "device, R or W, offset, length, time",
    count: 5,
    places: [4, 1, 2, 3],
    time_ns: 1000,
    device: &[0],
    ..MSR
};
pub(crate) const TENCENT: CsvColumns = CsvColumns {
    name: "tencent",
    described: "time, offset, size, 0 or 1, volume",
    count: 5,
    places: [0, 3, 1, 2],
    time_ns: SECOND_NS,
    is_whole_seconds: true,
    words: OpWords::ZeroOne,
    units: [SECTOR_BYTES, SECTOR_BYTES],
    device: &[4],
};
pub(crate) const SPC: CsvColumns = CsvColumns {
    name: "spc",
    described: "unit, block, size, R or W, time",
    places: [4, 3, 1, 2],
    time_ns: SECOND_NS,
    units: [SECTOR_BYTES, 1],
    ..ALIBABA
};
pub(crate) const VSCSI: CsvColumns = CsvColumns {
    name: "vscsi",
    described: "time, block, length, operation code",
    count: 4,
    places: [0, 3, 1, 2],
    words: OpWords::Scsi,
    units: [SECTOR_BYTES, 1],
    device: &[],
    ..ALIBABA
};

/// Meaning of a line.
enum CsvLine {
    Request(CsvRequest),
    Skipped(&'static str),
}

/// A request before its time is determined.
struct CsvRequest {
    stamp_ns: u64,
    op: TraceOp,
    offset: u64,
    length: u64,
    file: u32,
}

impl CsvColumns {
    /// Whether a line looks like this format. No line fits two formats.
    pub fn fits(&self, line: &str) -> bool {
        let mut names = Names::default();
        let is_request = self.read(line, &mut names).is_ok();
        let count = line.split(',').count();
        let mut fields = line.split(',').map(str::trim);
        match self.name {
            "msr" => is_request && (6..=7).contains(&count),
            // One has fractional times, the other starts with the device.
            "alibaba" => is_request && count == 5,
            "spc" => is_request && count >= 5 && fields.nth(4).is_some_and(|it| it.contains('.')),
            "tencent" => is_request && count == 5,
            _ => is_request && (4..=5).contains(&count),
        }
    }

    fn read(&self, line: &str, names: &mut Names) -> Result<CsvLine, String> {
        let mut fields = [""; COLUMNS_MAX];
        let mut count = 0;
        for (place, field) in line.split(',').take(COLUMNS_MAX).enumerate() {
            fields[place] = field.trim();
            count = place + 1;
        }
        if count < self.count {
            return Err(format!(
                "{count} fields, and {} has {}: {}",
                self.name, self.count, self.described
            ));
        }
        let [time, op, offset, length] = self.places.map(|place| fields[place]);
        if self.is_whole_seconds && time.contains('.') {
            return Err(format!(
                "the time {time:?} is not a whole number of seconds"
            ));
        }
        let stamp_ns = instant(time, self.time_ns)?;
        let op = match self.words.op(op)? {
            Ok(op) => op,
            Err(what) => return Ok(CsvLine::Skipped(what)),
        };
        let scaled = |text: &str, unit: u64, what: &str| {
            let value = whole(text, what)?.checked_mul(unit);
            value.ok_or_else(|| format!("{what} {text} does not fit into 64 bits as bytes"))
        };
        let offset = scaled(offset, self.units[0], "the offset")?;
        let length = scaled(length, self.units[1], "the length")?;
        check_end(offset, length)?;
        let file = match self.device {
            [] => names.number("disk")?,
            [one] => names.number(fields[*one])?,
            several => {
                let parts: Vec<&str> = several.iter().map(|&it| fields[it]).collect();
                names.number(&parts.join("."))?
            }
        };
        if length == 0 && op.has_extent() {
            return Ok(CsvLine::Skipped("requests without bytes"));
        }
        Ok(CsvLine::Request(CsvRequest {
            stamp_ns,
            op,
            offset,
            length,
            file,
        }))
    }
}

impl OpWords {
    /// The operation, or why the line is skipped.
    fn op(self, word: &str) -> Result<Result<TraceOp, &'static str>, String> {
        let first = word.bytes().next().map(|it| it.to_ascii_lowercase());
        match (self, first) {
            (Self::Letters, Some(b'r')) => Ok(Ok(TraceOp::Read)),
            (Self::Letters, Some(b'w')) => Ok(Ok(TraceOp::Write)),
            (Self::Letters, _) => Err(format!("{word:?} is neither a read nor a write (R or W)")),
            (Self::ZeroOne, _) => match word {
                "0" => Ok(Ok(TraceOp::Read)),
                "1" => Ok(Ok(TraceOp::Write)),
                _ => Err(format!(
                    "{word:?} is neither 0 for a read nor 1 for a write"
                )),
            },
            (Self::Scsi, _) => scsi(word),
        }
    }
}

/// The operation of a SCSI command (SBC-3).
fn scsi(word: &str) -> Result<Result<TraceOp, &'static str>, String> {
    let code = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(digits) => u8::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    };
    let code: u8 = code.ok_or_else(|| format!("{word:?} is not a SCSI operation code"))?;
    Ok(match code {
        0x08 | 0x28 | 0xa8 | 0x88 => Ok(TraceOp::Read),
        0x0a | 0x2a | 0xaa | 0x8a => Ok(TraceOp::Write),
        0x35 | 0x91 => Ok(TraceOp::Sync),
        0x42 => Ok(TraceOp::Trim),
        _ => Err("SCSI commands that neither read nor write"),
    })
}

/// Converts a time in units, possibly with a fraction, to nanoseconds.
fn instant(text: &str, unit_ns: u64) -> Result<u64, String> {
    let (units, fraction) = text.split_once('.').unwrap_or((text, ""));
    let units = whole(units, "the time")?;
    let mut at = units.checked_mul(unit_ns);
    let mut place_ns = unit_ns;
    for digit in fraction.bytes() {
        if !digit.is_ascii_digit() {
            return Err(format!("the time {text:?} is no number"));
        }
        place_ns /= 10;
        at = at.and_then(|it| it.checked_add(u64::from(digit - b'0') * place_ns));
    }
    at.ok_or_else(|| format!("the time {text} does not fit into 64 bits as nanoseconds"))
}

/// A reader for any of these formats.
pub(crate) struct CsvReader<R> {
    lines: NumberedLines<R>,
    columns: &'static CsvColumns,
    is_first: bool,
    timeline: Timeline,
    names: Names,
    notes: Notes,
    second: Second,
}

/// Records of one second with timestamps in whole seconds, and the first of the next second.
#[derive(Default)]
struct Second {
    spread: VecDeque<TraceRecord>,
    next: Option<CsvRequest>,
    /// The last time returned: a second may have more records than are spread together.
    last: u64,
}

impl<R: BufRead> CsvReader<R> {
    pub fn new(file: &str, input: R, columns: &'static CsvColumns) -> Self {
        let notes = Notes {
            has_whole_seconds: columns.is_whole_seconds,
            ..Notes::default()
        };
        Self {
            lines: NumberedLines::new(file, input),
            columns,
            is_first: true,
            timeline: Timeline::default(),
            names: Names::default(),
            notes,
            second: Second::default(),
        }
    }

    fn next_line(&mut self) -> Result<Option<CsvRequest>, TraceError> {
        loop {
            let Some(line) = self.lines.next_line()? else {
                return Ok(None);
            };
            let is_first = std::mem::take(&mut self.is_first);
            if line.trim().is_empty() {
                continue;
            }
            // Only a header has no digits where numbers belong.
            let is_header = is_first && !line.contains(|it: char| it.is_ascii_digit());
            if is_header {
                self.notes.skip("headers");
                continue;
            }
            match self.columns.read(line, &mut self.names) {
                Ok(CsvLine::Request(line)) => return Ok(Some(line)),
                Ok(CsvLine::Skipped(what)) => self.notes.skip(what),
                Err(message) => return Err(self.lines.fault(message)),
            }
        }
    }

    fn place(&mut self, line: &CsvRequest) -> TraceRecord {
        TraceRecord {
            at: self.timeline.place(line.stamp_ns, &mut self.notes),
            op: line.op,
            offset: line.offset,
            length: line.length,
            file: line.file,
        }
    }

    /// Reads all records of the next second, and spreads them over it.
    fn next_second(&mut self) -> Result<(), TraceError> {
        let first = match self.second.next.take() {
            Some(line) => line,
            None => match self.next_line()? {
                Some(line) => line,
                None => return Ok(()),
            },
        };
        let stamp = first.stamp_ns;
        let record = self.place(&first);
        self.second.spread.push_back(record);
        while self.second.spread.len() < SECOND_RECORDS_MAX {
            match self.next_line()? {
                // A timestamp that goes back counts as simultaneous.
                Some(line) if line.stamp_ns <= stamp => {
                    let record = self.place(&line);
                    self.second.spread.push_back(record);
                }
                next => {
                    self.second.next = next;
                    break;
                }
            }
        }
        let count = self.second.spread.len() as u64;
        let last = &mut self.second.last;
        for (number, record) in (0..count).zip(&mut self.second.spread) {
            let at = record.at.saturating_add(SECOND_NS * number / count);
            *last = at.max(*last);
            record.at = *last;
        }
        Ok(())
    }
}

impl<R: BufRead + Send> TraceReader for CsvReader<R> {
    fn next_record(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        if !self.columns.is_whole_seconds {
            let line = self.next_line()?;
            return Ok(line.map(|line| self.place(&line)));
        }
        if self.second.spread.is_empty() {
            self.next_second()?;
        }
        Ok(self.second.spread.pop_front())
    }

    fn files(&self) -> &[String] {
        self.names.all()
    }

    fn notes(&self) -> &Notes {
        &self.notes
    }
}
