//! Percentiles with intervals that know about correlation.
//!
//! The share of completions at or below the point estimate is a mean per slot like any other;
//! its long-run variance gives an interval of shares, which the pooled bins turn back into times
//! (section 3, "Quantile"; Cornish-Fisher term for the skewness of a binomial).

mod percentile;
mod tail;

use statrs::function::beta::beta_reg;

use crate::bins::{BIN_COUNT, LogBins};
use crate::estimate::{CONFIDENCE, Estimate};
use crate::evaluation::Evaluation;
use crate::goal::{Goal, Verdict};
use crate::store::SlotStore;
use crate::variance::{LongRun, cautious_variance, long_run_variance, student_t};
use crate::window::{Channel, Window};

pub use percentile::PercentileEstimate;
pub use tail::Tail;

/// Completions beyond a percentile from which it is stated at all.
const BEYOND_MIN: f64 = 1.0;
/// Effective completions beyond a percentile from which its interval is firm. With 20, as few as 6
/// of 10 of the firm ones of some queues were right: what just passes may owe it to a variance that
/// came out low.
pub const EVIDENCE_FIRM: f64 = 50.0;
/// By so much of its upper half an interval is longer whose evidence is `EVIDENCE_FIRM` or less.
const LONGER_AT_THE_BAR: f64 = 0.5;
/// The normal distribution's quantile of a two-sided interval of 95 %.
const NORMAL_975: f64 = 1.96;

/// The percentiles `ps` (above 0 and below 1, others are left out, as are those beyond which the
/// sample has nothing) over the window of `evaluation`. Empty if the slots carry no bins.
pub fn percentiles(
    store: &SlotStore,
    channel: Channel,
    evaluation: &Evaluation,
    ps: &[f64],
) -> Vec<PercentileEstimate> {
    let Some((window, pool)) = pooled(store, channel, evaluation) else {
        return Vec::new();
    };
    // With not one completion beyond it, a percentile is the longest time.
    let is_within = |p: f64| pool.total as f64 * (1.0 - p) >= BEYOND_MIN;
    let mut all: Vec<PercentileEstimate> = ps
        .iter()
        .filter(|p| is_within(**p))
        .filter_map(|&p| interval(store, channel, evaluation, &window, &pool, p))
        .map(|found| {
            let estimate = Estimate {
                samples: found.samples(evaluation.ess),
                ..found.cautious(&pool, evaluation.ess)
            };
            PercentileEstimate::judged(found.p, estimate, found.evidence(evaluation.ess))
        })
        .collect();
    in_order(&mut all);
    all
}

/// Whether the percentile `p` is firm, and its printed interval as narrow as `goal` says.
pub(crate) fn is_reached(store: &SlotStore, evaluation: &Evaluation, goal: &Goal, p: f64) -> bool {
    let Some((window, pool)) = pooled(store, evaluation.channel, evaluation) else {
        return false;
    };
    let found = interval(store, evaluation.channel, evaluation, &window, &pool, p);
    found.is_some_and(|found| {
        let lags = goal.lag_factor as usize * (found.lag + 1);
        let width = found.cautious(&pool, evaluation.ess).relative_half_width();
        window.slots.len() >= lags
            && found.evidence(evaluation.ess) >= EVIDENCE_FIRM
            && width <= goal.precision
    })
}

/// About how many independent operations it takes until the percentile `p` is firm and known to
/// `precision`, a relative half-width, if times are exponential. Where they vary less it takes
/// fewer, as far as they are enough to be firm; correlated times take more.
pub fn samples_for(p: f64, precision: f64) -> f64 {
    let beyond = 1.0 - p;
    let of_width = NORMAL_975 * NORMAL_975 * p / (precision * beyond.ln()).powi(2);
    of_width.max(EVIDENCE_FIRM) / beyond
}

/// No percentile is below a lower one: the ends of intervals, of which each has its own variance,
/// do not contradict that.
fn in_order(percentiles: &mut [PercentileEstimate]) {
    percentiles.sort_by(|a, b| a.p.total_cmp(&b.p));
    let mut known: Vec<&mut Estimate> = percentiles
        .iter_mut()
        .filter(|it| it.has_interval())
        .filter_map(|it| it.estimate.as_mut())
        .collect();
    let mut least = 0.0;
    for estimate in &mut known {
        least = estimate.low.max(least);
        estimate.low = least;
    }
    let mut most = f64::INFINITY;
    for estimate in known.iter_mut().rev() {
        most = estimate.high.min(most);
        estimate.high = most;
    }
}

