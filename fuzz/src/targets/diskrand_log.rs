//! Logs of `diskrand` that are imported.

use vintage::diskrand::{DiskRandLog, begins_log, doubts, groups};

pub fn read(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let _ = begins_log(text);
    let pieces = super::super::kit::pieces(text);
    let Ok(log) = DiskRandLog::read(pieces[0]) else {
        return;
    };
    let log = match pieces.get(1).map(|second| DiskRandLog::read(second)) {
        Some(Ok(second)) => log.with_transactions(second),
        _ => log,
    };
    let _ = (log.transactions(), doubts(&log), groups(&log));
}
