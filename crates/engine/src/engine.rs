//! The event loop: timers, backlog, hand-out, completions.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use units::{Duration, Instant};
use workload::{Agenda, Client, ClientId, Completion, Event, IoPriority, Op, Request, Wanted};

use crate::driver::{Driver, DriverError};
use crate::follow::Follower;
use crate::recorder::{KindSet, Record, Recorder, RecorderOptions, Unfinished};
use crate::rows::Membership;

/// Requests that may wait for room before the load counts as more than can be taken, unless
/// [`Engine::with_backlog`] says otherwise.
pub const BACKLOG_MAX: usize = 1 << 20;
/// Timers that fire before the driver is asked again what is done: arrivals that fall due faster
/// than they are handed out must not keep completions waiting.
const TIMERS_TOGETHER: usize = 256;
/// What is due this much later than the end of a slice does not suffer when the sleep until that
/// end lasts too long. It is several times what a processor takes to wake.
const PUNCTUAL: Duration = Duration::from_micros(250);

/// How an engine is set up.
#[derive(Clone, Copy, Debug)]
pub struct EngineOptions {
    /// When the trial begins.
    pub start: Instant,
    /// Length of a base slot.
    pub slot_width: Duration,
    /// Completions that are units of work.
    pub counted: KindSet,
    /// The number of this engine's first client; the next has this plus `stride`.
    pub first_client: u32,
    /// Number of engines among which the clients are dealt.
    pub stride: u32,
}

/// What a failed operation does to a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// It ends the trial.
    #[default]
    Stop,
    /// It is counted, and the trial goes on.
    Count,
}

/// What the storage has to do, as an engine knows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outstanding {
    /// Operations that it has and has not answered.
    pub operations: u64,
    /// Operations that it has answered since the start, processor work included.
    pub answered: u64,
}

/// Where an engine stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineState {
    /// There is more to do.
    Running,
    /// Every client has finished and nothing is in flight.
    Finished,
    /// Open arrivals outran what is done by as many requests as may wait.
    Overloaded,
}

/// One worker's clients and the driver that performs their requests.
pub struct Engine<D, C> {
    driver: D,
    clients: Vec<C>,
    finished: Vec<bool>,
    finished_count: usize,
    options: EngineOptions,
    timers: BinaryHeap<Reverse<Timer>>,
    timer_sequence: u64,
    backlog: VecDeque<Request>,
    backlog_max: usize,
    on_error: OnError,
    in_flight: usize,
    /// The sum of the instants at which these were due, modulo 2^64: what is known of them without
    /// a list.
    in_flight_due: u64,
    /// Requests for work of a processor, which take no room.
    computing: usize,
    /// Requests that were done, of either.
    answered: u64,
    capacity: usize,
    /// The loop's present instant.
    now: Instant,
    /// Until when the driver was last full, and since when it is full (again). A request that fell
    /// due while there was room and is noticed only now was missed by us, not held up by storage.
    full_until: Instant,
    full_since: Instant,
    agenda: Agenda,
    done: Vec<Completion>,
    recorder: Recorder,
    started: bool,
}

/// Something that becomes due. The sequence number orders what is due at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Timer {
    at: Instant,
    sequence: u64,
    client: u32,
    /// The operation to issue; `None` wakes the client.
    wanted: Option<Wanted>,
}

impl Ord for Timer {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.sequence).cmp(&(other.at, other.sequence))
    }
}

impl PartialOrd for Timer {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<D: Driver, C: Client> Engine<D, C> {
    /// An engine at rest.
    pub fn new(driver: D, clients: Vec<C>, options: EngineOptions) -> Self {
        let capacity = driver.capacity();
        assert!(capacity > 0, "a driver must take at least one request");
        let count = clients.len();
        Self {
            driver,
            finished: vec![false; count],
            finished_count: 0,
            timers: BinaryHeap::with_capacity(count),
            timer_sequence: 0,
            backlog: VecDeque::new(),
            backlog_max: BACKLOG_MAX,
            on_error: OnError::Stop,
            in_flight: 0,
            in_flight_due: 0,
            computing: 0,
            answered: 0,
            capacity,
            now: Instant::START,
            full_until: Instant::START,
            full_since: Instant::START,
            agenda: Agenda::default(),
            done: Vec::with_capacity(capacity.min(4096)),
            recorder: Recorder::new(RecorderOptions {
                start: options.start,
                slot_width: options.slot_width,
                counted: options.counted,
                clients: count,
            }),
            clients,
            options,
            started: false,
        }
    }

