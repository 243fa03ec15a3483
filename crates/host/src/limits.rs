//! What this process may have of open files, memory and threads, and whether a plan fits.
//!
//! A plan that does not fit is refused before any I/O, rather than failing half-way: memory that
//! is refused later ends the process at once, and nothing could be said or kept then.

mod process;

use std::fmt;

use rustix::process::{Resource, Rlimit, setrlimit};
use sys::{Limited, limits_of};
use units::Bytes;

use crate::inspect::facts::{self, SystemRoots};
use crate::inspect::{cgroup, mounts};

pub use self::process::{Room, SpaceKind};

/// Files kept for the archive, reports and the kernel's text files.
const FILES_RESERVED: u64 = 32;
/// One part in this many of the available memory is left to others.
const MEMORY_RESERVED_PART: u64 = 8;
/// What the program takes of address space and data for itself while it measures.
const OWN_BYTES: u64 = 4 << 20;
/// Threads kept for signals, the screen and whoever watches.
const THREADS_RESERVED: u64 = 4;
/// What a client takes of memory, at most.
pub const CLIENT_BYTES: u64 = 512;

/// What a plan takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceDemand {
    /// Files that it opens.
    pub files: u64,
    /// Memory, in bytes, without the stacks of its threads.
    pub memory_bytes: u64,
    /// Threads that it starts.
    pub threads: u64,
    /// Address space of their stacks, in bytes: only what is touched becomes memory.
    pub stack_bytes: u64,
}

impl ResourceDemand {
    /// The same with `count` more threads that have stacks of `stack_bytes` each.
    #[must_use]
    pub const fn with_threads(self, count: u64, stack_bytes: u64) -> Self {
        Self {
            threads: self.threads.saturating_add(count),
            stack_bytes: self
                .stack_bytes
                .saturating_add(count.saturating_mul(stack_bytes)),
            ..self
        }
    }
}

/// What this process may have. `None` means no limit is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Open files allowed now (the soft limit).
    pub files_max: Option<u64>,
    /// Open files that this process may allow itself (the hard limit).
    pub files_max_hard: Option<u64>,
    /// Files open now.
    pub files_open: u64,
    /// Memory to be had without swapping, in bytes, by the machine and the control groups.
    pub memory_available_bytes: Option<u64>,
    /// Limits of this process on its address space and its data.
    pub spaces: Vec<Room>,
    /// Threads that may still be started.
    pub threads_left: Option<u64>,
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
        /// Files that are open already, and those that the program needs beside the plan.
        own: u64,
        /// Files that may be open at once.
        allowed: u64,
        /// The hard limit on open files of this process, if there is one.
        hard: Option<u64>,
    },
    /// Too much memory.
    Memory {
        /// Memory that the plan takes, in bytes.
        wanted_bytes: u64,
        /// Memory that may be taken, in bytes.
        allowed_bytes: u64,
    },
    /// More than a limit of this process on its address space or its data.
    Space {
        room: Room,
        /// What the plan takes of it, stacks included, and the program itself while it measures.
        wanted_bytes: u64,
    },
    /// Too many threads.
    Threads {
        /// Threads that the plan starts.
        wanted: u64,
        /// Threads that may be started.
        allowed: u64,
    },
}

impl ProcessLimits {
    /// Reads the limits as they are now.
    #[must_use]
    pub fn capture() -> Self {
        let facts = SystemRoots::default();
        let [files_max, files_max_hard] = limits_of(Limited::OpenFiles);
        ProcessLimits {
            files_max,
            files_max_hard,
            files_open: facts::names(&facts.proc.join("self/fd")).len() as u64,
            memory_available_bytes: memory_available(&facts),
            spaces: process::spaces(&facts),
            threads_left: process::threads_left(&facts),
        }
    }

    /// Files that may still be opened, our own needs set aside.
    #[must_use]
    pub fn files_left(&self) -> Option<u64> {
        self.files_max
            .map(|limit| limit.saturating_sub(self.files_own()))
    }

