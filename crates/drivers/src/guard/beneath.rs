//! Opening what lies in a directory of ours, and nothing else: no link is followed, no mount
//! entered, nothing above reached, whatever others put in the way.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Component, Path};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::identity::FileLinks;

/// The kernel asks for another try when something was renamed while it looked.
const ATTEMPTS: usize = 128;

const INSIDE: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

/// Open `path` in `directory`; new files are for their owner alone.
///
/// # Errors
/// `ELOOP` at a link, `EXDEV` at a mount, and whatever else the system refuses.
pub(crate) fn open_beneath(
    directory: impl AsFd,
    path: impl AsRef<Path>,
    flags: OFlags,
) -> Result<File, Errno> {
    let (directory, path) = (directory.as_fd(), path.as_ref());
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = match flags.contains(OFlags::CREATE) {
        true => Mode::RUSR | Mode::WUSR,
        false => Mode::empty(),
    };
    for _ in 0..ATTEMPTS {
        match rustix::fs::openat2(directory, path, flags, mode, INSIDE) {
            Err(Errno::AGAIN) => {}
            // Kernels before 5.6 do not know the call, and sandboxes forbid it.
            Err(Errno::NOSYS | Errno::PERM) => {
                return open_step_by_step(directory, path, flags, mode);
            }
            opened => return opened.map(File::from),
        }
    }
    Err(Errno::AGAIN)
}

/// Make the new file `name` in `directory`, readable by its owner only. `O_EXCL` alone follows no
/// link and enters no mount.
///
/// # Errors
/// `EEXIST` when something has the name, and whatever else the system refuses.
pub(crate) fn create_new(directory: impl AsFd, name: &str) -> Result<File, Errno> {
    assert!(!name.contains('/'), "a name, not a path");
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    rustix::fs::openat(directory, name, flags, mode).map(File::from)
}

/// [`open_beneath`] on kernels without `openat2`: one call for each part of the path. A mount point
/// shows as another device, but not if a directory of the same file system is mounted there: names
/// and identities have to show that.
fn open_step_by_step(
    directory: impl AsFd,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> Result<File, Errno> {
    let device = rustix::fs::fstat(&directory)?.st_dev;
    let step = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = rustix::fs::openat(&directory, ".", step, Mode::empty())?;
    let mut parts = path.components().peekable();
    while let Some(part) = parts.next() {
        let (Component::Normal(_) | Component::CurDir) = part else {
            return Err(Errno::XDEV);
        };
        if parts.peek().is_some() {
            at = rustix::fs::openat(&at, part.as_os_str(), step, Mode::empty())?;
            continue;
        }
        let opened = rustix::fs::openat(&at, part.as_os_str(), flags, mode)?;
        return match rustix::fs::fstat(&opened)?.st_dev == device {
            true => Ok(File::from(opened)),
            false => Err(Errno::XDEV),
        };
    }
    Err(Errno::NOENT)
}

/// Open `name` in `directory` for reading if it is a regular file, without waiting for anybody;
/// `None` when it is something else.
///
/// # Errors
/// As [`open_beneath`].
pub(crate) fn open_file(
    directory: impl AsFd,
    name: impl AsRef<Path>,
) -> Result<Option<File>, Errno> {
    let name = name.as_ref();
    // Asked by its path first: opening a device can do something.
    let seen = open_beneath(&directory, name, OFlags::PATH)?;
    let is_file = |file: &File| FileLinks::of(file).is_ok_and(|found| found.is_file());
    if !is_file(&seen) {
        return Ok(None);
    }
    let opened = open_beneath(&directory, name, OFlags::RDONLY | OFlags::NONBLOCK)?;
    Ok(is_file(&opened).then_some(opened))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_and_ways_out_are_refused_by_both_ways_of_opening() {
        let top = tempfile::tempdir().expect("a directory");
        let path = |name: &str| top.path().join(name);
        fs::create_dir(path("in")).expect("a directory");
        fs::create_dir(path("out")).expect("a directory");
        fs::write(path("out/precious"), "of the user").expect("a file");
        fs::write(path("in/file"), "ours").expect("a file");
        symlink(path("out"), path("in/link")).expect("a link");
        symlink(path("out/precious"), path("in/name")).expect("a link");
        let directory = File::open(path("in")).expect("a directory");
        let reading = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for open in [
            |directory: &File, path: &str, flags| open_beneath(directory, path, flags),
            |directory: &File, path: &str, flags| {
                open_step_by_step(directory, Path::new(path), flags, Mode::empty())
            },
        ] {
            open(&directory, "file", reading).expect("ours");
            for foreign in ["link/precious", "name", "../out/precious"] {
                open(&directory, foreign, reading).expect_err(foreign);
            }
        }
        assert!(open_file(&directory, "file").expect("opened").is_some());
        rustix::fs::mkfifoat(&directory, "pipe", Mode::RUSR).expect("a pipe");
        assert!(open_file(&directory, "pipe").expect("opened").is_none());
    }
}
