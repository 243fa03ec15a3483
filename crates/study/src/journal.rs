//! The journal of a study: every replicate as soon as it is measured, so that even a killed study
//! goes on where it was.
//!
//! One line of JSON for each entry, forced to the storage before the next replicate begins. A last
//! line that was cut off is not there. The lock on the file tells that a study is under way.
//!
//! A new journal has its first line before it has its name, so an empty file, or one without a line
//! of ours, is somebody else's and stays as it is.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use drivers::{NewFile, open_directory};
use procedure::study::{Script, names_variable};
use results::StudyReplicate;
use serde::{Deserialize, Serialize};

use super::locked::Locked;
use super::seen::SeenPlace;
use host::process::quoted;

/// Version of the form.
const SCHEMA: u32 = 2;
/// The line that a new journal begins with.
const FIRST_LINE: &[u8] = b"{\"made\":\"journal of a seekstone study\"}\n";
/// No study keeps more.
const BYTES_MAX: u64 = 1 << 30;
/// It names the host and holds commands: it is for its owner.
const MODE: u32 = 0o600;
/// How often it is looked again at a name that others give away.
const TRIES: u32 = 8;

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system refused.
    #[error("cannot {action} the study's journal {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The journal.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another program has it.
    #[error("this study is under way in another process, which holds {}", path.display())]
    Busy {
        /// The journal.
        path: PathBuf,
    },
    /// It is something else.
    #[error(
        "{} is no journal of a study ({why}): move it away",
        path.display()
    )]
    Foreign {
        /// The journal.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// What a study is known by when it goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalHead {
    /// Version of the journal of the program that began it.
    pub schema: u32,
    /// What decides what is measured.
    pub meaning: String,
    /// Seed of the order.
    pub seed: u64,
    /// Host and kernel.
    pub machine: String,
}

impl JournalHead {
    /// The head of a new journal.
    #[must_use]
    pub fn new(meaning: String, seed: u64, machine: String) -> Self {
        Self {
            schema: SCHEMA,
            meaning,
            seed,
            machine,
        }
    }
}

/// A script that must still be run to undo what a set-up did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// File and line.
    pub place: String,
    /// Which one.
    pub what: String,
    /// The commands.
    pub text: String,
    /// What they find in their environment.
    pub variables: Vec<(String, String)>,
}

impl Undo {
    /// As a script.
    #[must_use]
    pub fn script(&self) -> Script {
        Script {
            text: self.text.clone(),
            place: self.place.clone(),
        }
    }

    /// A line for the shell that runs it, with the variables that it names.
    #[must_use]
    pub fn line(&self) -> String {
        let named = self.variables.iter();
        let named = named.filter(|(name, _)| names_variable(&self.text, name));
        let set = named.map(|(name, value)| format!("{name}={value}"));
        let words = ["env".to_owned()].into_iter().chain(set);
        let run = ["sh", "-c", &self.text].map(str::to_owned);
        quoted(&words.chain(run).collect::<Vec<String>>())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Entry {
    Made(String),
    Head(JournalHead),
    Begun(String),
    Scratch(Option<PathBuf>),
    Undo(Vec<Undo>),
    Replicate(StudyReplicate),
    Place(Box<SeenPlace>),
}

/// What a journal holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// What it is of.
    pub head: Option<JournalHead>,
    /// When the study was begun and gone on with.
    pub begun_at: Vec<String>,
    /// The scratch directory of a program that was killed.
    pub scratch: Option<PathBuf>,
    /// What a killed program had set up, in the order in which it must be undone.
    pub undo: Vec<Undo>,
    /// Replicates, in their order.
    pub replicates: Vec<StudyReplicate>,
    /// Places that were measured.
    pub places: Vec<SeenPlace>,
}

/// An open, locked journal.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Locked,
}

