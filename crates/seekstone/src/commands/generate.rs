//! Completions and the manual page, from the one definition of the command line.

use crate::args::{CompletionsArgs, ManArgs, definition};
use crate::completion::registration;
use crate::exit::{Exit, UsageError};
use crate::output;

/// Print the lines that let a shell complete words.
///
/// # Errors
/// When standard output cannot be written.
pub fn completions(args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let shell = args.shell.to_string();
    let text = registration(&shell)?;
    let unknown = || UsageError(format!("there are no completions for {shell}"));
    output::print(text.ok_or_else(unknown)?.trim_end())
}

/// Print the manual page, commands included, or that of one command.
///
/// # Errors
/// When there is no such command, or standard output cannot be written.
pub fn man(args: &ManArgs) -> anyhow::Result<Exit> {
    let mut text = Vec::new();
    let command = definition();
    if let Some(name) = &args.command {
        let Some(part) = command.find_subcommand(name) else {
            let known: Vec<&str> = command.get_subcommands().map(|it| it.get_name()).collect();
            let text = format!("there is no command {name}; there are {}", known.join(", "));
            return Err(UsageError(text).into());
        };
        let title = format!("seekstone-{name}");
        let part = part
            .clone()
            .bin_name(format!("seekstone {name}"))
            .name(title);
        clap_mangen::Man::new(part).render(&mut text)?;
        return output::print(String::from_utf8_lossy(&text).trim_end());
    }
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
