//! Where a case happens: a directory of the user's with things in it whose names are like ours.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::bounded::{Bounded, Outcome, run};
use super::cases::{Case, EMPTY};
use crate::support::Scratch;
use crate::support::storage::FileSystem;

/// What a user may have beside what we make: directories end in `/`.
const CANARIES: [&str; 19] = [
    "precious.bin",
    "main",
    "owner",
    "probe",
    "cache",
    "f0000001",
    "J123456A.TMP",
    "J123456B.TXT.mine",
    "x.seekstone",
    "y.json",
    ".seekstone-0123456789abcdef/main",
    ".seekstone-0123456789abcdef/owner",
    ".seekstone-0123456789abcdef/f0000001",
    ".seekstone-0123456789abcdef/t00000001/a0001",
    ".seekstone-fedcba9876543210/owner.new",
    ".seekstone-00000000000000ff/",
    ".seekstone-study-0123456789abcdef/.seekstone-record",
    ".seekstone-study-0123456789abcdef/file",
    ".seekstone-mine",
];

/// A directory of the user's, in which commands are run.
pub struct Place {
    /// Unmounted before its mount point is removed.
    mounted: Option<FileSystem>,
    pub scratch: Scratch,
    /// The directory itself.
    pub work: PathBuf,
    /// Where commands are started.
    start: PathBuf,
    before: Listing,
    /// Names of what the command makes and leaves on purpose.
    keeps: &'static [&'static str],
}

/// All that lies in a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing(BTreeMap<PathBuf, Entry>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    inode: u64,
    mode: u32,
    changed: (i64, i64),
    content: Vec<u8>,
}

impl Place {
    /// A place on the disk of the build, where everything is ready for a case.
    pub fn new(case: &Case) -> Self {
        let scratch = Scratch::new();
        let work = scratch.path("work");
        DirBuilder::new()
            .mode(0o700)
            .create(&work)
            .expect("a directory");
        Self::full(scratch, work, case)
    }

    /// The same on a file system of its own.
    pub fn on(mounted: FileSystem, scratch: Scratch, case: &Case) -> Self {
        let mut place = Self::full(scratch, mounted.root.clone(), case);
        // What the user has is on the disk, whatever becomes of the rest.
        let root = File::open(&mounted.root).expect("the root");
        rustix::fs::syncfs(root).expect("a sync");
        place.mounted = Some(mounted);
        place
    }

    /// A file system with nothing in it; commands are started beside it.
    pub fn empty(mounted: FileSystem, scratch: Scratch) -> Self {
        let start = scratch.path(".");
        let mut place = Self::within(scratch, mounted.root.clone(), start, &EMPTY);
        place.mounted = Some(mounted);
        place
    }

    /// The file system of its own.
    pub fn mounted(&self) -> &FileSystem {
        self.mounted.as_ref().expect("a file system")
    }

    fn full(scratch: Scratch, work: PathBuf, case: &Case) -> Self {
        for name in CANARIES {
            make_canary(&work, name);
        }
        Self::within(scratch, work.clone(), work, case)
    }

