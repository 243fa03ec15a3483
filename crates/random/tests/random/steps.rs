//! Random walks step as the RAID Performance Tool's manual defines.

use random::{ExponentialStep, ParetoStep, Purpose, Stream, wrap_step};

use crate::statistics::{check_chi_square, check_mean};

const SEED: u64 = 320;
const DRAWS: usize = 200_000;

/// The manual's law P(s > x) = x^-alpha, rounded down: P(size >= k) = k^-alpha, both directions.
#[test]
fn pareto_steps_follow_the_manual() {
    for alpha in [0.1, 0.5, 1.0, 1.5, 2.0, 2.5] {
        let law = ParetoStep::new(alpha).unwrap();
        let mut stream = Stream::new(SEED, 0, Purpose::Address);
        let tail = |k: usize| (k as f64).powf(-alpha);
        let mut counts = vec![0; 80];
        let mut probabilities = Vec::new();
        for cell in 1..=40 {
            let share = if cell < 40 {
                tail(cell) - tail(cell + 1)
            } else {
                tail(cell)
            };
            probabilities.extend([share / 2.0; 2]);
        }
        for _ in 0..DRAWS {
            let step = law.sample(&mut stream);
            let cell = step.unsigned_abs().clamp(1, 40) as usize - 1;
            counts[2 * cell + usize::from(step < 0)] += 1;
            assert!(step != 0);
        }
        check_chi_square(
            &counts,
            &probabilities,
            &format!("alpha {alpha}, seed {SEED}"),
        );
    }
}

/// The manual's table of single steps beyond 32 blocks, in per cent. Rounding down moves the
/// border from 32 to 33.
#[test]
fn far_pareto_steps_are_as_rare_as_in_the_manual() {
    for (alpha, per_cent) in [(2.0, 0.098), (1.5, 0.552), (1.0, 3.13), (0.5, 17.7)] {
        let law = ParetoStep::new(alpha).unwrap();
        let mut stream = Stream::new(SEED, 1, Purpose::Address);
        let far: Vec<f64> = (0..DRAWS)
            .map(|_| f64::from(u8::from(law.sample(&mut stream).unsigned_abs() >= 32)))
            .collect();
        let share: f64 = per_cent / 100.0;
        let deviation = (share * (1.0 - share)).sqrt();
        check_mean(
            &far,
            share,
            deviation,
            &format!("alpha {alpha}, seed {SEED}"),
        );
    }
}

#[test]
fn exponential_steps_have_the_mean_asked_for() {
    for mean in [1.0, 1.5, 3.0, 100.0, 1e9] {
        let law = ExponentialStep::new(mean).unwrap();
        let mut stream = Stream::new(SEED, 2, Purpose::Address);
        let steps: Vec<i64> = (0..DRAWS).map(|_| law.sample(&mut stream)).collect();
        let sizes: Vec<f64> = steps.iter().map(|s| s.unsigned_abs() as f64).collect();
        // A geometric law on 1, 2, ... with mean m has the variance m (m - 1).
        let deviation = (mean * (mean - 1.0)).sqrt().max(1e-12);
        check_mean(
            &sizes,
            mean,
            deviation,
            &format!("mean {mean}, seed {SEED}"),
        );
        let forward: Vec<f64> = steps.iter().map(|s| f64::from(u8::from(*s > 0))).collect();
        check_mean(
            &forward,
            0.5,
            0.5,
            &format!("direction, mean {mean}, seed {SEED}"),
        );
    }
}

#[test]
fn steps_are_pinned() {
    let mut stream = Stream::new(SEED, 4, Purpose::Address);
    let pareto = ParetoStep::new(0.5).unwrap();
    let found: Vec<i64> = (0..4).map(|_| pareto.sample(&mut stream)).collect();
    assert_eq!(found, [1, -2, 1, 3]);
    let exponential = ExponentialStep::new(1_000.0).unwrap();
    let found: Vec<i64> = (0..4).map(|_| exponential.sample(&mut stream)).collect();
    assert_eq!(found, [-1101, -1507, 112, -1386]);
}

#[test]
fn walks_wrap_at_both_ends() {
    assert_eq!(wrap_step(3, 2, 10), 5);
    assert_eq!(wrap_step(9, 1, 10), 0);
    assert_eq!(wrap_step(0, -1, 10), 9);
    assert_eq!(wrap_step(5, -25, 10), 0);
    assert_eq!(wrap_step(u64::MAX - 1, i64::MAX, u64::MAX), (1 << 63) - 2);
    assert_eq!(wrap_step(0, i64::MIN, 1), 0);
}

/// Steps too long for a double must not pile up on the blocks that powers of two reach.
#[test]
fn very_far_steps_land_evenly() {
    let law = ParetoStep::new(0.01).unwrap();
    let mut stream = Stream::new(SEED, 3, Purpose::Address);
    let mut counts = [0; 64];
    let mut position = 0;
    for _ in 0..DRAWS {
        position = wrap_step(position, law.sample(&mut stream), 64);
        counts[position as usize] += 1;
    }
    check_chi_square(&counts, &[1.0 / 64.0; 64], &format!("seed {SEED}"));
}
