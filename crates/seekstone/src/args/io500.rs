//! Arguments of `seekstone io500`.

use std::path::PathBuf;

use clap::Args;
use units::Bytes;

use super::Common;
use super::parse::within;

/// `seekstone io500`.
#[derive(Args, Debug)]
#[command(after_help = help!("io500"))]
pub struct Io500Args {
    /// IO500's configuration file.
    #[arg(value_name = "CONFIG.ini")]
    pub config: PathBuf,
    /// Clients [default: 1, or one per MPI rank].
    #[arg(long, value_parser = within::<u32>(1..=100_000))]
    pub clients: Option<u32>,
    /// Free space to leave [default: the larger of 5 % and 1 GiB, at most a quarter].
    #[arg(long)]
    pub reserve: Option<Bytes>,
    /// What every measuring command takes.
    #[command(flatten)]
    pub common: Common,
}
