//! Detects whether this process was stopped or the wall clock was set: a thread reads three clocks
//! and touches no storage.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration as StdDuration;

use engine::Clock as _;
use rustix::time::{ClockId, clock_gettime};
use sys::MonotonicClock;
use units::Instant;

/// Interval between readings.
const BEAT: StdDuration = StdDuration::from_millis(50);
/// A running process reads the clocks no later than this, ns.
const LATE_NS: u64 = 100_000_000;
/// Maximum number of gaps kept.
const GAPS_MAX: usize = 1_000;

/// Why time passed without this process, or the wall clock jumped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockGap {
    /// The machine was suspended.
    Suspended {
        /// Duration, ns.
        for_ns: u64,
    },
    /// The process was stopped, or got no processor.
    Stopped {
        /// Duration, ns.
        for_ns: u64,
    },
    /// The wall clock was set; positive is forward, ns.
    Set { by_ns: i64 },
}

/// One reading of the clocks, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ThreeClocks {
    /// Excludes suspended time.
    monotonic: u64,
    /// Includes suspended time.
    boot: u64,
    /// Wall clock.
    day: i64,
}

/// A thread that observes the clocks.
#[derive(Debug)]
pub struct Heartbeat {
    beats: Arc<Mutex<Beats>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Beats {
    last: Instant,
    gaps: Vec<(Instant, Instant, ClockGap)>,
}

impl Heartbeat {
    /// Starts a heartbeat on that clock.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start(clock: MonotonicClock) -> io::Result<Self> {
        let beats = Arc::new(Mutex::new(Beats {
            last: clock.now(),
            gaps: Vec::new(),
        }));
        let stop = Arc::new(AtomicBool::new(false));
        let (shared, is_stopped) = (Arc::clone(&beats), Arc::clone(&stop));
        let thread = std::thread::Builder::new().name("heartbeat".into());
        let thread = thread.spawn(move || {
            let mut before = reading();
            while !is_stopped.load(Ordering::Relaxed) {
                std::thread::sleep(BEAT);
                let now = reading();
                let mut beats = locked(&shared);
                let (from, to) = (beats.last, clock.now());
                if beats.gaps.len() < GAPS_MAX {
                    let gaps = gaps(&before, &now).into_iter().flatten();
                    beats.gaps.extend(gaps.map(|gap| (from, to, gap)));
                }
                beats.last = to;
                before = now;
            }
        })?;
        Ok(Self {
            beats,
            stop,
            thread: Some(thread),
        })
    }

    /// Time of the last reading; later events are not known yet.
    pub fn last(&self) -> Instant {
        locked(&self.beats).last
    }

    /// Gaps since the last call. Each lies after the first instant and before the second.
    pub fn take_gaps(&self) -> Vec<(Instant, Instant, ClockGap)> {
        std::mem::take(&mut locked(&self.beats).gaps)
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn locked(beats: &Mutex<Beats>) -> MutexGuard<'_, Beats> {
    beats.lock().unwrap_or_else(PoisonError::into_inner)
}

fn reading() -> ThreeClocks {
    let of = |clock| {
        let time = clock_gettime(clock);
        time.tv_sec
            .saturating_mul(1_000_000_000)
            .saturating_add(time.tv_nsec)
    };
    let since_boot = |clock| u64::try_from(of(clock)).unwrap_or(0);
    ThreeClocks {
        monotonic: since_boot(ClockId::Monotonic),
        boot: since_boot(ClockId::Boottime),
        day: of(ClockId::Realtime),
    }
}

/// Gaps between two readings that should be one interval apart.
fn gaps(before: &ThreeClocks, now: &ThreeClocks) -> [Option<ClockGap>; 3] {
    let ran = now.monotonic.saturating_sub(before.monotonic);
    let passed = now.boot.saturating_sub(before.boot);
    let suspended = passed.saturating_sub(ran);
    let stopped = ran.saturating_sub(BEAT.as_nanos() as u64);
    let set = now.day.saturating_sub(before.day);
    let set = set.saturating_sub_unsigned(passed);
    [
        (suspended > LATE_NS).then_some(ClockGap::Suspended { for_ns: suspended }),
        (stopped > LATE_NS).then_some(ClockGap::Stopped { for_ns: stopped }),
        (set.unsigned_abs() > LATE_NS).then_some(ClockGap::Set { by_ns: set }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn suspends_stops_and_steps_are_told_apart() {
        let before = ThreeClocks {
            monotonic: 10 * SECOND,
            boot: 20 * SECOND,
            day: 1_700_000_000 * SECOND as i64,
        };
        let check = |ran: u64, slept: u64, set: i64, expected: &[ClockGap]| {
            let now = ThreeClocks {
                monotonic: before.monotonic + ran,
                boot: before.boot + ran + slept,
                day: before.day + (ran + slept) as i64 + set,
            };
            let found: Vec<ClockGap> = gaps(&before, &now).into_iter().flatten().collect();
            assert_eq!(found, expected, "{ran} {slept} {set}");
        };
        let beat = BEAT.as_nanos() as u64;
        let (suspended, stopped) = (
            ClockGap::Suspended {
                for_ns: 60 * SECOND,
            },
            SECOND,
        );
        let stopped = ClockGap::Stopped { for_ns: stopped };
        let set = |by_ns| ClockGap::Set { by_ns };
        check(beat, 0, 0, &[]);
        check(beat + 20_000_000, 0, 1_000, &[]);
        check(beat, 60 * SECOND, 0, &[suspended]);
        check(beat + SECOND, 0, 0, &[stopped]);
        check(beat, 0, -3_600_000_000_000, &[set(-3_600_000_000_000)]);
        check(beat + SECOND, 60 * SECOND, 0, &[suspended, stopped]);
    }
}
