//! A host: processors with I/O overhead, and memory that serves part of the reads.
//!
//! A cache hit costs only CPU time. A miss goes to the storage; part of its CPU time overlaps the
//! storage, the rest follows. On systems of that time, a program may poll until the storage
//! answers, and use its share of the processor meanwhile, or all of it.

mod file_cache;
mod spec;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use units::{Duration, Instant};
use workload::{ClientId, Durability, Errno};

use crate::device::{Action, Answer, CacheReads, Calendar, Command, Device, Slab, first};
use crate::done::Done;
use crate::processor::Processors;
use crate::raid::ArrayState;
use crate::site::Port;

pub use file_cache::FileCache;
pub use spec::{HostSpec, IoWait, WritePolicy};

/// A running host in front of its storage.
#[derive(Debug)]
pub struct Host {
    spec: HostSpec,
    storage: Box<dyn Device>,
    cache: FileCache,
    cache_reads: CacheReads,
    limit: u64,
    taken: BTreeMap<ClientId, u64>,
    cpu: Processors<u64>,
    jobs: Slab<HostJob>,
    /// Jobs that wait for a processor to spin on.
    wanting_cpu: VecDeque<u64>,
    /// Writers throttled because too much is dirty.
    throttled: VecDeque<u64>,
    /// Where sequential streams continue.
    streams: VecDeque<u64>,
    unfinished: BTreeSet<u64>,
    flushes: Vec<(u64, u64)>,
    writes: u64,
    is_destaging: bool,
    destage_at: u64,
    timers: Calendar<()>,
    /// Requests in the storage.
    asked: usize,
    done: Done,
}

#[derive(Clone, Debug)]
struct HostJob {
    command: Command,
    stage: HostStage,
    /// Parts that must end before the next stage.
    outstanding: u32,
    /// Pages of the current storage request.
    run: Range<u64>,
    /// Pages that follow.
    pages: Range<u64>,
    /// Maximum pages per request.
    run_max: u64,
    error: Option<Errno>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HostStage {
    /// The storage reads, or writes through.
    Storage,
    /// The remaining CPU work before the answer.
    Last,
    /// The processor copies a write into memory.
    Copy,
    /// Dirty pages go to the storage, before a flush of it.
    Drain,
    /// The storage flushes.
    Flush,
    /// A background write of dirty pages.
    Destage(u64),
}

impl Host {
    /// An idle host with an empty file cache.
    pub fn new(spec: HostSpec, storage: Box<dyn Device>) -> Self {
        let room = spec.room(spec.cache, 0) / spec.page;
        Self {
            cache: FileCache::new(room as usize),
            cache_reads: CacheReads::default(),
            limit: spec.cache,
            taken: BTreeMap::new(),
            cpu: Processors::new(spec.cpus),
            jobs: Slab::default(),
            wanting_cpu: VecDeque::new(),
            throttled: VecDeque::new(),
            streams: VecDeque::new(),
            unfinished: BTreeSet::new(),
            flushes: Vec::new(),
            writes: 0,
            is_destaging: false,
            destage_at: 0,
            timers: Calendar::default(),
            asked: 0,
            done: Done::new(spec.cpus, Instant::START),
            storage,
            spec,
        }
    }

    fn resize(&mut self) {
        let taken = self.taken.values().sum();
        let room = self.spec.room(self.limit, taken) / self.spec.page;
        if room as usize != self.cache.room() {
            self.cache.set_room(room as usize);
        }
    }

    fn job(&mut self, command: Command, stage: HostStage, pages: Range<u64>) -> u64 {
        self.jobs.insert(HostJob {
            command,
            stage,
            outstanding: 0,
            run: 0..0,
            pages,
            run_max: u64::MAX,
            error: None,
        })
    }

    fn work(&mut self, now: Instant, job: u64, work_ns: u64) {
        self.jobs.at(job).outstanding += 1;
        self.cpu.begin(now, work_ns, job);
    }

    fn pages(&self, command: &Command) -> Range<u64> {
        let page = self.spec.page;
        command.offset / page..command.end().div_ceil(page).max(command.offset / page + 1)
    }

