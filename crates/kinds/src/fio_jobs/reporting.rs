//! What goes on while a phase runs: a thread looks at each operation; reports now and then.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use engine::{Follower, RowKey, RowRecord};
use fio::{Job, JobLogs, SteadyReport, SteadyWatch};
use lab::bench::Bench;
use lab::laboratory::Outcome;
use procedure::Ending;
use results::{Warning, WarningCode};
use units::Duration;
use workload::JobSpec;

use super::follow::{LogTo, PhaseLogs, RowTally, SameMoment, Writers};
use super::plan::{FioPlan, JobPhase, PlannedFile};
use super::run::JobTimes;
use super::steady_count::SteadyCount;
use crate::feed::{CompletionFeed, WhenFull};
use crate::session::{Result, Session};

/// Reports while jobs run.
pub struct StatusReports<'a> {
    /// How often.
    pub every: Duration,
    /// Is told what each row has so far.
    pub report: &'a mut dyn FnMut(&[JobTimes]),
}

/// What is written while jobs run.
#[derive(Default)]
pub struct Reporting<'a> {
    /// Logs, and the writer of each by its number.
    pub logs: Vec<LogTo>,
    /// Where lines of logs go.
    pub writers: Vec<&'a mut (dyn Write + Send)>,
    /// Reports while jobs run.
    pub status: Option<StatusReports<'a>>,
}

/// Called now and then with the time since the trial began; returns whether to go on.
pub(super) type Look<'a> = &'a mut dyn FnMut(Duration) -> bool;

/// The same over all phases.
#[derive(Default)]
pub(super) struct PhaseReporter<'a> {
    logs: Vec<LogTo>,
    /// The options of each copy.
    options: Vec<JobLogs>,
    /// Names of all files, by their numbers.
    files: Vec<String>,
    writers: Writers<'a>,
    status: Option<StatusReports<'a>>,
    /// Copies of the phases before.
    copies: usize,
    left_out: u64,
}

impl<'a> PhaseReporter<'a> {
    pub(super) fn new(reporting: Reporting<'a>, jobs: &[Job], plan: &FioPlan) -> Self {
        let options = jobs
            .iter()
            .flat_map(|job| std::iter::repeat_n(&job.reports.logs, job.copies as usize));
        Self {
            logs: reporting.logs,
            options: options.cloned().collect(),
            files: plan.files.iter().map(PlannedFile::name).collect(),
            writers: Writers::new(reporting.writers),
            status: reporting.status,
            copies: 0,
            left_out: 0,
        }
    }

    /// Whether each operation is logged.
    pub(super) const fn has_logs(&self) -> bool {
        !self.logs.is_empty()
    }

    /// Run `measure`, and what is written meanwhile; `before` is what rows had before this phase.
    pub(super) fn run(
        &mut self,
        phase: &JobPhase,
        before: &[JobTimes],
        session: &mut Session<'_>,
        measure: impl FnOnce(&mut Session<'_>, Look<'_>) -> Result<Outcome>,
    ) -> Result<(Outcome, Option<SteadyReport>)> {
        let first = self.copies;
        self.copies += phase.workloads.len();
        if self.logs.is_empty() && self.status.is_none() && phase.steady.is_none() {
            return Ok((measure(session, &mut |_| true)?, None));
        }
        let feed = Arc::new(CompletionFeed::new(match session.bench {
            // Its time stands still while nothing is measured.
            Bench::Simulated(_) => WhenFull::Wait,
            _ => WhenFull::LeaveOut,
        }));
        let is_fed = !self.logs.is_empty() || self.status.is_some();
        let next = is_fed.then(|| Arc::clone(&feed) as Arc<dyn Follower>);
        let count = phase
            .steady
            .map(|_| SteadyCount::new(&phase.workloads, next.clone()));
        let count = count.map(Arc::new);
        let counting = count.clone().map(|count| count as Arc<dyn Follower>);
        session.bench.laboratory().follow(counting.or(next));
        let moment = SameMoment {
            clock: session.now(),
            unix_ms: unix_ms(),
        };
        let workloads = (phase.workloads.as_slice(), first);
        let mut logs = PhaseLogs::new(workloads, (&self.options, &self.files), &self.logs, moment);
        let tally = self
            .status
            .is_some()
            .then(|| RowTally::new(&phase.workloads));
        let writers = &mut self.writers;
        let mut watch = PhaseWatch::new(phase, before, self.status.as_mut());
        let measured = std::thread::scope(|scope| {
            let follower = scope.spawn(|| {
                feed.drain(|start, done| {
                    if let Some(tally) = &tally {
                        tally.add(start, done);
                    }
                    logs.add(start, done, writers);
                });
            });
            let measured = measure(session, &mut |elapsed| {
                watch.report(elapsed, tally.as_ref(), &feed);
                count
                    .as_ref()
                    .is_none_or(|count| watch.goes_on(elapsed, count))
            });
            self.left_out += feed.close();
            if let Err(panic) = follower.join() {
                std::panic::resume_unwind(panic);
            }
            measured
        });
        session.bench.laboratory().follow(None);
        if let Ok(outcome) = &measured {
            let is_whole = outcome.ending == Ending::Finished;
            logs.finish(is_whole, &mut self.writers);
        }
        Ok((measured?, watch.steady.map(|steady| steady.report())))
    }

