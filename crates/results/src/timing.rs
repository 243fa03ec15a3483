//! Results of commands timed side by side.

use serde::{Deserialize, Serialize};
use stats::Estimate;

use crate::rank_share::RankShare;
use crate::warning::Warning;

/// Result of timing commands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// The commands, in the order given. The others are compared with the first.
    pub commands: Vec<TimedCommand>,
    /// Each further command compared with the first.
    pub comparisons: Vec<CommandComparison>,
    /// Warm-up runs of each command.
    pub warm_ups: u32,
    /// Whether the page cache was dropped before each run.
    pub is_cold: bool,
    /// Relative differences below this are irrelevant.
    #[serde(with = "stats::undefined")]
    pub margin: f64,
    /// Why it stopped: `rounds`, `precise`, `budget`, or `stopped`.
    pub ended_by: String,
    /// Time of the shell alone, seconds: the median of some runs of an empty command.
    pub shell_s: Option<f64>,
    /// Times of each rank for each command; empty if one host ran them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<RankShare>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimedCommand {
    /// Its name in tables.
    pub name: String,
    /// The command line.
    pub command: String,
    /// All runs except warm-ups, in order of rounds. Failed ones are not in the means unless all
    /// failed.
    pub runs: Vec<TimedRun>,
    /// Elapsed time, seconds; the interval is Student's over runs.
    pub real_s: Option<Estimate>,
    /// User CPU time, seconds.
    pub user_s: Option<Estimate>,
    /// System CPU time, seconds.
    pub system_s: Option<Estimate>,
    /// Rounds whose elapsed time lies far from the others (modified z-score above 3.5).
    pub outliers: Vec<u32>,
    /// Warnings about its figures.
    pub warnings: Vec<Warning>,
}

/// One run of a command.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimedRun {
    /// Its round, from 1.
    pub round: u32,
    /// Elapsed time, seconds.
    #[serde(with = "stats::undefined")]
    pub real_s: f64,
    /// User CPU time, seconds.
    #[serde(with = "stats::undefined")]
    pub user_s: f64,
    /// System CPU time, seconds.
    #[serde(with = "stats::undefined")]
    pub system_s: f64,
    /// Bytes read from storage, as the kernel counts them.
    pub read_bytes: u64,
    /// Bytes written to storage.
    pub written_bytes: u64,
    /// Peak memory, bytes; absent if no larger than this program's own, which the kernel includes.
    pub memory_bytes: Option<u64>,
    /// Exit status; 0 is success.
    pub exit: i32,
}

/// A command compared with the first one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandComparison {
    pub name: String,
    /// The name of the first.
    pub reference: String,
    /// Elapsed time relative to the first: the geometric mean over rounds.
    pub ratio: Estimate,
    /// Two-sided probability of so large a difference if there were none, corrected for the number
    /// of comparisons (Holm).
    #[serde(with = "stats::undefined")]
    pub p_value: f64,
    /// Rounds with both commands.
    pub pairs: u32,
    /// The result.
    pub verdict: TimingVerdict,
}

/// Result of a comparison of two commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimingVerdict {
    /// Slower than the first.
    Slower,
    /// Faster than the first.
    Faster,
    /// The same within the margin.
    Equivalent,
    /// No difference was shown.
    NotShown,
    /// Too few pairs for a conclusion.
    TooFew,
    /// Runs of one of the two failed and do not count. The remaining ones may be biased.
    RunsFailed,
}
