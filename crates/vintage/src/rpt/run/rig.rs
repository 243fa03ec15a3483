//! One data file with its engine and the active control threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use drivers::{DriverKind, DriverOptions, IO_STACK_BYTES, Payload, io_threads, open_driver};
use engine::{Clock as _, Driver, Engine, EngineOptions, KindSet};
use sys::MonotonicClock;
use units::{Duration, Instant};
use workload::{Content, ControlSpec, ControlThread, Op, OpKind, TargetId, ThreadType};

use host::limits::{ResourceDemand, check_plan};
use lab::laboratory::{error_name, trial_seed};

use super::data_file::{DataStorage, RptDataFile};
use super::messages::{Detail, Mailbox, MessageThread, Posted, ThreadReport};
use crate::run::ClassicError;

/// How long the engine runs between two checks of the messages.
pub(super) const SLICE: Duration = Duration::from_millis(10);
/// Slots for outstanding I/Os of stopped threads.
const STRAGGLERS: usize = 8;
/// Maximum time to drain I/Os at the end.
const DRAIN_MAX: Duration = Duration::from_secs(2);

/// A failed I/O.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failure {
    /// Number of the control thread.
    pub(super) thread: u32,
    /// Its message.
    pub(super) report: ThreadReport,
}

/// A control thread that is active.
struct Active {
    number: u32,
    launch: u64,
    stop: Arc<AtomicBool>,
}

/// An engine on one data file.
pub(super) struct Rig {
    engine: Engine<Box<dyn Driver>, MessageThread>,
    /// Name of the data file.
    pub(super) name: String,
    bytes: u64,
    spec: Option<ControlSpec>,
    active: Vec<Active>,
    mailbox: Mailbox,
    seed: u64,
    launches: u64,
    detail: Detail,
    /// Notes about the driver, a sentence each.
    pub(super) notes: Vec<String>,
}

/// Options of a rig.
pub(super) struct RigOptions {
    pub(super) threads_max: u32,
    /// Maximum I/O size.
    pub(super) io_bytes: u32,
    pub(super) seed: u64,
    pub(super) driver: DriverKind,
    pub(super) detail: Detail,
}

impl Rig {
    /// Opens an engine on `data`; `start` is the current virtual time.
    pub(super) fn open(
        data: &RptDataFile,
        clock: MonotonicClock,
        start: Instant,
        options: &RigOptions,
    ) -> Result<Self, ClassicError> {
        let depth = (options.threads_max as usize + STRAGGLERS).min(drivers::DEPTH_MAX);
        let mut notes = Vec::new();
        let driver: Box<dyn Driver> = match &data.storage {
            DataStorage::Simulated(spec) => Box::new(spec.driver(options.seed, depth, start)),
            DataStorage::Real { targets, seal, .. } => {
                let buffer_len = options.io_bytes.max(4096) as usize;
                let plan = ResourceDemand {
                    files: 8,
                    memory_bytes: (depth * buffer_len) as u64,
                    ..ResourceDemand::default()
                };
                let threads = io_threads(options.driver, targets, depth) as u64;
                check_plan(&plan.with_threads(threads, IO_STACK_BYTES as u64))?;
                let mut driver = DriverOptions::new(depth, buffer_len);
                driver.payload = Payload {
                    run: seal.number(),
                    ..Payload::default()
                };
                let opened = open_driver(options.driver, targets, clock, &driver)?;
                notes = opened.notes;
                notes.extend(
                    opened
                        .obstacle
                        .map(|why| format!("{why}; using blocking threads")),
                );
                opened.driver
            }
        };
        let start = driver.now();
        let engine = Engine::new(
            driver,
            Vec::new(),
            EngineOptions {
                start,
                slot_width: Duration::from_secs(1),
                counted: KindSet::of(&[OpKind::Read, OpKind::Write]),
                first_client: 0,
                stride: 1,
            },
        );
        Ok(Self {
            engine,
            name: data.name.clone(),
            bytes: data.bytes,
            spec: None,
            active: Vec::new(),
            mailbox: Mailbox::default(),
            seed: options.seed,
            launches: 0,
            detail: options.detail,
            notes,
        })
    }

