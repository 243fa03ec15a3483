//! Measurements available to a study: its own, and those of the program.

use kinds::measure::{
    MeasureError, Measured, Measuring, ReplicateContext, Stop, command, kind_named, measured_paths,
    measuring,
};
use procedure::study::{KindOutline, Kinds, SettingMistake};
use results::{Severity, Warning};
use units::TargetName;

/// Kinds of measurements that a study can use.
pub trait Measures {
    /// The outline of a kind; `None` if unknown.
    fn outline(&self, kind: &str) -> Option<KindOutline>;

    /// Checks the settings, which may name files that are created later.
    ///
    /// # Errors
    /// If the kind or a setting is unknown, or a setting is missing or invalid.
    fn check(&self, kind: &str, settings: &toml::Table) -> Result<(), SettingMistake>;

    /// Checks that it can be measured at that place, before anything is done there.
    ///
    /// # Errors
    /// If the place does not exist, or is of the wrong kind.
    fn check_at(
        &self,
        kind: &str,
        settings: &toml::Table,
        place: &ReplicateContext,
    ) -> Result<(), MeasureError>;

    /// Opens it there without measuring, if that takes no work of the user's, to detect errors of
    /// the storage before the first measurement.
    ///
    /// # Errors
    /// Those of [`measure`](Self::measure).
    fn try_at(
        &self,
        _kind: &str,
        _settings: &toml::Table,
        _place: &ReplicateContext,
    ) -> Result<(), MeasureError> {
        Ok(())
    }

    /// Measures one repeat.
    ///
    /// # Errors
    /// If it cannot be measured or is stopped. Nothing of ours is left then.
    fn measure(
        &self,
        kind: &str,
        settings: &toml::Table,
        place: &ReplicateContext,
        stop: &Stop,
    ) -> Result<Measured, MeasureError>;

    /// A text of a measurement with the settings of a study for the options of a command: `--set
    /// budget=15s`, not `--budget 15s`.
    fn with_settings(&self, _kind: &str, text: &str) -> String {
        text.to_owned()
    }

    /// All paths that are measured for `target`, including those that are only read.
    fn paths(&self, kind: &str, settings: &toml::Table, target: &TargetName) -> Vec<TargetName>;
}

/// The measurements that only studies have.
#[derive(Clone, Copy, Debug)]
pub struct OwnMeasurements;

impl OwnMeasurements {
    fn made(kind: &str, settings: &toml::Table) -> Result<Box<dyn Measuring>, MeasureError> {
        measuring(kind, settings).map_err(|it| MeasureError::Usage(it.message))
    }
}

impl Measures for OwnMeasurements {
    fn outline(&self, kind: &str) -> Option<KindOutline> {
        let kind = kind_named(kind)?;
        let settings = kind.settings.iter().map(|it| it.name.to_owned());
        let readings = kind.readings.iter().map(|it| it.name.to_owned());
        Some(KindOutline {
            settings: settings.collect(),
            readings: Some(readings.collect()),
            command: (kind.name == command::KIND.name).then(|| command::COMMAND.to_owned()),
        })
    }

    fn check(&self, kind: &str, settings: &toml::Table) -> Result<(), SettingMistake> {
        let checked = measuring(kind, settings);
        checked.map(drop).map_err(|fault| SettingMistake {
            key: fault.key,
            message: fault.message,
        })
    }

    fn check_at(
        &self,
        kind: &str,
        settings: &toml::Table,
        place: &ReplicateContext,
    ) -> Result<(), MeasureError> {
        Self::made(kind, settings)?.check(place)
    }

    fn measure(
        &self,
        kind: &str,
        settings: &toml::Table,
        place: &ReplicateContext,
        stop: &Stop,
    ) -> Result<Measured, MeasureError> {
        let measured = Self::made(kind, settings)?.measured(place, stop)?;
        Ok(judged(measured))
    }

    fn paths(&self, kind: &str, settings: &toml::Table, target: &TargetName) -> Vec<TargetName> {
        measured_paths(kind, settings, target)
    }
}

/// Invalid readings are in no mean, and spoiled ones are marked; the warnings say why.
fn judged(mut measured: Measured) -> Measured {
    if is_void(&measured.warnings) {
        measured.readings.clear();
    }
    if measured.warnings.iter().any(Warning::spoils_value) {
        let readings = measured.readings.iter_mut();
        readings.for_each(|it| it.is_spoiled = true);
    }
    measured
}

/// Whether a repeat with these warnings has no valid figures.
pub(crate) fn is_void(warnings: &[Warning]) -> bool {
    warnings.iter().any(|it| it.severity == Severity::Invalid)
}

/// The same, for the parser of study files.
pub fn study_kinds(measures: &dyn Measures) -> Kinds<'_> {
    Kinds {
        outline_of: Box::new(|kind| measures.outline(kind)),
        check: Box::new(|kind, settings| measures.check(kind, settings)),
    }
}

#[cfg(test)]
mod tests {
    use results::{Better, Reading, Unit, WarningCode};

    use super::*;

    #[test]
    fn invalid_readings_are_in_no_mean_and_spoiled_ones_are_marked() {
        let check = |warning: Warning, marked: &[bool]| {
            let found = judged(Measured {
                readings: vec![Reading::new("rate", Unit::PerSecond, 1.0, Better::Higher)],
                warnings: vec![warning],
            });
            let readings = found.readings.iter();
            assert_eq!(readings.map(|it| it.is_spoiled).collect::<Vec<_>>(), marked);
            assert_eq!(found.warnings.len(), 1);
        };
        check(Warning::warn(WarningCode::BackgroundIo, "a third"), &[true]);
        check(Warning::warn(WarningCode::TooFewSamples, "12"), &[false]);
        check(Warning::info(WarningCode::Correlated, "slowly"), &[false]);
        check(Warning::invalid(WarningCode::BackgroundIo, "most"), &[]);
    }
}
