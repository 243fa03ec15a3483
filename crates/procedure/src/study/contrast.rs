//! Contrasts: sums over cells, one value for each round, whose mean is compared with zero.
//!
//! Within a round the machine is in much the same condition for all cells, so a contrast is formed
//! per round, and Student's t is applied to its values. Variances are not pooled over cells: a
//! cache and a disk scatter differently.

use results::{Reading, StudyReplicate, StudyScale, Unit};
use stats::{
    CONFIDENCE, Estimate, bears_conclusion, compare_pairs, geometric_repeats_mean, holm,
    repeats_mean, replicate_mean,
};

/// One reading: a value for each cell and round.
#[derive(Clone, Debug)]
pub(super) struct DesignColumn {
    pub reading: Reading,
    /// By cell, then by round; none if not measured.
    pub values: Vec<Vec<Option<f64>>>,
    /// By cell: the interval within its repeat, if there is only one.
    pub within: Vec<Option<Estimate>>,
}

impl DesignColumn {
    /// All readings, in order of first appearance.
    pub fn all(
        replicates: &[StudyReplicate],
        cells: &[Vec<String>],
        wanted: &[String],
    ) -> Vec<Self> {
        let rounds = replicates.iter().map(|it| it.round).max().unwrap_or(0) as usize;
        let mut columns: Vec<Self> = Vec::new();
        for replicate in replicates {
            let Some(cell) = cells.iter().position(|cell| *cell == replicate.levels) else {
                continue;
            };
            for reading in &replicate.readings {
                if !wanted.is_empty() && !wanted.contains(&reading.name) {
                    continue;
                }
                let known = columns
                    .iter()
                    .position(|it| it.reading.name == reading.name);
                let at = known.unwrap_or_else(|| {
                    columns.push(Self {
                        reading: reading.clone(),
                        values: vec![vec![None; rounds]; cells.len()],
                        within: vec![None; cells.len()],
                    });
                    columns.len() - 1
                });
                let value = Some(reading.value).filter(|value| value.is_finite());
                columns[at].values[cell][replicate.round as usize - 1] = value;
                columns[at].within[cell] = reading.within.filter(|_| rounds == 1);
            }
        }
        columns
    }

    /// Values of a cell with their rounds, counted from 1.
    pub fn of_cell(&self, cell: usize) -> Vec<(u32, f64)> {
        let values = self.values[cell].iter().enumerate();
        values
            .filter_map(|(round, value)| Some((round as u32 + 1, (*value)?)))
            .collect()
    }

    /// The scale: difference for shares and for values that may be zero or negative, else ratio.
    pub fn scale(&self) -> StudyScale {
        if self.reading.unit != Unit::Share && self.is_positive() {
            StudyScale::Ratio
        } else {
            StudyScale::Difference
        }
    }

    /// The mean of repeats on its scale: of values that are compared by their ratio the geometric
    /// one, so that the ratio of two means is that of the comparison.
    pub fn mean(&self, values: &[f64]) -> Option<Estimate> {
        match self.scale() {
            StudyScale::Ratio => geometric_repeats_mean(values),
            StudyScale::Difference => repeats_mean(values),
        }
    }

    /// Whether every value has a logarithm.
    pub fn is_positive(&self) -> bool {
        let mut values = self.values.iter().flatten().flatten();
        values.all(|value| *value > 0.0)
    }

    /// Whether all values are parts of a whole: shares, none above one.
    pub fn is_part(&self) -> bool {
        let mut values = self.values.iter().flatten().flatten();
        self.reading.unit == Unit::Share && values.all(|value| (0.0..=1.0).contains(value))
    }

    /// The margin on the scale of contrasts.
    pub fn margin(&self, margin: f64) -> f64 {
        match (self.scale(), self.reading.unit) {
            (StudyScale::Ratio, _) => margin.ln_1p(),
            (StudyScale::Difference, Unit::Share) => margin,
            // A difference has no base for a relative margin.
            (StudyScale::Difference, _) => 0.0,
        }
    }
}

/// A weighted sum over cells.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Contrast {
    pub terms: Vec<(usize, f64)>,
}

