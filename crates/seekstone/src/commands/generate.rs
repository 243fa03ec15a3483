//! Completions and the manual page, from the one definition of the command line.

use crate::args::{CompletionsArgs, definition};
use crate::exit::Exit;
use crate::output;

/// Print completions for a shell.
///
/// # Errors
/// When standard output cannot be written.
pub fn completions(args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut definition(), "seekstone", &mut text);
    output::print(String::from_utf8_lossy(&text).trim_end())
}

/// Print the manual page, commands included.
///
/// # Errors
/// When standard output cannot be written.
pub fn man() -> anyhow::Result<Exit> {
    let mut text = Vec::new();
    let command = definition();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    for part in command.get_subcommands() {
        let name = format!("seekstone {}", part.get_name());
        let page = clap_mangen::Man::new(part.clone().bin_name(name));
        page.render_synopsis_section(&mut text)?;
        page.render_description_section(&mut text)?;
        page.render_options_section(&mut text)?;
    }
    output::print(String::from_utf8_lossy(&text).trim_end())
}
