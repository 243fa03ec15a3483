//! What the levels of a study change: every level must do something, and every cell must be a
//! measurement that can be made.

use std::collections::BTreeMap;

use crate::study::definition::{Factor, Script, StudyDefinition};
use crate::study::fault::StudyFault;
use crate::study::form::Source;

/// What is wrong with the settings of a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingMistake {
    /// The setting, if it is about one.
    pub key: Option<String>,
    /// What is wrong.
    pub message: String,
}

/// The kinds of measurements that a study can choose from.
pub struct Kinds<'a> {
    /// Names of the settings of a kind; none for an unknown kind.
    pub settings_of: &'a dyn Fn(&str) -> Option<Vec<String>>,
    /// Checks settings.
    pub check: &'a dyn Fn(&str, &toml::Table) -> Result<(), SettingMistake>,
}

/// Where settings stand, for messages.
#[derive(Default)]
pub(super) struct Places {
    pub measurement: String,
    pub settings: BTreeMap<String, String>,
    pub factors: Vec<String>,
}

/// The variable that tells scripts the level of a factor: `SEEKSTONE_BLOCK_SIZE`.
#[must_use]
pub fn level_variable(factor: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = factor.chars().map(plain).collect();
    format!("SEEKSTONE_{}", name.to_ascii_uppercase())
}

/// A level that acts by its name is no setting of the measurement: as `{block}` in a setting, as
/// `$SEEKSTONE_BLOCK` in a script, or as a label that all cells carry.
pub(super) fn settle_factors(
    source: &mut Source<'_>,
    study: &mut StudyDefinition,
    places: &Places,
    kinds: &Kinds<'_>,
) {
    let Some(settings) = (kinds.settings_of)(&study.measurement) else {
        // Told by the check of the cells.
        return;
    };
    let texts = texts_of(study);
    for (at, factor) in study.factors.iter_mut().enumerate() {
        let is_setting = settings.contains(&factor.name);
        let is_label = factor.levels.len() == 1;
        let (in_setting, in_script) =
            (format!("{{{}}}", factor.name), level_variable(&factor.name));
        let is_named = texts
            .iter()
            .any(|text| text.contains(&in_setting) || text.contains(&in_script));
        if !is_setting && (is_named || is_label) {
            for level in &mut factor.levels {
                level.set.remove(&factor.name);
            }
        } else if !is_setting && !acts(factor) {
            let message = format!(
                "the factor {:?} changes nothing: {} has no setting of that name (it has {}), \
                 {in_setting} stands in no setting, and ${in_script} in no command",
                factor.name,
                study.measurement,
                settings.join(", ")
            );
            source.note(places.factors.get(at).cloned().unwrap_or_default(), message);
            for level in &mut factor.levels {
                level.set.remove(&factor.name);
            }
        }
    }
}

/// Whether a level does something but set a setting of the factor's own name.
fn acts(factor: &Factor) -> bool {
    factor.levels.iter().any(|level| {
        level.has_scripts()
            || level.target.is_some()
            || level.set.keys().any(|key| *key != factor.name)
    })
}

/// Every text in which a level could be named.
fn texts_of(study: &StudyDefinition) -> Vec<String> {
    let scripts = [&study.setup, &study.teardown, &study.before, &study.after];
    let of_levels = study
        .factors
        .iter()
        .flat_map(|factor| &factor.levels)
        .flat_map(|level| [&level.setup, &level.teardown]);
    let scripts = scripts.into_iter().chain(of_levels).flatten();
    let levels = study.factors.iter().flat_map(|factor| &factor.levels);
    let mut texts: Vec<String> = scripts.map(|Script { text, .. }| text.clone()).collect();
    texts.push(study.target.clone());
    texts.push(study.settings.to_string());
    texts.extend(levels.clone().map(|level| level.set.to_string()));
    texts.extend(levels.filter_map(|level| level.target.clone()));
    texts
}

/// Every cell must be a measurement that can be made.
pub(super) fn check_cells(
    source: &mut Source<'_>,
    study: &StudyDefinition,
    places: &Places,
    kinds: &Kinds<'_>,
) {
    let before = source.faults.len();
    for cell in study.cells() {
        let settings = study.settings_of(&cell);
        let Err(mistake) = (kinds.check)(&study.measurement, &settings) else {
            continue;
        };
        let of_level = mistake.key.as_ref().and_then(|key| {
            let mut levels = study.levels(&cell);
            levels.find_map(|level| level.places.get(key))
        });
        let key = mistake.key.as_ref();
        let of_setting = key.and_then(|key| places.settings.get(key));
        let kind = places.settings.get("kind");
        let place = of_level.or(of_setting).or(kind);
        let fault = StudyFault {
            place: place.unwrap_or(&places.measurement).clone(),
            message: mistake.message,
        };
        if !source.faults[before..].contains(&fault) {
            source.faults.push(fault);
        }
    }
}
