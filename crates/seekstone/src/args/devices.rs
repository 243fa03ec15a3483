//! Arguments of `seekstone devices`.

use clap::{Args, Subcommand};

use super::Force;
use crate::output::Output;

/// `seekstone devices`.
#[derive(Args, Debug)]
#[command(
    after_help = "A device can be the target of every measuring command, in virtual time:\n\n  \
seekstone trial sim:fireball\n  \
seekstone curve 'sim:rz28?raid=5&disks=5&mode=reduced'\n  \
seekstone trial 'sim:ppro?memory=64M&disk=./my-disk.toml'\n\n\
docs/devices.md describes the models and the files."
)]
pub struct DevicesArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: DevicesCommand,
}

/// What to do with devices.
#[derive(Debug, Subcommand)]
pub enum DevicesCommand {
    /// List every device, machine, link and queue.
    List,
    /// Show a device's values, their sources, and what follows from them.
    Show {
        /// A name from the list, or your own file.
        name: String,
        /// Print the definition itself, to copy and edit.
        #[arg(long)]
        toml: bool,
    },
    /// Validate the models against published results and known laws.
    ///
    /// Runs the documents' programs on the simulated machines and compares their results with the
    /// published ones, and checks the models against laws that are known exactly.
    ///
    /// Takes seconds, since time is virtual, and gives the same results on every machine. Exit code
    /// 1 when a row misses its bar.
    #[command(after_help = "Examples:\n  \
seekstone devices validate                every table\n  \
seekstone devices validate ppro           those that use this machine or device\n  \
seekstone devices validate --json found.json")]
    Validate(ValidateArgs),
}

/// `seekstone devices validate`.
#[derive(Args, Debug)]
pub struct ValidateArgs {
    /// A device, machine or queue from the list [default: all].
    pub name: Option<String>,
    /// Write all rows as JSON (docs/json-schema.md). `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub json: Option<Output>,
    /// What may be replaced.
    #[command(flatten)]
    pub force: Force,
    /// Show no progress.
    #[arg(long, short)]
    pub quiet: bool,
}
