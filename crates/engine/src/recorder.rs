//! Files what the clients' completions say: histograms for the report, slots for the stopping rule.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use stats::{Histogram, Slot, SlotAccumulator, TimeCounts};
use units::{Duration, Instant};
use workload::{Completion, Errno, OpKind, RateMiss, UnitOfWork};

use crate::follow::{Followed, Follower};
use crate::rows::{Membership, RowKey, RowRecord, RowTimes};

/// Which completions are units of work, counted in slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindSet(u16);

impl KindSet {
    /// The set of those kinds.
    pub fn of(kinds: &[OpKind]) -> Self {
        Self(kinds.iter().fold(0, |set, &kind| set | 1 << kind as u8))
    }

    /// Whether `kind` belongs to the set.
    #[inline]
    pub const fn contains(self, kind: OpKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }
}

/// The times of one kind of operation, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KindRecord {
    /// From due to completed.
    pub response: Histogram,
    /// From issued to completed.
    pub service: Histogram,
    /// Bytes moved.
    pub bytes: u64,
}

impl KindRecord {
    /// Add all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.response.merge(&other.response);
        self.service.merge(&other.service);
        self.bytes += other.bytes;
    }

    fn add_row(&mut self, row: &RowRecord) {
        self.response.merge(&row.response);
        self.service.merge(&row.service);
        self.bytes += row.bytes;
    }
}

/// Requests that had been due and were not done when the trial ended, and how long they had waited
/// by then. Completions alone leave them out, however long a storage has kept them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Unfinished {
    /// Requests that the storage had.
    pub with_storage: u64,
    /// The sum of their waits, nanoseconds.
    pub with_storage_ns: u64,
    /// Requests that waited for room at the storage.
    pub backlog: u64,
    /// The sum of their waits, nanoseconds.
    pub backlog_ns: u64,
    /// The response times of all of them in the end, nanoseconds: of those that were done while the
    /// trial waited for them, as they were; of the rest, how long they had waited when it gave up,
    /// or ended.
    pub times: Histogram,
    /// The longest service time of those that were done, nanoseconds.
    pub longest_service_ns: u64,
    /// How many were done.
    pub done: u64,
    /// From the end of the trial to the first that was done, nanoseconds.
    pub silent_ns: Option<u64>,
}

impl Unfinished {
    /// Requests in all.
    pub const fn count(&self) -> u64 {
        self.with_storage + self.backlog
    }

    /// The sum of all their waits, nanoseconds.
    pub const fn waited_ns(&self) -> u64 {
        self.with_storage_ns.saturating_add(self.backlog_ns)
    }

    fn merge(&mut self, other: &Self) {
        self.with_storage += other.with_storage;
        self.with_storage_ns = self.with_storage_ns.saturating_add(other.with_storage_ns);
        self.backlog += other.backlog;
        self.backlog_ns = self.backlog_ns.saturating_add(other.backlog_ns);
        self.times.merge(&other.times);
        self.longest_service_ns = self.longest_service_ns.max(other.longest_service_ns);
        self.done += other.done;
        self.silent_ns = match (self.silent_ns, other.silent_ns) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }

    /// A request that waited for room had been due for so long.
    pub(crate) fn note_waiting(&mut self, wait: Duration) {
        let wait = wait.as_nanos();
        self.backlog += 1;
        self.backlog_ns = self.backlog_ns.saturating_add(wait);
        self.times.record(wait);
    }

    /// One that the storage had at `end` was done after all.
    pub(crate) fn note_done(&mut self, done: &Completion, end: Instant) {
        self.done += 1;
        self.times.record(done.response_time().as_nanos());
        let service = done.service_time().as_nanos();
        self.longest_service_ns = self.longest_service_ns.max(service);
        let later = done.completed.since(end).as_nanos();
        self.silent_ns = Some(self.silent_ns.map_or(later, |it| it.min(later)));
    }
}

