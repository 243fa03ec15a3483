//! The figures of a run by names that are its own: for goals, and as one repetition of a larger
//! measurement.

use crate::reading::Reading;
use crate::run::Run;
use crate::table::{Figure, Table, Trust};
use crate::tables::POINTS;

/// A figure with a name that no other figure of its run has.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedFigure {
    /// `row.metric`, or the metric alone where there is but one row.
    pub name: String,
    /// The figure.
    pub figure: Figure,
    /// How far it may be used.
    pub trust: Trust,
}

impl Run {
    /// The figures that stand in columns, but for the points that a curve chose and trials that
    /// another table sums up: the next run has others.
    #[must_use]
    pub fn named_figures(&self) -> Vec<NamedFigure> {
        let tables: Vec<Table> = self.summaries();
        let tables: Vec<Table> = tables.into_iter().filter(|it| it.name != POINTS).collect();
        let is_alone = tables.iter().map(|it| it.rows.len()).sum::<usize>() == 1;
        let rows = tables
            .iter()
            .flat_map(|table| table.rows.iter().map(move |row| (table, row)));
        let named = rows.flat_map(|(table, row)| {
            let prefix = match is_alone {
                true => String::new(),
                false => format!("{}.", table.row_name(row)),
            };
            let figures = row.figures.iter().filter(|it| !it.is_detail());
            figures.map(move |figure| NamedFigure {
                name: format!("{prefix}{}", figure.metric.name),
                figure: figure.clone(),
                trust: row.trust,
            })
        });
        named.collect()
    }

    /// The same without their intervals; what must not be used is left out.
    #[must_use]
    pub fn readings(&self) -> Vec<Reading> {
        let usable = self.named_figures().into_iter().filter(|it| {
            let is_known = it.figure.value.value.is_finite();
            is_known && it.trust != Trust::Void
        });
        let readings = usable.map(|it| {
            let metric = it.figure.metric;
            Reading::new(it.name, metric.unit, it.figure.value.value, metric.better)
        });
        readings.collect()
    }
}
