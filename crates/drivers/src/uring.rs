//! io_uring: one entry per request (two for a durable write), one system call per request at most.
//!
//! `submit` queues; a later `submit`, once the batch is full or old, or `wait` enters the kernel.
//! In a steady state one system call hands requests over *and* waits for the next completion. With
//! a batch of one, a second `submit` first sends the earlier one off. `issued` is stamped right
//! before the kernel is entered.
//!
//! Files are created, opened, closed and removed in place, by blocking calls, one per `wait`.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use engine::{Clock, Driver, DriverError, OwnWork};
use io_uring::{opcode, squeue, types};
use units::{Duration, Instant};
use workload::{Completion, Errno, Op, Request};

use crate::batch::Batch;
use crate::blocking::change_file;
use crate::buffers::BufferPool;
use crate::entry_watch::EntryWatch;
use crate::open::{DriverOptions, Notice};
use crate::payload::Payload;
use crate::table::TargetTable;
use crate::uring_compute::RingCompute;
use crate::uring_ring::{Features, Ring, RingWait};
use crate::uring_slot::{FLUSH_MARK, RequestOutcome, UringSlot};
use sys::{MonotonicClock, linger, pause, voluntary_switches, want_punctual_timers};

/// Marks the completion of a cancellation.
const CANCEL_MARK: u64 = 1 << 33;
/// Marks the end of the alarm.
const ALARM_MARK: u64 = 1 << 34;
/// Marks that threads have computed something.
const COMPUTE_MARK: u64 = 1 << 35;
/// A wait at least this long is ended by an alarm in the ring instead of a time limit of its own.
/// One alarm serves all waits until it rings, and a time limit would set and clear a timer for
/// each.
const ALARM_MIN: Duration = Duration::from_millis(2);
/// How long a driver that goes away waits for requests that it cancels. Nobody had the patience to
/// wait for their answers; those that cannot be cancelled stay with the kernel, with their memory.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(250);

/// Carries requests out through io_uring. It belongs to the thread that made it.
pub struct UringDriver {
    clock: MonotonicClock,
    targets: Arc<TargetTable>,
    payload: Payload,
    batch: Batch,
    awake: Duration,
    notice: Notice,
    features: Features,
    ring: ManuallyDrop<Ring>,
    buffers: ManuallyDrop<BufferPool>,
    slots: Vec<UringSlot>,
    free: Vec<u32>,
    /// Slots whose request is queued for the first time, to be stamped when the kernel is entered.
    fresh: Vec<u32>,
    /// Slots whose request must be sent again.
    again: Vec<u32>,
    /// What is not for the ring; bounded by the capacity.
    in_place: VecDeque<Request>,
    /// The threads that compute, where there are any.
    compute: Option<RingCompute>,
    blocked_until: Instant,
    own_work: OwnWork,
    watch: EntryWatch,
    /// Flags that every submission carries besides its own.
    entry_flags: squeue::Flags,
    /// When the alarm rings, while one is in the ring.
    alarm: Option<Instant>,
    /// What the alarm's entry points to until the kernel has taken it.
    alarm_span: Box<types::Timespec>,
    /// The kernel lets only the thread that made the ring use it.
    _bound_to_thread: PhantomData<*const ()>,
}

impl UringDriver {
    /// A driver for `options.depth` outstanding requests, made on the thread that will use it.
    ///
    /// # Errors
    /// When the kernel refuses a ring, or memory cannot be had.
    pub fn new(
        targets: &Arc<TargetTable>,
        clock: MonotonicClock,
        options: &DriverOptions,
    ) -> Result<Self, DriverError> {
        options.check()?;
        want_punctual_timers();
        let depth = options.depth;
        let buffers = options.buffers()?;
        let ring = Ring::new(options, targets, &buffers)?;
        Ok(Self {
            clock,
            targets: Arc::clone(targets),
            payload: options.payload.clone(),
            batch: Batch::new(options.uring.batch),
            awake: options.awake,
            notice: options.uring.notice,
            features: ring.features(),
            ring: ManuallyDrop::new(ring),
            slots: (0..depth).map(|_| UringSlot::empty()).collect(),
            // Taken from the end: few slots in use means few buffers in the processor's cache.
            free: (0..depth as u32).rev().collect(),
            fresh: Vec::with_capacity(depth),
            again: Vec::new(),
            in_place: VecDeque::new(),
            compute: RingCompute::new(&options.compute, clock)?,
            own_work: buffers.own_work(),
            buffers: ManuallyDrop::new(buffers),
            blocked_until: Instant::START,
            watch: match options.uring.notice {
                Notice::Interrupt => EntryWatch::new(depth),
                // Who polls waits on purpose.
                Notice::Poll => EntryWatch::new(1),
            },
            entry_flags: squeue::Flags::empty(),
            alarm: None,
            alarm_span: Box::default(),
            _bound_to_thread: PhantomData,
        })
    }

