//! A simulated machine used by several programs at the same time, in virtual time.
//!
//! Each program has a thread, of which one runs at a time until it waits. When all wait, virtual
//! time advances to the next completion or deadline; of those that can then continue, the one with
//! the earliest slot does. So the same programs give the same times on every run and machine.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use engine::{Activity, Clock, Driver, DriverError};
use sim::{SimDriver, SimSpec};
use units::{Bytes, Instant};
use workload::{ClientId, Completion, Op, Request};

use crate::run::ClassicError;

/// Maximum requests of a machine: one per program.
const CAPACITY: usize = 1 << 16;
/// Alignment of files, bytes.
const FILE_UNIT: u64 = 1 << 12;

/// A machine with its files, and the programs with slots at it.
pub(crate) struct SharedMachine {
    state: Mutex<SharedState>,
    hosts: usize,
    bytes: u64,
    is_read_only: bool,
    name: String,
    /// Its clock at the start.
    begun: jiff::Zoned,
}

struct SharedState {
    driver: SimDriver,
    slots: Vec<SlotState>,
    files: Vec<SharedFile>,
    /// The first byte after all files ever created.
    end: u64,
    broken: Option<DriverError>,
}

#[derive(Clone, Debug)]
struct SharedFile {
    name: String,
    start: u64,
    bytes: u64,
}

struct SlotState {
    kind: SlotKind,
    stage: TurnStage,
    turn: Arc<Condvar>,
    done: Vec<Completion>,
}

/// The occupant of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotKind {
    /// A batch of programs, run one after the other.
    Batch,
    /// A program started by such a batch.
    Program,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TurnStage {
    /// It can continue when its turn comes.
    Ready,
    Running,
    /// Waits for its request, or for that time.
    Waiting(Option<Instant>),
    /// Until all other batches pause or have ended.
    Paused,
    Gone,
}

impl SlotState {
    fn can_continue(&self, now: Instant) -> bool {
        match self.stage {
            TurnStage::Ready => true,
            TurnStage::Waiting(until) => !self.done.is_empty() || until.is_some_and(|at| at <= now),
            TurnStage::Running | TurnStage::Paused | TurnStage::Gone => false,
        }
    }
}

impl SharedState {
    /// The current slot has stopped: the next one continues, after time has advanced if necessary.
    fn pass_on(&mut self, hosts: usize) {
        loop {
            self.end_pauses();
            let now = self.driver.now();
            if let Some(next) = self.slots.iter_mut().find(|slot| slot.can_continue(now)) {
                next.stage = TurnStage::Running;
                next.turn.notify_one();
                return;
            }
            let waiting = self.slots.iter().filter_map(|slot| match slot.stage {
                TurnStage::Waiting(until) => Some(until),
                _ => None,
            });
            let deadlines: Vec<Option<Instant>> = waiting.collect();
            if deadlines.is_empty() {
                return;
            }
            let until = deadlines.into_iter().flatten().min();
            let mut done = Vec::new();
            if let Err(error) = self.driver.wait(until, &mut done) {
                self.broken = Some(error);
                self.slots.iter().for_each(|slot| slot.turn.notify_one());
                return;
            }
            for completion in done {
                let slot = completion.request.client.0 as usize / hosts;
                self.slots[slot].done.push(completion);
            }
        }
    }

    /// All batches pause or have ended: the paused ones continue.
    fn end_pauses(&mut self) {
        let batches = || self.slots.iter().filter(|it| it.kind == SlotKind::Batch);
        if batches().all(|it| matches!(it.stage, TurnStage::Paused | TurnStage::Gone)) {
            let slots = self.slots.iter_mut();
            for slot in slots.filter(|it| it.stage == TurnStage::Paused) {
                slot.stage = TurnStage::Ready;
            }
        }
    }
}

