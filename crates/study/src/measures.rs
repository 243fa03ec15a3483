//! What a study can measure: its own measurements, and whatever else the program brings.

use kinds::measure::{
    MeasureError, Measured, Measuring, Place, Stop, command, kind_named, measured_paths, measuring,
};
use procedure::study::{KindOutline, Kinds, SettingMistake};

/// Kinds of measurements that a study can choose from.
pub trait Measures {
    /// What a kind has; nothing for an unknown kind.
    fn outline(&self, kind: &str) -> Option<KindOutline>;

    /// Whether the settings, which may name what is made later, can be measured with.
    ///
    /// # Errors
    /// When there is no such kind, or a setting is unknown, missing, or has no such value.
    fn check(&self, kind: &str, settings: &toml::Table) -> Result<(), SettingMistake>;

    /// Whether it can be measured at that place, before anything is done there.
    ///
    /// # Errors
    /// When the place does not exist, or is of the wrong kind.
    fn check_at(
        &self,
        kind: &str,
        settings: &toml::Table,
        place: &Place,
    ) -> Result<(), MeasureError>;

    /// Measure one replicate.
    ///
    /// # Errors
    /// When it cannot be measured, or somebody stopped it: nothing of ours is left then.
    fn measure(
        &self,
        kind: &str,
        settings: &toml::Table,
        place: &Place,
        stop: &Stop,
    ) -> Result<Measured, MeasureError>;

    /// Every path that is measured when the target is `target`, with what is only read.
    fn paths(&self, kind: &str, settings: &toml::Table, target: &str) -> Vec<String>;
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
        let readings = kind.readings.iter().map(|(name, _)| (*name).to_owned());
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
        place: &Place,
    ) -> Result<(), MeasureError> {
        Self::made(kind, settings)?.check(place)
    }

    fn measure(
        &self,
        kind: &str,
        settings: &toml::Table,
        place: &Place,
        stop: &Stop,
    ) -> Result<Measured, MeasureError> {
        Self::made(kind, settings)?.measured(place, stop)
    }

    fn paths(&self, kind: &str, settings: &toml::Table, target: &str) -> Vec<String> {
        measured_paths(kind, settings, target)
    }
}

/// The same, for the reader of study files.
#[must_use]
pub fn study_kinds(measures: &dyn Measures) -> Kinds<'_> {
    Kinds {
        outline_of: Box::new(|kind| measures.outline(kind)),
        check: Box::new(|kind, settings| measures.check(kind, settings)),
    }
}
