//! Data files that killed programs of 1997 (`diskmbps`) left, and their removal.
//!
//! Such a file lies among a user's own, and only its name and content tell whose it is. So what is
//! removed has a name that the program gives, belongs to us, is used by nobody, has no other name,
//! and holds in its first and last whole block exactly what the program writes. A file that was cut
//! off before its first block was whole is left alone.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use classic::diskmbps::{BLOCK_BYTES, block};
use rustix::fs::{FlockOperation, Mode, OFlags, flock};

use crate::classic::left_over;

/// A data file that nobody uses. While this value lives, no program takes it up.
#[derive(Debug)]
pub struct DataFile {
    /// Where it is.
    pub path: PathBuf,
    /// Bytes that it takes up.
    pub bytes: u64,
    /// Holds the lock.
    file: File,
}

/// The data files in `directory` that killed programs left, in the order of their names.
#[must_use]
pub fn data_files(directory: &Path) -> Vec<DataFile> {
    let mut paths = left_over(directory);
    paths.sort_unstable();
    let files = paths.into_iter().filter_map(|path| examine(path).ok());
    files.flatten().collect()
}

impl DataFile {
    /// Remove it.
    ///
    /// # Errors
    /// When another file has its name now, or the system refuses.
    pub fn remove(self) -> io::Result<()> {
        let (held, named) = (self.file.metadata()?, self.path.symlink_metadata()?);
        if (held.dev(), held.ino()) != (named.dev(), named.ino()) {
            return Err(io::Error::other("another file has this name now"));
        }
        std::fs::remove_file(&self.path)
    }
}

fn examine(path: PathBuf) -> io::Result<Option<DataFile>> {
    // Neither a link nor a FIFO may lead or hold us.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(&path, flags, Mode::empty())?);
    let found = file.metadata()?;
    let me = rustix::process::geteuid();
    let is_ours = me.is_root() || found.uid() == me.as_raw();
    let is_alone = found.is_file() && found.nlink() == 1;
    if !is_ours || !is_alone || flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(None);
    }
    let blocks = found.len() / BLOCK_BYTES as u64;
    let expected = block();
    let mut content = vec![0; BLOCK_BYTES];
    for number in [0, blocks.saturating_sub(1)] {
        if blocks == 0 {
            return Ok(None);
        }
        file.read_exact_at(&mut content, number * BLOCK_BYTES as u64)?;
        if content != expected {
            return Ok(None);
        }
    }
    Ok(Some(DataFile {
        bytes: found.blocks() * 512,
        path,
        file,
    }))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_what_the_program_wrote_is_taken_for_its_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = |name: &str| directory.path().join(name);
        let (whole, other) = (block(), vec![7_u8; BLOCK_BYTES]);
        let write = |name: &str, parts: &[&[u8]]| {
            fs::write(path(name), parts.concat()).expect("a file");
        };
        write("J000000A.TMP", &[&whole, &whole, &whole[..100]]);
        write("J000000B.TMP", &[&whole]);
        write("J000000C.TMP", &[&other]);
        write("J000000D.TMP", &[&whole, &other]);
        write("J000000E.TMP", &[&whole[..100]]);
        write("J000000F.TMP", &[]);
        write("other.TMP", &[&whole]);
        write("J000000G.TXT", &[&whole]);
        write("J000000H.TMP", &[&whole]);
        fs::hard_link(path("J000000H.TMP"), path("precious")).expect("a second name");
        std::os::unix::fs::symlink(path("J000000B.TMP"), path("J000000I.TMP")).expect("a link");
        let names = |files: Vec<DataFile>| -> Vec<String> {
            let paths = files.into_iter().map(|it| it.path);
            paths
                .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
                .collect()
        };
        assert_eq!(
            names(data_files(directory.path())),
            ["J000000A.TMP", "J000000B.TMP"]
        );
        let used = File::open(path("J000000B.TMP")).expect("a file");
        flock(&used, FlockOperation::LockExclusive).expect("a lock");
        let found = data_files(directory.path());
        assert_eq!(found.len(), 1);
        for file in found {
            file.remove().expect("a file of ours");
        }
        assert!(!path("J000000A.TMP").exists());
        assert_eq!(names(data_files(directory.path())), [""; 0]);
    }

    #[test]
    fn a_file_that_was_exchanged_is_not_removed() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("J000000A.TMP");
        fs::write(&path, block()).expect("a file");
        let mut found = data_files(directory.path());
        fs::remove_file(&path).expect("a file");
        fs::write(&path, "precious").expect("a file");
        let file = found.pop().expect("a data file");
        file.remove().expect_err("it is another file");
        assert_eq!(fs::read(&path).expect("a file"), b"precious");
    }
}
