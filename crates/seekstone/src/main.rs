//! The `seekstone` command.

mod args;
mod commands;
mod exit;
mod habits;
mod onlooker;
mod output;
mod progress;
mod recorded;
mod stack;
mod studies;
mod written;

use std::process::ExitCode;

use args::{ClassicCommand, Command, Seekstone};
use commands::drive::{drive, ready};
use commands::live;
use commands::vintage::names;
use exit::Exit;
use results::Setup;

fn main() -> ExitCode {
    stack::with_enough(seekstone)
}

fn seekstone() -> ExitCode {
    let mut definition = args::definition();
    let words = names::typed(std::env::args_os().collect());
    let words = habits::with_command(words, &definition);
    let words = commands::fio::with_options_apart(words);
    let parsed = definition.try_get_matches_from_mut(words);
    let parsed = parsed.and_then(|matches| {
        let Seekstone { color, command } = args::typed(&matches)?;
        output::choose_colour(color);
        Ok((command, recorded::setup(&definition, &matches)))
    });
    let (command, setup) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return exit::usage(&habits::answered(error, &definition)),
    };
    // Refused, it only makes a limit deadly that would otherwise be an error.
    let _ = host::interrupt::outlive_file_size_limit();
    match perform(&command, setup) {
        Ok(exit) => exit.into(),
        Err(error) => exit::failed(&error),
    }
}

/// Carry a command out, whose settings stand in `setup`.
fn perform(command: &Command, setup: Setup) -> anyhow::Result<Exit> {
    written::check_command(command)?;
    live::check(command)?;
    match command {
        Command::Run(_)
        | Command::Trial(_)
        | Command::Curve(_)
        | Command::Random(_)
        | Command::Transfer(_)
        | Command::Transactions(_)
        | Command::Files(_)
        | Command::Time(_) => {
            let name = live::name(&setup);
            drive(ready(command, setup)?, &name)
        }
        Command::Rab(args) => match &args.print_workload {
            Some(name) => commands::rab::print_workload(name),
            None => drive(ready(command, setup)?, ""),
        },
        Command::Positioning(args) => commands::positioning::positioning(args),
        Command::Rpt(args) => commands::vintage::rpt::rpt(args),
        Command::Diskmbps(args) => commands::vintage::diskmbps::diskmbps(args),
        Command::Diskrand(args) => commands::vintage::diskrand::diskrand(args),
        Command::Transact(args) => commands::vintage::transact::transact(args),
        Command::Compare(args) => commands::compare::compare(args, setup),
        Command::Classic(args) => match &args.command {
            ClassicCommand::Install { directory } => names::install(directory),
        },
        Command::Study(args) => commands::study::study(args, setup),
        Command::Fio(args) => commands::fio::fio(args, setup),
        Command::Inspect(args) => commands::inspect::inspect(args),
        Command::Devices(args) => commands::devices::devices(args),
        Command::Whatif(args) => commands::what_if::what_if(args),
        Command::Wire(args) => commands::wire::wire(args),
        Command::Runs(args) => commands::runs::runs(args),
        Command::Serve(args) => commands::serve::serve(args),
        Command::Clean(args) => commands::clean::clean(args),
        Command::Completions(args) => commands::generate::completions(args),
        Command::Man(args) => commands::generate::man(args),
        Command::Kind(args) => commands::kind::kind(args, setup),
    }
}
