//! Workers: threads with an engine and a driver each, and the loop that watches them.
//!
//! The measuring path never waits for the watcher: a slot that finds the channel full stays with
//! its worker until there is room.

mod day;
mod reporter;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration as StdDuration;

use drivers::{
    DriverKind, DriverOptions, IO_STACK_BYTES, OpenedDriver, TargetTable, io_threads, open_driver,
    storage_loop,
};
use engine::{
    Clock, DriverError, Engine, EngineOptions, EngineState, EventLoop, Follower, KindSet, OnError,
    OwnWork, Record,
};
use fleet::Share;
use procedure::{Ending, Monitor, Standstill};
use stats::Slot;
use sys::MonotonicClock;
use units::{Duration, Instant};
use workload::AnyClient;

use self::day::Since;
pub use self::day::WorkersDay;
use self::reporter::Reporter;
use crate::company::Company;
use crate::deal::{Member, since};
use host::counters::{Counters, CountersDelta, thread_cpu_ns};
use host::limits::Wanted;
use host::starting_line::StartingLine;

/// Length of a base slot on real storage.
pub const SLOT_WIDTH: Duration = Duration::from_millis(1);
/// Base slots between two reports of a worker.
const SLICE_SLOTS: u64 = 16;
/// From one report of a worker to the next: no trial is shorter.
pub const SLICE: Duration = Duration(SLOT_WIDTH.as_nanos() * SLICE_SLOTS);
/// Reports that may wait for the watcher.
const REPORTS_MAX: usize = 1024;
/// How often the watcher looks up when nothing is reported.
const WATCH_EVERY: StdDuration = StdDuration::from_millis(50);
/// A watcher that looks up so much later did not get to run.
const STANDSTILL_MIN: Duration = Duration::from_millis(20);
/// How long requests in flight may take to come back once a trial is over.
const DRAIN_MAX: Duration = Duration::from_secs(30);
/// The same after a signal.
const DRAIN_HURRIED: Duration = Duration::from_secs(1);
/// The stack of a worker.
const STACK_BYTES: usize = 2 << 20;
/// What a worker takes beside stack and buffers, at most: records of times, a ring.
const WORKER_BYTES: u64 = 1 << 20;

/// What a trial takes: `buffer_bytes` are those of all its buffers and clients, `depth` is that of
/// one worker.
#[must_use]
pub fn wanted(
    workers: usize,
    depth: usize,
    (kind, targets): (DriverKind, &TargetTable),
    buffer_bytes: u64,
) -> Wanted {
    let workers = workers as u64;
    let own = workers.saturating_mul(WORKER_BYTES);
    let plan = Wanted {
        files: workers.saturating_mul(2).saturating_add(2),
        memory_bytes: buffer_bytes.saturating_add(own),
        ..Wanted::default()
    };
    let io_threads = workers.saturating_mul(io_threads(kind, targets, depth) as u64);
    plan.with_threads(workers, STACK_BYTES as u64)
        .with_threads(io_threads, IO_STACK_BYTES as u64)
}

/// What the workers of a trial need.
pub struct WorkPlan {
    /// Targets, shared.
    pub targets: Arc<TargetTable>,
    /// The clock of the run.
    pub clock: MonotonicClock,
    /// Which driver to open.
    pub kind: DriverKind,
    /// How to open it; the depth is that of one worker.
    pub options: DriverOptions,
    /// The clients of each worker, dealt in turn.
    pub hands: Vec<Vec<AnyClient>>,
    /// The row of each of them, and from how long after the start it is recorded; none where there
    /// are no rows.
    pub members: Vec<Vec<Member>>,
    /// Completions that are units of work.
    pub counted: KindSet,
    /// Processors to bind workers to, in turn; none leaves them to the scheduler.
    pub processors: Vec<usize>,
    /// The device whose counters are read.
    pub device: Option<String>,
    /// Requests that may wait for room in each worker.
    pub backlog_max: usize,
    /// What a failed operation does to the trial.
    pub on_error: OnError,
    /// Whoever follows, operation by operation.
    pub follower: Option<Arc<dyn Follower>>,
    /// Which clients they are, of those of all hosts.
    pub share: Share,
}

