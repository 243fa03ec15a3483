//! `seekstone fio`: fio's job files, read, answered, shown, and handed on.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use drivers::read_regular_file;
use fio::{Fault, Job, JobFile, MachineFacts, Resolved, Surroundings};
use host::limits::ProcessLimits;
use kinds::fio_jobs::{PlanError, UnfitJobs, check_jobs};

use results::Setup;
use units::TargetName;

use crate::args::FioArgs;
use crate::commands::drive::Ready;
use crate::commands::fio_logs::wanted;
use crate::commands::fio_run::{no_job, ready_for, request_for};
use crate::commands::measuring::{CommandOutline, MeasuringCommand};
use crate::exit::{Exit, UsageError};
use crate::output;

/// A job file has no more bytes.
const BYTES_MAX: u64 = 4 << 20;
/// Nor has a file that a pattern names.
const PATTERN_BYTES_MAX: u64 = 1 << 20;
/// Mistakes that are told at once.
const LISTED_MAX: usize = 40;
/// Options that both have; fio's always has its value behind a sign of equality.
const OURS: [&str; 1] = ["overwrite"];

impl MeasuringCommand for FioArgs {
    fn outline(&self) -> CommandOutline<'_> {
        let read = self.verify_state.iter().chain(&self.files);
        CommandOutline::of(&self.common, [], self.sharing)
            .for_hosts(!self.measures_nothing())
            .writes("--output", self.output.as_ref())
            .reads(read.cloned())
            .rows([])
    }

    fn instead(&self, setup: &mut Setup) -> anyhow::Result<Option<Exit>> {
        self.measures_nothing()
            .then(|| show(self, setup))
            .transpose()
    }

    fn ready(&self, mut setup: Setup) -> anyhow::Result<Ready<'_>> {
        let args = self;
        let files = read(args, &mut setup)?;
        let found = resolved(&files, &args.sections);
        refuse(&found.faults)?;
        if let Some(place) = &args.place {
            refuse(&elsewhere(&found.jobs, place))?;
        }
        refuse(&forbidden(args, &found.jobs))?;
        refuse(&missing(&found.jobs))?;
        Ok(ready_for(
            args,
            files,
            request_for(args, found.jobs, setup)?,
        ))
    }
}

/// Check jobs, or show them as options, or say which fio they are read as.
fn show(args: &FioArgs, setup: &mut Setup) -> anyhow::Result<Exit> {
    if args.version {
        let ours = env!("CARGO_PKG_VERSION");
        return output::print(&format!("{}\nseekstone {ours}", fio::output::VERSION));
    }
    let files = read(args, setup)?;
    if args.showcmd {
        let shown = files
            .iter()
            .filter(|file| !file.sections.is_empty())
            .map(|file| fio::show_command(&file.sections, &args.sections));
        output::print(&shown.collect::<Vec<_>>().join("\n"))?;
    }
    let mut found = resolved(&files, &args.sections);
    if !args.check {
        return refuse(&found.faults).map(|()| Exit::Done);
    }
    if found.faults.is_empty() {
        found.faults.extend(forbidden(args, &found.jobs));
        found.faults.extend(missing(&found.jobs));
    }
    if found.jobs.is_empty() && found.faults.is_empty() {
        return Err(no_job(&args.files).into());
    }
    if found.faults.is_empty() {
        found.faults.extend(unfit(args, &found.jobs, setup));
    }
    output::print(check(&files, &found).trim_end())?;
    Ok(match found.faults.is_empty() {
        true => Exit::Done,
        false => Exit::Usage,
    })
}

/// What a run would say before it begins: that options do not go with the jobs, that a job finds no
/// room in its files, or that this process may not have so many open.
fn unfit(args: &FioArgs, jobs: &[Job], setup: &Setup) -> Option<Fault> {
    let checked = request_for(args, jobs.to_vec(), setup.clone())
        .and_then(|request| Ok(check_jobs(&request)?))
        .and_then(|()| wanted(args, jobs));
    let error = checked.err()?;
    Some(match error.downcast_ref() {
        Some(UnfitJobs::Plan(PlanError {
            place,
            job,
            message,
        })) => Fault::new(place, format!("[{job}] {message}")),
        Some(UnfitJobs::Files(_)) => {
            let largest = jobs.iter().max_by_key(|job| job.files.count)?;
            Fault::new(&largest.place, format!("[{}]: {error}", largest.name))
        }
        _ => Fault::new(&jobs.first()?.place, format!("{error:#}")),
    })
}

