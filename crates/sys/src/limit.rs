//! Limits of this process, also in a sandbox that does not tell them.

/// What a process is limited in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limited {
    /// Bytes of address space (`ulimit -v`).
    AddressSpace,
    /// Bytes of data (`ulimit -d`).
    Data,
    /// Files open at once (`ulimit -n`).
    OpenFiles,
    /// Bytes of the first thread's stack (`ulimit -s`).
    Stack,
    /// Threads of the user (`ulimit -u`).
    Threads,
}

/// The limit in force, and up to where the process may raise it itself; `None` where there is none,
/// or where the kernel refuses to say.
pub fn limits_of(what: Limited) -> [Option<u64>; 2] {
    let resource = match what {
        Limited::AddressSpace => libc::RLIMIT_AS,
        Limited::Data => libc::RLIMIT_DATA,
        Limited::OpenFiles => libc::RLIMIT_NOFILE,
        Limited::Stack => libc::RLIMIT_STACK,
        Limited::Threads => libc::RLIMIT_NPROC,
    };
    let unknown = libc::RLIM_INFINITY;
    let mut found = libc::rlimit {
        rlim_cur: unknown,
        rlim_max: unknown,
    };
    // SAFETY: the kernel fills in the structure that it is given, which outlives the call.
    let result = unsafe { libc::getrlimit(resource, &raw mut found) };
    let is_limit = |it: &u64| result == 0 && *it != libc::RLIM_INFINITY;
    [found.rlim_cur, found.rlim_max].map(|it| Some(it).filter(is_limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_files_are_limited_and_may_be_raised_no_further_than_to_the_maximum() {
        let [current, maximum] = limits_of(Limited::OpenFiles);
        assert!(current.is_some_and(|it| it > 0));
        assert!(maximum.is_none_or(|it| Some(it) >= current));
    }
}
