//! The log to which several programs append, each whole lines.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};

use crate::diskrand::{LogName, PROFILES_LOG, TRANSACTIONS_LOG, begins_log};
use rustix::fs::{FlockOperation, OFlags, flock};

use crate::run::{ClassicError, LogPlace, ProgramRun};

/// Bytes of an existing file that are checked.
const HEAD_BYTES: u64 = 4096;

/// One or two open logs, or none.
#[derive(Default)]
pub(super) struct OpenLogs {
    profiles: Option<OpenLogFile>,
    transactions: Option<OpenLogFile>,
}

/// Reserves this user's number while it exists.
pub(super) struct UserNumber {
    _listener: Option<UnixListener>,
}

impl OpenLogs {
    /// The logs of a program; none if its lines are not logged.
    pub(super) fn of(run: &ProgramRun<'_>, name: &LogName) -> Result<Self, ClassicError> {
        match run.logs {
            LogPlace::Named => Self::open(name),
            LogPlace::Nowhere => Ok(Self::default()),
        }
    }

    /// Opens an existing log, or creates it.
    fn open(name: &LogName) -> Result<Self, ClassicError> {
        let (profiles, transactions) = match name {
            LogName::One(name) => (name.as_str(), None),
            LogName::Two => (PROFILES_LOG, Some(TRANSACTIONS_LOG)),
        };
        let open = |name| OpenLogFile::open(Path::new(name));
        Ok(Self {
            profiles: Some(open(profiles)?),
            transactions: transactions.map(open).transpose()?,
        })
    }

    /// Refuses the file that is measured.
    pub(super) fn refuse(&self, data: &File) -> Result<(), ClassicError> {
        let data = data
            .metadata()
            .map_err(ClassicError::file("examine", "the data file"))?;
        for log in self.files() {
            if log.identity == (data.dev(), data.ino()) {
                return Err(ClassicError::Usage(format!(
                    "{} is the data file. Name another file as the log",
                    log.path.display()
                )));
            }
        }
        Ok(())
    }

    /// Reserves a user's number in this log for the life of the program: lines of two users with
    /// one number could not be told apart, and both would read the same records.
    pub(super) fn claim(&self, user: u32) -> Result<UserNumber, ClassicError> {
        let Some(log) = self.transactions.as_ref().or(self.profiles.as_ref()) else {
            return Ok(UserNumber { _listener: None });
        };
        let (device, inode) = log.identity;
        let name = format!("seekstone-diskrand-{device}-{inode}-{user}");
        // A name without a file, which disappears with the program, however that ends.
        let claimed = SocketAddr::from_abstract_name(name)
            .and_then(|address| UnixListener::bind_addr(&address));
        match claimed {
            Ok(listener) => Ok(UserNumber {
                _listener: Some(listener),
            }),
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
                Err(ClassicError::Usage(format!(
                    "user {user} is at work already with the log {}: give each program a user \
                     number of its own",
                    log.path.display()
                )))
            }
            // Without such names, two users with one number are not detected.
            Err(_) => Ok(UserNumber { _listener: None }),
        }
    }

    /// Appends to the log, or the first of two.
    pub(super) fn profile(&mut self, text: &str) -> Result<(), ClassicError> {
        match &mut self.profiles {
            Some(log) => log.append(text),
            None => Ok(()),
        }
    }

    /// Appends to the log, or the second of two.
    pub(super) fn transaction(&mut self, text: &str) -> Result<(), ClassicError> {
        match &mut self.transactions {
            Some(log) => log.append(text),
            None => self.profile(text),
        }
    }

    fn files(&self) -> impl Iterator<Item = &OpenLogFile> {
        self.profiles.iter().chain(&self.transactions)
    }
}

struct OpenLogFile {
    path: PathBuf,
    file: File,
    identity: (u64, u64),
    /// Whether it was created here and is still empty, so that it is removed again.
    is_new: bool,
}

