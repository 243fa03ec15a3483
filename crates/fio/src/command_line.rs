//! fio's command line: options with two dashes, where each `--name` starts a job.

use std::sync::Arc;

use crate::fault::{Fault, JobFilePosition};
use crate::option::{FioOption, nearest, options};
use crate::program::{ANY_HOSTS, PROGRAM_OPTIONS, ProgramOption, Takes, find_program_option};
use crate::reader::{JobFile, JobSection, Surroundings, given};

/// Place of arguments.
const FILE: &str = "command line";

/// Parses arguments into jobs. Each is `--option=value`, `--option value`, or `--flag`, and is
/// applied in order, as in fio: `--directory` after `--filename` has no effect on it.
// fuzzed: fio_jobs
pub fn read_command_line(arguments: &[String], around: &mut dyn Surroundings) -> JobFile {
    let place = JobFilePosition {
        file: Arc::from(FILE),
        line: 0,
    };
    let mut file = JobFile::default();
    let mut hosts: Vec<String> = Vec::new();
    let mut rest = arguments.iter().peekable();
    while let Some(argument) = rest.next() {
        let Some(text) = argument.strip_prefix("--") else {
            let message = format!("{argument}: an option begins with two dashes");
            file.faults.push(Fault::new(&place, message));
            continue;
        };
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        let name = match completed(name) {
            Ok(found) => found.unwrap_or(name),
            Err(several) => {
                let message = format!("--{name} begins several options: {}", several.join(", "));
                file.faults.push(Fault::new(&place, message));
                rest.next_if(|next| value.is_none() && !next.starts_with("--"));
                continue;
            }
        };
        let program = find_program_option(name);
        let takes_next =
            value.is_none() && program.is_none_or(|option| option.takes == Takes::Value);
        let next = rest.next_if(|next| takes_next && !next.starts_with("--"));
        let value = value.or_else(|| next.cloned());
        if let Some(host) = value.as_deref().filter(|_| name == "client") {
            hosts.push(host_of(host));
            continue;
        }
        if let Some(option) = program {
            let refused = option.refusal();
            file.faults.extend(refused.map(|it| Fault::new(&place, it)));
            continue;
        }
        let text = match value {
            Some(value) => format!("{name}={value}"),
            None => name.to_owned(),
        };
        match given(&text, &place, around) {
            Ok(option) if option.option.name == "name" => {
                let name = option.value.unwrap_or_default();
                file.sections.push(section(&name, false, &place));
            }
            Ok(option) => {
                if file.sections.is_empty() {
                    file.sections.push(section("global", true, &place));
                }
                if let Some(last) = file.sections.last_mut() {
                    last.given.push(option);
                }
            }
            Err(message) => file.faults.push(Fault::new(&place, message)),
        }
    }
    let client = find_program_option("client").filter(|_| !hosts.is_empty());
    if let Some(refused) = client.and_then(ProgramOption::refusal) {
        let message = refused.replace(ANY_HOSTS, &hosts.join(","));
        file.faults.push(Fault::new(&place, message));
    }
    file
}

/// A host of `--client`, without address type and port.
fn host_of(client: &str) -> String {
    let kinds = ["ip:", "ip4:", "ip6:"];
    let address = kinds.iter().find_map(|kind| client.strip_prefix(kind));
    let address = address.unwrap_or(client);
    let host = address.split_once(',').map_or(address, |it| it.0);
    host.to_owned()
}

/// The option whose name starts with `typed`, as in `getopt_long`: an exact or unique match, or
/// none.
///
/// # Errors
/// All matching names, if there are several.
pub fn completed(typed: &str) -> Result<Option<&'static str>, Vec<&'static str>> {
    let is_whole = |option: &FioOption| option.is_of_engine() && option.name == typed;
    if options().any(is_whole) {
        return Ok(None);
    }
    let named: Vec<&'static str> = names().filter(|name| name.starts_with(typed)).collect();
    match named.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some(only)),
        several => match several.iter().find(|name| **name == typed) {
            Some(name) => Ok(Some(name)),
            None => Err(named),
        },
    }
}

/// The option with the most similar name, and its edit distance.
pub fn nearly(typed: &str) -> Option<(usize, &'static str)> {
    let near = nearest(typed)?;
    Some((units::edits(typed, near), near))
}

/// All options that fio accepts before it knows the engine.
fn names() -> impl Iterator<Item = &'static str> {
    let of_jobs = options().filter(|it| !it.is_of_engine());
    let of_jobs = of_jobs.flat_map(|it| [it.name, it.alias]);
    let of_program = PROGRAM_OPTIONS.iter().map(|it| it.name);
    of_jobs.filter(|name| !name.is_empty()).chain(of_program)
}

fn section(name: &str, is_global: bool, place: &JobFilePosition) -> JobSection {
    JobSection {
        name: name.to_owned(),
        is_global,
        place: place.clone(),
        given: Vec::new(),
    }
}
