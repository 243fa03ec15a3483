//! Changes of a queue's service times during a trial: drift, warm-up and wave. Time counts from the
//! first operation, so that every trial on a queue sees the same.

use units::{Duration, parse_percent};

/// A relative change, and its duration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServiceTimeChange {
    /// Relative to the service time: 0.3 is 30 %.
    pub share: f64,
    /// Its duration, or period.
    pub span: Duration,
}

/// Scaling of service times over time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServiceTimeScaling {
    /// Grows linearly by this share over the span, then stays.
    pub drift: Option<ServiceTimeChange>,
    /// Longer by this share at the start, decreasing linearly until the span has passed.
    pub warm_up: Option<ServiceTimeChange>,
    /// Longer and shorter by this share, as a sine with this period.
    pub wave: Option<ServiceTimeChange>,
}

impl ServiceTimeScaling {
    /// Factor of a service time that starts `elapsed` after the first operation.
    pub fn factor(&self, elapsed: Duration) -> f64 {
        let spans =
            |change: ServiceTimeChange| elapsed.as_nanos() as f64 / change.span.as_nanos() as f64;
        let drift = |change: ServiceTimeChange| change.share * spans(change).min(1.0);
        let warm_up = |change: ServiceTimeChange| change.share * (1.0 - spans(change)).max(0.0);
        let wave = |change: ServiceTimeChange| {
            change.share * (spans(change) * std::f64::consts::TAU).sin()
        };
        (1.0 + self.drift.map_or(0.0, drift))
            * (1.0 + self.warm_up.map_or(0.0, warm_up))
            * (1.0 + self.wave.map_or(0.0, wave))
    }

    /// Parses `SHARE@SPAN`, with a share up to `most`.
    ///
    /// # Errors
    /// If either is invalid, or the share is larger.
    pub fn parse(text: &str, most: f64) -> Result<Option<ServiceTimeChange>, String> {
        if text == "none" {
            return Ok(None);
        }
        let parts = text.split_once('@');
        let (share, span) = parts.ok_or("say SHARE@TIME, as in 30%@60s")?;
        let share = parse_percent(share).map_err(|error| error.to_string())?;
        if !(0.0..=most).contains(&share) {
            return Err(format!("a share lies between 0% and {:.0}%", most * 100.0));
        }
        let span: Duration = span.parse().map_err(|error| format!("{error}"))?;
        if span == Duration::ZERO {
            return Err("the time must be above zero".into());
        }
        Ok(Some(ServiceTimeChange { share, span }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pace: ServiceTimeScaling, expected: &[(u64, f64)]) {
        for &(ms, factor) in expected {
            let found = pace.factor(Duration::from_millis(ms));
            assert!(
                (found - factor).abs() < 1e-9,
                "{pace:?} at {ms} ms: {found}"
            );
        }
    }

    #[test]
    fn factors_follow_the_clock() {
        let change = |text: &str| ServiceTimeScaling::parse(text, 10.0).expect("a change");
        let still = ServiceTimeScaling::default();
        check(still, &[(0, 1.0), (1_000_000, 1.0)]);
        let drift = change("30%@10s");
        check(
            ServiceTimeScaling { drift, ..still },
            &[(0, 1.0), (5_000, 1.15), (20_000, 1.3)],
        );
        let warm_up = change("200%@2s");
        check(
            ServiceTimeScaling { warm_up, ..still },
            &[(0, 3.0), (1_000, 2.0), (2_000, 1.0), (9_000, 1.0)],
        );
        let wave = change("50%@1s");
        check(
            ServiceTimeScaling { wave, ..still },
            &[(0, 1.0), (250, 1.5), (750, 0.5), (1_250, 1.5)],
        );
    }

    #[test]
    fn mistakes_are_named() {
        for (text, reason) in [
            ("30%", "say SHARE@TIME"),
            ("120%@1s", "between 0% and 90%"),
            ("30%@0s", "above zero"),
            ("30%@soon", "soon"),
        ] {
            let error = ServiceTimeScaling::parse(text, 0.9).expect_err(text);
            assert!(error.contains(reason), "{text}: {error}");
        }
        assert_eq!(ServiceTimeScaling::parse("none", 1.0), Ok(None));
    }
}
