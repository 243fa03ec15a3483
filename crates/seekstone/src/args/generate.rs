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
    /// The command or its part, as in `seekstone man trial | man -l -` or `seekstone man runs
    /// export` [default: all commands].
    pub command: Vec<String>,
}
