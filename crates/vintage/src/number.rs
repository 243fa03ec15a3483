//! Numbers as C's `printf` prints them with `%g`: six significant digits, no trailing zeros.

/// Significant digits of `%g` without a precision.
const DIGITS: i32 = 6;

/// `value` as `%g` prints it.
pub fn general(value: f64) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.into();
    }
    // The exponent counts after rounding: 999999.5 has six zeros.
    let scientific = format!("{value:.*e}", DIGITS as usize - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..DIGITS).contains(&exponent) {
        let decimals = (DIGITS - 1 - exponent).max(0) as usize;
        return without_trailing_zeros(&format!("{value:.decimals$}")).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    let mantissa = without_trailing_zeros(mantissa);
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// An integer if the unit is large enough, as in the classic report; below ten, three significant
/// digits, because a modern device responds in less than a millisecond.
pub fn rounded(value: f64) -> String {
    if !value.is_finite() || value.abs() >= 9.995 || value == 0.0 {
        return format!("{value:.0}");
    }
    let exponent = value.abs().log10().floor() as i32;
    let decimals = (2 - exponent).clamp(0, 9) as usize;
    without_trailing_zeros(&format!("{value:.decimals$}")).to_owned()
}

fn without_trailing_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: f64, expected: &str) {
        assert_eq!(general(value), expected);
    }

    #[test]
    fn six_significant_digits_without_trailing_zeros() {
        check(0.0, "0");
        check(1.0, "1");
        check(163.3, "163.3");
        check(19.595_835, "19.5958");
        check(0.076_782_64, "0.0767826");
        check(123_456.7, "123457");
        check(-2.5, "-2.5");
        check(100_000.0, "100000");
    }

    #[test]
    fn very_large_and_very_small_numbers_have_an_exponent() {
        check(999_999.5, "1e+06");
        check(1_234_567.0, "1.23457e+06");
        check(0.000_1, "0.0001");
        check(0.000_099_999_97, "0.0001");
        check(0.000_012_345_678, "1.23457e-05");
        check(1e-300, "1e-300");
        check(-1e100, "-1e+100");
    }

    #[test]
    fn what_is_no_number_is_named() {
        check(f64::NAN, "nan");
        check(f64::INFINITY, "inf");
        check(f64::NEG_INFINITY, "-inf");
    }

    #[test]
    fn report_figures_are_whole_from_ten_on() {
        for (value, expected) in [
            (18.5398, "19"),
            (9.999, "10"),
            (9.4, "9.4"),
            (0.0812, "0.0812"),
            (0.000_123_456, "0.000123"),
            (0.0, "0"),
            (1_234_567.8, "1234568"),
        ] {
            assert_eq!(rounded(value), expected);
        }
    }
}
