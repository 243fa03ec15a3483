//! Rank 0: starts all hosts together, merges their slots while they work, decides, and adds up what
//! they recorded.

use std::sync::Arc;

use engine::{Clock as _, DriverError, Follower, OnError, Record};
use fleet::{ClockLine, FleetError, Group, Share};
use procedure::{Circumstances, Ending, Monitor, Trial, TrialError, summarise};
use results::{Measurement, Warning, WarningCode};
use stats::Slot;
use sys::MonotonicClock;
use units::{Duration, Instant, format_counted};

use super::neighbours::{RankRow, judge_machines, machine_notes};
use super::party::Party;
use super::times::{End, Trust, widened};
use super::wire::{Note, Order, Readiness, Report, TrialForm, from_bytes, to_bytes};
use crate::company::Company;
use crate::laboratory::{
    Glimpse, Laboratory, LaboratoryError, Outcome, Watch, cpu_cost, error_name, failure_of,
    monitor_of, trial_seed,
};
use crate::storage::{Part, StorageLaboratory};

/// Questions in a burst by which another host's clock is read.
const QUESTIONS: u32 = 16;
/// From "all ready" to the first request: by then all ranks must have heard of it.
const START_AHEAD: Duration = Duration::from_millis(50);
/// The same more for each rank.
const START_AHEAD_EACH: Duration = Duration::from_micros(50);
/// How often the clock of a host at work is read: each about once a second ...
const GLANCE_EACH: Duration = Duration::from_secs(1);
/// ... as long as that is not more often than this.
const GLANCE_EVERY: Duration = Duration::from_millis(250);
/// For how long rank 0 waits for a host at work to look up: each does every 50 ms.
const GLANCE_MAX: Duration = Duration::from_millis(100);

/// A laboratory of which this host is rank 0.
pub struct FleetLaboratory {
    /// This host's own.
    pub local: StorageLaboratory,
    party: Party,
    seed: u64,
    on_error: OnError,
    rows: Vec<Measurement>,
    notes: Vec<Warning>,
}

impl FleetLaboratory {
    /// Rank 0's laboratory; `notes` is what its hosts were found to differ in, a sentence each.
    #[must_use]
    pub fn new(
        local: StorageLaboratory,
        party: Party,
        (seed, on_error): (u64, OnError),
        notes: Vec<String>,
    ) -> Self {
        let notes = notes.into_iter();
        Self {
            local,
            party,
            seed,
            on_error,
            rows: Vec::new(),
            notes: notes
                .map(|text| Warning::note(WarningCode::Hosts, text))
                .collect(),
        }
    }

    /// The ranks.
    #[must_use]
    pub const fn party(&self) -> &Party {
        &self.party
    }

    /// What each host measured in the last trial.
    pub fn take_rows(&mut self) -> Vec<Measurement> {
        std::mem::take(&mut self.rows)
    }

