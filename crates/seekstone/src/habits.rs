//! What people type by habit: a target without a command, and options of other tools.

use std::ffi::OsString;
use std::path::Path;

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

mod line;
mod tables;

use line::OwnLine;
use tables::{DD, Habit, habit, habit_of};
use units::TargetName;

/// Options that destroy or agree to something: no typo is answered with one of them.
const NEVER_SUGGESTED: [&str; 4] = ["--overwrite", "--confirm", "--yes", "--force"];

/// What the parser of numbers says, and what is expected.
const NUMBERS: [(&str, &str); 3] = [
    (
        "invalid digit found in string",
        "use a whole number, such as 8",
    ),
    (
        "cannot parse integer from empty string",
        "use a whole number, such as 8",
    ),
    (
        "number too large to fit in target type",
        "number too large: use a smaller one",
    ),
];

/// Whether that is a job file of fio, which is no storage to be measured.
pub fn is_job_file(target: &TargetName) -> bool {
    let path = Path::new(target);
    path.extension().is_some_and(|it| it == "fio") && path.is_file()
}

/// What to do with a job file of fio.
pub fn on_job_file(target: &TargetName, definition: &Command) -> String {
    let advice = match definition.find_subcommand("fio") {
        Some(_) => format!("`seekstone fio {target}` runs it"),
        None => "name the file, directory or device that it uses".to_owned(),
    };
    format!("{target} is a fio job file, not a target: {advice}")
}

/// What to type in place of dd's operands, which would be taken for targets.
pub fn instead_of_dd(typed: &[String]) -> Option<String> {
    // `time` starts dd itself.
    if typed.first().is_some_and(|command| command == "time") {
        return None;
    }
    let is_operand = |it: &String| DD.iter().any(|begin| it.starts_with(begin));
    let operand = typed
        .iter()
        .find(|it| is_operand(it) && !Path::new(it).exists())?;
    let from_file = typed.iter().find_map(|it| it.strip_prefix("if="));
    let from_file = from_file.filter(|it| !it.starts_with("/dev/zero") && !it.is_empty());
    let target = from_file.unwrap_or("DIRECTORY");
    Some(format!(
        "{operand} is an operand of dd: `seekstone transfer {target} --block 1MiB` measures \
         sequential throughput"
    ))
}

/// What was typed, with `run` put in before a target that stands in a command's place, and `list`
/// behind `runs`.
pub fn with_command(mut words: Vec<OsString>, definition: &Command) -> Vec<OsString> {
    if words.len() == 2 && words[1] == "runs" {
        words.push("list".into());
        return words;
    }
    if let Some(first) = words.get(1).and_then(|word| word.to_str()) {
        let is_command = definition.find_subcommand(first).is_some();
        let is_simulated = !TargetName::from(first).is_path();
        // What looks like a path is one, and `run` says what is wrong with it.
        let is_target = is_simulated || first.contains('/') || Path::new(first).exists();
        if !first.starts_with('-') && !is_command && is_target {
            words.insert(1, "run".into());
        }
    }
    words
}

/// The parser's error, with what the option is called here, or whose it is.
pub fn answered(error: Error, definition: &Command, typed: &[String]) -> Error {
    let error = with_tip(best_first(error), definition, typed);
    let text = error.render().to_string();
    match NUMBERS.iter().find(|(theirs, _)| text.contains(theirs)) {
        Some((theirs, ours)) => {
            let text = text.replace(theirs, ours);
            Error::raw(error.kind(), text.trim_start_matches("error: "))
        }
        None => error,
    }
}

/// Commands that are like the one that was typed: the likest first, and no long list. The parser
/// names them in the order of their likeness, the likest last.
fn best_first(mut error: Error) -> Error {
    const SIMILAR_MAX: usize = 3;
    if let Some(ContextValue::Strings(similar)) = error.get(ContextKind::SuggestedSubcommand) {
        let likest = similar.iter().rev().take(SIMILAR_MAX).cloned().collect();
        let kind = ContextKind::SuggestedSubcommand;
        error.insert(kind, ContextValue::Strings(likest));
    }
    error
}

