//! Rank 0: starts all hosts together, merges their slots while they work, decides, and adds up
//! their records.

use std::sync::Arc;

use engine::{DriverError, Follower, OnError, Record, RowKey, RowRecord};
use fleet::{ClientShare, FleetError};
use procedure::{Circumstances, Ending, OwnDeviceWork, Standstill, Trial, TrialError, summarise};
use results::{Measurement, Warning};
use std::collections::BTreeMap;
use std::mem;
use units::{Duration, Instant};
use workload::ClientSpec;

use super::leading::Leading;
use super::log::HostsLog;
use super::neighbours::{RankRow, judge_machines, machine_notes};
use super::ranks::Ranks;
use super::step::take_step;
use super::times::{HostEnd, widened};
use super::void_hosts::void_hosts;
use super::wire::{HostStep, RankCommand, RankReport, Readiness, Scope, from_bytes, to_bytes};
use crate::bench::{BenchError, HostReach};
use crate::laboratory::{
    Glimpse, Laboratory, LaboratoryError, Outcome, Watch, cpu_cost, error_name, failure_of,
    trial_seed, with_causes,
};
use crate::storage::{PartialTrial, StorageLaboratory};

/// Name of the only trial of a run, whose host rows need no other name.
const ONLY_TRIAL: &str = "trial";

/// A laboratory with this host as rank 0.
pub struct FleetLaboratory {
    /// This host's own laboratory.
    pub local: StorageLaboratory,
    ranks: Ranks,
    seed: u64,
    on_error: OnError,
    rows: Vec<Measurement>,
    by_rank: Vec<HostRows>,
    own_reports: Vec<(u32, Vec<u8>)>,
    log: HostsLog,
}

/// Workloads of a trial on one rank.
#[derive(Clone, Debug)]
pub struct HostRows {
    pub rank: u32,
    /// Times by workload.
    pub rows: BTreeMap<RowKey, RowRecord>,
}

impl FleetLaboratory {
    /// Rank 0's laboratory; `notes` are the differences between hosts, a sentence each.
    pub fn new(
        local: StorageLaboratory,
        ranks: Ranks,
        (seed, on_error): (u64, OnError),
        notes: Vec<String>,
    ) -> Self {
        Self {
            log: HostsLog::new(ranks.share().ranks, notes),
            local,
            ranks,
            seed,
            on_error,
            rows: Vec::new(),
            by_rank: Vec::new(),
            own_reports: Vec::new(),
        }
    }

    /// The ranks.
    pub const fn ranks(&self) -> &Ranks {
        &self.ranks
    }

    /// Measurements of each host in the last trial.
    pub fn take_rows(&mut self) -> Vec<Measurement> {
        mem::take(&mut self.rows)
    }

    /// Workloads of the last trial on each host, if it had several.
    pub fn take_host_rows(&mut self) -> Vec<HostRows> {
        mem::take(&mut self.by_rank)
    }

    /// Reports of each other rank on the last trial, in the form of the kind.
    pub fn take_reports(&mut self) -> Vec<(u32, Vec<u8>)> {
        mem::take(&mut self.own_reports)
    }

    /// Warnings about the hosts.
    pub fn warnings(&self) -> Vec<Warning> {
        self.log.warnings(&self.ranks)
    }

    /// Has the other ranks remove their files and part. Returns what could not be removed, a
    /// sentence each.
    pub fn dismiss(&mut self) -> Vec<String> {
        if self.ranks.has_parted() {
            return Vec::new();
        }
        self.ranks.part();
        let order = to_bytes(&RankCommand::Part);
        let answers = self.ranks.round(|group| {
            group.broadcast(&order)?;
            group.gather_living(&to_bytes(&String::new()))
        });
        let Ok((answers, lost)) = answers else {
            return Vec::new();
        };
        let mut left = Vec::new();
        if let Some(error) = lost {
            self.ranks.lose();
            left.push(format!(
                "{}: its files may still be there",
                self.ranks.words(&error)
            ));
        }
        for (rank, bytes) in (0..).zip(answers) {
            let text: Option<String> = bytes.and_then(|it| from_bytes(rank, &it).ok());
            let text = text.filter(|text| !text.is_empty());
            left.extend(text.map(|text| format!("{}: {text}", self.ranks.name(rank))));
        }
        left
    }

    /// Has all hosts take a step.
    ///
    /// # Errors
    /// If one cannot.
    pub fn take_step(&mut self, step: HostStep) -> Result<(), LaboratoryError> {
        let ranks = self.ranks.clone();
        let host_error = |error: BenchError| LaboratoryError::Host(error.reason());
        let order = to_bytes(&RankCommand::Step(step));
        ranks
            .round(|group| group.broadcast(&order))
            .map_err(host_error)?;
        let own = ranks.beating(|| take_step(&mut self.local, step));
        let taken: Readiness = own.map_err(|error| with_causes(&error));
        let all = ranks.round(|group| group.gather(&to_bytes(&taken)));
        for (rank, bytes) in (0..).zip(all.map_err(host_error)?) {
            let taken = ranks.checked(from_bytes::<Readiness>(rank, &bytes));
            if let Err(reason) = taken.map_err(host_error)? {
                let name = ranks.name(rank);
                return Err(LaboratoryError::Host(format!("{name}: {reason}")));
            }
        }
        Ok(())
    }

