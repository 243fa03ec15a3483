//! Decimal numbers, kept exact until they get their unit.
//!
//! A binary fraction would turn `0.1s` into something other than 100,000,000 ns; decimal digits and
//! integer arithmetic do not.

use crate::error::{Typed, UnitError};

/// Maximum digits of the fraction: enough for one byte in a PiB.
const FRACTION_DIGITS_MAX: u32 = 18;

/// An unsigned decimal number: `whole + fraction / 10^fraction_digits`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number {
    whole: u128,
    fraction: u128,
    fraction_digits: u32,
}

impl Number {
    /// Parses the number at the start of `text`, and returns the rest.
    ///
    /// Digits may be grouped by `_` anywhere between them, or by commas or single spaces in threes.
    /// Strict groups of three prevent `4 8k` and `1,5g` from being parsed as 48k and 15g.
    pub(crate) fn scan<'a>(typed: Typed<'_>, text: &'a str) -> Result<(Self, &'a str), UnitError> {
        if text.starts_with(['-', '\u{2212}']) {
            return Err(typed.negative());
        }
        if !text.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(typed.not_a_number("a digit was expected"));
        }
        let (whole, mut rest) = scan_whole(typed, text)?;
        let mut number = Self {
            whole,
            fraction: 0,
            fraction_digits: 0,
        };
        if let Some(after_point) = rest.strip_prefix('.') {
            rest = number.scan_fraction(typed, after_point)?;
        }
        if begins_with_exponent(rest) {
            return Err(typed.exponent());
        }
        Ok((number, rest))
    }

    fn scan_fraction<'a>(&mut self, typed: Typed<'_>, text: &'a str) -> Result<&'a str, UnitError> {
        let bytes = text.as_bytes();
        if !is_digit(bytes, 0) {
            return Err(typed.not_a_number("a digit must follow the decimal point"));
        }
        let mut at = 0;
        while is_digit(bytes, at) || is_underscore_between_digits(bytes, at) {
            if bytes[at] != b'_' && self.fraction_digits < FRACTION_DIGITS_MAX {
                self.fraction = self.fraction * 10 + u128::from(bytes[at] - b'0');
                self.fraction_digits += 1;
            }
            at += 1;
        }
        if bytes.get(at) == Some(&b'.') {
            return Err(typed.not_a_number("it has two decimal points"));
        }
        Ok(&text[at..])
    }

    /// This number times `factor`, rounded half up; `None` if it does not fit.
    pub(crate) fn times(self, factor: u64) -> Option<u64> {
        let factor = u128::from(factor);
        let divisor = 10_u128.pow(self.fraction_digits);
        let fraction = (self.fraction.checked_mul(factor)? + divisor / 2) / divisor;
        let total = self.whole.checked_mul(factor)?.checked_add(fraction)?;
        u64::try_from(total).ok()
    }

    /// The nearest floating-point number.
    pub(crate) fn to_f64(self) -> f64 {
        self.whole as f64 + self.fraction as f64 / 10_f64.powi(self.fraction_digits.cast_signed())
    }

    pub(crate) fn is_zero(self) -> bool {
        self.whole == 0 && self.fraction == 0
    }
}

fn scan_whole<'a>(typed: Typed<'_>, text: &'a str) -> Result<(u128, &'a str), UnitError> {
    let bytes = text.as_bytes();
    let mut whole: u128 = 0;
    let mut group_len = 0;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            digit @ b'0'..=b'9' => {
                let next = whole
                    .checked_mul(10)
                    .and_then(|w| w.checked_add((digit - b'0').into()));
                whole = next.ok_or_else(|| typed.too_large())?;
                group_len += 1;
            }
            b'_' if is_underscore_between_digits(bytes, at) => {}
            b',' | b' ' if group_len <= 3 && is_group_of_three(bytes, at + 1) => group_len = 0,
            b'_' => return Err(typed.not_a_number("an underscore must stand between digits")),
            b',' => return Err(typed.not_a_number("commas only group digits in threes")),
            _ => break,
        }
        at += 1;
    }
    Ok((whole, &text[at..]))
}

fn is_digit(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(u8::is_ascii_digit)
}

fn is_underscore_between_digits(bytes: &[u8], at: usize) -> bool {
    bytes.get(at) == Some(&b'_') && at > 0 && is_digit(bytes, at - 1) && is_digit(bytes, at + 1)
}

fn is_group_of_three(bytes: &[u8], at: usize) -> bool {
    (at..at + 3).all(|i| is_digit(bytes, i)) && !is_digit(bytes, at + 3)
}

fn begins_with_exponent(text: &str) -> bool {
    let bytes = text.as_bytes();
    let signed = usize::from(matches!(bytes.get(1), Some(b'+' | b'-')));
    matches!(bytes.first(), Some(b'e' | b'E')) && is_digit(bytes, 1 + signed)
}
