//! `seekstone rpt`: the RAID Performance Test of 1995 with its own files.

mod lines;
mod window;

use std::fs::OpenOptions;
use std::io::{IsTerminal as _, Read as _, Write as _};
use std::path::Path;

use anyhow::Context as _;
use drivers::open_regular_file;
use host::arguments::typed_arguments;
use host::interrupt::Interrupt;
use vintage::rpt::log::{log_header, report_header};
use vintage::rpt::{FILE_BYTES_MAX, TestPlan, Typed, listed, shipped, text_of};
use vintage::run::{
    ClassicError, DataAccess, Operator, OutputFiles, TestEnding, TestRequest, run_test, timestamp,
};

use crate::args::{ClassicReach, RptArgs};
use crate::commands::names;
use crate::commands::setup::fresh_seed;
use crate::exit::{Exit, UsageError};
use crate::output;

use lines::RptLines;
use window::RptWindow;

/// Run a test.
///
/// # Errors
/// When a file is wrong, or the test cannot be run to its end.
pub fn rpt(args: &RptArgs) -> anyhow::Result<Exit> {
    if args.write_files {
        return write_files();
    }
    let (plan, warnings) = read_plan(args)?;
    if args.verbose.is_some() {
        output::print(&plan.definitions())?;
    }
    let interrupt = Interrupt::install().context("cannot set up signal handling")?;
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let with_screen = is_terminal && !args.no_screen;
    let request = TestRequest {
        access: access(&args.reach),
        starts: !with_screen,
    };
    let (run, log) = plan.run_and_log();
    let report = plan.files[3].clone();
    let files = || {
        let mut files = OutputFiles::create([&run, &log, &report])?;
        let now = timestamp();
        files.log(log_header(&now, &behind_command()).trim_end_matches('\n'))?;
        files.log("")?;
        if !warnings.is_empty() {
            files.log(&warnings)?;
        }
        files.report(report_header(&now).trim_end_matches('\n'))?;
        files.report("")?;
        Ok(files)
    };
    let mut operator: Box<dyn Operator> = if with_screen {
        Box::new(RptWindow::new(args.reach.quiet))
    } else {
        Box::new(RptLines::new(args.reach.quiet))
    };
    let ended = run_test(plan, &request, files, &interrupt, operator.as_mut());
    drop(operator);
    let ending = ended.map_err(in_words)?;
    let written = format!(
        "{report} is the report, {log} the log, {run} the threads. `seekstone runs import {log}` \
         archives them"
    );
    if let TestEnding::Interrupted { signal } = ending {
        anyhow::bail!("stopped by {signal}. What was measured is kept: {written}");
    }
    if with_screen {
        let text =
            std::fs::read_to_string(&report).with_context(|| format!("cannot read {report}"))?;
        output::print(text.trim_end())?;
    }
    if !args.reach.quiet {
        output::complain(&written);
    }
    Ok(Exit::Done)
}

/// What a wrong command line or file is, is wrong usage.
pub fn in_words(error: ClassicError) -> anyhow::Error {
    match error {
        ClassicError::Usage(text) => UsageError(text).into(),
        ClassicError::Sim(error) => UsageError(error.to_string()).into(),
        other => other.into(),
    }
}

/// What may be done to the storage, as asked for.
pub fn access(reach: &ClassicReach) -> DataAccess {
    DataAccess {
        seed: reach.seed.unwrap_or_else(fresh_seed),
        driver: reach.driver,
        overwrite: reach.overwrite,
        confirmed: reach.confirm.clone(),
        reserve: reach.reserve.map(|bytes| bytes.as_u64()),
    }
}

/// Write the files that come with the program, none of them over an existing one.
fn write_files() -> anyhow::Result<Exit> {
    let exists = |name: &&str| Path::new(name).symlink_metadata().is_ok();
    let names: Vec<&str> = shipped::FILES.iter().map(|(name, _)| *name).collect();
    let existing: Vec<&str> = names.iter().copied().filter(exists).collect();
    if !existing.is_empty() {
        refuse!(
            "{} is there already and is not touched: remove it, or go to another directory",
            existing.join(", ")
        );
    }
    for (name, text) in shipped::FILES {
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(name)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .with_context(|| format!("cannot write {name}"))?;
    }
    output::print(&format!("wrote {}", names.join(", ")))
}

/// The test, and the warnings about its files.
fn read_plan(args: &RptArgs) -> anyhow::Result<(TestPlan, String)> {
    let path = &args.test_file;
    let name = path.to_string_lossy().into_owned();
    if shipped::text_of(&name).is_some() && path.symlink_metadata().is_err() {
        refuse!(
            "there is no test file {name} here: `seekstone rpt --write-files` writes the standard \
             ones, or name another with -t"
        );
    }
    let text = read_text(path).map_err(UsageError)?;
    // A test file's companions stand beside it.
    let directory = path.parent().unwrap_or(Path::new(""));
    let mut include = |name: &str| read_text(&directory.join(name));
    let (plan, faults) = TestPlan::read(&name, &text, &switches(args), &mut include);
    let mut warnings = String::new();
    if !faults.warnings.is_empty() {
        warnings = listed(&faults.warnings)
            .replace('\n', "\nwarning: ")
            .replacen("", "warning: ", 1);
        output::complain(&warnings);
    }
    let plan = plan.ok_or_else(|| UsageError(listed(&faults.errors)))?;
    Ok((plan, warnings))
}

/// The text of a test or parameter file, or why it has none.
fn read_text(path: &Path) -> Result<String, String> {
    let in_context = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let mut bytes = Vec::new();
    // One byte more than may be is enough to be refused for its length.
    let file = open_regular_file(path).map_err(|error| in_context(error.into()))?;
    let read = file.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes);
    read.map_err(in_context)?;
    let text = text_of(&bytes).map_err(|error| format!("{} {error}", path.display()))?;
    Ok(text.to_owned())
}

/// What was typed behind the command's name.
fn behind_command() -> Vec<String> {
    let first = std::env::args_os().next();
    let is_link = first.as_deref().and_then(names::known).is_some();
    typed_arguments(if is_link { 1 } else { 2 })
}

/// The switches given, with their values.
fn switches(args: &RptArgs) -> Typed {
    let switches = [
        ("-B", &args.data_size),
        ("-f", &args.data_file),
        ("-m", &args.mode),
        ("-n", &args.nruns),
        ("-r", &args.rsmin),
        ("-R", &args.rsmax),
        ("-v", &args.verbose),
    ];
    let typed = switches
        .into_iter()
        .filter_map(|(flag, value)| Some((flag, value.clone()?)));
    typed.collect()
}