    fn files_own(&self) -> u64 {
        self.files_open.saturating_add(FILES_RESERVED)
    }

    /// Memory that may be taken, in bytes, a part set aside for others.
    #[must_use]
    pub fn memory_left_bytes(&self) -> Option<u64> {
        self.memory_available_bytes
            .map(|bytes| bytes - bytes / MEMORY_RESERVED_PART)
    }

    /// Says whether a plan fits.
    ///
    /// # Errors
    ///
    /// When it does not fit; all excesses are named at once.
    pub fn check(&self, wanted: &ResourceDemand) -> Result<(), LimitError> {
        let files = self
            .files_max
            .filter(|_| self.files_left() < Some(wanted.files))
            .map(|allowed| Excess::Files {
                wanted: wanted.files,
                own: self.files_own(),
                allowed,
                hard: self.files_max_hard,
            });
        let memory = self
            .memory_left_bytes()
            .filter(|allowed| wanted.memory_bytes > *allowed)
            .map(|allowed_bytes| Excess::Memory {
                wanted_bytes: wanted.memory_bytes,
                allowed_bytes,
            });
        let taken = wanted.memory_bytes.saturating_add(wanted.stack_bytes);
        let taken = taken.saturating_add(OWN_BYTES);
        let spaces = self.spaces.iter().filter_map(|&room| {
            let wanted_bytes = taken.saturating_add(room.kind.arena_bytes(wanted.threads));
            let is_too_much = wanted_bytes > room.left_bytes();
            is_too_much.then_some(Excess::Space { room, wanted_bytes })
        });
        let threads = self
            .threads_left
            .map(|left| left.saturating_sub(THREADS_RESERVED))
            .filter(|allowed| wanted.threads > *allowed)
            .map(|allowed| Excess::Threads {
                wanted: wanted.threads,
                allowed,
            });
        let excesses = files.into_iter().chain(memory).chain(spaces).chain(threads);
        let excesses: Vec<Excess> = excesses.collect();
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
    check_plan(&ResourceDemand {
        files: wanted_files,
        memory_bytes: wanted_memory_bytes,
        ..ResourceDemand::default()
    })
}

/// The same for a plan that starts threads.
///
/// # Errors
///
/// When it does not fit; all excesses are named at once.
pub fn check_plan(wanted: &ResourceDemand) -> Result<(), LimitError> {
    raise_open_files();
    ProcessLimits::capture().check(wanted)
}

/// Says whether so many clients fit, on a model or on nothing.
///
/// # Errors
///
/// When they do not fit; all excesses are named at once.
pub fn check_clients(clients: u32) -> Result<(), LimitError> {
    check_budget(0, u64::from(clients) * CLIENT_BYTES)
}

/// Raises the soft limit on open files to the hard one. A refusal changes nothing, and the check
/// that follows sees it.
fn raise_open_files() {
    let [current, maximum] = limits_of(Limited::OpenFiles);
    if current != maximum {
        let raised = Rlimit {
            current: maximum,
            maximum,
        };
        let _ = setrlimit(Resource::Nofile, raised);
    }
}

fn memory_available(facts: &SystemRoots) -> Option<u64> {
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
        match *self {
            Excess::Files {
                wanted,
                own,
                allowed,
                hard,
            } => {
                let needed = wanted.saturating_add(own);
                write!(
                    f,
                    "{wanted} open files are needed on top of Seekstone's own {own}, and \
                     the limit is {allowed}: "
                )?;
                match hard {
                    Some(hard) if hard < needed => write!(
                        f,
                        "use fewer files or clients, or have the administrator raise the \
                         hard limit from {hard} to {needed}"
                    ),
                    _ => write!(f, "run `ulimit -n {needed}` first, or use fewer files"),
                }
            }
            Excess::Memory {
                wanted_bytes,
                allowed_bytes,
            } => write!(
                f,
                "{} of memory is needed, but only {} is available. Use fewer clients, a lower \
                 queue depth or smaller blocks, or stop other programs",
                Bytes(wanted_bytes),
                Bytes(allowed_bytes)
            ),
            Excess::Space { room, wanted_bytes } => write!(
                f,
                "{} of {} is needed, thread stacks included, and the limit of this process \
                 ({}) leaves {}. Use fewer clients or workers or a lower queue depth, or raise \
                 the limit",
                Bytes(wanted_bytes),
                room.kind.name(),
                room.kind.command(room.limit_bytes),
                Bytes(room.left_bytes())
            ),
            Excess::Threads { wanted, allowed } => write!(
                f,
                "{wanted} threads are needed, and only {allowed} may be started (ulimit -u, the \
                 pids control group, kernel.threads-max). Use fewer clients or workers or a lower \
                 queue depth, or raise the limit"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn check_limits(hard: u64, wanted: ResourceDemand, expected: Option<&str>) {
        let limits = ProcessLimits {
            files_max: Some(100),
            files_max_hard: Some(hard),
            files_open: 8,
            memory_available_bytes: Some(800 * MIB),
            spaces: vec![Room {
                kind: SpaceKind::Data,
                limit_bytes: 900 * MIB,
                used_bytes: 100 * MIB,
            }],
            threads_left: Some(50),
        };
        let message = limits.check(&wanted).err().map(|error| error.to_string());
        assert_eq!(message.as_deref(), expected, "{wanted:?}");
    }

    fn check(hard: u64, files: u64, memory_bytes: u64, expected: Option<&str>) {
        let wanted = ResourceDemand {
            files,
            memory_bytes,
            ..ResourceDemand::default()
        };
        check_limits(hard, wanted, expected);
    }

    #[test]
    fn a_plan_within_the_limits_is_allowed() {
        check(100, 60, 700 * MIB, None);
        let wanted = ResourceDemand::default().with_threads(40, 19 * MIB);
        check_limits(100, wanted.with_threads(6, MIB), None);
    }

    #[test]
    fn an_excess_says_what_is_wanted_allowed_and_to_be_done() {
        check(
            100,
            61,
            0,
            Some(
                "61 open files are needed on top of Seekstone's own 40, and the limit is 100: use \
                 fewer files or clients, or have the administrator raise the hard \
                 limit from 100 to 101",
            ),
        );
        check(
            500,
            61,
            701 * MIB,
            Some(
                "61 open files are needed on top of Seekstone's own 40, and the limit is 100: run \
                 `ulimit -n 101` first, or use fewer files; 701 MiB of memory is \
                 needed, but only 700 MiB is available. Use fewer clients, a lower queue depth \
                 or smaller blocks, or stop other programs",
            ),
        );
    }

    #[test]
    fn stacks_count_as_data_and_threads_are_counted() {
        check_limits(
            100,
            ResourceDemand::default().with_threads(47, 17 * MIB),
            Some(
                "803 MiB of data is needed, thread stacks included, and the limit of this \
                 process (ulimit -d 921600) leaves 800 MiB. Use fewer clients or workers or \
                 a lower queue depth, or raise the limit; 47 threads are needed, and only 46 may \
                 be started (ulimit -u, the pids control group, kernel.threads-max). Use fewer \
                 clients or workers or a lower queue depth, or raise the limit",
            ),
        );
    }

    #[test]
    fn this_machine_allows_little_and_refuses_too_much() {
        assert_eq!(check_budget(1, 4096), Ok(()));
        let error = check_budget(u64::MAX / 2, u64::MAX / 2).expect_err("too much");
        assert!(!error.excesses.is_empty());
        assert_eq!(check_clients(1000), Ok(()));
        let error = check_clients(u32::MAX).expect_err("too many for any machine");
        assert!(error.to_string().contains("2.00 TiB of memory is needed"));
    }
}