/// What the workers bring home.
pub struct Harvest {
    /// Everything recorded, merged.
    pub record: Record,
    /// Why the trial ended.
    pub ending: Ending,
    /// From start to end.
    pub elapsed: Duration,
    pub driver: DriverKind,
    /// When this program stood still.
    pub standstill: Standstill,
    /// Why it is not io_uring, or not as usual.
    pub obstacle: Option<String>,
    /// What the report should say about the driver.
    pub notes: Vec<String>,
    /// What the system counted; the watcher's own CPU time is left out.
    pub counters: CountersDelta,
    /// How often the workers entered the kernel.
    pub kernel_entries: u64,
    /// What the drivers themselves had and did.
    pub own_work: Option<OwnWork>,
    /// How each worker spent the trial.
    pub days: Vec<WorkersDay>,
    /// By how many nanoseconds our clock and the system's came apart.
    pub clocks_apart_ns: u64,
}

enum Report {
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
    Broken(DriverError),
}

impl Harvest {
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
        self.days.push(share.day);
    }
}

/// What the threads of a trial share.
struct Shared {
    ready: StartingLine,
    go: StartingLine,
    start: AtomicU64,
    /// Whether a worker that would rather have had a ring got none: then no worker uses one.
    lacks_ring: AtomicBool,
    stop: AtomicBool,
    /// Nobody waits for what is in flight: the user wants to go.
    hurry: AtomicBool,
}

impl Shared {
    /// What so many workers and their watcher share.
    fn of(workers: usize) -> Self {
        Self {
            ready: StartingLine::new(workers + 1),
            go: StartingLine::new(workers + 1),
            start: AtomicU64::new(0),
            lacks_ring: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            hurry: AtomicBool::new(false),
        }
    }
}

/// What one worker brings home.
struct Brought {
    record: Record,
    driver: DriverKind,
    obstacle: Option<String>,
    notes: Vec<String>,
    kernel_entries: u64,
    own_work: OwnWork,
    day: WorkersDay,
}

type Worker = JoinHandle<Option<Brought>>;

/// Run a trial on worker threads until `monitor` or `watch` says stop. `watch` is asked at least
/// every 50 ms and returns whether to go on.
///
/// # Errors
/// When a driver cannot be opened or breaks.
pub fn run_workers(
    plan: WorkPlan,
    monitor: &mut Monitor,
    company: &mut dyn Company,
    mut watch: impl FnMut(&Monitor, Duration) -> bool,
) -> Result<Harvest, DriverError> {
    let count = plan.hands.len();
    let clock = plan.clock;
    let device = plan.device.clone();
    let shared = Arc::new(Shared::of(count));
    let (sender, receiver) = sync_channel(REPORTS_MAX);
    let workers = spawn(plan, &shared, &sender)?;
    drop(sender);
    let _ = shared.ready.wait();
    let start = match company.start(clock, count) {
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
        workers: count,
        device: device.as_deref(),
    }
    .watch(&mut standstill, monitor, company, &mut watch);
    shared.stop.store(true, Ordering::Release);
    let (ending, elapsed) = watched?;
    let after = Counters::take(device.as_deref());
    let mut counters = before.delta(&after);
    counters.cpu_ns = counters
        .cpu_ns
        .saturating_sub(thread_cpu_ns().saturating_sub(own_before));
    let mut harvest = Harvest {
        record: Record::default(),
        ending,
        elapsed,
        driver: DriverKind::Auto,
        obstacle: None,
        standstill,
        notes: Vec::new(),
        counters,
        kernel_entries: 0,
        own_work: None,
        days: Vec::with_capacity(workers.len()),
        clocks_apart_ns: clock.ahead_of_system().abs_diff(ahead_before),
    };
    for worker in workers {
        if let Ok(Some(share)) = worker.join() {
            harvest.add(share);
        }
    }
    monitor.close_sample(harvest.elapsed, &after.activity());
    monitor.finish(harvest.elapsed);
    Ok(harvest)
}

