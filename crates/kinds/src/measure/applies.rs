//! Settings that say something on one kind of storage alone: each tells so itself, and one place
//! refuses it elsewhere.

use std::path::Path;

use units::TargetName;

use super::Stop;
use super::kind::{Kind, Made, Measured, Measuring, Setting};
use super::place::{MeasureError, ReplicateContext, Result};
use super::settings::Settings;

/// On which storage a setting says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applies {
    /// On any.
    ToAll,
    /// On files and devices, and why not on models.
    ToFiles(&'static str),
    /// The same of a step that models have none of: they may be told to leave it out.
    ToFilesWhenOn(&'static str),
    ToModels,
    /// On a model, a file or a device, several parts of which are used.
    ToParts,
}

/// Why most settings of files say nothing on a model.
pub(super) const NO_CONTENT_WHY: &str = "a model has no page cache, no directories and no content";
/// A setting that says nothing on a model for that reason.
pub(super) const NO_CONTENT: Applies = Applies::ToFiles(NO_CONTENT_WHY);

/// A measurement, with what must be known of the settings that it was given.
#[derive(Debug)]
struct FittedSettings {
    kind: &'static Kind,
    measuring: Box<dyn Measuring>,
    /// Given settings that do not apply to all storage.
    given: Vec<(&'static str, Applies)>,
}

/// A measurement that refuses settings which say nothing on what it measures.
///
/// # Errors
/// That of `made`.
pub(super) fn fitted(made: Made, settings: &Settings<'_>) -> Made {
    Ok(Box::new(FittedSettings {
        kind: settings.kind(),
        measuring: made?,
        given: bound(settings),
    }))
}

fn bound(settings: &Settings<'_>) -> Vec<(&'static str, Applies)> {
    let is_bound = |setting: &&Setting| match setting.applies {
        Applies::ToAll => false,
        Applies::ToFiles(_) | Applies::ToModels | Applies::ToParts => true,
        Applies::ToFilesWhenOn(_) => settings.value(setting.name),
    };
    let bound = settings.all_given().filter(is_bound);
    bound.map(|it| (it.name, it.applies)).collect()
}

impl FittedSettings {
    fn fit(&self, place: &ReplicateContext) -> Result<()> {
        let target = self.measuring.target(place);
        let targets = &self.kind.targets;
        targets.check(self.kind.name, &target, &place.permission)?;
        let is_model = target.is_model();
        let refused = self.given.iter().find_map(|(name, applies)| match applies {
            Applies::ToFiles(why) | Applies::ToFilesWhenOn(why) if is_model => {
                Some(format!("{target}: {why}. Leave {name} out"))
            }
            Applies::ToParts if target.path().is_some_and(Path::is_dir) => Some(format!(
                "{target}: {name} is for parts of a file, a device or a model. Leave it out"
            )),
            Applies::ToModels if !is_model => Some(format!(
                "{target}: {name} is for models, as sim:NAME. Leave it out"
            )),
            _ => None,
        });
        refused.map_or(Ok(()), |why| Err(MeasureError::Usage(why)))
    }
}

impl Measuring for FittedSettings {
    fn target(&self, place: &ReplicateContext) -> TargetName {
        self.measuring.target(place)
    }

    fn check(&self, place: &ReplicateContext) -> Result<()> {
        self.fit(place)?;
        self.measuring.check(place)
    }

    fn measured(&self, place: &ReplicateContext, stop: &Stop) -> Result<Measured> {
        self.fit(place)?;
        self.measuring.measured(place, stop)
    }
}
