//! Times by workload, where a trial has several: each row holds those of the clients that share it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stats::{Histogram, TimeCounts};
use units::{Duration, Instant, TimeSpan};
use workload::{Completion, IoPriority, OpKind, RateMiss};

/// Length of a window of a row.
pub const WINDOW: Duration = Duration::from_millis(500);
/// Windows of a row, at most: twelve days of them.
const WINDOWS_MAX: usize = 1 << 21;

/// Which row a client's times are filed under, and from when on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    pub row: u32,
    /// What was completed before is not recorded.
    pub from: Instant,
}

/// Times of the requests of one priority, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PriorityRecord {
    /// From due to completed.
    pub response: Histogram,
    /// From issued to completed.
    pub service: Histogram,
}

/// What one row holds of one kind of operation. Times are in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowRecord {
    /// From due to completed.
    pub response: Histogram,
    /// From issued to completed.
    pub service: Histogram,
    /// From ready to issued.
    pub submission: Histogram,
    /// Bytes moved.
    pub bytes: u64,
    /// From the beginning of the record to the last completion, or to the end of the clients whose
    /// time was longer; counted from the start of the trial.
    pub span: TimeSpan,
    /// Operations and bytes in each window of [`WINDOW`], from the beginning of the span.
    pub windows: Vec<(u64, u64)>,
    /// The rate below which the first of its clients ended that ended so.
    pub missed: Option<RateMiss>,
    /// The same times by priority, where requests differ in it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_priority: BTreeMap<IoPriority, PriorityRecord>,
}

impl RowRecord {
    /// Add all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.response.merge(&other.response);
        self.service.merge(&other.service);
        self.submission.merge(&other.submission);
        for (priority, times) in &other.by_priority {
            let own = self.by_priority.entry(*priority).or_default();
            own.response.merge(&times.response);
            own.service.merge(&times.service);
        }
        self.bytes += other.bytes;
        let span = self.span.with(other.span);
        // Those of one that began later begin later.
        let ahead = |it: &Self| {
            let later = it.span.begun().saturating_sub(span.begun());
            (later.as_nanos() / WINDOW.as_nanos()) as usize
        };
        let (own, others) = (ahead(self), ahead(other));
        if own > 0 && !self.windows.is_empty() {
            self.windows.splice(0..0, vec![(0, 0); own]);
        }
        self.missed = self.missed.or(other.missed);
        if !other.windows.is_empty() {
            let len = self.windows.len().max(others + other.windows.len());
            self.windows.resize(len, (0, 0));
        }
        for (sum, more) in self.windows.iter_mut().skip(others).zip(&other.windows) {
            *sum = (sum.0 + more.0, sum.1 + more.1);
        }
        self.span = span;
    }
}

/// A row and a kind of operation.
pub type RowKey = (u32, OpKind);

impl RowCounts {
    /// File a time under its priority; all that were counted before the first that has one had
    /// none.
    #[cold]
    fn record_priority(&mut self, priority: IoPriority, done: &Completion) {
        if self.by_priority.is_empty() {
            let before = [self.response.clone(), self.service.clone()];
            self.by_priority.insert(IoPriority::default(), before);
        }
        let [response, service] = self.by_priority.entry(priority).or_default();
        response.record(done.response_time().as_nanos());
        service.record(done.service_time().as_nanos());
    }
}

fn by_priority(counts: &RowCounts) -> BTreeMap<IoPriority, PriorityRecord> {
    let record = |(priority, [response, service]): (&IoPriority, &[TimeCounts; 2])| {
        let times = PriorityRecord {
            response: response.to_histogram(),
            service: service.to_histogram(),
        };
        (*priority, times)
    };
    let all = counts.by_priority.iter().map(record);
    all.filter(|(_, times)| !times.service.is_empty()).collect()
}

/// A [`RowRecord`] while it is being counted.
#[derive(Debug, Default)]
struct RowCounts {
    response: TimeCounts,
    service: TimeCounts,
    submission: TimeCounts,
    bytes: u64,
    last: Instant,
    windows: Vec<(u64, u64)>,
    missed: Option<RateMiss>,
    /// Response and service times.
    by_priority: BTreeMap<IoPriority, [TimeCounts; 2]>,
}

