//! What the figures of a check-up say in plain words.
//!
//! Every sentence follows from figures that stand beside it in the report; none guesses.

use results::{Access, Curve, LevelOutcome, Measurement};
use units::{format_count, format_duration_ns, format_rate};

/// A device that answers a flush faster than this has not moved anything to flash or platter.
const FLUSH_TOO_FAST_NS: f64 = 20_000.0;
/// Random reads this much slower than sequential ones are those of a disk that must seek.
const SEEK_RATIO: f64 = 20.0;
/// A worker that is busier than this has little time left to wait for storage.
const BUSY_CORES: f64 = 0.9;
/// A page-cache share above this in a trial that should reach the device is worth a sentence.
const CACHE_SHARE: f64 = 0.05;

/// The findings, the most important first.
#[must_use]
pub fn findings(measurements: &[Measurement], curve: Option<&Curve>) -> Vec<String> {
    let find = |name: &str| {
        measurements
            .iter()
            .find(|measurement| measurement.name == name)
    };
    let mut findings = Vec::new();
    findings.extend(curve.and_then(load_carried));
    findings.extend(curve.and_then(saturation));
    findings.extend(find("durable-write").and_then(durable));
    findings.extend(sequential_against_random(
        find("sequential-read"),
        find("random-read"),
    ));
    findings.extend(cache_gain(find("cached-read"), find("sequential-read")));
    findings.extend(measurements.iter().filter_map(cached_by_accident));
    findings.extend(curve.and_then(cpu_bound));
    findings
}

fn load_carried(curve: &Curve) -> Option<String> {
    let (level, load) = curve.levels.iter().find_map(|level| match level.outcome {
        LevelOutcome::Reached { load, .. } => Some((level, load)),
        _ => None,
    })?;
    Some(format!(
        "At a mean response time of {} this storage carries {} random 4 KiB reads per second.",
        format_duration_ns(level.level_ns as f64),
        format_count(load.value),
    ))
}

fn saturation(curve: &Curve) -> Option<String> {
    let saturation = curve.saturation?;
    let one = curve.points.iter().find(|point| point.clients == 1)?;
    let gain = saturation.load.value / one.load.value;
    let load = format_count(saturation.load.value);
    if !saturation.is_saturated {
        return Some(format!(
            "With {} reads at a time it did {load} per second and was not saturated yet.",
            saturation.clients
        ));
    }
    if gain < 1.1 {
        return Some(format!(
            "It saturates at {load} random reads per second with a single read at a time: more at \
             a time only wait longer."
        ));
    }
    Some(format!(
        "It saturates at {load} random reads per second, {gain:.1} times what one read at a time \
         gives; {} at a time are enough to get there.",
        clients_enough(curve, saturation.load.value),
    ))
}

/// The fewest clients that gave at least 95 % of the highest load.
fn clients_enough(curve: &Curve, most: f64) -> u32 {
    curve
        .points
        .iter()
        .filter(|point| point.load.value >= 0.95 * most)
        .map(|point| point.clients)
        .min()
        .unwrap_or(1)
}

fn durable(durable: &Measurement) -> Option<String> {
    let time = durable.response.mean.value;
    if durable.access == Access::Simulated {
        return None;
    }
    if time < FLUSH_TOO_FAST_NS {
        return Some(format!(
            "A write with fsync takes only {}: something answers flushes from memory. Unless that \
             memory is protected, data that were promised durable can be lost with the power.",
            format_duration_ns(time)
        ));
    }
    Some(format!(
        "A write with fsync takes {}, so that one thread commits at most {} times per second.",
        format_duration_ns(time),
        format_count(durable.throughput.value),
    ))
}

fn sequential_against_random(
    sequential: Option<&Measurement>,
    random: Option<&Measurement>,
) -> Option<String> {
    let sequential = sequential?.bandwidth?.value;
    let random = random?.bandwidth?.value;
    let ratio = sequential / random;
    (ratio > SEEK_RATIO).then(|| {
        format!(
            "Reading in order ({}) moves {ratio:.0} times as much as random 4 KiB reads one at a \
             time ({}): larger blocks, read-ahead, or more reads at a time pay here.",
            format_rate(sequential),
            format_rate(random),
        )
    })
}

fn cache_gain(cached: Option<&Measurement>, device: Option<&Measurement>) -> Option<String> {
    let cached = cached?;
    let (fast, slow) = (cached.bandwidth?.value, device?.bandwidth?.value);
    (cached.page_cache_share? > 0.9 && fast > 1.2 * slow).then(|| {
        format!(
            "Data in the page cache are read {:.1} times as fast as from the device ({} against \
             {}): tests that do not bypass the cache measure memory.",
            fast / slow,
            format_rate(fast),
            format_rate(slow),
        )
    })
}

fn cached_by_accident(measurement: &Measurement) -> Option<String> {
    let share = measurement.page_cache_share?;
    let is_meant_for_device = ["sequential-read", "random-read"].contains(&&*measurement.name);
    (is_meant_for_device && share > CACHE_SHARE).then(|| {
        format!(
            "{}: {:.0} % of the bytes came from the page cache, not from the device.",
            measurement.title,
            share * 100.0
        )
    })
}

fn cpu_bound(curve: &Curve) -> Option<String> {
    let clients = curve.saturation?.clients;
    let points = || curve.points.iter().filter(|point| point.clients == clients);
    let point = points()
        .find(|point| !point.is_scout)
        .or_else(|| points().next())?;
    let cores = point.cores_busy?;
    (cores > BUSY_CORES).then(|| {
        format!(
            "At its highest load this program kept {cores:.1} processor cores busy: the processor, \
             not the storage, may be what saturates. Try more --workers."
        )
    })
}
