//! Which file it is: what tells one file from any other, so that a name which has come to stand for
//! something else is noticed before the first byte.
//!
//! A file system gives the inode number of a removed file to the next one. So the moment of birth
//! and the inode's generation belong to an identity, too, wherever the file system keeps them.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, StatxFlags};
use rustix::io::Errno;
use rustix::ioctl::{Getter, ioctl, opcode};

/// `FS_IOC_GETVERSION`: the generation of an inode, another one each time its number is given away.
const GET_GENERATION: rustix::ioctl::Opcode = opcode::read::<libc::c_long>(b'v', 1);
/// Permissions of whoever is not the owner.
const OTHERS: u32 = 0o077;

/// What tells one file from any other.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    device: (u32, u32),
    inode: u64,
    /// When it was made: seconds and nanoseconds.
    born: Option<(i64, u32)>,
    /// Which of the files that had this inode number.
    generation: Option<u32>,
}

/// What a descriptor or a name stands for.
#[derive(Clone, Copy, Debug)]
pub struct FileLinks {
    /// Which file it is.
    pub identity: Identity,
    /// How many names it has.
    pub links: u32,
    /// Its length in bytes.
    pub size: u64,
    /// Bytes that it takes up.
    pub taken: u64,
    pub owner: u32,
    mode: u32,
}

impl Identity {
    /// The identity of an open file.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn of(file: impl AsFd) -> io::Result<Self> {
        Ok(FileLinks::of(file)?.identity)
    }

    /// The identity of a file that was just made, by one call. Without the inode's generation,
    /// which a name does not tell either: for what is compared by its name.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn of_new(file: &File) -> io::Result<Self> {
        Ok(look(file.as_fd(), Path::new(""), AtFlags::EMPTY_PATH)?.identity)
    }

    /// Its numbers as `stat` has them, which are the same for every descriptor of one file.
    pub(crate) fn numbers(&self) -> (u64, u64) {
        let (major, minor) = self.device;
        (rustix::fs::makedev(major, minor), self.inode)
    }

    /// In one word, for a record beside the file. Devices are numbered anew with each start of the
    /// machine, so they have no part in it.
    pub fn text(&self) -> String {
        let (seconds, nanoseconds) = self.born.unwrap_or_default();
        let generation = self.generation.unwrap_or_default();
        format!("{}:{seconds}.{nanoseconds:09}:{generation}", self.inode)
    }

    /// Whether both are one file, by everything that is known of both.
    pub fn is_same_file(&self, other: &Self) -> bool {
        fn differ<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
            one.zip(other).is_some_and(|(one, other)| one != other)
        }
        (self.device, self.inode) == (other.device, other.inode)
            && !differ(self.born, other.born)
            && !differ(self.generation, other.generation)
    }
}

impl FileLinks {
    /// What an open descriptor stands for.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn of(file: impl AsFd) -> io::Result<Self> {
        let file = file.as_fd();
        let mut found = look(file, Path::new(""), AtFlags::EMPTY_PATH)?;
        if found.is_file() {
            found.identity.generation = generation(file);
        }
        Ok(found)
    }

    /// What `name` in `directory` stands for; a link is not followed.
    ///
    /// # Errors
    /// When there is nothing, or the system does not tell.
    pub fn named(directory: impl AsFd, name: impl AsRef<Path>) -> io::Result<Self> {
        look(directory.as_fd(), name.as_ref(), AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        FileType::from_raw_mode(self.mode) == FileType::RegularFile
    }

    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        FileType::from_raw_mode(self.mode) == FileType::Directory
    }

    /// Whether it is a directory of this user that nobody else may enter.
    pub fn is_own_directory(&self) -> bool {
        let is_mine = self.owner == rustix::process::geteuid().as_raw();
        self.is_directory() && self.is_private() && is_mine
    }

    /// Whether only its owner may use it.
    pub const fn is_private(&self) -> bool {
        self.mode & OTHERS == 0
    }
}

fn look(directory: BorrowedFd<'_>, name: &Path, flags: AtFlags) -> io::Result<FileLinks> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
    match rustix::fs::statx(directory, name, flags, wanted) {
        Ok(found) => {
            let has_birth = found.stx_mask & StatxFlags::BTIME.bits() != 0;
            let born = (found.stx_btime.tv_sec, found.stx_btime.tv_nsec);
            Ok(FileLinks {
                identity: Identity {
                    device: (found.stx_dev_major, found.stx_dev_minor),
                    inode: found.stx_ino,
                    born: has_birth.then_some(born),
                    generation: None,
                },
                links: found.stx_nlink,
                size: found.stx_size,
                taken: found.stx_blocks * 512,
                owner: found.stx_uid,
                mode: u32::from(found.stx_mode),
            })
        }
        // Old kernels do not know the call, and sandboxes forbid it.
        Err(Errno::NOSYS | Errno::PERM) => look_without_birth(directory, name, flags),
        Err(error) => Err(error.into()),
    }
}

