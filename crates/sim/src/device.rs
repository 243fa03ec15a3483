//! The interface of all simulated devices: they take commands and complete them as virtual time
//! passes.
//!
//! A machine is nested devices: a host around a link around a server around an array around disks.
//! Each owns the device behind it, and asks it for its next event.

use std::collections::VecDeque;
use std::fmt::Debug;

use units::Instant;

use crate::due::DueQueue;
use workload::{ClientId, Durability, Errno};

use crate::done::Done;
use crate::raid::ArrayState;
use crate::site::Port;
use crate::station::Served;

/// The action of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Read bytes.
    Read,
    /// Write bytes.
    Write(Durability),
    /// Make everything written so far durable.
    Flush,
    /// CPU work, which only a host does.
    Compute {
        /// CPU time, nanoseconds.
        work_ns: u64,
        /// Bytes of its own memory that the client touches.
        touched: u64,
    },
}

impl Action {
    /// Whether it is a write that is durable when complete.
    pub fn is_durable_write(self) -> bool {
        matches!(self, Self::Write(durability) if durability.is_durable())
    }
}

/// A command for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// The requester's tag, returned with the answer.
    pub tag: u64,
    /// The action.
    pub action: Action,
    /// The client; none for internal commands of the machine.
    pub client: Option<ClientId>,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub len: u64,
}

/// The completion of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Tag of the command.
    pub tag: u64,
    /// Bytes moved, or the error.
    pub result: Result<u64, Errno>,
}

impl Command {
    /// Complete success.
    pub const fn done(&self) -> Answer {
        Answer {
            tag: self.tag,
            result: Ok(self.len),
        }
    }

    /// Failure.
    pub const fn failed(&self, errno: Errno) -> Answer {
        Answer {
            tag: self.tag,
            result: Err(errno),
        }
    }

    /// The byte after the last.
    pub const fn end(&self) -> u64 {
        self.offset + self.len
    }
}

/// A device in virtual time.
///
/// # Contract
///
/// - Time never goes back between calls.
/// - The owner calls [`Device::step`] at every instant returned by [`Device::next`], before it lets
///   a later one pass, and before it begins a command at that instant.
/// - Every command is answered once. The answer may come at the very instant at which the command
///   began, but only from a step.
pub trait Device: Debug + Send {
    /// Size, bytes.
    fn size(&self) -> u64;

    /// Accepts a command.
    fn begin(&mut self, now: Instant, command: Command);

    /// Time of the next internal event.
    fn next(&self) -> Option<Instant>;

    /// Processes events up to `now`, and appends completions.
    fn step(&mut self, now: Instant, answers: &mut Vec<Answer>);

    /// Reads of the file cache in front of it, if there is one.
    fn cache_reads(&self) -> Option<CacheReads> {
        None
    }

    /// Work of processors and the storage behind them up to `now`, if it is a host.
    fn done(&self, now: Instant) -> Option<Done> {
        let _ = now;
        None
    }

    /// The same for each host if several share a storage, the server first.
    fn done_of_hosts(&self, now: Instant) -> Vec<Done> {
        self.done(now).into_iter().collect()
    }

    /// Its port to a server, if it is a client of one.
    fn port(&mut self) -> Option<&mut Port> {
        None
    }

    /// State of the array in it, if there is one.
    fn array_state(&self) -> Option<ArrayState> {
        None
    }

    /// Service times without queueing, if it is a queue.
    fn served(&self) -> Option<Served> {
        None
    }

    /// How many times it stopped streaming and repositioned, if it is a tape drive.
    fn tape_stops(&self) -> Option<u64> {
        None
    }
}

/// A device that executes one command at a time.
pub trait SerialMechanism: Debug + Send {
    /// Size, bytes.
    fn size(&self) -> u64;

    /// Executes a command from `now` on. Returns the end and the answer.
    fn carry_out(&mut self, now: Instant, command: &Command) -> (Instant, Answer);

    /// See [`Device::tape_stops`].
    fn tape_stops(&self) -> Option<u64> {
        None
    }
}

/// A device that executes one command at a time, in order of arrival.
#[derive(Clone, Debug)]
pub struct SerialDevice<M> {
    mechanism: M,
    queue: VecDeque<Command>,
    busy: Option<(Instant, Answer)>,
}

