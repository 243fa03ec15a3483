//! Two classes of service: cache hits and misses.

use results::{Run, histogram_in};
use stats::{Histogram, LogBins, valley};

/// Response times of a single client, split at the valley between two modes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CacheClasses {
    /// Share of cache hits.
    pub hit_share: f64,
    /// Mean time of hits, nanoseconds.
    pub hit_ns: f64,
    /// Mean time of misses, nanoseconds.
    pub miss_ns: f64,
}

impl CacheClasses {
    /// Factor to the mean time at another hit ratio.
    pub fn factor(&self, share: f64) -> f64 {
        self.mean(share) / self.mean(self.hit_share)
    }

    fn mean(&self, share: f64) -> f64 {
        share * self.hit_ns + (1.0 - share) * self.miss_ns
    }
}

/// The classes, if a measurement of one client is bimodal.
pub fn cache_classes(run: &Run) -> Option<CacheClasses> {
    let alone = run.measurements.iter().filter(|it| it.clients == 1);
    let kinds = alone.flat_map(|measurement| &measurement.kinds);
    let mut reads = kinds.filter(|kind| kind.kind == "read");
    reads.find_map(|kind| classes(&histogram_in(&kind.response_histogram)?))
}

fn classes(histogram: &Histogram) -> Option<CacheClasses> {
    let mut bins = LogBins::new();
    for bucket in histogram.iter_recorded() {
        bins.add(LogBins::bin_of(bucket.low), bucket.count);
    }
    let edge = valley(&bins)?;
    let (mut hits, mut misses) = ((0.0, 0.0), (0.0, 0.0));
    for bucket in histogram.iter_recorded() {
        let middle = 0.5 * (bucket.low as f64 + bucket.high as f64);
        let count = bucket.count as f64;
        let class = if middle < edge {
            &mut hits
        } else {
            &mut misses
        };
        class.0 += count;
        class.1 += count * middle;
    }
    (hits.0 > 0.0 && misses.0 > 0.0).then(|| CacheClasses {
        hit_share: hits.0 / (hits.0 + misses.0),
        hit_ns: hits.1 / hits.0,
        miss_ns: misses.1 / misses.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_modes_are_two_classes() {
        let mut histogram = Histogram::new();
        for step in 0..2_000 {
            histogram.record(9_000 + step);
        }
        for step in 0..500 {
            histogram.record(1_000_000 + 400 * step);
        }
        let found = classes(&histogram).expect("two modes");
        assert!((found.hit_share - 0.8).abs() < 1e-9, "{found:?}");
        assert!((found.hit_ns / 10_000.0 - 1.0).abs() < 0.01, "{found:?}");
        assert!(
            (found.miss_ns / 1_100_000.0 - 1.0).abs() < 0.01,
            "{found:?}"
        );
        let mean = 0.5 * (10_000.0 + 1_100_000.0) / (0.8 * 10_000.0 + 0.2 * 1_100_000.0);
        assert!((found.factor(0.5) / mean - 1.0).abs() < 0.01);
    }

    #[test]
    fn one_mode_is_no_cache() {
        let mut histogram = Histogram::new();
        (0..5_000).for_each(|step| histogram.record(90_000 + 4 * step));
        assert_eq!(classes(&histogram), None);
    }
}
