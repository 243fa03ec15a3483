//! `seekstone together`: several of the programs of 1997 on one simulated machine.

use std::sync::Mutex;

use anyhow::Context as _;
use drivers::text_file;
use host::interrupt::Interrupt;
use lab::simulated::open_model;
use vintage::run::{
    ClassicError, ClassicProgram, HostBatch, HostPlace, LogPlace, PROGRAMS_MAX, ProgramEnd,
    ScriptLine, Together, clock_from, run_together, script_lines, together_table,
};

use crate::args::TogetherArgs;
use crate::commands::vintage::rpt::in_words;
use crate::exit::{Exit, UsageError};
use crate::output;

/// The host that is the server of the others.
const SERVER: &str = "server";
/// A batch file is never larger.
const BATCH_BYTES_MAX: u64 = 1 << 20;

/// Run the programs.
///
/// # Errors
/// When something is asked for wrongly, a program could not do its work, or a signal comes.
pub fn together(args: &TogetherArgs) -> anyhow::Result<Exit> {
    let request = request(args)?;
    let interrupt = Interrupt::install().context("cannot set up signal handling")?;
    let last = Mutex::new(String::new());
    let show_line = |host: &str, line: &str| {
        if args.lines && !line.is_empty() {
            show_line(&last, host, line);
        }
    };
    let ended = run_together(&request, &interrupt, &show_line).map_err(in_words)?;
    if ended.iter().any(|it| it.result.is_ok()) {
        output::print(&together_table(&ended))?;
    }
    if let Some(signal) = interrupt.is_raised() {
        anyhow::bail!("stopped by {}: what was done is above", signal.name);
    }
    complain_of(&ended)?;
    if !args.quiet {
        output::complain(
            "Results are in the programs' logs in this directory. `seekstone runs import LOG` \
             archives them",
        );
    }
    Ok(Exit::Done)
}

/// Programs that could not do their work, a sentence each.
fn complain_of(ended: &[ProgramEnd]) -> anyhow::Result<()> {
    let failed = || {
        ended
            .iter()
            .filter_map(|it| Some((it, it.result.as_ref().err()?)))
    };
    let text: Vec<String> = failed()
        .map(|(it, error)| format!("{}, {}: {error}", it.host, it.words))
        .collect();
    if text.is_empty() {
        return Ok(());
    }
    let is_usage = failed().all(|(_, it)| matches!(it, ClassicError::Usage(_)));
    let text = text.join("\n");
    Err(if is_usage {
        UsageError(text).into()
    } else {
        anyhow::Error::msg(text)
    })
}

/// A line of a program, with the host's name where that changes.
fn show_line(last: &Mutex<String>, host: &str, line: &str) {
    let mut last = last
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if *last != host {
        let _ = output::print(&format!("[{host}]"));
        host.clone_into(&mut last);
    }
    // A reader that has gone away does not end the programs: their logs are what counts.
    let _ = output::print(line);
}

fn request(args: &TogetherArgs) -> anyhow::Result<Together> {
    let Some(model) = args.model.model() else {
        refuse!(
            "{} is no model: name one, such as sim:ppro. On real storage start the programs side \
             by side from a shell",
            args.model
        );
    };
    let model = open_model(model)?;
    let own = if has_server(&model) { "client" } else { "host" };
    let mut batches = batches(args, own)?;
    let lines = batches.iter_mut().flat_map(|batch| &mut batch.lines);
    lines.for_each(|line| line.draw(args.seed));
    Ok(Together {
        model,
        seed: args.seed,
        files: args
            .files
            .iter()
            .map(|file| (file.name.clone(), file.bytes.as_u64()))
            .collect(),
        batches,
        cpu_unit: args.cpu_unit,
        clock: clock_from(args.clock.as_deref()).map_err(UsageError)?,
        logs: LogPlace::Named,
    })
}

/// Batch files, and the programs that start together.
fn batches(args: &TogetherArgs, own: &str) -> anyhow::Result<Vec<HostBatch>> {
    let mut batches = Vec::new();
    for batch in &args.batches {
        let name = batch.path.display().to_string();
        let read = text_file(&batch.path, BATCH_BYTES_MAX);
        let text = read.map_err(|error| {
            UsageError(format!(
                "cannot read the batch file {name}: {error}. Programs stand behind --"
            ))
        })?;
        let host = batch.host.clone().unwrap_or_else(|| own.to_owned());
        let lines = script_lines(&name, &text).map_err(UsageError)?;
        batches.push(batch_on(host, lines));
    }
    let typed: Vec<&[String]> = args.programs.split(|word| word == "--").collect();
    let programs: Result<Vec<ClassicProgram>, String> = typed
        .into_iter()
        .filter(|words| !words.is_empty())
        .map(ClassicProgram::typed)
        .collect();
    let programs = programs.map_err(UsageError)?;
    if !programs.is_empty() {
        let lines = programs.into_iter().map(ScriptLine::Start).collect();
        batches.push(batch_on(own.to_owned(), lines));
    }
    let count: usize = batches.iter().map(|it| it.lines.len()).sum();
    if batches.is_empty() || count > PROGRAMS_MAX {
        let text = match count {
            0 => "nothing runs: put programs behind --, each with one of its own, or name batch \
                  files"
                .to_owned(),
            _ => format!("{count} programs are too many: {PROGRAMS_MAX} run together at most"),
        };
        return Err(UsageError(text).into());
    }
    Ok(batches)
}

fn has_server(model: &sim::SimSpec) -> bool {
    let machine = model.machine();
    machine.is_some_and(|machine| machine.server.is_some())
}

fn batch_on(host: String, lines: Vec<ScriptLine>) -> HostBatch {
    let place = if host == SERVER {
        HostPlace::Server
    } else {
        HostPlace::Client
    };
    HostBatch { host, place, lines }
}
