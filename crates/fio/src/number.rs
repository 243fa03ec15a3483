//! Parses numbers, sizes and times like fio; what fio would misread is refused.

use std::cell::Cell;

use units::Duration;

use crate::arithmetic::evaluate;

/// Meaning of `k`: fio's `kb_base`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KbBase {
    /// `k` is 1024 and `kib` is 1000: fio's default.
    #[default]
    Binary,
    /// `k` is 1000 and `kib` is 1024.
    Decimal,
}

impl KbBase {
    const fn bare(self) -> u64 {
        match self {
            Self::Binary => 1024,
            Self::Decimal => 1000,
        }
    }

    const fn with_ib(self) -> u64 {
        match self {
            Self::Binary => 1000,
            Self::Decimal => 1024,
        }
    }
}

/// Default unit of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// As for `runtime`.
    Seconds,
    /// As for `thinktime`.
    Microseconds,
}

/// A number with an optional size suffix.
///
/// # Errors
/// A description of the error.
pub fn size(text: &str, base: KbBase) -> Result<u64, String> {
    if text.starts_with('(') {
        return evaluate(text, &|number, suffix| scaled(number, suffix, base));
    }
    let (digits, suffix) = split(text);
    let size = scaled(number(digits, text)?, suffix, base);
    let size = size.map_err(|why| format!("{text}: {why}"))?;
    match i64::try_from(size) {
        Ok(_) => Ok(size),
        Err(_) => Err(format!("{text} is too large")),
    }
}

/// A time.
///
/// # Errors
/// A description of the error.
pub fn time(text: &str, unit: TimeUnit) -> Result<Duration, String> {
    if text.starts_with('(') {
        return computed_time(text, unit);
    }
    let (digits, suffix) = split(text);
    let nanos = nanos(number(digits, text)?, suffix, unit);
    Ok(Duration::from_nanos(
        nanos.map_err(|why| format!("{text}: {why}"))?,
    ))
}

/// The result of arithmetic is in the units used in it, or else in the option's own.
fn computed_time(text: &str, unit: TimeUnit) -> Result<Duration, String> {
    let (bare, with_unit) = (Cell::new(false), Cell::new(false));
    let value = evaluate(text, &|number, suffix| {
        if suffix.is_empty() {
            bare.set(true);
            return Ok(number);
        }
        with_unit.set(true);
        nanos(number, suffix, unit)
    })?;
    match (bare.get(), with_unit.get()) {
        (true, true) => Err(format!("{text}: give every number in it a unit, or none")),
        (true, false) => Ok(Duration::from_nanos(nanos(value, "", unit)?)),
        _ => Ok(Duration::from_nanos(value)),
    }
}

/// A time of a command-line option, in seconds by default.
///
/// # Errors
/// If it is invalid.
pub fn period(text: &str) -> Result<Duration, String> {
    time(text, TimeUnit::Seconds)
}

/// An integer, possibly negative.
///
/// # Errors
/// If it is invalid.
pub fn whole(text: &str, base: KbBase) -> Result<i64, String> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let value = i64::try_from(size(rest, base)?).map_err(|_| format!("{text} is too large"))?;
    Ok(sign * value)
}

fn split(text: &str) -> (&str, &str) {
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let end = match is_hex {
        true => text[2..]
            .find(|c: char| !c.is_ascii_hexdigit())
            .map_or(text.len(), |at| at + 2),
        false => text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len()),
    };
    text.split_at(end)
}

fn number(digits: &str, text: &str) -> Result<u64, String> {
    let parsed = match digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    parsed.map_err(|_| match digits.is_empty() {
        true => format!("{text:?} is no number"),
        false => format!("{text} is too large"),
    })
}

fn scaled(number: u64, suffix: &str, base: KbBase) -> Result<u64, String> {
    let lower = suffix.to_ascii_lowercase();
    if lower.starts_with('.') {
        return Err(
            "fio has no fractions and takes only what stands before the dot. \
                    Use the next smaller unit"
                .into(),
        );
    }
    let (letter, rest) = match lower.chars().next() {
        None => return Ok(number),
        Some(letter) => lower.split_at(letter.len_utf8()),
    };
    let unit = match rest {
        "" | "b" | "i" => base.bare(),
        "ib" => base.with_ib(),
        _ => return Err(unknown_suffix(suffix)),
    };
    let power = match letter {
        "b" if rest.is_empty() => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return Err(unknown_suffix(suffix)),
    };
    let factor = unit.pow(power);
    number.checked_mul(factor).ok_or("it is too large".into())
}

fn unknown_suffix(suffix: &str) -> String {
    format!("fio does not know the suffix {suffix:?} and leaves it out. Use k, m, g, t or p")
}

fn nanos(number: u64, suffix: &str, unit: TimeUnit) -> Result<u64, String> {
    const SECOND: u64 = 1_000_000_000;
    let factor = match suffix.to_ascii_lowercase().as_str() {
        "" => match unit {
            TimeUnit::Seconds => SECOND,
            TimeUnit::Microseconds => 1000,
        },
        "us" | "usec" => 1000,
        "ms" | "msec" => 1_000_000,
        "s" => SECOND,
        "m" => 60 * SECOND,
        "h" => 3600 * SECOND,
        "d" => 86_400 * SECOND,
        other => {
            return Err(format!(
                "fio reads the suffix {other:?} as microseconds. Use us, ms, s, m, h or d"
            ));
        }
    };
    number
        .checked_mul(factor)
        .ok_or("it is too long a time".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_fio() {
        let check = |text: &str, base, expected: Option<u64>| {
            assert_eq!(size(text, base).ok(), expected, "{text}");
        };
        for (text, value) in [
            ("4k", 4096),
            ("4K", 4096),
            ("4kb", 4096),
            ("4ki", 4096),
            ("4kib", 4000),
            ("512", 512),
            ("512b", 512),
            ("0x10", 16),
            ("1M", 1 << 20),
            ("2g", 2 << 30),
            ("(2*4k)", 8192),
            ("(1+2)k", 3 << 10),
        ] {
            check(text, KbBase::Binary, Some(value));
        }
        check("4k", KbBase::Decimal, Some(4000));
        check("4kib", KbBase::Decimal, Some(4096));
        for text in [
            "1.5g",
            "1x",
            "",
            "k",
            "2*1k",
            "99999999999999999999",
            "20000p",
            "()",
        ] {
            check(text, KbBase::Binary, None);
        }
    }

    #[test]
    fn times_are_those_of_fio_and_none_is_taken_for_microseconds() {
        let check = |text: &str, unit, expected: Option<u64>| {
            let found = time(text, unit).ok().map(Duration::as_nanos);
            assert_eq!(found, expected, "{text}");
        };
        check("10", TimeUnit::Seconds, Some(10_000_000_000));
        check("10", TimeUnit::Microseconds, Some(10_000));
        check("2m", TimeUnit::Seconds, Some(120_000_000_000));
        check("5ms", TimeUnit::Seconds, Some(5_000_000));
        check("10sec", TimeUnit::Seconds, None);
        check("1min", TimeUnit::Seconds, None);
        check("0.5", TimeUnit::Seconds, None);
    }
}
