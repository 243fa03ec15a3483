//! What `-h` shows of a command: the options that people use, a line each. `--help` shows all, in
//! groups.

use clap::{Arg, ArgAction, Command};

use crate::recorded;

/// The options that `-h` shows of a command. A command that is not named shows all but [`RARE`].
const SHOWN: &[(&str, &str)] = &[
    ("watch", "every for level exec listen json past"),
    ("record", "for output names"),
    ("mail", "sessions sync overwrite repeat budget goal out"),
    ("objects", "mix size objects clients budget goal out"),
    ("ior", "reserve goal out all"),
    ("mdtest", "reserve goal out all"),
    ("io500", "clients reserve goal out all"),
    ("run", "budget size level profile goal overwrite out all"),
    (
        "trial",
        "clients block pattern writes rate duration size goal overwrite out",
    ),
    (
        "curve",
        "level open block pattern writes clients-max budget goal overwrite out",
    ),
    (
        "random",
        "spans blocks depths reads writes size budget overwrite out",
    ),
    (
        "rab",
        "workload response-max level size repeat budget overwrite out",
    ),
    ("ssd", "test quick depth size budget overwrite out"),
    (
        "transactions",
        "users ios io writes think cpu duration find-users limit out",
    ),
    ("transfer", "block size mode streams repeat budget goal out"),
    (
        "files",
        "workload tests state clients files budget goal out",
    ),
    (
        "fio",
        "check showcmd section output-format output readonly overwrite out",
    ),
    (
        "replay",
        "scale as-fast-as-possible duration fit size overwrite out",
    ),
    (
        "time",
        "repeat warm-ups prepare cold precision budget goal out",
    ),
    (
        "compare",
        "measure set repeat fail baseline budget goal out",
    ),
    ("study", "target set"),
    (
        "positioning",
        "files record repeat budget published goal out",
    ),
    ("whatif", "clients load level device json"),
    ("wire", "delay rate loss"),
    ("rpt", "data_file data_size nruns test_file overwrite"),
    (
        "transact",
        "data_file data_size block_size reads writes overwrite",
    ),
    ("fleet manifest", "image claim mount mpi hosts name time"),
    ("runs repeat", "overwrite out no-save quiet"),
    ("runs resume", "list keep discard out"),
    ("runs compare", "all table metric html"),
    (
        "wal",
        "record writers sync repeat budget goal overwrite out",
    ),
    ("backup", "source files size block repeat budget goal out"),
    ("copy", "record size source synced repeat budget goal out"),
    (
        "streams",
        "streams operation record size repeat budget goal out",
    ),
    (
        "cache",
        "working-set buffer record popularity repeat budget goal out",
    ),
];

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
    let shown = SHOWN.iter().find(|(name, _)| *name == path);
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

fn under_heading(arg: Arg) -> Arg {
    let heading = HEADINGS.iter().find(|(_, list)| holds(list, &arg));
    match heading.filter(|_| !arg.is_positional()) {
        Some((heading, _)) => arg.help_heading(*heading),
        None => arg,
    }
}

/// A long text without what is behind its first sentence, a semicolon, a colon or a bracket, and no
/// long list in the place of a value.
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

    use super::{SHOWN, in_brief};
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
        for (path, shown) in SHOWN {
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
