//! Several files and devices at once: those that exist are opened as they are, those that do not
//! are made in work directories of ours, next to the place that was asked for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use drivers::{
    AccessMode, Caching, DirectoryOwner, OpenFilePool, SmallFiles, Target, TargetError,
    TargetOptions, TargetTable, WorkDirectory, check_room, is_kept,
};
use procedure::{Preparation, Trial};
use results::Access;
use sys::{drop_cached, expect_random_reads, expect_sequential_reads};
use workload::{JobsSpec, ReadOrderHint};

use super::test_files::allocate;
use super::{SMALL_FILE_OVERHEAD, StorageLaboratory, StorageSettings, TargetLocation};
use crate::laboratory::LaboratoryError;

/// A file or device that is worked on.
#[derive(Clone, Debug)]
pub struct WantedFile {
    /// Its path; of one that is to be made, where it would be.
    pub path: PathBuf,
    /// What is made where none exists.
    pub make: Option<FileToMake>,
    /// What may be done to one that exists.
    pub access: AccessMode,
    /// Whether one that exists may be written only if an earlier run kept it.
    pub is_kept: bool,
    /// The files among which it is opened when it is used; `None` keeps it open.
    pub pool: Option<Arc<OpenFilePool>>,
}

/// A file that is not there yet.
#[derive(Clone, Copy, Debug)]
pub struct FileToMake {
    pub bytes: u64,
    /// Bytes of its own file system that stay free: targets may lie on different ones.
    pub reserve: u64,
}

impl StorageLaboratory {
    /// A laboratory on several files and devices. File `n` is target `2 n` past the page cache, and
    /// target `2 n + 1` through it.
    ///
    /// # Errors
    /// When one cannot be opened or made; nothing is left of those that were.
    pub fn on_several(
        wanted: &[WantedFile],
        owner: &DirectoryOwner,
        confirmed: Option<&str>,
        settings: StorageSettings,
    ) -> Result<Self, LaboratoryError> {
        let reserve_of = |it: &WantedFile| it.make.map_or(settings.reserve, |it| it.reserve);
        let reserves: Vec<u64> = wanted.iter().map(reserve_of).collect();
        let place = TargetLocation::Several {
            directories: Vec::new(),
            reserves: Vec::new(),
        };
        let mut this = Self::new(place, settings);
        let mut made = BTreeMap::new();
        let opened = this.open_several(wanted, (owner, confirmed), &mut made);
        let directories = made.into_values().collect();
        this.place = TargetLocation::Several {
            directories,
            reserves,
        };
        match opened {
            Ok(targets) => this.table = Arc::new(TargetTable::new(targets)),
            Err(error) => {
                this.clean_up()?;
                return Err(error);
            }
        }
        Ok(this)
    }

    fn open_several(
        &mut self,
        wanted: &[WantedFile],
        (owner, confirmed): (&DirectoryOwner, Option<&str>),
        made: &mut BTreeMap<PathBuf, Arc<WorkDirectory>>,
    ) -> Result<Vec<Target>, LaboratoryError> {
        let mut targets = Vec::with_capacity(wanted.len() * 2);
        for (number, file) in wanted.iter().enumerate() {
            let (main, buffered) = match file.make {
                Some(FileToMake { bytes, reserve }) => {
                    let parent = parent_of(&file.path);
                    if !made.contains_key(parent) {
                        let directory = WorkDirectory::create(parent, owner)?;
                        made.insert(parent.to_owned(), Arc::new(directory));
                    }
                    check_room(parent, bytes, reserve)?;
                    let name = format!("main-{number}");
                    self.make(&made[parent], (&name, file.pool.as_ref()), bytes)?
                }
                None => self.open_existing(file, confirmed)?,
            };
            targets.push(main);
            targets.push(buffered);
        }
        Ok(targets)
    }

    fn make(
        &mut self,
        directory: &Arc<WorkDirectory>,
        (name, pool): (&str, Option<&Arc<OpenFilePool>>),
        len: u64,
    ) -> Result<(Target, Target), LaboratoryError> {
        let file = directory.create_file(name)?;
        allocate(&file, len).map_err(|error| {
            TargetError::io("allocate space in", directory.path().join(name), error)
        })?;
        let open = |caching| match pool {
            Some(pool) => directory.target_on_demand(name, caching, pool),
            None => directory.open_target(name, caching),
        };
        let buffered = open(Caching::Buffered)?;
        let main = match open(Caching::Direct) {
            Err(TargetError::DirectUnsupported { .. }) => {
                self.note_buffered(directory.path());
                open(Caching::Buffered)?
            }
            other => other?,
        };
        Ok((main, buffered))
    }

