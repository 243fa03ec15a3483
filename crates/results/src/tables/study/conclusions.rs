//! Conclusions of a study for each reading and factor: the best level, those indistinguishable from
//! it, and the difference of each level from the one that it is compared with. Findings, the
//! sentence of the verdict and the table of best levels are all made from these.
//!
//! The intervals of comparisons hold simultaneously, so levels whose intervals do not overlap
//! differ without a further test.

use stats::{Estimate, PAIRS_MIN, bears_conclusion};
use units::{format_count, format_counted};

use super::comparison::Meaning;
use super::is_wide;
use super::wording::{StudyWording, zero};
use crate::reading::{Better, Unit};
use crate::saying::{Saying, spoken};
use crate::show::Show;
use crate::study::{Study, StudyComparison, StudyScale};
use crate::table::{Figure, Role, Row, Table, Trust};

/// Maximum number of sentences in a verdict.
const SAID: usize = 2;

/// Conclusions for one reading and one factor.
struct Conclusion<'a> {
    reading: &'a str,
    words: StudyWording,
    factor: &'a str,
    /// Each level compared with another, averaged over the other factors.
    main: Vec<&'a StudyComparison>,
    /// The same at each combination of the other factors, if the effect differs between them.
    at_each: Vec<&'a StudyComparison>,
    /// The best and the worst level and their ratio; `None` if no level is shown to be worse than
    /// the best.
    best: Option<BestLevel<'a>>,
}

struct BestLevel<'a> {
    level: &'a str,
    worst: &'a str,
    /// The best over the worst.
    by: Estimate,
    /// Levels not shown to be worse.
    open: Vec<&'a str>,
}

impl Study {
    /// A sentence for each reading and factor, the interactions, and the limits of the method. A
    /// single sentence if there are too few rounds.
    pub fn conclusions(&self) -> Vec<String> {
        let Some(rounds) = self.comparisons.iter().map(StudyComparison::rounds).max() else {
            return Vec::new();
        };
        if !bears_conclusion(rounds as usize) {
            let verb = if rounds == 1 { "allows" } else { "allow" };
            let rounds = format_counted(rounds.into(), "complete round");
            return vec![format!(
                "{rounds} {verb} no conclusion: it takes at least {PAIRS_MIN}."
            )];
        }
        let found = self.concluded();
        let main = found.iter().map(|it| self.effect(it));
        let interactions = found.iter().filter(|it| !it.at_each.is_empty());
        let interactions = interactions.map(|it| self.interaction(it));
        main.chain(interactions).chain([self.method()]).collect()
    }

    /// The best level of each reading and factor that has one, relative to the worst.
    pub(super) fn best_levels(&self) -> Option<Table> {
        let found = self.concluded();
        let mut rows: Vec<Row> = found.iter().filter_map(|it| self.of_best(it)).collect();
        for row in rows.iter_mut().skip(SAID) {
            row.says = None;
        }
        let factors = ["figure", "factor", "best", "indistinguishable", "worst"];
        let table = Table::new("best-levels", &factors, rows)
            .of_steps()
            .titled("Best levels")
            .noted(["Best over worst, averaged over the other factors.".to_owned()])
            .shown(Show::detail().columns("ratio difference"));
        (!table.rows.is_empty()).then_some(table)
    }

    fn of_best(&self, found: &Conclusion<'_>) -> Option<Row> {
        let best = found.best.as_ref()?;
        let open = best.open.join(", ");
        let levels = [found.reading, found.factor, best.level, &open, best.worst];
        let (name, unit) = match found.words.scale {
            StudyScale::Ratio => ("ratio", Unit::Ratio),
            StudyScale::Difference => ("difference", found.words.unit),
        };
        let figure = Figure::new(name, unit, found.words.better, best.by).as_role(Role::Headline);
        let levels = levels.map(str::to_owned).to_vec();
        let is_unstable = self.cells.iter().any(|cell| {
            let mut figures = cell.figures.iter().filter(|it| it.reading == found.reading);
            figures.any(is_wide) || self.is_spoiled(cell, found.reading)
        });
        let trust = Trust::reliable_if(!is_unstable);
        let saying = match found.main.as_slice() {
            // The order holds even if the row is unstable.
            _ if is_unstable => Saying::quoting(self.best_named(found, best, "")).if_unstable(),
            [only] => Saying::quoting(self.of_two(found, only)),
            _ => Saying::quoting(self.best_in_words(found, best)),
        };
        let row = Row::new(levels, [figure], name, trust);
        Some(row.saying(Some(saying.of_name())))
    }

