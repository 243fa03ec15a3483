//! What is done with each operation while it is measured: lines of fio's logs, and times so
//! far. A thread of its own does it; the workers only hand over what was done.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use engine::{Membership, RowKey, RowRecord, RowTimes};
use fio::{JobLog, JobLogs, LogKind, LoggedOp};
use units::{Duration, Instant};
use workload::{Completion, JobSpec, Op};

use super::request_log::RequestLog;

/// A log of one copy, and the writer that its lines go to.
#[derive(Clone, Copy, Debug)]
pub struct LogTo {
    /// The copy, counted over all jobs.
    pub copy: usize,
    /// What it holds.
    pub kind: LogKind,
    /// The writer's number.
    pub writer: usize,
}

/// The same moment on the laboratory's clock and on the calendar.
#[derive(Clone, Copy, Debug)]
pub(super) struct SameMoment {
    pub clock: Instant,
    /// Milliseconds since 1970.
    pub unix_ms: u64,
}

impl SameMoment {
    fn unix_ms_at(self, instant: Instant) -> u64 {
        self.unix_ms + instant.since(self.clock).as_nanos() / NS_PER_MS
    }
}

const NS_PER_MS: u64 = 1_000_000;

/// Times by row while a phase runs.
pub(super) struct RowTally {
    members: Vec<TallyMember>,
    rows: Mutex<Option<(Instant, RowTimes)>>,
}

/// A copy of a job; times are from the trial's start.
struct TallyMember {
    row: u32,
    /// The first moment that is recorded.
    from: Duration,
    /// The end of a job that goes on until then.
    until: Option<Duration>,
}

/// How long a job runs that nothing but time ends.
fn time_alone(job: &JobSpec) -> Option<Duration> {
    let runtime = job.runtime?;
    (job.bytes.is_none() && job.requests.is_none()).then_some(runtime)
}

impl RowTally {
    pub(super) fn new(workloads: &[JobSpec]) -> Self {
        let member = |job: &JobSpec| TallyMember {
            row: job.row,
            from: job.recorded_from(),
            until: time_alone(job).map(|runtime| job.recorded_from() + runtime),
        };
        Self {
            members: workloads.iter().map(member).collect(),
            rows: Mutex::default(),
        }
    }

    pub(super) fn add(&self, start: Instant, done: &[Completion]) {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, rows) = rows.get_or_insert_with(|| {
            let member = |it: &TallyMember| Membership {
                row: it.row,
                from: start + it.from,
            };
            let members = self.members.iter().map(member).collect();
            (start, RowTimes::new(start, members))
        });
        for done in done {
            let moved = done.result.unwrap_or(0);
            rows.record(done, done.request.client.0 as usize, moved);
        }
    }

    /// What was done in that time from the start.
    pub(super) fn records(&self, elapsed: Duration) -> BTreeMap<RowKey, RowRecord> {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((start, rows)) = rows.as_mut() else {
            return BTreeMap::new();
        };
        for (index, member) in self.members.iter().enumerate() {
            if let Some(until) = member.until {
                rows.note_left(index, *start + elapsed.min(until));
            }
        }
        rows.records()
    }
}

/// The logs of a phase's copies.
pub(super) struct PhaseLogs {
    copies: Vec<CopyLogs>,
    moment: SameMoment,
}

/// The logs of one copy.
struct CopyLogs {
    options: JobLogs,
    /// From the trial's start to the first moment that is logged.
    from: Duration,
    /// From there to the end of a job that goes on until then.
    runtime: Option<Duration>,
    writers: Vec<(LogKind, usize)>,
    log: Option<JobLog>,
    requests: Option<RequestLog>,
    last: Duration,
}