    /// What the run should say of its hosts.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        self.notes.clone()
    }

    /// Have the other ranks remove what they made, and part; what they could not remove, a
    /// sentence each.
    pub fn dismiss(&mut self) -> Vec<String> {
        if self.party.has_parted() {
            return Vec::new();
        }
        self.party.part();
        let order = to_bytes(&Order::Part);
        let answers = self.party.round(|group| {
            group.broadcast(&order)?;
            group.gather_living(&to_bytes(&String::new()))
        });
        let Ok((answers, lost)) = answers else {
            return Vec::new();
        };
        let mut left = Vec::new();
        if let Some(error) = lost {
            self.party.lose();
            left.push(format!(
                "{}: what it made may still be there",
                self.party.words(&error)
            ));
        }
        for (rank, bytes) in (0..).zip(answers) {
            let text: Option<String> = bytes.and_then(|it| from_bytes(rank, &it).ok());
            let text = text.filter(|text| !text.is_empty());
            left.extend(text.map(|text| format!("{}: {text}", self.party.name(rank))));
        }
        left
    }

    /// Add up what all ranks found.
    fn add_up(
        &mut self,
        trial: &Trial,
        own: Part,
        (mut leading, is_interrupted): (Leading, bool),
    ) -> Result<Outcome, LaboratoryError> {
        let fail = |error: TrialError| LaboratoryError::Trial {
            title: trial.title.clone(),
            error,
        };
        let reports = leading.reports(&self.party);
        let Part {
            outcome,
            mut record,
            own,
        } = own;
        let mut ends = vec![End::of_leader(outcome.elapsed)];
        let mut elapsed = (outcome.elapsed, outcome.elapsed);
        let mut failure = leading.lost.as_ref().map(|error| self.lost(error));
        let mut rows = vec![RankRow {
            rank: 0,
            measurement: self.row(0, outcome.measurement.clone()),
            own,
            elapsed: outcome.elapsed,
        }];
        for (rank, report) in (1..).zip(reports) {
            let Some(report) = report else { continue };
            let (row, error) = self.take_in(rank, report, &mut record);
            if let Some(row) = &row {
                ends.push(leading.end(rank, row.elapsed));
                elapsed = (elapsed.0.min(row.elapsed), elapsed.1.max(row.elapsed));
            }
            rows.extend(row);
            failure = failure.or(error);
        }
        self.judge_rows(rows, trial, &leading.at_work());
        failure = failure.or_else(|| self.stopped_early(leading.ended_early, is_interrupted));
        let (first, last) = elapsed;
        let Some(mut monitor) = leading.monitor.take() else {
            return Err(fail(system_error("starting", "no rank was ready".into())));
        };
        // Later not all hosts were at work.
        monitor.finish(first);
        let circumstances = Circumstances {
            driver: outcome.measurement.driver.clone(),
            workers: self.rows.iter().map(|row| row.workers).sum(),
            seed: trial_seed(self.seed, trial.salt),
            nominal_depth: self.rows.iter().map(|row| row.nominal_depth).sum(),
            elapsed: last,
            on_error: trial.on_error(self.on_error),
        };
        let failure = failure
            .or_else(|| failure_of(&record, circumstances.on_error))
            .or(outcome.failure);
        let mut measurement = summarise(trial, &monitor, &record, &circumstances, error_name)
            .map_err(|nothing| fail(failure.clone().unwrap_or(nothing)))?;
        measurement.cpu = cpu_of(&self.rows).and_then(|ns| cpu_cost(&measurement, ns as u64, last));
        measurement.page_cache_share = share_of_caches(&self.rows);
        self.trust_clocks(&leading, &mut measurement, (ends, last));
        Ok(Outcome {
            measurement,
            ending: leading.ending.unwrap_or(outcome.ending),
            failure,
            elapsed: last,
            series: None,
            within: None,
            ..outcome
        })
    }

    /// Widen the rates by what clocks do to them, and note who was done when.
    fn trust_clocks(
        &mut self,
        leading: &Leading,
        measurement: &mut Measurement,
        (ends, last): (Vec<End>, Duration),
    ) {
        let trust = leading.trust(last);
        let error = trust.rate_error(last);
        measurement.throughput = widened(&measurement.throughput, error);
        measurement.bandwidth = measurement.bandwidth.map(|it| widened(&it, error));
        let words = leading.words(&self.party, ends, &trust);
        self.notes.push(Warning::note(WarningCode::Hosts, words));
    }

    /// That a rank ended the trial, unless a signal did.
    fn stopped_early(&self, rank: Option<u32>, is_interrupted: bool) -> Option<TrialError> {
        let name = self.party.name(rank.filter(|_| !is_interrupted)?);
        let reason = format!("{name} stopped by itself");
        Some(system_error("measuring on all hosts", reason))
    }

    /// Have the rows say what others did, and keep them.
    fn judge_rows(&mut self, mut rows: Vec<RankRow>, trial: &Trial, at_work: &[u32]) {
        let Share { ranks, .. } = self.party.share();
        let idle: Vec<u32> = (1..ranks).filter(|rank| !at_work.contains(rank)).collect();
        let how = (trial, self.local.neighbours());
        judge_machines(&mut rows, &self.party.machines(), &idle, how);
        self.notes.extend(machine_notes(&rows, &self.party));
        self.rows = rows.into_iter().map(|row| row.measurement).collect();
    }

    /// Add what a rank recorded; its row, if it has one to show, and why it failed, if it did.
    fn take_in(
        &self,
        rank: u32,
        report: Report,
        record: &mut Record,
    ) -> (Option<RankRow>, Option<TrialError>) {
        let name = self.party.name(rank);
        let Some(there) = report.record.record() else {
            let reason = format!("{name} sent no record");
            return (None, Some(system_error("adding up", reason)));
        };
        record.merge(&there);
        let row = report.measurement().map(|row| RankRow {
            rank,
            measurement: self.row(rank, row),
            own: report.own,
            elapsed: report.elapsed,
        });
        let failure = report.failure.map(|reason| {
            let reason = format!("{name}: {reason}");
            system_error("measuring on all hosts", reason)
        });
        (row, failure)
    }

    /// A host's own measurement, under a name of its own.
    fn row(&self, rank: u32, measurement: Measurement) -> Measurement {
        Measurement {
            name: format!("rank-{rank}"),
            title: self.party.name(rank),
            ..measurement
        }
    }

    fn lost(&self, error: &FleetError) -> TrialError {
        self.party.lose();
        let reason = self.party.words(error);
        system_error("waiting for all hosts", reason)
    }
}