/// Directories that jobs name and that are not there.
fn missing(jobs: &[Job]) -> Vec<Fault> {
    let mut found: Vec<Fault> = Vec::new();
    let stored = jobs.iter().filter(|job| job.engine.name != "null");
    for job in stored {
        let directories = job
            .files
            .directories
            .iter()
            .map(|it| ("directory", it.as_str()));
        let names = job.files.names.iter().map(|it| ("filename", it.as_str()));
        let names = names.filter(|(_, name)| {
            job.files.directories.is_empty() && TargetName::from(*name).is_path()
        });
        let names = names.filter_map(|(option, name)| Some((option, directory_of(name)?)));
        for (option, directory) in directories.chain(names) {
            let mut given = job.given.iter().filter(|it| it.option.name == option);
            let place = given.next_back().map_or(&job.place, |it| &it.place);
            if !Path::new(directory).exists() {
                let text = format!(
                    "{option}: there is nothing at `{directory}`. Create the directory first"
                );
                found.push(Fault::new(place, text));
            }
        }
    }
    let logged = jobs.iter().flat_map(|job| &job.given).filter(|it| {
        let name = it.option.name;
        name == "write_iolog" || name.starts_with("write_") && name.ends_with("_log")
    });
    for given in logged {
        let directory = given.value.as_deref().and_then(directory_of);
        if let Some(directory) = directory.filter(|it| !Path::new(it).exists()) {
            let text = format!(
                "{}: there is nothing at `{directory}`. Create the directory first",
                given.option.name
            );
            found.push(Fault::new(&given.place, text));
        }
    }
    found
}

/// The directory that a file's name names, if it does.
fn directory_of(name: &str) -> Option<&str> {
    name.rsplit_once('/')
        .map(|it| it.0)
        .filter(|it| !it.is_empty())
}

/// With `--readonly` no job may change what it works on.
fn forbidden(args: &FioArgs, jobs: &[Job]) -> Vec<Fault> {
    let changes = |job: &&Job| {
        let directions = job.pattern.directions;
        args.readonly && (directions.writes() || directions.trims())
    };
    let fault = |job: &Job| {
        let why = "writes or trims, and --readonly allows neither";
        Fault::new(&job.place, format!("[{}] {why}", job.name))
    };
    jobs.iter().filter(changes).map(fault).collect()
}

/// What was typed, with what defines jobs behind two dashes, and each option with two and its whole
/// name, as fio takes it with one, and by its first letters, too. `definition` tells what is ours.
pub fn with_options_apart(words: Vec<OsString>, definition: &clap::Command) -> Vec<OsString> {
    let is_ours = words.get(1).is_some_and(|word| word == "fio");
    if !is_ours || words.iter().any(|word| word == "--") {
        return words;
    }
    let own = own_options(definition);
    let (mut kept, mut theirs) = (Vec::new(), Vec::new());
    let mut rest = words.into_iter().peekable();
    while let Some(word) = rest.next() {
        let option = word.to_str().and_then(|word| fio_option(word, &own));
        let Some(option) = option else {
            kept.push(word);
            continue;
        };
        let wants_value = option.wants_value && !option.text.contains('=');
        let place = match option.is_ours {
            true => &mut kept,
            false => &mut theirs,
        };
        place.push(format!("--{}", option.text).into());
        if wants_value {
            place.extend(rest.next_if(|next| !is_option(next, &own)));
        }
    }
    if !theirs.is_empty() {
        kept.push("--".into());
        kept.append(&mut theirs);
    }
    kept
}