/// The interval (ns) of one percentile whatever its evidence, for judging the rule itself;
/// `samples` is n_eff. Reports use [`percentiles`].
pub fn quantile_interval(
    store: &SlotStore,
    channel: Channel,
    evaluation: &Evaluation,
    p: f64,
) -> Option<Estimate> {
    let (window, pool) = pooled(store, channel, evaluation)?;
    let found = interval(store, channel, evaluation, &window, &pool, p)?;
    Some(found.cautious(&pool, evaluation.ess))
}

/// The share of completions whose time is `value` (ns) or less, with an interval of `confidence`:
/// for the question whether it is the share `expected`.
///
/// It asks for much less than a percentile with an interval does. Where nearly all times lie on one
/// side, the answer is clear after a few of them, however much neighbours depend on each other;
/// the variance is no less than that of `expected` among as many independent completions as the
/// mean has, so that a share of 0 or 1 is not believed from a handful.
pub fn share_within(
    store: &SlotStore,
    channel: Channel,
    evaluation: &Evaluation,
    value: f64,
    expected: f64,
    confidence: f64,
) -> Option<Estimate> {
    let (window, pool) = pooled(store, channel, evaluation)?;
    let (low, share, high) = pool.shares_within(value);
    let bin = LogBins::bin_of(value.clamp(0.0, u64::MAX as f64) as u64);
    let fraction = pool.fraction_within(bin, value);
    let shares = window.share_influence(store, channel, share, |tally| {
        tally.bins.count_until(bin, fraction)
    });
    let long_run = variance_of(&shares, evaluation);
    let independent = evaluation.ess.min(pool.total as f64).max(1.0);
    let floor = expected * (1.0 - expected) / independent;
    let variance = long_run.variance_of_mean.max(floor);
    let t = student_t(0.5 + confidence / 2.0, long_run.degrees_of_freedom);
    let half = t * variance.sqrt();
    Some(Estimate {
        value: share,
        low: (low - half).max(0.0),
        high: (high + half).min(1.0),
        confidence,
        samples: independent,
    })
}

/// Whether so few of `samples` independent samples lie beyond the percentile `p`, on the side with
/// fewer of them, that it is only indicative.
pub fn is_indicative(p: f64, samples: f64) -> bool {
    samples * p.min(1.0 - p) < EVIDENCE_FIRM
}

/// The chance of at most `few` of `samples` that each come with the chance `share`: the binomial
/// distribution in terms of the incomplete beta function, which both numbers may be fractions for
/// (NIST Digital Library of Mathematical Functions, 8.17.5).
///
/// # Panics
/// Unless `share` lies between 0 and 1, and there are more `samples` than `few`, which is no less
/// than 0.
pub fn chance_of_at_most(few: f64, samples: f64, share: f64) -> f64 {
    beta_reg(samples - few, few + 1.0, 1.0 - share)
}

/// The variance of shares, as careful as that of the mean.
fn variance_of(shares: &[f64], evaluation: &Evaluation) -> LongRun {
    match evaluation.verdict {
        Verdict::Correlated => cautious_variance(shares),
        _ => long_run_variance(shares),
    }
}

/// The window with all its values in one distribution.
fn pooled(
    store: &SlotStore,
    channel: Channel,
    evaluation: &Evaluation,
) -> Option<(Window, PooledValues)> {
    let window = Window::new(store, channel, evaluation.cut.slots..store.len())?;
    let pool = PooledValues::of(store, channel, &window);
    (pool.total > 0).then_some((window, pool))
}

/// The interval of one percentile.
struct PercentileInterval {
    p: f64,
    estimate: Estimate,
    /// Half the width of the interval of shares that it was read from.
    half_of_share: f64,
    /// The share at which that ends.
    above: f64,
    /// The longest lag, in slots, at which the shares were found correlated.
    lag: usize,
}

impl PercentileInterval {
    /// Its effective samples, or those of the mean, `ess`, where these are fewer.
    fn samples(&self, ess: f64) -> f64 {
        self.estimate.samples.min(ess)
    }

    /// How many of those lie beyond it.
    fn evidence(&self, ess: f64) -> f64 {
        self.samples(ess) * self.p.min(1.0 - self.p)
    }

