//! The device, and what both procedures are asked for.

use procedure::MAIN_DIRECT;
use sim::SimSpec;
use workload::{ControlSpec, WorkloadDefinition};

/// Four servers, each with an exponential service time.
pub const DEVICE: &str = "sim:mmc?servers=4&mean=5ms";
/// Operations per second of four servers that are always busy.
pub const CAPACITY: f64 = 800.0;
/// Mean of a server's time, milliseconds.
pub const SERVICE_MS: f64 = 5.0;
/// Operations per second that each thread asks for.
pub const THREAD_RATE: f64 = 20.0;
/// The most threads.
pub const THREADS_MAX: u32 = 50;
/// Operations that a thread of the classic procedure sums up in one message.
pub const MESSAGE: u64 = 100;

/// The device with the first workload of the document: small reads and writes of many users.
#[derive(Clone, Debug)]
pub struct System {
    pub device: SimSpec,
    pub definition: WorkloadDefinition,
    pub spec: ControlSpec,
}

impl System {
    pub fn new() -> Self {
        let device = SimSpec::parse(DEVICE).expect("a valid device");
        let definition = WorkloadDefinition::built_in("transaction").expect("a built-in workload");
        let spec = definition.spec(MAIN_DIRECT, device.size.0, None);
        let spec = spec.expect("a device that is large enough");
        Self {
            device,
            definition,
            spec,
        }
    }
}
