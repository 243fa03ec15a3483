//! A controller with a cache in front of its storage: what it holds is answered without the
//! storage, and without any work of the host's.
//!
//! Blocks that were read or written stay, the least recently used of them go. Writes are answered
//! when the storage has them. What is read is what was asked for: nothing is read ahead.

use units::{Duration, Instant};

use crate::device::{Action, Answer, Calendar, Command, Device, Slab, first, transfer_ns};
use crate::host::FileCache;

/// Bytes of a block of the cache.
const BLOCK: u64 = 512;

/// Everything that fixes a controller.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerSpec {
    /// Bytes of the cache.
    pub cache: u64,
    /// What it takes to answer from the cache before data move, nanoseconds.
    pub time: u64,
    /// Bytes per second from the cache to the host; none where that is never in the way.
    pub rate: Option<f64>,
}

/// A controller at work.
#[derive(Debug)]
pub struct Controller {
    spec: ControllerSpec,
    storage: Box<dyn Device>,
    cache: FileCache,
    /// Commands that the storage has, by its tags.
    passed_on: Slab<Command>,
    /// Answers from the cache.
    hits: Calendar<Answer>,
    /// When the last of them is given.
    free_at: Instant,
    answers: Vec<Answer>,
}

impl Controller {
    /// An empty cache in front of `storage`.
    #[must_use]
    pub fn new(spec: ControllerSpec, storage: Box<dyn Device>) -> Self {
        Self {
            cache: FileCache::new((spec.cache / BLOCK) as usize),
            spec,
            storage,
            passed_on: Slab::default(),
            hits: Calendar::default(),
            free_at: Instant::START,
            answers: Vec::new(),
        }
    }

    /// Use every block of a command; returns whether the cache held all of them.
    fn holds(&mut self, command: &Command) -> bool {
        let missing = blocks(command).filter(|&block| !self.cache.touch(block));
        missing.count() == 0
    }
}

fn blocks(command: &Command) -> std::ops::Range<u64> {
    command.offset / BLOCK..command.end().div_ceil(BLOCK)
}

impl Device for Controller {
    fn size(&self) -> u64 {
        self.storage.size()
    }

    fn begin(&mut self, now: Instant, command: Command) {
        if command.action == Action::Read && self.holds(&command) {
            let moving = self
                .spec
                .rate
                .map_or(0, |rate| transfer_ns(command.len, rate));
            let end = self.free_at.max(now) + Duration(self.spec.time + moving);
            self.free_at = end;
            self.hits.plan(end, command.done());
            return;
        }
        let tag = self.passed_on.insert(command);
        self.storage.begin(now, Command { tag, ..command });
    }

    fn next(&self) -> Option<Instant> {
        first(self.hits.next(), self.storage.next())
    }

    fn tape_stops(&self) -> Option<u64> {
        self.storage.tape_stops()
    }

    fn step(&mut self, now: Instant, answers: &mut Vec<Answer>) {
        while let Some(answer) = self.hits.take(now) {
            answers.push(answer);
        }
        if self.storage.next().is_none_or(|at| at > now) {
            return;
        }
        self.storage.step(now, &mut self.answers);
        for answer in self.answers.drain(..) {
            let command = self.passed_on.remove(answer.tag);
            let is_data = matches!(command.action, Action::Read | Action::Write(_));
            if is_data && answer.result.is_ok() {
                blocks(&command).for_each(|block| self.cache.insert(block));
            }
            answers.push(Answer {
                tag: command.tag,
                ..answer
            });
        }
    }
}
