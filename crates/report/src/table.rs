//! Tables whose first column gives way, and whose least important columns go when space is short.

use std::borrow::Cow;

use crate::page::{clean, wrap};
use crate::style::Tone;

/// Columns between two cells.
const GAP: usize = 2;
/// The first column does not get narrower than this before other columns are left out, unless asked
/// otherwise.
const FIRST_MIN: usize = 20;

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
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<(Tone, Vec<String>)>,
    /// The first column does not get narrower than this while others can be left out.
    first_min: usize,
}

impl Table {
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
        }
    }

    /// The same table, which leaves out columns rather than break the text of the first.
    pub fn unbroken(mut self) -> Self {
        self.first_min = usize::MAX;
        self
    }

    pub fn row(&mut self, tone: Tone, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().map(|cell| clean(&cell)).collect();
        assert_eq!(
            cells.len(),
            self.columns.len(),
            "a row has as many cells as there are columns"
        );
        self.rows.push((tone, cells));
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Lines of at most `width` columns as far as wrapping the first and leaving out others allow.
    pub fn render(&self, width: usize) -> Vec<(Tone, String)> {
        let Some((shown, first)) = self.fitting(width) else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        if self.columns.iter().any(|column| !column.heading.is_empty()) {
            let headings: Vec<String> = self
                .columns
                .iter()
                .map(|column| clean(&column.heading))
                .collect();
            self.lay(&shown, first, Tone::Quiet, &headings, &mut lines);
        }
        for (tone, cells) in &self.rows {
            self.lay(&shown, first, *tone, cells, &mut lines);
        }
        lines
    }

    /// The headings of columns that have text and are left out at this width.
    pub fn left_out(&self, width: usize) -> Vec<&str> {
        let fitting = self.fitting(width);
        let shown = fitting.map_or_else(Vec::new, |(shown, _)| shown);
        let left = (0..self.columns.len()).filter(|column| !shown.contains(column));
        left.filter(|&column| self.natural(column, false) > 0)
            .map(|column| self.columns[column].heading.as_ref())
            .collect()
    }

    /// The columns that are shown at this width, and the width of the first of them.
    fn fitting(&self, width: usize) -> Option<(Vec<usize>, usize)> {
        let mut shown: Vec<usize> = (0..self.columns.len())
            .filter(|&column| self.natural(column, false) > 0)
            .collect();
        loop {
            let (&first, others) = shown.split_first()?;
            let taken: usize = others
                .iter()
                .map(|&column| GAP + self.natural(column, true))
                .sum();
            let natural = self.natural(first, true);
            let room = width.saturating_sub(taken);
            if room >= natural.min(self.first_min) || others.is_empty() {
                return Some((shown, natural.min(room).max(1)));
            }
            let least = others
                .iter()
                .copied()
                .min_by_key(|&column| self.columns[column].weight);
            shown.retain(|&column| Some(column) != least);
        }
    }

    fn lay(
        &self,
        shown: &[usize],
        first: usize,
        tone: Tone,
        cells: &[String],
        lines: &mut Vec<(Tone, String)>,
    ) {
        for (index, part) in wrap_hanging(&cells[shown[0]], first)
            .into_iter()
            .enumerate()
        {
            let mut line = pad(&part, first, self.columns[shown[0]].align);
            for &column in shown[1..].iter().filter(|_| index == 0) {
                let cell = pad(
                    &cells[column],
                    self.natural(column, true),
                    self.columns[column].align,
                );
                line.push_str(&format!("{:GAP$}{cell}", ""));
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
        let mut table = Table::new(&[
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
