//! What is shown: digits, units, intervals.

use units::{
    Bytes, Duration, Instant, Rate, format_count, format_counted, format_duration_ns,
    format_interval_count, format_interval_ns, format_interval_rate, format_rate,
};

#[test]
fn times_have_three_digits_and_the_right_unit() {
    let table = [
        (0, "0 s"),
        (1, "1 ns"),
        (999, "999 ns"),
        (1_000, "1.00 us"),
        (47_100, "47.1 us"),
        (999_499, "999 us"),
        (999_500, "1.00 ms"),
        (1_240_000, "1.24 ms"),
        (2_000_000_000, "2.00 s"),
        (59_940_000_000, "59.9 s"),
        (59_960_000_000, "1 min"),
        (63_472_565_478, "1 min 3.5 s"),
        (90_000_000_000, "1 min 30 s"),
        (99_960_000_000, "1 min 40 s"),
        (3_600_000_000_000, "1 h"),
        (3_605_000_000_000, "1 h 5 s"),
        (36_029_000_000_000, "10 h"),
        (187_200_000_000_000, "2 d 4 h"),
    ];
    for (nanos, expected) in table {
        assert_eq!(Duration::from_nanos(nanos).to_string(), expected);
    }
    assert_eq!(format!("{:>9}", Duration::from_micros(5)), "  5.00 us");
    assert_eq!(Instant(1_500_000).to_string(), "1.50 ms after the start");
}

#[test]
fn fractional_nanoseconds_are_shown() {
    let table = [
        (0.0, "0 s"),
        (0.25, "0.250 ns"),
        (47.26, "47.3 ns"),
        (999.6, "1.00 us"),
        (47_123.4, "47.1 us"),
        (-1_240.0, "-1.24 us"),
        (-90e9, "-1 min 30 s"),
        (f64::NAN, "n/a"),
        (f64::INFINITY, "inf"),
    ];
    for (nanos, expected) in table {
        assert_eq!(format_duration_ns(nanos), expected);
    }
}

#[test]
fn sizes_are_binary_unless_asked() {
    let table = [
        (0, "0 B", "0 B"),
        (512, "512 B", "512 B"),
        (1_000, "1,000 B", "1 kB"),
        (1_023, "1,023 B", "1.02 kB"),
        (4_096, "4 KiB", "4.10 kB"),
        (1_035_000, "1,011 KiB", "1.03 MB"),
        (1_048_500, "1.00 MiB", "1.05 MB"),
        (1_610_612_736, "1.50 GiB", "1.61 GB"),
        (2_410_000_000, "2.24 GiB", "2.41 GB"),
        (2_000_000_000, "1.86 GiB", "2 GB"),
        (999_999_999_999, "931 GiB", "1.00 TB"),
        (u64::MAX, "16,384 PiB", "18,447 PB"),
    ];
    for (bytes, binary, decimal) in table {
        assert_eq!(Bytes(bytes).to_string(), binary);
        assert_eq!(Bytes(bytes).decimal(), decimal);
    }
    assert_eq!(format!("{:>8}|", Bytes(4_096)), "   4 KiB|");
}

#[test]
fn counts_and_rates_have_three_digits() {
    let table = [
        (0.0, "0"),
        (8.0, "8"),
        (0.0471, "0.0471"),
        (47.13, "47.1"),
        (999.4, "999"),
        (999.7, "1,000"),
        (1_243.0, "1,240"),
        (18_432.0, "18,400"),
        (102_960.0, "103,000"),
        (1_234_567.0, "1,230,000"),
        (-1_243.0, "-1,240"),
        (f64::NAN, "n/a"),
    ];
    for (count, expected) in table {
        assert_eq!(format_count(count), expected);
    }
    assert_eq!(Rate(18_432.0).to_string(), "18,400/s");
    assert_eq!(format_rate(2.414e9), "2.41 GB/s");
    assert_eq!(format_rate(999_700.0), "1.00 MB/s");
    assert_eq!(format_rate(0.0), "0 B/s");
}

/// Bounds that only rounding tells apart are one value.
#[test]
fn a_value_that_is_exact_has_three_digits() {
    let (value, interval) =
        format_interval_ns(97_300.0, 97_299.999_999_999_9, 97_300.000_000_000_1);
    assert_eq!(
        (value.as_str(), interval.as_str()),
        ("97.3 us", "97.3 .. 97.3")
    );
}

