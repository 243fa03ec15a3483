//! The range of times, cut into cells by what is usual, and how much more likely a time of each
//! cell is after a change than before.

use stats::LogBins;

/// Bins of [`LogBins`] per doubling.
const PER_OCTAVE: u16 = 64;
/// Shares of usual times that end a cell, finer where they are rare.
const ENDS: [f64; 16] = [
    0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.9995,
];
/// Usual times in a cell, at least: its share would be known too badly.
const CELL_COUNT_MIN: u64 = 20;
/// Weight of "nothing has changed" in each change, so that one time says little against it.
const SAME: f64 = 0.05;

/// A change that is looked for: so many probes take longer by so many bins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LevelShift {
    pub share: f64,
    pub bins: u16,
}

/// All that are looked for: half as long again, twice as long, and a part eight times as long.
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

/// Logarithms of likelihood ratios, one for each shift.
pub(crate) type Evidence = [f64; SHIFTS.len()];

/// Cells, and the evidence of a time in each.
#[derive(Clone, Debug)]
pub(crate) struct ShareCells {
    /// The first bin beyond each cell but the last, which has no end.
    ends: Vec<u16>,
    evidence: Vec<Evidence>,
}

impl ShareCells {
    /// Cells of these usual times. The last is beyond the longest: by exchangeability the next time
    /// lies there with a chance of one in (count + 1).
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

    /// What a time says.
    pub fn evidence(&self, time_ns: u64) -> &Evidence {
        let bin = LogBins::bin_of(time_ns);
        &self.evidence[self.ends.partition_point(|&end| end <= bin)]
    }
}

/// Where cells end, in increasing order; the last end is the bin after the longest time.
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

/// Times in each cell, all of them longer by so many bins.
fn masses(usual: &LogBins, longer: u16, ends: &[u16]) -> Vec<u64> {
    let mut masses = vec![0; ends.len() + 1];
    for (bin, count) in usual.iter() {
        masses[ends.partition_point(|&end| end <= bin + longer)] += count;
    }
    masses
}
