//! Invented rounds of an SSD that comes to its steady state.

use results::{
    PtsWindow, PurgeRecord, RoundTrend, SsdCell, SsdCellRound, SsdLoad, SsdPattern, SsdPhase,
    SsdRound, SsdTests, SteadyLaw, Tracked, Warning, WarningCode,
};
use stats::DriftVerdict;

use super::estimate;

const SIZE: u64 = 1 << 30;
const FIRST: u32 = 3;
const ROUNDS: u32 = 10;

/// Write saturation that became steady, and a latency test that did not.
#[must_use]
pub fn ssd() -> SsdTests {
    let write = SsdLoad {
        block_bytes: 4096,
        read_percent: 0,
        pattern: SsdPattern::Random,
        depth: 32,
    };
    let mut lat = phase(
        "lat",
        Tracked::Latency,
        SsdLoad { depth: 1, ..write },
        95_000.0,
    );
    let reads = SsdLoad {
        read_percent: 100,
        depth: 1,
        ..write
    };
    lat.cells.insert(0, cell(reads, 80_000.0));
    lat.steady_round = None;
    lat.pts_round = None;
    lat.purge = None;
    lat.law = None;
    lat.precondition_rate = None;
    for trend in lat
        .rounds
        .iter_mut()
        .filter_map(|round| round.trend.as_mut())
    {
        trend.verdict = DriftVerdict::Undecided;
    }
    lat.warnings = vec![Warning::doubt(
        WarningCode::Drift,
        "A doubt about one test.",
    )];
    SsdTests {
        size_bytes: SIZE,
        is_quick: true,
        round_ns: 5_000_000_000,
        trend_limit: 0.1,
        phases: vec![phase("wsat", Tracked::Iops, write, 11_500.0), lat],
    }
}

fn phase(name: &str, tracked: Tracked, load: SsdLoad, level: f64) -> SsdPhase {
    SsdPhase {
        name: name.into(),
        title: "random writes of 4 KiB".into(),
        tracked,
        tracked_load: load,
        stride: 1,
        purge: Some(PurgeRecord {
            method: "discard".into(),
            took_ns: 812_000_000,
            sampled: 64,
            zero: 64,
        }),
        precondition_bytes: SIZE,
        precondition_rate: Some(estimate(812e6, 0.02)),
        rounds: (1..=ROUNDS).map(|number| round(number, level)).collect(),
        steady_round: Some(9),
        pts_round: Some(5),
        cells: vec![cell(load, 2_700_000.0)],
        law: Some(SteadyLaw {
            name: "a law".into(),
            fresh_per_second: 107_000.0,
            steady_per_second: 11_400.0,
        }),
        warnings: Vec::new(),
    }
}

fn round(number: u32, level: f64) -> SsdRound {
    let mean = level * (1.0 + 1.0 / f64::from(number));
    SsdRound {
        number,
        end_ns: u64::from(number) * 5_000_000_000,
        written_bytes: SIZE + u64::from(number) * (SIZE / 8),
        tracked: estimate(mean, 0.02),
        pts: (number >= 5).then(|| PtsWindow {
            first_round: number - 4,
            last_round: number,
            mean,
            range: 0.12,
            excursion: -0.06,
            is_met: true,
        }),
        trend: (number >= 8).then(|| RoundTrend {
            first_round: FIRST,
            mean: estimate(mean, 0.01),
            total: -0.03,
            standard_error: 0.01,
            bound: 0.049,
            verdict: DriftVerdict::Steady,
        }),
    }
}

fn cell(load: SsdLoad, mean: f64) -> SsdCell {
    let iops = f64::from(load.depth) * 1e9 / mean;
    SsdCell {
        load,
        iops: estimate(iops, 0.02),
        latency_ns: estimate(mean, 0.02),
        p99_ns: Some(estimate(mean * 3.0, 0.05)),
        p999_ns: None,
        max_ns: (mean * 20.0) as u64,
        errors: 0,
        rounds: (FIRST..=ROUNDS)
            .map(|number| SsdCellRound {
                number,
                iops: estimate(iops, 0.03),
                latency_ns: estimate(mean, 0.03),
            })
            .collect(),
    }
}
