//! Several files and devices at once: those that exist are opened as they are, those that do not
//! are made in work directories of ours, next to the place that was asked for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use drivers::{
    AccessMode, Caching, DirectoryOwner, Target, TargetError, TargetOptions, TargetTable,
    WorkDirectory, check_room,
};
use procedure::{Preparation, Trial};
use results::Access;
use sys::drop_cached;
use units::Bytes;
use workload::{JobsSpec, TargetId};

use super::test_files::allocate;
use super::{StorageLaboratory, StorageSettings, TargetLocation};
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
                    let parent = match file.path.parent() {
                        Some(parent) if parent != Path::new("") => parent,
                        _ => Path::new("."),
                    };
                    if !made.contains_key(parent) {
                        let directory = WorkDirectory::create(parent, owner)?;
                        made.insert(parent.to_owned(), Arc::new(directory));
                    }
                    check_room(parent, bytes, reserve)?;
                    self.make(&made[parent], &format!("main-{number}"), bytes)?
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
        directory: &WorkDirectory,
        name: &str,
        len: u64,
    ) -> Result<(Target, Target), LaboratoryError> {
        let file = directory.create_file(name)?;
        allocate(&file, len).map_err(|error| {
            TargetError::io("allocate space in", directory.path().join(name), error)
        })?;
        let buffered = directory.open_target(name, Caching::Buffered)?;
        let main = match directory.open_target(name, Caching::Direct) {
            Err(TargetError::DirectUnsupported { .. }) => {
                self.note_buffered(directory.path());
                directory.open_target(name, Caching::Buffered)?
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
        Ok((main, buffered))
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

    /// Bytes of one of several files.
    #[must_use]
    pub fn size_of(&self, target: TargetId) -> Bytes {
        let target = self.table.targets().get(target.0 as usize);
        Bytes(target.map_or(0, Target::size))
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
                let sizes = job.sizes.iter().flatten().map(|size| u64::from(size.len));
                let mut lengths = sizes.chain([region.block, region.offset]);
                if let Some(bytes) = lengths.find(|len| !len.is_multiple_of(u64::from(unit))) {
                    let title = trial.title.clone();
                    return Err(LaboratoryError::MisalignedThreads { title, bytes, unit });
                }
            }
        }
        if trial.preparation == Preparation::DropCache {
            for target in self.table.targets() {
                drop_cached(target.file()).map_err(|error| {
                    TargetError::io("prepare the page cache of", target.path(), error)
                })?;
            }
        }
        Ok(())
    }
}
