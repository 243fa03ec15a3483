//! Arguments of `seekstone verify`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Force;
use crate::output::Output;

/// `seekstone verify`.
#[derive(Args, Debug)]
pub struct VerifyArgs {
    /// The file given to --verify-state.
    pub state: PathBuf,
    /// What has happened to the target since. After a power loss, writes after the last flush may
    /// or may not be there.
    #[arg(long, value_enum, default_value_t = AfterChoice::Kill, value_name = "EVENT")]
    pub after: AfterChoice,
    /// The target's path now, if it was moved. Repeat it for several targets, in the order of the
    /// state.
    #[arg(long = "target", value_name = "PATH")]
    pub targets: Vec<PathBuf>,
    /// Write the results as JSON. `-` is standard output.
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
    /// The program ended or was killed: every acknowledged write must be there.
    Kill,
    /// The target lost power: every flushed write must be there.
    PowerLoss,
}
