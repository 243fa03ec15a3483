//! A pseudo-random order of 0..n without a table.

use crate::law::{LawError, checked};
use crate::stream::{Stream, mix};

const ROUNDS: usize = 6;

/// A bijection of `0..n`, used to scatter popularity ranks over an address space.
///
/// A Feistel network permutes the numbers of the next even count of bits; results outside `0..n`
/// are permuted again until they fall inside ("cycle walking": J. Black and P. Rogaway, "Ciphers
/// with Arbitrary Finite Domains", CT-RSA 2002). The wider domain has at most 4 n numbers, so that
/// the walk takes four rounds on average at worst. It scatters, but does not encrypt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permutation {
    n: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// A permutation of `0..n` with keys from the stream.
    ///
    /// # Errors
    /// If n is zero.
    pub fn new(n: u64, stream: &mut Stream) -> Result<Self, LawError> {
        checked("number of places", n as f64, "1 or more", |n| n > 0.0)?;
        let bits = u64::BITS - (n - 1).leading_zeros();
        let keys = std::array::from_fn(|_| stream.next_u64());
        Ok(Self {
            n,
            half_bits: bits.div_ceil(2),
            keys,
        })
    }

    /// Image of `index`.
    pub fn apply(&self, index: u64) -> u64 {
        self.assert_inside(index);
        let mut word = index;
        loop {
            word = self.forward(word);
            if word < self.n {
                return word;
            }
        }
    }

    /// The index whose image is `image`.
    pub fn invert(&self, image: u64) -> u64 {
        self.assert_inside(image);
        let mut word = image;
        loop {
            word = self.backward(word);
            if word < self.n {
                return word;
            }
        }
    }

    fn assert_inside(&self, index: u64) {
        assert!(
            index < self.n,
            "{index} lies outside a permutation of {} numbers",
            self.n
        );
    }

    fn forward(&self, word: u64) -> u64 {
        let (mut left, mut right) = self.halves(word);
        for key in self.keys {
            (left, right) = (right, left ^ self.round(right, key));
        }
        left << self.half_bits | right
    }

    fn backward(&self, word: u64) -> u64 {
        let (mut left, mut right) = self.halves(word);
        for key in self.keys.into_iter().rev() {
            (left, right) = (right ^ self.round(left, key), left);
        }
        left << self.half_bits | right
    }

    fn halves(&self, word: u64) -> (u64, u64) {
        (word >> self.half_bits, word & self.half_mask())
    }

    fn round(&self, half: u64, key: u64) -> u64 {
        mix(half ^ key) & self.half_mask()
    }

    fn half_mask(&self) -> u64 {
        (1 << self.half_bits) - 1
    }
}
