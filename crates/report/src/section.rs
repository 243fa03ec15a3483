//! A table of a run as a part of a screen, in the form that the table asks for.

mod column;
mod matrix;

use std::collections::BTreeSet;
use std::iter;

use results::{PRICE, Row, Run, Table, TableShape, Trust};

use crate::figure::{indicative_legend, legend, mark, tone_of};
use crate::names::words;
use crate::page::TextPage;
use crate::plot::strip::{SHOWN, Sense};
use crate::style::Tone;
use crate::table::{self, Align};

use column::{
    COLUMN_WEIGHT, GridColumn, HEADLINE_WEIGHT, Line, NAME_WEIGHT, Signs, heading_of, named,
    shown_metrics, value, valued,
};
use matrix::Matrix;

/// All tables that the kind of the run gave, and what the signs in them mean.
pub(crate) fn all(page: &mut TextPage<'_>, run: &Run) {
    let all = page.style.all;
    let price = run.tables().into_iter().filter(|it| it.name == PRICE);
    let price: Vec<Table> = price.collect();
    let shown = run.tables.iter().chain(&price);
    let shown = shown.filter(|it| !it.rows.is_empty() && (all || !it.show.is_detail));
    let shown: Vec<&Table> = shown.collect();
    for table in &shown {
        page.blank();
        if !table.title.is_empty() {
            page.heading(&table.title);
        }
        one(page, table);
    }
    if !shown.is_empty() {
        signs(page, &shown);
    }
}

/// A table with its notes.
pub(crate) fn one(page: &mut TextPage<'_>, table: &Table) {
    let grouped_by = table.show.grouped_by.as_ref();
    let place = grouped_by.and_then(|by| table.factors.iter().position(|it| it == by));
    let all: Vec<&Row> = table.rows.iter().collect();
    let groups = place.map_or_else(Vec::new, |place| levels(&all, place));
    if groups.len() < 2 {
        grid(page, table, &all, place);
    }
    for group in groups.iter().filter(|_| groups.len() > 1) {
        let rows = all.iter().copied();
        let rows = rows.filter(|row| place.is_some_and(|place| row.levels[place] == *group));
        let heading = place.map(|place| with_factor(&table.factors[place], group));
        page.paragraph(Tone::Strong, &heading.unwrap_or_default());
        grid(page, table, &rows.collect::<Vec<_>>(), place);
    }
    let mut notes = table.notes.iter();
    if let Some(first) = notes.next() {
        page.paragraph(Tone::Quiet, first);
    }
    for note in notes {
        page.where_room_is_left(|page| page.paragraph(Tone::Quiet, note));
    }
    if let Some(name) = table.show.each.as_ref().filter(|_| page.style.all) {
        each(page, table, name);
    }
}

/// The repetitions behind each row.
fn each(page: &mut TextPage<'_>, table: &Table, name: &str) {
    for row in table.rows.iter().filter(|it| !it.replicates.is_empty()) {
        let mut metrics: Vec<&str> = Vec::new();
        for (metric, _, _) in row.replicates.iter().flat_map(|it| &it.readings) {
            if !metrics.contains(&metric.as_str()) {
                metrics.push(metric);
            }
        }
        let columns = metrics
            .iter()
            .zip((1..COLUMN_WEIGHT).rev().chain(iter::repeat(1)));
        let columns = columns.map(|(it, weight)| (words(it).into(), Align::Right, weight));
        let first = (words(name).into(), Align::Right, NAME_WEIGHT);
        let mut grid = table::TextTable::with_headings(iter::once(first).chain(columns));
        for repetition in &row.replicates {
            let cell = |metric: &&str| {
                let mut readings = repetition.readings.iter();
                let found = readings.find(|(it, _, _)| it == metric);
                found.map_or_else(String::new, |(_, unit, value)| unit.format(*value))
            };
            let cells = iter::once(repetition.number.to_string()).chain(metrics.iter().map(cell));
            grid.row(Tone::Plain, cells);
        }
        page.blank();
        page.paragraph(Tone::Strong, &table.row_name(row));
        page.whole_table(&grid);
    }
}

/// The levels of a factor, each once.
fn levels<'a>(rows: &[&'a Row], place: usize) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for row in rows {
        if !found.contains(&row.levels[place].as_str()) {
            found.push(&row.levels[place]);
        }
    }
    found
}

