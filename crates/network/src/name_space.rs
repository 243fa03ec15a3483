//! Runs a measurement in a network namespace, as `ip netns exec NAME` does for a command.
//!
//! A namespace belongs to a thread: the measurement runs in its own thread, and the rest of the
//! program stays where it is.

use std::fs::File;
use std::io;
use std::path::Path;
use std::thread;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::os::fd::AsFd;

/// Where `ip netns` stores names.
pub const NAMES: &str = "/run/netns";

/// Why a namespace cannot be entered.
#[derive(Debug, thiserror::Error)]
#[error("network namespace {name}: {cause}{advice}")]
pub struct NameSpaceError {
    name: String,
    cause: io::Error,
    advice: &'static str,
}

/// Moves the calling thread into a namespace permanently.
///
/// # Errors
/// If it does not exist or cannot be entered.
pub fn enter(name: &str) -> Result<(), NameSpaceError> {
    let fault = |cause: io::Error| NameSpaceError {
        name: name.into(),
        advice: match cause.kind() {
            io::ErrorKind::NotFound => ". `ip netns list` lists what exists",
            io::ErrorKind::PermissionDenied => ". Only root may enter one",
            _ => "",
        },
        cause,
    };
    if name.is_empty() || name.contains('/') || name.starts_with('.') {
        return Err(fault(io::Error::from(io::ErrorKind::InvalidInput)));
    }
    let file = File::open(Path::new(NAMES).join(name)).map_err(fault)?;
    let network = Some(LinkNameSpaceType::Network);
    move_into_link_name_space(file.as_fd(), network).map_err(|errno| fault(errno.into()))
}

/// Runs `work` in a namespace, or in the current one if none is named.
///
/// # Errors
/// If the namespace cannot be entered.
///
/// # Panics
/// If `work` panics.
pub fn run_in<T: Send>(
    name: Option<&str>,
    work: impl FnOnce() -> T + Send,
) -> Result<T, NameSpaceError> {
    let Some(name) = name else {
        return Ok(work());
    };
    thread::scope(|scope| {
        let worker = thread::Builder::new().spawn_scoped(scope, || enter(name).map(|()| work()));
        let worker = worker.map_err(|cause| NameSpaceError {
            name: name.into(),
            cause,
            advice: ". Cannot start a thread: raise the limit on processes (`ulimit -u`)",
        })?;
        match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_name_the_work_is_done_here() {
        let here = thread::current().id();
        assert_eq!(run_in(None, || thread::current().id()).unwrap(), here);
    }

    #[test]
    fn a_name_that_nobody_has_is_an_error_with_advice() {
        let error = run_in(Some("seekstone-nobody"), || ()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("seekstone-nobody"), "{text}");
        assert!(text.contains("ip netns list"), "{text}");
        for name in ["", "../mnt/ns", ".", "a/b"] {
            assert!(run_in(Some(name), || ()).is_err(), "{name}");
        }
    }
}
