//! What every measuring command does before it measures: options resolved, archive opened,
//! leftovers of killed runs named, signals caught.

use std::path::PathBuf;

use anyhow::Context as _;
use archive::Archive;
use drivers::{Caching, DriverKind};
use runner::arguments::typed_arguments;
use runner::bench::{BenchRequest, default_settings, directory_of};
use runner::interrupt::Interrupt;
use runner::single_load::NULL_TARGET;
use units::Bytes;

use crate::args::{Common, DriverChoice, Processors, Reach};
use crate::commands::clean::offer_removal;
use crate::exit::UsageError;

/// Files that a run may have open at once, with some to spare.
const FILES_NEEDED: u64 = 16;
/// Memory that every command takes, in bytes, with some to spare: what a limit on data refuses
/// later ends the program without a word.
const MEMORY_NEEDED: u64 = 8 << 20;

/// What is ready before the first request.
pub struct Setup {
    /// The target and what may be done to it.
    pub bench: BenchRequest,
    /// The archive, unless the run is not to be kept.
    pub archive: Option<Archive>,
    /// Raised by a signal.
    pub interrupt: Interrupt,
}

/// Prepare for measuring `target`.
///
/// # Errors
/// When the archive cannot be used, or the machine does not allow what is needed.
pub fn setup(
    target: &str,
    purpose: &str,
    size: Option<Bytes>,
    caching: Caching,
    reach: &Reach,
    common: &Common,
) -> anyhow::Result<Setup> {
    if target == NULL_TARGET && reach.overwrite {
        return Err(UsageError("null: holds nothing that --overwrite could mean".into()).into());
    }
    runner::limits::check_budget(FILES_NEEDED, MEMORY_NEEDED)?;
    let archive = open_archive(common)?;
    if let Some(directory) = directory_of(target) {
        offer_removal(&directory, common.yes)?;
    }
    // Not before: until here nothing was made, and Ctrl-C at a question must end the program.
    let interrupt = Interrupt::install().context("signals cannot be caught")?;
    let mut storage = default_settings(common.seed.unwrap_or_else(fresh_seed));
    storage.driver = match reach.driver {
        DriverChoice::Auto => DriverKind::Auto,
        DriverChoice::Uring => DriverKind::Uring,
        DriverChoice::Threads => DriverKind::Threads,
    };
    storage.batch = reach.batch.map(usize::from);
    storage.processors = bound_to(reach)?;
    storage.caching = caching;
    if let Some(workers) = reach.workers {
        storage.workers = usize::from(workers);
    }
    let bench = BenchRequest {
        target: target.into(),
        purpose: purpose.into(),
        size,
        reserve: reach.reserve,
        overwrite: reach.overwrite,
        confirmed: reach.confirm.clone(),
        storage,
        arguments: typed_arguments(1),
    };
    Ok(Setup {
        bench,
        archive,
        interrupt,
    })
}

/// The processors that workers are bound to: none, unless asked for.
fn bound_to(reach: &Reach) -> Result<Vec<usize>, UsageError> {
    let Some(Processors(asked)) = &reach.cpus else {
        return Ok(Vec::new());
    };
    let there = runner::workers::processors();
    match asked.iter().find(|number| !there.contains(number)) {
        Some(number) => {
            let there: Vec<String> = there.iter().map(ToString::to_string).collect();
            let there = there.join(", ");
            Err(UsageError(format!(
                "--cpus: this process may not use processor {number}; it may use {there}"
            )))
        }
        None => Ok(asked.clone()),
    }
}

/// The same for a command that opens its targets itself: `before` offers what it may remove.
///
/// # Errors
/// When the archive cannot be used, or the machine does not allow what is needed.
pub fn prepare(
    common: &Common,
    before: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<(Option<Archive>, Interrupt)> {
    runner::limits::check_budget(FILES_NEEDED, MEMORY_NEEDED)?;
    let archive = open_archive(common)?;
    before()?;
    let interrupt = Interrupt::install().context("signals cannot be caught")?;
    Ok((archive, interrupt))
}

/// Where the archive is: as asked for, or in the user's data directory.
///
/// # Errors
/// When neither is known.
pub fn archive_path(asked: Option<&PathBuf>) -> anyhow::Result<PathBuf> {
    match asked {
        Some(path) => Ok(path.clone()),
        None => archive::default_path().context(
            "there is no home directory to keep the archive of runs in: name a file with \
             --archive, or use --no-save",
        ),
    }
}

/// The archive that runs are kept in, unless they are not to be kept.
///
/// # Errors
/// When it cannot be opened, or the options contradict each other.
pub fn open_archive(common: &Common) -> anyhow::Result<Option<Archive>> {
    if common.no_save {
        return match &common.archive {
            Some(_) => Err(UsageError("--archive and --no-save exclude each other".into()).into()),
            None => Ok(None),
        };
    }
    // Opened before measuring: nobody should learn after a minute that nothing can be kept.
    let path = archive_path(common.archive.as_ref())?;
    let archive = Archive::open(&path)
        .context("runs cannot be archived (use --archive FILE, or --no-save)")?;
    Ok(Some(archive))
}

/// A short seed that can be read out and typed in again.
pub fn fresh_seed() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    (now.tv_nsec as u64 / 1000 + now.tv_sec as u64) % 100_000
}
