//! Real and simulated laboratories: workers, pinning, capture of the environment, interruption.

pub mod bench;
pub mod check_up;
pub mod counters;
pub mod environment;
pub mod inspect;
pub mod interrupt;
pub mod laboratory;
pub mod limits;
pub mod single_load;
pub mod storage;
pub mod workers;
