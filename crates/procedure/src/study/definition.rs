//! A study file, once read without mistakes.

use std::collections::BTreeMap;

use units::{Duration, TargetName};

use crate::rounds::RoundsRule;
use crate::study::environment::EnvironmentLine;

/// Default minimum number of rounds: the fewest from which a difference can be claimed.
pub const ROUNDS_MIN_DEFAULT: u32 = stats::PAIRS_MIN as u32;
/// A study with a precision continues up to this many times the minimum number of rounds.
pub const ROUNDS_GROWTH: u32 = 4;
/// Default time limit of a set-up or tear-down.
pub const TIME_LIMIT_DEFAULT: Duration = Duration::from_secs(60);

/// A shell script of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellScript {
    /// The commands.
    pub text: String,
    /// File and line.
    pub place: String,
}

/// One level of a factor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FactorLevel {
    /// Its name in tables.
    pub name: String,
    /// Settings of the measurement that it fixes.
    pub set: toml::Table,
    /// File and line of each.
    pub places: BTreeMap<String, String>,
    /// The target, if not the study's own.
    pub target: Option<TargetName>,
    /// Script that sets up the level.
    pub setup: Option<ShellScript>,
    /// Script that tears it down.
    pub teardown: Option<ShellScript>,
}

impl FactorLevel {
    /// Whether the level needs scripts.
    pub fn has_scripts(&self) -> bool {
        self.setup.is_some() || self.teardown.is_some()
    }
}

/// The levels to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Against {
    /// Each with this one, by its index.
    Level(usize),
    Each,
}

/// A factor of the study.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    pub name: String,
    /// Its levels; a single one is only a label.
    pub levels: Vec<FactorLevel>,
    /// What they are compared with.
    pub against: Against,
}

/// A study definition.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyDefinition {
    /// Title.
    pub title: String,
    /// The environment, line by line.
    pub environment: Vec<EnvironmentLine>,
    /// Seed of the order.
    pub seed: Option<u64>,
    /// Minimum number of rounds.
    pub rounds_min: u32,
    /// Maximum number of rounds.
    pub rounds_max: u32,
    /// Requested relative half-width of every cell.
    pub precision: Option<f64>,
    /// No round starts after this time.
    pub budget: Option<Duration>,
    /// The target.
    pub target: TargetName,
    /// Relative differences below this are irrelevant.
    pub margin: f64,
    /// Readings to show and compare; all if empty.
    pub readings: Vec<String>,
    /// Required programs; `root` stands for root privileges.
    pub needs: Vec<String>,
    /// Script to run before everything.
    pub setup: Option<ShellScript>,
    /// Script to run after everything.
    pub teardown: Option<ShellScript>,
    /// Script to run before each repeat.
    pub before: Option<ShellScript>,
    /// Script to run after each repeat.
    pub after: Option<ShellScript>,
    /// Time limit of each of these.
    pub time_limit: Duration,
    /// Whether all set-ups are tried before the first repeat.
    pub rehearse: bool,
    /// Kind of the measurement.
    pub measurement: String,
    /// Its settings, common to all cells.
    pub settings: toml::Table,
    /// The factors.
    pub factors: Vec<Factor>,
    /// Excluded cells: for each factor a level, or any.
    pub exclude: Vec<Vec<Option<usize>>>,
}

impl StudyDefinition {
    /// All combinations of levels except excluded ones. The last factor varies fastest.
    pub fn cells(&self) -> Vec<Vec<usize>> {
        let mut cells = vec![Vec::new()];
        for factor in &self.factors {
            cells = cells
                .iter()
                .flat_map(|cell| {
                    (0..factor.levels.len()).map(|level| [cell.as_slice(), &[level]].concat())
                })
                .collect();
        }
        cells.retain(|cell| !self.exclude.iter().any(|rule| is_excluded(cell, rule)));
        cells
    }

    /// When there are enough rounds: the minimum if no precision is requested, else by the rule of
    /// all repeats.
    pub fn rule(&self) -> RoundsRule {
        RoundsRule {
            rounds: self.precision.is_none().then_some(self.rounds_min),
            rounds_min: self.rounds_min,
            rounds_max: self.rounds_max,
            precision: self.precision.unwrap_or(f64::INFINITY),
            budget: self.budget.unwrap_or(Duration(u64::MAX)),
        }
    }

    /// The levels of a cell.
    pub fn levels<'a>(&'a self, cell: &'a [usize]) -> impl Iterator<Item = &'a FactorLevel> {
        let pairs = self.factors.iter().zip(cell);
        pairs.map(|(factor, &level)| &factor.levels[level])
    }

    /// Names of a cell's levels.
    pub fn names(&self, cell: &[usize]) -> Vec<String> {
        self.levels(cell).map(|level| level.name.clone()).collect()
    }

