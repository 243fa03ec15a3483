//! When each host finished, on rank 0's clock, and how accurately that is known.

use fleet::ClockLine;
use stats::Estimate;
use units::{Duration, Instant, format_duration_ns};

/// When a host finished.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HostEnd {
    pub rank: u32,
    /// Nanoseconds from the common start, on rank 0's clock.
    pub after_ns: f64,
    /// Half-width of its 95 % interval; `None` if the clock was read only once.
    pub half_ns: Option<f64>,
}

impl HostEnd {
    /// Rank 0's own.
    pub fn of_leader(elapsed: Duration) -> Self {
        Self {
            rank: 0,
            after_ns: elapsed.as_nanos() as f64,
            half_ns: Some(0.0),
        }
    }

    /// For a host whose clock should read `begun` at the start, when rank 0's reads `start`, and
    /// that took `elapsed` on its own clock.
    pub fn of(
        rank: u32,
        line: &ClockLine,
        (start, begun): (Instant, Instant),
        elapsed: Duration,
    ) -> Self {
        let near = start + elapsed;
        let likely = line.likely_ahead(near);
        let ahead = likely.map_or_else(|| line.ahead(near).0, |it| it.0);
        let (start, begun) = (i128::from(start.as_nanos()), i128::from(begun.as_nanos()));
        Self {
            rank,
            after_ns: (begun - start) as f64 + elapsed.as_nanos() as f64 - ahead,
            half_ns: likely.map(|it| it.1),
        }
    }

    /// The time, as `10.0 s`.
    pub fn words(&self) -> String {
        format_duration_ns(self.after_ns.max(0.0))
    }

    /// How much later than another this host finished, in words.
    pub fn later_than(&self, other: &Self) -> String {
        let skew = format_duration_ns((self.after_ns - other.after_ns).max(0.0));
        match (self.half_ns, other.half_ns) {
            (Some(one), Some(two)) => {
                // Two clocks, each read separately.
                format!("{skew} ± {} (95 % CI)", format_duration_ns(one.hypot(two)))
            }
            _ => skew,
        }
    }
}

/// The hosts that finished first and last.
pub(super) fn first_and_last(ends: &[HostEnd]) -> (HostEnd, HostEnd) {
    let order = |one: &&HostEnd, other: &&HostEnd| one.after_ns.total_cmp(&other.after_ns);
    let (first, last) = (ends.iter().min_by(order), ends.iter().max_by(order));
    let leader = HostEnd::of_leader(Duration::ZERO);
    (
        first.copied().unwrap_or(leader),
        last.copied().unwrap_or(leader),
    )
}

/// Reliability of the hosts' clocks in one trial.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ClockTrust {
    /// Maximum error of the offset, nanoseconds.
    pub bound_ns: f64,
    /// Half-width of the widest 95 % interval of an offset, nanoseconds.
    pub half_ns: Option<f64>,
    /// The fastest drift in ppm, and the half-width of its 95 % interval.
    pub drift_ppm: Option<(f64, f64)>,
    /// Maximum deviation of a host's start, nanoseconds.
    pub start_off_ns: f64,
}

impl ClockTrust {
    /// For clocks with these readings, from the start to the end of a trial; `begun` has each
    /// clock's reading at the start.
    pub fn of(lines: &[ClockLine], begun: &[Instant], start: Instant, elapsed: Duration) -> Self {
        let ends = [start, start + elapsed];
        let mut trust = Self::default();
        for (line, begun) in lines.iter().zip(begun) {
            for at in ends {
                trust.bound_ns = trust.bound_ns.max(line.ahead(at).1);
                if let Some((_, half)) = line.likely_ahead(at) {
                    trust.half_ns = Some(trust.half_ns.unwrap_or(0.0).max(half));
                }
            }
            let off = HostEnd::of(0, line, (start, *begun), Duration::ZERO).after_ns;
            trust.start_off_ns = trust.start_off_ns.max(off.abs());
            if let Some((drift, half)) = line.likely_drift_ppm() {
                let fastest = trust.drift_ppm.filter(|it| it.0 >= drift.abs());
                trust.drift_ppm = Some(fastest.unwrap_or((drift.abs(), half)));
            }
        }
        trust
    }

    /// Relative error of a rate over all hosts from their different clocks: their seconds differ in
    /// length, and they start and end early or late.
    pub fn rate_error(&self, elapsed: Duration) -> f64 {
        let (drift, half) = self.drift_ppm.unwrap_or_default();
        let apart = self.start_off_ns / (elapsed.as_nanos() as f64).max(1.0);
        (drift + half) / 1e6 + apart
    }

