//! Files that come into being whole: written under no name, or under one of our own, and given
//! theirs in one step that never goes over what somebody else put there.
//!
//! Where the file system knows files without a name (`O_TMPFILE`), nothing stays behind however the
//! program ends. Elsewhere the file has a random name until it is done, which [`remove_unfinished`]
//! takes away when a signal ends the program.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, openat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use super::removal::{mark_removable, move_without_replacing, unmark};
use super::seal::random;

/// How a name begins that a file has until it is published; sixteen digits follow.
pub(super) const UNPUBLISHED: &str = ".seekstone-new-";
/// Names that are tried before it is given up.
const TRIES: u32 = 16;

/// Names that stand for files which are not done, with their directories. Signals end a process,
/// so this is of the process.
static UNFINISHED: Mutex<Vec<(Arc<File>, OsString)>> = Mutex::new(Vec::new());

/// A file that nobody sees yet. Dropped before it is published, it is gone.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    directory: Arc<File>,
    /// The name that it has until it is published; none where the system needs none.
    name: Option<OsString>,
}

/// Open a directory in order to make files in it.
///
/// # Errors
/// When there is none, or it may not be searched.
pub fn open_directory(path: &Path) -> io::Result<File> {
    let flags = OFlags::PATH | OFlags::DIRECTORY;
    std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
}

impl NewFile {
    /// Make one in `directory`, readable and writable for those whom `mode` and the umask allow.
    ///
    /// # Errors
    /// When the directory takes no files.
    pub fn create(directory: File, mode: u32) -> io::Result<Self> {
        let mode = Mode::from_raw_mode(mode);
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::TMPFILE;
        match openat(&directory, ".", flags, mode) {
            Ok(file) => Ok(Self {
                file: file.into(),
                directory: Arc::new(directory),
                name: None,
            }),
            // Not every file system knows that; what else was wrong shows again here.
            Err(_) => Self::named(directory, mode),
        }
    }

    fn named(directory: File, mode: Mode) -> io::Result<Self> {
        let directory = Arc::new(directory);
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let flags = flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let (file, name) = with_fresh_name(|name| openat(&directory, name, flags, mode))?;
        unfinished().push((Arc::clone(&directory), name.clone()));
        Ok(Self {
            file: file.into(),
            directory,
            name: Some(name),
        })
    }

    /// Its content, to be written.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Give it its name, if nothing has that name.
    ///
    /// # Errors
    /// `AlreadyExists` when something has, which stays as it is; or what the system says.
    pub fn publish(&mut self, name: &OsStr) -> io::Result<()> {
        let Some(own) = &self.name else {
            return Ok(self.link(name)?);
        };
        let directory = &*self.directory;
        move_without_replacing((directory, own), (directory, name))?;
        self.forget();
        Ok(())
    }

    /// Give it a name in place of the file `judged`, if that file still has the name and
    /// `is_unchanged` says so when nobody can open it by its name any more.
    ///
    /// # Errors
    /// `AlreadyExists` when another file has the name, or the file was changed: it is back in its
    /// place; or what the system says.
    pub fn replace(
        &mut self,
        name: &OsStr,
        judged: &File,
        is_unchanged: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        // Killed meanwhile, we leave one of both under our own name.
        mark_removable(&self.file);
        mark_removable(judged);
        let replaced = match is_unchanged() {
            true => self.exchange(name, judged, is_unchanged),
            false => Err(ErrorKind::AlreadyExists.into()),
        };
        unmark(judged);
        unmark(&self.file);
        replaced
    }

    fn exchange(
        &mut self,
        name: &OsStr,
        judged: &File,
        is_unchanged: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        let judged = judged.metadata()?;
        if self.name.is_none() {
            let (directory, file) = (Arc::clone(&self.directory), &self.file);
            let (_, own) = with_fresh_name(|own| link(file, &directory, own))?;
            unfinished().push((directory, own.clone()));
            self.name = Some(own);
        }
        let own = self.name.clone().unwrap_or_default();
        let directory = &*self.directory;
        let is_judged = |at: &OsStr| {
            let found = statat(directory, at, AtFlags::SYMLINK_NOFOLLOW);
            found.is_ok_and(|found| (found.st_dev, found.st_ino) == (judged.dev(), judged.ino()))
        };
        let exchange = || renameat_with(directory, &own, directory, name, RenameFlags::EXCHANGE);
        match exchange() {
            Ok(()) if is_judged(&own) && is_unchanged() => {
                unlinkat(directory, &own, AtFlags::empty())?;
            }
            Ok(()) => {
                exchange()?;
                return Err(ErrorKind::AlreadyExists.into());
            }
            // Not every file system exchanges: then there is a moment between look and step.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                if !is_judged(name) || !is_unchanged() {
                    return Err(ErrorKind::AlreadyExists.into());
                }
                renameat_with(directory, &own, directory, name, RenameFlags::empty())?;
            }
            Err(error) => return Err(error.into()),
        }
        self.forget();
        Ok(())
    }

    fn link(&self, name: &OsStr) -> Result<(), Errno> {
        link(&self.file, &self.directory, name)
    }

    /// It has its name: what was its own is another's, or nobody's.
    fn forget(&mut self) {
        let own = self.name.take();
        unfinished().retain(|(directory, name)| {
            !Arc::ptr_eq(directory, &self.directory) || Some(name) != own.as_ref()
        });
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // Random, and made exclusively: nobody else has it.
            let _ = unlinkat(&*self.directory, name, AtFlags::empty());
            self.forget();
        }
    }
}

