//! What can be said of studies: of a single combination its readings, of several which level is
//! best, of targets side by side what was found of each.

use stats::PAIRS_MIN;
use units::format_interval_count;

use super::comparison::Meaning;
use crate::reading::{Better, Unit};
use crate::saying::{Saying, in_a_sentence, known};
use crate::study::{Study, StudyCell, StudyComparison, StudyFigure, StudyScale};
use crate::table::Row;

/// A sentence names no more figures.
const NAMES_MAX: usize = 7;
/// Smaller ratios are written as fractions, as in `1/150 of the IOPS`.
const SMALL: f64 = 0.1;
/// The percentile that a sentence cites.
const LATE: &str = "p99";
/// Readings that a sentence has space for.
const READINGS: usize = 2;

/// A figure with how it compares.
type Compared<'a> = (&'a StudyFigure, &'a StudyComparison);

impl Study {
    /// What was found of each target against the first, if that can be used.
    pub(super) fn sentence_of_targets(&self, rows: &[Row]) -> Vec<Option<Saying>> {
        let Some((base, others)) = self.cells.split_first() else {
            return Vec::new();
        };
        let is_known = rows.first().is_some_and(|it| it.trust.is_usable());
        let said = others.iter().filter(|_| is_known).map(|other| {
            let found = self.comparisons_of(other);
            let text = self.target_compared(base, other, &found);
            let (this, that) = (other.target(), base.target());
            let text = format!("{this} against {that}: {}", in_a_sentence(&text));
            let saying = Saying::quoting(text.trim_end_matches('.')).of_name();
            let is_claim = found.iter().any(|(_, it)| it.is_enough());
            Some(if is_claim { saying } else { saying.if_shaky() })
        });
        std::iter::once(None).chain(said).collect()
    }

    /// What is said of the rows that have figures, at the first of them.
    pub(super) fn sentence_of_levels(&self, rows: &[Row]) -> Vec<Option<Saying>> {
        let mut said = match self.cells.as_slice() {
            [cell] => readings(cell),
            _ => self.best_levels(),
        };
        said.truncate(READINGS);
        let saying = match said.is_empty() {
            false => Some(Saying::quoting(said.join("; "))),
            true => self.conclusion(),
        };
        let first = rows.iter().position(|it| it.trust.is_usable());
        let mut all = vec![None; first.unwrap_or(0)];
        all.push(saying);
        all
    }

    /// The first conclusion that is none about others.
    fn conclusion(&self) -> Option<Saying> {
        let mut conclusions = self.conclusions.iter();
        let first = conclusions.find(|it| it.ends_with('.'))?;
        let saying = Saying::quoting(first.trim_end_matches('.')).of_name();
        Some(
            match self.comparisons.iter().any(StudyComparison::is_enough) {
                true => saying,
                false => saying.if_shaky(),
            },
        )
    }

