//! Tables of studies: combinations of levels, comparisons, and distributions of samples.

mod comparison;
mod conclusions;
mod distribution;
mod ranking;
mod sentences;
mod wording;

use stats::bears_conclusion;
use units::format_counted;

use crate::note::RunNote;
use crate::reading::{Better, Reading, Unit};
use crate::replicate::{Replicate, ReplicateTurn};
use crate::run::Run;
use crate::saying::{KNOWN, Saying};
use crate::show::Show;
use crate::study::{Study, StudyCell, StudyFigure, StudyReplicate};
use crate::table::{Figure, Row, Table, Trust};
use crate::warning::Warning;
use crate::warning_code::WarningCode;

/// The command whose levels are targets, each compared with the first.
const COMPARE: &str = "compare";
/// Maximum number of figures named in a warning about several means or outliers.
const NAMED_MAX: usize = 4;
/// A mean is unstable if this share of its repeats must not be quoted.
const SPOILED_SHARE: f64 = 0.25;
/// Meaning of the intervals of results.
const LEGEND: &str = "Geometric means over the repeats (of shares, and where a value is zero, \
                      arithmetic ones). 95 % intervals of Student's t, wider where repeats seem \
                      correlated, each on its own. Conclusions allow for the number of \
                      comparisons.";

/// Meaning of the intervals of a single repeat.
const LEGEND_OF_ONE: &str = "95 % intervals: variation within the one repeat. The next may \
                             differ by more. Repeat it.";

impl Study {
    /// Puts the results into a run: tables for a comparison of targets, otherwise a note, too.
    pub fn give_to(mut self, run: &mut Run) {
        let is_of_targets = run.settings.command == COMPARE;
        let rounds = self.replicates.iter().map(|it| it.round).max();
        let limits = std::mem::take(&mut self.limits).into_iter();
        let limits = limits.map(|it| it.into_goal(rounds.unwrap_or(0)));
        run.goals.splice(0..0, limits);
        run.other_targets
            .extend(self.places.iter().skip(1).cloned());
        let mut tables = vec![self.results(is_of_targets)];
        tables.extend(self.best_levels().filter(|_| !is_of_targets));
        tables.extend(self.comparisons(is_of_targets));
        tables.extend(self.distributions());
        run.tables.extend(tables);
        run.warnings.extend(self.too_wide(is_of_targets));
        if is_of_targets {
            run.warnings.extend(self.undecided());
        } else {
            let headlines = self.without_one_mean(|place| place == 0);
            run.warnings.extend(headlines.take(NAMED_MAX));
        }
        run.findings.extend(self.conclusions());
        if !is_of_targets {
            run.note = Some(RunNote {
                environment: [std::mem::take(&mut self.environment), self.procedure()].concat(),
                title: self.title,
                begun_at: self.begun_at,
            });
        }
    }

    /// Results of each combination of levels. Readings keep the names that their kind gives them.
    fn results(&self, is_of_targets: bool) -> Table {
        let rows = self.cells.iter().map(|cell| self.row(cell, is_of_targets));
        let factors = self.factors.iter().map(|it| it.name.clone());
        let table = Table {
            name: self.measurement.clone().into(),
            factors: factors.collect(),
            ..Table::new("", &[], rows.collect())
        };
        // The first figure of a row gets a warning instead.
        let moving = self.without_one_mean(|place| is_of_targets || place > 0);
        let moving = moving.map(|it| it.cause).take(NAMED_MAX);
        let doubts: Vec<String> = moving.chain(self.outliers()).collect();
        let doubts = (!doubts.is_empty()).then(|| doubts.join(" "));
        let notes = doubts.into_iter().chain([self.legend().to_owned()]);
        if is_of_targets {
            let says = self.sentence_of_targets(&table.rows);
            return Table {
                says: self.ranking().or_else(|| together(&says)),
                ..table.saying(says)
            }
            // What was measured on each target.
            .titled(&self.title)
            .noted(notes.chain([self.procedure().join(". ") + "."]))
            .noted(self.resumed())
            .shown(Show {
                by_nines: true,
                is_ranked: true,
                ..Show::detail()
            });
        }
        let show = match self.factors.is_empty() {
            true => Show::default().by_metric(),
            false => Show::default().in_parts(),
        };
        let says = self.sentence_of_levels(&table.rows);
        table
            .saying(says)
            .titled("Results")
            .noted(notes)
            .shown(show)
    }

