//! Limits of this process on open files, memory and threads, and whether a plan fits them.
//!
//! A plan that does not fit is refused before any I/O rather than failing half-way: running out of
//! memory later would end the process at once, without a message or results.

mod process;

use std::fmt;

use rustix::process::{Resource, Rlimit, setrlimit};
use sys::{Limited, limits_of};
use units::Bytes;

use crate::inspect::facts::{self, SystemRoots};
use crate::inspect::{cgroup, mounts};

pub use self::process::{Room, SpaceKind};

/// Files reserved for the archive, reports and the kernel's text files.
const FILES_RESERVED: u64 = 32;
/// One part in this many of the available memory is left to others.
const MEMORY_RESERVED_PART: u64 = 8;
/// The program's own address space and data while it measures.
const OWN_BYTES: u64 = 4 << 20;
/// Threads reserved for signals, the screen and observers.
const THREADS_RESERVED: u64 = 4;
/// Maximum memory of a client.
pub const CLIENT_BYTES: u64 = 512;

/// Resources that a plan needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceDemand {
    /// Files that it opens.
    pub files: u64,
    /// Memory in bytes, without thread stacks.
    pub memory_bytes: u64,
    /// Threads that it starts.
    pub threads: u64,
    /// Address space of their stacks, in bytes; only touched pages take memory.
    pub stack_bytes: u64,
}

impl ResourceDemand {
    /// Adds `count` threads with stacks of `stack_bytes` each.
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

/// Limits of this process. `None` means no known limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Soft limit on open files.
    pub files_max: Option<u64>,
    /// Hard limit on open files.
    pub files_max_hard: Option<u64>,
    /// Files open now.
    pub files_open: u64,
    /// Memory available without swapping, in bytes, by the machine and the control groups.
    pub memory_available_bytes: Option<u64>,
    /// Limits on address space and data.
    pub spaces: Vec<Room>,
    /// Threads that can still be started.
    pub threads_left: Option<u64>,
}

/// Everything in which a plan exceeds the limits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct LimitError {
    /// All excesses; never empty.
    pub excesses: Vec<Excess>,
}

/// An exceeded limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Excess {
    /// Too many open files.
    Files {
        /// Files that the plan opens.
        wanted: u64,
        /// Files already open, and those reserved by the program.
        own: u64,
        /// Maximum number of open files.
        allowed: u64,
        /// Hard limit on open files, if any.
        hard: Option<u64>,
    },
    /// Too much memory.
    Memory {
        /// Memory that the plan needs, in bytes.
        wanted_bytes: u64,
        /// Maximum memory, in bytes.
        allowed_bytes: u64,
    },
    /// Exceeds a limit on address space or data.
    Space {
        room: Room,
        /// Demand of the plan and the program while it measures, stacks included.
        wanted_bytes: u64,
    },
    /// Too many threads.
    Threads {
        /// Threads that the plan starts.
        wanted: u64,
        /// Maximum number of threads.
        allowed: u64,
    },
}

impl ProcessLimits {
    /// Reads the current limits.
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

    /// Files that can still be opened, after our own reserve.
    pub fn files_left(&self) -> Option<u64> {
        self.files_max
            .map(|limit| limit.saturating_sub(self.files_own()))
    }

    fn files_own(&self) -> u64 {
        self.files_open.saturating_add(FILES_RESERVED)
    }

    /// Memory that can be used, in bytes, after the reserve for others.
    pub fn memory_left_bytes(&self) -> Option<u64> {
        self.memory_available_bytes
            .map(|bytes| bytes - bytes / MEMORY_RESERVED_PART)
    }

    /// Checks that a plan fits.
    ///
    /// # Errors
    ///
    /// If it does not fit; names all excesses at once.
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

/// Checks that a plan with `wanted_files` and `wanted_memory_bytes` fits, after raising the limit
/// on open files as far as permitted.
///
/// # Errors
///
/// If it does not fit; names all excesses at once.
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
/// If it does not fit; names all excesses at once.
pub fn check_plan(wanted: &ResourceDemand) -> Result<(), LimitError> {
    raise_open_files();
    ProcessLimits::capture().check(wanted)
}

/// Checks that this many clients fit, on a model or the null driver.
///
/// # Errors
///
/// If they do not fit; names all excesses at once.
pub fn check_clients(clients: u32) -> Result<(), LimitError> {
    check_budget(0, u64::from(clients) * CLIENT_BYTES)
}

/// Makes the kernel's file descriptor table of this process large enough for `files`. In a process
/// with several threads, an `open` that has to enlarge it waits for milliseconds.
pub fn grow_file_table(files: u64) {
    let files = i32::try_from(files).unwrap_or(i32::MAX);
    let _ = rustix::io::fcntl_dupfd_cloexec(std::io::stdin(), files);
}

/// Raises the soft limit on open files to the hard one. A refusal is harmless, since the following
/// check sees it.
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
