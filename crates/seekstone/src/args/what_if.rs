//! Arguments of `seekstone whatif`.

use std::path::PathBuf;

use clap::Args;
use units::{Duration, Rate, TargetName};

use super::parse::within;
use super::parse::{parse_level, parse_rate, parse_share, parse_target};
use super::{Force, RunChoice};
use crate::output::Output;

/// `seekstone whatif`.
#[derive(Args, Debug)]
#[command(after_help = help!("what_if"))]
pub struct WhatIfArgs {
    /// Archived runs of `curve`, `run` or `transactions`, by number or as `latest`. Several must
    /// have the same target and workload, and are fitted together.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<RunChoice>,
    /// Predict response time and load for this many clients.
    #[arg(
        long, visible_alias = "users", value_delimiter = ',',
        value_parser = within::<u32>(1..=1_000_000)
    )]
    pub clients: Vec<u32>,
    /// Predict the response time at a load, as in 500/s. Closed, with as many clients as it takes,
    /// and open, with operations arriving at that rate however many are waiting.
    #[arg(long = "load", value_delimiter = ',', value_parser = parse_rate)]
    pub loads: Vec<Rate>,
    /// Predict the load at a mean response time.
    #[arg(long = "level", value_delimiter = ',', value_parser = parse_level)]
    pub levels: Vec<Duration>,
    /// Predict for the same storage with this many servers. Always an extrapolation.
    #[arg(long, value_parser = within::<u32>(1..=100_000))]
    pub servers: Option<u32>,
    /// Predict for the same storage with this cache hit ratio for reads. Always an extrapolation.
    /// Needs a run whose reads, one at a time, show cache and device apart.
    #[arg(long, value_parser = parse_share)]
    pub cache: Option<f64>,
    /// Run the same load on this simulated device, as in sim:mm1?mean=1ms.
    #[arg(long, value_name = "sim:NAME", value_parser = parse_target)]
    pub device: Option<TargetName>,
    /// Runs of the same kind to score the model on. Not used in the fit.
    #[arg(long, value_name = "RUN", value_delimiter = ',')]
    pub check: Vec<RunChoice>,
    /// Also predict outside the measured range, with wider intervals.
    #[arg(long)]
    pub extrapolate: bool,
    /// Write all results as JSON (docs/json-schema.md). `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub json: Option<Output>,
    /// What may be replaced.
    #[command(flatten)]
    pub force: Force,
    /// Archive file [default: seekstone/archive.db in the user's data directory].
    #[arg(long, value_name = "FILE")]
    pub archive: Option<PathBuf>,
    /// Show no progress.
    #[arg(long, short)]
    pub quiet: bool,
}
