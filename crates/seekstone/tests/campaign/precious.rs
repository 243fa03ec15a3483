//! Files and directories of somebody else's that are put in the place of ours. Each is held open,
//! so that whatever becomes of its names, it can be told whether it is there and unaltered.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// As large as the test files: what looks at the size is not warned.
const BYTES: u64 = 4 << 20;
/// What stands at both ends of a precious file.
const TEXT: &[u8] = b"precious, of somebody else";
/// What lies in a precious directory, under names like ours.
const INSIDE: [&str; 6] = [
    "main",
    "probe",
    "owner.new",
    "f0000001",
    "a0001",
    "t00000001/a0001",
];

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    File,
    Directory,
}

/// Something precious, and where it was last put.
pub struct Precious {
    pub kind: Kind,
    pub home: PathBuf,
    pub inode: u64,
    /// Where it was put, for the message.
    pub put: Option<PathBuf>,
    parts: Vec<Part>,
}

struct Part {
    name: String,
    file: File,
    /// What a directory holds; a file holds nothing.
    names: Option<usize>,
    length: u64,
    mode: u32,
}

impl Precious {
    /// Make it at `home`.
    fn new(kind: Kind, home: PathBuf) -> io::Result<Self> {
        let mut parts = Vec::new();
        match kind {
            Kind::File => parts.push(Part::file(&home, BYTES)?),
            Kind::Directory => {
                parts.push(Part::directory(&home, INSIDE.len())?);
                parts.push(Part::directory(&home.join("t00000001"), 1)?);
                for name in INSIDE {
                    parts.push(Part::file(&home.join(name), 4096)?);
                }
            }
        }
        let inode = parts[0].file.metadata()?.ino();
        Ok(Self {
            kind,
            home,
            inode,
            put: None,
            parts,
        })
    }

    /// What has become of it, if anything has.
    pub fn fault(&self) -> Option<String> {
        let at = self.put.as_ref()?;
        let fault = self.parts.iter().find_map(Part::fault)?;
        Some(format!("{fault}; it had been put at {}", brief(at)))
    }

    /// Whether this is one of its inodes.
    pub fn has(&self, inode: u64) -> bool {
        self.inode == inode
    }
}

impl Part {
    fn directory(path: &Path, names: usize) -> io::Result<Self> {
        DirBuilder::new().mode(0o700).create(path)?;
        Self::of(path, File::open(path)?, Some(names))
    }

    fn file(path: &Path, bytes: u64) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let file = options.open(path)?;
        file.set_len(bytes)?;
        file.write_all_at(TEXT, 0)?;
        file.write_all_at(TEXT, bytes - TEXT.len() as u64)?;
        // Whoever writes to it changes this.
        file.set_modified(old())?;
        Self::of(path, File::open(path)?, None)
    }

    fn of(path: &Path, file: File, names: Option<usize>) -> io::Result<Self> {
        let found = file.metadata()?;
        Ok(Self {
            name: brief(path),
            file,
            names,
            length: found.len(),
            mode: found.mode(),
        })
    }

    fn fault(&self) -> Option<String> {
        let found = self.file.metadata().expect("metadata");
        let name = &self.name;
        if found.nlink() == 0 {
            return Some(format!("{name} was deleted"));
        }
        if found.mode() != self.mode {
            return Some(format!("the mode of {name} was altered"));
        }
        if let Some(names) = self.names {
            let open = format!("/proc/self/fd/{}", self.file.as_raw_fd());
            let now = fs::read_dir(open).expect("a directory").count();
            return (now != names).then(|| format!("{name} holds {now} things, not {names}"));
        }
        if found.len() != self.length {
            return Some(format!("the size of {name} was altered to {}", found.len()));
        }
        let is_same = found.modified().expect("a time") == old();
        (!is_same).then(|| format!("{name} was written"))
    }
}

/// A path without the directories of the test.
fn brief(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    let top = parts
        .iter()
        .rposition(|part| matches!(&**part, "work" | "vault" | "mounted"));
    parts[top.unwrap_or(0)..].join("/")
}

/// A time long ago.
fn old() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)
}

/// Makes precious things ahead of need, since a swap has no time to lose.
pub struct Vault {
    directory: PathBuf,
    made: u32,
    ready: Vec<Precious>,
}

/// How many of each kind lie ready.
const READY: usize = 4;

impl Vault {
    /// A vault on the file system that is watched, where there is room for one.
    pub fn new(directory: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&directory)?;
        Ok(Self {
            directory,
            made: 0,
            ready: Vec::new(),
        })
    }

    /// Another name in the vault, which nothing has.
    pub fn spare(&mut self) -> PathBuf {
        self.made += 1;
        self.directory.join(format!("spare{}", self.made))
    }

    pub fn take(&mut self, kind: Kind) -> io::Result<Precious> {
        let found = self.ready.iter().position(|it| it.kind == kind);
        match found {
            Some(at) => Ok(self.ready.swap_remove(at)),
            None => Precious::new(kind, self.spare()),
        }
    }

    /// What was not needed after all.
    pub fn put_back(&mut self, precious: Precious) {
        self.ready.push(precious);
    }

    /// As far as there is room.
    pub fn refill(&mut self) {
        for kind in [Kind::File, Kind::Directory] {
            let ready = self.ready.iter().filter(|it| it.kind == kind).count();
            for _ in ready..READY {
                let made = Precious::new(kind, self.spare());
                self.ready.extend(made);
            }
        }
    }
}
