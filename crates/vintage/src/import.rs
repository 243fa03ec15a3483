//! Converts logs of the programs to runs: workloads with their curves, users active together, jobs
//! with their passes.

mod diskmbps;
mod diskrand;
mod passes;
mod rpt;

pub use passes::column_of;

use results::environment::{Environment, TargetKind};
use results::{Run, Setup, TargetDescription};
use units::TargetName;

use crate::diskmbps::{NoTransferLog, read_logs};
use crate::diskrand::begins_log;

/// A log, with its file.
#[derive(Clone, Copy, Debug)]
pub struct LogText<'a> {
    pub file: &'a str,
    pub text: &'a str,
}

/// Content of a log.
#[derive(Debug)]
pub struct ImportedLog {
    /// At least one run.
    pub runs: Vec<Run>,
    /// Numbers of unknown lines.
    pub strange: Vec<usize>,
}

/// Why a file has no run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {why}")]
pub struct NoRuns {
    file: String,
    why: String,
}

impl NoRuns {
    fn of(file: &str, why: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            why: why.into(),
        }
    }
}

/// The runs of a log of any of the programs. `pair` has the two logs of `2logs`, if it is one of
/// them.
///
/// # Errors
/// If it is not a log, or contains no measurement.
pub fn runs_in_log(
    log: LogText<'_>,
    pair: Option<[LogText<'_>; 2]>,
) -> Result<ImportedLog, NoRuns> {
    if begins_log(log.text) {
        return diskrand::read(log, pair);
    }
    match read_logs(log.text) {
        Ok(jobs) => Ok(ImportedLog {
            runs: diskmbps::runs(&jobs, log),
            strange: Vec::new(),
        }),
        Err(NoTransferLog::NoJob) => rpt::read(log),
        Err(error) => Err(NoRuns::of(log.file, error.to_string())),
    }
}

/// A run of which only command, target and start are known.
fn blank_run(command: &str, target: &str, started: Option<&str>) -> Run {
    let known = TargetDescription::simulated(target, target, None);
    let target = match TargetName::from(target).is_model() {
        true => known,
        false => TargetDescription {
            kind: TargetKind::File,
            ..known
        },
    };
    Run::empty(Setup::new(command, 0), unknown_environment(started), target)
}

fn unknown_environment(started: Option<&str>) -> Environment {
    let unknown = || String::from("unknown");
    Environment {
        commit: None,
        seekstone_version: host::VERSION.into(),
        host_name: unknown(),
        kernel: unknown(),
        architecture: unknown(),
        started_at: started.map_or_else(unknown, str::to_owned),
        ..Environment::default()
    }
}
