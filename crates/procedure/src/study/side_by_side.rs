//! Targets side by side, in words: what is better, what is worse, and by which factor.

use results::{
    Better, Study, StudyCell, StudyComparison, StudyFigure, StudyScale, StudyVerdict, Unit,
};
use stats::PAIRS_MIN;
use units::format_interval_count;

/// A sentence names no more figures.
const NAMES_MAX: usize = 7;
/// Smaller ratios are written as fractions, as in `1/150 of the IOPS`.
const SMALL: f64 = 0.1;
/// The percentile that a sentence cites.
const LATE: &str = "p99";

/// What a comparison means for a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    Better,
    Worse,
    Differs,
    Same,
    NotShown,
    /// Fewer rounds than a difference needs have the figure.
    TooFew,
}

impl Meaning {
    /// What a comparison of that figure means.
    #[must_use]
    pub fn of(compared: &StudyComparison, figure: &StudyFigure) -> Self {
        match (compared.verdict, figure.better) {
            _ if !compared.is_enough() => Self::TooFew,
            (StudyVerdict::Same, _) => Self::Same,
            (StudyVerdict::NotShown, _) => Self::NotShown,
            (StudyVerdict::Higher | StudyVerdict::Lower, Better::Neither) => Self::Differs,
            (StudyVerdict::Higher, Better::Higher) | (StudyVerdict::Lower, Better::Lower) => {
                Self::Better
            }
            (StudyVerdict::Higher, Better::Lower) | (StudyVerdict::Lower, Better::Higher) => {
                Self::Worse
            }
        }
    }

    /// Its word in reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Differs => "differs",
            Self::Same => "the same",
            Self::NotShown => "not shown",
            Self::TooFew => "too few rounds",
        }
    }
}

/// What was found of each target against the first, in a sentence each.
#[must_use]
pub fn targets_compared(study: &Study) -> Vec<String> {
    let Some((base, others)) = study.cells.split_first() else {
        return Vec::new();
    };
    let answer = |other: &StudyCell| {
        let found = target_compared(study, base, other);
        format!(
            "{} against {}: {}",
            target_name(other),
            target_name(base),
            in_a_sentence(&found)
        )
    };
    others.iter().map(answer).collect()
}

/// A sentence after a colon; abbreviations keep their capitals.
pub(crate) fn in_a_sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next();
    let is_word = letters.clone().next().is_some_and(|it| it.is_lowercase());
    match first {
        Some(first) if is_word => format!("{}{}", first.to_lowercase(), letters.as_str()),
        _ => text.to_owned(),
    }
}

/// The target of a cell.
#[must_use]
pub fn target_name(target: &StudyCell) -> &str {
    target.levels.first().map_or("", String::as_str)
}

/// The comparisons of a target.
#[must_use]
pub fn comparisons_of<'a>(study: &'a Study, target: &StudyCell) -> Vec<&'a StudyComparison> {
    let found = study.comparisons.iter();
    found.filter(|it| it.level == target_name(target)).collect()
}

/// What was found of a target against the first, in a sentence.
#[must_use]
pub fn target_compared(study: &Study, base: &StudyCell, other: &StudyCell) -> String {
    let found = comparisons_of(study, other);
    if found.iter().any(|it| it.is_enough()) {
        return compared_in_words(study, other, &found);
    }
    let usable = |cell: &StudyCell| cell.usable.unwrap_or(cell.replicates);
    let counts: Vec<String> = [other, base]
        .into_iter()
        .filter(|it| usable(it) < it.replicates)
        .map(|it| format!("{} of {}", usable(it), target_name(it)))
        .collect();
    let counts = if counts.is_empty() {
        String::new()
    } else {
        format!(" ({} count)", counts.join(" and "))
    };
    format!("Fewer than {PAIRS_MIN} complete rounds{counts}: no difference is claimed.")
}

/// What is better and what is worse, by which factor, and where no difference was shown.
#[must_use]
pub fn compared_in_words(study: &Study, other: &StudyCell, found: &[&StudyComparison]) -> String {
    let with = |wanted: Meaning| {
        let figures = other.figures.iter().filter_map(|figure| {
            let compared = found.iter().find(|it| it.reading == figure.reading)?;
            (Meaning::of(compared, figure) == wanted).then_some((figure, *compared))
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
pub(crate) fn spoken(name: &str) -> String {
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
