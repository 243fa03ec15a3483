//! `command`: what a command of the user's takes, real, user and system.
//!
//! Processor time is what the kernel counted for the command and all processes that it waited for
//! (wait4(2)). The command runs in a process group of its own, so that it can be ended with all
//! that it started.

use std::fs;
use std::path::{Path, PathBuf};

use results::Reading;
use results::metric::{BYTES_READ, FROM_CACHE, FROM_STORAGE, READ_CALLS, REAL, SYSTEM, USER};
use units::{Duration, TargetName};

use super::Stop;
use super::form::{ANY_TIME, TextOrList, ValueForm};
use super::kind::{Kind, Measuring, flag, made, settings};
use super::place::{MeasureError, ReplicateContext, Result};
use super::settings::{SettingFault, Settings};
use super::targets::Targets;
use host::process::{
    DROP_CACHES, FinishedCommand, ProcessError, ProcessSpec, drop_all_caches, run_process, shown,
};
use sys::Reads;

/// The setting that says what is run.
pub const COMMAND: &str = "command";

pub const KIND: Kind = Kind {
    name: "command",
    about: "elapsed, user and system time of a command",
    settings: settings! {
        /// what is run: a text by `sh -c`, a list of a program and its arguments without a shell.
        /// It finds the variables of scripts, such as SEEKSTONE_PLACE
        command = ValueForm::TextOrList("TEXT or LIST").required(),
        /// run it once before, unmeasured, so that every run finds the same caches (the rule of the
        /// second run)
        warm = flag(false),
        /// drop the system's page cache before the run. Root only
        cold = flag(false),
        /// stop it and fail after this time
        time_limit = ANY_TIME.or("1h"),
        /// where the command runs (default: the target)
        directory = ValueForm::Path("PATH").optional(),
    },
    readings: &[
        REAL,
        USER,
        SYSTEM,
        READ_CALLS,
        BYTES_READ,
        FROM_STORAGE,
        FROM_CACHE,
    ],
    targets: Targets::directories(
        "runs a program in a directory",
        "runs a program, and none runs on a model",
    ),
    in_place: Some("directory"),
    is_command: false,
    make: |settings| made(CommandMeasurement::from_settings(settings)),
};

/// How variables of scripts begin.
const VARIABLE: &str = "$SEEKSTONE_";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandMeasurement {
    /// The program and its arguments.
    words: Vec<String>,
    caches: Caches,
    time_limit: Duration,
    directory: Option<PathBuf>,
}

/// What a run finds in the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caches {
    AsTheyAre,
    Warm,
    Cold,
}

/// No shell puts the value of a variable into a list; only a shell that the list names would.
fn without_variables(words: Vec<String>) -> Result<Vec<String>, SettingFault> {
    let names_shell = words.iter().any(|word| word == "-c");
    let variable = words.iter().find(|word| word.contains(VARIABLE));
    match variable {
        Some(word) if !names_shell => Err(SettingFault::at(
            COMMAND,
            format!(
                "{COMMAND} has {word:?} in a list, which runs without a shell. Write {{scratch}}, \
                 {{place}} or {{factor}} there, or the command as one text"
            ),
        )),
        _ => Ok(words),
    }
}

impl CommandMeasurement {
    fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let words = match settings.value(COMMAND) {
            TextOrList::List(words) => without_variables(words)?,
            TextOrList::Text(script) => vec!["/bin/sh".into(), "-c".into(), script],
        };
        let caches = match (settings.value("warm"), settings.value("cold")) {
            (true, true) => {
                let why = "warm and cold exclude each other: choose one";
                return Err(SettingFault::at("cold", why));
            }
            (true, false) => Caches::Warm,
            (false, true) => Caches::Cold,
            (false, false) => Caches::AsTheyAre,
        };
        Ok(Self {
            words,
            caches,
            time_limit: settings.value("time-limit"),
            directory: settings.optional("directory"),
        })
    }

    fn directory<'a>(&'a self, place: &'a ReplicateContext) -> Result<&'a Path> {
        let Some(directory) = &self.directory else {
            return place.directory(KIND.name);
        };
        match directory.metadata() {
            Ok(found) if found.is_dir() => Ok(directory),
            Ok(_) => Err(MeasureError::Usage(format!(
                "directory = {:?}: it is no directory",
                directory.display().to_string()
            ))),
            Err(error) => Err(MeasureError::io("look at", directory)(error)),
        }
    }

    /// Run it once, to its end.
    fn run(&self, place: &ReplicateContext, stop: &Stop) -> Result<FinishedCommand> {
        let spec = ProcessSpec {
            words: &self.words,
            variables: &place.variables,
            directory: self.directory(place)?,
            input: None,
            shows_output: false,
            time_limit: self.time_limit,
            keeper: None,
        };
        let ended = run_process(&spec, stop).map_err(|error| match error {
            ProcessError::Stopped { signal } => MeasureError::Interrupted {
                signal: signal.to_owned(),
            },
            ProcessError::TimeLimit { .. } => {
                MeasureError::Failed(format!("{error} (time-limit = ...)"))
            }
            error => MeasureError::Failed(error.to_string()),
        })?;
        if ended.reaped.status.success() {
            Ok(ended)
        } else {
            Err(MeasureError::Failed(format!(
                "{} failed: {}{}",
                shown(&self.words),
                ended.reaped.status,
                ended.printed
            )))
        }
    }
}

/// Who answered the reads.
fn of_reads(reads: Reads) -> [Reading; 4] {
    let (all, stored) = (reads.bytes.0 as f64, reads.from_storage.0 as f64);
    let cached = if all > 0.0 {
        (1.0 - stored / all).max(0.0)
    } else {
        0.0
    };
    [
        READ_CALLS.reading(reads.calls as f64),
        BYTES_READ.reading(all),
        FROM_STORAGE.reading(stored),
        FROM_CACHE.reading(cached),
    ]
}

impl Measuring for CommandMeasurement {
    fn target(&self, place: &ReplicateContext) -> TargetName {
        let named = self.directory.as_ref();
        named.map_or_else(
            || place.target.clone(),
            |it| it.display().to_string().into(),
        )
    }

    fn check(&self, place: &ReplicateContext) -> Result<()> {
        self.directory(place)?;
        if self.caches == Caches::Cold {
            let opened = fs::OpenOptions::new().write(true).open(DROP_CACHES);
            opened.map_err(MeasureError::io(
                "drop caches (cold = true is for root) with",
                Path::new(DROP_CACHES),
            ))?;
        }
        Ok(())
    }

    fn measure(&self, place: &ReplicateContext, stop: &Stop) -> Result<Vec<Reading>> {
        match self.caches {
            Caches::AsTheyAre => {}
            Caches::Warm => drop(self.run(place, stop)?),
            Caches::Cold => drop_all_caches()
                .map_err(MeasureError::io("drop caches with", Path::new(DROP_CACHES)))?,
        }
        let FinishedCommand {
            elapsed, reaped, ..
        } = self.run(place, stop)?;
        let mut readings = vec![
            REAL.reading(elapsed.as_secs_f64()),
            USER.reading(reaped.user.as_secs_f64()),
            SYSTEM.reading(reaped.system.as_secs_f64()),
        ];
        readings.extend(reaped.reads.into_iter().flat_map(of_reads));
        Ok(readings)
    }
}
