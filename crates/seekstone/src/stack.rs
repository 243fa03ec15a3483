//! A thread for the work of the program. Signals are of the process, and the kernel hands them to
//! the first thread: were that one to hang in a call to the storage, nobody would hear them. And
//! there is enough stack, whatever `ulimit -s` says: running out of it ends a program without a
//! word.

use std::panic::resume_unwind;
use std::process::ExitCode;
use std::thread::Builder;

use sys::{Limited, limits_of};

use crate::output;

/// What the first thread has where nobody limits it, and what the deepest command was tried with.
const ENOUGH: usize = 8 << 20;

/// Do the work of the program in a thread of its own, or in this one, where there is no room for
/// another and the stack is large enough.
pub fn with_enough(work: fn() -> ExitCode) -> ExitCode {
    let [limit, _] = limits_of(Limited::Stack);
    let limit = limit.filter(|limit| *limit < ENOUGH as u64);
    let thread = Builder::new().name("main".into()).stack_size(ENOUGH);
    match (thread.spawn(work), limit) {
        (Ok(thread), _) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
        (Err(_), None) => work(),
        (Err(error), Some(limit)) => {
            output::complain(&format!(
                "error: the stack is limited to {} KiB (`ulimit -s`). A thread with 8 MiB of \
                 stack cannot be started ({error}). Raise the limit",
                limit >> 10
            ));
            ExitCode::FAILURE
        }
    }
}
