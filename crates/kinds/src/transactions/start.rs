//! The instant at which users start: after a delay, at a time of day, or at a moment.

use std::str::FromStr;
use std::time::{Duration as StdDuration, Instant};

use jiff::{SignedDuration, Timestamp, Zoned, civil};
use results::{Warning, WarningCode};
use units::{Duration, format_duration_ns};

use crate::session::Result;
use crate::stage::{Show, Stage};
use host::interrupt::Interrupt;
use lab::test_file::stopped;

/// How often the wait looks for a signal and tells how long it still takes.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// The longest wait.
const WAIT_MAX: Duration = Duration::from_secs(24 * 3600);

/// When users start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StartAt {
    /// So long after all is ready.
    After(Duration),
    Moment(Timestamp),
}

impl FromStr for StartAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text.trim(), &Zoned::now())
    }
}

impl StartAt {
    /// As soon as all is ready.
    pub const NOW: Self = Self::After(Duration::ZERO);

    fn parse(text: &str, now: &Zoned) -> Result<Self, String> {
        if let Ok(delay) = text.parse::<Duration>() {
            return match delay {
                delay if delay > WAIT_MAX => Err("is more than a day ahead".into()),
                delay => Ok(Self::After(delay)),
            };
        }
        if let Ok(time) = text.parse::<civil::Time>()
            && !text.contains('-')
        {
            return Ok(Self::Moment(next(time, now)?));
        }
        let moment: Timestamp = text.parse().map_err(|_| {
            "use a delay (30s), a time of day (14:30:00), or a time with its zone \
             (2031-05-01T14:30:00Z)"
                .to_owned()
        })?;
        match moment.duration_since(now.timestamp()) {
            ahead if ahead.is_negative() => Err("is in the past".into()),
            ahead if ahead > SignedDuration::from_nanos(WAIT_MAX.as_nanos() as i64) => {
                Err("is more than a day ahead".into())
            }
            _ => Ok(Self::Moment(moment)),
        }
    }

    /// Wait, and tell how long it still takes. A moment that is over when everything is ready is
    /// said in a warning.
    pub(crate) fn wait(self, interrupt: &Interrupt, show: Show<'_>) -> Result<Option<Warning>> {
        let moment = match self {
            Self::After(delay) => {
                Timestamp::now() + SignedDuration::from_nanos(delay.as_nanos() as i64)
            }
            Self::Moment(moment) => moment,
        };
        let begun = Instant::now();
        let all = self.left(Duration::ZERO, Timestamp::now());
        let title = format!(
            "waiting {} for {}",
            format_duration_ns(all.as_nanos() as f64),
            time_of_day(moment)
        );
        if all == Duration::ZERO && self != Self::NOW {
            let late = Timestamp::now().duration_since(moment).as_secs_f64() * 1e9;
            return Ok(Some(Warning::warn(
                WarningCode::StartedLate,
                format!(
                    "The instant of --synchronise, {}, was over by {} when everything was ready. \
                     Users did not start together with those of other hosts.",
                    time_of_day(moment),
                    format_duration_ns(late)
                ),
            ).advise("Use a later one.")));
        }
        loop {
            let passed = Duration::from_nanos(begun.elapsed().as_nanos() as u64);
            let left = self.left(passed, Timestamp::now());
            if left == Duration::ZERO {
                return Ok(None);
            }
            if let Some(stop) = stopped(interrupt) {
                return Err(stop);
            }
            let passed = all.saturating_sub(left);
            show(&Stage {
                title: &title,
                done: passed.as_secs_f64() / all.as_secs_f64(),
                elapsed: passed,
                left: Some(left),
                ..Stage::default()
            });
            std::thread::sleep(StdDuration::from_nanos(left.min(LOOK_EVERY).as_nanos()));
        }
    }

    /// What is left of a wait that began `passed` ago, at `now` of the wall clock. That may be set
    /// meanwhile: a moment follows it, a delay stays as long as it was asked for.
    fn left(self, passed: Duration, now: Timestamp) -> Duration {
        match self {
            Self::After(delay) => delay.saturating_sub(passed),
            Self::Moment(moment) => {
                let left = moment.duration_since(now).as_nanos();
                Duration::from_nanos(u64::try_from(left).unwrap_or(0))
            }
        }
    }
}

/// The next moment at which it is that time of day here.
fn next(time: civil::Time, now: &Zoned) -> Result<Timestamp, String> {
    let zone = now.time_zone();
    let at = |date: civil::Date| {
        let there = date.to_datetime(time).to_zoned(zone.clone());
        there.map(|zoned| zoned.timestamp())
    };
    let today = at(now.date()).map_err(|error| error.to_string())?;
    if today >= now.timestamp() {
        return Ok(today);
    }
    let tomorrow = now.date().tomorrow().and_then(at);
    tomorrow.map_err(|error| error.to_string())
}

fn time_of_day(moment: Timestamp) -> String {
    let here = moment.to_zoned(jiff::tz::TimeZone::system());
    here.strftime("%H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_times_of_day_and_moments_are_read() {
        let now: Zoned = "2031-05-01T14:00:00+02:00[+02:00]".parse().expect("a time");
        let check = |text: &str, expected: &str| {
            let found = match StartAt::parse(text, &now) {
                Ok(StartAt::After(delay)) => format!("after {delay}"),
                Ok(StartAt::Moment(moment)) => moment.to_string(),
                Err(error) => error,
            };
            assert!(found.contains(expected), "{text}: {found}");
        };
        check("30s", "after 30.0 s");
        check("0s", "after 0");
        check("25h", "more than a day");
        check("14:30:00", "2031-05-01T12:30:00Z");
        check("14:30", "2031-05-01T12:30:00Z");
        check("13:59:59", "2031-05-02T11:59:59Z");
        check("2031-05-01T12:30:00Z", "2031-05-01T12:30:00Z");
        check("2031-05-01T14:30:00+02:00", "2031-05-01T12:30:00Z");
        check("2031-05-01T11:59:59Z", "is in the past");
        check("2031-05-03T12:30:00Z", "more than a day");
        check("2031-05-01 14:30", "use a delay");
        check("tomorrow", "use a delay");
        check("25:00:00", "use a delay");
        check("", "use a delay");
    }

    /// A delay was counted on the wall clock: set back by an hour, it lasted an hour more.
    #[test]
    fn a_clock_that_is_set_moves_moments_and_no_delays() {
        let moment: Timestamp = "2031-05-01T12:00:30Z".parse().expect("a moment");
        let (delay, passed) = (Duration::from_secs(30), Duration::from_secs(10));
        for (now, until_moment) in [
            ("2031-05-01T12:00:10Z", 20),
            ("2031-05-01T11:00:10Z", 3620),
            ("2031-05-01T13:00:10Z", 0),
        ] {
            let now: Timestamp = now.parse().expect("a moment");
            let left = |start: StartAt| start.left(passed, now);
            assert_eq!(
                left(StartAt::After(delay)),
                Duration::from_secs(20),
                "{now}"
            );
            let expected = Duration::from_secs(until_moment);
            assert_eq!(left(StartAt::Moment(moment)), expected, "{now}");
        }
    }
}
