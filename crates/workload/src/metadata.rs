//! Metadata at scale: many small files in a tree of directories, or in one shared directory, are
//! created, stat'ed, read, renamed, listed and removed, one phase after the other.

use std::iter::once;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::file_op::{BLOCK_BYTES, DirectoryNumber, FileName, FileOp, FileScript, OpenFor};

/// Series of newly created files.
const MADE: char = 'n';
/// Series of renamed files.
const RENAMED: char = 'r';
/// Maximum bytes of a read or write call.
const PART_BYTES: u32 = 64 << 10;
/// Maximum number of directories in a tree.
pub const DIRECTORIES_MAX: u64 = 1_000_000;

/// To whom directories belong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DirectoryUse {
    /// Each client has its own tree.
    #[default]
    Own,
    /// All files of all clients are in one directory.
    Shared,
}

/// A tree of directories with its files, which are in the lowest directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataSpec {
    /// Files of each client.
    pub files: u32,
    /// Levels of directories below the first one; 0 if shared.
    pub depth: u32,
    /// Subdirectories of each directory above the lowest level.
    pub fan_out: u32,
    /// Bytes of each file. Empty files are not read.
    pub file_bytes: u32,
    /// To whom directories belong.
    pub directories: DirectoryUse,
    /// Whether files are renamed before they are removed.
    pub is_renamed: bool,
}

/// The client that runs a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataClient {
    /// Its number over all hosts, from 0.
    pub number: u32,
    /// The client whose files it stats, opens and reads: itself or another one.
    pub reads_of: u32,
}

impl MetadataClient {
    /// Client `number`, reading its own files.
    pub const fn alone(number: u32) -> Self {
        Self {
            number,
            reads_of: number,
        }
    }
}

units::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum MetadataPhase {
        /// Directories are made, level by level.
        MakeDirectories = "mkdir": "make the directories",
        /// Files are created, written and closed.
        Create = "create": "create, write, close",
        /// Each file is stat'ed.
        Stat = "stat": "ask for length and times",
        /// Each file is opened and closed.
        Open = "open": "open and close",
        /// Each file is opened, read and closed.
        Read = "read": "open, read, close",
        /// Each file is renamed within its directory.
        Rename = "rename": "rename in the same directory",
        /// Each lowest directory is read completely.
        List = "list": "read each directory",
        /// Each file is removed.
        Remove = "remove": "remove the files",
        /// Directories are removed, lowest first.
        RemoveDirectories = "rmdir": "remove the directories",
    }
}

impl MetadataSpec {
    /// Files of one block each, in the clients' own trees.
    pub const fn in_own_trees(files: u32, depth: u32, fan_out: u32) -> Self {
        Self {
            files,
            depth,
            fan_out,
            file_bytes: BLOCK_BYTES,
            directories: DirectoryUse::Own,
            is_renamed: true,
        }
    }

    /// Directories below the first one; `None` when there are more than [`DIRECTORIES_MAX`].
    pub fn directories(&self) -> Option<u32> {
        let mut level = 1_u64;
        let mut all = 0_u64;
        for _ in 0..self.depth {
            level = level.checked_mul(u64::from(self.fan_out))?;
            all += level;
            if all > DIRECTORIES_MAX {
                return None;
            }
        }
        Some(all as u32)
    }

    /// Items of a phase: files or directories.
    ///
    /// # Panics
    /// If the tree has too many directories.
    pub fn items(&self, phase: MetadataPhase) -> u32 {
        match phase {
            MetadataPhase::MakeDirectories | MetadataPhase::RemoveDirectories => self.tree(),
            MetadataPhase::List => self.bottom().1,
            MetadataPhase::Read if self.file_bytes == 0 => 0,
            _ => self.files,
        }
    }

    /// The calls of a client in a phase.
    ///
    /// # Panics
    /// If the tree has too many directories.
    pub fn script(&self, phase: MetadataPhase, client: MetadataClient) -> FileScript {
        self.script_of(phase, client, 0..self.files)
    }