    /// Runs a trial on all hosts.
    ///
    /// # Errors
    /// If one of them cannot.
    pub fn measure_as(
        &mut self,
        reach: HostReach,
        trial: &Trial,
        watch: Watch<'_>,
    ) -> Result<Outcome, LaboratoryError> {
        match reach {
            HostReach::Shared | HostReach::Unkept => self.measure(trial, watch),
            HostReach::Each => self.measure_in(Scope::Each, trial, watch),
            HostReach::Leaving => {
                // A trial that leaves content behind is not a result.
                let log = self.log.clone();
                let measured = self.measure_in(Scope::Each, trial, watch);
                self.log = log;
                self.rows.clear();
                self.by_rank.clear();
                measured
            }
        }
    }

    /// Runs a trial on all hosts.
    fn measure_in(
        &mut self,
        scope: Scope,
        trial: &Trial,
        watch: Watch<'_>,
    ) -> Result<Outcome, LaboratoryError> {
        let order = match trial.spec {
            ClientSpec::Jobs(_) | ClientSpec::Own(_) => RankCommand::Listed(trial.salt, scope),
            _ => RankCommand::Measure(Box::new(trial.clone()), scope),
        };
        let order = to_bytes(&order);
        let ordered = self.ranks.round(|group| group.broadcast(&order));
        ordered.map_err(|error| {
            let error = system_error("starting all hosts", error.reason());
            LaboratoryError::of(trial, error)
        })?;
        let whole = scope.whole(trial, self.ranks.share().ranks);
        let mut leading = Leading::new(&self.ranks, &whole, scope);
        let own = self.ranks.own_part(trial);
        self.own_reports.clear();
        match self.local.measure_among(&own, &mut leading, watch) {
            Ok(own) => {
                if own.outcome.ending == Ending::Finished {
                    leading.wait_for_others(watch);
                }
                let is_interrupted = !watch(&Glimpse::default());
                self.add_up(&whole, own, (leading, is_interrupted))
            }
            Err(error) => {
                leading.give_up(&self.ranks);
                Err(error)
            }
        }
    }

    /// Adds up the results of all ranks.
    fn add_up(
        &mut self,
        trial: &Trial,
        own: PartialTrial,
        (mut leading, is_interrupted): (Leading, bool),
    ) -> Result<Outcome, LaboratoryError> {
        let fail = |error: TrialError| LaboratoryError::of(trial, error);
        let reports = leading.reports(&self.ranks);
        let PartialTrial {
            outcome,
            mut record,
            own,
        } = own;
        let mut ends = vec![HostEnd::of_leader(outcome.elapsed)];
        let mut elapsed = (outcome.elapsed, outcome.elapsed);
        let mut failure = leading.lost.as_ref().map(|error| self.lost(error));
        let mut rows = vec![self.own_row(&outcome, own, &record)];
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
        // After that, not all hosts were at work, unless their schedule left them idle.
        let is_on_schedule = matches!(trial.spec, ClientSpec::Own(_)) && trial.offered().is_some();
        monitor.finish(if is_on_schedule { last } else { first });
        let circumstances = Circumstances {
            driver: outcome.measurement.driver.clone(),
            workers: self.rows.iter().map(|row| row.workers).sum(),
            seed: trial_seed(self.seed, trial.salt),
            nominal_depth: self.rows.iter().map(|row| row.nominal_depth).sum(),
            elapsed: last,
            on_error: trial.on_error(self.on_error),
            standstill: Standstill::default(),
        };
        let own_failure = || failure_of(&record, circumstances.on_error);
        let failure = failure.or_else(own_failure).or(outcome.failure);
        let mut measurement = summarise(trial, &monitor, &record, &circumstances, error_name)
            .map_err(|nothing| fail(failure.clone().unwrap_or(nothing)))?;
        self.add_costs(&mut measurement, last);
        measurement.started_at = outcome.measurement.started_at;
        let invalid = void_hosts(&measurement, &self.rows);
        measurement.warnings.extend(invalid);
        self.trust_clocks(&leading, &mut measurement, (ends, last));
        Ok(Outcome {
            measurement,
            ending: leading.ending.unwrap_or(outcome.ending),
            failure,
            elapsed: last,
            series: None,
            within: monitor.within_limit(),
            units: record.units,
            rows: record.rows,
            intervals: monitor.intervals(),
            model_cpu_ns: None,
        })
    }

