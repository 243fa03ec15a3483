//! The columns of a table on a screen: what names a line, figures with their intervals, words.

use std::borrow::Cow;
use std::collections::BTreeSet;

use results::{Better, Figure, Metric, Role, Row, Table, Unit};
use stats::Estimate;
use units::format_count;

use crate::figure::{INDICATIVE, estimated, mark, within};
use crate::markdown::with_interval;
use crate::names::words;
use crate::page::TextPage;
use crate::plot::axis::Axis;
use crate::plot::strip::{is_known, strip, strip_axis};
use crate::table::Align;

/// Weights of columns: what names a row and its headline stay on a narrow screen.
pub(super) const NAME_WEIGHT: u8 = 10;
pub(super) const HEADLINE_WEIGHT: u8 = 9;
const INTERVAL_WEIGHT: u8 = 7;
const WORD_WEIGHT: u8 = 6;
/// The first column behind these, and the last ones.
pub(super) const COLUMN_WEIGHT: u8 = 8;
const BAR_WEIGHT: u8 = 2;
const AROUND_ONE_WEIGHT: u8 = 3;
/// Columns of the longest bar, and of that of an only figure.
const BAR: usize = 10;
const BAR_ALONE: usize = 40;

/// What stands in one line: the row of each side, where it has one.
pub(super) type Line<'a> = Vec<Option<&'a Row>>;

/// A column of lines.
#[derive(Clone)]
pub(super) struct GridColumn<'a> {
    pub heading: (Cow<'static, str>, Align, u8),
    /// Which of the rows of a line it is about.
    side: usize,
    pub shows: Shows<'a>,
}

