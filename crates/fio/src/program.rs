//! Options of fio itself, on its command line but not in job files.

use ProgramAnswer::{NoEffect, Ours, Refused};
use Takes::{Nothing, Perhaps, Value};

/// Whether an option has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// It has none.
    Nothing,
    /// Only one after an equals sign.
    Perhaps,
    /// Required: after an equals sign, or as the next word.
    Value,
}

/// How an option is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramAnswer {
    /// `seekstone fio` has an option with this name.
    Ours,
    /// Accepted without effect, for this reason.
    NoEffect(&'static str),
    /// Refused, for this reason.
    Refused(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramOption {
    /// Its name, without dashes.
    pub name: &'static str,
    /// Its value.
    pub takes: Takes,
    /// How it is handled.
    pub answer: ProgramAnswer,
}

const fn row(name: &'static str, takes: Takes, answer: ProgramAnswer) -> ProgramOption {
    ProgramOption {
        name,
        takes,
        answer,
    }
}

/// Placeholders for hosts and job files that nobody has named.
pub(crate) const ANY_HOSTS: &str = "HOST1,HOST2";
const NO_SERVER: &str = "start no server, and type `mpirun --host HOST1,HOST2 seekstone fio \
     JOBFILE`, which runs the jobs on each host";
const NO_TRIGGER: &str = "an outside program stops a run with SIGINT";
const NO_CHECK: &str = "it tests fio, not storage";
const HELP: &str = "docs/reference/fio-options.md has the answer to every option";

/// By name.
pub const PROGRAM_OPTIONS: [ProgramOption; 36] = [
    row(
        "alloc-size",
        Value,
        NoEffect("memory is taken as jobs need it"),
    ),
    row("append-terse", Nothing, Ours),
    row(
        "aux-path",
        Value,
        NoEffect("it is where fio keeps states of verification, and none is kept here"),
    ),
    row("bandwidth-log", Nothing, Ours),
    row("client", Value, Refused(NO_SERVER)),
    row("cmdhelp", Perhaps, Refused(HELP)),
    row("cpuclock-test", Nothing, Refused(NO_CHECK)),
    row("crctest", Perhaps, Refused(NO_CHECK)),
    row("daemonize", Value, Refused(NO_SERVER)),
    row(
        "debug",
        Value,
        Refused("there is no log of fio's own steps"),
    ),
    row("enghelp", Perhaps, Refused(HELP)),
    row("eta", Value, Ours),
    row(
        "eta-interval",
        Value,
        NoEffect("progress is renewed several times a second"),
    ),
    row("eta-newline", Value, Ours),
    row("idle-prof", Value, Ours),
    row("inflate-log", Value, Refused("logs are not compressed")),
    row(
        "latency-log",
        Nothing,
        Refused("write_lat_log=NAME writes the log of a job"),
    ),
    row(
        "max-jobs",
        Value,
        NoEffect("memory is taken as jobs need it"),
    ),
    row(
        "merge-blktrace-only",
        Nothing,
        Refused("seekstone replay runs traces"),
    ),
    row("minimal", Nothing, Ours),
    row("output", Value, Ours),
    row("output-format", Value, Ours),
    row("parse-only", Nothing, Ours),
    row("readonly", Nothing, Ours),
    row("remote-config", Value, Refused(NO_SERVER)),
    row("section", Value, Ours),
    row("server", Perhaps, Refused(NO_SERVER)),
    row("showcmd", Nothing, Ours),
    row("status-interval", Value, Ours),
    row("terse-version", Value, Ours),
    row("trigger", Value, Refused(NO_TRIGGER)),
    row("trigger-file", Value, Refused(NO_TRIGGER)),
    row("trigger-remote", Value, Refused(NO_TRIGGER)),
    row("trigger-timeout", Value, Refused(NO_TRIGGER)),
    row("version", Nothing, Ours),
    row(
        "warnings-fatal",
        Nothing,
        NoEffect("what is not understood is an error anyway"),
    ),
];

/// The option with that name.
pub fn find_program_option(name: &str) -> Option<&'static ProgramOption> {
    PROGRAM_OPTIONS.iter().find(|option| option.name == name)
}

impl ProgramOption {
    /// Why it is refused; `None` if it has no effect.
    pub(crate) fn refusal(&self) -> Option<String> {
        let name = self.name;
        match self.answer {
            NoEffect(_) => None,
            Refused(why) => Some(format!("--{name} is refused: {why}")),
            Ours => Some(format!(
                "--{name} belongs before the words that define jobs"
            )),
        }
    }
}