    /// Adds the CPU and page-cache use of the hosts.
    fn add_costs(&self, measurement: &mut Measurement, elapsed: Duration) {
        let cpu = cpu_of(&self.rows);
        measurement.cpu = cpu.and_then(|ns| cpu_cost(measurement, ns as u64, elapsed));
        measurement.page_cache_share = share_of_caches(&self.rows);
    }

    /// Widens rates for clock errors, and records when each host finished.
    fn trust_clocks(
        &mut self,
        leading: &Leading,
        measurement: &mut Measurement,
        (ends, last): (Vec<HostEnd>, Duration),
    ) {
        let trust = leading.trust(last);
        let error = trust.rate_error(last);
        measurement.throughput = widened(&measurement.throughput, error);
        measurement.bandwidth = measurement.bandwidth.map(|it| widened(&it, error));
        let words = leading.words(&self.ranks, &ends, &trust);
        self.log.add(&ends, trust, words);
        if leading.scope() == Scope::Each {
            self.log.note_each();
        }
    }

    /// Notes that a rank ended the trial, unless a signal did.
    fn stopped_early(&self, rank: Option<u32>, is_interrupted: bool) -> Option<TrialError> {
        let name = self.ranks.name(rank.filter(|_| !is_interrupted)?);
        let reason = format!("{name} stopped on its own");
        Some(system_error("measuring on all hosts", reason))
    }

    /// Adds warnings about background I/O to the rows, and keeps them.
    fn judge_rows(&mut self, mut rows: Vec<RankRow>, trial: &Trial, at_work: &[u32]) {
        let ClientShare { ranks, .. } = self.ranks.share();
        let idle: Vec<u32> = (1..ranks).filter(|rank| !at_work.contains(rank)).collect();
        let how = (trial, self.local.neighbours());
        judge_machines(&mut rows, &self.ranks.machines(), &idle, how);
        self.log.begin(machine_notes(&rows, &self.ranks));
        self.rows = rows.into_iter().map(|row| row.measurement).collect();
        for row in self.rows.iter_mut().filter(|_| trial.name != ONLY_TRIAL) {
            row.name = format!("{}-{}", trial.name, row.name);
            row.title = format!("{}: {}", trial.title, row.title);
        }
    }

    /// Adds the record of a rank. Returns its row, if any, and the reason if it failed.
    fn take_in(
        &mut self,
        rank: u32,
        report: RankReport,
        record: &mut Record,
    ) -> (Option<RankRow>, Option<TrialError>) {
        let name = self.ranks.name(rank);
        record.merge(&report.record);
        self.keep_rows(rank, &report.record);
        self.own_reports.push((rank, report.own_report));
        let row = report.row.map(|row| RankRow {
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

    /// This host's own row of a trial.
    fn own_row(
        &mut self,
        outcome: &Outcome,
        own: Option<OwnDeviceWork>,
        record: &Record,
    ) -> RankRow {
        self.by_rank.clear();
        self.keep_rows(0, record);
        RankRow {
            rank: 0,
            measurement: self.row(0, outcome.measurement.clone()),
            own,
            elapsed: outcome.elapsed,
        }
    }

    fn keep_rows(&mut self, rank: u32, record: &Record) {
        let rows = record.rows.clone();
        if !rows.is_empty() {
            self.by_rank.push(HostRows { rank, rows });
        }
    }

    /// A host's own measurement under its own name.
    fn row(&self, rank: u32, measurement: Measurement) -> Measurement {
        Measurement {
            name: format!("rank-{rank}"),
            title: self.ranks.name(rank),
            ..measurement
        }
    }

    fn lost(&self, error: &FleetError) -> TrialError {
        self.ranks.lose();
        let reason = self.ranks.words(error);
        system_error("waiting for all hosts", reason)
    }
}

impl Laboratory for FleetLaboratory {
    fn measure(&mut self, trial: &Trial, watch: Watch<'_>) -> Result<Outcome, LaboratoryError> {
        self.measure_in(Scope::Dealt, trial, watch)
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

/// Page-cache share of all bytes, if every host knows its own.
fn share_of_caches(rows: &[Measurement]) -> Option<f64> {
    let bytes: u64 = rows.iter().map(|it| it.bytes_all).sum();
    let each = rows
        .iter()
        .filter(|it| it.bytes_all > 0)
        .map(|it| Some(it.page_cache_share? * it.bytes_all as f64));
    let answered: Option<f64> = each.sum();
    answered
        .filter(|_| bytes > 0)
        .map(|answered| answered / bytes as f64)
}

/// CPU time of all hosts, in nanoseconds, if each knows its own.
fn cpu_of(rows: &[Measurement]) -> Option<f64> {
    let each = rows.iter().filter(|it| it.completions_all > 0);
    let each = each.map(|it| Some(it.cpu?.per_operation_ns * it.completions_all as f64));
    each.sum()
}
