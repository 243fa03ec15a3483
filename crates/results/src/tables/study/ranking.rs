//! Three or more targets in order, and which of them cannot be told apart.

use stats::{CONFIDENCE, Difference, bears_conclusion, compare_pairs};

use crate::reading::Better;
use crate::saying::{Saying, spoken};
use crate::study::{Study, StudyCell, StudyFigure};

/// Fewer are told in a sentence each.
const RANKED_MIN: usize = 3;

impl Study {
    /// The targets in the order of their first figure, the best first: every pair is compared over
    /// the rounds, at 95 % for all pairs together (Bonferroni). Nothing with too few rounds.
    pub(super) fn ranking(&self) -> Option<Saying> {
        let first = self.cells.first()?.figures.first()?;
        let figure = |cell: &StudyCell| -> Option<StudyFigure> {
            let found = cell.figures.iter().find(|it| it.reading == first.reading)?;
            found.value.value.is_finite().then(|| found.clone())
        };
        let ranked = self.cells.iter().map(|cell| Some((cell, figure(cell)?)));
        let mut ranked: Vec<(&StudyCell, StudyFigure)> = ranked.collect::<Option<_>>()?;
        if ranked.len() < RANKED_MIN || first.better == Better::Neither {
            return None;
        }
        ranked.sort_by(|(_, one), (_, other)| one.value.value.total_cmp(&other.value.value));
        if first.better == Better::Higher {
            ranked.reverse();
        }
        let cells: Vec<&StudyCell> = ranked.iter().map(|(cell, _)| *cell).collect();
        let ties = self.ties(&cells, &first.reading)?;
        let named = ranked.iter().map(|(cell, figure)| {
            format!(
                "{} ({})",
                cell.target(),
                figure.unit.format(figure.value.value)
            )
        });
        let named = named.collect::<Vec<String>>().join(", ");
        let mut text = format!("Ranked by {}: {named}", spoken(&first.reading));
        if !ties.is_empty() {
            let margin = self.margin * 100.0;
            let ties = ties.join(", or between ");
            text.push_str(&format!(
                ". No difference above {margin} % is shown between {ties}"
            ));
        }
        Some(Saying::quoting(text))
    }

    /// The longest stretches of the ranking in which no two targets are told apart, each as `A, B
    /// and C`; `None` where a pair has too few rounds for a conclusion.
    fn ties(&self, ranked: &[&StudyCell], reading: &str) -> Option<Vec<String>> {
        let pairs = ranked.len() * (ranked.len() - 1) / 2;
        let confidence = 1.0 - (1.0 - CONFIDENCE) / pairs as f64;
        let differ = |one: &StudyCell, other: &StudyCell| {
            let pairs = self.pairs(reading, one, other);
            let found = compare_pairs(&pairs, confidence).filter(|_| bears_conclusion(pairs.len()));
            let difference = found?.difference(self.margin);
            Some(matches!(
                difference,
                Difference::Larger | Difference::Smaller
            ))
        };
        let mut ties: Vec<String> = Vec::new();
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
            // A stretch within the one before says nothing new.
            if end - from > 1 && end > reached {
                ties.push(listed(&ranked[from..end]));
            }
            reached = reached.max(end);
        }
        Some(ties)
    }

    /// The values of a reading in each round that has both.
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

fn listed(cells: &[&StudyCell]) -> String {
    let names: Vec<&str> = cells.iter().map(|it| it.target()).collect();
    let (last, others) = names.split_last().expect("two or more");
    format!("{} and {last}", others.join(", "))
}
