//! A percentile as a series of influences, for functions of it and of the load.

use serde::{Deserialize, Serialize};

use super::{PercentileInterval, interval, pooled};
use crate::estimate::Estimate;
use crate::evaluation::Evaluation;
use crate::store::SlotStore;
use crate::window::{Channel, Window};

/// One percentile of a trial, with the influence of each slot on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tail {
    /// The share of completions at or below, 0 to 1.
    pub p: f64,
    /// The time, ns, whatever its evidence.
    pub time: Estimate,
    /// As that of the mean, but `response_influence` is the influence on the percentile, ns, and
    /// `mean_ns` is the percentile.
    pub window: Window,
}

impl Tail {
    /// The percentile `p` (above 0 and below 1) over the window of `evaluation`. `None` if the
    /// slots carry no bins.
    ///
    /// The influence of a slot on a quantile Q is (p - F_i) / f(Q), where `F_i` is its influence on
    /// the share at or below Q, and f the density there (R. R. Bahadur, "A note on quantiles in
    /// large samples", Annals of Mathematical Statistics 37 (1966), 577-580). The density is the
    /// mean one over the quantile's own interval, shares over times. That interval is as long above
    /// as below, unlike one that is printed: no end of a chord is chosen for its small variance.
    pub fn of(
        store: &SlotStore,
        channel: Channel,
        evaluation: &Evaluation,
        p: f64,
    ) -> Option<Self> {
        let (window, pool) = pooled(store, channel, evaluation)?;
        let PercentileInterval {
            p,
            estimate: time,
            half_of_share,
            ..
        } = interval(store, channel, evaluation, &window, &pool, p)?;
        let place = pool.locate(p);
        let shares = window.share_influence(store, channel, p, |tally| {
            tally.bins.count_until(place.bin, place.fraction)
        });
        let width = time.high - time.low;
        let per_share = if half_of_share > 0.0 && width.is_finite() {
            width / (2.0 * half_of_share)
        } else {
            0.0
        };
        let influence = shares
            .iter()
            .map(|share| time.value + (p - share) * per_share);
        Some(Self {
            p,
            time,
            window: Window {
                response_influence: influence.collect(),
                mean_ns: time.value,
                ..window
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::Goal;
    use crate::slot::Slot;
    use crate::variance::{long_run_variance, student_t};

    /// Slots that are slow hold the percentile up, and the series' error is that of the interval.
    #[test]
    fn the_influence_on_a_percentile_has_its_error() {
        let mut store = SlotStore::with_grouping(1_000_000, 0, 1);
        for epoch in 0..64_u64 {
            let mut slot = Slot {
                completions: 100,
                ..Slot::empty(epoch)
            };
            let slow = 1_000_000 + 100_000 * (epoch * 29 % 7);
            (0..100).for_each(|i| slot.response.record(slow + i * 10_000));
            store.push(slot);
        }
        let found = crate::evaluate(&store, Channel::Response, &Goal::scout()).expect("64 slots");
        let tail = Tail::of(&store, Channel::Response, &found, 0.9).expect("bins");
        let slots = tail.window.slots.clone();
        for (slot, influence) in slots.zip(&tail.window.response_influence) {
            match slot % 7 {
                0 => assert!(*influence < tail.time.value, "{slot}: {influence}"),
                6 => assert!(*influence > tail.time.value, "{slot}: {influence}"),
                _ => {}
            }
        }
        let run = long_run_variance(&tail.window.response_influence);
        let half_width = student_t(0.975, run.degrees_of_freedom) * run.variance_of_mean.sqrt();
        let expected = 0.5 * (tail.time.high - tail.time.low);
        assert!(
            (half_width / expected - 1.0).abs() < 1e-6,
            "{half_width} {expected}"
        );
    }
}
