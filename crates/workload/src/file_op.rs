//! Calls of a program to a file system, one after the other.
//!
//! Such a program has at most one file open, and the last block read in memory. Its calls are
//! sequential and blocking, so they have no due times and no agenda.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

/// Bytes of a block, as the DECUS tests count them.
pub const BLOCK_BYTES: u32 = 512;

/// A directory of a script, by number. Number 0 exists from the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectoryNumber(pub u32);

impl DirectoryNumber {
    /// The directory that the driver works in.
    pub const ROOT: Self = Self(0);
}

/// A name printed by a driver: `d0001` is file 1 of series `d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileName {
    /// The directory that holds it.
    pub directory: DirectoryNumber,
    /// Purpose of the file, as a lower-case letter.
    pub series: char,
    /// Its number within the series.
    pub number: u32,
}

impl FileName {
    /// File `number` of `series`, in the directory that the driver works in.
    pub const fn new(series: char, number: u32) -> Self {
        Self {
            directory: DirectoryNumber::ROOT,
            series,
            number,
        }
    }

    /// Write it behind `path`; without the formatter, which takes as long as a short system call.
    pub fn push_to(&self, path: &mut String) {
        const DIGITS_MIN: usize = 4;
        let mut digits = [b'0'; 10];
        let mut first = digits.len();
        let mut rest = self.number;
        while rest > 0 || digits.len() - first < DIGITS_MIN {
            first -= 1;
            digits[first] += (rest % 10) as u8;
            rest /= 10;
        }
        path.reserve(1 + digits.len());
        path.push(self.series);
        path.extend(digits[first..].iter().copied().map(char::from));
    }

    /// The name, as [`FileName::push_to`] writes it.
    pub fn text(&self) -> String {
        let mut name = String::new();
        self.push_to(&mut name);
        name
    }
}

/// Hashed as one number, since files are looked up before each call.
impl Hash for FileName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let within = (u128::from(u32::from(self.series)) << 32) | u128::from(self.number);
        state.write_u128((u128::from(self.directory.0) << 64) | within);
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

/// Purpose of opening a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpenFor {
    /// To read its blocks from the first on.
    Reading,
    /// To rewrite its blocks in place, from the first on.
    Writing,
}

/// One call of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileOp {
    MakeDirectory {
        directory: DirectoryNumber,
        /// The directory that holds it.
        parent: DirectoryNumber,
    },
    /// Remove an empty directory.
    RemoveDirectory { directory: DirectoryNumber },
    /// Create a file that must not exist, and keep it open for writing.
    Create {
        file: FileName,
        /// Its final length, which contiguous allocation must know.
        bytes: u64,
    },
    /// Opens an existing file.
    Open { file: FileName, purpose: OpenFor },
    /// Opens a file created by another client in the shared directory. It stays its creator's, and
    /// contains what its creator's blocks would at any position.
    OpenShared { file: FileName, purpose: OpenFor },
    /// Sets the position of the next bytes in the open file. Not a system call.
    Seek {
        /// First byte.
        at: u64,
    },
    /// Open the null device, `NL:` or `/dev/null`, for writing.
    OpenNull,
    /// Reads the next bytes of the open file into the program's memory. Drivers verify that they
    /// are what was last written.
    Read { bytes: u32 },
    /// Writes the next bytes of the open file: new ones after `Create`, else those in the program's
    /// memory.
    Write { bytes: u32 },
    /// Writes the program's memory to the null device, which must be open.
    WriteNull { bytes: u32 },
    /// Close the open file, or the null device.
    Close,
    /// Changes one data element of the last file read, in the program's memory.
    Modify,
    /// Learns about a file created by another client, which the next calls stat, open or read. Not
    /// a system call.
    Learn {
        /// Number of its creator.
        maker: u32,
        /// Its name when it was created.
        file: FileName,
        /// Its length.
        bytes: u64,
    },
    /// Remove a file that is not open.
    Remove { file: FileName },
    /// Renames a file to an unused name.
    Rename {
        /// Old name.
        from: FileName,
        /// New name.
        to: FileName,
    },
    /// Queries length and times of a file.
    Stat { file: FileName },
    /// Reads a directory completely.
    List { directory: DirectoryNumber },
    /// Reads the device below the file system directly.
    ReadDevice {
        /// First byte.
        offset: u64,
        bytes: u32,
    },
    /// Makes everything written so far durable.
    Sync,
    /// Moves all files together and drops empty directory entries. File systems that do not need
    /// this do nothing.
    Squeeze,
    /// Drops cached data of the files and the device.
    DropCaches,
    /// Removes every file and directory created by this driver: a freshly initialised disk.
    Initialise,
}

