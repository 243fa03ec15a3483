//! The one number that stands for a measurement: a time, a rate of operations, or a bandwidth.

use crate::names::words;
use crate::style::Tone;
use results::{Access, Curve, LevelOutcome, Measurement, Row, Run, Table, Trust, Unit, Work};
use stats::Estimate;
use units::{
    format_count, format_duration_ns, format_interval_count, format_interval_ns,
    format_interval_rate,
};

/// Operations of at least this many bytes are about bandwidth, smaller ones about time.
const STREAMING_BYTES: f64 = 65_536.0;

/// Percentiles with little evidence carry this sign.
pub(crate) const INDICATIVE: &str = "?";

/// What the sign means.
pub(crate) fn indicative_legend() -> String {
    format!("{INDICATIVE} based on too few samples")
}

/// What a measurement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aspect {
    /// Response time.
    Time,
    /// Operations per second.
    Operations,
    /// Bytes per second.
    Bandwidth,
}

/// A number, and its interval in the same unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FigureText {
    pub value: String,
    pub interval: String,
}

/// How far the number of a measurement may be used.
pub(crate) fn trust(measurement: &Measurement) -> Trust {
    measurement.trust()
}

/// The sign before a number.
pub(crate) const fn mark(trust: Trust) -> &'static str {
    match trust {
        Trust::Reliable => "",
        Trust::Unstable => "!",
        Trust::Invalid => "x",
    }
}

/// The tone of a row.
pub(crate) const fn tone_of(trust: Trust) -> Tone {
    match trust {
        Trust::Reliable => Tone::Plain,
        Trust::Unstable => Tone::Doubtful,
        Trust::Invalid => Tone::Bad,
    }
}

/// What the sign means.
pub(crate) const fn legend(trust: Trust) -> &'static str {
    match trust {
        Trust::Reliable => "",
        Trust::Unstable => "unstable: do not quote",
        Trust::Invalid => "invalid: do not use",
    }
}

/// Bytes that one operation moves on average.
pub(crate) fn bytes_per_operation(measurement: &Measurement) -> f64 {
    if measurement.completions_all == 0 {
        return 0.0;
    }
    measurement.bytes_all as f64 / measurement.completions_all as f64
}

/// Whether operations are so large that costs are better stated per byte.
pub(crate) fn is_streaming(measurement: &Measurement) -> bool {
    bytes_per_operation(measurement) >= STREAMING_BYTES && measurement.work == Work::Operation
}

pub(crate) fn aspect(measurement: &Measurement) -> Aspect {
    match measurement.work {
        Work::File => Aspect::Operations,
        _ if is_streaming(measurement) && measurement.bandwidth.is_some() => Aspect::Bandwidth,
        _ => Aspect::Time,
    }
}

pub(crate) fn figure(measurement: &Measurement) -> FigureText {
    let estimate = figure_estimate(measurement);
    let (value, interval) = match (aspect(measurement), measurement.bandwidth) {
        _ if measurement.is_all_failed() => operations(estimate),
        (Aspect::Bandwidth, Some(_)) => rate(estimate),
        (Aspect::Operations, _) => operations(estimate),
        _ => time(estimate),
    };
    FigureText { value, interval }
}

/// The same as a value with its interval: bytes or operations per second, or nanoseconds.
pub(crate) fn figure_estimate(measurement: &Measurement) -> Estimate {
    match (aspect(measurement), measurement.bandwidth) {
        _ if measurement.is_all_failed() => measurement.throughput,
        (Aspect::Bandwidth, Some(bandwidth)) => bandwidth,
        (Aspect::Operations, _) => measurement.throughput,
        _ => measurement.response.mean,
    }
}

/// How far the interval reaches from its value, as in `± 2 %`; nothing where it has no end.
pub(crate) fn within(it: Estimate, is_unicode: bool) -> String {
    let farther = (it.high - it.value).max(it.value - it.low) / it.value;
    if !farther.is_finite() {
        return String::new();
    }
    let either_way = if is_unicode { "±" } else { "+-" };
    // 2 % that the arithmetic made a little more is 2 %.
    match (farther * 100.0 - 1e-6).ceil().max(1.0) {
        percent if percent < 1000.0 => format!("{either_way} {percent:>2} %"),
        _ => format!("x {}", format_count(farther + 1.0)),
    }
}

/// A value in that unit and its interval; of an interval without an upper end, its lower one.
pub(crate) fn estimated(unit: Unit, estimate: Estimate) -> (String, String) {
    unit.format_interval(estimate)
}

/// Three digits that count.
pub(crate) fn digits(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let places = (2.0 - value.abs().log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.places$}")
}

/// A time in nanoseconds and its interval.
pub(crate) fn time(estimate: Estimate) -> (String, String) {
    spoken(
        format_interval_ns(estimate.value, estimate.low, estimate.high),
        estimate,
    )
}

/// Operations per second and their interval.
pub(crate) fn operations(estimate: Estimate) -> (String, String) {
    let (value, interval) = format_interval_count(estimate.value, estimate.low, estimate.high);
    spoken((format!("{value}/s"), interval), estimate)
}

