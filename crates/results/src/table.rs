//! Tables of rows of figures, the common form of all results. Code that prints, exports, archives
//! or compares runs reads only these and knows no kind of measurement.

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
    /// Prominence of a figure.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Role {
        /// The figure that represents its row in lists; one per row.
        Headline = "headline",
        /// A column of every table.
        Column = "column",
        /// Shown only with `--all`.
        Detail = "detail",
    }
}

/// What a figure measures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metric {
    /// Stable name in kebab case, in the field's words: `iops`, `latency-p99`.
    pub name: String,
    /// Times are in seconds, rates per second, shares from 0 to 1.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Better,
    /// Prominence.
    pub role: Role,
}

/// A metric with its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What it is a figure of.
    #[serde(flatten)]
    pub metric: Metric,
    /// The value with its interval, which is 0 to infinity if the error is unknown.
    #[serde(flatten)]
    pub value: Estimate,
    /// Whether it rests on few independent observations, so that the interval is less accurate.
    pub is_indicative: bool,
}

units::words! {
    /// How far the figures of a row can be used.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Trust {
        /// The intervals are reliable, however wide.
        #[serde(alias = "sound")]
        Reliable = "reliable",
        /// There is no reliable interval.
        #[serde(alias = "shaky")]
        Unstable = "unstable",
        /// A warning says that the figures must not be used.
        #[serde(alias = "void")]
        Invalid = "invalid",
    }
}

/// Results for one combination of levels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Levels, one for each factor of the table.
    pub levels: Vec<String>,
    pub figures: Vec<Figure>,
    /// The repeats behind the figures, if these are single values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replicates: Vec<Replicate>,
    /// How far the figures can be used.
    pub trust: Trust,
    /// Codes of the warnings about this row.
    pub warnings: Vec<WarningCode>,
    /// Other facts in words: name and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<(String, String)>,
    /// Statement about the row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<Saying>,
    /// Whether it represents the run in lists of runs.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_listed: bool,
}

/// Rows with the same factors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Stable name in kebab case.
    pub name: Cow<'static, str>,
    /// Its heading; empty if its name or the title of the run serves.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Names of the factors.
    pub factors: Vec<String>,
    /// The rows, in the order of measuring or of their levels.
    pub rows: Vec<Row>,
    /// Whether rows are named only by those levels that differ between rows.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) is_brief: bool,
    /// Whether its rows are parts of other rows or derived from them: steps of a procedure that
    /// differ between runs, results of single hosts, comparisons of levels.
    #[serde(default, skip_serializing_if = "is_false")]
    pub are_steps: bool,
    /// Whether its rows summarise the trials and load curves of the run, which then have no rows of
    /// their own on screen.
    #[serde(default, skip_serializing_if = "is_false")]
    pub sums_up_trials: bool,
    /// Notes on how its figures were obtained and what they mean, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Statement about the whole table, before those about rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<Saying>,
    /// Layout on screen.
    #[serde(default, skip_serializing_if = "Show::is_usual")]
    pub show: Show,
}

/// Warnings about errors beyond the interval: unfinished operations, background I/O, generator
/// lateness, a level that did not last. Each is raised only if it is significant.
const SPOILING: [WarningCode; 4] = [
    WarningCode::KeptBack,
    WarningCode::LevelChanged,
    WarningCode::BackgroundIo,
    WarningCode::LateGenerator,
];

impl Trust {
    /// Reliable, or else unstable.
    pub const fn reliable_if(is_reliable: bool) -> Self {
        match is_reliable {
            true => Self::Reliable,
            false => Self::Unstable,
        }
    }

    /// Whether the figures may be used at all.
    pub const fn is_usable(self) -> bool {
        matches!(self, Self::Reliable)
    }

    /// Trust in the figures of a trial, from its verdict and its warnings.
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

    /// Reliable unless a warning makes the figures invalid, or the level did not last.
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
    pub fn iops(value: Estimate) -> Self {
        Self::new("iops", Unit::PerSecond, Better::Higher, value)
    }

