//! Parsers of single arguments; each says what it takes when it is given something else.

use std::collections::HashSet;
use std::fmt;
use std::ops::RangeBounds;

use clap::builder::RangedI64ValueParser;
use stats::samples_for;
use units::{Bytes, Duration, Rate, TargetName, UnnamedTarget, exact_percent, format_count};

use lab::workers::SLICE;

use super::BUDGET_MAX;
use crate::exit::UsageError;

/// Reads a whole number of that range.
pub fn within<T>(range: impl RangeBounds<i64>) -> RangedI64ValueParser<T>
where
    T: TryFrom<i64> + Clone + Send + Sync,
{
    RangedI64ValueParser::new().range(range)
}

/// # Errors
/// When it is empty, as of a variable that is not set.
pub fn parse_target(text: &str) -> Result<TargetName, UnnamedTarget> {
    text.parse()
}

pub fn parse_span(text: &str) -> Result<Duration, String> {
    text.parse::<Duration>().map_err(|error| error.to_string())
}

pub fn parse_level(text: &str) -> Result<Duration, String> {
    match parse_span(text)? {
        Duration::ZERO => Err("must be above zero".into()),
        span if span > Duration::from_secs(86_400) => Err("is longer than a day".into()),
        span => Ok(span),
    }
}

/// A response time whose load is wanted: a mean, or a percentile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelArg {
    /// The time.
    pub time: Duration,
    /// The share of operations that may not take longer, 0 to 1. `None` for the mean.
    pub percentile: Option<f64>,
}

pub fn parse_level_at(text: &str) -> Result<LevelArg, String> {
    let Some((time, percentile)) = text.split_once('@') else {
        return match text.split_once(['=', ':']) {
            Some((name, time)) if name.starts_with('p') => {
                Err(format!("put the time first, as in {time}@{name}"))
            }
            _ => parse_level(text).map(|time| LevelArg {
                time,
                percentile: None,
            }),
        };
    };
    let percent = percentile
        .strip_prefix('p')
        .and_then(|number| number.parse::<f64>().ok())
        .filter(|percent| (50.0..=99.999).contains(percent))
        .ok_or_else(|| {
            format!(
                "\"{percentile}\" is not a percentile from p50 to p99.999: use for instance \
                5ms@p99"
            )
        })?;
    Ok(LevelArg {
        time: parse_level(time)?,
        percentile: Some(percent / 100.0),
    })
}

/// The times of `levels` and the percentile that they apply to.
pub fn same_percentile(levels: &[LevelArg]) -> Result<(Vec<Duration>, Option<f64>), UsageError> {
    let percentile = levels.first().and_then(|level| level.percentile);
    if levels.iter().any(|level| level.percentile != percentile) {
        refuse!("every --level must use the mean, or the same percentile: run once for each");
    }
    let times = levels.iter().map(|level| level.time).collect();
    Ok((times, percentile))
}

/// The kernel counts processor time in steps of some milliseconds: less says nothing.
pub fn parse_interval(text: &str) -> Result<Duration, String> {
    match parse_level(text)? {
        interval if interval < Duration::from_millis(50) => Err("must be at least 50 ms".into()),
        interval => Ok(interval),
    }
}

pub fn parse_budget(text: &str) -> Result<Duration, String> {
    match parse_span(text)? {
        span if span < Duration::from_secs(1) => {
            Err("is too short to measure anything: use at least 1s".into())
        }
        span if span > BUDGET_MAX => Err("is longer than a week".into()),
        span => Ok(span),
    }
}

/// A trial ends at the end of a slice.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    match parse_level(text)? {
        span if span < SLICE => Err(format!("is shorter than the shortest trial, {SLICE}")),
        span => Ok(span),
    }
}

pub fn parse_size(text: &str) -> Result<Bytes, String> {
    match text.parse::<Bytes>().map_err(|error| error.to_string())? {
        Bytes(0) => Err("must be above zero".into()),
        size => Ok(size),
    }
}

/// A part of a file: its first bytes, or `all`.
pub fn parse_part(text: &str) -> Result<super::FilePart, String> {
    match text.trim() {
        "all" => Ok(super::FilePart::Whole),
        bytes => parse_size(bytes).map(super::FilePart::First),
    }
}

/// Processors by number, as the kernel lists them: `0-3,8`.
pub fn parse_processors(text: &str) -> Result<super::CpuList, String> {
    const MOST: usize = 4096;
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|&it| it < MOST);
    let mut all = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => all.extend(first..=last),
            _ => return Err("use CPU numbers, such as 0-3,8".into()),
        }
    }
    let mut seen = HashSet::new();
    all.retain(|&number| seen.insert(number));
    Ok(super::CpuList(all))
}

pub fn parse_rate(text: &str) -> Result<Rate, String> {
    let rate = units::parse_rate(text).map_err(|error| error.to_string())?;
    match rate.per_second() {
        0.0 => Err("must be above zero".into()),
        per_second if per_second <= 1e9 => Ok(rate),
        _ => Err("is more than 1000000k/s, a billion operations per second".into()),
    }
}

pub fn parse_share(text: &str) -> Result<f64, String> {
    let share = units::parse_percent(text).map_err(|error| error.to_string())?;
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err("must be between 0% and 100%".into())
    }
}

pub fn parse_precision(text: &str) -> Result<f64, String> {
    if let Ok(TrialPrecision {
        width,
        percentile: Some(share),
    }) = parse_trial_precision(text)
    {
        return Err(format!(
            "only a trial measures a percentile to a precision. Use `seekstone trial TARGET \
             --precision {text}`, which takes about {} independent operations",
            format_count(samples_for(share, width))
        ));
    }
    width(text)
}

