//! Private readers of text and bytes from outside, for the fuzz targets.

use procedure::Trial;

use crate::hosts::wire;
use crate::run_journal;

/// Reads the whole lines of a run's journal.
///
/// # Errors
/// When they are none.
pub fn run_journal(bytes: &[u8]) -> Result<(), String> {
    run_journal::read(bytes).map(drop)
}

/// Reads a letter's body as each thing that ranks send.
pub fn wire(bytes: &[u8]) {
    if let Ok(wire::Order::Measure(form, scope)) = wire::from_bytes(0, bytes) {
        let _ = form.trial().map(|trial: Trial| scope.whole(&trial, 3));
    }
    let _ = wire::from_bytes::<wire::Note>(1, bytes);
    let _ = wire::from_bytes::<wire::Readiness>(1, bytes);
    if let Ok(report) = wire::from_bytes::<wire::Report>(1, bytes) {
        let _ = (report.measurement(), report.record.record());
    }
    if let Ok(form) = wire::from_bytes::<wire::RecordForm>(1, bytes) {
        let _ = form.record();
    }
}
