//! What every kind of measurement gives: tables of rows of figures. Whatever prints, exports,
//! archives or compares runs reads these, and knows no kind.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use stats::{Estimate, Verdict};

use crate::reading::{Better, Unit};
use crate::replicate::Replicate;
use crate::saying::Saying;
use crate::show::{Show, is_false};
use crate::tables::{LEVELS, POINTS};
use crate::warning::{Severity, Warning};
use crate::warning_code::WarningCode;

/// Nanoseconds in a second.
const NS: f64 = 1e-9;

units::words! {
    /// How prominent a figure is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Role {
        /// The figure that stands for its row in lists; one in each row.
        Headline = "headline",
        /// A column of every table.
        Column = "column",
        /// For those who ask for everything.
        Detail = "detail",
    }
}

/// What a figure is a figure of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metric {
    /// Stable name in kebab case, in the field's words: `iops`, `latency-p99`.
    pub name: String,
    /// Times are in seconds, rates per second, shares from 0 to 1.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Better,
    /// How prominent it is.
    pub role: Role,
}

/// A metric with its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What it is a figure of.
    #[serde(flatten)]
    pub metric: Metric,
    /// The value with its interval, from 0 to infinity where nothing is known of its error.
    #[serde(flatten)]
    pub value: Estimate,
    /// Whether few independent observations bear it: the interval then covers less evenly.
    pub is_indicative: bool,
}

units::words! {
    /// How far the figures of a row may be used.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Trust {
        /// The intervals can be trusted, however wide they are.
        #[serde(alias = "sound")]
        Reliable = "reliable",
        /// There is no good interval.
        #[serde(alias = "shaky")]
        Unstable = "unstable",
        /// A warning says that the figures must not be used.
        #[serde(alias = "void")]
        Invalid = "invalid",
    }
}

/// What was found with one combination of levels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Levels, one for each factor of the table.
    pub levels: Vec<String>,
    pub figures: Vec<Figure>,
    /// The repetitions behind them, where they are single values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replicates: Vec<Replicate>,
    /// How far the figures may be used.
    pub trust: Trust,
    /// Codes of the warnings about this row.
    pub warnings: Vec<WarningCode>,
    /// What else is known of it, in words: what, and the word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<(String, String)>,
    /// What can be said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<Saying>,
    /// Whether it stands for the run in lists of runs.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_listed: bool,
}

/// Rows with the same factors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Stable name in kebab case.
    pub name: Cow<'static, str>,
    /// Its heading; empty where its name, or the title of the run, says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// What the levels are levels of.
    pub factors: Vec<String>,
    /// The rows, in the order of measuring or of their levels.
    pub rows: Vec<Row>,
    /// Whether rows are named by their levels alone, and only by those that others do not share.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) is_brief: bool,
    /// Whether its rows are parts of others, or follow from them: steps of a procedure, of which
    /// the next run has other ones, what each of several hosts did, how levels compare.
    #[serde(default, skip_serializing_if = "is_false")]
    pub are_steps: bool,
    /// Whether its rows sum up the trials and load curves of the run, which then have no rows of
    /// their own on a screen.
    #[serde(default, skip_serializing_if = "is_false")]
    pub sums_up_trials: bool,
    /// How its figures came about and what they mean, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What can be said of all its rows together, before anything of one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<Saying>,
    /// How a screen shows it.
    #[serde(default, skip_serializing_if = "Show::is_usual")]
    pub show: Show,
}

/// What makes a number wrong by more than its interval says: what was kept back, the work of
/// others, our own lateness, a level that did not last. Each is told only where it is more than a
/// little.
const SPOILING: [WarningCode; 4] = [
    WarningCode::KeptBack,
    WarningCode::LevelChanged,
    WarningCode::BackgroundIo,
    WarningCode::LateGenerator,
];

impl Trust {
    /// Reliable, or else unstable.
    #[must_use]
    pub const fn reliable_if(is_reliable: bool) -> Self {
        match is_reliable {
            true => Self::Reliable,
            false => Self::Unstable,
        }
    }

