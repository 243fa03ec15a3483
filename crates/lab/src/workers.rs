//! Workers: threads with an engine and a driver each, and the loop that watches them.
//!
//! The measuring path never waits for the watcher: if the channel is full, a slot stays with its
//! worker until there is space.

mod cpu_use;
mod hang;
mod reporter;
mod watcher;
mod worker_state;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use drivers::{
    DriverKind, DriverOptions, IO_STACK_BYTES, OpenedDriver, TargetTable, io_threads, open_driver,
    storage_loop,
};
use engine::{
    Clock, DriverError, Engine, EngineOptions, EngineState, EventLoop, Follower, KindSet, OnError,
    OwnWork, Record,
};
use fleet::ClientShare;
use procedure::{Ending, Monitor, Standstill};
use stats::Slot;
use sys::MonotonicClock;
use units::{Duration, Instant};
use workload::AnyClient;

use self::cpu_use::Since;
pub use self::cpu_use::WorkerCpuUse;
use self::hang::HangWatch;
pub use self::hang::Unanswered;
use self::reporter::Reporter;
use self::watcher::{Opening, Watched, Watcher};
use self::worker_state::{Copier, WorkerState};
use crate::coordinator::TrialCoordinator;
use crate::deal::{Member, since};
use host::counters::{Counters, CountersDelta, thread_cpu_ns};
use host::environment::moment_before;
use host::hung::HungThreads;
use host::interrupt::Awaiting;
use host::limits::ResourceDemand;
use host::starting_line::StartingLine;

/// Length of a base slot on real storage.
pub const SLOT_WIDTH: Duration = Duration::from_millis(1);
/// Base slots between two reports of a worker.
const SLICE_SLOTS: u64 = 16;
/// Interval between a worker's reports: the minimum length of a trial.
pub const SLICE: Duration = Duration(SLOT_WIDTH.as_nanos() * SLICE_SLOTS);
/// Maximum number of reports in the channel.
const REPORTS_MAX: usize = 1024;
/// How often a worker that waits for the last completions checks whether they are abandoned.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Stack size of a worker.
const STACK_BYTES: usize = 2 << 20;
/// Maximum memory of a worker besides stack and buffers: records of times, a ring.
const WORKER_BYTES: u64 = 1 << 20;

/// Resources of a trial: `buffer_bytes` for all its buffers and clients, `depth` per worker.
pub fn wanted(
    workers: usize,
    depth: usize,
    (kind, targets): (DriverKind, &TargetTable),
    buffer_bytes: u64,
) -> ResourceDemand {
    let workers = workers as u64;
    let own = workers.saturating_mul(WORKER_BYTES);
    let plan = ResourceDemand {
        files: workers.saturating_mul(2).saturating_add(2),
        memory_bytes: buffer_bytes.saturating_add(own),
        ..ResourceDemand::default()
    };
    let io_threads = workers.saturating_mul(io_threads(kind, targets, depth) as u64);
    plan.with_threads(workers, STACK_BYTES as u64)
        .with_threads(io_threads, IO_STACK_BYTES as u64)
}

/// Input of a trial's workers.
pub struct WorkPlan {
    /// The shared targets.
    pub targets: Arc<TargetTable>,
    /// The clock of the run.
    pub clock: MonotonicClock,
    /// Kind of driver.
    pub kind: DriverKind,
    /// Driver options; the depth is per worker.
    pub options: DriverOptions,
    /// The clients of each worker.
    pub hands: Vec<Vec<AnyClient>>,
    /// The row of each client, and the time after the start from which it is recorded; empty
    /// without rows.
    pub members: Vec<Vec<Member>>,
    /// Completions that count as units of work.
    pub counted: KindSet,
    /// Processors to pin workers to, in turn; empty to leave them to the scheduler.
    pub processors: Vec<usize>,
    /// The device whose counters are read.
    pub device: Option<String>,
    /// Requests that may wait for a slot in each worker.
    pub backlog_max: usize,
    /// What a failed operation does to the trial.
    pub on_error: OnError,
    /// Receives each operation, if set.
    pub follower: Option<Arc<dyn Follower>>,
    /// This host's share of the clients.
    pub share: ClientShare,
    /// How long a finished trial waits for the storage to respond.
    pub hang_limit: Duration,
    /// When the trial's time is over; `None` if its work ends it.
    pub ends_after: Option<Duration>,
}

/// Operations that the storage did not answer and that were abandoned.
#[derive(Clone, Debug)]
pub struct GivenUp {
    pub unanswered: Unanswered,
    /// Where threads of this process hang.
    pub threads: Vec<HungThreads>,
}

