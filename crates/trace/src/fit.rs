//! Fits a fio job to a trace, and measures how well it fits.
//!
//! Lengths, mix, rate and the share of sequential requests are the trace's own. Arrivals are random
//! or even, offsets uniform or Zipf, whichever fits better.

use crate::heat::Heat;
use crate::summary::TraceSummary;

/// Maximum number of lengths in a job.
const SIZES_MAX: usize = 12;
/// Zipf exponents tried. fio does not accept 1.
const THETAS: [f64; 12] = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1.1, 1.2, 1.4];
/// Offsets whose distance from uniform is at most this multiple of the distance by chance count as
/// uniform.
const CHANCE_FACTOR: f64 = 1.5;
/// Maximum number of blocks in the model of Zipf offsets.
const BLOCKS_MAX: u64 = 1 << 16;

/// A job, with its goodness of fit.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedJob {
    /// The job file.
    pub job: String,
    /// Share of requests that would have to change their length.
    pub sizes: f64,
    /// Largest difference between the request shares of the hottest parts.
    pub places: f64,
    /// Largest difference between the distribution functions of gaps; `None` if the trace has no
    /// gaps.
    pub gaps: Option<f64>,
}

/// Fits a job to a trace with that name; `None` if it neither reads nor writes.
pub fn fit(summary: &TraceSummary, name: &str) -> Option<FittedJob> {
    let moving = summary.moving();
    if moving == 0 {
        return None;
    }
    let (split, sizes) = block_sizes(summary);
    let (places, zipf) = places(summary);
    let arrivals = arrivals(summary);
    let reads = summary.ops[0].count as f64 / moving as f64;
    let random = 100 - percent(summary.sequential_share);
    let mut lines = vec![
        format!(", fitted to {} by seekstone inspect", one_line(name)),
        "[fitted]".to_owned(),
        format!("rw={}", direction(reads, random)),
    ];
    if (1..=99).contains(&random) {
        lines.push(format!("percentage_random={random}"));
    }
    if is_mixed(reads) {
        lines.push(format!("rwmixread={}", percent(reads)));
    }
    lines.push(format!("bssplit={split}"));
    if let (Some(theta), true) = (zipf, random > 0) {
        lines.push(format!("random_distribution=zipf:{theta}"));
    }
    let extent = summary.extent();
    let size = extent.checked_next_multiple_of(4096).unwrap_or(extent);
    lines.push(format!("size={size}"));
    lines.push("ioengine=libaio".to_owned());
    lines.push("direct=1".to_owned());
    lines.push("iodepth=256".to_owned());
    if let Some((_, is_poisson)) = arrivals {
        let per_second = moving as f64 * 1e9 / summary.span_ns.max(1) as f64;
        lines.push(format!("rate_iops={}", rates(per_second, reads)));
        let process = if is_poisson { "poisson" } else { "linear" };
        lines.push(format!("rate_process={process}"));
        lines.push("time_based=1".to_owned());
        let seconds = summary.span_ns.div_ceil(1_000_000_000);
        lines.push(format!("runtime={seconds}"));
    }
    lines.push(String::new());
    Some(FittedJob {
        job: lines.join("\n"),
        sizes,
        places,
        gaps: arrivals.map(|(distance, _)| distance),
    })
}

/// A comment in a job file must not end early.
fn one_line(name: &str) -> String {
    name.replace(units::is_obeyed, " ")
}

fn percent(share: f64) -> u64 {
    (share * 100.0).round() as u64
}

fn is_mixed(reads: f64) -> bool {
    (1..=99).contains(&percent(reads))
}

fn direction(reads: f64, random: u64) -> &'static str {
    match (random > 0, is_mixed(reads), reads >= 0.5) {
        (true, true, _) => "randrw",
        (true, false, true) => "randread",
        (true, false, false) => "randwrite",
        (false, true, _) => "rw",
        (false, false, true) => "read",
        (false, false, false) => "write",
    }
}

/// Integer operations per second, at least one, of reads and writes.
fn rates(per_second: f64, reads: f64) -> String {
    let whole = |rate: f64| (rate.round() as u64).max(1);
    match is_mixed(reads) {
        true => format!(
            "{},{}",
            whole(per_second * reads),
            whole(per_second * (1.0 - reads))
        ),
        false => whole(per_second).to_string(),
    }
}

