//! Environment variables of a study's commands: which are used, and whether they are set.

use crate::study::definition::{Factor, StudyDefinition};
use crate::study::effects::{KindOutline, SettingLocations, gather};
use crate::study::environment::EnvironmentLine;
use toml_reader::TomlText;

/// Prefix of the variables.
const PREFIX: &str = "SEEKSTONE_";
/// Suffixes of those that every command has. The last is set by the program itself.
const EVERYWHERE: [&str; 4] = ["PLACE", "SCRATCH", "STUDY_DIR", "ARCHIVE"];
/// Suffix of the one with the number of the round.
const ROUND: &str = "ROUND";

/// The variable with the level of a factor: `SEEKSTONE_BLOCK_SIZE`.
pub fn level_variable(factor: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = factor.chars().map(plain).collect();
    format!("{PREFIX}{}", name.to_ascii_uppercase())
}

/// Each factor needs a variable of its own.
pub(super) fn check_variables(
    source: &mut TomlText<'_>,
    factors: &[Factor],
    places: &SettingLocations,
) {
    for (at, factor) in factors.iter().enumerate() {
        let variable = level_variable(&factor.name);
        let mut taken = EVERYWHERE.iter().chain([&ROUND]);
        let is_taken = taken.any(|it| level_variable(it) == variable);
        let earlier = factors[..at].iter().find(|earlier| {
            earlier.name != factor.name && level_variable(&earlier.name) == variable
        });
        let why = match (is_taken, earlier) {
            (true, _) => "which has another meaning".to_owned(),
            (false, Some(earlier)) => format!("and so would that of {:?}", earlier.name),
            (false, None) => continue,
        };
        let message = format!(
            "the level of the factor {:?} would stand in the variable {variable}, {why}. Choose \
             another name",
            factor.name
        );
        source.note(places.factors.get(at).cloned().unwrap_or_default(), message);
    }
}

/// Whether a command uses a variable, not only one with a longer name.
pub fn names_variable(command: &str, variable: &str) -> bool {
    let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    command.match_indices(variable).any(|(at, _)| {
        command[at + variable.len()..]
            .chars()
            .next()
            .is_none_or(is_end)
    })
}

/// When a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// Before or after everything.
    Once,
    ForLevel,
    ForReplicate,
}

/// A command of the study.
pub(super) struct ShellCommand {
    pub text: String,
    place: String,
    when: When,
}

impl ShellCommand {
    /// Whether its environment has the levels of factors.
    pub fn finds_levels(&self) -> bool {
        self.when != When::Once
    }
}

/// All commands: scripts, and the measured command if there is one.
pub(super) fn commands(
    study: &StudyDefinition,
    places: &SettingLocations,
    kind: &KindOutline,
) -> Vec<ShellCommand> {
    let mut found = Vec::new();
    let levels = || study.factors.iter().flat_map(|factor| &factor.levels);
    let of_levels = levels().flat_map(|level| [&level.setup, &level.teardown]);
    let of_environment = study.environment.iter().filter_map(|line| match line {
        EnvironmentLine::Command(script) => Some(script),
        EnvironmentLine::Text(_) => None,
    });
    let once = [&study.setup, &study.teardown].into_iter().flatten();
    found.extend(once.chain(of_environment).map(|script| ShellCommand {
        text: script.text.clone(),
        place: script.place.clone(),
        when: When::Once,
    }));
    for (when, scripts) in [
        (When::ForReplicate, vec![&study.before, &study.after]),
        (When::ForLevel, of_levels.collect()),
    ] {
        found.extend(scripts.into_iter().flatten().map(|script| ShellCommand {
            text: script.text.clone(),
            place: script.place.clone(),
            when,
        }));
    }
    if let Some(key) = &kind.command {
        let of_levels = levels().map(|level| (&level.set, &level.places));
        for (settings, places) in of_levels.chain([(&study.settings, &places.settings)]) {
            let mut texts = Vec::new();
            settings
                .get(key)
                .into_iter()
                .for_each(|it| gather(it, &mut texts));
            found.extend(texts.into_iter().map(|text| ShellCommand {
                text,
                place: places.get(key).cloned().unwrap_or_default(),
                when: When::ForReplicate,
            }));
        }
    }
    found
}

/// An unset variable is empty, and the measurement would not vary.
pub(super) fn check_commands(
    source: &mut TomlText<'_>,
    study: &StudyDefinition,
    places: &SettingLocations,
    kind: &KindOutline,
) {
    for ShellCommand { text, place, when } in commands(study, places, kind) {
        let mut set: Vec<String> = EVERYWHERE.map(level_variable).to_vec();
        if when != When::Once {
            set.extend(study.factors.iter().map(|it| level_variable(&it.name)));
        }
        if when == When::ForReplicate {
            set.push(level_variable(ROUND));
        }
        let mut unset: Vec<&str> = named(&text)
            .filter(|name| !set.iter().any(|it| it == name))
            .collect();
        // A command may set variables of its own.
        unset.retain(|name| !text.contains(&format!("{name}=")));
        unset.sort_unstable();
        unset.dedup();
        for name in unset {
            let message = format!("nothing sets ${name} here. There are {}", set.join(", "));
            source.note(place.clone(), message);
        }
    }
}

/// Names of our variables that a shell would replace in a command.
fn named(command: &str) -> impl Iterator<Item = &str> {
    let mentions = command.match_indices(PREFIX);
    let replaced = mentions.filter(|(at, _)| {
        let before = &command[..*at];
        before.ends_with('$') || before.ends_with("${")
    });
    replaced.map(|(at, _)| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = command[at..].find(|c| !is_part(c));
        &command[at..end.map_or(command.len(), |end| at + end)]
    })
}