    fn open_existing(
        &mut self,
        file: &WantedFile,
        confirmed: Option<&str>,
    ) -> Result<(Target, Target), LaboratoryError> {
        let options = TargetOptions {
            access: file.access,
            caching: Caching::Buffered,
            signature_confirmed: confirmed.map(str::to_owned),
        };
        let buffered = Target::open(&file.path, &options)?;
        if file.is_kept && !is_kept(buffered.file()) {
            let why = "somebody has written it since an earlier run kept it".to_owned();
            let path = file.path.clone();
            return Err(TargetError::LeftBehind { path, why }.into());
        }
        let name = file.path.display();
        let unseen = buffered.unseen().iter();
        let unseen = unseen.map(|what| format!("{name} may be in use: {what}."));
        self.notes.extend(unseen);
        let main = match buffered.open_again(Caching::Direct) {
            Err(TargetError::DirectUnsupported { .. }) => {
                self.note_buffered(&file.path);
                buffered.open_again(Caching::Buffered)?
            }
            other => other?,
        };
        Ok(match &file.pool {
            Some(pool) => (
                main.opened_on_demand(pool)?,
                buffered.opened_on_demand(pool)?,
            ),
            None => (main, buffered),
        })
    }

    /// Make room for as many small files in a directory of ours below `parent`, which requests
    /// create and remove. They are numbered behind the targets, two for each file.
    ///
    /// # Errors
    /// When there is no room for `bytes` of them and `reserve`, or the directory cannot be made.
    pub fn with_small_files(
        mut self,
        (parent, count): (&Path, u32),
        (bytes, reserve): (u64, u64),
        owner: &DirectoryOwner,
    ) -> Result<Self, LaboratoryError> {
        let overhead = u64::from(count) * SMALL_FILE_OVERHEAD;
        let made = check_room(parent, bytes.saturating_add(overhead), reserve)
            .and_then(|()| WorkDirectory::create(parent, owner));
        let directory = match made {
            Ok(directory) => Arc::new(directory),
            Err(error) => {
                self.clean_up()?;
                return Err(error.into());
            }
        };
        if let TargetLocation::Several { directories, .. } = &mut self.place {
            directories.push(Arc::clone(&directory));
        }
        let table = Arc::into_inner(std::mem::take(&mut self.table));
        let table = table
            .expect("nothing is measured yet")
            .with_small_files(SmallFiles {
                directory,
                count,
                caching: Caching::Buffered,
            });
        self.table = Arc::new(table);
        Ok(self)
    }

    /// Leave files to the user, by their numbers: those that were made under the names that were
    /// asked for. What a later run will not be able to write again, a sentence each.
    ///
    /// # Errors
    /// When something has one of these names now, or the system refuses.
    pub fn keep(&self, files: &[(usize, PathBuf)]) -> Result<Vec<String>, LaboratoryError> {
        let mut unmarked = Vec::new();
        for (number, path) in files {
            let mut directories = self.place.directories().iter();
            let made_in = directories.find(|it| it.path().parent() == Some(parent_of(path)));
            let name = format!("main-{number}");
            let own = path.file_name().unwrap_or_default();
            let is_marked = match made_in.filter(|it| it.has_made(&name)) {
                Some(directory) => directory.keep(&name, own)?,
                None => self.table.targets()[number * 2 + 1].keep().is_ok(),
            };
            if !is_marked {
                let shown = path.display();
                unmarked.push(format!(
                    "{shown} is kept, and its file system cannot mark it as ours"
                ));
            }
        }
        Ok(unmarked)
    }

    fn note_buffered(&mut self, path: &Path) {
        let note = format!(
            "{} does not support direct I/O: jobs with direct=1 are buffered there.",
            path.display()
        );
        if !self.notes.contains(&note) {
            self.access = Access::Buffered;
            self.notes.push(note);
        }
    }

    /// What each workload moves must fit its files, and cached pages are dropped where asked for.
    pub(super) fn prepare_jobs(
        &self,
        trial: &Trial,
        jobs: &JobsSpec,
    ) -> Result<(), LaboratoryError> {
        for job in &jobs.jobs {
            for region in &job.files {
                let Some(target) = self.table.targets().get(region.target.0 as usize) else {
                    continue;
                };
                let unit = target.alignment().offset;
                let mut lengths = job.lengths().chain([region.block, region.offset]);
                if let Some(bytes) = lengths.find(|len| !len.is_multiple_of(u64::from(unit))) {
                    return Err(LaboratoryError::misaligned_threads(trial, bytes, unit));
                }
                hint_order(target, job.hint)
                    .map_err(|error| TargetError::io("advise on reading", target.path(), error))?;
            }
        }
        if trial.preparation == Preparation::DropCache {
            for target in self.table.targets() {
                let dropped = target.descriptor().and_then(|file| drop_cached(&file));
                dropped.map_err(|error| {
                    TargetError::io("prepare the page cache of", target.path(), error)
                })?;
            }
        }
        Ok(())
    }
}

/// Announce to the kernel how a file that stays open is read. One that is opened on demand would
/// lose the hint when it is closed.
fn hint_order(target: &Target, hint: Option<ReadOrderHint>) -> std::io::Result<()> {
    match target.held().zip(hint) {
        None => Ok(()),
        Some((file, ReadOrderHint::Random)) => expect_random_reads(file),
        Some((file, ReadOrderHint::Sequential)) => expect_sequential_reads(file),
    }
}

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}
