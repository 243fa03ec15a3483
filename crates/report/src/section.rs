//! A table of a run as a part of a screen, in the form that the table asks for.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::iter;

use results::{Figure, Metric, Role, Row, Run, Table, TableShape, Trust, Unit};
use units::format_count;

use crate::figure::{INDICATIVE, estimated, indicative_legend, legend, mark, tone_of};
use crate::names::{capitalised, words};
use crate::page::Page;
use crate::style::Tone;
use crate::table::{self, Align};

/// Weights of columns: what names a row and its headline stay on a narrow screen.
const NAME_WEIGHT: u8 = 10;
const HEADLINE_WEIGHT: u8 = 9;
const INTERVAL_WEIGHT: u8 = 6;
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
        let rows = shown.iter().flat_map(|table| &table.rows);
        signs(page, rows);
    }
}

fn one(page: &mut Page<'_>, table: &Table) {
    let grouped_by = table.show.grouped_by.as_ref();
    let place = grouped_by.and_then(|by| table.factors.iter().position(|it| it == by));
    let groups = place.map_or_else(Vec::new, |place| levels(table, place));
    if groups.len() < 2 {
        grid(page, table, &table.rows.iter().collect::<Vec<_>>(), place);
    }
    for group in groups.iter().filter(|_| groups.len() > 1) {
        let rows = table.rows.iter();
        let rows = rows.filter(|row| place.is_some_and(|place| row.levels[place] == *group));
        page.paragraph(Tone::Strong, group);
        grid(page, table, &rows.collect::<Vec<_>>(), place);
    }
    for note in &table.notes {
        page.paragraph(Tone::Quiet, note);
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
fn levels(table: &Table, place: usize) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for row in &table.rows {
        if !found.contains(&row.levels[place].as_str()) {
            found.push(&row.levels[place]);
        }
    }
    found
}

fn grid(page: &mut Page<'_>, table: &Table, rows: &[&Row], group: Option<usize>) {
    let place = |factor: &str| table.factors.iter().position(|it| it == factor);
    match &table.show.shape {
        TableShape::Matrix { down, across } if !page.style.all => {
            let places = place(down).zip(place(across));
            let differs = |place: usize| {
                rows.iter()
                    .any(|it| it.levels[place] != rows[0].levels[place])
            };
            if let Some((down, across)) =
                places.filter(|(down, across)| differs(*down) && differs(*across))
            {
                matrix(page, table, rows, [down, across]);
                return;
            }
        }
        _ => {}
    }
    lines(page, table, rows, group);
}

/// A line for each row.
fn lines(page: &mut Page<'_>, table: &Table, rows: &[&Row], group: Option<usize>) {
    let all = page.style.all;
    let columns = columns(table, rows, group, all);
    let headings = columns.iter().map(GridColumn::heading);
    let mut grid = table::Table::with_headings(headings);
    let most = table.show.rows_max.filter(|_| !all).unwrap_or(usize::MAX);
    let ink = if page.style.unicode { "▇" } else { "#" };
    for row in chosen(rows, most) {
        let cells = columns.iter().map(|it| it.cell(row, ink));
        grid.row(tone_of(row.trust), cells.collect::<Vec<_>>());
    }
    match all {
        true => page.whole_table(&grid),
        false => page.table(&grid),
    }
}

/// The first, the last, and what lies evenly between, at most so many.
fn chosen<'a>(rows: &[&'a Row], most: usize) -> Vec<&'a Row> {
    let count = rows.len();
    if count <= most || most < 2 {
        return rows.to_vec();
    }
    let places = (0..most).map(|place| place * (count - 1) / (most - 1));
    places.map(|place| rows[place]).collect()
}

