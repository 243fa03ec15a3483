//! `seekstone diskrand`: the random access and transaction test of 1997.

use std::path::Path;

use anyhow::Context as _;
use drivers::Caching;
use host::interrupt::Interrupt;
use lab::simulated::cpu_unit;
use results::Setup;
use units::Duration;
use vintage::diskrand::{
    COMMANDS, DiskrandArguments, LogName, PROFILES_LOG, PassLength, TRANSACTIONS_LOG, typed,
};
use vintage::run::{Console, ProgramRun, UserRequest, WriteRequest, erase, run_user, run_write};
use workload::CPU_UNIT_NS;

use crate::args::{DISKRAND_ARGUMENTS, DiskRandArgs};
use crate::commands::vintage::rpt::in_words;
use crate::commands::vintage::status::StatusLine;
use crate::exit::{Exit, UsageError};
use crate::output;

/// Run the test.
///
/// # Errors
/// When it is asked for wrongly, a file cannot be used, or a signal comes.
pub fn diskrand(args: &DiskRandArgs) -> anyhow::Result<Exit> {
    if args.words.is_empty() {
        return show_commands();
    }
    let passes = if args.short {
        PassLength::Short
    } else {
        PassLength::AsDocumented
    };
    let arguments = typed(&args.words, passes).map_err(UsageError)?;
    refuse_unused(args, &arguments)?;
    let caching = if args.direct {
        Caching::Direct
    } else {
        Caching::Buffered
    };
    let interrupt = Interrupt::install().context("cannot set up signal handling")?;
    let mut screen = DiskrandConsole {
        quiet: args.quiet,
        status: StatusLine::new(args.quiet),
        shown: String::new(),
    };
    match arguments {
        DiskrandArguments::Write(arguments) => {
            let log = arguments.log.clone();
            let request = WriteRequest {
                arguments,
                caching,
                reserve: args.reserve.map(|bytes| bytes.as_u64()),
            };
            let done = run_write(&request, &mut ProgramRun::new(&interrupt, &mut screen));
            screen.status.finish();
            done.map_err(in_words)?;
            screen.note(&where_results_are(&log));
        }
        DiskrandArguments::Read(arguments) => {
            let log = arguments.log.clone();
            let of_model = || cpu_unit(&arguments.file, &Setup::new("diskrand", 0));
            let unit = args.cpu_unit.or_else(of_model);
            let request = UserRequest {
                cpu_unit: unit.unwrap_or(Duration::from_nanos(CPU_UNIT_NS)),
                arguments,
                caching,
            };
            let done = run_user(&request, &mut ProgramRun::new(&interrupt, &mut screen));
            screen.status.finish();
            let outcome = done.map_err(in_words)?;
            if !args.quiet || outcome.ended.is_err() {
                output::print(&format!("\n{}", outcome.summary))?;
            }
            outcome.ended.map_err(in_words)?;
            screen.note(&where_results_are(&log));
        }
        DiskrandArguments::Erase { file } => {
            let size = erase(Path::new(&file)).map_err(in_words)?;
            output::print(&format!("{file} is erased, {size}"))?;
        }
    }
    Ok(Exit::Done)
}

/// An option that means nothing with this command is a mistake.
fn refuse_unused(args: &DiskRandArgs, arguments: &DiskrandArguments) -> Result<(), UsageError> {
    let (command, file) = match arguments {
        DiskrandArguments::Write(it) => ("Write", &it.file),
        DiskrandArguments::Read(it) => ("Read", &it.file),
        DiskrandArguments::Erase { file } => ("Erase", file),
    };
    let is_model = file.is_model();
    if is_model && command == "Erase" {
        refuse!("{file} is a model: there is no file");
    }
    if is_model && (args.direct || args.reserve.is_some()) {
        refuse!("a model has no page cache and fills no disk: leave --direct and --reserve out");
    }
    for (option, is_given, commands) in [
        ("--direct", args.direct, &["Write", "Read"][..]),
        ("--short", args.short, &["Write"]),
        ("--reserve", args.reserve.is_some(), &["Write"]),
        ("--cpu-unit", args.cpu_unit.is_some(), &["Read"]),
    ] {
        if is_given && !commands.contains(&command) {
            refuse!("{option} means nothing with {command}. Leave it out");
        }
    }
    Ok(())
}

/// What a program without arguments shows.
fn show_commands() -> anyhow::Result<Exit> {
    let commands = COMMANDS.map(|command| format!("  seekstone diskrand {command}\n"));
    output::print(&format!("{}\n{DISKRAND_ARGUMENTS}", commands.concat()))
}

fn where_results_are(log: &LogName) -> String {
    let name = match log {
        LogName::One(name) => name.clone(),
        LogName::Two => format!("{PROFILES_LOG} and {TRANSACTIONS_LOG}"),
    };
    let import = match log {
        LogName::One(name) => name.as_str(),
        LogName::Two => TRANSACTIONS_LOG,
    };
    format!("Results are in {name}. `seekstone runs import {import}` archives them")
}

/// Lines on standard output; how far it is on standard error.
struct DiskrandConsole {
    quiet: bool,
    status: StatusLine,
    /// What was shown last of how far it is.
    shown: String,
}

/// What is being done, without how far it is.
fn stage(text: &str) -> &str {
    text.split_once(':').map_or(text, |(stage, _)| stage)
}

impl Console for DiskrandConsole {
    fn line(&mut self, text: &str) {
        self.status.print(text);
    }

    fn progress(&mut self, text: &str) {
        if self.quiet || self.shown == text {
            return;
        }
        if !self.status.show(text) && stage(&self.shown) != stage(text) {
            output::complain(text);
        }
        text.clone_into(&mut self.shown);
    }

    fn note(&mut self, text: &str) {
        if !self.quiet {
            self.status.complain(text);
        }
    }
}
