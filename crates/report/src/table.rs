//! Tables whose first column gives way, and whose least important columns go when space is short;
//! or whose first column gets lines of its own before an important one goes.

use std::borrow::Cow;

use units::printable;

use crate::page::wrap;
use crate::style::Tone;

/// Columns between two cells.
const GAP: usize = 2;
/// The same where this shows another column of a table that gives the first one lines of its own.
const GAP_LEAST: usize = 1;
/// The first column does not get narrower than this before other columns are left out, unless asked
/// otherwise.
const FIRST_MIN: usize = 20;

/// By how much the other columns are indented below a first one with lines of its own.
const STACKED_INDENT: usize = 2;

/// On which side a column is flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// One column. The first one is wrapped where necessary, the others never.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub heading: Cow<'static, str>,
    pub align: Align,
    /// Columns with a smaller weight are left out first.
    pub weight: u8,
}

/// Rows of cells in columns. A column without any text is not shown.
pub(crate) struct TextTable {
    columns: Vec<Column>,
    rows: Vec<(Tone, Vec<String>)>,
    /// The first column does not get narrower than this while others can be left out.
    first_min: usize,
    /// Before a column of this weight is left out, the first column gets lines of its own.
    stacked_from: Option<u8>,
}

/// What is shown at some width.
struct ShownColumns {
    /// The columns.
    shown: Vec<usize>,
    /// Width of the first of them, or by how much the others are indented below it.
    first: usize,
    is_stacked: bool,
    /// Columns between two cells.
    gap: usize,
}

