//! Parses option values like IOR and mdtest.

use units::Duration;

/// An integer with an optional letter for a power of 1024: `8`, `4k`, `2m`, `1g`, `1t`.
///
/// # Errors
/// If it is invalid, or too large.
pub fn size(text: &str) -> Result<u64, String> {
    let lower = text.trim().to_ascii_lowercase();
    let (digits, shift) = match lower.chars().last() {
        Some('k') => (&lower[..lower.len() - 1], 10),
        Some('m') => (&lower[..lower.len() - 1], 20),
        Some('g') => (&lower[..lower.len() - 1], 30),
        Some('t') => (&lower[..lower.len() - 1], 40),
        _ => (lower.as_str(), 0),
    };
    let number: Option<u64> = digits.parse().ok();
    number
        .and_then(|it| it.checked_mul(1 << shift))
        .ok_or_else(|| format!("{text}: is no size. Use a whole number such as 4096, 4k or 2m"))
}

/// An integer of at least `least`.
///
/// # Errors
/// If it is invalid.
pub fn number(text: &str, least: u32) -> Result<u32, String> {
    let number: Option<u32> = text.trim().parse().ok();
    number
        .filter(|it| *it >= least)
        .ok_or_else(|| format!("{text}: is no whole number from {least} on"))
}

/// A time in whole seconds; none if it is zero or negative, which switches it off.
///
/// # Errors
/// If it is not a number.
pub fn seconds(text: &str) -> Result<Option<Duration>, String> {
    match text.trim().parse::<i64>() {
        Ok(seconds @ 1..) => Ok(Some(Duration::from_secs(seconds as u64))),
        Ok(_) => Ok(None),
        Err(_) => Err(format!("{text}: is no number of seconds")),
    }
}

/// Only POSIX is supported.
///
/// # Errors
/// If another interface is named.
pub fn posix(text: &str) -> Result<(), String> {
    match text.eq_ignore_ascii_case("posix") {
        true => Ok(()),
        false => Err(format!(
            "{text}: files are reached by POSIX calls alone. Use -a POSIX"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_letters_of_powers_of_1024() {
        for (text, expected) in [
            ("8", Some(8)),
            ("4k", Some(4096)),
            ("2M", Some(2 << 20)),
            ("1g", Some(1 << 30)),
            ("47008", Some(47_008)),
            ("1.5m", None),
            ("k", None),
            ("", None),
            ("99999999t", None),
        ] {
            assert_eq!(size(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn a_deadline_of_zero_is_none() {
        assert_eq!(seconds("0"), Ok(None));
        assert_eq!(seconds("300"), Ok(Some(Duration::from_secs(300))));
        assert!(seconds("5m").is_err());
    }
}
