//! The verdict of a run: its answer in a sentence, how far that can be trusted, and whether the
//! goals were met. Every form shows it; none makes one of its own.

use serde::{Deserialize, Serialize};

use crate::goal::LimitVerdict;
use crate::metric::GOALS_MET;
use crate::run::Run;
use crate::table::{Row, Table, Trust};
use crate::warning::{Severity, Warning};
use crate::warning_code::WarningCode;

/// Name of the table that the verdict is in forms that hold nothing but tables.
const VERDICT: &str = "verdict";

/// Doubts that may be why a row is not sound, or has no interval. What voids a row always is.
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

/// What a run comes to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunVerdict {
    /// The answer; or why there is none, and what can be said all the same. It quotes no figure of
    /// a row that is not sound.
    pub sentence: String,
    /// That of the worst row that the sentence is about.
    pub trust: Trust,
    /// Codes of the warnings that lower it, the most important first.
    pub because: Vec<WarningCode>,
    /// The worst outcome of all goals and limits; null where none was set.
    pub goals: Option<LimitVerdict>,
}

impl RunVerdict {
    /// The codes in `because`, as files have them.
    #[must_use]
    pub fn codes(&self) -> String {
        let codes: Vec<&str> = self.because.iter().map(WarningCode::as_str).collect();
        codes.join(" ")
    }

    /// As a table of one row, which the sentence names. Its one figure is 1 where all goals were
    /// met, 0 where one was missed, else not a number.
    #[must_use]
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
            ..Row::new(sentence, [met], "goals-met", self.trust, &[])
        };
        Table::new(VERDICT, &["sentence"], vec![row])
    }
}

impl Warning {
    /// Whether a row that has this warning cannot be sound.
    #[must_use]
    pub fn lowers_trust(&self) -> bool {
        match self.severity {
            Severity::Invalid => true,
            Severity::Warning => LOWERING.contains(&self.code),
            Severity::Info => false,
        }
    }
}

impl Run {
    /// The worst outcome of all goals.
    #[must_use]
    pub fn goals_outcome(&self) -> Option<LimitVerdict> {
        self.goals.iter().map(|it| it.verdict).max()
    }
}
