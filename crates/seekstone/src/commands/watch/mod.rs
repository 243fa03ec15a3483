//! `seekstone watch`: what a storage does over days, from gentle probes of it.

mod hook;
#[cfg_attr(not(feature = "web"), path = "../../without/metrics_page.rs")]
mod metrics_page;
mod past;
pub mod place;
pub mod probing;
mod real;
mod session;
mod simulated;

use anyhow::Context as _;
use archive::Archive;
use host::environment::{local_iso, utc_iso};
use host::interrupt::Interrupt;
use units::TargetName;

use self::hook::Hook;
use self::session::WatchOutputs;
use crate::args::WatchArgs;
use crate::commands::setup::{archive_path, check_archive};
use crate::exit::Exit;

/// Minutes of virtual time that are kept at once: a day takes seconds, and a commit some too.
const SIMULATED_TOGETHER: usize = 720;

/// Watch targets, or show what was kept of them.
///
/// # Errors
/// When a target cannot be opened, or options do not go together.
pub fn watch(args: &WatchArgs) -> anyhow::Result<Exit> {
    let models = args.targets.iter().filter(|it| it.is_model()).count();
    if args.targets.iter().any(TargetName::is_null) {
        refuse!("null: answers at once. There is nothing to watch");
    }
    if args.past.is_some() {
        return past::show(args);
    }
    if models > 0 && models < args.targets.len() {
        refuse!("models have a clock of their own: watch them without storage");
    }
    let is_simulated = models > 0;
    let outputs = outputs(args, is_simulated)?;
    let interrupt = Interrupt::install().context("cannot set up signal handling")?;
    match is_simulated {
        true => simulated::watch(args, outputs, &interrupt),
        false => real::watch(args, outputs, &interrupt),
    }
}

fn outputs(args: &WatchArgs, is_simulated: bool) -> anyhow::Result<WatchOutputs> {
    check_archive(args.archive.as_ref())?;
    let archive = match args.no_save {
        true => None,
        false => Some(Archive::open(&archive_path(args.archive.as_ref())?)?),
    };
    Ok(WatchOutputs {
        is_json: args.json,
        archive,
        keep: args.keep.0,
        keep_together: if is_simulated { SIMULATED_TOGETHER } else { 1 },
        hook: args.exec.clone().map(Hook::new),
        level: args.level.clone(),
        clock: if is_simulated { utc_iso } else { local_iso },
    })
}
