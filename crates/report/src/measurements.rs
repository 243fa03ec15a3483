//! Measurements as rows of one table: IOPS, MB/s, mean, p99 and the confidence interval of each.

use std::collections::BTreeSet;

use results::{KindTimes, Measurement, Trust, Work, percentile_name};
use units::{format_count, format_duration_ns};

use crate::figure::{
    INDICATIVE, cpu, figure, indicative_legend, legend, mark, percent, tone_of, trust,
};
use crate::measurement::{not_looked_for, over_time, queue};
use crate::page::TextPage;
use crate::style::Tone;
use crate::table::{Align, TextTable};

/// IOPS, mean, p99 and the interval are shown at any width.
const MEAN_WEIGHT: u8 = 5;
/// Columns for a sign before a title.
const SIGN: usize = 2;

/// One row for each measurement, and what the signs in the rows mean.
pub(crate) fn section(page: &mut TextPage<'_>, measurements: &[Measurement]) {
    let is_files = measurements.iter().any(|it| it.work != Work::Operation);
    let mut table = TextTable::new(&[
        ("", Align::Left, 9),
        (if is_files { "ops/s" } else { "IOPS" }, Align::Right, 8),
        ("MB/s", Align::Right, 4),
        ("mean", Align::Right, MEAN_WEIGHT),
        ("p99", Align::Right, 7),
        ("95 % CI", Align::Left, 6),
        ("CPU", Align::Right, 2),
        ("page cache", Align::Right, 1),
    ])
    .unbroken()
    .stacked_from(MEAN_WEIGHT);
    let mut used = BTreeSet::new();
    let mut is_indicative = false;
    for measurement in measurements {
        let trust = trust(measurement);
        used.insert(trust);
        let cells = cells(measurement, page.style.all);
        is_indicative |= cells[4].ends_with(INDICATIVE);
        table.row(tone_of(trust), cells);
        if let [_] = measurements {
            kinds(&mut table, measurement);
        }
    }
    page.flush_table(&table);
    used.remove(&Trust::Sound);
    let mut legends: Vec<String> = used
        .into_iter()
        .map(|trust| format!("{} {}", mark(trust), legend(trust)))
        .collect();
    legends.extend(is_indicative.then(indicative_legend));
    if !legends.is_empty() {
        page.paragraph(Tone::Quiet, &legends.join("; "));
    }
    if let [one] = measurements {
        alone(page, one);
    }
    if page.style.all {
        unseen(page, measurements);
    }
}

fn cells(measurement: &Measurement, all: bool) -> [String; 8] {
    let sign = mark(trust(measurement));
    let engine = measurement.unusual_engine();
    let engine = engine.map_or_else(String::new, |engine| format!(", {engine}"));
    let title = format!("{sign:SIGN$}{}{engine}", measurement.title);
    let iops = format_count(measurement.throughput.value);
    let figure = figure(measurement);
    let interval = with_unit(&figure.value, &figure.interval);
    if measurement.is_all_failed() {
        let [mb, mean, p99, cpu, cache] = [const { String::new() }; 5];
        return [title, iops, mb, mean, p99, interval, cpu, cache];
    }
    let mega = |rate: f64| format_count(rate / 1e6);
    let detail = |text: String| if all { text } else { String::new() };
    let cache = measurement.page_cache_share.map(percent);
    [
        title,
        iops,
        measurement
            .bandwidth
            .map_or_else(String::new, |it| mega(it.value)),
        format_duration_ns(measurement.response.mean.value),
        percentile_99(measurement),
        interval,
        detail(cpu(measurement)),
        detail(cache.unwrap_or_default()),
    ]
}

/// The interval of `1.24 ms` as `1.17 .. 1.31 ms`.
fn with_unit(value: &str, interval: &str) -> String {
    let unit = value.trim_start_matches(|c: char| c.is_ascii_digit() || "-+.,".contains(c));
    let is_number = |c: char| c.is_ascii_digit();
    match interval.ends_with(is_number) && value.starts_with(is_number) {
        true => format!("{interval}{unit}"),
        false => interval.to_owned(),
    }
}

