//! A ledger of verified writes in a file: it survives a kill, and a power loss of the target.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use drivers::{NewFile, open_directory};
use rustix::fs::{FallocateFlags, FlockOperation, OFlags, fallocate, flock};
use rustix::io::Errno;
use sys::{SharedWords, drop_cached};
use verify::{
    ExpectedDurability, Findings, Ledger, StateError, StateHead, StateTarget, VerifyMismatch,
    Words, words_needed, words_of,
};

use crate::storage::read_written;

/// Direct reads in units of this fit any device.
const DIRECT_UNIT: u64 = 4096;
/// Only the owner may read a state, since it names paths.
const MODE: u32 = 0o600;

/// Why a state cannot be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum StateFileError {
    /// The file already exists.
    #[error(
        "{} exists: --verify-state needs a new file. To verify against an old state run `seekstone \
         verify`, then remove it",
        .0.display()
    )]
    Exists(PathBuf),
    /// The file cannot be created, opened or read.
    #[error("cannot {what} {}: {why}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The failed action.
        what: &'static str,
        why: io::Error,
    },
    /// It is not a state, or a damaged one.
    #[error("{0}")]
    Damaged(String),
    /// The run is still active, or a target no longer exists or has shrunk.
    #[error("{0}")]
    Refused(String),
}

/// Ledger entries in a file that stays locked while they are in use.
struct LockedWords {
    words: SharedWords,
    _file: File,
}

impl AsRef<[AtomicU64]> for LockedWords {
    fn as_ref(&self) -> &[AtomicU64] {
        self.words.as_ref()
    }
}

/// Creates a state, and returns the memory-mapped entries of its ledger, which survive this
/// process. The file appears only when complete.
pub(crate) fn create(path: &Path, head: &StateHead, words: u64) -> Result<Words, StateFileError> {
    let made = match path.symlink_metadata() {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => make(path, head, words),
    };
    made.map_err(|why: io::Error| match why.kind() {
        io::ErrorKind::AlreadyExists => StateFileError::Exists(path.to_owned()),
        _ => StateFileError::Io {
            path: path.to_owned(),
            what: "make",
            why,
        },
    })
}

fn make(path: &Path, head: &StateHead, words: u64) -> io::Result<Words> {
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    let directory = open_directory(parent.unwrap_or(Path::new(".")))?;
    let mut new = NewFile::create(directory, MODE)?;
    let file = new.file().try_clone()?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    let begin = fill(&file, head, words)?;
    let words = SharedWords::of(&file, begin, words as usize)?;
    new.publish(name)?;
    Ok(Arc::new(LockedWords { words, _file: file }))
}

/// Writes the head, and allocates space for all entries: a store to a page without space would be a
/// fault.
fn fill(mut file: &File, head: &StateHead, words: u64) -> io::Result<u64> {
    let head = head.encode();
    file.write_all(&head)?;
    let begin = head.len() as u64;
    let bytes = words * size_of::<u64>() as u64;
    match fallocate(file, FallocateFlags::empty(), begin, bytes) {
        Ok(()) => {}
        Err(Errno::OPNOTSUPP) => {
            io::copy(&mut io::repeat(0).take(bytes), &mut file)?;
        }
        Err(error) => return Err(error.into()),
    }
    file.sync_all()?;
    Ok(begin)
}

/// A state of a run that has ended or was killed.
pub struct StateFile {
    head: StateHead,
    ledger: Ledger,
}

/// Result of reading back the targets of a state.
#[derive(Debug, Default)]
pub struct Checked {
    /// Bytes read.
    pub bytes: u64,
    /// Mismatches, with targets by number.
    pub findings: Findings,
}

