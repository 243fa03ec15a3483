//! Analysis of a study's repeats.
//!
//! Each level is compared with its reference, averaged over the combinations of the other factors
//! at which both were measured. If the effect differs between those combinations, it is stated for
//! each of them instead. Three families of contrasts (averages, interactions, and single
//! combinations) share the probability of a false claim, each corrected by Holm. Intervals are
//! Bonferroni's, which hold simultaneously. With one factor there is one family.
//!
//! A study may have been interrupted, and repeats may be invalid: a comparison uses the rounds that
//! have all its cells, and one rule decides whether these are enough ([`stats::bears_conclusion`]).

use results::{
    Better, StudyCell, StudyComparison, StudyFigure, StudyKinds, StudyOutlier, StudyReplicate,
    StudyScale, StudyVerdict,
};
use stats::{CONFIDENCE, Estimate, bears_conclusion, outliers};

use crate::repeats::{self, TwoKinds};
use crate::study::contrast::{Contrast, ContrastFamily, DesignColumn, ERROR, estimate};
use crate::study::definition::{Against, StudyDefinition};
use crate::study::needed::replicates_needed;

/// The parts of a study definition that the analysis needs.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyShape {
    /// Names of the factors.
    pub factors: Vec<String>,
    /// Names of their levels.
    pub levels: Vec<Vec<String>>,
    /// What the levels of each are compared with.
    pub against: Vec<Against>,
    /// Combinations to measure.
    pub cells: Vec<Vec<usize>>,
    /// Relative differences below this are irrelevant.
    pub margin: f64,
    /// Readings to analyse; all if empty.
    pub readings: Vec<String>,
}

impl StudyShape {
    /// The shape of a study.
    pub fn of(definition: &StudyDefinition) -> Self {
        let factors = &definition.factors;
        let names = |factor: &super::definition::Factor| {
            let levels = factor.levels.iter();
            levels.map(|level| level.name.clone()).collect()
        };
        Self {
            factors: factors.iter().map(|factor| factor.name.clone()).collect(),
            levels: factors.iter().map(names).collect(),
            against: factors.iter().map(|it| it.against.clone()).collect(),
            cells: definition.cells(),
            margin: definition.margin,
            readings: definition.readings.clone(),
        }
    }

    fn names(&self) -> Vec<Vec<String>> {
        let name = |cell: &Vec<usize>| {
            let levels = cell.iter().zip(&self.levels);
            levels.map(|(&level, names)| names[level].clone()).collect()
        };
        self.cells.iter().map(name).collect()
    }
}

/// Results of the analysis.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyFindings {
    /// Results for each combination of levels.
    pub cells: Vec<StudyCell>,
    /// All comparisons.
    pub comparisons: Vec<StudyComparison>,
}

/// Analyses what has been measured so far.
pub fn analyse(shape: &StudyShape, replicates: &[StudyReplicate]) -> StudyFindings {
    let names = shape.names();
    let columns = DesignColumn::all(replicates, &names, &shape.readings);
    let cells = cells_of(&names, &columns, replicates);
    let mut comparisons = compare(shape, &columns);
    let count = comparisons.len();
    for it in &mut comparisons {
        let is_open = it.is_stated && it.is_enough() && it.verdict == StudyVerdict::NotShown;
        let needed = || replicates_needed(it, shape.margin, (it.rounds(), count));
        it.replicates_needed = is_open.then(needed).flatten();
    }
    StudyFindings { cells, comparisons }
}

fn cells_of(
    names: &[Vec<String>],
    columns: &[DesignColumn],
    replicates: &[StudyReplicate],
) -> Vec<StudyCell> {
    let of_cell = |(cell, levels): (usize, &Vec<String>)| {
        let figures = columns.iter().filter_map(|column| figure(column, cell));
        let of_cell = || replicates.iter().filter(|it| it.levels == *levels);
        // Readings of an invalid repeat are not kept.
        let usable = of_cell().filter(|it| !it.readings.is_empty()).count();
        StudyCell {
            levels: levels.clone(),
            replicates: of_cell().count() as u32,
            usable: Some(usable as u32),
            figures: figures.collect(),
        }
    };
    names.iter().enumerate().map(of_cell).collect()
}

fn figure(column: &DesignColumn, cell: usize) -> Option<StudyFigure> {
    let found = column.of_cell(cell);
    let values: Vec<f64> = found.iter().map(|(_, value)| *value).collect();
    let first = *values.first()?;
    // A single repeat only shows the variation within it.
    let alone = column.within[cell].unwrap_or(Estimate {
        value: first,
        low: f64::NAN,
        high: f64::INFINITY,
        confidence: CONFIDENCE,
        samples: 1.0,
    });
    let mut value = column.mean(&values).unwrap_or(Estimate {
        value: first,
        ..alone
    });
    // A part of a whole cannot exceed it.
    if column.is_part() && value.is_bounded() {
        value.high = value.high.min(1.0);
    }
    let kinds = TwoKinds::of(&values);
    // With two groups, neither counts as outliers.
    let far = kinds.map_or_else(|| outliers(&values), |_| Vec::new());
    let far = far.into_iter().map(|at| StudyOutlier {
        round: found[at].0,
        value: found[at].1,
    });
    Some(StudyFigure {
        reading: column.reading.name.clone(),
        unit: column.reading.unit,
        better: column.reading.better,
        value,
        outliers: far.collect(),
        two_kinds: kinds.map(|it| StudyKinds {
            low: it.fast,
            high: it.slow,
            high_share: it.slow_share,
        }),
        drift: repeats::drift(&values),
    })
}