    fn legend(&self) -> &'static str {
        let is_one_round = self.replicates.iter().all(|it| it.round <= 1);
        let mut figures = self.cells.iter().flat_map(|it| &it.figures);
        match is_one_round && figures.any(|it| it.value.is_bounded()) {
            true => LEGEND_OF_ONE,
            false => LEGEND,
        }
    }

    /// The row of a combination. Imprecise figures are marked. The row is unstable if its first
    /// figure is imprecise or has several means, or if too many of its repeats were spoiled.
    fn row(&self, cell: &StudyCell, is_of_targets: bool) -> Row {
        let is_wide = |it: &StudyFigure| !is_of_targets && is_wide(it);
        let is_spoiled = |it: &StudyFigure| self.is_spoiled(cell, &it.reading);
        let figures = cell.figures.iter().enumerate();
        let figures = figures.map(|(at, it)| Figure {
            is_indicative: at > 0 && (is_wide(it) || is_spoiled(it)),
            ..Figure::new(&it.reading, it.unit, it.better, it.value)
        });
        let headline = cell.figures.first();
        // Without any figure, every repeat failed or was invalid.
        let is_known = cell.figures.iter().any(|it| it.value.value.is_finite());
        let mut warnings: Vec<WarningCode> = Vec::new();
        if let Some(first) = headline.filter(|_| !is_of_targets) {
            warnings.extend(first.two_kinds.map(|_| WarningCode::TwoModes));
            warnings.extend(first.drift.map(|_| WarningCode::Drift));
            warnings.extend(is_wide(first).then_some(WarningCode::StudyNotPrecise));
        }
        let trust = match is_known {
            false => Trust::Invalid,
            true => {
                let is_unstable = !warnings.is_empty() || headline.is_some_and(is_spoiled);
                Trust::reliable_if(!is_unstable)
            }
        };
        let headline = headline.map_or("", |it| it.reading.as_str());
        for warning in self.of_cell(cell).flat_map(|it| &it.warnings) {
            if !warnings.contains(&warning.code) {
                warnings.push(warning.code.clone());
            }
        }
        let row = Row {
            warnings,
            ..Row::new(cell.levels.clone(), figures, headline, trust)
        };
        let row = match is_of_targets {
            true => row,
            false => row.quoted_with_interval(),
        };
        row.with_replicates(self.of_cell(cell).map(replicate).collect())
    }

    /// Whether too many repeats of a reading must not be quoted. Too few operations in each do not
    /// matter where there are enough repeats, since their mean has an interval of its own.
    fn is_spoiled(&self, cell: &StudyCell, reading: &str) -> bool {
        let counted = self.of_cell(cell).filter_map(|replicate| {
            let mut readings = replicate.readings.iter();
            Some((replicate, readings.find(|it| it.name == reading)?))
        });
        let counted: Vec<(&StudyReplicate, &Reading)> = counted.collect();
        let are_few = !bears_conclusion(counted.len());
        let is_spoiled = |(replicate, reading): &&(&StudyReplicate, &Reading)| {
            let mut codes = replicate.warnings.iter().map(|it| &it.code);
            reading.is_spoiled || are_few && codes.any(|it| *it == WarningCode::TooFewSamples)
        };
        let spoiled = counted.iter().filter(is_spoiled).count();
        spoiled > 0 && spoiled as f64 >= SPOILED_SHARE * counted.len() as f64
    }

    /// Combinations whose first figure is imprecise.
    fn too_wide(&self, is_of_targets: bool) -> Option<Warning> {
        let first = self.cells.iter().filter_map(|it| it.figures.first());
        let wide = first.filter(|it| !is_of_targets && is_wide(it)).count();
        let all = format_counted(self.cells.len() as u64, "result");
        let text = format!(
            "Intervals are wider than ±{:.0} %: {wide} of {all}.",
            KNOWN * 100.0
        );
        let advice = "Rerun with more rounds (--repeat), or with less other load.";
        let warning = Warning::warn(WarningCode::StudyNotPrecise, text).advise(advice);
        (wide > 0).then_some(warning)
    }

    fn of_cell(&self, cell: &StudyCell) -> impl Iterator<Item = &StudyReplicate> {
        let replicates = self.replicates.iter();
        replicates.filter(|it| it.levels == cell.levels)
    }

    /// What was measured, and how often.
    fn procedure(&self) -> Vec<String> {
        let settings = self.settings.iter();
        let settings = settings.map(|it| format!("{} {}", it.key, it.value));
        let settings = settings.collect::<Vec<String>>().join(", ");
        let separator = if settings.is_empty() { "" } else { ": " };
        let replicates = format_counted(self.replicates.len() as u64, "repeat");
        // The last round may be incomplete.
        let counts = || self.cells.iter().map(|it| it.replicates);
        let of_each = match (counts().min(), counts().max()) {
            _ if self.factors.is_empty() => String::new(),
            (Some(least), Some(most)) if least < most => {
                format!(", {least} to {most} of each combination, in rounds of random order")
            }
            (least, _) => format!(
                ", {} of each combination, in rounds of random order",
                least.unwrap_or(0)
            ),
        };
        vec![
            format!("Measurement {}{separator}{settings}", self.measurement),
            format!("{replicates}{of_each}"),
        ]
    }

    fn resumed(&self) -> Option<String> {
        let (_, later) = self.begun_at.split_first()?;
        (!later.is_empty()).then(|| format!("Resumed at {}.", later.join(", ")))
    }

    /// Every figure with its index in its row, and its name in a sentence: `hits (block 8KiB, mount
    /// default)`.
    fn named_figures(&self) -> impl Iterator<Item = (usize, String, &StudyFigure)> {
        self.cells.iter().flat_map(|cell| {
            let of = self.combination(cell);
            let figures = cell.figures.iter().enumerate();
            figures.map(move |(place, it)| (place, format!("{}{of}", it.reading), it))
        })
    }

    /// ` (block 8KiB, mount default)`.
    fn combination(&self, cell: &StudyCell) -> String {
        let words = self.factors.iter().zip(&cell.levels);
        let words = words.map(|(factor, level)| format!("{} {level}", factor.name));
        match words.collect::<Vec<String>>().join(", ") {
            none if none.is_empty() => none,
            words => format!(" ({words})"),
        }
    }

    /// Figures at these indices whose repeats are bimodal or drift between rounds.
    fn without_one_mean(&self, is_at: impl Fn(usize) -> bool) -> impl Iterator<Item = Warning> {
        let figures = self
            .named_figures()
            .filter(move |(place, ..)| is_at(*place));
        figures.flat_map(|(_, of, figure)| {
            let shown = |value: f64| figure.unit.format(value);
            let kinds = figure.two_kinds.map(|it| {
                let text = format!(
                    "{of} has two kinds of repeat, {} and {} ({:.0} % of repeats). The mean \
                     describes neither.",
                    shown(it.low),
                    shown(it.high),
                    100.0 * it.high_share
                );
                Warning::warn(WarningCode::TwoModes, text)
                    .advise("Find out what differs, and measure each case separately.")
            });
            let drift = figure.drift.map(|it| {
                let change = 100.0 * it;
                let text = format!("{of} changed by {change:+.0} % from earlier to later rounds.");
                Warning::warn(WarningCode::Drift, text)
                    .advise("Rerun with more rounds (--repeat) once latency is stable.")
            });
            kinds.into_iter().chain(drift)
        })
    }

    /// Outliers by name.
    fn outliers(&self) -> Option<String> {
        let found = self.named_figures().filter(|it| !it.2.outliers.is_empty());
        let found = found.map(|(_, of, figure)| {
            let values = figure.outliers.iter();
            let values =
                values.map(|it| format!("{} in round {}", figure.unit.format(it.value), it.round));
            format!("{of}: {}", values.collect::<Vec<String>>().join(", "))
        });
        let mut found: Vec<String> = found.collect();
        let more = found.len().saturating_sub(NAMED_MAX);
        found.truncate(NAMED_MAX);
        found.extend((more > 0).then(|| {
            let others = format_counted(more as u64, "other figure");
            format!("and of {others}")
        }));
        let text = found.join("; ");
        let those = || format!("Far from the others of its combination, but counted: {text}.");
        (!found.is_empty()).then(those)
    }
}

/// Combined statement about several targets, a sentence each.
fn together(each: &[Option<Saying>]) -> Option<Saying> {
    let each = || each.iter().flatten();
    let texts: Vec<&str> = each().map(|it| it.text.as_str()).collect();
    let all = Saying::quoting(texts.join(". ")).of_name();
    let holds_if_unstable = each().all(|it| it.holds_if_unstable);
    (texts.len() > 1).then_some(Saying {
        holds_if_unstable,
        ..all
    })
}

/// Whether the interval is too wide to quote the value; judged in absolute terms for shares.
fn is_wide(it: &StudyFigure) -> bool {
    let half_width = match it.unit {
        Unit::Share => (it.value.high - it.value.low) / 2.0,
        _ => it.value.relative_half_width(),
    };
    it.better != Better::Neither && it.value.is_bounded() && half_width > KNOWN
}

/// Repeats that a warning makes invalid have no readings.
fn replicate(it: &StudyReplicate) -> Replicate {
    let turn = ReplicateTurn {
        place: it.number,
        started_at: it.started_at.clone(),
        elapsed_ns: it.elapsed_ns,
    };
    Replicate {
        turn: Some(turn),
        ..Replicate::new(it.round, !it.readings.is_empty(), it.readings.clone())
    }
}
