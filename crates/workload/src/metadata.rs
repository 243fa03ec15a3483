//! Metadata at scale: many small files in a tree of directories are made, asked for, read, renamed,
//! listed and removed, one phase after the other.

use std::iter::once;

use crate::file_op::{BLOCK_BYTES, DirectoryNumber, FileName, FileOp, FileScript, OpenFor};

/// Series of the files as they are made.
const MADE: char = 'n';
/// Series of the files once they are renamed.
const RENAMED: char = 'r';
/// Most directories of a tree.
pub const DIRECTORIES_MAX: u64 = 1_000_000;

/// A tree of directories and its files. A file lies in a directory at the bottom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataSpec {
    /// Files of this client.
    pub files: u32,
    /// Levels of directories below the first one.
    pub depth: u32,
    /// Directories in each directory that is not at the bottom.
    pub fan_out: u32,
}

/// One phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MetadataPhase {
    /// Directories are made, level by level.
    MakeDirectories,
    /// Files are created, one block is written, and they are closed.
    Create,
    /// Each file is asked for its length and times.
    Stat,
    /// Each file is opened and closed.
    Open,
    /// Each file is opened, read and closed.
    Read,
    /// Each file gets another name in the same directory.
    Rename,
    /// Each directory at the bottom is read from end to end.
    List,
    /// Each file is removed.
    Remove,
    /// Directories are removed, from the bottom up.
    RemoveDirectories,
}

impl MetadataPhase {
    /// All of them, in their order: each needs those before it.
    pub const ALL: [Self; 9] = [
        Self::MakeDirectories,
        Self::Create,
        Self::Stat,
        Self::Open,
        Self::Read,
        Self::Rename,
        Self::List,
        Self::Remove,
        Self::RemoveDirectories,
    ];

    /// The word that reports use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MakeDirectories => "mkdir",
            Self::Create => "create",
            Self::Stat => "stat",
            Self::Open => "open",
            Self::Read => "read",
            Self::Rename => "rename",
            Self::List => "list",
            Self::Remove => "remove",
            Self::RemoveDirectories => "rmdir",
        }
    }

    /// What it does, in words.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::MakeDirectories => "make the directories",
            Self::Create => "create, write one block, close",
            Self::Stat => "ask for length and times",
            Self::Open => "open and close",
            Self::Read => "open, read, close",
            Self::Rename => "rename in the same directory",
            Self::List => "read each directory",
            Self::Remove => "remove the files",
            Self::RemoveDirectories => "remove the directories",
        }
    }
}

impl MetadataSpec {
    /// Directories below the first one; `None` when there are more than [`DIRECTORIES_MAX`].
    #[must_use]
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

    /// What a phase counts: files, or directories.
    ///
    /// # Panics
    /// When the tree has too many directories.
    #[must_use]
    pub fn items(&self, phase: MetadataPhase) -> u32 {
        match phase {
            MetadataPhase::MakeDirectories | MetadataPhase::RemoveDirectories => self.tree(),
            MetadataPhase::List => self.bottom().1,
            _ => self.files,
        }
    }

    /// The calls of a phase.
    ///
    /// # Panics
    /// When the tree has too many directories.
    #[must_use]
    pub fn script(&self, phase: MetadataPhase) -> FileScript {
        let spec = *self;
        let fan_out = self.fan_out;
        let numbers = 1..=self.tree();
        let (first, count) = self.bottom();
        let files = (0..self.files).map(move |n| spec.file(MADE, n));
        let renamed = (0..self.files).map(move |n| spec.file(RENAMED, n));
        let purpose = OpenFor::Reading;
        let bytes = u64::from(BLOCK_BYTES);
        let block = BLOCK_BYTES;
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
                [
                    FileOp::Create { file, bytes },
                    FileOp::Write { bytes: block },
                    FileOp::Close,
                ]
            })),
            MetadataPhase::Stat => Box::new(files.map(|file| FileOp::Stat { file })),
            MetadataPhase::Open => Box::new(
                files.flat_map(move |file| [FileOp::Open { file, purpose }, FileOp::Close]),
            ),
            MetadataPhase::Read => Box::new(files.flat_map(move |file| {
                once(FileOp::Open { file, purpose })
                    .chain([FileOp::Read { bytes: block }, FileOp::Close])
            })),
            MetadataPhase::Rename => Box::new(
                files
                    .zip(renamed)
                    .map(|(from, to)| FileOp::Rename { from, to }),
            ),
            MetadataPhase::List => Box::new((first..first + count).map(|n| FileOp::List {
                directory: DirectoryNumber(n),
            })),
            MetadataPhase::Remove => Box::new(renamed.map(|file| FileOp::Remove { file })),
        }
    }

    fn tree(&self) -> u32 {
        self.directories()
            .expect("a tree of more directories is refused before")
    }

    /// The first directory at the bottom, and how many there are.
    fn bottom(&self) -> (u32, u32) {
        let count = (0..self.depth).fold(1, |level, _| level * self.fan_out);
        (self.tree() + 1 - count, count)
    }

    /// File `number`, which lies in one of the directories at the bottom by turns.
    fn file(&self, series: char, number: u32) -> FileName {
        let (first, count) = self.bottom();
        FileName {
            directory: DirectoryNumber(first + number % count),
            series,
            number,
        }
    }
}
