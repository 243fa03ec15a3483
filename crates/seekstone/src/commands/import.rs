//! `seekstone runs import`: exported runs, pages, and what a log of a classic program holds, become
//! runs in the archive. Logs of `rpt` are read here.

use std::path::Path;

use anyhow::Context as _;
use archive::Archive;
use drivers::{ReadFileError, read_regular_file};
use results::environment::{Environment, TargetKind};
use results::{Run, Setup, Status, TargetDescription, Warning, WarningCode};
use units::TargetName;
use vintage::diskmbps::{NoTransferLog, read_logs};
use vintage::diskrand::begins_log;
use vintage::rpt::log::mode_name;
use vintage::rpt::{Imported, LOG_BYTES_MAX, RptLog, general, imported};

use super::import_run::{begins_run, import_run};
use super::vintage::import_diskmbps::import_diskmbps;
use super::vintage::import_diskrand::import_diskrand;
use crate::commands::setup::show_command;
use crate::exit::{Exit, UsageError, missing_is_usage};
use crate::output;

/// Runs among which an earlier import of the same log is looked for.
const LOOK_BACK: usize = 1000;

/// Archive the workloads of the log `file`.
///
/// # Errors
/// When the file is no log, or the archive cannot be written.
pub fn import(archive: &mut Archive, file: &Path) -> anyhow::Result<Exit> {
    let text = file_text(file)?;
    // A page holds its run.
    let text = report::run_in_page(&text).unwrap_or(text);
    if begins_run(&text) {
        return import_run(archive, file, &text);
    }
    if begins_log(&text) {
        return import_diskrand(archive, file, &text);
    }
    match read_logs(&text) {
        Ok(jobs) => return import_diskmbps(archive, file, &jobs),
        Err(NoTransferLog::NoJob) => {}
        Err(error) => return Err(no_log(file, &error.to_string())),
    }
    let log = RptLog::read(&text).map_err(|error| no_log(file, &error.to_string()))?;
    let found = imported(&log);
    if found.is_empty() {
        return Err(no_log(file, "it holds no sums"));
    }
    if found.iter().all(|one| one.curve.points.is_empty()) {
        let why = "it holds results without the sums behind them, as an rpt report does: import \
                   its log instead, as in rpt.rpl";
        return Err(no_log(file, why));
    }
    let runs = found.iter().map(|one| run_of(&log, one, file)).collect();
    save_all(archive, runs, file, &log.strange)
}

/// The run that a file holds: its JSON form, or a page.
///
/// # Errors
/// When the file cannot be read, or holds no run.
pub fn run_in_file(file: &Path) -> anyhow::Result<Run> {
    let text = file_text(file)?;
    let text = report::run_in_page(&text).unwrap_or(text);
    results::from_json(&text).map_err(|error| no_log(file, &error.to_string()))
}

/// Archive runs of one log, and say what their log lacks.
///
/// # Errors
/// When the archive cannot be written.
pub fn save_all(
    archive: &mut Archive,
    mut runs: Vec<Run>,
    file: &Path,
    strange: &[usize],
) -> anyhow::Result<Exit> {
    let before = earlier(archive, &runs[0])?;
    let mut ids = Vec::new();
    for run in &mut runs {
        run.warnings.push(Warning::info(
            WarningCode::Imported,
            format!(
                "Imported from {}: machine, storage and seed are not in a log, and are not known.",
                file.display()
            ),
        ));
        let id = archive.save(run).context("the run could not be archived")?;
        ids.push(id);
        let title = run.findings.first().map_or("", String::as_str);
        output::print(&format!("run {id}: {title}"))?;
    }
    if !strange.is_empty() {
        output::complain(&format!(
            "warning: {} lines of {} were not understood and were skipped; the first is line {}",
            strange.len(),
            file.display(),
            strange[0]
        ));
    }
    if let Some(earlier) = before {
        output::complain(&format!(
            "warning: this log was imported before, as run {earlier}, and is now in the archive \
             twice; `runs delete` removes a run"
        ));
    }
    output::print(&format!(
        "imported {}: {}",
        file.display(),
        show_command(ids[0], archive.path(), " --all")
    ))
}

