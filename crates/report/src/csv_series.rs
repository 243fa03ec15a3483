//! Latency over time as comma-separated values: one row for each interval of each measurement.

use results::{Interval, PERCENTILES, Run, percentile_in};
use units::Duration;

use crate::clock_time::ClockTime;
use crate::csv::{header, line, number, optional};

/// Nanoseconds in a second, and in a microsecond.
const SECOND: f64 = 1e9;
const MICROSECOND: f64 = 1e3;
/// The columns before the percentiles, and behind them.
const BEGIN: [&str; 8] = [
    "measurement",
    "time",
    "begin_s",
    "end_s",
    "operations",
    "errors",
    "iops",
    "mean_us",
];
const END: [&str; 2] = ["max_us", "foreign_io_share"];

/// Digits of a second of the time of day.
const DIGITS: usize = 3;

/// The intervals of the run, or windows of `every` made of them; `None` where it kept none that add
/// up to these. A percentile is empty where no operation lies above it. The time of day is that of
/// the beginning.
pub fn csv_series(run: &Run, every: Option<Duration>) -> Option<String> {
    let percentiles = PERCENTILES.map(|it| format!("{}_us", it.key));
    let percentiles = percentiles.iter().map(String::as_str);
    let columns: Vec<&str> = BEGIN.into_iter().chain(percentiles).chain(END).collect();
    let mut text = header(&columns);
    let empty = text.len();
    for measurement in &run.measurements {
        let kept = &measurement.intervals;
        if kept.is_empty() {
            continue;
        }
        let windows = match every {
            Some(every) => Interval::windows(kept, every.as_nanos())?,
            None => kept.clone(),
        };
        let clock = ClockTime::of(measurement);
        for window in windows {
            let time = clock.as_ref().map(|it| it.at(window.begin_ns(), DIGITS));
            let time = time.unwrap_or_default();
            line(&mut text, row(&measurement.name, time, &window).into_iter());
        }
    }
    (text.len() > empty).then_some(text)
}

fn row(measurement: &str, time: String, interval: &Interval) -> Vec<String> {
    let response = interval.response();
    let some = (!response.is_empty()).then_some(());
    let percentiles = PERCENTILES.iter().map(|it| {
        let time = percentile_in(&response, it.share);
        optional(time.map(|time| time as f64 / MICROSECOND))
    });
    let mut cells = vec![
        measurement.to_owned(),
        time,
        number(interval.begin_ns() as f64 / SECOND),
        number(interval.end_ns as f64 / SECOND),
        response.len().to_string(),
        interval.errors.to_string(),
        number(interval.per_second(&response)),
        optional(some.map(|()| response.mean() / MICROSECOND)),
    ];
    cells.extend(percentiles);
    cells.push(optional(some.map(|()| response.max() as f64 / MICROSECOND)));
    cells.push(optional(interval.foreign_share));
    cells
}
