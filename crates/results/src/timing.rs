//! Commands that were timed side by side.

use serde::{Deserialize, Serialize};
use stats::Estimate;

use crate::rank_share::RankShare;
use crate::warning::Warning;

/// What timing commands found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// The commands, in the order given; the first is what the others are compared with.
    pub commands: Vec<TimedCommand>,
    /// Each further command beside the first.
    pub comparisons: Vec<CommandComparison>,
    /// Runs of each command before the first that counts.
    pub warm_ups: u32,
    /// Whether the page cache was dropped before each run.
    pub is_cold: bool,
    /// Differences below this share are of no interest.
    #[serde(with = "stats::undefined")]
    pub margin: f64,
    /// What ended it: `rounds`, `precise`, `budget`, or `stopped`.
    pub ended_by: String,
    /// What the shell itself takes, seconds: the median of some runs of an empty command.
    pub shell_s: Option<f64>,
    /// What each rank took for each command; empty where one host ran them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<RankShare>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimedCommand {
    /// Its name in tables.
    pub name: String,
    /// As it was started.
    pub command: String,
    /// Every run but warm-ups, in the order of rounds. Those that failed are not in the means,
    /// unless none succeeded.
    pub runs: Vec<TimedRun>,
    /// Elapsed time, seconds; the interval is Student's over runs.
    pub real_s: Option<Estimate>,
    /// Processor time in user mode, seconds.
    pub user_s: Option<Estimate>,
    /// Processor time in the kernel, seconds.
    pub system_s: Option<Estimate>,
    /// Rounds whose elapsed time lies far from the others (modified z-score above 3.5).
    pub outliers: Vec<u32>,
    /// Doubts about its figures.
    pub warnings: Vec<Warning>,
}

/// One run of a command.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimedRun {
    /// In which round, from 1.
    pub round: u32,
    /// Elapsed time, seconds.
    #[serde(with = "stats::undefined")]
    pub real_s: f64,
    /// Processor time in user mode, seconds.
    #[serde(with = "stats::undefined")]
    pub user_s: f64,
    /// Processor time in the kernel, seconds.
    #[serde(with = "stats::undefined")]
    pub system_s: f64,
    /// Bytes that storage gave, as the kernel counts them.
    pub read_bytes: u64,
    /// Bytes that storage was given.
    pub written_bytes: u64,
    /// Most memory held at once, bytes; absent when it is no more than this program's own, which
    /// the kernel counts with it.
    pub memory_bytes: Option<u64>,
    /// Exit status; 0 is success.
    pub exit: i32,
}

/// A command beside the first one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandComparison {
    pub name: String,
    /// The name of the first.
    pub reference: String,
    /// Elapsed time of this one over that of the first: the geometric mean over rounds.
    pub ratio: Estimate,
    /// Probability of so large a difference if there were none, two-sided, corrected for the
    /// number of comparisons (Holm).
    #[serde(with = "stats::undefined")]
    pub p_value: f64,
    /// Rounds that hold both.
    pub pairs: u32,
    /// What it shows.
    pub verdict: TimingVerdict,
}

/// What a comparison of two commands shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimingVerdict {
    /// It takes longer than the first.
    Slower,
    /// It takes less time than the first.
    Faster,
    /// The same within the margin.
    Equivalent,
    /// No difference was shown.
    NotShown,
    /// Too few pairs to claim anything.
    TooFew,
    /// Runs of one of the two failed and do not count: those that are left may be the slow ones.
    RunsFailed,
}
