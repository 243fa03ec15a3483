//! Arguments of `seekstone devices`.

use clap::{Args, Subcommand};

use super::Force;
use crate::output::Output;

/// `seekstone devices`.
#[derive(Args, Debug)]
#[command(
    after_help = "A device is a target of every command that measures, in virtual time:\n\n  \
seekstone trial sim:fireball\n  \
seekstone curve 'sim:rz28?raid=5&disks=5&mode=reduced'\n  \
seekstone trial 'sim:ppro?memory=64M&disk=./my-disk.toml'\n\n\
docs/devices.md describes the models and the files."
)]
pub struct DevicesArgs {
    /// What to do with them.
    #[command(subcommand)]
    pub command: DevicesCommand,
}

/// What can be done with devices.
#[derive(Debug, Subcommand)]
pub enum DevicesCommand {
    /// List every device, machine, link and queue.
    List,
    /// Show the values of one, where each comes from, and what follows from them.
    Show {
        /// A name of the list, or a file of your own.
        name: String,
        /// Print the definition itself, to be copied and edited.
        #[arg(long)]
        toml: bool,
    },
    /// Run the documents' programs on the simulated machines, and hold what they find against what
    /// was published; and the models against laws that are known exactly.
    ///
    /// Takes seconds: time is virtual. The same figures come out on every machine. Ends with 1 when
    /// a row misses its bar.
    #[command(after_help = "Examples:\n  \
seekstone devices validate                every table\n  \
seekstone devices validate ppro           those in which a machine or device takes part\n  \
seekstone devices validate --json found.json")]
    Validate(ValidateArgs),
}

/// `seekstone devices validate`.
#[derive(Args, Debug)]
pub struct ValidateArgs {
    /// A device, machine or queue of the list; all of them when absent.
    pub name: Option<String>,
    /// Write every row as JSON (docs/json-schema.md); `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub json: Option<Output>,
    /// What may be replaced.
    #[command(flatten)]
    pub force: Force,
    /// Show no progress.
    #[arg(long, short)]
    pub quiet: bool,
}
