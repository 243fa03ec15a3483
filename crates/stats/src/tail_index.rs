//! How heavy the tail of a distribution is: the exponent with which the share of times longer than
//! `t` falls. Up to an exponent of 2 there is no variance, so that no interval of the mean is
//! right.
//!
//! Of response times it is Hill's estimate (1975). What waits behind a long service of random
//! arrivals falls with an exponent that is less by one, but so far out that no trial shows it.
//! There the services themselves tell, as times without a completion: the excess over a high
//! threshold is exponential, or falls with the exponent (Pickands 1975), and the likelihoods of
//! both are compared.

use std::ops::Range;

use crate::bins::LogBins;

/// The tail is this share of the times, the longest ...
const TAIL: f64 = 0.01;
/// ... and so many of them at least: fewer have no shape.
const TAIL_MIN: f64 = 50.0;
/// Standard errors by which the exponent must lie below 2.
const ERRORS: f64 = 2.58;
/// The exponent up to which there is no variance.
const NO_VARIANCE: f64 = 2.0;
/// The exponent of services up to which what waits behind them has none.
const NO_VARIANCE_BEHIND: f64 = 3.0;
/// Logarithm of how much likelier such a tail must be than an exponential one. Of exponential
/// times, however many there are, it exceeds this at most 7 times in 1000 ...
const LIKELIER: f64 = 3.0;
/// ... and among the longest of the tail, this part of it, hardly be less likely, nor may these be
/// of about one length: else they are a mode of their own.
const FURTHEST_PART: f64 = 4.0;
const LIKELIER_FURTHEST: f64 = -1.0;
const LONGER_FURTHEST: f64 = 2.0;
/// Shorter services are lost in the width of an epoch, epochs.
const SERVICE_MIN: f64 = 2.0;

/// The exponent of the tail, where it surely has no variance.
pub(crate) fn heavy_tail(bins: &LogBins) -> Option<f64> {
    let wanted = TAIL * bins.total() as f64;
    if wanted < TAIL_MIN {
        return None;
    }
    let (mut count, mut logs) = (0.0, 0.0);
    let middle = |bin: u16| {
        let ends = (
            LogBins::lower_edge(bin) as f64,
            LogBins::upper_edge(bin) as f64,
        );
        f64::midpoint(ends.0, ends.1).max(1.0).ln()
    };
    for (bin, more) in bins.iter().rev() {
        if count >= wanted {
            break;
        }
        count += more as f64;
        logs += more as f64 * middle(bin);
        if count >= wanted {
            logs -= count * middle(bin);
        }
    }
    let exponent = count / logs;
    (logs > 0.0 && exponent * (1.0 + ERRORS / count.sqrt()) < NO_VARIANCE).then_some(exponent)
}

/// So many times, from so many epochs on, and below so many.
pub(crate) type LengthClass = (Range<f64>, u64);

/// Whether services of so many completions, given from the shortest to the longest, have a tail
/// with an exponent of 3 or less.
pub(crate) fn has_heavy_services(lengths: &[LengthClass], completions: u64) -> bool {
    let wanted = (TAIL * completions as f64).max(TAIL_MIN);
    let tail = TailExcess::of_longest(lengths, wanted);
    let furthest = TailExcess::of_longest(lengths, tail.count / FURTHEST_PART);
    tail.count >= TAIL_MIN
        && tail.likelier() > LIKELIER
        && furthest.likelier() > LIKELIER_FURTHEST
        && furthest.longest >= LONGER_FURTHEST * furthest.threshold
}

/// What lies beyond a threshold.
struct TailExcess {
    classes: Vec<(Range<f64>, f64)>,
    count: f64,
    threshold: f64,
    longest: f64,
}

impl TailExcess {
    /// That of the longest, about `wanted` of them.
    fn of_longest(lengths: &[LengthClass], wanted: f64) -> Self {
        let (mut count, mut begin) = (0.0, lengths.len());
        while begin > 0 && count < wanted && lengths[begin - 1].0.start >= SERVICE_MIN {
            begin -= 1;
            count += lengths[begin].1 as f64;
        }
        let tail = &lengths[begin..];
        let threshold = tail.first().map_or(0.0, |it| it.0.start);
        let excess = |(length, more): &LengthClass| {
            let length = length.start - threshold..length.end - threshold;
            (length, *more as f64)
        };
        Self {
            classes: tail.iter().map(excess).collect(),
            count,
            threshold,
            longest: tail.last().map_or(0.0, |it| it.0.start),
        }
    }

