//! Where a replicate is measured, and why it may fail.

use std::io;
use std::path::{Path, PathBuf};

use drivers::{DirectoryOwner, TargetError, WorkDirectory, check_room, free_space};
use units::{Bytes, TargetName};

use super::store::S3_PREFIX;
use super::targets::WritePermission;
use super::{Stop, kind_named};
use host::inspect::inspect;
use lab::bench::{BenchError, directory_owner};
use lab::hosts::Ranks;

/// Where one replicate is measured.
#[derive(Clone, Debug)]
pub struct ReplicateContext {
    pub target: TargetName,
    /// What is random in this replicate.
    pub seed: u64,
    /// Room that stays free; the larger of 5 % and 1 GiB, at most a quarter, when absent.
    pub reserve: Option<Bytes>,
    /// What may be done to a file or device that it names.
    pub permission: WritePermission,
    /// What a command that is measured finds in its environment besides this program's.
    pub variables: Vec<(String, String)>,
    /// The hosts that measure together, where there are several.
    pub ranks: Option<Ranks>,
}

/// Why there are no readings.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The settings do not fit the place.
    #[error("{0}")]
    Usage(String),
    /// A file of ours, or the directory for it, cannot be used.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// What another command measures as well failed.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// The system refused an operation.
    #[error("cannot {operation} {}", path.display())]
    Io {
        /// What was tried, as a verb.
        operation: &'static str,
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It ran, and what it did is wrong or not whole.
    #[error("{0}")]
    Failed(String),
    /// A signal came.
    #[error("stopped by {signal}")]
    Interrupted {
        /// The signal's name.
        signal: String,
    },
}

impl MeasureError {
    /// The system's refusal in context; to be used with `map_err`.
    pub fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            operation,
            path,
            source,
        }
    }
}

/// What comes of measuring, unless it fails.
pub type Result<T, E = MeasureError> = std::result::Result<T, E>;

/// Every path that a measurement of this kind measures when the study's target is `target`, with
/// what is only read.
pub fn measured_paths(kind: &str, settings: &toml::Table, target: &TargetName) -> Vec<TargetName> {
    let kind = kind_named(kind);
    let named = kind.into_iter().flat_map(|it| it.settings);
    let named = named.filter(|setting| setting.names_paths());
    let given = named.filter_map(|it| Some((it.name, settings.get(it.name)?)));
    let mut paths = vec![target.clone()];
    for (name, value) in given {
        if kind.and_then(|it| it.in_place) == Some(name) {
            paths.retain(|path| path != target);
        }
        let items = value
            .as_array()
            .map_or(std::slice::from_ref(value), Vec::as_slice);
        let items = items.iter().filter_map(toml::Value::as_str);
        let items = items.filter(|it| !it.starts_with(S3_PREFIX));
        paths.extend(items.map(TargetName::from));
    }
    paths
}

impl ReplicateContext {
    /// A place with the reserve left to the program.
    pub fn new(target: impl Into<TargetName>, seed: u64) -> Self {
        Self {
            target: target.into(),
            seed,
            reserve: None,
            permission: WritePermission::default(),
            variables: Vec::new(),
            ranks: None,
        }
    }

    /// Space that was asked to stay free, where others use what is left.
    pub fn shared_reserve(&self) -> Option<Bytes> {
        self.reserve.filter(|_| !self.target.is_model())
    }

    /// The directory that it names.
    ///
    /// # Errors
    /// When it is anything else.
    pub fn directory(&self, kind: &str) -> Result<&Path> {
        let path = Path::new(&self.target);
        match path.metadata() {
            Ok(found) if found.is_dir() => Ok(path),
            Ok(_) => Err(MeasureError::Usage(format!(
                "{} is not a directory, and {kind} makes its own files. Name a directory",
                self.target
            ))),
            Err(error) => Err(MeasureError::io("look at", path)(error)),
        }
    }

    /// A work directory in the directory that this place names, with room for `wanted` bytes.
    ///
    /// # Errors
    /// When there is too little room, or the system refuses.
    pub fn work_directory(&self, kind: &str, wanted: u64) -> Result<WorkDirectory> {
        let path = self.directory(kind)?;
        let reserve = match self.reserve {
            Some(reserve) => reserve.0,
            None => free_space(path)?.reserve,
        };
        check_room(path, wanted, reserve)?;
        Ok(WorkDirectory::create(path, &owner(kind))?)
    }

    /// Kernel name of the device that a path stands on, where the system tells.
    pub fn device(path: &Path) -> Option<String> {
        let (description, _) = inspect(path).ok()?;
        Some(description.devices.first()?.name.clone())
    }
}

/// What the marker of a work directory says of a measurement.
pub fn owner(kind: &str) -> DirectoryOwner {
    directory_owner(&format!("study: {kind}"))
}

/// Go on unless a signal came.
///
/// # Errors
/// When one did.
pub fn go_on(stop: &Stop) -> Result<()> {
    match stop.is_raised() {
        None => Ok(()),
        Some(signal) => Err(MeasureError::Interrupted {
            signal: signal.name.into(),
        }),
    }
}
