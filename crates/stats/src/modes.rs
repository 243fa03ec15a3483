//! Two modes in a distribution: cache and disk, read and write.
//!
//! Bins of 1/8 octave, smoothed twice with [1 2 1]/4. Two peaks at least an octave apart count as
//! modes when the valley between them is clearly below half the lower peak and each side holds at
//! least 1 % of the mass (section 5, "BIMODAL").

use crate::bins::LogBins;

const PER_OCTAVE: usize = 8;
/// Peaks closer than this many bins are one mode.
const DISTANCE_MIN: usize = PER_OCTAVE;
/// Smallest share of the mass on either side of the valley ...
const SHARE_MIN: f64 = 0.01;
/// ... and the smallest number of completions there: fewer are stragglers, not a mode.
const COUNT_MIN: f64 = 30.0;

/// The valley (ns) between two modes, if there are two.
pub fn valley(bins: &LogBins) -> Option<f64> {
    let histogram = octave_bins(bins);
    let smooth = smoothed(&smoothed(&histogram));
    let total: f64 = histogram.iter().sum();
    let enough = (SHARE_MIN * total).max(COUNT_MIN);
    let left = peaks(smooth.iter().copied().enumerate());
    let mut right = peaks(smooth.iter().copied().enumerate().rev());
    right.reverse();
    let mut below = histogram[0];
    let mut best: Option<(f64, usize)> = None;
    for at in 1..smooth.len() - 1 {
        let (first, last) = (left[at - 1], right[at + 1]);
        let lower = smooth[first].min(smooth[last]);
        // sqrt(v + 1): an empty valley between two single counts proves nothing.
        let is_deep = smooth[at] + 3.0 * (smooth[at] + 1.0).sqrt() <= lower / 2.0;
        let is_split = below >= enough && total - below >= enough;
        let is_lowest = best.is_none_or(|(lowest, _)| smooth[at] < lowest);
        if is_deep && is_split && last - first >= DISTANCE_MIN && is_lowest {
            best = Some((smooth[at], at));
        }
        below += histogram[at];
    }
    best.map(|(_, at)| (at as f64 / PER_OCTAVE as f64).exp2())
}

/// For every place, the index of the highest element so far.
fn peaks(elements: impl Iterator<Item = (usize, f64)>) -> Vec<usize> {
    let mut highest = (0, f64::MIN);
    let so_far = elements.map(|element| {
        if element.1 > highest.1 {
            highest = element;
        }
        highest.0
    });
    so_far.collect()
}

/// Mass per 1/8 octave. A bin that crosses an edge is split in proportion, since giving it to one
/// side would comb the histogram.
fn octave_bins(bins: &LogBins) -> Vec<f64> {
    let steps = |value: u64| (value.max(1) as f64).log2() * PER_OCTAVE as f64;
    let mut mass = vec![0.0; 64 * PER_OCTAVE + 1];
    for (bin, count) in bins.iter() {
        let from = steps(LogBins::lower_edge(bin));
        let to = steps(LogBins::upper_edge(bin));
        let mut low = from;
        while low < to {
            let cell = low as usize;
            let high = to.min((cell + 1) as f64);
            mass[cell] += count as f64 * (high - low) / (to - from);
            low = high;
        }
        if from >= to {
            mass[0] += count as f64;
        }
    }
    mass
}

fn smoothed(series: &[f64]) -> Vec<f64> {
    let at = |i: Option<usize>| i.and_then(|i| series.get(i)).copied().unwrap_or(0.0);
    (0..series.len())
        .map(|i| (at(i.checked_sub(1)) + 2.0 * series[i] + at(Some(i + 1))) / 4.0)
        .collect()
}
