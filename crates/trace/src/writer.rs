//! Writes fio's I/O log, version 3.

use std::io::{self, Write};

use crate::iolog::HEADER_3;
use crate::record::{TraceOp, TraceRecord};

const MICROSECOND_NS: u64 = 1000;

/// Writes a log. Timestamps are whole microseconds.
#[derive(Debug)]
pub struct IologWriter<W> {
    output: W,
    files: Vec<String>,
    last_us: u64,
}

impl<W: Write> IologWriter<W> {
    /// Starts a log of these files, by their numbers in records. Fields are separated by spaces, so
    /// names must not contain any.
    ///
    /// # Errors
    /// If a name contains white space, or the output fails.
    pub fn begin(mut output: W, files: &[String]) -> io::Result<Self> {
        let is_name =
            |it: &String| !it.is_empty() && !it.contains(|c: char| c.is_ascii_whitespace());
        if let Some(file) = files.iter().find(|it| !is_name(it)) {
            let text = format!("fio's log cannot name {file:?}: its names hold no spaces");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        writeln!(output, "{HEADER_3}")?;
        for action in ["add", "open"] {
            for file in files {
                writeln!(output, "0 {file} {action}")?;
            }
        }
        Ok(Self {
            output,
            files: files.to_vec(),
            last_us: 0,
        })
    }

    /// The output.
    pub const fn output_mut(&mut self) -> &mut W {
        &mut self.output
    }

    /// Writes a request.
    ///
    /// # Errors
    /// If the output fails.
    pub fn write(&mut self, record: &TraceRecord) -> io::Result<()> {
        self.last_us = self.last_us.max(record.at / MICROSECOND_NS);
        let file = &self.files[record.file as usize];
        let (stamp, op) = (self.last_us, record.op.name());
        let (offset, length) = match record.op {
            TraceOp::Sync => (0, 0),
            _ => (record.offset, record.length),
        };
        writeln!(self.output, "{stamp} {file} {op} {offset} {length}")
    }

    /// Ends the log.
    ///
    /// # Errors
    /// If the output fails.
    pub fn finish(mut self) -> io::Result<W> {
        for file in &self.files {
            writeln!(self.output, "{} {file} close", self.last_us)?;
        }
        self.output.flush()?;
        Ok(self.output)
    }
}
