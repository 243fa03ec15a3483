//! `seekstone completions` and `seekstone man`.

use clap::Args;

/// `seekstone completions`.
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// `seekstone man`.
#[derive(Args, Debug)]
pub struct ManArgs {
    /// The page of one command, as in `seekstone man trial | man -l -`, or of a part of it, as in
    /// `seekstone man runs export` [default: all commands].
    pub command: Vec<String>,
}
