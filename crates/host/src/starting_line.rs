//! A barrier at which threads wait until all of them are there.
//!
//! Unlike a standard barrier it can be cancelled: if a thread cannot be started, those already
//! waiting must not wait for ever.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A starting line for a number of threads.
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

/// Not all threads could be started, so none begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalledOff;

impl StartingLine {
    /// A line for `count` threads.
    pub const fn new(count: usize) -> Self {
        Self {
            state: Mutex::new(StartingLineState {
                missing: count,
                is_called_off: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Waits until all are there.
    ///
    /// # Errors
    /// If it was cancelled.
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

    /// Waits until all are there, or until `goes_on` returns false for the number of missing
    /// threads. It is called at least every `look_every`, and returning false cancels the line.
    ///
    /// # Errors
    /// If it is cancelled.
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

    /// Cancels it for current and future waiters.
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

    /// Bug: if the system refused a worker thread, those before it waited at a barrier for ever.
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
