//! Latency over time as comma-separated values: one row for each interval of each measurement.

use results::{Interval, PERCENTILES, Run};
use units::Duration;

use crate::csv::{header, line, number, optional};

/// Nanoseconds in a second, and in a microsecond.
const SECOND: f64 = 1e9;
const MICROSECOND: f64 = 1e3;
/// The columns before the percentiles, and behind them.
const BEGIN: [&str; 7] = [
    "measurement",
    "begin_s",
    "end_s",
    "operations",
    "errors",
    "iops",
    "mean_us",
];
const END: [&str; 2] = ["max_us", "foreign_io_share"];

/// The intervals of the run, joined until each is `every` long at least; `None` where it kept none.
/// A percentile is empty where fewer than 10 operations lie above it.
#[must_use]
pub fn csv_series(run: &Run, every: Option<Duration>) -> Option<String> {
    let percentiles = PERCENTILES.map(|it| format!("{}_us", it.key));
    let percentiles = percentiles.iter().map(String::as_str);
    let columns: Vec<&str> = BEGIN.into_iter().chain(percentiles).chain(END).collect();
    let mut text = header(&columns);
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
    let percentiles = PERCENTILES.iter().map(|it| {
        let time = response.quantile(it.share);
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
