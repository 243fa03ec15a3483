//! Arguments of `seekstone inspect`.

use std::path::PathBuf;

use clap::Args;

use super::{Force, TraceFormat};
use crate::output::Output;

/// `seekstone inspect`.
#[derive(Args, Debug)]
pub struct InspectArgs {
    /// A directory, file or block device; or a recorded trace, which its beginning tells: its
    /// rate, mix, sizes and hot spots, and a job of fio's that is fitted to it (docs/replay.md).
    #[arg(default_value = ".")]
    pub target: PathBuf,
    /// Take the file for a trace of this format.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<TraceFormat>,
    /// Look at this file or device of a trace alone; may be given several times.
    #[arg(long = "device", value_name = "NAME")]
    pub devices: Vec<String>,
    /// Write the job that is fitted to a trace.
    #[arg(long, value_name = "FILE")]
    pub job: Option<Output>,
    /// Write the description as JSON; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub json: Option<Output>,
    /// What may be replaced.
    #[command(flatten)]
    pub force: Force,
}
