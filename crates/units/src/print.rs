//! Human-readable numbers: three significant digits, and one unit for a value and its interval.
//!
//! Three digits are what a benchmark can reproduce; more would claim false precision. Values in
//! files are printed by the `to_exact_string` methods instead.

/// Time units below a minute and their length in nanoseconds.
const TIME_UNITS: [(f64, &str); 4] = [(1.0, "ns"), (1e3, "us"), (1e6, "ms"), (1e9, "s")];

/// Units of bytes per second and their size in bytes per second.
const RATE_UNITS: [(f64, &str); 6] = [
    (1.0, "B/s"),
    (1e3, "kB/s"),
    (1e6, "MB/s"),
    (1e9, "GB/s"),
    (1e12, "TB/s"),
    (1e15, "PB/s"),
];

/// Maximum decimals; more would be noise.
const DECIMALS_MAX: i32 = 9;

/// Maximum additional decimals of an interval, to tell its ends apart.
const EXTRA_DECIMALS_MAX: i32 = 3;

/// If an end of an interval is this many times the value, each has a unit of its own.
const FAR: f64 = 1_000.0;

/// Bounds with a smaller relative difference are equal except for rounding.
const ROUNDING: f64 = 1e-9;

/// A plain number with three significant digits and thousands separators: `47.1`, `1,240`,
/// `103,000`. Whole numbers below 1,000 are printed as such: `8`, not `8.00`.
pub fn format_count(count: f64) -> String {
    if count.abs() < 999.5 && count.fract() == 0.0 {
        return fixed(count, 0);
    }
    significant(count)
}

/// A count with all its digits: `1 pass`, `2 passes`, `12,000 rounds`. The noun is singular, and
/// takes s or es.
pub fn format_counted(count: u64, noun: &str) -> String {
    let hisses = ["s", "x", "ch", "sh"].iter().any(|end| noun.ends_with(end));
    let ending = match count {
        1 => "",
        _ if hisses => "es",
        _ => "s",
    };
    format!("{} {noun}{ending}", group_thousands(&count.to_string()))
}

/// A number of nanoseconds with three significant digits and the fitting unit: `47.1 us`.
///
/// From one minute on, parts are printed: `1 min 30 s`, `1 min 3.5 s`, `2 h 5 s`, `1 d 4 h`. From
/// ten hours on seconds are left out.
pub fn format_duration_ns(nanos: f64) -> String {
    const MINUTE_NS: f64 = 60e9;
    if nanos == 0.0 {
        return "0 s".to_owned();
    }
    if !nanos.is_finite() || round_to_significant(nanos.abs()) < MINUTE_NS {
        return scaled(nanos, &TIME_UNITS);
    }
    let sign = if nanos < 0.0 { "-" } else { "" };
    format!("{sign}{}", whole_parts(nanos.abs() / 1e9))
}

/// Bytes per second in powers of 1000, three significant digits: `2.41 GB/s`.
pub fn format_rate(bytes_per_second: f64) -> String {
    scaled(bytes_per_second, &RATE_UNITS)
}

/// A time with its interval, all in nanoseconds, in one unit: `47.1 us` and `46.2 .. 48.0`.
///
/// Intervals so narrow that their ends would look the same get up to three more decimals. Where an
/// end is a thousand times the value or more, each end has its own unit: `34.9 ns` and
/// `0 ns .. 216 us`.
pub fn format_interval_ns(value: f64, low: f64, high: f64) -> (String, String) {
    interval(value, low, high, &TIME_UNITS)
}

/// A rate in bytes per second and its interval in one unit: `2.41 GB/s` and `2.36 .. 2.46`.
pub fn format_interval_rate(value: f64, low: f64, high: f64) -> (String, String) {
    interval(value, low, high, &RATE_UNITS)
}

/// A plain number with its interval, rounded in the same way: `18,400` and `17,900 .. 18,900`.
pub fn format_interval_count(value: f64, low: f64, high: f64) -> (String, String) {
    interval(value, low, high, &[(1.0, "")])
}

