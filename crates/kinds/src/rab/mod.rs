//! `rab`: the workloads of the RAID Performance Test.

mod live;
mod modes;
mod run;
mod session;

pub use run::{Desk, RabRequest, measure_rab};
