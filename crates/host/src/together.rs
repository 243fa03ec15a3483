//! Several pieces of work at once, each on a thread of its own; they begin together, or, where a
//! thread cannot be started, not at all.

use std::io;
use std::thread::{Builder, Result as Joined, ScopedJoinHandle};

use crate::starting_line::StartingLine;

/// Do all `work`, and `here` on this thread at the same time.
///
/// # Errors
/// When a thread cannot be started; nothing was done then.
pub fn together<T: Send, H>(
    work: impl IntoIterator<Item = impl FnOnce() -> T + Send>,
    here: impl FnOnce() -> H,
) -> io::Result<(H, Vec<Joined<T>>)> {
    let work: Vec<_> = work.into_iter().collect();
    // With a place for this thread, which comes when all others could be started.
    let line = &StartingLine::new(work.len() + 1);
    std::thread::scope(|scope| {
        let threads = work.into_iter().map(|work| {
            let begin = move || line.wait().ok().map(|()| work());
            Builder::new().spawn_scoped(scope, begin)
        });
        let threads: io::Result<Vec<_>> = threads.collect();
        let threads = threads.inspect_err(|_| line.call_off())?;
        // Nobody else calls it off.
        let _ = line.wait();
        let here = here();
        let joined = threads.into_iter().map(ScopedJoinHandle::join);
        // Nobody was sent home.
        let joined =
            joined.filter_map(|joined| joined.map_or_else(|it| Some(Err(it)), |it| it.map(Ok)));
        Ok((here, joined.collect()))
    })
}

/// Why no thread could be started, with what to do.
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
