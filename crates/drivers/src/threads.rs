//! Blocking system calls: in place with one request outstanding, else by a pool of threads.
//!
//! In place, a request that has begun cannot be cut short: `wait` then returns when it is done,
//! even if the deadline came first, and `blocked_until` says until when.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use engine::{Clock, Driver, DriverError, OwnWork};
use units::{Duration, Instant};
use workload::{Completion, Op, Request};

use crate::blocking::{TransferMemory, carry_out};
use crate::buffers::BufferPool;
use crate::compute::ComputePool;
use crate::open::{DriverOptions, THREADS_MAX};
use crate::payload::Payload;
use crate::table::TargetTable;
use sys::{MonotonicClock, linger, pause, want_punctual_timers};

/// A stack for threads that call little else than the kernel: thousands of them must fit.
pub const IO_STACK_BYTES: usize = 128 << 10;

/// Carries requests out by blocking system calls.
#[derive(Debug)]
pub struct ThreadsDriver {
    clock: MonotonicClock,
    capacity: usize,
    outstanding: usize,
    /// Work of a processor that is under way.
    computing: usize,
    awake: Duration,
    blocked_until: Instant,
    kernel_entries: u64,
    own_work: OwnWork,
    place: ExecutionMode,
}

#[derive(Debug)]
enum ExecutionMode {
    InPlace {
        hand: Box<RequestExecutor>,
        next: Option<Request>,
    },
    Pool(ThreadPool),
}

/// What it takes to carry out one request at a time.
#[derive(Debug)]
struct RequestExecutor {
    targets: Arc<TargetTable>,
    clock: MonotonicClock,
    payload: Payload,
    buffers: BufferPool,
}

impl ThreadsDriver {
    /// A driver for `options.depth` outstanding requests. It may be made on any thread, but its
    /// waits are most punctual on the one that made it.
    ///
    /// # Errors
    /// When memory or threads cannot be had.
    pub fn new(
        targets: &Arc<TargetTable>,
        clock: MonotonicClock,
        options: &DriverOptions,
    ) -> Result<Self, DriverError> {
        options.check()?;
        let options = &DriverOptions {
            depth: options.depth.min(THREADS_MAX),
            ..options.clone()
        };
        want_punctual_timers();
        let buffers = options.buffers()?;
        let own_work = buffers.own_work();
        let place = if options.depth == 1 && options.compute.threads == 0 {
            let hand = Box::new(RequestExecutor::new(targets, clock, options, buffers));
            ExecutionMode::InPlace { hand, next: None }
        } else {
            ExecutionMode::Pool(ThreadPool::new(targets, clock, options, buffers)?)
        };
        Ok(Self {
            clock,
            capacity: options.depth,
            outstanding: 0,
            computing: 0,
            awake: options.awake,
            blocked_until: Instant::START,
            kernel_entries: 0,
            own_work,
            place,
        })
    }
}

impl Clock for ThreadsDriver {
    fn now(&self) -> Instant {
        self.clock.now()
    }
}

impl Driver for ThreadsDriver {
    fn capacity(&self) -> usize {
        self.capacity
    }

    fn submit(&mut self, request: Request) -> Result<(), DriverError> {
        if request.op.is_compute() {
            let ExecutionMode::Pool(pool) = &self.place else {
                panic!("the driver was opened without threads that compute");
            };
            self.computing += 1;
            pool.compute(request);
            return Ok(());
        }
        assert!(
            self.outstanding < self.capacity,
            "more requests than the driver takes"
        );
        self.outstanding += 1;
        self.kernel_entries += 1;
        match &mut self.place {
            ExecutionMode::InPlace { next, .. } => *next = Some(request),
            ExecutionMode::Pool(pool) => pool.hand_out(request),
        }
        Ok(())
    }

    fn wait(
        &mut self,
        deadline: Option<Instant>,
        done: &mut Vec<Completion>,
    ) -> Result<(), DriverError> {
        if self.outstanding + self.computing == 0 {
            let deadline = deadline.ok_or(DriverError::Idle)?;
            let awake = self.clock.wait_until(deadline, self.awake);
            self.own_work.awake_ns += awake.as_nanos();
            return Ok(());
        }
        let before = done.len();
        match &mut self.place {
            ExecutionMode::InPlace { hand, next } => {
                let completion = hand.carry_out(next.take().expect("one request is outstanding"));
                self.blocked_until = completion.completed;
                done.push(completion);
                self.outstanding = 0;
                return Ok(());
            }
            ExecutionMode::Pool(pool) => {
                let awake = pool.wait(self.clock, deadline, self.awake, done);
                self.own_work.awake_ns += awake.as_nanos();
            }
        }
        let new = &done[before..];
        let computed = match self.computing {
            0 => 0,
            _ => new
                .iter()
                .filter(|done| done.request.op.is_compute())
                .count(),
        };
        self.computing -= computed;
        self.outstanding -= new.len() - computed;
        Ok(())
    }

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
        self.kernel_entries
    }

    fn own_work(&self) -> OwnWork {
        self.own_work
    }
}

