//! The machine's monotonic clock, counted from a base that all workers share.

use engine::Clock;
use rustix::thread::{NanosleepRelativeResult, Timespec};
use units::{Duration, Instant};

use crate::counter::Counter;

/// `CLOCK_MONOTONIC` less a base. Copies share the base, so their instants can be compared.
///
/// Where the kernel itself keeps time by the processor's counter, that is read directly: two
/// readings for each request would otherwise be a third of what this program costs.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    base_nanos: u64,
    counter: Option<Counter>,
}

impl MonotonicClock {
    /// A clock that reads zero now.
    #[must_use]
    pub fn start() -> Self {
        let counter = Counter::calibrate();
        Self {
            base_nanos: monotonic_nanos(),
            counter,
        }
    }

    /// A clock that reads zero now and always asks the system.
    #[must_use]
    pub fn of_system() -> Self {
        Self {
            base_nanos: monotonic_nanos(),
            counter: None,
        }
    }

    /// What one reading costs: the best of several rounds, because a round that was interrupted
    /// says nothing about the clock.
    #[must_use]
    pub fn read_cost(&self) -> Duration {
        const ROUNDS: usize = 20;
        const READS: u64 = 500;
        let mut best = u64::MAX;
        for _ in 0..ROUNDS {
            let start = self.now();
            for _ in 0..READS {
                std::hint::black_box(self.now());
            }
            best = best.min(self.now().since(start).as_nanos() / READS);
        }
        Duration::from_nanos(best)
    }

    /// Wait until `deadline`, awake for the last `awake` of it; return at once when it has passed.
    pub fn wait_until(&self, deadline: Instant, awake: Duration) {
        loop {
            let left = deadline.since(self.now());
            if left == Duration::ZERO {
                return;
            }
            match nap(left, awake) {
                // A signal cuts the sleep short; the loop then sleeps for what is left.
                Some(span) => {
                    let _: NanosleepRelativeResult = rustix::thread::nanosleep(&timespec(span));
                }
                None => std::hint::spin_loop(),
            }
        }
    }
}

/// How long to sleep when a deadline is `left` away; `None` when it is time to stay awake. The
/// longer a processor sleeps, the later it wakes, so a long sleep ends early and a shorter one
/// follows.
pub(crate) fn nap(left: Duration, awake: Duration) -> Option<Duration> {
    let early = awake + (left / 16).min(awake * 3);
    (left > early).then(|| left - early)
}

/// Let about a microsecond pass without giving the processor away.
pub(crate) fn linger() {
    const PAUSES: usize = 32;
    for _ in 0..PAUSES {
        std::hint::spin_loop();
    }
}

impl Clock for MonotonicClock {
    #[inline]
    fn now(&self) -> Instant {
        match self.counter {
            Some(counter) => Instant(counter.nanos()),
            None => Instant(monotonic_nanos().wrapping_sub(self.base_nanos)),
        }
    }
}

/// Let timers of this thread fire when they are due. The kernel otherwise adds up to 50 us to every
/// timed wait of an ordinary thread so that wake-ups can be gathered, and a late generator is the
/// largest error a benchmark makes.
pub(crate) fn want_punctual_timers() {
    // Refusal (a sandbox) only makes the waits less punctual, which the engine measures anyway.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

pub(crate) fn timespec(span: Duration) -> Timespec {
    let nanos = span.as_nanos();
    // Seconds of a u64 count of nanoseconds always fit.
    Timespec {
        tv_sec: i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(nanos % 1_000_000_000).unwrap_or(0),
    }
}

#[inline]
pub(crate) fn monotonic_nanos() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid, writable timespec for the length of the call. CLOCK_MONOTONIC
    // always exists, so the call cannot fail; the C library answers without entering the kernel.
    unsafe {
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time);
    }
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
