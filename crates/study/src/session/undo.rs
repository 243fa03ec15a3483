//! Set-ups and tear-downs of a session, and its scratch directory.

use std::path::{Path, PathBuf};

use procedure::study::{ShellScript, digest};
use results::{Warning, WarningCode};
use units::Duration;

use super::{FinishedSession, StudySession, mentions_scratch};
use crate::StudyRunError;
use crate::journal::{RecordedStudy, Undo};
use crate::scratch::{LeftScratch, Scratch};
use crate::script::{ScriptError, Shell};
use host::environment;
use lab::laboratory::with_causes;

impl StudySession<'_> {
    /// Undoes set-ups of killed programs. Failures are ignored, since the set-up may have been
    /// undone already or never done.
    pub(super) fn undo_left(&mut self, recorded: &RecordedStudy) -> Result<(), StudyRunError> {
        self.undo_each(&recorded.undo);
        if let Some(left) = recorded.scratch.as_deref().and_then(LeftScratch::at) {
            self.remove_left(left);
        }
        // Those without a journal: studies whose repeats were not kept.
        let digest = digest(&self.request.definition.meaning());
        for parent in self.scratch_parents() {
            for left in LeftScratch::find(&parent) {
                if left.digest == digest {
                    self.undo_each(&left.undo);
                    self.remove_left(left);
                }
            }
        }
        match &mut self.journal {
            Some(journal) if !recorded.undo.is_empty() => Ok(journal.undo(&[])?),
            _ => Ok(()),
        }
    }

    fn undo_each(&self, undo: &[Undo]) {
        for undo in undo.iter().rev() {
            let shell = Shell {
                variables: undo.variables.clone(),
                limit: self.request.definition.time_limit,
            };
            let _ = shell.run(&undo.script(), &undo.what, None);
        }
    }

    fn remove_left(&mut self, left: LeftScratch) {
        let path = left.path.clone();
        if let Err(error) = left.remove() {
            self.warn_left(&path, &error);
        }
    }

    fn warn_left(&mut self, path: &Path, error: &std::io::Error) {
        let text = format!(
            "The directory for set-ups {} was not removed: {error}.",
            path.display()
        );
        self.warnings
            .push(Warning::warn(WarningCode::LeftBehind, text));
    }

    /// Runs a set-up. Its tear-down is recorded first, and runs even if the set-up fails midway.
    pub(super) fn set_up(
        &mut self,
        what: &str,
        setup: Option<&ShellScript>,
        teardown: Option<&ShellScript>,
        variables: Vec<(String, String)>,
    ) -> Result<(), StudyRunError> {
        if let Some(signal) = self.interrupt.is_raised() {
            return Err(StudyRunError::Interrupted(signal.name));
        }
        let variables = [self.variables(), variables].concat();
        if let Some(teardown) = teardown {
            self.undo.push(Undo {
                place: teardown.place.clone(),
                what: format!("the tear-down of {what}"),
                text: teardown.text.clone(),
                variables: variables.clone(),
            });
            self.note_undo()?;
        }
        let Some(setup) = setup else {
            return Ok(());
        };
        let shell = Shell {
            variables,
            limit: self.request.definition.time_limit,
        };
        let name = format!("the set-up of {what}");
        match shell.run(setup, &name, Some(self.interrupt)) {
            Ok(()) => Ok(()),
            Err(ScriptError::Interrupted(signal)) => Err(StudyRunError::Interrupted(signal)),
            Err(error) => Err(error.into()),
        }
    }

    fn note_undo(&mut self) -> Result<(), StudyRunError> {
        if let Some(scratch) = &mut self.scratch {
            let noted = scratch.note(&self.undo);
            let path = || scratch.path().to_owned();
            noted.map_err(|source| StudyRunError::Record {
                path: path(),
                source,
            })?;
        }
        match &mut self.journal {
            Some(journal) => Ok(journal.undo(&self.undo)?),
            None => Ok(()),
        }
    }

    /// Undoes everything above `base`, even if some of it fails.
    pub(super) fn undo_to(&mut self, base: usize) -> Result<(), StudyRunError> {
        let mut failed = None;
        if self.undo.len() == base {
            return Ok(());
        }
        while self.undo.len() > base {
            let Some(undo) = self.undo.pop() else { break };
            let shell = Shell {
                variables: undo.variables.clone(),
                limit: self.request.definition.time_limit,
            };
            let undone = shell.run(&undo.script(), &undo.what, None);
            failed = failed.or(undone.err());
        }
        self.note_undo()?;
        failed.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Undoes everything, removes the scratch directory, and returns the results.
    pub(crate) fn close(mut self) -> FinishedSession {
        if let Err(error) = self.undo_to(0) {
            let text = format!(
                "A tear-down failed, and something may be left: {}",
                with_causes(&error)
            );
            self.warnings
                .push(Warning::warn(WarningCode::LeftBehind, text));
        }
        let scratch = self.scratch.take();
        let path = scratch.as_ref().map(|it| it.path().to_owned());
        if let Some(Err(error)) = scratch.map(Scratch::remove) {
            self.warn_left(&path.unwrap_or_default(), &error);
        } else if let Some(Err(error)) = self.journal.as_mut().map(|it| it.scratch(None)) {
            let text = with_causes(&error);
            self.warnings
                .push(Warning::warn(WarningCode::StudyJournal, text));
        }
        let now = environment::capture().started_at;
        if let Some(Err(error)) = self.journal.as_mut().map(|it| it.ended(&now)) {
            let text = with_causes(&error);
            self.warnings
                .push(Warning::warn(WarningCode::StudyJournal, text));
        }
        let earlier = self.replicates[..self.inherited].iter();
        let earlier: u64 = earlier.map(|replicate| replicate.elapsed_ns).sum();
        let own = Duration::from(self.begun.elapsed());
        FinishedSession {
            replicates: self.replicates,
            begun_at: self.begun_at,
            seed: self.seed,
            journal: self.journal,
            warnings: self.warnings,
            environment: self.environment,
            places: self.places,
            elapsed: own + Duration::from_nanos(earlier),
        }
    }

    /// Creates the scratch directory if the study uses it, or for the record of what must be
    /// undone.
    pub(super) fn make_scratch(&mut self) -> Result<(), StudyRunError> {
        let definition = &self.request.definition;
        let is_named = mentions_scratch(&definition.meaning());
        let levels = definition.factors.iter().flat_map(|factor| &factor.levels);
        let of_levels = levels.map(|level| &level.teardown);
        let mut teardowns = of_levels.chain([&definition.teardown, &definition.after]);
        if !is_named && !teardowns.any(Option::is_some) {
            return Ok(());
        }
        let parents = self.scratch_parents();
        let parent = parents.first().filter(|_| is_named).or(parents.last());
        let parent = parent.cloned().unwrap_or_default();
        let study = self.request.source.as_str();
        let made = match Scratch::create(&parent, study, &digest(&definition.meaning())) {
            Ok(made) => made,
            // The journal also has the record.
            Err(_) if !is_named => return Ok(()),
            Err(source) => {
                return Err(StudyRunError::Scratch {
                    path: parent,
                    source,
                });
            }
        };
        if let Some(journal) = &mut self.journal {
            journal.scratch(Some(made.path()))?;
        }
        self.scratch = Some(made);
        Ok(())
    }

    /// Parents of scratch directories: the target if it is a directory. A record alone is in the
    /// current directory as a last resort.
    fn scratch_parents(&self) -> Vec<PathBuf> {
        let target = PathBuf::from(&self.request.definition.target);
        let mut parents: Vec<PathBuf> = [target, PathBuf::from(".")]
            .into_iter()
            .filter(|parent| parent.is_dir())
            .filter_map(|parent| parent.canonicalize().ok())
            .collect();
        parents.dedup();
        parents
    }
}