/// The options of `seekstone fio` that fio does not have.
fn own_options(definition: &clap::Command) -> Vec<String> {
    let command = definition.find_subcommand("fio");
    let all = command.into_iter().flat_map(clap::Command::get_arguments);
    let all = all.chain(definition.get_arguments());
    let named = all.filter_map(clap::Arg::get_long_and_visible_aliases);
    let named = named.flatten().map(str::to_owned);
    let is_own = |name: &String| match fio::find_option(name) {
        Some(_) => OURS.contains(&name.as_str()),
        None => fio::find_program_option(name).is_none(),
    };
    named.chain(["help".into()]).filter(is_own).collect()
}

/// An option of fio's, of jobs or of the program.
struct FioWord {
    /// Without dashes, by its whole name.
    text: String,
    /// Whether `seekstone fio` itself has it.
    is_ours: bool,
    /// Whether its value may be the next word.
    wants_value: bool,
}

fn fio_option(word: &str, own: &[String]) -> Option<FioWord> {
    let has_two = word.starts_with("--");
    let text = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
    let typed = text.split('=').next()?;
    // Of two that both have, fio's has its value behind a sign of equality.
    let is_own = own.iter().any(|name| name == typed);
    if has_two && is_own && (!OURS.contains(&typed) || !text.contains('=')) {
        return None;
    }
    let name = match fio::completed(typed) {
        Ok(Some(name)) if name == typed || text.len() > 1 => name,
        Ok(_) if has_two && !is_nearer(typed, own) => return None,
        // It is answered as in a job file.
        _ => typed,
    };
    let found = |is_ours, wants_value| FioWord {
        text: format!("{name}{}", &text[typed.len()..]),
        is_ours,
        wants_value,
    };
    if let Some(option) = fio::find_program_option(name) {
        let is_ours = option.answer == fio::ProgramAnswer::Ours;
        return Some(found(is_ours, option.takes == fio::Takes::Value));
    }
    match fio::find_option(name) {
        Some(option) => Some(found(false, option.value != fio::ValueKind::Flag)),
        None => (text.len() > 1).then(|| found(false, true)),
    }
}

/// Whether an option of fio's is spelled more nearly so than each of ours.
fn is_nearer(typed: &str, own: &[String]) -> bool {
    let ours = own.iter().map(|name| units::edits(typed, name)).min();
    fio::nearly(typed).is_some_and(|(theirs, _)| ours.is_none_or(|ours| theirs < ours))
}

fn is_option(word: &OsString, own: &[String]) -> bool {
    let word = word.to_string_lossy();
    word.starts_with("--") || fio_option(&word, own).is_some()
}

/// The files and the command line, read.
fn read(args: &FioArgs, setup: &mut Setup) -> anyhow::Result<Vec<JobFile>> {
    if args.files.is_empty() && args.options.is_empty() {
        refuse!("name a job file, or give fio's options, such as --name=a --rw=randread");
    }
    let mut typed = JobFile::default();
    if !args.options.is_empty() {
        let mut around = JobFileContext::beside(Path::new(""), setup);
        typed = fio::read_command_line(&args.options, &mut around);
        let names: Vec<String> = args
            .files
            .iter()
            .map(|it| it.display().to_string())
            .collect();
        for fault in typed.faults.iter_mut().filter(|_| !names.is_empty()) {
            fault.message = fault.message.replace("JOBFILE", &names.join(" "));
        }
        // fio has no job without --name; here options alone are one.
        if let [only] = &mut typed.sections[..]
            && only.is_global
            && args.files.is_empty()
        {
            only.is_global = false;
            "job".clone_into(&mut only.name);
        }
    }
    let mut files = Vec::new();
    for path in &args.files {
        let name = path.to_string_lossy();
        let text = recorded_text(path, setup)?;
        let mut around = JobFileContext::beside(path, setup);
        files.push(fio::read_job_file(&name, &text, &mut around));
    }
    let defaults = typed.sections.first().filter(|it| it.is_global).cloned();
    if let (Some(defaults), Some(first)) = (defaults, files.first_mut()) {
        first.begin_with(&defaults);
        if typed.sections.len() == 1 {
            typed.sections.clear();
        }
    }
    // As in fio, its jobs come first, and those of the first file run beside them.
    files.insert(0, typed);
    if let Some(place) = &args.place {
        let mut around = JobFileContext::beside(Path::new(""), setup);
        let defaults = fio::read_command_line(&[option_of(place)], &mut around);
        let used = files.iter_mut().filter(|file| !file.sections.is_empty());
        used.for_each(|file| file.begin_with(&defaults.sections[0]));
    }
    Ok(files)
}