/// What a column shows.
#[derive(Clone, Copy)]
pub(super) enum Shows<'a> {
    /// The level of the factor at that place.
    Level(usize),
    /// A figure without its interval.
    Value(&'a Metric),
    /// A figure in the unit and with the digits of its interval, which stands beside it.
    Estimated(&'a Metric),
    /// The interval of that metric.
    Interval(&'a str),
    /// The same of a ratio to 1.
    RatioInterval(&'a str),
    /// How far the interval reaches, as a share of the value.
    Share(&'a str),
    /// A bar for that metric; its largest value, and the length of its bar.
    Bar(&'a str, f64, usize),
    /// That metric with its interval around 1.
    AroundOne(&'a str, Axis),
    /// What is known in words, or in numbers of a document.
    Word(&'a str),
}

impl Shows<'_> {
    /// Whether it stands for itself: an interval, a bar and a strip belong to the column before.
    pub const fn is_first(&self) -> bool {
        matches!(self, Self::Value(_) | Self::Estimated(_) | Self::Word(_))
    }
}

/// The columns that name lines.
pub(super) fn named<'a>(
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
pub(super) fn valued<'a>(
    table: &'a Table,
    rows: &[&'a Row],
    all: bool,
    (side, name): (usize, Option<&str>),
) -> Vec<GridColumn<'a>> {
    let heads = rows.iter().filter_map(|row| row.headline());
    let heads: BTreeSet<&str> = heads.map(|it| it.metric.name.as_str()).collect();
    let mut columns = Vec::new();
    let mut add = |heading: String, align, weight, shows| {
        columns.push(GridColumn {
            heading: (heading.into(), align, weight),
            side,
            shows,
        });
    };
    let metrics = shown_metrics(table, rows, all);
    for (place, metric) in metrics.iter().copied().enumerate() {
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
        let figures = || rows.iter().filter_map(|row| row.figure(&metric.name));
        let has_interval = figures().any(has_interval);
        let shows = match all && has_interval {
            true => Shows::Estimated(metric),
            false => Shows::Value(metric),
        };
        add(heading, Align::Right, weight, shows);
        let is_ratio = Some(&metric.name) == table.show.around_one.as_ref();
        if (is_headline || all) && has_interval {
            let (align, weight, shows) = match name {
                // Two intervals in full have no room.
                Some(_) => (Align::Right, COLUMN_WEIGHT, Shows::Share(&metric.name)),
                None if is_ratio => {
                    let shows = Shows::RatioInterval(&metric.name);
                    (Align::Left, INTERVAL_WEIGHT, shows)
                }
                None => (Align::Left, INTERVAL_WEIGHT, Shows::Interval(&metric.name)),
            };
            add("95 % CI".to_owned(), align, weight, shows);
        }
        if let Some((heading, weight, shows)) = drawn(table, metric, rows, metrics.len()) {
            add(heading.to_owned(), Align::Left, weight, shows);
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

/// What is drawn of one of so many metrics: its heading, its weight, and what it shows.
fn drawn<'a>(
    table: &Table,
    metric: &'a Metric,
    rows: &[&Row],
    metrics: usize,
) -> Option<(&'static str, u8, Shows<'a>)> {
    let name = Some(&metric.name);
    let values = rows.iter().filter_map(|row| row.figure(&metric.name));
    let values = values.map(|it| it.value);
    if name == table.show.around_one.as_ref() {
        let shows = Shows::AroundOne(&metric.name, strip_axis(values));
        return Some(("around 1", AROUND_ONE_WEIGHT, shows));
    }
    let most = values.map(|it| it.value).fold(0.0, f64::max);
    let longest = if metrics == 1 { BAR_ALONE } else { BAR };
    let is_bar = name == table.show.bar.as_ref() && rows.len() > 1;
    is_bar.then(|| ("", BAR_WEIGHT, Shows::Bar(&metric.name, most, longest)))
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
pub(super) fn shown_metrics<'a>(table: &'a Table, rows: &[&'a Row], all: bool) -> Vec<&'a Metric> {
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
pub(super) struct Signs {
    is_unicode: bool,
    /// What bars are drawn with.
    ink: &'static str,
}

impl Signs {
    pub fn of(page: &TextPage<'_>) -> Self {
        match page.style.unicode {
            true => Self {
                is_unicode: true,
                ink: "▇",
            },
            false => Self {
                is_unicode: false,
                ink: "#",
            },
        }
    }
}

impl GridColumn<'_> {
    pub fn cell(&self, line: &Line<'_>, signs: &Signs) -> String {
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
    pub fn whole(&self, row: &Row, signs: &Signs) -> String {
        let (Shows::Value(metric) | Shows::Estimated(metric)) = self.shows else {
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

    pub fn of_row(&self, row: &Row, signs: &Signs) -> String {
        match self.shows {
            Shows::Level(place) => row.levels[place].clone(),
            Shows::Value(metric) | Shows::Estimated(metric) => {
                row.figure(&metric.name).map_or_else(String::new, |it| {
                    let sign = match it.metric.role {
                        Role::Headline => mark(row.trust),
                        _ => "",
                    };
                    let shown = match self.shows {
                        Shows::Estimated(_) => value_beside_interval(it),
                        _ => value(it),
                    };
                    format!("{sign}{shown}")
                })
            }
            Shows::Interval(metric) | Shows::RatioInterval(metric) | Shows::Share(metric) => {
                let known = row.figure(metric).filter(|it| has_interval(it));
                known.map_or_else(String::new, |it| match self.shows {
                    Shows::Share(_) => within(it.value, signs.is_unicode),
                    // An interval over decades says nothing.
                    Shows::RatioInterval(_) if !is_known(it.value) => "unknown".into(),
                    _ => estimated(it.metric.unit, it.value).1,
                })
            }
            Shows::Bar(metric, most, longest) => {
                let share = row.figure(metric).map_or(0.0, |it| it.value.value / most);
                let length = (share * longest as f64).round();
                match length.is_finite() && share > 0.0 {
                    true => signs.ink.repeat((length as usize).clamp(1, longest)),
                    false => String::new(),
                }
            }
            Shows::AroundOne(metric, axis) => row
                .figure(metric)
                .map_or_else(String::new, |it| strip(it.value, &axis, signs.is_unicode)),
            Shows::Word(what) => row.word(what).to_owned(),
        }
    }
}

/// A percentile of a latency or service time by its name, other metrics in words; that a share is
/// one its values say.
pub(super) fn heading_of(metric: &Metric) -> String {
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

/// A value in the unit and with the digits of its interval.
fn value_beside_interval(figure: &Figure) -> String {
    let metric = &figure.metric;
    let is_as_everywhere = metric.name.starts_with("iops") || metric.better == Better::Neither;
    match figure.value.is_bounded() && !figure.is_indicative && !is_as_everywhere {
        true => estimated(metric.unit, figure.value).0,
        false => value(figure),
    }
}

/// A value as columns have it; a change that has an interval with half of it.
pub(super) fn value(figure: &Figure) -> String {
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
