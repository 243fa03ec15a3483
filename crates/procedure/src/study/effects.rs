//! Checks a study's levels and cells: every level must have an effect, and every cell must be a
//! valid measurement with the requested readings.

use std::collections::BTreeMap;

use results::{is_metric, metrics_of};
use toml_reader::{TomlFault, TomlText};
use units::{TargetName, edits, nearest, shortened};

use crate::figure_name::whole_name;
use crate::study::definition::{Factor, FactorLevel, StudyDefinition, filled};
use crate::study::variables::{commands, level_variable, names_variable};

/// A mistake in the settings of a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingMistake {
    /// The setting, if the mistake concerns one.
    pub key: Option<String>,
    /// Description of the mistake.
    pub message: String,
}

/// Properties of a kind of measurement against which a study file is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindOutline {
    /// Names of its settings.
    pub settings: Vec<String>,
    /// Names of its readings; `None` if known only after a measurement.
    pub readings: Option<Vec<String>>,
    /// The setting that holds a user's command, whose environment has the variables of scripts.
    pub command: Option<String>,
}

/// The kinds of measurements that a study can use.
pub struct Kinds<'a> {
    /// Looks up a kind; `None` if unknown.
    pub outline_of: Box<OutlineOf<'a>>,
    pub check: Box<CheckSettings<'a>>,
}

/// Looks up the outline of a kind.
pub type OutlineOf<'a> = dyn Fn(&str) -> Option<KindOutline> + 'a;
/// Checks the settings of a kind.
pub type CheckSettings<'a> = dyn Fn(&str, &toml::Table) -> Result<(), SettingMistake> + 'a;

/// Locations of settings, for messages.
#[derive(Default)]
pub(super) struct SettingLocations {
    pub measurement: String,
    pub settings: BTreeMap<String, String>,
    pub factors: Vec<String>,
    /// Location of each requested reading.
    pub readings: Vec<String>,
}

/// Handles levels that act by name rather than as a setting: as `{block}` in a setting, as
/// `$SEEKSTONE_BLOCK` in a command, or as a label common to all cells.
pub(super) fn settle_factors(
    source: &mut TomlText<'_>,
    study: &mut StudyDefinition,
    places: &SettingLocations,
    kind: &KindOutline,
) {
    let texts = texts_of(study);
    let commands = commands(study, places, kind);
    let names_factor = |text: &String, name: &str| filled(text, &[(name, "")]) != *text;
    for (at, factor) in study.factors.iter_mut().enumerate() {
        let is_setting = kind.settings.contains(&factor.name);
        let is_label = factor.levels.len() == 1;
        let variable = level_variable(&factor.name);
        let is_named = texts.iter().any(|text| names_factor(text, &factor.name))
            || commands
                .iter()
                .any(|it| it.finds_levels() && names_variable(&it.text, &variable));
        if !is_setting && (is_named || is_label) {
            for level in &mut factor.levels {
                level.set.remove(&factor.name);
            }
        } else if !is_setting && !acts(factor) {
            let message = format!(
                "the factor {:?} changes nothing. {} has no setting of that name (it has {}). \
                 {{{}}} stands in no setting, and ${variable} in no command",
                factor.name,
                study.measurement,
                kind.settings.join(", "),
                factor.name
            );
            source.note(places.factors.get(at).cloned().unwrap_or_default(), message);
            for level in &mut factor.levels {
                level.set.remove(&factor.name);
            }
        }
    }
}

/// Whether a level does more than set the setting of the factor's own name.
fn acts(factor: &Factor) -> bool {
    factor.levels.iter().any(|level| {
        level.has_scripts()
            || level.target.is_some()
            || level.set.keys().any(|key| *key != factor.name)
    })
}

/// All texts in which `{factor}` is replaced by a level.
fn texts_of(study: &StudyDefinition) -> Vec<String> {
    let levels = study.factors.iter().flat_map(|factor| &factor.levels);
    let mut texts = vec![study.target.to_string()];
    let own = levels.clone().filter_map(|level| level.target.as_ref());
    texts.extend(own.map(TargetName::to_string));
    let tables = levels.map(|level| &level.set).chain([&study.settings]);
    let values = tables.flat_map(toml::Table::values);
    values.for_each(|value| gather(value, &mut texts));
    texts
}

/// The texts in a value.
pub(super) fn gather(value: &toml::Value, texts: &mut Vec<String>) {
    match value {
        toml::Value::String(text) => texts.push(text.clone()),
        toml::Value::Array(items) => items.iter().for_each(|item| gather(item, texts)),
        toml::Value::Table(table) => table.values().for_each(|item| gather(item, texts)),
        _ => {}
    }
}

