//! Writes a file for `trial --workload` that approximates a trace: reads and writes separately, in
//! phases of constant rate. Arrivals are random.

use std::fmt::Write as _;

use crate::profile::{LoadProfile, OpProfile};

/// Maximum number of lengths in a workload.
const LENGTHS_MAX: usize = 12;
/// Maximum number of zones in a pattern.
const ZONES_MAX: u64 = 20;
/// Rates that differ by at most this many standard deviations count as equal.
const SAME_DEVIATIONS: f64 = 4.0;

/// The file, for a trace with that name; `None` if it neither reads nor writes, or has no length.
pub fn workload_text(profile: &LoadProfile, extent: u64, name: &str) -> Option<String> {
    if profile.span_ns == 0 || profile.ops.iter().all(|it| it.count == 0) {
        return None;
    }
    let name = name.replace(units::is_obeyed, " ");
    let mut text = format!(
        "# Fitted to {name} by seekstone profile.\n# seekstone trial TARGET --workload THIS-FILE\n"
    );
    let extent = extent.checked_next_multiple_of(4096).unwrap_or(extent);
    let ops = profile.ops.iter().zip(["reads", "writes"]).enumerate();
    for (number, (op, word)) in ops.filter(|(_, (op, _))| op.count > 0) {
        for phase in phases(profile, number) {
            let seconds = phase.length_ns as f64 / 1e9;
            let rate = (phase.count as f64 / seconds).round() as u64;
            let start = format_seconds(phase.start_ns);
            let tail = match phase.is_whole {
                true => String::new(),
                false => format!(" from {start}"),
            };
            let _ = write!(
                text,
                "\n[[workload]]\nname = \"{word}{tail}\"\nblock = \"{}\"\npattern = \"{}\"\n\
                 rate = \"{}/s\"\n",
                blocks(op),
                pattern(op),
                rate.max(1)
            );
            if number == 1 {
                text.push_str("writes = \"100%\"\n");
                let per_sync = profile.chains.writes_per_sync.mean();
                if !profile.chains.writes_per_sync.is_empty() {
                    let every = per_sync.round().max(1.0);
                    let _ = writeln!(text, "flush-every = {every}");
                }
            }
            if phase.start_ns > 0 {
                let _ = writeln!(text, "start = \"{start}\"");
            }
            let length = format_seconds(phase.length_ns);
            let _ = writeln!(text, "duration = \"{length}\"\nsize = \"{extent}\"");
        }
    }
    Some(text)
}

fn format_seconds(nanos: u64) -> String {
    format!("{}us", nanos / 1000)
}

/// A phase with a constant rate.
struct Phase {
    start_ns: u64,
    length_ns: u64,
    count: u64,
    /// Whether it covers the whole trace.
    is_whole: bool,
}

/// The whole trace if its windows differ only by chance, otherwise runs of consecutive windows that
/// do.
fn phases(profile: &LoadProfile, op: usize) -> Vec<Phase> {
    let counts = &profile.ops[op].by_time;
    let windows = counts.len().max(1) as u64;
    // Start of a window.
    let begin = |number: u64| {
        let begin = u128::from(profile.span_ns) * u128::from(number) / u128::from(windows);
        begin as u64
    };
    let mut phases: Vec<Phase> = Vec::new();
    let mut length = 0_u32;
    for (number, &count) in (0..).zip(counts) {
        let is_same = phases.last().is_some_and(|phase| {
            let mean = phase.count as f64 / f64::from(length);
            // The mean is also estimated from a sample.
            let deviation = (mean.max(1.0) * (1.0 + 1.0 / f64::from(length))).sqrt();
            (count as f64 - mean).abs() <= SAME_DEVIATIONS * deviation
        });
        match phases.last_mut().filter(|_| is_same) {
            Some(phase) => {
                phase.count += count;
                phase.length_ns = begin(number + 1) - phase.start_ns;
                length += 1;
            }
            None => {
                phases.push(Phase {
                    start_ns: begin(number),
                    length_ns: begin(number + 1) - begin(number),
                    count,
                    is_whole: false,
                });
                length = 1;
            }
        }
    }
    if let [phase] = &mut phases[..] {
        phase.is_whole = true;
    }
    phases.retain(|it| it.count > 0 && it.length_ns >= 1000);
    phases
}

