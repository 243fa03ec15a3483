//! Sentences of studies: the readings of a single combination, or the results of targets compared.

use stats::PAIRS_MIN;

use super::comparison::Meaning;
use crate::reading::{Better, Unit};
use crate::saying::{Saying, change_in_words, in_a_sentence, known, spoken};
use crate::study::{Study, StudyCell, StudyComparison, StudyFigure, StudyScale};
use crate::table::Row;

/// Maximum number of figures named in a sentence.
const NAMES_MAX: usize = 7;
/// The percentile that a sentence quotes.
const LATE: &str = "p99";
/// Maximum number of readings quoted in a sentence.
const READINGS: usize = 2;

/// A figure with its comparison.
type Compared<'a> = (&'a StudyFigure, &'a StudyComparison);

impl Study {
    /// Results of each target against the first, if they can be used.
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
            Some(if is_claim {
                saying
            } else {
                saying.if_unstable()
            })
        });
        std::iter::once(None).chain(said).collect()
    }

    /// Statement about a single combination, from its row if that has figures.
    pub(super) fn sentence_of_levels(&self, rows: &[Row]) -> Vec<Option<Saying>> {
        let [cell] = self.cells.as_slice() else {
            return Vec::new();
        };
        let mut said = self.readings(cell);
        said.truncate(READINGS);
        let is_known = rows.first().is_some_and(|it| it.trust.is_usable());
        let saying = (is_known && !said.is_empty()).then(|| Saying::quoting(said.join("; ")));
        vec![saying]
    }

    /// The figures of a target with their comparisons.
    fn comparisons_of<'a>(&'a self, target: &'a StudyCell) -> Vec<Compared<'a>> {
        let of_target = |figure: &'a StudyFigure| {
            let mut all = self.with_interval();
            let found = all.find(|it| it.level == target.target() && it.reading == figure.reading);
            Some((figure, found?))
        };
        // With a spoiled headline, nothing of the row is quoted.
        let is_quotable = |(at, it): &(usize, &StudyFigure)| {
            let mut both = [target].into_iter().chain(self.cells.first());
            *at == 0 || !both.any(|cell| self.is_spoiled(cell, &it.reading))
        };
        let figures = target.figures.iter().enumerate().filter(is_quotable);
        figures.filter_map(|(_, it)| of_target(it)).collect()
    }

    /// Readings in order: the first one that shows a difference, the first in another main unit,
    /// then others like these.
    fn readings(&self, cell: &StudyCell) -> Vec<String> {
        let mut told: Vec<&StudyFigure> = cell.figures.iter().collect();
        told.retain(|it| it.better != Better::Neither);
        let first = told.first().map(|it| it.unit);
        let is_other = |it: &&StudyFigure| Some(it.unit) != first && is_main(it.unit);
        if let Some(other) = told.iter().position(is_other) {
            told[1..=other].rotate_right(1);
        }
        told.retain(|it| Some(it.unit) == first || is_main(it.unit));
        // An interval that includes zero is uninformative.
        told.retain(|it| it.value.is_bounded() && it.value.low > 0.0);
        told.retain(|it| it.two_kinds.is_none() && it.drift.is_none());
        told.retain(|it| !self.is_spoiled(cell, &it.reading));
        let told = told.into_iter();
        told.map(|it| format!("{} {}", spoken(&it.reading), known(it.unit, it.value)))
            .collect()
    }

    /// Result of a target against the first, as a sentence.
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
        format!("no difference is claimed from fewer than {PAIRS_MIN} complete rounds{counts}")
    }

    /// What is better and worse and by how much, and where no difference was shown, a sentence
    /// each.
    fn in_words(&self, found: &[Compared<'_>]) -> String {
        let margin = self.margin * 100.0;
        let of = |wanted: Meaning| {
            let figures = found.iter().copied();
            let figures = figures.filter(|(it, by)| Meaning::of(by, it.better) == wanted);
            names(&figures.collect::<Vec<Compared<'_>>>())
        };
        let sentences = [
            ("", differences(found)),
            (
                &format!("No difference above {margin} % in "),
                of(Meaning::Same),
            ),
            ("Cannot be told apart in ", of(Meaning::NotShown)),
            ("Too few rounds to compare ", of(Meaning::TooFew)),
        ];
        let sentences = sentences.iter().filter(|(_, text)| !text.is_empty());
        let sentences = sentences.map(|(words, text)| format!("{words}{text}"));
        sentences.collect::<Vec<String>>().join(". ")
    }
}

/// Whether storage is judged by readings in that unit.
const fn is_main(unit: Unit) -> bool {
    matches!(unit, Unit::Seconds | Unit::BytesPerSecond | Unit::PerSecond)
}

/// Names for a sentence. Of many only the first ones, since the table has all.
fn names(figures: &[Compared<'_>]) -> String {
    let names = figures.iter().map(|(figure, _)| spoken(&figure.reading));
    let mut names: Vec<String> = names.collect();
    if names.len() > NAMES_MAX {
        let more = names.len() - NAMES_MAX + 1;
        names.truncate(NAMES_MAX - 1);
        return format!("{} and {more} other metrics", names.join(", "));
    }
    names.join(", ")
}

/// The changes of the first figure and a late percentile, then the names of other changed figures:
/// those of other rows, and those that changed in the other direction.
fn differences(found: &[Compared<'_>]) -> String {
    let meaning = |(figure, by): &Compared<'_>| Meaning::of(by, figure.better);
    let differ = |it: &&Compared<'_>| matches!(meaning(it), Meaning::Better | Meaning::Worse);
    let late = found.iter().rposition(|it| it.0.reading.ends_with(LATE));
    let is_quoted = |place: usize| place == 0 || Some(place) == late;
    let mut parts = Vec::new();
    let mut quoted: Vec<&Compared<'_>> = Vec::new();
    for (_, pair) in found
        .iter()
        .enumerate()
        .filter(|(place, _)| is_quoted(*place))
    {
        let change = differ(&pair).then(|| by_how_much(pair)).flatten();
        quoted.extend(change.is_some().then_some(pair));
        parts.extend(change);
    }
    let row = |it: &Compared<'_>| {
        let name = spoken(&it.0.reading);
        name.split_once(" of ").map(|(_, row)| row.to_owned())
    };
    let is_told = |it: &Compared<'_>| {
        let mut quoted = quoted.iter();
        quoted.any(|by| meaning(by) == meaning(it) && row(by) == row(it))
    };
    for wanted in [Meaning::Better, Meaning::Worse] {
        let rest = found
            .iter()
            .filter(|it| meaning(it) == wanted && !is_told(it));
        let rest = names(&rest.copied().collect::<Vec<Compared<'_>>>());
        parts.extend((!rest.is_empty()).then(|| format!("{} in {rest}", wanted.word())));
    }
    parts.join(", ")
}

/// `39 % more IOPS (38 to 40 %)`; nothing without a ratio.
fn by_how_much((figure, compared): &Compared<'_>) -> Option<String> {
    let ratio = compared.value;
    let is_known = compared.scale == StudyScale::Ratio && ratio.is_bounded() && ratio.low > 0.0;
    is_known.then(|| change_in_words(&figure.reading, ratio))
}