    /// Name of a cell: `block 64KiB, mount default`.
    pub fn describe(&self, cell: &[usize]) -> String {
        let names = self.factors.iter().zip(self.levels(cell));
        let words: Vec<String> = names
            .map(|(factor, level)| format!("{} {}", factor.name, level.name))
            .collect();
        words.join(", ")
    }

    /// Settings of the measurement in a cell, with `{factor}` replaced by the name of its level.
    pub fn settings_of(&self, cell: &[usize]) -> toml::Table {
        let mut settings = self.settings.clone();
        for level in self.levels(cell) {
            settings.extend(level.set.clone());
        }
        let names: Vec<(&str, &str)> = self
            .factors
            .iter()
            .zip(self.levels(cell))
            .map(|(factor, level)| (factor.name.as_str(), level.name.as_str()))
            .collect();
        for (_, value) in &mut settings {
            fill(value, &names);
        }
        settings
    }

    /// The target of a cell.
    pub fn target_of(&self, cell: &[usize]) -> TargetName {
        let own = self.levels(cell).filter_map(|level| level.target.as_ref());
        let target = own.last().unwrap_or(&self.target);
        let names = self.factors.iter().zip(self.levels(cell));
        let names: Vec<_> = names
            .map(|(factor, level)| (factor.name.as_str(), level.name.as_str()))
            .collect();
        filled(target.as_str(), &names).into()
    }

    /// Everything that decides what is measured, but not how often. An interrupted study can be
    /// resumed if this is unchanged.
    pub fn meaning(&self) -> String {
        let Self {
            target,
            setup,
            teardown,
            before,
            after,
            measurement,
            settings,
            factors,
            exclude,
            ..
        } = self;
        let script = |script: &Option<ShellScript>| {
            script
                .as_ref()
                .map_or(String::new(), |script| format!("{:?}", script.text))
        };
        let mut lines = vec![
            format!("target {:?}", target.as_str()),
            format!("measurement {measurement:?} {settings:?}"),
            format!("exclude {exclude:?}"),
        ];
        for (name, text) in [
            ("setup", setup),
            ("teardown", teardown),
            ("before", before),
            ("after", after),
        ] {
            lines.push(format!("{name} {}", script(text)));
        }
        for factor in factors {
            for level in &factor.levels {
                lines.push(format!(
                    "{:?} {:?} {:?} {:?} {} {}",
                    factor.name,
                    level.name,
                    level.set,
                    level.target.as_ref().map(TargetName::as_str),
                    script(&level.setup),
                    script(&level.teardown)
                ));
            }
        }
        lines.join("\n")
    }
}

fn is_excluded(cell: &[usize], rule: &[Option<usize>]) -> bool {
    let pairs = cell.iter().zip(rule);
    pairs.fold(true, |all, (level, rule)| {
        all && rule.is_none_or(|excluded| excluded == *level)
    })
}

fn fill(value: &mut toml::Value, names: &[(&str, &str)]) {
    match value {
        toml::Value::String(text) => *text = filled(text, names),
        toml::Value::Array(items) => items.iter_mut().for_each(|item| fill(item, names)),
        toml::Value::Table(table) => table.iter_mut().for_each(|(_, item)| fill(item, names)),
        _ => {}
    }
}

/// The text with `{name}` replaced by its value, except after a `$`, which is left to the shell.
pub fn filled(text: &str, names: &[(&str, &str)]) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, after) = rest.split_at(at);
        result.push_str(before);
        let hit = names.iter().find(|(name, _)| {
            after[1..]
                .strip_prefix(name)
                .is_some_and(|tail| tail.starts_with('}'))
        });
        match hit {
            Some((name, value)) if !result.ends_with('$') => {
                result.push_str(value);
                rest = &after[name.len() + 2..];
            }
            _ => {
                result.push('{');
                rest = &after[1..];
            }
        }
    }
    result.push_str(rest);
    result
}

/// The 64-bit FNV-1a hash (Fowler, Noll and Vo) of a text, in sixteen hexadecimal digits.
pub fn digest(text: &str) -> String {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let hash = text.bytes().fold(OFFSET, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_braces_are_replaced_but_not_those_of_the_shell() {
        let check = |text: &str, expected: &str| {
            assert_eq!(
                filled(text, &[("opt", "2"), ("block size", "8k")]),
                expected
            );
        };
        check("cc -O{opt} -o {out}", "cc -O2 -o {out}");
        check("${opt} {opt", "${opt} {opt");
        check("{block size}{opt}", "8k2");
        check("awk '{print $1}' {{opt}}", "awk '{print $1}' {2}");
        check("", "");
    }

    #[test]
    fn the_digest_is_that_of_the_published_vectors() {
        assert_eq!(digest(""), "cbf29ce484222325");
        assert_eq!(digest("a"), "af63dc4c8601ec8c");
        assert_eq!(digest("foobar"), "85944171f73967e8");
    }
}
