//! Injected faults, drawn from the run's seed.

use units::{Bytes, Duration, parse_percent};
use workload::Errno;

/// Faults to inject.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// Operations that fail.
    pub error: Option<(Errno, Trigger)>,
    /// The device starts nothing new for this long.
    pub stall: Option<(Duration, Trigger)>,
    /// Share of reads and writes that move only half of their bytes at first.
    pub short: f64,
}

/// When a fault occurs.
#[derive(Clone, Debug, PartialEq)]
pub enum Trigger {
    /// From this operation on, counted from one; a stall occurs once.
    After(u64),
    /// Each operation with this probability.
    Chance(f64),
    /// Operations that touch this byte range.
    Place(std::ops::Range<u64>),
    /// The first operation after each period, counted from the first operation.
    Every(Duration),
}

/// Supported errors.
const ERRORS: [(&str, i32); 3] = [("EIO", 5), ("ENOSPC", 28), ("EROFS", 30)];

impl Trigger {
    /// Parses `N` operations, a share such as `0.1%`, bytes such as `1GiB+4KiB`, or `every:10s`.
    fn parse(text: &str) -> Result<Self, String> {
        if let Some(period) = text.strip_prefix("every:") {
            let period: Duration = period.parse().map_err(|error| format!("{error}"))?;
            return if period == Duration::ZERO {
                Err("the time must be above zero".into())
            } else {
                Ok(Self::Every(period))
            };
        }
        if let Some((start, len)) = text.split_once('+') {
            let start: Bytes = start.parse().map_err(|error| format!("{error}"))?;
            let len: Bytes = len.parse().map_err(|error| format!("{error}"))?;
            let end = start.0.saturating_add(len.0);
            return Ok(Self::Place(start.0..end));
        }
        if text.ends_with('%') {
            let share = parse_percent(text).map_err(|error| error.to_string())?;
            return if share <= 1.0 {
                Ok(Self::Chance(share))
            } else {
                Err("a chance is at most 100%".into())
            };
        }
        let after = text.parse().map_err(|error| format!("{error}"))?;
        Ok(Self::After(after))
    }
}

impl Faults {
    /// Parses `WHAT@WHEN` of errors.
    ///
    /// # Errors
    /// If the error or the trigger is invalid.
    pub fn parse_error(text: &str) -> Result<Option<(Errno, Trigger)>, String> {
        let Some((what, when)) = split(text)? else {
            return Ok(None);
        };
        let Some((_, errno)) = ERRORS.iter().find(|(name, _)| *name == what) else {
            return Err("known errors are EIO, ENOSPC, EROFS".into());
        };
        match Trigger::parse(when)? {
            Trigger::Every(_) => Err("an error needs an operation, a rate or a place".into()),
            trigger => Ok(Some((Errno(*errno), trigger))),
        }
    }

    /// Parses `SPAN@WHEN` of stalls.
    ///
    /// # Errors
    /// If either is invalid.
    pub fn parse_stall(text: &str) -> Result<Option<(Duration, Trigger)>, String> {
        let Some((what, when)) = split(text)? else {
            return Ok(None);
        };
        let span: Duration = what.parse().map_err(|error| format!("{error}"))?;
        if span > Duration::from_secs(86_400) {
            return Err("a stall lasts at most a day".into());
        }
        match Trigger::parse(when)? {
            Trigger::Every(period) if span >= period => {
                Err("a stall is shorter than the time from one to the next".into())
            }
            trigger => Ok(Some((span, trigger))),
        }
    }

    /// Parses the share of short transfers.
    ///
    /// # Errors
    /// If it is invalid.
    pub fn parse_short(text: &str) -> Result<f64, String> {
        if text == "none" {
            return Ok(0.0);
        }
        let share = parse_percent(text).map_err(|error| error.to_string())?;
        if share <= 1.0 {
            Ok(share)
        } else {
            Err("a share is at most 100%".into())
        }
    }
}

fn split(text: &str) -> Result<Option<(&str, &str)>, String> {
    if text == "none" {
        return Ok(None);
    }
    let parts = text.split_once('@');
    let parts = parts
        .ok_or("use WHAT@WHEN, as in 500ms@1000, 500ms@every:10s, EIO@0.1% or EIO@1GiB+4KiB")?;
    Ok(Some(parts))
}