impl Contrast {
    /// The mean of `cells` minus the mean of `others`.
    pub fn between(cells: &[usize], others: &[usize]) -> Self {
        let weight = |cells: &[usize], sign: f64| {
            let weight = sign / cells.len() as f64;
            cells.iter().map(|&cell| (cell, weight)).collect::<Vec<_>>()
        };
        let terms = [weight(cells, 1.0), weight(others, -1.0)].concat();
        Self { terms }
    }

    /// This contrast minus another.
    pub fn minus(&self, other: &Self) -> Self {
        let negative = other.terms.iter().map(|&(cell, weight)| (cell, -weight));
        let terms = self.terms.iter().copied().chain(negative).collect();
        Self { terms }
    }

    /// Its value in every round that has all its cells.
    pub fn values(&self, column: &DesignColumn, scale: StudyScale) -> Vec<f64> {
        let rounds = column.values.first().map_or(0, Vec::len);
        let value = |round: usize| {
            self.terms.iter().try_fold(0.0, |sum, &(cell, weight)| {
                let value = column.values[cell][round]?;
                let value = if scale == StudyScale::Ratio {
                    value.ln()
                } else {
                    value
                };
                Some(sum + weight * value)
            })
        };
        (0..rounds).filter_map(value).collect()
    }
}

/// Probability that a study makes any false claim.
pub(super) const ERROR: f64 = 1.0 - CONFIDENCE;

/// Contrasts that are judged together, so that at most `error` of such families make a false claim.
pub(super) struct ContrastFamily {
    error: f64,
    p_values: Vec<f64>,
}

impl ContrastFamily {
    /// A family with one of `parts` parts of the study's probability of a false claim.
    pub fn new(parts: u32) -> Self {
        Self {
            error: ERROR / f64::from(parts),
            p_values: Vec::new(),
        }
    }

    /// Adds a contrast and returns its position. With too few rounds it makes no claim.
    pub fn add(&mut self, values: &[f64], margin: f64) -> usize {
        let is_enough = bears_conclusion(values.len());
        let p_value = if is_enough {
            p_beyond(values, margin)
        } else {
            1.0
        };
        self.p_values.push(p_value);
        self.p_values.len() - 1
    }

    /// Holm-adjusted probability of each contrast. Claims are those below [`ERROR`].
    pub fn adjusted(&self) -> Vec<f64> {
        let factor = ERROR / self.error;
        let adjusted = holm(&self.p_values);
        adjusted
            .into_iter()
            .map(|p| (p * factor).min(1.0))
            .collect()
    }

    /// Confidence of each interval so that all hold simultaneously (Bonferroni).
    pub fn confidence(&self) -> f64 {
        1.0 - self.error / self.p_values.len().max(1) as f64
    }
}

/// Two-sided probability of values at least this far beyond the margin if there were no difference
/// beyond it.
fn p_beyond(values: &[f64], margin: f64) -> f64 {
    let Some(mean) = replicate_mean(values, CONFIDENCE).map(|mean| mean.value) else {
        return 1.0;
    };
    if mean.abs() <= margin {
        return 1.0;
    }
    let beyond: Vec<f64> = values.iter().map(|it| it - margin.copysign(mean)).collect();
    // The test does not depend on the unit, and exponentials of large numbers would overflow.
    let largest = beyond.iter().fold(0.0_f64, |most, it| most.max(it.abs()));
    let pairs: Vec<(f64, f64)> = beyond
        .iter()
        .map(|it| ((it / largest).exp(), 1.0))
        .collect();
    compare_pairs(&pairs, CONFIDENCE).map_or(1.0, |found| found.p_value)
}

/// The mean of a contrast on the scale of the reading: a ratio or a difference. With fewer than two
/// rounds only their number is known.
pub(super) fn estimate(values: &[f64], confidence: f64, scale: StudyScale) -> Estimate {
    let mean = replicate_mean(values, confidence).unwrap_or(Estimate {
        value: f64::NAN,
        low: f64::NAN,
        high: f64::NAN,
        confidence,
        samples: values.len() as f64,
    });
    match scale {
        StudyScale::Difference => mean,
        StudyScale::Ratio => Estimate {
            value: mean.value.exp(),
            low: mean.low.exp(),
            high: mean.high.exp(),
            ..mean
        },
    }
}
