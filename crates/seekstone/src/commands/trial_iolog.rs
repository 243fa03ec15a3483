//! `trial --iolog FILE`: the operations of a trial as fio's I/O log.

use std::io::BufWriter;
use std::path::Path;

use anyhow::Context as _;
use host::interrupt::Interrupt;
use kinds::iolog::TrialLog;
use kinds::single_load::{LoadRequest, measure_load};
use kinds::stage::Show;
use results::{Run, Warning, WarningCode};
use units::format_counted;

use crate::output::Output;

/// Measure a load, and write what it asks for.
///
/// # Errors
/// When nothing could be measured, or the log not be written.
pub fn measure(
    output: &Output,
    mut request: LoadRequest,
    interrupt: &Interrupt,
    show: Show<'_>,
) -> anyhow::Result<Run> {
    let unwritten = || format!("{} cannot be written", output.path().display());
    let target = request.bench.target.clone();
    let is_virtual = target.is_model();
    let file = BufWriter::new(output.begin()?);
    // fio reads and writes files: of a directory one in it, as in the job file of --as-fio.
    let name = match Path::new(&target).is_dir() {
        true => Path::new(&target).join("fio-trial-1").display().to_string(),
        false => target.to_string(),
    };
    let log = TrialLog::begin(file, &name, is_virtual).with_context(unwritten)?;
    request.follower = Some(log.follower());
    let measured = measure_load(&request, interrupt, show);
    let (file, left_out) = log.finish().with_context(unwritten)?;
    let mut run = measured?;
    let file = file.into_inner().map_err(|error| error.into_error());
    file.with_context(unwritten)?.finish()?;
    run.warnings.extend(missing(left_out));
    Ok(run)
}

fn missing(left_out: u64) -> Option<Warning> {
    (left_out > 0).then(|| {
        Warning::warn(
            WarningCode::IologIncomplete,
            format!(
                "{} are missing from the I/O log: its disk could not keep up.",
                format_counted(left_out, "operation")
            ),
        )
        .advise("Write it to another disk, or reduce the load.")
    })
}
