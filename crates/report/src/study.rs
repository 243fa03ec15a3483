//! A study as its note: test environment, results, conclusions.

use std::borrow::Cow;

use results::{Study, StudyCell, StudyFigure, Unit};
use units::format_counted;

use crate::figure::estimated;
use crate::list::moment;
use crate::page::Page;
use crate::style::Tone;
use crate::table::{Align, Table};
use crate::target;

/// Columns between the border of the page and the text of a section.
const INDENT: usize = 2;
/// Columns between two cells.
const GAP: usize = 2;
/// The most bins of a distribution.
const BINS_MAX: f64 = 12.0;
/// Values that differ by more than this factor have bins of 1, 2, 5, 10.
const DECADE: f64 = 10.0;
/// The most stars of a bin.
const STARS_MAX: usize = 50;
/// Distributions of so many combinations are shown; all are in the exported replicates.
const DISTRIBUTIONS_MAX: usize = 8;
/// So many figures are named that have replicates far from the others.
const OUTLIERS_MAX: usize = 4;
/// Fewer values are no distribution.
const PARTS_MIN: usize = 10;

/// What the interval is, for the legend of tables.
pub(crate) const LEGEND: &str = "Means over the replicates with 95 % intervals of Student's t, \
                                 wider where replicates seem correlated, each on its own; \
                                 conclusions allow for the number of comparisons.";

pub(crate) fn section(page: &mut Page<'_>, study: &Study) {
    page.heading(&study.title);
    page.blank();
    page.heading("Test environment");
    for line in environment(study) {
        page.item(Tone::Plain, "-", &line);
    }
    page.blank();
    page.heading("Results");
    for table in tables(study, page.style.columns() - INDENT) {
        page.table(&table);
    }
    page.paragraph(Tone::Quiet, LEGEND);
    for line in without_one_mean(study).into_iter().chain(outliers(study)) {
        page.paragraph(Tone::Doubtful, &line);
    }
    for (title, lines) in distributions(study) {
        page.blank();
        page.paragraph(Tone::Plain, &title);
        for line in lines {
            page.line(Tone::Plain, &format!("{:INDENT$}{line}", ""));
        }
    }
    if !study.conclusions.is_empty() {
        page.blank();
        page.heading("Conclusions");
        for conclusion in &study.conclusions {
            page.item(Tone::Plain, "-", conclusion);
        }
    }
}

/// What was done, when, and in the user's words where. The machine and the target stand above.
pub(crate) fn environment(study: &Study) -> Vec<String> {
    let mut lines = study.environment.clone();
    let moments: Vec<String> = study.begun_at.iter().map(|it| moment(it)).collect();
    let (first, later) = match moments.split_first() {
        Some((first, later)) => (first.as_str(), later),
        None => ("", [].as_slice()),
    };
    let resumed = match later {
        [] => String::new(),
        later => format!(", resumed {}", later.join(", ")),
    };
    lines.push(format!("Done {first}{resumed}"));
    let settings: Vec<String> = study
        .settings
        .iter()
        .map(|setting| format!("{} {}", setting.key, setting.value))
        .collect();
    let settings = if settings.is_empty() {
        String::new()
    } else {
        format!(": {}", settings.join(", "))
    };
    lines.push(format!("Measurement {}{settings}", study.measurement));
    if study.places.len() > 1 {
        let places = study.places.iter();
        lines.extend(places.map(|it| format!("Measured on {}: {}", it.given, target::mounted(it))));
    }
    let replicates = format_counted(study.replicates.len() as u64, "replicate");
    lines.push(if study.factors.is_empty() {
        replicates
    } else {
        let of_each = of_each(study);
        format!("{replicates}, {of_each} of each combination, in rounds of random order")
    });
    lines
}

/// How many replicates each combination has: `5`, and `4 to 5` where the last round was cut off.
fn of_each(study: &Study) -> String {
    let counts = || study.cells.iter().map(|it| it.replicates);
    let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    if least == most {
        least.to_string()
    } else {
        format!("{least} to {most}")
    }
}

