//! Commands as measurements of a study: every option is a setting, every column a reading. On
//! several hosts each of them is one run of all.

use std::sync::LazyLock;

use kinds::measure::{KINDS, MeasureError, Measured, ReplicateContext, Stop, kind_named};
use lab::bench::{BenchError, inspected};
use lab::hosts::Ranks;
use lab::simulated::describe_model;
use procedure::study::{KindOutline, SettingMistake};
use results::{Run, RunSetting, SettingOrigin, Setup, Severity, Status, Warning};
use study::{Measures, OwnMeasurements};
use units::{TargetName, did_you_mean, nearest};

use crate::args::{self, Command, MeasureCommand};
use crate::commands::advice::{WholeBudget, with_settings};
use crate::commands::drive::{Onlooking, Ready};
use crate::commands::{fleet, trial};
use crate::exit::Exit;
use crate::recorded::{PERMISSIONS, again, is_called, is_flag, is_of_invocation, name, setup};

/// Commands that are studies themselves.
const STUDIES: [&str; 2] = ["compare", "study"];

/// Commands whose options are another program's; `files` measures the same.
const OF_OTHERS: [&str; 3] = ["ior", "mdtest", "io500"];

/// The command that runs commands of the user's.
const TIMED: &str = "time";

/// What a command says that was stopped.
const STOPPED: &str = "stopped by";

/// What each replicate has of its own.
const OF_REPLICATE: [&str; 8] = [
    "target",
    "directory",
    "others",
    "workload_file",
    "seed",
    "reserve",
    "goals",
    "profiles",
];
/// What a command shows, in place of measuring or beside it.
const SHOWN: [&str; 13] = [
    "check",
    "showcmd",
    "output",
    "output_format",
    "append_terse",
    "bandwidth_log",
    "terse_version",
    "version",
    "minimal",
    "status_interval",
    "eta",
    "eta_newline",
    "show_output",
];
/// The command line, made once: that takes milliseconds, and every replicate asks for it.
static DEFINITION: LazyLock<clap::Command> = LazyLock::new(args::definition);
/// Stands for the target where only settings are looked at.
const ANY_TARGET: &str = ".";

/// All that a study can measure.
#[derive(Default)]
pub struct Everything {
    /// The hosts that measure together, where there are several.
    pub ranks: Option<Ranks>,
    /// Whether the measurement is the command itself, whose settings are its options.
    pub is_command: bool,
    /// The budget of all repeats, where they follow each other in one.
    pub whole: Option<WholeBudget>,
}

impl Measures for Everything {
    fn outline(&self, kind: &str) -> Option<KindOutline> {
        let Some(definition) = command(kind) else {
            return OwnMeasurements.outline(kind);
        };
        Some(KindOutline {
            settings: settings(definition),
            readings: None,
            command: None,
        })
    }

    fn check(&self, kind: &str, given: &toml::Table) -> Result<(), SettingMistake> {
        let Some(definition) = command(kind) else {
            return OwnMeasurements
                .check(kind, given)
                .map_err(|it| with_commands(kind, it));
        };
        let known = settings(definition);
        for key in given.keys() {
            if !known.contains(key) {
                let message = unknown(kind, key, &known);
                return Err(SettingMistake {
                    key: Some(key.clone()),
                    message,
                });
            }
        }
        let parsed = parsed(kind, given, &ReplicateContext::new(ANY_TARGET, 0));
        parsed.map(drop).map_err(|message| {
            let mut keys = given.keys();
            let is_meant = |key: &&String| {
                let mut known = options(definition);
                let arg = known.find(|arg| is_called(arg, key));
                arg.is_some_and(|arg| names_option(&message, name(arg)))
            };
            let key = keys.find(is_meant).cloned();
            // With its key, it is told of what was written.
            let message = match key {
                Some(_) => message,
                None => with_settings(kind, &message, None),
            };
            SettingMistake { key, message }
        })
    }

    fn check_at(
        &self,
        kind: &str,
        given: &toml::Table,
        place: &ReplicateContext,
    ) -> Result<(), MeasureError> {
        if command(kind).is_none() {
            self.refuse_hosts(kind, &place.target)?;
            return OwnMeasurements.check_at(kind, given, place);
        }
        let (mut command, setup) = parsed(kind, given, place).map_err(MeasureError::Usage)?;
        if let Some(ranks) = &self.ranks {
            let checked = fleet::check_replicate(&mut command, &place.target, ranks);
            checked.map_err(|it| MeasureError::Usage(it.0))?;
        }
        match place.target.model() {
            Some(name) => describe_model(name).map(drop).map_err(BenchError::from)?,
            None => inspected(&place.target).map(drop)?,
        }
        command.ready(setup).map(drop).map_err(|it| in_words(&it))
    }

