//! Runs several pieces of work at once, each on its own thread. They start together, or not at all
//! if a thread cannot be started.

use std::io;
use std::thread::{Builder, Result as Joined, ScopedJoinHandle};

use crate::starting_line::StartingLine;

/// Runs all `work`, and `here` on this thread at the same time.
///
/// # Errors
/// If a thread cannot be started. Nothing is done then.
pub fn together<T: Send, H>(
    work: impl IntoIterator<Item = impl FnOnce() -> T + Send>,
    here: impl FnOnce() -> H,
) -> io::Result<(H, Vec<Joined<T>>)> {
    let work: Vec<_> = work.into_iter().collect();
    // Includes this thread, which arrives when all others are started.
    let line = &StartingLine::new(work.len() + 1);
    std::thread::scope(|scope| {
        let threads = work.into_iter().map(|work| {
            let begin = move || line.wait().ok().map(|()| work());
            Builder::new().spawn_scoped(scope, begin)
        });
        let threads: io::Result<Vec<_>> = threads.collect();
        let threads = threads.inspect_err(|_| line.call_off())?;
        // Only this thread could cancel it.
        let _ = line.wait();
        let here = here();
        let joined = threads.into_iter().map(ScopedJoinHandle::join);
        // It was not cancelled.
        let joined =
            joined.filter_map(|joined| joined.map_or_else(|it| Some(Err(it)), |it| it.map(Ok)));
        Ok((here, joined.collect()))
    })
}

/// Why no thread could be started, and what to do.
pub fn no_thread(error: &io::Error) -> String {
    format!(
        "cannot start a thread ({error}). Ask for fewer at a time, or raise the limits on \
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
