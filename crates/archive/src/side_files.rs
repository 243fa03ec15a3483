//! SQLite's journal files next to an archive. SQLite replays, truncates or deletes any file with
//! such a name, so a file that already exists must be SQLite's own.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// First bytes of a rollback journal (SQLite's file format, section 3). An unsynced or finished
/// journal has zeroes there.
const JOURNAL: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
/// First bytes of a write-ahead log but for the last bit (section 4.1).
const LOG: [u8; 4] = [0x37, 0x7f, 0x06, 0x82];
/// The index of a write-ahead log is allocated in pieces of this size.
const INDEX_PIECE: u64 = 32 << 10;

const JOURNAL_END: &str = "-journal";
const LOG_END: &str = "-wal";
const INDEX_END: &str = "-shm";

/// Files that SQLite may keep beside the archive `path`.
pub fn side_files(path: &Path) -> [PathBuf; 3] {
    [JOURNAL_END, LOG_END, INDEX_END].map(|end| beside(path, end))
}

/// Path of the rollback journal.
pub(crate) fn journal(path: &Path) -> PathBuf {
    beside(path, JOURNAL_END)
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Those that exist.
pub(crate) fn present(path: &Path) -> Vec<PathBuf> {
    let sides = side_files(path).into_iter();
    sides
        .filter(|side| side.symlink_metadata().is_ok())
        .collect()
}

/// Those that exist and are not SQLite's.
pub(crate) fn foreign(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut foreign = Vec::new();
    for end in [JOURNAL_END, LOG_END, INDEX_END] {
        let side = beside(path, end);
        if !is_of_sqlite(&side, end)? {
            foreign.push(side);
        }
    }
    Ok(foreign)
}

fn is_of_sqlite(side: &Path, end: &str) -> io::Result<bool> {
    // Another program may be saving a run, whose journal comes and goes.
    let gone = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => Ok(true),
        _ => Err(error),
    };
    match side.symlink_metadata() {
        Ok(found) if !is_plain(&found) => return Ok(false),
        Ok(_) => {}
        Err(error) => return gone(error),
    }
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let opened = File::options()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(side);
    let file = match opened {
        Ok(file) => file,
        Err(error) => return gone(error),
    };
    let found = file.metadata()?;
    let mut head = Vec::new();
    if !found.is_file() {
        return Ok(false);
    }
    file.take(JOURNAL.len() as u64).read_to_end(&mut head)?;
    Ok(match end {
        _ if head.is_empty() => true,
        INDEX_END => found.len() % INDEX_PIECE == 0,
        LOG_END => {
            head.len() == JOURNAL.len()
                && [LOG[3], LOG[3] | 1].contains(&head[3])
                && head[..3] == LOG[..3]
        }
        _ => head == JOURNAL || head == [0; JOURNAL.len()],
    })
}

/// A file with this one name.
pub(crate) fn is_plain(found: &Metadata) -> bool {
    found.is_file() && found.nlink() <= 1
}
