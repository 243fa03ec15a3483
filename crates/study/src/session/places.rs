//! Places that a session measures, the storage below them, and the environment of commands.

use std::path::PathBuf;

use procedure::study::{filled, level_variable};

use super::StudySession;
use crate::StudyRunError;
use crate::preflight::describe;
use crate::scratch::Scratch;
use crate::seen::SeenPlace;
use kinds::measure::ReplicateContext;

/// Placeholder in settings for the scratch directory.
const SCRATCH: &str = "scratch";
/// Placeholder in settings for the study's target.
const PLACE: &str = "place";

impl StudySession<'_> {
    /// Examines the storage of a cell, the first time.
    pub(super) fn look_at(&mut self, position: usize) -> Result<(), StudyRunError> {
        let definition = &self.request.definition;
        let levels = definition.names(&self.plan.cells()[position]);
        if self.replicates.iter().any(|it| it.levels == levels) {
            return Ok(());
        }
        let cell = self.plan.cells()[position].clone();
        let settings = self.settings(&cell);
        let target = self.place(&cell, 0).target;
        let measures = self.request.measures;
        for path in measures.paths(&definition.measurement, &settings, &target) {
            // Errors are reported by the measurement.
            let Ok((mut description, cautions)) = describe(&path) else {
                continue;
            };
            // As the study names it, since the directory is removed afterwards.
            if let Some(scratch) = &self.scratch {
                let within = scratch.path().display().to_string();
                description.given = description.given.replace(&within, "{scratch}");
            }
            let seen = SeenPlace {
                cell: position,
                description,
                cautions,
            };
            if let (true, Some(journal)) = (self.places.add(seen.clone()), &mut self.journal) {
                journal.place(&seen)?;
            }
        }
        Ok(())
    }

    /// The settings of a cell.
    pub(super) fn settings(&self, cell: &[usize]) -> toml::Table {
        let mut settings = self.request.definition.settings_of(cell);
        for (_, value) in &mut settings {
            self.fill(value);
        }
        settings
    }

    fn fill(&self, value: &mut toml::Value) {
        match value {
            toml::Value::String(text) => *text = self.filled(text),
            toml::Value::Array(items) => items.iter_mut().for_each(|item| self.fill(item)),
            _ => {}
        }
    }

    pub(super) fn place(&self, cell: &[usize], seed: u64) -> ReplicateContext {
        ReplicateContext {
            target: self
                .filled(self.request.definition.target_of(cell).as_str())
                .into(),
            seed,
            reserve: self.request.reserve,
            permission: self.request.permission.clone(),
            variables: Vec::new(),
            ranks: self.request.ranks.clone(),
        }
    }

    fn filled(&self, text: &str) -> String {
        let scratch = self.scratch_path();
        filled(text, &[(SCRATCH, &scratch), (PLACE, &self.target_path())])
    }

    fn scratch_path(&self) -> String {
        let path = self.scratch.as_ref().map(Scratch::path);
        path.map_or_else(String::new, |path| path.display().to_string())
    }

    /// The target's path, absolute for scripts.
    fn target_path(&self) -> String {
        let target = &self.request.definition.target;
        if target.is_model() {
            return target.to_string();
        }
        let path = PathBuf::from(target);
        let path = path.canonicalize().unwrap_or(path);
        path.display().to_string()
    }

    pub(super) fn variables(&self) -> Vec<(String, String)> {
        let directory = self.request.directory.display().to_string();
        let program = std::env::current_exe().unwrap_or_else(|_| "seekstone".into());
        [
            ("SEEKSTONE", program.display().to_string()),
            ("SEEKSTONE_PLACE", self.target_path()),
            ("SEEKSTONE_STUDY_DIR", directory),
            ("SEEKSTONE_SCRATCH", self.scratch_path()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    pub(super) fn level_variables(&self, cell: &[usize]) -> Vec<(String, String)> {
        let definition = &self.request.definition;
        let names = definition.factors.iter().zip(definition.names(cell));
        names
            .map(|(factor, level)| (level_variable(&factor.name), level))
            .collect()
    }
}