    /// What the kernel granted.
    pub fn features(&self) -> Features {
        self.features
    }

    /// Let threads of the kernel carry the requests out, so that entering it never waits for the
    /// storage.
    pub(crate) fn leave_to_kernel_threads(&mut self) {
        self.watch.stop();
        self.entry_flags = squeue::Flags::ASYNC;
        self.own_work.by_kernel_threads = true;
    }

    fn outstanding(&self) -> usize {
        self.in_kernel() + self.in_place.len()
    }

    fn in_kernel(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Queue a transfer or flush; its target may turn out not to be open.
    fn start(&mut self, request: Request) -> Result<Result<(), Errno>, DriverError> {
        let handle = match self.targets.handle(request.op.target()) {
            Ok(handle) => handle,
            Err(error) => return Ok(Err(error)),
        };
        let len = request.op.len() as usize;
        let longest = self.buffers.buffer_len();
        assert!(
            len <= longest,
            "a transfer of {len} bytes, but buffers hold {longest}"
        );
        let index = self
            .free
            .pop()
            .expect("a slot is free for each request within capacity");
        let place = index as usize;
        let memory = match request.op {
            Op::Write { .. } => self.buffers.write_place(place, len),
            _ => self.buffers.read_place(place),
        };
        // SAFETY: the slot is free, so the kernel has nothing to do with its stripe, of which `len`
        // bytes from `memory` on are ours.
        let bytes = unsafe { std::slice::from_raw_parts_mut(memory, len) };
        let target = self.targets.stamp_id(request.op.target());
        let ticket = self.payload.begin(&request, target, bytes);
        let (files, piece) = (self.features.registered_files, self.ring.piece_of(index));
        self.slots[place] = UringSlot::new(request, &handle, memory, (files, piece)).with(ticket);
        if self.fresh.is_empty() {
            let clock = self.clock;
            self.batch.begin(|| clock.now());
        }
        self.fresh.push(index);
        self.queue(index)?;
        Ok(Ok(()))
    }

    /// Put what is left of a slot's request into the submission queue.
    fn queue(&mut self, index: u32) -> Result<(), DriverError> {
        while self.ring.room() < 2 {
            self.enter(RingWait::Poll)?;
        }
        let slot = &mut self.slots[index as usize];
        let (first, second) = slot.entries(index);
        slot.awaited = 1 + u8::from(second.is_some());
        slot.outcome = RequestOutcome::Good;
        // SAFETY: the slot's memory is its own and stays so until `awaited` completions were seen;
        // `drop` keeps ring and memory until then, or for ever.
        unsafe {
            self.ring.push(&first.flags(self.entry_flags));
            if let Some(second) = second {
                self.ring.push(&second.flags(self.entry_flags));
            }
        }
        Ok(())
    }

    /// Stamp what enters the kernel for the first time, and enter.
    #[inline]
    fn enter(&mut self, patience: RingWait) -> Result<(), DriverError> {
        if !self.fresh.is_empty() {
            let now = self.clock.now();
            self.stamp(now);
        }
        self.ring.enter(patience)
    }

    /// Let what is queued enter the kernel, and note how long that took: by so much at most an
    /// operation may have begun later than its stamp says.
    fn hand_over(&mut self) -> Result<(), DriverError> {
        let switches = self.watch.is_due().then(voluntary_switches);
        self.watch.pass();
        let issued = self.clock.now();
        self.stamp(issued);
        self.ring.enter(RingWait::Submit)?;
        let length = self.clock.now().since(issued);
        let own = &mut self.own_work;
        own.entries_timed += 1;
        own.entries_timed_ns += length.as_nanos();
        own.entry_longest_ns = own.entry_longest_ns.max(length.as_nanos());
        if let Some(before) = switches {
            self.judge_entry(voluntary_switches() > before, length);
        }
        Ok(())
    }

    #[cold]
    fn judge_entry(&mut self, slept: bool, length: Duration) {
        let is_held_up = self.watch.note(slept, length, self.batch.median());
        self.own_work.entries_held_up += u64::from(is_held_up);
        if self.watch.is_held_up() {
            self.leave_to_kernel_threads();
        }
    }

    #[inline]
    fn stamp(&mut self, now: Instant) {
        for index in self.fresh.drain(..) {
            self.slots[index as usize].issued = now;
        }
    }

    /// Collect what is finished; send again what is not whole.
    fn reap(&mut self, done: &mut Vec<Completion>) -> Result<(), DriverError> {
        let Self {
            ring,
            slots,
            free,
            again,
            targets,
            payload,
            clock,
            alarm,
            compute,
            batch,
            ..
        } = self;
        let results = ring.results();
        if results.is_empty() {
            return Ok(());
        }
        let completed = clock.now();
        for result in results {
            let mark = result.user_data();
            if mark & ALARM_MARK != 0 {
                *alarm = None;
                continue;
            }
            if mark & CANCEL_MARK != 0 {
                continue;
            }
            if mark & COMPUTE_MARK != 0 {
                if let Some(compute) = compute {
                    compute.note_event();
                    compute.take(done);
                }
                continue;
            }
            let index = mark as u32;
            let slot = &mut slots[index as usize];
            slot.awaited -= 1;
            if mark & FLUSH_MARK == 0 {
                slot.note_transfer(result.result(), targets);
            } else {
                slot.note_flush(result.result());
            }
            if slot.awaited > 0 {
                continue;
            }
            if slot.outcome == RequestOutcome::Incomplete {
                again.push(index);
                continue;
            }
            batch.note_done(completed.since(slot.issued));
            done.push(slot.finish(completed, payload, targets));
            free.push(index);
        }
        while let Some(index) = self.again.pop() {
            self.queue(index)?;
        }
        Ok(())
    }

    /// How long to stay in the kernel when `deadline` is `left` away.
    #[inline]
    fn patience(&mut self, now: Instant, deadline: Instant, left: Duration) -> RingWait {
        if self.notice == Notice::Poll {
            // A ring that polls knows neither alarms nor limits of time.
            return RingWait::Poll;
        }
        let Some(span) = pause(left, self.awake) else {
            return RingWait::Poll;
        };
        match self.alarm {
            Some(at) if now < at && at <= deadline => RingWait::Forever,
            None if span >= ALARM_MIN && self.ring.room() > 0 => {
                self.set_alarm(now, span);
                RingWait::Forever
            }
            _ => RingWait::AtMost(span),
        }
    }

    /// Whether threads compute something.
    fn is_computing(&self) -> bool {
        self.compute.as_ref().is_some_and(RingCompute::is_busy)
    }

    /// Let the end of processor work end a wait in the kernel.
    fn poll_compute(&mut self) -> Result<(), DriverError> {
        let entry = match &mut self.compute {
            Some(compute) => compute.poll_entry(COMPUTE_MARK),
            None => None,
        };
        let Some(entry) = entry else { return Ok(()) };
        while self.ring.room() < 1 {
            self.enter(RingWait::Poll)?;
        }
        // SAFETY: a poll refers to no memory, and its descriptor lives as long as the driver.
        unsafe { self.ring.push(&entry) };
        Ok(())
    }

    fn set_alarm(&mut self, now: Instant, span: Duration) {
        let nanos = span.as_nanos();
        *self.alarm_span = types::Timespec::new()
            .sec(nanos / 1_000_000_000)
            .nsec((nanos % 1_000_000_000) as u32);
        let entry = opcode::Timeout::new(&raw const *self.alarm_span)
            .build()
            .user_data(ALARM_MARK);
        // SAFETY: the span lives as long as the driver, and does not change before the next alarm,
        // when this one is over; the kernel reads it when it takes the entry.
        unsafe { self.ring.push(&entry) };
        self.alarm = Some(now + span);
    }

    /// Do the oldest thing that is not for the ring. Requests of others do not wait for it.
    fn work_in_place(&mut self, done: &mut Vec<Completion>) -> Result<(), DriverError> {
        let Some(request) = self.in_place.pop_front() else {
            return Ok(());
        };
        self.enter(RingWait::Submit)?;
        let issued = self.clock.now();
        let result = match request.op {
            Op::Read { .. } | Op::Write { .. } | Op::Flush { .. } | Op::WriteOut { .. } => {
                // Its target was not open when it came; it is opened now, or has been since.
                match self.start(request)? {
                    Ok(()) => {
                        self.blocked_until = self.clock.now();
                        return Ok(());
                    }
                    Err(error) => Err(error),
                }
            }
            _ => change_file(&self.targets, request.op),
        };
        let completed = self.clock.now();
        self.blocked_until = completed;
        done.push(Completion {
            request,
            issued,
            completed,
            result,
        });
        self.enter(RingWait::Poll)?;
        self.reap(done)
    }
}

impl Clock for UringDriver {
    #[inline]
    fn now(&self) -> Instant {
        self.clock.now()
    }
}

impl Driver for UringDriver {
    fn capacity(&self) -> usize {
        self.slots.len()
    }