/// Bytes per second and their interval.
pub(crate) fn rate(estimate: Estimate) -> (String, String) {
    spoken(
        format_interval_rate(estimate.value, estimate.low, estimate.high),
        estimate,
    )
}

/// An interval without an upper end is said in words.
fn spoken((value, interval): (String, String), estimate: Estimate) -> (String, String) {
    if estimate.low.is_finite() && estimate.low > 0.0 && estimate.high == f64::INFINITY {
        let low = interval.split(" .. ").next().unwrap_or_default();
        return (value, format!("at least {low}"));
    }
    if !estimate.is_bounded() {
        return (value, "unknown".to_owned());
    }
    (value, interval)
}

/// CPU time for an operation, or for a GiB where operations are large.
pub(crate) fn cpu(measurement: &Measurement) -> String {
    let Some(cost) = measurement.cpu else {
        return String::new();
    };
    match cost.per_mib_ns {
        Some(per_mib) if is_streaming(measurement) => {
            format!("{}/GiB", format_duration_ns(per_mib * 1_024.0))
        }
        _ => format!("{}/op", format_duration_ns(cost.per_operation_ns)),
    }
}

/// A share as percent; neither "nothing" nor "everything" is claimed of something in between.
pub(crate) fn percent(share: f64) -> String {
    let shown = share * 100.0;
    if !shown.is_finite() {
        "n/a".to_owned()
    } else if shown != 0.0 && (0.0..0.5).contains(&shown) {
        "< 1 %".to_owned()
    } else if (99.5..100.0).contains(&shown) {
        "> 99 %".to_owned()
    } else {
        format!("{shown:.0} %")
    }
}

/// Rows that lists of runs quote, where a run has them, the most important first.
pub(crate) const QUOTED: [&str; 4] = [
    "random-read",
    "durable-write",
    "sequential-read",
    "sequential-write",
];

/// What a run found, in a few words: for lists.
pub fn headline(run: &Run) -> String {
    if let Some(note) = &run.note {
        return note.title.clone();
    }
    let mut parts: Vec<String> = QUOTED
        .iter()
        .filter_map(|name| run.measurement(name))
        .filter(|it| trust(it) != Trust::Invalid)
        .take(2)
        .map(part)
        .collect();
    if let Some(Curve {
        saturation: Some(saturation),
        title,
        ..
    }) = run.curve()
    {
        let most = format!("up to {}", operations(saturation.load).0);
        // A curve by itself is named by its workload.
        parts.push(match parts.is_empty() {
            true => format!("{title} {most}"),
            false => most,
        });
    }
    parts.extend(of_tables(run));
    if parts.is_empty() {
        parts.extend(run.measurements.iter().take(2).map(part));
    }
    if parts.is_empty() {
        parts.extend(run.curve().into_iter().flat_map(of_levels));
    }
    if parts.is_empty() {
        "nothing measured".to_owned()
    } else {
        parts.join(", ")
    }
}

/// The headlines of the first table's rows that stand for it.
fn of_tables(run: &Run) -> Vec<String> {
    let Some(table) = run.tables.iter().find(|it| !it.rows.is_empty()) else {
        return Vec::new();
    };
    let listed = table.listed();
    let shown = listed.rows.iter().filter_map(|row| {
        let head = row.headline()?;
        let value = head.metric.unit.format(head.value.value);
        let name = subject(&listed, row);
        let name = match head.metric.unit {
            // A bare number does not say what it is.
            Unit::Ratio => format!("{name} {}", words(&head.metric.name)),
            _ => name,
        };
        Some(format!("{name} {}{value}", mark(row.trust)))
    });
    shown.collect()
}

/// What a row is about: `test 1`, where its name is a number.
pub(crate) fn subject(table: &Table, row: &Row) -> String {
    let name = table.row_name(row);
    match table.factors.first() {
        Some(factor) if name.starts_with(|it: char| it.is_ascii_digit()) => {
            format!("{factor} {name}")
        }
        _ => name,
    }
}

/// The loads at the last two levels that were reached.
fn of_levels(curve: &Curve) -> Vec<String> {
    let reached = curve.levels.iter().filter_map(|level| {
        let LevelOutcome::Reached { load, .. } = level.outcome else {
            return None;
        };
        let time = format_duration_ns(level.level_ns as f64);
        Some(format!("{} at {time}", operations(load).0))
    });
    let reached: Vec<String> = reached.collect();
    let begin = reached.len().saturating_sub(2);
    let mut parts = vec![curve.title.clone()];
    parts.extend_from_slice(&reached[begin..]);
    parts
}

fn part(measurement: &Measurement) -> String {
    let mark = mark(trust(measurement));
    // A single trial is named by its workload.
    let name = match measurement.title.as_str() {
        title if !title.is_empty() && !QUOTED.contains(&measurement.name.as_str()) => title,
        _ => &measurement.name,
    };
    format!("{name} {mark}{}", figure(measurement).value)
}

/// How storage was reached, for readers.
pub(crate) const fn access_in_words(access: Access) -> &'static str {
    match access {
        Access::Direct => "past the page cache",
        Access::Buffered => "through the page cache",
        Access::Simulated => "on a model, in virtual time",
        Access::Null => "on the null driver: nothing was stored",
    }
}
