//! What can be said of studies: of a single combination its readings, of several which level is
//! best, of targets side by side what was found of each.

use results::{
    Better, Row, Run, Study, StudyCell, StudyComparison, StudyFactor, StudyFigure, Unit, known,
};

use super::{Candidates, Statement};
use crate::study::{Meaning, spoken, targets_compared};

/// Readings that a sentence has space for.
const READINGS: usize = 2;

pub(super) fn answer<'a>(run: &Run, study: &Study, rows: &'a [Row]) -> Candidates<'a> {
    if run.settings.command == "compare" {
        return Candidates {
            between: ". ",
            ..Candidates::of(compared(study, rows), usize::MAX).beginning_with_name()
        };
    }
    match readings_or_best(study, rows) {
        said if said.is_empty() => {
            Candidates::of([conclusion(study, rows)], 1).beginning_with_name()
        }
        said => Candidates::of(said, READINGS),
    }
}

/// Each target against the first.
fn compared<'a>(study: &Study, rows: &'a [Row]) -> Vec<Statement<'a>> {
    let Some((base, others)) = rows.split_first() else {
        return Vec::new();
    };
    let said = targets_compared(study)
        .into_iter()
        .zip(others)
        .map(|(text, row)| {
            let of_target = |it: &&StudyComparison| row.levels.first() == Some(&it.level);
            let mut found = study.comparisons.iter().filter(of_target);
            let is_claim = found.any(StudyComparison::is_enough);
            let text = Some(text.trim_end_matches('.').to_owned());
            match is_claim {
                true => Statement::quoting(vec![base, row], text),
                false => Statement::without_figures(vec![base, row], text),
            }
        });
    said.collect()
}

/// The readings of a single combination; of several levels the best ones, where some are better.
fn readings_or_best<'a>(study: &Study, rows: &'a [Row]) -> Vec<Statement<'a>> {
    if let [cell] = study.cells.as_slice() {
        return readings(cell, rows);
    }
    let mut varied = study.factors.iter().filter(|it| it.levels.len() > 1);
    match (varied.next(), varied.next()) {
        (Some(factor), None) => best_levels(study, factor, &with_figures(rows)),
        _ => Vec::new(),
    }
}

/// The first conclusion that is none about others.
fn conclusion<'a>(study: &Study, rows: &'a [Row]) -> Statement<'a> {
    let mut conclusions = study.conclusions.iter();
    let first = conclusions.find(|it| it.ends_with('.'));
    let first = first.map(|it| it.trim_end_matches('.').to_owned());
    let rows = with_figures(rows);
    match study.comparisons.iter().any(StudyComparison::is_enough) {
        true => Statement::quoting(rows, first),
        false => Statement::without_figures(rows, first),
    }
}

/// Nothing is said of a combination without figures, unless there is no other.
fn with_figures(rows: &[Row]) -> Vec<&Row> {
    let known: Vec<&Row> = rows.iter().filter(|it| it.trust.is_usable()).collect();
    match known.is_empty() {
        true => rows.iter().collect(),
        false => known,
    }
}

/// The first reading that tells better from worse, then the first in another unit that storage is
/// judged by, then the others like them.
fn readings<'a>(cell: &StudyCell, rows: &'a [Row]) -> Vec<Statement<'a>> {
    let mut told: Vec<&StudyFigure> = cell.figures.iter().collect();
    told.retain(|it| it.better != Better::Neither);
    let first = told.first().map(|it| it.unit);
    let is_other = |it: &&StudyFigure| Some(it.unit) != first && is_main(it.unit);
    if let Some(other) = told.iter().position(is_other) {
        told[1..=other].rotate_right(1);
    }
    told.retain(|it| Some(it.unit) == first || is_main(it.unit));
    let said = told.into_iter().map(|it| {
        // An interval down to nothing says nothing.
        let is_known = it.value.is_bounded() && it.value.low > 0.0;
        let has_one_mean = is_known && it.two_kinds.is_none() && it.drift.is_none();
        Statement::quoting(rows.iter().collect(), has_one_mean.then(|| reading(it)))
    });
    said.collect()
}