    /// A time given in nanoseconds.
    pub fn time_ns(name: impl Into<String>, value: Estimate) -> Self {
        Self::new(name, Unit::Seconds, Better::Lower, value.scale(NS))
    }

    /// Whether it is shown only with `--all`.
    pub fn is_detail(&self) -> bool {
        self.metric.role == Role::Detail
    }

    /// Sets the prominence.
    #[must_use]
    pub fn as_role(mut self, role: Role) -> Self {
        self.metric.role = role;
        self
    }
}

/// The usual name of a percentile: `p99`, `p99.9`.
pub fn percentile_name(p: f64) -> String {
    let percent = format!("{:.4}", p * 100.0);
    let percent = percent.trim_end_matches('0').trim_end_matches('.');
    format!("p{percent}")
}

impl Row {
    /// A row of figures; the one named `headline` is the headline.
    pub fn new(
        levels: Vec<String>,
        figures: impl IntoIterator<Item = Figure>,
        headline: &str,
        trust: Trust,
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
            warnings: Vec::new(),
            words: Vec::new(),
            says: None,
            is_listed: false,
        }
    }

    /// Adds the codes of the warnings about it.
    #[must_use]
    pub fn warned(mut self, warnings: &[Warning]) -> Self {
        self.warnings
            .extend(warnings.iter().map(|it| it.code.clone()));
        self
    }

    /// Sets whether it represents the run in lists.
    #[must_use]
    pub fn listed(self, is_listed: bool) -> Self {
        Self { is_listed, ..self }
    }

    /// Adds the repeats behind it.
    #[must_use]
    pub fn with_replicates(self, replicates: Vec<Replicate>) -> Self {
        Self { replicates, ..self }
    }

    /// Adds a statement about it.
    #[must_use]
    pub fn saying(self, says: Option<Saying>) -> Self {
        Self { says, ..self }
    }

    /// Adds a fact in words.
    #[must_use]
    pub fn with_word(mut self, what: &str, word: impl Into<String>) -> Self {
        self.words.push((what.to_owned(), word.into()));
        self
    }

    /// The fact with that name; empty if unknown.
    pub fn word(&self, what: &str) -> &str {
        let mut words = self.words.iter();
        let known = words.find(|(name, _)| name == what);
        known.map_or("", |(_, word)| word)
    }

    /// Codes of its warnings, as written to files.
    pub fn codes(&self) -> Vec<&str> {
        self.warnings.iter().map(WarningCode::as_str).collect()
    }

    /// The figure of that metric.
    pub fn figure(&self, metric: &str) -> Option<&Figure> {
        self.figures.iter().find(|it| it.metric.name == metric)
    }

    /// The headline figure.
    pub fn headline(&self) -> Option<&Figure> {
        let is_headline = |it: &&Figure| it.metric.role == Role::Headline;
        self.figures.iter().find(is_headline)
    }

    /// Marks the row as unstable unless the error of its headline is known.
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

/// Drops tables without rows.
pub(crate) fn filled(tables: impl IntoIterator<Item = Table>) -> Vec<Table> {
    let tables = tables.into_iter();
    tables.filter(|it| !it.rows.is_empty()).collect()
}

impl Table {
    /// A table. Each row must have a level per factor.
    pub fn new(name: &'static str, factors: &[&str], rows: Vec<Row>) -> Self {
        Self {
            name: name.into(),
            factors: factors.iter().map(|it| (*it).to_owned()).collect(),
            rows,
            ..Self::default()
        }
    }

    /// Adds a statement to each of its rows.
    #[must_use]
    pub fn saying(mut self, says: impl IntoIterator<Item = Option<Saying>>) -> Self {
        for (row, says) in self.rows.iter_mut().zip(says) {
            row.says = says;
        }
        self
    }

    /// Marks its rows as parts of others or derived from them.
    #[must_use]
    pub fn of_steps(mut self) -> Self {
        self.are_steps = true;
        self
    }