/// Names of the readings, in the order of their first appearance.
pub(crate) fn readings(study: &Study) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for figure in study.cells.iter().flat_map(|cell| &cell.figures) {
        if !names.contains(&figure.reading.as_str()) {
            names.push(&figure.reading);
        }
    }
    names
}

/// A value and its interval in the cell of a table.
pub(crate) fn shown(cell: &StudyCell, reading: &str) -> (String, String) {
    let figure = cell.figures.iter().find(|figure| figure.reading == reading);
    figure.map_or_else(Default::default, |figure| {
        let (value, interval) = with_interval(cell, figure);
        let mark = if figure.outliers.is_empty() { "" } else { "*" };
        (format!("{value}{mark}"), interval)
    })
}

fn with_interval(cell: &StudyCell, figure: &StudyFigure) -> (String, String) {
    let (unit, estimate) = (figure.unit, figure.value);
    let of = match cell.replicates {
        _ if estimate.is_bounded() => return estimated(unit, estimate),
        0 | 1 => "one replicate".to_owned(),
        all => format!("one of {all} replicates"),
    };
    (unit.format(estimate.value), of)
}

/// The results: one row for each combination; readings that do not fit beside each other stand in
/// tables below each other.
fn tables(study: &Study, width: usize) -> Vec<Table> {
    if let ([], [cell]) = (study.factors.as_slice(), study.cells.as_slice()) {
        return vec![single(study, cell)];
    }
    let factors: usize = (0..study.factors.len())
        .map(|factor| {
            let levels = study.factors[factor].levels.iter();
            let widest = levels.map(|level| level.chars().count()).max();
            widest
                .unwrap_or(0)
                .max(study.factors[factor].name.chars().count())
                + GAP
        })
        .sum();
    let mut groups: Vec<Vec<&str>> = Vec::new();
    let mut room = 0;
    for reading in readings(study) {
        let needed = reading_width(study, reading);
        match groups.last_mut() {
            Some(group) if needed <= room => group.push(reading),
            _ => {
                groups.push(vec![reading]);
                room = width.saturating_sub(factors);
            }
        }
        room = room.saturating_sub(needed);
    }
    groups.iter().map(|group| table(study, group)).collect()
}

/// The results of a single cell: one row for each reading.
fn single(study: &Study, cell: &StudyCell) -> Table {
    let columns = [
        (study.measurement.clone().into(), Align::Left, 9),
        ("mean".into(), Align::Right, 9),
        ("95 % interval".into(), Align::Left, 8),
    ];
    let mut table = Table::with_headings(columns.to_vec());
    for reading in readings(study) {
        let (value, interval) = shown(cell, reading);
        table.row(Tone::Plain, [reading.to_owned(), value, interval]);
    }
    table
}

fn reading_width(study: &Study, reading: &str) -> usize {
    let cells = study.cells.iter().map(|cell| shown(cell, reading));
    let (mut value, mut interval) = (reading.chars().count(), "95 % interval".len());
    for (its_value, its_interval) in cells {
        value = value.max(its_value.chars().count());
        interval = interval.max(its_interval.chars().count());
    }
    value + interval + 2 * GAP
}

