//! Streams are pinned, independent and even.

use std::collections::HashSet;

use random::{Purpose, Stream, standard_exponential};

use crate::statistics::{SIGMAS, check_chi_square, check_mean};

const SEED: u64 = 8_213;

// A changed number here means that archived seeds no longer repeat their runs.
#[test]
fn streams_are_pinned() {
    #[track_caller]
    fn check(seed: u64, client: u64, purpose: Purpose, expected: [u64; 3]) {
        let mut stream = Stream::new(seed, client, purpose);
        let found = [stream.next_u64(), stream.next_u64(), stream.next_u64()];
        assert_eq!(found, expected, "seed {seed}, client {client}, {purpose:?}");
    }
    let expected = [
        0x9103_8967_cdf4_b643,
        0xd5ac_6f61_a7e8_6a58,
        0xd6da_8e7f_2336_3216,
    ];
    check(0, 0, Purpose::Address, expected);
    let expected = [
        0xc9fe_5d13_9f4d_4ec1,
        0x9622_d335_55a9_8a21,
        0xd4df_4a21_bf36_a33e,
    ];
    check(SEED, 0, Purpose::Arrival, expected);
    let expected = [
        0x5971_a0f1_9c01_4428,
        0x9f56_8a46_d6e2_c6d0,
        0xc285_a1b9_88d7_0f35,
    ];
    check(u64::MAX, 7, Purpose::Payload, expected);
}

#[test]
fn purposes_are_pinned() {
    let purposes = [
        Purpose::Address,
        Purpose::Arrival,
        Purpose::Mix,
        Purpose::Think,
        Purpose::Size,
        Purpose::Payload,
        Purpose::Load,
        Purpose::Scatter,
        Purpose::Device,
        Purpose::Network,
        Purpose::Fault,
        Purpose::Order,
        Purpose::Resample,
    ];
    for (index, purpose) in purposes.into_iter().enumerate() {
        assert_eq!(purpose as u64, index as u64 + 1, "{purpose:?}");
    }
}

#[test]
fn distributions_are_pinned() {
    let mut stream = Stream::new(SEED, 1, Purpose::Address);
    let below: Vec<u64> = (0..4).map(|_| stream.below(1_000_000)).collect();
    assert_eq!(below, [448_476, 296_146, 936_555, 452_812]);
    let values: Vec<u64> = (0..4)
        .map(|_| (1e6 * standard_exponential(&mut stream)).to_bits())
        .collect();
    let expected = [
        4_695_308_416_011_764_804,
        4_686_880_802_314_945_571,
        4_701_847_930_179_764_360,
        4_697_969_868_434_474_346,
    ];
    assert_eq!(values, expected);
}

#[test]
fn equal_keys_give_equal_streams() {
    let mut one = Stream::new(SEED, 3, Purpose::Mix);
    let mut other = Stream::new(SEED, 3, Purpose::Mix);
    assert!((0..1_000).all(|_| one.next_u64() == other.next_u64()));
}

#[test]
fn different_keys_give_different_streams() {
    let mut firsts = HashSet::new();
    for seed in 0..40 {
        for client in 0..40 {
            for purpose in [Purpose::Address, Purpose::Arrival, Purpose::Mix] {
                let first = Stream::new(seed, client, purpose).next_u64();
                assert!(
                    firsts.insert(first),
                    "seed {seed}, client {client}, {purpose:?}"
                );
            }
        }
    }
}

