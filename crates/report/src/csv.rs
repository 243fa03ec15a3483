//! All figures of a run, and the repetitions behind them, as comma-separated values (RFC 4180). The
//! columns are the same for every kind of measurement.

use results::{Row, Run, Table};

use crate::columns::{COLUMNS, ColumnCells, for_each_line};

/// A line for each figure.
pub fn csv_figures(run: &Run) -> String {
    let mut text = header(&COLUMNS.each_ref().map(|(name, _)| *name));
    for_each_line(run, |it| {
        let cells = COLUMNS.iter().map(|(_, cells)| match cells {
            ColumnCells::Text(of) => of(it),
            ColumnCells::Number(of) => number(of(it)),
            ColumnCells::Whole(of) => of(it).map_or_else(String::new, |value| value.to_string()),
            ColumnCells::Flag(of) => of(it).to_string(),
        });
        line(&mut text, cells);
    });
    text
}

/// A line for each repetition and each of its readings; `None` where no row has any.
pub fn csv_replicates(run: &Run) -> Option<String> {
    let mut text = header(&[
        "run",
        "command",
        "target",
        "table",
        "row",
        "replicate",
        "counts",
        "metric",
        "unit",
        "value",
    ]);
    let empty = text.len();
    for (table, row) in rows(&run.tables()) {
        for replicate in &row.replicates {
            for (name, unit, value) in &replicate.readings {
                let of_replicate = [
                    replicate.number.to_string(),
                    replicate.counts.to_string(),
                    name.clone(),
                    unit.name().to_owned(),
                    number(*value),
                ];
                let cells = place(run, table, row).into_iter().chain(of_replicate);
                line(&mut text, cells);
            }
        }
    }
    (text.len() > empty).then_some(text)
}

fn rows(tables: &[Table]) -> impl Iterator<Item = (&Table, &Row)> {
    tables
        .iter()
        .flat_map(|table| table.rows.iter().map(move |row| (table, row)))
}

/// Which run, and which row of it.
fn place(run: &Run, table: &Table, row: &Row) -> [String; 5] {
    [
        run.id.map_or_else(String::new, |id| id.to_string()),
        run.settings.command.clone(),
        run.target.given.clone(),
        table.name.clone().into_owned(),
        table.row_name(row),
    ]
}

pub(crate) fn header(columns: &[&str]) -> String {
    let mut text = String::new();
    line(&mut text, columns.iter().map(|name| (*name).to_owned()));
    text
}

pub(crate) fn line(text: &mut String, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.map(|cell| quoted(&cell)).collect();
    text.push_str(&cells.join(","));
    text.push_str("\r\n");
}

/// A cell as other programs take it: separators are quoted, and a text that a spreadsheet would
/// take for a formula has an apostrophe in front.
fn quoted(cell: &str) -> String {
    let begins_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if begins_formula && cell.parse::<f64>().is_err() {
        return quoted(&format!("'{cell}"));
    }
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

pub(crate) fn optional(value: Option<f64>) -> String {
    value.map_or_else(String::new, number)
}

/// A number without loss; what is not finite is an empty field, which every reader understands.
pub(crate) fn number(value: f64) -> String {
    if value.is_finite() {
        value.to_string()
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_separators_are_quoted() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("-0.5"), "-0.5");
        assert_eq!(quoted("=1+cmd"), "'=1+cmd");
        assert_eq!(
            quoted("=cmd|' /C \"calc\"'!A0"),
            "\"'=cmd|' /C \"\"calc\"\"'!A0\""
        );
        for start in ["+1+1", "-1+1", "@sum(a)", "\t=1"] {
            assert!(quoted(start).starts_with('\''), "{start}");
        }
        assert_eq!(quoted("read, 4 KiB"), "\"read, 4 KiB\"");
        assert_eq!(quoted("say \"x\"\n"), "\"say \"\"x\"\"\n\"");
    }

    #[test]
    fn numbers_that_are_none_are_empty() {
        assert_eq!(number(f64::INFINITY), "");
        assert_eq!(number(f64::NAN), "");
        assert_eq!(number(0.1), "0.1");
    }
}
