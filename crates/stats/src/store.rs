//! A bounded store of slots that covers a trial of any length.
//!
//! Epochs arrive at a fine base width. Once enough has been counted, a *grouping* is chosen, the
//! power of two that brings a slot to about 25 completions; groups are the "base slots" that the
//! look schedule counts. When 512 slots are kept, neighbours are merged into 256. All decisions
//! depend on counts alone, never on response times: a width chosen by what it shows would bias.

use serde::{Deserialize, Serialize};

use crate::gaps::{Gaps, Silence, Stalls};
use crate::slot::Slot;
use crate::tail_index::has_heavy_services;

/// Slots kept before neighbours are merged.
const SLOTS_MAX: usize = 512;
/// Completions wanted in a base slot.
const COMPLETIONS_WANTED: f64 = 25.0;
/// Completions that must do where a slot of `WIDTH_WANTED_MAX_NS` would hold fewer than wanted.
const COMPLETIONS_SLOW: f64 = 8.0;
/// "About": the nearest power of two holds at least this share of what is wanted.
const NEAREST: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// Widest base slot, ns, that is still lengthened in order to hold 25 completions.
const WIDTH_WANTED_MAX_NS: f64 = 250e6;
/// The rate is known well enough for a grouping after this many completions ...
const DECIDING_COMPLETIONS: u64 = 800;
/// ... and this many epochs.
const DECIDING_EPOCHS: u64 = 32;
/// Fewest slots that an evaluation can use; a trial that ends early is grouped to reach it.
const SLOTS_MIN: u64 = 16;
/// Base slots at the first look.
const FIRST_LOOK: u64 = 64;

/// When clients ask for operations: it decides what the start of a trial is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArrivalPattern {
    /// Each client asks for the next operation as soon as it has the last: the queue must fill
    /// before the load is the one that was asked for.
    #[default]
    Saturating,
    /// Clients think, or follow clocks of their own: they are at work from the start.
    Thinking,
    /// On a schedule, however long operations take: everything that was offered counts.
    Open,
}

/// Slots of equal width from epoch 0 on, without gaps, at most 512 of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SlotStore {
    base_width_ns: u64,
    clients: u32,
    #[serde(default)]
    arrivals: ArrivalPattern,
    /// What is warm-up, ns, where somebody said so.
    #[serde(default)]
    warm_up_ns: Option<u64>,
    /// What is left out at the start at least, ns: not all clients are at work yet.
    #[serde(default)]
    lead_in_ns: u64,
    /// Complete slots of `group` epochs each.
    slots: Vec<Slot>,
    /// The slot being filled, and how many epochs of it have passed (fewer than `group`).
    partial: Slot,
    partial_epochs: u64,
    group: u64,
    /// Epochs per base slot; `None` until the rate is known.
    base_group: Option<u64>,
    /// The next epoch expected, which is how many have passed.
    epochs: u64,
    next_look: u64,
    gaps: Gaps,
}

impl SlotStore {
    /// A store for epochs of `base_width_ns` in which `clients` clients are at work.
    ///
    /// The number of clients tells when all of them are warm; 0 means that nobody counts.
    pub fn new(base_width_ns: u64, clients: u32) -> Self {
        assert!(base_width_ns > 0, "an epoch needs a width");
        Self {
            base_width_ns,
            clients,
            arrivals: ArrivalPattern::Saturating,
            warm_up_ns: None,
            lead_in_ns: 0,
            slots: Vec::with_capacity(SLOTS_MAX),
            partial: Slot::default(),
            partial_epochs: 0,
            group: 1,
            base_group: None,
            epochs: 0,
            next_look: FIRST_LOOK,
            gaps: Gaps::default(),
        }
    }

    /// A store whose epochs are base slots already: `grouping` epochs make one.
    pub fn with_grouping(base_width_ns: u64, clients: u32, grouping: u64) -> Self {
        assert!(grouping.is_power_of_two(), "slots are merged pairwise");
        let store = Self::new(base_width_ns, clients);
        Self {
            group: grouping,
            base_group: Some(grouping),
            ..store
        }
    }

