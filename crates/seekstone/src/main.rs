//! The `seekstone` command.

mod args;
mod commands;
mod exit;
mod onlooker;
mod output;
mod progress;
mod stack;
mod studies;
mod written;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Command, Seekstone};

fn main() -> ExitCode {
    stack::with_enough(seekstone)
}

fn seekstone() -> ExitCode {
    let command = match Seekstone::try_parse() {
        Ok(seekstone) => seekstone.command,
        Err(error) => return exit::usage(&error),
    };
    // Refused, it only makes a limit deadly that would otherwise be an error.
    let _ = runner::interrupt::outlive_file_size_limit();
    if let Err(error) = written::check_command(&command) {
        return exit::failed(&error);
    }
    let done = match command {
        Command::Run(args) => commands::run::run(&args),
        Command::Trial(args) => commands::trial::trial(&args),
        Command::Curve(args) => commands::curve::curve(&args),
        Command::Rab(args) => commands::rab::rab(&args),
        Command::Random(args) => commands::random::random(&args),
        Command::Positioning(args) => commands::positioning::positioning(&args),
        Command::Rpt(args) => commands::rpt::rpt(&args),
        Command::Transfer(args) => commands::transfer::transfer(&args),
        Command::Diskmbps(args) => commands::diskmbps::diskmbps(&args),
        Command::Diskrand(args) => commands::diskrand::diskrand(&args),
        Command::Transact(args) => commands::transact::transact(&args),
        Command::Transactions(args) => commands::transactions::transactions(&args),
        Command::Study(args) => commands::study::study(&args),
        Command::Files(args) => commands::files::files(&args),
        Command::Inspect(args) => commands::inspect::inspect(&args),
        Command::Devices(args) => commands::devices::devices(&args),
        Command::Whatif(args) => commands::what_if::what_if(&args),
        Command::Time(args) => commands::time::time(&args),
        Command::Wire(args) => commands::wire::wire(&args),
        Command::Runs(args) => commands::runs::runs(&args),
        Command::Clean(args) => commands::clean::clean(&args),
        Command::Completions(args) => commands::generate::completions(&args),
        Command::Man => commands::generate::man(),
    };
    match done {
        Ok(exit) => exit.into(),
        Err(error) => exit::failed(&error),
    }
}