fn table(study: &Study, readings: &[&str]) -> Table {
    let factors = study.factors.iter();
    let mut columns: Vec<(Cow<'static, str>, Align, u8)> = factors
        .map(|factor| (factor.name.clone().into(), Align::Left, 9))
        .collect();
    for reading in readings {
        columns.push(((*reading).to_owned().into(), Align::Right, 9));
        columns.push(("95 % interval".into(), Align::Left, 8));
    }
    let mut table = Table::with_headings(columns);
    for cell in &study.cells {
        let figures = readings.iter().flat_map(|reading| {
            let (value, interval) = shown(cell, reading);
            [value, interval]
        });
        table.row(Tone::Plain, cell.levels.iter().cloned().chain(figures));
    }
    table
}

/// Replicates that lie far from the others, by name.
pub(crate) fn outliers(study: &Study) -> Vec<String> {
    let mut found = Vec::new();
    for cell in &study.cells {
        for figure in &cell.figures {
            let values: Vec<String> = figure
                .outliers
                .iter()
                .map(|it| format!("{} in round {}", figure.unit.format(it.value), it.round))
                .collect();
            if !values.is_empty() {
                let cell = combination(study, &cell.levels);
                found.push(format!("{}{cell}: {}", figure.reading, values.join(", ")));
            }
        }
    }
    if found.is_empty() {
        return found;
    }
    let left_out = found.len().saturating_sub(OUTLIERS_MAX);
    found.truncate(OUTLIERS_MAX);
    let mut text = found.join("; ");
    if left_out > 0 {
        text.push_str(&format!(
            "; and of {}",
            format_counted(left_out as u64, "other figure")
        ));
    }
    vec![format!(
        "* far from the others of its combination, but counted: {text}"
    )]
}

/// Figures whose replicates have no one mean: they are of two kinds, or move from round to round.
pub(crate) fn without_one_mean(study: &Study) -> Vec<String> {
    let mut found = Vec::new();
    for cell in &study.cells {
        for figure in &cell.figures {
            let of = format!("{}{}", figure.reading, combination(study, &cell.levels));
            let shown = |value: f64| figure.unit.format(value);
            found.extend(figure.two_kinds.map(|it| {
                format!(
                    "{of}: two kinds of replicate, {} and {} ({:.0} % of them): the mean is the \
                     value of neither",
                    shown(it.low),
                    shown(it.high),
                    100.0 * it.high_share
                )
            }));
            found.extend(figure.drift.map(|it| {
                let change = 100.0 * it;
                format!("{of}: {change:+.0} % in later rounds than in earlier ones")
            }));
        }
    }
    found.truncate(OUTLIERS_MAX);
    found
}

/// ` (block 8KiB, mount default)`.
fn combination(study: &Study, levels: &[String]) -> String {
    let words: Vec<String> = study
        .factors
        .iter()
        .zip(levels)
        .map(|(factor, level)| format!("{} {level}", factor.name))
        .collect();
    if words.is_empty() {
        return String::new();
    }
    format!(" ({})", words.join(", "))
}

/// How the single values of times spread, for each combination: a title and lines of stars.
pub(crate) fn distributions(study: &Study) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for cell in &study.cells {
        let times = |figure: &&StudyFigure| figure.unit == Unit::Seconds;
        for figure in cell.figures.iter().filter(times) {
            let replicates = study.replicates.iter();
            let values: Vec<f64> = replicates
                .filter(|replicate| replicate.levels == cell.levels)
                .flat_map(|replicate| &replicate.readings)
                .filter(|reading| reading.name == figure.reading)
                .flat_map(|reading| reading.parts.iter().copied())
                .filter(|value| value.is_finite())
                .collect();
            if values.len() >= PARTS_MIN {
                let title = format!(
                    "Distribution of the {} single values of {}{}, mean {}",
                    values.len(),
                    figure.reading.trim_start_matches("mean "),
                    combination(study, &cell.levels),
                    figure
                        .unit
                        .format(values.iter().sum::<f64>() / values.len() as f64),
                );
                found.push((title, stars(&values, figure.unit)));
            }
        }
    }
    found.truncate(DISTRIBUTIONS_MAX);
    found
}

