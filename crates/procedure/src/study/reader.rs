//! Reads a study file and collects all mistakes with their lines.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};
use toml_reader::{
    KeyedTable, TomlFault, TomlFaults, TomlText, is_name, owned, owned_table, typed,
};
use units::{Bytes, Duration, TargetName, shortened};

use crate::study::definition::{
    Against, Factor, FactorLevel, ROUNDS_GROWTH, ROUNDS_MIN_DEFAULT, ShellScript, StudyDefinition,
    TIME_LIMIT_DEFAULT,
};
use crate::study::effects::{
    Kinds, SettingLocations, check_braces, check_cells, check_conflicts, check_readings,
    settle_factors,
};
use crate::study::environment::read_environment;
use crate::study::variables::{check_commands, check_variables};

/// Maximum length of a study file.
pub const STUDY_BYTES_MAX: usize = 256 << 10;
/// Maximum number of cells.
const CELLS_MAX: usize = 10_000;
/// Maximum number of rounds.
const ROUNDS_MAX: u64 = 10_000;

/// Options of the command line that override the file.
#[derive(Clone, Debug, Default)]
pub struct StudyOverrides {
    /// Settings of the measurement, in TOML or as plain text.
    pub set: Vec<(String, String)>,
    /// Levels to which a factor is restricted.
    pub only: Vec<(String, Vec<String>)>,
    /// Minimum number of rounds. Cancels the goal of precision unless that is given, too.
    pub replicates: Option<u32>,
    /// Relative half-width.
    pub precision: Option<f64>,
    /// No round starts after this time.
    pub budget: Option<Duration>,
    /// The target.
    pub target: Option<TargetName>,
}

/// Read a study.
///
/// # Errors
/// All mistakes, in the order of the file.
// fuzzed: study
pub fn read_study(
    file: &str,
    text: &str,
    overrides: &StudyOverrides,
    kinds: &Kinds<'_>,
) -> Result<StudyDefinition, TomlFaults> {
    let file: String = shortened(file);
    let alone = |place: String, message: String| {
        Err(TomlFaults {
            faults: vec![TomlFault { place, message }],
        })
    };
    if text.len() > STUDY_BYTES_MAX {
        let message =
            format!("it is longer than the {STUDY_BYTES_MAX} bytes that a study has at most");
        return alone(file, message);
    }
    let mut source = TomlText::new(&file, text);
    let document = toml_reader::parse(&file, text)?;
    let mut places = SettingLocations::default();
    let mut study = read_top(&mut source, document.get_ref(), &mut places);
    check_variables(&mut source, &study.factors, &places);
    override_study(&mut source, &mut study, overrides, &mut places);
    if !study.measurement.is_empty() && check_size(&mut source, &study) {
        // An unknown kind is reported by the check of the cells.
        if let Some(kind) = (kinds.outline_of)(&study.measurement) {
            settle_factors(&mut source, &mut study, &places, &kind);
            check_commands(&mut source, &study, &places, &kind);
            check_readings(&mut source, &mut study, &places, &kind);
            check_conflicts(&mut source, &study, &places);
            check_braces(&mut source, &study, &places);
            check_overrides(&mut source, &study, overrides);
        }
        check_cells(&mut source, &study, &places, kinds);
    }
    if source.faults.is_empty() {
        Ok(study)
    } else {
        let mut faults = source.faults;
        faults.sort_by_key(|fault| line_of(&fault.place));
        Err(TomlFaults { faults })
    }
}

/// Mistakes in options come after those in the file.
fn line_of(place: &str) -> usize {
    let line = place
        .rsplit_once(':')
        .and_then(|(_, line)| line.parse().ok());
    line.unwrap_or(usize::MAX)
}

/// Reads a shell script.
fn script(table: &mut KeyedTable<'_, '_>, key: &'static str) -> Option<ShellScript> {
    let place = table.find(key).map(|(_, place)| place)?;
    let text = table.text(key, "commands for the shell, such as \"sync\"")?;
    Some(ShellScript { text, place })
}

