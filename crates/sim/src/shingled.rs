//! A shingled disk (SMR): the overlapping tracks of a band can only be written in order.
//!
//! Other writes go sequentially into a media cache at the outer edge. When that is full, or the
//! disk has been idle for a while, bands are cleaned, the longest waiting first: the whole band is
//! read and rewritten. Source: A. Aghayev, P. Desnoyers, "Skylight - A Window on Shingled Disk
//! Operation", FAST 2015. Here the cache takes no user space, and one command is executed at a
//! time.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use units::{Duration, Instant};
use workload::Durability;

use crate::device::{Action, Answer, Command, Device, first};

/// Block size of the media cache, bytes.
const BLOCK: u64 = 4096;

/// Who manages the order of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shingling {
    /// The host knows the bands: a write at its band's write pointer goes there, whatever came in
    /// between.
    HostAware,
    /// The host does not: a write goes to its band only if it continues the previous write or
    /// starts a band.
    DriveManaged,
}

/// Parameters of a shingled disk.
#[derive(Clone, Debug, PartialEq)]
pub struct ShinglesSpec {
    pub shingling: Shingling,
    /// Band size, bytes.
    pub band: u64,
    /// Size of the media cache, bytes.
    pub cache: u64,
    /// Idle time before bands are cleaned, nanoseconds.
    pub idle: u64,
}

/// A running shingled disk.
#[derive(Debug)]
pub struct ShingledDisk {
    spec: ShinglesSpec,
    disk: Box<dyn Device>,
    queue: VecDeque<Command>,
    busy: Option<ShingledWork>,
    /// Write pointer of each band that was started in order.
    pointers: BTreeMap<u64, u64>,
    /// End of the last write.
    last_end: u64,
    /// Locations of blocks in the media cache.
    places: BTreeMap<u64, u64>,
    /// Location of the next one.
    head: u64,
    /// Used bytes of the media cache, superseded blocks included.
    used: u64,
    /// Bands with blocks there, with their bytes, in order of arrival.
    dirty: VecDeque<(u64, u64)>,
    /// When the last command completed.
    idle_since: Instant,
}

#[derive(Clone, Copy, Debug)]
enum ShingledWork {
    Serving(Command),
    /// A band is read before it is rewritten.
    Gathering,
    Rewriting,
}

impl ShingledDisk {
    /// Idle, with an empty media cache.
    pub const fn new(spec: ShinglesSpec, disk: Box<dyn Device>) -> Self {
        Self {
            spec,
            disk,
            queue: VecDeque::new(),
            busy: None,
            pointers: BTreeMap::new(),
            last_end: 0,
            places: BTreeMap::new(),
            head: 0,
            used: 0,
            dirty: VecDeque::new(),
            idle_since: Instant::START,
        }
    }

    fn ask(&mut self, now: Instant, work: ShingledWork, action: Action, offset: u64, len: u64) {
        let client = match work {
            ShingledWork::Serving(command) => command.client,
            _ => None,
        };
        self.busy = Some(work);
        let command = Command {
            tag: 0,
            action,
            client,
            offset,
            len,
        };
        self.disk.begin(now, command);
    }

    fn go_on(&mut self, now: Instant) {
        let Some(&command) = self.queue.front() else {
            return;
        };
        let place = match command.action {
            Action::Read => self.places.get(&(command.offset / BLOCK)).copied(),
            Action::Write(_) if self.is_in_order(&command) => {
                self.pointers
                    .insert(command.end() / self.spec.band, command.end());
                None
            }
            Action::Write(_) => {
                let needed = blocks(&command).count() as u64 * BLOCK;
                if self.used + needed > self.spec.cache && !self.dirty.is_empty() {
                    self.begin_cleaning(now);
                    return;
                }
                Some(self.cached(&command, needed))
            }
            Action::Flush | Action::Compute { .. } => None,
        };
        if matches!(command.action, Action::Write(_)) {
            self.last_end = command.end();
        }
        self.queue.pop_front();
        let offset = place.unwrap_or(command.offset);
        let work = ShingledWork::Serving(command);
        self.ask(now, work, command.action, offset, command.len);
    }

