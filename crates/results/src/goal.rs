//! Goals for figures and limits on their changes, with verdicts.

use serde::{Deserialize, Serialize};
use stats::Estimate;
use units::format_count;

use crate::reading::{Better, Unit};

units::words! {
    /// Whether a goal is met or a limit kept, from best to worst.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum LimitVerdict {
        /// The change is within the limit.
        Kept = "kept",
        /// The rounds do not decide it.
        Undecided = "undecided",
        /// The change exceeds the limit.
        Exceeded = "exceeded",
    }
}

/// A goal with its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoalVerdict {
    /// As it was typed.
    pub goal: String,
    /// Full name of the figure.
    pub figure: String,
    /// The limited change; absent if the goal is on the figure itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_of: Option<StudyChange>,
    pub unit: Unit,
    /// The figure; null if the run has none of that name and unit.
    pub value: Option<Estimate>,
    /// Whether the goal is met.
    pub verdict: LimitVerdict,
    /// What else the verdict rests on: why it is undecided if not because of the interval; for a
    /// change, the confidence of its bounds and how many rounds would decide it.
    pub why: Option<String>,
}

/// The change that a limit refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyChange {
    /// Name of the reading.
    pub reading: String,
    pub level: String,
    /// The level compared with.
    pub against: String,
}

/// A limit on a change, checked for one level.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct StudyLimit {
    /// As it was typed.
    pub rule: String,
    /// Name of the reading.
    pub reading: String,
    pub level: String,
    /// The level compared with.
    pub against: String,
    /// Ratio over pairs of one round. Each end of its interval holds separately at 95 % for all
    /// limits together. Null without two complete rounds.
    pub ratio: Option<Estimate>,
    /// Complete rounds.
    pub rounds: u32,
    /// Rounds needed to tell this change from the limit with 80 % power; null if unknown or
    /// impractically many.
    pub rounds_needed: Option<u32>,
    /// The verdict.
    pub verdict: LimitVerdict,
}

impl StudyLimit {
    /// The limit as a goal on the change. `done` is the number of rounds measured.
    pub fn into_goal(self, done: u32) -> GoalVerdict {
        let missing = done.saturating_sub(self.rounds);
        let bounds = match self.ratio {
            None => {
                let Self { level, against, .. } = &self;
                format!(
                    "{level} and {against} have no two rounds with {}",
                    self.reading
                )
            }
            Some(ratio) => {
                let each = format_count((0.5 + ratio.confidence / 2.0) * 100.0);
                format!("one-sided {each} % bounds, 95 % for all limits together")
            }
        };
        let seen = match missing {
            missing if missing > 0 && self.ratio.is_some() => {
                format!(", in the {} rounds that have it", self.rounds)
            }
            _ => String::new(),
        };
        // As many of the further rounds will be incomplete.
        let needed = self.rounds_needed.map(|it| it + missing);
        let advice = match (self.verdict, needed) {
            (LimitVerdict::Undecided, Some(rounds)) if rounds > self.rounds + missing => {
                format!(". About {rounds} rounds would tell (--repeat {rounds})")
            }
            (LimitVerdict::Undecided, Some(_)) => ". A few more rounds may tell".into(),
            (LimitVerdict::Undecided, None) if self.ratio.is_some() => {
                ". It is too close to the limit to tell".into()
            }
            _ => String::new(),
        };
        GoalVerdict {
            goal: self.rule,
            figure: format!("{} of {} over {}", self.reading, self.level, self.against),
            change_of: Some(StudyChange {
                reading: self.reading,
                level: self.level,
                against: self.against,
            }),
            unit: Unit::Ratio,
            value: self.ratio,
            verdict: self.verdict,
            why: Some(format!("{bounds}{seen}{advice}")),
        }
    }
}

/// A limit on a change, checked for two sets of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateLimit {
    /// As it was typed.
    pub rule: String,
    /// Full name of the figure.
    pub figure: String,
    /// Usable baseline runs that have the figure.
    pub base_runs: u32,
    /// Usable new runs that have the figure.
    pub new_runs: u32,
    /// New over base. Each end of the interval holds separately at 95 % for all limits together.
    /// Null with too few runs.
    pub ratio: Option<Estimate>,
    /// The smallest change, as a ratio, that this many runs show to exceed the limit with 80 %
    /// power; null with too few runs.
    pub sees: Option<f64>,
    /// Runs per side needed to tell no change from the limit with 80 % power; null if unknown or
    /// impractically many.
    pub runs_needed: Option<u32>,
    /// Change of the figure from the first of all runs to the last, by a straight line through the
    /// logarithms, if it got significantly worse (99 %).
    pub trend: Option<Estimate>,
    /// The verdict.
    pub verdict: LimitVerdict,
}

/// A figure compared between two sets of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateRow {
    /// Its full name.
    pub figure: String,
    pub unit: Unit,
    /// Which direction is better.
    pub better: Better,
    /// Geometric mean of the baseline.
    pub base: f64,
    /// Geometric mean of the new runs.
    pub new: f64,
    /// New over base. The intervals hold at 95 % for all figures together. Null with too few runs.
    pub ratio: Option<Estimate>,
}