/// The option that has jobs work there.
fn option_of(place: &TargetName) -> String {
    match place.path() {
        Some(path) if path.is_dir() => format!("--directory={}", escaped(place)),
        Some(_) => format!("--filename={}", escaped(place)),
        None => format!("--filename={place}"),
    }
}

/// A name, of which a colon is part.
fn escaped(place: &TargetName) -> String {
    place.as_str().replace(':', "\\:")
}

/// What has a job work elsewhere than where a study measures.
fn elsewhere(jobs: &[Job], place: &TargetName) -> Vec<Fault> {
    let option = option_of(place);
    let is_directory = option.starts_with("--directory");
    let moves = |name: &str| name == "directory" || (name == "filename" && !is_directory);
    let fault = |job: &Job| {
        // The first is of the study.
        let mut given = job.given.iter().filter(|it| moves(it.option.name)).skip(1);
        let given = given.next()?;
        let text = format!(
            "[{}] {}: a study says where jobs work, here {place}. Leave it out",
            job.name, given.option.name
        );
        Some(Fault::new(&given.place, text))
    };
    jobs.iter().filter_map(fault).collect()
}

/// The text that the run recorded, or that of the file, recorded now.
fn recorded_text(path: &Path, setup: &mut Setup) -> anyhow::Result<String> {
    let name = path.to_string_lossy();
    if let Some(recorded) = setup.text_of(&name) {
        return Ok(recorded.to_owned());
    }
    let text = text_of(path)?;
    setup.keep_text(&name, &text);
    Ok(text)
}

/// The same of a file that need not be text, which the run records in hexadecimal digits.
fn recorded_bytes(path: &Path, setup: &mut Setup) -> anyhow::Result<Vec<u8>> {
    let name = path.to_string_lossy();
    if let Some(recorded) = setup.text_of(&name) {
        let pairs = recorded.as_bytes().chunks_exact(2);
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        return pairs
            .map(byte)
            .collect::<Option<_>>()
            .with_context(|| format!("the run's record of {name} is broken"));
    }
    let bytes = read_regular_file(path, PATTERN_BYTES_MAX);
    let bytes = bytes.with_context(|| format!("cannot read {name}"))?;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    setup.keep_text(&name, &digits);
    Ok(bytes)
}

fn text_of(path: &Path) -> anyhow::Result<String> {
    let bytes = match path == Path::new("-") {
        true => {
            let mut bytes = Vec::new();
            let read = std::io::stdin().take(BYTES_MAX).read_to_end(&mut bytes);
            read.context("cannot read standard input")?;
            bytes
        }
        // fuzzed: fio_jobs
        false => read_regular_file(path, BYTES_MAX)
            .with_context(|| format!("cannot read {}", path.display()))?,
    };
    let text = String::from_utf8(bytes);
    text.map_err(|_| UsageError(format!("{} is not text", path.display())).into())
}

/// The jobs of the command line and of all files: those of the first file begin with those of the
/// command line, those of a later file wait for those of an earlier one.
fn resolved(files: &[JobFile], wanted: &[String]) -> Resolved {
    let mut all = Resolved::default();
    for (number, file) in files.iter().enumerate() {
        let found = fio::resolve(file, wanted);
        let first = all.jobs.len();
        all.jobs.extend(found.jobs);
        all.faults.extend(found.faults);
        if number > 1
            && first > 0
            && let Some(job) = all.jobs.get_mut(first)
        {
            job.is_behind_wall = true;
        }
    }
    all.faults.extend(fio::unknown_sections(files, wanted));
    all
}

