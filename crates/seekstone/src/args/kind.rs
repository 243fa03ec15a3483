//! Commands that are made of a kind of measurement: each of its settings is an option.

use std::any::TypeId;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, CommandFactory as _, FromArgMatches as _, ValueHint};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use kinds::measure::{
    Default, KINDS, Kind, Setting, TargetUse, ValueForm, WritePermission, kind_named,
};
use units::{Bytes, Duration, Rate, TargetName, capitalised};
use workload::Gap;

use super::groups::grouped;
use super::parse::within;
use super::parse::{LevelArg, parse_budget, parse_precision, parse_target};
use super::{Command, Common, FilePart, MeasureCommand, Seekstone};

/// A kind of measurement with its settings, and how often it is measured.
#[derive(Debug)]
pub struct KindArgs {
    /// The kind.
    pub kind: &'static Kind,
    /// What was given: each setting with its values. Several are levels that are compared.
    pub settings: Vec<(&'static Setting, Vec<String>)>,
    /// What may be done to a file or device.
    pub permission: WritePermission,
    /// How often, and what every measuring command takes.
    pub rules: KindRules,
}

/// Of kinds that write to files and devices.
#[derive(Args, Debug)]
struct PermissionArgs {
    /// Write to the target. DESTROYS its data.
    #[arg(long)]
    overwrite: bool,
    /// Confirm by device name that a device with known content may be wiped.
    #[arg(long, value_name = "DEVICE", requires = "overwrite")]
    confirm: Option<String>,
}

/// What every command of a kind takes.
#[derive(Args, Debug)]
pub struct KindRules {
    /// A directory, a device, or `sim:NAME`.
    #[arg(default_value = ".", value_parser = parse_target)]
    pub target: TargetName,
    /// Repeat each combination of settings N times.
    #[arg(long = "repeat", alias = "replicates", value_parser = within::<u32>(1..=10_000))]
    pub replicates: Option<u32>,
    /// Continue until every figure is this precise.
    #[arg(
        long, default_value = "5%", value_parser = parse_precision,
        conflicts_with = "replicates"
    )]
    pub precision: f64,
    /// Time limit for new rounds.
    #[arg(long, default_value = "2min", value_parser = parse_budget)]
    pub budget: Duration,
    /// Free space to leave [default: the larger of 5 % and 1 GiB, at most a quarter].
    #[arg(long)]
    pub reserve: Option<Bytes>,
    /// Resume the same command where it was interrupted.
    #[arg(long, conflicts_with_all = ["restart", "seed"])]
    pub resume: bool,
    /// Discard what an interrupted run measured, and start over.
    #[arg(long)]
    pub restart: bool,
    /// What every measuring command takes.
    #[command(flatten)]
    pub common: Common,
}

/// The command line, with the commands of kinds.
pub fn definition() -> clap::Command {
    let definition = Seekstone::command().subcommands(measured_kinds().map(command));
    grouped(with_numbers(definition))
}

/// What the values of options are called by their type, where the option does not say it. What is a
/// number may be typed with a sign: its own parser then says why that is wrong.
fn with_numbers(command: clap::Command) -> clap::Command {
    let numbers = [
        (TypeId::of::<Bytes>(), "BYTES"),
        (TypeId::of::<Duration>(), "TIME"),
        (TypeId::of::<Gap>(), "TIME[:LAW]"),
        (TypeId::of::<LevelArg>(), "TIME[@pN]"),
        (TypeId::of::<FilePart>(), "BYTES"),
        (TypeId::of::<Rate>(), "RATE"),
        (TypeId::of::<f64>(), "PERCENT"),
        (TypeId::of::<u16>(), "N"),
        (TypeId::of::<u32>(), "N"),
        (TypeId::of::<u64>(), "N"),
        (TypeId::of::<usize>(), "N"),
    ];
    let numbered = |arg: Arg| {
        let kind = arg.get_value_parser().type_id();
        let number = numbers.iter().find(|it| kind == it.0);
        // Switches of the programs of 1995 have a letter alone, and are read where they are used.
        let is_signed = match (arg.get_long(), arg.get_value_names()) {
            (Some(_), _) => number.is_some(),
            (None, Some([name])) => arg.get_short().is_some() && name != "FILE",
            (None, _) => false,
        };
        let own = arg.get_id().as_str().to_uppercase();
        let is_unnamed = arg.get_value_names().is_some_and(|names| names == [own]);
        let arg = match number.filter(|_| is_unnamed && !arg.is_positional()) {
            Some((_, name)) => arg.value_name(*name),
            None => arg,
        };
        match is_signed {
            true => arg.allow_hyphen_values(true),
            false => arg,
        }
    };
    command.mut_args(numbered).mut_subcommands(with_numbers)
}

