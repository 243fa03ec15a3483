//! The campaign of faults: the program is killed, fed damaged archives, held short, signalled,
//! given storage that breaks, and robbed of its files in mid-work, many times over.
//!
//! Each case has a light form for every day and a full one for `make faults`. All of it is seeded,
//! and a failure names its seed; what the kernel makes of a race is not repeated by a seed.

// The table is for whoever runs the campaign.
#![allow(clippy::print_stderr)]

mod archives;
mod bounded;
mod cases;
mod clocks;
mod full;
mod kills;
mod limits;
mod memory;
mod misbehaving;
mod place;
mod power;
mod precious;
mod resume;
mod signals;
mod storage;
mod swapper;
mod swaps;
mod syscalls;
mod table;

#[path = "../support/mod.rs"]
mod support;

/// Asks for the full campaign when it is `full`.
const SCALE: &str = "SEEKSTONE_FAULTS";
/// Another seed than the usual one.
const SEED: &str = "SEEKSTONE_FAULTS_SEED";

/// How much of a case is tried: a little every day, all of it in `make faults`.
pub fn scaled<T>(light: T, full: T) -> T {
    if is_full() { full } else { light }
}

pub fn is_full() -> bool {
    std::env::var_os(SCALE).is_some_and(|scale| scale == "full")
}

/// The seed of the campaign. It is named with every failure.
pub fn seed() -> u64 {
    let given = std::env::var(SEED).ok();
    given.map_or(1, |seed| seed.parse().expect("a number"))
}

/// Random numbers for one case, which do not depend on what other cases draw.
pub fn random(case: &str, number: u64) -> fastrand::Rng {
    let mixed = case.bytes().fold(seed(), |mixed, byte| {
        (mixed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    fastrand::Rng::with_seed(mixed.wrapping_add(number))
}