fn grid(page: &mut TextPage<'_>, table: &Table, rows: &[&Row], group: Option<usize>) {
    if !page.style.all
        && let Some(matrix) = Matrix::of(table, rows, group)
    {
        return matrix.write(page);
    }
    match &table.show.shape {
        TableShape::Metrics => metrics(page, table, rows, group),
        _ => lines(page, table, rows, group),
    }
}

/// As many parts beside each other as the width has room for, the others below.
pub(crate) fn in_parts<T>(
    page: &mut TextPage<'_>,
    mut parts: &[T],
    grid: impl Fn(&[T]) -> table::TextTable,
) {
    while !parts.is_empty() {
        let fits = |count: &usize| page.fits(&grid(&parts[..*count]));
        let count = (1..=parts.len()).rev().find(fits).unwrap_or(1);
        page.table(&grid(&parts[..count]));
        parts = &parts[count..];
    }
}

/// A line for each metric, with a column for each row.
fn metrics(page: &mut TextPage<'_>, table: &Table, rows: &[&Row], group: Option<usize>) {
    let signs = Signs::of(page);
    let names = named(table, rows, [group, None]);
    let values = valued(table, rows, page.style.all, (0, None));
    let is_shown = |it: &&GridColumn<'_>| it.shows.is_first();
    let heading = |row: &&Row| {
        let named: Vec<String> = names.iter().map(|it| it.of_row(row, &signs)).collect();
        (named.join(", ").into(), Align::Left, HEADLINE_WEIGHT)
    };
    let corner: Vec<&str> = names.iter().map(|it| it.heading.0.as_ref()).collect();
    let corner = corner.join(", ");
    let grid = |rows: &[&Row]| {
        let first = (corner.clone().into(), Align::Left, NAME_WEIGHT);
        let headings = iter::once(first).chain(rows.iter().map(heading));
        let mut grid = table::TextTable::with_headings(headings);
        for column in values.iter().filter(is_shown) {
            let name = column.heading.0.clone().into_owned();
            let cells = rows.iter().map(|row| column.whole(row, &signs));
            grid.row(
                Tone::Plain,
                iter::once(name).chain(cells).collect::<Vec<_>>(),
            );
        }
        grid
    };
    in_parts(page, rows, grid);
}

/// A line for each row, or for rows that only the factor of the sides tells apart. Those who ask
/// for everything see in further tables what the width leaves out.
fn lines(page: &mut TextPage<'_>, table: &Table, rows: &[&Row], group: Option<usize>) {
    // Ratios have what they are made of beside them, and that has its intervals elsewhere.
    let all = (page.style.all || table.show.in_parts) && table.show.around_one.is_none();
    let beside = table.show.side_by_side.as_ref().filter(|_| !all);
    let beside = beside.and_then(|by| table.factors.iter().position(|it| it == by));
    let sides = beside.map_or_else(|| vec![""], |place| levels(rows, place));
    let beside = beside.filter(|_| sides.len() > 1);
    let mut columns = named(table, rows, [group, beside]);
    let names = columns.len();
    for (side, name) in sides.iter().enumerate() {
        let of_side = rows.iter().copied();
        let of_side = of_side.filter(|it| beside.is_none_or(|place| it.levels[place] == *name));
        let of_side: Vec<&Row> = of_side.collect();
        let shown = beside.map(|_| *name);
        columns.extend(valued(table, &of_side, all, (side, shown)));
    }
    let most = table.show.rows_max.filter(|_| !page.style.all);
    let most = most.unwrap_or(usize::MAX);
    let lines = in_lines(rows, beside, &sides);
    let lines = chosen(&lines, most);
    if !all {
        page.table(&laid(page, &lines, &columns, beside.is_some()));
        return;
    }
    let values = columns.split_off(names);
    let mut part = columns.clone();
    // A value, its interval and its bar stay together.
    let is_of_last = |column: &GridColumn<'_>| !column.shows.is_first();
    for unit in values.chunk_by(|_, next| is_of_last(next)) {
        let longer = [&part[..], unit].concat();
        let is_full = !page.fits(&laid(page, &lines, &longer, false));
        if is_full && part.len() > names {
            page.table(&laid(page, &lines, &part, false));
            page.blank();
            part = [&columns[..], unit].concat();
        } else {
            part = longer;
        }
    }
    page.table(&laid(page, &lines, &part, false));
}