    fn submit(&mut self, request: Request) -> Result<(), DriverError> {
        if request.op.is_compute() {
            let compute = self.compute.as_mut();
            compute
                .expect("the driver was opened without threads that compute")
                .submit(request);
            return Ok(());
        }
        let capacity = self.capacity();
        assert!(
            self.outstanding() < capacity,
            "more requests than the driver takes"
        );
        let clock = self.clock;
        if self.batch.is_due(self.fresh.len(), || clock.now()) {
            self.hand_over()?;
        }
        match request.op {
            Op::Read { .. } | Op::Write { .. } | Op::Flush { .. } | Op::WriteOut { .. } => {
                let is_closed = self.targets.is_closed(request.op.target());
                if is_closed || self.start(request)?.is_err() {
                    self.in_place.push_back(request);
                }
            }
            _ => self.in_place.push_back(request),
        }
        Ok(())
    }

    fn wait(
        &mut self,
        deadline: Option<Instant>,
        done: &mut Vec<Completion>,
    ) -> Result<(), DriverError> {
        let before = done.len();
        while !self.in_place.is_empty() {
            self.work_in_place(done)?;
            if done.len() > before {
                return Ok(());
            }
        }
        if self.in_kernel() == 0 && !self.is_computing() {
            let deadline = deadline.ok_or(DriverError::Idle)?;
            let awake = self.clock.wait_until(deadline, self.awake);
            self.own_work.awake_ns += awake.as_nanos();
            return Ok(());
        }
        if self.fresh.is_empty() {
            self.reap(done)?;
        }
        while done.len() == before {
            self.poll_compute()?;
            let now = self.clock.now();
            let left = deadline.map(|deadline| deadline.since(now));
            let patience = match deadline.zip(left) {
                None => RingWait::Forever,
                Some((deadline, left)) => self.patience(now, deadline, left),
            };
            if !self.fresh.is_empty() {
                if self.watch.is_due() {
                    self.hand_over()?;
                } else {
                    self.watch.pass();
                    self.stamp(now);
                }
            }
            self.ring.enter(patience)?;
            self.reap(done)?;
            if left == Some(Duration::ZERO) {
                break;
            }
            if patience == RingWait::Poll && done.len() == before {
                if self.notice == Notice::Interrupt {
                    linger();
                }
                self.own_work.awake_ns += self.clock.now().since(now).as_nanos();
            }
        }
        Ok(())
    }