    /// How much likelier, as a logarithm, a tail with the exponent is than an exponential one.
    fn likelier(&self) -> f64 {
        self.likelihood(|length| (1.0 + length).powf(-NO_VARIANCE_BEHIND))
            - self.likelihood(|length| (-length).exp())
    }

    /// The log-likelihood of what is longer than `length` scales with the share `exceeds`, with the
    /// scale that fits best. It has one peak: golden sections of the scale's logarithm.
    fn likelihood(&self, exceeds: impl Fn(f64) -> f64) -> f64 {
        let of_scale = |logarithm: f64| {
            let scale = logarithm.exp();
            let within = |length: &Range<f64>| {
                let share = exceeds(length.start / scale) - exceeds(length.end / scale);
                share.max(f64::MIN_POSITIVE).ln()
            };
            let classes = self.classes.iter();
            classes.map(|(length, more)| more * within(length)).sum()
        };
        let furthest = self.classes.last().map_or(1.0, |it| it.0.end);
        let (mut low, mut high) = (-2.0, furthest.ln() + 2.0);
        let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
        for _ in 0..32 {
            let (left, right) = (high - golden * (high - low), low + golden * (high - low));
            let (of_left, of_right): (f64, f64) = (of_scale(left), of_scale(right));
            if of_left > of_right {
                high = right;
            } else {
                low = left;
            }
        }
        of_scale(f64::midpoint(low, high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaps::Gaps;

    /// Times at equally spaced shares of a distribution, given how long what `share` exceeds is.
    fn found(count: u32, time_ns: impl Fn(f64) -> f64) -> Option<f64> {
        let mut bins = LogBins::new();
        for i in 0..count {
            let share = (f64::from(i) + 0.5) / f64::from(count);
            bins.add(LogBins::bin_of(time_ns(share) as u64), 1);
        }
        heavy_tail(&bins)
    }

    #[test]
    fn a_tail_without_variance_is_found_and_no_other() {
        for exponent in [1.2, 1.5] {
            let pareto = found(30_000, |share| 1e5 * share.powf(-1.0 / exponent));
            let off = pareto.map_or(1.0, |it: f64| (it / exponent - 1.0).abs());
            assert!(off < 0.1, "{exponent}: {pareto:?}");
        }
        assert_eq!(found(30_000, |share| 1e5 * share.powf(-1.0 / 2.5)), None);
        assert_eq!(found(30_000, |share| -1e6 * share.ln()), None);
        assert_eq!(found(30_000, |_| 1e6), None);
        assert_eq!(found(4_000, |share| 1e5 / share), None);
    }

    /// Services at equally spaced shares of a distribution, in epochs, of which each takes a whole
    /// number from wherever in an epoch it begins.
    fn is_heavy(count: u32, epochs: impl Fn(f64) -> f64) -> bool {
        let mut gaps = Gaps::default();
        for i in 0..count {
            let share = (f64::from(i) + 0.5) / f64::from(count);
            let begin = f64::from(i.wrapping_mul(2_654_435_761) >> 16) / 65_536.0;
            let whole = (epochs(share) + begin) as u64;
            gaps.pass(whole.saturating_sub(1));
            gaps.end(u64::MAX);
        }
        has_heavy_services(&gaps.lengths(), u64::from(count))
    }

    /// Bug: random arrivals at a server with such a tail waited for times without a variance, and
    /// two of three intervals that had no doubt held the mean.
    #[test]
    fn services_behind_which_waits_have_no_variance_are_found_and_no_others() {
        let pareto = |exponent: f64| {
            let least = (exponent - 1.0) / exponent;
            move |share: f64| least * share.powf(-1.0 / exponent)
        };
        for exponent in [2.1, 2.5, 3.0] {
            assert!(is_heavy(30_000, pareto(exponent)), "{exponent}");
        }
        let exponential = |mean: f64| move |share: f64| -mean * share.ln();
        let misses = |hits: f64| {
            move |share: f64| match share < 1.0 - hits {
                true => -4.0 * (share / (1.0 - hits)).ln(),
                false => 0.1,
            }
        };
        let stalls = |share: f64| exponential(4.0)(share) + if share < 0.005 { 300.0 } else { 0.0 };
        assert!(!is_heavy(30_000, exponential(0.5)));
        assert!(!is_heavy(30_000, exponential(4.0)));
        assert!(!is_heavy(30_000, misses(0.8)) && !is_heavy(30_000, misses(0.95)));
        assert!(!is_heavy(30_000, |_| 10.0) && !is_heavy(30_000, stalls));
        assert!(!is_heavy(4_000, pareto(8.0)) && !is_heavy(100, pareto(2.5)));
    }
}
