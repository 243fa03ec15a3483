//! Executes one request after the other on real storage, or on a model in virtual time.

use std::path::Path;
use std::sync::Arc;

use drivers::{Caching, DriverKind, DriverOptions, Target, TargetTable, open_driver};
use engine::{Clock as _, Driver};
use sim::SimSpec;
use sys::MonotonicClock;
use units::{Duration, Instant};
use workload::{ClientId, Completion, Op, Request};

use crate::diskrand::RECORD_BYTES;

use crate::moment::{TimeOfDay, time_of_day};
use crate::run::shared::{ProgramSlot, moment_after};
use crate::run::{ClassicError, go_on, part_of_file, timestamp_of};
use host::counters::{Counters, page_cache_share, thread_cpu_ns};
use host::inspect::FetchAccount;
use host::interrupt::Interrupt;
use lab::laboratory::error_name;

/// Interval for checking signals during a real wait.
const SLICE: Duration = Duration::from_millis(50);
/// Rounds of work between two checks of the CPU clock: about a microsecond.
const ROUNDS: u32 = 1000;
/// Longer waits of a user report the remaining time.
const LONG_WAIT: Duration = Duration::from_secs(2);
/// Page size in driver counters.
const PAGE_BYTES: u64 = 4096;
/// What is kept when a signal arrives during a wait, unless the caller knows better.
const KEPT: &str = "the lines so far are in the log";

/// Storage with its clock.
pub(super) struct TimedStorage<'a> {
    interrupt: &'a Interrupt,
    driver: Box<dyn Driver>,
    name: String,
    bytes: u64,
    machine: ProgramMachine,
    begun: jiff::Zoned,
    origin: Instant,
    bytes_read: u64,
}

/// The machine on which a program runs.
enum ProgramMachine {
    /// A simulated one, with its own processors.
    Modelled,
    This {
        /// Whether the page cache is bypassed.
        is_direct: bool,
        /// Counters when the storage was opened.
        counters: Box<Counters>,
    },
}

impl<'a> TimedStorage<'a> {
    /// A model.
    pub(super) fn simulated(
        spec: &SimSpec,
        bytes: u64,
        seed: u64,
        interrupt: &'a Interrupt,
    ) -> Self {
        let driver = Box::new(spec.driver(seed, 1, Instant::START));
        let name = spec.text.clone();
        Self::new(driver, name, bytes, ProgramMachine::Modelled, interrupt)
    }

    /// A file of a model shared with other programs.
    pub(super) fn shared(
        slot: &ProgramSlot,
        name: &str,
        interrupt: &'a Interrupt,
    ) -> Result<Self, ClassicError> {
        let file = slot.open(name)?;
        let (bytes, machine) = (file.bytes(), ProgramMachine::Modelled);
        let driver = Box::new(file);
        Ok(Self {
            origin: Instant::START,
            begun: slot.begun().clone(),
            ..Self::new(driver, name.to_owned(), bytes, machine, interrupt)
        })
    }

    /// An open file or device.
    pub(super) fn real(target: Target, interrupt: &'a Interrupt) -> Result<Self, ClassicError> {
        let options = DriverOptions::new(1, RECORD_BYTES);
        let (name, bytes) = (target.path().display().to_string(), target.size());
        let is_direct = target.caching() == Caching::Direct;
        let unit = target.alignment().offset;
        if !(RECORD_BYTES as u64).is_multiple_of(u64::from(unit.max(1))) {
            return Err(ClassicError::Usage(format!(
                "{name}: records of {RECORD_BYTES} bytes cannot be read past the page cache here, \
                 where {unit} bytes move at once; leave --direct out"
            )));
        }
        let targets = Arc::new(TargetTable::new(vec![target]));
        let clock = MonotonicClock::start();
        let opened = open_driver(DriverKind::Threads, &targets, clock, &options)?;
        let machine = ProgramMachine::This {
            is_direct,
            counters: Box::new(Counters::take(None)),
        };
        Ok(Self::new(opened.driver, name, bytes, machine, interrupt))
    }

    fn new(
        driver: Box<dyn Driver>,
        name: String,
        bytes: u64,
        machine: ProgramMachine,
        interrupt: &'a Interrupt,
    ) -> Self {
        Self {
            interrupt,
            origin: driver.now(),
            driver,
            name,
            bytes,
            machine,
            begun: jiff::Zoned::now(),
            bytes_read: 0,
        }
    }

    /// Size of the file, bytes.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The current time, real or virtual.
    pub(super) fn now(&self) -> Instant {
        self.driver.now()
    }

    /// Date and time of day of an instant, real or virtual.
    fn moment(&self, at: Instant) -> jiff::Zoned {
        let passed = at.since(self.origin).as_nanos();
        moment_after(&self.begun, Instant(passed))
    }

    /// The current time in the format of C's `ctime`.
    pub(super) fn timestamp(&self) -> String {
        timestamp_of(&self.moment(self.now()))
    }

    /// The time of day of an instant, real or virtual.
    pub(super) fn time_of_day(&self, at: Instant) -> TimeOfDay {
        time_of_day(&self.moment(at))
    }

