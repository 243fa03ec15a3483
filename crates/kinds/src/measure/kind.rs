//! What kinds of measurement there are: the text of their help, the defaults of their settings, and
//! how one is made of its settings.

use std::fmt;

use results::{KnownMetric, Reading, Warning};
use units::TargetName;

use super::Stop;
use super::applies::Applies;
use super::form::ValueForm;
use super::place::{MeasureError, ReplicateContext};
use super::settings::{SettingFault, Settings};
use super::targets::Targets;

/// What one replicate gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Its figures.
    pub readings: Vec<Reading>,
    /// What a reader of these must know.
    pub warnings: Vec<Warning>,
}

/// A kind with its settings: it measures one replicate at a time.
pub trait Measuring: fmt::Debug + Send + Sync {
    /// What is measured there: the place's target unless a setting names another.
    fn target(&self, place: &ReplicateContext) -> TargetName {
        place.target.clone()
    }

    /// Say whether it can be measured at that place, before anything is done there.
    ///
    /// # Errors
    /// When its settings do not fit the place.
    fn check(&self, _place: &ReplicateContext) -> Result<(), MeasureError> {
        Ok(())
    }

    /// Measure one replicate.
    ///
    /// # Errors
    /// When the storage or the command fails, the settings do not fit the place, or somebody
    /// stopped it. There are no readings then, and nothing of ours is left.
    fn measure(&self, place: &ReplicateContext, stop: &Stop) -> Result<Vec<Reading>, MeasureError>;

    /// The same, with what a reader of the figures must know.
    ///
    /// # Errors
    /// Those of [`measure`](Self::measure).
    fn measured(&self, place: &ReplicateContext, stop: &Stop) -> Result<Measured, MeasureError> {
        let readings = self.measure(place, stop)?;
        Ok(Measured {
            readings,
            warnings: Vec::new(),
        })
    }
}

/// What is made of the settings of a kind.
pub type Made = Result<Box<dyn Measuring>, SettingFault>;

/// For [`Kind::make`].
///
/// # Errors
/// That of `parsed`.
pub(crate) fn made<T: Measuring + 'static>(parsed: Result<T, SettingFault>) -> Made {
    parsed.map(|it| Box::new(it) as Box<dyn Measuring>)
}

/// A kind of measurement.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// What a study file calls it.
    pub name: &'static str,
    /// One line on what it measures.
    pub about: &'static str,
    /// What can be set.
    pub settings: &'static [Setting],
    /// What one replicate gives.
    pub readings: &'static [KnownMetric],
    /// What it does with each sort of target.
    pub targets: Targets,
    /// The setting that names what is measured in place of the study's target, if there is one.
    pub in_place: Option<&'static str>,
    /// Whether it has a command of its own; the others are measured by studies.
    pub is_command: bool,
    /// The measurement with these settings.
    pub make: fn(&Settings<'_>) -> Made,
}

/// A setting of a kind.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The key in the study file.
    pub name: &'static str,
    /// What a value looks like.
    pub form: ValueForm,
    /// What holds when it is not given.
    pub default: Default,
    /// What it does.
    pub meaning: &'static str,
    /// On which storage it says something.
    pub applies: Applies,
}

/// What holds when a setting is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// That is a mistake.
    Required,
    /// Nothing; the meaning says what that does.
    Nothing,
    /// This value, as it would be typed.
    Is(&'static str),
}

impl Setting {
    /// Whether its value is a path of this machine, or a list of them.
    pub const fn names_paths(&self) -> bool {
        matches!(self.form, ValueForm::Path(_) | ValueForm::Paths)
    }

    /// The same, of that storage alone.
    #[must_use]
    pub const fn applying(self, applies: Applies) -> Self {
        Self { applies, ..self }
    }

    /// A setting that must be given.
    pub const fn required(name: &'static str, form: ValueForm, meaning: &'static str) -> Self {
        Self::new(name, form, Default::Required, meaning)
    }

    /// A setting that may be left out.
    pub const fn optional(name: &'static str, form: ValueForm, meaning: &'static str) -> Self {
        Self::new(name, form, Default::Nothing, meaning)
    }

    /// A setting with a value of its own.
    pub const fn or(
        name: &'static str,
        form: ValueForm,
        value: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self::new(name, form, Default::Is(value), meaning)
    }

    /// One that is true or false.
    pub const fn flag(name: &'static str, is_on: bool, meaning: &'static str) -> Self {
        Self::or(
            name,
            ValueForm::Flag,
            if is_on { "true" } else { "false" },
            meaning,
        )
    }

    const fn new(
        name: &'static str,
        form: ValueForm,
        default: Default,
        meaning: &'static str,
    ) -> Self {
        Self {
            name,
            form,
            default,
            meaning,
            applies: Applies::ToAll,
        }
    }
}
