//! The tables of the RPT manual of 1995 that advise on a workload, computed again. Where a printed
//! value is not what the formula printed next to it gives, the test says what it is instead.

use workload::WorkloadDefinition;
use workload::advice::{
    cached_neighbourhood, cached_part, coverage, independent_samples, ios_to_sum, median_step,
    message_bytes, step_beyond, steps_until_beyond, steps_until_strayed,
};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// "Data file size": independent samples with 50 maximum threads.
///
/// The table counts blocks with 50 shares for every workload. The batch workloads (4 to 7) have
/// 5 shares, hence ten times the printed samples; and the small operations of workload 2 are
/// packed, so that they have more places than blocks.
#[test]
fn the_table_of_data_file_sizes() {
    let files = [50, 100, 500, 1000];
    let table = [
        ("transaction", 4, [256, 512, 2560, 5120]),
        ("multiuser", 64, [16, 32, 160, 320]),
        ("database", 4, [256, 512, 2560, 5120]),
        ("batch", 64, [16, 32, 160, 320]),
        ("video", 1024, [1, 2, 10, 20]),
        ("archive", 32, [32, 64, 320, 640]),
        ("scientific", 1024, [1, 2, 10, 20]),
    ];
    for (name, block_kib, printed) in table {
        let built_in = WorkloadDefinition::built_in(name).expect("a built-in workload");
        assert_eq!(built_in.block(), block_kib * KIB, "{name}");
        let computed = files.map(|mib| independent_samples(mib * MIB, 50, built_in.block()));
        assert_eq!(computed, printed, "{name}");
    }
    let batch = WorkloadDefinition::built_in("batch").expect("a built-in workload");
    assert_eq!(
        independent_samples(50 * MIB, batch.shares(), batch.block()),
        160
    );
    assert_eq!(
        independent_samples(50 * MIB, 50, 4 * KIB),
        256,
        "packed, workload 2"
    );
}

/// The examples in the text above the table.
#[test]
fn the_examples_of_data_file_sizes() {
    assert_eq!(independent_samples(200 * KIB, 50, 4 * KIB), 1);
    assert_eq!(independent_samples(12 * MIB + MIB / 2, 50, 4 * KIB), 64);
    assert_eq!(independent_samples(1 << 30, 50, 4 * KIB), 5242);
}

/// The row "Cached" is called the total percentage, and is that of one thread's fiftieth.
#[test]
fn the_row_of_cached_percentages() {
    let printed = [(50, 0.25), (100, 0.125), (500, 0.025), (1000, 0.0125)];
    for (mib, part) in printed {
        assert_eq!(cached_part(256 * KIB, mib * MIB, 50), part, "{mib} MiB");
    }
    assert_eq!(
        cached_part(256 * KIB, 50 * MIB, 1),
        0.005,
        "of the whole file"
    );
    assert_eq!(cached_part(1 << 30, MIB, 50), 1.0, "no more than all");
    assert_eq!(cached_part(0, 0, 50), 0.0);
}

/// "Hyperbolic Distribution": alpha, median in units of its last digit, Ps in percent,
/// Ns, Nn, and Ns from the formula.
///
/// Ns was computed from Ps as it is printed, rounded to two or three digits, and then rounded up:
/// that gives every printed value. From Ps itself it is 17,352 instead of 17,621 (1.5 % less),
/// 3,067 instead of 3,056 and 541 instead of 542. Printed values have the precision of their
/// last digit.
#[test]
fn the_table_of_the_hyperbolic_distribution() {
    const DISTANCE: f64 = 32.0;
    assert_eq!(cached_neighbourhood(256 << 10, 4096), DISTANCE);
    let table = [
        (2.5, 13_195, (0.017, 3), 17_621.0, 588.0, 17_352.0),
        (2.0, 14_142, (0.098, 3), 3_056.0, 512.0, 3_067.0),
        (1.5, 15_874, (0.552, 3), 542.0, 406.0, 541.0),
        (1.0, 20_000, (3.13, 2), 95.0, 256.0, 95.0),
        (0.5, 40_000, (17.7, 1), 16.0, 64.0, 16.0),
    ];
    for (alpha, median, (ps_printed, digits), ns_printed, nn, ns) in table {
        let near = |value: f64, printed: f64, digits: i32| {
            assert!(
                (value - printed).abs() <= 0.5001 * 10_f64.powi(-digits),
                "alpha {alpha}: {value} is not {printed}"
            );
        };
        near(1e4 * median_step(alpha), f64::from(median), 0);
        let ps = step_beyond(alpha, DISTANCE);
        near(100.0 * ps, ps_printed, digits);
        assert_eq!(
            steps_until_beyond(ps_printed / 100.0).ceil(),
            ns_printed,
            "{alpha}"
        );
        assert_eq!(steps_until_beyond(ps).ceil(), ns, "alpha {alpha}");
        near(steps_until_strayed(alpha, DISTANCE), nn, 0);
        let least = steps_until_beyond(ps).min(steps_until_strayed(alpha, DISTANCE));
        assert_eq!(ios_to_sum(alpha, DISTANCE), least);
    }
}

/// "0.0<- Infinite": the nearer alpha is to zero, the larger the median step.
#[test]
fn the_median_step_grows_without_bound() {
    assert!(median_step(0.001) > 1e300);
    assert_eq!(median_step(f64::MIN_POSITIVE), f64::INFINITY);
}

/// The table of coverages: workload, threads, maximum threads, percent.
#[test]
fn the_table_of_coverages() {
    let table = [
        (3, 50, 6),
        (3, 50, 6),
        (4, 50, 8),
        (10, 50, 20),
        (7, 50, 14),
        (27, 50, 54),
        (5, 5, 100),
        (5, 5, 100),
        (1, 5, 20),
        (2, 5, 40),
    ];
    for (threads, shares, percent) in table {
        let computed = 100.0 * coverage(threads, shares);
        assert!(
            (computed - f64::from(percent)).abs() < 1e-9,
            "{threads}/{shares}: {computed}"
        );
    }
    assert_eq!(coverage(60, 50), 1.0);
}

/// "The batch threads report results every 5 megabytes", which are MiB.
#[test]
fn batch_messages_are_five_mebibytes() {
    for name in ["batch", "video", "archive", "scientific"] {
        let built_in = WorkloadDefinition::built_in(name).expect("a built-in workload");
        for kind in built_in.types() {
            assert_eq!(message_bytes(kind), 5 * MIB, "{name}");
        }
    }
}
