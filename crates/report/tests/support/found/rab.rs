//! Invented workloads of the RAID Performance Test.

use results::{
    LevelOutcome, Mode, ModeChange, ModeComparison, Rab, RabAverage, RabGroup, RabLevel,
    RabOverRuns, RabWorkload, Rabmark, Warning, WarningCode,
};

use sample::{curve, estimate};

/// One workload of each group, in two modes.
pub fn rab() -> Rab {
    Rab {
        response_max_ns: 50_000_000,
        iops_per_client: Some(20.0),
        precision: 0.03,
        workloads: vec![
            transaction(),
            batch(1, Mode::Normal, 1.0),
            batch(2, Mode::Reduced, 0.6),
        ],
        averages: vec![RabAverage {
            run: 1,
            group: RabGroup::Batch,
            mode: Mode::Normal,
            workloads: 1,
            rabmark_r: mark(32_300.0, true),
            rabmark_s: mark(784.0, true),
        }],
        over_runs: vec![
            over_runs("batch", Some("Batch"), 32_500.0),
            over_runs("batch-average", None, 32_500.0),
        ],
        modes: vec![
            change(0, Mode::Normal, false, "set by the user"),
            change(
                184_000_000_000,
                Mode::Reduced,
                true,
                "btrfs raid1 of 2 members, 1 missing: degraded (sysfs)",
            ),
        ],
        comparisons: vec![ModeComparison {
            workload: "batch".into(),
            figure: "RABmark[s]".into(),
            base: Mode::Normal,
            mode: Mode::Reduced,
            ratio: estimate(0.6, 0.04),
            spans_runs: false,
        }],
    }
}

fn change(at_ns: u64, mode: Mode, is_detected: bool, text: &str) -> ModeChange {
    ModeChange {
        at_ns,
        mode,
        is_detected,
        text: text.into(),
    }
}

fn over_runs(name: &str, title: Option<&str>, value: f64) -> RabOverRuns {
    RabOverRuns {
        name: name.into(),
        title: title.map(Into::into),
        group: RabGroup::Batch,
        mode: Mode::Normal,
        runs: 3,
        rabmark_r: mark(value, true),
        rabmark_s: mark(786.0, true),
    }
}

fn mark(value: f64, is_whole: bool) -> Rabmark {
    Rabmark {
        value: estimate(value, 0.02),
        is_whole,
    }
}

fn transaction() -> RabWorkload {
    let mut found = curve();
    found.title = "Transaction".into();
    found.channel = stats::Channel::Service;
    let reached = |load: f64| LevelOutcome::Reached {
        load: estimate(load, 0.02),
        clients: load / 20.0,
        is_precise: true,
    };
    let level = |label: &str, level_ns: u64, by_service, by_response| RabLevel {
        label: label.into(),
        level_ns,
        level_estimate: (label == "1/3").then(|| estimate(level_ns as f64, 0.02)),
        by_service,
        by_response: Some(by_response),
    };
    let points = found.points.clone();
    RabWorkload {
        run: 1,
        number: 1,
        name: "transaction".into(),
        title: "Transaction".into(),
        group: RabGroup::Transaction,
        mode: Mode::Normal,
        begun_ns: 4_000_000_000,
        elapsed_ns: 90_000_000_000,
        operations: 3_100_000,
        is_complete: true,
        no_load: Some(points[0].clone()),
        levels: vec![
            level(
                "1/3",
                16_700_000,
                reached(71_000.0),
                LevelOutcome::Between {
                    low: 70_100.0,
                    high: 71_400.0,
                },
            ),
            level("2/3", 33_400_000, reached(72_500.0), reached(71_900.0)),
            level(
                "max",
                50_000_000,
                LevelOutcome::NotReached {
                    clients: 4096,
                    load: estimate(72_600.0, 0.01),
                    response: estimate(46e6, 0.02),
                },
                reached(72_000.0),
            ),
        ],
        curve: Some(found),
        place_sets: None,
        measurement: None,
        rabmark_r: Some(mark(6_420.0, false)),
        rabmark_s: Some(mark(284.0, false)),
        warnings: vec![Warning::warn(
            WarningCode::Drift,
            "A doubt about one workload.",
        )],
    }
}

fn batch(run: u32, mode: Mode, factor: f64) -> RabWorkload {
    let mut load = sample::run().measurements.swap_remove(0);
    load.title = "Batch, 5 clients".into();
    load.bandwidth = Some(estimate(822e6 * factor, 0.02));
    RabWorkload {
        run,
        number: 4,
        name: "batch".into(),
        title: "Batch".into(),
        group: RabGroup::Batch,
        mode,
        begun_ns: 94_000_000_000 * u64::from(run),
        elapsed_ns: 12_000_000_000,
        operations: 160_000,
        is_complete: true,
        no_load: None,
        levels: Vec::new(),
        curve: None,
        place_sets: Some(16),
        measurement: Some(load),
        rabmark_r: Some(mark(32_300.0 * factor * factor, true)),
        rabmark_s: Some(mark(784.0 * factor, true)),
        warnings: Vec::new(),
    }
}
