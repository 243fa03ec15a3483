//! What a trial must reach before it may stop, and how it ended.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Below this many effective samples no number should be quoted (section 5, "verdict").
pub(crate) const CITABLE_SAMPLES: f64 = 200.0;
/// Of times whose mean and rate are known to this relative half-width by fewer samples ...
pub(crate) const NEARLY_CONSTANT: f64 = 0.01;
/// ... so many are enough. The two together hold only of times that vary by less than 4 %: of
/// exponential ones 50 samples give 28 %.
pub(crate) const CITABLE_OF_NEARLY_CONSTANT: f64 = 50.0;

/// What the trial is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GoalKind {
    /// An estimate that steers a search; never a result.
    Scout,
    /// Goes into the report.
    Result,
}

/// Which estimate must be good enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aim {
    /// The mean time and the load.
    #[default]
    TimeAndLoad,
    /// The load, and the mean time to this relative half-width: where the load hardly depends on
    /// the time, the load at a time is precise with a time that is not.
    LoadAtTime(f64),
    /// The load alone. Near saturation the time has no precise mean within minutes, and the load
    /// that is carried hardly depends on it.
    Load,
    /// This percentile of the time, 0 to 1: firm, and as precise as the goal says.
    Percentile(f64),
}

/// When an estimate is good enough. Defaults: section 5 of the statistics notes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// Relative half-width wanted for what is aimed at: 0.03 is 3 %.
    pub precision: f64,
    /// Effective independent samples wanted.
    pub samples_min: f64,
    /// Base slots wanted.
    pub slots_min: u32,
    /// Length of the trial wanted, ns.
    pub duration_min_ns: u64,
    /// How many times longer than the slowest correlation seen the trial must be.
    pub lag_factor: u32,
    /// What the trial is for.
    pub kind: GoalKind,
    /// Which estimate must be good enough.
    #[serde(default)]
    pub aim: Aim,
    /// The percentile, 0 to 1, that the owner wants from the trial with its influences; the goal
    /// itself is about the mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentile: Option<f64>,
}

impl Goal {
    /// A scouting trial: 10 %, 50 samples, 1 s.
    pub fn scout() -> Self {
        Self {
            precision: 0.10,
            samples_min: 50.0,
            slots_min: 64,
            duration_min_ns: 1_000_000_000,
            lag_factor: 10,
            kind: GoalKind::Scout,
            aim: Aim::TimeAndLoad,
            percentile: None,
        }
    }

    /// A trial to be reported, with the given relative half-width and at least 5 s.
    ///
    /// A loose precision is reached early, where variance estimates are least trustworthy, so
    /// beyond 5 % the floor on effective samples rises from 400 to 1000.
    ///
    /// 256 slots are about 6400 completions. With 64, a device that lingers in one state (a cache
    /// in runs of 950 hits) looks precise before it has shown the other: coverage fell to 0.78.
    pub fn result(precision: f64) -> Self {
        Self {
            precision,
            samples_min: if precision > 0.05 { 1000.0 } else { 400.0 },
            slots_min: 256,
            duration_min_ns: 5_000_000_000,
            lag_factor: 30,
            kind: GoalKind::Result,
            aim: Aim::TimeAndLoad,
            percentile: None,
        }
    }
}

/// How a trial stands, or how it ended if it ends now. In JSON one word in kebab case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "VerdictWord", from = "ReadVerdict")]
pub enum Verdict {
    /// Everything the goal asks for is reached.
    Converged,
    /// Sound so far, but not precise enough yet.
    Budget {
        /// Whether there are at least 200 effective samples behind the numbers, and the trial
        /// was meant for a result.
        is_citable: bool,
    },
    /// It ran for the time that was asked for; no precision was.
    Timed {
        /// Whether there are at least 200 effective samples behind the numbers.
        is_citable: bool,
    },
    /// Sound as far as can be seen, but too short to tell how far neighbouring slots are
    /// correlated: what shows is within the noise.
    Short {
        /// Whether there are at least 200 effective samples behind the numbers, and the trial
        /// was meant for a result.
        is_citable: bool,
    },
    /// Still changing: there is no single mean to estimate.
    NotStationary,
    /// Correlated over so much of the trial that it needs a wider interval, which it has.
    Correlated,
}

