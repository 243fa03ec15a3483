//! Headline figures with the levels of factors as lines and columns.

use std::iter;

use results::{Row, Table, TableShape, Trust};

use super::{HEADLINE_WEIGHT, NAME_WEIGHT, heading_of, value, with_factor};
use crate::figure::{mark, tone_of};
use crate::names::{capitalised, words};
use crate::page::TextPage;
use crate::style::Tone;
use crate::table::{self, Align};

/// The headline figures with the levels of factors as lines and columns.
pub(super) struct Matrix<'a> {
    table: &'a Table,
    rows: &'a [&'a Row],
    /// Places of the factors that name lines, and columns.
    down: Vec<usize>,
    across: Vec<usize>,
    each: Option<&'a str>,
}

impl<'a> Matrix<'a> {
    /// `None` where the table has another shape, or its rows are one line or one column.
    pub(super) fn of(table: &'a Table, rows: &'a [&'a Row], group: Option<usize>) -> Option<Self> {
        let TableShape::Matrix {
            down,
            across,
            besides,
            each,
        } = &table.show.shape
        else {
            return None;
        };
        let place = |factor: &String| table.factors.iter().position(|it| it == factor);
        let first = rows.first()?;
        let differs = |place: usize| {
            rows.iter()
                .any(|it| it.levels[place] != first.levels[place])
        };
        let across: Vec<usize> = iter::once(across)
            .chain(besides)
            .filter_map(place)
            .collect();
        let down = place(down)?;
        if !differs(down) || !across.iter().any(|it| differs(*it)) {
            return None;
        }
        let is_line =
            |it: &usize| *it == down || differs(*it) && !across.contains(it) && Some(*it) != group;
        Some(Self {
            table,
            rows,
            down: (0..table.factors.len()).filter(is_line).collect(),
            across,
            each: each.as_deref(),
        })
    }

    pub(super) fn write(&self, page: &mut TextPage<'_>) {
        let what = self.rows.iter().find_map(|row| row.headline());
        let what = what.map_or_else(String::new, |it| heading_of(&it.metric));
        let factor = |places: &[usize]| words(&self.table.factors[places[0]]);
        let (down, across) = (factor(&self.down), factor(&self.across));
        let corner = format!("{what} by {down} and {across}");
        let heads = self.keys(&self.across);
        let columns = heads.iter().map(|it| self.heading(it));
        let weights = (1..=HEADLINE_WEIGHT).rev().chain(iter::repeat(0));
        let columns = columns.zip(weights);
        let columns = columns.map(|(it, weight)| (it.into(), Align::Right, weight));
        let first = (down.into(), Align::Left, NAME_WEIGHT);
        let mut grid = table::TextTable::with_headings(iter::once(first).chain(columns));
        for line in self.keys(&self.down) {
            let found = heads.iter().map(|head| {
                let mut rows = self.rows.iter();
                rows.find(|it| key(it, &self.down) == line && key(it, &self.across) == *head)
            });
            let found: Vec<Option<&&Row>> = found.collect();
            let trust = found.iter().flatten().map(|row| row.trust).max();
            let cells = found
                .iter()
                .map(|row| row.map_or_else(String::new, |it| self.cell(it)));
            let cells = iter::once(line.join(" ").trim_end().to_owned()).chain(cells);
            let tone = tone_of(trust.unwrap_or(Trust::Reliable));
            grid.row(tone, cells.collect::<Vec<_>>());
        }
        page.paragraph(Tone::Plain, &capitalised(&corner));
        page.table(&grid);
        let has_each = |it: &&str| self.rows.iter().any(|row| row.figure(it).is_some());
        let each = self.each.filter(has_each);
        let each = each.map_or_else(String::new, |it| format!(", x: {}", words(it)));
        page.paragraph(Tone::Quiet, &format!("+-: half of the 95 % CI{each}"));
    }

    /// Levels of those factors, each combination once.
    fn keys(&self, places: &[usize]) -> Vec<Vec<&'a str>> {
        let mut found = Vec::new();
        for row in self.rows {
            let key = key(row, places);
            if !found.contains(&key) {
                found.push(key);
            }
        }
        found
    }

    /// The level of the first factor, and those of the others that differ from the first row's.
    fn heading(&self, key: &[&str]) -> String {
        let levels = self.across.iter().zip(key).enumerate();
        let shown = levels.filter_map(|(number, (&place, &level))| {
            let is_usual = self.rows[0].levels[place] == level;
            let named = || with_factor(&self.table.factors[place], level);
            match number {
                0 => Some(level.to_owned()),
                _ => (!is_usual).then(named),
            }
        });
        shown.collect::<Vec<String>>().join(", ")
    }

    /// The headline with half of its interval in percent, and what stands behind each.
    fn cell(&self, row: &Row) -> String {
        let Some(head) = row.headline() else {
            return String::new();
        };
        let it = head.value;
        let half = match it.is_bounded() {
            // The lower half may have been cut off at zero.
            true if it.value > 0.0 && it.low < it.high => {
                format!(" +-{:.0} %", 100.0 * (it.high / it.value - 1.0))
            }
            true => String::new(),
            false => " +-?".to_owned(),
        };
        let each = self.each.and_then(|it| row.figure(it));
        let each = each.map_or_else(String::new, |it| format!(" x{}", value(it)));
        format!("{}{}{half}{each}", mark(row.trust), value(head))
    }
}

fn key<'a>(row: &'a Row, places: &[usize]) -> Vec<&'a str> {
    places.iter().map(|it| row.levels[*it].as_str()).collect()
}
