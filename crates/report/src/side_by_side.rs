//! Targets side by side: each compared with the first, figure by figure, and the limits on changes.

use results::{
    Better, Run, Study, StudyCell, StudyComparison, StudyFigure, StudyScale, StudyVerdict, Unit,
};
use stats::{Estimate, PAIRS_MIN};
use units::{format_counted, format_interval_count};

use crate::check_up::header;
use crate::figure::estimated;
use crate::page::Page;
use crate::picture::ratios::{RatioLine, Sense, ratios_svg};
use crate::ratio_strip::{is_known, strips};
use crate::style::{Style, Tone};
use crate::table::{Align, Table};
use crate::verdicts::{goals, limits};
use crate::warnings;

/// A sentence names no more figures.
const NAMES_MAX: usize = 7;
/// Rows of figures that a screen has for all targets together, and at least for each.
const ROWS: usize = 6;
const ROWS_LEAST: usize = 2;
/// Smaller ratios are written as fractions, as in `1/150 of the IOPS`.
const SMALL: f64 = 0.1;
/// The percentile that a sentence cites.
const LATE: &str = "p99";

/// What a comparison means for a user.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Better,
    Worse,
    Differs,
    Same,
    NotShown,
    /// Fewer rounds than a difference needs have the figure.
    TooFew,
}

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
    limits(&mut page, study);
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
            let meaning = meaning(it, figure);
            Some(Side {
                level: &it.level,
                figure,
                base: base.value,
                ratio: it.value,
                sense: meaning.sense(),
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

/// What a comparison found of each target against the first, in a sentence each.
pub(crate) fn answers(run: &Run) -> Vec<String> {
    let study = run.study.as_ref();
    let study = study.filter(|_| run.settings.command == "compare");
    let cells = study.and_then(|study| Some((study, study.cells.split_first()?)));
    let Some((study, (base, others))) = cells else {
        return Vec::new();
    };
    let answer = |other: &StudyCell| {
        let found = verdict(study, base, other);
        format!(
            "{} against {}: {}",
            name(other),
            name(base),
            in_a_sentence(&found)
        )
    };
    others.iter().map(answer).collect()
}

/// A sentence after a colon; abbreviations keep their capitals.
fn in_a_sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next();
    let is_word = letters.clone().next().is_some_and(|it| it.is_lowercase());
    match first {
        Some(first) if is_word => format!("{}{}", first.to_lowercase(), letters.as_str()),
        _ => text.to_owned(),
    }
}

/// What a comparison found of its second target, in a few words: for lists.
pub(crate) fn headline(run: &Run) -> Option<String> {
    let study = run.study.as_ref();
    let study = study.filter(|_| run.settings.command == "compare")?;
    let (base, others) = study.cells.split_first()?;
    let other = others.first()?;
    let found = verdict(study, base, other);
    // What is said of the slowest of a hundred, where something is.
    let mut parts = found.split("; ").flat_map(|it| it.split(" (").take(1));
    let at = format!("at {LATE}");
    let late = parts.clone().find(|it| it.contains(&at));
    let told = late.or(parts.next()).unwrap_or_default();
    Some(format!("{}: {}", name(other), told.trim_end_matches('.')))
}

fn name(target: &StudyCell) -> &str {
    target.levels.first().map_or("", String::as_str)
}

/// The comparisons of a target.
fn compared<'a>(study: &'a Study, target: &StudyCell) -> Vec<&'a StudyComparison> {
    let found = study.comparisons.iter();
    found.filter(|it| it.level == name(target)).collect()
}

/// What was found of a target against the first, in a sentence.
fn verdict(study: &Study, base: &StudyCell, other: &StudyCell) -> String {
    let found = compared(study, other);
    if found.iter().any(|it| it.is_enough()) {
        return in_words(study, other, &found);
    }
    let usable = |cell: &StudyCell| cell.usable.unwrap_or(cell.replicates);
    let counts: Vec<String> = [other, base]
        .into_iter()
        .filter(|it| usable(it) < it.replicates)
        .map(|it| format!("{} of {}", usable(it), name(it)))
        .collect();
    let counts = if counts.is_empty() {
        String::new()
    } else {
        format!(" ({} count)", counts.join(" and "))
    };
    format!("Fewer than {PAIRS_MIN} complete rounds{counts}: no difference is claimed.")
}

