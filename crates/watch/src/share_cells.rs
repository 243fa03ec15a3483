//! Divides times into cells by the usual distribution, with the likelihood ratio of each cell after
//! and before a change.

use stats::LogBins;

/// Bins of [`LogBins`] per doubling.
const PER_OCTAVE: u16 = 64;
/// Shares of usual times at which cells end, finer in the tail.
const ENDS: [f64; 16] = [
    0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.9995,
];
/// Minimum number of usual times per cell, to know its share well enough.
const CELL_COUNT_MIN: u64 = 20;
/// Weight of "no change" in each change, which limits the evidence of a single time.
const SAME: f64 = 0.05;

/// A change to detect: a share of the probes takes longer by some bins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LevelShift {
    pub share: f64,
    pub bins: u16,
}

/// The detected changes: 1.5 times as long, twice as long, and a part eight times as long.
pub(crate) const SHIFTS: [LevelShift; 3] = [
    LevelShift {
        share: 1.0,
        bins: PER_OCTAVE / 2,
    },
    LevelShift {
        share: 1.0,
        bins: PER_OCTAVE,
    },
    LevelShift {
        share: 0.25,
        bins: 3 * PER_OCTAVE,
    },
];

/// Log likelihood ratios, one per shift.
pub(crate) type Evidence = [f64; SHIFTS.len()];

/// Cells, with the evidence of a time in each.
#[derive(Clone, Debug)]
pub(crate) struct ShareCells {
    /// First bin after each cell except the last, which is unbounded.
    ends: Vec<u16>,
    evidence: Vec<Evidence>,
}

impl ShareCells {
    /// Cells of these usual times. The last is beyond the maximum: by exchangeability the next time
    /// is there with a probability of 1 / (count + 1).
    pub fn of(usual: &LogBins) -> Self {
        let total = usual.total();
        let ends = ends(usual, total);
        let usual_shares = masses(usual, 0, &ends);
        let shares = |counts: &[u64]| -> Vec<f64> {
            let last = counts.len() - 1;
            let of_cell = |(at, &count): (usize, &u64)| {
                (count as f64 + f64::from(u8::from(at == last))) / (total + 1) as f64
            };
            counts.iter().enumerate().map(of_cell).collect()
        };
        let before = shares(&usual_shares);
        let mut evidence = vec![Evidence::default(); before.len()];
        for (number, shift) in SHIFTS.iter().enumerate() {
            let after = shares(&masses(usual, shift.bins, &ends));
            let weight = shift.share * (1.0 - SAME);
            for (cell, (before, after)) in evidence.iter_mut().zip(before.iter().zip(after)) {
                cell[number] = (1.0 - weight + weight * after / before).ln();
            }
        }
        Self { ends, evidence }
    }

    /// Evidence of a time.
    pub fn evidence(&self, time_ns: u64) -> &Evidence {
        let bin = LogBins::bin_of(time_ns);
        &self.evidence[self.ends.partition_point(|&end| end <= bin)]
    }
}

/// Ends of cells in ascending order; the last end is the bin after the maximum.
fn ends(usual: &LogBins, total: u64) -> Vec<u16> {
    let mut ends = Vec::with_capacity(ENDS.len() + 1);
    let (mut wanted, mut so_far, mut cell) = (ENDS.iter().peekable(), 0, 0);
    for (bin, count) in usual.iter() {
        so_far += count;
        cell += count;
        let share = so_far as f64 / total as f64;
        let is_end = wanted.peek().is_some_and(|&&end| share >= end);
        if is_end && cell >= CELL_COUNT_MIN && total - so_far >= CELL_COUNT_MIN {
            while wanted.peek().is_some_and(|&&end| share >= end) {
                wanted.next();
            }
            ends.push(bin + 1);
            cell = 0;
        }
    }
    ends.extend(usual.iter().next_back().map(|(bin, _)| bin + 1));
    ends
}

/// Counts of the cells if all times were longer by `longer` bins.
fn masses(usual: &LogBins, longer: u16, ends: &[u16]) -> Vec<u64> {
    let mut masses = vec![0; ends.len() + 1];
    for (bin, count) in usual.iter() {
        masses[ends.partition_point(|&end| end <= bin + longer)] += count;
    }
    masses
}