    /// Whether the figures may be used at all.
    #[must_use]
    pub const fn is_usable(self) -> bool {
        matches!(self, Self::Reliable)
    }

    /// What the end of a trial and the warnings about it leave of its figures.
    #[must_use]
    pub fn of(verdict: &Verdict, warnings: &[Warning]) -> Self {
        match verdict {
            _ if voids(warnings) => Self::Invalid,
            _ if warnings.iter().any(|it| SPOILING.contains(&it.code)) => Self::Unstable,
            Verdict::Converged
            | Verdict::Timed { is_citable: true }
            | Verdict::Budget { is_citable: true }
            | Verdict::Short { is_citable: true }
            | Verdict::Correlated => Self::Reliable,
            Verdict::Budget { is_citable: false }
            | Verdict::Timed { is_citable: false }
            | Verdict::Short { is_citable: false }
            | Verdict::NotStationary => Self::Unstable,
        }
    }

    /// That of figures that are sound but for what voids them, or a level that did not last.
    #[must_use]
    pub fn unless_invalid(warnings: &[Warning]) -> Self {
        let has_changed = |it: &Warning| it.code == WarningCode::LevelChanged;
        match voids(warnings) {
            true => Self::Invalid,
            false if warnings.iter().any(has_changed) => Self::Unstable,
            false => Self::Reliable,
        }
    }
}

fn voids(warnings: &[Warning]) -> bool {
    let mut severities = warnings.iter().map(|warning| warning.severity);
    severities.any(|severity| severity == Severity::Invalid)
}

impl Figure {
    /// A column.
    #[must_use]
    pub fn new(name: impl Into<String>, unit: Unit, better: Better, value: Estimate) -> Self {
        Self {
            metric: Metric {
                name: name.into(),
                unit,
                better,
                role: Role::Column,
            },
            value,
            is_indicative: false,
        }
    }

    /// Completions per second.
    #[must_use]
    pub fn iops(value: Estimate) -> Self {
        Self::new("iops", Unit::PerSecond, Better::Higher, value)
    }

    /// A time that is given in nanoseconds.
    #[must_use]
    pub fn time_ns(name: impl Into<String>, value: Estimate) -> Self {
        Self::new(name, Unit::Seconds, Better::Lower, value.scale(NS))
    }

    /// Whether only those who ask for everything want to see it.
    #[must_use]
    pub fn is_detail(&self) -> bool {
        self.metric.role == Role::Detail
    }

    /// The same figure, as prominent as that.
    #[must_use]
    pub fn as_role(mut self, role: Role) -> Self {
        self.metric.role = role;
        self
    }
}

/// The field's name of a percentile: `p99`, `p99.9`.
#[must_use]
pub fn percentile_name(p: f64) -> String {
    let percent = format!("{:.4}", p * 100.0);
    let percent = percent.trim_end_matches('0').trim_end_matches('.');
    format!("p{percent}")
}

impl Row {
    /// A row of figures; the one of that name is the headline.
    #[must_use]
    pub fn new(
        levels: Vec<String>,
        figures: impl IntoIterator<Item = Figure>,
        headline: &str,
        trust: Trust,
        warnings: &[Warning],
    ) -> Self {
        let marked = figures.into_iter().map(|figure| {
            if figure.metric.name == headline {
                figure.as_role(Role::Headline)
            } else {
                figure
            }
        });
        Self {
            levels,
            figures: marked.collect(),
            replicates: Vec::new(),
            trust,
            warnings: warnings.iter().map(|it| it.code.clone()).collect(),
            words: Vec::new(),
            says: None,
            is_listed: false,
        }
    }

    /// The same row, which may stand for the run in lists of runs.
    #[must_use]
    pub fn listed(self, is_listed: bool) -> Self {
        Self { is_listed, ..self }
    }

    /// The same row with the repetitions behind it.
    #[must_use]
    pub fn with_replicates(self, replicates: Vec<Replicate>) -> Self {
        Self { replicates, ..self }
    }

    /// The same row with what can be said of it.
    #[must_use]
    pub fn saying(self, says: Option<Saying>) -> Self {
        Self { says, ..self }
    }