    /// A command that is stopped at once has opened its target. What `time` measures is the user's,
    /// and on several hosts all would have to try at once.
    fn try_at(
        &self,
        kind: &str,
        given: &toml::Table,
        place: &ReplicateContext,
    ) -> Result<(), MeasureError> {
        if command(kind).is_none() || kind == TIMED || self.ranks.is_some() {
            return Ok(());
        }
        let (command, setup) = parsed(kind, given, place).map_err(MeasureError::Usage)?;
        let stop = Stop::never();
        stop.raise();
        match measured(command.ready(setup), &stop) {
            Err(MeasureError::Failed(why)) if why.contains(STOPPED) => Ok(()),
            tried => tried.map(drop),
        }
    }

    fn measure(
        &self,
        kind: &str,
        given: &toml::Table,
        place: &ReplicateContext,
        stop: &Stop,
    ) -> Result<Measured, MeasureError> {
        let own = if command(kind).is_none() {
            OwnMeasurements.measure(kind, given, place, stop)
        } else {
            let (mut command, setup) = parsed(kind, given, place).map_err(MeasureError::Usage)?;
            match &self.ranks {
                None => measured(command.ready(setup), stop),
                Some(ranks) => {
                    command.common_mut().ranks = Some(ranks.clone());
                    measured(fleet::agreed(ranks, command.ready(setup)), stop)
                }
            }
        };
        match &self.ranks {
            None => own,
            Some(ranks) => measured_by_all(ranks, own),
        }
    }

    fn with_settings(&self, kind: &str, text: &str) -> String {
        match self.is_command {
            true => text.to_owned(),
            false => with_settings(kind, text, self.whole),
        }
    }

    fn paths(&self, kind: &str, given: &toml::Table, target: &TargetName) -> Vec<TargetName> {
        match command(kind) {
            Some(_) => vec![target.clone()],
            None => OwnMeasurements.paths(kind, given, target),
        }
    }
}

impl Everything {
    /// Most measurements that are no commands know nothing of other hosts.
    fn refuse_hosts(&self, kind: &str, target: &TargetName) -> Result<(), MeasureError> {
        if self.ranks.is_none() {
            return Ok(());
        }
        if kind_named(kind).is_some_and(|it| it.targets.on_hosts) {
            return fleet::refuse_model(target).map_err(|it| MeasureError::Usage(it.0));
        }
        let kinds = KINDS.iter().filter(|it| it.targets.on_hosts);
        let kinds = kinds.map(|it| it.name.to_owned());
        let able: Vec<String> = commands().iter().cloned().chain(kinds).collect();
        Err(MeasureError::Usage(format!(
            "{kind} measures on one host: on several use {}",
            able.join(", ")
        )))
    }
}

/// Commands that measure one target, but for those whose name is that of a measurement of studies.
pub fn commands() -> &'static [String] {
    static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
        let mut names = MeasureCommand::names();
        let is_no_kind = |it: &str| STUDIES.contains(&it) || OF_OTHERS.contains(&it);
        names.retain(|it| !is_no_kind(it) && kind_named(it).is_none());
        names
    });
    &NAMES
}

/// What a command measures that is ready.
fn measured(ready: anyhow::Result<Ready<'_>>, stop: &Stop) -> Result<Measured, MeasureError> {
    let ready = ready.map_err(|it| in_words(&it))?;
    let looking = Onlooking {
        interrupt: stop,
        is_quiet: true,
        all: false,
        live: None,
        archive: None,
    };
    let (run, _) = (ready.measure)(&looking).map_err(|it| in_words(&it))?;
    match &run.status {
        Status::Complete => Ok(Measured {
            readings: run.readings(),
            warnings: warnings(&run),
        }),
        Status::Partial { reason } => Err(MeasureError::Failed(reason.clone())),
    }
}

/// What all hosts measured as one, whose figures rank 0 tells the others.
fn measured_by_all(
    ranks: &Ranks,
    own: Result<Measured, MeasureError>,
) -> Result<Measured, MeasureError> {
    if !ranks.leads() && ranks.is_broken() {
        return own;
    }
    let sent = own.as_ref().ok();
    let sent = sent.map(|it| serde_json::to_string(&(&it.readings, &it.warnings)));
    let sent = sent.transpose().map_err(|it| in_words(&it.into()))?;
    let Some(sent) = ranks.meet_again(&sent)? else {
        return own;
    };
    // not fuzzed: readings of a rank that runs this program
    let read = serde_json::from_str(&sent).map_err(|it| in_words(&it.into()));
    read.map(|(readings, warnings)| Measured { readings, warnings })
}

/// Whether a study can measure that.
pub fn is_known(kind: &str) -> bool {
    Everything::default().outline(kind).is_some()
}

/// The command of that name, if it is a measurement of a study.
pub fn command(kind: &str) -> Option<&'static clap::Command> {
    let is_measured = commands().iter().any(|it| it == kind);
    DEFINITION.find_subcommand(kind).filter(|_| is_measured)
}

/// The command line with that command alone.
fn line_of(command: &clap::Command) -> clap::Command {
    clap::Command::new("seekstone")
        .args(DEFINITION.get_arguments())
        .subcommand(command)
}

