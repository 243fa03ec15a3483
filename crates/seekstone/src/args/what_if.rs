//! Arguments of `seekstone whatif`.

use std::path::PathBuf;

use clap::Args;
use units::{Duration, Rate};

use super::Force;
use super::parse::{parse_level, parse_rate, parse_share};
use crate::output::Output;

/// `seekstone whatif`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  seekstone whatif 12                         the model of run 12 and its scores
  seekstone whatif 12 --clients 20,40         response time and load of 20 and 40 clients
  seekstone whatif 12 --load 500/s            response time at a load, closed and open
  seekstone whatif 12 --level 5ms             load at a mean response time
  seekstone whatif 12 --servers 8 --clients 64    the same storage with 8 servers
  seekstone whatif 12 --device 'sim:mmc?servers=8&mean=1ms'
  seekstone whatif 3 4 5 6 --users 300 --check 7  runs of transactions, taken together

Eight small models of a queue are fitted to the run. The one that best predicts points left out of
the fit is used, and its errors there are always printed. Nothing is predicted when they are above
15 %, nor outside of what was measured unless --extrapolate is given. The archive is not changed.")]
pub struct WhatIfArgs {
    /// Numbers of archived runs of `curve`, `run` or `transactions`; several must be of one target
    /// and workload, and are fitted together.
    #[arg(required = true, value_name = "RUN", value_parser = clap::value_parser!(i64).range(1..))]
    pub runs: Vec<i64>,
    /// Predict response time and load of this many clients.
    #[arg(
        long, visible_alias = "users", value_name = "N", value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    pub clients: Vec<u32>,
    /// Predict the response time at a load, as in 500/s: closed, with as many clients as make it,
    /// each of which waits for its last operation; and open, where operations come at that rate
    /// however many wait.
    #[arg(
        long = "load", value_name = "RATE", value_delimiter = ',', value_parser = parse_rate,
        allow_hyphen_values = true
    )]
    pub loads: Vec<Rate>,
    /// Predict the load at a mean response time.
    #[arg(
        long = "level", value_name = "TIME", value_delimiter = ',', value_parser = parse_level,
        allow_hyphen_values = true
    )]
    pub levels: Vec<Duration>,
    /// Of the same storage with this many servers; always an extrapolation.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub servers: Option<u32>,
    /// Of the same storage when its cache answers this share of the reads; always an
    /// extrapolation. Needs a run whose reads, one at a time, show cache and device apart.
    #[arg(long, value_name = "PERCENT", value_parser = parse_share, allow_hyphen_values = true)]
    pub cache: Option<f64>,
    /// Run the same load on this simulated device, as in sim:mm1?mean=1ms.
    #[arg(long, value_name = "sim:NAME")]
    pub device: Option<String>,
    /// Runs of the same kind that no fit sees: the model is scored on them.
    #[arg(
        long, value_name = "RUN", value_delimiter = ',',
        value_parser = clap::value_parser!(i64).range(1..)
    )]
    pub check: Vec<i64>,
    /// Predict outside of what was measured, too, with wider intervals.
    #[arg(long)]
    pub extrapolate: bool,
    /// Write everything that was found as JSON (docs/json-schema.md); `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub json: Option<Output>,
    /// What may be replaced.
    #[command(flatten)]
    pub force: Force,
    /// Archive of runs [default: seekstone/archive.db in the user's data directory].
    #[arg(long, value_name = "FILE")]
    pub archive: Option<PathBuf>,
    /// Show no progress.
    #[arg(long, short)]
    pub quiet: bool,
}