/// A verdict as it is written.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum VerdictWord {
    Converged,
    Budget,
    BudgetFewSamples,
    Timed,
    TimedFewSamples,
    Short,
    ShortFewSamples,
    NotStationary,
    Correlated,
}

/// A verdict as it was written up to version 2 of the JSON form.
#[derive(Deserialize)]
enum OldVerdict {
    Converged,
    Budget { is_citable: bool },
    Timed { is_citable: bool },
    Short { is_citable: bool },
    NotStationary,
    Correlated,
}

/// A verdict as it is read.
#[derive(Deserialize)]
#[serde(untagged)]
enum ReadVerdict {
    Word(VerdictWord),
    Old(OldVerdict),
}

impl From<Verdict> for VerdictWord {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Converged => Self::Converged,
            Verdict::Budget { is_citable: true } => Self::Budget,
            Verdict::Budget { is_citable: false } => Self::BudgetFewSamples,
            Verdict::Timed { is_citable: true } => Self::Timed,
            Verdict::Timed { is_citable: false } => Self::TimedFewSamples,
            Verdict::Short { is_citable: true } => Self::Short,
            Verdict::Short { is_citable: false } => Self::ShortFewSamples,
            Verdict::NotStationary => Self::NotStationary,
            Verdict::Correlated => Self::Correlated,
        }
    }
}

impl From<ReadVerdict> for Verdict {
    fn from(read: ReadVerdict) -> Self {
        use {OldVerdict as Old, ReadVerdict::Old as Was, ReadVerdict::Word, VerdictWord as Is};
        match read {
            Word(Is::Converged) | Was(Old::Converged) => Self::Converged,
            Word(Is::NotStationary) | Was(Old::NotStationary) => Self::NotStationary,
            Word(Is::Correlated) | Was(Old::Correlated) => Self::Correlated,
            Word(Is::Budget) => Self::Budget { is_citable: true },
            Word(Is::BudgetFewSamples) => Self::Budget { is_citable: false },
            Word(Is::Timed) => Self::Timed { is_citable: true },
            Word(Is::TimedFewSamples) => Self::Timed { is_citable: false },
            Word(Is::Short) => Self::Short { is_citable: true },
            Word(Is::ShortFewSamples) => Self::Short { is_citable: false },
            Was(Old::Budget { is_citable }) => Self::Budget { is_citable },
            Was(Old::Timed { is_citable }) => Self::Timed { is_citable },
            Was(Old::Short { is_citable }) => Self::Short { is_citable },
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Converged => "converged",
            Self::Budget { is_citable: true } => "stopped before it reached the precision",
            Self::Budget { is_citable: false } => "stopped early, with too few samples to quote",
            Self::Timed { is_citable: true } => "ran for the requested time",
            Self::Timed { is_citable: false } => {
                "ran for the requested time, with too few samples to quote"
            }
            Self::Short { is_citable: true } => "too short to test for autocorrelation",
            Self::Short { is_citable: false } => "too short, with too few samples to quote",
            Self::NotStationary => "never reached steady state",
            Self::Correlated => "latency drifted slowly, with a wider interval",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loose_results_need_more_samples() {
        assert_eq!(Goal::result(0.03).samples_min, 400.0);
        assert_eq!(Goal::result(0.05).samples_min, 400.0);
        assert_eq!(Goal::result(0.10).samples_min, 1000.0);
        assert_eq!(Goal::scout().lag_factor, 10);
    }

    #[test]
    fn a_budget_stop_says_when_it_is_not_citable() {
        let text = Verdict::Budget { is_citable: false }.to_string();
        assert!(text.ends_with("too few samples to quote"), "{text}");
    }
}
