//! Somebody who puts other files in the place of those that a program makes, while it runs.
//!
//! All that appears in the watched directory is swapped, at once or a little later, by the means of
//! one kind. A file that was made anew is swapped anew.

use std::collections::BTreeMap;
use std::fs::{self, FileType};
use std::io;
use std::os::unix::fs::{DirEntryExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::mount::{UnmountFlags, mount_bind, unmount};

use super::place::Place;
use super::precious::{Kind, Precious, Vault};

/// How a name comes to stand for something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// `rename(precious, name)`; a directory is moved aside first.
    Rename,
    /// `link(precious, spare)` and `rename(spare, name)`; files only.
    Link,
    /// `symlink(precious, spare)` and `rename(spare, name)`.
    Symlink,
    /// To and fro, without a moment in which the name is not there.
    Exchange,
    /// `mount --bind precious name`, and off again.
    Bind,
}

impl Means {
    pub const ALL: [Self; 5] = [
        Self::Rename,
        Self::Link,
        Self::Symlink,
        Self::Exchange,
        Self::Bind,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Rename => "rename",
            Self::Link => "hard link",
            Self::Symlink => "symlink",
            Self::Exchange => "exchange",
            Self::Bind => "bind mount",
        }
    }
}

/// Looks at the directory until a file is swapped that is not swapped at once, and until a swap is
/// undone, or done again. One of them for each run: some are over soon, some last.
const LOOKS_MAX: [u32; 5] = [2, 20, 200, 2000, 20_000];
/// Names that are let be, at most: the directory, its marker twice, the file that probes, and more.
const SPARED_MAX: usize = 8;
/// Swaps of one run: another run begins otherwise.
const SWAPS_MAX: u32 = 40;
/// How deep the directories of a run lie.
const DEPTH_MAX: usize = 4;

/// Somebody at work.
pub struct Swapper<'a> {
    place: &'a Place,
    means: Means,
    random: fastrand::Rng,
    looks_max: u32,
    /// How many of the first names are let be: a run that stumbles at once never makes the others.
    spared: usize,
    /// Where precious things are made: a file system that has to be empty is empty at first.
    vault: Option<Vault>,
    /// What is or was put somewhere.
    used: Vec<Precious>,
    seen: BTreeMap<PathBuf, Seen>,
    mounts: Mounts,
    pub swaps: u32,
}

/// A name that appeared.
struct Seen {
    /// Looks until it is swapped.
    looks: u32,
    /// What stands in its place now, of `used`.
    holds: Option<usize>,
}

/// Bind mounts below a directory, taken off again when dropped.
struct Mounts(PathBuf);

impl<'a> Swapper<'a> {
    pub fn new(place: &'a Place, means: Means, mut random: fastrand::Rng) -> Self {
        Self {
            place,
            means,
            looks_max: LOOKS_MAX[random.usize(..LOOKS_MAX.len())],
            spared: if random.bool() {
                0
            } else {
                random.usize(..SPARED_MAX)
            },
            random,
            vault: (!place.is_empty()).then(|| vault_of(place)),
            used: Vec::new(),
            seen: BTreeMap::new(),
            mounts: Mounts(place.work.clone()),
            swaps: 0,
        }
    }

    /// Swap until `is_over`.
    pub fn work(mut self, is_over: &AtomicBool) -> Self {
        while !is_over.load(Ordering::Relaxed) && self.swaps < SWAPS_MAX {
            let root = self.place.work.clone();
            self.look(&root, 0);
            if let Some(vault) = &mut self.vault {
                vault.refill();
            }
            std::thread::yield_now();
        }
        self
    }

    /// What has become of all that was put somewhere, when the program has ended.
    pub fn faults(self) -> Vec<String> {
        drop(self.mounts);
        self.used.iter().filter_map(Precious::fault).collect()
    }

    fn look(&mut self, directory: &Path, depth: usize) {
        // It may be gone by now.
        let Ok(entries) = fs::read_dir(directory) else {
            return;
        };
        for entry in entries.filter_map(Result::ok) {
            let path = entry.path();
            if is_being_removed(&path) {
                continue;
            }
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let is_foreign = self.place.is_of_the_user(&path)
                || path.ends_with("vault")
                || (self.used.iter()).any(|it| it.has(entry.ino()));
            if depth == 0 && is_foreign && !self.seen.contains_key(&path) {
                continue;
            }
            self.consider(&path, kind, is_foreign);
            // Nobody swaps what is precious itself.
            let is_ours = !is_foreign && self.seen.get(&path).is_some_and(|it| it.holds.is_none());
            if is_ours && kind.is_dir() && depth < DEPTH_MAX && is_looked_into(&path) {
                self.look(&path, depth + 1);
            }
        }
    }

