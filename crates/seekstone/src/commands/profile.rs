//! `seekstone profile`: what kind of load a trace is, a workload file that asks for much the same,
//! and the trace in other tools' formats.

use std::io::{BufWriter, Write as _};

use anyhow::Context as _;
use host::interrupt::Interrupt;
use kinds::replay::TraceFile;
use trace::{
    BlkparseWriter, IologWriter, LoadProfile, TraceSummary, profile as profile_of, summarise,
    workload_text,
};

use crate::args::LoadProfileArgs;
use crate::exit::{Exit, UsageError};
use crate::output::{self, Output};

/// Profile a trace.
///
/// # Errors
/// When it cannot be read, or a file not be written.
pub fn profile(args: &LoadProfileArgs) -> anyhow::Result<Exit> {
    let file = TraceFile::find(&args.trace, args.format, args.devices.clone())?;
    let interrupt = Interrupt::install().context("cannot set up signal handling")?;
    let go_on = || interrupt.is_raised().is_none();
    let unless_stopped = || match interrupt.is_raised() {
        Some(signal) => anyhow::bail!("stopped by {} before the end of the trace", signal.name),
        None => Ok(()),
    };
    let summary = summarise(file.read()?.as_mut(), go_on).map_err(UsageError::of)?;
    unless_stopped()?;
    if summary.moving() == 0 {
        refuse!("{}: it contains no read and no write", file.name());
    }
    let found = profile_of(file.read()?.as_mut(), &summary, go_on).map_err(UsageError::of)?;
    unless_stopped()?;
    if let Some(output) = &args.output {
        write_workload(output, &file, &summary, &found)?;
    }
    if let Some(output) = &args.iolog {
        write_iolog(output, &file, &summary)?;
    }
    if let Some(output) = &args.blkparse {
        write_text(output, &file)?;
    }
    let name = file.name();
    let named = (name.as_str(), file.recognised.name);
    let names = file.process_names()?;
    if let Some(output) = &args.json {
        let document = report::profile_json(named, &summary, &found, &names);
        let text = serde_json::to_string_pretty(&document).context("JSON")?;
        output.write(&format!("{text}\n").into())?;
    }
    let outputs = [&args.output, &args.json, &args.iolog, &args.blkparse];
    if outputs
        .iter()
        .any(|it| it.as_ref().is_some_and(Output::is_stdout))
    {
        return Ok(Exit::Done);
    }
    let style = output::style(true);
    output::print(report::profile_sheet(named, &summary, &found, &names, &style).trim_end())
}

fn write_workload(
    output: &Output,
    file: &TraceFile,
    summary: &TraceSummary,
    found: &LoadProfile,
) -> anyhow::Result<()> {
    let text = workload_text(found, summary.extent(), &file.name()).ok_or_else(|| {
        UsageError(format!(
            "{}: all its requests come at one time",
            file.name()
        ))
    })?;
    output.write(&text.into())
}

fn write_iolog(output: &Output, file: &TraceFile, summary: &TraceSummary) -> anyhow::Result<()> {
    let names: Vec<String> = summary.files.iter().map(|(name, _)| name.clone()).collect();
    let mut writer = IologWriter::begin(BufWriter::new(output.begin()?), &names)?;
    let mut reader = file.read()?;
    while let Some(record) = reader.next_record().map_err(UsageError::of)? {
        writer.write(&record)?;
    }
    let written = writer.finish()?;
    written
        .into_inner()
        .map_err(std::io::IntoInnerError::into_error)?
        .finish()
}

fn write_text(output: &Output, file: &TraceFile) -> anyhow::Result<()> {
    let mut writer = BlkparseWriter::new(BufWriter::new(output.begin()?));
    let mut reader = file.read()?;
    while let Some(record) = reader.next_record().map_err(UsageError::of)? {
        let device = reader.files()[record.file as usize].clone();
        writer.write(&record, &device, reader.detail())?;
    }
    let mut written = writer.finish()?;
    written.flush()?;
    written
        .into_inner()
        .map_err(std::io::IntoInnerError::into_error)?
        .finish()
}