    /// What is missing.
    pub(super) fn warning(&self) -> Option<Warning> {
        let left_out = self.left_out;
        (left_out > 0).then(|| {
            Warning::warn(
                WarningCode::LogIncomplete,
                format!(
                    "{left_out} operations are in no log and no report on the way. They were done \
                     faster than those could be written. The results hold all of them."
                ),
            )
            .advise("Set log_avg_msec, or put the logs on faster storage.")
        })
    }

    /// The writer that failed first, and why.
    pub(super) fn log_error(&self) -> Option<(usize, String)> {
        let (writer, error) = self.writers.error()?;
        Some((*writer, error.to_string()))
    }
}

/// What is done with what a phase did so far.
struct PhaseWatch<'w, 's> {
    before: &'w [JobTimes],
    status: Option<&'w mut StatusReports<'s>>,
    /// How many reports there were, or would have been.
    reports: u64,
    steady: Option<SteadyWatch>,
    /// From the trial's start to the first moment that is recorded.
    begun: Duration,
}

impl<'w, 's> PhaseWatch<'w, 's> {
    fn new(
        phase: &JobPhase,
        before: &'w [JobTimes],
        status: Option<&'w mut StatusReports<'s>>,
    ) -> Self {
        let begun = phase.workloads.iter().map(JobSpec::recorded_from);
        Self {
            before,
            status,
            reports: 0,
            steady: phase.steady.map(SteadyWatch::new),
            begun: begun.min().unwrap_or_default(),
        }
    }

    /// Report what is due.
    fn report(&mut self, elapsed: Duration, tally: Option<&RowTally>, feed: &CompletionFeed) {
        let status = self.status.as_mut();
        let due = status.filter(|status| elapsed >= status.every * (self.reports + 1));
        if let (Some(status), Some(tally)) = (due, tally) {
            self.reports = elapsed.as_nanos() / status.every.as_nanos();
            feed.settle();
            (status.report)(&so_far(self.before, &tally.records(elapsed)));
        }
    }

    /// Whether the phase goes on: it is not steady yet.
    fn goes_on(&mut self, elapsed: Duration, count: &SteadyCount) -> bool {
        let own = elapsed.saturating_sub(self.begun);
        let steady = self.steady.as_mut();
        let due = steady.filter(|it| elapsed >= self.begun && it.is_due(own));
        due.is_none_or(|steady| !steady.look(own, count.totals()))
    }
}

fn so_far(before: &[JobTimes], now: &BTreeMap<RowKey, RowRecord>) -> Vec<JobTimes> {
    let mut rows = before.to_vec();
    for ((row, kind), record) in now {
        let records = &mut rows[*row as usize].records;
        records.entry(*kind).or_default().merge(record);
    }
    rows
}

fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}
