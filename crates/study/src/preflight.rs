//! Checks before a study starts.

use std::env;

use results::{Caution, TargetDescription};

use crate::StudyRunError;
use lab::bench::{BenchError, inspected};
use lab::simulated::describe_model;
use units::TargetName;

/// Stands for root privileges among the required programs.
const ROOT: &str = "root";

/// Requirements of a study that this machine lacks, in words.
pub fn missing(needs: &[String]) -> Vec<String> {
    let missing = needs.iter().filter(|need| !is_there(need));
    let words = missing.map(|need| match need.as_str() {
        ROOT => "the rights of root".to_owned(),
        program => format!("the program {program}, which is not installed"),
    });
    words.collect()
}

/// Refuses to start if a requirement is missing.
pub(super) fn refuse_missing(needs: &[String]) -> Result<(), StudyRunError> {
    match missing(needs) {
        none if none.is_empty() => Ok(()),
        missing => Err(StudyRunError::Needs(missing.join(", and "))),
    }
}

fn is_there(need: &str) -> bool {
    if need == ROOT {
        return rustix::process::geteuid().is_root();
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|directory| directory.join(need).is_file())
}

/// Describes a target, with cautions.
pub(super) fn describe(
    target: &TargetName,
) -> Result<(TargetDescription, Vec<Caution>), BenchError> {
    if let Some(model) = target.model() {
        return Ok((describe_model(model)?, Vec::new()));
    }
    if let Some(name) = target.bucket() {
        return Ok((TargetDescription::bucket(name), Vec::new()));
    }
    let (_, description, cautions) = inspected(target)?;
    Ok((description, cautions))
}