    /// The same store for clients that ask in another way.
    #[must_use]
    pub fn arriving(self, arrivals: ArrivalPattern) -> Self {
        Self { arrivals, ..self }
    }

    /// The same store, of whose start so much is left out, whatever it looks like.
    #[must_use]
    pub fn warming_up(self, warm_up_ns: Option<u64>) -> Self {
        Self { warm_up_ns, ..self }
    }

    /// The same store, of whose start so much is left out at least, and more where it looks so.
    #[must_use]
    pub fn leading_in(self, lead_in_ns: u64) -> Self {
        Self { lead_in_ns, ..self }
    }

    /// Adds the slot of one epoch. Epochs left out since the last push were empty, and those before
    /// the first one too: storage that takes long to answer at all has taken that long.
    ///
    /// # Panics
    /// When epochs do not increase: the caller merges workers before it pushes.
    #[inline]
    pub fn push(&mut self, mut slot: Slot) {
        let next = self.epochs;
        assert!(
            slot.epoch >= next,
            "epoch {} after epoch {next}",
            slot.epoch
        );
        self.pass_epochs(slot.epoch - next);
        self.gaps.pass(slot.epoch - next);
        if slot.completions > 0 {
            slot.gap = self.gaps.end(slot.response.max / self.base_width_ns);
        } else {
            self.gaps.pass(1);
        }
        self.epochs = slot.epoch + 1;
        if self.partial_epochs == 0 {
            self.partial = slot;
        } else {
            self.partial.merge(&slot);
        }
        self.pass_epochs(1);
        if self.base_group.is_none() {
            self.decide_grouping();
        }
    }

    /// Ends the trial before `up_to_epoch`: epochs up to there without a push were empty. Chooses
    /// a grouping if there was too little for one so far.
    pub fn close(&mut self, up_to_epoch: u64) {
        let rest = up_to_epoch.saturating_sub(self.epochs);
        self.pass_epochs(rest);
        self.gaps.pass(rest);
        self.epochs += rest;
        if self.base_group.is_none() {
            let mut grouping = self.wanted_grouping();
            let lead_in = self.lead_in_ns.div_ceil(self.base_width_ns);
            let wanted = |grouping| SLOTS_MIN + lead_in.div_ceil(grouping);
            while grouping > self.group && self.epochs / grouping < wanted(grouping) {
                grouping /= 2;
            }
            self.set_grouping(grouping);
        }
    }

    /// Whether an evaluation is due: at 64, 80, 100, 125, ... (x 1.25) base slots, once at each.
    pub fn look_due(&mut self) -> bool {
        if self.base_group.is_none() || self.base_slots() < self.next_look {
            return false;
        }
        while self.next_look <= self.base_slots() {
            self.next_look += self.next_look / 4;
        }
        true
    }

    /// The complete slots, oldest first, each of `width()`.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Number of complete slots.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether no slot is complete.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// What came after the last complete slot. Evaluations leave it out.
    pub fn partial(&self) -> &Slot {
        &self.partial
    }

    /// Width of a slot, ns.
    pub fn width(&self) -> u64 {
        self.base_width_ns.saturating_mul(self.group)
    }

    /// Base slots so far: the length of the trial as the look schedule counts it.
    pub fn base_slots(&self) -> u64 {
        self.epochs / self.base_group.unwrap_or(self.group)
    }

    /// Times without a completion that are far beyond the others, over all epochs and to the epoch,
    /// however wide the slots have become; the last of them may go on beyond the end.
    pub fn stalls(&self, end: Silence) -> Option<Stalls> {
        let epochs = |nanos: u64| nanos / self.base_width_ns;
        let end = (epochs(end.waited_ns), epochs(end.afterwards_ns));
        let found = self.gaps.stalls(self.completions(), self.epochs, end)?;
        let (count, longest, shortest) = found;
        Some(Stalls {
            count,
            longest_ns: self.gap_ns(longest),
            shortest_ns: self.gap_ns(shortest),
            period_ns: self
                .gaps
                .period(shortest)
                .map(|epochs| (epochs * self.base_width_ns as f64) as u64),
        })
    }

