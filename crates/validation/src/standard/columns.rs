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
    /// Figure of a model: of a load, and of the users of one of its profiles.
    pub figure: fn(&TransactionLoad, &UserTimes) -> f64,
}

pub(super) const TPS: StandardColumn = StandardColumn {
    heading: "TPS",
    called: "",
    unit: "/s",
    figure: |_, users| users.per_second,
};
pub(super) const CPU: StandardColumn = StandardColumn {
    heading: "CPU %Ut",
    called: ", processor",
    unit: "%",
    figure: |load, _| load.cpu_share.unwrap_or(f64::NAN) * 100.0,
};
pub(super) const COST: StandardColumn = StandardColumn {
    heading: "CP sec/tran",
    called: ", processor for each",
    unit: "s",
    figure: |load, _| load.cpu_each_ns.unwrap_or(f64::NAN) / 1e9,
};
pub(super) const MIN: StandardColumn = StandardColumn {
    heading: "Min",
    called: ", shortest response",
    unit: "s",
    figure: |_, users| users.from_start.min_ns as f64 / 1e9,
};
pub(super) const MEAN: StandardColumn = StandardColumn {
    heading: "Avg",
    called: ", mean response",
    unit: "s",
    figure: |_, users| users.sample_mean_ns / 1e9,
};
pub(super) const HIGH: StandardColumn = StandardColumn {
    heading: "95%",
    called: ", 95 % of responses",
    unit: "s",
    figure: |_, users| users.sample_95_ns / 1e9,
};
pub(super) const MAX: StandardColumn = StandardColumn {
    heading: "Max",
    called: ", longest response",
    unit: "s",
    figure: |_, users| users.from_start.max_ns as f64 / 1e9,
};

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