/// How long requests waited for room among those that may be outstanding, and whether the storage
/// was slower for it: where it was not, the limit was ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomWaits {
    /// Requests that waited for room.
    pub waited: u64,
    /// The sum of their waits, nanoseconds.
    pub waited_ns: u64,
    /// The sum of their service times, nanoseconds.
    pub waited_service_ns: u64,
    /// Requests that found room.
    pub free: u64,
    /// The sum of their service times, nanoseconds.
    pub free_service_ns: u64,
}

impl RoomWaits {
    #[inline]
    const fn note(&mut self, wait_ns: u64, service_ns: u64) {
        if wait_ns > 0 {
            self.waited += 1;
            self.waited_ns += wait_ns;
            self.waited_service_ns += service_ns;
        } else {
            self.free += 1;
            self.free_service_ns += service_ns;
        }
    }

    const fn merge(&mut self, other: &Self) {
        self.waited += other.waited;
        self.waited_ns += other.waited_ns;
        self.waited_service_ns += other.waited_service_ns;
        self.free += other.free;
        self.free_service_ns += other.free_service_ns;
    }
}

/// What was recorded from the beginning of the trial to its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Times by kind of operation.
    pub kinds: BTreeMap<OpKind, KindRecord>,
    /// Times of units of several operations, by the number of their kind.
    pub units: BTreeMap<u32, KindRecord>,
    /// The generator's own lateness, in nanoseconds.
    pub lateness: Histogram,
    /// Times of failed operations by kind and error number: no success has them.
    pub errors: BTreeMap<(OpKind, Errno), KindRecord>,
    /// Times of operations that ended before they had moved all their bytes, by kind.
    pub short: BTreeMap<OpKind, KindRecord>,
    /// What was not done yet at the end.
    pub unfinished: Unfinished,
    pub room: RoomWaits,
    /// Times by workload, where there are several.
    pub rows: BTreeMap<RowKey, RowRecord>,
}

impl Record {
    /// Add all of `other`.
    pub fn merge(&mut self, other: &Self) {
        merge_all(&mut self.kinds, &other.kinds);
        merge_all(&mut self.units, &other.units);
        merge_all(&mut self.errors, &other.errors);
        merge_all(&mut self.short, &other.short);
        self.lateness.merge(&other.lateness);
        self.unfinished.merge(&other.unfinished);
        self.room.merge(&other.room);
        for (key, row) in &other.rows {
            self.rows.entry(*key).or_default().merge(row);
        }
    }
}

fn merge_all<K: Ord + Copy>(all: &mut BTreeMap<K, KindRecord>, more: &BTreeMap<K, KindRecord>) {
    for (key, record) in more {
        all.entry(*key).or_default().merge(record);
    }
}

/// How a recorder divides time and counts work.
#[derive(Clone, Copy, Debug)]
pub struct RecorderOptions {
    /// First instant of slot zero.
    pub start: Instant,
    /// Length of a base slot.
    pub slot_width: Duration,
    /// Completions that are units of work.
    pub counted: KindSet,
    /// Number of clients of this worker.
    pub clients: usize,
}

/// Takes completions one by one.
#[derive(Debug)]
pub struct Recorder {
    options: RecorderOptions,
    /// Of what no row holds.
    kinds: [Option<Box<KindCounts>>; OpKind::ALL.len()],
    units: BTreeMap<u32, KindCounts>,
    /// Of what no row holds.
    lateness: TimeCounts,
    errors: BTreeMap<(OpKind, Errno), KindCounts>,
    errors_total: u64,
    short: BTreeMap<OpKind, KindCounts>,
    unfinished: Unfinished,
    room: RoomWaits,
    rows: RowTimes,
    followed: Option<Box<Followed>>,
    slot: SlotAccumulator,
    epoch: u64,
    slot_end: Instant,
    closed: Vec<Slot>,
    progress: Vec<ClientProgress>,
}

/// A [`KindRecord`] while it is being counted.
#[derive(Debug, Default)]
struct KindCounts {
    response: TimeCounts,
    service: TimeCounts,
    bytes: u64,
}

