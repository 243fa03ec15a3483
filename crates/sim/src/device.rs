//! What every simulated device is: it takes commands, and answers them as virtual time passes.
//!
//! A machine is a device within a device: a host around a link around a server around an array
//! around disks. Each owns what is behind it, and asks it when something will happen next.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fmt::Debug;

use units::Instant;
use workload::{ClientId, Durability, Errno};

use crate::done::Done;
use crate::raid::ArrayState;
use crate::site::Port;
use crate::station::Served;

/// What a command asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Read bytes.
    Read,
    /// Write bytes.
    Write(Durability),
    /// Bring everything written so far to where it survives.
    Flush,
    /// Work of a processor; only a host does it.
    Compute {
        /// Processor time, nanoseconds.
        work_ns: u64,
        /// Bytes of its own memory that the client touches.
        touched: u64,
    },
}

impl Action {
    /// Whether it is a write whose data survive once it is done.
    #[must_use]
    pub fn is_durable_write(self) -> bool {
        matches!(self, Self::Write(durability) if durability.is_durable())
    }
}

/// Something that a device is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// What the requester knows it by; comes back with the answer.
    pub tag: u64,
    /// What is asked.
    pub action: Action,
    /// For whom; none for what a part of the machine does of itself.
    pub client: Option<ClientId>,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub len: u64,
}

/// What became of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The command's.
    pub tag: u64,
    /// Bytes moved, or the error.
    pub result: Result<u64, Errno>,
}

impl Command {
    /// Success, in whole.
    #[must_use]
    pub const fn done(&self) -> Answer {
        Answer {
            tag: self.tag,
            result: Ok(self.len),
        }
    }

    /// Failure.
    #[must_use]
    pub const fn failed(&self, errno: Errno) -> Answer {
        Answer {
            tag: self.tag,
            result: Err(errno),
        }
    }

    /// The byte after the last.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.offset + self.len
    }
}

/// A device in virtual time.
///
/// # Contract
/// - Instants never go back, from call to call.
/// - Whoever owns a device calls [`Device::step`] at every instant that [`Device::next`] names,
///   before it lets a later one pass, and before it begins a command at that instant.
/// - Every command is answered once. An answer may come in the step at the very instant at which
///   the command began, but only from a step.
pub trait Device: Debug + Send {
    /// Bytes that it holds.
    fn size(&self) -> u64;

    /// Take a command.
    fn begin(&mut self, now: Instant, command: Command);

    /// When something will happen of itself.
    fn next(&self) -> Option<Instant>;

    /// Do what is due by `now`, and append what is answered.
    fn step(&mut self, now: Instant, answers: &mut Vec<Answer>);

    /// What became of reads at the file cache that stands in front of it, if one does.
    fn cache_reads(&self) -> Option<CacheReads> {
        None
    }

    /// What processors and the storage behind them have done until `now`, if it is a host.
    fn done(&self, now: Instant) -> Option<Done> {
        let _ = now;
        None
    }

    /// The same of each host, where several share a storage: the server first.
    fn done_of_hosts(&self, now: Instant) -> Vec<Done> {
        self.done(now).into_iter().collect()
    }

    /// Where it ends and a server begins, if it is a client of one.
    fn port(&mut self) -> Option<&mut Port> {
        None
    }

    /// In which state the array is that is in here, if one is.
    fn array_state(&self) -> Option<ArrayState> {
        None
    }

    /// The service times that it gave, without its queue, if it is a queue.
    fn served(&self) -> Option<Served> {
        None
    }

    /// How often it could not keep streaming, stopped, and repositioned, if it is a tape drive.
    fn tape_stops(&self) -> Option<u64> {
        None
    }
}

/// What a device does that carries out one command after the other.
pub trait SerialMechanism: Debug + Send {
    /// Bytes that it holds.
    fn size(&self) -> u64;

    /// Carry out a command from `now` on; says until when, and the answer then.
    fn carry_out(&mut self, now: Instant, command: &Command) -> (Instant, Answer);

    /// See [`Device::tape_stops`].
    fn tape_stops(&self) -> Option<u64> {
        None
    }
}

