//! Several pieces of work at once, each on a thread of its own; they begin together, or, where a
//! thread cannot be started, not at all.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Result as Joined, ScopedJoinHandle};

/// What the threads wait for.
#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    arrived: usize,
    /// Whether to go on; nothing while the gate is shut.
    go_on: Option<bool>,
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wait until it opens; whether to go on.
    fn pass(&self) -> bool {
        let mut state = self.state();
        state.arrived += 1;
        self.changed.notify_all();
        let state = self
            .changed
            .wait_while(state, |state| state.go_on.is_none());
        let state = state.unwrap_or_else(PoisonError::into_inner);
        state.go_on == Some(true)
    }

    /// Open it when so many have come.
    fn open_for(&self, count: usize) {
        let state = self
            .changed
            .wait_while(self.state(), |state| state.arrived < count);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        state.go_on = Some(true);
        self.changed.notify_all();
    }

    /// Send everybody home.
    fn call_off(&self) {
        self.state().go_on = Some(false);
        self.changed.notify_all();
    }
}

/// Do all `work`, and `here` on this thread at the same time.
///
/// # Errors
/// When a thread cannot be started; nothing was done then.
pub(crate) fn together<T: Send, H>(
    work: impl IntoIterator<Item = impl FnOnce() -> T + Send>,
    here: impl FnOnce() -> H,
) -> io::Result<(H, Vec<Joined<T>>)> {
    let gate = &Gate::default();
    std::thread::scope(|scope| {
        let threads = work.into_iter().map(|work| {
            let begin = move || gate.pass().then(work);
            Builder::new().spawn_scoped(scope, begin)
        });
        let threads: io::Result<Vec<_>> = threads.collect();
        let threads = threads.inspect_err(|_| gate.call_off())?;
        gate.open_for(threads.len());
        let here = here();
        let joined = threads.into_iter().map(ScopedJoinHandle::join);
        // Nobody was sent home.
        let joined =
            joined.filter_map(|joined| joined.map_or_else(|it| Some(Err(it)), |it| it.map(Ok)));
        Ok((here, joined.collect()))
    })
}

/// Why no thread could be started, with what to do.
pub(crate) fn no_thread(error: &io::Error) -> String {
    format!(
        "a thread cannot be started ({error}): ask for fewer at a time, or raise the limits on \
         processes (`ulimit -u`) and memory (`ulimit -v`, `ulimit -d`)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_done_and_what_panics_is_told() {
        let work = [1, 2, 3].map(|number| move || assert!(number != 2, "two"));
        let (here, done) = together(work, || 7).expect("threads");
        let is_done: Vec<bool> = done.iter().map(Result::is_ok).collect();
        assert_eq!((here, is_done), (7, vec![true, false, true]));
    }
}
