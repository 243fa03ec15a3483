//! `seekstone study`: how a measurement depends on factors, as a note.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use drivers::{ReadFileError, open_regular_file};
use kinds::measure::{
    Default as SettingDefault, KINDS, Kind, TargetUse, WritePermission, kind_named,
};
use lab::bench::directory_of;
use lab::hosts::Ranks;
use lab::simulated::{definition_text, keep_texts};
use procedure::study::{
    EnvironmentLine, FactorLevel, Limit, STUDY_BYTES_MAX, StudyDefinition, StudyOverrides, digest,
    read_study,
};
use results::{Run, Setup, Status};
use study::{Beginning, StudyRequest, mentions_scratch, missing, run_study, study_kinds};
use units::{Bytes, TargetName, format_counted};

use crate::args::{Common, StudyArgs, StudyCommand};
use crate::commands::advice::WholeBudget;
use crate::commands::drive::{Onlooking, Ready};
use crate::commands::finish::Delivery;
use crate::commands::measures::{Everything, command, commands, options};
use crate::commands::measuring::{CommandOutline, MeasuringCommand};
use crate::commands::setup::seeded;
use crate::exit::{Exit, UsageError};
use crate::output;
use crate::progress::Progress;
use crate::recorded::{is_flag, name as recorded_name};
use crate::studies::SHIPPED;
use crate::written::{CommandFiles, check as check_files};

/// Say what there is.
fn show(command: &StudyCommand) -> anyhow::Result<Exit> {
    match command {
        StudyCommand::List => list(),
        StudyCommand::Show { name } => {
            let file = shipped(name).ok_or_else(|| unknown(name))?;
            output::print(file.text.trim_end())
        }
        StudyCommand::Check { study } => check(study),
        StudyCommand::Measurements { kind } => measurements(kind.as_deref()),
    }
}

/// A study's text, and where it is from.
pub struct StudyFile {
    /// The file, or what it comes from.
    pub source: String,
    pub text: String,
    /// Where its scripts are.
    pub directory: PathBuf,
}

impl StudyFile {
    /// The text that a command makes of its arguments, or made of them when the run was begun.
    pub fn made(source: &str, text: impl FnOnce() -> String, setup: &mut Setup) -> Self {
        let recorded = setup.text_of(source).map(str::to_owned);
        let text = recorded.unwrap_or_else(text);
        setup.keep_text(source, &text);
        Self {
            source: source.into(),
            text,
            directory: std::env::current_dir().unwrap_or_default(),
        }
    }
}

/// What a comparison's study is called.
pub const COMPARISON: &str = "the comparison";
/// Follows the name of the archive in the name of a journal.
pub const STUDY_JOURNAL: &str = ".study-";

/// Stands for standard input.
pub const STANDARD_INPUT: &str = "-";

/// Of what several hosts measure together nothing is kept before the end.
pub const ONE_HOST_RESUMES: &str = "--resume goes on with what one host measured";
pub const ONE_HOST_RESTARTS: &str = "--restart goes on with what one host measured";