/// Remove what is not done, for a signal ends the program.
pub fn remove_unfinished() {
    for (directory, name) in unfinished().drain(..) {
        let _ = unlinkat(&*directory, &name, AtFlags::empty());
    }
}

fn unfinished() -> MutexGuard<'static, Vec<(Arc<File>, OsString)>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Give a file without a name one. By the directory of descriptors any user may, by an empty path
/// only some.
fn link(file: &File, directory: &File, name: &OsStr) -> Result<(), Errno> {
    let descriptor = format!("/proc/self/fd/{}", file.as_raw_fd());
    let follow = AtFlags::SYMLINK_FOLLOW;
    match linkat(CWD, &*descriptor, directory, name, follow) {
        Err(Errno::NOENT) => linkat(file, "", directory, name, AtFlags::EMPTY_PATH),
        done => done,
    }
}

/// Try names that nobody has thought of.
fn with_fresh_name<T>(
    mut make: impl FnMut(&OsStr) -> Result<T, Errno>,
) -> Result<(T, OsString), Errno> {
    let mut made = Err(Errno::EXIST);
    for _ in 0..TRIES {
        let number = random().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let name = OsString::from(format!("{UNPUBLISHED}{number:016x}"));
        made = make(&name).map(|made| (made, name));
        if !matches!(made, Err(Errno::EXIST)) {
            break;
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;

    fn names(directory: &Path) -> Vec<OsString> {
        let entries = fs::read_dir(directory).expect("a directory");
        let mut names: Vec<OsString> = entries
            .map(|it| it.expect("an entry").file_name())
            .collect();
        names.sort();
        names
    }

    /// One without a name, and one as where the file system knows no such files.
    fn new_files(directory: &Path) -> [NewFile; 2] {
        let opened = || open_directory(directory).expect("a directory");
        let mode = Mode::from_raw_mode(0o666);
        let new = [
            NewFile::create(opened(), 0o666).expect("a file"),
            NewFile::named(opened(), mode).expect("a file"),
        ];
        for new in &new {
            new.file().write_all(b"new").expect("written");
        }
        new
    }

    #[test]
    fn a_file_has_its_name_when_it_is_whole_and_none_before() {
        let top = tempfile::tempdir().expect("a directory");
        drop(new_files(top.path()));
        assert!(names(top.path()).is_empty());
        for mut new in new_files(top.path()) {
            new.publish(OsStr::new("x")).expect("published");
            drop(new);
            assert_eq!(fs::read(top.path().join("x")).expect("content"), b"new");
            fs::remove_file(top.path().join("x")).expect("removed");
        }
        assert!(names(top.path()).is_empty());
    }

    #[test]
    fn a_name_that_somebody_took_meanwhile_is_left_to_them() {
        let top = tempfile::tempdir().expect("a directory");
        for (mut new, beside) in new_files(top.path()).into_iter().zip(["x.1", "x.2"]) {
            fs::write(top.path().join("x"), "precious").expect("a file");
            let error = new.publish(OsStr::new("x")).expect_err("it exists");
            assert_eq!(error.kind(), ErrorKind::AlreadyExists);
            // Under another name it is not lost.
            new.publish(OsStr::new(beside)).expect("published");
        }
        assert_eq!(names(top.path()), ["x", "x.1", "x.2"]);
        let kept = fs::read(top.path().join("x")).expect("content");
        assert_eq!(kept, b"precious");
    }

    #[test]
    fn only_the_judged_file_is_replaced_and_only_unchanged() {
        let top = tempfile::tempdir().expect("a directory");
        let path = top.path().join("x");
        let name = OsStr::new("x");
        for mut new in new_files(top.path()) {
            fs::write(&path, "old").expect("a file");
            let judged = File::open(&path).expect("a file");
            let error = new.replace(name, &judged, &|| false);
            let error = error.expect_err("it was changed").kind();
            assert_eq!(error, ErrorKind::AlreadyExists);
            assert_eq!(fs::read(&path).expect("content"), b"old");
            fs::rename(&path, top.path().join("away")).expect("renamed");
            fs::write(&path, "another").expect("a file");
            let error = new.replace(name, &judged, &|| true);
            let error = error.expect_err("it is another").kind();
            assert_eq!(error, ErrorKind::AlreadyExists);
            assert_eq!(fs::read(&path).expect("content"), b"another");
            fs::rename(top.path().join("away"), &path).expect("renamed");
            new.replace(name, &judged, &|| true).expect("replaced");
            assert_eq!(fs::read(&path).expect("content"), b"new");
        }
        assert_eq!(names(top.path()), ["x"]);
    }
}