impl KindCounts {
    #[inline]
    fn record(&mut self, response: u64, service: u64, moved: u32) {
        self.response.record(response);
        self.service.record(service);
        self.bytes += u64::from(moved);
    }

    fn record_failed(&mut self, failed: &Completion, moved: u32) {
        let response = failed.response_time().as_nanos();
        self.record(response, failed.service_time().as_nanos(), moved);
    }

    fn to_record(&self) -> KindRecord {
        KindRecord {
            response: self.response.to_histogram(),
            service: self.service.to_histogram(),
            bytes: self.bytes,
        }
    }
}

fn to_records<K: Ord + Copy>(counts: &BTreeMap<K, KindCounts>) -> BTreeMap<K, KindRecord> {
    let all = counts.iter();
    all.map(|(key, counts)| (*key, counts.to_record()))
        .collect()
}

/// What must be known of a client to see think times and warm-up.
#[derive(Clone, Copy, Debug, Default)]
struct ClientProgress {
    last_completed: Instant,
    completions: u8,
}

/// Completions after which a client counts as warm.
const WARM_AFTER: u8 = 2;

impl Recorder {
    /// An empty recorder.
    pub fn new(options: RecorderOptions) -> Self {
        assert!(
            options.slot_width > Duration::ZERO,
            "a slot must have a width"
        );
        Self {
            options,
            kinds: std::array::from_fn(|_| None),
            units: BTreeMap::new(),
            lateness: TimeCounts::new(),
            errors: BTreeMap::new(),
            errors_total: 0,
            short: BTreeMap::new(),
            unfinished: Unfinished::default(),
            room: RoomWaits::default(),
            rows: RowTimes::default(),
            followed: None,
            slot: SlotAccumulator::new(),
            epoch: 0,
            slot_end: options.start + options.slot_width,
            closed: Vec::new(),
            progress: vec![ClientProgress::default(); options.clients],
        }
    }

    /// File the times of each client under its row as well.
    pub fn file_by_row(&mut self, members: Vec<Membership>) {
        self.rows = RowTimes::new(self.options.start, members);
    }

    /// Hand each success on as well.
    pub fn follow(&mut self, follower: Arc<dyn Follower>) {
        self.followed = Some(Box::new(Followed::new(follower, self.options.start)));
    }

    /// Make room for one more client, with the next index.
    pub fn add_client(&mut self) {
        self.progress.push(ClientProgress::default());
    }

    /// File one completion of the worker's client `index`.
    #[inline]
    pub fn record(&mut self, completion: &Completion, index: usize) {
        if completion.completed >= self.slot_end {
            self.close_until(completion.completed);
        }
        let kind = completion.request.op.kind();
        let moved = match completion.result {
            Ok(moved) => moved,
            Err(errno) => return self.record_error(completion, errno),
        };
        if moved != completion.request.op.len() {
            return self.record_short(completion, moved);
        }
        let response = completion.response_time().as_nanos();
        let service = completion.service_time().as_nanos();
        let lateness = completion.lateness().as_nanos();
        // What a row holds is added to these at the end.
        if !self.rows.record(completion, index, moved) {
            let record = self.kinds[kind as usize].get_or_insert_with(Box::default);
            record.record(response, service, moved);
            self.lateness.record(lateness);
        }
        if let Some(followed) = &mut self.followed {
            followed.push(completion);
        }
        let wait = completion.request.ready.since(completion.request.due);
        self.room.note(wait.as_nanos(), service);
        if self.options.counted.contains(kind) {
            self.slot
                .record(response, service, lateness, u64::from(moved));
            self.note_progress(completion.request.due, completion.completed, index);
        }
    }

    /// File a unit of several operations that the worker's client `index` reports. Where clients
    /// report units, single operations are not counted in slots.
    pub fn record_unit(&mut self, unit: &UnitOfWork, index: usize) {
        if unit.completed >= self.slot_end {
            self.close_until(unit.completed);
        }
        let response = unit.response_time().as_nanos();
        let service = unit.service_time().as_nanos();
        let record = self.units.entry(unit.kind).or_default();
        record.response.record(response);
        record.service.record(service);
        record.bytes += unit.bytes;
        let lateness = unit.lateness.as_nanos();
        self.slot.record(response, service, lateness, unit.bytes);
        self.note_progress(unit.due, unit.completed, index);
    }