impl StateFile {
    /// Reads a state.
    ///
    /// # Errors
    /// If it is not a state, is damaged, or its run is still active.
    pub fn read(path: &Path) -> Result<Self, StateFileError> {
        let failed = |why| StateFileError::Io {
            path: path.to_owned(),
            what: "read",
            why,
        };
        let name = path.display();
        let wrong = |why: StateError| StateFileError::Damaged(format!("{name}: {why}"));
        // A pipe or a terminal would wait for a writer.
        let is_file = std::fs::metadata(path).map_err(failed)?.is_file();
        if !is_file {
            return Err(wrong(StateError::Foreign));
        }
        let mut file = File::open(path).map_err(failed)?;
        if flock(&file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK) {
            return Err(StateFileError::Refused(format!(
                "{name}: the run that writes this state is still in progress, and will verify at \
                 its end"
            )));
        }
        let there = file.metadata().map_err(failed)?.len();
        let mut bytes = Vec::new();
        let first = StateHead::FIRST_BYTES as u64;
        let mut take = |more: u64, bytes: &mut Vec<u8>| {
            let part = Read::by_ref(&mut file).take(more).read_to_end(bytes);
            part.map_err(failed)
        };
        take(first, &mut bytes)?;
        let begin = StateHead::encoded_len(&bytes).map_err(wrong)?;
        take((begin as u64).saturating_sub(first), &mut bytes)?;
        let head = StateHead::decode(&bytes).map_err(wrong)?;
        let lens = head.lens();
        let count = match head.unit {
            0 => 0,
            unit => words_needed(unit, &lens),
        };
        let needed = (begin as u64).saturating_add(count.saturating_mul(size_of::<u64>() as u64));
        if there < needed {
            return Err(wrong(StateError::Short { needed, there }));
        }
        let words = words_in(&mut file, count).map_err(failed)?;
        let ledger = Ledger::new(head.seed, head.unit, &lens, words);
        let ledger = ledger.map_err(|why| StateFileError::Damaged(format!("{name}: {why}")))?;
        Ok(Self { head, ledger })
    }

    /// The verified targets: their numbers and paths.
    pub fn targets(&self) -> impl Iterator<Item = (u32, &Path)> {
        let numbered = (0..).zip(&self.head.targets);
        let verified = numbered.filter(|(_, target)| target.bytes > 0);
        verified.map(|(number, target)| (number, path_of(target)))
    }

    /// Reads back everything written to a target at its current path, and adds mismatches to
    /// `checked`. `watch` receives the progress, and returns whether to continue.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn check(
        &self,
        (number, path): (u32, &Path),
        trust: ExpectedDurability,
        checked: &mut Checked,
        watch: &mut dyn FnMut(f64) -> bool,
    ) -> Result<(), StateFileError> {
        let failed = |why: io::Error| match why.kind() {
            io::ErrorKind::NotFound => StateFileError::Refused(format!(
                "{}: it does not exist. A run that ends normally removes its test files. If it was \
                 moved, name it with --target",
                path.display()
            )),
            _ => StateFileError::Io {
                path: path.to_owned(),
                what: "read",
                why,
            },
        };
        let mut file = self.open(path).map_err(failed)?;
        let there = file.seek(SeekFrom::End(0)).map_err(failed)?;
        let most = there.max(1) as f64;
        let written = self.ledger.written(number, u64::MAX);
        let needed = written.last().map_or(0, |(offset, len)| offset + len);
        if there < needed {
            return Err(StateFileError::Refused(format!(
                "{}: it has {there} bytes, and the state reaches to byte {needed}. It is another \
                 file or device, or was truncated",
                path.display()
            )));
        }
        let see = |at: u64, len: u64, found: &[VerifyMismatch]| {
            checked.bytes += len;
            for finding in found {
                checked.findings.note(*finding);
            }
            watch(at as f64 / most)
        };
        read_written(&self.ledger, number, &file, trust, see).map_err(failed)
    }

    /// With direct I/O if such blocks are possible; otherwise the page cache is dropped first.
    fn open(&self, path: &Path) -> io::Result<File> {
        if self.ledger.unit().is_multiple_of(DIRECT_UNIT) {
            let mut options = OpenOptions::new();
            let flags = OFlags::DIRECT.bits().cast_signed();
            if let Ok(file) = options.read(true).custom_flags(flags).open(path) {
                return Ok(file);
            }
        }
        let file = File::open(path)?;
        drop_cached(&file)?;
        Ok(file)
    }
}

fn path_of(target: &StateTarget) -> &Path {
    Path::new(OsStr::from_bytes(&target.path))
}

fn words_in(file: &mut File, count: u64) -> io::Result<Words> {
    let mut reader = io::BufReader::with_capacity(1 << 20, file);
    let mut numbers = Vec::new();
    for _ in 0..count {
        let mut word = [0; size_of::<u64>()];
        reader.read_exact(&mut word)?;
        numbers.push(u64::from_ne_bytes(word));
    }
    Ok(words_of(numbers.into_iter()))
}
