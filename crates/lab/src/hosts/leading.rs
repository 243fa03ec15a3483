//! Rank 0: starts all hosts together, merges their slots while they work, decides, and adds up what
//! they recorded.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::{Clock as _, DriverError, Follower, OnError, Record};
use fleet::{ClockLine, FleetError, Group, Share};
use procedure::{Circumstances, Ending, Monitor, Trial, TrialError, summarise};
use results::{Measurement, Warning};
use stats::Slot;
use sys::MonotonicClock;
use units::{Duration, Instant, format_counted, format_duration_ns};

use super::party::Party;
use super::wire::{Note, Order, Readiness, Report, TrialForm, from_bytes, to_bytes};
use crate::company::Company;
use crate::laboratory::{
    Glimpse, Laboratory, LaboratoryError, Outcome, Watch, cpu_cost, error_name, failure_of,
    monitor_of, trial_seed,
};
use crate::storage::StorageLaboratory;

/// Questions in a burst by which another host's clock is read.
const QUESTIONS: u32 = 16;
/// From "all ready" to the first request: by then all ranks must have heard of it.
const START_AHEAD: Duration = Duration::from_millis(50);
/// The same more for each rank.
const START_AHEAD_EACH: Duration = Duration::from_micros(50);

/// A laboratory of which this host is rank 0.
pub struct FleetLaboratory {
    /// This host's own.
    pub local: StorageLaboratory,
    party: Party,
    seed: u64,
    on_error: OnError,
    rows: Vec<Measurement>,
    notes: Vec<String>,
}

