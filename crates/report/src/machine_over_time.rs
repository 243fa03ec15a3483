//! What the machine did while transactions were made, interval by interval.

use results::{SystemSample, SystemSeries};
use units::{Bytes, format_count, format_duration_ns};

use crate::figure::percent;
use crate::page::TextPage;
use crate::style::Tone;
use crate::table::{Align, TextTable};

/// What the columns mean.
const LEGEND: &str = "CPU is that of all processes, and device what the kernel counts for all of \
                      them. A transfer is the time of one request with the device. Cache misses \
                      are pages of 4 KiB that were fetched, read-ahead included.";
/// Rows of the table of intervals, and of the one with everything.
const INTERVALS: (usize, usize) = (6, 60);

/// What happened when, in no more rows than a screen has.
pub(crate) fn machine_over_time(page: &mut TextPage<'_>, series: &SystemSeries) {
    // One interval says what stands above already.
    if series.samples.len() < 2 {
        return;
    }
    let rows = match page.style.all {
        true => INTERVALS.1,
        false => INTERVALS.0,
    };
    let mut table = TextTable::new(&[
        ("until", Align::Right, 9),
        ("transactions", Align::Right, 9),
        ("response", Align::Right, 8),
        ("CPU", Align::Right, 8),
        ("device", Align::Right, 8),
        ("queue", Align::Right, 7),
        ("reads", Align::Right, 7),
        ("writes", Align::Right, 6),
        ("a transfer", Align::Right, 3),
        ("cache misses", Align::Right, 6),
        ("page faults", Align::Right, 4),
        ("file cache", Align::Right, 2),
    ]);
    for sample in series.condensed(rows) {
        table.row(Tone::Plain, interval_row(&sample));
    }
    page.blank();
    page.table(&table);
    if page.style.all {
        page.paragraph(Tone::Quiet, LEGEND);
    }
}

fn interval_row(sample: &SystemSample) -> [String; 12] {
    let rate =
        |rate: Option<f64>| rate.map_or_else(String::new, |it| format!("{}/s", format_count(it)));
    let share = |share: Option<f64>| share.map(percent).unwrap_or_default();
    let span = |span: Option<f64>| span.map(format_duration_ns).unwrap_or_default();
    let faults = sample
        .minor_faults_per_second
        .zip(sample.major_faults_per_second);
    [
        format_duration_ns(sample.end_ns as f64),
        rate(Some(sample.per_second)),
        span(sample.response_mean_ns),
        share(sample.cpu_share),
        share(sample.device_busy_share),
        sample.device_queue.map(format_count).unwrap_or_default(),
        rate(sample.device_reads_per_second),
        rate(sample.device_writes_per_second),
        span(sample.device_transfer_ns),
        rate(sample.page_cache_misses_per_second),
        rate(faults.map(|(minor, major)| minor + major)),
        sample
            .file_cache_bytes
            .map_or_else(String::new, |it| Bytes(it.round() as u64).to_string()),
    ]
}