    /// The same row with something in words.
    #[must_use]
    pub fn with_word(mut self, what: &str, word: impl Into<String>) -> Self {
        self.words.push((what.to_owned(), word.into()));
        self
    }

    /// What is known of that in words; empty where nothing is.
    #[must_use]
    pub fn word(&self, what: &str) -> &str {
        let mut words = self.words.iter();
        let known = words.find(|(name, _)| name == what);
        known.map_or("", |(_, word)| word)
    }

    /// The codes of its warnings as files have them.
    #[must_use]
    pub fn codes(&self) -> Vec<&str> {
        self.warnings.iter().map(WarningCode::as_str).collect()
    }

    /// The figure of that metric.
    #[must_use]
    pub fn figure(&self, metric: &str) -> Option<&Figure> {
        self.figures.iter().find(|it| it.metric.name == metric)
    }

    /// The figure that stands for the row.
    #[must_use]
    pub fn headline(&self) -> Option<&Figure> {
        let is_headline = |it: &&Figure| it.metric.role == Role::Headline;
        self.figures.iter().find(is_headline)
    }

    /// The same row, which can be quoted only where the error of its headline is known.
    #[must_use]
    pub(crate) fn quoted_with_interval(self) -> Self {
        let is_unknown = |it: &Figure| it.value.value.is_finite() && !it.value.is_bounded();
        let trust = match self.headline().is_some_and(is_unknown) {
            true => self.trust.max(Trust::Unstable),
            false => self.trust,
        };
        Self { trust, ..self }
    }
}

/// Tables without those that have no row.
pub(crate) fn filled(tables: impl IntoIterator<Item = Table>) -> Vec<Table> {
    let tables = tables.into_iter();
    tables.filter(|it| !it.rows.is_empty()).collect()
}

impl Table {
    /// A table; rows that have as many levels as it has factors.
    #[must_use]
    pub fn new(name: &'static str, factors: &[&str], rows: Vec<Row>) -> Self {
        Self {
            name: name.into(),
            factors: factors.iter().map(|it| (*it).to_owned()).collect(),
            rows,
            ..Self::default()
        }
    }

    /// The same table with what can be said of each of its rows.
    #[must_use]
    pub fn saying(mut self, says: impl IntoIterator<Item = Option<Saying>>) -> Self {
        for (row, says) in self.rows.iter_mut().zip(says) {
            row.says = says;
        }
        self
    }

    /// The same table, whose rows are parts of others, or follow from them.
    #[must_use]
    pub fn of_steps(mut self) -> Self {
        self.are_steps = true;
        self
    }

    /// The same table, whose rows sum up the trials and load curves of the run.
    #[must_use]
    pub fn of_trials(mut self) -> Self {
        self.sums_up_trials = true;
        self
    }

    /// The same table under that heading.
    #[must_use]
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// The same table with what is to be known of its figures.
    #[must_use]
    pub fn noted(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// The same table, shown so.
    #[must_use]
    pub fn shown(self, show: Show) -> Self {
        Self { show, ..self }
    }

    /// The same table, whose rows are named by their first level and by what tells them apart, as
    /// in `read` or `read 64 KiB`.
    #[must_use]
    pub fn briefly_named(mut self) -> Self {
        self.is_brief = true;
        self
    }

    /// The metrics of all rows, each once, in the order in which they come.
    #[must_use]
    pub fn metrics(&self) -> Vec<&Metric> {
        let mut found: Vec<&Metric> = Vec::new();
        for figure in self.rows.iter().flat_map(|row| &row.figures) {
            if !found.iter().any(|known| known.name == figure.metric.name) {
                found.push(&figure.metric);
            }
        }
        found
    }

    /// The metrics that are no details; of a table of details all.
    #[must_use]
    pub fn main_metrics(&self) -> Vec<&Metric> {
        let all = self.metrics();
        let is_main = |it: &&Metric| it.role != Role::Detail;
        match all.iter().any(is_main) {
            true => all.into_iter().filter(is_main).collect(),
            false => all,
        }
    }

    /// What is known of its rows in words, each once.
    #[must_use]
    pub fn words(&self) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        for (what, _) in self.rows.iter().flat_map(|row| &row.words) {
            if !found.contains(&what.as_str()) {
                found.push(what);
            }
        }
        found
    }