impl SharedMachine {
    /// A machine at its start with files side by side. With clients it has a server, which is the
    /// first host.
    pub(crate) fn new(
        spec: &SimSpec,
        clients: Option<usize>,
        seed: u64,
        begun: jiff::Zoned,
    ) -> Result<Self, ClassicError> {
        let driver = match clients {
            None => spec.driver(seed, CAPACITY, Instant::START),
            Some(clients) => {
                let site = spec.driver_of_site(seed, CAPACITY, clients);
                site.ok_or_else(|| {
                    ClassicError::Usage(format!(
                        "{} has no server: run all programs on one host, or name a machine that \
                         has one, such as sim:lan-p100",
                        spec.text
                    ))
                })?
            }
        };
        Ok(Self {
            state: Mutex::new(SharedState {
                driver,
                slots: Vec::new(),
                files: Vec::new(),
                end: 0,
                broken: None,
            }),
            hosts: clients.map_or(1, |clients| clients + 1),
            bytes: spec.size.0,
            is_read_only: spec.is_read_only(),
            name: spec.text.clone(),
            begun,
        })
    }

    fn state(&self) -> MutexGuard<'_, SharedState> {
        // A program that panicked left no inconsistent state, since it holds this only between its
        // steps.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a file after the existing ones.
    pub(crate) fn add_file(&self, name: &str, bytes: u64) -> Result<(), ClassicError> {
        let mut state = self.state();
        let name = base_name(name);
        let is_taken = state.files.iter().any(|it| it.name == name);
        if is_taken {
            let text = format!("{name} exists on {}. Name another file", self.name);
            return Err(ClassicError::Usage(text));
        }
        let start = state.end;
        if bytes > self.bytes - start.min(self.bytes) {
            return Err(ClassicError::Usage(format!(
                "{} has {}, of which files take {}, and {} for {name} do not fit",
                self.name,
                Bytes(self.bytes),
                Bytes(start),
                Bytes(bytes)
            )));
        }
        state.end = (start + bytes).next_multiple_of(FILE_UNIT);
        state.files.push(SharedFile { name, start, bytes });
        Ok(())
    }

    /// The same for a program that writes the file.
    pub(crate) fn write_file(&self, name: &str, bytes: u64) -> Result<(), ClassicError> {
        if self.is_read_only {
            let text = format!("{} cannot be written: {name} is not made", self.name);
            return Err(ClassicError::Usage(text));
        }
        self.add_file(name, bytes)
    }

    /// Removes a file; its space stays allocated.
    pub(crate) fn remove_file(&self, name: &str) -> Result<u64, ClassicError> {
        let file = self.find(name)?;
        self.state().files.retain(|it| it.name != file.name);
        Ok(file.bytes)
    }

    fn find(&self, name: &str) -> Result<SharedFile, ClassicError> {
        let base = base_name(name);
        let state = self.state();
        let found = state.files.iter().find(|it| it.name == base).cloned();
        found.ok_or_else(|| {
            let there: Vec<&str> = state.files.iter().map(|it| it.name.as_str()).collect();
            let there = match there.as_slice() {
                [] => "it has no files".to_owned(),
                names => format!("it has {}", names.join(", ")),
            };
            ClassicError::Usage(format!(
                "there is no file {name} on {}: {there}; make it with --file {name}=40M, or \
                 write it first",
                self.name
            ))
        })
    }

    /// Work of processors and storage of each host.
    pub(crate) fn activities(&self) -> Vec<Activity> {
        self.state().driver.activity_of_hosts()
    }

    /// Gives a program a slot at a host, and waits for its turn.
    pub(crate) fn take_slot(self: &Arc<Self>, kind: SlotKind, host: usize) -> ProgramSlot {
        let mut state = self.state();
        state.slots.push(SlotState {
            kind,
            stage: TurnStage::Ready,
            turn: Arc::new(Condvar::new()),
            done: Vec::new(),
        });
        ProgramSlot(TurnPlace {
            machine: Arc::clone(self),
            number: state.slots.len() - 1,
            host,
        })
    }

    /// All batches have their slots.
    pub(crate) fn begin(&self) {
        self.state().pass_on(self.hosts);
    }
}

/// The name without drive and directories, as compared by systems of the time.
fn base_name(name: &str) -> String {
    let base = name.rsplit(['/', '\\', ':']).next().unwrap_or(name);
    base.to_ascii_lowercase()
}

/// A program's slot at a machine; released on drop.
pub(crate) struct ProgramSlot(TurnPlace);

#[derive(Clone)]
struct TurnPlace {
    machine: Arc<SharedMachine>,
    number: usize,
    host: usize,
}

