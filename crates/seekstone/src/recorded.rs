//! Settings of a command as a run records them, and a command from recorded settings. Neither knows
//! a command: the definition of the command line says what there is.

use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};
use results::{RunSetting, SettingOrigin, Setup};
use units::{Bytes, Duration, Rate, exact_percent};

use crate::args::parse::{LevelArg, TrialPrecision};
use crate::args::{BY_ENDING, FilePart};
use crate::exit::UsageError;
use crate::forms::FORMS;

/// What is shown, written or removed by one invocation, and nothing that is measured.
const OF_INVOCATION: [&str; 17] = [
    "all",
    "archive",
    "as_fio",
    "force",
    "help",
    "iolog",
    "live",
    "no_save",
    "no_screen",
    BY_ENDING,
    "print_workload",
    "quiet",
    "repeat",
    "restart",
    "resume",
    "stay",
    "yes",
];

/// What the user allows once, and never for a repeat.
pub const PERMISSIONS: [&str; 2] = ["overwrite", "confirm"];

/// Names of files and directories, which mean something else elsewhere.
const PLACES: [&str; 10] = [
    "beside",
    "device",
    "directory",
    "input",
    "memory",
    "others",
    "study",
    "target",
    "trace",
    "workload_file",
];

/// The settings of the command that was parsed.
pub fn setup(definition: &clap::Command, matches: &ArgMatches) -> Setup {
    let Some((name, matches)) = matches.subcommand() else {
        return Setup::new("", 0);
    };
    let mut setup = Setup::new(name, 0);
    let command = definition.find_subcommand(name);
    let arguments = command.into_iter().flat_map(clap::Command::get_arguments);
    setup.settings = arguments
        .filter(|arg| !is_of_invocation(arg))
        .map(|arg| setting(arg, matches))
        .collect();
    setup
}

/// Whether each invocation says it anew.
pub fn is_of_invocation(arg: &Arg) -> bool {
    let id = arg.get_id().as_str();
    let mut forms = FORMS.iter().filter(|it| it.option.is_some());
    OF_INVOCATION.contains(&id) || forms.any(|it| it.name == id)
}

/// The option without its dashes, or the name of the argument.
pub fn name(arg: &Arg) -> &str {
    arg.get_long().unwrap_or(arg.get_id().as_str())
}

/// Whether it is called so, or was by an earlier version.
pub fn is_called(arg: &Arg, wanted: &str) -> bool {
    name(arg) == wanted || arg.get_all_aliases().unwrap_or_default().contains(&wanted)
}

pub fn is_flag(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

fn setting(arg: &Arg, matches: &ArgMatches) -> RunSetting {
    let id = arg.get_id().as_str();
    let mut values = texts(matches, id);
    if PLACES.contains(&id) {
        values.iter_mut().for_each(|text| *text = place(text));
    }
    RunSetting {
        name: name(arg).into(),
        values,
        origin: match matches.value_source(id) {
            Some(ValueSource::CommandLine | ValueSource::EnvVariable) => SettingOrigin::Given,
            _ => SettingOrigin::Default,
        },
    }
}

/// The values of an argument in canonical units, as far as they have any.
fn texts(matches: &ArgMatches, id: &str) -> Vec<String> {
    fn exact<T: Clone + Send + Sync + 'static>(
        matches: &ArgMatches,
        id: &str,
        text: impl Fn(&T) -> String,
    ) -> Option<Vec<String>> {
        let values = matches.try_get_many::<T>(id).ok()??;
        Some(values.map(text).collect())
    }
    let part = |part: &FilePart| match part {
        FilePart::First(bytes) => bytes.to_exact_string(),
        FilePart::Whole => "all".into(),
    };
    let level = |level: &LevelArg| match level.percentile {
        Some(share) => {
            let percent = exact_percent(share);
            format!(
                "{}@p{}",
                level.time.to_exact_string(),
                percent.trim_end_matches('%')
            )
        }
        None => level.time.to_exact_string(),
    };
    exact(matches, id, |it: &Bytes| it.to_exact_string())
        .or_else(|| exact(matches, id, |it: &Duration| it.to_exact_string()))
        .or_else(|| exact(matches, id, |it: &Rate| it.to_exact_string()))
        .or_else(|| exact(matches, id, |it: &f64| exact_percent(*it)))
        .or_else(|| exact(matches, id, bool::to_string))
        .or_else(|| exact(matches, id, TrialPrecision::to_string))
        .or_else(|| exact(matches, id, workload::Pattern::to_string))
        .or_else(|| exact(matches, id, part))
        .or_else(|| exact(matches, id, level))
        .unwrap_or_else(|| {
            let raw = matches.get_raw(id).into_iter().flatten();
            raw.map(|it| it.to_string_lossy().into_owned()).collect()
        })
}

