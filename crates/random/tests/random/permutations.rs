//! Permutations are bijections that scatter.

use std::collections::HashSet;

use random::{Permutation, Purpose, Stream};

use crate::statistics::check_chi_square;

const SEED: u64 = 77;

fn permutation(n: u64) -> Permutation {
    Permutation::new(n, &mut Stream::new(SEED, 0, Purpose::Scatter)).unwrap()
}

#[test]
fn every_number_is_hit_once() {
    for n in 1..2_000 {
        let order = permutation(n);
        let mut is_hit = vec![false; n as usize];
        for index in 0..n {
            let image = order.apply(index);
            assert!(
                !is_hit[image as usize],
                "n {n}: {image} is hit twice, seed {SEED}"
            );
            is_hit[image as usize] = true;
            assert_eq!(order.invert(image), index, "n {n}, seed {SEED}");
        }
    }
}

#[test]
fn large_permutations_can_be_inverted() {
    for n in [
        1_000_003,
        (1 << 32) - 1,
        1 << 32,
        (1 << 40) + 1,
        1 << 63,
        u64::MAX,
    ] {
        let order = permutation(n);
        let mut stream = Stream::new(SEED, 1, Purpose::Scatter);
        let mut indices = HashSet::new();
        let mut images = HashSet::new();
        for _ in 0..10_000 {
            let index = stream.below(n);
            let image = order.apply(index);
            assert!(image < n);
            assert_eq!(order.invert(image), index, "n {n}, seed {SEED}");
            indices.insert(index);
            images.insert(image);
        }
        assert_eq!(indices.len(), images.len(), "n {n}, seed {SEED}");
    }
}

/// The most popular ranks must not end up side by side, or always at the same place.
#[test]
fn the_first_ranks_are_scattered() {
    const CELLS: u64 = 50;
    let n = 1_000_000;
    let mut first = vec![0; CELLS as usize];
    let mut distance = vec![0; CELLS as usize];
    for seed in 0..20_000 {
        let order = Permutation::new(n, &mut Stream::new(seed, 0, Purpose::Scatter)).unwrap();
        let (zero, one) = (order.apply(0), order.apply(1));
        first[(zero * CELLS / n) as usize] += 1;
        distance[((one + n - zero) % n * CELLS / n) as usize] += 1;
    }
    let even = vec![1.0 / CELLS as f64; CELLS as usize];
    check_chi_square(&first, &even, "place of rank 0, seeds 0 to 19999");
    check_chi_square(
        &distance,
        &even,
        "distance of ranks 0 and 1, seeds 0 to 19999",
    );
}

#[test]
fn permutations_are_pinned() {
    let order = permutation(1_000_000);
    let images: Vec<u64> = (0..4).map(|index| order.apply(index)).collect();
    assert_eq!(images, [528_026, 51_102, 740_603, 850_164]);
}