    /// Lets time pass; `look` is called with the remaining time now and then.
    pub(super) fn pass_time(
        &mut self,
        until: Instant,
        look: &mut dyn FnMut(Duration),
    ) -> Result<(), ClassicError> {
        let mut done = Vec::new();
        loop {
            go_on(self.interrupt, KEPT)?;
            let left = until.since(self.now());
            if left == Duration::ZERO {
                return Ok(());
            }
            look(left);
            self.driver.wait(Some(self.deadline(until)), &mut done)?;
        }
    }

    /// Until when to wait before signals are checked; virtual time passes at once.
    fn deadline(&self, until: Instant) -> Instant {
        match self.machine {
            ProgramMachine::Modelled => until,
            ProgramMachine::This { .. } => until.min(self.now() + SLICE),
        }
    }

    /// Whether a person waits for that span, and wants to see the remaining time.
    pub(super) fn is_long(&self, span: Duration) -> bool {
        let is_lived_through = matches!(self.machine, ProgramMachine::This { .. });
        is_lived_through && span > LONG_WAIT
    }

    /// Reads record `number`, counted from zero.
    pub(super) fn read(&mut self, number: u64) -> Result<Completion, ClassicError> {
        let op = part_of_file(false, number * RECORD_BYTES as u64, RECORD_BYTES as u32);
        self.bytes_read += RECORD_BYTES as u64;
        self.carry_out(op)
    }

    /// Writes record `number`, counted from zero; models only.
    pub(super) fn write(&mut self, number: u64) -> Result<Completion, ClassicError> {
        assert!(
            matches!(self.machine, ProgramMachine::Modelled),
            "a real file is written before it is opened"
        );
        let op = part_of_file(true, number * RECORD_BYTES as u64, RECORD_BYTES as u32);
        self.carry_out(op)
    }

    /// Allocates the program's memory on the machine, reducing its file cache; models only.
    pub(super) fn take_memory(&mut self, bytes: u64) -> Result<(), ClassicError> {
        assert!(
            matches!(self.machine, ProgramMachine::Modelled),
            "memory of this machine is taken by touching it"
        );
        let op = Op::Compute {
            work_ns: 0,
            touched: bytes,
        };
        self.carry_out(op).map(|_| ())
    }

    /// Does CPU work of this length. Returns its end. Real work runs on this thread, as in a user's
    /// own program.
    pub(super) fn compute(&mut self, work_ns: u64) -> Result<Instant, ClassicError> {
        if let ProgramMachine::Modelled = self.machine {
            let op = Op::Compute {
                work_ns,
                touched: 0,
            };
            return Ok(self.carry_out(op)?.completed);
        }
        let begun = thread_cpu_ns();
        let mut state = begun | 1;
        while thread_cpu_ns().saturating_sub(begun) < work_ns {
            for _ in 0..ROUNDS {
                state = std::hint::black_box(state.wrapping_mul(6_364_136_223_846_793_005));
            }
            go_on(self.interrupt, KEPT)?;
        }
        Ok(self.now())
    }

    fn carry_out(&mut self, op: Op) -> Result<Completion, ClassicError> {
        let now = self.now();
        self.driver.submit(Request::new(ClientId(0), now, op))?;
        let mut done = Vec::with_capacity(1);
        while done.is_empty() {
            let deadline = self.deadline(Instant::NEVER);
            self.driver.wait(Some(deadline), &mut done)?;
            if done.is_empty() {
                go_on(self.interrupt, KEPT)?;
            }
        }
        let completion = done[0];
        match completion.result {
            Ok(moved) if moved == op.len() => Ok(completion),
            Ok(moved) => Err(ClassicError::Operation(format!(
                "{}: {moved} bytes moved of {}: somebody made the file shorter while it was being \
                 used",
                self.name,
                op.len()
            ))),
            Err(errno) => Err(ClassicError::Operation(format!(
                "{}: a {} of {} bytes failed: {}",
                self.name,
                op.kind(),
                op.len(),
                error_name(errno)
            ))),
        }
    }

    /// Where the bytes read came from, in words; `None` if not applicable.
    pub(super) fn origin_of_bytes(&self) -> Option<String> {
        let ProgramMachine::This {
            is_direct,
            counters,
        } = &self.machine
        else {
            return self.share_of_file_cache();
        };
        if *is_direct {
            return Some("past the page cache (direct I/O)".into());
        }
        let delta = counters.delta(&Counters::take(None));
        let account = FetchAccount::of(Path::new(&self.name));
        page_cache_share(self.bytes_read, &delta, &account).map(|share| {
            format!(
                "the page cache answered {:.0} % of the bytes read",
                100.0 * share
            )
        })
    }

    /// The same for a model with a file cache.
    fn share_of_file_cache(&self) -> Option<String> {
        let fetched = self.driver.activity()?.pages_fetched? * PAGE_BYTES;
        let answered = self.bytes_read.saturating_sub(fetched);
        let share = 100 * answered / self.bytes_read.max(1);
        Some(format!(
            "the file cache answered {share} % of the bytes read"
        ))
    }
}
