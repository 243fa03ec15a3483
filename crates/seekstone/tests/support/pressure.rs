//! How long programs waited for a processor meanwhile, as the kernel tells (its documentation,
//! accounting/psi). A load that was not given its processors finds less than the storage carries.

use std::fs;
use std::time::Instant;

/// From this share of the time on, a load may well have been kept from its storage.
const HIGH: f64 = 0.8;

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

    /// Whether somebody waited nearly all the time.
    pub fn is_high(&self) -> bool {
        let waited = self.waited_us.zip(waited_us());
        let elapsed_us = self.begun.elapsed().as_micros() as f64;
        waited.is_some_and(|(before, after)| (after - before) as f64 > HIGH * elapsed_us)
    }

    /// `rate` is `limit` within a share of `error`, or below it where processors were short.
    #[track_caller]
    pub fn assert_rate(&self, what: &str, rate: f64, limit: f64, error: f64) {
        let off = rate / limit - 1.0;
        if off < -error && self.is_high() {
            return super::skipped(what, &format!("processors were short: {rate} of {limit}"));
        }
        assert!(off.abs() <= error, "{what}: {rate} of {limit} a second");
    }
}

fn waited_us() -> Option<u64> {
    let text = fs::read_to_string("/proc/pressure/cpu").ok()?;
    let some = text.lines().find(|line| line.starts_with("some "))?;
    some.rsplit_once("total=")?.1.trim().parse().ok()
}
