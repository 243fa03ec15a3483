//! Arguments of `seekstone devices`.

use clap::{Args, Subcommand};

use super::Force;
use crate::output::Output;

/// `seekstone devices`.
#[derive(Args, Debug)]
#[command(after_help = help!("devices"))]
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
    /// published ones. Checks the models against laws that are known exactly.
    ///
    /// Takes seconds, since time is virtual, and gives the same results on every machine. Exit code
    /// 1 when a row misses its bar.
    #[command(after_help = help!("validate"))]
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
