//! `seekstone inspect`: what a target is, and what would mislead; or what a trace asks for.

use anyhow::Context as _;
use drivers::{UringSupport, probe};
use host::interrupt::Interrupt;
use kinds::replay::TraceFile;
use lab::bench::only_objects;
use results::WarningCode;
use results::environment::Caution;
use serde_json::Value;
use trace::{fit, summarise};
use units::{TargetName, listed_name};

use crate::args::InspectArgs;
use crate::exit::{Exit, UsageError};
use crate::output;

/// Describe a target or a trace.
///
/// # Errors
/// When it cannot be looked at.
pub fn inspect(args: &InspectArgs) -> anyhow::Result<Exit> {
    if is_trace(args) {
        return inspect_trace(args);
    }
    let target = args.target.to_str().map(TargetName::from);
    if let Some(TargetName::Bucket(bucket)) = &target {
        return Err(UsageError(only_objects(bucket)).into());
    }
    if let Some(TargetName::Model(model)) = target {
        let name = listed_name(&model).split('?').next().unwrap_or_default();
        refuse!(
            "{model} is a model, with nothing to inspect: `seekstone devices show \
             {name}` describes it"
        );
    }
    if args.job.is_some() || !args.devices.is_empty() {
        refuse!(
            "--job and --device apply to a trace, and {} is not a known one. Name its format \
             with --format",
            args.target.display()
        );
    }
    let (target, mut cautions) = host::inspect::inspect(&args.target)?;
    cautions.extend(without_io_uring());
    let environment = host::environment::capture();
    let document = serde_json::json!({
        "target": target,
        "environment": environment,
        "cautions": cautions,
    });
    if write_json(args, &document)? {
        return Ok(Exit::Done);
    }
    let style = output::style(true);
    output::print(report::inspection(&target, &environment, &cautions, &style).trim_end())
}

/// What a trial would say of its I/O engine here.
fn without_io_uring() -> Option<Caution> {
    let UringSupport::Refused { reason } = probe() else {
        return None;
    };
    Some(Caution {
        code: WarningCode::EngineFallback,
        cause: format!("io_uring is refused here ({reason}): loads run on blocking threads"),
        advice: "IOPS and CPU time depend on the I/O engine".into(),
    })
}

/// Whether a regular file begins as a trace does, or is said to be one.
fn is_trace(args: &InspectArgs) -> bool {
    let is_file = args.target.metadata().is_ok_and(|it| it.is_file());
    args.format.is_some() || (is_file && TraceFile::find(&args.target, None, Vec::new()).is_ok())
}

fn inspect_trace(args: &InspectArgs) -> anyhow::Result<Exit> {
    let format = args.format;
    let file = TraceFile::find(&args.target, format, args.devices.clone())?;
    let interrupt = Interrupt::install().context("cannot set up signal handling")?;
    let summary = summarise(file.read()?.as_mut(), || interrupt.is_raised().is_none());
    if let Some(signal) = interrupt.is_raised() {
        anyhow::bail!("stopped by {} before the end of the trace", signal.name);
    }
    let summary = summary.map_err(UsageError::of)?;
    if summary.requests() == 0 {
        refuse!("{}: it contains no request", file.name());
    }
    let name = file.name();
    let fitted = fit(&summary, &name);
    let named = (name.as_str(), file.recognised.name);
    if let (Some(path), Some(fitted)) = (&args.job, &fitted) {
        path.write(&fitted.job.clone().into())?;
    }
    let to_stdout = args.job.as_ref().is_some_and(output::Output::is_stdout);
    if write_json(args, &report::trace_json(named, &summary, fitted.as_ref()))? || to_stdout {
        return Ok(Exit::Done);
    }
    let style = output::style(true);
    output::print(report::trace_sheet(named, &summary, fitted.as_ref(), &style).trim_end())
}

/// Write the description, where that is asked for; says whether it went to standard output.
fn write_json(args: &InspectArgs, document: &Value) -> anyhow::Result<bool> {
    let Some(path) = &args.json else {
        return Ok(false);
    };
    let text = serde_json::to_string_pretty(document).context("JSON")?;
    path.write(&format!("{text}\n").into())?;
    Ok(path.is_stdout())
}
