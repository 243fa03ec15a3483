//! Arguments of `seekstone runs repeat` and `seekstone runs resume`.

use clap::Args;

use super::{Outputs, RunChoice};

/// `seekstone runs repeat`.
#[derive(Args, Clone, Debug)]
pub struct RepeatArgs {
    /// Its number, or `latest`.
    #[arg(default_value_t = RunChoice::Latest)]
    pub id: RunChoice,
    /// What must be given again.
    #[command(flatten)]
    pub again: AgainArgs,
    /// Do not archive the new run.
    #[arg(long)]
    pub no_save: bool,
}

/// `seekstone runs resume`.
#[derive(Args, Clone, Debug)]
pub struct ResumeArgs {
    /// Its number in --list [default: the most recent].
    pub number: Option<u32>,
    /// List killed runs, oldest first.
    #[arg(long, exclusive = true)]
    pub list: bool,
    /// Archive what it measured as a partial run, and stop there.
    #[arg(long, conflicts_with = "discard")]
    pub keep: bool,
    /// Forget it.
    #[arg(long)]
    pub discard: bool,
    /// What must be given again.
    #[command(flatten)]
    pub again: AgainArgs,
}

/// What a repeated or resumed run does not remember.
#[derive(Args, Clone, Debug)]
pub struct AgainArgs {
    /// Write to the target. DESTROYS its data.
    #[arg(long)]
    pub overwrite: bool,
    /// Confirm by device name that a device with known content may be wiped.
    #[arg(long, value_name = "DEVICE", requires = "overwrite")]
    pub confirm: Option<String>,
    /// The forms to write.
    #[command(flatten)]
    pub outputs: Outputs,
    /// Show no progress.
    #[arg(long, short)]
    pub quiet: bool,
    /// Remove leftovers of killed runs without asking.
    #[arg(long, short)]
    pub yes: bool,
}
