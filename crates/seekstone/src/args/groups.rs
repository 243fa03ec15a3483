//! The first page of help: the commands that most people need, in groups on one screen, and the
//! page with all of them.

use std::ffi::{OsStr, OsString};

use clap::Command;

use super::brief::{in_brief, in_full, under_heading};

/// Commands under their headings: those of the first page, and those that `help --all` adds. Those
/// of kinds that are in no group stand at the end of the group [`KINDS_AT`].
const GROUPS: [(&str, &[&str], &[&str]); 6] = [
    (
        "Test",
        &["run", "trial", "curve", "files", "ssd", "fio", "replay"],
        &[
            "random",
            "transfer",
            "rab",
            "ior",
            "mdtest",
            "io500",
            "positioning",
        ],
    ),
    ("Apps", &["wal", "transactions"], &[]),
    ("Decide", &["compare", "study"], &["time", "whatif"]),
    (
        "Look",
        &["inspect", "runs", "devices", "classic"],
        &[
            "watch", "ping", "record", "profile", "verify", "serve", "clean",
        ],
    ),
    (
        "1990s",
        &[],
        &["rpt", "transact", "diskmbps", "diskrand", "together"],
    ),
    ("Tools", &[], &["wire", "fleet", "completions", "man"]),
];
const KINDS_AT: &str = "Apps";

/// Columns of a group's and a command's name.
const HEADING_WIDTH: usize = 8;
const NAME_WIDTH: usize = 12;

/// The same command line, whose help shows the commands of the first page in groups.
pub(super) fn grouped(command: Command) -> Command {
    let shown = GROUPS.map(|(heading, first, _)| (heading, first.to_vec()));
    let lines = lines(&command, &shown);
    let first: usize = GROUPS.iter().map(|(_, first, _)| first.len()).sum();
    let more = command.get_subcommands().count() - first;
    let ending = format!(
        "`seekstone run` tests the storage under the current directory in two minutes.\n\
         `seekstone help --all` lists {more} more commands, `seekstone COMMAND -h` options."
    );
    with_page(command, &lines, &ending)
}

/// The definition and the words to parse, with the help that the words ask for: `help --all`, `-h`
/// or `--help`.
pub fn with_help_for(definition: Command, words: Vec<OsString>) -> (Command, Vec<OsString>) {
    let typed: Vec<&OsStr> = words.iter().skip(1).map(OsString::as_os_str).collect();
    let asks = |word: &OsStr| ["help", "--help", "-h"].iter().any(|it| word == *it);
    match typed[..] {
        [one, all] | [all, one] if asks(one) && all == "--all" => {
            let lines = lines(&definition, &all_groups(&definition));
            let ending = "`seekstone COMMAND --help` shows all options of a command.";
            let program = words.into_iter().take(1);
            let words = program.chain(["--help".into()]).collect();
            (with_page(definition, &lines, ending), words)
        }
        _ => match typed
            .iter()
            .take_while(|it| **it != "--")
            .any(|it| *it == "-h")
        {
            true => (in_brief(definition), words),
            false => (with_named_in_full(definition, &typed), words),
        },
    }
}

/// The definition, in which the commands among the words show all options. To put those of every
/// command under headings takes milliseconds of each start.
fn with_named_in_full(definition: Command, words: &[&OsStr]) -> Command {
    let words = words.iter().filter_map(|word| word.to_str());
    let named = words.filter(|word| definition.find_subcommand(word).is_some());
    let named: Vec<String> = named.map(str::to_owned).collect();
    let in_full_too = |line: Command, name| line.mut_subcommand(name, in_full);
    let definition = definition.mut_args(under_heading);
    named.into_iter().fold(definition, in_full_too)
}

/// All commands under their headings.
fn all_groups(command: &Command) -> Vec<(&'static str, Vec<&str>)> {
    let is_grouped = |name: &str| {
        let mut groups = GROUPS.iter();
        groups.any(|(_, first, more)| first.contains(&name) || more.contains(&name))
    };
    let kinds = command.get_subcommands().map(Command::get_name);
    let kinds: Vec<&str> = kinds.filter(|name| !is_grouped(name)).collect();
    let with_kinds = |(heading, first, more): (&'static str, &[&'static str], &[&'static str])| {
        let kinds: &[&str] = if heading == KINDS_AT { &kinds } else { &[] };
        (heading, [first, more, kinds].concat())
    };
    GROUPS.into_iter().map(with_kinds).collect()
}

/// A line for each command, with its group's heading before the first.
fn lines(command: &Command, groups: &[(&str, Vec<&str>)]) -> String {
    let group = |(heading, names): &(&str, Vec<&str>)| {
        let lines = names.iter().enumerate().map(|(number, name)| {
            let heading = if number == 0 { heading } else { "" };
            let about = about(command, name);
            format!("{heading:HEADING_WIDTH$}{name:NAME_WIDTH$} {about}\n")
        });
        lines.collect::<String>()
    };
    let groups = groups.iter().filter(|(_, names)| !names.is_empty());
    groups.map(group).collect::<Vec<_>>().join("\n")
}

fn with_page(command: Command, lines: &str, ending: &str) -> Command {
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{lines}\nOptions: \
         --color <auto|always|never>, --help, --version\n\n{ending}"
    ))
}

/// What a command does, in one line.
fn about(command: &Command, name: &str) -> String {
    let about = command.find_subcommand(name).and_then(Command::get_about);
    about.map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::definition;

    #[track_caller]
    fn check(help: &str, lines_max: usize) {
        let widest = help.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{widest:?}: {help}");
        assert!(help.lines().count() <= lines_max, "{help}");
    }

    #[test]
    fn the_first_page_has_fifteen_commands_on_thirty_lines() {
        let help = definition().render_help().to_string();
        let first: usize = GROUPS.iter().map(|(_, first, _)| first.len()).sum();
        assert_eq!(first, 15);
        check(&help, 30);
    }

    #[test]
    fn all_commands_have_a_line_in_help_all() {
        for words in [["s", "help", "--all"], ["s", "--all", "--help"]] {
            let words = words.map(OsString::from).to_vec();
            let (mut definition, words) = with_help_for(definition(), words);
            assert_eq!(words, ["s", "--help"]);
            let help = definition.render_help().to_string();
            let commands = definition.get_subcommands();
            for command in commands.filter(|it| it.get_name() != "help") {
                let name = format!(" {} ", command.get_name());
                let is_line = |line: &&str| {
                    line.get(HEADING_WIDTH - 1..)
                        .is_some_and(|it| it.starts_with(&name))
                };
                assert_eq!(help.lines().filter(is_line).count(), 1, "{name}: {help}");
            }
            check(&help, 60);
        }
    }
}
