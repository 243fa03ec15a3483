//! Independent streams of random numbers.

use rand_core::Rng;
use rand_pcg::Pcg64;

/// Purpose of a stream.
///
/// Each purpose has its own stream, so that a changed think time does not change the addresses. The
/// numbers are part of every archived seed: never change or reuse one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum Purpose {
    /// Block of an operation.
    Address = 1,
    /// Due time of the next operation of an open workload.
    Arrival = 2,
    /// Kind of the next operation.
    Mix = 3,
    /// Think time of a client.
    Think = 4,
    /// Size of an operation.
    Size = 5,
    /// Content of writes.
    Payload = 6,
    /// Level of load measured next.
    Load = 7,
    /// Scattering of popularity ranks over the address space.
    Scatter = 8,
    /// Behaviour of a simulated device.
    Device = 9,
    /// Behaviour of a simulated network.
    Network = 10,
    /// Injected faults.
    Fault = 11,
    /// Order in which compared runs are interleaved.
    Order = 12,
    /// Resampling in statistics.
    Resample = 13,
    /// Work of a transaction.
    Demand = 14,
    /// Priority of an operation.
    Priority = 15,
}

/// A stream of random numbers that depends only on (seed, client, purpose).
#[derive(Clone, Debug)]
pub struct Stream {
    generator: Pcg64,
}

impl Stream {
    /// The stream of one client for one purpose.
    ///
    /// The three numbers are hashed into both the state and the increment of the generator: PCG
    /// streams that differ in the increment alone, or in a few bits of the state, are correlated.
    pub fn new(seed: u64, client: u64, purpose: Purpose) -> Self {
        let lane = |lane| hash(lane, seed, client, purpose as u64);
        let state = u128::from(lane(1)) << 64 | u128::from(lane(2));
        let increment = u128::from(lane(3)) << 64 | u128::from(lane(4));
        Self {
            generator: Pcg64::new(state, increment),
        }
    }

    /// Any 64-bit number, all equally likely.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// A number in `0..n`, all exactly equally likely.
    ///
    /// D. Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1), 2019.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "a number below zero was asked for");
        let mut product = u128::from(self.next_u64()) * u128::from(n);
        if (product as u64) < n {
            // 2^64 mod n: the products whose low half lies below it would be drawn once too often.
            let surplus = n.wrapping_neg() % n;
            while (product as u64) < surplus {
                product = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// Puts items into an order, all orders equally likely.
    ///
    /// R. Durstenfeld, "Algorithm 235: Random Permutation", CACM 7(7), 1964.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }

    /// A number in [0, 1), a multiple of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * UNIT_STEP
    }

    /// A number in (0, 1], a multiple of 2^-53; safe under a logarithm.
    #[inline]
    pub fn open_unit(&mut self) -> f64 {
        open_unit_of(self.next_u64())
    }
}

const UNIT_STEP: f64 = 1.0 / (1_u64 << 53) as f64;

/// A number in (0, 1] from the upper 53 bits; the lower 11 stay free for other uses.
#[inline]
pub(crate) fn open_unit_of(bits: u64) -> f64 {
    ((bits >> 11) + 1) as f64 * UNIT_STEP
}

/// A 64-bit hash; for fixed other arguments it is a bijection of each one, so that two clients
/// of a run never share it.
fn hash(lane: u64, seed: u64, client: u64, purpose: u64) -> u64 {
    [seed, client, purpose]
        .into_iter()
        .fold(mix(lane), |hash, part| mix(hash ^ mix(part)))
}

/// One step of splitmix64 (G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number
/// Generators", OOPSLA 2014): a bijection in which every bit depends on every other.
pub(crate) fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
