//! The journal of a study: every repeat as soon as it is measured, so that even a killed study can
//! be resumed.

use std::path::{Path, PathBuf};

use host::line_file::{LineFile, LineFileKind};
use lab::run_journal::RunHead;
use procedure::study::{ShellScript, names_variable};
use results::StudyReplicate;
use serde::{Deserialize, Serialize};

use super::seen::SeenPlace;
use host::process::quoted;
use units::Duration;

pub use host::line_file::LineFileError as JournalError;

/// Version of the format.
const SCHEMA: u32 = 3;
/// Repeats of this length are not discarded unless requested.
const DEAR: Duration = Duration::from_secs(600);
/// Names in messages, and the first line.
static KIND: LineFileKind = LineFileKind {
    first_line: b"{\"made\":\"journal of a seekstone study\"}\n",
    name: "the study's journal",
    owner: "this study",
    what: "journal of a study",
};

/// Identity of a study, to resume it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalHead {
    /// Journal version of the program that started it.
    pub schema: u32,
    /// Everything that decides what is measured.
    pub meaning: String,
    /// Seed of the order.
    pub seed: u64,
    /// Host and kernel.
    pub machine: String,
}

impl JournalHead {
    /// The head of a new journal.
    pub fn new(meaning: String, seed: u64, machine: String) -> Self {
        Self {
            schema: SCHEMA,
            meaning,
            seed,
            machine,
        }
    }
}

/// The request of a study, and its directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyAsked {
    /// The command with all its settings.
    pub head: RunHead,
    /// Working directory, to which paths of the study are relative.
    pub directory: PathBuf,
}

/// A script that must still run to undo a set-up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// File and line.
    pub place: String,
    pub what: String,
    /// The script.
    pub text: String,
    /// Its environment variables.
    pub variables: Vec<(String, String)>,
}

impl Undo {
    pub fn script(&self) -> ShellScript {
        ShellScript {
            text: self.text.clone(),
            place: self.place.clone(),
        }
    }

    /// A shell command that runs it, with the variables that it uses.
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
enum StudyJournalEntry {
    Made(String),
    Head(JournalHead),
    Asked(Box<StudyAsked>),
    Begun(String),
    /// The program ended regularly.
    Ended(String),
    Scratch(Option<PathBuf>),
    Undo(Vec<Undo>),
    Replicate(StudyReplicate),
    Place(Box<SeenPlace>),
}

/// Content of a journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedStudy {
    pub head: Option<JournalHead>,
    /// The command with all its settings, and its working directory.
    pub asked: Option<StudyAsked>,
    /// Whether the last program that used it was killed.
    pub is_killed: bool,
    /// When the study was started and resumed.
    pub begun_at: Vec<String>,
    /// Scratch directory of a killed program.
    pub scratch: Option<PathBuf>,
    /// Set-ups of a killed program, in the order in which they must be undone.
    pub undo: Vec<Undo>,
    /// Repeats, in order.
    pub replicates: Vec<StudyReplicate>,
    /// Measured places.
    pub places: Vec<SeenPlace>,
}

impl RecordedStudy {
    /// Whether it is not measured again unless requested: it holds the only copy of a killed
    /// program's results, or at least ten minutes of repeats.
    pub fn is_dear(&self) -> bool {
        let measured_ns: u64 = self.replicates.iter().map(|it| it.elapsed_ns).sum();
        self.is_killed || measured_ns >= DEAR.as_nanos()
    }
}

/// An open, locked journal.
#[derive(Debug)]
pub struct Journal(LineFile);

impl Journal {
    /// Opens the journal, or creates an empty one, and reads it.
    ///
    /// # Errors
    /// If another process has it open, or the system refuses.
    pub fn open(path: &Path) -> Result<(Self, RecordedStudy), JournalError> {
        let (file, recorded) = LineFile::open(path, &KIND, read)?;
        Ok((Self(file), recorded))
    }

    /// Discards the content and starts again.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn restart(&mut self) -> Result<(), JournalError> {
        self.0.restart()
    }

    /// Records the identity and the request of the study.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn head(&mut self, head: &JournalHead, asked: &StudyAsked) -> Result<(), JournalError> {
        self.0.write(&StudyJournalEntry::Head(head.clone()))?;
        self.0
            .write(&StudyJournalEntry::Asked(Box::new(asked.clone())))
    }

    /// Records that the program ends, whether the study is complete or not.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn ended(&mut self, moment: &str) -> Result<(), JournalError> {
        self.0.write(&StudyJournalEntry::Ended(moment.to_owned()))
    }

    /// Records that the study starts or is resumed.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn begun(&mut self, moment: &str) -> Result<(), JournalError> {
        self.0.write(&StudyJournalEntry::Begun(moment.to_owned()))
    }

    /// Records the scratch directory to remove, or without a path that there is none.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn scratch(&mut self, path: Option<&Path>) -> Result<(), JournalError> {
        self.0
            .write(&StudyJournalEntry::Scratch(path.map(Path::to_owned)))
    }

    /// Records what must be undone from now on.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn undo(&mut self, undo: &[Undo]) -> Result<(), JournalError> {
        self.0.write(&StudyJournalEntry::Undo(undo.to_vec()))
    }

    /// Keeps a repeat.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn replicate(&mut self, replicate: &StudyReplicate) -> Result<(), JournalError> {
        self.0
            .write(&StudyJournalEntry::Replicate(replicate.clone()))
    }

    /// Keeps the description of a place.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn place(&mut self, place: &SeenPlace) -> Result<(), JournalError> {
        self.0
            .write(&StudyJournalEntry::Place(Box::new(place.clone())))
    }

    /// Removes the journal of a finished study.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn remove(self) -> Result<(), JournalError> {
        self.0.remove()
    }
}

