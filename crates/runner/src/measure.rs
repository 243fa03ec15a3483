//! The measurements of a study: small programs whose figures are repeated, varied and compared.
//!
//! A [`Measurement`] is made from a table of settings and measures one replicate at a time. It knows
//! nothing about factors, orders or statistics. Its files lie in a work directory of their own, which
//! is removed when the replicate ends, however it ends; `seekstone clean` finds what a killed
//! program left.

pub mod command;
pub mod kind;
pub mod place;
pub mod records;
pub mod settings;
pub mod store;
pub mod transfer;

use results::Reading;

use crate::interrupt::Interrupt;
pub use kind::{Default, Kind, Setting};
pub use place::{MeasureError, Place};
pub use settings::{SettingFault, Settings};

/// Raised when a measurement is to end: it removes what it made, and gives no reading.
pub type Stop = Interrupt;

/// What a study measures, with its settings.
#[derive(Clone, Debug, PartialEq)]
pub enum Measurement {
    /// A command of the user's.
    Command(command::Command),
    /// Writing and reading one file.
    Transfer(transfer::Transfer),
}

/// All kinds, in the order of their documentation.
const KINDS: &[Kind] = &[command::KIND, transfer::KIND];

impl Measurement {
    /// What can be measured.
    #[must_use]
    pub const fn kinds() -> &'static [Kind] {
        KINDS
    }

    /// The measurement of that kind with these settings.
    ///
    /// # Errors
    /// When there is no such kind, or a setting is unknown, missing, or has no such value.
    pub fn from_table(kind: &str, settings: &toml::Table) -> Result<Self, SettingFault> {
        let known = KINDS.iter().find(|known| known.name == kind);
        let known = known.ok_or_else(|| SettingFault::unknown_kind(kind, KINDS))?;
        let settings = Settings::of(known, settings)?;
        Ok(match known.name {
            "command" => Self::Command(command::Command::from_settings(&settings)?),
            _ => Self::Transfer(transfer::Transfer::from_settings(&settings)?),
        })
    }

    /// Say whether it can be measured at that place, before anything is done there.
    ///
    /// # Errors
    /// When the place does not exist, or is of the wrong kind.
    pub fn check(&self, place: &Place) -> Result<(), MeasureError> {
        match self {
            Self::Command(it) => it.check(place),
            Self::Transfer(it) => it.check(place),
        }
    }

    /// Measure one replicate.
    ///
    /// # Errors
    /// When the storage or the command fails, the settings do not fit the place, or somebody
    /// stopped it. There are no readings then, and nothing of ours is left.
    pub fn measure(&self, place: &Place, stop: &Stop) -> Result<Vec<Reading>, MeasureError> {
        match self {
            Self::Command(it) => it.measure(place, stop),
            Self::Transfer(it) => it.measure(place, stop),
        }
    }
}
