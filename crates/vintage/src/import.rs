//! Logs of the programs as runs: workloads with their curves, users who were at work together, jobs
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

/// A log, and the file that it was read from.
#[derive(Clone, Copy, Debug)]
pub struct LogText<'a> {
    pub file: &'a str,
    pub text: &'a str,
}

/// What a log holds.
#[derive(Debug)]
pub struct ImportedLog {
    /// A run at least.
    pub runs: Vec<Run>,
    /// Numbers of the lines that mean nothing.
    pub strange: Vec<usize>,
}

/// Why a file gives no run.
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

/// The runs of a log of any of the programs. `pair` are the two logs of `2logs`, where it is one of
/// them.
///
/// # Errors
/// When it is no log, or holds nothing that was measured.
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

/// A run of which nothing is known but its command, its target and when it began.
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
