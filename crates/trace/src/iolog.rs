//! fio's I/O logs, versions 2 and 3.
//!
//! Version 3 has a timestamp per line, in microseconds since the start of the job. Version 2 has
//! none: `wait` advances the clock by microseconds. Checked against logs that fio 3.33 writes and
//! reads; the manual's section is "Trace file format v2" and "v3".

use std::io::BufRead;

use crate::error::TraceError;
use crate::lines::{NumberedLines, check_end, whole};
use crate::record::{Notes, TraceOp, TraceReader, TraceRecord};
use crate::timeline::{Names, Timeline};

/// The first line of version 2.
pub(crate) const HEADER_2: &str = "fio version 2 iolog";
/// The first line of version 3.
pub(crate) const HEADER_3: &str = "fio version 3 iolog";

const MICROSECOND_NS: u64 = 1000;

/// A reader for both versions.
pub(crate) struct IologReader<R> {
    lines: NumberedLines<R>,
    has_header: bool,
    body: IologBody,
}

/// State from the lines read so far.
#[derive(Default)]
struct IologBody {
    has_stamps: bool,
    /// The clock of version 2, microseconds.
    clock_us: u64,
    /// Times are relative to the first line with a timestamp.
    timeline: Timeline,
    names: Names,
    notes: Notes,
}

impl<R: BufRead> IologReader<R> {
    pub fn new(file: &str, input: R) -> Self {
        Self {
            lines: NumberedLines::new(file, input),
            has_header: false,
            body: IologBody::default(),
        }
    }

    fn header(&mut self) -> Result<(), TraceError> {
        let first = self.lines.next_line()?.map(str::trim_end);
        self.body.has_stamps = match first {
            Some(HEADER_3) => true,
            Some(HEADER_2) => false,
            _ => {
                let text = format!("the first line is neither \"{HEADER_2}\" nor \"{HEADER_3}\"");
                return Err(self.lines.fault(text));
            }
        };
        self.has_header = true;
        Ok(())
    }
}

impl<R: BufRead + Send> TraceReader for IologReader<R> {
    fn next_record(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        if !self.has_header {
            self.header()?;
        }
        while let Some(line) = self.lines.next_line()? {
            match self.body.line(line) {
                Ok(Some(record)) => return Ok(Some(record)),
                Ok(None) => {}
                Err(message) => return Err(self.lines.fault(message)),
            }
        }
        Ok(None)
    }

    fn files(&self) -> &[String] {
        self.body.names.all()
    }

    fn notes(&self) -> &Notes {
        &self.body.notes
    }
}

impl IologBody {
    /// The record of a line, if it is a request.
    fn line(&mut self, line: &str) -> Result<Option<TraceRecord>, String> {
        let mut fields = line.split_ascii_whitespace();
        let mut stamp_us = None;
        if self.has_stamps {
            let Some(stamp) = fields.next() else {
                return Ok(None);
            };
            stamp_us = Some(whole(stamp, "the time stamp")?);
        }
        let (Some(name), action) = (fields.next(), fields.next()) else {
            return match stamp_us {
                None => Ok(None),
                Some(_) => Err("a file and an action are missing behind the time stamp".into()),
            };
        };
        let action = action.ok_or_else(|| format!("no action behind the file {name:?}"))?;
        let numbers = [fields.next(), fields.next()];
        if let Some(more) = fields.next() {
            return Err(format!("{more:?} is one field too many"));
        }
        let op = match action {
            "add" | "open" | "close" => {
                if numbers[0].is_some() {
                    return Err(format!("{action} takes no offset and no length"));
                }
                self.names.number(name)?;
                return Ok(None);
            }
            "wait" => return self.wait(numbers[0]).map(|()| None),
            "read" => TraceOp::Read,
            "write" => TraceOp::Write,
            "trim" => TraceOp::Trim,
            "sync" | "datasync" | "sync_file_range" => TraceOp::Sync,
            other => {
                return Err(format!(
                    "{other:?} is not an action: use add, open, close, read, write, trim, sync, \
                     datasync or wait"
                ));
            }
        };
        self.request(op, name, stamp_us, numbers).map(Some)
    }

    fn wait(&mut self, time: Option<&str>) -> Result<(), String> {
        if self.has_stamps {
            return Err("version 3 has no wait: each line has its time stamp".into());
        }
        let time = time.ok_or("wait has no time, in microseconds")?;
        let time_us = whole(time, "the time to wait")?;
        let clock = self.clock_us.checked_add(time_us);
        self.clock_us = clock.ok_or("the waits together do not fit into 64 bits")?;
        Ok(())
    }

    fn request(
        &mut self,
        op: TraceOp,
        name: &str,
        stamp_us: Option<u64>,
        numbers: [Option<&str>; 2],
    ) -> Result<TraceRecord, String> {
        let (offset, length) = match (op.has_extent(), numbers) {
            (true, [Some(offset), Some(length)]) => {
                let (offset, length) = (whole(offset, "the offset")?, whole(length, "the length")?);
                check_end(offset, length)?;
                if length == 0 {
                    return Err(format!("{} has the length 0", op.name()));
                }
                (offset, length)
            }
            (true, _) => return Err(format!("{} needs an offset and a length", op.name())),
            // fio records the file position, which is meaningless for a flush.
            (false, _) => (0, 0),
        };
        let known = self.names.known(name);
        let file = known.ok_or_else(|| {
            format!("file {name:?} was not added: a line \"{name} add\" must stand before")
        })?;
        let stamp = stamp_us.unwrap_or(self.clock_us);
        let stamp_ns = stamp.checked_mul(MICROSECOND_NS).ok_or_else(|| {
            format!("the time {stamp} us does not fit into 64 bits as nanoseconds")
        })?;
        Ok(TraceRecord {
            at: self.timeline.place(stamp_ns, &mut self.notes),
            op,
            offset,
            length,
            file,
        })
    }
}
