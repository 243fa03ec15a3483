//! `seekstone study`: how a measurement depends on factors, as a note.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use archive::Archive;
use drivers::{ReadFileError, open_regular_file};
use procedure::study::{STUDY_BYTES_MAX, StudyDefinition, StudyOverrides, digest, read_study};
use results::{Run, Status};
use runner::arguments::typed_arguments;
use runner::interrupt::Interrupt;
use runner::measure::{Default as SettingDefault, Kind, Measurement};
use runner::study::{Beginning, StudyRequest, missing, run_study, study_kinds};
use units::format_counted;

use crate::args::{StudyArgs, StudyCommand};
use crate::commands::clean::offer_removal;
use crate::commands::finish::deliver;
use crate::commands::setup::{archive_path, fresh_seed, open_archive};
use crate::exit::{Exit, UsageError};
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::studies::SHIPPED;
use crate::written::{Files, check as check_files};

/// Run a study, or say what there is.
///
/// # Errors
/// When the study cannot be read, or nothing could be measured.
pub fn study(args: &StudyArgs) -> anyhow::Result<Exit> {
    match &args.command {
        Some(StudyCommand::List) => list(),
        Some(StudyCommand::Show { name }) => {
            let file = shipped(name).ok_or_else(|| unknown(name))?;
            output::print(file.text.trim_end())
        }
        Some(StudyCommand::Check { study }) => check(study),
        Some(StudyCommand::Measurements { kind }) => measurements(kind.as_deref()),
        None => run(args),
    }
}

/// A study's text, and where it is from.
struct StudyFile {
    source: String,
    text: String,
    directory: PathBuf,
}

/// Follows the name of the archive in the name of a journal.
pub const STUDY_JOURNAL: &str = ".study-";

/// Stands for standard input.
const STANDARD_INPUT: &str = "-";

/// A file, standard input, or a study that comes with the program.
fn open(name: &str) -> anyhow::Result<StudyFile> {
    if name == STANDARD_INPUT {
        return Ok(StudyFile {
            source: "standard input".into(),
            text: limited(std::io::stdin().lock()).context("standard input cannot be read")?,
            directory: std::env::current_dir().unwrap_or_default(),
        });
    }
    let path = Path::new(name);
    if !path.exists()
        && let Some(file) = shipped(name)
    {
        return Ok(file);
    }
    if !path.exists() && path.extension().is_none() && path.components().count() <= 1 {
        return Err(unknown(name).into());
    }
    let cannot = || format!("the study {} cannot be read", path.display());
    let opened = match open_regular_file(path) {
        Err(ReadFileError::NotRegular) => {
            return Err(UsageError(format!(
                "{} is no regular file: name a study file, or - for standard input",
                path.display()
            ))
            .into());
        }
        opened => opened.map_err(anyhow::Error::from),
    };
    let text = opened.and_then(limited).with_context(cannot)?;
    let directory = path.parent().unwrap_or(Path::new(""));
    let directory = if directory.as_os_str().is_empty() {
        Path::new(".")
    } else {
        directory
    };
    Ok(StudyFile {
        source: name.to_owned(),
        text,
        directory: fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned()),
    })
}

/// The text, cut off where the reader of studies would refuse it for its length.
fn limited(from: impl std::io::Read) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    from.take(STUDY_BYTES_MAX as u64 + 1)
        .read_to_end(&mut bytes)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) if error.as_bytes().len() > STUDY_BYTES_MAX => {
            Ok(String::from_utf8_lossy(error.as_bytes()).into_owned())
        }
        Err(error) => Err(error.into()),
    }
}

fn shipped(name: &str) -> Option<StudyFile> {
    let found = SHIPPED.iter().find(|shipped| shipped.name == name)?;
    Some(StudyFile {
        source: found.name.to_owned(),
        text: found.text.to_owned(),
        directory: std::env::current_dir().unwrap_or_default(),
    })
}

