//! All figures of a run as one table with typed columns: the same for every kind of measurement,
//! and for every form that has columns.

use results::{Figure, Row, Run, RunVerdict, Table};

/// One line: a figure, and where it stands.
pub(crate) struct FigureLine<'a> {
    pub(crate) run: &'a Run,
    pub(crate) table: &'a Table,
    pub(crate) row: &'a Row,
    pub(crate) figure: &'a Figure,
}

/// What a column holds, and how it is found.
pub(crate) enum ColumnCells {
    Text(fn(&FigureLine<'_>) -> String),
    /// May be not finite, which a form leaves out.
    Number(fn(&FigureLine<'_>) -> f64),
    Whole(fn(&FigureLine<'_>) -> Option<i64>),
    Flag(fn(&FigureLine<'_>) -> bool),
}

use ColumnCells::{Flag, Number, Text, Whole};

pub(crate) const COLUMNS: [(&str, ColumnCells); 17] = [
    ("run", Whole(|it| it.run.id)),
    ("command", Text(|it| it.run.settings.command.clone())),
    ("target", Text(|it| it.run.target.given.clone())),
    ("table", Text(|it| it.table.name.clone().into_owned())),
    ("row", Text(|it| it.table.row_name(it.row))),
    ("metric", Text(|it| it.figure.metric.name.clone())),
    ("unit", Text(|it| it.figure.metric.unit.name().to_owned())),
    (
        "better",
        Text(|it| it.figure.metric.better.name().to_owned()),
    ),
    ("role", Text(|it| it.figure.metric.role.name().to_owned())),
    ("value", Number(|it| it.figure.value.value)),
    ("low", Number(|it| lower_end(it.figure))),
    ("high", Number(|it| it.figure.value.high)),
    ("confidence", Number(|it| it.figure.value.confidence)),
    ("samples", Number(|it| it.figure.value.samples)),
    ("indicative", Flag(|it| it.figure.is_indicative)),
    ("trust", Text(|it| it.row.trust.name().to_owned())),
    ("warnings", Text(|it| it.row.codes().join(" "))),
];

/// The lower end of the interval; none of a value of whose error nothing is known.
pub(crate) fn lower_end(figure: &Figure) -> f64 {
    let it = figure.value;
    match it.low == 0.0 && it.high.is_infinite() {
        true => f64::NAN,
        false => it.low,
    }
}

/// Do something with each line: that of the verdict, then those of the figures.
pub(crate) fn for_each_line(run: &Run, mut then: impl FnMut(&FigureLine<'_>)) {
    let verdict = run.verdict.iter().map(RunVerdict::table);
    for table in verdict.chain(run.tables()) {
        for row in &table.rows {
            for figure in &row.figures {
                then(&FigureLine {
                    run,
                    table: &table,
                    row,
                    figure,
                });
            }
        }
    }
}
