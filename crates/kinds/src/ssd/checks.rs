//! What is refused before anything is written, and what must be known of a target.

use std::io::ErrorKind;

use crate::session::Result;
use drivers::PurgeMethod;
use lab::bench::{Bench, BenchError};
use lab::laboratory::LaboratoryError;
use lab::test_file::{SIZE_DEFAULT, whole_size};
use procedure::{CheckUpFacts, SsdPhasePlan};
use results::environment::TargetKind;
use results::{TargetDescription, Warning, WarningCode};
use units::Duration;

use super::run::{ROUNDS_SHARE, SsdRequest};
use host::device_state::CacheOff;
use host::inspect::SystemRoots;
use host::limits::check_budget;

/// Open files of a run.
const FILES_NEEDED: u64 = 16;
/// Sizes are multiples of this: every load but the largest blocks reaches every byte.
const UNIT: u64 = 4096;

/// Every test writes: a target that is there must be given for that.
pub(super) fn refuse_unwritable(request: &SsdRequest) -> Result<()> {
    let target = &request.bench.target;
    if target.is_null() {
        let text = format!("{target} has no blocks. Name a device, a file, a directory or a model");
        return Err(BenchError::Usage(text));
    }
    let is_named = target.path().is_some_and(|it| it.exists() && !it.is_dir());
    if is_named && !request.bench.overwrite {
        return Err(BenchError::Usage(format!(
            "{target}: every test of an SSD writes all of it, and everything in it is lost. Give \
             --overwrite, or name a directory, in which a test file is made"
        )));
    }
    Ok(())
}

/// A purge is named for what the target is.
pub(super) fn purge_of(request: &SsdRequest, bench: &Bench) -> Result<()> {
    let Some(asked) = request.purge else {
        return Ok(());
    };
    let target = &request.bench.target;
    let why = match bench {
        Bench::Simulated(_) => {
            "a model begins as its definition says. Name it with ?content=fresh, and leave --purge \
             out"
        }
        Bench::Real(real) => match (real.purge_method(), asked) {
            (Some(possible), asked) if possible == asked => return Ok(()),
            (Some(PurgeMethod::Punch), _) => {
                "only a device can be discarded. Use --purge punch for a file"
            }
            (Some(PurgeMethod::Discard), _) => {
                "only a file can be punched out. Use --purge discard for a device"
            }
            (None, _) => "the test file in a directory is a new one each time. Leave --purge out",
        },
        _ => return Ok(()),
    };
    Err(BenchError::Usage(format!(
        "--purge {} for {target}: {why}",
        asked.name()
    )))
}

/// Bytes in play.
pub(super) fn size_of(request: &SsdRequest, facts: &CheckUpFacts) -> Result<u64> {
    let size = match facts.existing {
        Some(existing) => existing.0 / UNIT * UNIT,
        None => {
            let asked = request.bench.size.unwrap_or(SIZE_DEFAULT);
            whole_size(asked.min(facts.room))?.0
        }
    };
    Ok(size)
}

/// Loads that the target cannot take.
pub(super) fn refuse_impossible(plans: &[SsdPhasePlan], size: u64, unit: u32) -> Result<()> {
    let depths = plans
        .iter()
        .flat_map(|plan| plan.loads.iter().map(|it| it.depth));
    let depth = depths.max().unwrap_or(1);
    let block = plans
        .iter()
        .map(SsdPhasePlan::block_max)
        .max()
        .unwrap_or(UNIT);
    let least = block * u64::from(depth);
    if size < least {
        let (size, least) = (units::Bytes(size), units::Bytes(least));
        return Err(BenchError::Usage(format!(
            "{size} are too small for {depth} outstanding operations of {}: allow at least {least} \
             (--size), or use a smaller --depth",
            units::Bytes(block)
        )));
    }
    let tracked = plans.iter().map(SsdPhasePlan::tracked);
    let misfit = tracked
        .map(|it| it.block_bytes)
        .find(|block| !block.is_multiple_of(u64::from(unit)));
    if let Some(block) = misfit {
        return Err(LaboratoryError::misaligned(block, unit).into());
    }
    Ok(check_budget(FILES_NEEDED, block * u64::from(depth)).map_err(LaboratoryError::from)?)
}

