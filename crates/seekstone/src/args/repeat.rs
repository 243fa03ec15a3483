//! Arguments of `seekstone runs repeat`.

use clap::Args;

use super::{Outputs, RunChoice};

/// `seekstone runs repeat`.
#[derive(Args, Clone, Debug)]
pub struct RepeatArgs {
    /// Its number, or `latest`.
    #[arg(default_value_t = RunChoice::Latest)]
    pub id: RunChoice,
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
    /// Do not keep the new run in the archive.
    #[arg(long)]
    pub no_save: bool,
    /// Show no progress.
    #[arg(long, short)]
    pub quiet: bool,
    /// Remove without asking what killed runs left behind.
    #[arg(long, short)]
    pub yes: bool,
}