impl Laboratory for FleetLaboratory {
    fn measure(&mut self, trial: &Trial, watch: Watch<'_>) -> Result<Outcome, LaboratoryError> {
        let order = to_bytes(&Order::Measure(TrialForm::of(trial)));
        let ordered = self.party.round(|group| group.broadcast(&order));
        ordered.map_err(|error| LaboratoryError::Trial {
            title: trial.title.clone(),
            error: system_error("starting all hosts", error.reason()),
        })?;
        let mut leading = Leading::new(&self.party, trial);
        let own = self.party.own_part(trial);
        match self.local.measure_among(&own, &mut leading, watch) {
            Ok(own) => {
                let is_interrupted = !watch(&Glimpse::default());
                self.add_up(trial, own, (leading, is_interrupted))
            }
            Err(error) => {
                leading.give_up(&self.party);
                Err(error)
            }
        }
    }

    fn follow(&mut self, follower: Option<Arc<dyn Follower>>) {
        self.local.follow(follower);
    }

    fn now(&self) -> Instant {
        self.local.now()
    }
}

fn system_error(operation: &'static str, reason: String) -> TrialError {
    DriverError::System { operation, reason }.into()
}

/// The share of all bytes that page caches answered, where every host knows its own.
fn share_of_caches(rows: &[Measurement]) -> Option<f64> {
    let bytes: u64 = rows.iter().map(|it| it.bytes_all).sum();
    let each = rows
        .iter()
        .map(|it| Some(it.page_cache_share? * it.bytes_all as f64));
    let answered: Option<f64> = each.sum();
    answered
        .filter(|_| bytes > 0)
        .map(|answered| answered / bytes as f64)
}

/// How far the others have been brought.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeadingStage {
    Ordered,
    CalledOff,
    Running,
    Stopped,
}

/// What rank 0 sees of a trial while it runs.
struct Leading {
    party: Party,
    trial: Trial,
    stage: LeadingStage,
    monitor: Option<Monitor>,
    /// Workers of this host.
    workers: usize,
    lines: Vec<ClockLine>,
    /// What each rank's clock was to read at the start.
    begun: Vec<Instant>,
    /// The last rank whose clock was read during the trial, and when.
    glanced: (u32, Instant),
    /// The start on the group's clock.
    start: Instant,
    lost: Option<FleetError>,
    /// The first rank that stopped without being told.
    ended_early: Option<u32>,
    ending: Option<Ending>,
}

impl Leading {
    fn new(party: &Party, trial: &Trial) -> Self {
        Self {
            lines: vec![ClockLine::own(); party.share().ranks as usize],
            begun: vec![Instant::START; party.share().ranks as usize],
            glanced: (0, Instant::START),
            party: party.clone(),
            trial: trial.clone(),
            stage: LeadingStage::Ordered,
            monitor: None,
            workers: 0,
            start: Instant::START,
            lost: None,
            ended_early: None,
            ending: None,
        }
    }

    /// Ranks that have clients, without this one.
    fn at_work(&self) -> Vec<u32> {
        let ranks = self.party.share().ranks;
        let has_clients = |rank: &u32| Share { rank: *rank, ranks }.count(self.trial.clients) > 0;
        (1..ranks).filter(has_clients).collect()
    }