    /// Whether a write can go to its band.
    fn is_in_order(&self, command: &Command) -> bool {
        let offset = command.offset;
        let is_at_pointer = self.pointers.get(&(offset / self.spec.band)) == Some(&offset);
        offset.is_multiple_of(self.spec.band)
            || match self.spec.shingling {
                Shingling::HostAware => is_at_pointer,
                Shingling::DriveManaged => is_at_pointer && self.last_end == offset,
            }
    }

    /// Adds a write to the media cache. Returns its location.
    fn cached(&mut self, command: &Command, bytes: u64) -> u64 {
        if self.head + bytes > self.spec.cache {
            self.head = 0;
        }
        let place = self.head;
        for (number, block) in (0..).zip(blocks(command)) {
            self.places.insert(block, place + number * BLOCK);
        }
        self.head += bytes;
        self.used += bytes;
        let band = command.offset / self.spec.band;
        self.pointers.remove(&band);
        match self.dirty.iter_mut().find(|(known, _)| *known == band) {
            Some((_, kept)) => *kept += bytes,
            None => self.dirty.push_back((band, bytes)),
        }
        place
    }

    fn band(&self) -> Option<Range<u64>> {
        let (band, _) = self.dirty.front()?;
        let start = band * self.spec.band;
        Some(start..(start + self.spec.band).min(self.disk.size()))
    }

    fn begin_cleaning(&mut self, now: Instant) {
        if let Some(band) = self.band() {
            let len = band.end - band.start;
            self.ask(now, ShingledWork::Gathering, Action::Read, band.start, len);
        }
    }

    fn done(&mut self, now: Instant, work: ShingledWork, answer: &Answer) -> Option<Answer> {
        match work {
            ShingledWork::Serving(command) => {
                self.idle_since = now;
                return Some(Answer {
                    tag: command.tag,
                    ..*answer
                });
            }
            ShingledWork::Gathering => {
                if let Some(band) = self.band() {
                    let write = Action::Write(Durability::Volatile);
                    let len = band.end - band.start;
                    self.ask(now, ShingledWork::Rewriting, write, band.start, len);
                }
            }
            ShingledWork::Rewriting => {
                let blocks = self.band().map(|it| it.start / BLOCK..it.end / BLOCK);
                let cleaned = blocks.into_iter().flat_map(|it| self.places.range(it));
                let cleaned: Vec<u64> = cleaned.map(|(&block, _)| block).collect();
                for block in cleaned {
                    self.places.remove(&block);
                }
                self.used -= self.dirty.pop_front().map_or(0, |(_, bytes)| bytes);
            }
        }
        None
    }

    /// When the next band is cleaned, if the disk stays idle.
    fn cleans_at(&self) -> Option<Instant> {
        let is_idle = self.busy.is_none() && self.queue.is_empty() && !self.dirty.is_empty();
        is_idle.then(|| self.idle_since + Duration(self.spec.idle))
    }
}

fn blocks(command: &Command) -> Range<u64> {
    command.offset / BLOCK..command.end().div_ceil(BLOCK)
}

impl Device for ShingledDisk {
    fn size(&self) -> u64 {
        self.disk.size()
    }

    fn begin(&mut self, now: Instant, command: Command) {
        self.queue.push_back(command);
        if self.busy.is_none() {
            self.go_on(now);
        }
    }

    fn next(&self) -> Option<Instant> {
        first(self.cleans_at(), self.disk.next())
    }

    fn step(&mut self, now: Instant, answers: &mut Vec<Answer>) {
        let mut found = Vec::new();
        loop {
            if self.disk.next().is_some_and(|at| at <= now) {
                self.disk.step(now, &mut found);
                for answer in found.drain(..) {
                    let work = self.busy.take().expect("one command at a time");
                    answers.extend(self.done(now, work, &answer));
                    if self.busy.is_none() {
                        self.go_on(now);
                    }
                }
            } else if self.cleans_at().is_some_and(|at| at <= now) {
                self.begin_cleaning(now);
            } else {
                return;
            }
        }
    }
}
