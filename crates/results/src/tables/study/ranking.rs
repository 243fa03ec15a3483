//! Ranks three or more targets, and tells which are indistinguishable.

use stats::{CONFIDENCE, Difference, bears_conclusion, compare_pairs};

use super::is_wide;
use crate::reading::Better;
use crate::saying::{Saying, spoken};
use crate::study::{Study, StudyCell, StudyFigure};
use crate::warning::Warning;
use crate::warning_code::WarningCode;

/// A target and its first figure.
type Ranked<'a> = (&'a StudyCell, StudyFigure);

/// Minimum number of targets for a ranking; fewer get a sentence each.
const RANKED_MIN: usize = 3;

impl Study {
    /// The ranking by the first figure, the best first, if any two targets can be distinguished.
    /// `None` with too few rounds.
    pub(super) fn ranking(&self) -> Option<Saying> {
        let ranked = self.ranked()?;
        if ranked.len() < RANKED_MIN {
            return None;
        }
        let ties = self.ties(&ranked)?;
        let reading = spoken(&ranked[0].1.reading);
        if ties.first().is_some_and(|it| it.len() == ranked.len()) {
            let text = format!("{} cannot be told apart by {reading}", listed(&ranked));
            return Some(Saying::quoting(text).of_name().if_unstable());
        }
        let named = ranked.iter().map(|(cell, figure)| {
            let value = figure.unit.format(figure.value.value);
            format!("{} ({value})", cell.target())
        });
        let named = named.collect::<Vec<String>>().join(", ");
        let ties = ties.iter();
        let ties = ties.map(|it| format!(". {} cannot be told apart", listed(it)));
        let ties: String = ties.collect();
        Some(Saying::quoting(format!(
            "Ranked by {reading}: {named}{ties}"
        )))
    }

    /// Warns that no two targets can be distinguished, unless all are shown to be equal.
    pub(super) fn undecided(&self) -> Option<Warning> {
        let ranked = self.ranked()?;
        let ties = self.ties(&ranked)?;
        let is_one = ties.first().is_some_and(|it| it.len() == ranked.len());
        let pairs = pairs(&ranked);
        let mut pairs = pairs.filter_map(|(one, other)| self.difference(&ranked, one, other));
        let is_same = pairs.all(|it| it == Difference::Equivalent);
        let reading = spoken(&ranked[0].1.reading);
        let text = format!("{} cannot be told apart by {reading}.", listed(&ranked));
        let advice = "Measure more rounds (--repeat), or longer (--set budget=5min).";
        let warning = Warning::info(WarningCode::NotToldApart, text).advise(advice);
        (is_one && !is_same).then_some(warning)
    }

