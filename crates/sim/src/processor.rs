//! Processors shared equally among all work.
//!
//! With one processor this is processor sharing as in queueing theory, whose mean times depend only
//! on the mean work. A time-sharing system with a short quantum approximates it.
//!
//! The method is that of virtual work: `attained` is the service that each piece of work present
//! has received since it arrived, plus the value of `attained` at that time. A piece is done when
//! `attained` reaches its mark, so only one number changes instead of all remaining times.

use units::{Duration, Instant};

use crate::due::DueQueue;

/// Marks closer than this, in nanoseconds, are reached together.
const TOLERANCE_NS: f64 = 0.5;

/// Processors and their work. `T` is returned when a piece is done.
#[derive(Clone, Debug)]
pub struct Processors<T> {
    count: usize,
    /// Processors held for something other than work.
    held: usize,
    /// Jobs that poll, each with the same share as a piece of work.
    pollers: usize,
    /// Service received by each piece present, ns.
    attained: f64,
    /// When `attained` was last updated.
    at: Instant,
    /// By the value of `attained` when they are done. Marks are not negative, so that their bits
    /// rise with them.
    pieces: DueQueue<T>,
    /// When the next piece is done without further arrivals.
    next: Option<Instant>,
}

impl<T> Processors<T> {
    /// `count` idle processors.
    pub fn new(count: usize) -> Self {
        assert!(count > 0, "work needs a processor");
        Self {
            count,
            held: 0,
            pollers: 0,
            attained: 0.0,
            at: Instant::START,
            pieces: DueQueue::default(),
            next: None,
        }
    }

    /// Number of busy or held processors.
    pub fn busy(&self) -> usize {
        (self.held + self.pollers + self.pieces.len()).min(self.count)
    }

    /// Starts `work_ns` of work at `now`. Calls must be in order of time.
    pub fn begin(&mut self, now: Instant, work_ns: u64, what: T) {
        self.advance(now);
        if self.pieces.is_empty() {
            // Small numbers are exact.
            self.attained = 0.0;
        }
        let mark = self.attained + work_ns as f64;
        self.pieces.push(mark.to_bits(), what);
        self.plan();
    }

    /// When the next piece is done.
    pub const fn next_done(&self) -> Option<Instant> {
        self.next
    }

    /// Takes the next piece done by `now`.
    pub fn take_done(&mut self, now: Instant) -> Option<T> {
        let due = self.next.filter(|&due| due <= now)?;
        self.advance(due);
        let (mark, what) = self.pieces.pop()?;
        // Rounded up to whole nanoseconds, the instant may be slightly after the mark.
        self.attained = self.attained.max(f64::from_bits(mark));
        self.plan();
        Some(what)
    }

    /// Holds a processor from `now` on, if one is left. Returns whether one was.
    pub fn hold(&mut self, now: Instant) -> bool {
        let is_left = self.held < self.count;
        if is_left {
            self.advance(now);
            self.held += 1;
            self.plan();
        }
        is_left
    }

    /// Releases a held processor.
    pub fn release(&mut self, now: Instant) {
        assert!(self.held > 0, "a processor that was held");
        self.advance(now);
        self.held -= 1;
        self.plan();
    }

    /// A job starts polling at `now`.
    pub fn poll(&mut self, now: Instant) {
        self.advance(now);
        self.pollers += 1;
        self.plan();
    }

    /// A polling job stops.
    pub fn stop_polling(&mut self, now: Instant) {
        assert!(self.pollers > 0, "somebody loops");
        self.advance(now);
        self.pollers -= 1;
        self.plan();
    }

    fn advance(&mut self, now: Instant) {
        let passed = now.since(self.at).as_nanos() as f64;
        if !self.pieces.is_empty() && self.held < self.count {
            self.attained += passed / self.slowness();
        }
        self.at = now.max(self.at);
    }

    /// Nanoseconds per nanosecond of work.
    fn slowness(&self) -> f64 {
        let wanting = self.pieces.len() + self.pollers;
        (wanting as f64 / (self.count - self.held) as f64).max(1.0)
    }

    fn plan(&mut self) {
        if self.held == self.count {
            self.next = None;
            return;
        }
        self.next = self.pieces.first().map(|mark| {
            let left = (f64::from_bits(mark) - self.attained).max(0.0);
            if left <= TOLERANCE_NS {
                return self.at;
            }
            self.at + Duration::from_nanos((left * self.slowness()).ceil() as u64)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Work given as (start, work), in milliseconds; ends in the order of the work.
    fn check(count: usize, work: &[(u64, u64)], expected: &[u64]) {
        let mut processors = Processors::new(count);
        let mut ends = vec![0; work.len()];
        let mut collect = |processors: &mut Processors<usize>, until: Instant| {
            while let Some(due) = processors.next_done().filter(|&due| due <= until) {
                if let Some(number) = processors.take_done(due) {
                    ends[number] = (due.as_nanos() + 500) / 1_000_000;
                }
            }
        };
        for (number, &(begin, work)) in work.iter().enumerate() {
            let begin = Instant(begin * 1_000_000);
            collect(&mut processors, begin);
            processors.begin(begin, work * 1_000_000, number);
        }
        collect(&mut processors, Instant::NEVER);
        assert_eq!(ends, expected, "{work:?} on {count}");
    }

    #[test]
    fn all_present_have_the_same_share() {
        check(1, &[(0, 10)], &[10]);
        check(1, &[(0, 10), (0, 10)], &[20, 20]);
        check(1, &[(0, 10), (5, 10)], &[15, 20]);
        check(1, &[(0, 30), (0, 10)], &[40, 20]);
        check(2, &[(0, 10), (0, 10), (0, 10)], &[15, 15, 15]);
        check(2, &[(0, 10), (20, 10)], &[10, 30]);
    }

    /// Half of a processor is left beside a polling job.
    #[test]
    fn who_loops_has_the_share_of_a_piece_of_work() {
        let at = |ms: u64| Instant(ms * 1_000_000);
        let mut processors = Processors::new(1);
        processors.begin(at(0), 10_000_000, ());
        processors.poll(at(4));
        assert_eq!(processors.next_done(), Some(at(16)));
        processors.stop_polling(at(8));
        assert_eq!(processors.next_done(), Some(at(12)));
        assert_eq!(processors.busy(), 1);
    }

    #[test]
    fn work_stands_still_while_all_processors_are_held() {
        let at = |ms: u64| Instant(ms * 1_000_000);
        let mut processors = Processors::new(1);
        processors.begin(at(0), 10_000_000, ());
        assert!(processors.hold(at(4)));
        assert!(!processors.hold(at(5)), "there is only one");
        assert_eq!(processors.next_done(), None);
        processors.release(at(24));
        assert_eq!(processors.next_done(), Some(at(30)));
    }
}
