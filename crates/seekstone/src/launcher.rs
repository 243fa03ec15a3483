//! What started this process: a shell, or a launcher of ranks.

use mpi::Launched;
use rustix::event::{PollFd, PollFlags, Timespec};

/// What started this process, if it was a launcher.
pub fn launched() -> Option<Launched> {
    mpi::detect(variable)
}

/// Let a launcher hand over what it has for the standard input of rank 0, or that there is nothing.
/// MPICH's is killed by SIGPIPE, and what the ranks said is lost, if they have ended before that.
pub fn wait_for_launcher() {
    const WAIT: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 100_000_000,
    };
    let input = rustix::stdio::stdin();
    if launched().is_some_and(|it| it.rank == 0) && !rustix::termios::isatty(input) {
        let mut polled = [PollFd::new(&input, PollFlags::IN)];
        // Whatever the answer is, this is all that can be done.
        let _ = rustix::event::poll(&mut polled, Some(&WAIT));
    }
}

/// A variable of the environment, if it is text.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