fn width(text: &str) -> Result<f64, String> {
    let share = units::parse_percent(text).map_err(|error| error.to_string())?;
    if (0.001..=0.5).contains(&share) {
        Ok(share)
    } else {
        Err("must be between 0.1% and 50%".into())
    }
}

/// How precise a trial has to be, and in what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialPrecision {
    /// The relative half-width.
    pub width: f64,
    /// Of this percentile, 0 to 1. `None` for mean and rate.
    pub percentile: Option<f64>,
}

impl fmt::Display for TrialPrecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&exact_percent(self.width))?;
        match self.percentile {
            Some(share) => write!(f, "@{}", results::percentile_name(share)),
            None => Ok(()),
        }
    }
}

pub fn parse_trial_precision(text: &str) -> Result<TrialPrecision, String> {
    let (width, name) = match text.split_once('@') {
        Some((width, name)) => (width, Some(name.trim())),
        None => (text, None),
    };
    let percentile = name.map(|name| {
        let known = results::PERCENTILES.iter().find(|it| it.name == name);
        known.map(|it| it.share).ok_or_else(|| {
            let names = results::PERCENTILES.map(|it| it.name).join(", ");
            format!("\"{name}\" must be one of {names}, as in 10%@p99")
        })
    });
    Ok(TrialPrecision {
        width: self::width(width)?,
        percentile: percentile.transpose()?,
    })
}

/// A think time with its law, as in `5s:constant`.
pub fn parse_think(text: &str) -> Result<workload::Gap, String> {
    use workload::{Gap, GapShape};
    let (span, law) = text.split_once(':').unwrap_or((text, "exponential"));
    let shape = match law {
        "constant" => GapShape::Constant,
        "exponential" => GapShape::Exponential,
        "uniform" => GapShape::Uniform,
        _ => {
            return Err(format!(
                "\"{law}\" is not a think-time distribution: use constant, uniform (zero to twice \
                 the mean) or exponential, as in 5s:constant"
            ));
        }
    };
    match parse_span(span)? {
        Duration::ZERO => Ok(Gap::NONE),
        span if span > BUDGET_MAX => Err("is longer than a week".into()),
        span => Ok(Gap::new(shape, span)),
    }
}

/// Processor work, as a time or in units.
pub fn parse_cpu(text: &str) -> Result<super::transactions::CpuWork, String> {
    super::transactions::CpuWork::parse(text)
}

/// A percentile that measurements of users state.
pub fn parse_user_percentile(text: &str) -> Result<f64, String> {
    let bare = text.trim().trim_end_matches('%').trim_end();
    let typed: Option<f64> = bare.parse().ok();
    let is_typed = |p: &f64| typed.is_some_and(|typed| (typed - p * 100.0).abs() < 1e-9);
    let known = results::user_shares();
    known.iter().copied().find(is_typed).ok_or_else(|| {
        let known: Vec<String> = known.iter().map(|it| format!("{}", it * 100.0)).collect();
        format!("must be one of {}", known.join(", "))
    })
}

/// Patterns: name, parameter, and which block follows which.
pub const PATTERNS: [(&str, &str, &str); 5] = [
    ("sequential", "", "the next one"),
    ("uniform", "", "any, all equally likely"),
    ("zipf", "THETA", "any, a few of them often"),
    ("hyperbolic", "ALPHA", "a step on, rarely a long one"),
    (
        "exponential",
        "MEAN",
        "a step on, of that many blocks on average",
    ),
];

pub fn parse_pattern(text: &str) -> Result<workload::Pattern, String> {
    use workload::Pattern;
    let (name, parameter) = text.split_once(':').unwrap_or((text, ""));
    let number = || -> Result<f64, String> {
        let value: f64 = parameter
            .parse()
            .map_err(|_| format!("use {name}:NUMBER, as in zipf:1.1 or exponential:100"))?;
        if value.is_finite() && value > 0.0 {
            Ok(value)
        } else {
            Err("must be above zero".into())
        }
    };
    match name {
        "sequential" if parameter.is_empty() => Ok(Pattern::Sequential { step: 1 }),
        "uniform" | "random" | "rand" if parameter.is_empty() => Ok(Pattern::Uniform),
        "zipf" => match number()? {
            theta if theta >= workload::THETA_MIN => Ok(Pattern::Zipf { theta }),
            _ => Err(format!("theta is at least {}", workload::THETA_MIN)),
        },
        "hyperbolic" => Ok(Pattern::Hyperbolic { alpha: number()? }),
        "exponential" => match number()? {
            mean if mean >= 1.0 => Ok(Pattern::ExponentialSteps { mean }),
            _ => Err("a mean step is at least 1 block".into()),
        },
        _ => {
            let all = PATTERNS.map(|(name, parameter, _)| match parameter {
                "" => name.to_owned(),
                _ => format!("{name}:{parameter}"),
            });
            Err(format!(
                "\"{text}\" is not a pattern: use {}",
                all.join(", ")
            ))
        }
    }
}

/// A name and a value, such as `size=1MiB`.
pub fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write NAME=VALUE, as in size=1MiB".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_listed_as_by_the_kernel_and_keep_their_order() {
        let check = |text, expected: Option<&[usize]>| {
            let found = parse_processors(text).ok().map(|list| list.0);
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        check("3", Some(&[3]));
        check("8,0-2", Some(&[8, 0, 1, 2]));
        check("1, 1", Some(&[1]));
        check("1,0-2", Some(&[1, 0, 2]));
        for wrong in ["", "a", "3-1", "0-4096", "-1", "1,,2"] {
            check(wrong, None);
        }
    }
}
