//! `transfer`: files read and written from their first byte to their last.
//!
//! The command and the measurement of studies run the same passes on models. On real storage a
//! study has a plain loop, which is what the programs do whose rates are wanted.

mod hosts;
mod pass;
mod run;
mod streams;
mod study;

pub use drivers::Checking;
pub use run::{Sharing, TransferRequest, measure_transfer};
pub(crate) use study::KIND;