    /// Let so many requests wait for room.
    #[must_use]
    pub const fn with_backlog(mut self, backlog_max: usize) -> Self {
        self.backlog_max = backlog_max;
        self
    }

    /// Let a failed operation end the trial, or not.
    #[must_use]
    pub const fn with_errors(mut self, on_error: OnError) -> Self {
        self.on_error = on_error;
        self
    }

    /// File the times of each client under its row as well.
    #[must_use]
    pub fn with_rows(mut self, members: Vec<Membership>) -> Self {
        self.recorder.file_by_row(members);
        self
    }

    /// Pass each success on to an observer.
    #[must_use]
    pub fn with_follower(mut self, follower: Option<Arc<dyn Follower>>) -> Self {
        if let Some(follower) = follower {
            self.recorder.follow(follower);
        }
        self
    }

    /// Whether an operation failed that ends the trial.
    pub const fn has_failed(&self) -> bool {
        matches!(self.on_error, OnError::Stop) && self.recorder.errors_total() > 0
    }

    /// What the storage has to do.
    pub const fn outstanding(&self) -> Outstanding {
        Outstanding {
            operations: self.in_flight as u64,
            answered: self.answered,
        }
    }

    /// Run until `end`, or until there is nothing left to do.
    ///
    /// # Errors
    /// When the driver is broken.
    pub fn run_until(&mut self, end: Instant) -> Result<EngineState, DriverError> {
        if !self.started {
            self.start()?;
        }
        let mut now = self.driver.now();
        loop {
            self.now = now;
            self.fire_timers(now)?;
            if self.backlog.len() > self.backlog_max {
                return Ok(EngineState::Overloaded);
            }
            if self.finished_count == self.clients.len() && self.is_idle() {
                self.recorder.close_until(now);
                return Ok(EngineState::Finished);
            }
            if now >= end {
                self.recorder.close_until(end);
                return Ok(EngineState::Running);
            }
            let due = self
                .timers
                .peek()
                .map_or(Instant::NEVER, |Reverse(timer)| timer.at);
            if due.since(end) > PUNCTUAL {
                self.driver.rest(end, &mut self.done)?;
            } else {
                self.driver.wait(Some(due.min(end)), &mut self.done)?;
            }
            now = match self.done.last() {
                Some(last) => last.completed,
                None => self.driver.now(),
            };
            self.now = now;
            self.take_completions(now)?;
        }
    }

    /// Take one more client, which starts at the present instant if the others have started. The
    /// client that finishes makes no room: it keeps its number.
    ///
    /// # Errors
    /// When the driver is broken.
    pub fn add_client(&mut self, client: C) -> Result<ClientId, DriverError> {
        let index = self.clients.len();
        self.clients.push(client);
        self.finished.push(false);
        self.recorder.add_client();
        if self.started {
            let now = self.driver.now();
            self.now = now;
            self.notify(index, Event::Started { at: now }, now)?;
        }
        Ok(self.id_of(index))
    }

    /// File what is due and not done at `end`, when the trial ends, which is not before the last
    /// call of [`Engine::run_until`] returned.
    pub fn note_unfinished(&mut self, end: Instant) {
        let end = self.count_unfinished(end);
        self.give_up(end);
    }

    /// The same, once the storage has answered what it still had at `end`: how long that took is
    /// then known. Nothing new is issued. Whether to wait on is asked after each answer, and after
    /// each `look_every` without one.
    ///
    /// # Errors
    /// When the driver is broken.
    pub fn drain(
        &mut self,
        end: Instant,
        look_every: Duration,
        goes_on: &mut dyn FnMut(Instant, Outstanding) -> bool,
    ) -> Result<(), DriverError> {
        let end = self.count_unfinished(end);
        loop {
            let now = self.driver.now();
            if self.in_flight == 0 || !goes_on(now, self.outstanding()) {
                break;
            }
            self.driver.wait(Some(now + look_every), &mut self.done)?;
            self.count_completions();
            let unfinished = self.recorder.unfinished_mut();
            for done in self.done.drain(..) {
                if !done.request.op.is_compute() {
                    unfinished.note_done(&done, end);
                }
            }
        }
        let now = self.driver.now().max(end);
        self.give_up(now);
        Ok(())
    }