/// Whole percents that add up to 100, at least one each. The largest absorbs the rounding.
fn percents(counts: &[u64]) -> Vec<u64> {
    let all = counts.iter().sum::<u64>().max(1) as f64;
    let percent = |count: &u64| ((*count as f64 / all * 100.0).round() as u64).max(1);
    let mut percents: Vec<u64> = counts.iter().map(percent).collect();
    let sum: u64 = percents.iter().sum();
    if let Some(largest) = percents.iter_mut().max() {
        *largest = (*largest + 100).saturating_sub(sum).max(1);
    }
    percents
}

/// The most frequent lengths with their shares.
fn blocks(op: &OpProfile) -> String {
    let mut lengths: Vec<(u64, u64)> = op.lengths.iter().map(|(one, two)| (*one, *two)).collect();
    lengths.sort_by_key(|it| (std::cmp::Reverse(it.1), it.0));
    lengths.truncate(LENGTHS_MAX);
    // Each of the others has less than half a percent.
    let all: u64 = lengths.iter().map(|it| it.1).sum();
    lengths.retain(|it| it.1 * 200 >= all);
    if let [(length, _)] = lengths[..] {
        return length.to_string();
    }
    let counts: Vec<u64> = lengths.iter().map(|it| it.1).collect();
    let shares = lengths.iter().zip(percents(&counts));
    let shares: Vec<String> = shares
        .map(|(it, share)| format!("{}/{share}", it.0))
        .collect();
    shares.join(":")
}

/// Sequential, partly sequential, uniform, or in zones.
fn pattern(op: &OpProfile) -> String {
    let random = 100 - (op.sequential as f64 / op.count.max(1) as f64 * 100.0).round() as u64;
    if random == 0 {
        return "sequential".into();
    }
    if random < 99 {
        return format!("random:{random}");
    }
    let zones = zones(op);
    if zones.len() < 2 {
        return "uniform".into();
    }
    let counts: Vec<u64> = zones.iter().map(|it| it.0).collect();
    let shares = zones.iter().zip(percents(&counts));
    let shares: Vec<String> = shares
        .map(|(zone, share)| format!("{share}/{}", zone.1))
        .collect();
    format!("zoned:{}", shares.join(":"))
}

/// Zones from the first byte on, as percents of requests and bytes: each has at least 5 % of the
/// requests, or is as long as possible. A single zone if chance explains all differences.
fn zones(op: &OpProfile) -> Vec<(u64, u64)> {
    let mean = op.count as f64 / op.places.len().max(1) as f64;
    let square = |it: &u64| (*it as f64 - mean).powi(2) / mean.max(1e-9);
    let excess: f64 = op.places.iter().map(square).sum();
    // Mean and variance of chi-square. Four standard deviations are significant.
    let free = op.places.len().saturating_sub(1) as f64;
    if excess <= free + SAME_DEVIATIONS * (2.0 * free).sqrt() {
        return vec![(op.count, 100)];
    }
    let least = op.count / ZONES_MAX;
    let mut zones: Vec<(u64, u64)> = Vec::new();
    for (number, &count) in op.places.iter().enumerate() {
        let before = number.checked_sub(1).map(|it| op.places[it]);
        let is_like = |other: u64| other.abs_diff(count) as f64 <= mean.max(1.0).sqrt() * 2.0;
        match zones.last_mut() {
            Some(zone) if zone.0 < least || before.is_some_and(is_like) => {
                zone.0 += count;
                zone.1 += 1;
            }
            _ => zones.push((count, 1)),
        }
    }
    while zones.len() > ZONES_MAX as usize {
        let Some((count, size)) = zones.pop() else {
            break;
        };
        if let Some(last) = zones.last_mut() {
            *last = (last.0 + count, last.1 + size);
        }
    }
    zones
}
