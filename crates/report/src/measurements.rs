//! Measurements as rows of one table: IOPS, MB/s, mean, p99 and the confidence interval of each.

use std::collections::BTreeSet;

use results::{Access, KindTimes, Measurement, Trust, Work, percentile_name};
use units::{format_count, format_duration_ns};

use crate::figure::{
    INDICATIVE, cpu, figure_estimate, indicative_legend, legend, mark, percent, tone_of, trust,
    within,
};
use crate::measurement::{not_looked_for, queue};
use crate::over_time::over_time;
use crate::page::TextPage;
use crate::style::{Style, Tone};
use crate::table::{Align, TextTable};

/// IOPS, mean, p99 and the interval are shown at any width.
const MEAN_WEIGHT: u8 = 5;
/// The percentile that has a column.
const TAIL: f64 = 0.99;
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
        ("95 % CI", Align::Right, 6),
        ("CPU", Align::Right, 2),
        ("page cache", Align::Right, 3),
    ])
    .unbroken()
    .stacked_from(MEAN_WEIGHT);
    let mut used = BTreeSet::new();
    let mut is_indicative = false;
    for measurement in measurements {
        let trust = trust(measurement);
        used.insert(trust);
        let cells = cells(measurement, page.style);
        is_indicative |= cells[4].ends_with(INDICATIVE);
        table.row(tone_of(trust), cells);
        if let [_] = measurements {
            kinds(&mut table, measurement);
        }
    }
    page.flush_table(&table);
    used.remove(&Trust::Reliable);
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

fn cells(measurement: &Measurement, style: &Style) -> [String; 8] {
    let sign = mark(trust(measurement));
    let engine = measurement.unusual_engine();
    let engine = engine.map_or_else(String::new, |engine| format!(", {engine}"));
    let title = format!("{sign:SIGN$}{}{engine}", measurement.title);
    let iops = format_count(measurement.throughput.value);
    let interval = within(figure_estimate(measurement), style.unicode);
    if measurement.is_all_failed() {
        let [mb, mean, p99, cpu, cache] = [const { String::new() }; 5];
        return [title, iops, mb, mean, p99, interval, cpu, cache];
    }
    let mega = |rate: f64| format_count(rate / 1e6);
    let detail = |text: String| if style.all { text } else { String::new() };
    // Who did not ask for the page cache may still have got it.
    let is_named = measurement.title.contains("cache");
    let has_cache = style.all || measurement.access == Access::Buffered && !is_named;
    let cache = measurement.page_cache_share;
    let cache = cache.filter(|share| has_cache && (style.all || *share >= 0.005));
    [
        title,
        iops,
        measurement
            .bandwidth
            .map_or_else(String::new, |it| mega(it.value)),
        format_duration_ns(measurement.response.mean.value),
        tail(measurement),
        interval,
        detail(cpu(measurement)),
        cache.map_or_else(String::new, percent),
    ]
}

/// The 99th percentile of one kind of operation: of few samples too, where their correlation is
/// known.
fn percentile_99_of(kind: &KindTimes) -> String {
    let percentiles = kind.response.iter().flat_map(|it| &it.percentiles);
    let mut known = percentiles.filter(|it| (it.p - 0.99).abs() < 1e-9);
    let is_firm = known.next().is_none_or(|it| !it.is_indicative);
    let sign = if is_firm { "" } else { INDICATIVE };
    let value = kind.response_p99_ns;
    let value = value.map(|it| format!("{}{sign}", format_duration_ns(it as f64)));
    value.unwrap_or_default()
}

/// The 99th percentile of the latency. Where few operations lie beyond it, the highest below that
/// has enough, by its name; where none has, the 99th with a sign.
fn tail(measurement: &Measurement) -> String {
    let upto = measurement.response.percentiles.iter();
    let upto = upto.filter(|it| it.p < TAIL + 1e-9);
    let known = upto.filter_map(|it| Some((it, it.estimate?.value)));
    let known: Vec<_> = known.collect();
    let firm = known.iter().rfind(|(it, _)| !it.is_indicative);
    match (firm, known.last()) {
        (Some((it, value)), _) if it.p < TAIL - 1e-9 => {
            format!("{} {}", percentile_name(it.p), format_duration_ns(*value))
        }
        (Some((_, value)), _) => format_duration_ns(*value),
        (None, Some((_, value))) => format!("{}{INDICATIVE}", format_duration_ns(*value)),
        (None, None) => String::new(),
    }
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
            let text = format!("{}, not searched for: {}", row.title, not_looked_for(&seen));
            page.item(Tone::Quiet, "-", &text);
        }
    }
}
