//! `seekstone fleet`.

use std::ffi::OsString;

use clap::{Args, Subcommand};

/// `seekstone fleet`.
#[derive(Args, Debug)]
pub struct FleetArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: FleetCommand,
}

/// What fleets need before they run.
#[derive(Subcommand, Debug)]
pub enum FleetCommand {
    /// Compile the shim for an MPI library without the standard ABI, and keep it in the cache.
    Shim {
        /// The library's compiler.
        #[arg(long, value_name = "MPICC", default_value = "mpicc")]
        mpicc: OsString,
    },
}