    /// The interval with a longer upper half where the evidence just passes, or does not.
    ///
    /// A trial that by chance meets little queueing has a low percentile and, of the same cause, a
    /// low variance: of a load at which few trials pass the bar, those pass whose value is low. Far
    /// above the bar every trial passes, and the interval is as it was.
    fn cautious(&self, pool: &PooledValues, ess: f64) -> Estimate {
        let nearness = EVIDENCE_FIRM / self.evidence(ess).max(EVIDENCE_FIRM);
        let above = self.above + self.half_of_share * LONGER_AT_THE_BAR * nearness.powi(2);
        Estimate {
            high: pool.upper_end(self.p, above),
            ..self.estimate
        }
    }
}

fn interval(
    store: &SlotStore,
    channel: Channel,
    evaluation: &Evaluation,
    window: &Window,
    pool: &PooledValues,
    p: f64,
) -> Option<PercentileInterval> {
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    let n = pool.total as f64;
    let place = pool.locate(p);
    let shares = window.share_influence(store, channel, p, |tally| {
        tally.bins.count_until(place.bin, place.fraction)
    });
    let long_run = variance_of(&shares, evaluation);
    // Half the i.i.d. variance: completions of a device may alternate, but never that well.
    let variance = p * (1.0 - p) / (2.0 * n);
    let variance = long_run.variance_of_mean.max(variance);
    let t = student_t(0.5 + CONFIDENCE / 2.0, long_run.degrees_of_freedom);
    let samples = p * (1.0 - p) / variance;
    let shift = (1.0 - 2.0 * p) * (t * t - 1.0) / (6.0 * samples);
    let half_of_share = t * variance.sqrt();
    let below = p - half_of_share + shift;
    let above = p + half_of_share + shift;
    let estimate = Estimate {
        value: place.value,
        low: pool.locate(below.clamp(0.0, p)).low,
        high: pool.upper_end(p, above),
        confidence: CONFIDENCE,
        samples,
    };
    Some(PercentileInterval {
        p,
        estimate,
        half_of_share,
        above,
        lag: long_run.lag,
    })
}

/// Where a quantile lies in the bins.
struct BinPosition {
    bin: u16,
    /// Share of the bin's values at or below.
    fraction: f64,
    /// Interpolated, ns.
    value: f64,
    /// How far down and up the quantile may be, for all that the bins tell, ns.
    low: f64,
    high: f64,
}

/// All values of a window.
pub(crate) struct PooledValues {
    pub bins: LogBins,
    total: u64,
    min: f64,
    max: f64,
}

impl PooledValues {
    pub(crate) fn of(store: &SlotStore, channel: Channel, window: &Window) -> Self {
        // Dense while adding: merging hundreds of sparse lists would copy them over and over.
        let mut counts = vec![0u64; BIN_COUNT];
        let (mut min, mut max) = (u64::MAX, 0);
        for slot in &store.slots()[window.slots.clone()] {
            let tally = channel.tally(slot);
            min = min.min(tally.min);
            max = max.max(tally.max);
            for (bin, count) in tally.bins.iter() {
                counts[usize::from(bin)] += count;
            }
        }
        let used = (0u16..).zip(counts).filter(|&(_, count)| count > 0);
        let bins = LogBins::from_sorted(used);
        Self {
            total: bins.total(),
            bins,
            min: min as f64,
            max: max as f64,
        }
    }

    /// Interpolated inside a bin, of which only the part between minimum and maximum is used.
    ///
    /// Where a bin towers above its neighbours, as for a device with a constant delay, its values
    /// may all be equal, and no place inside it is better than another.
    fn locate(&self, p: f64) -> BinPosition {
        let wanted = p.clamp(0.0, 1.0) * self.total as f64;
        let mut below = 0.0;
        let mut place = BinPosition {
            bin: 0,
            fraction: 0.0,
            value: 0.0,
            low: 0.0,
            high: 0.0,
        };
        for (bin, count) in self.bins.iter() {
            let count = count as f64;
            if below + count >= wanted || below + count >= self.total as f64 {
                let fraction = ((wanted - below) / count).clamp(0.0, 1.0);
                let low = (LogBins::lower_edge(bin) as f64).max(self.min);
                let high = (LogBins::upper_edge(bin) as f64).min(self.max).max(low);
                let value = low + (high - low) * fraction;
                place = BinPosition {
                    bin,
                    fraction,
                    value,
                    low: value,
                    high: value,
                };
                if self.towers(bin, count) {
                    (place.low, place.high) = (low, high);
                }
                break;
            }
            below += count;
        }
        place
    }

