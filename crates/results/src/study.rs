//! A study: how a measurement depends on factors, from replicates in rounds of random order. What
//! of it is in a run are tables, findings, goals, and a note.

use serde::{Deserialize, Serialize};
use stats::Estimate;

use crate::environment::TargetDescription;
use crate::goal::StudyLimit;
use crate::reading::{Better, Reading, Unit};
use crate::warning::Warning;

/// A setting of the measurement that all cells share, as TOML.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct StudySetting {
    /// Its name.
    pub key: String,
    pub value: String,
}

/// Something that the study varies.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct StudyFactor {
    /// Its name, the heading of its column.
    pub name: String,
    /// Its levels in the order of the file.
    pub levels: Vec<String>,
}

/// One measurement of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyReplicate {
    /// Position in the order of measuring, from 1.
    pub number: u32,
    /// The round that it belongs to, from 1; each visits every cell once.
    pub round: u32,
    /// Levels, one for each factor.
    pub levels: Vec<String>,
    /// When it began, RFC 3339, UTC.
    pub started_at: String,
    /// How long it took, nanoseconds.
    pub elapsed_ns: u64,
    /// What was measured.
    pub readings: Vec<Reading>,
    /// What a reader of them must know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// A replicate that lies far from the others of its cell.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct StudyOutlier {
    pub round: u32,
    #[serde(with = "stats::undefined")]
    pub value: f64,
}

/// One reading of one cell over its replicates.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct StudyFigure {
    /// Name of the reading.
    pub reading: String,
    pub unit: Unit,
    /// Which direction is better.
    pub better: Better,
    /// Mean with the interval of Student's t over the replicates, without a bound for a single one.
    pub value: Estimate,
    /// Those far from the others; they count all the same.
    pub outliers: Vec<StudyOutlier>,
    /// The two kinds that the replicates are of, where the mean is the value of neither.
    pub two_kinds: Option<StudyKinds>,
    /// By which share the later half of the replicates lies above the earlier one, where that is
    /// more than chance and more than a twentieth.
    pub drift: Option<f64>,
}

/// Replicates of two kinds, an octave or more apart.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct StudyKinds {
    /// Mean of the lower kind.
    #[serde(with = "stats::undefined")]
    pub low: f64,
    /// Mean of the higher kind.
    #[serde(with = "stats::undefined")]
    pub high: f64,
    /// Share of the replicates that are of the higher kind.
    #[serde(with = "stats::undefined")]
    pub high_share: f64,
}

/// A combination of levels, and what was found there.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct StudyCell {
    /// Levels, one for each factor.
    pub levels: Vec<String>,
    /// How many replicates there are.
    pub replicates: u32,
    /// How many of them no warning voids, from which the figures are made; null in runs of older
    /// versions.
    pub usable: Option<u32>,
    /// One for each reading.
    pub figures: Vec<StudyFigure>,
}

/// What a comparison shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StudyVerdict {
    /// Higher, by more than the margin.
    Higher,
    /// Lower, by more than the margin.
    Lower,
    /// The same within the margin.
    Same,
    /// No difference was shown, or too few rounds bear no conclusion:
    /// [`StudyComparison::is_enough`].
    NotShown,
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StudyScale {
    /// By their quotient.
    Ratio,
    /// By their difference: a share, or values that need not be positive.
    Difference,
}

/// A level and what it is held against.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct StudyComparison {
    /// Name of the reading.
    pub reading: String,
    pub unit: Unit,
    pub factor: String,
    pub level: String,
    /// What it is compared with.
    pub against: String,
    /// Levels of the other factors at which this holds, empty for those over which it is an
    /// average; the place of the factor itself is empty, too.
    pub context: Vec<String>,
    /// Whether `value` is a quotient or a difference.
    pub scale: StudyScale,
    /// The quotient or difference, with an interval that holds for all comparisons together.
    pub value: Estimate,
    /// Probability of such a value if there were no difference beyond the margin, adjusted for the
    /// number of comparisons.
    #[serde(with = "stats::undefined")]
    pub p_adjusted: f64,
    /// What it shows.
    pub verdict: StudyVerdict,
    /// Whether it is stated in the conclusions: averages are, single combinations where the effect
    /// differs between them.
    pub is_stated: bool,
    /// The quotient of shares that are compared by their difference, where all are above zero.
    pub ratio: Option<Estimate>,
    /// Replicates that would show in four of five studies what was not shown, if it is as large as
    /// it looks.
    pub replicates_needed: Option<u32>,
}

impl StudyComparison {
    /// Rounds in which everything that is compared was measured.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.value.samples as u32
    }

    /// Whether these rounds bear a conclusion; its verdict says nothing where they do not.
    #[must_use]
    pub fn is_enough(&self) -> bool {
        stats::bears_conclusion(self.rounds() as usize)
    }
}

/// What `seekstone study` or `seekstone compare` found.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Study {
    /// Title of the study.
    pub title: String,
    /// The environment in the user's words.
    pub environment: Vec<String>,
    /// Kind of the measurement.
    pub measurement: String,
    /// Its settings that all cells share.
    pub settings: Vec<StudySetting>,
    /// What is varied.
    pub factors: Vec<StudyFactor>,
    /// The places that were measured, each that stands on something else: the run's target, and
    /// what settings and levels name besides.
    #[serde(default)]
    pub places: Vec<TargetDescription>,
    /// Differences below this share are of no interest.
    #[serde(with = "stats::undefined")]
    pub margin: f64,
    /// When it was begun and resumed, RFC 3339, UTC.
    pub begun_at: Vec<String>,
    /// Every replicate, in the order of measuring.
    pub replicates: Vec<StudyReplicate>,
    /// Every combination of levels, in the order of the file.
    pub cells: Vec<StudyCell>,
    /// Every comparison that was made: each level averaged over the other factors, then at each of
    /// their combinations.
    pub comparisons: Vec<StudyComparison>,
    /// Limits on changes, held against each level.
    #[serde(default)]
    pub limits: Vec<StudyLimit>,
}