fn interval(value: f64, low: f64, high: f64, units: &[(f64, &str)]) -> (String, String) {
    // A zero or missing value does not show the scale, but its bounds may.
    let candidates = [value, high, low];
    let leading = candidates
        .into_iter()
        .find(|v| v.is_finite() && *v != 0.0)
        .unwrap_or(0.0);
    let is_far = |end: f64| end.is_finite() && end.abs() >= FAR * leading.abs();
    if leading != 0.0 && (is_far(low) || is_far(high)) {
        let ends = format!("{} .. {}", scaled(low, units), scaled(high, units));
        return (scaled(value, units), ends);
    }
    let (factor, unit) = fitting_unit(leading, units);
    let (value, low, high) = (value / factor, low / factor, high / factor);
    let usual = decimals_of(leading / factor);
    let differ = |decimals: &i32| fixed(low, *decimals) != fixed(high, *decimals);
    let mut enough = (usual..=usual + EXTRA_DECIMALS_MAX).filter(differ);
    // Ends that no such number can tell apart are shown as usual.
    let decimals = match is_one_value(low, high) {
        true => usual,
        false => enough.next().unwrap_or(usual),
    };
    let mut shown = fixed(value, decimals);
    if value.is_finite() && !unit.is_empty() {
        shown = format!("{shown} {unit}");
    }
    (
        shown,
        format!("{} .. {}", fixed(low, decimals), fixed(high, decimals)),
    )
}

/// Whether bounds differ only by rounding.
fn is_one_value(low: f64, high: f64) -> bool {
    (high - low).abs() <= ROUNDING * high.abs().max(low.abs())
}

fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    let (factor, unit) = fitting_unit(value, units);
    let number = significant(value / factor);
    match unit.is_empty() || !value.is_finite() {
        true => number,
        false => format!("{number} {unit}"),
    }
}

/// The unit in which the rounded value is below 1,000, or the largest.
fn fitting_unit<'a>(value: f64, units: &[(f64, &'a str)]) -> (f64, &'a str) {
    let fits = |unit: &&(f64, &str)| round_to_significant(value.abs() / unit.0) < 1_000.0;
    let largest = units.last().expect("a list of units is never empty");
    *units.iter().find(fits).unwrap_or(largest)
}

/// Parts of a time of at least a minute. Three digits include tenths of a second just above a
/// minute, and no seconds from ten hours on.
fn whole_parts(seconds: f64) -> String {
    const TENTHS_UNTIL_S: f64 = 99.95;
    const SECONDS_UNTIL_S: f64 = 36_000.0;
    let tenths = if seconds < TENTHS_UNTIL_S {
        (seconds * 10.0).round() as u64
    } else if seconds < SECONDS_UNTIL_S {
        (seconds.round() as u64).saturating_mul(10)
    } else {
        ((seconds / 60.0).round() as u64).saturating_mul(600)
    };
    let whole = tenths / 10;
    let mut shown = Vec::new();
    for (count, unit) in [
        (whole / 86_400, "d"),
        (whole / 3_600 % 24, "h"),
        (whole / 60 % 60, "min"),
    ] {
        if count > 0 {
            shown.push(format!("{count} {unit}"));
        }
    }
    match (whole % 60, tenths % 10) {
        (0, 0) => {}
        (second, 0) => shown.push(format!("{second} s")),
        (second, tenth) => shown.push(format!("{second}.{tenth} s")),
    }
    shown.join(" ")
}

/// Three significant digits with thousands separators.
pub(crate) fn significant(value: f64) -> String {
    fixed(value, decimals_of(value))
}

/// The number with this many decimals (negative: rounded to tens, hundreds, ...) and thousands
/// separators; `n/a` for NaN.
pub(crate) fn fixed(value: f64, decimals: i32) -> String {
    if value.is_nan() {
        return "n/a".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let plain = if decimals < 0 {
        let step = 10_f64.powi(-decimals);
        format!("{:.0}", (value / step).round() * step)
    } else {
        format!("{value:.*}", decimals.min(DECIMALS_MAX) as usize)
    };
    group_thousands(&plain)
}

/// Decimals that give three significant digits after rounding.
fn decimals_of(value: f64) -> i32 {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    // The formatter rounds first, so 999.6 counts as 1.00e3.
    let scientific = format!("{value:.2e}");
    let exponent = scientific
        .rsplit('e')
        .next()
        .and_then(|digits| digits.parse::<i32>().ok());
    2 - exponent.expect("scientific notation ends in an exponent")
}

fn round_to_significant(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

fn group_thousands(plain: &str) -> String {
    let (sign, digits) = plain
        .strip_prefix('-')
        .map_or(("", plain), |rest| ("-", rest));
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    // A negative number that rounds to zero has no sign.
    let is_zero = digits.bytes().all(|digit| matches!(digit, b'0' | b'.'));
    let mut grouped = String::with_capacity(plain.len() + whole.len() / 3);
    grouped.push_str(if is_zero { "" } else { sign });
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped.push_str(fraction);
    grouped
}