    fn consider(&mut self, path: &Path, kind: FileType, is_foreign: bool) {
        let is_first = !self.seen.contains_key(path);
        if is_first {
            if is_foreign {
                return;
            }
            let looks = if self.seen.len() < self.spared {
                u32::MAX
            } else if self.random.bool() {
                0
            } else {
                self.random.u32(0..self.looks_max)
            };
            let holds = None;
            self.seen.insert(path.to_owned(), Seen { looks, holds });
        }
        let seen = self.seen.get_mut(path).expect("seen before");
        if seen.looks > 0 {
            seen.looks -= 1;
            return;
        }
        let is_reversible = matches!(self.means, Means::Exchange | Means::Bind);
        if is_foreign && !is_reversible || kind.is_symlink() {
            return;
        }
        seen.looks = self.random.u32(0..self.looks_max);
        let holds = seen.holds.take();
        if let Some(held) = holds {
            self.undo(path, held);
            return;
        }
        let wanted = if kind.is_dir() {
            Kind::Directory
        } else {
            Kind::File
        };
        self.swap(path, wanted);
    }

    fn swap(&mut self, path: &Path, kind: Kind) {
        let place = self.place;
        let vault = self.vault.get_or_insert_with(|| vault_of(place));
        let Ok(mut precious) = vault.take(kind) else {
            return;
        };
        if put(self.means, vault, &precious.home, path, kind).is_err() {
            vault.put_back(precious);
            return;
        }
        precious.put = Some(path.to_owned());
        self.used.push(precious);
        self.swaps += 1;
        let last = self.used.len() - 1;
        if let Some(seen) = self.seen.get_mut(path) {
            seen.holds = Some(last);
        }
    }

    /// Put ours back: what is checked and what is then used are two things.
    fn undo(&mut self, path: &Path, held: usize) {
        let is_done = match self.means {
            Means::Exchange => exchange(&self.used[held].home, path).is_ok(),
            Means::Bind => unmount(path, UnmountFlags::DETACH).is_ok(),
            Means::Rename | Means::Link | Means::Symlink => return,
        };
        if is_done {
            self.swaps += 1;
        }
    }
}

/// Put something precious in the place of a name.
fn put(
    means: Means,
    vault: &mut Vault,
    precious: &Path,
    path: &Path,
    kind: Kind,
) -> io::Result<()> {
    let spare = vault.spare();
    match means {
        Means::Rename => {
            if kind == Kind::Directory {
                fs::rename(path, spare)?;
            }
            fs::rename(precious, path)
        }
        Means::Link if kind == Kind::Directory => Err(io::ErrorKind::Unsupported.into()),
        Means::Link => {
            fs::hard_link(precious, &spare)?;
            fs::rename(spare, path)
        }
        Means::Symlink => {
            symlink(precious, &spare)?;
            if kind == Kind::Directory {
                let aside = vault.spare();
                fs::rename(path, aside)?;
            }
            fs::rename(spare, path)
        }
        Means::Exchange => exchange(precious, path),
        Means::Bind => Ok(mount_bind(precious, path)?),
    }
}

/// Beside the directory, or in it where it has a file system of its own.
fn vault_of(place: &Place) -> Vault {
    let beside = place.work.with_file_name("vault");
    let directory = if is_on_one_device(&place.work) {
        beside
    } else {
        place.work.join("vault")
    };
    Vault::new(directory).expect("room for a vault")
}

/// Whether what it holds is no more the user's than the directory: what lies in the directory of a
/// study is removed with it, as is written.
fn is_looked_into(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| !name.starts_with(".seekstone-study-"))
}

/// A name that a file has for the microseconds between a last look at it and its removal, the one
/// moment that no program can close (`docs/safety.md`). Who swaps just then does lose his file.
fn is_being_removed(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with(".removing-"))
}

fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

fn is_on_one_device(directory: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let device = |path: &Path| path.metadata().map(|found| found.dev()).ok();
    directory.parent().and_then(device) == device(directory)
}

impl Drop for Mounts {
    fn drop(&mut self) {
        let mounted = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let points = mounted.lines().filter_map(|line| line.split(' ').nth(4));
        let root = self.0.to_string_lossy().into_owned() + "/";
        let parent = self
            .0
            .parent()
            .unwrap_or(&self.0)
            .to_string_lossy()
            .into_owned()
            + "/vault/";
        let mut ours: Vec<&str> = points
            .filter(|point| point.starts_with(&root) || point.starts_with(&parent))
            .collect();
        // The last one lies on top.
        ours.reverse();
        for point in ours {
            let _ = unmount(point, UnmountFlags::DETACH);
        }
    }
}