/// A file that is no log is named wrongly.
pub fn no_log(file: &Path, why: &str) -> anyhow::Error {
    UsageError(format!("{}: {why}", file.display())).into()
}

/// The text of a log.
///
/// # Errors
/// When the file cannot be read, is too large, or is no text.
pub fn file_text(file: &Path) -> anyhow::Result<String> {
    // fuzzed: run_json, rpt_log, diskrand_log, diskmbps_log
    let why = match read_regular_file(file, LOG_BYTES_MAX as u64) {
        Ok(bytes) => {
            let text = String::from_utf8(bytes);
            return text.map_err(|_| {
                no_log(
                    file,
                    "is not text, so not a log of rpt, diskmbps or \
                    diskrand",
                )
            });
        }
        Err(ReadFileError::NotRegular) => "is not a regular file",
        Err(ReadFileError::TooLarge { .. }) => "is too large to be a log",
        Err(error) => {
            let read = format!("cannot read {}", file.display());
            return Err(missing_is_usage(anyhow::Error::new(error).context(read)));
        }
    };
    Err(no_log(file, why))
}

/// The number of a run of the same command with the same arguments on the same host at the same
/// moment: the same run, or what an earlier import of this log made.
///
/// # Errors
/// When the archive cannot be listed.
pub fn earlier(archive: &Archive, wanted: &Run) -> anyhow::Result<Option<i64>> {
    for summary in archive.list(LOOK_BACK)? {
        // One damaged run must not keep others from being imported.
        let Ok(run) = archive.load(summary.id) else {
            continue;
        };
        let is_same = run.settings == wanted.settings
            && run.environment.host_name == wanted.environment.host_name
            && run.environment.started_at == wanted.environment.started_at;
        if is_same {
            return Ok(Some(summary.id));
        }
    }
    Ok(None)
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

fn run_of(log: &RptLog, one: &Imported, file: &Path) -> Run {
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
        .with("log", &file.display().to_string())
        .with("typed", log.command.as_deref().unwrap_or("rpt"));
    run.elapsed_ns = (one.elapsed_s.max(0.0) * 1e9) as u64;
    run.curves = vec![one.curve.clone()];
    run.findings = vec![title(one)];
    run
}

/// A run of which nothing is known but its command, its target and when it began.
pub fn blank_run(command: &str, target: &str, started: Option<&str>) -> Run {
    let target = TargetDescription {
        given: target.into(),
        path: target.into(),
        kind: match TargetName::from(target).is_model() {
            true => TargetKind::Simulated,
            false => TargetKind::File,
        },
        size_bytes: None,
        allocated_bytes: None,
        file_system: None,
        devices: Vec::new(),
        memory_backed: false,
        remote: false,
        raid: None,
    };
    Run::empty(Setup::new(command, 0), unknown_environment(started), target)
}

/// The data file, if the arguments name it; a log does not.
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
    named.unwrap_or(vintage::rpt::DATA_FILE).to_owned()
}

fn unknown_environment(started: Option<&str>) -> Environment {
    Environment {
        hosts: Vec::new(),
        seekstone_version: host::VERSION.into(),
        host_name: "unknown".into(),
        kernel: "unknown".into(),
        architecture: "unknown".into(),
        cpu_model: None,
        cpus_online: 0,
        cpus_allowed: 0,
        cpu_limit: None,
        memory_total_bytes: None,
        memory_available_bytes: None,
        memory_limit_bytes: None,
        swap_total_bytes: None,
        swap_free_bytes: None,
        virtualised: None,
        clock_source: None,
        started_at: started.unwrap_or("unknown").into(),
        load_average: None,
        pressure_io: None,
        steal_share: None,
    }
}