impl Journal {
    /// Open the journal, or make an empty one, and read it.
    ///
    /// # Errors
    /// When another process has it, or the system refuses.
    pub fn open(path: &Path) -> Result<(Self, Recorded), JournalError> {
        let failed = |action| {
            let path = path.to_owned();
            move |source| JournalError::Io {
                action,
                path,
                source,
            }
        };
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(failed("make the directory of"))?;
        }
        let foreign = |why: &str| JournalError::Foreign {
            path: path.to_owned(),
            why: why.to_owned(),
        };
        let mut file = locked(path, &failed)?;
        let found = file.metadata().map_err(failed("examine"))?;
        if !found.is_file() || found.nlink() > 1 {
            return Err(foreign("it has a second name, or is no file"));
        }
        if found.len() > BYTES_MAX {
            return Err(foreign("it is too large"));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed("read"))?;
        let (recorded, whole) = read(&bytes).map_err(|why| JournalError::Foreign {
            path: path.to_owned(),
            why,
        })?;
        if whole == 0 {
            return Err(foreign("it holds no line of one"));
        }
        // What was cut off must not be taken for the beginning of the next entry.
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(failed("repair"))?;
        }
        let path = path.to_owned();
        Ok((Self { path, file }, recorded))
    }

    /// Begin anew, whatever was in it.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn restart(&mut self) -> Result<(), JournalError> {
        self.emptied().map_err(|error| self.failed("empty", error))
    }

    /// Say what follows.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn head(&mut self, head: &JournalHead) -> Result<(), JournalError> {
        self.write(&Entry::Head(head.clone()))
    }

    /// Note that the study begins, or goes on.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn begun(&mut self, moment: &str) -> Result<(), JournalError> {
        self.write(&Entry::Begun(moment.to_owned()))
    }

    /// Note what must be removed; nothing any more without a path.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn scratch(&mut self, path: Option<&Path>) -> Result<(), JournalError> {
        self.write(&Entry::Scratch(path.map(Path::to_owned)))
    }

    /// Note what must be undone from now on.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn undo(&mut self, undo: &[Undo]) -> Result<(), JournalError> {
        self.write(&Entry::Undo(undo.to_vec()))
    }

    /// Keep a replicate.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn replicate(&mut self, replicate: &StudyReplicate) -> Result<(), JournalError> {
        self.write(&Entry::Replicate(replicate.clone()))
    }

    /// Keep what a place stands on.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn place(&mut self, place: &SeenPlace) -> Result<(), JournalError> {
        self.write(&Entry::Place(Box::new(place.clone())))
    }

    /// Remove it: the study is done.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn remove(self) -> Result<(), JournalError> {
        let removed = match is_named(&self.file, &self.path) {
            Ok(true) => fs::remove_file(&self.path),
            Ok(false) => Err(io::Error::other("another file has its name")),
            Err(error) => Err(error),
        };
        removed.map_err(|error| self.failed("remove", error))
    }

    /// All but the line that tells what it is.
    fn emptied(&mut self) -> io::Result<()> {
        let mut first = Vec::new();
        self.file.seek(SeekFrom::Start(0))?;
        let mut head = (&*self.file).take(FIRST_LINE.len() as u64);
        head.read_to_end(&mut first)?;
        if first == FIRST_LINE {
            return self.file.set_len(FIRST_LINE.len() as u64);
        }
        self.file.set_len(0)?;
        self.file.write_all(FIRST_LINE)
    }

    fn write(&mut self, entry: &Entry) -> Result<(), JournalError> {
        let mut line =
            serde_json::to_vec(entry).map_err(|error| self.failed("fill", error.into()))?;
        line.push(b'\n');
        let written = self.file.write_all(&line);
        written
            .and_then(|()| self.file.sync_data())
            .map_err(|error| self.failed("write", error))
    }

    fn failed(&self, action: &'static str, source: io::Error) -> JournalError {
        JournalError::Io {
            action,
            path: self.path.clone(),
            source,
        }
    }
}

/// The journal of that name, locked: the one that is there, or a new one.
fn locked<F: FnOnce(io::Error) -> JournalError>(
    path: &Path,
    failed: &impl Fn(&'static str) -> F,
) -> Result<Locked, JournalError> {
    // Whoever is done with one removes it, and another may be quicker to make the next.
    for _ in 0..TRIES {
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let opened = OpenOptions::new()
            .read(true)
            .append(true)
            .custom_flags(flags.bits().cast_signed())
            .open(path);
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                make(path).map_err(failed("make"))?;
                continue;
            }
            Err(error) => return Err(failed("open")(error)),
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let path = path.to_owned();
                return Err(JournalError::Busy { path });
            }
            Err(TryLockError::Error(error)) => return Err(failed("lock")(error)),
        }
        let file = Locked(file);
        if is_named(&file, path).map_err(failed("examine"))? {
            return Ok(file);
        }
    }
    let path = path.to_owned();
    Err(JournalError::Busy { path })
}

