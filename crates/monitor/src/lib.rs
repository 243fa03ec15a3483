//! Monitors a trial: merges the workers' slots, evaluates them on a schedule, and decides when to
//! stop.

mod sampler;

use std::collections::{BTreeMap, VecDeque};

use engine::Activity;
use results::{Interval, SystemSeries};
use serde::{Deserialize, Serialize};
use stats::{
    ArrivalPattern, CONFIDENCE, Channel, Estimate, Evaluation, Goal, PercentileEstimate, Slot,
    SlotStore, evaluate, evaluate_fully, quantile_interval, share_within,
};
use units::Duration;

use crate::sampler::Sampler;
pub use crate::sampler::usual_interval;

/// A limit that a share of the response times must not exceed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeLimit {
    /// The share, 0 to 1.
    pub share: f64,
    /// The limit, nanoseconds.
    pub limit_ns: u64,
    /// Confidence, 0 to 1, required to end the trial early.
    pub clear: f64,
}

/// Why a trial ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// The goal was reached.
    Goal,
    /// Time is up.
    Budget,
    /// The clients have finished.
    Finished,
    /// An operation failed.
    Failed,
    /// Open arrivals outran the storage.
    Overloaded,
    /// The run was interrupted.
    Interrupted,
}

/// Maximum extra time to wait for the first completion.
const FIRST_ANSWER_MAX: Duration = Duration::from_secs(10);

/// Collects slots and decides when to stop.
#[derive(Debug)]
pub struct Monitor {
    store: SlotStore,
    goal: Option<Goal>,
    channel: Channel,
    duration_max: Duration,
    slot_width: Duration,
    /// Slots of epochs that some workers have not passed yet, in order of epochs.
    pending: VecDeque<Slot>,
    watermarks: Vec<u64>,
    /// Number of workers at each epoch, to find the minimum among thousands without a search.
    standing: BTreeMap<u64, usize>,
    latest: Option<Evaluation>,
    sampler: Sampler,
    has_series: bool,
    limit: Option<TimeLimit>,
    /// Whether any operation completed or failed.
    has_answer: bool,
    /// Bytes moved so far.
    bytes: u64,
    leaving: FinishedClients,
}

/// How slots are treated after a client has finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FinishedClients {
    /// They count as before.
    Counts,
    /// They no longer count, because the load is that of fewer clients.
    Ends,
    /// A client finished in this epoch. Nothing counts from there on.
    Ended { epoch: u64 },
}

/// Relation of a trial to a limit on the response time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WithinLimit {
    /// The share of response times within the limit.
    pub share: Estimate,
    /// The percentile that must not exceed the limit, nanoseconds, however few samples it rests on.
    pub percentile: Estimate,
}

