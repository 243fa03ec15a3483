//! Arguments of `seekstone record`.

use std::path::PathBuf;

use clap::Args;
use units::Duration;

use super::Force;
use super::parse::parse_span;
use crate::output::Output;

/// `seekstone record`.
#[derive(Args, Debug)]
#[command(
    after_help = "Needs root, and tracefs at /sys/kernel/tracing. Ctrl-C ends it and keeps what \
was recorded. The file holds times, places, sizes and flags, and no names (docs/record.md).\n\n  \
seekstone record /var/lib/postgresql --for 10min -o load.trace\n  \
seekstone record 4711 -o load.trace          process 4711 and those that it starts\n  \
seekstone profile load.trace\n  seekstone replay load.trace sim:nvme"
)]
pub struct RecordArgs {
    /// Block devices, or directories on them. Or one process by its number, or one control group by
    /// its directory, on all devices.
    #[arg(required = true, value_name = "TARGET")]
    pub targets: Vec<PathBuf>,
    /// How long to record [default: until Ctrl-C].
    #[arg(long = "for", value_name = "TIME", value_parser = parse_span)]
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
