//! Whether the calling thread has slept.

/// How often the calling thread has given its processor up of its own accord so far: it slept, or
/// waited for something. Being preempted does not count. 0 where the kernel refuses to say.
pub fn voluntary_switches() -> u64 {
    // SAFETY: all zeros are a valid `rusage`, which holds integers alone.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel fills in the structure that it is given, which outlives the call.
    let result = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    if result == 0 {
        usage.ru_nvcsw as u64
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// Two threads that hand a ball back and forth have to wait for each other.
    #[test]
    fn a_thread_that_waits_has_switched() {
        let (there, arrived) = channel();
        let (back, returned) = channel();
        let other = std::thread::spawn(move || {
            for ball in arrived {
                let _ = back.send(ball);
            }
        });
        let before = voluntary_switches();
        for ball in 0..1000 {
            let _ = there.send(ball);
            assert_eq!(returned.recv(), Ok(ball));
        }
        assert!(voluntary_switches() > before);
        drop(there);
        assert!(other.join().is_ok());
    }
}