    /// Note that the client `index` finished at `at`.
    pub fn record_left(&mut self, index: usize, at: Instant) {
        self.rows.note_left(index, at);
        if at >= self.slot_end {
            self.close_until(at);
        }
        self.slot.record_left();
    }

    #[inline]
    fn note_progress(&mut self, due: Instant, completed: Instant, index: usize) {
        let progress = &mut self.progress[index];
        if progress.completions > 0 {
            let think = due.since(progress.last_completed);
            self.slot.record_think(think.as_nanos());
        }
        progress.last_completed = completed;
        if progress.completions < WARM_AFTER {
            progress.completions += 1;
            if progress.completions == WARM_AFTER {
                self.slot.record_warm();
            }
        }
    }

    #[cold]
    fn record_error(&mut self, failed: &Completion, errno: Errno) {
        let kind = failed.request.op.kind();
        let record = self.errors.entry((kind, errno)).or_default();
        record.record_failed(failed, 0);
        self.errors_total += 1;
        self.slot.record_error();
    }

    #[cold]
    fn record_short(&mut self, short: &Completion, moved: u32) {
        let record = self.short.entry(short.request.op.kind()).or_default();
        record.record_failed(short, moved);
        self.slot.record_error();
    }

    /// Close every slot that ends at or before `instant`.
    pub fn close_until(&mut self, instant: Instant) {
        if instant < self.slot_end {
            return;
        }
        if !self.slot.is_empty() {
            self.closed.push(self.slot.take(self.epoch));
        }
        let width = self.options.slot_width;
        self.epoch = instant.since(self.options.start).as_nanos() / width.as_nanos();
        self.slot_end = self.options.start + width * (self.epoch + 1);
    }

    /// Hand over the slots closed so far; empty epochs are left out. Whoever follows gets what was
    /// done so far.
    pub fn take_slots(&mut self) -> Vec<Slot> {
        if let Some(followed) = &mut self.followed {
            followed.hand_over();
        }
        std::mem::take(&mut self.closed)
    }

    /// The client `index` ended because it was below a rate.
    pub fn note_miss(&mut self, index: usize, missed: RateMiss) {
        self.rows.note_miss(index, missed);
    }

    /// Note that the trial ends at `at` for the client `index`, which would have gone on.
    pub fn note_end(&mut self, index: usize, at: Instant) {
        self.rows.note_left(index, at);
    }

    /// File what was not done when the trial ended.
    pub fn set_unfinished(&mut self, unfinished: Unfinished) {
        self.unfinished = unfinished;
    }

    /// What is known of that so far.
    pub const fn unfinished_mut(&mut self) -> &mut Unfinished {
        &mut self.unfinished
    }

    /// Failed operations so far.
    pub const fn errors_total(&self) -> u64 {
        self.errors_total
    }

    /// Everything but the slots.
    pub fn to_record(&self) -> Record {
        let kinds = OpKind::ALL.into_iter().zip(&self.kinds);
        let kinds = kinds.filter_map(|(kind, counts)| Some((kind, counts.as_ref()?.to_record())));
        let mut kinds: BTreeMap<OpKind, KindRecord> = kinds.collect();
        let mut lateness = self.lateness.to_histogram();
        let rows = self.rows.records();
        for ((_, kind), row) in rows.iter().filter(|(_, row)| !row.response.is_empty()) {
            kinds.entry(*kind).or_default().add_row(row);
            lateness.merge(&row.submission);
        }
        Record {
            kinds,
            units: to_records(&self.units),
            lateness,
            errors: to_records(&self.errors),
            short: to_records(&self.short),
            unfinished: self.unfinished.clone(),
            room: self.room,
            rows,
        }
    }
}