/// Make one, unless somebody else has.
fn make(path: &Path) -> io::Result<()> {
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
    let directory = open_directory(directory.unwrap_or(Path::new(".")))?;
    let mut new = NewFile::create(directory, MODE)?;
    let mut file = new.file();
    file.write_all(FIRST_LINE)?;
    file.sync_all()?;
    match new.publish(path.file_name().unwrap_or_default()) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Whether the name stands for the open file.
fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    let number = |found: &Metadata| (found.dev(), found.ino());
    let opened = file.metadata()?;
    match path.symlink_metadata() {
        Ok(named) => Ok(number(&named) == number(&opened)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// What the lines say, and how many bytes are whole lines.
pub(crate) fn read(bytes: &[u8]) -> Result<(Recorded, usize), String> {
    let mut recorded = Recorded::default();
    let mut whole = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        if !line.ends_with(b"\n") {
            break;
        }
        let entry = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        whole += line.len();
        match entry {
            Entry::Made(_) => {}
            Entry::Head(head) if head.schema > SCHEMA => {
                return Err("a newer version of this program wrote it".into());
            }
            Entry::Head(head) => recorded.head = Some(head),
            Entry::Begun(moment) => recorded.begun_at.push(moment),
            Entry::Scratch(path) => recorded.scratch = path,
            Entry::Undo(undo) => recorded.undo = undo,
            Entry::Replicate(replicate) => recorded.replicates.push(replicate),
            Entry::Place(place) => recorded.places.push(*place),
        }
    }
    Ok((recorded, whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replicate(number: u32) -> StudyReplicate {
        StudyReplicate {
            number,
            round: 1,
            levels: vec!["8KiB".into()],
            started_at: "2027-01-31T12:00:00Z".into(),
            elapsed_ns: 7,
            readings: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn head() -> JournalHead {
        JournalHead::new("transfer".into(), 5, "host".into())
    }

    #[test]
    fn what_was_kept_is_there_again_and_a_torn_line_is_not() {
        let top = tempfile::tempdir().expect("a directory");
        let path = top.path().join("deep/journal");
        let (mut journal, empty) = Journal::open(&path).expect("a journal");
        assert_eq!(empty, Recorded::default());
        journal.head(&head()).expect("kept");
        journal.begun("2027-01-31T12:00:00Z").expect("kept");
        journal.replicate(&replicate(1)).expect("kept");
        journal.replicate(&replicate(2)).expect("kept");
        drop(journal);
        let whole = fs::read(&path).expect("bytes");
        // Killed at any byte of the last entry, the one before is whole.
        let last = whole[..whole.len() - 1].iter().rposition(|&it| it == b'\n');
        for length in last.expect("lines") + 1..whole.len() {
            fs::write(&path, &whole[..length]).expect("a file");
            let (mut journal, found) = Journal::open(&path).expect("a journal");
            assert_eq!(found.head, Some(head()));
            assert_eq!(found.replicates, [replicate(1)], "{length}");
            journal.replicate(&replicate(3)).expect("kept");
            drop(journal);
            let (_, found) = Journal::open(&path).expect("a journal");
            assert_eq!(found.replicates, [replicate(1), replicate(3)]);
        }
    }

    /// A file of somebody else that had no line end was emptied, and an empty one taken.
    #[test]
    fn what_is_no_journal_is_left_alone() {
        let top = tempfile::tempdir().expect("a directory");
        let path = top.path().join("journal");
        for content in ["", "precious"] {
            fs::write(&path, content).expect("a file");
            let error = Journal::open(&path).expect_err("it is foreign");
            assert!(matches!(error, JournalError::Foreign { .. }), "{error}");
            assert_eq!(fs::read_to_string(&path).expect("there"), content);
        }
        let other = top.path().join("other");
        fs::write(&other, FIRST_LINE).expect("a file");
        fs::remove_file(&path).expect("removed");
        std::os::unix::fs::symlink(&other, &path).expect("a link");
        let error = Journal::open(&path).expect_err("it is a link");
        assert!(matches!(error, JournalError::Io { .. }), "{error}");
        fs::remove_file(&path).expect("removed");
        fs::hard_link(&other, &path).expect("a second name");
        let error = Journal::open(&path).expect_err("it has two names");
        assert!(matches!(error, JournalError::Foreign { .. }), "{error}");
        assert_eq!(fs::read(&other).expect("there"), FIRST_LINE);
    }

    /// What had come to have the name of a journal was removed with it.
    #[test]
    fn only_what_was_opened_is_removed() {
        let top = tempfile::tempdir().expect("a directory");
        let path = top.path().join("journal");
        let (journal, _) = Journal::open(&path).expect("a journal");
        fs::rename(&path, top.path().join("away")).expect("renamed");
        fs::write(&path, "precious").expect("a file");
        let error = journal.remove().expect_err("it is another");
        assert!(error.to_string().starts_with("cannot remove"), "{error}");
        assert_eq!(fs::read_to_string(&path).expect("there"), "precious");
    }

    #[test]
    fn two_processes_do_not_share_one() {
        let top = tempfile::tempdir().expect("a directory");
        let path = top.path().join("journal");
        let first = Journal::open(&path).expect("a journal");
        assert!(matches!(
            Journal::open(&path),
            Err(JournalError::Busy { .. })
        ));
        first.0.remove().expect("removed");
        assert!(!path.exists());
    }

    #[test]
    fn other_files_are_refused_and_a_restart_empties() {
        let top = tempfile::tempdir().expect("a directory");
        let path = top.path().join("journal");
        fs::write(&path, "not ours\n").expect("a file");
        assert!(matches!(
            Journal::open(&path),
            Err(JournalError::Foreign { .. })
        ));
        fs::remove_file(&path).expect("removed");
        let (mut journal, _) = Journal::open(&path).expect("a journal");
        journal.head(&head()).expect("kept");
        journal.restart().expect("emptied");
        journal.begun("now").expect("kept");
        drop(journal);
        // A process that another test is just starting holds all that is open until it is another
        // program.
        let (_, found) = loop {
            match Journal::open(&path) {
                Err(JournalError::Busy { .. }) => std::thread::yield_now(),
                opened => break opened.expect("a journal"),
            }
        };
        assert_eq!((found.head, found.begun_at), (None, vec!["now".to_owned()]));
    }
}
