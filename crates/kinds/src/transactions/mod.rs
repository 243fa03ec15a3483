//! `transactions`: users who think, compute and wait for I/O.

mod run;
mod search;
mod start;

pub use run::{
    Ramp, TransactionsRequest, UserLoad, UsersMeasured, UsersQuestion, measure_transactions,
};
pub use start::StartAt;
