//! Arguments of `seekstone profile`.

use std::path::PathBuf;

use clap::Args;
use trace::Format;

use super::Force;
use super::replay::TRACE_FORMATS;
use super::words::one_of;
use crate::output::Output;

/// `seekstone profile`.
#[derive(Args, Debug)]
#[command(after_help = help!("profile"))]
pub struct LoadProfileArgs {
    /// Trace: what `record` wrote, or any other that `replay` takes.
    pub trace: PathBuf,
    /// Write a workload file for `trial --workload`, fitted to the trace.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<Output>,
    /// Write the profile as JSON. `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub json: Option<Output>,
    /// Write the trace as fio's I/O log, version 3.
    #[arg(long, value_name = "FILE")]
    pub iolog: Option<Output>,
    /// Write the trace as text, as blkparse prints it.
    #[arg(long, value_name = "FILE")]
    pub blkparse: Option<Output>,
    /// The trace's format, if its first bytes do not tell.
    #[arg(long, value_parser = one_of(TRACE_FORMATS), value_name = "FORMAT")]
    pub format: Option<Format>,
    /// Look only at this file or device of the trace (repeatable).
    #[arg(long = "device", value_name = "NAME")]
    pub devices: Vec<String>,
    /// What may be replaced.
    #[command(flatten)]
    pub force: Force,
}