    /// The less reliable of two.
    pub fn or_worse(self, other: Self) -> Self {
        let faster = |one: (f64, f64), two: (f64, f64)| if two.0 > one.0 { two } else { one };
        let drifts = self.drift_ppm.zip(other.drift_ppm);
        Self {
            bound_ns: self.bound_ns.max(other.bound_ns),
            half_ns: match (self.half_ns, other.half_ns) {
                (Some(one), Some(two)) => Some(one.max(two)),
                (one, two) => one.or(two),
            },
            drift_ppm: drifts
                .map(|(one, two)| faster(one, two))
                .or(self.drift_ppm)
                .or(other.drift_ppm),
            start_off_ns: self.start_off_ns.max(other.start_off_ns),
        }
    }

    /// As a sentence.
    pub fn words(&self) -> String {
        let known = match self.half_ns {
            Some(half) => format!(
                "± {} (95 % CI, wrong by at most {})",
                format_duration_ns(half),
                format_duration_ns(self.bound_ns)
            ),
            None => format!("{} at most", format_duration_ns(self.bound_ns)),
        };
        let drift = self
            .drift_ppm
            .map(|(drift, half)| format!(" and drifted by up to {drift:.1} ± {half:.1} ppm"));
        format!(
            "Clock offsets are known to {known}{}. Each host started within {} of the common \
             instant",
            drift.unwrap_or_default(),
            format_duration_ns(self.start_off_ns)
        )
    }
}

/// The interval of a rate widened by a relative error.
pub(super) fn widened(rate: &Estimate, share: f64) -> Estimate {
    let more = rate.value * share;
    Estimate {
        low: (rate.low - more).max(0.0),
        high: rate.high + more,
        ..*rate
    }
}

#[cfg(test)]
mod tests {
    use fleet::Exchange;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// A clock that is 1 ms ahead and gains 50 us per second, read each second from `from` on.
    fn line(seconds: std::ops::Range<u64>) -> ClockLine {
        let mut line = ClockLine::own();
        for second in seconds {
            let burst: Vec<Exchange> = (0..8)
                .map(|question| {
                    let asked = second * SECOND + question * 1_000;
                    let there = asked + 100;
                    Exchange {
                        asked: Instant(asked),
                        answered: Instant(there + 1_000_000 + there / 20_000),
                        heard: Instant(asked + 200),
                    }
                })
                .collect();
            line.add(&burst);
        }
        line
    }

    #[test]
    fn the_end_of_a_host_is_told_on_the_leaders_clock() {
        let line = line(0..4);
        let start = Instant(SECOND);
        // Told to start 30 us late, and works 2 s by the leader's clock.
        let begun = Instant(SECOND + 1_000_000 + 50_000 + 30_000);
        let end = HostEnd::of(3, &line, (start, begun), Duration(2 * SECOND + 100_000));
        assert!((end.after_ns - (2e9 + 30_000.0)).abs() < 10.0, "{end:?}");
        assert!(end.half_ns.is_some_and(|half| half < 10.0), "{end:?}");
        let skew = end.later_than(&HostEnd::of_leader(Duration(2 * SECOND)));
        assert!(skew.starts_with("30.0 us ± "), "{skew}");
        let trust = ClockTrust::of(&[line], &[begun], start, Duration(2 * SECOND));
        assert!((trust.start_off_ns - 30_000.0).abs() < 10.0, "{trust:?}");
        let expected = 50e-6 + 30e-6 / 2.0;
        let error = trust.rate_error(Duration(2 * SECOND));
        assert!((error - expected).abs() < 1e-6, "{error}");
    }

    #[test]
    fn a_clock_that_was_read_once_has_a_bound_alone() {
        let line = line(0..1);
        let (start, begun) = (Instant(1_000), Instant(1_001_000));
        let end = HostEnd::of(1, &line, (start, begun), Duration(SECOND));
        assert_eq!(end.half_ns, None);
        let skew = end.later_than(&HostEnd::of_leader(Duration(SECOND)));
        assert!(!skew.contains('±'), "{skew}");
        let words = ClockTrust::of(&[line], &[begun], start, Duration(SECOND)).words();
        assert!(
            words.contains(" at most. Each host started within "),
            "{words}"
        );
    }

    #[test]
    fn a_rate_is_as_inexact_as_the_clocks_it_is_counted_by() {
        let rate = Estimate {
            value: 1000.0,
            low: 990.0,
            high: 1010.0,
            ..Estimate::exact(1000.0, 10.0)
        };
        let wider = widened(&rate, 0.001);
        assert_eq!(
            (wider.value, wider.low, wider.high),
            (1000.0, 989.0, 1011.0)
        );
    }
}
