//! Signed steps of random walks over blocks, as the RAID Performance Tool's manual defines them.
//!
//! A walk goes "in both directions ..., wrapping at the beginning and end". The manual has
//! continuous step sizes; they are rounded to whole blocks so that no step is zero, because a walk
//! that stands still measures a cache.

use crate::arithmetic::{exp, ln, ln_one_plus_over};
use crate::law::{LawError, checked, positive};
use crate::stream::{Stream, open_unit_of};

/// Longer steps are drawn evenly: a double no longer has their last digits, on which the position
/// after wrapping depends.
const EXACT_STEP_MAX: f64 = (1_u64 << 53) as f64;

/// Maximum step in blocks, so that the sum of a position and a step stays within 64 bits.
const STEP_LIMIT: u64 = 1 << 62;

/// The "hyperbolic" steps: sizes s = U^(-1/alpha), a Pareto law with smallest step 1.
///
/// The manual gives the quantile s0 (1-p)^(-1/alpha) with s0 = 1, hence P(s > x) = x^-alpha. Sizes
/// are rounded down to whole blocks: P(size >= k) = k^-alpha for k = 1, 2, ... Small alphas
/// jump far (0.5 for the standard workloads), large ones stay near (2 to 2.5).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParetoStep {
    alpha: f64,
}

impl ParetoStep {
    /// Steps with this tail exponent.
    ///
    /// # Errors
    /// When it is not finite and above zero.
    pub fn new(alpha: f64) -> Result<Self, LawError> {
        let alpha = positive("alpha", alpha)?;
        Ok(Self { alpha })
    }

    /// A step in blocks, never zero, forward or backward with equal chance.
    pub fn sample(&self, stream: &mut Stream) -> i64 {
        let bits = stream.next_u64();
        let size = exp(-ln(open_unit_of(bits)) / self.alpha);
        signed(bits, whole_blocks(size.floor(), stream))
    }
}

/// The "exponential" steps: sizes with a given mean, a geometric law on 1, 2, 3, ...
///
/// This is the exponential law on whole blocks: P(size > k) = (1 - 1/mean)^k, with exactly the
/// mean asked for. The manual advises a third of the blocks as the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExponentialStep {
    mean: f64,
    /// Scale in blocks of the continuous law that is rounded up; zero when every step is 1.
    scale: f64,
}

impl ExponentialStep {
    /// Steps with this mean size in blocks.
    ///
    /// # Errors
    /// When it is not finite and at least 1.
    pub fn new(mean: f64) -> Result<Self, LawError> {
        let bounds = "at least one block and finite";
        let mean = checked("mean step", mean, bounds, |mean| mean >= 1.0)?;
        // -1 / ln(1 - 1/mean), written so that a large mean loses no digits.
        let scale = if mean == 1.0 {
            0.0
        } else {
            mean / ln_one_plus_over(-1.0 / mean)
        };
        Ok(Self { mean, scale })
    }

    /// A step in blocks, never zero, forward or backward with equal chance.
    pub fn sample(&self, stream: &mut Stream) -> i64 {
        let bits = stream.next_u64();
        let size = -ln(open_unit_of(bits)) * self.scale;
        signed(bits, whole_blocks(size.ceil().max(1.0), stream))
    }
}

/// The block reached by a step from `position` in a space of `blocks` that wraps at both ends.
pub fn wrap_step(position: u64, step: i64, blocks: u64) -> u64 {
    assert!(
        position < blocks,
        "block {position} lies outside a space of {blocks} blocks"
    );
    let target = i128::from(position) + i128::from(step);
    target.rem_euclid(i128::from(blocks)) as u64
}

fn whole_blocks(size: f64, stream: &mut Stream) -> u64 {
    if size < EXACT_STEP_MAX {
        return size as u64;
    }
    let exact_max = EXACT_STEP_MAX as u64;
    exact_max + stream.below(STEP_LIMIT - exact_max)
}

// The lowest bit is free: the size is made from the upper 53.
fn signed(bits: u64, size: u64) -> i64 {
    let size = size.cast_signed();
    if bits & 1 == 0 { size } else { -size }
}