    #[inline]
    fn rest(&mut self, deadline: Instant, done: &mut Vec<Completion>) -> Result<(), DriverError> {
        let awake = std::mem::take(&mut self.awake);
        let rested = self.wait(Some(deadline), done);
        self.awake = awake;
        rested
    }

    fn blocked_until(&self) -> Instant {
        self.blocked_until
    }

    fn kernel_entries(&self) -> u64 {
        self.ring.entries()
    }

    fn own_work(&self) -> OwnWork {
        self.own_work
    }
}

impl Drop for UringDriver {
    fn drop(&mut self) {
        if self.in_kernel() > 0 && !self.take_leave() {
            // The kernel may still write into the memory, so it must never be used again. Both are
            // leaked on purpose.
            return;
        }
        // SAFETY: each is dropped once, here, and not used afterwards. The ring goes first: it has
        // the memory registered.
        unsafe {
            ManuallyDrop::drop(&mut self.ring);
            ManuallyDrop::drop(&mut self.buffers);
        }
    }
}

impl UringDriver {
    /// Cancel what is in flight and wait until it is done; false if it did not end in time.
    fn take_leave(&mut self) -> bool {
        let all = types::CancelBuilder::any();
        let cancel = opcode::AsyncCancel2::new(all)
            .build()
            .user_data(CANCEL_MARK);
        let give_up = self.clock.now() + SHUTDOWN_TIMEOUT;
        let mut done = Vec::new();
        if self.enter(RingWait::Submit).is_err() {
            return false;
        }
        let can_cancel = self.notice == Notice::Interrupt;
        if can_cancel && self.ring.room() > 0 {
            // SAFETY: a cancellation refers to no memory.
            unsafe { self.ring.push(&cancel) };
        }
        // A cancelled request comes back as such and must not be sent again.
        for slot in &mut self.slots {
            slot.give_up();
        }
        while self.in_kernel() > 0 {
            let now = self.clock.now();
            if now >= give_up {
                return false;
            }
            let entered = self.enter(match self.notice {
                Notice::Interrupt => RingWait::AtMost(give_up.since(now)),
                Notice::Poll => RingWait::Poll,
            });
            if entered.is_err() || self.reap(&mut done).is_err() {
                return false;
            }
        }
        true
    }
}