    /// The upper end of an interval around the quantile `p` that ends at the share `above`: open
    /// where that is beyond all values.
    fn upper_end(&self, p: f64, above: f64) -> f64 {
        if above >= 1.0 - 1.0 / (2.0 * self.total as f64) {
            return f64::INFINITY;
        }
        self.locate(above.max(p)).high
    }

    /// Share of the values at or below `value`: the least that the bins allow, the likely one, and
    /// the most.
    fn shares_within(&self, value: f64) -> (f64, f64, f64) {
        let bin = LogBins::bin_of(value.clamp(0.0, u64::MAX as f64) as u64);
        let total = self.total as f64;
        let until = |fraction| self.bins.count_until(bin, fraction) / total;
        let fraction = self.fraction_within(bin, value);
        let likely = until(fraction);
        let inside = until(1.0) - until(0.0);
        if fraction > 0.0 && fraction < 1.0 && self.towers(bin, inside * total) {
            (until(0.0), likely, until(1.0))
        } else {
            (likely, likely, likely)
        }
    }

    /// Share of a bin's values at or below `value`, which lies in it.
    fn fraction_within(&self, bin: u16, value: f64) -> f64 {
        let low = (LogBins::lower_edge(bin) as f64).max(self.min);
        let high = (LogBins::upper_edge(bin) as f64).min(self.max);
        if value >= high {
            1.0
        } else {
            ((value - low) / (high - low)).clamp(0.0, 1.0)
        }
    }

