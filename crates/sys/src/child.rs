//! What a process that ended has taken, as the kernel tells whoever waits for it.

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use units::{Bytes, Duration};

/// A process that has ended, and all that it waited for itself.
#[derive(Clone, Copy, Debug)]
pub struct Reaped {
    /// How it ended.
    pub status: ExitStatus,
    /// Processor time in programs.
    pub user: Duration,
    /// Processor time in the kernel.
    pub system: Duration,
    /// The most memory that it, or one that it waited for, had at once. The kernel counts what it
    /// had before it became another program, which is our own memory: absent when it had no more
    /// than we ever did.
    pub resident_max: Option<Bytes>,
    /// What storage gave it, in blocks of 512 bytes as the kernel counts.
    pub read: Bytes,
    /// What storage is to be given for it.
    pub written: Bytes,
    /// Its calls that read; absent where the kernel does not count them.
    pub reads: Option<Reads>,
}

/// Calls that read, of files and of all else that has a descriptor; pages that are mapped into
/// memory are read without a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reads {
    pub calls: u64,
    /// What they gave, whoever had it: storage, or a cache.
    pub bytes: Bytes,
    /// What storage gave for them, and for pages that were mapped or read ahead.
    pub from_storage: Bytes,
}

/// Take the child `pid` off the kernel's list if it has ended. Nobody else may wait for it.
///
/// # Errors
/// When it is no child of this process, or was waited for before.
pub fn reap(pid: u32) -> io::Result<Option<Reaped>> {
    let pid = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
    // Whoever ends after this look is found by the next: its counts go with it.
    if !has_ended(pid)? {
        return Ok(None);
    }
    let reads = reads_of_ended(pid);
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers live through the call; all zeroes are a valid `rusage`.
    let found = unsafe { libc::wait4(pid, &raw mut status, libc::WNOHANG, usage.as_mut_ptr()) };
    match found {
        0 => return Ok(None),
        found if found != pid => return Err(io::Error::last_os_error()),
        _ => {}
    }
    // SAFETY: it was zeroed, and filled in by the kernel.
    let usage = unsafe { usage.assume_init() };
    Ok(Some(Reaped {
        status: ExitStatus::from_raw(status),
        user: span(usage.ru_utime),
        system: span(usage.ru_stime),
        resident_max: Some(resident(&usage)).filter(|&most| most > own_resident()),
        read: blocks(usage.ru_inblock),
        written: blocks(usage.ru_oublock),
        reads,
    }))
}

/// Whether a child has ended, which then stays on the kernel's list.
fn has_ended(pid: libc::pid_t) -> io::Result<bool> {
    let id = libc::id_t::try_from(pid).map_err(io::Error::other)?;
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let how = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the pointer lives through the call; all zeroes are a valid `siginfo_t`, and stand for
    // no child where none has ended.
    let (asked, info) = unsafe {
        let asked = libc::waitid(libc::P_PID, id, info.as_mut_ptr(), how);
        (asked, info.assume_init())
    };
    match asked {
        // SAFETY: what the kernel filled in is about a child.
        0 => Ok(unsafe { info.si_pid() } == pid),
        _ => Err(io::Error::last_os_error()),
    }
}

/// What a child has read, with all that it waited for, while it is still on the kernel's list.
fn reads_of_ended(pid: libc::pid_t) -> Option<Reads> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
    let value = |name: &str| {
        let mut lines = text.lines();
        let found = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        found?.trim().parse().ok()
    };
    Some(Reads {
        calls: value("syscr")?,
        bytes: Bytes(value("rchar")?),
        from_storage: Bytes(value("read_bytes")?),
    })
}

fn resident(usage: &libc::rusage) -> Bytes {
    Bytes::from_kib(usage.ru_maxrss.max(0).cast_unsigned())
}

/// The most memory that this process had so far; without bound when the kernel does not tell.
fn own_resident() -> Bytes {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer lives through the call; all zeroes are a valid `rusage`.
    let (status, usage) = unsafe {
        let status = libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        (status, usage.assume_init())
    };
    if status == 0 {
        resident(&usage)
    } else {
        Bytes(u64::MAX)
    }
}

fn blocks(count: libc::c_long) -> Bytes {
    Bytes(512 * count.max(0).cast_unsigned())
}

fn span(time: libc::timeval) -> Duration {
    let seconds = time.tv_sec.max(0).cast_unsigned();
    let micros = time.tv_usec.max(0).cast_unsigned();
    Duration::from_secs(seconds) + Duration::from_micros(micros)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn ended(script: &str) -> Reaped {
        let mut command = Command::new("sh");
        #[expect(clippy::zombie_processes, reason = "waiting for it is what is tested")]
        let child = command
            .args(["-c", script])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let pid = child.id();
        // It waits for the end of its input, so it is still there.
        assert!(reap(pid).unwrap().is_none());
        drop(child.stdin);
        loop {
            if let Some(reaped) = reap(pid).unwrap() {
                assert!(reap(pid).is_err(), "it is waited for once only");
                return reaped;
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn an_end_comes_with_its_status_and_its_cost() {
        let reaped = ended("cat; exit 7");
        assert_eq!(reaped.status.code(), Some(7));
        assert_eq!(ended("cat; kill -9 $$").status.signal(), Some(9));
    }

    #[test]
    fn memory_is_told_only_above_our_own() {
        assert_eq!(ended("cat").resident_max, None);
        let own = own_resident().as_u64();
        let more = format!("cat; x=$(head -c {} /dev/zero | tr '\\0' x); true", 4 * own);
        assert!(
            ended(&more)
                .resident_max
                .is_some_and(|most| most.as_u64() > own)
        );
    }

    #[test]
    #[expect(clippy::print_stderr, reason = "what is not shown is named")]
    fn what_a_child_and_its_children_read_is_counted() {
        if ended("cat").reads.is_none() {
            eprintln!("skipped: the kernel shows only root what an ended process has read");
            return;
        }
        let read = |script: &str| ended(script).reads.expect("/proc").bytes.as_u64();
        let nothing = read("cat");
        let program = "head -c 3000000 /dev/zero > /dev/null; true";
        let own = read(&format!("cat; {program}")) - nothing;
        let of_child = read(&format!("cat; sh -c '{program}'; true")) - nothing;
        for bytes in [own, of_child] {
            assert!((3_000_000..3_100_000).contains(&bytes), "{bytes}");
        }
    }

    #[test]
    fn what_a_child_waited_for_counts_with_it() {
        // Until it has used a tenth of a second by the kernel's account, on any processor.
        let busy = "cat; until read -r a b c d e f g h i j k l m user rest < /proc/$$/stat && \
                    [ $user -ge 10 ]; do :; done";
        let reaped = ended(&format!("sh -c '{busy}'; true"));
        assert!(reaped.user + reaped.system > Duration::from_millis(90));
    }
}
