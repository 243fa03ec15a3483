//! Where threads wait until all of them are there.
//!
//! Unlike a barrier it can be called off: whoever starts threads may be refused the next one, and
//! those that wait already must not wait for ever.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A line at which so many threads start together.
#[derive(Debug)]
pub struct StartingLine {
    state: Mutex<StartingLineState>,
    changed: Condvar,
}

#[derive(Debug)]
struct StartingLineState {
    missing: usize,
    is_called_off: bool,
}

/// Not all threads could be started, and none of them begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalledOff;

impl StartingLine {
    /// A line for `count` threads.
    #[must_use]
    pub const fn new(count: usize) -> Self {
        Self {
            state: Mutex::new(StartingLineState {
                missing: count,
                is_called_off: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Wait until all are there.
    ///
    /// # Errors
    /// When it was called off.
    pub fn wait(&self) -> Result<(), CalledOff> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.missing = state.missing.saturating_sub(1);
        if state.missing == 0 {
            self.changed.notify_all();
        }
        let waits = |state: &mut StartingLineState| state.missing > 0 && !state.is_called_off;
        let state = self.changed.wait_while(state, waits);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        if state.is_called_off {
            Err(CalledOff)
        } else {
            Ok(())
        }
    }

    /// Wait until all are there, or until `goes_on` says no of as many as are missing, which it is
    /// asked at least every `look_every`. It is then called off.
    ///
    /// # Errors
    /// When it is called off.
    pub fn wait_while(
        &self,
        look_every: Duration,
        mut goes_on: impl FnMut(usize) -> bool,
    ) -> Result<(), CalledOff> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.missing = state.missing.saturating_sub(1);
        while state.missing > 0 && !state.is_called_off {
            let waits = |state: &mut StartingLineState| state.missing > 0 && !state.is_called_off;
            let woken = self.changed.wait_timeout_while(state, look_every, waits);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
            let missing = state.missing;
            drop(state);
            if missing > 0 && !goes_on(missing) {
                self.call_off();
            }
            state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_called_off {
            return Err(CalledOff);
        }
        self.changed.notify_all();
        Ok(())
    }

    /// Send home who waits, and who is still to come.
    pub fn call_off(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_called_off = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_start_together() {
        let line = StartingLine::new(3);
        std::thread::scope(|scope| {
            let others = [0, 1].map(|_| scope.spawn(|| line.wait()));
            assert_eq!(line.wait(), Ok(()));
            for other in others {
                assert_eq!(other.join().expect("no panic"), Ok(()));
            }
        });
    }

    /// A worker thread that the system refused left those before it at a barrier for ever.
    #[test]
    fn a_thread_that_is_missing_for_good_sends_the_others_home() {
        let line = StartingLine::new(3);
        std::thread::scope(|scope| {
            let first = scope.spawn(|| line.wait());
            line.call_off();
            assert_eq!(first.join().expect("no panic"), Err(CalledOff));
        });
        assert_eq!(line.wait(), Err(CalledOff));
    }

    #[test]
    fn who_is_missing_for_good_is_not_waited_for() {
        let line = StartingLine::new(3);
        std::thread::scope(|scope| {
            let first = scope.spawn(|| line.wait());
            let mut asked = 0;
            let waited = line.wait_while(Duration::from_millis(1), |missing| {
                asked += usize::from(missing == 1);
                asked < 3
            });
            assert_eq!(waited, Err(CalledOff));
            assert_eq!(first.join().expect("no panic"), Err(CalledOff));
        });
        let line = StartingLine::new(1);
        assert_eq!(line.wait_while(Duration::from_millis(1), |_| false), Ok(()));
    }
}
