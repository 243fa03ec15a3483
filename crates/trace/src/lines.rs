//! Reads a text of any size line by line.

use std::io::{BufRead, Read as _};

use crate::error::{TraceError, TracePosition};

/// Maximum length of a line, bytes: no trace has longer ones.
const LINE_MAX: u64 = 64 << 10;

/// Lines with their numbers.
pub(crate) struct NumberedLines<R> {
    file: String,
    input: R,
    number: u64,
    bytes: Vec<u8>,
}

impl<R: BufRead> NumberedLines<R> {
    pub fn new(file: &str, input: R) -> Self {
        Self {
            file: file.to_owned(),
            input,
            number: 0,
            bytes: Vec::new(),
        }
    }

    /// The next line without its end; `None` after the last.
    pub fn next_line(&mut self) -> Result<Option<&str>, TraceError> {
        self.bytes.clear();
        self.number += 1;
        let read = (&mut self.input)
            .take(LINE_MAX)
            .read_until(b'\n', &mut self.bytes);
        match read {
            Err(error) => return Err(self.fault(error)),
            Ok(0) => return Ok(None),
            Ok(_) => {}
        }
        if self.bytes.len() as u64 == LINE_MAX && self.bytes.last() != Some(&b'\n') {
            let text = format!(
                "the line is longer than {LINE_MAX} bytes: this is not a text \
                trace"
            );
            return Err(self.fault(text));
        }
        while matches!(self.bytes.last(), Some(b'\n' | b'\r')) {
            self.bytes.pop();
        }
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(TraceError::new(
                &self.file,
                TracePosition::Line(self.number),
                "the line is not text (UTF-8)",
            )),
        }
    }

    /// An error in the last line read.
    pub fn fault(&self, fault: impl Into<crate::error::TraceFault>) -> TraceError {
        TraceError::new(&self.file, TracePosition::Line(self.number), fault)
    }
}

/// Parses an integer, or returns an error that names it.
pub(crate) fn whole(text: &str, what: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| match text.bytes().all(|it| it.is_ascii_digit()) {
            true if !text.is_empty() => format!("{what} {text} does not fit into 64 bits"),
            _ => format!("{what} {text:?} is not a whole number"),
        })
}

/// Checks that a request ends within 64 bits.
pub(crate) fn check_end(offset: u64, length: u64) -> Result<(), String> {
    match offset.checked_add(length) {
        Some(_) => Ok(()),
        None => Err(format!(
            "offset {offset} and length {length} together do not fit into 64 bits"
        )),
    }
}
