//! Figures of a run by unique names, for goals and for use as one repetition of a larger
//! measurement.

use crate::measurement::Measurement;
use crate::reading::{Reading, Unit};
use crate::run::Run;
use crate::table::{Figure, Role, Row, Table, Trust};
use crate::tables::{OPERATIONS, POINTS};
use crate::warning_code::WarningCode;

/// Prefix of the row of a rank, before its number and after the name of its trial if there are
/// several.
const RANK: &str = "rank-";

/// A figure with a unique name in its run.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedFigure {
    /// `row.metric`, or only the metric if the run has one row of its own. Reads and writes of a
    /// mix, trials added for goals and hosts of a fleet do not count as such.
    pub name: String,
    /// Name of its row, which prefixes the name or is omitted from it.
    pub row: String,
    pub figure: Figure,
    /// How far it can be used.
    pub trust: Trust,
    /// Whether a warning about its row spoils it.
    is_spoiled: bool,
    /// Whether it is the headline of a row that represents the run in lists.
    is_leading: bool,
}

impl NamedFigure {
    /// Whether `name` is its name, with or without the row.
    pub fn is_called(&self, name: &str) -> bool {
        let row = name.strip_suffix(&self.figure.metric.name);
        row.and_then(|it| it.strip_suffix('.')) == Some(&self.row)
    }
}

impl Run {
    /// All column figures, except the points chosen by a curve and trials that another table
    /// summarises: these differ between runs.
    pub fn named_figures(&self) -> Vec<NamedFigure> {
        let tables: Vec<Table> = self.summaries();
        let tables: Vec<Table> = tables.into_iter().filter(|it| it.name != POINTS).collect();
        let added: Vec<&str> = self.added_for_goals().collect();
        let is_own = |table: &Table, row: &Row| {
            let is_added = row
                .levels
                .first()
                .is_some_and(|it| added.contains(&it.as_str()));
            table.name != OPERATIONS && !is_added && !self.is_of_one_host(&table.row_name(row))
        };
        let own = tables
            .iter()
            .flat_map(|table| table.rows.iter().filter(|row| is_own(table, row)));
        let is_alone = own.count() == 1;
        let rows = tables
            .iter()
            .flat_map(|table| table.rows.iter().map(move |row| (table, row)));
        let named = rows.flat_map(|(table, row)| {
            let prefix = match is_alone && is_own(table, row) {
                true => String::new(),
                false => format!("{}.", table.row_name(row)),
            };
            let name = table.row_name(row);
            let mut codes = row.warnings.iter();
            let is_spoiled = row.trust == Trust::Unstable && codes.any(WarningCode::spoils_value);
            let figures = row.figures.iter().filter(|it| !it.is_detail());
            figures.map(move |figure| NamedFigure {
                name: format!("{prefix}{}", figure.metric.name),
                row: name.clone(),
                figure: figure.clone(),
                trust: row.trust,
                is_spoiled,
                is_leading: row.is_listed && figure.metric.role == Role::Headline,
            })
        });
        named.collect()
    }

    /// Whether the row is the part of one host in another row.
    fn is_of_one_host(&self, row: &str) -> bool {
        let mut warnings = self.warnings.iter();
        let is_rank = row.rsplit_once(RANK).is_some_and(|(trial, number)| {
            (trial.is_empty() || trial.ends_with('-')) && number.parse::<u32>().is_ok()
        });
        is_rank && warnings.any(|it| it.code == WarningCode::Hosts)
    }

    /// Names of the trials added for goals.
    fn added_for_goals(&self) -> impl Iterator<Item = &str> {
        let added = self.measurements.iter().filter(|it| it.is_for_goal);
        added.map(|it| it.name.as_str())
    }

    /// The same figures without intervals, those first that represent the run in lists. Leaves out
    /// unusable rows, latency under a load that was not sustained, and rows of single hosts.
    pub fn readings(&self) -> Vec<Reading> {
        let usable = self.named_figures().into_iter().filter(|it| {
            let is_known = it.figure.value.value.is_finite();
            let trial = self.measurement(&it.row);
            let is_time = it.figure.metric.unit == Unit::Seconds;
            let is_meaningless = is_time && trial.is_some_and(Measurement::is_overloaded);
            let is_usable = it.trust != Trust::Invalid && !is_meaningless;
            is_known && is_usable && !self.is_of_one_host(&it.row)
        });
        let mut usable: Vec<NamedFigure> = usable.collect();
        usable.sort_by_key(|it| !it.is_leading);
        let readings = usable.into_iter().map(|it| {
            let metric = it.figure.metric;
            let value = it.figure.value.value;
            Reading::new(it.name, metric.unit, value, metric.better).spoiled(it.is_spoiled)
        });
        readings.collect()
    }
}