    /// All readings and factors in the order of the comparisons.
    fn concluded(&self) -> Vec<Conclusion<'_>> {
        let mut found: Vec<Conclusion<'_>> = Vec::new();
        // If a level never has the reading, more time would not make it comparable.
        for it in self.comparisons.iter().filter(|it| it.rounds() > 0) {
            let is_same =
                |of: &&mut Conclusion<'_>| of.reading == it.reading && of.factor == it.factor;
            let Some(of) = found.iter_mut().find(is_same) else {
                found.push(Conclusion {
                    reading: &it.reading,
                    words: StudyWording {
                        scale: it.scale,
                        unit: it.unit,
                        better: self.better(&it.reading),
                    },
                    factor: &it.factor,
                    main: vec![it],
                    at_each: Vec::new(),
                    best: None,
                });
                continue;
            };
            // The average over all combinations comes before the single ones.
            let is_pair = |other: &&StudyComparison| pair(other) == pair(it);
            match of.main.iter().any(is_pair) {
                false => of.main.push(it),
                true if it.is_stated => of.at_each.push(it),
                true => {}
            }
        }
        for of in &mut found {
            of.best = of.best_level(self.margin);
        }
        found
    }

    /// The main effect.
    fn effect(&self, found: &Conclusion<'_>) -> String {
        let text = match (found.main.as_slice(), &found.best) {
            ([only], _) => self.of_two(found, only),
            (all, _) if all.iter().all(|it| !it.is_enough()) => format!(
                "{}: too few complete rounds of {} for a conclusion, which takes {PAIRS_MIN}",
                spoken(found.reading),
                found.factor
            ),
            (all, best) => {
                let head = match best {
                    Some(best) => self.best_in_words(found, best),
                    None => self.none_best(found),
                };
                format!("{head}. {}", found.list(all, &|it| self.at(it)))
            }
        };
        let needed = found.main.iter().filter_map(|it| {
            let count = format_count(it.replicates_needed?.into());
            Some((found.level(&it.level), found.level(&it.against), count))
        });
        let needed: Vec<(String, String, String)> = needed.collect();
        match needed.as_slice() {
            [] => format!("{text}."),
            [(level, against, count)] => format!(
                "{text}. If it is as it looks, {count} repeats would show {level} against \
                 {against}."
            ),
            several => {
                let counts = several.iter();
                let counts = counts.map(|(level, _, count)| format!("{level} {count}"));
                let counts = counts.collect::<Vec<String>>().join(", ");
                format!("{text}. Repeats that would show them as they look: {counts}.")
            }
        }
    }

    /// `write rate: best with record 64KiB, 12.1 (11.0 .. 13.2) times as fast as 4KiB;
    /// indistinguishable from 32KiB`.
    fn best_in_words(&self, found: &Conclusion<'_>, best: &BestLevel<'_>) -> String {
        let size = found.words.size(best.by, &found.level(best.worst), None);
        match best.by.contains(zero(found.main[0])) {
            true => self.best_named(found, best, ""),
            false => self.best_named(found, best, &format!(", {size}")),
        }
    }

    /// The same with `size` instead of the ratio.
    fn best_named(&self, found: &Conclusion<'_>, best: &BestLevel<'_>, size: &str) -> String {
        let open = match best.open.as_slice() {
            [] => String::new(),
            open => format!(", indistinguishable from {}", listed(open)),
        };
        let over = self.over(found, &found.main);
        let (reading, factor, level) = (spoken(found.reading), found.factor, best.level);
        format!("{reading}: best with {factor} {level}{size}{over}{open}")
    }

    /// The same if no level is shown to be worse than the apparent best.
    fn none_best(&self, found: &Conclusion<'_>) -> String {
        let (reading, factor) = (spoken(found.reading), found.factor);
        let over = self.over(found, &found.main);
        let is = |wanted: &[Meaning]| {
            let mut all = found.main.iter();
            all.all(|it| wanted.contains(&Meaning::of(it, found.words.better)))
        };
        let margin = self.margin * 100.0;
        if is(&[Meaning::Same]) {
            return format!("{reading}: the same with each {factor}, within {margin} %{over}");
        }
        if is(&[Meaning::Same, Meaning::NotShown, Meaning::TooFew]) {
            return format!(
                "{reading}: no difference above {margin} % shown between {factor}s{over}"
            );
        }
        format!("{reading}: which {factor} is best is not shown{over}")
    }

    /// Two levels.
    fn of_two(&self, found: &Conclusion<'_>, it: &StudyComparison) -> String {
        let (factor, level, against) = (found.factor, &it.level, &it.against);
        let reading = spoken(found.reading);
        let over = self.over(found, &[it]);
        let against = &found.level(against);
        let size = || found.words.size(it.value, against, it.ratio);
        let both = format!("{factor} {level} and {against}{over}");
        let margin = self.margin * 100.0;
        match Meaning::of(it, found.words.better) {
            Meaning::TooFew => format!(
                "{reading}: {} of both {both}, and a conclusion takes {PAIRS_MIN}",
                format_counted(it.rounds().into(), "complete round")
            ),
            Meaning::Same => {
                let size = found.words.bare(it.value);
                format!("{reading}: the same with {both}, within {margin} %, {size}")
            }
            Meaning::NotShown => {
                let size = found.words.bare(it.value);
                format!("{reading}: no difference above {margin} % shown between {both} ({size})")
            }
            meaning if it.value.contains(zero(it)) => format!(
                "{reading}: {factor} {level} is {} than {against} by Holm's rule{over}. The \
                 interval for all comparisons together holds no difference, too ({}). More repeats \
                 would show by how much",
                found.words.word(meaning),
                found.words.bare(it.value)
            ),
            _ => format!(
                "{reading}: {factor} {level} {} {}{over}",
                found.words.verb(it.value),
                size()
            ),
        }
    }

    /// How much the effect differs between combinations: the smallest and the largest.
    fn interaction(&self, found: &Conclusion<'_>) -> String {
        let others = self.others(found.factor);
        let mut each = Vec::new();
        for main in &found.main {
            let here = found.at_each.iter().filter(|it| pair(it) == pair(main));
            let mut here: Vec<&StudyComparison> = here.copied().collect();
            here.sort_by(|one, other| one.value.value.total_cmp(&other.value.value));
            let (Some(least), Some(most)) = (here.first(), here.last()) else {
                continue;
            };
            let at = |it: &StudyComparison| {
                format!("{} with {}", found.words.item(it), self.context(it))
            };
            let between = if here.len() == 2 { "," } else { " to" };
            let from = if here.len() == 2 { "" } else { "from " };
            each.push(format!(
                "{} {from}{}{between} {}",
                found.level(&main.level),
                at(least),
                at(most)
            ));
        }
        let as_what = found.words.as_what(&found.level(&found.main[0].against));
        format!(
            "The effect of {} on {} differs with {}: {as_what}, {}.",
            found.factor,
            spoken(found.reading),
            listed(&others),
            each.join("; ")
        )
    }

    /// `, averaged over mount`: the factors that comparisons average over.
    fn over(&self, found: &Conclusion<'_>, main: &[&StudyComparison]) -> String {
        let others = self.others(found.factor);
        let named = |it: &&StudyComparison| it.context.iter().any(|level| !level.is_empty());
        let depends = match found.at_each.is_empty() {
            true => "",
            false => ", on which it depends",
        };
        let both = match self.is_whole() {
            true => "",
            false => ", where both were measured",
        };
        match main {
            _ if others.is_empty() => String::new(),
            [only] if named(only) => self.at(only),
            _ => format!(", averaged over {}{both}{depends}", listed(&others)),
        }
    }

    /// ` (mount default)` for results at a single combination.
    fn at(&self, it: &StudyComparison) -> String {
        match self.context(it) {
            none if none.is_empty() => none,
            context => format!(" ({context})"),
        }
    }

    fn context(&self, it: &StudyComparison) -> String {
        let named = self.factors.iter().zip(&it.context);
        let named = named.filter(|(_, level)| !level.is_empty());
        let named = named.map(|(factor, level)| format!("{} {level}", factor.name));
        named.collect::<Vec<String>>().join(", ")
    }

    /// Other factors with more than one level.
    fn others(&self, factor: &str) -> Vec<&str> {
        let others = self.factors.iter();
        let others = others.filter(|it| it.name != factor && it.levels.len() > 1);
        others.map(|it| it.name.as_str()).collect()
    }

    /// Whether all combinations of levels are measured.
    fn is_whole(&self) -> bool {
        let levels = self.factors.iter().map(|it| it.levels.len());
        self.cells.len() == levels.product::<usize>()
    }

    /// The method and its limits.
    fn method(&self) -> String {
        let margin = self.margin * 100.0;
        let together = match self.comparisons.len() {
            1 => "The interval is one of 95 %".to_owned(),
            count => format!(
                "The intervals hold for all {count} comparisons together with 95 % (Bonferroni). \
                 Differences are claimed by Holm's correction. At most one study in twenty \
                 makes even one false claim"
            ),
        };
        format!("{together}. Differences below {margin} % count as none.")
    }
}