    /// The current time.
    pub(super) fn now(&self) -> Instant {
        self.engine.now()
    }

    /// Sets the types of threads started from now on.
    pub(super) fn set_types(&mut self, types: &[ThreadType]) {
        self.spec = Some(ControlSpec {
            target: TargetId(0),
            len: self.bytes,
            types: types.to_vec(),
            content: Content::default(),
        });
    }

    /// Start control thread `number`.
    pub(super) fn start(&mut self, number: u32) -> Result<(), ClassicError> {
        let spec = self.spec.as_ref().expect("types are set before a start");
        self.launches += 1;
        let seed = trial_seed(self.seed, self.launches);
        let inner = ControlThread::new(spec, seed, number)
            .map_err(|error| ClassicError::Usage(format!("{}: {error}", self.name)))?;
        let stop = Arc::new(AtomicBool::new(false));
        let thread = MessageThread::new(
            inner,
            (number, self.launches),
            spec.type_of(number).ios_per_message,
            self.detail,
            Arc::clone(&stop),
            Arc::clone(&self.mailbox),
        );
        // An engine that has not run yet would start its first clients at its own start.
        let now = self.engine.now();
        self.engine.run_until(now)?;
        self.engine.add_client(thread)?;
        self.active.push(Active {
            number,
            launch: self.launches,
            stop,
        });
        Ok(())
    }

    /// Stops control thread `number`: its outstanding I/Os no longer count.
    pub(super) fn stop(&mut self, number: u32) {
        self.active.retain(|active| {
            if active.number == number {
                active.stop.store(true, Ordering::Relaxed);
            }
            active.number != number
        });
    }

    /// Runs for a slice, and returns the messages.
    pub(super) fn run_slice(&mut self) -> Result<Vec<Posted>, ClassicError> {
        let until = self.engine.now() + SLICE;
        self.engine.run_until(until)?;
        // Slots serve other procedures and would only fill the memory here.
        drop(self.engine.recorder_mut().take_slots());
        let mut mailbox = self
            .mailbox
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(std::mem::take(&mut *mailbox))
    }

    /// Number of the sending thread, if still active.
    pub(super) fn speaker(&self, posted: &Posted) -> Option<u32> {
        let mut active = self.active.iter();
        active
            .find(|active| active.launch == posted.launch)
            .map(|active| active.number)
    }

    /// Stops everything and waits for outstanding I/Os.
    pub(super) fn close(&mut self) -> Result<(), ClassicError> {
        for active in self.active.drain(..) {
            active.stop.store(true, Ordering::Relaxed);
        }
        let now = self.engine.now();
        let give_up = now + DRAIN_MAX;
        let drained = self
            .engine
            .drain(now, DRAIN_MAX, &mut |now, _| now < give_up);
        Ok(drained?)
    }

    /// The error of a failed I/O, in one sentence.
    pub(super) fn failure(&self, failure: &Failure) -> ClassicError {
        let (op, what) = match failure.report {
            ThreadReport::Failed { op, errno } => (op, error_name(errno)),
            ThreadReport::Short { op, moved } => (
                op,
                format!(
                    "only {moved} bytes moved; the data file ends there: somebody made it shorter \
                     while it was being used"
                ),
            ),
            ThreadReport::Message(_) | ThreadReport::Io(_) => {
                unreachable!("only failures are explained")
            }
        };
        let (verb, offset, len) = match op {
            Op::Read { offset, len, .. } => ("read", offset, len),
            Op::Write { offset, len, .. } => ("write", offset, len),
            _ => unreachable!("control threads read and write"),
        };
        ClassicError::Operation(format!(
            "{}: control thread {}: the {verb} of {len} bytes at offset {offset} failed: {what}",
            self.name, failure.thread
        ))
    }
}
