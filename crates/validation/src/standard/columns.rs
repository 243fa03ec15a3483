//! The columns of the document's tables: what they are called here, and what stands in them.

use results::{Bar, TransactionLoad, UserTimes, ValidationRow};

/// A column of the document.
#[derive(Clone, Copy)]
pub(super) struct StandardColumn {
    /// Its heading in the document.
    pub heading: &'static str,
    /// What a row of it is called, behind machine and tasks.
    pub called: &'static str,
    pub unit: &'static str,
    /// What a model gives: of a load, and of the users of a profile of it.
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

/// What becomes of the rows of a column.
#[derive(Clone, Copy)]
pub(super) enum ColumnVerdict {
    /// Off by no more than this share.
    Within(f64),
    /// Between those of two models.
    Between,
    /// Shown, and this is why no more.
    Shown(&'static str),
}

/// A column, and what becomes of its rows.
pub(super) type JudgedColumn = (StandardColumn, ColumnVerdict);

/// Shares of a processor are published in whole percent.
pub(super) fn as_published(column: &StandardColumn, figure: f64) -> f64 {
    if column.unit == CPU.unit {
        figure.round()
    } else {
        figure
    }
}

/// The clock of the document's programs goes by hundredths of a second.
const TICK_S: f64 = 0.01;

impl ColumnVerdict {
    /// A row whose figures are there.
    pub fn of(self, row: ValidationRow) -> ValidationRow {
        match self {
            // Nothing, to a hundredth: there is no share of it.
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
