//! Private parsers of untrusted text and bytes, for the fuzz targets.

use engine::Record;

use crate::hosts::wire;
use crate::run_journal;

/// Parses the complete lines of a run's journal.
///
/// # Errors
/// If they are invalid.
pub fn run_journal(bytes: &[u8]) -> Result<(), String> {
    run_journal::read(bytes).map(drop)
}

/// Decodes a message body as each type that ranks send.
pub fn wire(bytes: &[u8]) {
    if let Ok(wire::RankCommand::Measure(trial, scope)) = wire::from_bytes(0, bytes) {
        let _ = scope.whole(&trial, 3);
    }
    let _ = wire::Note::from_bytes(1, bytes);
    let _ = wire::from_bytes::<wire::Readiness>(1, bytes);
    let _ = wire::from_bytes::<wire::RankReport>(1, bytes);
    let _ = wire::from_bytes::<Record>(1, bytes);
}