/// Whether storage is judged by readings of that unit.
const fn is_main(unit: Unit) -> bool {
    matches!(unit, Unit::Seconds | Unit::BytesPerSecond | Unit::PerSecond)
}

/// `mean latency 697 us (690 .. 704)`.
fn reading(figure: &StudyFigure) -> String {
    format!(
        "{} {}",
        spoken(&figure.reading),
        known(figure.unit, figure.value)
    )
}

/// The best level of the first readings, where it differs from another one.
fn best_levels<'a>(study: &Study, factor: &StudyFactor, rows: &[&'a Row]) -> Vec<Statement<'a>> {
    let Some(place) = study.factors.iter().position(|it| it.name == factor.name) else {
        return Vec::new();
    };
    let names = study.cells.iter().flat_map(|cell| &cell.figures);
    let mut readings: Vec<&str> = Vec::new();
    let is_told = |it: &&StudyFigure| {
        it.better != Better::Neither && it.value.is_bounded() && is_main(it.unit)
    };
    for figure in names.filter(is_told) {
        if !readings.contains(&figure.reading.as_str()) {
            readings.push(&figure.reading);
        }
    }
    let said = readings.into_iter().filter_map(|reading| {
        let text = best_level(study, place, reading)?;
        Some(Statement::quoting(rows.to_vec(), Some(text)))
    });
    said.collect()
}

/// `best write rate with record 64KiB: 637 MB/s (595 .. 679)`, and the levels that are not shown
/// to be worse.
fn best_level(study: &Study, place: usize, reading: &str) -> Option<String> {
    let of = |cell: &'_ StudyCell| {
        let figure = cell.figures.iter().position(|it| it.reading == reading)?;
        cell.figures[figure].value.is_bounded().then_some(figure)
    };
    let cells = study
        .cells
        .iter()
        .filter_map(|cell| Some((cell, &cell.figures[of(cell)?])));
    let better = |a: &StudyFigure, b: &StudyFigure| match a.better {
        Better::Lower => b.value.value.total_cmp(&a.value.value),
        Better::Higher | Better::Neither => a.value.value.total_cmp(&b.value.value),
    };
    let (best, figure) = cells.clone().max_by(|a, b| better(a.1, b.1))?;
    let level = &best.levels[place];
    let others = cells.filter(|(cell, _)| cell.levels[place] != *level);
    let (mut worse, mut open) = (0, Vec::new());
    for (cell, _) in others {
        match is_better(study, reading, level, &cell.levels[place], figure) {
            true => worse += 1,
            false => open.push(cell.levels[place].as_str()),
        }
    }
    let name = &study.factors[place].name;
    let open = match open.as_slice() {
        _ if worse == 0 => return None,
        [] => String::new(),
        open => format!(", not shown to differ from {}", open.join(", ")),
    };
    let (value, reading) = (known(figure.unit, figure.value), spoken(reading));
    let what = match (figure.better, figure.unit) {
        (Better::Lower, Unit::Seconds) => "shortest",
        (Better::Lower, _) => "lowest",
        _ => "highest",
    };
    Some(format!(
        "{what} {reading} with {name} {level}: {value}{open}"
    ))
}

/// Whether a comparison shows that `level` is better than `other`; or two do, by a third.
fn is_better(study: &Study, reading: &str, level: &str, other: &str, figure: &StudyFigure) -> bool {
    let of_reading = || study.comparisons.iter().filter(|it| it.reading == reading);
    let means = |a: &str, b: &str, wanted: Meaning, turned: Meaning| {
        let shows = |it: &StudyComparison| {
            let meaning = Meaning::of(it, figure);
            let is_this = it.level == a && it.against == b && meaning == wanted;
            is_this || it.level == b && it.against == a && meaning == turned
        };
        of_reading().any(shows)
    };
    let direct = |a: &str, b: &str| means(a, b, Meaning::Better, Meaning::Worse);
    let is_as_good = |a: &str, b: &str| direct(a, b) || means(a, b, Meaning::Same, Meaning::Same);
    let by_third =
        |it: &StudyComparison| is_as_good(level, &it.against) && direct(&it.against, other);
    direct(level, other) || of_reading().any(by_third)
}
