//! Parameters of a control thread to begin with.

use units::Duration;
use workload::{Gap, GapShape, Partition, Pattern, ThreadParameters};

/// Parameters that violate no constraint.
pub fn parameters() -> ThreadParameters {
    ThreadParameters {
        name: "batch".to_owned(),
        count: 1,
        data_file: None,
        partition: Partition::Contiguous,
        block_bytes: 4096,
        io_bytes: 0,
        io_offset: 0,
        threads_max: 50,
        control_thread: None,
        reads: 2,
        writes: 1,
        pattern: Pattern::Hyperbolic { alpha: 0.5 },
        clock: Some(Gap::new(GapShape::Exponential, Duration::from_millis(50))),
        ios_per_message: 100,
    }
}

/// The same with something changed.
pub fn with(change: impl FnOnce(&mut ThreadParameters)) -> ThreadParameters {
    let mut changed = parameters();
    change(&mut changed);
    changed
}
