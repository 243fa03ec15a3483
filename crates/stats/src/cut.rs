//! Where the warm-up ends: a stationarity test as the gate, MSER to locate the cut.
//!
//! MSER alone likes to delete an early burst of a stationary series and costs coverage, so it is
//! asked only when the Cramer-von Mises test of Heidelberger and Welch (1983) objects. Its cut is
//! doubled, because one minimum of the standard error still leaves a bias of about 1 %.
//!
//! What is cut is lost to the answer, so little may be: never a stall, never an arrival that was
//! offered on a schedule, and of times that merely differ no more than a second or a twentieth.
//! What the user calls warm-up is cut whole.

use serde::{Deserialize, Serialize};

use crate::change::clipped;
use crate::gaps::Silence;
use crate::store::{ArrivalPattern, SlotStore};
use crate::variance::{initial_positive_sequence, mean, student_t};

/// A point of the Cramer-von Mises statistic of a Brownian bridge (Anderson and Darling 1952).
struct Critical {
    statistic: f64,
    /// What that point is for a normal distribution: nearly all of the statistic is one square.
    normal: f64,
}

/// At the 1 % level a warm-up is looked for, which costs a steady trial little.
const SUSPECT: Critical = Critical {
    statistic: 0.743,
    normal: 0.9965,
};
/// At the 0.1 % level a trial has no single mean: of the many trials of a curve, some look as if at
/// the 1 % level.
const SURE: Critical = Critical {
    statistic: 1.168,
    normal: 0.99966,
};
/// Slots always left out: the first is cut by the start, the second feels it.
const SLOTS_CUT_MIN: usize = 2;
/// What may be cut because its times differ: so long, ns, or this part of the trial.
const CUT_MAX_NS: u64 = 1_000_000_000;
const CUT_MAX_PART: usize = 20;
/// A queue is full when this share of the clients has completed two operations, or when there are
/// two for each client on average: the last of thousands may take ten times as long.
const WARM_SHARE: f64 = 0.95;
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
/// as much as those with many. Slots far off are taken as less far: one long queue in the first
/// half, or a few operations of a heavy tail, are no other level, and the second half, which the
/// test takes its variance from, may have none of them. MSER looks at `means`, the levels
/// themselves.
pub(crate) fn find_cut(store: &SlotStore, influence: &[f64], means: &[f64]) -> Cut {
    let influence = &clipped(influence);
    if let Some(warm_up) = store.warm_up_slots() {
        // Users come one after the other, however long the warm-up.
        let slots = warm_up.max(store.lead_in_slots()).min(means.len());
        return Cut {
            slots,
            nanos: store.width().saturating_mul(slots as u64),
            is_settled: !moves(&influence[slots..], &SURE),
        };
    }
    let half = means.len() / 2;
    let most = store.slots_in(CUT_MAX_NS).max(means.len() / CUT_MAX_PART);
    let most = most.max(SLOTS_CUT_MIN).min(half);
    let (filled, lead_in) = (filled_from(store), store.lead_in_slots());
    let (mut slots, mut is_settled) = match store.arrivals() {
        ArrivalPattern::Open => (0, true),
        ArrivalPattern::Thinking => (filled.unwrap_or(most).min(most), true),
        ArrivalPattern::Saturating => (filled.unwrap_or(half), filled.is_some_and(|at| at <= half)),
    };
    let is_open = store.arrivals() == ArrivalPattern::Open;
    if !is_open {
        slots = before_stall(store, slots.max(SLOTS_CUT_MIN).min(half));
    }
    slots = slots.max(lead_in);
    if moves(&influence[slots..], &SUSPECT) {
        let located = mser(means);
        if !is_open {
            let wanted = (2 * slots.max(located)).min(most).max(slots);
            slots = before_stall(store, wanted).max(lead_in);
        }
        is_settled &= located <= means.len() / 4 && !moves(&influence[slots..], &SURE);
    }
    Cut {
        slots,
        nanos: store.width().saturating_mul(slots as u64),
        is_settled,
    }
}

/// The first slot of a trial in which all clients are at work, with nothing cut for its times.
pub(crate) fn steady_from(store: &SlotStore) -> usize {
    if let Some(warm_up) = store.warm_up_slots() {
        return warm_up.max(store.lead_in_slots());
    }
    match store.arrivals() {
        ArrivalPattern::Saturating => filled_from(store).unwrap_or(0).max(SLOTS_CUT_MIN),
        ArrivalPattern::Thinking => SLOTS_CUT_MIN.max(store.lead_in_slots()),
        ArrivalPattern::Open => 0,
    }
}

/// The first slot in which the queue of all clients is full; `None` if it never was.
fn filled_from(store: &SlotStore) -> Option<usize> {
    let clients = f64::from(store.clients());
    if store.clients() == 0 {
        return Some(0);
    }
    let (mut warm, mut completions) = (0.0, 0.0);
    store.slots().iter().position(|slot| {
        warm += f64::from(slot.newly_warm);
        completions += slot.completions as f64;
        warm >= WARM_SHARE * clients || completions >= 2.0 * clients
    })
}

/// A cut of `slots`, or a shorter one that ends where a stall begins: a stall is no warm-up.
fn before_stall(store: &SlotStore, slots: usize) -> usize {
    let Some(stalls) = store.stalls(Silence::default()) else {
        return slots;
    };
    let is_stall = |gap: u64| gap > 0 && store.gap_ns(gap) >= stalls.shortest_ns;
    let cut = store.slots()[..slots].iter().enumerate();
    // A gap that ends after the cut may have begun in it.
    let reach = store.slots_in(stalls.longest_ns) + 1;
    let after = store.slots().iter().enumerate().skip(slots).take(reach);
    cut.chain(after)
        .filter(|(_, slot)| is_stall(slot.gap))
        .map(|(at, slot)| at.saturating_sub(store.slots_in(store.gap_ns(slot.gap))))
        .fold(slots, usize::min)
}

