//! The mark of a file that a run left to its user on purpose: a later run may write it again, as
//! long as nobody else has.
//!
//! An extended attribute names the file, its length, and when it was written last. A copy is
//! another file, and what somebody else has written has another time: the mark of either proves
//! nothing.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::XattrFlags;

use super::identity::FileLinks;

const ATTRIBUTE: &str = "user.seekstone.kept";
/// Bytes of a mark, at most.
const BYTES_MAX: usize = 256;

/// Mark a file as it is now.
///
/// # Errors
/// When the file system keeps no such attributes.
pub fn mark_kept(file: &File) -> io::Result<()> {
    mark(file, ATTRIBUTE)
}

/// Whether an open file is one that an earlier run kept, under one name, and nobody has written it
/// since.
pub fn is_kept(file: &File) -> bool {
    is_marked(file, ATTRIBUTE)
}

/// Mark a file as it is now by an attribute of that name.
pub(super) fn mark(file: &File, attribute: &str) -> io::Result<()> {
    let mark = mark_of(file)?;
    let flags = XattrFlags::empty();
    Ok(rustix::fs::fsetxattr(
        file,
        attribute,
        mark.as_bytes(),
        flags,
    )?)
}

/// Whether an open file under one name was marked so, and nobody has written it since.
pub(super) fn is_marked(file: &File, attribute: &str) -> bool {
    let mut bytes = [0; BYTES_MAX];
    let read = rustix::fs::fgetxattr(file, attribute, &mut bytes);
    let is_alone = FileLinks::of(file).is_ok_and(|it| it.is_file() && it.links == 1);
    let is_marked = |len: usize| mark_of(file).is_ok_and(|mark| mark.as_bytes() == &bytes[..len]);
    is_alone && read.is_ok_and(is_marked)
}

/// The same of whatever has that name.
pub fn is_kept_at(path: &Path) -> bool {
    let is_file = path.metadata().is_ok_and(|it| it.is_file());
    is_file && File::open(path).is_ok_and(|file| is_kept(&file))
}

fn mark_of(file: &File) -> io::Result<String> {
    let which = FileLinks::of(file)?.identity.text();
    let found = file.metadata()?;
    let (size, seconds, nanoseconds) = (found.size(), found.mtime(), found.mtime_nsec());
    Ok(format!("{which} {size} {seconds}.{nanoseconds:09}"))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::FileExt as _;

    use super::*;

    #[test]
    fn a_mark_holds_for_one_file_that_nobody_else_wrote() {
        let top = tempfile::tempdir().expect("a directory");
        let path = top.path().join("data");
        let mut file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
            .expect("a file");
        file.write_all(b"content").expect("written");
        assert!(!is_kept_at(&path));
        mark_kept(&file).expect("an attribute");
        assert!(is_kept_at(&path));

        let second = top.path().join("second");
        std::fs::hard_link(&path, &second).expect("a link");
        assert!(!is_kept_at(&path), "it has two names");
        std::fs::remove_file(&second).expect("removed");
        assert!(is_kept_at(&path));

        let mut value = [0; BYTES_MAX];
        let len = rustix::fs::fgetxattr(&file, ATTRIBUTE, &mut value).expect("the mark");
        let copy = top.path().join("copy");
        std::fs::write(&copy, b"content").expect("a copy");
        let copied = File::open(&copy).expect("the copy");
        let times = std::fs::FileTimes::new().set_modified(
            file.metadata()
                .and_then(|it| it.modified())
                .expect("a time"),
        );
        copied.set_times(times).expect("its time");
        rustix::fs::fsetxattr(&copied, ATTRIBUTE, &value[..len], XattrFlags::empty())
            .expect("its attribute");
        assert!(!is_kept_at(&copy), "a copy is another file");

        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(1);
        file.write_all_at(b"others", 0).expect("written");
        file.set_times(std::fs::FileTimes::new().set_modified(later))
            .expect("a time");
        assert!(!is_kept_at(&path), "it was written since");
    }
}