/// The same of one kind of operation: of few samples too, where their correlation is known.
fn percentile_99_of(kind: &KindTimes) -> String {
    let percentiles = kind.response.iter().flat_map(|it| &it.percentiles);
    let mut known = percentiles.filter(|it| (it.p - 0.99).abs() < 1e-9);
    let is_firm = known.next().is_none_or(|it| !it.is_indicative);
    let sign = if is_firm { "" } else { INDICATIVE };
    let value = kind.response_p99_ns;
    let value = value.map(|it| format!("{}{sign}", format_duration_ns(it as f64)));
    value.unwrap_or_default()
}

/// The 99th percentile of the latency, with a sign where few operations lie beyond it.
fn percentile_99(measurement: &Measurement) -> String {
    let found = measurement.response.percentiles.iter();
    let mut found = found.filter(|one| (one.p - 0.99).abs() < 1e-9);
    let Some((one, estimate)) = found.next().and_then(|it| Some((it, it.estimate?))) else {
        return String::new();
    };
    let sign = if one.is_indicative { INDICATIVE } else { "" };
    format!("{}{sign}", format_duration_ns(estimate.value))
}

/// Reads and writes apart: their shares of the rates, and their times over the whole trial.
fn kinds(table: &mut TextTable, measurement: &Measurement) {
    let [_, _, ..] = measurement.kinds[..] else {
        return;
    };
    let all = measurement.completions_all.max(1) as f64;
    let bytes_all = measurement.bytes_all.max(1) as f64;
    let has_warm_up = measurement.warmup_ns > 0;
    for kind in &measurement.kinds {
        let KindTimes { count, bytes, .. } = *kind;
        let iops = measurement.throughput.value * count as f64 / all;
        let bandwidth = measurement.bandwidth.filter(|_| bytes > 0);
        let bandwidth = bandwidth.map(|it| it.value * bytes as f64 / bytes_all / 1e6);
        let note = if has_warm_up { ", with warm-up" } else { "" };
        table.row(
            Tone::Quiet,
            [
                format!("{:SIGN$}  {}{note}", "", kind.kind),
                format_count(iops),
                bandwidth.map(format_count).unwrap_or_default(),
                format_duration_ns(kind.response_mean_ns),
                percentile_99_of(kind),
                String::new(),
                String::new(),
                String::new(),
            ],
        );
    }
}

/// What is said of a measurement that stands alone.
fn alone(page: &mut TextPage<'_>, measurement: &Measurement) {
    let times = &measurement.response;
    let mut parts: Vec<String> = Vec::new();
    for one in times.percentiles.iter().filter(|it| !it.is_detail()) {
        let sign = if one.is_indicative { INDICATIVE } else { "" };
        if let Some(estimate) = one.estimate {
            let name = percentile_name(one.p);
            parts.push(format!(
                "{name} {}{sign}",
                format_duration_ns(estimate.value)
            ));
        }
    }
    if !parts.is_empty() {
        page.blank();
        parts.push(format!("max {}", format_duration_ns(times.max_ns as f64)));
        page.fact("latency", &parts.join(", "));
    }
    if !measurement.is_all_failed() {
        queue(page, measurement);
    }
    if !page.style.all {
        page.fact("CPU", &cpu(measurement));
        over_time(page, measurement);
    }
}

/// What each row could not show.
fn unseen(page: &mut TextPage<'_>, measurements: &[Measurement]) {
    for row in measurements {
        if let Some(seen) = row.resolution {
            let text = format!("{}: not searched for: {}", row.title, not_looked_for(&seen));
            page.item(Tone::Quiet, "-", &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_carries_the_unit_of_its_value() {
        assert_eq!(with_unit("1.24 ms", "1.17 .. 1.31"), "1.17 .. 1.31 ms");
        assert_eq!(
            with_unit("36,500/s", "35,400 .. 37,400"),
            "35,400 .. 37,400/s"
        );
        assert_eq!(with_unit("1.24 ms", "at least 1.17"), "at least 1.17 ms");
        assert_eq!(with_unit("1.24 ms", "unknown"), "unknown");
        assert_eq!(with_unit("NaN", "1 .. 2"), "1 .. 2");
    }
}
