//! Options of measuring commands as they are resolved, and where the archive is.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use archive::{Archive, ArchiveError};
use drivers::{ReadFileError, read_regular_file};
use host::process::quoted;
use lab::bench::BenchRequest;
use lab::simulated::keep_texts;
use procedure::Levels;
use results::{SettingOrigin, Setup};
use units::{Bytes, Duration, TargetName};

use crate::args::{Common, CpuList, EngineArgs, Reach};
use crate::exit::UsageError;
use crate::output;

impl Reach {
    /// That target, for that purpose, and what may be done to it. All of it is used, past the page
    /// cache.
    ///
    /// # Errors
    /// When options do not go together.
    pub fn bench(
        &self,
        target: &TargetName,
        purpose: &str,
        common: &Common,
        mut setup: Setup,
    ) -> Result<BenchRequest, UsageError> {
        if target.is_null() && self.overwrite {
            refuse!("--overwrite: {target} holds no data");
        }
        keep_texts(target, &mut setup);
        seeded(common.seed, &mut setup);
        let mut bench = BenchRequest {
            reserve: self.reserve,
            overwrite: self.overwrite,
            confirmed: self.confirm.clone(),
            ranks: common.ranks.clone(),
            ..BenchRequest::new(target.clone(), purpose, setup)
        };
        let (engine, storage) = (&self.engine, &mut bench.storage);
        storage.driver = engine.driver;
        storage.pages = engine.buffer_pages;
        storage.on_error = engine.errors;
        storage.batch = engine.batch.map(usize::from);
        storage.hang_limit = engine.hang_limit;
        storage.processors = bound_to(engine)?;
        if let Some(workers) = engine.workers {
            storage.workers = usize::from(workers);
        }
        Ok(bench)
    }
}

/// The processors that workers are bound to: none, unless asked for.
fn bound_to(engine: &EngineArgs) -> Result<Vec<usize>, UsageError> {
    let Some(CpuList(asked)) = &engine.cpus else {
        return Ok(Vec::new());
    };
    let there = host::processors::processors();
    match asked.iter().find(|number| !there.contains(number)) {
        Some(number) => {
            let there: Vec<String> = there.iter().map(ToString::to_string).collect();
            let there = there.join(", ");
            Err(UsageError(format!(
                "--cpus: this process may not use CPU {number}, only {there}"
            )))
        }
        None => Ok(asked.clone()),
    }
}

/// The text of a file of the user's, of which the run keeps a copy: as it was recorded, where a run
/// is repeated. `what` says what such a file is, as in "a workload file".
///
/// # Errors
/// When it cannot be read, has more than `most` bytes, or is no text.
pub fn recorded_text(
    path: &Path,
    (most, what): (Bytes, &str),
    setup: &mut Setup,
) -> anyhow::Result<String> {
    let name = path.to_string_lossy();
    if let Some(recorded) = setup.text_of(&name) {
        return Ok(recorded.to_owned());
    }
    let refuse = |why: String| UsageError(format!("{name} is {why}"));
    // fuzzed: workload, workload_file, profiles
    let bytes = match read_regular_file(path, most.0) {
        Err(ReadFileError::NotRegular) => return Err(refuse(format!("not {what}")).into()),
        Err(ReadFileError::TooLarge { .. }) => {
            return Err(refuse(format!("larger than {most}: not {what}")).into());
        }
        read => read.with_context(|| format!("cannot read {name}"))?,
    };
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| refuse(format!("not text: not {what}")))?;
    setup.keep_text(&name, &text);
    Ok(text)
}

/// Where the archive is: as asked for, or in the user's data directory.
///
/// # Errors
/// When neither is known.
pub fn archive_path(asked: Option<&PathBuf>) -> anyhow::Result<PathBuf> {
    match asked {
        Some(path) => Ok(path.clone()),
        None => archive::default_path().context(
            "there is no home directory for the archive. Name a file with --archive, \
             or use --no-save",
        ),
    }
}

