//! Arguments of `seekstone devices`.

use clap::{Args, Subcommand};

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
}