impl<M: SerialMechanism> SerialDevice<M> {
    /// An idle device.
    pub(crate) const fn of(mechanism: M) -> Self {
        Self {
            mechanism,
            queue: VecDeque::new(),
            busy: None,
        }
    }

    fn go_on(&mut self, now: Instant) {
        let command = self.queue.pop_front();
        self.busy = command.map(|command| self.mechanism.carry_out(now, &command));
    }
}

impl<M: SerialMechanism> Device for SerialDevice<M> {
    fn size(&self) -> u64 {
        self.mechanism.size()
    }

    fn begin(&mut self, now: Instant, command: Command) {
        self.queue.push_back(command);
        if self.busy.is_none() {
            self.go_on(now);
        }
    }

    fn next(&self) -> Option<Instant> {
        self.busy.map(|(until, _)| until)
    }

    fn step(&mut self, now: Instant, answers: &mut Vec<Answer>) {
        while let Some((until, answer)) = self.busy.take_if(|(until, _)| *until <= now) {
            answers.push(answer);
            self.go_on(until);
        }
    }

    fn tape_stops(&self) -> Option<u64> {
        self.mechanism.tape_stops()
    }
}

/// Reads seen by a file cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheReads {
    /// All of them.
    pub asked: u64,
    /// Those with all pages in the cache.
    pub answered: u64,
}

/// Future events in order of time; events at the same instant keep the order in which they were
/// planned.
#[derive(Clone, Debug)]
pub struct Calendar<T>(DueQueue<T>);

impl<T> Default for Calendar<T> {
    fn default() -> Self {
        Self(DueQueue::default())
    }
}

impl<T> Calendar<T> {
    /// Plans an event.
    pub fn plan(&mut self, at: Instant, what: T) {
        self.0.push(at.0, what);
    }

    /// Time of the next event.
    pub fn next(&self) -> Option<Instant> {
        self.0.first().map(Instant)
    }

    /// Takes the next event due by `now`.
    pub fn take(&mut self, now: Instant) -> Option<T> {
        self.next().filter(|&at| at <= now)?;
        self.0.pop().map(|(_, what)| what)
    }
}

/// Items under way, by reusable numbers.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    places: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Slab<T> {
    /// Stores `what` under a number.
    pub fn insert(&mut self, what: T) -> u64 {
        if let Some(number) = self.free.pop() {
            self.places[number as usize] = Some(what);
            return u64::from(number);
        }
        self.places.push(Some(what));
        self.places.len() as u64 - 1
    }

    /// The item with a number that is in use.
    pub fn at(&mut self, number: u64) -> &mut T {
        let place = &mut self.places[number as usize];
        place.as_mut().expect("a number that was given out")
    }

    /// Removes an item.
    pub fn remove(&mut self, number: u64) -> T {
        let what = self.places[number as usize].take();
        self.free.push(number as u32);
        what.expect("a number that was given out")
    }
}

/// Serves one job at a time, first come, first served. Background jobs come after all others.
#[derive(Clone, Debug, Default)]
pub struct Server {
    is_busy: bool,
    waiting: VecDeque<u64>,
    background: VecDeque<u64>,
}

impl Server {
    /// Starts `job` if idle; otherwise queues it. Returns whether it was started.
    pub fn seize(&mut self, job: u64) -> bool {
        let is_served = !std::mem::replace(&mut self.is_busy, true);
        if !is_served {
            self.waiting.push_back(job);
        }
        is_served
    }

    /// The same for a background job.
    pub fn seize_in_background(&mut self, job: u64) -> bool {
        let is_served = !std::mem::replace(&mut self.is_busy, true);
        if !is_served {
            self.background.push_back(job);
        }
        is_served
    }

    /// The current job is done. Returns the next one.
    pub fn release(&mut self) -> Option<u64> {
        let next = self.waiting.pop_front();
        let next = next.or_else(|| self.background.pop_front());
        self.is_busy = next.is_some();
        next
    }

    /// Gives all background jobs normal priority, since something waits for them.
    pub fn hurry(&mut self) {
        self.waiting.append(&mut self.background);
    }
}

/// The earlier of two optional instants.
pub fn first(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}

/// Time to transfer `bytes` at a rate in bytes per second, in nanoseconds, rounded.
pub fn transfer_ns(bytes: u64, rate: f64) -> u64 {
    (bytes as f64 * 1e9 / rate).round() as u64
}