/// What a measurement with these settings does to each target, in words: `random read 4 KiB, 1
/// client`; of others than trials their name and what is set.
pub fn workload(kind: &str, set: &[(String, String)]) -> String {
    let given = set
        .iter()
        .map(|(key, value)| (key.clone(), value.as_str().into()));
    let given: toml::Table = given.collect();
    let place = ReplicateContext::new(ANY_TARGET, 0);
    match command(kind).and_then(|_| parsed(kind, &given, &place).ok()) {
        Some((MeasureCommand::Trial(it), _)) if it.workload_file.is_none() => {
            let rate = it.rate.map(|rate| rate.per_second());
            let buffered = if it.workload.buffered {
                ", buffered"
            } else {
                ""
            };
            trial::title(&it.workload, Some((it.clients(), rate))) + buffered
        }
        _ => {
            let set = set.iter().map(|(key, value)| format!(", {key} {value}"));
            format!("{kind}{}", set.collect::<String>())
        }
    }
}

/// The options of a command that a study sets.
pub fn options(definition: &clap::Command) -> impl Iterator<Item = &clap::Arg> {
    definition.get_arguments().filter(|arg| {
        let id = arg.get_id().as_str();
        let excluded = PERMISSIONS.iter().chain(&OF_REPLICATE).chain(&SHOWN);
        !is_of_invocation(arg) && !excluded.into_iter().any(|it| *it == id)
    })
}

fn settings(definition: &clap::Command) -> Vec<String> {
    let names = options(definition).flat_map(|arg| {
        let earlier = arg.get_all_aliases().unwrap_or_default();
        [name(arg)].into_iter().chain(earlier)
    });
    names.map(str::to_owned).collect()
}

fn unknown(kind: &str, key: &str, known: &[String]) -> String {
    if PERMISSIONS.contains(&key) {
        return format!(
            "a study never overwrites anything that was there before: {kind} has no setting {key}"
        );
    }
    let meant = did_you_mean(nearest(key, known.iter().map(String::as_str)));
    format!(
        "{kind} has no setting {key:?}{meant}. It has {}",
        known.join(", ")
    )
}

fn with_commands(kind: &str, mistake: SettingMistake) -> SettingMistake {
    if OwnMeasurements.outline(kind).is_some() {
        return mistake;
    }
    let message = format!("{}, {}", mistake.message, commands().join(", "));
    SettingMistake { message, ..mistake }
}

/// Whether the message of the parser is about that option.
fn names_option(message: &str, key: &str) -> bool {
    let option = format!("--{key}");
    let mut words = message.split([' ', '\'', '=', ',', ':']);
    words.any(|word| word == option)
}

/// The command with these settings at that place.
fn parsed(
    kind: &str,
    given: &toml::Table,
    place: &ReplicateContext,
) -> Result<(MeasureCommand, Setup), String> {
    let definition = command(kind).ok_or_else(|| format!("{kind} is not a command"))?;
    let mut asked = Setup::new(kind, place.seed);
    let mut set = |name: &str, values: Vec<String>| {
        asked.settings.push(RunSetting {
            name: name.to_owned(),
            values,
            origin: SettingOrigin::Given,
        });
    };
    for (key, value) in given {
        let arg = options(definition).find(|arg| is_called(arg, key));
        let values = texts(value);
        match arg.is_some_and(is_flag) {
            true if values == ["false"] => {}
            true if values != ["true"] => return Err(format!("--{key}: it is true or false")),
            _ => set(key, values),
        }
    }
    let has = |wanted: &str| definition.get_arguments().any(|arg| name(arg) == wanted);
    let mut places = ["target", "directory"].into_iter().filter(|it| has(it));
    if let Some(option) = places.next() {
        set(option, vec![place.target.to_string()]);
    }
    set("seed", vec![place.seed.to_string()]);
    if let Some(reserve) = place.reserve.filter(|_| has("reserve")) {
        set("reserve", vec![reserve.to_exact_string()]);
    }
    let alone = [("no-save", None), ("quiet", None)];
    let (definition, matches) =
        again(line_of(definition), &asked, &alone).map_err(|error| error.0)?;
    let command = args::typed(&matches).map_err(|error| error.to_string())?;
    let Command::Measure(mut command) = command.command else {
        return Err(format!("{kind} does not measure"));
    };
    if let MeasureCommand::Fio(args) = &mut command {
        args.place = Some(place.target.clone());
    }
    Ok((command, setup(&definition, &matches)))
}

/// The values as they would be typed.
fn texts(value: &toml::Value) -> Vec<String> {
    match value {
        toml::Value::String(text) => vec![text.clone()],
        toml::Value::Array(items) => items.iter().flat_map(texts).collect(),
        other => vec![other.to_string()],
    }
}

fn in_words(error: &anyhow::Error) -> MeasureError {
    let text = format!("{error:#}");
    match Exit::of_error(error) {
        Exit::Usage => MeasureError::Usage(text),
        Exit::Done => BenchError::Served.into(),
        _ => MeasureError::Failed(text),
    }
}

/// What must be known of a replicate's figures; what is only worth knowing of one is not kept.
fn warnings(run: &Run) -> Vec<Warning> {
    let all = run.scoped_warnings();
    let found = all.into_iter().map(|(_, warning)| warning.clone());
    found.filter(|it| it.severity > Severity::Info).collect()
}