/// A level and its reference, at each combination of the other factors that has both.
struct Pairing {
    factor: usize,
    level: usize,
    against: usize,
    /// For each combination: its levels, its cell, and the reference's cell.
    contexts: Vec<(Vec<usize>, usize, usize)>,
}

impl Pairing {
    fn average(&self) -> Contrast {
        let cells: Vec<usize> = self.contexts.iter().map(|context| context.1).collect();
        let others: Vec<usize> = self.contexts.iter().map(|context| context.2).collect();
        Contrast::between(&cells, &others)
    }

    /// The effect at one combination.
    fn at(&self, context: usize) -> Contrast {
        let (_, cell, other) = &self.contexts[context];
        Contrast::between(&[*cell], &[*other])
    }

    /// The effect at one combination minus the average effect at the others.
    fn deviation(&self, context: usize) -> Contrast {
        let others = self.contexts.iter().enumerate();
        let others: Vec<_> = others.filter(|(at, _)| *at != context).collect();
        let cells: Vec<usize> = others.iter().map(|(_, it)| it.1).collect();
        let against: Vec<usize> = others.iter().map(|(_, it)| it.2).collect();
        self.at(context).minus(&Contrast::between(&cells, &against))
    }
}

fn pairings(shape: &StudyShape) -> Vec<Pairing> {
    let mut found = Vec::new();
    for (factor, names) in shape.levels.iter().enumerate() {
        let pairs: Vec<(usize, usize)> = match shape.against[factor] {
            Against::Level(against) => (0..names.len())
                .filter(|&level| level != against)
                .map(|level| (level, against))
                .collect(),
            Against::Each => (0..names.len())
                .flat_map(|against| (against + 1..names.len()).map(move |level| (level, against)))
                .collect(),
        };
        for (level, against) in pairs {
            let contexts = contexts_of(shape, factor, level, against);
            if !contexts.is_empty() {
                found.push(Pairing {
                    factor,
                    level,
                    against,
                    contexts,
                });
            }
        }
    }
    found
}

fn contexts_of(
    shape: &StudyShape,
    factor: usize,
    level: usize,
    against: usize,
) -> Vec<(Vec<usize>, usize, usize)> {
    let cells = shape.cells.iter().enumerate();
    let of_level = cells.filter(|(_, cell)| cell[factor] == level);
    of_level
        .filter_map(|(at, cell)| {
            let mut other = cell.clone();
            other[factor] = against;
            let other_at = shape.cells.iter().position(|cell| *cell == other)?;
            Some((cell.clone(), at, other_at))
        })
        .collect()
}

/// All comparisons of readings that have a better direction: each level averaged over the
/// combinations of the others, then at each of them.
fn compare(shape: &StudyShape, columns: &[DesignColumn]) -> Vec<StudyComparison> {
    let pairings = pairings(shape);
    let judged: Vec<&DesignColumn> = columns
        .iter()
        .filter(|column| column.reading.better != Better::Neither)
        .collect();
    let parts = if pairings.iter().any(|it| it.contexts.len() > 1) {
        3
    } else {
        1
    };
    let mut averages = ContrastFamily::new(parts);
    let mut deviations = ContrastFamily::new(parts);
    let mut singles = ContrastFamily::new(parts);
    // Positions in the families, in the order of the loops below.
    let mut drafts = Vec::new();
    for column in &judged {
        let margin = column.margin(shape.margin);
        let values = |contrast: Contrast| contrast.values(column, column.scale());
        for pairing in &pairings {
            let average = averages.add(&values(pairing.average()), margin);
            let several = (0..pairing.contexts.len()).filter(|_| pairing.contexts.len() > 1);
            let of_contexts = several.map(|context| {
                let deviates = deviations.add(&values(pairing.deviation(context)), margin);
                (deviates, singles.add(&values(pairing.at(context)), margin))
            });
            drafts.push((*column, pairing, average, of_contexts.collect::<Vec<_>>()));
        }
    }
    let (p_average, p_deviation) = (averages.adjusted(), deviations.adjusted());
    let p_single = singles.adjusted();
    let differs = |column: &DesignColumn, factor: usize| {
        drafts.iter().any(|(its, pairing, _, contexts)| {
            its.reading.name == column.reading.name
                && pairing.factor == factor
                && contexts.iter().any(|it| p_deviation[it.0] <= ERROR)
        })
    };
    let mut compared = Vec::new();
    for (column, pairing, position, contexts) in &drafts {
        let judge = Judge {
            shape,
            column,
            pairing,
        };
        let found = (p_average[*position], averages.confidence());
        // An average over a single combination holds only there.
        let only = (pairing.contexts.len() == 1).then_some(0);
        compared.push(judge.comparison(&pairing.average(), found, only));
        let is_stated = differs(column, pairing.factor);
        for (context, (_, position)) in contexts.iter().enumerate() {
            let found = (p_single[*position], singles.confidence());
            let single = judge.comparison(&pairing.at(context), found, Some(context));
            compared.push(StudyComparison {
                is_stated,
                ..single
            });
        }
    }
    compared
}

