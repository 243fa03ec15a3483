//! `seekstone time`: commands side by side.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use host::process::quoted;
use kinds::timing::{CommandLine, TimingRequest, time_commands};
use lab::bench::BenchRequest;
use lab::hosts::TargetSharing;
use procedure::{ROUNDS_MIN, RoundsRule};
use results::Setup;
use units::{TargetName, format_counted};

use crate::args::TimeArgs;
use crate::commands::drive::{Onlooking, Ready};
use crate::commands::measuring::{CommandOutline, MeasuringCommand};
use crate::commands::setup::seeded;
use crate::exit::UsageError;

/// The most rounds of commands whose times do not become precise.
const ROUNDS_MAX: u32 = 10_000;
/// Commands that start ranks.
const OTHER_LAUNCHERS: [&str; 5] = ["mpirun", "mpiexec", "mpiexec.hydra", "prterun", "srun"];

/// Columns of a command's name in tables, where it is its own name.
const NAME_COLUMNS: usize = 28;

impl MeasuringCommand for TimeArgs {
    fn outline(&self) -> CommandOutline<'_> {
        let program = self.program.first().map(PathBuf::from);
        CommandOutline::of(&self.common, [], TargetSharing::Never)
            .refused_if(other_launcher(self))
            .reads(program.into_iter().chain(self.input.clone()))
    }

    fn ready(&self, mut setup: Setup) -> anyhow::Result<Ready<'_>> {
        let args = self;
        let commands = commands(args)?;
        let warm_ups = args.warm_ups.unwrap_or(u32::from(!args.cold));
        setup.resolve("warm-ups", [warm_ups.to_string()]);
        seeded(args.common.seed, &mut setup);
        let directory = TargetName::Path(args.directory.to_string_lossy().into_owned());
        let request = TimingRequest {
            bench: BenchRequest {
                ranks: args.common.ranks.clone(),
                ..BenchRequest::new(directory, "commands", setup)
            },
            commands,
            prepare: args.prepare.clone(),
            conclude: args.conclude.clone(),
            directory: args.directory.clone(),
            input: args.input.clone(),
            shows_output: args.show_output,
            goes_on_after_failures: args.ignore_failure,
            time_limit: args.time_limit,
            warm_ups,
            is_cold: args.cold,
            margin: args.margin,
            rule: RoundsRule {
                rounds: args.runs,
                rounds_min: ROUNDS_MIN,
                rounds_max: ROUNDS_MAX,
                precision: args.precision,
                budget: args.budget,
            },
        };
        let bench = request.bench.clone();
        Ok(Ready {
            places: Vec::new(),
            ..Ready::on(&args.common, &bench, move |looking| {
                let looking = Onlooking {
                    is_quiet: looking.is_quiet || args.show_output,
                    ..*looking
                };
                looking.watch(|interrupt, show| time_commands(&request, interrupt, show))
            })
        })
    }
}

/// Each rank starts the command: one that is a launcher would start ranks of its own on each.
fn other_launcher(args: &TimeArgs) -> Option<String> {
    let commands = args.commands.iter().chain(args.program.first());
    let mut started = commands.filter_map(|it| it.split_whitespace().next());
    let launcher = started.find(|it| {
        let name = Path::new(it).file_name().and_then(OsStr::to_str);
        name.is_some_and(|name| OTHER_LAUNCHERS.contains(&name))
    })?;
    Some(format!(
        "{launcher} would start ranks of its own on every host. Name the command that it starts, \
         or time it without a launcher"
    ))
}

fn commands(args: &TimeArgs) -> Result<Vec<CommandLine>, UsageError> {
    let mut commands: Vec<CommandLine> = if args.program.is_empty() {
        let texts = args.commands.iter();
        texts.map(|text| CommandLine::of_shell(text)).collect()
    } else {
        vec![CommandLine::of_program(&args.program)]
    };
    if let Some(empty) = args.commands.iter().position(|text| text.trim().is_empty()) {
        refuse!("command {} is empty", empty + 1);
    }
    if let Some(stray) = stray(&args.commands) {
        refuse!(
            "there is no command {stray:?}: quote a command with its arguments, as in \
             seekstone time {}",
            quoted(&[args.commands.join(" ")])
        );
    }
    if !args.names.is_empty() && args.names.len() != commands.len() {
        refuse!(
            "--name is given {} for {}: name every command, or none",
            format_counted(args.names.len() as u64, "time"),
            format_counted(commands.len() as u64, "command")
        );
    }
    for (at, command) in commands.iter_mut().enumerate() {
        command.name = match args.names.get(at) {
            Some(name) => name.clone(),
            None => shortened(&command.shown),
        };
    }
    make_names_unique(&mut commands);
    Ok(commands)
}

/// Of several commands the first behind another that the shell does not know: an argument of that.
fn stray(commands: &[String]) -> Option<&String> {
    let is_word = |text: &&String| !text.trim().contains(char::is_whitespace);
    let mut later = commands.iter().skip(1).filter(is_word);
    later.find(|word| !is_known(word))
}

/// Whether the shell finds a program, or has a command, of that name.
fn is_known(word: &str) -> bool {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "command -v -- \"$1\"", "sh", word]);
    let found = shell.stdin(Stdio::null()).output();
    found.map_or(true, |it| it.status.success())
}

/// A command as its own name, as far as a table has room.
fn shortened(command: &str) -> String {
    let line = command.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= NAME_COLUMNS {
        return line;
    }
    let kept: String = line.chars().take(NAME_COLUMNS - 3).collect();
    format!("{}...", kept.trim_end())
}

/// Names that several commands would have are numbered.
fn make_names_unique(commands: &mut [CommandLine]) {
    let names: Vec<String> = commands.iter().map(|it| it.name.clone()).collect();
    for (at, command) in commands.iter_mut().enumerate() {
        if names.iter().filter(|name| **name == command.name).count() > 1 {
            command.name = format!("{} [{}]", command.name, at + 1);
        }
    }
}