units::words! {
    /// Kind of a call, by which its times are recorded.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum FileOpKind {
        /// Making a directory.
        MakeDirectory = "make directory",
        /// Removing a directory.
        RemoveDirectory = "remove directory",
        /// Creating a file.
        Create = "create",
        /// Opening a file or the null device.
        Open = "open",
        /// Reading a file.
        Read = "read",
        /// Writing a file.
        Write = "write",
        /// Writing the null device.
        WriteNull = "write to null",
        /// Closing.
        Close = "close",
        /// Changing data in memory.
        Modify = "modify",
        /// Learning about another client's file.
        Learn = "learn",
        /// Removing a file.
        Remove = "remove",
        /// Renaming a file.
        Rename = "rename",
        /// Querying a file.
        Stat = "stat",
        /// Reading a directory.
        List = "list",
        /// Reading the device.
        ReadDevice = "read device",
        /// Making everything durable.
        Sync = "sync",
        /// Moving files together.
        Squeeze = "squeeze",
        /// Dropping caches.
        DropCaches = "drop caches",
        /// Removing everything.
        Initialise = "remove all",
        /// Setting the position in the open file.
        Seek = "seek",
    }
}

impl FileOpKind {
    /// Whether it is a system call, rather than work in the program's own memory.
    pub const fn is_call(self) -> bool {
        !matches!(self, Self::Modify | Self::Learn | Self::Seek)
    }
}

impl FileOp {
    /// Kind of this call.
    pub const fn kind(&self) -> FileOpKind {
        match self {
            Self::MakeDirectory { .. } => FileOpKind::MakeDirectory,
            Self::RemoveDirectory { .. } => FileOpKind::RemoveDirectory,
            Self::Create { .. } => FileOpKind::Create,
            Self::Open { .. } | Self::OpenShared { .. } | Self::OpenNull => FileOpKind::Open,
            Self::Read { .. } => FileOpKind::Read,
            Self::Write { .. } => FileOpKind::Write,
            Self::WriteNull { .. } => FileOpKind::WriteNull,
            Self::Close => FileOpKind::Close,
            Self::Modify => FileOpKind::Modify,
            Self::Learn { .. } => FileOpKind::Learn,
            Self::Remove { .. } => FileOpKind::Remove,
            Self::Rename { .. } => FileOpKind::Rename,
            Self::Stat { .. } => FileOpKind::Stat,
            Self::List { .. } => FileOpKind::List,
            Self::ReadDevice { .. } => FileOpKind::ReadDevice,
            Self::Sync => FileOpKind::Sync,
            Self::Squeeze => FileOpKind::Squeeze,
            Self::DropCaches => FileOpKind::DropCaches,
            Self::Initialise => FileOpKind::Initialise,
            Self::Seek { .. } => FileOpKind::Seek,
        }
    }

    /// Bytes moved by a complete successful call, including to the null device.
    pub const fn bytes(&self) -> u64 {
        match *self {
            Self::Read { bytes }
            | Self::Write { bytes }
            | Self::WriteNull { bytes }
            | Self::ReadDevice { bytes, .. } => bytes as u64,
            _ => 0,
        }
    }
}

/// The calls of a program in order, generated on demand.
pub type FileScript = Box<dyn Iterator<Item = FileOp> + Send>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_letter_and_four_digits_at_least() {
        let check = |number, expected: &str| {
            let name = FileName::new('d', number);
            assert_eq!(name.to_string(), expected);
            let mut path = "t1/".to_owned();
            name.push_to(&mut path);
            assert_eq!(path, format!("t1/{expected}"));
        };
        check(0, "d0000");
        check(1, "d0001");
        check(12_345, "d12345");
        check(u32::MAX, "d4294967295");
    }
}
