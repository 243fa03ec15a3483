//! The target of a run that is resumed or only replayed.

use results::TargetDescription;

use super::{Bench, OpenedBench};
use crate::kept::{OpenedTarget, ReplayLaboratory};

/// The target of a run that is only replayed.
pub fn replayed(replay: ReplayLaboratory, found: OpenedTarget) -> OpenedBench {
    let OpenedTarget {
        description,
        cautions,
        facts,
        ..
    } = found.clone();
    OpenedBench {
        bench: Bench::Replayed(replay, Box::new(found)),
        description,
        cautions,
        facts,
    }
}

/// The properties found for a target.
pub fn found(opened: &OpenedBench) -> OpenedTarget {
    OpenedTarget {
        description: opened.description.clone(),
        cautions: opened.cautions.clone(),
        facts: opened.facts.clone(),
        warnings: opened.bench.warnings(&[]),
        test_files: opened.bench.test_files(),
        spread: opened.bench.spread(),
    }
}

/// What changed about a target since the run started.
pub(super) fn changed(before: &OpenedTarget, now: &OpenedBench) -> Option<&'static str> {
    let (before, then) = (&before.description, &before.facts);
    let (after, facts) = (&now.description, &now.facts);
    let names = |of: &TargetDescription| -> Vec<String> {
        of.devices
            .iter()
            .map(|device| device.name.clone())
            .collect()
    };
    let mounted = |of: &TargetDescription| {
        let of = of.file_system.as_ref()?;
        Some((of.kind.clone(), of.source.clone()))
    };
    if (&before.path, before.kind) != (&after.path, after.kind) {
        Some("it is another target")
    } else if mounted(before) != mounted(after) || names(before) != names(after) {
        Some("it is on another file system or device")
    } else if (then.existing, then.access) != (facts.existing, facts.access) {
        Some("its size or its access modes have changed")
    } else {
        None
    }
}
