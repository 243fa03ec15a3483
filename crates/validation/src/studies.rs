//! Repeats of the built-in studies, so that the documents are compared with what the studies
//! measure.

use procedure::study::{StudyOverrides, filled, read_study};
use results::Reading;

use super::ValidationError;
use super::hand::SEED;
use host::interrupt::Interrupt;
use kinds::measure::{ReplicateContext, measuring};
use study::{OwnMeasurements, study_kinds};

/// Placeholder for the target in a setting.
const PLACE: &str = "place";

/// A study's name and text.
pub(super) type StudyText = (&'static str, &'static str);

/// The study `copy-extension`.
pub(super) const COPY: StudyText = units::named_text!("../../../studies/" "copy-extension");
/// The study `backup-dlt2000`.
pub(super) const BACKUP: StudyText = units::named_text!("../../../studies/" "backup-dlt2000");
/// The study `dlt2000-full`.
pub(super) const FULL: StudyText = units::named_text!("../../../studies/" "dlt2000-full");
/// The study `tmscp-four-tapes`.
pub(super) const TMSCP: StudyText = units::named_text!("../../../studies/" "tmscp-four-tapes");

/// One repeat of a combination of levels.
pub(super) struct StudyRow {
    readings: Vec<Reading>,
}

impl StudyRow {
    /// Measures the combination of these levels.
    pub fn measure(
        (name, text): StudyText,
        levels: &[&str],
        interrupt: &Interrupt,
    ) -> Result<Self, ValidationError> {
        let wrong = |why: String| ValidationError::Nothing(format!("the study {name}: {why}"));
        let study = read_study(
            name,
            text,
            &StudyOverrides::default(),
            &study_kinds(&OwnMeasurements),
        )
        .map_err(|error| wrong(error.to_string()))?;
        let cells = study.cells();
        let cell = cells.iter().find(|cell| study.names(cell) == levels);
        let cell = cell.ok_or_else(|| wrong(format!("it has no levels {levels:?}")))?;
        let target = study.target_of(cell);
        let mut settings = study.settings_of(cell);
        for (_, value) in &mut settings {
            if let toml::Value::String(text) = value {
                *text = filled(text, &[(PLACE, target.as_str())]);
            }
        }
        let measurement =
            measuring(&study.measurement, &settings).map_err(|fault| wrong(fault.message))?;
        let place = ReplicateContext::new(target, SEED);
        let readings = measurement.measure(&place, interrupt)?;
        Ok(Self { readings })
    }

    /// The reading of that name.
    pub fn value(&self, name: &str) -> Result<f64, ValidationError> {
        let found = self.readings.iter().find(|reading| reading.name == name);
        found
            .map(|reading| reading.value)
            .ok_or_else(|| ValidationError::Nothing(format!("there is no reading {name:?}")))
    }
}
