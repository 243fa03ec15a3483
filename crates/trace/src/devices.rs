//! Selects some devices of a trace.

use crate::error::TraceError;
use crate::record::{Notes, RecordDetail, TraceReader, TraceRecord};

/// Records of selected files or devices, with times relative to the first of them.
pub struct Chosen<R> {
    inner: R,
    wanted: Vec<String>,
    /// Maps the trace's numbers to numbers among the selected ones seen so far.
    numbers: Vec<Option<u32>>,
    met: Vec<String>,
    first: Option<u64>,
}

impl<R: TraceReader> Chosen<R> {
    /// Selects the devices with these names.
    pub fn new(inner: R, wanted: Vec<String>) -> Self {
        Self {
            inner,
            wanted,
            numbers: Vec::new(),
            met: Vec::new(),
            first: None,
        }
    }

    fn number(&mut self, file: u32) -> Option<u32> {
        for name in &self.inner.files()[self.numbers.len()..] {
            let is_wanted = self.wanted.contains(name);
            self.numbers.push(is_wanted.then(|| {
                self.met.push(name.clone());
                self.met.len() as u32 - 1
            }));
        }
        self.numbers[file as usize]
    }
}

impl<R: TraceReader> TraceReader for Chosen<R> {
    fn next_record(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        while let Some(record) = self.inner.next_record()? {
            if let Some(file) = self.number(record.file) {
                let first = *self.first.get_or_insert(record.at);
                return Ok(Some(TraceRecord {
                    at: record.at - first,
                    file,
                    ..record
                }));
            }
        }
        Ok(None)
    }

    fn files(&self) -> &[String] {
        &self.met
    }

    fn notes(&self) -> &Notes {
        self.inner.notes()
    }

    fn detail(&self) -> Option<RecordDetail> {
        self.inner.detail()
    }
}

impl<R: TraceReader + ?Sized> TraceReader for Box<R> {
    fn next_record(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        (**self).next_record()
    }

    fn files(&self) -> &[String] {
        (**self).files()
    }

    fn notes(&self) -> &Notes {
        (**self).notes()
    }

    fn detail(&self) -> Option<RecordDetail> {
        (**self).detail()
    }
}