/// Merged results of the workers.
pub struct WorkerResults {
    /// The merged record.
    pub record: Record,
    /// Why the trial ended.
    pub ending: Ending,
    /// Abandoned operations.
    pub given_up: Option<GivenUp>,
    /// Length of the trial.
    pub elapsed: Duration,
    pub driver: DriverKind,
    /// When this program stood still.
    pub standstill: Standstill,
    /// Why the driver is not io_uring, or not as usual.
    pub obstacle: Option<String>,
    /// Notes on the driver for the report.
    pub notes: Vec<String>,
    /// System counters, without the watcher's own CPU time.
    pub counters: CountersDelta,
    /// System calls of the workers.
    pub kernel_entries: u64,
    /// Own work of the drivers.
    pub own_work: Option<OwnWork>,
    /// CPU use of each worker.
    pub cpu: Vec<WorkerCpuUse>,
    /// How far our clock and the system's drifted apart, nanoseconds.
    pub clocks_apart_ns: u64,
    /// Start of the trial, as RFC 3339 text in UTC.
    pub started_at: Option<String>,
}

enum WorkerReport {
    Slots {
        worker: usize,
        slots: Vec<Slot>,
        elapsed: Duration,
    },
    Ended {
        worker: usize,
        ending: Ending,
        elapsed: Duration,
    },
    Broken {
        worker: usize,
        error: DriverError,
    },
}

impl WorkerResults {
    /// Results of a trial with that ending, before any worker's are added.
    fn new(ending: Ending, elapsed: Duration) -> Self {
        Self {
            record: Record::default(),
            ending,
            given_up: None,
            elapsed,
            driver: DriverKind::Auto,
            obstacle: None,
            standstill: Standstill::default(),
            notes: Vec::new(),
            counters: CountersDelta::default(),
            kernel_entries: 0,
            own_work: None,
            cpu: Vec::new(),
            clocks_apart_ns: 0,
            started_at: None,
        }
    }

    /// Collects the workers' results, or what those left that are `away` at `now`.
    fn gather(
        &mut self,
        workers: Vec<Worker>,
        shared: &TrialState,
        (away, now): (&[bool], Duration),
    ) {
        for ((worker, state), is_away) in workers.into_iter().zip(&shared.states).zip(away) {
            if self.given_up.is_none() {
                let _ = worker.join();
            }
            let left = || is_away.then(|| state.left_behind(self.elapsed, now));
            if let Some(brought) = state.brought().or_else(left) {
                self.add(brought);
            }
        }
    }

    fn add(&mut self, share: Brought) {
        self.record.merge(&share.record);
        self.driver = share.driver;
        self.obstacle = self.obstacle.take().or(share.obstacle);
        for note in share.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.kernel_entries += share.kernel_entries;
        let sum = self.own_work.map(|sum| sum.plus(&share.own_work));
        self.own_work = sum.or(Some(share.own_work));
        self.counters.cpu_ns = self.counters.cpu_ns.saturating_sub(share.around_ns);
        self.cpu.push(share.day);
    }
}

/// State shared by the threads of a trial.
struct TrialState {
    ready: StartingLine,
    go: StartingLine,
    start: AtomicU64,
    /// Whether a worker that prefers a ring got none: then no worker uses one.
    lacks_ring: AtomicBool,
    stop: AtomicBool,
    /// Whether outstanding requests are abandoned.
    give_up: AtomicBool,
    /// State of each worker.
    states: Vec<WorkerState>,
}

impl TrialState {
    /// The shared state of `workers` workers and their watcher.
    fn of(workers: usize) -> Self {
        Self {
            ready: StartingLine::new(workers + 1),
            go: StartingLine::new(workers + 1),
            start: AtomicU64::new(0),
            lacks_ring: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            give_up: AtomicBool::new(false),
            states: (0..workers).map(|_| WorkerState::default()).collect(),
        }
    }
}

/// Results of one worker.
struct Brought {
    record: Record,
    driver: DriverKind,
    obstacle: Option<String>,
    notes: Vec<String>,
    kernel_entries: u64,
    own_work: OwnWork,
    day: WorkerCpuUse,
    /// CPU time before its first operation and after its last, nanoseconds.
    around_ns: u64,
}

type Worker = JoinHandle<Option<()>>;

/// Receives the progress of a trial and unanswered requests, and returns whether to continue.
pub type WatchWorkers<'a> = &'a mut dyn FnMut(&Monitor, Duration, Option<Unanswered>) -> bool;