/// Times by row, while they are counted.
#[derive(Debug, Default)]
pub struct RowTimes {
    start: Instant,
    members: Vec<Membership>,
    /// By row, and by kind within it.
    counts: Vec<[Option<Box<RowCounts>>; KINDS]>,
    /// By row, when the first of its clients began to be recorded, and the last of them left.
    present: Vec<(Instant, Instant)>,
}

const KINDS: usize = OpKind::ALL.len();

impl RowTimes {
    /// Rows without any times of a trial that begins at `start`, and the row of each client.
    pub fn new(start: Instant, members: Vec<Membership>) -> Self {
        let mut present = Vec::new();
        for &Membership { row, from } in &members {
            let row = row as usize;
            if present.len() <= row {
                present.resize(row + 1, (Instant::NEVER, Instant::START));
            }
            present[row].0 = from.min(present[row].0);
        }
        Self {
            start,
            members,
            counts: Vec::new(),
            present,
        }
    }

    /// The client `index` wants nothing more from `at` on, or the trial ends then.
    pub fn note_left(&mut self, index: usize, at: Instant) {
        if let Some(&Membership { row, .. }) = self.members.get(index) {
            let (_, left) = &mut self.present[row as usize];
            *left = at.max(*left);
        }
    }

    /// File a success of the client `index`, which moved this many bytes, and whether it has a row.
    #[inline]
    pub fn record(&mut self, done: &Completion, index: usize, moved: u32) -> bool {
        let Some(member) = self.members.get(index) else {
            return false;
        };
        if done.completed < member.from {
            return false;
        }
        let member = *member;
        let (begun, _) = self.present[member.row as usize];
        let counts = self.counts_of(member.row, done.request.op.kind());
        let priority = done.request.priority;
        if priority != IoPriority::default() || !counts.by_priority.is_empty() {
            counts.record_priority(priority, done);
        }
        counts.response.record(done.response_time().as_nanos());
        counts.service.record(done.service_time().as_nanos());
        counts.submission.record(done.lateness().as_nanos());
        counts.bytes += u64::from(moved);
        counts.last = done.completed.max(counts.last);
        let window = done.completed.since(begun).as_nanos() / WINDOW.as_nanos();
        let window = (window as usize).min(WINDOWS_MAX);
        if counts.windows.len() <= window {
            counts.windows.resize(window + 1, (0, 0));
        }
        let sum = &mut counts.windows[window];
        *sum = (sum.0 + 1, sum.1 + u64::from(moved));
        true
    }

    #[inline]
    fn counts_of(&mut self, row: u32, kind: OpKind) -> &mut RowCounts {
        let row = row as usize;
        if self.counts.len() <= row {
            self.counts.resize_with(row + 1, Default::default);
        }
        self.counts[row][kind as usize].get_or_insert_with(Box::default)
    }

    /// The client `index` ended because it was below a rate.
    pub fn note_miss(&mut self, index: usize, missed: RateMiss) {
        if let Some(&Membership { row, .. }) = self.members.get(index) {
            self.counts_of(row, missed.kind)
                .missed
                .get_or_insert(missed);
        }
    }

    /// What was counted so far.
    pub fn records(&self) -> BTreeMap<RowKey, RowRecord> {
        let record = |row: u32, counts: &RowCounts| RowRecord {
            response: counts.response.to_histogram(),
            service: counts.service.to_histogram(),
            submission: counts.submission.to_histogram(),
            bytes: counts.bytes,
            span: self.span(row, counts),
            windows: counts.windows.clone(),
            missed: counts.missed,
            by_priority: by_priority(counts),
        };
        let rows = (0..).zip(&self.counts);
        let all = rows.flat_map(|(row, kinds)| {
            let kinds = OpKind::ALL.into_iter().zip(kinds);
            kinds.filter_map(move |(kind, counts)| Some(((row, kind), counts.as_ref()?)))
        });
        all.map(|(key, counts)| (key, record(key.0, counts)))
            .collect()
    }

    fn span(&self, row: u32, counts: &RowCounts) -> TimeSpan {
        let (begun, left) = self.present[row as usize];
        let since = |at: Instant| at.since(self.start);
        TimeSpan::new(since(begun), since(counts.last.max(left).max(begun)))
    }
}