#[track_caller]
fn check_interval(shown: &(String, String), value: &str, interval: &str) {
    assert_eq!((shown.0.as_str(), shown.1.as_str()), (value, interval));
}

/// 16.9 ms with an interval up to 4,117 s was printed as 0.02 s.
#[test]
fn a_value_keeps_its_digits_beside_an_interval_much_wider() {
    let check = check_interval;
    check(
        &format_interval_ns(34.9, 0.0, 215_723.8),
        "34.9 ns",
        "0 ns .. 216 us",
    );
    check(
        &format_interval_ns(1_240.0, -3.0, 2.5e9),
        "1.24 us",
        "-3.00 ns .. 2.50 s",
    );
    check(
        &format_interval_rate(999.0, 1.0, 998_000.0),
        "999 B/s",
        "1 .. 998,000",
    );
    check(
        &format_interval_ns(16.9e6, 69.2, 4117e9),
        "16.9 ms",
        "69.2 ns .. 4,120 s",
    );
    check(
        &format_interval_count(2.0, 0.0, 215_000.0),
        "2.00",
        "0 .. 215,000",
    );
}

#[test]
fn a_value_and_its_interval_share_one_unit() {
    let check = check_interval;
    check(
        &format_interval_ns(47_100.0, 46_200.0, 48_000.0),
        "47.1 us",
        "46.2 .. 48.0",
    );
    check(
        &format_interval_ns(998_000.0, 970_000.0, 1.03e6),
        "998 us",
        "970 .. 1,030",
    );
    check(
        &format_interval_ns(1.24e6, 1.19e6, 1.3e6),
        "1.24 ms",
        "1.19 .. 1.30",
    );
    check(
        &format_interval_ns(90e9, 89e9, 91e9),
        "90.0 s",
        "89.0 .. 91.0",
    );
    // Narrow: without more digits the ends would look the same.
    check(
        &format_interval_ns(47_130.0, 47_122.0, 47_138.0),
        "47.13 us",
        "47.12 .. 47.14",
    );
    check(
        &format_interval_ns(5.0, 5.0, 5.0),
        "5.00 ns",
        "5.00 .. 5.00",
    );
    check(
        &format_interval_rate(2.41e9, 2.36e9, 2.46e9),
        "2.41 GB/s",
        "2.36 .. 2.46",
    );
    check(
        &format_interval_count(18_432.0, 17_911.0, 18_949.0),
        "18,400",
        "17,900 .. 18,900",
    );
    check(
        &format_interval_count(18_432.0, 18_431.0, 18_433.0),
        "18,432",
        "18,431 .. 18,433",
    );
    check(
        &format_interval_count(0.0, -1.2, 1.2),
        "0.00",
        "-1.20 .. 1.20",
    );
    check(&format_interval_count(0.0, 0.0, 0.0), "0", "0 .. 0");
    check(
        &format_interval_ns(1_000.0, 900.0, f64::INFINITY),
        "1.00 us",
        "0.90 .. inf",
    );
    check(
        &format_interval_ns(f64::NAN, f64::NAN, f64::NAN),
        "n/a",
        "n/a .. n/a",
    );
}

#[test]
fn sizes_and_rates_calculate() {
    assert_eq!(Bytes::from_gib(1) / Bytes::from_kib(4), 262_144);
    assert_eq!(Bytes::from_mib(1) - Bytes::from_gib(1), Bytes::ZERO);
    assert_eq!(Bytes(u64::MAX) + Bytes(1), Bytes(u64::MAX));
    assert_eq!([Bytes(1), Bytes(2)].into_iter().sum::<Bytes>(), Bytes(3));
    assert!(Bytes::from_kib(8).is_multiple_of(Bytes::from_kib(4)));
    assert!(!Bytes::from_kib(6).is_multiple_of(Bytes::from_kib(4)));
    assert!(!Bytes(1).is_multiple_of(Bytes::ZERO));
    assert!((Rate(1e6).mean_gap_ns() - 1_000.0).abs() < 1e-9);
}

#[test]
fn things_are_counted_exactly_and_one_is_no_plural() {
    let check = |count: u64, noun: &str, expected: &str| {
        assert_eq!(format_counted(count, noun), expected);
    };
    check(0, "file", "0 files");
    check(1, "pass", "1 pass");
    check(2, "pass", "2 passes");
    check(12_345, "round", "12,345 rounds");
}
