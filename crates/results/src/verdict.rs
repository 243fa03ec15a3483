//! The verdict of a run: its answer in a sentence, its trust, and whether the goals were met. Every
//! form shows it, and none makes its own.

use serde::{Deserialize, Serialize};

use crate::goal::LimitVerdict;
use crate::metric::GOALS_MET;
use crate::run::Run;
use crate::table::{Row, Table, Trust};
use crate::warning::{Severity, Warning};
use crate::warning_code::WarningCode;

/// Name of the verdict's table, in forms that consist of tables only.
const VERDICT: &str = "verdict";

/// Warnings that may explain why a row is unstable or has no interval. Those that make a row
/// invalid always do.
const LOWERING: [WarningCode; 16] = [
    WarningCode::LevelChanged,
    WarningCode::BackgroundIo,
    WarningCode::KeptBack,
    WarningCode::LateGenerator,
    WarningCode::TooFewSamples,
    WarningCode::NotStationary,
    WarningCode::NotConverged,
    WarningCode::NotFinished,
    WarningCode::LevelUncertain,
    WarningCode::TwoModes,
    WarningCode::Drift,
    WarningCode::FailedRuns,
    WarningCode::SsdDrifting,
    WarningCode::SsdUndecided,
    WarningCode::InvalidRepeats,
    WarningCode::StudyNotPrecise,
];

/// Those that a single value may have without being wrong: repeats have an interval of their own.
const OF_INTERVAL: [WarningCode; 5] = [
    WarningCode::TooFewSamples,
    WarningCode::NotConverged,
    WarningCode::Drift,
    WarningCode::InvalidRepeats,
    WarningCode::StudyNotPrecise,
];

/// The verdict of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunVerdict {
    /// The answer, or why there is none and what can still be said. Never quotes a figure of an
    /// unstable or invalid row.
    pub sentence: String,
    /// Trust in the least reliable row that the sentence uses. Never reliable if most results of
    /// the run are not.
    pub trust: Trust,
    /// Codes of the warnings that lower the trust, the most important first.
    pub because: Vec<WarningCode>,
    /// The worst outcome of all goals and limits; null if none was set.
    pub goals: Option<LimitVerdict>,
}

impl RunVerdict {
    /// The codes in `because`, as written to files.
    pub fn codes(&self) -> String {
        let codes: Vec<&str> = self.because.iter().map(WarningCode::as_str).collect();
        codes.join(" ")
    }

    /// The verdict as a table of one row, named by the sentence. Its one figure is 1 if all goals
    /// were met, 0 if one was missed, otherwise NaN.
    pub fn table(&self) -> Table {
        let met = match self.goals {
            Some(LimitVerdict::Kept) => 1.0,
            Some(LimitVerdict::Exceeded) => 0.0,
            Some(LimitVerdict::Undecided) | None => f64::NAN,
        };
        let met = GOALS_MET.bare(met);
        let sentence = vec![self.sentence.clone()];
        let row = Row {
            warnings: self.because.clone(),
            ..Row::new(sentence, [met], "goals-met", self.trust)
        };
        Table::new(VERDICT, &["sentence"], vec![row])
    }
}

impl Warning {
    /// Whether a row with this warning cannot be reliable.
    pub fn lowers_trust(&self) -> bool {
        match self.severity {
            Severity::Invalid => true,
            Severity::Warning => LOWERING.contains(&self.code),
            Severity::Info => false,
        }
    }

    /// Whether a value with this warning must not be quoted, even as one of several repeats.
    pub fn spoils_value(&self) -> bool {
        self.severity == Severity::Warning && self.code.spoils_value()
    }
}

impl WarningCode {
    pub(crate) fn spoils_value(&self) -> bool {
        LOWERING.contains(self) && !OF_INTERVAL.contains(self)
    }
}

/// The results that a screen counts: the rows of the first table, unless they are parts of others.
pub fn main_rows(tables: &[Table]) -> &[Row] {
    let first = tables.first().filter(|it| !it.are_steps);
    first.map_or(&[], |table| &table.rows)
}

impl Run {
    /// The worst outcome of all goals.
    pub fn goals_outcome(&self) -> Option<LimitVerdict> {
        self.goals.iter().map(|it| it.verdict).max()
    }
}
