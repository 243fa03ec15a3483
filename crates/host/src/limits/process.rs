//! Limits of this process on address space, data and threads, and their usage.

use sys::{Limited, limits_of};

use crate::inspect::facts::{self, SystemRoots};
use crate::inspect::{cgroup, mounts};
use crate::processors::processors;

/// Address space of an arena of glibc's allocator, and the number of arenas (mallopt(3)).
const ARENA_BYTES: u64 = 64 << 20;
const ARENAS_PER_PROCESSOR: u64 = 8;

units::words! {
    /// A limit on bytes that a process may map.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SpaceKind {
        /// All mappings.
        Address = "address space",
        /// Private writable mappings: heap and stacks.
        Data = "data",
    }
}

impl SpaceKind {
    /// Address space that the allocator reserves for `threads` threads. It uses no memory, but if
    /// it exhausts the address space, the next allocation aborts.
    pub(super) fn arena_bytes(self, threads: u64) -> u64 {
        match self {
            Self::Data => 0,
            Self::Address => {
                let most = processors().len() as u64 * ARENAS_PER_PROCESSOR;
                threads.min(most) * ARENA_BYTES
            }
        }
    }

    /// The shell command that sets this limit.
    pub fn command(self, limit_bytes: u64) -> String {
        let option = match self {
            Self::Address => 'v',
            Self::Data => 'd',
        };
        format!("ulimit -{option} {}", limit_bytes / 1024)
    }
}

/// A limit on mappings, and its usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    pub kind: SpaceKind,
    /// The soft limit, in bytes.
    pub limit_bytes: u64,
    /// Bytes mapped now.
    pub used_bytes: u64,
}

impl Room {
    /// Bytes that can still be mapped.
    pub const fn left_bytes(&self) -> u64 {
        self.limit_bytes.saturating_sub(self.used_bytes)
    }
}

/// The limits of this process; empty if the kernel does not report the usage.
pub(super) fn spaces(facts: &SystemRoots) -> Vec<Room> {
    let text = facts.proc_text("self/statm").unwrap_or_default();
    let page = rustix::param::page_size() as u64;
    // Fields of statm: the first is all mappings, the sixth data and stack.
    let used = |field: usize| {
        let pages = text.split_whitespace().nth(field)?.parse::<u64>().ok()?;
        Some(pages.saturating_mul(page))
    };
    let kinds = [
        (SpaceKind::Address, Limited::AddressSpace, 0),
        (SpaceKind::Data, Limited::Data, 5),
    ];
    let rooms = kinds.into_iter().filter_map(|(kind, what, field)| {
        let [current, _] = limits_of(what);
        Some(Room {
            kind,
            limit_bytes: current?,
            used_bytes: used(field).unwrap_or(0),
        })
    });
    rooms.collect()
}

/// Threads that can still be started, by the tightest visible limit.
pub(super) fn threads_left(facts: &SystemRoots) -> Option<u64> {
    let left = |(limit, used): (u64, u64)| limit.saturating_sub(used);
    let limits = [
        cgroup::threads_limit(facts, &mounts::read(facts)),
        of_machine(facts),
        of_user(facts),
    ];
    limits.into_iter().flatten().map(left).min()
}

/// `/proc/loadavg` has the machine's thread count after the running ones, as in `2/345`.
fn of_machine(facts: &SystemRoots) -> Option<(u64, u64)> {
    let limit = facts::number(&facts.proc.join("sys/kernel/threads-max"))?;
    let load = facts.proc_text("loadavg")?;
    let (_, all) = load.split_whitespace().nth(3)?.split_once('/')?;
    Some((limit, all.parse().ok()?))
}

/// This limit does not apply to processes that may exceed it, such as root's.
fn of_user(facts: &SystemRoots) -> Option<(u64, u64)> {
    let limit = limits_of(Limited::Threads)[0]?;
    let me = rustix::process::getuid();
    if me.is_root() {
        return None;
    }
    let threads = |name: &String| {
        let status = facts.proc_text(&format!("{name}/status"))?;
        let value = |key: &str| status.lines().find_map(|line| line.strip_prefix(key));
        let user = value("Uid:")?.split_whitespace().next()?;
        let is_mine = user.parse() == Ok(me.as_raw());
        let threads = value("Threads:")?.trim().parse::<u64>().ok()?;
        is_mine.then_some(threads)
    };
    let names = facts::names(&facts.proc);
    let processes = names.iter().filter(|name| name.parse::<u32>().is_ok());
    Some((limit, processes.filter_map(threads).sum()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_machine_and_the_control_group_limit_threads() {
        let top = tempfile::tempdir().expect("a directory");
        let facts = SystemRoots {
            proc: top.path().join("proc"),
            sys: top.path().join("sys"),
        };
        let write = |path: &str, text: &str| {
            let path = top.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        write("proc/sys/kernel/threads-max", "1000\n");
        write("proc/loadavg", "0.1 0.2 0.3 2/345 678\n");
        assert_eq!(of_machine(&facts), Some((1000, 345)));
        let mount = "1 0 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        write("proc/self/mountinfo", mount);
        write("proc/self/cgroup", "0::/box\n");
        write("sys/fs/cgroup/box/pids.max", "40\n");
        write("sys/fs/cgroup/box/pids.current", "33\n");
        let found = cgroup::threads_limit(&facts, &mounts::read(&facts));
        assert_eq!(found, Some((40, 33)));
        assert!(threads_left(&facts) <= Some(7));
        write("sys/fs/cgroup/box/pids.max", "max\n");
        assert_eq!(cgroup::threads_limit(&facts, &mounts::read(&facts)), None);
    }

    #[test]
    fn what_is_mapped_leaves_less() {
        let room = Room {
            kind: SpaceKind::Address,
            limit_bytes: 20_000 << 10,
            used_bytes: 4_000 << 10,
        };
        assert_eq!(room.left_bytes(), 16_000 << 10);
        assert_eq!(room.kind.command(room.limit_bytes), "ulimit -v 20000");
    }
}