fn read_top<'t>(
    source: &mut TomlText<'t>,
    table: &'t DeTable<'t>,
    places: &mut SettingLocations,
) -> StudyDefinition {
    let place = format!("{}:1", source.file);
    let mut form = KeyedTable::new(source, table, place, "a study");
    let title = form.name("title", "one line, such as \"Block size and rate\"");
    let title = form.require("title", title, "one line, such as title = \"Block sizes\"");
    let environment = read_environment(&mut form);
    let seed = form.count("seed", 0..=i64::MAX as u64);
    let (rounds_min, rounds_max) = read_rounds(&mut form);
    let precision = form.share("precision", 0.001..=0.5);
    let budget = form.span("budget");
    let target = form.text("target", "a directory, file, device, or \"sim:NAME\"");
    let margin = form.share("margin", 0.0..=0.5);
    let readings = form.texts("readings", "a list of names, such as [\"read rate\"]");
    places.readings = form.item_places("readings");
    let needs = form.texts(
        "needs",
        "a list of programs, such as [\"mkfs.ext4\", \"root\"]",
    );
    let (setup, teardown) = (script(&mut form, "setup"), script(&mut form, "teardown"));
    let (before, after) = (script(&mut form, "before"), script(&mut form, "after"));
    let time_limit = form.span("time-limit").unwrap_or(TIME_LIMIT_DEFAULT);
    let rehearse = form.flag("rehearse").unwrap_or(true);
    let (measurement, settings) = read_measurement(&mut form, places);
    let tables = form.tables("factor", "a table for each factor: [[factor]]");
    let exclude = form.tables(
        "exclude",
        "a list of tables, such as [{ block = \"64KiB\" }]",
    );
    form.finish();
    let factors = read_factors(source, tables, places);
    let exclude = exclude
        .into_iter()
        .filter_map(|(table, place)| read_exclusion(source, table, &place, &factors))
        .collect();
    StudyDefinition {
        title: title.unwrap_or_default(),
        environment,
        seed,
        rounds_min,
        rounds_max,
        precision,
        budget,
        target: target.map_or_else(|| ".".into(), TargetName::from),
        margin: margin.unwrap_or(stats::MARGIN_DEFAULT),
        readings,
        needs,
        setup,
        teardown,
        before,
        after,
        time_limit,
        rehearse,
        measurement,
        settings,
        factors,
        exclude,
    }
}

/// Keys of a file, each with its former name.
const REPEATS: [&str; 2] = ["repeats", "replicates"];
const MAX_REPEATS: [&str; 2] = ["max-repeats", "max-replicates"];

/// Minimum and maximum number of rounds.
fn read_rounds(form: &mut KeyedTable<'_, '_>) -> (u32, u32) {
    let mut rounds = |names: [&'static str; 2]| {
        let mut counts = names.into_iter();
        let count = counts.find_map(|name| form.count(name, 1..=ROUNDS_MAX));
        count.and_then(|count| u32::try_from(count).ok())
    };
    let least = rounds(REPEATS).unwrap_or(ROUNDS_MIN_DEFAULT);
    let most = rounds(MAX_REPEATS);
    let place = MAX_REPEATS.into_iter().find_map(|name| form.find(name));
    let (Some(most), Some((_, place))) = (most, place) else {
        return (least, least.saturating_mul(ROUNDS_GROWTH));
    };
    if most < least {
        let message = format!("max-repeats = {most}: there are {least} at least (repeats)");
        form.source.note(place, message);
    }
    (least, most.max(least))
}

/// Reads factors, which must have different names.
fn read_factors<'t>(
    source: &mut TomlText<'t>,
    tables: Vec<(&'t DeTable<'t>, String)>,
    places: &mut SettingLocations,
) -> Vec<Factor> {
    let mut factors: Vec<Factor> = Vec::new();
    for (table, place) in tables {
        let Some(factor) = read_factor(source, table, place.clone()) else {
            continue;
        };
        if factors.iter().any(|known| known.name == factor.name) {
            let message = format!("there are two factors {:?}", factor.name);
            source.note(place.clone(), message);
        }
        places.factors.push(place);
        factors.push(factor);
    }
    factors
}

