//! Comparisons between levels of a study.

use crate::metric::{P_VALUE, ROUNDS};
use crate::reading::{Better, Unit};
use crate::show::Show;
use crate::study::{Study, StudyCell, StudyComparison, StudyFigure, StudyScale, StudyVerdict};
use crate::table::{Figure, Role, Row, Table, Trust};
use units::format_counted;

/// Lines on screen for all targets together. Each target gets at least one.
const LINES: usize = 6;
const LINES_LEAST: usize = 2;

/// Meaning of a comparison for the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Better,
    Worse,
    Same,
    NotShown,
    /// Too few rounds have the figure to show a difference.
    TooFew,
}

impl Meaning {
    /// The meaning of a comparison of a figure with that direction.
    pub(super) fn of(compared: &StudyComparison, better: Better) -> Self {
        match (compared.verdict, better) {
            _ if !compared.is_enough() => Self::TooFew,
            (StudyVerdict::Same, _) => Self::Same,
            // Only metrics with a better direction are compared.
            (StudyVerdict::NotShown, _) | (_, Better::Neither) => Self::NotShown,
            (StudyVerdict::Higher, Better::Higher) | (StudyVerdict::Lower, Better::Lower) => {
                Self::Better
            }
            (StudyVerdict::Higher | StudyVerdict::Lower, _) => Self::Worse,
        }
    }

    /// The word in reports.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Same => "the same",
            Self::NotShown => "not shown",
            Self::TooFew => "too few rounds",
        }
    }
}

impl Study {
    /// All comparisons, level by level. For targets they are the answer, and every figure of a
    /// target has a row.
    pub(super) fn comparisons(&self, is_of_targets: bool) -> Option<Table> {
        let mut rows: Vec<Row> = Vec::new();
        let others = self.cells.iter().skip(1).filter(|_| is_of_targets);
        for other in others {
            let figures = other.figures.iter();
            rows.extend(figures.map(|it| self.of_target(other, it)));
        }
        if !is_of_targets {
            rows.extend(self.with_interval().map(|it| self.compared(it)));
        }
        let factors = ["figure", "factor", "level", "against", "at"];
        let table = Table::new("comparisons", &factors, rows)
            .of_steps()
            .briefly_named();
        let show = Show::default()
            .columns("base new ratio difference")
            .around_one("ratio");
        let table = match is_of_targets {
            true => self.of_targets(table, show),
            false => table.titled("Comparisons").shown(Show {
                is_detail: true,
                ..show
            }),
        };
        (!table.rows.is_empty()).then_some(table)
    }

    /// Comparisons over more than one round; a single round has no interval.
    pub(super) fn with_interval(&self) -> impl Iterator<Item = &StudyComparison> {
        self.comparisons.iter().filter(|it| it.rounds() > 1)
    }

    fn of_targets(&self, table: Table, show: Show) -> Table {
        let base = self.cells.first().map_or("", StudyCell::target);
        let pairs = self.cells.len().saturating_sub(1).max(1);
        let show = show.grouped_by("level");
        let show = match pairs {
            1 => show,
            _ => show.at_most((LINES / pairs).max(LINES_LEAST)),
        };
        // An interrupted round lacks some targets.
        let rounds = self.cells.iter().map(|it| it.replicates).min();
        let rounds = format_counted(rounds.unwrap_or(0).into(), "round");
        let margin = self.margin * 100.0;
        let note = format!(
            "{rounds} in random order, each target once a round. Geometric means over the \
             rounds. The intervals of ratios hold for all comparisons together with 95 %. A \
             difference below {margin} % counts as none."
        );
        let table = table.titled(format!("Compared with {base}"));
        table.noted([note]).shown(show)
    }

    /// A figure of a target, with its comparison if there is one.
    fn of_target(&self, target: &StudyCell, figure: &StudyFigure) -> Row {
        let mut comparisons = self.with_interval();
        let found =
            comparisons.find(|it| it.level == target.target() && it.reading == figure.reading);
        if let Some(found) = found {
            return self.compared(found);
        }
        let base = self.cells.first().map_or("", StudyCell::target);
        let factor = self.factors.first().map_or("", |it| &it.name);
        let levels = [&figure.reading, factor, target.target(), base, ""];
        let figures = self.both(target.target(), base, &figure.reading);
        Row::new(
            levels.map(str::to_owned).to_vec(),
            figures,
            "",
            Trust::Reliable,
        )
    }

    fn compared(&self, it: &StudyComparison) -> Row {
        let context = self.factors.iter().zip(&it.context);
        let context = context.filter(|(_, level)| !level.is_empty());
        let context = context.map(|(factor, level)| format!("{} {level}", factor.name));
        let context = context.collect::<Vec<String>>().join(", ");
        let levels = [&it.reading, &it.factor, &it.level, &it.against, &context];
        let better = self.better(&it.reading);
        let (name, unit) = match it.scale {
            StudyScale::Ratio => ("ratio", Unit::Ratio),
            StudyScale::Difference => ("difference", it.unit),
        };
        let both = match it.sides {
            Some([level, against]) => [("base", against), ("new", level)]
                .map(|(name, value)| Figure::new(name, it.unit, better, value))
                .to_vec(),
            None => self.both(&it.level, &it.against, &it.reading),
        };
        let figures = both.into_iter().chain([
            Figure::new(name, unit, better, it.value).as_role(Role::Headline),
            P_VALUE.bare(it.p_adjusted),
            ROUNDS.exact(it.rounds()),
        ]);
        let meaning = Meaning::of(it, better);
        let levels = levels.map(Clone::clone).to_vec();
        let mut sides = self.cells.iter().filter(|cell| self.is_side(cell, it));
        let is_spoiled = sides.any(|cell| self.is_spoiled(cell, &it.reading));
        let row = Row::new(levels, figures, name, Trust::reliable_if(!is_spoiled));
        let row = row.with_word("shown", meaning.word());
        match it.is_stated {
            true => row,
            false => row.with_word("concluded", "no"),
        }
    }

    /// Whether a combination is one of those that a comparison is made of.
    fn is_side(&self, cell: &StudyCell, it: &StudyComparison) -> bool {
        let mut factors = self.factors.iter().zip(&cell.levels).zip(&it.context);
        factors.all(
            |((factor, level), context)| match factor.name == it.factor {
                true => [&it.level, &it.against].contains(&level),
                false => context.is_empty() || context == level,
            },
        )
    }

    /// The values of two levels, if each is a single combination.
    fn both(&self, level: &str, against: &str, reading: &str) -> Vec<Figure> {
        let of = |name: &'static str, level: &str| {
            let mut cells = self.cells.iter().filter(|it| it.levels == [level]);
            let mut figures = cells.next()?.figures.iter();
            let it = figures.find(|it| it.reading == reading)?;
            Some(Figure::new(name, it.unit, it.better, it.value))
        };
        let both = [of("base", against), of("new", level)];
        both.into_iter().flatten().collect()
    }

    pub(super) fn better(&self, reading: &str) -> Better {
        let mut figures = self.cells.iter().flat_map(|it| &it.figures);
        let found = figures.find(|it| it.reading == reading);
        found.map_or(Better::Neither, |it| it.better)
    }
}

impl StudyCell {
    /// Its first level: the target, in a comparison of targets.
    pub(super) fn target(&self) -> &str {
        self.levels.first().map_or("", String::as_str)
    }
}
