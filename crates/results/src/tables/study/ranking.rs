//! Ranks three or more targets, and tells which are indistinguishable.

use stats::{CONFIDENCE, Difference, bears_conclusion, compare_pairs, geometric_repeats_mean};

use super::is_wide;
use crate::reading::{Better, Unit};
use crate::saying::{Saying, spoken};
use crate::study::{Study, StudyCell, StudyComparison, StudyFigure, StudyVerdict};
use crate::warning::Warning;
use crate::warning_code::WarningCode;

/// A target and its first figure.
type Ranked<'a> = (&'a StudyCell, StudyFigure);

/// A measurement that ends with its budget.
const TRIAL: &str = "trial";
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
        let advice = match self.measurement.as_str() {
            TRIAL => "Measure more rounds (--repeat), or longer (--set budget=5min).",
            _ => "Measure more rounds (--repeat).",
        };
        let warning = Warning::info(WarningCode::NotToldApart, text).advise(advice);
        (is_one && !is_same).then_some(warning)
    }

    /// Two or more targets, by their first figure.
    fn ranked(&self) -> Option<Vec<Ranked<'_>>> {
        let first = self.cells.first()?.figures.first()?;
        // Means over the same rounds, as in the table of comparisons.
        let rounds = self.rounds_with(&first.reading, &self.cells);
        let figure = |cell: &StudyCell| -> Option<StudyFigure> {
            let found = cell.figures.iter().find(|it| it.reading == first.reading)?;
            let values = rounds.iter();
            let values = values.filter_map(|it| self.value_in(*it, cell, &first.reading));
            // Shares are compared by their difference.
            let value = match first.unit {
                Unit::Share => None,
                _ => geometric_repeats_mean(&values.collect::<Vec<f64>>()),
            };
            let value = value.unwrap_or(found.value);
            value.value.is_finite().then(|| StudyFigure {
                value,
                ..found.clone()
            })
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
    /// Imprecise figures show no difference, nor do those of which the table of comparisons, which
    /// allows for all figures, leaves it open. `None` with too few rounds for a conclusion.
    fn difference(
        &self,
        ranked: &[Ranked<'_>],
        (one, figure): &Ranked<'_>,
        (other, next): &Ranked<'_>,
    ) -> Option<Difference> {
        let confidence = 1.0 - (1.0 - CONFIDENCE) / pairs(ranked).count() as f64;
        let pairs = self.pairs(&figure.reading, one, other);
        let found = compare_pairs(&pairs, confidence).filter(|_| bears_conclusion(pairs.len()))?;
        let is_open = self.is_open(&figure.reading, [one.target(), other.target()]);
        Some(match is_open || are_blurred(figure, next) {
            true => Difference::NotShown,
            false => found.difference(self.margin),
        })
    }

    /// Whether the table of comparisons shows no difference between two targets.
    fn is_open(&self, reading: &str, pair: [&str; 2]) -> bool {
        let is_of_pair = |it: &StudyComparison| {
            let both = [it.level.as_str(), it.against.as_str()];
            it.reading == reading && both.iter().all(|target| pair.contains(target))
        };
        let mut comparisons = self.comparisons.iter().filter(|it| is_of_pair(it));
        comparisons.any(|it| it.verdict == StudyVerdict::NotShown)
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
        let rounds = self.rounds_with(reading, [one, other]);
        let value = |round, cell| self.value_in(round, cell, reading);
        let both = rounds.iter();
        let both = both.filter_map(|&it| Some((value(it, one)?, value(it, other)?)));
        both.collect()
    }

    /// Rounds in which all these targets have the reading.
    fn rounds_with<'a>(
        &self,
        reading: &str,
        cells: impl IntoIterator<Item = &'a StudyCell>,
    ) -> Vec<u32> {
        let cells: Vec<&StudyCell> = cells.into_iter().collect();
        let last = self.replicates.iter().map(|it| it.round).max();
        let mut rounds: Vec<u32> = (1..=last.unwrap_or(0)).collect();
        let has = |round, cell| self.value_in(round, cell, reading).is_some();
        rounds.retain(|round| cells.iter().all(|cell| has(*round, *cell)));
        rounds
    }

    fn value_in(&self, round: u32, cell: &StudyCell, reading: &str) -> Option<f64> {
        let mut found = self.of_cell(cell).filter(|it| it.round == round);
        let mut readings = found.next()?.readings.iter();
        Some(readings.find(|it| it.name == reading)?.value)
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
    use crate::reading::Reading;
    use crate::study::{StudyReplicate, StudyScale};

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

    /// Bug: the ranking told targets apart that the table below it did not.
    #[test]
    fn the_ranking_claims_no_more_than_the_table_of_comparisons() {
        let targets = [("a", 100.0), ("b", 110.0), ("c", 200.0)];
        let cell = |(target, value): (&str, f64)| StudyCell {
            levels: vec![target.to_owned()],
            replicates: 8,
            usable: None,
            figures: vec![figure(value - 1.0, value + 1.0)],
        };
        let replicate = |round: u32, (target, value): (&str, f64)| StudyReplicate {
            number: round,
            round,
            levels: vec![target.to_owned()],
            started_at: String::new(),
            elapsed_ns: 1,
            readings: vec![Reading::new(
                "iops",
                Unit::PerSecond,
                value + f64::from(round % 3),
                Better::Higher,
            )],
            warnings: Vec::new(),
        };
        let of_round = |round| targets.map(|it| replicate(round, it));
        let comparison = |level: &str, verdict| StudyComparison {
            reading: "iops".to_owned(),
            unit: Unit::PerSecond,
            factor: "target".to_owned(),
            level: level.to_owned(),
            against: "a".to_owned(),
            context: Vec::new(),
            scale: StudyScale::Ratio,
            value: Estimate::exact(1.1, 8.0),
            p_adjusted: 0.2,
            verdict,
            is_stated: true,
            ratio: None,
            sides: None,
            replicates_needed: None,
        };
        let ranked = |verdict| {
            let study = Study {
                title: String::new(),
                environment: Vec::new(),
                measurement: "trial".to_owned(),
                settings: Vec::new(),
                factors: Vec::new(),
                places: Vec::new(),
                margin: 0.02,
                begun_at: Vec::new(),
                replicates: (1..=8).flat_map(of_round).collect(),
                cells: targets.map(cell).to_vec(),
                comparisons: vec![
                    comparison("b", verdict),
                    comparison("c", StudyVerdict::Higher),
                ],
                limits: Vec::new(),
            };
            study.ranking().expect("a ranking").text
        };
        let open = ranked(StudyVerdict::NotShown);
        assert!(open.ends_with("b and a cannot be told apart"), "{open}");
        let shown = ranked(StudyVerdict::Higher);
        assert!(!shown.contains("cannot"), "{shown}");
    }
}
