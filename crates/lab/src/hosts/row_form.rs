//! Times of one workload of several, as they travel.

use engine::{RowKey, RowRecord};
use serde::{Deserialize, Serialize};
use stats::{Histogram, HistogramError};
use units::{Duration, TimeSpan};
use workload::OpKind;

/// A row of a record: its histograms as they write themselves.
#[derive(Serialize, Deserialize)]
pub struct RowForm {
    row: u32,
    kind: u8,
    response: Vec<u8>,
    service: Vec<u8>,
    submission: Vec<u8>,
    bytes: u64,
    begun: Duration,
    ended: Duration,
    windows: Vec<(u64, u64)>,
    /// As JSON: a rate names its unit, which only a format that describes itself can read.
    missed: Option<String>,
}

impl RowForm {
    /// # Errors
    /// When a count is too large for the format of histograms.
    pub fn of(((row, kind), record): (&RowKey, &RowRecord)) -> Result<Self, HistogramError> {
        Ok(Self {
            row: *row,
            kind: *kind as u8,
            response: record.response.to_bytes()?,
            service: record.service.to_bytes()?,
            submission: record.submission.to_bytes()?,
            bytes: record.bytes,
            begun: record.span.begun(),
            ended: record.span.ended(),
            windows: record.windows.clone(),
            missed: record
                .missed
                .map(|it| serde_json::to_string(&it).expect("numbers and words can be written")),
        })
    }

    /// The row; `None` where the bytes are not those of a row.
    // fuzzed: wire
    pub fn row(&self) -> Option<(RowKey, RowRecord)> {
        let mut kinds = OpKind::ALL.into_iter();
        let kind = kinds.find(|it| *it as u8 == self.kind)?;
        let record = RowRecord {
            response: Histogram::from_bytes(&self.response).ok()?,
            service: Histogram::from_bytes(&self.service).ok()?,
            submission: Histogram::from_bytes(&self.submission).ok()?,
            bytes: self.bytes,
            span: TimeSpan::new(self.begun, self.ended),
            windows: self.windows.clone(),
            missed: match &self.missed {
                None => None,
                Some(text) => Some(serde_json::from_str(text).ok()?),
            },
        };
        Some(((self.row, kind), record))
    }
}
