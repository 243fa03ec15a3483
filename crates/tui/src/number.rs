//! Numbers and words that always fit their column.

use ratatui::text::Span;
use units::format_count;

/// Suffixes of thousands, each a thousand times the one before.
const SUFFIXES: [char; 6] = ['k', 'M', 'G', 'T', 'P', 'E'];
/// Minimum digits, except in scientific notation.
const DIGITS_MIN: usize = 2;

/// Number of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    /// For reading.
    Usual,
    /// All digits.
    Detail,
}

/// A response time in milliseconds: four digits, or six.
pub(crate) fn milliseconds(value: f64, precision: Precision, width: usize) -> String {
    let digits = match precision {
        Precision::Usual => 4,
        Precision::Detail => 6,
    };
    number(value, digits, width)
}

/// Operations per second, or another rate: as in reports, or six digits.
pub(crate) fn rate(value: f64, precision: Precision, width: usize) -> String {
    match precision {
        Precision::Usual => {
            let usual = if is_printable(value) {
                format_count(value)
            } else {
                String::new()
            };
            if !usual.is_empty() && usual.len() <= width {
                usual
            } else {
                number(value, 3, width)
            }
        }
        Precision::Detail => number(value, 6, width),
    }
}

/// A whole number with thousands separators.
pub(crate) fn count(value: u64, width: usize) -> String {
    let grouped = group(&value.to_string());
    if grouped.len() <= width {
        return grouped;
    }
    number(value as f64, 4, width)
}

/// A share in percent, without the sign: one digit after the point.
pub(crate) fn percent(share: f64, width: usize) -> String {
    let shown = format!("{:.1}", share * 100.0);
    if share.is_finite() && shown.len() <= width {
        return without_negative_zero(shown);
    }
    number(share * 100.0, 2, width)
}

/// A number with up to `digits` significant digits in `width` columns: with fewer digits, a suffix
/// or an exponent if it would not fit.
pub(crate) fn number(value: f64, digits: usize, width: usize) -> String {
    if !value.is_finite() {
        let word = match value {
            v if v.is_nan() => "n/a",
            v if v > 0.0 => "inf",
            _ => "-inf",
        };
        return if word.len() <= width {
            word.to_owned()
        } else {
            full(width)
        };
    }
    if value == 0.0 {
        return if width > 0 {
            "0".to_owned()
        } else {
            String::new()
        };
    }
    let fewer = || (DIGITS_MIN..=digits).rev();
    let plain = fewer()
        .filter(|_| is_printable(value))
        .map(|n| group(&significant(value, n)));
    let suffixed = fewer().filter_map(|n| with_suffix(value, n));
    let scientific = [1, 0]
        .into_iter()
        .map(|decimals| format!("{value:.decimals$e}"));
    plain
        .chain(suffixed)
        .chain(scientific)
        .find(|shown| shown.len() <= width)
        .unwrap_or_else(|| full(width))
}

/// A column that no number fits is filled, as in spreadsheets.
fn full(width: usize) -> String {
    "#".repeat(width)
}

/// Beyond this, a plain number is mostly zeros.
fn is_printable(value: f64) -> bool {
    value == 0.0 || (1e-9..1e15).contains(&value.abs())
}

fn exponent(value: f64, digits: usize) -> i32 {
    // The formatter rounds first, so 999.96 counts as 1.000e3.
    let scientific = format!("{value:.*e}", digits - 1);
    let exponent = scientific.rsplit('e').next().map(str::parse);
    exponent.and_then(Result::ok).unwrap_or(0)
}

fn significant(value: f64, digits: usize) -> String {
    let decimals = digits as i32 - 1 - exponent(value, digits);
    if decimals >= 0 {
        return format!("{value:.*}", decimals as usize);
    }
    let step = 10_f64.powi(-decimals);
    format!("{:.0}", (value / step).round() * step)
}

fn with_suffix(value: f64, digits: usize) -> Option<String> {
    let thousands = exponent(value, digits).div_euclid(3);
    let place = usize::try_from(thousands - 1).ok()?;
    let suffix = SUFFIXES.get(place)?;
    let shown = significant(value / 1000_f64.powi(thousands), digits);
    Some(format!("{shown}{suffix}"))
}

fn group(plain: &str) -> String {
    let (sign, digits) = plain
        .strip_prefix('-')
        .map_or(("", plain), |rest| ("-", rest));
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut grouped = sign.to_owned();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped.push_str(fraction);
    grouped
}

fn without_negative_zero(shown: String) -> String {
    match shown.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => rest.to_owned(),
        _ => shown,
    }
}

