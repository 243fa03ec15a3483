//! Results of a study: how a measurement depends on factors, from repeats in rounds of random
//! order. A run holds them as tables, findings, goals and a note.

use serde::{Deserialize, Serialize};
use stats::Estimate;

use crate::environment::TargetDescription;
use crate::goal::StudyLimit;
use crate::reading::{Better, Reading, Unit};
use crate::warning::Warning;

/// A setting shared by all cells, as TOML.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct StudySetting {
    /// Its name.
    pub key: String,
    pub value: String,
}

/// A factor of the study.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct StudyFactor {
    /// Its name, which heads its column.
    pub name: String,
    /// Its levels in the order of the file.
    pub levels: Vec<String>,
}

/// One measurement of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyReplicate {
    /// Number in order of measurement, from 1.
    pub number: u32,
    /// Its round, from 1; each round visits every cell once.
    pub round: u32,
    /// Levels, one for each factor.
    pub levels: Vec<String>,
    /// When it began, RFC 3339, UTC.
    pub started_at: String,
    /// How long it took, nanoseconds.
    pub elapsed_ns: u64,
    /// The readings.
    pub readings: Vec<Reading>,
    /// Warnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// A repeat that lies far from the others of its cell.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct StudyOutlier {
    pub round: u32,
    #[serde(with = "stats::undefined")]
    pub value: f64,
}

/// One reading of one cell over its repeats.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct StudyFigure {
    /// Name of the reading.
    pub reading: String,
    pub unit: Unit,
    /// Which direction is better.
    pub better: Better,
    /// Mean with its interval of Student's t over the repeats; unbounded for a single one.
    /// Geometric if the reading is compared by ratios.
    pub value: Estimate,
    /// Outliers, which are included in the mean.
    pub outliers: Vec<StudyOutlier>,
    /// The two groups of a bimodal cell, where the mean describes neither.
    pub two_kinds: Option<StudyKinds>,
    /// How far the later half of the repeats lies above the earlier half, as a share, if
    /// significant and more than 5 %.
    pub drift: Option<f64>,
}

/// Two groups of repeats at least an octave apart.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct StudyKinds {
    /// Mean of the lower group.
    #[serde(with = "stats::undefined")]
    pub low: f64,
    /// Mean of the higher group.
    #[serde(with = "stats::undefined")]
    pub high: f64,
    /// Share of the repeats in the higher group.
    #[serde(with = "stats::undefined")]
    pub high_share: f64,
}

/// A combination of levels and its results.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct StudyCell {
    /// Levels, one for each factor.
    pub levels: Vec<String>,
    /// Number of repeats.
    pub replicates: u32,
    /// Number of repeats that no warning makes invalid, from which the figures are made; null in
    /// runs of older versions.
    pub usable: Option<u32>,
    /// One for each reading.
    pub figures: Vec<StudyFigure>,
}

/// Result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StudyVerdict {
    /// Higher, by more than the margin.
    Higher,
    /// Lower, by more than the margin.
    Lower,
    /// The same within the margin.
    Same,
    /// No difference was shown, or there are too few rounds: [`StudyComparison::is_enough`].
    NotShown,
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StudyScale {
    /// By their ratio.
    Ratio,
    /// By their difference: for shares, and for values that may be zero or negative.
    Difference,
}

/// A level compared with another.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct StudyComparison {
    /// Name of the reading.
    pub reading: String,
    pub unit: Unit,
    pub factor: String,
    pub level: String,
    /// The level compared with.
    pub against: String,
    /// Levels of the other factors to which it applies, empty for those averaged over. The entry of
    /// the factor itself is empty, too.
    pub context: Vec<String>,
    /// Whether `value` is a ratio or a difference.
    pub scale: StudyScale,
    /// The ratio or difference. Intervals hold for all comparisons together.
    pub value: Estimate,
    /// Probability of such a value without a difference beyond the margin, adjusted for the number
    /// of comparisons.
    #[serde(with = "stats::undefined")]
    pub p_adjusted: f64,
    /// The result.
    pub verdict: StudyVerdict,
    /// Whether the conclusions state it: averages always, single combinations if the effect differs
    /// between them.
    pub is_stated: bool,
    /// The ratio, for shares that are compared by difference, if all are above zero.
    pub ratio: Option<Estimate>,
    /// Means of the level and of the one compared with, over the rounds that have both: their ratio
    /// or difference is `value`. Null for averages, and in runs of older versions.
    #[serde(default)]
    pub sides: Option<[Estimate; 2]>,
    /// Repeats needed to show a difference of the observed size with 80 % power, if none was shown.
    pub replicates_needed: Option<u32>,
}

impl StudyComparison {
    /// Rounds in which both sides were measured.
    pub fn rounds(&self) -> u32 {
        self.value.samples as u32
    }

    /// Whether there are enough rounds for a conclusion; the verdict is meaningless otherwise.
    pub fn is_enough(&self) -> bool {
        stats::bears_conclusion(self.rounds() as usize)
    }
}

/// Result of `seekstone study` or `seekstone compare`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Study {
    /// Title of the study.
    pub title: String,
    /// The environment in the user's words.
    pub environment: Vec<String>,
    /// Kind of the measurement.
    pub measurement: String,
    /// Settings shared by all cells.
    pub settings: Vec<StudySetting>,
    /// The factors.
    pub factors: Vec<StudyFactor>,
    /// The measured targets on distinct storage: the run's own, and those named by settings and
    /// levels.
    #[serde(default)]
    pub places: Vec<TargetDescription>,
    /// Relative differences below this are irrelevant.
    #[serde(with = "stats::undefined")]
    pub margin: f64,
    /// When it was started and resumed, RFC 3339, UTC.
    pub begun_at: Vec<String>,
    /// Every repeat, in the order of measuring.
    pub replicates: Vec<StudyReplicate>,
    /// Every combination of levels, in the order of the file.
    pub cells: Vec<StudyCell>,
    /// All comparisons: each level averaged over the other factors, then at each of their
    /// combinations.
    pub comparisons: Vec<StudyComparison>,
    /// Limits on changes, for each level.
    #[serde(default)]
    pub limits: Vec<StudyLimit>,
}
