//! The journal of a run: each cell as soon as it is measured, so that a killed run can be resumed,
//! or kept as a partial run.

use std::path::{Path, PathBuf};

use host::line_file::{LineFile, LineFileError, LineFileKind};
use results::{Environment, Setup};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of the format.
const SCHEMA: u32 = 1;
/// Extension of journals.
const ENDING: &str = "journal";

static KIND: LineFileKind = LineFileKind {
    first_line: b"{\"made\":\"journal of a seekstone run\"}\n",
    name: "the journal of a run",
    owner: "this run",
    what: "journal of a run",
};

/// Identity of a journal's run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunHead {
    /// Version of the format.
    schema: u32,
    /// Version of the program.
    pub program: String,
    /// The command with all its settings, including the seed.
    pub setup: Setup,
    /// The machine, and the start of the run.
    pub environment: Environment,
}

impl RunHead {
    /// The head of a new journal.
    pub fn new(setup: Setup, environment: Environment) -> Self {
        Self {
            schema: SCHEMA,
            program: host::VERSION.into(),
            setup,
            environment,
        }
    }
}

/// A cell with its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cell {
    /// Its name.
    pub of: String,
    /// Whether it is a result. Properties of targets are kept as well.
    pub is_result: bool,
    /// Its value.
    pub found: Value,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RunJournalEntry {
    Made(String),
    Head(Box<RunHead>),
    Cell(Cell),
}

/// The open, locked journal of a run, and its content when opened.
#[derive(Debug)]
pub struct RunJournal {
    file: LineFile,
    /// The run's head; absent if the program was killed before it was written.
    pub head: Option<RunHead>,
    pub(crate) cells: Vec<Cell>,
}

impl RunJournal {
    /// Opens a journal, or creates an empty one.
    ///
    /// # Errors
    /// If another process has it open, it is another kind of file, or the system refuses.
    pub fn open(path: &Path) -> Result<Self, LineFileError> {
        let (file, (head, cells)) = LineFile::open(path, &KIND, read)?;
        Ok(Self { file, head, cells })
    }

    /// Creates a journal. The names of all journals of a place begin with `stem`.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn create(stem: &Path, head: RunHead) -> Result<Self, LineFileError> {
        let process = std::process::id();
        let free = (0_u32..).map(|number| {
            let mut path = stem.as_os_str().to_owned();
            path.push(format!("{process}-{number}.{ENDING}"));
            PathBuf::from(path)
        });
        let free = free.filter(|path| path.symlink_metadata().is_err());
        // A search for killed runs takes a journal without a head for an empty one.
        let opened = free.map(|path| Self::open(&path));
        let mut opened = opened.filter(|it| !matches!(it, Err(LineFileError::Busy { .. })));
        let mut journal = opened.next().expect("names without end")?;
        journal
            .file
            .write(&RunJournalEntry::Head(Box::new(head.clone())))?;
        journal.head = Some(head);
        Ok(journal)
    }

    /// Journals whose names begin with `stem` and whose programs have ended, oldest first, as far
    /// as they can be read.
    pub fn left_at(stem: &Path) -> Vec<Self> {
        let paths = LineFile::named(stem).into_iter();
        let named = paths.filter(|path| path.extension().is_some_and(|it| it == ENDING));
        let mut left: Vec<Self> = named.filter_map(|path| Self::open(&path).ok()).collect();
        left.sort_by_key(|journal| (journal.begun_at().to_owned(), journal.path().to_owned()));
        left
    }

    /// Start of its run.
    pub fn begun_at(&self) -> &str {
        self.head
            .as_ref()
            .map_or("", |head| head.environment.started_at.as_str())
    }

    /// Number of results in it when opened.
    pub fn results(&self) -> usize {
        self.cells.iter().filter(|cell| cell.is_result).count()
    }

    pub fn path(&self) -> PathBuf {
        self.file.path().to_owned()
    }

    pub(crate) fn keep(&mut self, cell: Cell) -> Result<(), LineFileError> {
        self.file.write(&RunJournalEntry::Cell(cell))
    }

    /// Removes it.
    ///
    /// # Errors
    /// If the system refuses, or another file has its name.
    pub fn remove(self) -> Result<(), LineFileError> {
        self.file.remove()
    }
}

/// Parses complete lines.
// fuzzed: run_journal
pub(crate) fn read(bytes: &[u8]) -> Result<(Option<RunHead>, Vec<Cell>), String> {
    let (mut head, mut cells) = (None, Vec::new());
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        match serde_json::from_slice(line).map_err(|error| error.to_string())? {
            RunJournalEntry::Made(_) => {}
            RunJournalEntry::Head(read) if read.schema > SCHEMA => {
                return Err("a newer version of this program wrote it".into());
            }
            RunJournalEntry::Head(read) => head = Some(*read),
            RunJournalEntry::Cell(cell) => cells.push(cell),
        }
    }
    Ok((head, cells))
}
