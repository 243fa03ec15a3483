//! Free space while a trial writes: it ends before it would take what must stay free.
//!
//! Where blocks are written in place, a trial takes no space that its file does not have already.
//! Where they are copied on write, old blocks are freed some time later, so free space falls as
//! long as a trial writes; no arithmetic beforehand says how far.

use std::path::{Path, PathBuf};

use drivers::{FreeSpace, Target, free_space};
use procedure::{Trial, TrialError};
use units::{Bytes, Duration};

use super::{StorageLaboratory, TargetLocation};

/// From one look at free space to the next.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Watches free space during one trial.
#[derive(Debug)]
pub(super) struct ReserveWatch {
    reserve: u64,
    next: Duration,
    last: Option<u64>,
    /// Bytes that were free when the trial had to end.
    ended_at: Option<u64>,
}

impl ReserveWatch {
    const fn new(reserve: u64) -> Self {
        Self {
            reserve,
            next: Duration::ZERO,
            last: None,
            ended_at: None,
        }
    }

    /// Whether the trial may go on at `elapsed`. `look` returns the bytes that are free, where the
    /// system says. It must not before the reserve would be entered at the next look, if free space
    /// keeps falling as it did since the last one.
    pub(super) fn holds(&mut self, elapsed: Duration, look: impl FnOnce() -> Option<u64>) -> bool {
        if self.ended_at.is_none() && elapsed >= self.next {
            self.next = elapsed + LOOK_EVERY;
            if let Some(free) = look() {
                let fell = self.last.map_or(0, |last| last.saturating_sub(free));
                // What was short of space from the start was accepted by who asked for it.
                let is_falling = fell > 0;
                if is_falling && free.saturating_sub(fell) < self.reserve.max(1) {
                    self.ended_at = Some(free);
                }
                self.last = Some(free);
            }
        }
        self.ended_at.is_none()
    }

    /// Why the trial had to end, if it had to.
    pub(super) fn failure(&self) -> Option<TrialError> {
        self.ended_at.map(|available| TrialError::Space {
            available: Bytes(available),
            reserve: Bytes(self.reserve),
        })
    }
}

impl StorageLaboratory {
    /// What looks at free space during `trial`, where its writes may take some, and where: each
    /// file of several has a file system with a reserve of its own.
    pub(super) fn reserve_watches(&self, trial: &Trial) -> Vec<(PathBuf, ReserveWatch)> {
        if !trial.spec.changes_storage() {
            return Vec::new();
        }
        let is_copied = |path: &Path| free_space(path).is_ok_and(|space| space.copies_on_write);
        let places = self.reserves().into_iter();
        let copied = places.filter(|(path, _)| is_copied(path));
        let watch = |(path, reserve): (&Path, u64)| (path.to_owned(), ReserveWatch::new(reserve));
        copied.map(watch).collect()
    }

    /// What is measured, and the bytes that stay free there.
    fn reserves(&self) -> Vec<(&Path, u64)> {
        match &self.place {
            TargetLocation::Several { reserves, .. } => {
                // Each file is two targets: past the page cache, and through it.
                let files = self.table.targets().iter().step_by(2).map(Target::path);
                files.zip(reserves.iter().copied()).collect()
            }
            _ => Vec::from_iter(self.path().map(|path| (path, self.settings.reserve))),
        }
    }

    /// Space on the file system of the directory or file that is measured, of several the first.
    pub(super) fn space(&self) -> Option<FreeSpace> {
        free_space(self.path()?).ok()
    }

    fn path(&self) -> Option<&Path> {
        match &self.place {
            TargetLocation::Directory { directory, .. } => Some(directory.path()),
            TargetLocation::Named | TargetLocation::Several { .. } => {
                Some(self.table.targets().first()?.path())
            }
        }
    }
}

/// Bytes that are free there, where the system says.
pub(super) fn available(path: &Path) -> Option<u64> {
    free_space(path).ok().map(|space| space.available)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks every 200 ms that find `free` bytes; returns the number of the one that ended it.
    fn check(reserve: u64, free: &[u64], expected: Option<usize>) {
        let mut watch = ReserveWatch::new(reserve);
        let ended = (0..free.len()).find(|&number| {
            let elapsed = LOOK_EVERY * number as u64;
            !watch.holds(elapsed, || Some(free[number]))
        });
        assert_eq!(ended, expected, "{free:?}");
        assert_eq!(watch.failure().is_some(), expected.is_some());
    }

    #[test]
    fn a_trial_ends_before_the_reserve_is_entered() {
        check(100, &[500, 400, 300, 200, 100], Some(4));
        check(100, &[500, 200], Some(1));
        check(0, &[500, 300, 100], Some(2));
    }

    #[test]
    fn space_that_is_given_back_ends_nothing() {
        check(100, &[500, 400, 300, 600, 500], None);
        check(100, &[150, 150, 150], None);
        // Somebody else took the space before: nothing of it is ours.
        check(100, &[50, 50, 60], None);
    }

    #[test]
    fn a_system_that_says_nothing_ends_nothing() {
        let mut watch = ReserveWatch::new(100);
        assert!(watch.holds(Duration::ZERO, || None));
        assert!(watch.holds(LOOK_EVERY, || Some(5)));
        assert!(watch.holds(LOOK_EVERY, || panic!("it looks once in a while")));
    }
}