fn look_without_birth(
    directory: BorrowedFd<'_>,
    name: &Path,
    flags: AtFlags,
) -> io::Result<FileLinks> {
    let found = match flags {
        AtFlags::EMPTY_PATH => rustix::fs::fstat(directory)?,
        flags => rustix::fs::statat(directory, name, flags)?,
    };
    Ok(FileLinks {
        identity: Identity {
            device: (
                rustix::fs::major(found.st_dev),
                rustix::fs::minor(found.st_dev),
            ),
            inode: found.st_ino,
            born: None,
            generation: None,
        },
        links: u32::try_from(found.st_nlink).unwrap_or(u32::MAX),
        size: found.st_size.cast_unsigned(),
        taken: found.st_blocks.cast_unsigned() * 512,
        owner: found.st_uid,
        mode: found.st_mode,
    })
}

/// The generation of an open file's inode; `None` where the file system keeps none, or the
/// descriptor is no more than a path.
fn generation(file: BorrowedFd<'_>) -> Option<u32> {
    // SAFETY: the request is declared to read a long, and that is what its getter holds room for.
    // File systems write an int there; the upper half stays zero.
    let found = unsafe {
        let getter = Getter::<GET_GENERATION, libc::c_long>::new();
        ioctl(file, getter)
    };
    found.ok().map(|it| it as u32)
}

/// Refuse an open file that is not the one of `identity`, or that has another name, too: what is
/// written into it would change somebody else's file.
///
/// # Errors
/// When it is another file, or the system does not tell.
pub fn require(file: &File, identity: &Identity) -> io::Result<()> {
    let found = FileLinks::of(file)?;
    if !found.identity.is_same_file(identity) {
        return Err(io::Error::other("another file has its name now"));
    }
    if found.links > 1 {
        return Err(io::Error::other("it has a second name (a hard link) now"));
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::print_stderr)]
mod tests {
    use std::collections::HashMap;
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_itself_under_any_name_and_descriptor() {
        let top = tempfile::tempdir().expect("a directory");
        let path = top.path().join("a");
        let made = File::create(&path).expect("a file");
        let identity = Identity::of(&made).expect("an identity");
        fs::rename(&path, top.path().join("b")).expect("renamed");
        let again = File::open(top.path().join("b")).expect("a file");
        assert!(identity.is_same_file(&Identity::of(&again).expect("an identity")));
        let directory = File::open(top.path()).expect("a directory");
        let named = FileLinks::named(&directory, "b").expect("a name");
        assert!(identity.is_same_file(&named.identity) && named.is_file());
    }

    /// ext4 gives a freed inode number to the next file at once: by number and size alone the next
    /// file of the user's passed for ours.
    #[test]
    fn a_file_that_got_a_freed_inode_number_is_another_one() {
        let top = tempfile::tempdir().expect("a directory");
        let path = top.path().join("a");
        let make = || {
            let file = File::create_new(&path).expect("a file");
            fs::remove_file(&path).expect("removed");
            Identity::of(&file).expect("an identity")
        };
        let first = make();
        if first.generation.is_none() {
            eprintln!("skipped: this file system keeps no generations of inodes");
            return;
        }
        // Whoever makes files in the same place may get a freed number before this test does.
        let mut known = HashMap::from([(first.inode, first)]);
        let mut reused = 0;
        for _ in 0..1000 {
            let next = make();
            if let Some(earlier) = known.insert(next.inode, next) {
                reused += 1;
                assert!(
                    !earlier.is_same_file(&next),
                    "{earlier:?} passed for {next:?}"
                );
            }
        }
        if reused == 0 {
            eprintln!("skipped: this file system used no inode number twice in 1,000 files");
        }
    }

    #[test]
    fn a_second_name_and_another_file_are_refused() {
        let top = tempfile::tempdir().expect("a directory");
        let path = top.path().join("a");
        let file = File::create(&path).expect("a file");
        let identity = Identity::of(&file).expect("an identity");
        require(&file, &identity).expect("the same");
        fs::hard_link(&path, top.path().join("b")).expect("a name");
        let refused = require(&file, &identity).expect_err("two names");
        assert!(refused.to_string().contains("second name"), "{refused}");
        let other = File::create(top.path().join("c")).expect("a file");
        let refused = require(&other, &identity).expect_err("another");
        assert!(refused.to_string().contains("another file"), "{refused}");
    }
}
