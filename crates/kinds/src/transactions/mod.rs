//! `transactions`: users who think, compute and wait for I/O.

mod plan;
mod run;
mod search;
mod standard_tests;
mod start;

pub use run::{
    Ramp, TransactionsRequest, UserLoad, UsersMeasured, UsersQuestion, measure_transactions,
};
pub use standard_tests::{STANDARD_FILE, STANDARD_SECTIONS, StandardLoad, StandardTest};
pub use start::StartAt;
