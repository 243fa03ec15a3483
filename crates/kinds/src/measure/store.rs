//! Where `archive` puts files and `retrieve` gets them from.

use std::collections::BTreeSet;
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use drivers::{PAGE_BYTES, WorkDirectory};
use sys::drop_cached;
use units::TargetName;

use super::made::open_made;
use super::place::{MeasureError, ReplicateContext, Result};
use super::s3::open_bucket;

/// How an address of a bucket begins.
pub const S3_PREFIX: &str = "s3:";

/// Bytes moved at once.
const CHUNK_BYTES: usize = 1 << 20;

/// A prefix that a run has left, or still uses.
#[derive(Debug)]
pub struct LeftPrefix {
    /// With its slash.
    pub name: String,
    /// The machine and the process that made it.
    pub host: String,
    pub pid: u32,
    pub objects: u64,
    pub bytes: u64,
    /// Who may still use it, in words.
    pub used_by: Option<String>,
}

/// What is put into a store: it may have to be sent again.
pub trait StoreContent: Read + Seek {}

impl<T: Read + Seek + ?Sized> StoreContent for T {}

/// Keeps files by their names. Several threads may use it at once.
pub trait Store: Send + Sync {
    /// Keep the `len` bytes of `content` under `name`, which is new. When this returns, they are
    /// kept for good.
    ///
    /// # Errors
    /// When the store refuses, or `content` ends early.
    fn put(&self, name: &str, len: u64, content: &mut dyn StoreContent) -> Result<()>;

    /// Write what is kept under `name` to `sink`; returns its length.
    ///
    /// # Errors
    /// When there is no such name, or the store or the sink fails.
    fn get(&self, name: &str, sink: &mut dyn Write) -> Result<u64>;

    /// The names of what was put, in ascending order.
    ///
    /// # Errors
    /// When the store does not tell.
    fn list(&self) -> Result<Vec<String>>;

    /// Forget what this machine's memory holds of it, so that the next `get` goes to the store.
    ///
    /// # Errors
    /// When the system refuses.
    fn cool(&self) -> Result<()>;

    /// Remove all that this run put into it.
    ///
    /// # Errors
    /// When something is left; the message says where.
    fn close(&self) -> Result<()>;
}

/// Say whether the store that `named` means can be used, before anything is put into it.
///
/// # Errors
/// When it cannot.
pub fn check_store(named: Option<&str>, ca: Option<&Path>, place: &ReplicateContext) -> Result<()> {
    if let Some(named) = named.filter(|it| it.starts_with(S3_PREFIX)) {
        return open_bucket(named, ca, place.seed).map(drop);
    }
    store_place(named, place).directory("archive").map(drop)
}

/// The store that `named` means (a directory, or a bucket; the place itself when absent), with room
/// for `wanted` bytes. Removes what was put into it when it is dropped.
///
/// # Errors
/// When it cannot be used.
pub fn open_store(
    named: Option<&str>,
    ca: Option<&Path>,
    place: &ReplicateContext,
    wanted: u64,
) -> Result<Box<dyn Store>> {
    if let Some(named) = named.filter(|it| it.starts_with(S3_PREFIX)) {
        return open_bucket(named, ca, place.seed);
    }
    let directory = store_place(named, place).work_directory("archive", wanted)?;
    Ok(Box::new(DirectoryStore::new(directory)))
}

fn store_place(named: Option<&str>, place: &ReplicateContext) -> ReplicateContext {
    ReplicateContext {
        target: named.map_or_else(|| place.target.clone(), TargetName::from),
        ..place.clone()
    }
}

/// A directory of our own; every file is synced before it counts as kept.
#[derive(Debug)]
pub struct DirectoryStore {
    directory: WorkDirectory,
    names: Mutex<BTreeSet<String>>,
}

impl DirectoryStore {
    /// Keep files in `directory`.
    pub fn new(directory: WorkDirectory) -> Self {
        Self {
            directory,
            names: Mutex::default(),
        }
    }

    fn names(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for DirectoryStore {
    fn put(&self, name: &str, len: u64, content: &mut dyn StoreContent) -> Result<()> {
        let path = self.directory.path().join(name);
        let mut file = self.directory.create_file(name)?;
        self.names().insert(name.to_owned());
        let copied =
            pump(&mut &mut *content, &mut file).map_err(MeasureError::io("write", &path))?;
        if copied != len {
            return Err(MeasureError::Failed(format!(
                "{name} ended after {copied} of its {len} bytes"
            )));
        }
        file.sync_all().map_err(MeasureError::io("sync", &path))
    }

    fn get(&self, name: &str, sink: &mut dyn Write) -> Result<u64> {
        let mut file = open_made(&self.directory, name)?;
        let path = self.directory.path().join(name);
        pump(&mut file, sink).map_err(MeasureError::io("read", &path))
    }

    fn list(&self) -> Result<Vec<String>> {
        Ok(self.names().iter().cloned().collect())
    }

    fn cool(&self) -> Result<()> {
        for name in self.list()? {
            let path = self.directory.path().join(&name);
            let dropped = drop_cached(&open_made(&self.directory, &name)?);
            dropped.map_err(MeasureError::io("drop from the page cache", &path))?;
        }
        Ok(())
    }

    fn close(&self) -> Result<()> {
        Ok(self.directory.remove()?)
    }
}

/// Move all bytes from one to the other, through memory of this program.
///
/// # Errors
/// When one of them fails.
pub fn pump(from: &mut dyn Read, to: &mut dyn Write) -> std::io::Result<u64> {
    // From the heap: a mapping of its own for each file would cost a fault a page.
    let mut memory = vec![0; CHUNK_BYTES + PAGE_BYTES];
    let start = memory.as_ptr().align_offset(PAGE_BYTES);
    let chunk = &mut memory[start..start + CHUNK_BYTES];
    let mut moved = 0;
    loop {
        let len = match from.read(chunk) {
            Ok(0) => return Ok(moved),
            Ok(len) => len,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        to.write_all(&chunk[..len])?;
        moved += len as u64;
    }
}