/// The drive that a target is, is a part of, or lies on alone.
pub(super) fn drive_of(request: &SsdRequest, target: &TargetDescription) -> Result<Option<String>> {
    let first = target.devices.first().filter(|it| it.members.is_empty());
    let drive = first.map(|it| it.partition_of.as_ref().unwrap_or(&it.name));
    if request.cache_off && (drive.is_none() || target.kind != TargetKind::BlockDevice) {
        return Err(BenchError::Usage(format!(
            "--write-cache off: {} is no drive. Name the drive itself, as in /dev/nvme0n1",
            request.bench.target
        )));
    }
    Ok(drive.cloned())
}

/// What the run says of the volatile cache.
pub(super) fn write_cache(request: &SsdRequest, target: &TargetDescription) -> Option<String> {
    let known = target.devices.first()?.write_cache.as_deref()?;
    Some(match (known, request.cache_off) {
        ("write back", true) => "volatile, switched off for the tests".to_owned(),
        ("write back", false) => "volatile, on (write back)".to_owned(),
        (other, _) => format!("none that is volatile ({other})"),
    })
}

/// Switch off the volatile cache of a drive, until what is returned is dropped.
pub(super) fn cache_off(roots: &SystemRoots, drive: &str) -> Result<Option<CacheOff>> {
    CacheOff::new(roots, drive).map_err(|error| {
        let own = match drive.starts_with("nvme") {
            true => format!(". Run `nvme set-feature /dev/{drive} -f 6 -V 0` before"),
            false => String::new(),
        };
        let why = match error.kind() {
            ErrorKind::Unsupported => "the kernel has no switch for its cache".to_owned(),
            _ => error.to_string(),
        };
        BenchError::Usage(format!("--write-cache off on {drive}: {why}{own}"))
    })
}

/// A budget too short for one burst and pause of each segment of a test.
pub(super) fn refuse_short(request: &SsdRequest, plans: &[SsdPhasePlan]) -> Result<()> {
    if !request.bench.setup.is_given("budget") {
        return Ok(());
    }
    let (budget, scale) = (request.options.budget, request.options.scale);
    for plan in plans {
        // What is one burst alone may be shorter.
        let several = plan.segments.iter().filter(|it| it.bursts > 1);
        let least = several.map(|it| it.time_of_one(scale));
        let least = least.fold(Duration::ZERO, |sum, time| sum + time);
        let part = match plan.has_rounds {
            true => 1.0 - ROUNDS_SHARE,
            false => 1.0,
        };
        let needed = least.as_secs_f64() / part * plans.len() as f64;
        if needed > budget.as_secs_f64() {
            return Err(BenchError::Usage(format!(
                "--budget {budget}: one burst of each segment of {} takes {least}. Use --budget \
                 {:.0}s, or a shorter --round",
                plan.name,
                needed.ceil()
            )));
        }
    }
    Ok(())
}

/// What lies beneath a file system.
fn medium(target: &TargetDescription) -> &'static str {
    let mut devices = target.devices.iter();
    match devices.any(|it| it.rotational == Some(true)) {
        true => "a device that reports rotational media, not an SSD",
        false => "an SSD",
    }
}

/// What the target and the settings do to the meaning of the figures.
pub(super) fn cautions(
    request: &SsdRequest,
    target: &TargetDescription,
    facts: &CheckUpFacts,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let kind = target.kind;
    let has_device = !target.memory_backed;
    if matches!(kind, TargetKind::Directory | TargetKind::File) && has_device {
        warnings.push(Warning::warn(
            WarningCode::SsdThroughFileSystem,
            format!(
                "What is measured is a file system over {}. It places the blocks, and the rest of \
                 the device is spare for its cleaning. For the device itself name it, with \
                 --overwrite.",
                medium(target)
            ),
        ));
    }
    let is_part = facts.existing.is_some() && request.bench.size.is_some();
    if is_part && kind == TargetKind::BlockDevice {
        warnings.push(Warning::warn(
            WarningCode::SsdPartOfDevice,
            "Only a part of the device is written. Space that was never written, or was discarded, \
             is spare for garbage collection. A full device is slower.",
        ));
    }
    if request.options.time.is_quick() {
        warnings.push(Warning::info(
            WarningCode::SsdQuick,
            "Quick: rounds end on precision, and not after the time of the standard. Its rule is \
             applied to shorter rounds than it is meant for.",
        ));
    }
    if request.purge.is_none() && kind == TargetKind::BlockDevice {
        warnings.push(Warning::info(
            WarningCode::SsdNotPurged,
            "Nothing was purged: earlier writes affect the first rounds.",
        ));
    }
    warnings
}
