//! CPU use of a worker during a trial.

use host::counters::{thread_cpu_ns, thread_wait_ns};
use units::Duration;

/// CPU use of a worker, in shares of the trial, 0 to 1.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkerCpuUse {
    /// Working or waiting for a processor, busy-waiting excluded.
    pub busy: f64,
    /// Waiting for a processor, if the kernel reports it.
    pub without_processor: f64,
}

/// The kernel's counters for the calling thread when its work started.
#[derive(Clone, Copy)]
pub(super) struct Since {
    pub(super) cpu_ns: u64,
    wait_ns: Option<u64>,
}

impl Since {
    pub(super) fn now() -> Self {
        Self {
            cpu_ns: thread_cpu_ns(),
            wait_ns: thread_wait_ns(),
        }
    }

    /// CPU use over `elapsed` since then, of which the thread busy-waited for `awake`.
    pub(super) fn spent(self, elapsed: Duration, awake_ns: u64) -> WorkerCpuUse {
        let now = Self::now();
        let used_ns = now.cpu_ns.saturating_sub(self.cpu_ns);
        let waits = now.wait_ns.zip(self.wait_ns);
        let waited_ns = waits.map_or(0, |(now, then)| now.saturating_sub(then));
        let share = |nanos: u64| (nanos as f64 / elapsed.as_nanos().max(1) as f64).min(1.0);
        WorkerCpuUse {
            busy: share((used_ns + waited_ns).saturating_sub(awake_ns)),
            without_processor: share(waited_ns),
        }
    }
}