impl PhaseLogs {
    /// For the workloads of a phase, whose first one has the number `first` among all copies.
    /// `options` has those of each copy, and `files` the names of all files.
    pub(super) fn new(
        (workloads, first): (&[JobSpec], usize),
        (options, files): (&[JobLogs], &[String]),
        to: &[LogTo],
        moment: SameMoment,
    ) -> Self {
        let copy = |(number, job): (usize, &JobSpec)| {
            let own = to.iter().filter(|it| it.copy == first + number);
            let is_requests = |it: &LogTo| it.kind == LogKind::Requests;
            let mut requests = own.clone().copied().filter(is_requests);
            CopyLogs {
                options: options[first + number].clone(),
                from: job.recorded_from(),
                runtime: time_alone(job),
                writers: own.map(|it| (it.kind, it.writer)).collect(),
                log: None,
                requests: requests.next().and_then(|_| RequestLog::new(job, files)),
                last: Duration::ZERO,
            }
        };
        Self {
            copies: workloads.iter().enumerate().map(copy).collect(),
            moment,
        }
    }

    pub(super) fn add(&mut self, start: Instant, done: &[Completion], writers: &mut Writers<'_>) {
        for done in done {
            let copy = self.copies.get_mut(done.request.client.0 as usize);
            let Some(copy) = copy.filter(|copy| !copy.writers.is_empty()) else {
                continue;
            };
            if let Some(requests) = &mut copy.requests {
                requests.add(start, done);
                let lines = requests.take_lines();
                writers.write(&copy.writers, LogKind::Requests, &lines);
            }
            let from = start + copy.from;
            let Some(mut op) = logged(done, from) else {
                continue;
            };
            // As in the report, times of a rate count from when a request is sent.
            if copy.options.has_rate {
                op.submission = Duration::ZERO;
            }
            copy.last = op.at.max(copy.last);
            let moment = self.moment;
            let log = copy
                .log
                .get_or_insert_with(|| JobLog::new(&copy.options, moment.unix_ms_at(from)));
            log.add(&op, &mut |kind, line| {
                writers.write(&copy.writers, kind, line);
            });
        }
    }

    /// The phase has ended: by itself, or it was cut short.
    pub(super) fn finish(self, is_whole: bool, writers: &mut Writers<'_>) {
        for mut copy in self.copies {
            if let Some(requests) = copy.requests.take() {
                let lines = requests.finish();
                writers.write(&copy.writers, LogKind::Requests, &lines);
            }
            let Some(log) = &mut copy.log else { continue };
            let runtime = copy.runtime.filter(|_| is_whole);
            let ended = runtime.unwrap_or(copy.last).max(copy.last);
            log.finish(ended, &mut |kind, line| {
                writers.write(&copy.writers, kind, line);
            });
        }
    }
}

/// A read, write or trim that was recorded; `from` is when the record begins.
fn logged(done: &Completion, from: Instant) -> Option<LoggedOp> {
    let (direction, offset, len) = match done.request.op {
        Op::Read { offset, len, .. } => (0, offset, len),
        Op::Write { offset, len, .. } => (1, offset, len),
        Op::Trim { offset, len, .. } => (2, offset, len),
        _ => return None,
    };
    (done.completed >= from).then(|| LoggedOp {
        priority: done.request.priority.0,
        at: done.completed.since(from),
        issued: done.issued.since(from),
        direction,
        offset,
        len,
        submission: done.lateness(),
        completion: done.service_time(),
    })
}

/// Where lines go. After an error nothing more is written.
#[derive(Default)]
pub(super) struct Writers<'a> {
    all: Vec<&'a mut (dyn Write + Send)>,
    error: Option<(usize, io::Error)>,
}

impl<'a> Writers<'a> {
    pub(super) const fn new(all: Vec<&'a mut (dyn Write + Send)>) -> Self {
        Self { all, error: None }
    }

    fn write(&mut self, to: &[(LogKind, usize)], kind: LogKind, line: &str) {
        let mut own = to.iter().filter(|(its, _)| *its == kind);
        let Some((_, writer)) = own.next() else {
            return;
        };
        if self.error.is_some() {
            return;
        }
        if let Err(error) = self.all[*writer].write_all(line.as_bytes()) {
            self.error = Some((*writer, error));
        }
    }

    /// The first writer that failed, and how.
    pub(super) const fn error(&self) -> Option<&(usize, io::Error)> {
        self.error.as_ref()
    }
}
