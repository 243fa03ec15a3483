//! Latency over time as comma-separated values: one row for each interval of each measurement.

use results::{Interval, Run};
use units::Duration;

use crate::csv::{header, line, number, optional};

/// Nanoseconds in a second, and in a microsecond.
const SECOND: f64 = 1e9;
const MICROSECOND: f64 = 1e3;
/// The percentiles, in the order of their columns.
const PERCENTILES: [f64; 4] = [0.5, 0.95, 0.99, 0.999];

const COLUMNS: [&str; 13] = [
    "measurement",
    "begin_s",
    "end_s",
    "operations",
    "errors",
    "iops",
    "mean_us",
    "p50_us",
    "p95_us",
    "p99_us",
    "p999_us",
    "max_us",
    "foreign_io_share",
];

/// The intervals of the run, joined until each is `every` long at least; `None` where it kept none.
/// A percentile is empty where fewer than 10 operations lie above it.
#[must_use]
pub fn csv_series(run: &Run, every: Option<Duration>) -> Option<String> {
    let mut text = header(&COLUMNS);
    let empty = text.len();
    for measurement in &run.measurements {
        let length_ns = every.map_or(0, Duration::as_nanos);
        for interval in Interval::joined(&measurement.intervals, length_ns) {
            line(&mut text, row(&measurement.name, &interval).into_iter());
        }
    }
    (text.len() > empty).then_some(text)
}

fn row(measurement: &str, interval: &Interval) -> Vec<String> {
    let response = interval.response();
    let seconds = interval.length_ns as f64 / SECOND;
    let some = (!response.is_empty()).then_some(());
    let percentiles = PERCENTILES.iter().map(|p| {
        let time = response.quantile(*p);
        optional(time.map(|time| time as f64 / MICROSECOND))
    });
    let mut cells = vec![
        measurement.to_owned(),
        number(interval.begin_ns() as f64 / SECOND),
        number(interval.end_ns as f64 / SECOND),
        response.len().to_string(),
        interval.errors.to_string(),
        number(response.len() as f64 / seconds),
        optional(some.map(|()| response.mean() / MICROSECOND)),
    ];
    cells.extend(percentiles);
    cells.push(optional(some.map(|()| response.max() as f64 / MICROSECOND)));
    cells.push(optional(interval.foreign_share));
    cells
}
