//! A study on several hosts: every rank goes through the same session, and each repeat is one run
//! of all. Ranks get results and times from rank 0, so that all take the same steps.

use lab::bench::BenchError;
use lab::hosts::Ranks;
use lab::laboratory::with_causes;
use results::{Warning, WarningCode};
use units::format_counted;

use crate::StudyRunError;

/// Maximum number of ranks named with their hosts.
const NAMED_MAX: u32 = 16;

/// Continues if all ranks can. Otherwise rank 0 reports why not.
pub(crate) fn agreed<T>(
    ranks: Option<&Ranks>,
    own: Result<T, StudyRunError>,
) -> Result<T, StudyRunError> {
    let Some(ranks) = ranks else {
        return own;
    };
    let answer = match &own {
        Ok(_) => Ok(()),
        Err(error) if error.is_usage() => Err(BenchError::Usage(with_causes(error))),
        Err(error) => Err(BenchError::Refused(with_causes(error))),
    };
    match (ranks.agree(answer, |_| Ok(())), own) {
        (Ok(()), own) => own,
        (Err(_), Err(own)) if ranks.leads() => Err(own),
        (Err(error), _) => Err(error.into()),
    }
}

/// Checks that all ranks have the same study.
pub(crate) fn agree_on_study(ranks: Option<&Ranks>, digest: String) -> Result<(), StudyRunError> {
    let Some(ranks) = ranks else {
        return Ok(());
    };
    let judged = ranks.agree(Ok(digest), |all: Vec<String>| {
        let other = (0..).zip(&all).find(|(_, it)| **it != all[0]);
        other.map_or(Ok(()), |(rank, _)| {
            Err(BenchError::Usage(format!(
                "{}: the study differs from that on {}. Use one file on all hosts",
                ranks.name(rank),
                ranks.name(0)
            )))
        })
    });
    Ok(judged?)
}

/// Parts from the other ranks, and continues with rank 0's results.
///
/// # Errors
/// On ranks other than 0, which have no run.
pub(crate) fn parted(
    ranks: Option<&Ranks>,
    measured: Result<(), StudyRunError>,
) -> Result<Result<(), StudyRunError>, StudyRunError> {
    let Some(ranks) = ranks else {
        return Ok(measured);
    };
    let parted = ranks.part_with("");
    match measured {
        measured if ranks.leads() => Ok(measured),
        Err(error) if ranks.is_broken() => Err(error),
        _ => Err(parted.err().unwrap_or(BenchError::Served).into()),
    }
}

/// A note on the hosts that measured.
pub(crate) fn note(ranks: &Ranks) -> Warning {
    let count = ranks.share().ranks;
    let names: Vec<String> = (0..count.min(NAMED_MAX))
        .map(|rank| ranks.name(rank))
        .collect();
    let more = match count.saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let text = format!(
        "{}, {count} ranks ({}{more}): each repeat is one run of all ranks.",
        format_counted(ranks.machines().len() as u64, "host"),
        names.join(", ")
    );
    Warning::info(WarningCode::Hosts, text)
}
