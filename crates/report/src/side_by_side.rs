//! Targets side by side: each compared with the first, figure by figure, and the limits on changes.

use procedure::study::{Meaning, comparisons_of, target_compared, target_name};
use results::{Run, Study, StudyCell, StudyComparison, StudyFigure, StudyScale};
use stats::Estimate;
use units::{format_counted, format_interval_count};

use crate::check_up::header;
use crate::figure::estimated;
use crate::page::Page;
use crate::plot::strip::{RatioLine, Sense, ratios_svg};
use crate::plot::strip::{is_known, strips};
use crate::style::{Style, Tone};
use crate::table::{Align, Table};
use crate::verdicts::goals;
use crate::warnings;

/// Rows of figures that a screen has for all targets together, and at least for each.
const ROWS: usize = 6;
const ROWS_LEAST: usize = 2;
/// The percentile that a sentence cites.
const LATE: &str = "p99";

/// The targets of `seekstone compare`, each against the first.
#[must_use]
pub fn side_by_side(run: &Run, style: &Style) -> String {
    let mut page = Page::new(style);
    header(&mut page, run);
    let Some(study) = &run.study else {
        return page.finish();
    };
    let (base, others) = match study.cells.split_first() {
        Some((base, others)) => (base, others),
        None => return page.finish(),
    };
    for other in others {
        page.blank();
        pair(&mut page, study, (base, other), others.len());
    }
    goals(&mut page, run);
    page.blank();
    // A round that was cut off has not each target.
    let rounds = study.cells.iter().map(|it| it.replicates).min();
    let rounds = format_counted(rounds.unwrap_or(0).into(), "round");
    page.paragraph(
        Tone::Quiet,
        &format!(
            "{rounds} in random order, each target once a round. Means over the rounds; the \
             intervals of ratios hold for all comparisons together with 95 %. A difference below \
             {} % counts as none.",
            study.margin * 100.0
        ),
    );
    warnings::section(&mut page, run);
    page.finish()
}

/// A figure of a target over that of the first, and what it means.
pub(crate) struct Side<'a> {
    /// The target.
    pub level: &'a str,
    pub figure: &'a StudyFigure,
    pub base: Estimate,
    pub ratio: Estimate,
    pub sense: Sense,
    pub word: &'static str,
}

/// Every figure that is compared as a ratio, target by target.
pub(crate) fn sides(study: &Study) -> Vec<Side<'_>> {
    let Some((base, others)) = study.cells.split_first() else {
        return Vec::new();
    };
    let ratios = study.comparisons.iter();
    let found = ratios
        .filter(|it| it.scale == StudyScale::Ratio)
        .filter_map(|it| {
            let is_of = |cell: &&StudyCell| cell.levels.first() == Some(&it.level);
            let of = |cell: &'_ StudyCell| {
                let mut figures = cell.figures.iter();
                figures.position(|figure| figure.reading == it.reading)
            };
            let other = others.iter().find(is_of)?;
            let figure = &other.figures[of(other)?];
            let base = &base.figures[of(base)?];
            let meaning = Meaning::of(it, figure);
            Some(Side {
                level: &it.level,
                figure,
                base: base.value,
                ratio: it.value,
                sense: sense(meaning),
                word: meaning.word(),
            })
        });
    found.collect()
}

/// The targets of `seekstone compare` as a picture: each figure over that of the first target.
/// `None` where no ratio was found.
#[must_use]
pub fn sides_svg(run: &Run) -> Option<String> {
    let study = run.study.as_ref()?;
    let sides = sides(study);
    let base = study.cells.first()?.levels.first()?;
    let is_one = sides.iter().all(|it| it.level == sides[0].level);
    let lines: Vec<RatioLine> = sides
        .iter()
        .map(|it| RatioLine {
            label: match is_one {
                true => it.figure.reading.clone(),
                false => format!("{}: {}", it.level, it.figure.reading),
            },
            ratio: it.ratio,
            sense: it.sense,
            word: it.word.to_owned(),
        })
        .collect();
    let title = match sides.first()? {
        first if is_one => format!("{} over {base}", first.level),
        _ => format!("targets over {base}"),
    };
    let note = "Geometric means over the rounds; the intervals hold together with 95 %.";
    Some(ratios_svg(&title, note, &lines))
}