impl TurnPlace {
    fn until_running<'a>(
        &self,
        mut state: MutexGuard<'a, SharedState>,
    ) -> Result<MutexGuard<'a, SharedState>, DriverError> {
        let turn = Arc::clone(&state.slots[self.number].turn);
        loop {
            if let Some(error) = &state.broken {
                return Err(error.clone());
            }
            if state.slots[self.number].stage == TurnStage::Running {
                return Ok(state);
            }
            state = turn.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets others run until this one can continue.
    fn stop_at(&self, stage: TurnStage) -> Result<MutexGuard<'_, SharedState>, DriverError> {
        let mut state = self.machine.state();
        state.slots[self.number].stage = stage;
        state.pass_on(self.machine.hosts);
        self.until_running(state)
    }

    fn now(&self) -> Instant {
        self.machine.state().driver.now()
    }
}

impl ProgramSlot {
    pub(crate) const fn machine(&self) -> &Arc<SharedMachine> {
        &self.0.machine
    }

    pub(crate) const fn host(&self) -> usize {
        self.0.host
    }

    /// Blocks until its turn.
    pub(crate) fn take_turn(&self) -> Result<(), DriverError> {
        self.0.until_running(self.0.machine.state()).map(drop)
    }

    /// Waits until all other batches pause or have ended.
    pub(crate) fn pause(&self) -> Result<(), DriverError> {
        self.0.stop_at(TurnStage::Paused).map(drop)
    }

    /// Lets virtual time pass.
    pub(crate) fn pass_time(&self, until: Instant) -> Result<(), DriverError> {
        self.0.stop_at(TurnStage::Waiting(Some(until))).map(drop)
    }

    pub(crate) fn now(&self) -> Instant {
        self.0.now()
    }

    /// Date and time of day on the machine's clock.
    pub(crate) fn moment(&self) -> jiff::Zoned {
        moment_after(self.begun(), self.now())
    }

    /// The machine's clock at its start.
    pub(crate) fn begun(&self) -> &jiff::Zoned {
        &self.0.machine.begun
    }

    pub(crate) fn open(&self, name: &str) -> Result<SlotFile, ClassicError> {
        let file = self.0.machine.find(name)?;
        Ok(SlotFile {
            place: self.0.clone(),
            start: file.start,
            bytes: file.bytes,
        })
    }
}

impl Drop for ProgramSlot {
    fn drop(&mut self) {
        let mut state = self.0.machine.state();
        let slot = &mut state.slots[self.0.number];
        let was_running = slot.stage == TurnStage::Running;
        slot.stage = TurnStage::Gone;
        if was_running {
            state.pass_on(self.0.machine.hosts);
        }
    }
}

/// The time shown at `now` by a clock that showed `begun` at the start.
pub(crate) fn moment_after(begun: &jiff::Zoned, now: Instant) -> jiff::Zoned {
    let passed = now.since(Instant::START).as_nanos();
    let span = jiff::SignedDuration::from_nanos(i64::try_from(passed).unwrap_or(i64::MAX));
    begun.checked_add(span).unwrap_or_else(|_| begun.clone())
}

/// A file of the machine, as seen by a program.
pub(crate) struct SlotFile {
    place: TurnPlace,
    start: u64,
    bytes: u64,
}

impl SlotFile {
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Clock for SlotFile {
    fn now(&self) -> Instant {
        self.place.now()
    }
}

impl Driver for SlotFile {
    fn capacity(&self) -> usize {
        1
    }

    fn submit(&mut self, mut request: Request) -> Result<(), DriverError> {
        let TurnPlace {
            machine,
            number,
            host,
        } = &self.place;
        if let Op::Read { offset, .. } | Op::Write { offset, .. } = &mut request.op {
            *offset += self.start;
        }
        request.client = ClientId((number * machine.hosts + host) as u32);
        machine.state().driver.submit(request)
    }

    fn wait(
        &mut self,
        deadline: Option<Instant>,
        done: &mut Vec<Completion>,
    ) -> Result<(), DriverError> {
        let mut state = self.place.stop_at(TurnStage::Waiting(deadline))?;
        done.append(&mut state.slots[self.place.number].done);
        Ok(())
    }
}
