//! A table of a run as a part of a screen, in the form that the table asks for.

mod matrix;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::iter;

use results::{Better, Figure, Metric, Role, Row, Run, Table, TableShape, Trust, Unit};
use stats::Estimate;
use units::format_count;

use crate::figure::{INDICATIVE, estimated, indicative_legend, legend, mark, tone_of};
use crate::markdown::with_interval;
use crate::names::words;
use crate::page::Page;
use crate::style::Tone;
use crate::table::{self, Align};

use matrix::Matrix;

/// Weights of columns: what names a row and its headline stay on a narrow screen.
const NAME_WEIGHT: u8 = 10;
const HEADLINE_WEIGHT: u8 = 9;
const INTERVAL_WEIGHT: u8 = 7;
const WORD_WEIGHT: u8 = 6;
/// The first column behind these, and the last ones.
const COLUMN_WEIGHT: u8 = 8;
const BAR_WEIGHT: u8 = 2;
/// Columns of the longest bar.
const BAR: usize = 10;

/// All tables that the kind of the run gave, and what the signs in them mean.
pub(crate) fn all(page: &mut Page<'_>, run: &Run) {
    let all = page.style.all;
    let shown = run.tables.iter();
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

fn one(page: &mut Page<'_>, table: &Table) {
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
fn each(page: &mut Page<'_>, table: &Table, name: &str) {
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
        let mut grid = table::Table::with_headings(iter::once(first).chain(columns));
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

fn grid(page: &mut Page<'_>, table: &Table, rows: &[&Row], group: Option<usize>) {
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
fn in_parts<T>(page: &mut Page<'_>, mut parts: &[T], grid: impl Fn(&[T]) -> table::Table) {
    while !parts.is_empty() {
        let fits = |count: &usize| page.fits(&grid(&parts[..*count]));
        let count = (1..=parts.len()).rev().find(fits).unwrap_or(1);
        page.table(&grid(&parts[..count]));
        parts = &parts[count..];
    }
}

/// A line for each metric, with a column for each row.
fn metrics(page: &mut Page<'_>, table: &Table, rows: &[&Row], group: Option<usize>) {
    let signs = Signs::of(page);
    let names = named(table, rows, [group, None]);
    let values = valued(table, rows, page.style.all, (0, None));
    let is_shown = |it: &&GridColumn<'_>| matches!(it.shows, Shows::Value(_) | Shows::Word(_));
    let heading = |row: &&Row| {
        let named: Vec<String> = names.iter().map(|it| it.of_row(row, &signs)).collect();
        (named.join(", ").into(), Align::Left, HEADLINE_WEIGHT)
    };
    let corner: Vec<&str> = names.iter().map(|it| it.heading.0.as_ref()).collect();
    let corner = corner.join(", ");
    let grid = |rows: &[&Row]| {
        let first = (corner.clone().into(), Align::Left, NAME_WEIGHT);
        let headings = iter::once(first).chain(rows.iter().map(heading));
        let mut grid = table::Table::with_headings(headings);
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

/// What stands in one line: the row of each side, where it has one.
type Line<'a> = Vec<Option<&'a Row>>;

/// A line for each row, or for rows that only the factor of the sides tells apart. Those who ask
/// for everything see in further tables what the width leaves out.
fn lines(page: &mut Page<'_>, table: &Table, rows: &[&Row], group: Option<usize>) {
    let all = page.style.all;
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
    let most = table.show.rows_max.filter(|_| !all).unwrap_or(usize::MAX);
    let lines = in_lines(rows, beside, &sides);
    let lines = chosen(&lines, most);
    if !all {
        page.table(&laid(page, &lines, &columns, beside.is_some()));
        return;
    }
    let values = columns.split_off(names);
    let mut part = columns.clone();
    // A value, its interval and its bar stay together.
    let is_of_last =
        |column: &GridColumn<'_>| !matches!(column.shows, Shows::Value(_) | Shows::Word(_));
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
    page: &Page<'_>,
    lines: &[&Line<'_>],
    columns: &[GridColumn<'_>],
    is_beside: bool,
) -> table::Table {
    let headings = columns.iter().map(|column| column.heading.clone());
    let mut grid = table::Table::with_headings(headings);
    if !page.style.all {
        grid = grid.stacked_from(HEADLINE_WEIGHT);
    }
    if is_beside {
        grid = grid.unbroken();
    }
    let signs = Signs::of(page);
    for line in lines {
        let cells = columns.iter().map(|it| it.cell(line, &signs));
        let worst = line.iter().flatten().map(|row| row.trust).max();
        let tone = worst.map_or(Tone::Plain, tone_of);
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

/// A column of lines.
#[derive(Clone)]
struct GridColumn<'a> {
    heading: (Cow<'static, str>, Align, u8),
    /// Which of the rows of a line it is about.
    side: usize,
    shows: Shows<'a>,
}

/// What a column shows.
#[derive(Clone, Copy)]
enum Shows<'a> {
    /// The level of the factor at that place.
    Level(usize),
    /// A figure without its interval.
    Value(&'a Metric),
    /// The interval of that metric.
    Interval(&'a str),
    /// How far the interval reaches, as a share of the value.
    Share(&'a str),
    /// A bar for that metric; its largest value.
    Bar(&'a str, f64),
    /// What is known in words, or in numbers of a document.
    Word(&'a str),
}

/// The columns that name lines.
fn named<'a>(
    table: &'a Table,
    rows: &[&'a Row],
    others: [Option<usize>; 2],
) -> Vec<GridColumn<'a>> {
    let differs = |place: usize| {
        rows.iter()
            .any(|it| it.levels[place] != rows[0].levels[place])
    };
    let places = 0..table.factors.len();
    let places = places.filter(|place| !others.contains(&Some(*place)));
    let named: Vec<usize> = places.clone().filter(|place| differs(*place)).collect();
    // Of one row, or rows that nothing tells apart, the first factor is the name.
    let first = || places.clone().next().or(others[0]);
    let named = match named.is_empty() {
        true => first().into_iter().collect(),
        false => named,
    };
    let level = |(number, place): (usize, usize)| {
        let align = match number {
            0 => Align::Left,
            _ => side_of(rows.iter().map(|row| row.levels[place].as_str())),
        };
        GridColumn {
            heading: (words(&table.factors[place]).into(), align, NAME_WEIGHT),
            side: 0,
            shows: Shows::Level(place),
        }
    };
    named.into_iter().enumerate().map(level).collect()
}

/// The columns of a side with what it is called, or of all there is.
fn valued<'a>(
    table: &'a Table,
    rows: &[&'a Row],
    all: bool,
    (side, name): (usize, Option<&str>),
) -> Vec<GridColumn<'a>> {
    let heads = rows.iter().filter_map(|row| row.headline());
    let heads: BTreeSet<&str> = heads.map(|it| it.metric.name.as_str()).collect();
    let bar = table.show.bar.as_deref();
    let mut columns = Vec::new();
    let mut add = |heading: String, align, weight, shows| {
        columns.push(GridColumn {
            heading: (heading.into(), align, weight),
            side,
            shows,
        });
    };
    for (place, metric) in shown_metrics(table, rows, all).into_iter().enumerate() {
        let is_headline = heads.contains(metric.name.as_str());
        let weight = match is_headline {
            true => HEADLINE_WEIGHT,
            // Of several sides the last loses a column first.
            false => COLUMN_WEIGHT.saturating_sub((place + side) as u8).max(1),
        };
        let heading = match name.filter(|_| is_headline) {
            Some(name) => name.to_owned(),
            None => heading_of(metric),
        };
        add(heading, Align::Right, weight, Shows::Value(metric));
        let figures = || rows.iter().filter_map(|row| row.figure(&metric.name));
        if (is_headline || all) && figures().any(has_interval) {
            let (align, weight, shows) = match name {
                // Two intervals in full have no room.
                Some(_) => (Align::Right, COLUMN_WEIGHT, Shows::Share(&metric.name)),
                None => (Align::Left, INTERVAL_WEIGHT, Shows::Interval(&metric.name)),
            };
            add("95 % CI".to_owned(), align, weight, shows);
        }
        if Some(metric.name.as_str()) == bar && rows.len() > 1 {
            let most = figures().map(|it| it.value.value).fold(0.0, f64::max);
            let shows = Shows::Bar(&metric.name, most);
            add(String::new(), Align::Left, BAR_WEIGHT, shows);
        }
    }
    let weight = match name {
        Some(_) => 1,
        None => WORD_WEIGHT,
    };
    for what in table.words() {
        if rows.iter().any(|row| !row.word(what).is_empty()) {
            let align = side_of(rows.iter().map(|row| row.word(what)));
            add(what.to_owned(), align, weight, Shows::Word(what));
        }
    }
    columns
}

/// Numbers are flush on the right.
fn side_of<'a>(mut words: impl Iterator<Item = &'a str>) -> Align {
    let is_number = |it: &str| ["", "-"].contains(&it) || it.parse::<f64>().is_ok();
    match words.all(is_number) {
        true => Align::Right,
        false => Align::Left,
    }
}

/// Of a bound from below that is the end of its interval.
fn has_interval(figure: &Figure) -> bool {
    let Estimate {
        value, low, high, ..
    } = figure.value;
    value.is_finite() && low < high && (high.is_finite() || low > 0.0)
}

/// The metrics of the columns: those that the table names, or all that are no details; every one
/// for those who ask for everything.
fn shown_metrics<'a>(table: &'a Table, rows: &[&'a Row], all: bool) -> Vec<&'a Metric> {
    let named = &table.show.columns;
    let found = |name: &str| {
        let figures = rows.iter().find_map(|row| row.figure(name));
        figures.map(|it| &it.metric)
    };
    let mut metrics: Vec<&Metric> = named.iter().filter_map(|it| found(it)).collect();
    if !named.is_empty() && !all {
        return metrics;
    }
    let others = match all {
        true => table.metrics(),
        false => table.main_metrics(),
    };
    // A factor has a column of its own.
    for metric in others
        .into_iter()
        .filter(|it| !table.factors.contains(&it.name))
    {
        if !metrics.iter().any(|it| it.name == metric.name) {
            metrics.extend(found(&metric.name));
        }
    }
    metrics
}

/// Signs of a terminal.
struct Signs {
    /// What bars are drawn with.
    ink: &'static str,
    /// Before how far an interval reaches.
    either_way: &'static str,
}

impl Signs {
    fn of(page: &Page<'_>) -> Self {
        match page.style.unicode {
            true => Self {
                ink: "▇",
                either_way: "±",
            },
            false => Self {
                ink: "#",
                either_way: "+-",
            },
        }
    }
}

impl GridColumn<'_> {
    fn cell(&self, line: &Line<'_>, signs: &Signs) -> String {
        if let Shows::Level(place) = self.shows {
            let row = line.iter().flatten().next();
            return row.map_or_else(String::new, |row| row.levels[place].clone());
        }
        match line.get(self.side) {
            Some(Some(row)) => self.of_row(row, signs),
            _ => String::new(),
        }
    }

    /// A figure with its interval.
    fn whole(&self, row: &Row, signs: &Signs) -> String {
        let Shows::Value(metric) = self.shows else {
            return self.of_row(row, signs);
        };
        row.figure(&metric.name).map_or_else(String::new, |it| {
            let sign = match it.metric.role {
                Role::Headline => mark(row.trust),
                _ => "",
            };
            format!("{sign}{}", with_interval(it))
        })
    }

    fn of_row(&self, row: &Row, signs: &Signs) -> String {
        match self.shows {
            Shows::Level(place) => row.levels[place].clone(),
            Shows::Value(metric) => row.figure(&metric.name).map_or_else(String::new, |it| {
                let sign = match it.metric.role {
                    Role::Headline => mark(row.trust),
                    _ => "",
                };
                format!("{sign}{}", value(it))
            }),
            Shows::Interval(metric) | Shows::Share(metric) => {
                let known = row.figure(metric).filter(|it| has_interval(it));
                known.map_or_else(String::new, |it| match self.shows {
                    Shows::Share(_) => share(it.value, signs),
                    _ => estimated(it.metric.unit, it.value).1,
                })
            }
            Shows::Bar(metric, most) => {
                let share = row.figure(metric).map_or(0.0, |it| it.value.value / most);
                let length = (share * BAR as f64).round();
                match length.is_finite() {
                    true => signs.ink.repeat((length as usize).clamp(1, BAR)),
                    false => String::new(),
                }
            }
            Shows::Word(what) => row.word(what).to_owned(),
        }
    }
}

/// The farther end of an interval, as in `± 5 %`.
fn share(it: Estimate, signs: &Signs) -> String {
    let farther = (it.high - it.value).max(it.value - it.low) / it.value;
    if !farther.is_finite() {
        return String::new();
    }
    // 2 % that the arithmetic made a little more is 2 %.
    match (farther * 100.0 - 1e-6).ceil() {
        percent if percent < 1000.0 => format!("{} {percent:>2} %", signs.either_way),
        _ => format!("x {}", format_count(farther + 1.0)),
    }
}

/// A percentile of a latency or service time by its name, other metrics in words; that a share is
/// one its values say.
fn heading_of(metric: &Metric) -> String {
    if let (Unit::Share, Some(of)) = (metric.unit, metric.name.strip_suffix("-share")) {
        return words(of);
    }
    let mut times = ["latency-", "service-time-"].into_iter();
    match times.find_map(|it| metric.name.strip_prefix(it)) {
        Some(which) => words(which),
        None if metric.name == "latency" => "mean latency".into(),
        None => words(&metric.name),
    }
}

/// A value as columns have it; a change that has an interval with half of it.
fn value(figure: &Figure) -> String {
    let it = figure.value;
    let unit = figure.metric.unit;
    let is_neutral = figure.metric.better == Better::Neither;
    let is_change = unit == Unit::Share && is_neutral && it.low < it.high && it.is_bounded();
    if is_change {
        let half = 50.0 * (it.high - it.low);
        return format!("{:+.1} ± {half:.1} %", it.value * 100.0);
    }
    let shown = |value: f64| match unit {
        Unit::PerSecond if figure.metric.name.starts_with("iops") => format_count(value),
        _ => unit.format(value),
    };
    if !it.value.is_finite() {
        return match (it.low.is_finite(), it.high.is_finite()) {
            (true, true) => format!("{} to {}", shown(it.low), shown(it.high)),
            _ => String::new(),
        };
    }
    let shown = shown(it.value);
    let sign = if figure.is_indicative { INDICATIVE } else { "" };
    format!("{shown}{sign}")
}

/// A level; a number alone does not say of what.
fn with_factor(factor: &str, level: &str) -> String {
    match level.parse::<f64>() {
        Ok(_) => format!("{} {level}", words(factor)),
        Err(_) => level.to_owned(),
    }
}

/// What the signs that occur mean.
fn signs(page: &mut Page<'_>, shown: &[&Table]) {
    let rows = || shown.iter().flat_map(|table| &table.rows);
    let mut used: BTreeSet<Trust> = rows().map(|row| row.trust).collect();
    used.remove(&Trust::Sound);
    let said = used
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
    let said: Vec<String> = said.chain(indicative.then(indicative_legend)).collect();
    if !said.is_empty() {
        page.paragraph(Tone::Quiet, &said.join("; "));
    }
}
