//! Signals that ask the program to stop.
//!
//! The first SIGINT, SIGTERM or SIGHUP raises a flag that the measuring loops look at, so that a
//! run can end in order. The second ends the process at once with 128 plus its number. SIGXFSZ
//! gets a handler that does nothing to speak of, so that a write past `ulimit -f` is an ordinary
//! error (EFBIG) instead of our death. System calls are restarted, not broken off: whoever waits
//! must wait with a deadline.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::inspect::facts::Facts;

/// A signal that ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Name, such as `SIGINT`.
    pub name: &'static str,
    /// Number, such as 2.
    pub number: i32,
}

const SIGNALS: [Signal; 3] = [
    Signal {
        name: "SIGINT",
        number: SIGINT,
    },
    Signal {
        name: "SIGTERM",
        number: SIGTERM,
    },
    Signal {
        name: "SIGHUP",
        number: SIGHUP,
    },
];

/// A flag that a signal raises; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    /// Number of the signal that came; 0 before.
    raised: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Installs the handlers for the rest of the process's life. A SIGHUP that was ignored from
    /// the start, as under `nohup`, stays ignored.
    ///
    /// # Errors
    ///
    /// When the system refuses a handler.
    pub fn install() -> io::Result<Self> {
        let interrupt = Interrupt::default();
        let is_armed = Arc::new(AtomicBool::new(false));
        for signal in SIGNALS {
            if signal.number == SIGHUP && is_ignored(&Facts::default(), signal.number) {
                continue;
            }
            // Handlers run in the order of registration: the first signal finds nothing armed.
            let status = 128 + signal.number;
            flag::register_conditional_shutdown(signal.number, status, Arc::clone(&is_armed))?;
            flag::register(signal.number, Arc::clone(&is_armed))?;
            let number = usize::try_from(signal.number).map_err(io::Error::other)?;
            flag::register_usize(signal.number, Arc::clone(&interrupt.raised), number)?;
        }
        outlive_file_size_limit()?;
        Ok(interrupt)
    }

    /// A flag that no signal raises, for tests and for use as a library.
    #[must_use]
    pub fn never() -> Self {
        Interrupt::default()
    }

    /// Raise it as SIGINT does, without a signal, for use as a library.
    pub fn raise(&self) {
        let number = usize::try_from(SIGINT).unwrap_or_default();
        self.raised.store(number, Ordering::Relaxed);
    }

    /// The signal that came, if one did.
    #[must_use]
    pub fn is_raised(&self) -> Option<Signal> {
        let number = self.raised.load(Ordering::Relaxed);
        SIGNALS
            .into_iter()
            .find(|signal| usize::try_from(signal.number) == Ok(number))
    }
}

/// From now on a write past `ulimit -f` is an ordinary error.
///
/// # Errors
///
/// When the system refuses the handler.
pub fn outlive_file_size_limit() -> io::Result<()> {
    flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map(drop)
}

/// The mask of ignored signals in `/proc/self/status` has bit `n - 1` for signal `n`.
fn is_ignored(facts: &Facts, number: i32) -> bool {
    let text = facts.proc_text("self/status").unwrap_or_default();
    let mask = text.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    mask >> (number - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Output};

    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use signal_hook::low_level::raise;

    use super::*;

    /// Signals and limits hold for a whole process, so each case runs in one of its own: this
    /// test program again, with one of the cases below that are otherwise ignored.
    fn run_case(name: &str) -> Output {
        let program = std::env::current_exe().expect("our own program");
        let test = format!("interrupt::tests::{name}");
        let output = Command::new(program)
            .args(["--exact", &test, "--ignored"])
            .output();
        output.expect("a second process")
    }

    /// A program that found no such test would succeed too, so its count is looked at.
    #[track_caller]
    fn check_passes(name: &str) {
        let output = run_case(name);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && said.contains("1 passed"),
            "{said}"
        );
    }

    #[test]
    fn the_first_signal_raises_the_flag() {
        check_passes("case_first_signal");
    }

    #[test]
    fn the_second_signal_ends_the_process_with_its_number() {
        let status = run_case("case_second_signal").status;
        assert_eq!(status.code(), Some(128 + SIGINT));
    }

    #[test]
    fn a_write_past_the_file_size_limit_is_an_error() {
        check_passes("case_file_size_limit");
    }

    #[test]
    fn a_flag_of_its_own_is_never_raised() {
        assert_eq!(Interrupt::never().is_raised(), None);
    }

    #[test]
    #[ignore = "ends or limits its process: run by another test"]
    fn case_first_signal() {
        let interrupt = Interrupt::install().expect("handlers");
        let copy = interrupt.clone();
        assert_eq!(copy.is_raised(), None);
        raise(SIGTERM).expect("a signal");
        assert_eq!(copy.is_raised().map(|signal| signal.name), Some("SIGTERM"));
    }

    #[test]
    #[ignore = "ends or limits its process: run by another test"]
    fn case_second_signal() {
        let _interrupt = Interrupt::install().expect("handlers");
        raise(SIGTERM).expect("a signal");
        raise(SIGINT).expect("a signal");
    }

    #[test]
    #[ignore = "ends or limits its process: run by another test"]
    fn case_file_size_limit() {
        let _interrupt = Interrupt::install().expect("handlers");
        let mut file = tempfile::tempfile().expect("a temporary file");
        let maximum = getrlimit(Resource::Fsize).maximum;
        let limit = Rlimit {
            current: Some(4096),
            maximum,
        };
        setrlimit(Resource::Fsize, limit).expect("a limit");
        file.write_all(&[0; 4096]).expect("a write up to the limit");
        let error = file.write_all(&[0; 1]).expect_err("a write past the limit");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }
}