/// An error that tells all mistakes, a line each.
fn refuse(faults: &[Fault]) -> anyhow::Result<()> {
    if faults.is_empty() {
        return Ok(());
    }
    let lines = faults.iter().take(LISTED_MAX).map(ToString::to_string);
    let mut text = lines.collect::<Vec<_>>().join("\n");
    if faults.len() > LISTED_MAX {
        let _ = write!(text, "\n... and {} more", faults.len() - LISTED_MAX);
    }
    Err(UsageError(text).into())
}

/// The answers to all options, then what the jobs would measure.
fn check(files: &[JobFile], found: &Resolved) -> String {
    let mut answers: Vec<fio::Answered> = Vec::new();
    for answer in files.iter().flat_map(fio::answers) {
        // Defaults of the command line stand before its own jobs and in the first file.
        let is_same = |it: &fio::Answered| (&it.place, &it.text) == (&answer.place, &answer.text);
        if answer.place.line > 0 || !answers.iter().any(is_same) {
            answers.push(answer);
        }
    }
    let rows = answers.iter().map(|it| (it.place.to_string(), it));
    let rows: Vec<_> = rows.collect();
    let place = rows.iter().map(|(place, _)| place.len()).max().unwrap_or(0);
    let texts = rows.iter().map(|(_, it)| it.text.chars().count());
    let width = texts.max().unwrap_or(0).min(40);
    let mut text = String::new();
    for (at, it) in rows {
        let why = match it.why.as_str() {
            "" => String::new(),
            why => format!(": {why}"),
        };
        let _ = writeln!(text, "{at:place$}  {:width$}  {}{why}", it.text, it.answer);
    }
    let structural = found.faults.iter().filter(|fault| {
        let is_answered = |it: &fio::Answered| {
            it.place == fault.place && !["done", "no effect"].contains(&it.answer)
        };
        !answers.iter().any(is_answered)
    });
    for fault in structural {
        let _ = writeln!(text, "{fault}");
    }
    let remarks = fio::lints(&found.jobs, &facts());
    if !remarks.is_empty() {
        text.push('\n');
    }
    for remark in remarks {
        let _ = writeln!(text, "{}: {}", remark.place, remark.text);
    }
    let _ = writeln!(text, "\n{}", verdict(&found.jobs, &found.faults));
    text
}

fn verdict(jobs: &[Job], faults: &[Fault]) -> String {
    match (jobs.len(), faults.len()) {
        (0, 0) => "no jobs".into(),
        (1, 0) => "1 job, nothing refused".into(),
        (jobs, 0) => format!("{jobs} jobs, nothing refused"),
        (_, 1) => "1 line is refused".into(),
        (_, faults) => format!("{faults} lines are refused"),
    }
}

fn facts() -> MachineFacts {
    MachineFacts {
        memory: ProcessLimits::capture().memory_available_bytes,
    }
}

/// What a job file asks of this machine; files that it includes lie beside it.
struct JobFileContext<'a> {
    directory: PathBuf,
    setup: &'a mut Setup,
}

impl<'a> JobFileContext<'a> {
    fn beside(path: &Path, setup: &'a mut Setup) -> Self {
        Self {
            directory: path.parent().map(Path::to_owned).unwrap_or_default(),
            setup,
        }
    }
}

impl Surroundings for JobFileContext<'_> {
    fn include(&mut self, _: &str, path: &str) -> Result<String, String> {
        let beside = self.directory.join(path);
        let path = if beside.exists() { beside } else { path.into() };
        recorded_text(&path, self.setup).map_err(|error| format!("{error:#}"))
    }

    fn bytes(&mut self, path: &str) -> Result<Vec<u8>, String> {
        recorded_bytes(Path::new(path), self.setup).map_err(|error| format!("{error:#}"))
    }

    fn variable(&mut self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn fact(&mut self, name: &str) -> Option<u64> {
        match name {
            "pagesize" => Some(rustix::param::page_size() as u64),
            "ncpus" => std::thread::available_parallelism()
                .ok()
                .map(|count| count.get() as u64),
            "mb_memory" => host::environment::capture()
                .memory_total_bytes
                .map(|bytes| bytes >> 20),
            _ => None,
        }
    }
}