impl RequestExecutor {
    fn new(
        targets: &Arc<TargetTable>,
        clock: MonotonicClock,
        options: &DriverOptions,
        buffers: BufferPool,
    ) -> Self {
        Self {
            targets: Arc::clone(targets),
            clock,
            payload: options.payload.clone(),
            buffers,
        }
    }

    fn carry_out(&mut self, request: Request) -> Completion {
        let len = request.op.memory_len() as usize;
        let longest = self.buffers.buffer_len();
        assert!(
            len <= longest,
            "a transfer of {len} bytes, but buffers hold {longest}"
        );
        let start = match request.op {
            Op::Write { .. } => self.buffers.write_place(0, len),
            _ => self.buffers.read_place(0),
        };
        let mut memory = TransferMemory { start, len };
        let issued = self.clock.now();
        let result = carry_out(&self.targets, &request, &mut memory, &self.payload);
        let completed = self.clock.now();
        Completion {
            request,
            issued,
            completed,
            result,
        }
    }
}

/// Threads that take requests from one queue.
#[derive(Debug)]
struct ThreadPool {
    shared: Arc<SharedQueue>,
    threads: Vec<JoinHandle<()>>,
    compute: Option<ComputePool>,
}

#[derive(Debug, Default)]
struct SharedQueue {
    state: Mutex<QueueState>,
    work_is_there: Condvar,
    result_is_there: Condvar,
}

/// Bounded by the driver's capacity, which `submit` checks.
#[derive(Debug, Default)]
struct QueueState {
    todo: VecDeque<Request>,
    done: Vec<Completion>,
    is_over: bool,
}

impl ThreadPool {
    fn new(
        targets: &Arc<TargetTable>,
        clock: MonotonicClock,
        options: &DriverOptions,
        buffers: BufferPool,
    ) -> Result<Self, DriverError> {
        // Made first, so that threads started before a failure are ended by its drop.
        let shared: Arc<SharedQueue> = Arc::default();
        let queue = Arc::clone(&shared);
        let deliver = Arc::new(move |completion| queue.deliver(completion));
        let mut pool = Self {
            compute: ComputePool::new(&options.compute, clock, deliver)?,
            shared,
            threads: Vec::new(),
        };
        for (number, buffer) in buffers.apart().enumerate() {
            let mut hand = RequestExecutor::new(targets, clock, options, buffer);
            let shared = Arc::clone(&pool.shared);
            let thread = std::thread::Builder::new()
                .name(format!("io-{number}"))
                .stack_size(IO_STACK_BYTES)
                .spawn(move || shared.serve(&mut hand));
            pool.threads
                .push(thread.map_err(|error| DriverError::System {
                    operation: "starting a thread",
                    reason: error.to_string(),
                })?);
        }
        Ok(pool)
    }

    fn hand_out(&self, request: Request) {
        self.shared.state().todo.push_back(request);
        self.shared.work_is_there.notify_one();
    }

    fn compute(&self, request: Request) {
        let pool = self.compute.as_ref();
        pool.expect("the driver was opened with threads that compute")
            .submit(request);
    }

    /// Wait for results; tells how long it was awake for the deadline alone.
    fn wait(
        &self,
        clock: MonotonicClock,
        deadline: Option<Instant>,
        awake: Duration,
        done: &mut Vec<Completion>,
    ) -> Duration {
        let mut spent_awake = Duration::ZERO;
        let mut state = self.shared.state();
        while state.done.is_empty() {
            let Some(deadline) = deadline else {
                let woken = self.shared.result_is_there.wait(state);
                state = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let now = clock.now();
            let left = deadline.since(now);
            if left == Duration::ZERO {
                return spent_awake;
            }
            let Some(span) = pause(left, awake) else {
                // The threads need the lock to deliver what they have.
                drop(state);
                linger();
                spent_awake += clock.now().since(now);
                state = self.shared.state();
                continue;
            };
            let woken = self
                .shared
                .result_is_there
                .wait_timeout(state, span.to_std());
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        done.append(&mut state.done);
        spent_awake
    }
}

impl SharedQueue {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn deliver(&self, completion: Completion) {
        self.state().done.push(completion);
        self.result_is_there.notify_one();
    }

    fn serve(&self, hand: &mut RequestExecutor) {
        let mut state = self.state();
        loop {
            if state.is_over {
                return;
            }
            let Some(request) = state.todo.pop_front() else {
                let woken = self.work_is_there.wait(state);
                state = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            let completion = hand.carry_out(request);
            state = self.state();
            state.done.push(completion);
            self.result_is_there.notify_one();
        }
    }
}

impl Drop for ThreadsDriver {
    fn drop(&mut self) {
        if let (ExecutionMode::Pool(pool), 1..) = (&mut self.place, self.outstanding) {
            // Who waits for the storage may do so for ever. Each thread has memory of its own, and
            // shares the targets: it ends when its call returns, whoever is left then.
            pool.threads.clear();
        }
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.shared.state().is_over = true;
        self.shared.work_is_there.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so already.
            let _ = thread.join();
        }
    }
}