/// The correlation of n independent pairs has a standard error of 1 / sqrt(n).
#[test]
fn streams_are_uncorrelated() {
    const DRAWS: usize = 20_000;
    let keys = [
        (SEED, 0, Purpose::Address),
        (SEED, 1, Purpose::Address),
        (SEED, 2, Purpose::Address),
        (SEED, 1 << 63, Purpose::Address),
        (SEED, 0, Purpose::Arrival),
        (SEED, 0, Purpose::Mix),
        (SEED + 1, 0, Purpose::Address),
        (SEED ^ (1 << 63), 0, Purpose::Address),
        (0, SEED, Purpose::Address),
    ];
    let samples = keys.map(|(seed, client, purpose)| {
        let mut stream = Stream::new(seed, client, purpose);
        (0..DRAWS)
            .map(|_| stream.unit() - 0.5)
            .collect::<Vec<f64>>()
    });
    let correlation = |a: &[f64], b: &[f64]| {
        let product: f64 = a.iter().zip(b).map(|(x, y)| x * y).sum();
        product / a.len() as f64 * 12.0
    };
    let limit = SIGMAS / (DRAWS as f64).sqrt();
    for (i, a) in samples.iter().enumerate() {
        let next = correlation(&a[1..], &a[..DRAWS - 1]);
        assert!(
            next.abs() < limit,
            "{:?} with itself one later: {next}",
            keys[i]
        );
        for (j, b) in samples.iter().enumerate().skip(i + 1) {
            let found = correlation(a, b);
            assert!(
                found.abs() < limit,
                "{:?} with {:?}: {found}",
                keys[i],
                keys[j]
            );
        }
    }
}

#[test]
fn bounded_draws_are_even() {
    for n in [1_u64, 2, 3, 7, 10, 64, 1_000] {
        let mut stream = Stream::new(SEED, n, Purpose::Address);
        let mut counts = vec![0; n as usize];
        for _ in 0..200_000 {
            counts[stream.below(n) as usize] += 1;
        }
        let even = vec![1.0 / n as f64; n as usize];
        check_chi_square(&counts, &even, &format!("below({n}), seed {SEED}"));
    }
}

/// Multiplication without rejection would draw every third number twice as often here.
#[test]
fn bounded_draws_are_even_for_huge_bounds() {
    let n = (1_u64 << 63) + (1 << 62);
    let mut stream = Stream::new(SEED, 0, Purpose::Address);
    let mut counts = [0; 3];
    for _ in 0..100_000 {
        let drawn = stream.below(n);
        assert!(drawn < n);
        counts[(drawn % 3) as usize] += 1;
    }
    check_chi_square(
        &counts,
        &[1.0 / 3.0; 3],
        &format!("below({n}), seed {SEED}"),
    );
}

#[test]
fn unit_draws_have_their_moments() {
    let mut stream = Stream::new(SEED, 0, Purpose::Size);
    let values: Vec<f64> = (0..200_000).map(|_| stream.unit()).collect();
    assert!(values.iter().all(|value| (0.0..1.0).contains(value)));
    check_mean(&values, 0.5, (1.0_f64 / 12.0).sqrt(), "unit");
    // E U^2 = 1/3 and Var U^2 = 1/5 - 1/9.
    let squares: Vec<f64> = values.iter().map(|value| value * value).collect();
    check_mean(&squares, 1.0 / 3.0, (4.0_f64 / 45.0).sqrt(), "unit squared");
    assert!((0..100_000).all(|_| (0.0..=1.0).contains(&stream.open_unit())));
}

#[test]
fn exponential_draws_have_their_moments() {
    let mut stream = Stream::new(SEED, 0, Purpose::Think);
    let values: Vec<f64> = (0..200_000)
        .map(|_| standard_exponential(&mut stream))
        .collect();
    check_mean(&values, 1.0, 1.0, "exponential");
    // E X^2 = 2 and Var X^2 = 24 - 4.
    let squares: Vec<f64> = values.iter().map(|value| value * value).collect();
    check_mean(&squares, 2.0, 20.0_f64.sqrt(), "exponential squared");
    let mut counts = [0; 10];
    for value in &values {
        counts[((1.0 - (-value).exp()) * 10.0).min(9.0) as usize] += 1;
    }
    check_chi_square(&counts, &[0.1; 10], &format!("exponential, seed {SEED}"));
}