impl<'a> Conclusion<'a> {
    /// A level, with its factor if the level is only a number.
    fn level(&self, level: &str) -> String {
        match level.parse::<f64>() {
            Ok(_) => format!("{} {level}", self.factor),
            Err(_) => level.to_owned(),
        }
    }

    /// How each level compares with the reference of the first one, which comes first. Only levels
    /// with enough rounds.
    fn levels(&self) -> Vec<(&'a str, Estimate)> {
        let against = &self.main[0].against;
        let own = match self.words.scale {
            StudyScale::Ratio => 1.0,
            StudyScale::Difference => 0.0,
        };
        let others = self.main.iter().filter(|it| it.against == *against);
        let others = others.filter(|it| it.is_enough());
        let others = others.map(|it| (it.level.as_str(), it.value));
        let first = (against.as_str(), Estimate::exact(own, 1.0));
        std::iter::once(first).chain(others).collect()
    }

    fn best_level(&self, margin: f64) -> Option<BestLevel<'a>> {
        let mut levels = self.levels();
        levels.sort_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
        if self.words.better == Better::Higher {
            levels.reverse();
        }
        // A level to which another is shown to be superior is not the best.
        let is_worse = |it: &&(&str, Estimate)| {
            let mut others = levels.iter();
            others.any(|other| self.is_better(other, it, margin))
        };
        let (worse, others): (Vec<&(&str, Estimate)>, Vec<_>) = levels.iter().partition(is_worse);
        let (worst, (best, open)) = (worse.last()?, others.split_first()?);
        Some(BestLevel {
            level: best.0,
            worst: worst.0,
            by: self.over(best.1, worst.1),
            open: open.iter().map(|it| it.0).collect(),
        })
    }

    /// Ratio of two levels, from how both compare with a third.
    fn over(&self, one: Estimate, other: Estimate) -> Estimate {
        let (value, low, high) = match self.words.scale {
            StudyScale::Ratio => (
                one.value / other.value,
                one.low / other.high,
                one.high / other.low,
            ),
            StudyScale::Difference => (
                one.value - other.value,
                one.low - other.high,
                one.high - other.low,
            ),
        };
        Estimate {
            value,
            low,
            high,
            ..one
        }
    }

    /// Whether a level is shown to be better, by the comparison of both or because their intervals
    /// do not overlap.
    fn is_better(&self, one: &(&str, Estimate), other: &(&str, Estimate), margin: f64) -> bool {
        let by = self.over(one.1, other.1);
        let is_apart = match (self.words.scale, self.words.better) {
            (StudyScale::Ratio, Better::Lower) => by.high < 1.0 / (1.0 + margin),
            (StudyScale::Ratio, _) => by.low > 1.0 + margin,
            (StudyScale::Difference, Better::Lower) => by.high < -margin,
            (StudyScale::Difference, _) => by.low > margin,
        };
        let shown = |level: &str, against: &str, wanted: Meaning| {
            let mut main = self.main.iter();
            let found = main.find(|it| it.level == level && it.against == against);
            found.is_some_and(|it| {
                Meaning::of(it, self.words.better) == wanted && !it.value.contains(zero(it))
            })
        };
        is_apart || shown(one.0, other.0, Meaning::Better) || shown(other.0, one.0, Meaning::Worse)
    }

    /// Levels by the level that they are compared with, a sentence for each of the latter.
    fn list(&self, all: &[&StudyComparison], at: &dyn Fn(&StudyComparison) -> String) -> String {
        let sentences = all.chunk_by(|one, other| one.against == other.against);
        let sentences = sentences.map(|of| {
            let items = of.iter().map(|it| {
                let at = at(it);
                format!("{} {}{at}", self.level(&it.level), self.words.item(it))
            });
            let items: Vec<String> = items.collect();
            let what = self.words.as_what(&self.level(&of[0].against));
            let mut letters = what.chars();
            let first = letters.next().map(|it| it.to_ascii_uppercase());
            let first = first.map_or_else(String::new, String::from);
            // A difference is followed by its ratio after a comma.
            let separator = match self.words.scale {
                StudyScale::Ratio => ", ",
                StudyScale::Difference => "; ",
            };
            format!("{first}{}: {}", letters.as_str(), items.join(separator))
        });
        sentences.collect::<Vec<String>>().join(". ")
    }
}

fn pair(it: &StudyComparison) -> (&str, &str) {
    (&it.level, &it.against)
}

/// `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [most @ .., last] if !most.is_empty() => format!("{} and {last}", most.join(", ")),
        _ => names.concat(),
    }
}
