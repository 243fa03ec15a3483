//! What a program asks of a file system, one call after the other.
//!
//! Such a program has one file open at most, and the memory of the block that it read last. Its
//! calls follow each other and each of them blocks, so they have no due instants and no agenda.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

/// Bytes of a block, as the DECUS tests count them.
pub const BLOCK_BYTES: u32 = 512;

/// A directory of a script, by its number. Number 0 is there from the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectoryNumber(pub u32);

impl DirectoryNumber {
    /// The directory that the driver works in.
    pub const ROOT: Self = Self(0);
}

/// A name that a driver prints: `d0001` is file 1 of series `d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileName {
    /// The directory that holds it.
    pub directory: DirectoryNumber,
    /// What the file is for, as a small letter.
    pub series: char,
    /// Its number within the series.
    pub number: u32,
}

impl FileName {
    /// File `number` of `series`, in the directory that the driver works in.
    #[must_use]
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
}

/// As one number: a file is looked up before each call on it.
impl Hash for FileName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let within = (u128::from(u32::from(self.series)) << 32) | u128::from(self.number);
        state.write_u128((u128::from(self.directory.0) << 64) | within);
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut name = String::new();
        self.push_to(&mut name);
        f.write_str(&name)
    }
}

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpenFor {
    /// Its blocks are read, from the first on.
    Reading,
    /// Its blocks are written anew, from the first on. They keep their place.
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
        /// How long it is going to be: contiguous allocation must know.
        bytes: u64,
    },
    /// Open a file that exists.
    Open { file: FileName, purpose: OpenFor },
    /// Open a file that another client has made in the directory of all clients. It stays its
    /// maker's, and holds what its maker's blocks would at any place.
    OpenShared { file: FileName, purpose: OpenFor },
    /// The next bytes that are read or written lie there in the open file. No call of the system.
    Seek {
        /// First byte.
        at: u64,
    },
    /// Open the null device, `NL:` or `/dev/null`, for writing.
    OpenNull,
    /// Read the next bytes of the open file, and keep them in the program's memory. Drivers check
    /// that they are what was written last.
    Read { bytes: u32 },
    /// Write the next bytes of the open file: new ones after `Create`, else what is in the
    /// program's memory.
    Write { bytes: u32 },
    /// Write what is in the program's memory to the null device, which must be open.
    WriteNull { bytes: u32 },
    /// Close the open file, or the null device.
    Close,
    /// Change one data element of the file that was read last, in the program's memory.
    Modify,
    /// Learn what another client made, which the next calls stat, open or read. No call of the
    /// system.
    Learn {
        /// Who made it.
        maker: u32,
        /// Its name, which is the one that it was created with.
        file: FileName,
        /// Its length.
        bytes: u64,
    },
    /// Remove a file that is not open.
    Remove { file: FileName },
    /// Give a file another name, which no file has.
    Rename {
        /// Its name so far.
        from: FileName,
        /// Its new name.
        to: FileName,
    },
    /// Ask what a file is: length and times.
    Stat { file: FileName },
    /// Read a directory from end to end.
    List { directory: DirectoryNumber },
    /// Read the device beneath the file system, past the file system.
    ReadDevice {
        /// First byte.
        offset: u64,
        bytes: u32,
    },
    /// Everything written so far survives a power loss.
    Sync,
    /// Move all files together and drop the empty directory entries between them. File systems
    /// that do not need this do nothing.
    Squeeze,
    /// Forget what caches hold of the files and the device.
    DropCaches,
    /// Remove every file and directory that this driver made: a freshly initialised disk.
    Initialise,
}

units::words! {
    /// The kind of a call: what its times are filed under.
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
        /// Learning what another client made.
        Learn = "learn",
        /// Removing a file.
        Remove = "remove",
        /// Renaming a file.
        Rename = "rename",
        /// Asking what a file is.
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
        /// Another place in the open file.
        Seek = "seek",
    }
}

impl FileOpKind {
    /// Whether the system is called: what happens in a program's own memory is no call of it.
    #[must_use]
    pub const fn is_call(self) -> bool {
        !matches!(self, Self::Modify | Self::Learn | Self::Seek)
    }
}

impl FileOp {
    /// What kind of call this is.
    #[must_use]
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

    /// Bytes that a call moves when it succeeds whole, the null device's included.
    #[must_use]
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

/// The calls of a program, in their order, made as they are asked for.
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
