//! Writes fio's I/O log, version 3.

use std::io::{self, Write};

use crate::iolog::HEADER_3;
use crate::record::{Op, Record};

const MICROSECOND_NS: u64 = 1000;

/// A log under way. Stamps are whole microseconds, as the format has them.
#[derive(Debug)]
pub struct IologWriter<W> {
    output: W,
    file: String,
    last_us: u64,
}

impl<W: Write> IologWriter<W> {
    /// A log of one file. The format parts fields by spaces, so that a name must hold none.
    ///
    /// # Errors
    /// When the name holds white space, or the output refuses.
    pub fn begin(mut output: W, file: &str) -> io::Result<Self> {
        if file.is_empty() || file.contains(|it: char| it.is_ascii_whitespace()) {
            let text = format!("fio's log cannot name {file:?}: its names hold no spaces");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        writeln!(output, "{HEADER_3}\n0 {file} add\n0 {file} open")?;
        Ok(Self {
            output,
            file: file.to_owned(),
            last_us: 0,
        })
    }

    /// One request of that file.
    ///
    /// # Errors
    /// When the output refuses.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        self.last_us = self.last_us.max(record.at / MICROSECOND_NS);
        let (stamp, file, op) = (self.last_us, &self.file, record.op.name());
        let (offset, length) = match record.op {
            Op::Sync => (0, 0),
            _ => (record.offset, record.length),
        };
        writeln!(self.output, "{stamp} {file} {op} {offset} {length}")
    }

    /// The end of the log.
    ///
    /// # Errors
    /// When the output refuses.
    pub fn finish(mut self) -> io::Result<W> {
        writeln!(self.output, "{} {} close", self.last_us, self.file)?;
        self.output.flush()?;
        Ok(self.output)
    }
}
