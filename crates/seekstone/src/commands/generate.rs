//! Completions and the manual page, from the one definition of the command line.

use clap::Command;

use crate::args::{CompletionsArgs, ManArgs, definition, in_full};
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
    let command = in_full(definition());
    if !args.command.is_empty() {
        let part = part_of(&command, &args.command)?;
        let part = part
            .clone()
            .bin_name(format!("seekstone {}", args.command.join(" ")))
            .name(format!("seekstone-{}", args.command.join("-")));
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

/// The command of that name, or what it has of the names behind.
fn part_of<'a>(command: &'a Command, names: &[String]) -> Result<&'a Command, UsageError> {
    let mut part = command;
    for (at, name) in names.iter().enumerate() {
        let Some(found) = part.find_subcommand(name) else {
            let known: Vec<&str> = part.get_subcommands().map(Command::get_name).collect();
            let whose = names[..at].iter().map(|it| format!("{it} "));
            let whose: String = whose.collect();
            return Err(UsageError(match known.is_empty() {
                true => format!("{whose}has no commands of its own: leave {name} out"),
                false => format!(
                    "there is no command {whose}{name}. There are {}",
                    known.join(", ")
                ),
            }));
        };
        part = found;
    }
    Ok(part)
}