    fn count_unfinished(&mut self, end: Instant) -> Instant {
        let end = end.max(self.now);
        let mut unfinished = Unfinished {
            with_storage: self.in_flight as u64,
            with_storage_ns: self.in_flight_waits(end),
            ..Unfinished::default()
        };
        for request in &self.backlog {
            unfinished.note_waiting(end.since(request.due));
        }
        self.recorder.set_unfinished(unfinished);
        let unfinished = self.finished.iter().enumerate().filter(|(_, it)| !**it);
        for (index, _) in unfinished {
            self.recorder.note_end(index, end);
        }
        end
    }

    /// What the storage still has is known by the sum of its waits alone.
    fn give_up(&mut self, at: Instant) {
        let left = self.in_flight as u64;
        let waits = self.in_flight_waits(at);
        let unfinished = self.recorder.unfinished_mut();
        if let Some(mean) = waits.checked_div(left) {
            unfinished.times.record_n(mean, left);
        }
    }

    /// The sum of the waits of what the storage has, nanoseconds.
    const fn in_flight_waits(&self, at: Instant) -> u64 {
        let whole = at.0.wrapping_mul(self.in_flight as u64);
        whole.wrapping_sub(self.in_flight_due)
    }

    /// The recorder, for its slots and error count.
    pub fn recorder_mut(&mut self) -> &mut Recorder {
        &mut self.recorder
    }

    pub const fn driver(&self) -> &D {
        &self.driver
    }

    /// The present instant on the driver's clock.
    pub fn now(&self) -> Instant {
        self.driver.now()
    }

    /// What was recorded, and the driver for further use.
    pub fn into_parts(self) -> (Record, D) {
        (self.recorder.to_record(), self.driver)
    }

    fn is_idle(&self) -> bool {
        self.in_flight == 0
            && self.computing == 0
            && self.backlog.is_empty()
            && self.timers.is_empty()
    }

    fn start(&mut self) -> Result<(), DriverError> {
        self.started = true;
        let at = self.options.start;
        let now = self.driver.now();
        self.now = now;
        for index in 0..self.clients.len() {
            self.notify(index, Event::Started { at }, now)?;
        }
        Ok(())
    }

    #[inline]
    fn take_completions(&mut self, now: Instant) -> Result<(), DriverError> {
        let was_full = self.in_flight == self.capacity;
        let freed = self.count_completions();
        if let (true, Some(freed)) = (was_full, freed) {
            self.full_until = freed;
        }
        let mut done = std::mem::take(&mut self.done);
        for completion in &done {
            if !self.backlog.is_empty() {
                self.hand_out_backlog(completion.completed)?;
            }
            let index = self.index_of(completion.request.client);
            self.recorder.record(completion, index);
            self.notify(index, Event::Completed(completion), now)?;
        }
        done.clear();
        self.done = done;
        Ok(())
    }

    /// Take what is done from what is outstanding; says when the first made room, if one did.
    #[inline]
    fn count_completions(&mut self) -> Option<Instant> {
        let computed = match self.computing {
            0 => 0,
            _ => self
                .done
                .iter()
                .filter(|done| done.request.op.is_compute())
                .count(),
        };
        self.computing -= computed;
        self.in_flight -= self.done.len() - computed;
        self.answered += self.done.len() as u64;
        for done in &self.done {
            if computed == 0 || !done.request.op.is_compute() {
                self.in_flight_due = self.in_flight_due.wrapping_sub(done.request.due.0);
            }
        }
        if computed == 0 {
            return self.done.first().map(|first| first.completed);
        }
        let mut of_storage = self
            .done
            .iter()
            .filter(|done| !done.request.op.is_compute());
        of_storage.next().map(|first| first.completed)
    }

