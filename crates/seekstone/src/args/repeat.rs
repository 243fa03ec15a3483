//! Arguments of `seekstone runs repeat` and `seekstone runs resume`.

use clap::Args;

use super::{Outputs, RunChoice};

/// `seekstone runs repeat`.
#[derive(Args, Clone, Debug)]
pub struct RepeatArgs {
    /// Its number, or `latest`.
    #[arg(default_value_t = RunChoice::Latest)]
    pub id: RunChoice,
    /// What is said anew.
    #[command(flatten)]
    pub again: AgainArgs,
    /// Do not keep the new run in the archive.
    #[arg(long)]
    pub no_save: bool,
}

/// `seekstone runs resume`.
#[derive(Args, Clone, Debug)]
pub struct ResumeArgs {
    /// Its number in --list; the one that was begun last when absent.
    pub number: Option<u32>,
    /// Name the runs whose programs were killed, oldest first.
    #[arg(long, exclusive = true)]
    pub list: bool,
    /// Archive what it measured as a partial run, and measure nothing.
    #[arg(long, conflicts_with = "discard")]
    pub keep: bool,
    /// Forget it.
    #[arg(long)]
    pub discard: bool,
    /// What is said anew.
    #[command(flatten)]
    pub again: AgainArgs,
}

/// What a run that is measured again, or goes on, does not remember.
#[derive(Args, Clone, Debug)]
pub struct AgainArgs {
    /// Allow writing into the file or device that the run wrote into. Everything in it may be lost.
    #[arg(long)]
    pub overwrite: bool,
    /// The device's name once more, when it carries a file system or other known content that is to
    /// be lost.
    #[arg(long, value_name = "DEVICE", requires = "overwrite")]
    pub confirm: Option<String>,
    /// The forms to write.
    #[command(flatten)]
    pub outputs: Outputs,
    /// Show no progress.
    #[arg(long, short)]
    pub quiet: bool,
    /// Remove without asking what killed runs left behind.
    #[arg(long, short)]
    pub yes: bool,
}