fn unknown(name: &str) -> UsageError {
    let names: Vec<&str> = SHIPPED.iter().map(|shipped| shipped.name).collect();
    UsageError(format!(
        "there is no file and no study {name:?}; the program brings {}",
        names.join(", ")
    ))
}

fn read(file: &StudyFile, overrides: &StudyOverrides) -> Result<StudyDefinition, UsageError> {
    let read = read_study(&file.source, &file.text, overrides, &study_kinds());
    read.map_err(|error| UsageError(error.to_string()))
}

/// Whether an option's file is standard output.
fn is_stdout(output: Option<&Output>) -> bool {
    output.is_some_and(Output::is_stdout)
}

fn run(args: &StudyArgs) -> anyhow::Result<Exit> {
    if is_stdout(args.markdown.as_ref()) && is_stdout(args.common.json.as_ref()) {
        let text = "--markdown - and --json - would both be standard output: name a file for one";
        return Err(UsageError(text.into()).into());
    }
    let name = args.study.as_deref().unwrap_or_default();
    let file = open(name)?;
    let overrides = StudyOverrides {
        set: args.set.clone(),
        only: args
            .only
            .iter()
            .map(|(name, levels)| {
                let levels = levels.split(',').map(str::to_owned);
                (name.clone(), levels.collect())
            })
            .collect(),
        replicates: args.replicates,
        precision: args.precision,
        budget: args.budget,
        target: args.target.clone(),
    };
    let definition = read(&file, &overrides)?;
    check_written(args, &definition)?;
    let archive = open_archive(&args.common)?;
    if let Some(directory) = runner::bench::directory_of(&definition.target) {
        offer_removal(&directory, args.common.yes)?;
    }
    let journal = match &archive {
        None => None,
        Some(_) => Some(journal_path(
            &archive_path(args.common.archive.as_ref())?,
            &definition,
        )),
    };
    let interrupt = Interrupt::install().context("signals cannot be caught")?;
    let request = StudyRequest {
        seed: args
            .common
            .seed
            .or(definition.seed)
            .unwrap_or_else(fresh_seed),
        definition,
        source: file.source,
        text: file.text,
        directory: file.directory,
        beginning: match (args.resume, args.restart) {
            (true, _) => Beginning::Resume,
            (_, true) => Beginning::Restart,
            _ => Beginning::New,
        },
        journal,
        reserve: args.reserve,
        arguments: typed_arguments(1),
    };
    let mut progress = Progress::new(args.common.quiet);
    let measured = run_study(&request, &interrupt, &mut |stage| {
        progress.show_study(stage);
    });
    progress.finish();
    let (mut run, journal) = measured?;
    let delivered = finish(&mut run, archive, args, name);
    match journal {
        // The replicates are in the archive now.
        Some(journal) if run.id.is_some() => journal.remove()?,
        Some(_) => output::complain(&kept(name)),
        None => {}
    }
    delivered
}

fn kept(name: &str) -> String {
    format!(
        "What was measured is kept: `seekstone study {name} --resume`, with the same options, goes \
         on."
    )
}

/// What the study measures and reads is not written over.
fn check_written(args: &StudyArgs, definition: &StudyDefinition) -> anyhow::Result<()> {
    let levels = definition.factors.iter().flat_map(|it| &it.levels);
    let mut used = vec![PathBuf::from(&definition.target)];
    used.extend(args.study.iter().map(PathBuf::from));
    for level in levels.clone() {
        used.extend(level.target.iter().map(PathBuf::from));
    }
    let tables = levels.map(|it| &it.set).chain([&definition.settings]);
    let texts = tables.flat_map(|table| table.values().filter_map(|value| value.as_str()));
    used.extend(texts.map(PathBuf::from));
    let files = Files::of(&args.common, []).and("--markdown", args.markdown.as_ref());
    check_files(&files.and_used(used))
}