    /// Two or more targets, by their first figure.
    fn ranked(&self) -> Option<Vec<Ranked<'_>>> {
        let first = self.cells.first()?.figures.first()?;
        let figure = |cell: &StudyCell| -> Option<StudyFigure> {
            let found = cell.figures.iter().find(|it| it.reading == first.reading)?;
            found.value.value.is_finite().then(|| found.clone())
        };
        let ranked = self.cells.iter().map(|cell| Some((cell, figure(cell)?)));
        let mut ranked: Vec<Ranked<'_>> = ranked.collect::<Option<_>>()?;
        if ranked.len() < 2 || first.better == Better::Neither {
            return None;
        }
        ranked.sort_by(|(_, one), (_, other)| one.value.value.total_cmp(&other.value.value));
        if first.better == Better::Higher {
            ranked.reverse();
        }
        Some(ranked)
    }

    /// Comparison of two targets over the rounds, at 95 % for all pairs together (Bonferroni).
    /// Imprecise figures show no difference. `None` with too few rounds for a conclusion.
    fn difference(
        &self,
        ranked: &[Ranked<'_>],
        (one, figure): &Ranked<'_>,
        (other, next): &Ranked<'_>,
    ) -> Option<Difference> {
        let confidence = 1.0 - (1.0 - CONFIDENCE) / pairs(ranked).count() as f64;
        let pairs = self.pairs(&figure.reading, one, other);
        let found = compare_pairs(&pairs, confidence).filter(|_| bears_conclusion(pairs.len()))?;
        Some(match are_blurred(figure, next) {
            true => Difference::NotShown,
            false => found.difference(self.margin),
        })
    }

    /// The longest runs of the ranking in which no two targets can be distinguished; `None` if a
    /// pair has too few rounds for a conclusion.
    fn ties<'a>(&self, ranked: &'a [Ranked<'a>]) -> Option<Vec<&'a [Ranked<'a>]>> {
        let differ = |one: &Ranked<'_>, other: &Ranked<'_>| {
            let found = self.difference(ranked, one, other)?;
            Some(matches!(found, Difference::Larger | Difference::Smaller))
        };
        let mut ties: Vec<&[Ranked<'_>]> = Vec::new();
        let mut reached = 0;
        for from in 0..ranked.len() {
            let mut end = from + 1;
            for next in &ranked[from + 1..] {
                let apart = ranked[from..end].iter().map(|it| differ(it, next));
                let apart: Vec<bool> = apart.collect::<Option<_>>()?;
                if apart.contains(&true) {
                    break;
                }
                end += 1;
            }
            // A run within the previous one adds nothing.
            if end - from > 1 && end > reached {
                ties.push(&ranked[from..end]);
            }
            reached = reached.max(end);
        }
        Some(ties)
    }

    /// The values of a reading in rounds that have both targets.
    fn pairs(&self, reading: &str, one: &StudyCell, other: &StudyCell) -> Vec<(f64, f64)> {
        let value = |round: u32, cell: &StudyCell| {
            let mut found = self.of_cell(cell).filter(|it| it.round == round);
            let mut readings = found.next()?.readings.iter();
            Some(readings.find(|it| it.name == reading)?.value)
        };
        let rounds = self.replicates.iter().map(|it| it.round).max();
        let both =
            (1..=rounds.unwrap_or(0)).filter_map(|it| Some((value(it, one)?, value(it, other)?)));
        both.collect()
    }
}

/// Each target paired with every later one.
fn pairs<'a>(ranked: &'a [Ranked<'a>]) -> impl Iterator<Item = (&'a Ranked<'a>, &'a Ranked<'a>)> {
    let each = ranked.iter().enumerate();
    each.flat_map(|(at, one)| ranked[at + 1..].iter().map(move |other| (one, other)))
}

/// Whether one interval is wide and contains half of the narrower one: a paired difference is then
/// not ranked.
fn are_blurred(one: &StudyFigure, other: &StudyFigure) -> bool {
    let width = |it: &StudyFigure| it.value.high - it.value.low;
    let low = one.value.low.max(other.value.low);
    let shared = one.value.high.min(other.value.high) - low;
    (is_wide(one) || is_wide(other)) && shared >= 0.5 * width(one).min(width(other))
}

fn listed(ranked: &[Ranked<'_>]) -> String {
    let names: Vec<&str> = ranked.iter().map(|(it, _)| it.target()).collect();
    let (last, others) = names.split_last().expect("two or more");
    format!("{} and {last}", others.join(", "))
}

#[cfg(test)]
mod tests {
    use stats::Estimate;

    use super::*;
    use crate::reading::Unit;

    fn figure(low: f64, high: f64) -> StudyFigure {
        let value = Estimate {
            low,
            high,
            ..Estimate::exact(0.5 * (low + high), 8.0)
        };
        StudyFigure {
            reading: "iops".to_owned(),
            unit: Unit::PerSecond,
            better: Better::Higher,
            value,
            outliers: Vec::new(),
            two_kinds: None,
            drift: None,
        }
    }

    #[test]
    fn wide_intervals_that_overlap_by_half_are_not_ranked() {
        let check = |one: [f64; 2], other: [f64; 2], expected: bool| {
            let [one, other] = [one, other].map(|[low, high]| figure(low, high));
            assert_eq!(are_blurred(&one, &other), expected, "{one:?} {other:?}");
            assert_eq!(are_blurred(&other, &one), expected, "{one:?} {other:?}");
        };
        check([50.0, 150.0], [90.0, 110.0], true);
        check([50.0, 150.0], [140.0, 160.0], true);
        check([50.0, 150.0], [141.0, 161.0], false);
        check([50.0, 150.0], [200.0, 210.0], false);
        // Precise figures are decided by the paired differences.
        check([95.0, 105.0], [96.0, 106.0], false);
    }
}