    #[inline]
    fn fire_timers(&mut self, now: Instant) -> Result<(), DriverError> {
        for _ in 0..TIMERS_TOGETHER {
            let Some(Reverse(timer)) = self.timers.peek().copied() else {
                break;
            };
            if timer.at > now {
                break;
            }
            self.timers.pop();
            match timer.wanted {
                Some(it) => {
                    let index = timer.client as usize;
                    self.hand_out(index, (it.due, timer.at), it.op, it.priority)?;
                }
                None => self.notify(timer.client as usize, Event::Due { at: timer.at }, now)?,
            }
        }
        Ok(())
    }

    /// Report a completion to its client, and perform what the client adds to the agenda.
    #[inline]
    fn notify(&mut self, index: usize, event: Event<'_>, now: Instant) -> Result<(), DriverError> {
        self.clients[index].on_event(event, &mut self.agenda);
        // What was due before the client could ask for it is the client's lag, not our lateness.
        let asked = match event {
            Event::Started { at } | Event::Due { at } => at,
            Event::Completed(completion) => completion.completed,
        };
        if !self.agenda.units.is_empty() {
            for unit in self.agenda.units.drain(..) {
                self.recorder.record_unit(&unit, index);
            }
        }
        for place in 0..self.agenda.issues.len() {
            let Wanted { due, op, priority } = self.agenda.issues[place];
            if due <= now {
                self.hand_out(index, (due, asked), op, priority)?;
            } else {
                self.set_timer(due, index, Some(Wanted { due, op, priority }));
            }
        }
        self.agenda.issues.clear();
        if let Some(at) = self.agenda.wake.take() {
            self.set_timer(at, index, None);
        }
        if self.agenda.finished {
            self.agenda.finished = false;
            if let Some(missed) = self.agenda.missed.take() {
                self.recorder.note_miss(index, missed);
            }
            self.note_finished(index, asked);
        }
        Ok(())
    }

    #[cold]
    fn note_finished(&mut self, index: usize, at: Instant) {
        if !self.finished[index] {
            self.finished[index] = true;
            self.finished_count += 1;
            self.recorder.record_left(index, at);
        }
    }

    #[inline]
    fn hand_out(
        &mut self,
        index: usize,
        (due, asked): (Instant, Instant),
        op: Op,
        priority: IoPriority,
    ) -> Result<(), DriverError> {
        let client = self.id_of(index);
        let mut request = Request::new(client, due, op);
        request.priority = priority;
        if op.is_compute() {
            // A processor is no storage: its work waits for nothing but the processor.
            request.ready = due.max(asked).max(self.driver.blocked_until());
            self.computing += 1;
            return self.driver.submit(request);
        }
        let had_room = due.max(asked).max(self.full_until);
        if self.in_flight < self.capacity && self.backlog.is_empty() {
            request.ready = had_room.max(self.driver.blocked_until());
            self.count_in(due);
            if self.in_flight == self.capacity {
                self.full_since = self.now;
            }
            return self.driver.submit(request);
        }
        request.ready = if had_room < self.full_since {
            had_room
        } else {
            Instant::NEVER
        };
        self.backlog.push_back(request);
        Ok(())
    }

    /// Give waiting requests the room that a completion made at `room_since`.
    fn hand_out_backlog(&mut self, room_since: Instant) -> Result<(), DriverError> {
        while self.in_flight < self.capacity {
            let Some(mut request) = self.backlog.pop_front() else {
                break;
            };
            if request.ready == Instant::NEVER {
                request.ready = request.due.max(room_since).max(self.driver.blocked_until());
            }
            self.count_in(request.due);
            self.driver.submit(request)?;
        }
        Ok(())
    }

    #[inline]
    const fn count_in(&mut self, due: Instant) {
        self.in_flight += 1;
        self.in_flight_due = self.in_flight_due.wrapping_add(due.0);
    }

    fn set_timer(&mut self, at: Instant, index: usize, wanted: Option<Wanted>) {
        let sequence = self.timer_sequence;
        self.timer_sequence += 1;
        self.timers.push(Reverse(Timer {
            at,
            sequence,
            client: index as u32,
            wanted,
        }));
    }

    #[inline]
    const fn id_of(&self, index: usize) -> ClientId {
        ClientId(self.options.first_client + index as u32 * self.options.stride)
    }

    #[inline]
    fn index_of(&self, client: ClientId) -> usize {
        if self.options.stride == 1 {
            return (client.0 - self.options.first_client) as usize;
        }
        ((client.0 - self.options.first_client) / self.options.stride) as usize
    }
}
