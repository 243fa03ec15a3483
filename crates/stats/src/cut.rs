//! Where the warm-up ends: a stationarity test as the gate, MSER to locate the cut.
//!
//! MSER alone likes to delete an early burst of a stationary series and costs coverage, so it is
//! asked only when the Cramer-von Mises test of Heidelberger and Welch (1983) objects. Its cut is
//! doubled, because one minimum of the standard error still leaves a bias of about 1 %.

use serde::{Deserialize, Serialize};

use crate::store::SlotStore;
use crate::variance::{initial_positive_sequence, mean, student_t};

/// 1 % point of the Cramer-von Mises statistic of a Brownian bridge.
const CRITICAL: f64 = 0.743;
/// What that point is for a normal distribution: nearly all of the statistic is one square.
const CRITICAL_P: f64 = 0.9965;
/// Slots always left out: the first is cut by the start, the second feels it.
const SLOTS_CUT_MIN: usize = 2;
/// Fewer degrees of freedom are not believed of a variance, as everywhere.
const FREEDOM_MIN: f64 = 8.0;

/// What was left out at the start of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Slots left out.
    pub slots: usize,
    /// The time they cover, ns.
    pub nanos: u64,
    /// Whether the rest looks stationary. If not, there is no single mean to estimate.
    pub is_settled: bool,
}

/// Finds the cut (`eval`, section 5). The gate is asked about `influence`, whose mean is what is
/// estimated: times of slots with few completions differ wildly where the device is slow, and weigh
/// as much as those with many. MSER looks at `means`, the levels themselves.
pub(crate) fn find_cut(store: &SlotStore, influence: &[f64], means: &[f64]) -> Cut {
    let half = means.len() / 2;
    let warm = warm_from(store);
    let mut slots = warm.unwrap_or(half).max(SLOTS_CUT_MIN).min(half);
    let mut is_settled = warm.is_some_and(|slots| slots <= half);
    if moves(&influence[slots..]) {
        let located = mser(means);
        slots = (2 * slots.max(located)).min(half);
        is_settled &= located <= means.len() / 4 && !moves(&influence[slots..]);
    }
    Cut {
        slots,
        nanos: store.width().saturating_mul(slots as u64),
        is_settled,
    }
}

/// The first slot of a trial in which all clients are at work, with nothing cut for its times.
pub(crate) fn steady_from(store: &SlotStore) -> usize {
    warm_from(store).unwrap_or(0).max(SLOTS_CUT_MIN)
}

/// The first slot after every client has completed two operations; `None` if some have not.
fn warm_from(store: &SlotStore) -> Option<usize> {
    let mut warm = 0;
    if store.clients() == 0 {
        return Some(0);
    }
    store.slots().iter().position(|slot| {
        warm += u64::from(slot.newly_warm);
        warm >= u64::from(store.clients())
    })
}

/// Whether the mean of `series` moves, at the 1 % level. A variance from few slots is itself
/// uncertain, which widens the tail as Student's t does.
fn moves(series: &[f64]) -> bool {
    let (statistic, freedom) = cramer_von_mises(series);
    let widened = student_t(CRITICAL_P, freedom) / student_t(CRITICAL_P, f64::INFINITY);
    statistic > CRITICAL * widened * widened
}

/// Cramer-von Mises statistic of the Brownian bridge of `series`, and the degrees of freedom of
/// its long-run variance. That comes from the second half: a trend in the first must not hide
/// itself by inflating the scale.
pub(crate) fn cramer_von_mises(series: &[f64]) -> (f64, f64) {
    let len = series.len() as f64;
    let centre = mean(series);
    let half = &series[series.len() / 2..];
    let scale = initial_positive_sequence(half);
    let freedom = (half.len() as f64 / (scale.lag + 1) as f64).max(FREEDOM_MIN);
    let mut sum = 0.0;
    let mut squares = 0.0;
    for x in series {
        sum += x - centre;
        squares += sum * sum;
    }
    // The bridge of a constant series is rounding noise.
    let statistic = if squares <= 1e-20 * centre * centre * len * len {
        0.0
    } else if scale.variance > 0.0 {
        squares / (len * len * scale.variance)
    } else {
        f64::INFINITY
    };
    (statistic, freedom)
}

/// The cut `d` of at most half that minimises `SS(d) / (n - d)^2` (White 1997, on slot means).
fn mser(series: &[f64]) -> usize {
    let half = series.len() / 2;
    let centre = mean(series);
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    let (mut best, mut cut) = (f64::INFINITY, 0);
    // From the back, so that each suffix costs one step; centred, so that squares do not cancel.
    for (d, x) in series.iter().enumerate().rev() {
        let x = x - centre;
        (count, sum, squares) = (count + 1.0, sum + x, squares + x * x);
        let score = (squares - sum * sum / count).max(0.0) / (count * count);
        if d <= half && score <= best {
            (best, cut) = (score, d);
        }
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot::Slot;

    #[test]
    fn mser_finds_the_end_of_a_step() {
        let wave = |i: usize| if i.is_multiple_of(2) { 1.0 } else { 1.1 };
        let series: Vec<f64> = (0..200)
            .map(|i| wave(i) + if i < 30 { 3.0 } else { 0.0 })
            .collect();
        assert_eq!(mser(&series), 30);
        assert!(mser(&series[30..]) <= 1);
    }

    #[test]
    fn the_gate_lets_constants_pass_and_stops_steps() {
        assert_eq!(cramer_von_mises(&[1.0 / 3.0; 100]).0, 0.0);
        assert_eq!(cramer_von_mises(&[0.0; 100]).0, 0.0);
        let step: Vec<f64> = (0..100).map(|i| if i < 40 { 2.0 } else { 1.0 }).collect();
        assert_eq!(cramer_von_mises(&step).0, f64::INFINITY);
    }

    #[test]
    fn slots_before_all_clients_are_warm_are_cut() {
        let mut store = SlotStore::with_grouping(1000, 3, 1);
        for epoch in 0..100u64 {
            let mut slot = Slot {
                completions: 1,
                ..Slot::empty(epoch)
            };
            slot.response.record(10 + epoch % 3);
            slot.newly_warm = u32::from([2, 5, 9].contains(&epoch));
            store.push(slot);
        }
        let means = crate::window::slot_means(&store, crate::Channel::Response);
        let cut = find_cut(&store, &means, &means);
        assert_eq!(
            cut,
            Cut {
                slots: 9,
                nanos: 9000,
                is_settled: true
            }
        );
    }

    #[test]
    fn a_client_that_never_warms_leaves_the_trial_unsettled() {
        let mut store = SlotStore::with_grouping(1000, 1, 1);
        for epoch in 0..100u64 {
            let mut slot = Slot {
                completions: 1,
                ..Slot::empty(epoch)
            };
            slot.response.record(10 + epoch % 3);
            store.push(slot);
        }
        let means = crate::window::slot_means(&store, crate::Channel::Response);
        assert!(!find_cut(&store, &means, &means).is_settled);
    }
}