/// A file, standard input, or a study that comes with the program.
fn open(name: &str) -> anyhow::Result<StudyFile> {
    if name == STANDARD_INPUT {
        return Ok(StudyFile {
            source: "standard input".into(),
            text: limited(std::io::stdin().lock()).context("cannot read standard input")?,
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
    let cannot = || format!("cannot read the study {}", path.display());
    let opened = match open_regular_file(path) {
        Err(ReadFileError::NotRegular) => {
            refuse!(
                "{} is not a regular file. Name a study file, or - for standard input",
                path.display()
            );
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

/// A study as a run recorded it, whose scripts are where its file is; or opened and recorded.
fn recorded(name: &str, setup: &mut Setup) -> anyhow::Result<StudyFile> {
    let key = setup.value("study").unwrap_or(name).to_owned();
    let Some(text) = setup.text_of(&key) else {
        let file = open(name)?;
        setup.keep_text(&key, &file.text);
        return Ok(file);
    };
    let beside = Path::new(name).parent().filter(|it| it.is_dir());
    let here = || std::env::current_dir().unwrap_or_default();
    Ok(StudyFile {
        source: name.to_owned(),
        text: text.to_owned(),
        directory: beside.map_or_else(here, Path::to_owned),
    })
}

fn shipped(name: &str) -> Option<StudyFile> {
    let (name, text) = SHIPPED.iter().find(|(known, _)| *known == name)?;
    Some(StudyFile {
        source: (*name).to_owned(),
        text: (*text).to_owned(),
        directory: std::env::current_dir().unwrap_or_default(),
    })
}

fn unknown(name: &str) -> UsageError {
    let names = SHIPPED.map(|(name, _)| name);
    UsageError(format!(
        "there is no file or study {name:?}. The built-in studies are {}",
        names.join(", ")
    ))
}

fn read(file: &StudyFile, overrides: &StudyOverrides) -> Result<StudyDefinition, UsageError> {
    let read = read_study(
        &file.source,
        &file.text,
        overrides,
        &study_kinds(&Everything::default()),
    );
    read.map_err(|error| {
        // Of what a comparison is read from, nobody wrote a line.
        let line = format!("{COMPARISON}:");
        let text = error.to_string();
        let texts = text.lines().map(|it| match it.strip_prefix(&line) {
            Some(rest) => rest.split_once(": ").map_or(rest, |(_, message)| message),
            None => it,
        });
        UsageError(texts.collect::<Vec<_>>().join("\n"))
    })
}

impl MeasuringCommand for StudyArgs {
    fn outline(&self) -> CommandOutline<'_> {
        let from_input = "study -: a launcher gives standard input to one rank only. Name a file";
        let is_from_input = self.study.as_deref() == Some(STANDARD_INPUT);
        CommandOutline::of(&self.common, &self.target, self.sharing)
            .looks_later()
            .for_hosts(self.command.is_none())
            .refused_if(is_from_input.then(|| from_input.into()))
            .alone(self.resume, ONE_HOST_RESUMES)
            .alone(self.restart, ONE_HOST_RESTARTS)
    }

    fn instead(&self, _setup: &mut Setup) -> anyhow::Result<Option<Exit>> {
        self.command.as_ref().map(show).transpose()
    }

    fn study(&self, setup: &mut Setup) -> anyhow::Result<StudyInvocation<'_>> {
        asked(self, setup)
    }
}

/// The study that the arguments ask for.
fn asked<'a>(args: &'a StudyArgs, setup: &mut Setup) -> anyhow::Result<StudyInvocation<'a>> {
    let name = args.study.as_deref().unwrap_or_default();
    let file = recorded(name, setup)?;
    let only = args.only.iter().map(|(name, levels)| {
        let levels = levels.split(',').map(str::to_owned);
        (name.clone(), levels.collect())
    });
    Ok(StudyInvocation {
        file,
        overrides: StudyOverrides {
            set: args.set.clone(),
            only: only.collect(),
            replicates: args.replicates,
            precision: args.precision,
            budget: args.budget,
            // As the run records it: where it is, from wherever it was named.
            target: (args.target.as_ref()).map(|given| {
                let recorded = setup.value("target");
                recorded.map_or_else(|| given.clone(), TargetName::from)
            }),
        },
        whole: None,
        limits: &[],
        used: vec![PathBuf::from(name)],
        common: &args.common,
        beginning: beginning(args.resume, args.restart),
        reserve: args.reserve,
        permission: WritePermission::default(),
        again: format!("`seekstone study {name} --resume`, with the same options, continues it"),
    })
}

/// How a study begins that is to go on, or anew.
pub const fn beginning(resume: bool, restart: bool) -> Beginning {
    match (resume, restart) {
        (true, _) => Beginning::Resume,
        (_, true) => Beginning::Restart,
        _ => Beginning::New,
    }
}

/// A study, and how it is to be measured.
pub struct StudyInvocation<'a> {
    /// Its definition.
    pub file: StudyFile,
    /// What the command line says in place of it.
    pub overrides: StudyOverrides,
    /// The budget that a comparison gives all its repeats.
    pub whole: Option<WholeBudget>,
    /// Changes that must not be.
    pub limits: &'a [Limit],
    /// Files that are read.
    pub used: Vec<PathBuf>,
    /// What every measuring command takes.
    pub common: &'a Common,
    /// Whether it goes on where it was interrupted.
    pub beginning: Beginning,
    /// Room that stays free.
    pub reserve: Option<Bytes>,
    /// What may be done to a file or device.
    pub permission: WritePermission,
    /// How an interrupted one goes on, in words.
    pub again: String,
}

/// A study that was read, ready to be measured.
///
/// # Errors
/// When it cannot be read, or would be written over.
pub fn ready_study(asked: StudyInvocation<'_>, mut setup: Setup) -> anyhow::Result<Ready<'_>> {
    let common = asked.common;
    let definition = read(&asked.file, &asked.overrides)?;
    match &common.ranks {
        Some(ranks) => check_on_hosts(&definition, ranks, &asked)?,
        None => check_written(&asked, &definition)?,
    }
    keep_models(&definition, &mut setup)?;
    // Ranks agree on a seed in any case; that of the study comes before it.
    let own = definition.seed.filter(|_| !setup.is_given("seed"));
    let seed = seeded(own.or(common.seed), &mut setup);
    Ok(Ready {
        common,
        goals: common.goals.clone(),
        places: directory_of(&definition.target).into_iter().collect(),
        setup: setup.clone(),
        // It has a journal of its own.
        cells: None,
        measure: Box::new(move |looking| measure(asked, definition, (setup, seed), looking)),
    })
}

/// Measure it; its journal is removed once the archive has its run.
fn measure<'a>(
    asked: StudyInvocation<'a>,
    definition: StudyDefinition,
    (setup, seed): (Setup, u64),
    looking: &Onlooking<'_>,
) -> anyhow::Result<(Run, Delivery<'a>)> {
    let ranks = asked.common.ranks.clone();
    let measures = Everything {
        ranks: ranks.clone(),
        is_command: kind_named(&setup.command).is_some(),
        whole: asked.whole,
    };
    // Of what several hosts measure together nothing goes on.
    let archive = looking.archive.filter(|_| ranks.is_none());
    let journal = archive.map(|it| journal_path(it, &definition));
    let request = StudyRequest {
        measures: &measures,
        seed,
        definition,
        source: asked.file.source,
        directory: asked.file.directory,
        beginning: asked.beginning,
        journal,
        reserve: asked.reserve,
        permission: asked.permission,
        limits: asked.limits,
        setup,
        ranks,
    };
    let mut watcher = looking.watcher(Progress::new(looking.is_quiet));
    let measured = run_study(&request, looking.interrupt, &mut |stage| {
        watcher.show_study(stage);
    });
    watcher.finish();
    let (run, journal) = measured?;
    let is_resumable = archive.is_some();
    let again = asked.again;
    let after = move |run: &Run| {
        let kept = format!("The results so far are kept: {again}.");
        if let (Status::Partial { .. }, true) = (&run.status, is_resumable) {
            output::complain(&kept);
        }
        match journal {
            // The replicates are in the archive now.
            Some(journal) if run.id.is_some() => journal.remove()?,
            Some(_) => output::complain(&kept),
            None => {}
        }
        Ok(())
    };
    Ok((run, Delivery::report(looking.all).and_after(after)))
}

/// What several hosts cannot do together.
fn check_on_hosts(
    definition: &StudyDefinition,
    ranks: &Ranks,
    asked: &StudyInvocation<'_>,
) -> anyhow::Result<()> {
    if has_scripts(definition) {
        refuse!(
            "the study runs commands of its own (set-ups, tear-downs, {{scratch}}), and \
                    several ranks would each run them. Remove them, or start it without a launcher"
        );
    }
    // Rank 0 alone writes files.
    match ranks.leads() {
        true => check_written(asked, definition),
        false => Ok(()),
    }
}

/// Whether a study runs commands, or has a directory for them.
fn has_scripts(definition: &StudyDefinition) -> bool {
    let mut levels = definition.factors.iter().flat_map(|it| &it.levels);
    let scripts = [
        &definition.setup,
        &definition.teardown,
        &definition.before,
        &definition.after,
    ];
    let mut environment = definition.environment.iter();
    scripts.into_iter().any(Option::is_some)
        || environment.any(|it| matches!(it, EnvironmentLine::Command(_)))
        || levels.any(FactorLevel::has_scripts)
        || mentions_scratch(&definition.meaning())
}

/// What the study measures and reads is not written over.
fn check_written(asked: &StudyInvocation<'_>, definition: &StudyDefinition) -> anyhow::Result<()> {
    let levels = definition.factors.iter().flat_map(|it| &it.levels);
    let mut used = vec![PathBuf::from(&definition.target)];
    used.extend(asked.used.clone());
    for level in levels.clone() {
        used.extend(level.target.iter().map(PathBuf::from));
    }
    let tables = levels.map(|it| &it.set).chain([&definition.settings]);
    let texts = tables.flat_map(|table| table.values().filter_map(|value| value.as_str()));
    used.extend(texts.map(PathBuf::from));
    check_files(&CommandFiles::of(asked.common, []).and_used(used))
}

/// Keep the definitions of the study's models. Its measurements read them from their files, which
/// must hold the same when it is repeated.
fn keep_models(definition: &StudyDefinition, setup: &mut Setup) -> Result<(), UsageError> {
    for file in setup.files.iter().skip(1) {
        if definition_text(&file.name).ok().as_ref() != Some(&file.text) {
            refuse!(
                "{} has changed since the run, which keeps its own copy of the text",
                file.name
            );
        }
    }
    let levels = definition.factors.iter().flat_map(|it| &it.levels);
    let targets = levels.filter_map(|level| level.target.as_ref());
    for target in targets.chain([&definition.target]) {
        keep_texts(target, setup);
    }
    Ok(())
}

/// Beside the archive, named by what the study means.
fn journal_path(archive: &Path, definition: &StudyDefinition) -> PathBuf {
    let mut path = study_journals(archive).into_os_string();
    path.push(digest(&definition.meaning()));
    path.into()
}

/// What the names of the journals of an archive's studies begin with.
pub fn study_journals(archive: &Path) -> PathBuf {
    let mut path = archive.as_os_str().to_owned();
    path.push(STUDY_JOURNAL);
    path.into()
}

fn list() -> anyhow::Result<Exit> {
    let width = SHIPPED.map(|(name, _)| name.len()).into_iter().max();
    let width = width.unwrap_or(0);
    let mut lines = Vec::new();
    for (name, _) in SHIPPED {
        let file = shipped(name).ok_or_else(|| unknown(name))?;
        let title = read(&file, &StudyOverrides::default())?.title;
        lines.push(format!("{name:width$}  {title}"));
    }
    lines.push(
        "\nPrint one with `seekstone study show NAME`, run it with `seekstone study NAME`.".into(),
    );
    output::print(&lines.join("\n"))
}

fn check(name: &str) -> anyhow::Result<Exit> {
    let file = open(name)?;
    let study = read(&file, &StudyOverrides::default())?;
    let replicates = format_counted(study.rounds_min.into(), "repeat");
    let head = format!("{}: {} of {}", study.title, study.measurement, study.target);
    let mut lines = Vec::new();
    if study.factors.is_empty() {
        lines.push(format!("{head}, at least {replicates}"));
    } else {
        let cells = study.cells();
        let combinations = format_counted(cells.len() as u64, "combination");
        lines.push(format!(
            "{head}, {combinations}, at least {replicates} each"
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
    let kinds = KINDS;
    let is_chosen = |name: &str| kind.is_none_or(|kind| kind == name);
    let own = kinds.iter().filter(|known| is_chosen(known.name));
    let known = commands();
    let chosen = known.iter().filter(|name| is_chosen(name));
    let commands = chosen.filter_map(|name| command(name));
    let texts: Vec<String> = own
        .map(described)
        .chain(commands.map(described_command))
        .collect();
    if texts.is_empty() {
        let names = kinds.iter().map(|kind| kind.name);
        let names = names.chain(known.iter().map(String::as_str));
        let names: Vec<&str> = names.collect();
        let kind = kind.unwrap_or_default();
        refuse!("there is no measurement {kind:?}: use {}", names.join(", "));
    }
    output::print(texts.join("\n\n").trim_end())
}

/// A command as a measurement: its options are the settings.
fn described_command(definition: &clap::Command) -> String {
    let about = |text: Option<&clap::builder::StyledStr>| {
        let text = text.map(ToString::to_string).unwrap_or_default();
        text.trim_end_matches('.').to_owned()
    };
    let name = definition.get_name();
    let mut lines = vec![format!("{name}: {}", about(definition.get_about()))];
    for arg in options(definition) {
        let mut names = arg.get_value_names().unwrap_or_default().iter();
        let form = match is_flag(arg) {
            true => "true or false".to_owned(),
            false => names.next().map(ToString::to_string).unwrap_or_default(),
        };
        let defaults = arg.get_default_values().iter();
        let defaults: Vec<_> = defaults.map(|it| it.to_string_lossy()).collect();
        let default = match defaults.join(",") {
            none if none.is_empty() || is_flag(arg) => String::new(),
            values => format!(" [default: {values}]"),
        };
        lines.push(format!("  {} = {form}{default}", recorded_name(arg)));
        lines.push(format!("      {}", about(arg.get_help())));
    }
    lines.push(format!(
        "  gives the columns of its tables: `seekstone {name} ... --csv -` names them"
    ));
    lines.join("\n")
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
    if kind.targets.directory == TargetUse::OwnFiles {
        lines.push(format!("  measures {}", kind.targets.in_words()));
    }
    lines.push("  gives:".into());
    let readings = kind.readings.iter();
    lines
        .extend(readings.map(|it| format!("    {} ({}): {}", it.name, it.unit.name(), it.meaning)));
    lines.join("\n")
}
