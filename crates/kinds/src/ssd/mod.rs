//! `ssd`: the steady state of an SSD.

mod checks;
mod run;

pub use run::{SsdRequest, measure_ssd};