    /// The calls of a phase on some of the files: all existing or planned ones.
    ///
    /// # Panics
    /// If the tree has too many directories.
    pub fn script_of(
        &self,
        phase: MetadataPhase,
        client: MetadataClient,
        some: Range<u32>,
    ) -> FileScript {
        let spec = *self;
        let fan_out = self.fan_out;
        let numbers = 1..=self.tree();
        let (first, count) = self.bottom();
        let files = some.clone();
        let files = files.map(move |n| spec.file(MADE, client.number, n));
        let renamed = some.clone();
        let renamed = renamed.map(move |n| spec.file(RENAMED, client.number, n));
        let looked_at = some.map(move |n| spec.file(MADE, client.reads_of, n));
        let purpose = OpenFor::Reading;
        let bytes = u64::from(self.file_bytes);
        let learned = move |file| {
            (client.reads_of != client.number).then_some(FileOp::Learn {
                maker: client.reads_of,
                file,
                bytes,
            })
        };
        match phase {
            MetadataPhase::MakeDirectories => {
                Box::new(numbers.map(move |n| FileOp::MakeDirectory {
                    directory: DirectoryNumber(n),
                    parent: DirectoryNumber((n - 1) / fan_out),
                }))
            }
            MetadataPhase::RemoveDirectories => {
                Box::new(numbers.rev().map(|n| FileOp::RemoveDirectory {
                    directory: DirectoryNumber(n),
                }))
            }
            MetadataPhase::Create => Box::new(files.flat_map(move |file| {
                let parts = parts(spec.file_bytes).map(|bytes| FileOp::Write { bytes });
                let create = once(FileOp::Create { file, bytes });
                create.chain(parts).chain([FileOp::Close])
            })),
            MetadataPhase::Stat => Box::new(
                looked_at
                    .flat_map(move |file| learned(file).into_iter().chain([FileOp::Stat { file }])),
            ),
            MetadataPhase::Open => Box::new(looked_at.flat_map(move |file| {
                let open = learned(file).into_iter();
                open.chain([FileOp::Open { file, purpose }, FileOp::Close])
            })),
            MetadataPhase::Read => Box::new(looked_at.flat_map(move |file| {
                let parts = parts(spec.file_bytes).map(|bytes| FileOp::Read { bytes });
                let open = learned(file).into_iter();
                let open = open.chain([FileOp::Open { file, purpose }]);
                open.chain(parts).chain([FileOp::Close])
            })),
            MetadataPhase::Rename => Box::new(
                files
                    .zip(renamed)
                    .map(|(from, to)| FileOp::Rename { from, to }),
            ),
            MetadataPhase::List => Box::new((first..first + count).map(|n| FileOp::List {
                directory: DirectoryNumber(n),
            })),
            MetadataPhase::Remove if self.is_renamed => {
                Box::new(renamed.map(|file| FileOp::Remove { file }))
            }
            MetadataPhase::Remove => Box::new(files.map(|file| FileOp::Remove { file })),
        }
    }

    fn tree(&self) -> u32 {
        self.directories()
            .expect("a tree of more directories is refused before")
    }

    /// The first of the lowest directories, and their number.
    fn bottom(&self) -> (u32, u32) {
        let count = (0..self.depth).fold(1, |level, _| level * self.fan_out);
        (self.tree() + 1 - count, count)
    }

    /// File `number` of a client; files take turns in the lowest directories.
    fn file(&self, series: char, client: u32, number: u32) -> FileName {
        let (first, count) = self.bottom();
        let before = match self.directories {
            DirectoryUse::Own => 0,
            DirectoryUse::Shared => client * self.files,
        };
        FileName {
            directory: DirectoryNumber(first + number % count),
            series,
            number: before + number,
        }
    }
}

/// The sizes of the calls that read or write a whole file.
fn parts(bytes: u32) -> impl Iterator<Item = u32> {
    let starts = (0..bytes).step_by(PART_BYTES as usize);
    starts.map(move |start| PART_BYTES.min(bytes - start))
}
