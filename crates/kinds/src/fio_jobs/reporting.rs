//! What runs beside a phase: the thread that looks at each operation, and reports now and then.

use std::io::Write;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use engine::Follower;
use fio::{Job, Logs};
use lab::bench::BenchError;
use lab::laboratory::Outcome;
use procedure::Ending;
use results::{Warning, WarningCode};
use units::Duration;

use super::follow::{LogTo, PhaseLogs, SameMoment, Tally, Writers};
use super::opened::Bench;
use super::plan::Phase;
use super::run::JobTimes;
use crate::feed::{Feed, WhenFull};

/// Reports while jobs run.
pub struct Status<'a> {
    /// How often.
    pub every: Duration,
    /// Is told what each row has so far.
    pub tell: &'a mut dyn FnMut(&[JobTimes]),
}

/// What is done beside the measurement.
#[derive(Default)]
pub struct Beside<'a> {
    /// Logs, and the writer of each by its number.
    pub logs: Vec<LogTo>,
    /// Where lines of logs go.
    pub writers: Vec<&'a mut (dyn Write + Send)>,
    /// Reports while jobs run.
    pub status: Option<Status<'a>>,
}

/// The same over all phases.
#[derive(Default)]
pub(super) struct Besides<'a> {
    logs: Vec<LogTo>,
    /// The options of each copy.
    options: Vec<Logs>,
    writers: Writers<'a>,
    status: Option<Status<'a>>,
    /// Copies of the phases before.
    copies: usize,
    left_out: u64,
}

impl<'a> Besides<'a> {
    pub(super) fn new(beside: Beside<'a>, jobs: &[Job]) -> Self {
        let options = jobs
            .iter()
            .flat_map(|job| std::iter::repeat_n(&job.reports.logs, job.copies as usize));
        Self {
            logs: beside.logs,
            options: options.cloned().collect(),
            writers: Writers::new(beside.writers),
            status: beside.status,
            copies: 0,
            left_out: 0,
        }
    }

    /// Whether each operation is logged.
    pub(super) const fn has_logs(&self) -> bool {
        !self.logs.is_empty()
    }

    /// Run `measure`, and what belongs beside it; `before` is what rows had before this phase.
    pub(super) fn run(
        &mut self,
        phase: &Phase,
        before: &[JobTimes],
        bench: &mut Bench,
        measure: impl FnOnce(&mut Bench, &mut dyn FnMut(Duration)) -> Result<Outcome, BenchError>,
    ) -> Result<Outcome, BenchError> {
        let first = self.copies;
        self.copies += phase.workloads.len();
        if self.logs.is_empty() && self.status.is_none() {
            return measure(bench, &mut |_| {});
        }
        let feed = Arc::new(Feed::new(match bench.is_virtual() {
            true => WhenFull::Wait,
            false => WhenFull::LeaveOut,
        }));
        bench
            .laboratory()
            .follow(Some(Arc::clone(&feed) as Arc<dyn Follower>));
        let moment = SameMoment {
            clock: bench.laboratory().now(),
            unix_ms: unix_ms(),
        };
        let workloads = (phase.workloads.as_slice(), first);
        let mut logs = PhaseLogs::new(workloads, &self.options, &self.logs, moment);
        let tally = self.status.is_some().then(|| Tally::new(&phase.workloads));
        let writers = &mut self.writers;
        let mut status = self.status.as_mut();
        let mut reports = 0;
        let measured = std::thread::scope(|scope| {
            let follower = scope.spawn(|| {
                feed.drain(|start, done| {
                    if let Some(tally) = &tally {
                        tally.add(start, done);
                    }
                    logs.add(start, done, writers);
                });
            });
            let measured = measure(bench, &mut |elapsed| {
                let (Some(status), Some(tally)) = (&mut status, &tally) else {
                    return;
                };
                if elapsed < status.every * (reports + 1) {
                    return;
                }
                reports = elapsed.as_nanos() / status.every.as_nanos();
                feed.settle();
                (status.tell)(&so_far(before, tally));
            });
            self.left_out += feed.close();
            if let Err(panic) = follower.join() {
                std::panic::resume_unwind(panic);
            }
            measured
        });
        bench.laboratory().follow(None);
        if let Ok(outcome) = &measured {
            let is_whole = outcome.ending == Ending::Finished;
            logs.finish(is_whole, &mut self.writers);
        }
        measured
    }

    /// What is missing.
    pub(super) fn warning(&self) -> Option<Warning> {
        let left_out = self.left_out;
        (left_out > 0).then(|| {
            Warning::doubt(
                WarningCode::LogIncomplete,
                format!(
                    "{left_out} operations are in no log and no report on the way: lines were \
                     asked for faster than they could be written. The results hold all of them."
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

fn so_far(before: &[JobTimes], tally: &Tally) -> Vec<JobTimes> {
    let mut rows = before.to_vec();
    for ((row, kind), record) in tally.records() {
        let records = &mut rows[row as usize].records;
        records.entry(kind).or_default().merge(&record);
    }
    rows
}

fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}