/// What was typed, of matches of [`definition`].
///
/// # Errors
/// When a value is none of those that an option takes.
pub fn typed(matches: &ArgMatches) -> Result<Seekstone, clap::Error> {
    let kind = matches.subcommand();
    let kind = kind.and_then(|(name, matches)| parsed(name, matches));
    let Some(kind) = kind else {
        return Seekstone::from_arg_matches(matches);
    };
    let color = matches.get_one("color").copied();
    Ok(Seekstone {
        color: color.unwrap_or_default(),
        command: Command::Measure(MeasureCommand::Kind(Box::new(kind?))),
    })
}

/// The kinds that have a command of their own.
fn measured_kinds() -> impl Iterator<Item = &'static Kind> {
    KINDS.iter().filter(|kind| kind.is_command)
}

/// The command of a kind.
fn command(kind: &'static Kind) -> clap::Command {
    let options = kind.settings.iter().map(option);
    let command = clap::Command::new(kind.name).args(options);
    let command = match kind.targets.are_overwritten() {
        true => PermissionArgs::augment_args(command),
        false => command,
    };
    let in_brief = kind.about.split([':', ',']).next();
    KindRules::augment_args(command)
        .mut_arg("target", |arg| {
            let arg = arg.help(capitalised(&kind.targets.in_words()));
            match kind.targets.directory {
                TargetUse::Refused(_) => arg.default_value(None).required(true),
                _ => arg,
            }
        })
        .about(format!("Measure {}", in_brief.unwrap_or(kind.about)))
        .long_about(format!("Measure {}", kind.about))
        .after_help(readings(kind))
}

/// The arguments of a kind's command, if it is one.
fn parsed(name: &str, matches: &ArgMatches) -> Option<Result<KindArgs, clap::Error>> {
    let kind = kind_named(name).filter(|kind| kind.is_command)?;
    let values = |setting: &'static Setting| {
        let values = matches.get_many::<String>(setting.name)?.cloned();
        let values: Vec<String> = values.collect();
        let is_given = matches.value_source(setting.name) == Some(ValueSource::CommandLine);
        let is_default = matches!(setting.default, Default::Is(value) if values == [value]);
        (is_given || !is_default).then_some((setting, values))
    };
    let permission = match kind.targets.are_overwritten() {
        true => PermissionArgs::from_arg_matches(matches).map(|it| WritePermission {
            overwrite: it.overwrite,
            confirmed: it.confirm,
            ..WritePermission::default()
        }),
        false => Ok(WritePermission::default()),
    };
    let rules = KindRules::from_arg_matches(matches);
    Some(permission.and_then(|permission| {
        Ok(KindArgs {
            kind,
            settings: kind.settings.iter().filter_map(values).collect(),
            permission,
            rules: rules?,
        })
    }))
}

/// Whether a setting takes several values at once.
pub fn is_list(setting: &Setting) -> bool {
    matches!(setting.form, ValueForm::Paths)
}

fn option(setting: &'static Setting) -> Arg {
    let arg = Arg::new(setting.name)
        .long(setting.name)
        .value_name(setting.form.value_name())
        .help(capitalised(setting.meaning))
        .action(ArgAction::Append)
        .required(setting.default == Default::Required);
    let arg = match setting.form {
        ValueForm::Flag => arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true"),
        ValueForm::Words(words) => {
            let words = || words.iter().map(CompletionCandidate::new).collect();
            arg.value_delimiter(',').add(ArgValueCandidates::new(words))
        }
        ValueForm::Path(_) => arg.value_delimiter(',').value_hint(ValueHint::AnyPath),
        ValueForm::Paths => arg.value_hint(ValueHint::AnyPath),
        _ => arg.value_delimiter(','),
    };
    match setting.default {
        Default::Is(value) => arg.default_value(value),
        Default::Required | Default::Nothing => arg,
    }
}

/// What it gives, and how levels are compared.
fn readings(kind: &Kind) -> String {
    let mut lines = vec!["Gives:".to_owned()];
    let readings = || kind.readings.iter();
    let name_width = readings().map(|it| it.name.len()).max().unwrap_or(0);
    let unit_width = readings().map(|it| it.unit.name().len()).max().unwrap_or(0);
    lines.extend(readings().map(|it| {
        let (name, unit, meaning) = (it.name, it.unit.name(), it.meaning);
        format!("  {name:name_width$}  {unit:unit_width$}  {meaning}")
    }));
    let example = kind.settings.iter().find_map(|it| match it.default {
        Default::Is(value) if matches!(it.form, ValueForm::Size(..)) => Some((it.name, value)),
        _ => None,
    });
    if let Some((name, value)) = example {
        lines.push(format!(
            "\nSeveral values of an option are compared in interleaved rounds: --{name} \
             {value},1MiB"
        ));
    }
    lines.join("\n")
}
