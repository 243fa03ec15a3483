//! What another user may have put in our way: links and files in directories where anyone can make
//! them, such as `/tmp`. The rule is that of the kernel's `protected_symlinks`, which is not always
//! on, and which reading a link by hand goes around.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::process::geteuid;

/// As many links as the kernel follows.
const LINKS_MAX: u32 = 40;
/// The sticky bit, and that of writing by everybody.
const SHARED: u32 = 0o1002;

/// Whether what lies in the directory may have been put there against `user`: neither he nor the
/// directory's owner owns it, and others can make files there.
const fn is_planted(directory: (u32, u32), owner: u32, user: u32) -> bool {
    let (mode, directory_owner) = directory;
    mode & SHARED != 0 && owner != user && owner != directory_owner
}

/// Whether a file in that directory is of another user, who need not mean well.
pub fn is_strangers(directory: &Metadata, file: &Metadata) -> bool {
    let user = geteuid().as_raw();
    is_planted((directory.mode(), directory.uid()), file.uid(), user)
}

/// Follow all links of a path, as far as it exists, and refuse those of strangers.
///
/// # Errors
/// When a link is of another user in a directory where anyone can make one, or links lead in a
/// circle.
pub fn refuse_strangers_links(path: &Path) -> io::Result<()> {
    let mut left = parts(&std::path::absolute(path)?);
    let (mut here, mut followed) = (PathBuf::from("/"), 0);
    while let Some(part) = left.pop_front() {
        if part == ".." {
            here.pop();
            continue;
        }
        let entry = here.join(&part);
        let Ok(found) = entry.symlink_metadata() else {
            return Ok(());
        };
        if !found.is_symlink() {
            here = entry;
            continue;
        }
        if is_strangers(&here.metadata()?, &found) {
            let text = format!(
                "{} is a link of another user, in a directory where anyone can make one: name what \
                 it leads to",
                entry.display()
            );
            return Err(io::Error::new(ErrorKind::PermissionDenied, text));
        }
        followed += 1;
        if followed > LINKS_MAX {
            return Err(ErrorKind::TooManyLinks.into());
        }
        // Links of `/proc` need not lead to a name.
        let Ok(target) = fs::read_link(&entry) else {
            return Ok(());
        };
        if target.is_absolute() {
            here = PathBuf::from("/");
        }
        let mut ahead = parts(&target);
        ahead.append(&mut left);
        left = ahead;
    }
    Ok(())
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let components = path.components().filter_map(|it| match it {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    components.collect()
}

#[cfg(test)]
#[allow(clippy::print_stderr)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};

    use super::*;

    #[test]
    fn only_strangers_in_shared_directories_are_feared() {
        for (mode, owner, expected) in [
            (0o41777, 9, true),
            (0o40777, 9, true),
            (0o41755, 9, true),
            (0o41777, 5, false),
            (0o41777, 0, false),
            (0o40755, 9, false),
            (0o40775, 9, false),
        ] {
            assert_eq!(
                is_planted((mode, 0), owner, 5),
                expected,
                "{mode:o} {owner}"
            );
        }
    }

    /// Root's output once went where a link of `nobody` in a sticky directory led.
    #[test]
    fn a_strangers_link_is_refused_wherever_it_stands_in_the_path() {
        let top = tempfile::tempdir().expect("a directory");
        let shared = top.path().join("shared");
        let goal = top.path().join("goal");
        fs::create_dir(&shared).expect("a directory");
        fs::create_dir(&goal).expect("a directory");
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).expect("a mode");
        let link = shared.join("link");
        symlink(&goal, &link).expect("a link");
        let behind = top.path().join("behind");
        symlink("shared/../shared/link", &behind).expect("a link");
        let paths = [
            link.clone(),
            link.join("new"),
            behind.clone(),
            behind.join("a/b"),
        ];
        for path in &paths {
            refuse_strangers_links(path).expect("our own link");
        }
        if lchown(&link, Some(65_534), None).is_err() {
            eprintln!("skipped: giving a link away needs root");
            return;
        }
        if geteuid().as_raw() == 65_534 {
            return;
        }
        for path in &paths {
            let error = refuse_strangers_links(path).expect_err("a stranger's");
            assert!(
                error.to_string().contains("a link of another user"),
                "{error}"
            );
        }
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o755)).expect("a mode");
        refuse_strangers_links(&link).expect("nobody else makes links here");
        let circle = top.path().join("circle");
        symlink("circle", &circle).expect("a link");
        assert!(refuse_strangers_links(&circle).is_err());
    }
}