/// Beside the archive, named by what the study means.
fn journal_path(archive: &Path, definition: &StudyDefinition) -> PathBuf {
    let mut name = archive.file_name().unwrap_or_default().to_owned();
    name.push(format!("{STUDY_JOURNAL}{}", digest(&definition.meaning())));
    archive.with_file_name(name)
}

fn finish(
    run: &mut Run,
    archive: Option<Archive>,
    args: &StudyArgs,
    name: &str,
) -> anyhow::Result<Exit> {
    let is_resumable = archive.is_some();
    let takes_stdout = is_stdout(args.markdown.as_ref());
    let delivered = if takes_stdout {
        deliver(run, archive, &args.common, |run| {
            report::markdown_note(run).unwrap_or_default()
        })
    } else {
        deliver(run, archive, &args.common, |run| {
            report::check_up(run, &output::style(false))
        })
    };
    if let (Some(path), false) = (&args.markdown, takes_stdout) {
        path.write(&report::markdown_note(run).unwrap_or_default())?;
    }
    if let (Status::Partial { .. }, true) = (&run.status, is_resumable) {
        output::complain(&kept(name));
    }
    delivered
}

fn list() -> anyhow::Result<Exit> {
    let width = SHIPPED.iter().map(|it| it.name.len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for it in SHIPPED {
        let file = shipped(it.name).ok_or_else(|| unknown(it.name))?;
        let title = read(&file, &StudyOverrides::default())?.title;
        lines.push(format!("{:width$}  {title}", it.name));
    }
    lines.push(
        "\nPrint one with `seekstone study show NAME`, run it with `seekstone study NAME`.".into(),
    );
    output::print(&lines.join("\n"))
}

fn check(name: &str) -> anyhow::Result<Exit> {
    let file = open(name)?;
    let study = read(&file, &StudyOverrides::default())?;
    let replicates = format_counted(study.rounds_min.into(), "replicate");
    let head = format!("{}: {} of {}", study.title, study.measurement, study.target);
    let mut lines = Vec::new();
    if study.factors.is_empty() {
        lines.push(format!("{head}, {replicates} at least"));
    } else {
        let cells = study.cells();
        let combinations = format_counted(cells.len() as u64, "combination");
        lines.push(format!(
            "{head}, {combinations}, {replicates} of each at least"
        ));
        let cells = cells.iter().map(|cell| study.describe(cell));
        lines.extend(cells.map(|cell| format!("  {cell}")));
    }
    let missing = missing(&study.needs);
    if !missing.is_empty() {
        lines.push(format!(
            "It cannot run here yet: it needs {}",
            missing.join(", and ")
        ));
    }
    output::print(&lines.join("\n"))
}

fn measurements(kind: Option<&str>) -> anyhow::Result<Exit> {
    let kinds = Measurement::kinds();
    let chosen: Vec<&Kind> = kinds
        .iter()
        .filter(|known| kind.is_none_or(|kind| kind == known.name))
        .collect();
    if chosen.is_empty() {
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
        let kind = kind.unwrap_or_default();
        let text = format!(
            "there is no measurement {kind:?}; there are {}",
            names.join(", ")
        );
        return Err(UsageError(text).into());
    }
    let texts: Vec<String> = chosen.into_iter().map(described).collect();
    output::print(texts.join("\n\n").trim_end())
}

fn described(kind: &Kind) -> String {
    let mut lines = vec![format!("{}: {}", kind.name, kind.about)];
    for setting in kind.settings {
        let default = match setting.default {
            SettingDefault::Required => " (required)".to_owned(),
            SettingDefault::Nothing => String::new(),
            SettingDefault::Is(value) => format!(" [default: {value}]"),
        };
        lines.push(format!("  {} = {}{default}", setting.name, setting.form));
        lines.push(format!("      {}", setting.meaning));
    }
    lines.push("  gives:".into());
    let readings = kind.readings.iter();
    lines.extend(readings.map(|(name, meaning)| format!("    {name}: {meaning}")));
    lines.join("\n")
}