/// A device that carries out one command after the other, in the order of their coming.
#[derive(Clone, Debug)]
pub struct SerialDevice<M> {
    mechanism: M,
    queue: VecDeque<Command>,
    busy: Option<(Instant, Answer)>,
}

impl<M: SerialMechanism> SerialDevice<M> {
    /// At rest.
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

/// Reads that a file cache has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheReads {
    /// All of them.
    pub asked: u64,
    /// Those that it had all pages for.
    pub answered: u64,
}

/// What will happen, in order of time; what happens at the same instant, in order of its planning.
#[derive(Clone, Debug)]
pub struct Calendar<T> {
    entries: BinaryHeap<Reverse<CalendarEntry<T>>>,
    sequence: u64,
}

#[derive(Clone, Debug)]
struct CalendarEntry<T> {
    at: Instant,
    sequence: u64,
    what: T,
}

impl<T> PartialEq for CalendarEntry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for CalendarEntry<T> {}

impl<T> Ord for CalendarEntry<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.sequence).cmp(&(other.at, other.sequence))
    }
}

impl<T> PartialOrd for CalendarEntry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Default for Calendar<T> {
    fn default() -> Self {
        Self {
            entries: BinaryHeap::new(),
            sequence: 0,
        }
    }
}

impl<T> Calendar<T> {
    /// Plan something.
    pub fn plan(&mut self, at: Instant, what: T) {
        let sequence = self.sequence;
        self.sequence += 1;
        self.entries
            .push(Reverse(CalendarEntry { at, sequence, what }));
    }

    /// When the next thing happens.
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        self.entries.peek().map(|Reverse(entry)| entry.at)
    }

    /// The next thing that is due by `now`.
    pub fn take(&mut self, now: Instant) -> Option<T> {
        self.next().filter(|&at| at <= now)?;
        self.entries.pop().map(|Reverse(entry)| entry.what)
    }
}

/// Things under way, by numbers that are used again.
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
    /// Keep `what` under a number.
    pub fn insert(&mut self, what: T) -> u64 {
        if let Some(number) = self.free.pop() {
            self.places[number as usize] = Some(what);
            return u64::from(number);
        }
        self.places.push(Some(what));
        self.places.len() as u64 - 1
    }

    /// What is kept under a number that was given out and not taken back.
    pub fn at(&mut self, number: u64) -> &mut T {
        let place = &mut self.places[number as usize];
        place.as_mut().expect("a number that was given out")
    }

    /// Take back a number.
    pub fn remove(&mut self, number: u64) -> T {
        let what = self.places[number as usize].take();
        self.free.push(number as u32);
        what.expect("a number that was given out")
    }
}

/// Something that serves one at a time, first come first served; what is done in the background
/// comes after all that somebody waits for.
#[derive(Clone, Debug, Default)]
pub struct Server {
    is_busy: bool,
    waiting: VecDeque<u64>,
    background: VecDeque<u64>,
}

impl Server {
    /// Whether `job` is served at once; else it waits.
    pub fn seize(&mut self, job: u64) -> bool {
        let is_served = !std::mem::replace(&mut self.is_busy, true);
        if !is_served {
            self.waiting.push_back(job);
        }
        is_served
    }

    /// The same for a job that nobody waits for.
    pub fn seize_in_background(&mut self, job: u64) -> bool {
        let is_served = !std::mem::replace(&mut self.is_busy, true);
        if !is_served {
            self.background.push_back(job);
        }
        is_served
    }

    /// The one served has gone; returns who is served now.
    pub fn release(&mut self) -> Option<u64> {
        let next = self.waiting.pop_front();
        let next = next.or_else(|| self.background.pop_front());
        self.is_busy = next.is_some();
        next
    }

    /// Somebody waits for all of the background by now.
    pub fn hurry(&mut self) {
        self.waiting.append(&mut self.background);
    }
}

/// The first of two instants, either of which may not be planned.
#[must_use]
pub fn first(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}

/// Nanoseconds that `bytes` take at a rate in bytes per second, rounded.
#[must_use]
pub fn transfer_ns(bytes: u64, rate: f64) -> u64 {
    (bytes as f64 * 1e9 / rate).round() as u64
}
