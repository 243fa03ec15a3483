//! The part of a store that an evaluation uses, as the series that formulas work on.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::slot::{Slot, Tally};
use crate::store::SlotStore;

/// Which time is evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Channel {
    /// From due to completed: what a user waits.
    #[default]
    Response,
    /// From issued to completed: what the device took.
    Service,
}

impl Channel {
    /// The tally of this channel in a slot.
    pub fn tally(self, slot: &Slot) -> &Tally {
        match self {
            Self::Response => &slot.response,
            Self::Service => &slot.service,
        }
    }
}

/// The slots after the cut, as joint influence series: the variance of any smooth function of
/// mean and rate follows from the matching combination of the two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Slots of the store used.
    pub slots: Range<usize>,
    /// `y_i = Rhat + (R_i - Rhat C_i) / Cbar`, ns: its mean is the mean time, and its long-run
    /// variance is that of the ratio estimator sum R / sum C (section 3, "Ratio estimator").
    pub response_influence: Vec<f64>,
    /// `x_i = C_i / width`, completions per second.
    pub throughput: Vec<f64>,
    /// Width of a slot, ns.
    pub width_ns: u64,
    /// `Rhat`, the mean time, ns.
    pub mean_ns: f64,
    /// Completions per second.
    pub rate: f64,
    /// Completions with a time in this channel.
    pub completions: u64,
}

impl Window {
    /// The series of `slots`, or `None` if nothing completed in them.
    pub fn new(store: &SlotStore, channel: Channel, slots: Range<usize>) -> Option<Self> {
        let used = store.slots().get(slots.clone())?;
        let tallies = || used.iter().map(|slot| channel.tally(slot));
        let completions: u64 = tallies().map(|tally| tally.count).sum();
        if completions == 0 {
            return None;
        }
        let mean_ns = tallies().map(|tally| tally.sum).sum::<f64>() / completions as f64;
        let per_slot = completions as f64 / used.len() as f64;
        let per_second = 1e9 / store.width() as f64;
        let influence =
            |tally: &Tally| mean_ns + (tally.sum - mean_ns * tally.count as f64) / per_slot;
        Some(Self {
            slots,
            response_influence: tallies().map(influence).collect(),
            throughput: tallies()
                .map(|tally| tally.count as f64 * per_second)
                .collect(),
            width_ns: store.width(),
            mean_ns,
            rate: per_slot * per_second,
            completions,
        })
    }

    /// Length of the window, ns.
    pub fn duration_ns(&self) -> u64 {
        self.width_ns.saturating_mul(self.slots.len() as u64)
    }

    /// Influence of each slot on the share of completions counted in `counts`, where `share` is
    /// that share over the whole window (`F_i` of section 3, "Quantile").
    pub(crate) fn share_influence(
        &self,
        store: &SlotStore,
        channel: Channel,
        share: f64,
        count: impl Fn(&Tally) -> f64,
    ) -> Vec<f64> {
        let per_slot = self.completions as f64 / self.slots.len() as f64;
        store.slots()[self.slots.clone()]
            .iter()
            .map(|slot| channel.tally(slot))
            .map(|tally| share + (count(tally) - share * tally.count as f64) / per_slot)
            .collect()
    }
}

/// Mean time of each slot, ns; an empty slot repeats its predecessor, leading ones the first.
pub(crate) fn slot_means(store: &SlotStore, channel: Channel) -> Vec<f64> {
    let mean = |slot: &Slot| {
        let tally = channel.tally(slot);
        (tally.count > 0).then(|| tally.sum / tally.count as f64)
    };
    let mut last = store.slots().iter().find_map(mean).unwrap_or(0.0);
    store
        .slots()
        .iter()
        .map(|slot| {
            last = mean(slot).unwrap_or(last);
            last
        })
        .collect()
}

/// Mean time, ns, of each slot from `first` on in which something completed, and its place before
/// it.
pub(crate) fn means_of_busy_slots(
    store: &SlotStore,
    channel: Channel,
    first: usize,
) -> (Vec<usize>, Vec<f64>) {
    let tallies = store.slots().iter().map(|slot| channel.tally(slot));
    tallies
        .enumerate()
        .skip(first)
        .filter(|(_, tally)| tally.count > 0)
        .map(|(place, tally)| (place, tally.sum / tally.count as f64))
        .unzip()
}

/// Completions of each slot.
pub(crate) fn slot_counts(store: &SlotStore, channel: Channel) -> Vec<f64> {
    let slots = store.slots().iter();
    slots.map(|slot| channel.tally(slot).count as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_slots_repeat_their_predecessor_in_means_but_count_in_the_rate() {
        let mut store = SlotStore::with_grouping(1_000_000, 0, 1);
        for (epoch, times) in [(0, [10u64, 30]), (3, [50, 70])] {
            let mut slot = Slot {
                completions: 2,
                ..Slot::empty(epoch)
            };
            times.iter().for_each(|&time| slot.response.record(time));
            store.push(slot);
        }
        store.close(5);
        assert_eq!(
            slot_means(&store, Channel::Response),
            [20.0, 20.0, 20.0, 60.0, 60.0]
        );
        let window = Window::new(&store, Channel::Response, 0..5).expect("something completed");
        assert_eq!((window.mean_ns, window.rate), (40.0, 800.0));
        assert_eq!(window.throughput, [2000.0, 0.0, 0.0, 2000.0, 0.0]);
        assert_eq!(window.response_influence, [-10.0, 40.0, 40.0, 90.0, 40.0]);
        assert_eq!(Window::new(&store, Channel::Service, 0..5), None);
        assert_eq!(Window::new(&store, Channel::Response, 4..5), None);
        assert_eq!(Window::new(&store, Channel::Response, 4..9), None);
    }
}