fn read_measurement(
    form: &mut KeyedTable<'_, '_>,
    places: &mut SettingLocations,
) -> (String, toml::Table) {
    let wanted = "a table [measurement] with its kind, as `seekstone study measurements` lists";
    let nothing = (String::new(), toml::Table::new());
    let Some((value, place)) = form.find("measurement") else {
        form.require::<()>("measurement", None, wanted);
        return nothing;
    };
    let DeValue::Table(table) = value else {
        let message = format!("measurement = {}: it is {wanted}", typed(value));
        form.source.note(place, message);
        return nothing;
    };
    places.measurement = place;
    for (name, _) in table {
        let place = form.source.place(&name.span());
        places.settings.insert(name.get_ref().to_string(), place);
    }
    let mut settings = owned_table(table);
    let (place, message) = match (settings.remove("kind"), places.settings.get("kind")) {
        (Some(toml::Value::String(kind)), _) => return (kind, settings),
        (Some(other), Some(place)) => {
            let message = format!(
                "kind = {}: it is a text, in {wanted}",
                shortened(&other.to_string())
            );
            (place, message)
        }
        _ => (
            &places.measurement,
            format!("the key \"kind\" is missing: {wanted}"),
        ),
    };
    form.source.note(place.clone(), message);
    nothing
}

fn read_factor<'t>(
    source: &mut TomlText<'t>,
    table: &'t DeTable<'t>,
    place: String,
) -> Option<Factor> {
    let mut form = KeyedTable::new(source, table, place.clone(), "a factor");
    let name = form.name("name", "one line, such as \"block\"");
    let name = form.require(
        "name",
        name,
        "the heading of its column, such as name = \"block\"",
    );
    let setting = form.name("setting", "the name of a setting of the measurement");
    let plain = form.find("levels");
    let tables = form.tables("level", "a table for each level: [[factor.level]]");
    let against = form.text("against", "the name of a level, or \"each\"");
    let against_place = form.find("against").map(|(_, place)| place);
    form.finish();
    let name = name?;
    let key = setting.clone().unwrap_or_else(|| name.clone());
    let mut levels = Vec::new();
    if let Some((value, place)) = plain {
        levels.extend(plain_levels(source, value, &place, &name, &key));
    }
    for (table, place) in tables {
        levels.extend(read_level(source, table, place, &key));
    }
    if levels.is_empty() {
        let message = format!(
            "the factor {name:?} has no levels: write levels = [\"1KiB\", \"8KiB\"], or a table \
             [[factor.level]] for each"
        );
        source.note(place, message);
        return None;
    }
    for (index, level) in levels.iter().enumerate() {
        if levels[..index].iter().any(|known| known.name == level.name) {
            let message = format!("the factor {name:?} has two levels {:?}", level.name);
            source.note(place.clone(), message);
        } else if let Some(known) = levels[..index].iter().find(|it| is_one_size(it, level)) {
            let message = format!(
                "the factor {name:?} has one size as two levels, {:?} and {:?}",
                known.name, level.name
            );
            source.note(place.clone(), message);
        }
    }
    let against = match against.as_deref() {
        None => Against::Level(0),
        Some("each") => Against::Each,
        Some(wanted) => match levels.iter().position(|level| level.name == wanted) {
            Some(level) => Against::Level(level),
            None => {
                let message = format!("against = {wanted:?}: {}", no_level(&name, &levels));
                source.note(against_place.unwrap_or(place), message);
                Against::Level(0)
            }
        },
    };
    Some(Factor {
        name,
        levels,
        against,
    })
}

/// Whether two levels are the same size, one written with a unit. Plain numbers do not count.
fn is_one_size(one: &FactorLevel, other: &FactorLevel) -> bool {
    let size = |level: &FactorLevel| match level.set.len() {
        1 if level.setup.is_none() && level.target.is_none() => level.name.parse::<Bytes>().ok(),
        _ => None,
    };
    let has_unit = |level: &FactorLevel| level.name.parse::<f64>().is_err();
    (has_unit(one) || has_unit(other)) && size(one).is_some() && size(one) == size(other)
}

fn no_level(factor: &str, levels: &[FactorLevel]) -> String {
    let names: Vec<&str> = levels.iter().map(|level| level.name.as_str()).collect();
    format!("the factor {factor:?} has the levels {}", names.join(", "))
}

