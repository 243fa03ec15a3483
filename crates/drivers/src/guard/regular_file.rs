//! Reading files that a user names: never more than a bound, never from what could keep us waiting.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadFileError {
    /// A pipe, a device, a directory: reading it could wait for ever, or change something.
    #[error("it is not a regular file")]
    NotRegular,
    /// It is larger than what is read of such files.
    #[error("it is larger than {max} bytes")]
    TooLarge {
        /// The bound.
        max: u64,
    },
    /// It is to be text.
    #[error("it is not text")]
    NoText,
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Open a regular file. What else has the name is not waited for.
///
/// # Errors
/// When it is none, or the system refuses.
pub fn open_regular_file(path: &Path) -> Result<File, ReadFileError> {
    // Looked at first: to open a tape moves it.
    if !path.metadata()?.is_file() {
        return Err(ReadFileError::NotRegular);
    }
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    // The name may have come to stand for something else.
    if !file.metadata()?.is_file() {
        return Err(ReadFileError::NotRegular);
    }
    Ok(file)
}

/// All bytes of a regular file, `max` at most.
///
/// # Errors
/// When it is none, is larger, or the system refuses.
// not fuzzed: bytes, which others make sense of
pub fn read_regular_file(path: &Path, max: u64) -> Result<Vec<u8>, ReadFileError> {
    let file = open_regular_file(path)?;
    let mut bytes = Vec::new();
    file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        return Err(ReadFileError::TooLarge { max });
    }
    Ok(bytes)
}

/// The text of a regular file of `max` bytes at most.
///
/// # Errors
/// When it is none, is larger, is no text, or the system refuses.
pub fn text_file(path: &Path, max: u64) -> Result<String, ReadFileError> {
    // not fuzzed: text, which others make sense of
    let bytes = read_regular_file(path, max)?;
    String::from_utf8(bytes).map_err(|_| ReadFileError::NoText)
}

impl From<ReadFileError> for io::Error {
    fn from(error: ReadFileError) -> Self {
        match error {
            ReadFileError::Io(error) => error,
            other => Self::new(ErrorKind::InvalidInput, other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_within_the_bound_are_read() {
        let top = tempfile::tempdir().expect("a directory");
        let path = top.path().join("file");
        std::fs::write(&path, "12345").expect("a file");
        assert_eq!(read_regular_file(&path, 5).expect("read"), b"12345");
        let error = read_regular_file(&path, 4).expect_err("too large");
        assert_eq!(error.to_string(), "it is larger than 4 bytes");
        let pipe = top.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0)
            .expect("a pipe");
        for path in [&pipe, top.path()] {
            let error = read_regular_file(path, 4).expect_err("no file");
            assert_eq!(error.to_string(), "it is not a regular file");
        }
    }
}
