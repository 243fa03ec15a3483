//! Distribution of requests over the bytes of a trace, counted in parts that are enlarged when
//! there are too many.

use std::collections::BTreeMap;

/// Maximum number of counted parts.
const PARTS_MAX: usize = 1 << 16;
/// The smallest part, bytes.
const PART_MIN_BITS: u32 = 16;
/// Maximum number of parts in a heat curve.
const CURVE_MAX: u64 = 1024;
/// Minimum mean number of requests per part of the curve: with fewer, chance alone makes hot spots.
const REQUESTS_MIN: u64 = 64;

/// Counts by part.
#[derive(Debug)]
pub(crate) struct HeatMap {
    bits: u32,
    parts: BTreeMap<(u32, u64), u64>,
}

/// Distribution of requests: the shares of the hottest parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heat {
    pub part_bytes: u64,
    /// By number of parts, the hottest first: their cumulative share of requests. Includes parts
    /// without requests.
    pub shares: Vec<f64>,
}

impl Heat {
    /// Share of requests to the hottest share of all bytes.
    pub fn share_of_hottest(&self, part: f64) -> f64 {
        let parts = self.shares.len() as f64;
        let at = (part * parts).clamp(0.0, parts);
        let whole = at.floor();
        let value = |count: f64| match count as usize {
            0 => 0.0,
            count => self.shares.get(count - 1).copied().unwrap_or(1.0),
        };
        value(whole) + (at - whole) * (value(whole + 1.0) - value(whole))
    }
}

impl Default for HeatMap {
    fn default() -> Self {
        Self {
            bits: PART_MIN_BITS,
            parts: BTreeMap::new(),
        }
    }
}

impl HeatMap {
    pub fn add(&mut self, file: u32, offset: u64) {
        *self.parts.entry((file, offset >> self.bits)).or_insert(0) += 1;
        while self.parts.len() > PARTS_MAX && self.bits < 63 {
            self.coarsen();
        }
    }

    pub const fn part_bytes(&self) -> u64 {
        1 << self.bits
    }

    /// The parts with the most requests: file, first byte, requests.
    pub fn hottest(&self, most: usize) -> Vec<(u32, u64, u64)> {
        let parts = self.parts.iter();
        let mut all: Vec<(u32, u64, u64)> = parts
            .map(|(&(file, part), &count)| (file, part << self.bits, count))
            .collect();
        all.sort_by_key(|&(file, offset, count)| (std::cmp::Reverse(count), file, offset));
        all.truncate(most);
        all
    }

    /// The curve over files with these ends, for that many requests.
    pub fn finish(mut self, files: &[(String, u64)], requests: u64) -> Heat {
        let parts_max = (requests / REQUESTS_MIN).clamp(1, CURVE_MAX);
        let all = |bits: u32| -> u64 {
            let parts = files
                .iter()
                .map(|(_, end)| (end.saturating_sub(1) >> bits) + 1);
            parts.fold(0, u64::saturating_add)
        };
        let least = files.len() as u64;
        while all(self.bits) > parts_max.max(least) && self.bits < 63 {
            self.coarsen();
        }
        let mut counts: Vec<u64> = self.parts.values().copied().collect();
        counts.sort_unstable_by(|one, other| other.cmp(one));
        let whole = counts.len().max(all(self.bits).min(CURVE_MAX) as usize);
        counts.resize(whole, 0);
        let mut sum = 0;
        let shares = counts.into_iter().map(|count| {
            sum += count;
            sum as f64 / requests.max(1) as f64
        });
        Heat {
            part_bytes: self.part_bytes(),
            shares: shares.collect(),
        }
    }

    /// Doubles the size of parts.
    fn coarsen(&mut self) {
        self.bits += 1;
        let parts = std::mem::take(&mut self.parts);
        for ((file, part), count) in parts {
            *self.parts.entry((file, part >> 1)).or_insert(0) += count;
        }
    }
}
