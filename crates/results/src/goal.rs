//! What figures were required to be, and how far they were allowed to change: verdicts.

use serde::{Deserialize, Serialize};
use stats::Estimate;
use units::format_count;

use crate::reading::{Better, Unit};

units::words! {
    /// Whether a goal is met, or a limit kept; the worst is the greatest.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum LimitVerdict {
        /// The change is smaller.
        Kept = "kept",
        /// The rounds do not tell.
        Undecided = "undecided",
        /// The change is larger.
        Exceeded = "exceeded",
    }
}

/// A goal, held against a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoalVerdict {
    /// As it was typed.
    pub goal: String,
    /// The whole name of the figure.
    pub figure: String,
    /// The figure whose change is limited; absent where a figure itself is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_of: Option<StudyChange>,
    pub unit: Unit,
    /// The figure; null where the run has none of that name and unit.
    pub value: Option<Estimate>,
    /// Whether the goal is met.
    pub verdict: LimitVerdict,
    /// What else its verdict rests on: why it is undecided, where the interval is not the reason;
    /// how the bounds of a change hold, and how many rounds would tell.
    pub why: Option<String>,
}

/// What a limit on a change is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyChange {
    /// Name of the reading.
    pub reading: String,
    pub level: String,
    /// What it is compared with.
    pub against: String,
}

/// A limit on a change, held against one level.
#[derive(Clone, Debug, PartialEq, Deserialize)]
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

impl StudyLimit {
    /// A goal: the change within it. `done` is how many rounds there were.
    #[must_use]
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
        // As many will lack it again.
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
    /// The smallest change that so many runs show to be beyond the limit four times in five, as a
    /// ratio; null with too few runs.
    pub sees: Option<f64>,
    /// Runs a side that tell no change from the limit four times in five; null where that is not
    /// known, or more than anybody waits for.
    pub runs_needed: Option<u32>,
    /// How the figure changed from the first of all runs to the last, by a line through their
    /// logarithms, where it got worse by more than chance at 99 %.
    pub trend: Option<Estimate>,
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
