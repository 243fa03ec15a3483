//! Arguments of `seekstone io500`.

use std::path::PathBuf;

use clap::Args;
use units::Bytes;

use super::Common;
use super::parse::within;

/// `seekstone io500`.
#[derive(Args, Debug)]
#[command(
    after_help = "The phases of IO500 in their order, with its configuration file and its result \
files. Results are never a submission: the list takes those of its own program. docs/hpc.md has \
each key of the file.\n\n\
Examples:\n  \
mpirun -n 80 seekstone io500 config.ini            300 s for each phase that writes\n  \
seekstone io500 short.ini --clients 2              with [debug] stonewall-time = 5"
)]
pub struct Io500Args {
    /// IO500's configuration file.
    #[arg(value_name = "CONFIG.ini")]
    pub config: PathBuf,
    /// Clients [default: 1, or one per MPI rank].
    #[arg(long, value_name = "N", value_parser = within::<u32>(1..=100_000))]
    pub clients: Option<u32>,
    /// Free space to leave [default: the larger of 5 % and 1 GiB, at most a quarter].
    #[arg(long, value_name = "BYTES")]
    pub reserve: Option<Bytes>,
    /// What every measuring command takes.
    #[command(flatten)]
    pub common: Common,
}
