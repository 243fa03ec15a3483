//! `replay`: a recorded trace asked of another target.

mod client;
mod dealing;
mod doubts;
mod file;
mod fitting;
mod hosts;
mod run;
mod scan;
mod source;

pub use file::TraceFile;
pub use fitting::BeyondEnd;
pub use run::{ReplayRequest, measure_replay};
