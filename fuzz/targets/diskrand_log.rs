//! Logs of `diskrand` that are imported.
#![no_main]

use vintage::diskrand::{DiskRandLog, begins_log, doubts, groups};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = begins_log(text);
    let pieces = fuzz::pieces(text);
    let Ok(log) = DiskRandLog::read(pieces[0]) else {
        return;
    };
    let log = match pieces.get(1).map(|second| DiskRandLog::read(second)) {
        Some(Ok(second)) => log.with_transactions(second),
        _ => log,
    };
    let _ = (log.transactions(), doubts(&log), groups(&log));
});
