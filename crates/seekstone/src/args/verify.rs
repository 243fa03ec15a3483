//! Arguments of `seekstone verify`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Force;
use crate::output::Output;

/// `seekstone verify`.
#[derive(Args, Debug)]
pub struct VerifyArgs {
    /// The file that --verify-state named.
    pub state: PathBuf,
    /// What happened to the target since. After a power loss, writes that came after the last flush
    /// may or may not be there.
    #[arg(long, value_enum, default_value_t = AfterChoice::Kill, value_name = "EVENT")]
    pub after: AfterChoice,
    /// Where the target is now, if not where it was; with several targets once for each, in the
    /// order of the state.
    #[arg(long = "target", value_name = "PATH")]
    pub targets: Vec<PathBuf>,
    /// Write what was found as JSON; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub json: Option<Output>,
    /// What may be replaced.
    #[command(flatten)]
    pub force: Force,
    /// Show no progress.
    #[arg(long, short)]
    pub quiet: bool,
}

/// What happened to a target after it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AfterChoice {
    /// The program ended or was killed: all that was acknowledged must be there.
    Kill,
    /// The target lost its power: what was flushed must be there.
    PowerLoss,
}
