//! The first page of help: what there is to do, in four groups on one screen.

use clap::Command;

/// Commands under their headings. Those of kinds stand with what is measured, cut to what they are.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Measure",
        &[
            "run",
            "trial",
            "curve",
            "random",
            "ssd",
            "replay",
            "transfer",
            "transactions",
            "files",
            "time",
            "positioning",
        ],
    ),
    ("Compare and predict", &["compare", "study", "whatif"]),
    (
        "Run other tools' tests",
        &[
            "fio", "rab", "rpt", "transact", "diskmbps", "diskrand", "together", "classic",
        ],
    ),
    (
        "Inspect and clean up",
        &[
            "inspect",
            "verify",
            "devices",
            "runs",
            "serve",
            "clean",
            "wire",
            "fleet",
            "completions",
            "man",
        ],
    ),
];

/// Columns of a command's name.
const NAME_WIDTH: usize = 13;

/// The same command line, whose help shows the commands in groups.
pub(super) fn grouped(command: Command, kinds: &[&str]) -> Command {
    let mut lines = Vec::new();
    for (number, (heading, names)) in GROUPS.iter().enumerate() {
        lines.push(format!("{heading}:"));
        let kinds = kinds.iter().filter(|_| number == 0);
        let line = |name: &str, about: &str| format!("  {name:NAME_WIDTH$} {about}");
        lines.extend(names.iter().map(|name| line(name, &about(&command, name))));
        lines.extend(kinds.map(|name| {
            let about = about(&command, name);
            line(name, about.split([':', ',']).next().unwrap_or_default())
        }));
        lines.push(String::new());
    }
    let commands = lines.join("\n");
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}\nOptions:\n{{options}}\
         {{after-help}}"
    ))
}

/// What a command does, in one line.
fn about(command: &Command, name: &str) -> String {
    let about = command.find_subcommand(name).and_then(Command::get_about);
    about.map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::args::definition;

    #[test]
    fn help_names_every_command_once_on_one_screen() {
        let help = definition().render_help().to_string();
        for command in definition().get_subcommands() {
            let start = format!("\n  {} ", command.get_name());
            assert_eq!(help.matches(&start).count(), 1, "{start}: {help}");
        }
        let widest = help.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{widest:?}");
        assert!(help.lines().count() <= 58, "{help}");
    }
}
