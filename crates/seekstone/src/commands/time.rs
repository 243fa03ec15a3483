//! `seekstone time`: commands side by side.

use anyhow::Context as _;
use procedure::{ROUNDS_MIN, TimingRule};
use runner::interrupt::Interrupt;
use runner::timing::{CommandLine, TimingRequest, time_commands};
use units::format_counted;

use crate::args::TimeArgs;
use crate::commands::finish::deliver;
use crate::commands::setup::{fresh_seed, open_archive};
use crate::exit::{Exit, UsageError};
use crate::output;
use crate::progress::Progress;

/// The most rounds of commands whose times do not become precise.
const ROUNDS_MAX: u32 = 10_000;
/// Columns of a command's name in tables, where it is its own name.
const NAME_COLUMNS: usize = 28;

/// Time commands.
///
/// # Errors
/// When a command cannot be run, or fails.
pub fn time(args: &TimeArgs) -> anyhow::Result<Exit> {
    let commands = commands(args)?;
    let archive = open_archive(&args.common)?;
    let interrupt = Interrupt::install().context("signals cannot be caught")?;
    let request = TimingRequest {
        commands,
        prepare: args.prepare.clone(),
        conclude: args.conclude.clone(),
        directory: args.directory.clone(),
        input: args.input.clone(),
        shows_output: args.show_output,
        counts_failures: args.ignore_failure,
        time_limit: args.time_limit,
        warm_ups: args.warm_ups.unwrap_or(u32::from(!args.cold)),
        is_cold: args.cold,
        margin: args.margin,
        rule: TimingRule {
            rounds: args.runs,
            rounds_min: ROUNDS_MIN,
            rounds_max: ROUNDS_MAX,
            precision: args.precision,
            budget: args.budget,
        },
        seed: args.common.seed.unwrap_or_else(fresh_seed),
    };
    let mut progress = Progress::new(args.common.quiet || args.show_output);
    let measured = time_commands(&request, &interrupt, &mut |stage| progress.show(stage));
    progress.finish();
    deliver(&mut measured?, archive, &args.common, |run| {
        report::check_up(run, &output::style(args.all))
    })
}

fn commands(args: &TimeArgs) -> Result<Vec<CommandLine>, UsageError> {
    let mut commands: Vec<CommandLine> = if args.program.is_empty() {
        let texts = args.commands.iter();
        texts.map(|text| CommandLine::of_shell(text)).collect()
    } else {
        vec![CommandLine::of_program(&args.program)]
    };
    if let Some(empty) = args.commands.iter().position(|text| text.trim().is_empty()) {
        let text = format!("command {} is empty", empty + 1);
        return Err(UsageError(text));
    }
    if !args.names.is_empty() && args.names.len() != commands.len() {
        return Err(UsageError(format!(
            "--name is given {} for {}: give one for each, or none",
            format_counted(args.names.len() as u64, "time"),
            format_counted(commands.len() as u64, "command")
        )));
    }
    for (at, command) in commands.iter_mut().enumerate() {
        command.name = match args.names.get(at) {
            Some(name) => name.clone(),
            None => shortened(&command.shown),
        };
    }
    tell_apart(&mut commands);
    Ok(commands)
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
fn tell_apart(commands: &mut [CommandLine]) {
    let names: Vec<String> = commands.iter().map(|it| it.name.clone()).collect();
    for (at, command) in commands.iter_mut().enumerate() {
        if names.iter().filter(|name| **name == command.name).count() > 1 {
            command.name = format!("{} [{}]", command.name, at + 1);
        }
    }
}
