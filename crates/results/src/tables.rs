//! All tables of a run: its own, and those of its trials and curves.

mod curve;
mod file_tests;
mod io500;
mod measurement;
mod operations;
mod rab;
mod random_access;
mod replay;
mod ssd;
mod study;
mod timing;
mod transactions;
mod transfer;

pub(crate) use curve::{LEVELS, POINTS};
pub use io500::{Io500Found, Io500PhaseFound};
pub(crate) use operations::NAME as OPERATIONS;
pub use ssd::SSD_SEGMENTS;

use crate::run::Run;
use crate::table::{Figure, Row, Table, Trust};
use crate::warning::Severity;
use crate::warning_code::WarningCode;

/// Warnings about a whole run that make all its rows unusable. For a study they concern its cells.
const OF_EVERY_ROW: [WarningCode; 1] = [WarningCode::SparseFile];

impl Run {
    /// All results as tables; empty ones are left out.
    pub fn tables(&self) -> Vec<Table> {
        let of_curve = self.curve().into_iter().flat_map(curve::tables);
        let own = self.tables.iter().cloned();
        let mut tables: Vec<Table> = of_curve.chain(own).collect();
        // Trials come after the tables that summarise them.
        let at = tables.iter().position(|it| it.sums_up_trials);
        let at = at.map_or(0, |at| at + 1);
        let trials = [measurement::table, operations::table].map(|it| it(&self.measurements));
        tables.splice(at..at, trials);
        tables.retain(|table| !table.rows.is_empty());
        if let Some(price) = &self.price {
            tables.push(price.table(&tables, self));
        }
        if self.has_no_usable_row() {
            let rows = tables.iter_mut().flat_map(|table| &mut table.rows);
            rows.for_each(|row| row.trust = Trust::Invalid);
        }
        tables
    }

    /// Whether the data makes every row useless, as a file of holes does.
    fn has_no_usable_row(&self) -> bool {
        let mut warnings = self.warnings.iter();
        warnings.any(|it| it.severity == Severity::Invalid && OF_EVERY_ROW.contains(&it.code))
    }

    /// The same without steps, details, and trials summarised by another table.
    pub(crate) fn summaries(&self) -> Vec<Table> {
        let mut tables = self.tables();
        if tables.iter().any(|it| it.sums_up_trials) {
            tables.retain(|it| ![measurement::NAME, operations::NAME].contains(&it.name.as_ref()));
        }
        let is_main = |it: &Figure| !it.is_detail();
        let has_main = |it: &Row| it.figures.iter().any(is_main);
        tables.retain(|it| !it.are_steps && it.rows.iter().any(has_main));
        tables
    }
}
