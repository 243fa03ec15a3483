//! Watches a trial: merges the workers' slots, looks at the schedule of looks, and says when to
//! stop.

use std::collections::BTreeMap;

use stats::{
    Channel, Evaluation, Goal, PercentileEstimate, Slot, SlotStore, evaluate, evaluate_fully,
    quantile_interval,
};
use units::Duration;

/// Why a trial ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The goal was reached.
    Goal,
    /// Time was up.
    Budget,
    /// The clients had nothing more to do.
    Finished,
    /// An operation failed.
    Failed,
    /// Open arrivals outran the storage.
    Overloaded,
    /// Somebody stopped the run.
    Interrupted,
}

/// The percentiles that every measurement states.
pub const PERCENTILES: [f64; 4] = [0.5, 0.95, 0.99, 0.999];

/// The percentiles of transactions: 90 and 95 % are what requirements for users speak of.
pub const USER_PERCENTILES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

/// Collects slots and decides.
#[derive(Debug)]
pub struct Monitor {
    store: SlotStore,
    goal: Option<Goal>,
    channel: Channel,
    duration_max: Duration,
    slot_width: Duration,
    pending: BTreeMap<u64, Slot>,
    watermarks: Vec<u64>,
    latest: Option<Evaluation>,
}

impl Monitor {
    /// A monitor of `workers` workers with `clients` clients between them.
    #[must_use]
    pub fn new(
        goal: Option<Goal>,
        channel: Channel,
        duration_max: Duration,
        slot_width: Duration,
        workers: usize,
        clients: u32,
    ) -> Self {
        Self {
            store: SlotStore::new(slot_width.as_nanos(), clients),
            goal,
            channel,
            duration_max,
            slot_width,
            pending: BTreeMap::new(),
            watermarks: vec![0; workers],
            latest: None,
        }
    }

    /// Take the slots that `worker` closed; none of its later slots begins before `elapsed`.
    pub fn push(&mut self, worker: usize, slots: Vec<Slot>, elapsed: Duration) {
        for slot in slots {
            match self.pending.get_mut(&slot.epoch) {
                Some(sum) => sum.merge(&slot),
                None => {
                    self.pending.insert(slot.epoch, slot);
                }
            }
        }
        self.watermarks[worker] = elapsed.as_nanos() / self.slot_width.as_nanos();
        self.pass_on(self.watermarks.iter().copied().min().unwrap_or(0));
    }

    /// Whether the trial should stop `elapsed` after its start.
    pub fn decide(&mut self, elapsed: Duration) -> Option<Ending> {
        if let Some(goal) = self.goal
            && self.store.look_due()
        {
            self.latest = evaluate(&self.store, self.channel, &goal);
            if self
                .latest
                .as_ref()
                .is_some_and(|latest| latest.is_converged)
            {
                return Some(Ending::Goal);
            }
        }
        (elapsed >= self.duration_max).then_some(Ending::Budget)
    }

    /// The last look, for a screen.
    #[must_use]
    pub const fn latest(&self) -> Option<&Evaluation> {
        self.latest.as_ref()
    }

    /// Pass on what is left, now that the trial ended `elapsed` after its start and no worker will
    /// send more. Time without completions at the end counts too: a stall is part of the trial. The
    /// epoch in which it ended is left out: as a whole one, it would lower the throughput.
    pub fn finish(&mut self, elapsed: Duration) {
        let end = elapsed.as_nanos() / self.slot_width.as_nanos();
        self.pass_on(end);
        self.pending.clear();
        self.store.close(end);
    }

    /// The whole evaluation of one kind of time, percentiles and findings included.
    #[must_use]
    pub fn evaluate(&self, channel: Channel) -> Option<Evaluation> {
        self.evaluate_at(channel, &PERCENTILES)
    }

    /// The same with other percentiles.
    #[must_use]
    pub fn evaluate_at(&self, channel: Channel, percentiles: &[f64]) -> Option<Evaluation> {
        let goal = self.goal.unwrap_or_else(|| Goal::result(0.05));
        evaluate_fully(&self.store, channel, &goal, percentiles)
    }

    /// Percentiles of `evaluation`, which was made of these slots, whatever their evidence.
    #[must_use]
    pub fn quantiles(
        &self,
        channel: Channel,
        evaluation: &Evaluation,
        percentiles: &[f64],
    ) -> Vec<PercentileEstimate> {
        let found = percentiles.iter().filter_map(|&p| {
            let estimate = quantile_interval(&self.store, channel, evaluation, p)?;
            Some(PercentileEstimate {
                p,
                estimate: Some(estimate),
                is_indicative: true,
                evidence: estimate.samples * p.min(1.0 - p),
            })
        });
        found.collect()
    }

    /// The merged slots.
    #[must_use]
    pub const fn store(&self) -> &SlotStore {
        &self.store
    }

    fn pass_on(&mut self, before: u64) {
        while let Some(entry) = self.pending.first_entry() {
            if *entry.key() >= before {
                break;
            }
            self.store.push(entry.remove());
        }
    }
}
