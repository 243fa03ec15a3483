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
    pub fn start() -> Self {
        let counter = Counter::calibrate();
        Self {
            base_nanos: monotonic_nanos(),
            counter,
        }
    }

    /// A clock that reads zero now and always asks the system.
    pub fn of_system() -> Self {
        Self {
            base_nanos: monotonic_nanos(),
            counter: None,
        }
    }

    /// By how many nanoseconds this clock is ahead of the system's, good to some 100 ns; zero where
    /// the system's is the one that is read. It stays the same while both can be trusted.
    pub fn ahead_of_system(&self) -> i64 {
        const READINGS: usize = 16;
        if self.counter.is_none() {
            return 0;
        }
        let reading = || {
            let before = monotonic_nanos();
            let here = self.now().as_nanos();
            let width = monotonic_nanos() - before;
            let system = (before - self.base_nanos) + width / 2;
            (width, here as i64 - system as i64)
        };
        // The tightest counts, because any may be interrupted.
        let tightest = (0..READINGS).map(|_| reading()).min();
        tightest.map_or(0, |(_, ahead)| ahead)
    }

    /// What one reading costs: the best of several rounds, because a round that was interrupted
    /// says nothing about the clock.
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
    /// Tells how long it was awake.
    pub fn wait_until(&self, deadline: Instant, awake: Duration) -> Duration {
        let mut awake_since = None;
        loop {
            let now = self.now();
            let left = deadline.since(now);
            if left == Duration::ZERO {
                return now.since(awake_since.unwrap_or(now));
            }
            match pause(left, awake) {
                // A signal cuts the sleep short; the loop then sleeps for what is left.
                Some(span) => {
                    let _: NanosleepRelativeResult = rustix::thread::nanosleep(&timespec(span));
                }
                None => {
                    awake_since.get_or_insert(now);
                    std::hint::spin_loop();
                }
            }
        }
    }
}

/// How long to sleep when a deadline is `left` away; `None` when it is time to stay awake. The
/// longer a processor sleeps, the later it wakes, so a long sleep ends early and a shorter one
/// follows.
pub fn pause(left: Duration, awake: Duration) -> Option<Duration> {
    let early = awake + (left / 16).min(awake * 3);
    (left > early).then(|| left - early)
}

/// Let about a microsecond pass without giving the processor away.
pub fn linger() {
    const PAUSES: usize = 32;
    for _ in 0..PAUSES {
        std::hint::spin_loop();
    }
}

/// Whether two clocks that came `apart_ns` apart while `passed` went by disagree by more than
/// 200 parts in a million and 50 us: more than any steering of the system's clock makes.
pub fn clocks_disagree(apart_ns: u64, passed: Duration) -> bool {
    const PARTS: u64 = 5_000;
    const FLOOR_NS: u64 = 50_000;
    apart_ns > passed.as_nanos() / PARTS + FLOOR_NS
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
pub fn want_punctual_timers() {
    // Refusal (a sandbox) only makes the waits less punctual, which the engine measures anyway.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

pub fn timespec(span: Duration) -> Timespec {
    let nanos = span.as_nanos();
    // Seconds of a u64 count of nanoseconds always fit.
    Timespec {
        tv_sec: i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(nanos % 1_000_000_000).unwrap_or(0),
    }
}

#[inline]
pub fn monotonic_nanos() -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_may_differ_by_what_steering_makes() {
        let check = |apart_ns, seconds, expected| {
            let found = clocks_disagree(apart_ns, Duration::from_secs(seconds));
            assert_eq!(found, expected, "{apart_ns} ns in {seconds} s");
        };
        check(40_000, 0, false);
        check(60_000, 0, true);
        check(2_000_000, 10, false);
        check(2_100_000, 10, true);
    }

    #[test]
    fn the_system_is_never_ahead_of_itself() {
        assert_eq!(MonotonicClock::of_system().ahead_of_system(), 0);
    }
}