/// Whether the mean of `series` moves. A variance from few slots is itself uncertain, which widens
/// the tail as Student's t does.
fn moves(series: &[f64], critical: &Critical) -> bool {
    let (statistic, freedom) = cramer_von_mises(series);
    let normal = critical.normal;
    let widened = student_t(normal, freedom) / student_t(normal, f64::INFINITY);
    statistic > critical.statistic * widened * widened
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
        let mut store = SlotStore::with_grouping(1000, 30, 1);
        for epoch in 0..100u64 {
            let mut slot = Slot {
                completions: 1,
                ..Slot::empty(epoch)
            };
            slot.response.record(10 + epoch % 3);
            slot.newly_warm = 10 * u32::from([2, 5, 9].contains(&epoch));
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
    fn a_queue_that_never_fills_leaves_the_trial_unsettled() {
        let mut store = SlotStore::with_grouping(1000, 60, 1);
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

    /// One completion in each of 100 epochs of 1 ms, but for `stalls` as (first epoch, epochs).
    fn with_stalls(arrivals: ArrivalPattern, stalls: &[(u64, u64)]) -> Cut {
        const MS: u64 = 1_000_000;
        let mut store = SlotStore::with_grouping(10 * MS, 1, 1).arriving(arrivals);
        let mut waited = 0;
        for epoch in 0..2000u64 {
            if stalls
                .iter()
                .any(|(at, long)| (*at..at + long).contains(&epoch))
            {
                waited += 1;
                continue;
            }
            let mut slot = Slot {
                completions: 25,
                newly_warm: u32::from(epoch == stalls[0].1),
                ..Slot::empty(epoch)
            };
            (0..25).for_each(|i| slot.response.record(MS + (epoch * 25 + i) * 7919 % MS));
            slot.response
                .record((std::mem::take(&mut waited) * 10 + 1) * MS);
            store.push(slot);
        }
        let whole = crate::Window::new(&store, crate::Channel::Response, 0..store.len());
        let influence = whole.expect("completions").response_influence;
        let means = crate::window::slot_means(&store, crate::Channel::Response);
        find_cut(&store, &influence, &means)
    }

    #[test]
    fn what_is_said_to_be_warm_up_is_cut_whole() {
        for arrivals in [
            ArrivalPattern::Saturating,
            ArrivalPattern::Thinking,
            ArrivalPattern::Open,
        ] {
            let store = SlotStore::with_grouping(100_000_000, 1, 1).arriving(arrivals);
            let mut store = store.warming_up(Some(6_000_000_000));
            for epoch in 0..400 {
                let mut slot = Slot {
                    completions: 1,
                    ..Slot::empty(epoch)
                };
                let slow = if epoch < 60 { 3 } else { 1 };
                slot.response.record((1000 + epoch * 7919 % 97) * slow);
                store.push(slot);
            }
            let means = crate::window::slot_means(&store, crate::Channel::Response);
            let cut = find_cut(&store, &means, &means);
            assert_eq!((cut.slots, cut.is_settled), (60, true), "{arrivals:?}");
            assert_eq!(steady_from(&store), 60);
        }
    }

    /// Bug: a stall in the first half was cut as warm-up, and one before the first completion was
    /// not even counted: a disk that took 8 s of 12 to answer had carried its load all the time.
    #[test]
    fn a_stall_is_never_warm_up() {
        for arrivals in [
            ArrivalPattern::Saturating,
            ArrivalPattern::Thinking,
            ArrivalPattern::Open,
        ] {
            assert_eq!(with_stalls(arrivals, &[(0, 800)]).slots, 0, "{arrivals:?}");
            assert!(
                with_stalls(arrivals, &[(50, 80)]).slots <= 50,
                "{arrivals:?}"
            );
        }
        assert_eq!(with_stalls(ArrivalPattern::Thinking, &[(3, 0)]).slots, 2);
    }

    #[test]
    fn a_cut_is_a_second_or_a_twentieth_at_most() {
        let cut = |slots: u64, width_ns: u64, slow: u64, arrivals| {
            let mut store = SlotStore::with_grouping(width_ns, 0, 1).arriving(arrivals);
            for epoch in 0..slots {
                let mut slot = Slot {
                    completions: 1,
                    ..Slot::empty(epoch)
                };
                slot.response
                    .record((1000 + epoch * 7919 % 97) * if epoch < slow { 3 } else { 1 });
                store.push(slot);
            }
            let means = crate::window::slot_means(&store, crate::Channel::Response);
            find_cut(&store, &means, &means)
        };
        let found = cut(400, 100_000_000, 18, ArrivalPattern::Thinking);
        assert!(
            (18..=20).contains(&found.slots) && found.is_settled,
            "{found:?}"
        );
        let found = cut(400, 100_000_000, 60, ArrivalPattern::Thinking);
        assert!(found.slots == 20 && !found.is_settled, "{found:?}");
        let found = cut(100, 100_000_000, 8, ArrivalPattern::Thinking);
        assert!(
            (8..=10).contains(&found.slots) && found.is_settled,
            "{found:?}"
        );
        let found = cut(400, 100_000_000, 18, ArrivalPattern::Open);
        assert!(found.slots == 0 && !found.is_settled, "{found:?}");
    }
}
