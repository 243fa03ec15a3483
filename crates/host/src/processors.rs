//! The processors that this process may use.

/// Their numbers, in order; only processor 0 if the kernel does not report them.
pub fn processors() -> Vec<usize> {
    rustix::thread::sched_getaffinity(None).map_or_else(
        |_| vec![0],
        |set| {
            (0..rustix::thread::CpuSet::MAX_CPU)
                .filter(|&processor| set.is_set(processor))
                .collect()
        },
    )
}

/// Pins the calling thread to a processor. A refusal only increases variation.
pub fn pin(processor: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(processor);
    let _ = rustix::thread::sched_setaffinity(None, &set);
}