/// Names in braces that resemble a factor's: they would be used literally.
pub(super) fn check_braces(
    source: &mut TomlText<'_>,
    study: &StudyDefinition,
    places: &SettingLocations,
) {
    let factors = study.factors.iter().map(|it| it.name.as_str());
    let known: Vec<&str> = factors.chain(["scratch", "place"]).collect();
    let levels = study.factors.iter().flat_map(|factor| &factor.levels);
    let of_levels = levels.map(|level| (&level.set, &level.places));
    for (settings, places) in of_levels.chain([(&study.settings, &places.settings)]) {
        for (key, value) in settings {
            let mut texts = Vec::new();
            gather(value, &mut texts);
            let names = texts.iter().flat_map(|text| braced(text));
            for name in names.filter(|name| !known.contains(name)) {
                let is_near = |known: &&&str| known.len() > 1 && edits(name, known) == 1;
                let near = || known.iter().find(is_near).copied();
                if let Some(meant) = nearest(name, known.iter().copied()).or_else(near) {
                    let message = format!("{{{name}}} is no factor, did you mean {{{meant}}}?");
                    source.note(places.get(key).cloned().unwrap_or_default(), message);
                }
            }
        }
    }
}

/// Names in braces, except for shell variables.
fn braced(text: &str) -> impl Iterator<Item = &str> {
    let opened = text.match_indices('{');
    let opened = opened.filter(|(at, _)| !text[..*at].ends_with('$'));
    opened.filter_map(|(at, _)| Some(text[at + 1..].split_once('}')?.0))
}

/// Two factors must not change the same setting, since one would undo the other.
pub(super) fn check_conflicts(
    source: &mut TomlText<'_>,
    study: &StudyDefinition,
    places: &SettingLocations,
) {
    let mut conflicts: Vec<(usize, usize, String)> = Vec::new();
    for cell in study.cells() {
        let levels: Vec<&FactorLevel> = study.levels(&cell).collect();
        for (later, level) in levels.iter().enumerate() {
            for (earlier, other) in levels[..later].iter().enumerate() {
                let found = contested(other, level).map(|what| (earlier, later, what));
                conflicts.extend(
                    found
                        .filter(|it| !conflicts.contains(it))
                        .collect::<Vec<_>>(),
                );
            }
        }
    }
    for (earlier, later, what) in conflicts {
        let message = format!(
            "the factor {:?} gives {what} a value, as {:?} does, and only one of them would count. \
             Leave combinations of both out with exclude, or make one factor of them",
            study.factors[later].name, study.factors[earlier].name
        );
        source.note(
            places.factors.get(later).cloned().unwrap_or_default(),
            message,
        );
    }
}

/// Settings to which two levels give different values.
fn contested(one: &FactorLevel, other: &FactorLevel) -> impl Iterator<Item = String> {
    let keys = other.set.iter();
    let keys = keys.filter(|(key, value)| one.set.get(*key).is_some_and(|its| its != *value));
    let keys: Vec<String> = keys.map(|(key, _)| key.clone()).collect();
    let targets = one.target.is_some() && other.target.is_some() && one.target != other.target;
    keys.into_iter()
        .chain(targets.then(|| "the target".to_owned()))
}

/// A table of readings that no repeat has would be empty.
pub(super) fn check_readings(
    source: &mut TomlText<'_>,
    study: &mut StudyDefinition,
    places: &SettingLocations,
    kind: &KindOutline,
) {
    let Some(readings) = &kind.readings else {
        return check_columns(source, study, places);
    };
    for (name, place) in study.readings.iter().zip(&places.readings) {
        if !readings.contains(name) {
            let message = format!(
                "{} gives no reading {:?}. It gives {}",
                study.measurement,
                shortened(name),
                readings.join(", ")
            );
            source.note(place.clone(), message);
        }
    }
}

/// Columns may be prefixed with a row, which is known only after a measurement, and may have short
/// names.
fn check_columns(
    source: &mut TomlText<'_>,
    study: &mut StudyDefinition,
    places: &SettingLocations,
) {
    let columns = metrics_of(&study.measurement);
    let columns: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    for (name, place) in study.readings.iter_mut().zip(&places.readings) {
        *name = whole_name(name);
        let ends = name.match_indices('.').map(|(at, _)| &name[at + 1..]);
        if !std::iter::once(name.as_str()).chain(ends).any(is_metric) {
            let message = format!(
                "{} gives no reading {:?}. It gives columns such as {}",
                study.measurement,
                shortened(name),
                columns.join(", ")
            );
            source.note(place.clone(), message);
        }
    }
}

/// Every cell must be a valid measurement.
pub(super) fn check_cells(
    source: &mut TomlText<'_>,
    study: &StudyDefinition,
    places: &SettingLocations,
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
        let fault = TomlFault {
            place: place.unwrap_or(&places.measurement).clone(),
            message: mistake.message,
        };
        if !source.faults[before..].contains(&fault) {
            source.faults.push(fault);
        }
    }
}