    /// Hear whether all are ready, read their clocks, and tell each when to start.
    fn start_all(&mut self, group: &mut Group) -> Result<Result<Instant, String>, FleetError> {
        let ready = group.gather(&to_bytes(&Readiness::Ok(())))?;
        for (rank, bytes) in (0..).zip(&ready) {
            if let Err(reason) = from_bytes::<Readiness>(rank, bytes)? {
                self.stage = LeadingStage::CalledOff;
                group.note_all(&to_bytes(&Note::CallOff))?;
                return Ok(Err(format!("{}: {reason}", self.party.name(rank))));
            }
        }
        self.read_clocks(group)?;
        let ranks = group.share().ranks;
        let ahead = START_AHEAD + START_AHEAD_EACH * u64::from(ranks);
        let start = group.now() + ahead;
        for rank in 1..ranks {
            let start = self.lines[rank as usize].there(start);
            self.begun[rank as usize] = start;
            group.note(rank, &to_bytes(&Note::Go { start }))?;
        }
        Ok(Ok(start))
    }

    fn read_clocks(&mut self, group: &mut Group) -> Result<(), FleetError> {
        for rank in 1..group.share().ranks {
            let burst = group.read_clock(rank, QUESTIONS)?;
            self.lines[rank as usize].add(&burst);
        }
        Ok(())
    }

    /// Read the clock of the next host at work, where that is due. This thread and that host's
    /// answer between them: no worker takes part.
    fn glance(&mut self, group: &mut Group) -> Result<(), FleetError> {
        let at_work = self.at_work();
        let each = GLANCE_EACH.as_nanos() / (at_work.len() as u64).max(1);
        let every = GLANCE_EVERY.max(Duration(each));
        let now = group.now();
        let is_due = now.since(self.glanced.1.max(self.start)) >= every;
        if at_work.is_empty() || self.stage != LeadingStage::Running || !is_due {
            return Ok(());
        }
        let next = at_work.iter().find(|rank| **rank > self.glanced.0);
        let next = next.copied().unwrap_or(at_work[0]);
        let burst = group.glance_at_clock(next, QUESTIONS, now + GLANCE_MAX)?;
        self.lines[next as usize].add(&burst);
        self.glanced = (next, group.now());
        Ok(())
    }

    fn stop(&mut self) {
        if self.stage == LeadingStage::Running {
            self.stage = LeadingStage::Stopped;
            let stop = to_bytes(&Note::Stop);
            let told = self.party.group().note_all(&stop);
            self.lost = self.lost.take().or(told.err());
        }
    }

    /// Take the notes that have come.
    fn take_notes(&mut self, group: &mut Group) -> Result<(), FleetError> {
        while let Some((rank, bytes)) = group.next_note(Instant::START)? {
            match from_bytes(rank, &bytes)? {
                Note::Slots { elapsed, slots } => {
                    let worker = self.workers + rank as usize - 1;
                    if let Some(monitor) = &mut self.monitor {
                        monitor.push(worker, slots, elapsed);
                    }
                }
                Note::Ended => self.ended_early = self.ended_early.or(Some(rank)),
                Note::Go { .. } | Note::CallOff | Note::Stop => {
                    let what = "an order that rank 0 alone gives".into();
                    return Err(FleetError::Unexpected { rank, what });
                }
            }
        }
        Ok(())
    }

    /// What the others found, by rank from 1 on; nothing of those that were lost.
    fn reports(&mut self, party: &Party) -> Vec<Option<Report>> {
        self.stop();
        let mut group = party.group();
        let mut reports: Vec<Option<Report>> = Vec::new();
        match group.gather_living(&[]) {
            Ok((found, lost)) => {
                self.lost = self.lost.take().or(lost);
                for (rank, bytes) in (0..).zip(found).skip(1) {
                    reports.push(bytes.and_then(|it| from_bytes(rank, &it).ok()));
                }
            }
            Err(error) => self.lost = self.lost.take().or(Some(error)),
        }
        let noted = self.take_notes(&mut group);
        let read = if self.lost.is_none() {
            self.read_clocks(&mut group)
        } else {
            Ok(())
        };
        self.lost = self.lost.take().or(noted.and(read).err());
        reports
    }