    /// The row in words, such as `block=4 KiB, depth=1`; of a single factor its level alone.
    #[must_use]
    pub fn row_name(&self, row: &Row) -> String {
        match row.levels.as_slice() {
            [] => self.name.clone().into_owned(),
            [level] => level.clone(),
            levels if self.is_brief => {
                let differs = |place: &usize| {
                    let all = self.rows.iter().map(|it| it.levels.get(*place));
                    *place == 0 || all.clone().any(|it| it != Some(&levels[*place]))
                };
                let differing = (0..levels.len()).filter(differs);
                let differing = differing.map(|place| levels[place].as_str());
                let differing = differing.filter(|level| !level.is_empty());
                differing.collect::<Vec<&str>>().join(" ")
            }
            levels => {
                let named = self.factors.iter().zip(levels);
                let named = named.filter(|(_, level)| !level.is_empty());
                let named: Vec<String> = named
                    .map(|(factor, level)| format!("{factor}={level}"))
                    .collect();
                named.join(", ")
            }
        }
    }

    /// Whether its rows are the latency levels of a load curve.
    #[must_use]
    pub fn is_levels(&self) -> bool {
        self.name == LEVELS
    }

    /// Whether its rows are the points of a load curve.
    #[must_use]
    pub fn is_points(&self) -> bool {
        self.name == POINTS
    }

    /// Of its rows those that stand for the run in lists, briefly named: the marked ones, or the
    /// first two.
    #[must_use]
    pub fn listed(&self) -> Self {
        let mut listed = self.clone().briefly_named();
        match self.rows.iter().any(|row| row.is_listed) {
            true => listed.rows.retain(|row| row.is_listed),
            false => listed.rows.truncate(2),
        }
        listed
    }

    /// The row with these levels.
    #[must_use]
    pub fn row(&self, levels: &[String]) -> Option<&Row> {
        self.rows.iter().find(|row| row.levels == levels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_named_as_engineers_write_them() {
        let check = |p: f64, name: &str| assert_eq!(percentile_name(p), name);
        check(0.5, "p50");
        check(0.95, "p95");
        check(0.99, "p99");
        check(0.999, "p99.9");
        check(0.9999, "p99.99");
    }

    #[test]
    fn a_brief_name_has_what_tells_rows_apart() {
        let row = |levels: [&str; 3]| {
            let levels = levels.map(str::to_owned).to_vec();
            Row::new(levels, [], "", Trust::Reliable, &[])
        };
        let names = |rows: &[[&str; 3]]| {
            let rows = rows.iter().map(|it| row(*it)).collect();
            let table = Table::new("moved", &["way", "block", "size"], rows).briefly_named();
            let named = table.rows.iter().map(|row| table.row_name(row));
            named.collect::<Vec<String>>()
        };
        assert_eq!(names(&[["read", "4 KiB", "1 GiB"]]), ["read"]);
        let both = [["write", "4 KiB", "1 GiB"], ["read", "4 KiB", "1 GiB"]];
        assert_eq!(names(&both), ["write", "read"]);
        let blocks = [["read", "4 KiB", "1 GiB"], ["read", "1 MiB", "1 GiB"]];
        assert_eq!(names(&blocks), ["read 4 KiB", "read 1 MiB"]);
    }

    #[test]
    fn a_row_is_named_by_its_levels() {
        let row = |levels: &[&str]| {
            let levels = levels.iter().map(|it| (*it).to_owned()).collect();
            Row::new(levels, [], "", Trust::Reliable, &[])
        };
        let check = |factors: &[&str], levels: &[&str], name: &str| {
            let table = Table::new("table", factors, vec![row(levels)]);
            assert_eq!(table.row_name(&table.rows[0]), name);
        };
        check(&[], &[], "table");
        check(&["measurement"], &["random-read"], "random-read");
        check(&["block", "depth"], &["4 KiB", "1"], "block=4 KiB, depth=1");
        check(&["test", "spacing"], &["1", ""], "test=1");
    }
}
