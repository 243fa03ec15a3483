//! What is probed, opened so that it comes to no harm: files and devices for reading alone, in a
//! directory a small file of our own.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use drivers::{
    AccessMode, Caching, DirectoryOwner, Payload, Seal, Target, TargetError, TargetOptions,
    TargetTable, WorkDirectory, check_room, fill_incompressible,
};
use host::inspect::inspect;
use lab::bench::directory_owner;
use units::TargetName;
use watch::PROBE_BYTES;
use workload::TargetId;

use crate::exit::UsageError;

/// Bytes of the file in a directory.
const OWN_BYTES: usize = 16 << 20;
/// What must stay free beside it: a full file system is never the fault of a watch.
const RESERVE: u64 = 4 * OWN_BYTES as u64;
const OWN_NAME: &str = "probes";

/// An open target.
#[derive(Debug)]
pub struct ProbedPlace {
    pub table: Arc<TargetTable>,
    /// Bytes that are probed.
    pub size: u64,
    /// Whether a file of our own is written.
    pub syncs: bool,
    /// The device beneath, by its kernel name.
    pub device: Option<String>,
    /// Whether the page cache answers.
    pub is_buffered: bool,
    /// With the file of our own.
    directory: Option<WorkDirectory>,
}

impl ProbedPlace {
    /// Open what is at that path.
    ///
    /// # Errors
    /// When nothing is there, it is too small, or the system refuses.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let (description, _) = inspect(path).map_err(UsageError::of)?;
        let device = description.devices.first().map(|it| it.name.clone());
        let (target, directory) = match path.is_dir() {
            true => {
                let directory = own_file(path, &directory_owner("watch"))?;
                let target = or_buffered(|caching| directory.open_target(OWN_NAME, caching))?;
                (target, Some(directory))
            }
            false => (or_buffered(|caching| open_read_only(path, caching))?, None),
        };
        let size = target.size();
        if size < u64::from(PROBE_BYTES) {
            let shown = path.display();
            refuse!("{shown} is smaller than a probe of 4 KiB");
        }
        Ok(Self {
            size,
            syncs: directory.is_some(),
            is_buffered: target.caching() == Caching::Buffered,
            table: Arc::new(TargetTable::new(vec![target])),
            device,
            directory,
        })
    }

    /// Remove what was made.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn remove(self) -> anyhow::Result<()> {
        let Some(directory) = self.directory else {
            return Ok(());
        };
        directory.remove_file(OWN_NAME)?;
        let left = directory.path().display().to_string();
        directory
            .remove()
            .with_context(|| format!("cannot remove {left}"))
    }

    /// Leave what was made where it is: the storage may never answer.
    pub fn leave(self) {
        if let Some(directory) = self.directory {
            directory.abandon();
        }
    }
}

/// The name under which a target is kept: the same wherever the command is given.
pub fn whole_name(target: &TargetName) -> String {
    let whole = target.path().and_then(|path| {
        let there = path.canonicalize();
        there.or_else(|_| std::path::absolute(path)).ok()
    });
    whole.map_or_else(
        || target.as_str().to_owned(),
        |path| path.to_string_lossy().into_owned(),
    )
}

fn own_file(parent: &Path, owner: &DirectoryOwner) -> anyhow::Result<WorkDirectory> {
    check_room(parent, OWN_BYTES as u64, RESERVE)?;
    let directory = WorkDirectory::create(parent, owner)?;
    let mut file = directory.create_file(OWN_NAME)?;
    let mut bytes = vec![0; OWN_BYTES];
    fill_incompressible(&mut bytes, 1);
    own_payload().stamp(&mut bytes, TargetId(0), 0);
    let written = file.write_all(&bytes).and_then(|()| file.sync_all());
    written.with_context(|| format!("cannot write a file of 16 MiB in {}", parent.display()))?;
    Ok(directory)
}

/// What is written: blocks that prove to be of this run, so that what a kill leaves is removed.
pub fn own_payload() -> Payload {
    Payload {
        run: Seal::of_this_run().number(),
        ..Payload::default()
    }
}

fn open_read_only(path: &Path, caching: Caching) -> Result<Target, TargetError> {
    let access = AccessMode::ReadOnly;
    let options = TargetOptions {
        access,
        caching,
        ..TargetOptions::default()
    };
    Target::open(path, &options)
}

fn or_buffered(
    open: impl Fn(Caching) -> Result<Target, TargetError>,
) -> Result<Target, TargetError> {
    match open(Caching::Direct) {
        Err(TargetError::DirectUnsupported { .. }) => open(Caching::Buffered),
        opened => opened,
    }
}
