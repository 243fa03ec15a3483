//! The one number that stands for a measurement: a time, a rate of operations, or a bandwidth.

use crate::timing;
use results::{
    Access, Curve, LevelOutcome, Measurement, RandomAccess, RandomCell, RandomKind, Run, Severity,
};
use stats::{Estimate, Verdict};
use units::{
    Bytes, format_count, format_duration_ns, format_interval_count, format_interval_ns,
    format_interval_rate, format_rate,
};

/// Operations of at least this many bytes are about bandwidth, smaller ones about time.
const STREAMING_BYTES: f64 = 65_536.0;

/// Percentiles with little evidence carry this sign.
pub(crate) const INDICATIVE: &str = "?";

/// What the sign means.
pub(crate) fn indicative_legend() -> String {
    format!("{INDICATIVE} too few independent observations lie beyond it to rely on it")
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

/// A number, its interval in the same unit, and what to say beside the title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Figure {
    pub value: String,
    pub interval: String,
    /// Empty, or the same result seen from the other side, after a comma.
    pub addition: String,
}

/// How far a number may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// Its interval can be trusted, however wide it is.
    Sound,
    /// Slow ups and downs make its interval doubtful.
    Narrow,
    /// There is no good interval.
    Shaky,
    /// A warning says that it must not be used.
    Void,
}

impl Standing {
    pub fn of(measurement: &Measurement) -> Self {
        if measurement
            .warnings
            .iter()
            .any(|warning| warning.severity == Severity::Void)
        {
            return Self::Void;
        }
        match measurement.verdict {
            Verdict::Converged
            | Verdict::Timed { is_citable: true }
            | Verdict::Budget { is_citable: true }
            | Verdict::Short { is_citable: true } => Self::Sound,
            Verdict::Correlated => Self::Narrow,
            Verdict::Budget { is_citable: false }
            | Verdict::Timed { is_citable: false }
            | Verdict::Short { is_citable: false }
            | Verdict::NotStationary => Self::Shaky,
        }
    }

    /// The sign before a number.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Sound => "",
            Self::Narrow => "~",
            Self::Shaky => "!",
            Self::Void => "x",
        }
    }

    /// What the sign means.
    pub const fn legend(self) -> &'static str {
        match self {
            Self::Sound => "",
            Self::Narrow => "slow ups and downs: the interval may be too narrow, measure longer",
            Self::Shaky => "not settled: do not quote, see the warnings",
            Self::Void => "void: do not use, see the warnings",
        }
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
    bytes_per_operation(measurement) >= STREAMING_BYTES && !is_transactions(measurement)
}

/// Whether units of work are transactions: those are about time, however many bytes they move.
fn is_transactions(measurement: &Measurement) -> bool {
    measurement.name.starts_with("transactions")
}

pub(crate) fn aspect(measurement: &Measurement) -> Aspect {
    let is_sequential = measurement.name.starts_with("sequential-") || is_streaming(measurement);
    if measurement.name.starts_with("files-") {
        Aspect::Operations
    } else if is_sequential && measurement.bandwidth.is_some() {
        Aspect::Bandwidth
    } else {
        Aspect::Time
    }
}

pub(crate) fn figure(measurement: &Measurement) -> Figure {
    let mean = measurement.response.mean;
    match (aspect(measurement), measurement.bandwidth) {
        (Aspect::Bandwidth, Some(bandwidth)) => {
            let (value, interval) = rate(bandwidth);
            Figure {
                value,
                interval,
                addition: String::new(),
            }
        }
        (Aspect::Operations, _) => {
            let (value, interval) = operations(measurement.throughput);
            let addition = format!(", {} each", format_duration_ns(mean.value));
            Figure {
                value,
                interval,
                addition,
            }
        }
        _ => {
            let (value, interval) = time(mean);
            // With one client at a time the rate is the time upside down.
            let addition = if measurement.clients == 1 && measurement.offered.is_none() {
                String::new()
            } else {
                format!(", {}/s", format_count(measurement.throughput.value))
            };
            Figure {
                value,
                interval,
                addition,
            }
        }
    }
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

/// What a run found, in a few words: for lists.
#[must_use]
pub fn headline(run: &Run) -> String {
    let named = [
        "random-read",
        "durable-write",
        "sequential-read",
        "sequential-write",
    ];
    let mut parts: Vec<String> = named
        .iter()
        .filter_map(|name| run.measurement(name))
        .take(2)
        .map(part)
        .collect();
    if let Some(Curve {
        saturation: Some(saturation),
        ..
    }) = &run.curve
    {
        parts.push(format!("up to {}", operations(saturation.load).0));
    }
    parts.extend(run.random.iter().flat_map(of_random));
    parts.extend(run.timing.iter().flat_map(timing::headline));
    let series = run.transfer.iter().flat_map(|found| &found.series);
    if let Some(last) = series.last() {
        parts.push(format!("{} {}", last.title, format_rate(last.rate.value)));
    }
    for average in run.rab.iter().flat_map(|rab| &rab.averages).take(2) {
        let group = average.group.name();
        let mark = format_count(average.rabmark_r.value.value);
        parts.push(format!("{group} RABmark[r] {mark}"));
    }
    for found in run.rab.iter().flat_map(|rab| &rab.workloads) {
        if let (true, Some(mark)) = (parts.len() < 2, found.rabmark_r) {
            let mark = format_count(mark.value.value);
            parts.push(format!("{} RABmark[r] {mark}", found.name));
        }
    }
    if let Some(found) = &run.files {
        let tests = found.tests.iter().take(2);
        parts.extend(tests.map(|test| {
            let seconds = test.elapsed_seconds.value;
            format!("{} {}", test.name(), format_duration_ns(seconds * 1e9))
        }));
    }
    if let Some(study) = &run.study {
        parts.push(study.title.clone());
    }
    if parts.is_empty() {
        parts.extend(run.measurements.iter().take(2).map(part));
    }
    if parts.is_empty() {
        parts.extend(run.curve.iter().flat_map(of_levels));
    }
    if parts.is_empty() {
        "nothing measured".to_owned()
    } else {
        parts.join(", ")
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

/// Reads and writes of random access: over the largest span, and over the smallest.
fn of_random(found: &RandomAccess) -> Vec<String> {
    let mut parts = Vec::new();
    for kind in [RandomKind::Read, RandomKind::Write] {
        let spans = found.over_spans(kind);
        let (Some(first), Some(last)) = (spans.first(), spans.last()) else {
            continue;
        };
        let shown = |cell: &RandomCell| {
            let (span, mean) = (Bytes(cell.span_bytes), cell.service.mean.value);
            format!("{} within {span}", format_duration_ns(mean))
        };
        let name = kind.name();
        let first = (spans.len() > 1).then(|| format!(" ({})", shown(first)));
        parts.push(format!(
            "random {name} {}{}",
            shown(last),
            first.unwrap_or_default()
        ));
    }
    parts
}

fn part(measurement: &Measurement) -> String {
    let mark = Standing::of(measurement).mark();
    format!("{} {mark}{}", measurement.name, figure(measurement).value)
}

/// How storage was reached, for readers.
pub(crate) const fn access_in_words(access: Access) -> &'static str {
    match access {
        Access::Direct => "past the page cache",
        Access::Buffered => "through the page cache",
        Access::Simulated => "on a model, in virtual time",
        Access::Null => "on a driver that completes at once: nothing was stored",
    }
}
