//! Arguments of `seekstone watch`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use units::{Bytes, Duration, TargetName};
use watch::WatchLevel;

use super::parse::{parse_level, parse_size, parse_span, parse_target};
use super::serve::parse_address;

/// `seekstone watch`.
#[derive(Args, Debug)]
#[command(after_help = help!("watch"))]
pub struct WatchArgs {
    /// Directories, files, block devices or `sim:NAME`. Files and devices are only read. In a
    /// directory a file of 16 MiB is made, read and synced.
    #[arg(value_name = "TARGET", required = true, value_parser = parse_target)]
    pub targets: Vec<TargetName>,
    /// Mean time between probes. Arrivals are random.
    #[arg(long, default_value = "1s", value_parser = parse_level)]
    pub every: Duration,
    /// How long to watch [default: until Ctrl-C, on a model for a day].
    #[arg(long = "for", value_parser = parse_span)]
    pub length: Option<Duration>,
    /// A level that each hour must keep, as in 'p99 <= 20ms'. Decides the exit code.
    #[arg(long, value_name = "LEVEL")]
    pub level: Option<WatchLevel>,
    /// Run a shell command when an event begins or ends, or a level is broken or kept again.
    /// SEEKSTONE_WHAT says which, SEEKSTONE_EVENT has it as JSON.
    #[arg(long, value_name = "COMMAND")]
    pub exec: Option<String>,
    /// Serve /metrics as OpenMetrics, and /healthz. A port is one on localhost. Elsewhere the
    /// printed URL holds a token.
    #[arg(long, value_name = "ADDR", value_parser = parse_address)]
    pub listen: Option<SocketAddr>,
    /// Print events and minutes as JSON lines.
    #[arg(long)]
    pub json: bool,
    /// Show events and hours that were kept of the last TIME, and watch nothing.
    #[arg(
        long, value_parser = parse_span,
        conflicts_with_all = ["every", "length", "level", "exec", "listen", "no_save", "seed"]
    )]
    pub past: Option<Duration>,
    /// Bytes that windows of a target may take in the archive. Older minutes become hours.
    #[arg(long, default_value = "20MB", value_parser = parse_size)]
    pub keep: Bytes,
    /// Seed of arrivals and addresses.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Show no status line.
    #[arg(long, short)]
    pub quiet: bool,
    /// Archive file [default: seekstone/archive.db in the user's data directory].
    #[arg(long, value_name = "FILE")]
    pub archive: Option<PathBuf>,
    /// Keep nothing in the archive.
    #[arg(long, conflicts_with = "archive")]
    pub no_save: bool,
}