impl TextTable {
    /// A table with these columns: heading, side, weight.
    pub fn new(columns: &[(&'static str, Align, u8)]) -> Self {
        let columns = columns.iter();
        Self::with_headings(
            columns.map(|&(heading, align, weight)| (heading.into(), align, weight)),
        )
    }

    /// A table whose headings are only known when it is made.
    pub fn with_headings(
        columns: impl IntoIterator<Item = (Cow<'static, str>, Align, u8)>,
    ) -> Self {
        let column = |(heading, align, weight)| Column {
            heading,
            align,
            weight,
        };
        Self {
            columns: columns.into_iter().map(column).collect(),
            rows: Vec::new(),
            first_min: FIRST_MIN,
            stacked_from: None,
        }
    }

    /// The same table, which leaves out columns rather than break the text of the first.
    pub fn unbroken(mut self) -> Self {
        self.first_min = usize::MAX;
        self
    }

    /// The same table, which gives the first column lines of its own rather than leave out another
    /// one of this weight or more.
    pub fn stacked_from(mut self, weight: u8) -> Self {
        self.stacked_from = Some(weight);
        self
    }

    pub fn row(&mut self, tone: Tone, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().map(|cell| printable(&cell)).collect();
        assert_eq!(
            cells.len(),
            self.columns.len(),
            "a row has as many cells as there are columns"
        );
        self.rows.push((tone, cells));
    }

    /// Lines of at most `width` columns as far as wrapping the first and leaving out others allow.
    pub fn render(&self, width: usize) -> Vec<(Tone, String)> {
        let Some(fitting) = self.fitting(width) else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        if self.columns.iter().any(|column| !column.heading.is_empty()) {
            let headings: Vec<String> = self
                .columns
                .iter()
                .map(|column| printable(&column.heading))
                .collect();
            self.lay(&fitting, width, Tone::Quiet, &headings, &mut lines);
        }
        for (tone, cells) in &self.rows {
            self.lay(&fitting, width, *tone, cells, &mut lines);
        }
        lines
    }

    /// The headings of columns that have text and are left out at this width.
    pub fn left_out(&self, width: usize) -> Vec<&str> {
        let shown = self.fitting(width).map_or_else(Vec::new, |it| it.shown);
        let left = self.with_text().filter(|column| !shown.contains(column));
        left.map(|column| self.columns[column].heading.as_ref())
            .collect()
    }

    /// The columns that have text.
    fn with_text(&self) -> impl Iterator<Item = usize> {
        (0..self.columns.len()).filter(|&column| self.natural(column, false) > 0)
    }

    /// What is shown at this width.
    fn fitting(&self, width: usize) -> Option<ShownColumns> {
        let wide = self.fitting_with(width, GAP)?;
        if self.stacked_from.is_none() {
            return Some(wide);
        }
        let narrow = self.fitting_with(width, GAP_LEAST)?;
        let is_more = narrow.shown.len() > wide.shown.len() || wide.is_stacked;
        Some(match is_more && !narrow.is_stacked {
            true => narrow,
            false => wide,
        })
    }

    fn fitting_with(&self, width: usize, gap: usize) -> Option<ShownColumns> {
        let mut shown: Vec<usize> = self.with_text().collect();
        let natural = self.natural(*shown.first()?, true);
        let first = self.leave_out(&mut shown, (width, gap), natural.min(self.first_min));
        let is_left_out = |weight: u8| {
            let mut left = self.with_text().filter(|column| !shown.contains(column));
            left.any(|column| self.columns[column].weight >= weight)
        };
        if !self.stacked_from.is_some_and(is_left_out) {
            let first = natural.min(first).max(1);
            return Some(ShownColumns {
                shown,
                first,
                is_stacked: false,
                gap,
            });
        }
        let mut shown: Vec<usize> = self.with_text().collect();
        self.leave_out(&mut shown, (width, gap), STACKED_INDENT);
        Some(ShownColumns {
            shown,
            first: STACKED_INDENT,
            is_stacked: true,
            gap,
        })
    }

    /// Leave out the lightest columns until the first has `least` columns of the screen, and return
    /// how many it has.
    fn leave_out(
        &self,
        shown: &mut Vec<usize>,
        (width, gap): (usize, usize),
        least: usize,
    ) -> usize {
        loop {
            let others = &shown[1..];
            let taken: usize = others
                .iter()
                .map(|&column| gap + self.natural(column, true))
                .sum();
            let room = width.saturating_sub(taken);
            if room >= least || others.is_empty() {
                return room;
            }
            let lightest = others
                .iter()
                .copied()
                .min_by_key(|&column| self.columns[column].weight);
            shown.retain(|&column| Some(column) != lightest);
        }
    }

    fn lay(
        &self,
        fitting: &ShownColumns,
        width: usize,
        tone: Tone,
        cells: &[String],
        lines: &mut Vec<(Tone, String)>,
    ) {
        let ShownColumns {
            shown,
            first,
            is_stacked,
            gap,
        } = fitting;
        let others = shown[1..].iter().map(|&column| {
            let cell = pad(
                &cells[column],
                self.natural(column, true),
                self.columns[column].align,
            );
            format!("{:gap$}{cell}", "")
        });
        let others: String = others.collect();
        let title = &cells[shown[0]];
        if *is_stacked {
            let parts = wrap_hanging(title, width).into_iter();
            lines.extend(
                parts
                    .filter(|part| !part.is_empty())
                    .map(|part| (tone, part)),
            );
            let below = format!("{:first$}{others}", "");
            lines.push((tone, below.trim_end().to_owned()));
            return;
        }
        for (index, part) in wrap_hanging(title, *first).into_iter().enumerate() {
            let mut line = pad(&part, *first, self.columns[shown[0]].align);
            if index == 0 {
                line.push_str(&others);
            }
            lines.push((tone, line.trim_end().to_owned()));
        }
    }

    /// Width of the widest cell.
    fn natural(&self, column: usize, with_heading: bool) -> usize {
        let cells = self
            .rows
            .iter()
            .map(|(_, cells)| cells[column].chars().count())
            .max();
        let heading = if with_heading {
            self.columns[column].heading.chars().count()
        } else {
            0
        };
        cells.unwrap_or(0).max(heading)
    }
}

/// Wrapped lines, the later ones indented so that they are not taken for rows.
fn wrap_hanging(text: &str, width: usize) -> Vec<String> {
    if text.chars().count() <= width {
        return vec![text.to_owned()];
    }
    let indent = if width > 8 { 2 } else { 0 };
    let mut parts = wrap(text, width - indent).into_iter();
    let mut lines: Vec<String> = parts.next().into_iter().collect();
    lines.extend(parts.map(|part| format!("{:indent$}{part}", "")));
    lines
}

fn pad(text: &str, width: usize, align: Align) -> String {
    match align {
        Align::Left => format!("{text:<width$}"),
        Align::Right => format!("{text:>width$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(width: usize, expected: &str) {
        let mut table = TextTable::new(&[
            ("", Align::Left, 9),
            ("value", Align::Right, 8),
            ("empty", Align::Right, 7),
            ("extra", Align::Left, 1),
        ]);
        let cells = |cells: [&str; 4]| cells.map(str::to_owned);
        table.row(
            Tone::Plain,
            cells(["sequential write past the cache", "1.0", "", "x"]),
        );
        table.row(Tone::Plain, cells(["read", "22.0", "", "yy"]));
        let lines: Vec<String> = table
            .render(width)
            .into_iter()
            .map(|(_, line)| line)
            .collect();
        assert_eq!(
            lines.join("\n"),
            expected.trim_matches('\n'),
            "width {width}"
        );
    }

    /// Bug: on a narrow screen mean latency and interval were left out.
    #[test]
    fn an_important_column_goes_below_the_first_rather_than_away() {
        let mut table = TextTable::new(&[
            ("", Align::Left, 9),
            ("IOPS", Align::Right, 8),
            ("MB/s", Align::Right, 1),
            ("mean", Align::Right, 5),
        ])
        .unbroken()
        .stacked_from(5);
        let row = ["random read 4 KiB, QD1", "21,200", "87.0", "47.1 us"];
        table.row(Tone::Plain, row.map(str::to_owned));
        let at =
            |width| -> Vec<String> { table.render(width).into_iter().map(|it| it.1).collect() };
        let flat = "random read 4 KiB, QD1  21,200  47.1 us";
        assert_eq!(at(40)[1], flat);
        let stacked = [
            "      IOPS  MB/s     mean",
            "random read 4 KiB, QD1",
            "    21,200  87.0  47.1 us",
        ];
        // Cells stand closer before that.
        assert_eq!(at(38)[1], "random read 4 KiB, QD1 21,200 47.1 us");
        assert_eq!(at(36), stacked);
        assert_eq!(at(22)[2], "    21,200  47.1 us");
    }

    #[test]
    fn the_first_column_wraps_and_then_light_columns_go() {
        check(
            60,
            "
                                 value  extra
sequential write past the cache    1.0  x
read                              22.0  yy
",
        );
        check(
            36,
            "
                        value  extra
sequential write          1.0  x
  past the cache
read                     22.0  yy
",
        );
        check(
            28,
            "
                       value
sequential write         1.0
  past the cache
read                    22.0
",
        );
    }
}
