//! What this process may have of open files and memory, and whether a plan fits.
//!
//! A plan that does not fit is refused before any I/O, rather than failing half-way.

use std::fmt;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use units::Bytes;

use crate::inspect::facts::{self, Facts};
use crate::inspect::{cgroup, mounts};

/// Files kept for the archive, reports and the kernel's text files.
const FILES_RESERVED: u64 = 32;
/// One part in this many of the available memory is left to others.
const MEMORY_RESERVED_PART: u64 = 8;

/// What this process may have. `None` means no limit is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open files allowed now (the soft limit).
    pub files_max: Option<u64>,
    /// Open files that this process may allow itself (the hard limit).
    pub files_max_hard: Option<u64>,
    /// Files open now.
    pub files_open: u64,
    /// Memory to be had without swapping, in bytes, by the machine and the control groups.
    pub memory_available_bytes: Option<u64>,
}

/// All that a plan asks too much of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct LimitError {
    /// Each excess; never empty.
    pub excesses: Vec<Excess>,
}

/// One thing that a plan asks too much of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Excess {
    /// Too many open files.
    Files {
        /// Files that the plan opens.
        wanted: u64,
        /// Files that may still be opened.
        allowed: u64,
        /// The hard limit on open files of this process, if there is one.
        hard: Option<u64>,
        /// The soft limit that would be enough.
        needed: u64,
    },
    /// Too much memory.
    Memory {
        /// Memory that the plan takes, in bytes.
        wanted_bytes: u64,
        /// Memory that may be taken, in bytes.
        allowed_bytes: u64,
    },
}

impl Limits {
    /// Reads the limits as they are now.
    #[must_use]
    pub fn capture() -> Self {
        let facts = Facts::default();
        let files = getrlimit(Resource::Nofile);
        Limits {
            files_max: files.current,
            files_max_hard: files.maximum,
            files_open: facts::names(&facts.proc.join("self/fd")).len() as u64,
            memory_available_bytes: memory_available(&facts),
        }
    }

    /// Files that may still be opened, our own needs set aside.
    #[must_use]
    pub fn files_left(&self) -> Option<u64> {
        let taken = self.files_open.saturating_add(FILES_RESERVED);
        self.files_max.map(|limit| limit.saturating_sub(taken))
    }

    /// Memory that may be taken, in bytes, a part set aside for others.
    #[must_use]
    pub fn memory_left_bytes(&self) -> Option<u64> {
        self.memory_available_bytes
            .map(|bytes| bytes - bytes / MEMORY_RESERVED_PART)
    }

    /// Says whether a plan fits that opens `wanted_files` and takes `wanted_memory_bytes`.
    ///
    /// # Errors
    ///
    /// When it does not fit; all excesses are named at once.
    pub fn check(&self, wanted_files: u64, wanted_memory_bytes: u64) -> Result<(), LimitError> {
        let files = self
            .files_left()
            .filter(|allowed| wanted_files > *allowed)
            .map(|allowed| {
                let taken = self.files_open.saturating_add(FILES_RESERVED);
                Excess::Files {
                    wanted: wanted_files,
                    allowed,
                    hard: self.files_max_hard,
                    needed: wanted_files.saturating_add(taken),
                }
            });
        let memory = self
            .memory_left_bytes()
            .filter(|allowed| wanted_memory_bytes > *allowed)
            .map(|allowed_bytes| Excess::Memory {
                wanted_bytes: wanted_memory_bytes,
                allowed_bytes,
            });
        let excesses: Vec<Excess> = files.into_iter().chain(memory).collect();
        if excesses.is_empty() {
            Ok(())
        } else {
            Err(LimitError { excesses })
        }
    }
}

/// Says whether a plan fits that opens `wanted_files` and takes `wanted_memory_bytes`, after
/// raising the limit on open files as far as this process may.
///
/// # Errors
///
/// When it does not fit; all excesses are named at once.
pub fn check_budget(wanted_files: u64, wanted_memory_bytes: u64) -> Result<(), LimitError> {
    raise_open_files();
    Limits::capture().check(wanted_files, wanted_memory_bytes)
}

/// Raises the soft limit on open files to the hard one. A refusal changes nothing, and the check
/// that follows sees it.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let _ = setrlimit(
            Resource::Nofile,
            Rlimit {
                current: limit.maximum,
                maximum: limit.maximum,
            },
        );
    }
}

fn memory_available(facts: &Facts) -> Option<u64> {
    let machine = facts.memory_bytes("MemAvailable");
    let group = cgroup::memory_limit(facts, &mounts::read(facts))
        .map(|(limit, used)| limit.saturating_sub(used));
    machine.into_iter().chain(group).min()
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, excess) in self.excesses.iter().enumerate() {
            let separator = if index > 0 { "; " } else { "" };
            write!(f, "{separator}{excess}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Excess::Files {
                wanted,
                allowed,
                hard,
                needed,
            } => {
                write!(
                    f,
                    "{wanted} open files are wanted, but only {allowed} more are allowed: "
                )?;
                match hard {
                    Some(hard) if hard < needed => write!(
                        f,
                        "ask for fewer files or clients, or have the administrator raise the \
                         hard limit from {hard} to {needed}"
                    ),
                    _ => write!(f, "say `ulimit -n {needed}` before, or ask for fewer files"),
                }
            }
            Excess::Memory {
                wanted_bytes,
                allowed_bytes,
            } => write!(
                f,
                "{} of memory are wanted, but only {} are to be had: ask for fewer clients, less \
                 queue depth or smaller blocks, or end other programs",
                Bytes(*wanted_bytes),
                Bytes(*allowed_bytes)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn check(hard: u64, files: u64, memory: u64, expected: Option<&str>) {
        let limits = Limits {
            files_max: Some(100),
            files_max_hard: Some(hard),
            files_open: 8,
            memory_available_bytes: Some(800 * MIB),
        };
        let said = limits
            .check(files, memory)
            .err()
            .map(|error| error.to_string());
        assert_eq!(said.as_deref(), expected, "{files} files, {memory} bytes");
    }

    #[test]
    fn a_plan_within_the_limits_is_allowed() {
        check(100, 60, 700 * MIB, None);
    }

    #[test]
    fn an_excess_says_what_is_wanted_allowed_and_to_be_done() {
        check(
            100,
            61,
            0,
            Some(
                "61 open files are wanted, but only 60 more are allowed: ask for fewer files or \
                 clients, or have the administrator raise the hard limit from 100 to 101",
            ),
        );
        check(
            500,
            61,
            701 * MIB,
            Some(
                "61 open files are wanted, but only 60 more are allowed: say `ulimit -n 101` \
                 before, or ask for fewer files; 701 MiB of memory are wanted, but only 700 MiB \
                 are to be had: ask for fewer clients, less queue depth or smaller blocks, or \
                 end other programs",
            ),
        );
    }

    #[test]
    fn this_machine_allows_little_and_refuses_too_much() {
        assert_eq!(check_budget(1, 4096), Ok(()));
        let error = check_budget(u64::MAX / 2, u64::MAX / 2).expect_err("too much");
        assert!(!error.excesses.is_empty());
    }
}
