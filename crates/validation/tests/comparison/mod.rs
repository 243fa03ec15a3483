//! Both procedures on a device that is known, and what is told of them.

pub mod classic;
pub mod modern;
pub mod parallel;
pub mod system;
pub mod table;
pub mod truth;

use stats::Estimate;

pub use parallel::in_parallel;

/// What one procedure found, and what it cost.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub operations: u64,
    /// Virtual seconds.
    pub seconds: f64,
    /// Points that were measured.
    pub points: usize,
    /// The most threads at once.
    pub threads: u32,
    /// Service time of one thread.
    pub no_load_ms: f64,
    pub no_load_interval: Option<Estimate>,
    pub levels: Vec<FoundLevel>,
    pub rabmark: f64,
    pub rabmark_interval: Option<Estimate>,
    /// Cited points that did not become as precise as was wanted.
    pub unconverged: usize,
    /// Where the effort went, as far as is known.
    pub parts: Vec<Part>,
}

impl Outcome {
    /// The same without the points that were measured for levels of response time only.
    pub fn of_service(&self) -> Self {
        let is_of_service = |part: &&Part| !part.name.starts_with(modern::OF_RESPONSE);
        let parts: Vec<Part> = self.parts.iter().filter(is_of_service).copied().collect();
        Self {
            operations: parts.iter().map(|part| part.operations).sum(),
            seconds: parts.iter().map(|part| part.seconds).sum(),
            points: parts.len(),
            unconverged: modern::unconverged(&parts),
            parts,
            ..self.clone()
        }
    }
}

/// A level above that without load.
#[derive(Clone, Copy, Debug)]
pub struct FoundLevel {
    pub ms: f64,
    /// The load at it; `None` where it was not settled.
    pub load: Option<f64>,
    pub interval: Option<Estimate>,
    /// The loads between which it lies, where it was not settled.
    pub range: Option<Estimate>,
    pub is_precise: bool,
}

/// One point of the modern procedure.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub name: &'static str,
    pub clients: u32,
    pub service_ms: f64,
    pub operations: u64,
    pub seconds: f64,
    pub is_converged: bool,
}
