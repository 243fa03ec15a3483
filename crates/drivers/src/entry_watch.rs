//! Whether entering the kernel holds up the thread that also collects what is done.
//!
//! To hand requests over should take microseconds. Where the file system carries a request out
//! before it lets the caller go (FUSE without asynchronous direct I/O, or with a full queue), the
//! thread sleeps in there for as long as the storage takes: it collects nothing meanwhile, and the
//! storage has one request at a time. A thread that sleeps gives its processor up of its own
//! accord, which the kernel counts; one that is preempted, or copies from memory, does not.

use units::Duration;

/// Entries at the beginning that are watched, each.
const FIRST: u32 = 16;
/// Of those that follow, each of this many.
const EVERY: u32 = 64;
/// Before any request is done, an entry is held up that takes at least this long.
const UNKNOWN: Duration = Duration::from_micros(200);
/// No lock is held for so long: where many requests wait in the file system's queue, what they
/// take says nothing of an entry.
const LONG: Duration = Duration::from_millis(2);
/// Entries held up, of the last eight watched, from which on the driver counts as held up.
const HELD_UP_MIN: u32 = 4;

/// Watches some of the entries of one driver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryWatch {
    is_on: bool,
    entries: u32,
    /// The last eight that were watched, a bit each: whether it was held up.
    recent: u8,
}

impl EntryWatch {
    /// A driver that has one request at a time may sleep anywhere.
    pub(crate) const fn new(depth: usize) -> Self {
        Self {
            is_on: depth > 1,
            entries: 0,
            recent: 0,
        }
    }

    /// Whether the next entry that hands requests over is to be watched.
    #[inline]
    pub(crate) const fn is_due(&self) -> bool {
        let is_suspicious = self.recent & 1 == 1;
        self.is_on && (self.entries < FIRST || is_suspicious || self.entries.is_multiple_of(EVERY))
    }

    /// An entry passes, watched or not.
    #[inline]
    pub(crate) const fn pass(&mut self) {
        self.entries = match self.entries.wrapping_add(1) {
            0 => FIRST,
            next => next,
        };
    }

    /// A watched entry took `length`, in which the thread slept or not, where half of the requests
    /// take `usual`, if that is known; says whether it was held up. A lock held for a moment is no
    /// storage.
    pub(crate) fn note(&mut self, slept: bool, length: Duration, usual: Duration) -> bool {
        let least = match usual {
            Duration::ZERO => UNKNOWN,
            usual => Duration::from_nanos(usual.as_nanos() / 2),
        };
        let is_held_up = slept && length >= least.min(LONG);
        self.recent = self.recent << 1 | u8::from(is_held_up);
        is_held_up
    }

    /// Whether entries are held up as a rule.
    pub(crate) const fn is_held_up(&self) -> bool {
        self.recent.count_ones() >= HELD_UP_MIN
    }

    /// Nothing needs to be watched any more.
    pub(crate) const fn stop(&mut self) {
        self.is_on = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn watched(entries: &[(bool, Duration)]) -> EntryWatch {
        let mut watch = EntryWatch::new(8);
        for (slept, length) in entries {
            watch.note(*slept, *length, MS * 10);
            watch.pass();
        }
        watch
    }

    #[test]
    fn an_entry_that_sleeps_as_long_as_the_storage_takes_is_held_up() {
        let check = |entries: &[(bool, Duration)], expected| {
            assert_eq!(watched(entries).is_held_up(), expected, "{entries:?}");
        };
        check(&[(true, MS * 10); 4], true);
        check(&[(true, MS * 10); 3], false);
        // A processor that was taken away, and a lock.
        check(&[(false, MS * 10); 100], false);
        check(&[(true, MS); 100], false);
        // A full queue: half of the requests take far longer than an entry.
        check(&[(true, MS * 3); 4], true);
        let mixed = [(true, MS * 9), (false, MS)].repeat(4);
        check(&mixed, true);
        let once = [vec![(true, MS * 10); 3], vec![(false, MS); 8]].concat();
        check(&once, false);
    }

    #[test]
    fn few_entries_are_watched_unless_one_was_held_up() {
        let due = |watch: &mut EntryWatch| {
            let is_due = watch.is_due();
            watch.pass();
            usize::from(is_due)
        };
        let mut watch = EntryWatch::new(2);
        let count: usize = (0..16 + 6400).map(|_| due(&mut watch)).sum();
        assert_eq!(count, 16 + 100);
        assert!(watch.note(true, MS, MS));
        assert!((0..10).all(|_| watch.is_due()));
        watch.stop();
        assert!(!watch.is_due());
        assert!(!EntryWatch::new(1).is_due());
    }
}