/// The shares of lengths as fio writes them, in whole percents, and their distance from the
/// trace's: half the sum of the differences.
fn block_sizes(summary: &TraceSummary) -> (String, f64) {
    let moving = summary.moving() as f64;
    let named = &summary.sizes[..summary.sizes.len().min(SIZES_MAX)];
    let covered: u64 = named.iter().map(|it| it.count).sum();
    let mut parts: Vec<(u64, u64, f64)> = named
        .iter()
        .map(|it| {
            let of_named = it.count as f64 / covered.max(1) as f64;
            (it.length, percent(of_named), it.count as f64 / moving)
        })
        .filter(|(_, percent, _)| *percent > 0)
        .collect();
    if parts.is_empty() {
        parts = named
            .iter()
            .take(1)
            .map(|it| (it.length, 100, 1.0))
            .collect();
    }
    // The largest share absorbs the rounding.
    let others: u64 = parts.iter().skip(1).map(|(_, percent, _)| percent).sum();
    parts[0].1 = 100 - others.min(99);
    let kept: f64 = parts.iter().map(|(_, _, share)| share).sum();
    let differences = parts.iter();
    let differences =
        differences.map(|(_, percent, share)| (*percent as f64 / 100.0 - share).abs());
    let distance = (differences.sum::<f64>() + (1.0 - kept)) / 2.0;
    let text: Vec<String> = parts
        .iter()
        .map(|(length, percent, _)| format!("{length}/{percent}"))
        .collect();
    (text.join(":"), distance.max(0.0))
}

/// The exponent whose offsets fit best, if any fits better than uniform ones, with its distance.
fn places(summary: &TraceSummary) -> (f64, Option<f64>) {
    let heat = &summary.heat;
    let length = summary.sizes.first().map_or(4096, |it| it.length).max(512);
    let blocks = (summary.extent() / length).clamp(1, BLOCKS_MAX);
    let whole = summary.extent() as f64 / heat.part_bytes.max(1) as f64;
    let uniform = distance(heat, &even(heat.shares.len(), whole));
    let tried = THETAS.map(|theta| {
        let model = zipf_shares(theta, blocks, heat.shares.len());
        (distance(heat, &model), Some(theta))
    });
    let nearest = tried
        .into_iter()
        .min_by(|one, other| one.0.total_cmp(&other.0));
    let is_chance = uniform <= CHANCE_FACTOR * distance_by_chance(summary);
    match nearest {
        Some(nearest) if nearest.0 < uniform && !is_chance => nearest,
        _ => (uniform, None),
    }
}

/// Distance of uniform offsets from uniform by chance alone: with `m` requests per part on average,
/// the hottest half has `1 / sqrt(2 pi m)` of all too many.
fn distance_by_chance(summary: &TraceSummary) -> f64 {
    let mean = summary.moving() as f64 / summary.heat.shares.len().max(1) as f64;
    1.0 / (2.0 * std::f64::consts::PI * mean).sqrt()
}

/// The shares of parts requested equally; the last of `whole` parts is partial.
fn even(parts: usize, whole: f64) -> Vec<f64> {
    let share = |it: usize| (it as f64 / whole).min(1.0);
    (1..=parts).map(share).collect()
}

/// The shares of the hottest parts if blocks follow Zipf's law and are scattered, as in fio.
fn zipf_shares(theta: f64, blocks: u64, parts: usize) -> Vec<f64> {
    let mut weights = vec![0.0; parts];
    for rank in 1..=blocks {
        // Any fixed scattering will do: multiplication by the golden ratio.
        let hash = rank.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let part = (u128::from(hash) * parts as u128) >> 64;
        weights[part as usize] += (rank as f64).powf(-theta);
    }
    weights.sort_by(|one, other| other.total_cmp(one));
    let all: f64 = weights.iter().sum();
    let mut sum = 0.0;
    let shares = weights.into_iter().map(|weight| {
        sum += weight;
        sum / all
    });
    shares.collect()
}

fn distance(heat: &Heat, model: &[f64]) -> f64 {
    let pairs = heat.shares.iter().zip(model);
    pairs
        .map(|(one, other)| (one - other).abs())
        .fold(0.0, f64::max)
}

/// Distance of gaps from random or even arrivals, whichever fits better, and whether it is random.
fn arrivals(summary: &TraceSummary) -> Option<(f64, bool)> {
    let gaps = &summary.gaps;
    if gaps.is_empty() || gaps.mean() <= 0.0 {
        return None;
    }
    let (all, mean) = (gaps.len() as f64, gaps.mean());
    let mut below = 0.0;
    let (mut poisson, mut even): (f64, f64) = (0.0, 0.0);
    for bucket in gaps.iter_recorded() {
        let after = below + bucket.count as f64 / all;
        let share_below = |time: u64| 1.0 - (-(time as f64) / mean).exp();
        poisson = poisson
            .max((share_below(bucket.low) - below).abs())
            .max((share_below(bucket.high) - after).abs());
        let is_before = (bucket.high as f64) < mean;
        let is_after = (bucket.low as f64) > mean;
        if is_before {
            even = even.max(after);
        }
        if is_after {
            even = even.max(1.0 - below);
        }
        below = after;
    }
    Some((poisson.min(even), poisson <= even))
}