fn with_tip(error: Error, definition: &Command, typed: &[String]) -> Error {
    let mut commands = typed.iter().map(String::as_str);
    let command = commands.find(|word| definition.find_subcommand(word).is_some());
    let command = command.unwrap_or_default();
    if let (ErrorKind::ArgumentConflict, "study", Some(target)) =
        (error.kind(), command, typed.get(2))
        && !target.starts_with('-')
    {
        let tip = format!(
            "name the target with --target: seekstone study {} --target {target}",
            typed[1]
        );
        return suggesting(error, vec![tip]);
    }
    if error.kind() == ErrorKind::InvalidSubcommand {
        return unknown_command(error);
    }
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg).cloned() else {
        return error;
    };
    let option = argument.split(['=', ' ']).next().unwrap_or_default();
    let tip = match error.kind() {
        ErrorKind::UnknownArgument => {
            return unknown(error, &argument, definition, (command, typed));
        }
        // A value for what takes none, as in --verify=crc32c.
        ErrorKind::TooManyValues => counterpart(option, command, definition),
        ErrorKind::ValueValidation => list(&error, option),
        _ => None,
    };
    match tip {
        Some(tip) => suggesting(error, vec![tip]),
        None => error,
    }
}

fn suggesting(mut error: Error, tips: Vec<String>) -> Error {
    let tips = tips.into_iter().map(StyledStr::from).collect();
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    error
}

/// What to do with several values where one is taken.
fn list(error: &Error, option: &str) -> Option<String> {
    let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue) else {
        return None;
    };
    let is_list = value.contains(',') && value.split(',').all(|it| !it.trim().is_empty());
    let several = match option {
        "--depth" => "`seekstone random --depths 1,2,4` measures several",
        "--clients" => "`seekstone curve` measures many, `seekstone random --depths 1,2,4` these",
        "--block" => "`seekstone random --blocks 4KiB,64KiB` measures several",
        _ => return None,
    };
    is_list.then(|| format!("{option} takes one value. {several}"))
}

fn unknown(
    mut error: Error,
    argument: &str,
    definition: &Command,
    (command, typed): (&str, &[String]),
) -> Error {
    let option = argument.split(['=', ' ']).next().unwrap_or_default();
    let suggested = match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(suggested)) => suggested.clone(),
        _ => String::new(),
    };
    let tips = own_tip(option, command, typed)
        .or_else(|| whole_line(command, definition, typed))
        .or_else(|| counterpart(option, command, definition).map(|it| vec![it]))
        .or_else(|| elsewhere(option, definition).map(|it| vec![it]));
    if tips.is_some() || NEVER_SUGGESTED.iter().any(|it| suggested.starts_with(it)) {
        error.remove(ContextKind::SuggestedArg);
        // It holds the suggestion, too.
        error.remove(ContextKind::Usage);
    }
    if let Some(tips) = tips {
        return suggesting(error, tips);
    }
    if option.starts_with('-') {
        // "To pass it as a value" helps nobody who mistyped an option, or typed a negative number.
        error.remove(ContextKind::Suggested);
    }
    error
}

/// What the command has in its place.
fn own_tip(option: &str, command: &str, typed: &[String]) -> Option<Vec<String>> {
    let mut words = typed.iter().skip_while(|it| *it != command).skip(1);
    let below = words.next().map(|it| format!("{command}/{it}"));
    let is_typed = |it: &str| it == command || below.as_deref() == Some(it);
    let is_of = |commands: &str| commands.split(' ').any(is_typed);
    if let Some(known) = habit_of("elsewhere", option, is_of) {
        return Some(vec![known.ours.to_owned()]);
    }
    let is_word = !option.starts_with('-') && option.parse::<f64>().is_err();
    match command {
        "time" if !is_word => Some(vec![
            "quote a command with its arguments, as in seekstone time 'ls -l', or put it behind --"
                .to_owned(),
        ]),
        "run" | "random" | "rab" | "transactions" | "files" if is_word => {
            let first = typed.iter().rev().skip_while(|it| *it != option).nth(1);
            let first = first.filter(|it| !it.starts_with('-') && *it != command);
            let first = first.map_or("TARGET", String::as_str);
            Some(vec![format!(
                "`{command}` takes one target. `seekstone compare {first} {option} --measure \
                 {command}` compares several"
            )])
        }
        _ => None,
    }
}