/// Levels that are values of one setting.
fn plain_levels(
    source: &mut TomlText<'_>,
    value: &DeValue<'_>,
    place: &str,
    factor: &str,
    key: &str,
) -> Vec<FactorLevel> {
    let DeValue::Array(items) = value else {
        let message = format!("levels = {}: levels is a list of values", typed(value));
        source.note(place.to_owned(), message);
        return Vec::new();
    };
    let mut levels = Vec::new();
    for item in items {
        let place = source.place(&item.span());
        let value = owned(item.get_ref());
        let name = match &value {
            toml::Value::String(text) => text.clone(),
            toml::Value::Array(_) | toml::Value::Table(_) => {
                let message = format!(
                    "a level of {factor:?} is one value. To set several, write a table \
                     [[factor.level]]"
                );
                source.note(place, message);
                continue;
            }
            other => other.to_string(),
        };
        if !is_name(&name) {
            source.note(place, format!("a level of {factor:?} has no name"));
            continue;
        }
        levels.push(FactorLevel {
            name,
            set: toml::Table::from_iter([(key.to_owned(), value)]),
            places: BTreeMap::from([(key.to_owned(), place)]),
            ..FactorLevel::default()
        });
    }
    levels
}

fn read_level<'t>(
    source: &mut TomlText<'t>,
    table: &'t DeTable<'t>,
    place: String,
    key: &str,
) -> Option<FactorLevel> {
    let mut form = KeyedTable::new(source, table, place, "a level");
    let name = form.name("name", "one line, such as \"rsize 8k\"");
    let name = form.require("name", name, "its name in tables, such as name = \"8k\"");
    let target = form.text("target", "a directory, file, device, or \"sim:NAME\"");
    let (setup, teardown) = (script(&mut form, "setup"), script(&mut form, "teardown"));
    let value = form.find("value");
    let set = form.find("set");
    form.finish();
    let mut level = FactorLevel {
        name: name?,
        target: target.map(TargetName::from),
        setup,
        teardown,
        ..FactorLevel::default()
    };
    match set {
        None => {}
        Some((DeValue::Table(table), _)) => {
            for (name, value) in table {
                let place = source.place(&name.span());
                let name = name.get_ref().to_string();
                level.places.insert(name.clone(), place);
                level.set.insert(name, owned(value.get_ref()));
            }
        }
        Some((other, place)) => {
            let message = format!(
                "set = {}: set is a table of settings, such as {{ block = \"8KiB\" }}",
                typed(other)
            );
            source.note(place, message);
        }
    }
    if let Some((value, place)) = value {
        level.places.insert(key.to_owned(), place);
        level.set.insert(key.to_owned(), owned(value));
    }
    Some(level)
}

fn read_exclusion(
    source: &mut TomlText<'_>,
    table: &DeTable<'_>,
    place: &str,
    factors: &[Factor],
) -> Option<Vec<Option<usize>>> {
    let mut rule = vec![None; factors.len()];
    for (name, value) in table {
        let typed: &str = name.get_ref();
        let Some(at) = factors.iter().position(|factor| factor.name == typed) else {
            let names: Vec<&str> = factors.iter().map(|factor| factor.name.as_str()).collect();
            let message = format!(
                "exclude: there is no factor {:?}. There are {}",
                shortened(typed),
                names.join(", ")
            );
            source.note(place.to_owned(), message);
            return None;
        };
        let wanted = match owned(value.get_ref()) {
            toml::Value::String(text) => text,
            other => other.to_string(),
        };
        let levels = &factors[at].levels;
        rule[at] = levels.iter().position(|level| level.name == wanted);
        if rule[at].is_none() {
            let message = format!(
                "exclude: {typed} = {:?}, but {}",
                shortened(&wanted),
                no_level(typed, levels)
            );
            source.note(place.to_owned(), message);
            return None;
        }
    }
    if rule.iter().all(Option::is_none) {
        let message = "exclude: a table without a level would leave out everything";
        source.note(place.to_owned(), message);
        return None;
    }
    Some(rule)
}

