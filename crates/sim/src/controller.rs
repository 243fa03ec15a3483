//! A controller with a cache in front of its storage: hits involve neither the storage nor the
//! host.
//!
//! Read and written blocks are cached, with LRU replacement. Writes complete when the storage has
//! them. There is no read-ahead.

use units::{Duration, Instant};

use crate::device::{Action, Answer, Calendar, Command, Device, Slab, first, transfer_ns};
use crate::host::FileCache;

/// Size of a cache block, bytes.
const BLOCK: u64 = 512;

/// Parameters of a controller.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerSpec {
    /// Cache size, bytes.
    pub cache: u64,
    /// Time of a cache hit before data transfer, nanoseconds.
    pub time: u64,
    /// Bytes per second from the cache to the host; none if not limiting.
    pub rate: Option<f64>,
}

/// A running controller.
#[derive(Debug)]
pub struct Controller {
    spec: ControllerSpec,
    storage: Box<dyn Device>,
    cache: FileCache,
    /// Commands in the storage, by its tags.
    passed_on: Slab<Command>,
    /// Cache hits under way.
    hits: Calendar<Answer>,
    /// When the last of them completes.
    free_at: Instant,
    answers: Vec<Answer>,
}

impl Controller {
    /// An empty cache in front of `storage`.
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

    /// Touches every block of a command. Returns whether all were in the cache.
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