/// Lines in columns.
fn laid(
    page: &TextPage<'_>,
    lines: &[&Line<'_>],
    columns: &[GridColumn<'_>],
    is_beside: bool,
) -> table::TextTable {
    let headings = columns.iter().map(|column| column.heading.clone());
    let mut grid = table::TextTable::with_headings(headings);
    if !page.style.all {
        grid = grid.stacked_from(HEADLINE_WEIGHT);
    }
    if is_beside {
        grid = grid.unbroken();
    }
    let signs = Signs::of(page);
    for line in lines {
        let cells = columns.iter().map(|it| it.cell(line, &signs));
        let rows = || line.iter().flatten();
        let worst = rows().map(|row| row.trust).max().unwrap_or(Trust::Reliable);
        let shown = rows().map(|row| Sense::of(row.word(SHOWN))).next();
        let tone = match (worst, shown) {
            (Trust::Reliable, Some(Sense::Better)) => Tone::Strong,
            (Trust::Reliable, Some(Sense::Worse)) => Tone::Bad,
            (worst, _) => tone_of(worst),
        };
        grid.row(tone, cells.collect::<Vec<_>>());
    }
    grid
}

/// Rows whose levels are equal, but for that of the sides, are a line.
fn in_lines<'a>(rows: &[&'a Row], beside: Option<usize>, sides: &[&str]) -> Vec<Line<'a>> {
    let Some(place) = beside else {
        return rows.iter().map(|row| vec![Some(*row)]).collect();
    };
    let level = |row: &Row| {
        let others = row.levels.iter().enumerate();
        let others = others.filter(|(at, _)| *at != place);
        others.map(|(_, it)| it.clone()).collect::<Vec<_>>()
    };
    let mut lines: Vec<(Vec<String>, Line<'a>)> = Vec::new();
    for row in rows {
        let name = level(row);
        let known = lines.iter().position(|(it, _)| *it == name);
        let at = known.unwrap_or_else(|| {
            lines.push((name, vec![None; sides.len()]));
            lines.len() - 1
        });
        let side = sides.iter().position(|it| row.levels[place] == *it);
        lines[at].1[side.unwrap_or(0)] = Some(row);
    }
    lines.into_iter().map(|(_, line)| line).collect()
}

/// The first, the last, and what lies evenly between, at most so many.
fn chosen<'l, 'a>(lines: &'l [Line<'a>], most: usize) -> Vec<&'l Line<'a>> {
    let count = lines.len();
    if count <= most || most < 2 {
        return lines.iter().collect();
    }
    let places = (0..most).map(|place| place * (count - 1) / (most - 1));
    places.map(|place| &lines[place]).collect()
}

/// A level; a number alone does not say of what.
fn with_factor(factor: &str, level: &str) -> String {
    match level.parse::<f64>() {
        Ok(_) => format!("{} {level}", words(factor)),
        Err(_) => level.to_owned(),
    }
}

/// What the signs that occur mean.
fn signs(page: &mut TextPage<'_>, shown: &[&Table]) {
    let rows = || shown.iter().flat_map(|table| &table.rows);
    let mut used: BTreeSet<Trust> = rows().map(|row| row.trust).collect();
    used.remove(&Trust::Reliable);
    let legend = used
        .into_iter()
        .map(|it| format!("{} {}", mark(it), legend(it)));
    let all = page.style.all;
    let has_indicative = |table: &&Table| {
        let rows: Vec<&Row> = table.rows.iter().collect();
        let metrics = shown_metrics(table, &rows, all);
        let figures = rows.iter().flat_map(|row| &row.figures);
        let mut indicative = figures.filter(|it| it.is_indicative);
        indicative.any(|it| metrics.iter().any(|shown| shown.name == it.metric.name))
    };
    let indicative = shown.iter().any(has_indicative);
    let legend: Vec<String> = legend.chain(indicative.then(indicative_legend)).collect();
    if !legend.is_empty() {
        page.paragraph(Tone::Quiet, &legend.join("; "));
    }
}
