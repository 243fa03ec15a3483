//! Ranks follow Zipf's law for any size and exponent.

use random::{Purpose, Stream, Zipf};

use crate::statistics::check_chi_square;

const SEED: u64 = 1_996;
const THETAS: [f64; 9] = [0.01, 0.3, 0.8, 0.99, 1.0, 1.000_001, 1.2, 2.5, 9.0];

/// The sum of k^-theta for k from `low` to `high`: term by term at first, then by the
/// Euler-Maclaurin formula, whose next term is below 1e-12 of the sum there.
fn power_sum(low: u64, high: u64, theta: f64) -> f64 {
    let direct_high = high.min(low.max(1_000) + 1_000);
    let direct: f64 = (low..=direct_high).map(|k| (k as f64).powf(-theta)).sum();
    if direct_high == high {
        return direct;
    }
    let (a, b) = ((direct_high + 1) as f64, high as f64);
    let integral = if (theta - 1.0).abs() < 1e-12 {
        (b / a).ln()
    } else {
        // a^(1-theta) ((b/a)^(1-theta) - 1) / (1-theta) without loss of digits near 1.
        a.powf(1.0 - theta) * ((1.0 - theta) * (b / a).ln()).exp_m1() / (1.0 - theta)
    };
    let ends = (a.powf(-theta) + b.powf(-theta)) / 2.0;
    let slopes = theta * (a.powf(-theta - 1.0) - b.powf(-theta - 1.0)) / 12.0;
    direct + integral + ends + slopes
}

/// Last ranks, counted from 1, of the cells: single ranks first, then ever wider ranges.
fn cell_ends(n: u64) -> Vec<u64> {
    let mut ends: Vec<u64> = (1..=n.min(30)).collect();
    while ends.last().is_some_and(|&end| end < n) {
        let end = ends[ends.len() - 1];
        ends.push((end + end / 4).min(n));
    }
    ends
}

fn check_law(n: u64, theta: f64, draws: u64) {
    let ends = cell_ends(n);
    let total = power_sum(1, n, theta);
    let mut low = 1;
    let mut probabilities = Vec::new();
    for &end in &ends {
        probabilities.push(power_sum(low, end, theta) / total);
        low = end + 1;
    }
    let law = Zipf::new(n, theta).unwrap();
    let mut stream = Stream::new(SEED, n, Purpose::Address);
    let mut counts = vec![0; ends.len()];
    for _ in 0..draws {
        let rank = law.sample(&mut stream) + 1;
        assert!((1..=n).contains(&rank), "rank {rank} of {n}");
        counts[ends.partition_point(|&end| end < rank)] += 1;
    }
    check_chi_square(
        &counts,
        &probabilities,
        &format!("n {n}, theta {theta}, seed {SEED}"),
    );
}

#[test]
fn ranks_follow_the_law() {
    for n in [1, 2, 3, 10, 1_000, 1_000_000, 1 << 40] {
        for theta in THETAS {
            check_law(n, theta, 100_000);
        }
    }
}

#[test]
fn ranks_follow_the_law_closely() {
    check_law(100, 0.99, 3_000_000);
    check_law(1 << 30, 1.2, 3_000_000);
}

#[test]
fn extreme_exponents_stay_inside() {
    for theta in [1e-9, 50.0, 2_000.0] {
        for n in [1, 2, 1 << 40] {
            let law = Zipf::new(n, theta).unwrap();
            let mut stream = Stream::new(SEED, n, Purpose::Address);
            for _ in 0..1_000 {
                let rank = law.sample(&mut stream);
                assert!(
                    rank < n && (theta < 1.0 || rank < 2),
                    "{rank} of {n}, theta {theta}"
                );
            }
        }
    }
}

#[test]
fn ranks_are_pinned() {
    let law = Zipf::new(1_000_000, 0.99).unwrap();
    let mut stream = Stream::new(SEED, 0, Purpose::Address);
    let ranks: Vec<u64> = (0..6).map(|_| law.sample(&mut stream)).collect();
    assert_eq!(ranks, [27, 360, 2_948, 106, 7_367, 1]);
}
