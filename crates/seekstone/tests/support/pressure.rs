//! How long programs waited for a processor meanwhile, as the kernel tells (its documentation,
//! accounting/psi). A load that was not given its processors finds less than the storage carries.

use std::fs;
use std::time::Instant;

/// From this share of the time on, a load may well have been kept from its storage: a client that
/// waits for its requests lets a throttle's share of a few milliseconds pass. At .48 two of three
/// throttled devices gave three quarters of their limit.
const HIGH: f64 = 0.4;

/// Counts from when it was made.
pub struct Pressure {
    begun: Instant,
    waited_us: Option<u64>,
}

impl Pressure {
    pub fn new() -> Self {
        Self {
            begun: Instant::now(),
            waited_us: waited_us(),
        }
    }

    /// Whether somebody waited most of the time.
    pub fn is_high(&self) -> bool {
        self.share().is_some_and(|share| share > HIGH)
    }

    /// The share of the time that somebody waited.
    fn share(&self) -> Option<f64> {
        let (before, after) = self.waited_us.zip(waited_us())?;
        Some((after - before) as f64 / self.begun.elapsed().as_micros() as f64)
    }

    /// It is so, or processors were short.
    #[track_caller]
    pub fn assert(&self, test: &str, is_so: bool, found: &str) {
        if !is_so && self.is_high() {
            return super::skipped(test, &format!("processors were short: {found}"));
        }
        assert!(is_so, "{test}: {found}");
    }

    /// What is printed is `ratio` of what the storage's own log holds. It is never less: the way
    /// there and back through the kernel is no part of the log, and longer where processors are
    /// short.
    #[track_caller]
    pub fn assert_printed(&self, test: &str, ratio: f64, found: &str) {
        assert!(ratio >= 0.95, "{test}: {ratio}, {found}");
        self.assert(test, ratio < 1.5, found);
    }

    /// `rate` is `limit` within a share of `error`, or below it where processors were short.
    #[track_caller]
    pub fn assert_rate(&self, what: &str, rate: f64, limit: f64, error: f64) {
        let off = rate / limit - 1.0;
        let share = self.share();
        if off < -error && share.is_some_and(|share| share > HIGH) {
            return super::skipped(what, &format!("processors were short: {rate} of {limit}"));
        }
        assert!(
            off.abs() <= error,
            "{what}: {rate} of {limit} a second, processors short {share:?} of the time"
        );
    }
}

fn waited_us() -> Option<u64> {
    let text = fs::read_to_string("/proc/pressure/cpu").ok()?;
    let some = text.lines().find(|line| line.starts_with("some "))?;
    some.rsplit_once("total=")?.1.trim().parse().ok()
}