impl OpenLogFile {
    fn open(path: &Path) -> Result<Self, ClassicError> {
        if let Ok(metadata) = path.metadata()
            && !metadata.is_file()
        {
            return Err(ClassicError::Usage(format!(
                "{} is not a regular file. Name another log",
                path.display()
            )));
        }
        let open = |is_new: bool| {
            OpenOptions::new()
                .read(true)
                .append(true)
                .create_new(is_new)
                // Another file may have taken its place meanwhile: a FIFO must not block.
                .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
                .open(path)
        };
        let opened = match open(true) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                open(false).map(|file| (file, false))
            }
            other => other.map(|file| (file, true)),
        };
        let (file, is_new) = opened.map_err(ClassicError::file("open the log", path))?;
        let metadata = file
            .metadata()
            .map_err(ClassicError::file("examine", path))?;
        let log = Self {
            path: path.to_owned(),
            identity: (metadata.dev(), metadata.ino()),
            file,
            is_new,
        };
        if metadata.len() > 0 {
            log.refuse_foreign()?;
        }
        Ok(log)
    }

    /// Our lines must not go into someone else's text.
    fn refuse_foreign(&self) -> Result<(), ClassicError> {
        let mut head = Vec::new();
        (&self.file)
            .take(HEAD_BYTES)
            .read_to_end(&mut head)
            .map_err(ClassicError::file("read", self.path.as_path()))?;
        if begins_log(&String::from_utf8_lossy(&head)) {
            return Ok(());
        }
        Err(ClassicError::Usage(format!(
            "{} exists and is no log of diskrand: it is not touched; name another log",
            self.path.display()
        )))
    }

    /// One call for all lines, after those of others. Under a lock, so that it is correct on
    /// network file systems, too, and an incomplete write can be undone.
    fn append(&mut self, text: &str) -> Result<(), ClassicError> {
        let is_locked = flock(&self.file, FlockOperation::LockExclusive).is_ok();
        let written = self.append_whole(&format!("{text}\n"), is_locked);
        if is_locked {
            let _ = flock(&self.file, FlockOperation::Unlock);
        }
        written.map_err(ClassicError::file("write the log", self.path.as_path()))?;
        self.is_new = false;
        Ok(())
    }

    fn append_whole(&mut self, text: &str, is_locked: bool) -> std::io::Result<()> {
        let before = self.file.metadata()?.len();
        let written = self.file.write_all(text.as_bytes());
        if written.is_err() && is_locked {
            // No partial line stays in the log. Failing to truncate is the lesser evil.
            let _ = self.file.set_len(before);
        }
        written
    }
}

impl Drop for OpenLogFile {
    fn drop(&mut self) {
        let is_ours = || {
            let found = self.path.symlink_metadata();
            found.is_ok_and(|it| (it.dev(), it.ino()) == self.identity && it.len() == 0)
        };
        if self.is_new && is_ours() {
            // An empty log is useless. Failing to remove it is harmless.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "  101 12:00:00 think     0 response       0.500 secs. load 0.000";

    fn logs(path: &Path) -> Result<OpenLogs, ClassicError> {
        OpenLogs::open(&LogName::One(path.display().to_string()))
    }

    #[test]
    fn lines_of_several_programs_stay_whole() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("Log.txt");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut log = logs(&path).expect("a log");
                    for _ in 0..100 {
                        log.transaction(LINE).expect("a line");
                    }
                });
            }
        });
        let text = std::fs::read_to_string(&path).expect("a log");
        assert_eq!(text.lines().count(), 400);
        assert!(text.lines().all(|line| line == LINE));
    }

    #[test]
    fn only_logs_are_appended_to() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("notes.txt");
        std::fs::write(&path, "notes of mine\n").expect("a file");
        let error = logs(&path).err().expect("no log").to_string();
        assert!(
            error.contains("is no log of diskrand: it is not touched"),
            "{error}"
        );
        assert_eq!(std::fs::read(&path).expect("a file"), b"notes of mine\n");
        let error = logs(directory.path())
            .err()
            .expect("a directory")
            .to_string();
        assert!(error.contains("is not a regular file"), "{error}");
        let missing = directory.path().join("missing/Log.txt");
        let error = logs(&missing).err().expect("no directory").to_string();
        assert!(error.starts_with("cannot open the log "), "{error}");
    }

    #[test]
    fn an_empty_log_of_ours_goes_again() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("Log.txt");
        drop(logs(&path).expect("a log"));
        assert!(!path.exists());
        std::fs::write(&path, "").expect("an empty file of the user's");
        drop(logs(&path).expect("a log"));
        assert!(path.exists());
        logs(&path).expect("a log").profile(LINE).expect("a line");
        assert!(path.exists());
    }

    #[test]
    fn a_user_number_is_taken_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let log = logs(&directory.path().join("Log.txt")).expect("a log");
        let first = log.claim(101).expect("a free number");
        let _other = log.claim(102).expect("another number");
        let error = log.claim(101).err().expect("taken").to_string();
        assert!(error.contains("user 101 is at work already"), "{error}");
        drop(first);
        assert!(log.claim(101).is_ok(), "free again");
    }
}