fn pair(page: &mut Page<'_>, study: &Study, (base, other): (&StudyCell, &StudyCell), pairs: usize) {
    let found = compared(study, other);
    let title = format!("{} against {}", name(other), name(base));
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
    let meaning = compared.map(|it| meaning(it, figure));
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
    (meaning.map_or(Tone::Plain, Meaning::tone), cells)
}

fn meaning(compared: &StudyComparison, figure: &StudyFigure) -> Meaning {
    match (compared.verdict, figure.better) {
        _ if !compared.is_enough() => Meaning::TooFew,
        (StudyVerdict::Same, _) => Meaning::Same,
        (StudyVerdict::NotShown, _) => Meaning::NotShown,
        (StudyVerdict::Higher | StudyVerdict::Lower, Better::Neither) => Meaning::Differs,
        (StudyVerdict::Higher, Better::Higher) | (StudyVerdict::Lower, Better::Lower) => {
            Meaning::Better
        }
        (StudyVerdict::Higher, Better::Lower) | (StudyVerdict::Lower, Better::Higher) => {
            Meaning::Worse
        }
    }
}

impl Meaning {
    const fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Differs => "differs",
            Self::Same => "the same",
            Self::NotShown => "not shown",
            Self::TooFew => "too few rounds",
        }
    }

    const fn sense(self) -> Sense {
        match self {
            Self::Better => Sense::Better,
            Self::Worse => Sense::Worse,
            Self::Differs | Self::Same | Self::NotShown | Self::TooFew => Sense::Neither,
        }
    }

    const fn tone(self) -> Tone {
        match self {
            Self::Better => Tone::Strong,
            Self::Worse => Tone::Bad,
            Self::Differs | Self::Same | Self::NotShown | Self::TooFew => Tone::Plain,
        }
    }
}

/// What is better and what is worse, by which factor, and where no difference was shown.
pub(crate) fn in_words(study: &Study, other: &StudyCell, found: &[&StudyComparison]) -> String {
    let with = |wanted: Meaning| {
        let figures = other.figures.iter().filter_map(|figure| {
            let compared = found.iter().find(|it| it.reading == figure.reading)?;
            (meaning(compared, figure) == wanted).then_some((figure, *compared))
        });
        figures.collect::<Vec<_>>()
    };
    let same = format!("no difference above {} % in", study.margin * 100.0);
    let shown = format!("no difference above {} % shown in", study.margin * 100.0);
    let parts = [
        ("", Meaning::Better),
        ("", Meaning::Worse),
        ("different in", Meaning::Differs),
        (&same, Meaning::Same),
        (&shown, Meaning::NotShown),
        ("too few rounds to compare", Meaning::TooFew),
    ];
    let parts = parts.map(|(words, meaning)| {
        let figures = with(meaning);
        let text = match meaning {
            Meaning::Better | Meaning::Worse => by_how_much(&figures, meaning),
            _ => names(&figures),
        };
        (words, text)
    });
    let parts = parts.into_iter().filter(|(_, text)| !text.is_empty());
    let parts: Vec<String> = parts
        .map(|(words, text)| format!("{words} {text}").trim_start().to_owned())
        .collect();
    match parts.join("; ") {
        none if none.is_empty() => {
            format!("Too few rounds to compare: a difference needs {PAIRS_MIN} of both.")
        }
        text => {
            let mut letters = text.chars();
            let first = letters.next().map(|it| it.to_uppercase().to_string());
            format!("{}{}.", first.unwrap_or_default(), letters.as_str())
        }
    }
}

/// Names in a sentence; of many the first ones, since the table has all of them.
fn names(figures: &[(&StudyFigure, &StudyComparison)]) -> String {
    let names = figures.iter().map(|(figure, _)| spoken(&figure.reading));
    let mut names: Vec<String> = names.collect();
    if names.len() > NAMES_MAX {
        let more = names.len() - NAMES_MAX + 1;
        names.truncate(NAMES_MAX - 1);
        return format!("{} and {more} other figures", names.join(", "));
    }
    names.join(", ")
}

