//! The `seekstone` command.

#[macro_use]
mod exit;

mod args;
mod commands;
mod completion;
mod forms;
mod habits;
mod launcher;
#[cfg(not(all(feature = "screen", feature = "vintage", feature = "web")))]
#[path = "without/left_out.rs"]
mod left_out;
mod onlooker;
mod output;
mod picture;
mod progress;
mod recorded;
#[cfg_attr(not(feature = "screen"), path = "without/screen.rs")]
mod screen;
#[cfg(test)]
mod shown_tests;
mod stack;
mod studies;
mod written;

use std::process::ExitCode;

use args::{ClassicCommand, Command, MeasureCommand, Seekstone};
use commands::{names, vintage};
use exit::Exit;
use host::hung::{hung_threads, kept_by};
use results::Setup;

fn main() -> ExitCode {
    let exit = stack::with_enough(seekstone);
    launcher::wait_for_launcher();
    exit
}

fn seekstone() -> ExitCode {
    match completion::answer() {
        Ok(false) => {}
        Ok(true) => return Exit::Done.into(),
        Err(error) => return output::usage(&error),
    }
    let definition = args::definition();
    let words = names::typed(std::env::args_os().collect());
    let words = habits::with_command(words, &definition);
    let words = commands::fio::with_options_apart(words, &definition);
    let words = commands::hpc::with_options_apart(words, &definition);
    let (mut definition, words) = args::with_help_for(definition, words);
    let typed: Vec<String> = words
        .iter()
        .skip(1)
        .map(|it| it.to_string_lossy().into())
        .collect();
    if let Some(advice) = habits::instead_of_dd(&typed) {
        return output::failed(&exit::UsageError(advice).into(), true).into();
    }
    let leads = launcher::launched().is_none_or(|launched| launched.rank == 0);
    let parsed = definition.try_get_matches_from_mut(words);
    let parsed = parsed.and_then(|matches| {
        let Seekstone { color, command } = args::typed(&matches)?;
        output::choose_colour(color);
        Ok((command, recorded::setup(&definition, &matches)))
    });
    let (mut command, setup) = match parsed {
        Ok(parsed) => parsed,
        // All ranks were given the same words.
        Err(_) if !leads => return Exit::Usage.into(),
        Err(error) => return output::usage(&habits::answered(error, &definition, &typed)),
    };
    if let Command::Measure(MeasureCommand::Fio(args)) = &mut command {
        args.be_quiet_unless_seen();
    }
    // Refused, it only makes a limit deadly that would otherwise be an error.
    let _ = host::interrupt::outlive_file_size_limit();
    let ranks = match commands::fleet::meet(&mut command, &typed) {
        Ok(ranks) => ranks,
        Err(error) => return output::failed(&error, leads).into(),
    };
    let exit = perform(&command, setup).unwrap_or_else(|error| output::failed(&error, leads));
    if let Some(ranks) = ranks {
        ranks.end(exit.code());
    }
    if let Some(kept) = kept_by(&hung_threads()) {
        output::complain(&format!("note: {kept}"));
    }
    exit.into()
}

/// Carry a command out, whose settings stand in `setup`.
fn perform(command: &Command, setup: Setup) -> anyhow::Result<Exit> {
    written::check_command(command)?;
    match command {
        Command::Measure(command) => command.perform(setup),
        Command::Rpt(args) => vintage::rpt(args),
        Command::Diskmbps(args) => vintage::diskmbps(args),
        Command::Diskrand(args) => vintage::diskrand(args),
        Command::Together(args) => vintage::together(args),
        Command::Transact(args) => vintage::transact(args),
        Command::Classic(args) => match &args.command {
            ClassicCommand::Install { directory } => names::install(directory),
        },
        Command::Inspect(args) => commands::inspect::inspect(args),
        Command::Verify(args) => commands::verify::verify(args),
        Command::Devices(args) => commands::devices::devices(args),
        Command::Whatif(args) => commands::what_if::what_if(args),
        Command::Ping(args) => commands::ping::ping(args),
        Command::Watch(args) => commands::watch::watch(args),
        Command::Record(args) => commands::record::record(args),
        Command::Profile(args) => commands::profile::profile(args),
        Command::Wire(args) => commands::wire::wire(args),
        Command::Runs(args) => commands::runs::runs(args),
        Command::Serve(args) => commands::serve::serve(args),
        Command::Clean(args) => commands::clean::clean(args),
        Command::Fleet(args) => commands::fleet::fleet(args),
        Command::Completions(args) => commands::generate::completions(args),
        Command::Man(args) => commands::generate::man(args),
    }
}