impl Monitor {
    /// A monitor of `workers` workers that share `clients` clients.
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
            pending: VecDeque::new(),
            watermarks: vec![0; workers],
            standing: BTreeMap::from([(0, workers)]),
            latest: None,
            sampler: Sampler::new(None, false),
            has_series: false,
            limit: None,
            has_answer: false,
            bytes: 0,
            leaving: FinishedClients::Counts,
        }
    }

    /// Sets an arrival pattern other than a closed loop.
    #[must_use]
    pub fn arriving(self, arrivals: ArrivalPattern) -> Self {
        Self {
            store: self.store.arriving(arrivals),
            ..self
        }
    }

    /// Sets a fixed warm-up.
    #[must_use]
    pub fn warming_up(self, warm_up: Option<Duration>) -> Self {
        Self {
            store: self.store.warming_up(warm_up.map(Duration::as_nanos)),
            ..self
        }
    }

    /// Counts only the time in which all clients work: from `lead_in` after the start until the
    /// first one finishes. The rest is a different load.
    #[must_use]
    pub fn all_at_work(self, lead_in: Duration) -> Self {
        Self {
            store: self.store.leading_in(lead_in.as_nanos()),
            leaving: FinishedClients::Ends,
            ..self
        }
    }

    /// Also ends the trial when it is decided whether a limit is met.
    #[must_use]
    pub const fn limited(mut self, limit: Option<TimeLimit>) -> Self {
        self.limit = limit;
        self
    }

    /// The relation to the limit; `None` without one, or before it is known.
    pub fn within_limit(&self) -> Option<WithinLimit> {
        let limit = self.limit?;
        let found = self.evaluate(self.channel)?;
        let share = quantile_interval(&self.store, self.channel, &found, limit.share);
        Some(WithinLimit {
            share: self.share_within(&found, CONFIDENCE)?,
            percentile: share?,
        })
    }

    fn share_within(&self, found: &Evaluation, confidence: f64) -> Option<Estimate> {
        let TimeLimit {
            share, limit_ns, ..
        } = self.limit?;
        let limit = limit_ns as f64;
        share_within(&self.store, self.channel, found, limit, share, confidence)
    }

    fn is_clear(&self, elapsed: Duration) -> bool {
        let (Some(limit), Some(goal), Some(latest)) = (self.limit, self.goal, &self.latest) else {
            return false;
        };
        let within = self.share_within(latest, limit.clear);
        elapsed.as_nanos() >= goal.duration_min_ns
            && within.is_some_and(|it| it.low >= limit.share || it.high < limit.share)
    }

    /// Divides the trial into intervals of this length, and records the machine's activity in each.
    /// With `is_cached`, pages read from a device are page-cache misses.
    #[must_use]
    pub fn sampled(mut self, every: Option<Duration>, is_cached: bool) -> Self {
        self.has_series = every.is_some();
        self.sampler = Sampler::new(every, is_cached);
        self
    }

    /// Records the machine's counters at the start of the trial.
    pub fn begin_sampling(&mut self, activity: Activity) {
        self.sampler.begin(activity);
    }

    /// Whether an interval has ended, `elapsed` after the start.
    pub fn is_sample_due(&self, elapsed: Duration) -> bool {
        self.sampler.is_due(elapsed)
    }

    /// Ends an interval `elapsed` after the start; `activity` has the machine's counters at that
    /// time.
    pub fn close_sample(&mut self, elapsed: Duration, activity: &Activity) {
        self.sampler.close(elapsed, activity);
    }

    /// Activity by interval of a machine with `processors` processors; `None` if not requested.
    pub fn series(&self, processors: u32) -> Option<SystemSeries> {
        self.has_series.then(|| self.sampler.series(processors))
    }

    /// Completions and response times by interval.
    pub fn intervals(&self) -> Vec<Interval> {
        self.sampler.intervals()
    }

    /// Takes the slots closed by `worker`, whose later slots all start at or after `elapsed`.
    pub fn push(&mut self, worker: usize, slots: Vec<Slot>, elapsed: Duration) {
        for slot in slots {
            self.has_answer |= slot.completions + slot.errors > 0;
            let at_ns = slot.epoch * self.slot_width.as_nanos();
            self.sampler.count(&slot, at_ns);
            self.bytes += slot.bytes;
            // A single worker, or the furthest of several, appends at the end.
            let is_last = self.pending.back().is_none_or(|it| it.epoch < slot.epoch);
            if is_last {
                self.pending.push_back(slot);
                continue;
            }
            match self
                .pending
                .binary_search_by_key(&slot.epoch, |it| it.epoch)
            {
                Ok(at) => self.pending[at].merge(&slot),
                Err(at) => self.pending.insert(at, slot),
            }
        }
        self.advance(worker, elapsed.as_nanos() / self.slot_width.as_nanos());
        let least = self.standing.first_key_value().map_or(0, |it| *it.0);
        self.pass_on(least);
    }

    /// `worker` has closed all slots before `epoch`.
    fn advance(&mut self, worker: usize, epoch: u64) {
        let was = std::mem::replace(&mut self.watermarks[worker], epoch);
        *self.standing.entry(epoch).or_default() += 1;
        if let Some(count) = self.standing.get_mut(&was) {
            *count -= 1;
            if *count == 0 {
                self.standing.remove(&was);
            }
        }
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
            if self.is_clear(elapsed) {
                return Some(Ending::Goal);
            }
        }
        (elapsed >= self.longest()).then_some(Ending::Budget)
    }

    /// When the trial ends at the latest. If it needs a result but clients may not have issued
    /// anything by then, it waits for the first completion, up to a limit. So does a trial of fixed
    /// length whose clients have issued, since it cannot end before they complete.
    fn longest(&self) -> Duration {
        let is_asked = self.store.arrivals() == ArrivalPattern::Saturating;
        if self.has_answer || (self.goal.is_none() && !is_asked) {
            return self.duration_max;
        }
        self.duration_max + FIRST_ANSWER_MAX
    }

    /// The latest evaluation, for a screen.
    pub const fn latest(&self) -> Option<&Evaluation> {
        self.latest.as_ref()
    }

    /// The 99th percentile of the response times so far, ns, as of the last complete interval;
    /// `None` with too few.
    pub const fn p99_ns(&self) -> Option<f64> {
        self.sampler.p99_ns()
    }

    /// Operations so far.
    pub const fn operations(&self) -> u64 {
        self.sampler.operations()
    }

    /// The mean response time so far, ns.
    pub fn mean_ns(&self) -> Option<f64> {
        self.sampler.mean_ns()
    }

    /// Bytes moved so far.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Processes the remaining slots after the trial ended at `elapsed` and all workers have sent
    /// theirs. Time without completions at the end counts: a stall is part of the trial. The
    /// partial last epoch is left out, because counting it as a whole one would lower the
    /// throughput.
    pub fn finish(&mut self, elapsed: Duration) {
        let end = elapsed.as_nanos() / self.slot_width.as_nanos();
        self.pass_on(end);
        self.pending.clear();
        self.store.close(match self.leaving {
            FinishedClients::Ended { epoch } => end.min(epoch),
            FinishedClients::Counts | FinishedClients::Ends => end,
        });
    }

    /// The full evaluation of one channel, with percentiles and findings.
    pub fn evaluate(&self, channel: Channel) -> Option<Evaluation> {
        self.evaluate_at(channel, &results::shares())
    }

    /// The same with other percentiles.
    pub fn evaluate_at(&self, channel: Channel, percentiles: &[f64]) -> Option<Evaluation> {
        let goal = self.goal.unwrap_or_else(|| Goal::result(0.05));
        evaluate_fully(&self.store, channel, &goal, percentiles)
    }

    /// Percentiles of `evaluation`, made from these slots, however few samples they rest on.
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
    pub const fn store(&self) -> &SlotStore {
        &self.store
    }

    fn pass_on(&mut self, before: u64) {
        while let Some(slot) = self.pending.pop_front_if(|slot| slot.epoch < before) {
            if self.leaving == FinishedClients::Ends && slot.left > 0 {
                self.leaving = FinishedClients::Ended { epoch: slot.epoch };
            }
            if !matches!(self.leaving, FinishedClients::Ended { .. }) {
                self.store.push(slot);
            }
        }
    }
}
