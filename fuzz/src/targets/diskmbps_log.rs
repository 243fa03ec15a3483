//! Logs of `diskmbps` that are merged.

use vintage::diskmbps::{LogColumn, merged, read_logs};

pub fn read(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let mut columns: Vec<LogColumn> = Vec::new();
    for piece in super::super::kit::pieces(text) {
        if let Ok(jobs) = read_logs(piece) {
            assert!(!jobs.is_empty());
            columns.extend(jobs.iter().map(|job| job.column()));
        }
    }
    let _ = merged(&columns);
}