/// What a comparison found of its second target, in a few words: for lists.
pub(crate) fn headline(run: &Run) -> Option<String> {
    let study = run.study.as_ref();
    let study = study.filter(|_| run.settings.command == "compare")?;
    let (base, others) = study.cells.split_first()?;
    let other = others.first()?;
    let found = target_compared(study, base, other);
    // What is said of the slowest of a hundred, where something is.
    let mut parts = found.split("; ").flat_map(|it| it.split(" (").take(1));
    let at = format!("at {LATE}");
    let late = parts.clone().find(|it| it.contains(&at));
    let told = late.or(parts.next()).unwrap_or_default();
    Some(format!(
        "{}: {}",
        target_name(other),
        told.trim_end_matches('.')
    ))
}

fn pair(page: &mut Page<'_>, study: &Study, (base, other): (&StudyCell, &StudyCell), pairs: usize) {
    let found = comparisons_of(study, other);
    let title = format!("{} against {}", target_name(other), target_name(base));
    // Of one pair, the first sentence says which targets these are.
    if pairs > 1 {
        page.paragraph(Tone::Strong, &title);
    }
    let mut table = Table::new(&[
        ("figure", Align::Left, 9),
        ("base", Align::Right, 9),
        ("this", Align::Right, 9),
        ("ratio", Align::Right, 9),
        ("95 % CI", Align::Left, 8),
        ("around 1", Align::Left, 7),
        ("", Align::Left, 9),
    ]);
    let most = match page.style.all || pairs == 1 {
        true => usize::MAX,
        false => (ROWS / pairs).max(ROWS_LEAST),
    };
    let shown = || other.figures.iter().take(most);
    let of = |figure: &StudyFigure| {
        let mut all = found.iter();
        all.find(|it| it.reading == figure.reading).copied()
    };
    let ratio = |figure| of(figure).filter(|it| it.scale == StudyScale::Ratio);
    let ratios: Vec<_> = shown().map(|it| ratio(it).map(|it| it.value)).collect();
    let strips = strips(&ratios, page.style.unicode);
    for (figure, strip) in shown().zip(strips) {
        let of_base = base.figures.iter().find(|it| it.reading == figure.reading);
        let (tone, cells) = row(figure, of_base, of(figure), strip);
        table.row(tone, cells);
    }
    page.table(&table);
    let left_out = other.figures.len().saturating_sub(most);
    if left_out > 0 {
        let more = format!("{left_out} more figures: --all shows them");
        page.paragraph(Tone::Quiet, &more);
    }
}

fn row(
    figure: &StudyFigure,
    base: Option<&StudyFigure>,
    compared: Option<&StudyComparison>,
    strip: String,
) -> (Tone, [String; 7]) {
    let value = |it: &StudyFigure| estimated(it.unit, it.value).0;
    let meaning = compared.map(|it| Meaning::of(it, figure));
    let (ratio, interval) = match compared {
        Some(it) if it.scale == StudyScale::Ratio && it.value.is_bounded() => {
            let Estimate {
                value, low, high, ..
            } = it.value;
            match is_known(it.value) {
                true => format_interval_count(value, low, high),
                false => (format!("{value:.2}"), "unknown".into()),
            }
        }
        Some(it) if it.scale == StudyScale::Difference && it.value.is_bounded() => {
            let (value, interval) = estimated(it.unit, it.value);
            (format!("{value} more"), interval)
        }
        _ => (String::new(), String::new()),
    };
    let cells = [
        figure.reading.clone(),
        base.map_or_else(String::new, value),
        value(figure),
        ratio,
        interval,
        strip,
        meaning.map_or("", Meaning::word).to_owned(),
    ];
    (meaning.map_or(Tone::Plain, tone), cells)
}

const fn sense(meaning: Meaning) -> Sense {
    match meaning {
        Meaning::Better => Sense::Better,
        Meaning::Worse => Sense::Worse,
        Meaning::Differs | Meaning::Same | Meaning::NotShown | Meaning::TooFew => Sense::Neither,
    }
}

const fn tone(meaning: Meaning) -> Tone {
    match meaning {
        Meaning::Better => Tone::Strong,
        Meaning::Worse => Tone::Bad,
        Meaning::Differs | Meaning::Same | Meaning::NotShown | Meaning::TooFew => Tone::Plain,
    }
}