/// Hours, minutes and seconds, as the manual of 1995 shows the test time: `0:01:30`.
pub(crate) fn clock(elapsed_ns: u64) -> String {
    let seconds = elapsed_ns / 1_000_000_000;
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    format!("{hours}:{minutes:02}:{:02}", seconds % 60)
}

/// Display width of a text.
pub(crate) fn width(text: &str) -> usize {
    Span::raw(text).width()
}

/// The start of a text, marked if cut.
pub(crate) fn beginning(text: &str, columns: usize) -> String {
    let text = printable(text);
    if width(&text) <= columns {
        return text;
    }
    let kept = columns.saturating_sub(1);
    let mut shown = taken(text.chars(), kept);
    shown.truncate(shown.trim_end().len());
    shown.extend((columns > 0).then_some('…'));
    shown
}

/// The end of a text, marked if cut: for a path, the end is more informative.
pub(crate) fn end(text: &str, columns: usize) -> String {
    let text = printable(text);
    if width(&text) <= columns {
        return text;
    }
    let backwards = taken(text.chars().rev(), columns.saturating_sub(1));
    let kept = backwards.chars().rev();
    (columns > 0)
        .then_some('…')
        .into_iter()
        .chain(kept)
        .collect()
}

/// As many characters as fit.
fn taken(chars: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += width(c.encode_utf8(&mut [0; 4]));
        used <= columns
    };
    chars.take_while(fits).collect()
}

/// Characters that would move the cursor are replaced by spaces.
fn printable(text: &str) -> String {
    let plain = |c: char| if units::is_obeyed(c) { ' ' } else { c };
    text.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: f64, digits: usize, columns: usize, expected: &str) {
        let shown = number(value, digits, columns);
        assert_eq!(shown, expected, "{value} with {digits} digits in {columns}");
    }

    #[test]
    fn digits_are_given_up_before_the_column() {
        check(12.3456, 4, 7, "12.35");
        check(999.96, 4, 7, "1,000");
        check(103_412.0, 4, 7, "103,400");
        check(1_234_567.0, 4, 7, "1.235M");
        check(1_234_567.0, 4, 5, "1.23M");
        check(0.047_13, 4, 7, "0.04713");
        check(0.000_012_345, 4, 8, "0.000012");
        check(0.000_012_345, 4, 7, "1.2e-5");
        check(1e300, 4, 6, "1e300");
        check(-1e300, 4, 6, "-1e300");
        check(123_456.0, 4, 2, "##");
    }

    #[test]
    fn what_is_no_number_says_so() {
        check(f64::NAN, 4, 7, "n/a");
        check(f64::INFINITY, 4, 7, "inf");
        check(f64::NEG_INFINITY, 4, 7, "-inf");
        check(-0.0, 4, 7, "0");
        check(f64::NAN, 4, 2, "##");
        assert_eq!(percent(-0.0, 5), "0.0");
    }

    #[test]
    fn no_value_is_wider_than_its_column() {
        let mantissas = [1.0, 9.994_999, 9.9995, 5.5, -1.0, -9.9996];
        for exponent in -320..=308 {
            for value in mantissas.map(|m| m * 10_f64.powi(exponent)) {
                for columns in 0..12 {
                    for precision in [Precision::Usual, Precision::Detail] {
                        let shown = [
                            milliseconds(value, precision, columns),
                            rate(value, precision, columns),
                            percent(value, columns),
                        ];
                        let fits = shown.iter().all(|text| text.len() <= columns);
                        assert!(fits, "{value:e} in {columns}: {shown:?}");
                    }
                }
            }
        }
        for columns in 0..30 {
            assert!(count(u64::MAX, columns).len() <= columns);
        }
    }

    #[test]
    fn usual_rates_are_those_of_the_reports() {
        for value in [8.0, 47.123, 1_239.0, 103_412.0] {
            assert_eq!(rate(value, Precision::Usual, 9), format_count(value));
        }
    }

    #[test]
    fn times_are_shown_in_full() {
        assert_eq!(clock(0), "0:00:00");
        assert_eq!(clock(3_723_000_000_000), "1:02:03");
        assert_eq!(clock(u64::MAX), "5124095:34:33");
    }

    #[test]
    fn texts_are_cut_at_whole_characters() {
        assert_eq!(beginning("transaction", 11), "transaction");
        assert_eq!(beginning("transaction", 6), "trans…");
        assert_eq!(beginning("終端終端", 4), "終…");
        assert_eq!(end("/srv/data/rpt.rpt", 8), "…rpt.rpt");
        assert_eq!(end("終端終端", 4), "…端");
        assert_eq!(beginning("a\u{1b}[2J", 10), "a [2J");
        assert_eq!(
            (beginning("abc", 0), end("abc", 0)),
            (String::new(), String::new())
        );
    }
}
