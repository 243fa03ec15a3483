//! What a study can measure: its own measurements, and whatever else the program brings.

use kinds::measure::{
    MeasureError, Measured, Measuring, ReplicateContext, Stop, command, kind_named, measured_paths,
    measuring,
};
use procedure::study::{KindOutline, Kinds, SettingMistake};
use results::{Severity, Warning};
use units::TargetName;

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
        place: &ReplicateContext,
    ) -> Result<(), MeasureError>;

    /// Open it there and measure nothing, where that takes no work of the user's: what the storage
    /// refuses is found before anything is measured.
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

    /// Measure one replicate.
    ///
    /// # Errors
    /// When it cannot be measured, or somebody stopped it: nothing of ours is left then.
    fn measure(
        &self,
        kind: &str,
        settings: &toml::Table,
        place: &ReplicateContext,
        stop: &Stop,
    ) -> Result<Measured, MeasureError>;

    /// Every path that is measured when the target is `target`, with what is only read.
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
        Ok(without_void(measured))
    }

    fn paths(&self, kind: &str, settings: &toml::Table, target: &TargetName) -> Vec<TargetName> {
        measured_paths(kind, settings, target)
    }
}

/// Figures that must not be used are in no mean; why stands in the warnings.
fn without_void(measured: Measured) -> Measured {
    match is_void(&measured.warnings) {
        true => Measured {
            readings: Vec::new(),
            ..measured
        },
        false => measured,
    }
}

/// Whether a replicate with those warnings has no figures that may be used.
pub(crate) fn is_void(warnings: &[Warning]) -> bool {
    warnings.iter().any(|it| it.severity == Severity::Invalid)
}

/// The same, for the reader of study files.
#[must_use]
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
    fn figures_that_a_warning_voids_are_in_no_mean() {
        let measured = |warning| Measured {
            readings: vec![Reading::new("rate", Unit::PerSecond, 1.0, Better::Higher)],
            warnings: vec![warning],
        };
        let kept = |warning| without_void(measured(warning)).readings.len();
        assert_eq!(kept(Warning::warn(WarningCode::BackgroundIo, "a third")), 1);
        assert_eq!(
            kept(Warning::invalid(WarningCode::BackgroundIo, "nine tenths")),
            0
        );
        assert_eq!(
            without_void(measured(Warning::invalid(
                WarningCode::BackgroundIo,
                "nine tenths"
            )))
            .warnings
            .len(),
            1
        );
    }
}