    /// Whether service times have such a tail that random arrivals behind them wait for times
    /// without a variance. A server that is at work alone leaves gaps as long as its services.
    pub(crate) fn has_heavy_services(&self) -> bool {
        let is_open = self.arrivals == ArrivalPattern::Open;
        is_open && has_heavy_services(&self.gaps.lengths(), self.completions())
    }

    /// Slots that `nanos` cover, rounded up.
    pub(crate) fn slots_in(&self, nanos: u64) -> usize {
        usize::try_from(nanos.div_ceil(self.width())).unwrap_or(usize::MAX)
    }

    /// Slots that were said to be warm-up.
    pub(crate) fn warm_up_slots(&self) -> Option<usize> {
        self.warm_up_ns
            .map(|nanos| self.slots_in(nanos).min(self.len()))
    }

    /// Slots in which not all clients are at work yet.
    pub(crate) fn lead_in_slots(&self) -> usize {
        self.slots_in(self.lead_in_ns)
    }

    /// When clients ask for operations.
    pub const fn arrivals(&self) -> ArrivalPattern {
        self.arrivals
    }

    /// The length of a gap of so many epochs, ns.
    pub(crate) const fn gap_ns(&self, epochs: u64) -> u64 {
        epochs.saturating_mul(self.base_width_ns)
    }

    /// Number of clients at work; 0 when unknown.
    pub fn clients(&self) -> u32 {
        self.clients
    }

    /// Lets `count` epochs pass, completing slots on the way. A long gap costs little: each
    /// halving of the store doubles the step.
    fn pass_epochs(&mut self, mut count: u64) {
        while count > 0 {
            let step = count.min(self.group - self.partial_epochs);
            self.partial_epochs += step;
            count -= step;
            if self.partial_epochs == self.group {
                let next = Slot::empty(self.partial.epoch.saturating_add(self.group));
                self.slots.push(std::mem::replace(&mut self.partial, next));
                self.partial_epochs = 0;
                if self.slots.len() == SLOTS_MAX {
                    self.merge_neighbours();
                }
            }
        }
    }

    /// Doubles the width of all slots. An odd last slot becomes the first half of the partial one.
    fn merge_neighbours(&mut self) {
        if self.slots.len() % 2 == 1
            && let Some(mut last) = self.slots.pop()
        {
            last.merge(&self.partial);
            self.partial = last;
            self.partial_epochs += self.group;
        }
        let halves = std::mem::replace(&mut self.slots, Vec::with_capacity(SLOTS_MAX));
        let mut halves = halves.into_iter();
        while let (Some(mut slot), Some(second)) = (halves.next(), halves.next()) {
            slot.merge(&second);
            self.slots.push(slot);
        }
        self.group *= 2;
    }

    fn decide_grouping(&mut self) {
        let completions = self.completions();
        if completions >= DECIDING_COMPLETIONS && self.epochs >= DECIDING_EPOCHS {
            self.set_grouping(self.wanted_grouping());
        }
    }

    fn set_grouping(&mut self, grouping: u64) {
        while self.group < grouping {
            self.merge_neighbours();
        }
        self.base_group = Some(self.group);
    }

    /// The power of two nearest to 25 completions a slot; nearest to 8 if that takes over 250 ms.
    fn wanted_grouping(&self) -> u64 {
        let rate = self.completions() as f64 / self.epochs.max(1) as f64;
        if rate <= 0.0 {
            return self.group;
        }
        let grouping = |wanted: f64| {
            let epochs = (wanted * NEAREST / rate).max(1.0);
            // 2^40 epochs without completions are no benchmark; the cap avoids overflow.
            1u64 << (epochs.log2().ceil() as u64).min(40)
        };
        let usual = grouping(COMPLETIONS_WANTED);
        if usual as f64 * self.base_width_ns as f64 <= WIDTH_WANTED_MAX_NS {
            usual
        } else {
            grouping(COMPLETIONS_SLOW)
        }
    }