    fn within(scratch: Scratch, work: PathBuf, start: PathBuf, case: &Case) -> Self {
        for (name, text) in case.files {
            fs::write(work.join(name), text).expect("a file");
        }
        let mut place = Self {
            mounted: None,
            scratch,
            work,
            start,
            before: Listing::default(),
            keeps: case.keeps,
        };
        for args in case.before {
            let ended = run(place.command(args));
            assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.said);
        }
        place.before = Listing::of(&place.work);
        place
    }

    /// The program, started in the directory.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.scratch.seekstone(args);
        command.current_dir(&self.start);
        command
    }

    /// The program as a shell starts it after a command of its own, such as `ulimit`.
    pub fn shell(&self, first: &str, args: &[&str]) -> Command {
        let mut command = Command::new("bash");
        let script = format!("{first} && exec \"$0\" \"$@\"");
        command
            .args(["-c", &script, crate::support::PROGRAM])
            .args(args);
        self.scratch.settle(&mut command);
        command.current_dir(&self.start);
        command
    }

    /// Remove what a killed run left.
    pub fn clean(&self) -> Outcome {
        run(self.command(&["clean", ".", "--yes"]))
    }

    /// Whether it is the user's own and not what the command makes.
    pub fn is_of_the_user(&self, path: &Path) -> bool {
        let inner = path.strip_prefix(&self.work).expect("a path in the place");
        self.before.0.contains_key(inner) && !self.is_kept(inner)
    }

    /// Whether there was nothing at first.
    pub fn is_empty(&self) -> bool {
        self.before.0.is_empty()
    }

    fn is_kept(&self, inner: &Path) -> bool {
        self.keeps.iter().any(|keep| is_like(inner, keep))
    }

    /// What of the user's own is altered or gone.
    pub fn harm(&self) -> Vec<String> {
        let now = Listing::of(&self.work);
        let owned = self.before.0.iter();
        let faults = owned.filter(|(path, _)| !self.is_kept(path));
        let faults = faults.filter_map(|(path, entry)| match now.0.get(path) {
            None => Some(format!("{} is gone", path.display())),
            Some(found) if found != entry => Some(format!("{} is altered", path.display())),
            Some(_) => None,
        });
        faults.collect()
    }

    /// The same, and what is left behind.
    pub fn changes(&self) -> Vec<String> {
        let mut changes = self.harm();
        let now = Listing::of(&self.work);
        let new = now
            .0
            .keys()
            .filter(|path| !self.before.0.contains_key(*path));
        let left = new.filter(|path| !self.is_kept(path));
        changes.extend(left.map(|path| format!("{} is left behind", path.display())));
        changes
    }

    /// Directories of ours that were not there before.
    pub fn left(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.work).expect("the directory");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let is_left = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            let is_ours = name.is_some_and(|name| name.starts_with(".seekstone-"));
            is_ours && !self.is_of_the_user(path)
        };
        paths.filter(is_left).collect()
    }
}

impl Listing {
    fn of(directory: &Path) -> Self {
        let mut listing = Self::default();
        listing.add(directory, directory);
        listing
    }

    fn add(&mut self, root: &Path, directory: &Path) {
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let found = path.symlink_metadata().expect("metadata");
            let inner = path.strip_prefix(root).expect("a path below").to_owned();
            self.0.insert(inner, Entry::of(&path, &found));
            if found.is_dir() {
                self.add(root, &path);
            }
        }
    }
}

impl Entry {
    fn of(path: &Path, found: &Metadata) -> Self {
        let content = if found.is_file() {
            fs::read(path).expect("content")
        } else {
            Vec::new()
        };
        // A directory changes with what is in it, which is looked at itself.
        let changed = if found.is_dir() {
            (0, 0)
        } else {
            (found.mtime(), found.mtime_nsec())
        };
        Self {
            inode: found.ino(),
            mode: found.mode(),
            changed,
            content,
        }
    }
}

fn make_canary(work: &Path, name: &str) {
    let path = work.join(name);
    let directory = if name.ends_with('/') {
        path.as_path()
    } else {
        path.parent().expect("a directory")
    };
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder.create(directory).expect("a directory");
    if name.ends_with('/') {
        return;
    }
    // As private as what we make ourselves.
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(&path);
    file.and_then(|mut file| writeln!(file, "{name} of the user"))
        .expect("a file");
}

fn is_like(path: &Path, pattern: &str) -> bool {
    let name = path.to_string_lossy();
    match pattern.split_once('*') {
        Some((start, end)) => name.starts_with(start) && name.ends_with(end),
        None => name == pattern,
    }
}

/// A run that was killed when its test file was there.
pub fn leave_a_killed_run(place: &Place) {
    let args = [
        "trial",
        "--duration",
        "60s",
        "--size",
        "4MiB",
        "--reserve",
        "0",
        "-q",
        ".",
    ];
    let running = Bounded::start(place.command(&args));
    let has_file = |path: &PathBuf| path.join("main").exists();
    running.await_that(|| place.left().iter().any(has_file));
    drop(running);
}
