//! What figures were required to be, and how far they were allowed to change: verdicts.

use serde::{Deserialize, Serialize};
use stats::Estimate;

use crate::reading::{Better, Unit};

/// Whether a goal is met, or a limit kept; the worst is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitVerdict {
    /// The change is smaller.
    Kept,
    /// The rounds do not tell.
    Undecided,
    /// The change is larger.
    Exceeded,
}

impl LimitVerdict {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Kept, Self::Undecided, Self::Exceeded];

    /// The word of machine-readable forms.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Undecided => "undecided",
            Self::Exceeded => "exceeded",
        }
    }
}

/// A goal, held against a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoalVerdict {
    /// As it was typed.
    pub goal: String,
    /// The whole name of the figure.
    pub figure: String,
    pub unit: Unit,
    /// The figure; null where the run has none of that name and unit.
    pub value: Option<Estimate>,
    /// Whether the goal is met.
    pub verdict: LimitVerdict,
    /// Why it is undecided, where the interval is not the reason.
    pub why: Option<String>,
}

/// A limit on a change, held against one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyLimit {
    /// As it was typed.
    pub rule: String,
    /// Name of the reading.
    pub reading: String,
    pub level: String,
    /// What it is compared with.
    pub against: String,
    /// The quotient over pairs of one round, with an interval each end of which holds by itself at
    /// 95 % for all limits together; null without two rounds that have both.
    pub ratio: Option<Estimate>,
    /// Rounds that have both.
    pub rounds: u32,
    /// Rounds that would tell a change of this size from the limit four times in five; null where
    /// that is not to be said, or more than anybody waits for.
    pub rounds_needed: Option<u32>,
    /// Whether it was kept.
    pub verdict: LimitVerdict,
}

/// A limit on a change, held against two sets of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateLimit {
    /// As it was typed.
    pub rule: String,
    /// The whole name of the figure.
    pub figure: String,
    /// Runs of the baseline that have it, and may be used.
    pub base_runs: u32,
    /// New runs that have it, and may be used.
    pub new_runs: u32,
    /// New over base, with an interval each end of which holds by itself at 95 % for all limits
    /// together; null with too few runs.
    pub ratio: Option<Estimate>,
    /// Runs a side that would tell a change of this size from the limit four times in five; null
    /// where that is not known, or more than anybody waits for.
    pub runs_needed: Option<u32>,
    /// Whether it was kept.
    pub verdict: LimitVerdict,
}

/// A figure of two sets of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateRow {
    /// Its whole name.
    pub figure: String,
    pub unit: Unit,
    /// Which direction is better.
    pub better: Better,
    /// Geometric mean of the baseline.
    pub base: f64,
    /// Geometric mean of the new runs.
    pub new: f64,
    /// New over base with its interval, which holds for all figures together with 95 %; null with
    /// too few runs.
    pub ratio: Option<Estimate>,
}
