//! Arrivals keep the rate that was asked for.

use random::{GapProcess, GapShape, Purpose, Stream, standard_exponential};

use crate::statistics::SIGMAS;

const SEED: u64 = 41;
const RATES: [f64; 8] = [0.3, 1e3, 50e3, 150e3, 600e3, 1e6, 30e6, 3e9];

fn total_ns(shape: GapShape, rate: f64, draws: u64) -> u128 {
    let mut stream = Stream::new(SEED, 0, Purpose::Arrival);
    let mut gaps = GapProcess::per_second(shape, rate).unwrap();
    (0..draws)
        .map(|_| u128::from(gaps.next_gap_ns(&mut stream)))
        .sum()
}

/// Whole nanoseconds add nothing to, and take nothing from, the unrounded gaps of the same draws.
/// What is left between the achieved rate and the target is sampling error alone.
#[test]
fn rounding_never_accumulates() {
    const DRAWS: u64 = 200_000;
    for rate in RATES {
        let mean = 1e9 / rate;
        let mut stream = Stream::new(SEED, 0, Purpose::Arrival);
        let exponential: f64 = (0..DRAWS)
            .map(|_| mean * standard_exponential(&mut stream))
            .sum();
        let mut stream = Stream::new(SEED, 0, Purpose::Arrival);
        let uniform: f64 = (0..DRAWS).map(|_| 2.0 * mean * stream.unit()).sum();
        for (shape, exact) in [
            (GapShape::Constant, mean * DRAWS as f64),
            (GapShape::Uniform, uniform),
            (GapShape::Exponential, exponential),
        ] {
            let found = total_ns(shape, rate, DRAWS) as f64;
            // One nanosecond is still owed; the sums above have rounding errors of their own.
            let limit = 1.0 + exact * 1e-11;
            assert!(
                (found - exact).abs() <= limit,
                "{shape:?} {rate}/s: {found} ns, not {exact}"
            );
        }
    }
}

/// Bug class of another tool: gaps cut to microseconds made 1.72 M arrivals out of 600,000.
///
/// The mean of N gaps has a relative standard error of c / sqrt(N), with c = 1 for exponential and
/// 1/sqrt(3) for uniform gaps. Sixteen million draws make 0.1 % four standard errors.
#[test]
fn the_rate_is_the_rate_asked_for() {
    const DRAWS: u64 = 16_000_000;
    for (shape, rate, spread) in [
        (GapShape::Exponential, 1e6, 1.0),
        (GapShape::Exponential, 600e3, 1.0),
        (GapShape::Uniform, 150e3, 1.0 / 3.0_f64.sqrt()),
    ] {
        let achieved = DRAWS as f64 * 1e9 / total_ns(shape, rate, DRAWS) as f64;
        let error = (achieved / rate - 1.0).abs();
        let limit = SIGMAS * spread / (DRAWS as f64).sqrt();
        assert!(
            limit <= 0.001_000_1 && error <= limit,
            "{shape:?} {rate}/s: {achieved}/s"
        );
    }
}

#[test]
fn every_rate_is_met_within_its_standard_error() {
    const DRAWS: u64 = 1_000_000;
    for rate in RATES {
        for (shape, spread) in [
            (GapShape::Constant, 0.0),
            (GapShape::Uniform, 1.0 / 3.0_f64.sqrt()),
            (GapShape::Exponential, 1.0),
        ] {
            let found = total_ns(shape, rate, DRAWS) as f64;
            let exact = 1e9 / rate * DRAWS as f64;
            let limit = SIGMAS * spread / (DRAWS as f64).sqrt() * exact + 1.0 + exact * 1e-11;
            assert!(
                (found - exact).abs() <= limit,
                "{shape:?} {rate}/s: {found} ns, not {exact}"
            );
        }
    }
}

#[test]
fn gaps_are_pinned() {
    let mut stream = Stream::new(SEED, 0, Purpose::Arrival);
    let mut gaps = GapProcess::per_second(GapShape::Exponential, 150e3).unwrap();
    let found: Vec<u64> = (0..4).map(|_| gaps.next_gap_ns(&mut stream)).collect();
    assert_eq!(found, [732, 16_439, 1_416, 2_895]);
}

#[test]
fn constant_gaps_differ_by_at_most_one_nanosecond() {
    let mut stream = Stream::new(SEED, 0, Purpose::Arrival);
    let mut gaps = GapProcess::per_second(GapShape::Constant, 150e3).unwrap();
    assert!((0..10_000).all(|_| matches!(gaps.next_gap_ns(&mut stream), 6_666 | 6_667)));
}
