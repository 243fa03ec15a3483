//! The null target.

use procedure::CheckUpFacts;
use results::{Access, TargetDescription};
use units::{Bytes, TargetName};

use super::{Bench, OpenedBench};
use crate::laboratory::NullLaboratory;

/// The null target: trials on it show the engine's own cost.
pub fn open_null(size: Bytes, seed: u64) -> OpenedBench {
    let name = TargetName::Null.to_string();
    let facts = CheckUpFacts {
        makes_files: false,
        may_overwrite: true,
        existing: Some(size),
        room: size,
        memory: Bytes(0),
        access: Access::Null,
        has_page_cache: false,
    };
    OpenedBench {
        bench: Bench::Null(NullLaboratory::new(seed)),
        description: TargetDescription {
            memory_backed: true,
            ..TargetDescription::simulated(&name, &name, (size > Bytes(0)).then_some(size.0))
        },
        cautions: Vec::new(),
        facts,
    }
}
