//! Storage in virtual time: queue models with known answers, behind the same seam as real storage.

mod drive;
mod driver;
mod processor;
mod spec;
mod station;

pub use drive::DriveLaw;
pub use driver::{Fault, FaultKind, SimDriver};
pub use processor::Processors;
pub use spec::{MODELS, Model, SIM_PREFIX, SimError, SimSpec};
pub use station::{ServiceLaw, Station};