/// A path that means the same in every directory; what is no path stays.
fn place(text: &str) -> String {
    let path = Path::new(text);
    let absolute = path.exists().then(|| std::path::absolute(path).ok());
    let absolute = absolute.flatten();
    absolute.map_or_else(
        || text.to_owned(),
        |path| path.to_string_lossy().into_owned(),
    )
}

/// The same command again: what the user gave, what was the default then, and what the program
/// chose. `anew` are the options of this invocation.
///
/// # Errors
/// When a setting does not exist any more, or something is allowed that was not, or not any more.
pub fn again(
    definition: clap::Command,
    setup: &Setup,
    anew: &[(&str, Option<String>)],
) -> Result<(clap::Command, ArgMatches), UsageError> {
    let Some(command) = definition.find_subcommand(&setup.command) else {
        refuse!("it is a run of `{}`", setup.command);
    };
    let mut typed = vec!["seekstone".to_owned(), setup.command.clone()];
    let mut words = Vec::new();
    let mut positions = 0;
    for setting in given(setup) {
        let Some(arg) = command
            .get_arguments()
            .find(|arg| is_called(arg, &setting.name))
        else {
            refuse!("--{} does not exist any more", setting.name);
        };
        let option = |value: &String| match is_flag(arg) {
            true => format!("--{}", setting.name),
            false => format!("--{}={value}", setting.name),
        };
        match (arg.is_positional(), arg.is_last_set()) {
            // In the order of their definition, before what follows `--`.
            (true, false) => {
                words.splice(positions..positions, setting.values.clone());
                positions += setting.values.len();
            }
            (true, true) => {
                words.push("--".into());
                words.extend(setting.values.clone());
            }
            _ => typed.extend(setting.values.iter().map(option)),
        }
    }
    for (option, value) in anew {
        let is_known = command.get_arguments().any(|arg| name(arg) == *option);
        let value = value
            .as_ref()
            .map_or_else(String::new, |it| format!("={it}"));
        if is_known {
            typed.push(format!("--{option}{value}"));
        } else {
            refuse!("`seekstone {}` has no option --{option}", setup.command);
        }
    }
    typed.extend(words);
    let mut definition = definition.mut_subcommand(&setup.command, |command| {
        command.mut_args(|arg| with_default(arg, setup))
    });
    let matches = definition.try_get_matches_from_mut(typed);
    let matches = matches.map_err(|error| {
        let text = error.render().to_string();
        let text = text.trim_start_matches("error: ");
        // What is missing or possible stands in lines of its own, before tips and usage.
        let lines = text.lines().take_while(|it| !it.is_empty());
        UsageError(lines.map(str::trim).collect::<Vec<_>>().join(" "))
    })?;
    Ok((definition, matches))
}

/// What the user gave, but for what is allowed once only.
fn given(setup: &Setup) -> impl Iterator<Item = &RunSetting> {
    let settings = setup.settings.iter();
    settings
        .filter(|it| it.origin == SettingOrigin::Given && !PERMISSIONS.contains(&it.name.as_str()))
}