    fn completions(&self) -> u64 {
        self.slots.iter().map(|slot| slot.completions).sum::<u64>() + self.partial.completions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(epoch: u64, completions: u64) -> Slot {
        let mut slot = Slot::empty(epoch);
        for i in 0..completions {
            slot.response.record(1000 + i);
        }
        Slot {
            completions,
            ..slot
        }
    }

    fn mass(store: &SlotStore) -> (u64, u64) {
        let all = || store.slots().iter().chain([store.partial()]);
        let in_bins = all().map(|slot| slot.response.bins.total()).sum();
        (all().map(|slot| slot.completions).sum(), in_bins)
    }

    fn check_shape(store: &SlotStore) {
        assert!(store.len() < SLOTS_MAX);
        let epochs_per_slot = store.width() / store.base_width_ns;
        for pair in store.slots().windows(2) {
            assert_eq!(pair[1].epoch - pair[0].epoch, epochs_per_slot);
        }
    }

    #[test]
    fn mass_is_conserved_through_gaps_and_merging() {
        let mut state = 5u64;
        for _ in 0..20 {
            let mut store = SlotStore::new(1_000_000, 0);
            let (mut epoch, mut pushed) = (state % 1000, 0);
            for _ in 0..5000 {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
                let completions = state >> 61;
                store.push(slot(epoch, completions));
                pushed += completions;
                epoch += 1 + if state >> 33 & 63 == 0 {
                    state >> 53
                } else {
                    0
                };
            }
            store.close(epoch + 77);
            assert_eq!(mass(&store), (pushed, pushed));
            assert_eq!(store.epochs, epoch + 77);
            check_shape(&store);
        }
    }

    #[test]
    fn a_gap_of_years_is_bridged_at_once() {
        let mut store = SlotStore::new(1_000_000, 0);
        store.push(slot(3, 30));
        store.push(slot(1 << 50, 30));
        store.close(1 << 51);
        assert_eq!(mass(&store), (60, 60));
        check_shape(&store);
    }

    #[test]
    fn the_grouping_aims_at_25_completions() {
        for (base_width_ns, per_hundred_epochs, expected) in [
            (1_000_000, 500_000, 1), // a fast device fills every epoch
            (1_000_000, 2_500, 1),
            (1_000_000, 300, 8),  // 3 an epoch: 24 in 8
            (1_000_000, 100, 32), // 1 an epoch: 32 in 32, since 16 is further from 25
            (1_000_000, 10, 256 / 4),
            (1_000_000, 4, 256), // 40 a second: 10 in 256 ms
            (1_000_000, 1, 1024),
        ] {
            let mut store = SlotStore::new(base_width_ns, 0);
            let mut given = 0;
            for epoch in 0..100_000u64 {
                let due = (epoch + 1) * per_hundred_epochs / 100;
                store.push(Slot {
                    completions: due - given,
                    ..Slot::empty(epoch)
                });
                given = due;
            }
            assert_eq!(
                store.base_group,
                Some(expected),
                "{per_hundred_epochs} per 100 epochs"
            );
        }
    }

    #[test]
    fn looks_follow_the_schedule_and_are_told_once() {
        let mut store = SlotStore::with_grouping(1000, 0, 1);
        let mut looks = Vec::new();
        for epoch in 0..700 {
            store.push(slot(epoch, 1));
            if store.look_due() {
                looks.push(store.base_slots());
                assert!(!store.look_due());
            }
        }
        assert_eq!(looks, [64, 80, 100, 125, 156, 195, 243, 303, 378, 472, 590]);
        assert_eq!(store.width(), 2000);
    }

    #[test]
    fn a_trial_that_ends_early_still_gets_16_slots() {
        let mut store = SlotStore::new(1_000_000, 0);
        for epoch in 0..20 {
            store.push(slot(epoch * 10, 1));
        }
        assert!(!store.look_due());
        store.close(200);
        assert!(store.len() >= 16, "{} slots", store.len());
        assert_eq!(mass(&store), (20, 20));
    }

    #[test]
    #[should_panic(expected = "epoch 4 after epoch 6")]
    fn epochs_must_increase() {
        let mut store = SlotStore::new(1000, 0);
        store.push(slot(5, 1));
        store.push(slot(4, 1));
    }
}
