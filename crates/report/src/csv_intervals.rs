//! The intervals of trials as comma-separated values: their operations,
//! and the machine's load.

use results::{Run, SystemSample};

use crate::csv::{line, optional};

/// A column of what the machine did in an interval.
type SampleColumn = (&'static str, fn(&SystemSample) -> Option<f64>);

const SAMPLE_COLUMNS: [SampleColumn; 17] = [
    ("end_ns", |it| Some(it.end_ns as f64)),
    ("length_ns", |it| Some(it.length_ns as f64)),
    ("transactions", |it| Some(it.transactions as f64)),
    ("transactions_per_s", |it| Some(it.per_second)),
    ("response_mean_ns", |it| it.response_mean_ns),
    ("cpu_share", |it| it.cpu_share),
    ("cpu_own_share", |it| it.cpu_own_share),
    ("device_busy_share", |it| it.device_busy_share),
    ("device_queue", |it| it.device_queue),
    ("device_transfer_ns", |it| it.device_transfer_ns),
    ("device_reads_per_s", |it| it.device_reads_per_second),
    ("device_writes_per_s", |it| it.device_writes_per_second),
    ("device_bytes_per_s", |it| it.device_bytes_per_second),
    ("page_cache_misses_per_s", |it| {
        it.page_cache_misses_per_second
    }),
    ("minor_faults_per_s", |it| it.minor_faults_per_second),
    ("major_faults_per_s", |it| it.major_faults_per_second),
    ("file_cache_bytes", |it| it.file_cache_bytes),
];

/// A header, then one row for each interval of each load of users, or of each trial, whose
/// transactions are its operations and whose users are its clients; `None` where the run has none.
pub fn csv_intervals(run: &Run) -> Option<String> {
    let rows: Vec<(&str, u32, &SystemSample)> = run
        .intervals()
        .flat_map(|(name, users, series)| series.samples.iter().map(move |it| (name, users, it)))
        .collect();
    let mut text = String::new();
    let names = SAMPLE_COLUMNS.iter().map(|(name, _)| (*name).to_owned());
    line(
        &mut text,
        ["measurement", "users"]
            .map(String::from)
            .into_iter()
            .chain(names),
    );
    for (name, users, sample) in &rows {
        let cells = SAMPLE_COLUMNS
            .iter()
            .map(|(_, cell)| optional(cell(sample)));
        let place = [(*name).to_owned(), users.to_string()];
        line(&mut text, place.into_iter().chain(cells));
    }
    (!rows.is_empty()).then_some(text)
}