fn override_study(
    source: &mut TomlText<'_>,
    study: &mut StudyDefinition,
    overrides: &StudyOverrides,
    places: &mut SettingLocations,
) {
    for (key, text) in &overrides.set {
        let parsed = toml::from_str::<toml::Table>(&format!("value = {text}"));
        let value = parsed.ok().and_then(|mut table| table.remove("value"));
        let value = value.unwrap_or_else(|| toml::Value::String(text.clone()));
        study.settings.insert(key.clone(), value);
        let place = format!("--set {}={}", shortened(key), shortened(text));
        places.settings.insert(key.clone(), place);
    }
    for (name, wanted) in &overrides.only {
        confine(source, study, name, wanted);
    }
    if let Some(target) = &overrides.target {
        study.target.clone_from(target);
    }
    if let Some(rounds) = overrides.replicates {
        study.rounds_min = rounds;
        study.rounds_max = study.rounds_max.max(rounds);
        study.precision = None;
    }
    study.precision = overrides.precision.or(study.precision);
    study.budget = overrides.budget.or(study.budget);
}

/// An option without effect is a mistake.
fn check_overrides(source: &mut TomlText<'_>, study: &StudyDefinition, overrides: &StudyOverrides) {
    for (key, text) in &overrides.set {
        let sets = |level: &FactorLevel| level.set.contains_key(key);
        let mut factors = study.factors.iter();
        if let Some(factor) = factors.find(|factor| factor.levels.iter().all(sets)) {
            let place = format!("--set {}={}", shortened(key), shortened(text));
            let message = format!(
                "each level of the factor {:?} gives it another value. --only chooses among them",
                factor.name
            );
            source.note(place, message);
        }
    }
}

/// Restricts a factor to some of its levels.
fn confine(source: &mut TomlText<'_>, study: &mut StudyDefinition, name: &str, wanted: &[String]) {
    let place = format!(
        "--only {}={}",
        shortened(name),
        shortened(&wanted.join(","))
    );
    let Some(at) = study.factors.iter().position(|factor| factor.name == name) else {
        let names: Vec<&str> = study.factors.iter().map(|it| it.name.as_str()).collect();
        let message = format!(
            "there is no factor {name:?}. There are {}",
            names.join(", ")
        );
        source.note(place, message);
        return;
    };
    let factor = &mut study.factors[at];
    let mut kept = match chosen(&factor.levels, wanted) {
        Ok(kept) => kept,
        Err(missing) => {
            let message = format!("no level {missing:?}: {}", no_level(name, &factor.levels));
            source.note(place, message);
            return;
        }
    };
    // In the order of the file, without duplicates.
    kept.sort_unstable();
    kept.dedup();
    factor.levels = kept.iter().map(|&at| factor.levels[at].clone()).collect();
    if let Against::Level(level) = factor.against {
        let moved = kept.iter().position(|&at| at == level);
        factor.against = Against::Level(moved.unwrap_or(0));
    }
    study.exclude.retain_mut(|rule| match rule[at] {
        None => true,
        Some(level) => {
            rule[at] = kept.iter().position(|&at| at == level);
            rule[at].is_some()
        }
    });
}

/// The indices of the levels named by `wanted`, whose names were split at commas; or the first
/// piece that starts no level name.
fn chosen(levels: &[FactorLevel], wanted: &[String]) -> Result<Vec<usize>, String> {
    let mut kept = Vec::new();
    let mut rest = wanted;
    while let Some(first) = rest.first() {
        // The longest name that fits, since it may contain that of another level.
        let fitting = (1..=rest.len()).rev().find_map(|count| {
            let name = rest[..count].join(",");
            let at = levels.iter().position(|level| level.name == name.trim())?;
            Some((count, at))
        });
        let (count, at) = fitting.ok_or_else(|| first.trim().to_owned())?;
        kept.push(at);
        rest = &rest[count..];
    }
    Ok(kept)
}

/// Checks that there are cells, and not too many.
fn check_size(source: &mut TomlText<'_>, study: &StudyDefinition) -> bool {
    let place = format!("{}:1", source.file);
    let sizes = study.factors.iter().map(|factor| factor.levels.len());
    let count = sizes.fold(1_usize, usize::saturating_mul);
    if count > CELLS_MAX {
        let message = format!(
            "the levels make {count} combinations, and {CELLS_MAX} is the most: leave levels out"
        );
        source.note(place, message);
        return false;
    }
    if study.cells().is_empty() {
        source.note(place, "exclude leaves no combination of levels to measure");
        return false;
    }
    true
}