    fn begin_read(&mut self, now: Instant, command: Command) {
        let pages = self.pages(&command);
        let missing: Vec<u64> = pages
            .clone()
            .filter(|&page| !self.cache.touch(page))
            .collect();
        self.cache_reads.asked += 1;
        self.cache_reads.answered += u64::from(missing.is_empty());
        let is_in_order = self.follows(&command);
        if !missing.is_empty() && self.cache.room() > 0 {
            self.done.faulted();
        }
        let (Some(&from), Some(&to)) = (missing.first(), missing.last()) else {
            let job = self.job(command, HostStage::Last, 0..0);
            self.work(now, job, self.spec.cpu_hit);
            return;
        };
        let ahead = if is_in_order { self.spec.read_ahead } else { 0 };
        let last = self.storage.size().div_ceil(self.spec.page);
        let end = (to + 1 + ahead / self.spec.page).min(last).max(to + 1);
        let job = self.job(command, HostStage::Storage, from..end);
        if ahead == 0 {
            self.jobs.at(job).run_max = (self.spec.read_run / self.spec.page).max(1);
        }
        self.begin_run(now, job);
    }

    /// The next request for a job's pages.
    fn begin_run(&mut self, now: Instant, number: u64) {
        let job = self.jobs.at(number);
        let end = job.pages.start.saturating_add(job.run_max);
        job.run = job.pages.start..end.min(job.pages.end);
        job.pages.start = job.run.end;
        job.stage = HostStage::Storage;
        self.begin_storage(now, number);
    }

    /// Whether a read continues a previous one.
    fn follows(&mut self, command: &Command) -> bool {
        let known = self.streams.iter().position(|&end| end == command.offset);
        match known {
            Some(index) => {
                self.streams.remove(index);
            }
            None if self.streams.len() == self.spec.read_ahead_streams => {
                self.streams.pop_front();
            }
            None => {}
        }
        self.streams.push_back(command.end());
        known.is_some()
    }

    fn begin_storage(&mut self, now: Instant, job: u64) {
        let (offset, len) = self.bytes_of(job);
        match self.spec.waiting {
            IoWait::Spinning if !self.cpu.hold(now) => {
                self.wanting_cpu.push_back(job);
                return;
            }
            IoWait::Spinning => {}
            IoWait::Polling => self.cpu.poll(now),
            IoWait::Free => {
                let beside = self.spec.cpu_overlapped + cost(len, self.spec.cpu_byte);
                if beside > 0 {
                    self.work(now, job, beside);
                }
            }
        }
        let action = self.jobs.at(job).command.action;
        self.ask(now, job, action, offset, len);
    }

    /// First byte and length of a job's current storage request.
    fn bytes_of(&mut self, number: u64) -> (u64, u64) {
        let HostJob { command, run, .. } = self.jobs.at(number).clone();
        match command.action {
            Action::Read => self.bytes(&run),
            _ => (command.offset, command.len),
        }
    }

    fn bytes(&self, pages: &Range<u64>) -> (u64, u64) {
        let start = pages.start * self.spec.page;
        let end = (pages.end * self.spec.page).min(self.storage.size());
        (start, end.saturating_sub(start))
    }

    fn ask(&mut self, now: Instant, job: u64, action: Action, offset: u64, len: u64) {
        self.jobs.at(job).outstanding += 1;
        let command = Command {
            tag: job,
            action,
            client: self.jobs.at(job).command.client,
            offset,
            len,
        };
        match action {
            Action::Read => {
                self.done.read(len);
                self.done.missed(len);
            }
            Action::Write(_) => self.done.wrote(len),
            _ => {}
        }
        self.asked += 1;
        self.storage.begin(now, command);
    }

    /// Accounts for time in which nothing changed here.
    fn pass(&mut self, now: Instant) {
        self.done
            .held(now, self.cache.pages() as u64 * self.spec.page);
        self.done.pass(now, self.cpu.busy(), self.asked);
    }

    /// The storage completed a job's request.
    fn storage_done(&mut self, now: Instant, answer: &Answer) {
        self.asked -= 1;
        let job = self.jobs.at(answer.tag);
        if let Err(errno) = answer.result {
            job.error = Some(errno);
        }
        if job.stage != HostStage::Storage {
            return;
        }
        match self.spec.waiting {
            IoWait::Free => {}
            IoWait::Polling => self.cpu.stop_polling(now),
            IoWait::Spinning => {
                self.cpu.release(now);
                if let Some(next) = self.wanting_cpu.pop_front() {
                    self.begin_storage(now, next);
                }
            }
        }
    }

