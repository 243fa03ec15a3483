//! Arguments of `seekstone inspect`.

use std::path::PathBuf;

use clap::Args;
use trace::Format;

use super::Force;
use super::replay::TRACE_FORMATS;
use super::words::one_of;
use crate::output::Output;

/// `seekstone inspect`.
#[derive(Args, Debug)]
pub struct InspectArgs {
    /// A directory, file or block device. Or a recorded trace, to show its rate, mix, sizes, hot
    /// spots and a fitted fio job (docs/replay.md).
    #[arg(default_value = ".")]
    pub target: PathBuf,
    /// Read the file as a trace of this format.
    #[arg(long, value_parser = one_of(TRACE_FORMATS), value_name = "FORMAT")]
    pub format: Option<Format>,
    /// Look only at this file or device of a trace (repeatable).
    #[arg(long = "device", value_name = "NAME")]
    pub devices: Vec<String>,
    /// Write the fio job fitted to a trace.
    #[arg(long, value_name = "FILE")]
    pub job: Option<Output>,
    /// Write the description as JSON. `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub json: Option<Output>,
    /// What may be replaced.
    #[command(flatten)]
    pub force: Force,
}