/// All that was typed, in our words, where it has options of other tools.
fn whole_line(command: &str, definition: &Command, typed: &[String]) -> Option<Vec<String>> {
    let taken = definition.find_subcommand(command)?;
    let measured = measured(command, definition, typed);
    let both = (taken, measured);
    let known = |name: &str| habit("option", name);
    let line = OwnLine::of(typed, both, |name| known(name).is_some())?;
    let (names, whose) = match (line.translated.first(), measured) {
        (Some(first), _) => (
            &line.translated,
            known(first).map_or("other tools", |it| it.of).to_owned(),
        ),
        (None, Some(measured)) => (&line.measured, format!("`{}`", measured.get_name())),
        (None, None) => return None,
    };
    let (last, others) = names.split_last()?;
    let theirs = match others {
        [] => format!("{last} is an option"),
        _ => format!("{} and {last} are options", others.join(", ")),
    };
    let mut left_out: Vec<(&str, Vec<&str>)> = Vec::new();
    for name in &line.left_out {
        let Habit { ours, .. } = known(name)?;
        match left_out.iter_mut().find(|(it, _)| *it == ours) {
            Some((_, names)) => names.push(name),
            None => left_out.push((ours, vec![name])),
        }
    }
    let left_out = left_out.iter().map(|(ours, names)| {
        let names = names.join(" and ");
        match ours.strip_prefix("none: ") {
            Some(why) => format!("leave out {names}: {why}"),
            None => format!("in place of {names}: {ours}"),
        }
    });
    let mut more: Vec<String> = left_out.collect();
    if whose == "fio" && definition.find_subcommand("fio").is_some() {
        more.push("`seekstone fio` runs fio's own options and job files".to_owned());
    }
    let text = line.text(both, definition)?;
    if command == "run" && !text.starts_with("seekstone run") {
        more.push("`run` has workloads of its own. --budget 60s sets its time".to_owned());
    }
    let mut tips = vec![format!("{theirs} of {whose}. Here:\n       {text}")];
    tips.append(&mut more);
    Some(tips)
}

/// The command whose options `compare` takes behind `--set`.
fn measured<'a>(command: &str, definition: &'a Command, typed: &[String]) -> Option<&'a Command> {
    let named = typed.iter().enumerate().find_map(|(at, word)| {
        let is_named = word == "--measure" || word == "-m";
        let next = typed.get(at + 1).filter(|_| is_named);
        word.strip_prefix("--measure=").or(next.map(String::as_str))
    });
    let name = Some(named.unwrap_or("trial")).filter(|_| command == "compare");
    definition.find_subcommand(name?)
}

/// What does here what another tool's option does there.
fn counterpart(option: &str, command: &str, definition: &Command) -> Option<String> {
    let Habit { of, ours, .. } = habit("option", option)?;
    let answer = match ours.strip_prefix("none: ") {
        Some(why) => format!("Leave it out, {why}"),
        None => format!("Here: {ours}{}", where_it_is(ours, command, definition)),
    };
    Some(format!("{option} is an option of {of}. {answer}"))
}

/// A word that stands for one of our commands, with what to type.
fn unknown_command(mut error: Error) -> Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let Some(known) = habit("command", word) else {
        return error;
    };
    error.remove(ContextKind::SuggestedSubcommand);
    suggesting(error, vec![known.ours.to_owned()])
}

/// Which commands take what is advised, where the one that was typed does not.
fn where_it_is(advice: &str, command: &str, definition: &Command) -> String {
    let option = advice
        .split([' ', ',', ':', ';'])
        .next()
        .unwrap_or_default();
    let commands = takers(option, definition);
    match commands.is_empty() || command.is_empty() || commands.contains(&command) {
        true => String::new(),
        false => format!(" (of {}, not of `{command}`)", first_of(&commands)),
    }
}

/// The commands that take an option.
fn takers<'a>(option: &str, definition: &'a Command) -> Vec<&'a str> {
    let name = option.strip_prefix("--");
    let commands = definition.get_subcommands().filter(|command| {
        let mut arguments = command.get_arguments();
        let has = |it: &clap::Arg| it.get_long().is_some() && it.get_long() == name;
        !command.is_hide_set() && arguments.any(has)
    });
    commands.map(Command::get_name).collect()
}

