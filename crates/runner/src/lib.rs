//! Real and simulated laboratories: workers, pinning, capture of the environment, interruption.

pub mod arguments;
pub mod bench;
pub mod check_up;
pub mod classic;
pub mod counters;
pub mod data_marker;
pub mod environment;
pub mod files;
pub mod inspect;
pub mod interrupt;
pub mod laboratory;
pub mod left_over;
pub mod limits;
pub mod measure;
pub mod positioning;
pub mod process;
pub mod rab;
pub mod random_access;
#[doc(hidden)]
pub mod readers;
pub mod simulated;
pub mod single_load;
pub mod starting_line;
pub mod storage;
pub mod study;
pub mod test_file;
pub mod timing;
mod together;
pub mod transactions;
pub mod transfer;
pub mod validation;
pub mod workers;