    /// Whether a bin holds far more than its neighbours, beyond what chance gives.
    fn towers(&self, bin: u16, count: f64) -> bool {
        let beside: f64 = self
            .bins
            .iter()
            .filter(|&(other, _)| other.abs_diff(bin) == 1)
            .map(|(_, count)| count as f64)
            .sum();
        count > 2.0 * beside + 4.0 * (beside + 4.0).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::Goal;
    use crate::slot::Slot;

    /// A share is asked for where a percentile bears no interval: among slow ups and downs, of
    /// which the trial saw few.
    #[test]
    fn the_share_within_a_limit_is_clear_before_a_percentile_is() {
        let mut store = SlotStore::with_grouping(1_000_000, 0, 1);
        for epoch in 0..64_u64 {
            let mut slot = Slot {
                completions: 100,
                ..Slot::empty(epoch)
            };
            let slow = 2_000_000 + 1_000_000 * (epoch / 16 % 2);
            (0..100).for_each(|i| slot.response.record(slow + i * 1_000));
            store.push(slot);
        }
        let found = crate::evaluate(&store, Channel::Response, &Goal::scout()).expect("64 slots");
        let within = |limit: f64| {
            share_within(&store, Channel::Response, &found, limit, 0.95, CONFIDENCE)
                .expect("values")
        };
        let missed = within(1_900_000.0);
        assert!(missed.value == 0.0 && missed.high < 0.95, "{missed:?}");
        let met = within(3_200_000.0);
        assert!(met.value == 1.0 && met.high == 1.0, "{met:?}");
        let half = within(2_500_000.0);
        assert!((half.value - 0.5).abs() < 0.05, "{half:?}");
        assert!(half.low < 0.3 && half.high > 0.7, "{half:?}");
        let percentiles = percentiles(&store, Channel::Response, &found, &[0.95]);
        assert!(!percentiles[0].has_interval(), "{percentiles:?}");
    }

    /// 64 slots of 100 completions each, with the time that `at` gives for each.
    fn check(at: impl Fn(u64) -> u64, p: f64, truth: f64) {
        let mut store = SlotStore::with_grouping(1_000_000, 0, 1);
        for epoch in 0..64 {
            let mut slot = Slot {
                completions: 100,
                ..Slot::empty(epoch)
            };
            (0..100).for_each(|i| slot.response.record(at(epoch * 100 + i * 37 % 100)));
            store.push(slot);
        }
        let found = crate::evaluate(&store, Channel::Response, &Goal::scout()).expect("64 slots");
        let interval = quantile_interval(&store, Channel::Response, &found, p).expect("values");
        assert!(
            interval.contains(truth),
            "p {p}: {truth} not in {interval:?}"
        );
        assert!(interval.value <= (0..6400).map(&at).max().unwrap_or(0) as f64);
        assert!(interval.relative_half_width() < 0.05, "{interval:?}");
    }

    #[test]
    fn intervals_contain_constants_and_ends_of_ranges() {
        let two_constants = |i: u64| if i % 100 < 80 { 100_000 } else { 150_000 };
        check(two_constants, 0.5, 100_000.0);
        check(two_constants, 0.95, 150_000.0);
        let even = |i: u64| 5_000_000 + i * 2371 % 6400 * 1000;
        check(even, 0.01, 5_064_000.0);
        check(even, 0.99, 11_336_000.0);
    }

    /// Of four servers busy for .8 of the time, one p95 in five that was printed without a sign was
    /// too low: only trials pass whose variance came out low, and their values are low as well. The
    /// lower half is the same whatever the mean knows; so is all of it far above the bar.
    #[test]
    fn an_interval_reaches_further_up_where_the_evidence_just_passes() {
        let mut store = SlotStore::with_grouping(1_000_000, 0, 1);
        for epoch in 0..64_u64 {
            let mut slot = Slot {
                completions: 100,
                ..Slot::empty(epoch)
            };
            let even = |i: u64| 5_000_000 + (epoch * 100 + i) * 2371 % 6400 * 1000;
            (0..100).for_each(|i| slot.response.record(even(i)));
            store.push(slot);
        }
        let found = crate::evaluate(&store, Channel::Response, &Goal::scout()).expect("64 slots");
        let halves = |ess: f64, p: f64| {
            let found = Evaluation {
                ess,
                ..found.clone()
            };
            let interval = quantile_interval(&store, Channel::Response, &found, p).expect("values");
            (
                interval.value - interval.low,
                interval.high - interval.value,
            )
        };
        for (p, ess_at_bar) in [(0.5, 100.0), (0.95, 1000.0)] {
            let (down, up) = halves(1e6, p);
            let (down_at_bar, up_at_bar) = halves(ess_at_bar, p);
            assert_eq!(down, down_at_bar, "{p}");
            let ratio = up_at_bar / up;
            assert!((1.4..1.55).contains(&ratio), "{p}: {ratio}");
            let (_, up_below) = halves(ess_at_bar / 4.0, p);
            assert_eq!(up_below, up_at_bar, "{p}");
        }
    }

    #[test]
    fn the_chance_of_few_is_that_of_the_binomial_distribution() {
        let check = |few: f64, samples: f64, share: f64, expected: f64| {
            let found = chance_of_at_most(few, samples, share);
            assert!(
                (found / expected - 1.0).abs() < 1e-9,
                "{few} {samples} {share}: {found}"
            );
        };
        check(0.0, 10.0, 0.05, 0.95_f64.powi(10));
        check(1.0, 10.0, 0.5, 11.0 / 1024.0);
        check(9.0, 10.0, 0.5, 1023.0 / 1024.0);
        check(0.0, 73.5, 0.05, 0.95_f64.powf(73.5));
    }

    /// Bug: of a percentile without evidence not even the value was given, and a screen showed the
    /// 99.9th percentile of trials that had no median.
    #[test]
    fn a_percentile_without_evidence_has_a_value_and_no_interval() {
        let mut store = SlotStore::with_grouping(1_000_000, 0, 1);
        for epoch in 0..64u64 {
            let mut slot = Slot {
                completions: 25,
                ..Slot::empty(epoch)
            };
            (0..25u64).for_each(|i| slot.response.record(1000 + (epoch * 25 + i) * 7919 % 997));
            store.push(slot);
        }
        let found = crate::evaluate(&store, Channel::Response, &Goal::scout()).expect("64 slots");
        let asked = [0.5, 0.95, 0.99, 0.999];
        let ps = percentiles(&store, Channel::Response, &found, &asked);
        assert!(ps[0].has_interval() && !ps[0].is_indicative, "{ps:?}");
        assert!(!ps[3].has_interval() && ps[3].is_indicative, "{ps:?}");
        let values: Vec<f64> = ps
            .iter()
            .filter_map(|it| Some(it.estimate?.value))
            .collect();
        assert!(values.len() == 4 && values.is_sorted(), "{values:?}");
        let last = ps[3].estimate.expect("a value");
        assert!(
            !last.is_bounded() && (1900.0..=1997.0).contains(&last.value),
            "{last:?}"
        );
    }
}