/// The commands that have an option.
fn elsewhere(option: &str, definition: &Command) -> Option<String> {
    let commands = takers(option, definition);
    (!commands.is_empty()).then(|| {
        format!(
            "{option} is an option of other commands: {}",
            first_of(&commands)
        )
    })
}

/// A list of commands, of a long one the beginning.
fn first_of(commands: &[&str]) -> String {
    const NAMED_MAX: usize = 6;
    match commands.get(NAMED_MAX..) {
        Some(more) if more.len() > 1 => {
            let named = commands[..NAMED_MAX].join(", ");
            format!("{named} and {} more", more.len())
        }
        _ => commands.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::definition;

    fn advice(words: &[&str]) -> String {
        let definition = definition();
        let parsed = definition.clone().try_get_matches_from(words);
        let error = parsed.expect_err("a mistake");
        let typed: Vec<String> = words[1..].iter().map(|it| (*it).to_owned()).collect();
        answered(error, &definition, &typed).render().to_string()
    }

    #[track_caller]
    fn check(words: &[&str], expected: &str) {
        let advice = advice(words);
        assert!(advice.contains(expected), "{expected:?}: {advice}");
    }

    #[test]
    fn options_of_others_are_answered_with_ours() {
        check(
            &["seekstone", "trial", ".", "--bs", "4k"],
            "--bs is an option of fio. Here:\n       seekstone trial . --block 4k",
        );
    }

    #[test]
    fn options_without_a_like_say_so() {
        check(
            &["seekstone", "trial", ".", "--offset=1g"],
            "Leave it out, the target",
        );
        check(&["seekstone", "trial", ".", "--loops", "3"], "--duration");
        check(&["seekstone", "trial", ".", "--bssplit=4k/50"], "--block");
        check(
            &["seekstone", "trial", ".", "--name=a"],
            "Leave it out, all",
        );
        check(
            &["seekstone", "run", "--filename=/dev/x"],
            "Here:\n       seekstone run /dev/x",
        );
        check(
            &["seekstone", "trial", ".", "--bs=4k", "--loops=3"],
            "leave out --loops: a measurement repeats",
        );
    }

    /// Bugs: "unexpected value 'crc32c'", and "invalid digit found in string", without a way out.
    #[test]
    fn values_by_habit_are_answered_too() {
        let verify = ["seekstone", "trial", ".", "--verify=crc32c"];
        check(&verify, "without a method");
        let clients = ["seekstone", "trial", ".", "--clients", "1,2,4"];
        check(&clients, "`seekstone random --depths 1,2,4` these");
        let blocks = ["seekstone", "trial", ".", "--block", "4k,8k"];
        check(&blocks, "--blocks 4KiB,64KiB");
        let wrong = advice(&["seekstone", "trial", ".", "--clients", "x"]);
        assert!(!wrong.contains("takes one value"), "{wrong}");
    }

    /// Bug: "there is nothing at `if=/dev/zero`".
    #[test]
    fn operands_of_dd_are_answered_with_the_command_that_does_the_same() {
        let advice = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            instead_of_dd(&words)
        };
        let zero = advice("trial if=/dev/zero of=x bs=1M count=10").expect("advice");
        assert!(zero.contains("if=/dev/zero is an operand of dd"), "{zero}");
        assert!(zero.contains("`seekstone transfer DIRECTORY"), "{zero}");
        let device = advice("dd if=/dev/none bs=1M").expect("advice");
        assert!(device.contains("`seekstone transfer /dev/none"), "{device}");
        assert_eq!(advice("time -- dd if=/dev/zero of=x"), None);
        assert_eq!(advice("trial . --block 4k"), None);
    }

    /// Bugs: lists of other commands, or nothing at all, for what people type by habit.
    #[test]
    fn what_belongs_to_another_command_is_answered_with_what_this_one_has() {
        let check = |line: &str, expected: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            check(&words, expected);
        };
        check("seekstone run --duration 60s", "use --budget 60s");
        check("seekstone random . --depth 4", "use --depths 1,4,16");
        check("seekstone random . --block 4k", "use --blocks 4KiB,64KiB");
        check("seekstone run a b", "seekstone compare a b --measure run");
        check("seekstone time ls -l", "quote a command");
        check("seekstone study s.toml data", "study s.toml --target data");
        check("seekstone trial . --depth 1,2,4", "random --depths 1,2,4");
        check(
            "seekstone trial . --seed abc",
            "'--seed <N>': use a whole number",
        );
        check("seekstone serve --listen 0.0.0.0", "as in 0.0.0.0:7979");
    }

    /// Bug: "to pass '-1' as a value, use '-- -1'", where no run has such a number.
    #[test]
    fn a_negative_number_is_not_advised_behind_two_dashes() {
        for wrong in ["-1", "-x"] {
            let advice = advice(&["seekstone", "runs", "show", wrong]);
            assert!(
                advice.contains(wrong) && !advice.contains("-- -"),
                "{advice}"
            );
        }
    }

    /// Bugs: a list of commands, where `compare` takes each option of a trial behind `--set`, and a
    /// list of 27.
    #[test]
    fn compare_is_given_options_of_what_it_measures() {
        let check = |line: &str, expected: &str| {
            check(&line.split(' ').collect::<Vec<_>>(), expected);
        };
        let here = "--clients is an option of `trial`. Here:\n       seekstone compare a b --set \
                    clients=8";
        check("seekstone compare a b --clients 8", here);
        let files = "seekstone compare a b -m files --set clients=8";
        check("seekstone compare a b -m files --clients 8", files);
        check(
            "seekstone compare a b --bs=4k",
            "compare a b --set block=4k",
        );
        check(
            "seekstone inspect . --csv x",
            "curve, random, rab, ssd and ",
        );
    }

    #[test]
    fn an_option_of_another_command_names_it() {
        check(
            &["seekstone", "run", "--block", "8k"],
            "other commands: trial, curve",
        );
    }

    #[test]
    fn words_of_other_tools_point_to_a_command() {
        let definition = definition();
        for Habit { typed, ours, .. } in tables::habits("command") {
            let word = typed.split(' ').next().expect("a word");
            check(&["seekstone", word], ours);
            let named = ours
                .split('`')
                .nth(1)
                .expect("a command")
                .split(' ')
                .skip(1);
            let mut command = &definition;
            for word in named.take_while(|it| it.starts_with(|c: char| c.is_ascii_lowercase())) {
                match command.find_subcommand(word) {
                    Some(found) => command = found,
                    None => assert!(word == "latest", "{ours}: {word}"),
                }
            }
        }
    }

    #[test]
    fn no_typo_is_answered_with_what_destroys() {
        for typo in ["--verwrite", "--overwrit", "--overrwrite", "--ye", "--forc"] {
            let advice = advice(&["seekstone", "trial", ".", typo]);
            let is_destructive = NEVER_SUGGESTED.iter().any(|it| advice.contains(it));
            assert!(!is_destructive, "{advice}");
        }
        check(&["seekstone", "trial", ".", "--writs", "30%"], "'--writes'");
    }

    #[test]
    fn what_is_named_here_exists() {
        let definition = definition();
        let trial = definition.find_subcommand("trial").expect("trial");
        for Habit { ours, .. } in tables::habits("option") {
            for word in ours.split([' ', ':', ',', ';']) {
                if let Some(name) = word.strip_prefix("--") {
                    let is_known = trial.get_arguments().any(|it| it.get_long() == Some(name))
                        || name == "budget";
                    assert!(is_known, "{ours}: trial has no --{name}");
                }
            }
        }
    }

    #[test]
    fn a_target_alone_is_checked_up() {
        let definition = definition();
        let check = |typed: &str, expected: usize| {
            let words = vec!["seekstone".into(), typed.into()];
            assert_eq!(with_command(words, &definition).len(), expected, "{typed}");
        };
        check("sim:mm1", 3);
        check(".", 3);
        check("run", 2);
        check("runs", 3);
        check("--help", 2);
        check("no-such-place", 2);
        check("/no/such/place", 3);
    }
}