/// The archive that the user named, in a directory that exists: a misspelled one is not made.
///
/// # Errors
/// When there is no such directory.
pub fn check_archive(asked: Option<&PathBuf>) -> Result<(), UsageError> {
    let directory = asked.and_then(|path| path.parent());
    let directory = directory.filter(|it| !it.as_os_str().is_empty() && !it.exists());
    directory.map_or(Ok(()), |missing| {
        Err(UsageError(format!(
            "--archive: the directory {} does not exist. Check the spelling, or create it first",
            missing.display()
        )))
    })
}

/// How a run of the archive at `path` is shown.
pub fn show_command(id: i64, path: &Path, more: &str) -> String {
    format!("seekstone runs show {id}{more}{}", archive_option(path))
}

/// What a command takes that is to work on the archive at `path`: nothing for the default one.
pub fn archive_option(path: &Path) -> String {
    match archive::default_path().is_some_and(|it| it == path) {
        true => String::new(),
        false => format!(" --archive {}", quoted(&[path.to_string_lossy().into()])),
    }
}

/// The archive that runs are kept in, unless they are not to be kept.
///
/// # Errors
/// When it cannot be opened, or the options contradict each other.
pub fn open_archive(common: &Common) -> anyhow::Result<Option<Archive>> {
    if common.no_save {
        return match &common.archive {
            Some(_) => Err(UsageError("use either --archive or --no-save".into()).into()),
            None => Ok(None),
        };
    }
    check_archive(common.archive.as_ref())?;
    // Opened before measuring: nobody should learn after a minute that nothing can be kept.
    let chosen = common.archive.is_some() || std::env::var_os(ARCHIVE_VARIABLE).is_some();
    if !chosen {
        return archive_if_any();
    }
    let path = archive_path(common.archive.as_ref())?;
    let archive = Archive::open(&path)
        .context("runs cannot be archived (use --archive FILE, or --no-save)")?;
    Ok(Some(archive))
}

/// Names the archive.
const ARCHIVE_VARIABLE: &str = "SEEKSTONE_ARCHIVE";

/// The archive in the user's home. A service account has none, or one that is read-only: it
/// measures all the same, and hears that nothing is kept. An archive that is damaged, or somebody
/// else's file, is an error there, too: the next run would not be kept either.
fn archive_if_any() -> anyhow::Result<Option<Archive>> {
    let not_kept = |why: &str| {
        output::complain(&format!(
            "warning: this run is not archived: {why}. Name a file with --archive, or use --no-save"
        ));
        Ok(None)
    };
    let Some(path) = archive::default_path() else {
        return not_kept("there is no home directory for it");
    };
    match Archive::open(&path) {
        Ok(archive) if archive.is_writable() => Ok(Some(archive)),
        Ok(_) => not_kept(&format!("{} is read-only", path.display())),
        Err(error @ (ArchiveError::Directory { .. } | ArchiveError::Open { .. })) => {
            not_kept(&format!("{:#}", anyhow::Error::new(error)))
        }
        Err(error) => Err(anyhow::Error::new(error)
            .context("runs cannot be archived (use --archive FILE, or --no-save)")),
    }
}

/// The seed: as asked for, or a fresh one.
pub fn seeded(asked: Option<u64>, setup: &mut Setup) -> u64 {
    setup.seed = asked.unwrap_or_else(fresh_seed);
    setup.resolve("seed", [setup.seed.to_string()]);
    setup.seed
}

/// The levels of a curve: as asked for, as an earlier curve chose them, or from the grid.
pub fn levels(asked: Vec<Duration>, setup: &Setup) -> Levels {
    let origin = setup.setting("level").map(|setting| setting.origin);
    match (asked, origin) {
        (asked, _) if asked.is_empty() => Levels::Grid { count: 3 },
        (asked, Some(SettingOrigin::Default)) => Levels::Chosen(asked),
        (asked, _) => Levels::Explicit(asked),
    }
}

/// A short seed that can be read out and typed in again.
pub fn fresh_seed() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    (now.tv_nsec as u64 / 1000 + now.tv_sec as u64) % 100_000
}
