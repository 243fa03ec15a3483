//! `rab`: the workloads of the RAID Performance Test.

mod live;
mod modes;
mod run;
mod workloads;

pub use run::{RabRequest, RabScreen, measure_rab};