    /// Marks its rows as a summary of the run's trials and load curves.
    #[must_use]
    pub fn of_trials(mut self) -> Self {
        self.sums_up_trials = true;
        self
    }

    /// Sets the heading.
    #[must_use]
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Adds notes about its figures.
    #[must_use]
    pub fn noted(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// Sets the layout.
    #[must_use]
    pub fn shown(self, show: Show) -> Self {
        Self { show, ..self }
    }

    /// Names rows by their first level and those that tell them apart, as in `read` or `read 64
    /// KiB`.
    #[must_use]
    pub fn briefly_named(mut self) -> Self {
        self.is_brief = true;
        self
    }

    /// The metrics of all rows, each once, in order of appearance.
    pub fn metrics(&self) -> Vec<&Metric> {
        let mut found: Vec<&Metric> = Vec::new();
        for figure in self.rows.iter().flat_map(|row| &row.figures) {
            if !found.iter().any(|known| known.name == figure.metric.name) {
                found.push(&figure.metric);
            }
        }
        found
    }

    /// The metrics other than details; for a table of details, all.
    pub fn main_metrics(&self) -> Vec<&Metric> {
        let all = self.metrics();
        let is_main = |it: &&Metric| it.role != Role::Detail;
        match all.iter().any(is_main) {
            true => all.into_iter().filter(is_main).collect(),
            false => all,
        }
    }

    /// Names of the facts in words, each once.
    pub fn words(&self) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        for (what, _) in self.rows.iter().flat_map(|row| &row.words) {
            if !found.contains(&what.as_str()) {
                found.push(what);
            }
        }
        found
    }

    /// The name of a row, such as `block=4 KiB, depth=1`; for a single factor only its level.
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
    pub fn is_levels(&self) -> bool {
        self.name == LEVELS
    }

    /// Whether its rows are the points of a load curve.
    pub fn is_points(&self) -> bool {
        self.name == POINTS
    }

    /// The rows in their order, or, where they are ranked, the best first.
    pub fn ranked(&self) -> Vec<&Row> {
        match self.show.is_ranked {
            true => self.best_first(),
            false => self.rows.iter().collect(),
        }
    }

    /// The rows by their headlines, the best first.
    pub fn best_first(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        let rank = |row: &&Row| {
            let head = row.headline().filter(|it| it.value.value.is_finite());
            head.map_or(f64::INFINITY, |it| match it.metric.better {
                Better::Higher => -it.value.value,
                Better::Lower | Better::Neither => it.value.value,
            })
        };
        rows.sort_by(|one, other| rank(one).total_cmp(&rank(other)));
        rows
    }

    /// The rows that represent the run in lists, briefly named: the marked ones, or the first two.
    pub fn listed(&self) -> Self {
        let ranked = self.ranked().into_iter();
        let rows: Vec<Row> = match self.rows.iter().any(|row| row.is_listed) {
            true => ranked.filter(|row| row.is_listed).cloned().collect(),
            false => ranked.take(2).cloned().collect(),
        };
        let mut listed = self.clone().briefly_named();
        listed.rows = rows;
        listed
    }

    /// The row with these levels.
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
            Row::new(levels, [], "", Trust::Reliable)
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
            Row::new(levels, [], "", Trust::Reliable)
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

    #[test]
    fn lists_show_the_best_of_ranked_rows() {
        let row = |name: &str, iops| {
            let figures = [crate::metric::IOPS.of(Estimate::exact(iops, 1.0))];
            Row::new(vec![name.into()], figures, "iops", Trust::Reliable)
        };
        let rows = vec![row("slow", 50.0), row("fast", 75.0), row("middle", 60.0)];
        let mut table = Table::new("cells", &["target"], rows);
        let names = |table: &Table| {
            let listed = table.listed();
            listed
                .rows
                .iter()
                .map(|it| it.levels[0].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&table), ["slow", "fast"]);
        table.show.is_ranked = true;
        assert_eq!(names(&table), ["fast", "middle"]);
    }
}
