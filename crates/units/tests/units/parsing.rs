//! What is typed: every accepted form, and the advice for the others.

use std::fmt::Debug;
use std::str::FromStr;

use units::{Bytes, Duration, Rate, UnitError, parse_percent, parse_rate};

#[track_caller]
fn check<T: FromStr<Err = UnitError> + PartialEq + Debug>(input: &str, expected: &T) {
    match input.parse::<T>() {
        Ok(value) => assert_eq!(value, *expected, "{input:?}"),
        Err(error) => panic!("{error}"),
    }
}

#[track_caller]
fn check_error<T: FromStr<Err = UnitError> + Debug>(input: &str, expected: &str) {
    match input.parse::<T>() {
        Ok(value) => panic!("{input:?} was read as {value:?}"),
        Err(error) => {
            let message = error.to_string();
            assert!(
                message.contains(expected),
                "{message}\nshould contain\n{expected}"
            );
        }
    }
}

#[test]
fn sizes_are_read() {
    let table = [
        ("0", 0),
        ("1000", 1_000),
        ("512b", 512),
        ("512 B", 512),
        ("7 bytes", 7),
        ("4k", 4_096),
        ("4K", 4_096),
        ("4ki", 4_096),
        ("4 KiB", 4_096),
        ("4kib", 4_096),
        ("1kb", 1_000),
        ("1KB", 1_000),
        ("1kB", 1_000),
        ("3m", 3 << 20),
        ("3MB", 3_000_000),
        ("1.5g", 1_610_612_736),
        ("1.5 GB", 1_500_000_000),
        ("2t", 2 << 40),
        ("2TB", 2_000_000_000_000),
        ("1P", 1 << 50),
        ("1PB", 1_000_000_000_000_000),
        ("1_000_000", 1_000_000),
        ("1 000 000", 1_000_000),
        ("1,000,000", 1_000_000),
        ("1,024 KiB", 1 << 20),
        (" 16k\n", 16_384),
        ("0.1k", 102),
        ("0.3333333333333333333333333m", 349_525),
        ("18446744073709551615", u64::MAX),
    ];
    for (input, expected) in table {
        check(input, &Bytes(expected));
    }
}

#[test]
fn a_wrong_size_teaches_the_right_form() {
    check_error::<Bytes>(
        "4x",
        "unknown unit \"x\" in \"4x\". Sizes take B, k, m, g, t, p or KiB to PiB (1024-based), or \
         kB to PB (1000-based)",
    );
    check_error::<Bytes>("", "a size is missing. Sizes take");
    check_error::<Bytes>("  ", "a size is missing");
    check_error::<Bytes>("k", "not a size (a digit was expected)");
    check_error::<Bytes>("NaN", "not a size");
    check_error::<Bytes>("inf", "not a size");
    check_error::<Bytes>(".5g", "not a size");
    check_error::<Bytes>("1.", "a digit must follow the decimal point");
    check_error::<Bytes>("1.2.3k", "two decimal points");
    check_error::<Bytes>("-4k", "a size cannot be negative (\"-4k\")");
    check_error::<Bytes>("1e9", "Write it out as in 1_000_000_000. Sizes take");
    check_error::<Bytes>("1E+9", "exponents are not read");
    check_error::<Bytes>("1,5g", "commas only group digits in threes");
    check_error::<Bytes>("4,8", "commas only group digits in threes");
    check_error::<Bytes>("1__0", "an underscore must stand between digits");
    check_error::<Bytes>("10_k", "an underscore must stand between digits");
    check_error::<Bytes>(
        "99999999999t",
        "too large. The largest size is 18446744073709551615",
    );
    check_error::<Bytes>("18446744073709551616", "too large");
    check_error::<Bytes>("9999999999999999999999999999999999999999999", "too large");
}

// Bug class of another tool: a range was read as two settings, a list as something else again.
#[test]
fn two_sizes_are_not_one() {
    check_error::<Bytes>("4 8k", "unknown unit \"8k\"");
    check_error::<Bytes>("4k-16k", "unknown unit \"k-16k\"");
    check_error::<Bytes>("4k:30", "unknown unit \"k:30\"");
    check_error::<Bytes>("4k 8k", "unknown unit \"k 8k\"");
}

#[test]
fn times_are_read() {
    let table = [
        ("0", 0),
        ("10ns", 10),
        ("10us", 10_000),
        ("10 \u{b5}s", 10_000),
        ("10\u{3bc}s", 10_000),
        ("10usec", 10_000),
        ("10ms", 10_000_000),
        ("10msec", 10_000_000),
        ("10s", 10_000_000_000),
        ("10sec", 10_000_000_000),
        ("10 secs", 10_000_000_000),
        ("1 second", 1_000_000_000),
        ("10 Seconds", 10_000_000_000),
        ("1.5s", 1_500_000_000),
        ("0.1s", 100_000_000),
        ("1m", 60_000_000_000),
        ("1min", 60_000_000_000),
        ("2mins", 120_000_000_000),
        ("1 minute", 60_000_000_000),
        ("2 minutes", 120_000_000_000),
        ("1h", 3_600_000_000_000),
        ("2 hours", 7_200_000_000_000),
        ("1d", 86_400_000_000_000),
        ("3days", 259_200_000_000_000),
        ("1m30s", 90_000_000_000),
        ("1m 30s", 90_000_000_000),
        ("1 min 30 s", 90_000_000_000),
        ("1d2h3m4s5ms6us7ns", 93_784_005_006_007),
        ("1,500 us", 1_500_000),
        ("18446744073709551615ns", u64::MAX),
    ];
    for (input, expected) in table {
        check(input, &Duration::from_nanos(expected));
    }
}

