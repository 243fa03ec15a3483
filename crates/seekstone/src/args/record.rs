//! Arguments of `seekstone record`.

use std::path::PathBuf;

use clap::Args;
use units::Duration;

use super::Force;
use super::parse::parse_span;
use crate::output::Output;

/// `seekstone record`.
#[derive(Args, Debug)]
#[command(after_help = help!("record"))]
pub struct RecordArgs {
    /// Block devices, or directories on them. Or one process by its number, or one control group by
    /// its directory, on all devices.
    #[arg(required = true, value_name = "TARGET")]
    pub targets: Vec<PathBuf>,
    /// How long to record [default: until Ctrl-C].
    #[arg(long = "for", value_parser = parse_span)]
    pub length: Option<Duration>,
    /// File to write.
    #[arg(long, short, value_name = "FILE", required = true)]
    pub output: Output,
    /// Keep the names of processes in the file.
    #[arg(long)]
    pub names: bool,
    /// What may be replaced.
    #[command(flatten)]
    pub force: Force,
    /// Show no status line.
    #[arg(long, short)]
    pub quiet: bool,
}