    /// This rank cannot: the others wait to start, or work, and must not.
    fn give_up(&mut self, party: &Party) {
        match self.stage {
            LeadingStage::CalledOff => {}
            LeadingStage::Ordered => {
                let mut group = party.group();
                let called_off = group
                    .gather_living(&to_bytes(&Readiness::Ok(())))
                    .and_then(|_| group.note_all(&to_bytes(&Note::CallOff)));
                self.lost = self.lost.take().or(called_off.err());
            }
            LeadingStage::Running | LeadingStage::Stopped => {
                self.reports(party);
            }
        }
        if self.lost.is_some() {
            party.lose();
        }
    }

    /// When a rank was done that took so long by its own clock.
    fn end(&self, rank: u32, elapsed: Duration) -> End {
        let (line, begun) = (&self.lines[rank as usize], self.begun[rank as usize]);
        End::of(rank, line, (self.start, begun), elapsed)
    }

    /// How far the clocks can be trusted in a trial that took so long.
    fn trust(&self, elapsed: Duration) -> Trust {
        Trust::of(&self.lines[1..], &self.begun[1..], self.start, elapsed)
    }

    /// How well the hosts worked together, in a sentence or two.
    fn words(&self, party: &Party, mut ends: Vec<End>, trust: &Trust) -> String {
        ends.sort_by(|one, other| one.after_ns.total_cmp(&other.after_ns));
        let (first, last) = (ends[0], ends[ends.len() - 1]);
        format!(
            "{}, {} ranks: {} was done first, after {}, and {} last, {} later. {}; the rates' \
             intervals include that.",
            format_counted(party.machines().len() as u64, "host"),
            party.share().ranks,
            party.name(first.rank),
            first.words(),
            party.name(last.rank),
            last.later_than(&first),
            trust.words(),
        )
    }
}

impl Company for Leading {
    fn share(&self) -> Share {
        self.party.share()
    }

    fn start(&mut self, clock: MonotonicClock, workers: usize) -> Result<Instant, DriverError> {
        let party = self.party.clone();
        let mut group = party.group();
        let refused = |reason: String| DriverError::System {
            operation: "starting all hosts",
            reason,
        };
        let started = self.start_all(&mut group);
        let started = started.map_err(|error| {
            // The others are told by the end of this rank.
            self.stage = LeadingStage::CalledOff;
            let words = refused(self.party.words(&error));
            self.lost = Some(error);
            words
        })?;
        self.start = started.map_err(refused)?;
        self.workers = workers;
        let ranks = group.share().ranks;
        let mut monitor = monitor_of(&self.trial, workers + ranks as usize - 1);
        let at_work = self.at_work();
        for rank in (1..ranks).filter(|rank| !at_work.contains(rank)) {
            let worker = workers + rank as usize - 1;
            monitor.push(worker, Vec::new(), Duration(u64::MAX));
        }
        self.monitor = Some(monitor);
        self.stage = LeadingStage::Running;
        Ok(clock.now() + self.start.since(group.now()))
    }

    fn hear(&mut self, worker: usize, slots: &[Slot], elapsed: Duration) {
        if let Some(monitor) = &mut self.monitor {
            monitor.push(worker, slots.to_vec(), elapsed);
        }
    }

    fn attend(&mut self) {
        let party = self.party.clone();
        let mut group = party.group();
        let went = group
            .tick()
            .and_then(|()| self.glance(&mut group))
            .and_then(|()| self.take_notes(&mut group));
        let silent = group.silent_since(self.start, &self.at_work());
        self.lost = self.lost.take().or(went.err()).or(silent);
    }

    fn decide(&mut self, _own: &mut Monitor, elapsed: Duration) -> Option<Ending> {
        let by_monitor = self.monitor.as_mut().and_then(|it| it.decide(elapsed));
        let ending = if self.lost.is_some() || self.ended_early.is_some() {
            Some(Ending::Failed)
        } else {
            by_monitor
        };
        if ending.is_some() {
            self.ending = ending.clone();
            self.stop();
        }
        ending
    }

    fn shown<'a>(&'a self, own: &'a Monitor) -> &'a Monitor {
        self.monitor.as_ref().unwrap_or(own)
    }
}

/// Processor time of all hosts, in nanoseconds, where each knows its own.
fn cpu_of(rows: &[Measurement]) -> Option<f64> {
    let each = rows.iter();
    let each = each.map(|it| Some(it.cpu?.per_operation_ns * it.completions_all as f64));
    each.sum()
}