    /// Something that a job waited for is done.
    fn part_done(&mut self, now: Instant, number: u64, answers: &mut Vec<Answer>) {
        let job = self.jobs.at(number);
        job.outstanding -= 1;
        if job.outstanding > 0 {
            return;
        }
        let HostJob {
            command,
            stage,
            run,
            pages,
            error,
            ..
        } = job.clone();
        match stage {
            HostStage::Storage => {
                let (_, len) = self.bytes_of(number);
                self.keep(&command, run);
                self.jobs.at(number).stage = HostStage::Last;
                let after = self.spec.cpu_serial + cost(len, self.spec.cpu_byte_serial);
                self.work(now, number, after);
            }
            HostStage::Copy => self.copied(now, number, answers),
            HostStage::Drain => {}
            HostStage::Flush => {
                self.jobs.at(number).stage = HostStage::Last;
                self.work(now, number, 0);
            }
            HostStage::Destage(write) => {
                self.jobs.remove(number);
                self.unfinished.remove(&write);
                self.destage(now);
                self.drained(now);
                self.admit(answers);
            }
            HostStage::Last if !pages.is_empty() && error.is_none() => {
                self.begin_run(now, number);
            }
            HostStage::Last => {
                self.jobs.remove(number);
                answers.push(match error {
                    Some(errno) => command.failed(errno),
                    None => command.done(),
                });
            }
        }
    }

    /// Keeps data read from the storage in memory.
    fn keep(&mut self, command: &Command, pages: Range<u64>) {
        if command.action == Action::Read && self.limit < self.spec.cache_max {
            self.limit = (self.limit + self.spec.cache_growth).min(self.spec.cache_max);
            self.resize();
        }
        for page in pages {
            self.cache.insert(page);
        }
    }

    fn dirty_max(&self) -> usize {
        match self.spec.writes {
            WritePolicy::Through => 0,
            WritePolicy::Back { dirty_share, .. } => {
                (self.cache.room() as f64 * dirty_share) as usize
            }
        }
    }

    /// A write was copied into memory.
    fn copied(&mut self, now: Instant, number: u64, answers: &mut Vec<Answer>) {
        let job = self.jobs.at(number);
        let (command, pages) = (job.command, std::mem::take(&mut job.pages));
        let WritePolicy::Back { interval, .. } = self.spec.writes else {
            return;
        };
        if self.cache.dirty_pages() == 0 {
            self.timers.plan(now + Duration(interval), ());
        }
        for page in pages {
            self.cache.insert(page);
            self.cache.soil(page);
        }
        if self.cache.dirty_pages() > self.dirty_max() {
            self.is_destaging = true;
            self.destage(now);
        }
        if command.action.is_durable_write() {
            self.begin_flush(now, number);
            return;
        }
        self.throttled.push_back(number);
        self.admit(answers);
    }

    /// Completes writes, unless too much is dirty.
    fn admit(&mut self, answers: &mut Vec<Answer>) {
        let is_full = self.cache.dirty_pages() > 2 * self.dirty_max();
        if is_full && !self.unfinished.is_empty() {
            return;
        }
        for number in std::mem::take(&mut self.throttled) {
            answers.push(self.jobs.remove(number).command.done());
        }
    }

    /// Writes dirty pages back one request at a time, while needed.
    fn destage(&mut self, now: Instant) {
        if !self.is_destaging || !self.unfinished.is_empty() {
            return;
        }
        if !self.destage_run(now) {
            self.is_destaging = false;
        }
    }

    fn destage_run(&mut self, now: Instant) -> bool {
        let pages_max = (self.spec.write_run / self.spec.page).max(1);
        let Some(run) = self.cache.take_run(self.destage_at, pages_max) else {
            return false;
        };
        self.destage_at = run.end;
        let (offset, len) = self.bytes(&run);
        let write = self.writes;
        self.writes += 1;
        self.unfinished.insert(write);
        let action = Action::Write(Durability::Volatile);
        let command = Command {
            tag: 0,
            action,
            client: None,
            offset,
            len,
        };
        let job = self.job(command, HostStage::Destage(write), run);
        // Nothing waits for it, so all its CPU work overlaps the storage.
        let work_ns = cost(len, self.spec.cpu_byte + self.spec.cpu_byte_serial);
        if work_ns > 0 {
            self.work(now, job, work_ns);
        }
        self.ask(now, job, action, offset, len);
        true
    }

