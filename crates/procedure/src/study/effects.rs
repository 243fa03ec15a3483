//! What the levels of a study change: every level must do something, and every cell must be a
//! measurement that can be made and has the readings that are wanted.

use std::collections::BTreeMap;

use crate::study::definition::{Factor, Script, StudyDefinition, filled};
use crate::study::fault::{StudyFault, shortened};
use crate::study::form::Source;

/// What is wrong with the settings of a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingMistake {
    /// The setting, if it is about one.
    pub key: Option<String>,
    /// What is wrong.
    pub message: String,
}

/// A kind of measurement, as far as a study file is held against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindOutline {
    /// Names of its settings.
    pub settings: Vec<String>,
    /// Names of its readings.
    pub readings: Vec<String>,
    /// The setting that is a command of the user's: it finds the variables of scripts.
    pub command: Option<String>,
}

/// The kinds of measurements that a study can choose from.
pub struct Kinds<'a> {
    /// What a kind has; none for an unknown kind.
    pub outline_of: &'a dyn Fn(&str) -> Option<KindOutline>,
    /// Checks settings.
    pub check: &'a dyn Fn(&str, &toml::Table) -> Result<(), SettingMistake>,
}

/// Where settings stand, for messages.
#[derive(Default)]
pub(super) struct Places {
    pub measurement: String,
    pub settings: BTreeMap<String, String>,
    pub factors: Vec<String>,
    /// One for each reading that is wanted.
    pub readings: Vec<String>,
}

/// The variable that tells scripts the level of a factor: `SEEKSTONE_BLOCK_SIZE`.
#[must_use]
pub fn level_variable(factor: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = factor.chars().map(plain).collect();
    format!("SEEKSTONE_{}", name.to_ascii_uppercase())
}

/// What follows `SEEKSTONE_` in the variables that have another meaning.
const TAKEN: [&str; 5] = ["PLACE", "SCRATCH", "STUDY_DIR", "ROUND", "ARCHIVE"];

/// Each factor has a variable of its own.
pub(super) fn check_variables(source: &mut Source<'_>, factors: &[Factor], places: &Places) {
    for (at, factor) in factors.iter().enumerate() {
        let variable = level_variable(&factor.name);
        let is_taken = TAKEN.iter().any(|it| level_variable(it) == variable);
        let earlier = factors[..at].iter().find(|earlier| {
            earlier.name != factor.name && level_variable(&earlier.name) == variable
        });
        let why = match (is_taken, earlier) {
            (true, _) => "which has another meaning".to_owned(),
            (false, Some(earlier)) => format!("and so would that of {:?}", earlier.name),
            (false, None) => continue,
        };
        let message = format!(
            "the level of the factor {:?} would stand in the variable {variable}, {why}: choose \
             another name",
            factor.name
        );
        source.note(places.factors.get(at).cloned().unwrap_or_default(), message);
    }
}

/// Whether a command names a variable, and not only a longer one.
#[must_use]
pub fn names_variable(command: &str, variable: &str) -> bool {
    let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    command.match_indices(variable).any(|(at, _)| {
        command[at + variable.len()..]
            .chars()
            .next()
            .is_none_or(is_end)
    })
}

/// A level that acts by its name is no setting of the measurement: as `{block}` in a setting, as
/// `$SEEKSTONE_BLOCK` in a command, or as a label that all cells carry.
pub(super) fn settle_factors(
    source: &mut Source<'_>,
    study: &mut StudyDefinition,
    places: &Places,
    kind: &KindOutline,
) {
    let (commands, texts) = (commands_of(study, kind), texts_of(study));
    let names_factor = |text: &String, name: &str| filled(text, &[(name, "")]) != *text;
    for (at, factor) in study.factors.iter_mut().enumerate() {
        let is_setting = kind.settings.contains(&factor.name);
        let is_label = factor.levels.len() == 1;
        let variable = level_variable(&factor.name);
        let is_named = texts.iter().any(|text| names_factor(text, &factor.name))
            || commands.iter().any(|it| names_variable(it, &variable));
        if !is_setting && (is_named || is_label) {
            for level in &mut factor.levels {
                level.set.remove(&factor.name);
            }
        } else if !is_setting && !acts(factor) {
            let message = format!(
                "the factor {:?} changes nothing: {} has no setting of that name (it has {}), \
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

/// Whether a level does something but set a setting of the factor's own name.
fn acts(factor: &Factor) -> bool {
    factor.levels.iter().any(|level| {
        level.has_scripts()
            || level.target.is_some()
            || level.set.keys().any(|key| *key != factor.name)
    })
}

/// Every command that finds the levels in its environment: scripts, and what is measured if that is
/// a command.
fn commands_of(study: &StudyDefinition, kind: &KindOutline) -> Vec<String> {
    let levels = || study.factors.iter().flat_map(|factor| &factor.levels);
    let scripts = [&study.setup, &study.teardown, &study.before, &study.after];
    let of_levels = levels().flat_map(|level| [&level.setup, &level.teardown]);
    let scripts = scripts.into_iter().chain(of_levels).flatten();
    let mut commands: Vec<String> = scripts.map(|Script { text, .. }| text.clone()).collect();
    if let Some(key) = &kind.command {
        let tables = levels().map(|level| &level.set).chain([&study.settings]);
        let measured = tables.filter_map(|table| table.get(key));
        measured.for_each(|value| gather(value, &mut commands));
    }
    commands
}

/// Every text in which the name of a factor in braces stands for its level.
fn texts_of(study: &StudyDefinition) -> Vec<String> {
    let levels = study.factors.iter().flat_map(|factor| &factor.levels);
    let mut texts = vec![study.target.clone()];
    texts.extend(levels.clone().filter_map(|level| level.target.clone()));
    let tables = levels.map(|level| &level.set).chain([&study.settings]);
    let values = tables.flat_map(toml::Table::values);
    values.for_each(|value| gather(value, &mut texts));
    texts
}

/// The texts in a value.
fn gather(value: &toml::Value, texts: &mut Vec<String>) {
    match value {
        toml::Value::String(text) => texts.push(text.clone()),
        toml::Value::Array(items) => items.iter().for_each(|item| gather(item, texts)),
        toml::Value::Table(table) => table.values().for_each(|item| gather(item, texts)),
        _ => {}
    }
}

/// A table of readings that no replicate has would be empty.
pub(super) fn check_readings(
    source: &mut Source<'_>,
    study: &StudyDefinition,
    places: &Places,
    kind: &KindOutline,
) {
    for (name, place) in study.readings.iter().zip(&places.readings) {
        if !kind.readings.contains(name) {
            let message = format!(
                "{} gives no reading {:?}; it gives {}",
                study.measurement,
                shortened(name),
                kind.readings.join(", ")
            );
            source.note(place.clone(), message);
        }
    }
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
