//! When queued requests enter the kernel: together, but never for long.
//!
//! A batch is sent when it is full, or when its oldest request has waited a hundredth of the median
//! service time: what is gained in processor time must not be lost in response time.

use units::{Duration, Instant};

/// The part of the median service time that a queued request may wait for others.
const WAIT_PART: u64 = 100;
/// The median estimate moves by this part of itself with each completion.
const STEP_PART: u64 = 32;

/// Decides when a batch is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    len_max: usize,
    /// When the oldest request of the present batch was queued.
    oldest: Instant,
    /// The median service time so far, nanoseconds; zero before the first completion. It moves up
    /// or down by a fixed part, so that half of the times lie on either side.
    median_ns: u64,
}

impl Batch {
    pub(crate) const fn new(len_max: usize) -> Self {
        Self {
            len_max,
            oldest: Instant::START,
            median_ns: 0,
        }
    }

    /// Whether the `len` requests that are queued must enter the kernel before another is queued.
    #[inline]
    pub(crate) fn is_due(&self, len: usize, now: impl FnOnce() -> Instant) -> bool {
        if len == 0 || len >= self.len_max {
            return len > 0;
        }
        now().since(self.oldest) >= Duration::from_nanos(self.median_ns / WAIT_PART)
    }

    /// The first request of a batch is queued.
    #[inline]
    pub(crate) fn begin(&mut self, now: impl FnOnce() -> Instant) {
        if self.len_max > 1 {
            self.oldest = now();
        }
    }

    /// The time within which half of the requests are done; zero before the first is.
    pub(crate) const fn median(&self) -> Duration {
        Duration::from_nanos(self.median_ns)
    }

    /// A request was done, `service` after it had entered the kernel.
    #[inline]
    pub(crate) const fn note_done(&mut self, service: Duration) {
        let (median, service) = (self.median_ns, service.as_nanos());
        self.median_ns = match median {
            0 => service,
            _ if service > median => median + median / STEP_PART + 1,
            _ if service < median => median - median / STEP_PART,
            _ => median,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant(nanos)
    }

    /// After many services of `service_ns`, says of a batch of `len`, begun at zero, whether it is
    /// sent after `waited_ns`.
    fn check(len: usize, service_ns: u64, waited_ns: u64, expected: bool) {
        let mut batch = Batch::new(4);
        (0..1000).for_each(|_| batch.note_done(Duration::from_nanos(service_ns)));
        batch.begin(|| at(0));
        let due = batch.is_due(len, || at(waited_ns));
        assert_eq!(due, expected, "{len} of {service_ns} after {waited_ns}");
    }

    #[test]
    fn a_full_or_an_old_batch_is_sent() {
        check(4, 400_000, 0, true);
        check(3, 400_000, 3_000, false);
        check(3, 400_000, 4_100, true);
        check(1, 10_000, 200, true);
        check(0, 10_000, 1_000_000, false);
    }

    #[test]
    fn a_batch_of_one_never_waits_nor_looks_at_the_clock() {
        let mut batch = Batch::new(1);
        batch.begin(|| panic!("the clock was read"));
        assert!(batch.is_due(1, || panic!("the clock was read")));
    }

    #[test]
    fn the_median_is_that_of_the_many() {
        let mut batch = Batch::new(4);
        for step in 0..10_000_u64 {
            let slow = step % 10 == 0;
            batch.note_done(Duration::from_nanos(if slow {
                50_000_000
            } else {
                100_000
            }));
        }
        let median = batch.median_ns;
        assert!((95_000..130_000).contains(&median), "{median} ns");
    }
}