    /// Writes back everything dirty, then flushes the storage.
    fn begin_flush(&mut self, now: Instant, number: u64) {
        while self.destage_run(now) {}
        self.jobs.at(number).stage = HostStage::Drain;
        self.flushes.push((number, self.writes));
        self.drained(now);
    }

    /// Flushes the storage for those whose writes are all there.
    fn drained(&mut self, now: Instant) {
        let oldest = self.unfinished.first().copied().unwrap_or(u64::MAX);
        let is_done = |&mut (_, writes): &mut (u64, u64)| oldest >= writes;
        let done: Vec<(u64, u64)> = self.flushes.extract_if(.., is_done).collect();
        for (number, _) in done {
            self.jobs.at(number).stage = HostStage::Flush;
            self.ask(now, number, Action::Flush, 0, 0);
        }
    }

    fn touch_memory(&mut self, client: ClientId, touched: u64) {
        let known = self.taken.entry(client).or_default();
        if touched > *known {
            self.done.touched(touched - *known);
            *known = touched;
            self.resize();
        }
    }
}

/// Cost of `bytes` bytes at `each` nanoseconds per byte.
fn cost(bytes: u64, each: f64) -> u64 {
    (bytes as f64 * each).round() as u64
}

impl Device for Host {
    fn size(&self) -> u64 {
        self.storage.size()
    }

    fn begin(&mut self, now: Instant, command: Command) {
        self.pass(now);
        let pages = self.pages(&command);
        match command.action {
            Action::Read => self.begin_read(now, command),
            Action::Write(_) if self.spec.writes == WritePolicy::Through => {
                let job = self.job(command, HostStage::Storage, pages);
                self.begin_run(now, job);
            }
            Action::Write(_) => {
                let job = self.job(command, HostStage::Copy, pages);
                self.work(now, job, self.spec.cpu_hit);
            }
            Action::Flush => {
                let job = self.job(command, HostStage::Drain, 0..0);
                self.begin_flush(now, job);
            }
            Action::Compute { work_ns, touched } => {
                if let Some(client) = command.client {
                    self.touch_memory(client, touched);
                }
                let job = self.job(command, HostStage::Last, 0..0);
                self.work(now, job, work_ns);
            }
        }
    }

    fn next(&self) -> Option<Instant> {
        let own = first(self.cpu.next_done(), self.timers.next());
        first(own, self.storage.next())
    }

    fn cache_reads(&self) -> Option<CacheReads> {
        Some(self.cache_reads)
    }

    /// With a server behind a link, the storage is the server's disk.
    fn done(&self, now: Instant) -> Option<Done> {
        let mut own = self.done;
        own.held(now, self.cache.pages() as u64 * self.spec.page);
        own.pass(now, self.cpu.busy(), self.asked);
        let server = self.storage.done(now);
        Some(server.map_or(own, |server| own.on_server(&server)))
    }

    fn port(&mut self) -> Option<&mut Port> {
        self.storage.port()
    }

    fn array_state(&self) -> Option<ArrayState> {
        self.storage.array_state()
    }

    fn tape_stops(&self) -> Option<u64> {
        self.storage.tape_stops()
    }

    fn step(&mut self, now: Instant, answers: &mut Vec<Answer>) {
        self.pass(now);
        let mut done = Vec::new();
        loop {
            if self.storage.next().is_some_and(|at| at <= now) {
                self.storage.step(now, &mut done);
                for answer in done.drain(..) {
                    self.storage_done(now, &answer);
                    self.part_done(now, answer.tag, answers);
                }
            } else if let Some(job) = self.cpu.take_done(now) {
                self.part_done(now, job, answers);
            } else if self.timers.take(now).is_some() {
                self.is_destaging = true;
                self.destage(now);
            } else {
                break;
            }
        }
    }
}
