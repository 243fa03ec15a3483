//! What kinds of measurement there are: the text of their help, the defaults of their settings, and
//! how one is made of its settings.

use std::fmt;

use results::{KnownMetric, Reading, Warning};
use units::TargetName;

use super::Stop;
use super::applies::Applies;
use super::form::ValueForm;
use super::place::{ReplicateContext, Result};
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
    fn check(&self, _place: &ReplicateContext) -> Result<()> {
        Ok(())
    }

    /// Measure one replicate. A kind has this, or [`measured`](Self::measured).
    ///
    /// # Errors
    /// When the storage or the command fails, the settings do not fit the place, or somebody
    /// stopped it. There are no readings then, and nothing of ours is left.
    fn measure(&self, place: &ReplicateContext, stop: &Stop) -> Result<Vec<Reading>> {
        Ok(self.measured(place, stop)?.readings)
    }

    /// The same, with what a reader of the figures must know.
    ///
    /// # Errors
    /// Those of [`measure`](Self::measure).
    fn measured(&self, place: &ReplicateContext, stop: &Stop) -> Result<Measured> {
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

    /// The same under that name and with that meaning, where they are not empty.
    #[must_use]
    pub(crate) const fn declared(self, name: &'static str, meaning: &'static str) -> Self {
        Self {
            name: if name.is_empty() { self.name } else { name },
            meaning: if meaning.is_empty() {
                self.meaning
            } else {
                meaning
            },
            ..self
        }
    }
}

impl ValueForm {
    /// A setting that must be given.
    pub(crate) const fn required(self) -> Setting {
        self.setting(Default::Required)
    }

    /// A setting that may be left out.
    pub(crate) const fn optional(self) -> Setting {
        self.setting(Default::Nothing)
    }

    /// A setting with a value of its own.
    pub(crate) const fn or(self, value: &'static str) -> Setting {
        self.setting(Default::Is(value))
    }

    const fn setting(self, default: Default) -> Setting {
        Setting {
            name: "",
            form: self,
            default,
            meaning: "",
            applies: Applies::ToAll,
        }
    }
}

/// A setting that is true or false.
pub(crate) const fn flag(is_on: bool) -> Setting {
    ValueForm::Flag.or(if is_on { "true" } else { "false" })
}

/// Settings, each declared once: what it does as its comment, then its name, and what values look
/// like with what holds when it is not given. Those that several kinds have are constants.
macro_rules! settings {
    ($($(#[doc = $meaning:literal])* $name:ident = $setting:expr,)+) => {
        &[$({
            const NAME: [u8; stringify!($name).len()] =
                $crate::measure::kind::with_dashes(stringify!($name));
            $setting.declared(
                $crate::measure::kind::text(&NAME),
                concat!($($meaning),*).trim_ascii_start(),
            )
        }),+]
    };
    ($($(#[doc = $meaning:literal])+ $vis:vis const $name:ident = $setting:expr;)+) => {$(
        $(#[doc = $meaning])+
        $vis const $name: $crate::measure::kind::Setting =
            $setting.declared("", concat!($($meaning),+).trim_ascii_start());
    )+};
}
pub(crate) use settings;

/// A name of Rust's as it is typed.
pub(crate) const fn with_dashes<const LEN: usize>(name: &str) -> [u8; LEN] {
    let mut typed = [0; LEN];
    let mut at = 0;
    while at < LEN {
        typed[at] = match name.as_bytes()[at] {
            b'_' => b'-',
            other => other,
        };
        at += 1;
    }
    typed
}

pub(crate) const fn text(bytes: &'static [u8]) -> &'static str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("a name is text"),
    }
}