struct Judge<'a> {
    shape: &'a StudyShape,
    column: &'a DesignColumn,
    pairing: &'a Pairing,
}

impl Judge<'_> {
    fn comparison(
        &self,
        contrast: &Contrast,
        (p_adjusted, confidence): (f64, f64),
        context: Option<usize>,
    ) -> StudyComparison {
        let scale = self.column.scale();
        let values = contrast.values(self.column, scale);
        let mut value = estimate(&values, confidence, scale);
        if self.column.is_part() {
            (value.low, value.high) = (value.low.max(-1.0), value.high.min(1.0));
        }
        let has_ratio = scale == StudyScale::Difference && self.column.is_positive();
        let ratio = has_ratio.then(|| {
            let values = contrast.values(self.column, StudyScale::Ratio);
            estimate(&values, confidence, StudyScale::Ratio)
        });
        let names = &self.shape.levels;
        let factor = self.pairing.factor;
        StudyComparison {
            reading: self.column.reading.name.clone(),
            unit: self.column.reading.unit,
            factor: self.shape.factors[factor].clone(),
            level: names[factor][self.pairing.level].clone(),
            against: names[factor][self.pairing.against].clone(),
            context: self.context(context),
            scale,
            value,
            p_adjusted,
            verdict: self.verdict(&values, p_adjusted, value),
            is_stated: true,
            ratio,
            sides: self.sides(context),
            replicates_needed: None,
        }
    }

    /// The means of both sides over the rounds that have both, if each is a single combination.
    fn sides(&self, context: Option<usize>) -> Option<[Estimate; 2]> {
        let (_, level, against) = self.pairing.contexts.get(context?)?;
        let values = &self.column.values;
        let pairs = values[*level].iter().zip(&values[*against]);
        let pairs = pairs.filter_map(|(level, against)| Some(((*level)?, (*against)?)));
        let (level, against): (Vec<f64>, Vec<f64>) = pairs.unzip();
        Some([self.column.mean(&level)?, self.column.mean(&against)?])
    }

    /// Levels of the other factors at a combination; empty for an average over all.
    fn context(&self, context: Option<usize>) -> Vec<String> {
        let names = &self.shape.levels;
        let Some(context) = context else {
            return vec![String::new(); names.len()];
        };
        let levels = self.pairing.contexts[context].0.iter().enumerate();
        let name = |(at, &level): (usize, &usize)| {
            if at == self.pairing.factor || names[at].len() == 1 {
                String::new()
            } else {
                names[at][level].clone()
            }
        };
        levels.map(name).collect()
    }

    fn verdict(&self, values: &[f64], p_adjusted: f64, value: Estimate) -> StudyVerdict {
        let scale = self.column.scale();
        let margin = self.column.margin(self.shape.margin);
        let (zero, below, above) = match scale {
            StudyScale::Ratio => (1.0, (-margin).exp(), margin.exp()),
            StudyScale::Difference => (0.0, -margin, margin),
        };
        if !bears_conclusion(values.len()) {
            StudyVerdict::NotShown
        } else if p_adjusted <= ERROR && value.value > zero {
            StudyVerdict::Higher
        } else if p_adjusted <= ERROR {
            StudyVerdict::Lower
        } else if value.low >= below && value.high <= above {
            StudyVerdict::Same
        } else {
            StudyVerdict::NotShown
        }
    }
}

/// Whether every cell is as precise as requested.
pub fn is_precise(cells: &[StudyCell], precision: f64) -> bool {
    widest(cells, precision) <= 1.0
}

/// The widest interval relative to the requested precision. The interval within a single repeat
/// does not count.
fn widest(cells: &[StudyCell], precision: f64) -> f64 {
    if cells.iter().any(|cell| cell.replicates < 2) {
        return f64::INFINITY;
    }
    let figures = cells.iter().flat_map(|cell| &cell.figures);
    let judged = figures.filter(|figure| figure.better != Better::Neither);
    let widths = judged.map(|figure| match figure.unit {
        results::Unit::Share => (figure.value.high - figure.value.low) / 2.0,
        _ => figure.value.relative_half_width(),
    });
    let known = widths.map(|width| if width.is_nan() { f64::INFINITY } else { width });
    known.fold(0.0, f64::max) / precision
}
