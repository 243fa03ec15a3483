//! The cells of a run: trials, passes, timed commands. Each is kept as soon as it is measured, and
//! a run that goes on after a kill is told again what was kept, in the place of measuring it. It
//! asks for the same cells: all that it draws comes from its seed, and all that it decides from
//! what it was told.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use host::line_file::LineFileError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::run_journal::{Cell, RunJournal};

/// Nothing more was kept of a run that is not to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the program was killed")]
pub struct Killed;

/// Whether a run that was kept goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resume {
    /// What was not kept is measured.
    #[default]
    Measuring,
    /// It ends where its program was killed.
    No,
}

/// The cells of a run, shared by all who measure for it. One without a journal keeps nothing.
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
    /// Keep cells in a journal from now on, and replay those that it holds.
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

    /// The journal, when the run is done, with how many of its results were replayed, and why it
    /// could not be written, if so.
    #[must_use]
    pub fn done(&self) -> (Option<RunJournal>, usize, Option<LineFileError>) {
        let mut state = self.state();
        (state.journal.take(), state.replayed, state.failed.take())
    }

    /// How many results are kept, unless somebody is just writing one.
    #[must_use]
    pub fn kept(&self) -> Option<usize> {
        Some(self.0.try_lock().ok()?.kept)
    }

    /// Whether a kept run is only replayed, and nothing is measured.
    #[must_use]
    pub fn is_replay_only(&self) -> bool {
        self.state().resume == Resume::No
    }

    /// The result that was kept, or the one that `measure` gives.
    ///
    /// # Errors
    /// Those of `measure`, or [`Killed`] where it is not to be called.
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

    /// A result that was kept, each once.
    #[must_use]
    pub fn replay<T: DeserializeOwned>(&self, of: &str) -> Option<T> {
        let found = self.recalled(of)?;
        self.state().replayed += 1;
        Some(found)
    }

    /// Keep a result.
    pub fn keep<T: Serialize>(&self, of: &str, found: &T) {
        self.write(of, true, found);
    }

    /// What a target was found to be when the run was begun.
    #[must_use]
    pub fn recalled<T: DeserializeOwned>(&self, of: &str) -> Option<T> {
        let value = self.state().known.get_mut(of)?.pop_front()?;
        // Of another form, it is measured anew.
        // not fuzzed: values of a journal that was read, whose other forms are measured anew
        serde_json::from_value(value).ok()
    }

    /// Keep what a target was found to be.
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
        // A run is worth more than its journal: it goes on, and its end tells.
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
