//! Laboratories: open a target, real or simulated, distribute clients to workers, and run a trial.

pub mod bench;
pub mod budget;
pub mod cells;
pub mod client_machine;
pub mod coordinator;
pub mod data_marker;
pub mod deal;
pub mod hosts;
pub mod kept;
pub mod laboratory;
pub mod left_over;
mod models;
pub mod readers;
pub mod run_journal;
pub mod simulated;
pub mod state_file;
pub mod storage;
pub mod test_file;
mod verification;
pub mod workers;
