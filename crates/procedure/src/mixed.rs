//! Times of each kind of operation in a mix, with intervals.
//!
//! Slots hold all operations together, so the correlation within one kind is unknown. The number of
//! independent operations of a kind is taken as its share of the smallest number found for any
//! figure of all operations. Twice as many as usual must lie beyond a percentile before it loses
//! its mark.

use engine::{KindRecord, Record};
use results::{Measurement, Times, shares};
use stats::{Estimate, Histogram, PercentileEstimate, student_t};

/// Minimum number of independent operations of a kind for an interval.
const SAMPLES_MIN: f64 = 20.0;
/// Independent operations beyond a percentile required for an interval. For all operations together
/// fewer suffice, since their variance is known; here 17 of the 23 that passed with 10 included the
/// true value.
const EVIDENCE_MIN: f64 = 50.0;
/// Twice as many make it firm, since the share of the variance is an assumption.
const EVIDENCE_FIRM: f64 = 100.0;
/// Confidence of each end of an interval: 97.5 %.
const EACH_END: f64 = 0.975;

/// Adds times to each kind of a mix.
pub(crate) fn estimate_kinds(measurement: &mut Measurement, record: &Record) {
    let done = |record: &KindRecord| !record.response.is_empty();
    if record.kinds.values().filter(|it| done(it)).count() < 2 {
        return;
    }
    let all = measurement.completions_all.max(1) as f64;
    let independent = least_independent(&measurement.response);
    for kind in &mut measurement.kinds {
        let mut known = record.kinds.iter();
        let found = known.find(|(it, record)| it.name() == kind.kind && done(record));
        if let Some((_, record)) = found {
            let samples = independent * kind.count as f64 / all;
            kind.response = Some(times(&record.response, samples));
        }
    }
}

/// The smallest number of independent operations behind the mean or a percentile with an interval.
pub(crate) fn least_independent(all: &Times) -> f64 {
    let percentiles = all.percentiles.iter().filter(|it| it.has_interval());
    let samples = percentiles.filter_map(|it| Some(it.estimate?.samples));
    samples.fold(all.mean.samples, f64::min)
}

/// Times of `samples` independent operations.
pub(crate) fn times(histogram: &Histogram, samples: f64) -> Times {
    let percentile = |&p: &f64| {
        let evidence = samples * p.min(1.0 - p);
        let estimate = quantile(histogram, p, samples);
        let estimate = match evidence >= EVIDENCE_MIN {
            true => estimate,
            false => estimate.without_interval(),
        };
        PercentileEstimate {
            is_indicative: evidence < EVIDENCE_FIRM,
            ..PercentileEstimate::judged(p, estimate, evidence)
        }
    };
    Times {
        mean: mean(histogram, samples),
        percentiles: shares().iter().map(percentile).collect(),
        min_ns: histogram.min(),
        max_ns: histogram.max(),
    }
}

fn mean(histogram: &Histogram, samples: f64) -> Estimate {
    let mean = Estimate::exact(histogram.mean(), samples);
    if samples.is_nan() || samples < SAMPLES_MIN {
        return mean.without_interval();
    }
    let squares = histogram.iter_recorded().map(|bucket| {
        let middle = f64::midpoint(bucket.low as f64, bucket.high as f64);
        bucket.count as f64 * (middle - mean.value).powi(2)
    });
    let variance = squares.sum::<f64>() / histogram.len().max(1) as f64;
    let half = student_t(EACH_END, samples - 1.0) * (variance / samples).sqrt();
    Estimate {
        low: (mean.value - half).max(0.0),
        high: mean.value + half,
        ..mean
    }
}

/// A percentile with the percentiles of the shares that `samples` cannot distinguish from its own
/// (Wilson's interval).
fn quantile(histogram: &Histogram, p: f64, samples: f64) -> Estimate {
    let at = |share: f64| histogram.quantile(share).map_or(f64::NAN, |ns| ns as f64);
    let value = Estimate::exact(at(p), samples);
    if samples.is_nan() || samples < SAMPLES_MIN {
        return value.without_interval();
    }
    let z = student_t(EACH_END, samples - 1.0);
    let (n, square) = (samples, z * z);
    let middle = (p + square / (2.0 * n)) / (1.0 + square / n);
    let half = z * (p * (1.0 - p) / n + square / (4.0 * n * n)).sqrt() / (1.0 + square / n);
    let high = middle + half;
    // Beyond the last independent operation there is no upper bound.
    let is_bounded = high < 1.0 - 0.5 / n;
    Estimate {
        low: at(middle - half).min(value.value),
        high: match is_bounded {
            true => at(high).max(value.value),
            false => f64::INFINITY,
        },
        ..value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of 1 to 10,000 ns, each once, so that a percentile equals its share.
    #[test]
    fn a_percentile_lies_between_those_that_its_samples_cannot_tell_from_it() {
        let mut histogram = Histogram::new();
        (1..=10_000).for_each(|ns| histogram.record(ns));
        let found = quantile(&histogram, 0.5, 400.0);
        // Half of 400 varies by 5 % either way.
        assert!((found.low / 4_510.0 - 1.0).abs() < 0.01, "{found:?}");
        assert!((found.high / 5_490.0 - 1.0).abs() < 0.01, "{found:?}");
        assert!(!quantile(&histogram, 0.999, 400.0).is_bounded());
        assert!(!quantile(&histogram, 0.5, 10.0).is_bounded());
        let mean = mean(&histogram, 400.0);
        assert!((mean.value / 5_000.5 - 1.0).abs() < 0.001, "{mean:?}");
        assert!(
            (mean.relative_half_width() / 0.0567 - 1.0).abs() < 0.02,
            "{mean:?}"
        );
    }
}