/// The edges of bins: of a round width, or 1, 2, 5, 10 where values differ by more than a decade,
/// of which bins of one width would put all but the largest into the first.
fn edges(values: &[f64]) -> Vec<f64> {
    let highest = values.iter().copied().fold(f64::MIN, f64::max);
    let lowest = values.iter().copied().fold(f64::MAX, f64::min);
    if lowest > 0.0 && highest / lowest > DECADE {
        let mut edges = vec![round_step_below(lowest)];
        while let Some(&last) = edges.last()
            && last <= highest
        {
            edges.push(round_step(last * 1.01));
        }
        return edges;
    }
    // Bins from zero show how long nothing takes; far from zero they would be empty.
    let from = if lowest < highest / 2.0 { 0.0 } else { lowest };
    let step = round_step((highest - from) / BINS_MAX);
    let first = (from / step).floor();
    let count = ((highest / step).floor() - first) as usize + 1;
    (0..=count).map(|bin| (first + bin as f64) * step).collect()
}

/// Bins, each with its count as a number and as stars.
fn stars(values: &[f64], unit: Unit) -> Vec<String> {
    let edges = edges(values);
    let mut bins = vec![0_usize; edges.len() - 1];
    for value in values {
        let above = edges.partition_point(|edge| edge <= value);
        bins[above.saturating_sub(1).min(edges.len() - 2)] += 1;
    }
    let most = bins.iter().copied().max().unwrap_or(0);
    let each = most.div_ceil(STARS_MAX).max(1);
    let edge = |bin: usize| unit.format(edges[bin]);
    let width = (0..edges.len()).map(|bin| edge(bin).chars().count()).max();
    let width = width.unwrap_or(0);
    let mut lines: Vec<String> = bins
        .iter()
        .enumerate()
        .map(|(bin, &count)| {
            let stars = "*".repeat(count.div_ceil(each));
            format!(
                "{:>width$} to {:>width$} {count:>6} {stars}",
                edge(bin),
                edge(bin + 1)
            )
        })
        .collect();
    if each > 1 {
        lines.push(format!(
            "Each star stands for {each} values, the last one for fewer."
        ));
    }
    lines
}

/// The last of 1, 2, 5, 10 ... that is not above.
fn round_step_below(most: f64) -> f64 {
    let power = 10_f64.powf(most.log10().floor());
    let steps = [5.0, 2.0, 1.0].map(|digit| digit * power);
    let fitting = steps.into_iter().find(|step| *step <= most * 1.000_001);
    fitting.unwrap_or(power)
}

/// The next of 1, 2, 5, 10 ... that is not below.
fn round_step(least: f64) -> f64 {
    if least <= 0.0 {
        return 1e-9;
    }
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power);
    let fitting = steps.into_iter().find(|step| *step >= least * 0.999_999);
    fitting.unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_round_and_hold_every_value() {
        let values: Vec<f64> = (0..91).map(|it| f64::from(it) * 0.97).collect();
        let lines = stars(&values, Unit::Seconds);
        assert_eq!(lines.len(), 9);
        assert_eq!(lines[0].trim(), "0 s to     10.0 s     11 ***********");
        let counts = lines.iter().map(|line| line.matches('*').count());
        assert_eq!(counts.sum::<usize>(), 91);
        // All alike, or one far from zero.
        assert_eq!(stars(&[3.0; 12], Unit::Seconds).len(), 1);
        assert!(stars(&[100.0, 101.0, 103.0], Unit::Seconds).len() <= 13);
    }

    /// 719 of 728 times of a disk were in the first of bins up to its longest.
    #[test]
    fn values_over_decades_have_bins_that_grow() {
        let of_disk = (0..700).map(|it| 0.001 + f64::from(it % 7) * 0.001);
        let values: Vec<f64> = of_disk.chain([0.9, 0.03]).collect();
        let lines = stars(&values, Unit::Seconds);
        let counts: Vec<usize> = lines
            .iter()
            .filter_map(|line| line.split_whitespace().nth(5)?.parse().ok())
            .collect();
        assert_eq!(counts, [100, 300, 300, 0, 1, 0, 0, 0, 1], "{lines:?}");
    }

    #[test]
    fn many_values_share_a_star() {
        let lines = stars(&[1.0; 120], Unit::Seconds);
        assert_eq!(lines[0].matches('*').count(), 40);
        assert!(lines[1].contains("3 values"));
    }
}
