//! Logs of `diskmbps` that are merged.
#![no_main]

use vintage::diskmbps::{Column, merged, read_logs};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let mut columns: Vec<Column> = Vec::new();
    for piece in fuzz::pieces(text) {
        if let Ok(jobs) = read_logs(piece) {
            assert!(!jobs.is_empty());
            columns.extend(jobs.iter().map(|job| job.column()));
        }
    }
    let _ = merged(&columns);
});
