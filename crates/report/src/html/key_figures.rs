//! The few figures that a page begins with: of one row its main figures, else the headlines of the
//! rows that matter most. Rows that cannot be relied on are shown only where no other is there.

use results::{Figure, Row, Run, Table, Trust, Unit};

use units::format_counted;

use crate::figure::{QUOTED, subject};
use crate::markup::{Printed, escaped, in_print};
use crate::names::{metric_words, words};

/// So many have space in one line.
const SHOWN: usize = 4;
/// Figures of a run with one row, where it has them; the rest follow.
const OF_ONE_ROW: [&str; 4] = ["iops", "latency", "latency-p99", "latency-max"];
/// What may stand below the headline of a row: its rate, and the first of these that is firm.
const TAILS: [&str; 3] = ["latency-p99", "latency-p95", "latency-p50"];

/// As a list; empty where nothing can be shown.
pub(super) fn all(run: &Run, tables: &[Table]) -> String {
    let rows = rows(run, tables);
    let shown: Vec<String> = match rows.as_slice() {
        [] => return String::new(),
        [(_, row)] if run.curve().is_none() => {
            let named = OF_ONE_ROW.iter().filter_map(|name| row.figure(name));
            let others = row.figures.iter().filter(|it| !it.is_detail());
            let others = others.filter(|it| !OF_ONE_ROW.contains(&it.metric.name.as_str()));
            let known = named.chain(others).filter(|it| is_known(it)).take(SHOWN);
            known.map(|it| key(row, "", it, "")).collect()
        }
        rows => {
            let rows = rows.iter().take(SHOWN).filter_map(|(table, row)| {
                let head = row.headline()?;
                let below = [row.figure("iops"), tail(row)].into_iter().flatten();
                let below = below.filter(|it| it.metric.name != head.metric.name && is_known(it));
                let below = below.map(|it| format!("{} {}", value(it), metric(it)));
                let below = below.collect::<Vec<String>>().join(", ");
                Some(key(row, &name(run, table, row), head, &below))
            });
            rows.collect()
        }
    };
    format!("<ul class=\"keyfigures\">\n{}</ul>\n", shown.concat())
}

/// The rows that can be shown, the most important first: levels of a load curve, what lists of
/// runs quote, all others.
fn rows<'a>(run: &Run, all_tables: &'a [Table]) -> Vec<(&'a Table, &'a Row)> {
    let tables = all_tables
        .iter()
        .filter(|it| !it.are_steps && !it.is_points());
    // Without trials and load curves the first table is what the run is about.
    let is_of_trials = !run.measurements.is_empty() || run.curve().is_some();
    let tables = tables.take(if is_of_trials { usize::MAX } else { 1 });
    let all = tables.flat_map(|table| {
        let are_listed = table.rows.iter().any(|row| row.is_listed);
        let rows = table.rows.iter();
        let rows = rows.filter(move |row| row.is_listed || !are_listed);
        rows.map(move |row| (table, row))
    });
    let is_shown = |(_, row): &(&Table, &Row)| {
        row.trust != Trust::Invalid && row.headline().is_some_and(is_known)
    };
    let mut rows: Vec<(&Table, &Row)> = all.filter(is_shown).collect();
    let place = |(_, row): &(&Table, &Row)| {
        let first = row.levels.first();
        QUOTED
            .iter()
            .position(|it| first.is_some_and(|name| name == it))
    };
    let last_level = rows.iter().rposition(|(table, row)| {
        let head = row.headline();
        table.is_levels() && head.is_some_and(|it| it.value.is_bounded())
    });
    let last_level = last_level.map(|at| rows.remove(at));
    if rows.iter().any(|it| place(it).is_some()) {
        rows.retain(|it| place(it).is_some());
    } else if rows.iter().any(|(_, row)| row.trust == Trust::Reliable) {
        rows.retain(|(_, row)| row.trust == Trust::Reliable);
    }
    if let Some((table, _)) = rows.first() {
        let order = match run.note {
            Some(_) => table.best_first(),
            None => table.ranked(),
        };
        let rank = |row: &Row| order.iter().position(|it| std::ptr::eq(*it, row));
        rows.sort_by_key(|it| (place(it), rank(it.1)));
    }
    // A load curve has few of these: its points say what latency goes with a load.
    let points = all_tables
        .iter()
        .filter(|it| it.is_points() && run.measurements.is_empty());
    let points = points.flat_map(|table| table.rows.iter().map(move |row| (table, row)));
    let points = points.filter(|it| is_shown(it) && it.1.trust == Trust::Reliable);
    last_level.into_iter().chain(rows).chain(points).collect()
}