/// What was not given has the value that it had.
fn with_default(arg: Arg, setup: &Setup) -> Arg {
    let mut settings = setup.settings.iter();
    match settings.find(|it| is_called(&arg, &it.name)) {
        Some(setting) if setting.origin != SettingOrigin::Given && !is_flag(&arg) => {
            arg.default_values(setting.values.clone())
        }
        _ => arg,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::definition;

    /// The setup of a command line.
    fn of(line: &str) -> Setup {
        let mut definition = definition();
        let words = ["seekstone"].into_iter().chain(line.split_whitespace());
        let matches = definition.try_get_matches_from_mut(words);
        setup(&definition, &matches.expect("a valid command line"))
    }

    #[test]
    fn every_setting_is_recorded_in_canonical_units() {
        let setup = of("trial sim:mm1 --size 1048576 --precision 2.50% --rate 600/min --durable");
        let found = |name| {
            let setting: &RunSetting = setup.setting(name).expect(name);
            (setting.values.join(","), setting.origin)
        };
        use SettingOrigin::{Default, Given};
        assert_eq!(found("target"), ("sim:mm1".into(), Given));
        assert_eq!(found("size"), ("1MiB".into(), Given));
        assert_eq!(found("precision"), ("2.5%".into(), Given));
        assert_eq!(found("rate"), ("10/s".into(), Given));
        assert_eq!(found("durable"), ("true".into(), Given));
        assert_eq!(found("buffered"), ("false".into(), Default));
        assert_eq!(found("block"), ("4KiB".into(), Default));
        assert_eq!(found("budget"), ("1min".into(), Default));
        assert_eq!(found("interval"), (String::new(), Default));
        assert!(
            setup.setting("json").is_none(),
            "an output of one invocation"
        );
    }

    #[test]
    fn a_command_made_again_has_the_same_settings() {
        for line in [
            "run sim:mm1 --level 1ms@p99 --level 2ms@p99 --budget 10s",
            "trial sim:mm1 --duration 3s --writes 12.5% --pattern zipf:1.1",
            "curve sim:mm1 --open --level 5ms",
            "random sim:mm1 --spans 1MiB,all --depths 1,4 --cross",
            "rab sim:mm1 --workload batch,video --mode continuous --for 10s",
            "transactions sim:mm1 --think 5s:constant --cpu 0.5units --synchronise",
            "transactions sim:mm1 --find-users --limit 20ms --percentile 99",
            "transfer sim:mm1 --block 4KiB,64KiB --repeat 3",
            "files sim:rt11 --tests 1,4A --space 2,8",
            "time --repeat 5 true false",
            "time --name one -- ls -l --all",
            "copy . --record 4KiB,64KiB --cold=false --budget 10s",
            "study disk-io --set size=1MiB --only block=1KiB,4KiB",
        ] {
            let setup = of(line);
            let (definition, matches) =
                again(definition(), &setup, &[]).unwrap_or_else(|it| panic!("{line}: {it}"));
            assert_eq!(super::setup(&definition, &matches), setup, "{line}");
        }
    }

    #[test]
    fn a_setting_that_had_another_name_is_found() {
        for (line, old) in [
            ("time --repeat 5 true", "runs"),
            ("transfer sim:mm1 --repeat 3", "passes"),
            ("random sim:mm1", "rounds"),
            ("study disk-io --repeat 2", "replicates"),
        ] {
            let setup = of(line);
            let mut recorded = setup.clone();
            let mut settings = recorded.settings.iter_mut();
            let repeat = settings.find(|it| it.name == "repeat");
            repeat.expect("how often").name = old.into();
            let (definition, matches) =
                again(definition(), &recorded, &[]).unwrap_or_else(|it| panic!("{line}: {it}"));
            assert_eq!(super::setup(&definition, &matches), setup, "{line}");
        }
    }

    #[test]
    fn a_default_that_changed_since_changes_nothing() {
        let mut setup = of("trial sim:mm1");
        let mut settings = setup.settings.iter_mut();
        let block = settings
            .find(|it| it.name == "block")
            .expect("a block size");
        block.values = vec!["512B".into()];
        let (definition, matches) = again(definition(), &setup, &[]).expect("a command");
        assert_eq!(super::setup(&definition, &matches), setup);
    }

    #[test]
    fn every_named_option_exists() {
        let definition = definition();
        let exists = |id: &str| {
            let mut commands = definition.get_subcommands();
            commands.any(|it| it.get_arguments().any(|arg| arg.get_id() == id))
        };
        for id in OF_INVOCATION.iter().chain(&PERMISSIONS).chain(&PLACES) {
            assert!(exists(id) || *id == "help", "{id}");
        }
    }
}
