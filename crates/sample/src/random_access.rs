//! Invented service times of random access.

use results::{RandomAccess, RandomCell, RandomKind, Times, Warning, WarningCode};
use stats::PercentileEstimate;

use super::estimate;

/// Reads and writes over three spans, with two block sizes and at two depths.
#[must_use]
pub fn random_access() -> RandomAccess {
    use RandomKind::{Read, Write};
    const WHOLE: u64 = 1 << 30;
    let mut cells = vec![
        cell(Read, 32 << 10, 4096, 1, 52_000.0),
        cell(Read, 2 << 20, 4096, 1, 53_000.0),
        cell(Read, WHOLE, 4096, 1, 104_000.0),
        cell(Read, WHOLE, 4096, 8, 210_000.0),
        cell(Read, WHOLE, 65_536, 1, 160_000.0),
        cell(Write, 32 << 10, 4096, 1, 81_000.0),
        cell(Write, 2 << 20, 4096, 1, 82_000.0),
        cell(Write, WHOLE, 4096, 1, 95_000.0),
        cell(Write, WHOLE, 4096, 8, 300_000.0),
        cell(Write, WHOLE, 65_536, 1, 230_000.0),
    ];
    cells[1].is_precise = false;
    cells[8].rounds_agree = false;
    cells[8].warnings = vec![Warning::doubt(
        WarningCode::Drift,
        "A doubt about one cell.",
    )];
    cells[9].is_citable = false;
    RandomAccess {
        span_bytes: WHOLE,
        block_bytes: 4096,
        depth: 1,
        size_bytes: WHOLE,
        is_crossed: false,
        rounds: 2,
        precision: 0.05,
        durable: false,
        check: "record".into(),
        fill_rate: Some(estimate(812e6, 0.02)),
        cells,
    }
}

fn cell(kind: RandomKind, span: u64, block: u64, depth: u32, mean: f64) -> RandomCell {
    let percentile = |p, factor: f64| PercentileEstimate {
        p,
        estimate: Some(estimate(mean * factor, 0.05)),
        is_indicative: p > 0.98,
        evidence: 1000.0 * (1.0 - p),
    };
    RandomCell {
        kind,
        span_bytes: span,
        block_bytes: block,
        depth,
        service: Times {
            mean: estimate(mean, 0.02),
            percentiles: vec![
                percentile(0.5, 0.95),
                percentile(0.95, 1.5),
                percentile(0.99, 2.5),
            ],
            min_ns: (mean * 0.6) as u64,
            max_ns: (mean * 20.0) as u64,
        },
        throughput: estimate(f64::from(depth) * 1e9 / mean, 0.02),
        page_cache_share: Some(0.0),
        cpu_per_operation_ns: Some(9_800.0),
        operations: 23_456,
        errors: 0,
        rounds: vec![estimate(mean * 0.99, 0.03), estimate(mean * 1.01, 0.03)],
        rounds_agree: true,
        is_precise: true,
        is_citable: true,
        warnings: Vec::new(),
    }
}