/// A column of lines.
enum GridColumn<'a> {
    /// The level of the factor at that place.
    Level(&'a str, usize),
    /// A figure without its interval.
    Value(&'a Metric, u8),
    /// The interval of that metric where it is the headline.
    Interval(&'a str),
    /// A bar for that metric; its largest value.
    Bar(&'a str, f64),
    /// What is known in words.
    Word(&'a str),
}

fn columns<'a>(
    table: &'a Table,
    rows: &[&'a Row],
    group: Option<usize>,
    all: bool,
) -> Vec<GridColumn<'a>> {
    let differs = |place: usize| {
        rows.iter()
            .any(|it| it.levels[place] != rows[0].levels[place])
    };
    let places = 0..table.factors.len();
    let named: Vec<usize> = places
        .clone()
        .filter(|place| Some(*place) != group && differs(*place))
        .collect();
    // Of one row, or rows that nothing tells apart, the first factor is the name.
    let first = || places.clone().find(|it| Some(*it) != group).or(group);
    let named = match named.is_empty() {
        true => first().into_iter().collect(),
        false => named,
    };
    let level = |place: usize| GridColumn::Level(&table.factors[place], place);
    let mut columns: Vec<GridColumn<'_>> = named.into_iter().map(level).collect();
    let heads = rows.iter().filter_map(|row| row.headline());
    let heads: BTreeSet<&str> = heads.map(|it| it.metric.name.as_str()).collect();
    let metrics = shown_metrics(table, rows, all);
    let bar = table.show.bar.as_deref();
    for (place, metric) in metrics.into_iter().enumerate() {
        let is_headline = heads.contains(metric.name.as_str());
        let weight = match is_headline {
            true => HEADLINE_WEIGHT,
            false => COLUMN_WEIGHT.saturating_sub(place as u8).max(1),
        };
        columns.push(GridColumn::Value(metric, weight));
        if is_headline && rows.iter().any(|row| has_interval(row, metric)) {
            columns.push(GridColumn::Interval(&metric.name));
        }
        if Some(metric.name.as_str()) == bar && rows.len() > 1 {
            let values = rows.iter().filter_map(|row| row.figure(&metric.name));
            let most = values.map(|it| it.value.value).fold(0.0, f64::max);
            columns.push(GridColumn::Bar(&metric.name, most));
        }
    }
    let is_here = |what: &&str| rows.iter().any(|row| !row.word(what).is_empty());
    let said = table.words().into_iter().filter(is_here);
    columns.extend(said.map(GridColumn::Word));
    columns
}

fn has_interval(row: &Row, metric: &Metric) -> bool {
    row.figure(&metric.name).is_some_and(|it| {
        it.value.low < it.value.high && (it.value.high.is_finite() || it.value.low > 0.0)
    })
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
    for metric in table.metrics() {
        let is_wanted = all || metric.role != Role::Detail;
        let is_here = metrics.iter().any(|it| it.name == metric.name);
        if is_wanted && !is_here {
            metrics.extend(found(&metric.name));
        }
    }
    metrics
}

impl GridColumn<'_> {
    fn heading(&self) -> (Cow<'static, str>, Align, u8) {
        match self {
            Self::Level(factor, _) => (words(factor).into(), Align::Left, NAME_WEIGHT),
            Self::Value(metric, weight) => (heading_of(metric).into(), Align::Right, *weight),
            Self::Interval(_) => ("95 % CI".into(), Align::Left, INTERVAL_WEIGHT),
            Self::Bar(..) => ("".into(), Align::Left, BAR_WEIGHT),
            Self::Word(what) => ((*what).to_owned().into(), Align::Left, INTERVAL_WEIGHT),
        }
    }

    fn cell(&self, row: &Row, ink: &str) -> String {
        match self {
            Self::Level(_, place) => row.levels[*place].clone(),
            Self::Value(metric, _) => row.figure(&metric.name).map_or_else(String::new, |it| {
                let sign = match it.metric.role {
                    Role::Headline => mark(row.trust),
                    _ => "",
                };
                format!("{sign}{}", value(it))
            }),
            Self::Interval(metric) => {
                let head = row.headline().filter(|it| it.metric.name == *metric);
                let head = head.filter(|it| has_interval(row, &it.metric));
                head.map_or_else(String::new, |it| estimated(it.metric.unit, it.value).1)
            }
            Self::Bar(metric, most) => {
                let share = row.figure(metric).map_or(0.0, |it| it.value.value / most);
                let length = (share * BAR as f64).round();
                match length.is_finite() {
                    true => ink.repeat((length as usize).clamp(1, BAR)),
                    false => String::new(),
                }
            }
            Self::Word(what) => row.word(what).to_owned(),
        }
    }
}

/// A percentile of a latency by its name, other metrics in words; that a share is one its values
/// say.
fn heading_of(metric: &Metric) -> String {
    if let (Unit::Share, Some(of)) = (metric.unit, metric.name.strip_suffix("-share")) {
        return words(of);
    }
    match metric.name.strip_prefix("latency-") {
        Some(which) => words(which),
        None if metric.name == "latency" => "mean latency".into(),
        None => words(&metric.name),
    }
}

/// A value as columns have it; a change that has an interval with half of it.
fn value(figure: &Figure) -> String {
    let it = figure.value;
    let unit = figure.metric.unit;
    let is_change = unit == Unit::Share && it.low < it.high && it.is_bounded();
    if is_change {
        let half = 50.0 * (it.high - it.low);
        return format!("{:+.1} ± {half:.1} %", it.value * 100.0);
    }
    if !it.value.is_finite() {
        return match (it.low.is_finite(), it.high.is_finite()) {
            (true, true) => format!("{} to {}", unit.format(it.low), unit.format(it.high)),
            _ => String::new(),
        };
    }
    let shown = match unit {
        Unit::PerSecond if figure.metric.name == "iops" => format_count(it.value),
        _ => unit.format(it.value),
    };
    let sign = if figure.is_indicative { INDICATIVE } else { "" };
    format!("{shown}{sign}")
}

/// The headline figures with the levels of two factors as lines and columns.
fn matrix(page: &mut Page<'_>, table: &Table, rows: &[&Row], [down, across]: [usize; 2]) {
    let mut heads: Vec<&str> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        for (place, found) in [(across, &mut heads), (down, &mut names)] {
            if !found.contains(&row.levels[place].as_str()) {
                found.push(&row.levels[place]);
            }
        }
    }
    let what = rows.iter().find_map(|row| row.headline());
    let what = what.map_or_else(String::new, |it| heading_of(&it.metric));
    let corner = format!(
        "{what} by {} and {}",
        table.factors[down], table.factors[across]
    );
    let columns = heads
        .iter()
        .map(|it| ((*it).to_owned().into(), Align::Right, HEADLINE_WEIGHT));
    let first = (words(&table.factors[down]).into(), Align::Left, NAME_WEIGHT);
    let mut grid = table::Table::with_headings(iter::once(first).chain(columns));
    for name in names {
        let mut cells = vec![name.to_owned()];
        let mut tone = Tone::Plain;
        for head in &heads {
            let mut all = rows.iter();
            let row = all.find(|it| it.levels[down] == name && it.levels[across] == *head);
            let shown = row.and_then(|row| Some((row.trust, row.headline()?)));
            cells.push(shown.map_or_else(String::new, |(trust, it)| {
                tone = if trust == Trust::Sound {
                    tone
                } else {
                    tone_of(trust)
                };
                format!("{}{}", mark(trust), value(it))
            }));
        }
        grid.row(tone, cells);
    }
    page.paragraph(Tone::Plain, &capitalised(&corner));
    page.table(&grid);
}

/// What the signs that occur mean.
fn signs<'a>(page: &mut Page<'_>, rows: impl Iterator<Item = &'a Row> + Clone) {
    let mut used: BTreeSet<Trust> = rows.clone().map(|row| row.trust).collect();
    used.remove(&Trust::Sound);
    let said = used
        .into_iter()
        .map(|it| format!("{} {}", mark(it), legend(it)));
    let is_indicative = |it: &Figure| it.is_indicative && it.metric.role != Role::Detail;
    let indicative = rows.flat_map(|row| &row.figures).any(is_indicative);
    let said: Vec<String> = said.chain(indicative.then(indicative_legend)).collect();
    if !said.is_empty() {
        page.paragraph(Tone::Quiet, &said.join("; "));
    }
}