fn is_known(figure: &Figure) -> bool {
    figure.value.value.is_finite()
}

/// What a row is about.
fn name(run: &Run, table: &Table, row: &Row) -> String {
    let name = table.row_name(row);
    match run.measurement(&name) {
        Some(it) if !it.title.is_empty() => it.title.clone(),
        _ if table.is_levels() => {
            let level = row.levels.first().map_or("", String::as_str);
            let title = run.curve().map_or("", |it| it.title.as_str());
            format!("{title} at {}", in_print(&level_with_unit(level)))
        }
        _ if row.levels.is_empty() => match run.curve().and_then(|it| it.saturation) {
            Some(top) if name == "saturation" && !top.is_saturated => {
                "highest load so far".to_owned()
            }
            _ => words(&name),
        },
        _ if table.is_points() => match name.parse() {
            Ok(clients) => format_counted(clients, "client"),
            Err(_) => words(&name),
        },
        // The name of a target may have the sign, too.
        _ => table
            .factors
            .iter()
            .fold(subject(table, row), |name, factor| {
                name.replace(&format!("{factor}="), &format!("{factor} "))
            }),
    }
}

/// A level as it is typed, as a time: `200us@p99` is `200 us p99`.
fn level_with_unit(level: &str) -> String {
    let digits = level.len() - level.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = level.split_at(digits);
    let unit = match unit.split_once('@') {
        Some((unit, percentile)) => format!("{unit} {percentile}"),
        None => format!("{unit} mean"),
    };
    format!("{number} {unit}")
}

fn metric(figure: &Figure) -> String {
    metric_words(&figure.metric.name)
}

/// The p99, or where too few operations lie beyond it the highest percentile below that has enough.
fn tail(row: &Row) -> Option<&Figure> {
    let known = TAILS.iter().filter_map(|name| row.figure(name));
    let known: Vec<&Figure> = known.filter(|it| is_known(it)).collect();
    let firm = known.iter().find(|it| !it.is_indicative);
    firm.or(known.first()).copied()
}

/// Every rate says of what, and once that it is one.
fn value(figure: &Figure) -> String {
    let printed = Printed::of(figure).value;
    let mut rates = ["iops", "per-second"].into_iter();
    let is_named = rates.any(|it| figure.metric.name.ends_with(it));
    match figure.metric.unit {
        Unit::PerSecond if is_named => printed.replace("/s", ""),
        _ => printed,
    }
}

fn key(row: &Row, label: &str, figure: &Figure, below: &str) -> String {
    let (trust, interval) = (row.trust.name(), Printed::of(figure).interval);
    let mark = match row.trust {
        Trust::Reliable => String::new(),
        _ => format!(" <span class=\"t {trust}\">{trust}</span>"),
    };
    let small = [interval.as_str(), below]
        .into_iter()
        .filter(|it| !it.is_empty());
    let small: Vec<String> = small
        .map(|it| format!("<small>{}</small>", escaped(it)))
        .collect();
    format!(
        "<li><span>{}</span><b>{}</b> <i>{}</i>{mark}{}</li>\n",
        escaped(label),
        escaped(&value(figure)),
        escaped(&metric(figure)),
        small.concat()
    )
}
