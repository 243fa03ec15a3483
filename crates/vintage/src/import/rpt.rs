//! A log of RPT: each workload is a run with its curve.

use results::{Run, Setup, Status};

use super::{ImportedLog, LogText, NoRuns, blank_run};
use crate::number::general;
use crate::rpt::log::mode_name;
use crate::rpt::{DATA_FILE, Imported, RptLog, imported};

/// The runs of a log.
pub(super) fn read(log: LogText<'_>) -> Result<ImportedLog, NoRuns> {
    let no_log = |why: String| NoRuns::of(log.file, why);
    let read = RptLog::read(log.text).map_err(|error| no_log(error.to_string()))?;
    let found = imported(&read);
    if found.is_empty() {
        return Err(no_log("it holds no sums".into()));
    }
    if found.iter().all(|one| one.curve.points.is_empty()) {
        let why = "it holds results without the sums behind them, as an rpt report does: import \
                   its log instead, as in rpt.rpl";
        return Err(no_log(why.into()));
    }
    let runs = found.iter().map(|one| run_of(&read, one, log.file));
    Ok(ImportedLog {
        runs: runs.collect(),
        strange: read.strange.clone(),
    })
}

fn title(one: &Imported) -> String {
    let marks = one.rabmarks.map_or_else(
        || "no results".to_owned(),
        |(r, s)| format!("RABmarks {} {}", general(r), general(s)),
    );
    format!(
        "{} (run {}, {}): {}, {}, {marks}",
        one.name,
        one.run,
        mode_name(one.mode),
        counted(
            one.curve.points.len(),
            "number of threads",
            "numbers of threads"
        ),
        counted(one.curve.levels.len(), "level", "levels"),
    )
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn run_of(log: &RptLog, one: &Imported, file: &str) -> Run {
    let status = if one.is_complete {
        Status::Complete
    } else {
        Status::Partial {
            reason: "the log ends before this workload has results".into(),
        }
    };
    let mut run = blank_run("rpt", &data_file(log), log.timestamp.as_deref());
    run.status = status;
    run.settings = Setup::new("rpt", 0)
        .with("log", file)
        .with("typed", log.command.as_deref().unwrap_or("rpt"));
    run.elapsed_ns = (one.elapsed_s.max(0.0) * 1e9) as u64;
    run.curves = vec![one.curve.clone()];
    run.findings = vec![title(one)];
    run
}

/// The data file, if the arguments name it, since a log does not.
fn data_file(log: &RptLog) -> String {
    let words: Vec<&str> = log
        .command
        .as_deref()
        .unwrap_or("")
        .split_whitespace()
        .collect();
    let named = words
        .windows(2)
        .find(|pair| pair[0] == "-f")
        .map(|pair| pair[1]);
    named.unwrap_or(DATA_FILE).to_owned()
}
