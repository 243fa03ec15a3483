//! What a shell offers when Tab is pressed: the shell asks this program, which knows the runs of
//! the archive, the models, the workloads and the studies.

use std::ffi::OsStr;

use clap::Command;
use clap::builder::StyledStr;
use clap_complete::CompleteEnv;
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _,
};
use clap_complete::env::Shells;
use lab::simulated::open_definition;
use results::metrics_of;
use units::TargetName;
use workload::WorkloadDefinition;

use crate::args::definition;
use crate::args::parse::PATTERNS;
use crate::commands::setup::archive_path;
use crate::studies::SHIPPED;

/// Set by the lines that `seekstone completions` prints, when a shell asks.
const ASKED: &str = "SEEKSTONE_COMPLETE";
const PROGRAM: &str = "seekstone";
/// The option of what a command's figures must keep.
const GOALS: &str = "goals";
/// Runs that are offered, latest first.
const RUNS_MAX: usize = 30;
/// Bash breaks words at colons, and would never see `sim:` whole.
const WHOLE_WORDS: &str = "COMP_WORDBREAKS=${COMP_WORDBREAKS//:}\n";

/// Finds what a word may become.
type Finder = fn(&OsStr) -> Vec<CompletionCandidate>;

/// Arguments by the end of their place on the command line, and what may stand there.
const FINDERS: [(&str, Finder); 9] = [
    (" target", targets),
    (" id", runs),
    (" ids", runs),
    (" beside", runs),
    (" pattern", patterns),
    ("rab workload", workloads),
    (" study", studies),
    ("study show name", studies),
    ("devices show name", models),
];

/// Answer a shell that asks, and say whether one did.
///
/// # Errors
/// When the answer cannot be printed.
pub fn answer() -> Result<bool, clap::Error> {
    let here = std::env::current_dir().ok();
    CompleteEnv::with_factory(|| with_finders(definition(), ""))
        .var(ASKED)
        .try_complete(std::env::args_os(), here.as_deref())
}

/// The lines that make a shell ask; `None` for a shell that is not known.
pub fn registration(shell: &str) -> std::io::Result<Option<String>> {
    let Some(known) = Shells::builtins().completer(shell).map(|it| {
        let mut text = Vec::new();
        it.write_registration(ASKED, PROGRAM, PROGRAM, PROGRAM, &mut text)
            .map(|()| text)
    }) else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&known?).into_owned();
    Ok(Some(match shell {
        "bash" => format!("{WHOLE_WORDS}{text}"),
        _ => text,
    }))
}

/// A command and all below it; `path` names those above.
fn with_finders(command: Command, path: &str) -> Command {
    let path = format!("{path} {}", command.get_name());
    let metrics = metrics_of(command.get_name());
    let command = command.mut_args(|arg| {
        if arg.get_id() == GOALS {
            let metrics = metrics.clone();
            return arg.add(ArgValueCompleter::new(move |typed: &OsStr| {
                let metrics = metrics.iter();
                let with_unit = metrics.map(|(name, unit)| (name.clone(), unit.name().to_owned()));
                beginning(typed, with_unit)
            }));
        }
        let place = format!("{path} {}", arg.get_id());
        let found = FINDERS.iter().find(|(end, _)| place.ends_with(end));
        match found {
            Some((_, finder)) => arg.add(ArgValueCompleter::new(*finder)),
            None => arg,
        }
    });
    command.mut_subcommands(|below| with_finders(below, &path))
}

/// Paths, and models.
fn targets(typed: &OsStr) -> Vec<CompletionCandidate> {
    let mut found = paths(&PathCompleter::any(), typed);
    let models =
        names_of_models().map(|(name, title)| (TargetName::of_model(&name).to_string(), title));
    found.extend(beginning(typed, models));
    found
}

fn models(typed: &OsStr) -> Vec<CompletionCandidate> {
    beginning(typed, names_of_models())
}

fn names_of_models() -> impl Iterator<Item = (String, String)> {
    let queues = sim::MODELS.iter();
    let queues = queues.map(|(name, _, meaning)| ((*name).to_owned(), (*meaning).to_owned()));
    let devices = sim::device_names().map(|name| {
        let title = open_definition(name).map(|it| it.title);
        (name.to_owned(), title.unwrap_or_default())
    });
    queues.chain(devices)
}

/// Runs of the archive, by number; nothing where there is none or it cannot be read.
fn runs(typed: &OsStr) -> Vec<CompletionCandidate> {
    let archive = archive_path(None).ok();
    let archive = archive.and_then(|path| archive::Archive::open_existing(&path).ok());
    let listed = archive.and_then(|archive| archive.list(RUNS_MAX).ok());
    let named = listed.unwrap_or_default().into_iter().map(|run| {
        let about = format!("{} {}: {}", run.command, run.target, run.headline);
        (run.id.to_string(), about)
    });
    let latest = ("latest".to_owned(), "the most recent run".to_owned());
    beginning(typed, std::iter::once(latest).chain(named))
}

/// Patterns; the number that some need is left to who types.
fn patterns(typed: &OsStr) -> Vec<CompletionCandidate> {
    let named = PATTERNS.iter().map(|(name, parameter, about)| {
        let colon = if parameter.is_empty() { "" } else { ":" };
        (format!("{name}{colon}"), (*about).to_owned())
    });
    beginning(typed, named)
}

/// Workloads that are built in, and files.
fn workloads(typed: &OsStr) -> Vec<CompletionCandidate> {
    let built_in = WorkloadDefinition::all_built_in().into_iter();
    let mut found = beginning(typed, built_in.map(|it| (it.name, String::new())));
    found.extend(paths(&PathCompleter::file(), typed));
    found
}

/// Studies that come with the program, and files.
fn studies(typed: &OsStr) -> Vec<CompletionCandidate> {
    let shipped = SHIPPED
        .into_iter()
        .map(|(name, _)| (name.to_owned(), String::new()));
    let mut found = beginning(typed, shipped);
    found.extend(paths(&PathCompleter::file(), typed));
    found
}

/// Paths, but for those whose names would steer the terminal.
fn paths(completer: &PathCompleter, typed: &OsStr) -> Vec<CompletionCandidate> {
    let mut found = completer.complete(typed);
    found.retain(|it| !it.get_value().to_string_lossy().contains(units::is_obeyed));
    found
}

/// Those that begin as was typed, in their order, each with what it is.
fn beginning(
    typed: &OsStr,
    all: impl Iterator<Item = (String, String)>,
) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let fitting = all.filter(|(name, _)| name.starts_with(&*typed));
    let candidate = |(order, (name, about)): (usize, (String, String))| {
        let about = units::printable(&about);
        let about = (!about.is_empty()).then(|| StyledStr::from(about));
        CompletionCandidate::new(name)
            .help(about)
            .display_order(Some(order))
    };
    fitting.enumerate().map(candidate).collect()
}