/// Runs a trial on worker threads until `monitor` or `watch` stops it. `watch` is called at least
/// every 50 ms.
///
/// # Errors
/// If a driver cannot be opened or fails.
pub fn run_workers(
    plan: WorkPlan,
    monitor: &mut Monitor,
    coordinator: &mut dyn TrialCoordinator,
    watch: WatchWorkers<'_>,
) -> Result<WorkerResults, DriverError> {
    let awaiting = Awaiting::begin();
    let (count, clock) = (plan.hands.len(), plan.clock);
    let hang = HangWatch::new(plan.hang_limit, plan.ends_after);
    let device = plan.device.clone();
    let shared = Arc::new(TrialState::of(count));
    let (sender, receiver) = sync_channel(REPORTS_MAX);
    let workers = spawn(plan, &shared, &sender)?;
    drop(sender);
    Opening {
        line: &shared.ready,
        clock,
        hang,
        awaiting: &awaiting,
    }
    .wait(monitor, watch)?;
    let start = match coordinator.start(clock, count) {
        Ok(start) => start,
        Err(error) => return Err(send_home(workers, &shared.go, error)),
    };
    let before = Counters::take(device.as_deref());
    monitor.begin_sampling(before.activity());
    let own_before = thread_cpu_ns();
    let ahead_before = clock.ahead_of_system();
    shared.start.store(start.as_nanos(), Ordering::Release);
    let _ = shared.go.wait();

    let mut standstill = Standstill::default();
    let watched = Watcher {
        receiver,
        shared: &shared,
        clock,
        start,
        hang,
        awaiting: &awaiting,
        device: device.as_deref(),
        ended: vec![None; count],
        decided: None,
    }
    .watch(&mut standstill, monitor, coordinator, watch);
    shared.stop.store(true, Ordering::Release);
    let Watched {
        ending,
        elapsed,
        given_up,
        away,
    } = watched?;
    let after = Counters::take(device.as_deref());
    let mut counters = before.delta(&after);
    counters.cpu_ns = counters
        .cpu_ns
        .saturating_sub(thread_cpu_ns().saturating_sub(own_before));
    let mut collected = WorkerResults {
        started_at: Some(moment_before(clock.now().since(start))),
        given_up,
        standstill,
        counters,
        clocks_apart_ns: clock.ahead_of_system().abs_diff(ahead_before),
        ..WorkerResults::new(ending, elapsed)
    };
    collected.gather(workers, &shared, (&away, clock.now().since(start)));
    monitor.close_sample(collected.elapsed, &after.activity());
    monitor.finish(collected.elapsed);
    Ok(collected)
}

/// Cancels the start because of `error`.
fn send_home(workers: Vec<Worker>, line: &StartingLine, error: DriverError) -> DriverError {
    line.call_off();
    for worker in workers {
        let _ = worker.join();
    }
    error
}

fn spawn(
    plan: WorkPlan,
    shared: &Arc<TrialState>,
    sender: &SyncSender<WorkerReport>,
) -> Result<Vec<Worker>, DriverError> {
    let WorkPlan {
        targets,
        clock,
        kind,
        options,
        hands,
        mut members,
        counted,
        share,
        processors,
        backlog_max,
        on_error,
        follower,
        ..
    } = plan;
    let stride = hands.len() as u32;
    let mut workers: Vec<Worker> = Vec::with_capacity(hands.len());
    for (number, clients) in hands.into_iter().enumerate() {
        let prepared = PreparedWorker {
            number,
            share,
            workers: stride,
            clients,
            members: std::mem::take(&mut members[number]),
            clock,
            kind,
            counted,
            backlog_max,
            on_error,
            follower: follower.clone(),
            options: options.clone(),
            targets: Arc::clone(&targets),
            processor: (!processors.is_empty()).then(|| processors[number % processors.len()]),
            shared: Arc::clone(shared),
            sender: sender.clone(),
        };
        let started = std::thread::Builder::new()
            .name(format!("worker-{number}"))
            .stack_size(STACK_BYTES)
            .spawn(move || prepared.work());
        match started {
            Ok(worker) => workers.push(worker),
            Err(error) => {
                let error = DriverError::System {
                    operation: "starting a worker thread",
                    reason: error.to_string(),
                };
                return Err(send_home(workers, &shared.ready, error));
            }
        }
    }
    Ok(workers)
}

/// One worker before it starts.
struct PreparedWorker {
    number: usize,
    share: ClientShare,
    workers: u32,
    clients: Vec<AnyClient>,
    members: Vec<Member>,
    clock: MonotonicClock,
    kind: DriverKind,
    counted: KindSet,
    backlog_max: usize,
    on_error: OnError,
    follower: Option<Arc<dyn Follower>>,
    options: DriverOptions,
    targets: Arc<TargetTable>,
    processor: Option<usize>,
    shared: Arc<TrialState>,
    sender: SyncSender<WorkerReport>,
}