/// A figure as an engineer says it: `IOPS`, `p99`, `mean latency`.
fn spoken(name: &str) -> String {
    let begins_with_letter = |text: &str| text.starts_with(|it: char| it.is_ascii_alphabetic());
    // The dot of `latency-p99.9` separates nothing.
    let (row, last) = name
        .rmatch_indices('.')
        .map(|(at, _)| (&name[..at], &name[at + 1..]))
        .find(|(_, last)| begins_with_letter(last))
        .unwrap_or(("", name));
    let said = match last {
        "iops" => "IOPS".to_owned(),
        "latency" => "mean latency".to_owned(),
        _ => last.strip_prefix("latency-").unwrap_or(last).to_owned(),
    };
    match row {
        "" => said,
        row => format!("{said} of {row}"),
    }
}

/// The factors of the first figure and of a late percentile, then the names of the others.
fn by_how_much(figures: &[(&StudyFigure, &StudyComparison)], meaning: Meaning) -> String {
    let late = figures
        .iter()
        .rposition(|(it, _)| it.reading.ends_with(LATE));
    let is_cited = |place: usize| place == 0 || Some(place) == late;
    let (mut parts, mut rest) = (Vec::new(), Vec::new());
    for (place, pair @ (figure, compared)) in figures.iter().enumerate() {
        match factor(figure, compared).filter(|_| is_cited(place)) {
            Some(text) => parts.push(text),
            None => rest.push(*pair),
        }
    }
    let (rest, word) = (names(&rest), meaning.word());
    match (parts.is_empty(), rest.is_empty()) {
        (true, true) => String::new(),
        (true, false) => format!("{word} in {rest}"),
        (false, true) => parts.join(", "),
        (false, false) => format!("{} ({word} in {rest}, too)", parts.join(", ")),
    }
}

/// `1.4 to 1.6 times slower at p99`, `1.2 to 1.5 times the IOPS`.
fn factor(figure: &StudyFigure, compared: &StudyComparison) -> Option<String> {
    let ratio = compared.value;
    if compared.scale != StudyScale::Ratio || !ratio.is_bounded() || ratio.low <= 0.0 {
        return None;
    }
    let name = spoken(&figure.reading);
    let preposition = if name.starts_with('p') { "at" } else { "in" };
    let span = |value, low, high| {
        let interval = format_interval_count(value, low, high).1;
        match interval.split_once(" .. ") {
            Some((low, high)) if low == high => low.to_owned(),
            _ => interval.replace("..", "to"),
        }
    };
    let above = span(ratio.value, ratio.low, ratio.high);
    Some(match (figure.better, ratio.value > 1.0) {
        (Better::Lower, true) if figure.unit == Unit::Seconds => {
            format!("{above} times slower {preposition} {name}")
        }
        (Better::Lower, false) if figure.unit == Unit::Seconds => {
            let inverse = span(1.0 / ratio.value, 1.0 / ratio.high, 1.0 / ratio.low);
            format!("{inverse} times faster {preposition} {name}")
        }
        _ if ratio.high < SMALL => {
            let inverse = span(1.0 / ratio.value, 1.0 / ratio.high, 1.0 / ratio.low);
            let parts: Vec<String> = inverse.rsplit(" to ").map(|it| format!("1/{it}")).collect();
            format!("{} of the {name}", parts.join(" to "))
        }
        _ => format!("{above} times the {name}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `latency-p99.9` was read as the reading `9` of a row `latency-p99`.
    #[test]
    fn figures_have_the_names_that_engineers_use() {
        let check = |name: &str, expected: &str| assert_eq!(spoken(name), expected);
        check("iops", "IOPS");
        check("latency", "mean latency");
        check("latency-p99.9", "p99.9");
        check("random-read.iops", "IOPS of random-read");
        check("random-read.latency-p99.9", "p99.9 of random-read");
    }
}
