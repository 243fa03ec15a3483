//! The cells of a run: trials, passes, timed commands. Each result is kept as soon as it is
//! measured. A run resumed after a kill gets the kept results instead of measuring again. It
//! requests the same cells, because all random draws come from its seed and all decisions from
//! results.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use host::line_file::LineFileError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::run_journal::{Cell, RunJournal};

/// No further results were kept of a run that is not to be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the program was killed")]
pub struct Killed;

/// Whether a kept run is resumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resume {
    /// Missing results are measured.
    #[default]
    Measuring,
    /// It ends where its program was killed.
    No,
}

/// The cells of a run, shared by everything that measures for it. Without a journal nothing is
/// kept.
#[derive(Clone, Debug, Default)]
pub struct Cells(Arc<Mutex<CellsState>>);

#[derive(Debug, Default)]
struct CellsState {
    journal: Option<RunJournal>,
    resume: Resume,
    known: BTreeMap<String, VecDeque<Value>>,
    replayed: usize,
    kept: usize,
    failed: Option<LineFileError>,
}

impl Cells {
    /// Keeps cells in a journal from now on, and replays its results.
    pub fn keep_in(&self, journal: RunJournal, resume: Resume) {
        let mut state = self.state();
        state.kept = journal.results();
        for Cell { of, found, .. } in &journal.cells {
            let known = state.known.entry(of.clone()).or_default();
            known.push_back(found.clone());
        }
        state.journal = Some(journal);
        state.resume = resume;
    }

    /// The journal at the end of the run, with the number of replayed results, and the error if it
    /// could not be written.
    pub fn done(&self) -> (Option<RunJournal>, usize, Option<LineFileError>) {
        let mut state = self.state();
        (state.journal.take(), state.replayed, state.failed.take())
    }

    /// Number of kept results, unless the state is locked by a writer.
    pub fn kept(&self) -> Option<usize> {
        Some(self.0.try_lock().ok()?.kept)
    }

    /// Whether a kept run is only replayed.
    pub fn is_replay_only(&self) -> bool {
        self.state().resume == Resume::No
    }

    /// The kept result, or that of `measure`.
    ///
    /// # Errors
    /// Those of `measure`, or [`Killed`] if it must not be called.
    pub fn result<T, E>(&self, of: &str, measure: impl FnOnce() -> Result<T, E>) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<Killed>,
    {
        if let Some(found) = self.replay(of) {
            return Ok(found);
        }
        if self.is_replay_only() {
            return Err(Killed.into());
        }
        let found = measure()?;
        self.keep(of, &found);
        Ok(found)
    }

    /// A kept result. Each is returned once.
    pub fn replay<T: DeserializeOwned>(&self, of: &str) -> Option<T> {
        let found = self.recalled(of)?;
        self.state().replayed += 1;
        Some(found)
    }

    /// Keeps a result.
    pub fn keep<T: Serialize>(&self, of: &str, found: &T) {
        self.write(of, true, found);
    }

    /// The properties of a target found when the run started.
    pub fn recalled<T: DeserializeOwned>(&self, of: &str) -> Option<T> {
        let value = self.state().known.get_mut(of)?.pop_front()?;
        // Values of another form are measured again.
        // not fuzzed: values of a journal that was read, whose other forms are measured anew
        serde_json::from_value(value).ok()
    }

    /// Keeps the properties of a target.
    pub fn note<T: Serialize>(&self, of: &str, found: &T) {
        self.write(of, false, found);
    }

    fn write<T: Serialize>(&self, of: &str, is_result: bool, found: &T) {
        let mut state = self.state();
        let Some(journal) = &mut state.journal else {
            return;
        };
        let written = serde_json::to_value(found).map(|found| {
            journal.keep(Cell {
                of: of.into(),
                is_result,
                found,
            })
        });
        // The run is worth more than its journal: it continues, and the error is reported at its
        // end.
        match written {
            Ok(Err(error)) => state.failed = Some(error),
            Ok(Ok(())) => state.kept += usize::from(is_result),
            Err(_) => {}
        }
    }

    fn state(&self) -> MutexGuard<'_, CellsState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