/// A study whose program was killed, with its journal open and locked.
#[derive(Debug)]
pub struct KilledStudy {
    journal: Journal,
    recorded: RecordedStudy,
}

impl KilledStudy {
    /// Killed studies whose journal names begin with `stem`, as far as they can be read.
    pub fn left_at(stem: &Path) -> Vec<Self> {
        let paths = LineFile::named(stem).into_iter();
        let opened = paths.filter_map(|path| Journal::open(&path).ok());
        let all = opened.map(|(journal, recorded)| Self { journal, recorded });
        all.filter(|it| it.recorded.is_killed && !it.recorded.replicates.is_empty())
            .collect()
    }

    /// The request; absent in journals of earlier versions.
    pub const fn asked(&self) -> Option<&StudyAsked> {
        self.recorded.asked.as_ref()
    }

    pub fn begun_at(&self) -> &str {
        self.recorded.begun_at.first().map_or("", String::as_str)
    }

    /// Number of repeats measured.
    pub const fn replicates(&self) -> usize {
        self.recorded.replicates.len()
    }

    /// Discards it. Returns `false` without effect if its set-ups must still be undone.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn discard(self) -> Result<bool, JournalError> {
        if !self.recorded.undo.is_empty() || self.recorded.scratch.is_some() {
            return Ok(false);
        }
        self.journal.remove()?;
        Ok(true)
    }
}

/// Parses complete lines.
// fuzzed: journal
pub(crate) fn read(bytes: &[u8]) -> Result<RecordedStudy, String> {
    let mut recorded = RecordedStudy::default();
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let entry = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        match entry {
            StudyJournalEntry::Made(_) => {}
            StudyJournalEntry::Head(head) if head.schema > SCHEMA => {
                return Err("a newer version of this program wrote it".into());
            }
            StudyJournalEntry::Head(head) => recorded.head = Some(head),
            StudyJournalEntry::Asked(asked) => recorded.asked = Some(*asked),
            StudyJournalEntry::Begun(moment) => {
                recorded.begun_at.push(moment);
                recorded.is_killed = true;
            }
            StudyJournalEntry::Ended(_) => recorded.is_killed = false,
            StudyJournalEntry::Scratch(path) => recorded.scratch = path,
            StudyJournalEntry::Undo(undo) => recorded.undo = undo,
            StudyJournalEntry::Replicate(replicate) => recorded.replicates.push(replicate),
            StudyJournalEntry::Place(place) => recorded.places.push(*place),
        }
    }
    Ok(recorded)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use host::environment;
    use results::Setup;

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

    fn asked() -> StudyAsked {
        StudyAsked {
            head: RunHead::new(Setup::new("study", 5), environment::capture()),
            directory: "/".into(),
        }
    }

    #[test]
    fn what_was_kept_is_there_again_and_a_torn_line_is_not() {
        let top = tempfile::tempdir().expect("a directory");
        let path = top.path().join("deep/journal");
        let (mut journal, empty) = Journal::open(&path).expect("a journal");
        assert_eq!(empty, RecordedStudy::default());
        journal.head(&head(), &asked()).expect("kept");
        journal.begun("2027-01-31T12:00:00Z").expect("kept");
        journal.replicate(&replicate(1)).expect("kept");
        journal.replicate(&replicate(2)).expect("kept");
        drop(journal);
        let whole = fs::read(&path).expect("bytes");
        // If killed at any byte of the last entry, the previous one is complete.
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

    /// Bug: a file of someone else without a line end was emptied, and an empty one taken over.
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
        fs::write(&other, KIND.first_line).expect("a file");
        fs::remove_file(&path).expect("removed");
        std::os::unix::fs::symlink(&other, &path).expect("a link");
        let error = Journal::open(&path).expect_err("it is a link");
        assert!(matches!(error, JournalError::Io { .. }), "{error}");
        fs::remove_file(&path).expect("removed");
        fs::hard_link(&other, &path).expect("a second name");
        let error = Journal::open(&path).expect_err("it has two names");
        assert!(matches!(error, JournalError::Foreign { .. }), "{error}");
        assert_eq!(fs::read(&other).expect("there"), KIND.first_line);
    }

    /// Bug: another file that had got the name of a journal was removed with it.
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
        journal.head(&head(), &asked()).expect("kept");
        journal.restart().expect("emptied");
        journal.begun("now").expect("kept");
        drop(journal);
        // A child process that another test is just starting holds all open files until exec.
        let (_, found) = loop {
            match Journal::open(&path) {
                Err(JournalError::Busy { .. }) => std::thread::yield_now(),
                opened => break opened.expect("a journal"),
            }
        };
        assert_eq!((found.head, found.begun_at), (None, vec!["now".to_owned()]));
    }
}
