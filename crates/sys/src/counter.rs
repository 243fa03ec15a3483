//! The processor's time-stamp counter as a clock, where the kernel trusts it to be one.

#[cfg(target_arch = "x86_64")]
use std::time::Duration as StdDuration;

/// Fractions of a nanosecond that a tick is counted in: 2 to the power of this.
const FRACTION_BITS: u32 = 32;
/// How long the counter is compared with the system's clock. The comparison is good to some 20 ns,
/// so the rate is good to a few parts in a million.
#[cfg(target_arch = "x86_64")]
const CALIBRATION: StdDuration = StdDuration::from_millis(10);
/// Readings of which the tightest counts, because any may be interrupted.
#[cfg(target_arch = "x86_64")]
const READINGS: usize = 32;

/// A counter that ticks at a constant rate on all processors alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counter {
    base_ticks: u64,
    nanos_per_tick: u64,
}

impl Counter {
    /// Nanoseconds since the counter was taken into use.
    #[inline]
    pub(crate) fn nanos(self) -> u64 {
        // A processor may be some ticks behind the one that took the base.
        let passed = ticks().saturating_sub(self.base_ticks);
        ((u128::from(passed) * u128::from(self.nanos_per_tick)) >> FRACTION_BITS) as u64
    }

    /// The counter beside `CLOCK_MONOTONIC`; `None` where the kernel does not keep time by it.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn calibrate() -> Option<Self> {
        const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        // The kernel gives the counter up when it stops, varies, or differs between processors.
        if std::fs::read_to_string(SOURCE).ok()?.trim() != "tsc" {
            return None;
        }
        let (ticks_first, nanos_first) = reading();
        std::thread::sleep(CALIBRATION);
        let (ticks_last, nanos_last) = reading();
        let passed = ticks_last
            .checked_sub(ticks_first)
            .filter(|passed| *passed > 0)?;
        let nanos = u128::from(nanos_last.saturating_sub(nanos_first)) << FRACTION_BITS;
        let nanos_per_tick = u64::try_from(nanos / u128::from(passed)).ok()?;
        let base_ticks = ticks();
        (nanos_per_tick > 0).then_some(Self {
            base_ticks,
            nanos_per_tick,
        })
    }

    /// No other processor's counter is known to us.
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn calibrate() -> Option<Self> {
        None
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn ticks() -> u64 {
    // SAFETY: reading the counter has no effect; the kernel, which keeps time by it, allows it.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn ticks() -> u64 {
    0
}

/// The counter and the system's clock at the same moment: the tightest of several readings.
#[cfg(target_arch = "x86_64")]
fn reading() -> (u64, u64) {
    let mut best = (u64::MAX, 0, 0);
    for _ in 0..READINGS {
        let before = crate::clock::monotonic_nanos();
        let ticks = ticks();
        let after = crate::clock::monotonic_nanos();
        let width = after - before;
        if width < best.0 {
            best = (width, ticks, before + width / 2);
        }
    }
    (best.1, best.2)
}

#[cfg(test)]
mod tests {
    use engine::Clock as _;

    use crate::clock::MonotonicClock;

    #[test]
    fn counter_and_system_clock_agree() {
        let system = MonotonicClock::of_system();
        let clock = MonotonicClock::start();
        let offset = |clock: &MonotonicClock| {
            // Between two readings of the system: whatever happens in between widens the bounds.
            let before = system.now().as_nanos();
            let here = clock.now().as_nanos();
            (before - here.min(before), system.now().as_nanos() - here)
        };
        let first = offset(&clock);
        let mut last = first;
        while system.now().as_nanos() < 200_000_000 {
            last = offset(&clock);
        }
        // 100 parts in a million of 200 ms: a system clock that is being slewed may run that fast.
        assert!(last.0 <= first.1 + 20_000, "{first:?} then {last:?}");
        assert!(last.1 + 20_000 >= first.0, "{first:?} then {last:?}");
    }
}