// Bug of another tool: `10sec` and `1min` were taken for 10 us and 1 us, and the run ended at
// once with an empty report.
#[test]
fn a_wrong_time_teaches_the_right_form() {
    check_error::<Duration>("10", "a time needs a unit. Use 10s, 10ms or 10us");
    check_error::<Duration>("1m 30", "a time needs a unit");
    check_error::<Duration>("1m 0", "a time needs a unit");
    check_error::<Duration>(
        "10x",
        "unknown unit \"x\" in \"10x\". Times take ns, us, ms, s, min, h",
    );
    check_error::<Duration>("1y", "unknown unit \"y\"");
    check_error::<Duration>("30s 1m", "the units must go from large to small, each once");
    check_error::<Duration>("1s 1s", "the units must go from large to small");
    check_error::<Duration>("", "a time is missing");
    check_error::<Duration>("s", "not a time");
    check_error::<Duration>("inf", "not a time");
    check_error::<Duration>("-1s", "a time cannot be negative");
    check_error::<Duration>("1m-30s", "unknown unit \"m-\"");
    check_error::<Duration>("1e3s", "exponents are not read");
    check_error::<Duration>("1.5.2s", "two decimal points");
    check_error::<Duration>("213504d", "too large. The longest time is");
    check_error::<Duration>("213503d 24h", "too large");
}

#[test]
fn rates_are_read() {
    let table = [
        ("1000", 1_000.0),
        ("1000/s", 1_000.0),
        ("1,000/s", 1_000.0),
        ("10k/s", 10_000.0),
        ("10K / sec", 10_000.0),
        ("50k iops", 50_000.0),
        ("50kIOPS", 50_000.0),
        ("2.5/s", 2.5),
        ("1.2m ops/s", 1_200_000.0),
        ("600/min", 10.0),
        ("7200/h", 2.0),
        ("0", 0.0),
    ];
    for (input, expected) in table {
        check(input, &Rate(expected));
    }
    assert_eq!(parse_rate("20 iops"), Ok(Rate(20.0)));
    check_error::<Rate>(
        "10 KiB/s",
        "unknown unit \"KiB/s\" in \"10 KiB/s\". Rates take k, m or g",
    );
    check_error::<Rate>("10/parsec", "unknown unit \"/parsec\"");
    check_error::<Rate>("-1/s", "a rate cannot be negative");
    check_error::<Rate>("fast", "not a rate");
    check_error::<Rate>("1e5", "exponents are not read");
    check_error::<Rate>("1000000000000g", "too large. The highest rate is");
    check_error::<Rate>("", "a rate is missing");
}

#[test]
fn percentages_need_the_sign() {
    for (input, expected) in [("3%", 0.03), ("3 %", 0.03), ("0.5%", 0.005), ("150%", 1.5)] {
        assert_eq!(parse_percent(input), Ok(expected), "{input:?}");
    }
    for (input, expected) in [
        ("0.3", "Use 30% or 0.3%"),
        ("0.03", "Use 3% or 0.03%"),
        ("30", "a percentage needs the sign. Use 30%"),
        (
            "3x",
            "unknown unit \"x\" in \"3x\". Percentages take the sign, as in 3% or 0.5 %",
        ),
        ("-3%", "a percentage cannot be negative"),
        ("3%%", "unknown unit \"%%\""),
        ("%", "not a percentage"),
        ("", "a percentage is missing"),
    ] {
        let message = parse_percent(input).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_message_stays_one_line() {
    let pasted = "9".repeat(30) + "\n\u{7}" + &"x".repeat(10_000);
    let message = pasted.parse::<Bytes>().unwrap_err().to_string();
    assert!(
        message.len() < 400 && !message.contains(['\n', '\u{7}']),
        "{message}"
    );
}

// Every text of up to five of the characters that mean something, and of some that do not.
#[test]
fn no_text_makes_a_parser_panic() {
    let alphabet: Vec<char> = "09._, -+eksmB/%\u{b5}\u{130}".chars().collect();
    let mut texts = vec![String::new()];
    let mut first = 0;
    for _ in 0..5 {
        let last = texts.len();
        // Texts of the longest length are parsed but not kept.
        for at in first..last {
            for &letter in &alphabet {
                let text = format!("{}{letter}", texts[at]);
                parse_all(&text);
                if text.chars().count() < 5 {
                    texts.push(text);
                }
            }
        }
        first = last;
    }
}

fn parse_all(text: &str) {
    let errors = [
        text.parse::<Bytes>().err(),
        text.parse::<Duration>().err(),
        parse_rate(text).err(),
        parse_percent(text).err(),
    ];
    if text.len() < 4 {
        for error in errors.into_iter().flatten() {
            assert!(!error.to_string().is_empty());
        }
    }
}
