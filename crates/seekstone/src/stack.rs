//! Enough stack, whatever `ulimit -s` says: running out of it ends a program without a word.

use std::panic::resume_unwind;
use std::process::ExitCode;
use std::thread::Builder;

use rustix::process::{Resource, getrlimit};

use crate::output;

/// What the first thread has where nobody limits it, and what the deepest command was tried with.
const ENOUGH: usize = 8 << 20;

/// Do the work of the program, in a thread with a stack of its own where ours is too small.
pub fn with_enough(work: fn() -> ExitCode) -> ExitCode {
    let limit = getrlimit(Resource::Stack).current;
    let Some(limit) = limit.filter(|limit| *limit < ENOUGH as u64) else {
        return work();
    };
    match Builder::new().stack_size(ENOUGH).spawn(work) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
        Err(error) => {
            output::complain(&format!(
                "error: the stack is limited to {} KiB (`ulimit -s`), and a thread with 8 MiB of \
                 stack cannot be started ({error}): raise the limit",
                limit >> 10
            ));
            ExitCode::FAILURE
        }
    }
}
