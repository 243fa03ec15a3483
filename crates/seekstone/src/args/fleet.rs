//! `seekstone fleet`.

use super::parse::within;
use super::words::{one_of, words};
use std::ffi::OsString;

use clap::{Args, Subcommand};
use fleet::Mpi;
use units::Duration;

/// `seekstone fleet`.
#[derive(Args, Debug)]
pub struct FleetArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: FleetCommand,
}

/// What a fleet needs before it runs.
#[derive(Subcommand, Debug)]
pub enum FleetCommand {
    /// Compile the shim for an MPI library without the standard ABI, and cache it.
    Shim {
        /// The library's compiler.
        #[arg(long, value_name = "MPICC", default_value = "mpicc")]
        mpicc: OsString,
    },
    /// Write a Kubernetes MPIJob that runs a command on many hosts.
    Manifest(ManifestArgs),
    /// Write a Slurm batch script that runs a command on many hosts.
    Slurm(SlurmArgs),
}

/// What to run, and where.
#[derive(Args, Debug)]
pub struct LaunchArgs {
    /// Number of hosts.
    #[arg(long, value_parser = within::<u32>(1..))]
    pub hosts: u32,
    /// Ranks per host.
    #[arg(long, default_value_t = 1, value_parser = within::<u32>(1..))]
    pub ranks_per_host: u32,
    /// Job name.
    #[arg(long, value_name = "NAME", default_value = "seekstone")]
    pub name: String,
    /// Time limit of the job.
    #[arg(long, default_value = "1h")]
    pub time: Duration,
    /// The command, as it would be typed on one host: trial, its target and its options.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// `seekstone fleet manifest`.
#[derive(Args, Debug)]
pub struct ManifestArgs {
    /// The image, with this program, its shim, mpirun and sshd.
    #[arg(long, value_name = "IMAGE")]
    pub image: String,
    /// The PersistentVolumeClaim to measure. All hosts mount it.
    #[arg(long, value_name = "NAME")]
    pub claim: String,
    /// Mount point.
    #[arg(long, value_name = "DIR")]
    pub mount: String,
    /// The image's MPI library.
    #[arg(long, value_parser = one_of(LIBRARIES), default_value = "open-mpi")]
    pub mpi: Mpi,
    /// Without an MPI operator: an Indexed Job whose first pod runs mpirun.
    #[arg(long)]
    pub indexed_job: bool,
    /// What to run, and where.
    #[command(flatten)]
    pub launch: LaunchArgs,
}

words! {
    /// MPI libraries.
    LIBRARIES: Mpi =
        OpenMpi "open-mpi" "Open MPI";
        Mpich "mpich" "MPICH";
}

/// `seekstone fleet slurm`.
#[derive(Args, Debug)]
pub struct SlurmArgs {
    /// The partition.
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,
    /// srun's MPI plugin, such as pmix or pmi2 (`srun --mpi=list`).
    #[arg(long, value_name = "PLUGIN")]
    pub mpi: Option<String>,
    /// What to run, and where.
    #[command(flatten)]
    pub launch: LaunchArgs,
}