impl PreparedWorker {
    fn work(self) -> Option<()> {
        if let Some(processor) = self.processor {
            host::processors::pin(processor);
        }
        let opened = self.open()?;
        self.shared.go.wait().ok()?;
        let opened = match opened {
            Ok(opened) => opened,
            Err(error) => {
                let worker = self.number;
                let _ = self.sender.send(WorkerReport::Broken { worker, error });
                return None;
            }
        };
        let woken_ns = thread_cpu_ns();
        let start = Instant(self.shared.start.load(Ordering::Acquire));
        let mut engine = Engine::new(
            opened.driver,
            self.clients,
            EngineOptions {
                start,
                slot_width: SLOT_WIDTH,
                counted: self.counted,
                first_client: self.share.client(self.number as u32),
                stride: self.workers * self.share.ranks,
            },
        )
        .with_rows(since(&self.members, start))
        .with_backlog(self.backlog_max)
        .with_follower(self.follower)
        .with_errors(self.on_error);
        let mut reporter = Reporter::new(self.number, self.sender);
        let own = &self.shared.states[self.number];
        own.open(opened.kind, opened.obstacle.as_deref(), &opened.notes);
        let begun = Since::now();
        match run(
            storage_loop(&mut engine),
            start,
            (&self.shared, own),
            &mut reporter,
        ) {
            Ok((ending, elapsed)) => {
                let day = begun.spent(elapsed, engine.driver().own_work().awake_ns);
                let ended_ns = thread_cpu_ns();
                let (record, driver) = engine.into_parts();
                let around_ns = begun.cpu_ns - woken_ns + (thread_cpu_ns() - ended_ns);
                own.bring(Brought {
                    day,
                    around_ns,
                    record,
                    driver: opened.kind,
                    obstacle: opened.obstacle,
                    notes: opened.notes,
                    kernel_entries: driver.kernel_entries(),
                    own_work: driver.own_work(),
                });
                reporter.report_end(ending, elapsed);
                Some(())
            }
            Err(error) => {
                reporter.report_broken(error);
                None
            }
        }
    }

    /// Opens the common driver on this thread, since a ring belongs to the thread that created it.
    /// `None` if the start is cancelled.
    fn open(&self) -> Option<Result<OpenedDriver, DriverError>> {
        let open = |kind| open_driver(kind, &self.targets, self.clock, &self.options);
        let opened = open(self.kind);
        let has = |kind| opened.as_ref().is_ok_and(|it| it.kind == kind);
        if self.kind == DriverKind::Auto && has(DriverKind::Threads) {
            self.shared.lacks_ring.store(true, Ordering::Release);
        }
        self.shared.ready.wait().ok()?;
        // Locked memory goes to the first workers.
        if self.shared.lacks_ring.load(Ordering::Acquire) && has(DriverKind::Uring) {
            return Some(open(DriverKind::Threads));
        }
        Some(opened)
    }
}

/// Runs until told to stop or nothing is left to do.
fn run(
    engine: &mut dyn EventLoop,
    start: Instant,
    (shared, own): (&TrialState, &WorkerState),
    reporter: &mut Reporter,
) -> Result<(Ending, Duration), DriverError> {
    let mut copier = Copier::from(start);
    let mut until = start + SLICE;
    loop {
        let state = engine.run_until(until)?;
        let now = engine.now();
        own.note(now.since(start), engine.outstanding());
        let failed = engine.has_failed();
        let ending = match state {
            EngineState::Finished => Some(Ending::Finished),
            EngineState::Overloaded => Some(Ending::Overloaded),
            EngineState::Running if failed => Some(Ending::Failed),
            EngineState::Running if shared.stop.load(Ordering::Acquire) => Some(Ending::Goal),
            EngineState::Running => None,
        };
        if let Some(ending) = ending {
            // Time up to now has not been reported: the open slot includes it. The last slot is
            // shorter, and counts with its content.
            engine.recorder_mut().close_until(now + SLOT_WIDTH);
            let elapsed = now.since(start);
            reporter.report(engine.recorder_mut().take_slots(), elapsed);
            engine.drain(now, LOOK_EVERY, &mut |now, outstanding| {
                own.note(now.since(start), outstanding);
                !shared.give_up.load(Ordering::Acquire)
            })?;
            let ending = if failed { Ending::Failed } else { ending };
            return Ok((ending, elapsed));
        }
        let elapsed = until.min(now).since(start);
        reporter.report(engine.recorder_mut().take_slots(), elapsed);
        copier.copy_if_due(engine, now, own);
        until = now.max(until) + SLICE;
    }
}

#[cfg(test)]
mod tests;