/// Nothing begins, because of `error`.
fn send_home(workers: Vec<Worker>, line: &StartingLine, error: DriverError) -> DriverError {
    line.call_off();
    for worker in workers {
        let _ = worker.join();
    }
    error
}

fn spawn(
    plan: WorkPlan,
    shared: &Arc<Shared>,
    sender: &SyncSender<Report>,
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
        let seat = Seat {
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
            .spawn(move || seat.work());
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
struct Seat {
    number: usize,
    share: Share,
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
    shared: Arc<Shared>,
    sender: SyncSender<Report>,
}

impl Seat {
    fn work(self) -> Option<Brought> {
        if let Some(processor) = self.processor {
            pin(processor);
        }
        let opened = self.open()?;
        self.shared.go.wait().ok()?;
        let opened = match opened {
            Ok(opened) => opened,
            Err(error) => {
                let _ = self.sender.send(Report::Broken(error));
                return None;
            }
        };
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
        let begun = Since::now();
        match run(
            storage_loop(&mut engine),
            start,
            &self.shared,
            &mut reporter,
        ) {
            Ok((ending, elapsed)) => {
                let day = begun.spent(elapsed, engine.driver().own_work().awake_ns);
                reporter.report_end(ending, elapsed);
                let (record, driver) = engine.into_parts();
                Some(Brought {
                    day,
                    record,
                    driver: opened.kind,
                    obstacle: opened.obstacle,
                    notes: opened.notes,
                    kernel_entries: driver.kernel_entries(),
                    own_work: driver.own_work(),
                })
            }
            Err(error) => {
                reporter.report_broken(error);
                None
            }
        }
    }

    /// Open the driver that all workers have, here: a ring belongs to the thread that made it.
    /// `None` where they do not start.
    fn open(&self) -> Option<Result<OpenedDriver, DriverError>> {
        let open = |kind| open_driver(kind, &self.targets, self.clock, &self.options);
        let opened = open(self.kind);
        let has = |kind| opened.as_ref().is_ok_and(|it| it.kind == kind);
        if self.kind == DriverKind::Auto && has(DriverKind::Threads) {
            self.shared.lacks_ring.store(true, Ordering::Release);
        }
        self.shared.ready.wait().ok()?;
        // What may be locked goes to the workers that come first.
        if self.shared.lacks_ring.load(Ordering::Acquire) && has(DriverKind::Uring) {
            return Some(open(DriverKind::Threads));
        }
        Some(opened)
    }
}

/// Run until told to stop or nothing is left to do.
fn run(
    engine: &mut dyn EventLoop,
    start: Instant,
    shared: &Shared,
    reporter: &mut Reporter,
) -> Result<(Ending, Duration), DriverError> {
    let mut until = start + SLICE;
    loop {
        let state = engine.run_until(until)?;
        let now = engine.now();
        let failed = engine.has_failed();
        let ending = match state {
            EngineState::Finished => Some(Ending::Finished),
            EngineState::Overloaded => Some(Ending::Overloaded),
            EngineState::Running if failed => Some(Ending::Failed),
            EngineState::Running if shared.stop.load(Ordering::Acquire) => Some(Ending::Goal),
            EngineState::Running => None,
        };
        if let Some(ending) = ending {
            // Nothing was said yet of the time until now: the slot that is still open lies in it.
            // The last slot is cut short by the end; it counts with what it holds.
            engine.recorder_mut().close_until(now + SLOT_WIDTH);
            let elapsed = now.since(start);
            reporter.report(engine.recorder_mut().take_slots(), elapsed);
            let patience = if shared.hurry.load(Ordering::Acquire) {
                DRAIN_HURRIED
            } else {
                DRAIN_MAX
            };
            engine.drain(now, now + patience)?;
            let ending = if failed { Ending::Failed } else { ending };
            return Ok((ending, elapsed));
        }
        let elapsed = until.min(now).since(start);
        reporter.report(engine.recorder_mut().take_slots(), elapsed);
        until = now.max(until) + SLICE;
    }
}

/// The thread that started the workers, while they work.
struct Watcher<'a> {
    receiver: Receiver<Report>,
    shared: &'a Shared,
    clock: MonotonicClock,
    start: Instant,
    workers: usize,
    /// The device whose counters are read.
    device: Option<&'a str>,
}

impl Watcher<'_> {
    /// The next report, if one comes soon. A wait that lasts far longer than it may is a standstill
    /// of this whole program: no storage holds this thread up.
    fn receive(&self, standstill: &mut Standstill) -> Result<Report, RecvTimeoutError> {
        let before = self.clock.now();
        let report = self.receiver.recv_timeout(WATCH_EVERY);
        let beyond = self.clock.now().since(before + WATCH_EVERY.into());
        if beyond >= STANDSTILL_MIN {
            standstill.note(beyond);
        }
        report
    }

    fn watch(
        &self,
        standstill: &mut Standstill,
        monitor: &mut Monitor,
        company: &mut dyn Company,
        watch: &mut dyn FnMut(&Monitor, Duration) -> bool,
    ) -> Result<(Ending, Duration), DriverError> {
        let mut decided: Option<(Ending, Duration)> = None;
        let mut broken: Option<DriverError> = None;
        let mut ended: Vec<(Ending, Duration)> = Vec::new();
        while ended.len() < self.workers {
            match self.receive(standstill) {
                Ok(Report::Slots {
                    worker,
                    slots,
                    elapsed,
                }) => {
                    company.hear(worker, &slots, elapsed);
                    monitor.push(worker, slots, elapsed);
                }
                Ok(Report::Ended {
                    worker,
                    ending,
                    elapsed,
                }) => {
                    // A worker that is done must not hold back the slots of the others.
                    company.hear(worker, &[], Duration::from_nanos(u64::MAX));
                    monitor.push(worker, Vec::new(), Duration::from_nanos(u64::MAX));
                    ended.push((ending, elapsed));
                }
                // The others must stop first: nobody may make files while they are removed.
                Ok(Report::Broken(error)) => {
                    broken.get_or_insert(error);
                    ended.push((Ending::Failed, Duration::ZERO));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            company.attend();
            let elapsed = self.clock.now().since(self.start);
            if let Some((_, since)) = decided {
                if elapsed > since + DRAIN_MAX * 2 {
                    return Err(DriverError::System {
                        operation: "waiting for the storage",
                        reason: format!("no request has completed for {}", DRAIN_MAX * 2),
                    });
                }
                continue;
            }
            if monitor.is_sample_due(elapsed) {
                monitor.close_sample(elapsed, &Counters::take(self.device).activity());
            }
            let mut ending = company.decide(monitor, elapsed);
            if ending.is_none() && !watch(company.shown(monitor), elapsed) {
                self.shared.hurry.store(true, Ordering::Release);
                ending = Some(Ending::Interrupted);
            }
            if ended.iter().any(|(ending, _)| *ending != Ending::Finished) {
                ending = ending.or(Some(Ending::Failed));
            }
            if let Some(ending) = ending {
                decided = Some((ending, elapsed));
                self.shared.stop.store(true, Ordering::Release);
            }
        }
        if let Some(error) = broken {
            return Err(error);
        }
        Ok(conclude(&ended, decided.map(|(ending, _)| ending)))
    }
}

/// Why a trial ended and when, from what the workers said and what was decided for them.
fn conclude(ended: &[(Ending, Duration)], decided: Option<Ending>) -> (Ending, Duration) {
    let elapsed = ended.iter().map(|(_, elapsed)| *elapsed).max();
    let by_worker = ended
        .iter()
        .map(|(ending, _)| ending)
        .find(|ending| matches!(ending, Ending::Failed | Ending::Overloaded));
    let ending = by_worker.cloned().or(decided).unwrap_or(Ending::Finished);
    (ending, elapsed.unwrap_or(Duration::ZERO))
}

/// Bind the calling thread to a processor; a refusal only costs steadiness.
fn pin(processor: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(processor);
    let _ = rustix::thread::sched_setaffinity(None, &set);
}

#[cfg(test)]
mod tests;
