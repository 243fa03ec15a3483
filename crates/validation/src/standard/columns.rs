//! Columns of the document's tables: their names here, and their figures.

use results::{Bar, TransactionLoad, UserTimes, ValidationRow};

/// A column of the document.
#[derive(Clone, Copy)]
pub(super) struct StandardColumn {
    /// Its heading in the document.
    pub heading: &'static str,
    /// Name of a row's figure, after machine and tasks.
    pub called: &'static str,
    pub unit: &'static str,
    pub figure: ColumnFigure,
}

/// Figure of a model: of a load, and of the users of one of its profiles.
type ColumnFigure = fn(&TransactionLoad, &UserTimes) -> f64;

const fn column(
    heading: &'static str,
    called: &'static str,
    unit: &'static str,
    figure: ColumnFigure,
) -> StandardColumn {
    StandardColumn {
        heading,
        called,
        unit,
        figure,
    }
}

pub(super) const TPS: StandardColumn = column("TPS", "", "/s", |_, users| users.per_second);
pub(super) const CPU: StandardColumn = column("CPU %Ut", ", processor", "%", |load, _| {
    load.cpu_share.unwrap_or(f64::NAN) * 100.0
});
pub(super) const COST: StandardColumn =
    column("CP sec/tran", ", processor for each", "s", |load, _| {
        load.cpu_each_ns.unwrap_or(f64::NAN) / 1e9
    });
pub(super) const MIN: StandardColumn = column("Min", ", shortest response", "s", |_, users| {
    users.from_start.min_ns as f64 / 1e9
});
pub(super) const MEAN: StandardColumn = column("Avg", ", mean response", "s", |_, users| {
    users.sample_mean_ns / 1e9
});
pub(super) const HIGH: StandardColumn = column("95%", ", 95 % of responses", "s", |_, users| {
    users.sample_95_ns / 1e9
});
pub(super) const MAX: StandardColumn = column("Max", ", longest response", "s", |_, users| {
    users.from_start.max_ns as f64 / 1e9
});

/// How rows of a column are judged.
#[derive(Clone, Copy)]
pub(super) enum ColumnVerdict {
    /// By this relative tolerance.
    Within(f64),
    /// Between those of two models.
    Between,
    /// Not judged, for this reason.
    Shown(&'static str),
}

/// A column with its judgement.
pub(super) type JudgedColumn = (StandardColumn, ColumnVerdict);

/// Shares of a processor are published in whole percent.
pub(super) fn as_published(column: &StandardColumn, figure: f64) -> f64 {
    if column.unit == CPU.unit {
        figure.round()
    } else {
        figure
    }
}

/// Clock resolution of the document's programs: hundredths of a second.
const TICK_S: f64 = 0.01;

impl ColumnVerdict {
    /// Judges a row with its figures.
    pub fn of(self, row: ValidationRow) -> ValidationRow {
        match self {
            // Zero, to a hundredth: a relative tolerance does not apply.
            Self::Within(_) if row.published == Some(0.0) => row.judged(Bar::Range {
                low: 0.0,
                high: Some(TICK_S),
            }),
            Self::Within(tolerance) => row.within(tolerance),
            Self::Between => row.judged(Bar::Bracket),
            Self::Shown(why) if row.note.is_empty() => row.noted(why),
            Self::Shown(_) => row,
        }
    }
}