impl FleetLaboratory {
    /// Rank 0's laboratory; `notes` is what its hosts were found to differ in, a sentence each.
    #[must_use]
    pub const fn new(
        local: StorageLaboratory,
        party: Party,
        (seed, on_error): (u64, OnError),
        notes: Vec<String>,
    ) -> Self {
        Self {
            local,
            party,
            seed,
            on_error,
            rows: Vec::new(),
            notes,
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
        let each = self.notes.iter();
        each.map(|text| Warning::note("hosts", text.clone()))
            .collect()
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
        own: (Outcome, Record),
        (mut leading, is_interrupted): (Leading, bool),
    ) -> Result<Outcome, LaboratoryError> {
        let fail = |error: TrialError| LaboratoryError::Trial {
            title: trial.title.clone(),
            error,
        };
        let reports = leading.reports(&self.party);
        let (mut outcome, mut record) = own;
        let mut ends = vec![(outcome.elapsed, 0)];
        let mut failure = leading.lost.as_ref().map(|error| self.lost(error));
        self.rows = vec![self.row(0, outcome.measurement.clone())];
        for (rank, report) in (1..).zip(reports) {
            let Some(report) = report else { continue };
            match self.take_in(rank, &report, &mut record) {
                Ok(has_row) => ends.extend(has_row.then_some((report.elapsed, rank))),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        if let Some(rank) = leading.ended_early.filter(|_| !is_interrupted) {
            let reason = format!("{} stopped by itself", self.party.name(rank));
            failure.get_or_insert(system_error("measuring on all hosts", reason));
        }
        ends.sort_unstable();
        let (first, last) = (ends[0], ends[ends.len() - 1]);
        let Some(mut monitor) = leading.monitor.take() else {
            let reason = "no rank was ready".into();
            return Err(fail(system_error("starting", reason)));
        };
        // Later not all hosts were at work.
        monitor.finish(first.0);
        let circumstances = Circumstances {
            driver: outcome.measurement.driver.clone(),
            workers: self.rows.iter().map(|row| row.workers).sum(),
            seed: trial_seed(self.seed, trial.salt),
            nominal_depth: self.rows.iter().map(|row| row.nominal_depth).sum(),
            elapsed: last.0,
            on_error: trial.on_error(self.on_error),
        };
        let failure = failure
            .or_else(|| failure_of(&record, circumstances.on_error))
            .or(outcome.failure);
        let mut measurement = summarise(trial, &monitor, &record, &circumstances, error_name)
            .map_err(|nothing| fail(failure.clone().unwrap_or(nothing)))?;
        let each = self.rows.iter();
        let cpu = each.map(|it| Some(it.cpu?.per_operation_ns * it.completions_all as f64));
        let cpu: Option<f64> = cpu.sum();
        measurement.cpu = cpu.and_then(|ns| cpu_cost(&measurement, ns as u64, last.0));
        measurement.page_cache_share = share_of_caches(&self.rows);
        self.notes.push(leading.words(&self.party, first, last));
        outcome = Outcome {
            measurement,
            ending: leading.ending.unwrap_or(outcome.ending),
            failure,
            elapsed: last.0,
            series: None,
            within: None,
            ..outcome
        };
        Ok(outcome)
    }

    /// Add what a rank recorded; whether it has a measurement of its own to show.
    fn take_in(
        &mut self,
        rank: u32,
        report: &Report,
        record: &mut Record,
    ) -> Result<bool, TrialError> {
        let name = self.party.name(rank);
        let Some(there) = report.record.record() else {
            return Err(system_error("adding up", format!("{name} sent no record")));
        };
        record.merge(&there);
        let row = report.measurement().map(|row| self.row(rank, row));
        let has_row = row.is_some();
        self.rows.extend(row);
        match &report.failure {
            Some(reason) => Err(system_error(
                "measuring on all hosts",
                format!("{name}: {reason}"),
            )),
            None => Ok(has_row),
        }
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
        match self.local.measure_among(trial, &mut leading, watch) {
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
enum Stage {
    Ordered,
    CalledOff,
    Running,
    Stopped,
}

/// What rank 0 sees of a trial while it runs.
struct Leading {
    party: Party,
    trial: Trial,
    stage: Stage,
    monitor: Option<Monitor>,
    /// Workers of this host.
    workers: usize,
    lines: Vec<ClockLine>,
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
            party: party.clone(),
            trial: trial.clone(),
            stage: Stage::Ordered,
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
                self.stage = Stage::CalledOff;
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
            group.note(rank, &to_bytes(&Note::Go { start }))?;
        }
        Ok(Ok(start))
    }

    fn read_clocks(&mut self, group: &mut Group) -> Result<(), FleetError> {
        for rank in 1..group.share().ranks {
            let reading = group.read_clock(rank, QUESTIONS)?;
            self.lines[rank as usize].add(reading);
        }
        Ok(())
    }

    fn stop(&mut self) {
        if self.stage == Stage::Running {
            self.stage = Stage::Stopped;
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
            Stage::CalledOff => {}
            Stage::Ordered => {
                let mut group = party.group();
                let called_off = group
                    .gather_living(&to_bytes(&Readiness::Ok(())))
                    .and_then(|_| group.note_all(&to_bytes(&Note::CallOff)));
                self.lost = self.lost.take().or(called_off.err());
            }
            Stage::Running | Stage::Stopped => {
                self.reports(party);
            }
        }
        if self.lost.is_some() {
            party.lose();
        }
    }

    /// How well the hosts worked together, in a sentence.
    fn words(&self, party: &Party, first: (Duration, u32), last: (Duration, u32)) -> String {
        let end = self.start + last.0;
        let others = self.lines.iter().skip(1);
        let bound = |at: Instant| others.clone().map(|it| it.ahead(at).1).fold(0.0, f64::max);
        // All start by what was known before; slots are counted from there on each host's clock.
        let drifts = others
            .clone()
            .filter_map(|it| Some(it.drift_ppm()?.0.abs()));
        let drift = drifts.fold(0.0, f64::max);
        let apart = drift * last.0.as_nanos() as f64 / 1e6;
        format!(
            "{}, {} ranks: {} was done first, after {}, and {} last, after {}. Their clocks \
             are known within {} and came {} apart; where slots of hosts are put together, they \
             are that inexact.",
            format_counted(hosts(party), "host"),
            party.share().ranks,
            party.name(first.1),
            first.0,
            party.name(last.1),
            last.0,
            format_duration_ns(bound(self.start).max(bound(end))),
            format_duration_ns(apart),
        )
    }
}

fn hosts(party: &Party) -> u64 {
    let names = (0..party.share().ranks).filter_map(|rank| party.host(rank));
    names.collect::<BTreeSet<_>>().len() as u64
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
            self.stage = Stage::CalledOff;
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
        self.stage = Stage::Running;
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
        let went = group.tick().and_then(|()| self.take_notes(&mut group));
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
