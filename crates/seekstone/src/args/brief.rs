//! What `-h` shows of a command: the options that people use, a line each. `--help` shows all, in
//! groups.

use clap::{Arg, ArgAction, Command};

use crate::recorded;

/// The options that `-h` shows of a command. A command that is not named shows all but [`RARE`].
const SHOWN: &str = include_str!("brief.txt");

/// Bytes of a text that fits into a line behind its option.
const LINE: usize = 50;
/// Bytes of a value's name that leave a line for the text behind it.
const VALUE: usize = 11;
/// What `-h` shows of no command.
const RARE: [&str; 2] = ["color", "force"];

/// Headings of `--help` and the options under them. All others say what is measured, and come
/// first.
const HEADINGS: [(&str, &str); 3] = [
    (
        "Time and precision",
        "budget duration precision repeat warm-up interval max-time resume restart",
    ),
    (
        "Access",
        "overwrite confirm reserve driver batch buffer-pages errors hang-limit workers cpus \
         shared yes",
    ),
    (
        "Results",
        "goal out json csv markdown html svg openmetrics influx parquet force archive no-save all \
         quiet live color",
    ),
];

/// The command line, whose commands show common options in their help, each on a line.
pub fn in_brief(definition: Command) -> Command {
    definition.mut_subcommands(|command| brief(command, ""))
}

/// The command line, whose commands show all options in their help, under headings.
pub fn in_full(command: Command) -> Command {
    let command = command.mut_args(under_heading);
    command.mut_subcommands(in_full)
}

/// The commands of [`SHOWN`], and their options.
fn shown() -> impl Iterator<Item = (&'static str, &'static str)> {
    SHOWN.lines().filter_map(|line| line.split_once(": "))
}

/// A command and those below it. `above` names the one that it belongs to, with a blank behind.
fn brief(command: Command, above: &str) -> Command {
    let path = format!("{above}{}", command.get_name());
    let options = command.get_arguments().filter(|arg| !arg.is_positional());
    // `--help` and `--color` are of every command.
    let count = options.filter(|arg| !arg.is_hide_set()).count() + 2;
    let first = command
        .get_positionals()
        .next()
        .map(|arg| arg.get_id().clone());
    let shown = shown().find(|(name, _)| *name == path);
    let is_shown = |arg: &Arg| match shown {
        _ if arg.is_positional() => arg.is_required_set() || Some(arg.get_id()) == first.as_ref(),
        Some((_, shown)) => holds(shown, arg),
        None => !RARE.contains(&recorded::name(arg)),
    };
    let help = Arg::new("help").short('h').long("help").hide(true);
    let color = Arg::new("color").long("color").hide(true);
    command
        .mut_args(|arg| {
            let is_hidden = arg.is_hide_set() || !is_shown(&arg);
            shortened(arg).hide(is_hidden)
        })
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .args([help.action(ArgAction::Help), color])
        .after_help(format!("--help shows all {count} options"))
        .mut_subcommands(|below| brief(below, &format!("{path} ")))
}

/// Whether an argument is one of those in the list.
fn holds(list: &str, arg: &Arg) -> bool {
    list.split(' ').any(|name| name == recorded::name(arg))
}

/// An argument under the heading of `--help` that it belongs to, if any.
pub(super) fn under_heading(arg: Arg) -> Arg {
    let heading = HEADINGS.iter().find(|(_, list)| holds(list, &arg));
    match heading.filter(|_| !arg.is_positional()) {
        Some((heading, _)) => arg.help_heading(*heading),
        None => arg,
    }
}

/// A long text up to the end of its first sentence, a semicolon, a colon or a bracket. No long list
/// in the place of a value.
fn shortened(arg: Arg) -> Arg {
    let text = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let ends: &[&str] = match arg.is_positional() {
        true => &[". ", "; ", " [default"],
        false => &[". ", "; ", " [default", ": ", " ("],
    };
    let end = ends.iter().filter_map(|end| text.find(end)).min();
    let long_name = |names: &[clap::builder::Str]| names.iter().any(|it| it.len() > VALUE);
    let arg = match arg.get_value_names().is_some_and(long_name) {
        true => arg.value_name("VALUE"),
        false => arg,
    };
    match end {
        Some(end) if text.len() > LINE => arg.help(text[..end].to_owned()),
        _ => arg,
    }
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::{in_brief, shown};
    use crate::args::definition;

    /// Each command below, by its path.
    fn each(command: &mut Command, path: &str, found: &mut Vec<(String, String)>) {
        for below in command.get_subcommands_mut() {
            let path = format!("{path} {}", below.get_name())
                .trim_start()
                .to_owned();
            let help = below.clone().term_width(80).render_help().to_string();
            each(below, &path, found);
            found.push((path, help));
        }
    }

    #[test]
    fn the_brief_help_of_each_command_fits_twenty_lines() {
        let mut definition = in_brief(definition());
        definition.build();
        let mut found = Vec::new();
        each(&mut definition, "", &mut found);
        let own = found.iter().filter(|(path, _)| !path.contains("help"));
        let mut long = Vec::new();
        for (path, help) in own {
            assert!(help.contains("--help shows all "), "{path}: {help}");
            if help.lines().count() > 20 {
                long.push(format!("{path} {}:\n{help}", help.lines().count()));
            }
        }
        assert!(long.is_empty(), "{}", long.join("\n\n"));
    }

    #[test]
    fn what_is_listed_exists() {
        for (path, shown) in shown() {
            let definition = definition();
            let command = path.split(' ').fold(&definition, |command, name| {
                command.find_subcommand(name).expect(path)
            });
            for name in shown.split(' ') {
                let is_known = command.get_arguments().any(|arg| super::holds(name, arg));
                assert!(is_known, "{path} has no {name}");
            }
        }
    }
}