    /// The figures of a target with how they compare.
    fn comparisons_of<'a>(&'a self, target: &'a StudyCell) -> Vec<Compared<'a>> {
        let of_target = |figure: &'a StudyFigure| {
            let mut all = self.comparisons.iter();
            let found = all.find(|it| it.level == target.target() && it.reading == figure.reading);
            Some((figure, found?))
        };
        target.figures.iter().filter_map(of_target).collect()
    }

    /// What was found of a target against the first, in a sentence.
    fn target_compared(
        &self,
        base: &StudyCell,
        other: &StudyCell,
        found: &[Compared<'_>],
    ) -> String {
        if found.iter().any(|(_, it)| it.is_enough()) {
            return self.in_words(found);
        }
        let usable = |cell: &StudyCell| cell.usable.unwrap_or(cell.replicates);
        let counts = [other, base].into_iter();
        let counts = counts.filter(|it| usable(it) < it.replicates);
        let counts: Vec<String> = counts
            .map(|it| format!("{} of {}", usable(it), it.target()))
            .collect();
        let counts = match counts.is_empty() {
            true => String::new(),
            false => format!(" ({} count)", counts.join(" and ")),
        };
        format!("fewer than {PAIRS_MIN} complete rounds{counts}: no difference is claimed")
    }

    /// What is better and what is worse, by which factor, and where no difference was shown.
    fn in_words(&self, found: &[Compared<'_>]) -> String {
        let margin = self.margin * 100.0;
        let parts = [
            (Meaning::Better, String::new()),
            (Meaning::Worse, String::new()),
            (Meaning::Same, format!("no difference above {margin} % in ")),
            (
                Meaning::NotShown,
                format!("no difference above {margin} % shown in "),
            ),
            (Meaning::TooFew, "too few rounds to compare ".to_owned()),
        ];
        let parts = parts.into_iter().filter_map(|(meaning, words)| {
            let figures = found.iter().copied();
            let figures = figures.filter(|(it, by)| Meaning::of(by, it.better) == meaning);
            let figures: Vec<Compared<'_>> = figures.collect();
            let text = match meaning {
                Meaning::Better | Meaning::Worse => by_how_much(&figures, meaning),
                _ => names(&figures),
            };
            (!text.is_empty()).then(|| format!("{words}{text}"))
        });
        parts.collect::<Vec<String>>().join("; ")
    }

    /// The best level of the first readings, where one factor is varied and a level differs from
    /// the best.
    fn best_levels(&self) -> Vec<String> {
        let factors = self.factors.iter().enumerate();
        let varied = factors.filter(|(_, it)| it.levels.len() > 1);
        let [(place, _)] = varied.collect::<Vec<_>>()[..] else {
            return Vec::new();
        };
        let is_told = |it: &&StudyFigure| {
            it.better != Better::Neither && it.value.is_bounded() && is_main(it.unit)
        };
        let mut readings: Vec<&str> = Vec::new();
        for figure in self.cells.iter().flat_map(|it| &it.figures).filter(is_told) {
            if !readings.contains(&figure.reading.as_str()) {
                readings.push(&figure.reading);
            }
        }
        let said = readings.into_iter();
        said.filter_map(|it| self.best_level(place, it)).collect()
    }

    /// `highest write rate with record 64KiB: 637 MB/s (595 .. 679)`, and the levels that are not
    /// shown to be worse.
    fn best_level(&self, place: usize, reading: &str) -> Option<String> {
        let cells = self.cells.iter().filter_map(|cell| {
            let mut figures = cell.figures.iter();
            let figure = figures.find(|it| it.reading == reading && it.value.is_bounded())?;
            Some((cell.levels[place].as_str(), figure))
        });
        let (level, best) = cells.clone().max_by(|(_, a), (_, b)| match a.better {
            Better::Lower => b.value.value.total_cmp(&a.value.value),
            Better::Higher | Better::Neither => a.value.value.total_cmp(&b.value.value),
        })?;
        let others = cells.map(|(other, _)| other).filter(|it| *it != level);
        let (worse, open): (Vec<&str>, Vec<&str>) =
            others.partition(|other| self.is_better(best, level, other));
        let open = match open.as_slice() {
            _ if worse.is_empty() => return None,
            [] => String::new(),
            open => format!(", not shown to differ from {}", open.join(", ")),
        };
        let what = match (best.better, best.unit) {
            (Better::Lower, Unit::Seconds) => "shortest",
            (Better::Lower, _) => "lowest",
            _ => "highest",
        };
        let (name, reading) = (&self.factors[place].name, spoken(reading));
        let value = known(best.unit, best.value);
        Some(format!(
            "{what} {reading} with {name} {level}: {value}{open}"
        ))
    }

    /// Whether a comparison shows that `level` is better than `other`; or two do, by a third.
    fn is_better(&self, figure: &StudyFigure, level: &str, other: &str) -> bool {
        let of_reading = || {
            self.comparisons
                .iter()
                .filter(|it| it.reading == figure.reading)
        };
        let means = |a: &str, b: &str, wanted: Meaning, turned: Meaning| {
            of_reading().any(|it| {
                let meaning = Meaning::of(it, figure.better);
                let is_this = it.level == a && it.against == b && meaning == wanted;
                is_this || it.level == b && it.against == a && meaning == turned
            })
        };
        let direct = |a: &str, b: &str| means(a, b, Meaning::Better, Meaning::Worse);
        let is_as_good =
            |a: &str, b: &str| direct(a, b) || means(a, b, Meaning::Same, Meaning::Same);
        let by_third =
            |it: &StudyComparison| is_as_good(level, &it.against) && direct(&it.against, other);
        direct(level, other) || of_reading().any(by_third)
    }
}

/// The first reading that tells better from worse, then the first in another unit that storage is
/// judged by, then the others like them.
fn readings(cell: &StudyCell) -> Vec<String> {
    let mut told: Vec<&StudyFigure> = cell.figures.iter().collect();
    told.retain(|it| it.better != Better::Neither);
    let first = told.first().map(|it| it.unit);
    let is_other = |it: &&StudyFigure| Some(it.unit) != first && is_main(it.unit);
    if let Some(other) = told.iter().position(is_other) {
        told[1..=other].rotate_right(1);
    }
    told.retain(|it| Some(it.unit) == first || is_main(it.unit));
    // An interval down to nothing says nothing.
    let is_known = |it: &&StudyFigure| it.value.is_bounded() && it.value.low > 0.0;
    let has_one_mean = |it: &&StudyFigure| it.two_kinds.is_none() && it.drift.is_none();
    let told = told.into_iter().filter(is_known).filter(has_one_mean);
    told.map(|it| format!("{} {}", spoken(&it.reading), known(it.unit, it.value)))
        .collect()
}

/// Whether storage is judged by readings of that unit.
const fn is_main(unit: Unit) -> bool {
    matches!(unit, Unit::Seconds | Unit::BytesPerSecond | Unit::PerSecond)
}

/// Names in a sentence; of many the first ones, since the table has all of them.
fn names(figures: &[Compared<'_>]) -> String {
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
        "iops" => "IOPS",
        "latency" => "mean latency",
        _ => last.strip_prefix("latency-").unwrap_or(last),
    };
    match row {
        "" => said.to_owned(),
        row => format!("{said} of {row}"),
    }
}

/// The factors of the first figure and of a late percentile, then the names of the others.
fn by_how_much(figures: &[Compared<'_>], meaning: Meaning) -> String {
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
    let inverse = || span(1.0 / ratio.value, 1.0 / ratio.high, 1.0 / ratio.low);
    let is_time = figure.better == Better::Lower && figure.unit == Unit::Seconds;
    Some(match ratio.value > 1.0 {
        true if is_time => format!("{above} times slower {preposition} {name}"),
        false if is_time => format!("{} times faster {preposition} {name}", inverse()),
        _ if ratio.high < SMALL => {
            let inverse = inverse();
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
