//! Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done with a warning that voids a number, 4 a
//! limit was exceeded, 5 that is undecided, or targets cannot be told apart.

use std::fmt;
use std::process::ExitCode;

use drivers::ReadFileError;
use host::inspect::InspectError;
use lab::bench::BenchError;
use results::{LimitVerdict, Run, Status, WarningCode};
use study::StudyRunError;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything was done.
    Done,
    /// Something failed, or was stopped.
    Failed,
    /// It was asked for wrongly.
    Usage,
    /// Done, but a number must not be used.
    Invalid,
    /// Done, and a limit was exceeded, or a goal missed.
    Exceeded,
    /// Done, and whether a limit was exceeded, or a goal met, is open.
    Undecided,
    /// As a Nagios plugin says that a limit is near.
    NagiosWarning,
    /// As it says that one is exceeded.
    NagiosCritical,
    /// As it says that nothing is known.
    NagiosUnknown,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

impl Exit {
    /// The number that a shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed | Self::NagiosWarning => 1,
            Self::Usage | Self::NagiosCritical => 2,
            Self::Invalid | Self::NagiosUnknown => 3,
            Self::Exceeded => 4,
            Self::Undecided => 5,
        }
    }

    /// How a program ends that has this run to show.
    pub fn of_run(run: &Run) -> Self {
        match run.status {
            Status::Partial { .. } => Self::Failed,
            Status::Complete if run.has_invalid_number() => Self::Invalid,
            Status::Complete => Self::of_limits(run),
        }
    }

    /// The same where scripts know only how fio ends, which judges no number: that one must not be
    /// used is said on standard error, and counts where a goal asked for a verdict.
    pub fn of_run_as_fio(run: &Run) -> Self {
        match Self::of_run(run) {
            Self::Invalid if run.goals.is_empty() => Self::Done,
            exit => exit,
        }
    }

    fn of_limits(run: &Run) -> Self {
        match run.goals_outcome() {
            Some(LimitVerdict::Exceeded) => Self::Exceeded,
            Some(LimitVerdict::Undecided) => Self::Undecided,
            None if is_undecided(run) => Self::Undecided,
            Some(LimitVerdict::Kept) | None => Self::Done,
        }
    }

    /// How a program ends that failed.
    pub fn of_error(error: &anyhow::Error) -> Self {
        let inspected = error.downcast_ref::<InspectError>();
        if error.is::<InvalidComparison>() {
            return Self::Invalid;
        }
        if error.is::<UsageError>() || matches!(inspected, Some(InspectError::Missing(_))) {
            return Self::Usage;
        }
        let study = error.downcast_ref::<StudyRunError>();
        if study.is_some_and(StudyRunError::is_usage) {
            return Self::Usage;
        }
        let bench = match study {
            Some(StudyRunError::Target(error)) => Some(error),
            _ => error.downcast_ref::<BenchError>(),
        };
        match bench {
            Some(BenchError::Served) => Self::Done,
            Some(error) if error.is_usage() => Self::Usage,
            _ => Self::Failed,
        }
    }
}

/// Whether targets were compared, and none can be told apart from another.
fn is_undecided(run: &Run) -> bool {
    let mut warnings = run.warnings.iter();
    warnings.any(|it| it.code == WarningCode::NotToldApart)
}

/// Refuses what was asked for: returns a [`UsageError`] with that text.
macro_rules! refuse {
    ($($text:tt)*) => {
        return Err($crate::exit::UsageError(format!($($text)*)).into())
    };
}

/// Options that do not go together.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

impl UsageError {
    /// What an error says, which is the user's mistake.
    pub fn of(error: impl fmt::Display) -> Self {
        Self(error.to_string())
    }
}

/// A comparison whose result would mean nothing: why.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidComparison(pub String);

/// What is not there was named wrongly, where a command only reads.
pub fn missing_is_usage(error: anyhow::Error) -> anyhow::Error {
    let is_missing = |it: &(dyn std::error::Error + 'static)| {
        let system = match it.downcast_ref::<ReadFileError>() {
            Some(ReadFileError::Io(error)) => Some(error),
            _ => it.downcast_ref::<std::io::Error>(),
        };
        system.is_some_and(|it| it.kind() == std::io::ErrorKind::NotFound)
    };
    match error.chain().any(is_missing) {
        true => UsageError(format!("{error:#}")).into(),
        false => error,
    }
}
