//! The client that asks for what a trace recorded.
//!
//! On a schedule each request is due at its recorded instant, whatever the storage does: what it
//! waits before it is issued is in its latency. A trace that comes too slowly from its file is our
//! own limit: what it held up is due when it came.

use std::sync::{Arc, Mutex, PoisonError};

use lab::bench::BenchError;
use results::{ReplayLag, ReplayPace};
use serde::{Deserialize, Serialize};
use stats::Histogram;
use units::{Duration, Instant};
use workload::{AddressError, Agenda, Client, Completion, Event, MakeClient};

use super::hosts;
use super::source::{Next, RequestSource};

/// Requests that are due and not done, at most: further ones keep their due instants.
const OUTSTANDING_MAX: u32 = 16_384;
/// From one look at an empty buffer to the next.
const LOOK_AGAIN: Duration = Duration::from_micros(200);

/// What was seen of a replay.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ReplayCounts {
    /// Requests done, failed ones included, and bytes they moved.
    pub requests: u64,
    pub bytes: u64,
    /// From due to issued, nanoseconds.
    pub behind: Histogram,
    pub late: u64,
    /// From the start to the last due instant, and to the last issue.
    pub last_due: Duration,
    pub last_issued: Duration,
    pub moved: u64,
    pub left_out: u64,
    /// Requests that came from the trace's file after they were due, and by how much at most.
    pub held: u64,
    pub held_longest: Duration,
    /// Why the trace could not be read to its end.
    #[serde(skip)]
    pub broken: Option<BenchError>,
}

impl ReplayCounts {
    /// Add what was seen on another host.
    pub fn merge(&mut self, other: &Self) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.behind.merge(&other.behind);
        self.late += other.late;
        self.last_due = self.last_due.max(other.last_due);
        self.last_issued = self.last_issued.max(other.last_issued);
        self.moved += other.moved;
        self.left_out += other.left_out;
        self.held += other.held;
        self.held_longest = self.held_longest.max(other.held_longest);
    }

    /// How far behind the schedule its requests were.
    pub fn behind(&self) -> ReplayLag {
        let quantile = |p| quantile_of_all(&self.behind, p);
        ReplayLag {
            mean_ns: self.behind.mean(),
            p50_ns: quantile(0.5),
            p99_ns: quantile(0.99),
            longest_ns: self.behind.max(),
            late_share: self.late as f64 / self.requests.max(1) as f64,
        }
    }
}

/// The time within which a share of all requests lies. These are all there are, no sample.
fn quantile_of_all(times: &Histogram, share: f64) -> u64 {
    let wanted = (share * times.len() as f64).ceil() as u64;
    let mut counted = 0;
    let mut buckets = times.iter_recorded();
    let bucket = buckets.find(|bucket| {
        counted += bucket.count;
        counted >= wanted
    });
    bucket.map_or(0, |bucket| bucket.high.min(times.max()))
}

/// Makes the one client of a replay.
#[derive(Debug)]
pub(super) struct MakeReplay {
    pub pace: ReplayPace,
    pub source: Mutex<Option<RequestSource>>,
    pub seen: Arc<Mutex<ReplayCounts>>,
}

impl MakeClient for MakeReplay {
    fn client(&self, _: u64, _: u32, _: u32) -> Result<Box<dyn Client>, AddressError> {
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        let source = source.take().ok_or_else(|| AddressError::Unmade {
            kind: super::run::KIND.into(),
        })?;
        Ok(Box::new(ReplayClient {
            pace: self.pace,
            source,
            start: Instant::START,
            outstanding: 0,
            armed: None,
            is_starved: false,
            not_before: Instant::START,
            seen: ReplayCounts::default(),
            shared: Arc::clone(&self.seen),
        }))
    }

    fn report(&self) -> Vec<u8> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        hosts::encoded(&seen)
    }
}

struct ReplayClient {
    pace: ReplayPace,
    source: RequestSource,
    start: Instant,
    /// Requests asked for and not done.
    outstanding: u32,
    /// When its timer fires next.
    armed: Option<Instant>,
    is_starved: bool,
    /// When what was late from the file came.
    not_before: Instant,
    seen: ReplayCounts,
    shared: Arc<Mutex<ReplayCounts>>,
}

impl Client for ReplayClient {
    fn on_event(&mut self, event: Event<'_>, agenda: &mut Agenda) {
        let now = match event {
            Event::Started { at } => {
                (self.start, self.not_before) = (at, at);
                at
            }
            Event::Due { at } => {
                if self.armed == Some(at) {
                    self.armed = None;
                }
                at
            }
            Event::Completed(done) => {
                self.note(done);
                done.completed
            }
        };
        self.ask(now, agenda);
    }
}

impl ReplayClient {
    fn note(&mut self, done: &Completion) {
        let seen = &mut self.seen;
        self.outstanding -= 1;
        seen.requests += 1;
        seen.bytes += done.result.map_or(0, u64::from);
        let due = done.request.due;
        let behind = done.issued.since(due);
        seen.behind.record(behind.as_nanos());
        seen.late += u64::from(behind.as_nanos() > ReplayLag::LATE_NS);
        seen.last_due = seen.last_due.max(due.since(self.start));
        seen.last_issued = seen.last_issued.max(done.issued.since(self.start));
    }

    /// Ask for everything that is due.
    fn ask(&mut self, now: Instant, agenda: &mut Agenda) {
        let most = match self.pace {
            ReplayPace::Recorded { .. } => OUTSTANDING_MAX,
            ReplayPace::Fast { depth } => depth,
        };
        while self.outstanding < most {
            let timed = match self.source.peek() {
                Next::Request(timed) => timed,
                Next::Starved => {
                    self.is_starved = true;
                    self.wake(now + LOOK_AGAIN, agenda);
                    return;
                }
                Next::End => {
                    if self.outstanding == 0 {
                        agenda.finish();
                    }
                    return;
                }
            };
            if std::mem::take(&mut self.is_starved) {
                self.not_before = now;
            }
            let due = match self.pace {
                ReplayPace::Recorded { scale } => match self.due(timed.at, scale) {
                    due if due > now => return self.wake(due, agenda),
                    due => due,
                },
                ReplayPace::Fast { .. } => now,
            };
            self.source.take();
            self.outstanding += 1;
            agenda.issue(due, timed.op);
        }
    }

    /// When a request is due that was recorded at an instant.
    fn due(&mut self, at: u64, scale: f64) -> Instant {
        let at = match scale {
            1.0 => at,
            scale => (at as f64 / scale) as u64,
        };
        let due = self.start + Duration::from_nanos(at);
        if due < self.not_before {
            self.seen.held += 1;
            let held = self.not_before.since(due);
            self.seen.held_longest = self.seen.held_longest.max(held);
            return self.not_before;
        }
        due
    }

    fn wake(&mut self, at: Instant, agenda: &mut Agenda) {
        if self.armed.is_none_or(|armed| at < armed) {
            self.armed = Some(at);
            agenda.wake_at(at);
        }
    }
}

impl Drop for ReplayClient {
    /// Whatever ended the trial, what was seen is told.
    fn drop(&mut self) {
        let mut seen = std::mem::take(&mut self.seen);
        (seen.moved, seen.left_out) = (self.source.moved, self.source.left_out);
        seen.broken = self.source.broken.take();
        *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = seen;
    }
}
