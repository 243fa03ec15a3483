//! Traps: storage whose truth is known and whose behaviour misleads. What is printed of it holds
//! the truth, or a warning of the right kind on the default screen names what happens. What is
//! neither is a wrong number in silence, and fails.
//!
//! A new trap is one entry of `models.rs`, or of `truth/traps.rs` if it needs real time.

pub mod models;

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::tables::{estimate, row};
use super::{Scratch, finish};

/// What a trap is compared with.
const STEADY: &str = "sim:mm1?mean=1ms";

/// A command that a trap is put before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrapCommand {
    /// A minute of one load: the mean latency.
    Trial,
    /// A check-up: the mean latency of random reads at a queue depth of 1.
    Run,
    /// The highest load.
    Curve,
    /// The same in the load curve of a check-up.
    RunCurve,
    /// The ratio of its mean latency to that of a steady server of 1 ms.
    Compare,
}

impl TrapCommand {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trial => "trial",
            Self::Run => "run",
            Self::Curve => "curve",
            Self::RunCurve => "run, its curve",
            Self::Compare => "compare",
        }
    }

    fn arguments(self, trap: &Trap) -> Vec<&str> {
        let load = trap.load.iter().copied();
        match self {
            Self::Trial => ["trial", trap.target, "--duration", "60s"]
                .into_iter()
                .chain(load)
                .collect(),
            Self::Run | Self::RunCurve => vec!["run", trap.target],
            Self::Curve => vec!["curve", trap.target, "--budget", "10min"],
            Self::Compare => {
                let more = ["--set", "duration=20s", "--repeat", "5"];
                ["compare", STEADY, trap.target]
                    .into_iter()
                    .chain(more)
                    .collect()
            }
        }
    }

    /// What the command's number should be: ms, operations per second, or a ratio.
    fn truth(self, trap: &Trap) -> Option<f64> {
        match self {
            Self::Trial => trap.load_mean_ms,
            Self::Run | Self::Compare => trap.mean_ms,
            Self::Curve | Self::RunCurve => trap.mean_ms.map(|mean| 1e3 / mean),
        }
    }

    const fn unit(self) -> &'static str {
        match self {
            Self::Trial | Self::Run => " ms",
            Self::Curve | Self::RunCurve => "/s",
            Self::Compare => " times",
        }
    }

    /// Value and interval of the number, in the unit of the truth; `None` where there is none.
    fn printed(self, run: &Value) -> Option<Printed> {
        match self {
            Self::Trial => {
                Printed::of(&run["measurements"][0]["response"]["mean"]).map(|it| it.scaled(1e-6))
            }
            Self::Run => {
                let rows = run["measurements"].as_array()?;
                let title = |it: &&Value| it["title"] == "random read 4 KiB, QD1";
                let found = rows.iter().find(title)?;
                Printed::of(&found["response"]["mean"]).map(|it| it.scaled(1e-6))
            }
            Self::Curve | Self::RunCurve => Printed::of(&run["curves"][0]["saturation"]["load"]),
            Self::Compare => Printed::of(estimate(row(run, "comparisons", &["latency"]), "ratio")?),
        }
    }
}

/// What every command meets in a minute.
pub const ALL: &[TrapCommand] = &[TrapCommand::Trial, TrapCommand::Run, TrapCommand::Curve];

/// A storage, and what is true of it.
pub struct Trap {
    pub name: &'static str,
    pub target: &'static str,
    /// What `trial` asks for, where that is not one client which never thinks.
    pub load: &'static [&'static str],
    /// Mean latency of one client in the long run, ms; of storage that changes for good what it
    /// comes to. `None` where no formula gives it: the trap must be named.
    pub mean_ms: Option<f64>,
    /// The same of `load`.
    pub load_mean_ms: Option<f64>,
    /// Codes of warnings that tell what happens.
    pub names: &'static [&'static str],
    /// Where it makes sense.
    pub commands: &'static [TrapCommand],
}

impl Trap {
    pub const fn new(name: &'static str, target: &'static str, mean_ms: Option<f64>) -> Self {
        Self {
            name,
            target,
            load: &[],
            mean_ms,
            load_mean_ms: mean_ms,
            names: &[],
            commands: ALL,
        }
    }

    pub const fn under(mut self, load: &'static [&'static str], mean_ms: Option<f64>) -> Self {
        self.load = load;
        self.load_mean_ms = mean_ms;
        self
    }

    pub const fn named(mut self, names: &'static [&'static str]) -> Self {
        self.names = names;
        self
    }

    pub const fn only(mut self, commands: &'static [TrapCommand]) -> Self {
        self.commands = commands;
        self
    }

    /// What `command` prints of this trap with that seed.
    pub fn sprung(&self, command: TrapCommand, seed: u64) -> Sprung {
        let scratch = Scratch::new();
        let file = scratch.path("run.json");
        let file = file.to_string_lossy();
        let seed = seed.to_string();
        let more = ["--no-save", "--quiet", "--seed", &seed, "--json", &*file];
        let args = [&command.arguments(self)[..], &more].concat();
        let ended = finish(scratch.seekstone(&args));
        // What goes wrong on purpose may make a number invalid, or targets indistinguishable.
        assert!(
            matches!(ended.code, Some(0 | 3 | 5)),
            "{args:?}: {}",
            ended.stderr
        );
        let json = fs::read_to_string(&*file).expect("the run");
        let run: Value = serde_json::from_str(&json).expect("JSON");
        let printed = command.printed(&run);
        Sprung::judged(
            command,
            command.truth(self),
            printed,
            (&run, &ended.stdout),
            self.names,
        )
    }
}

/// An estimate with its interval.
#[derive(Clone, Copy, Debug)]
pub struct Printed {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Printed {
    pub fn of(estimate: &Value) -> Option<Self> {
        let number = |name: &str| estimate[name].as_f64();
        Some(Self {
            value: number("value")?,
            low: number("low").unwrap_or(0.0),
            high: number("high").unwrap_or(f64::INFINITY),
        })
    }

    pub fn scaled(self, by: f64) -> Self {
        Self {
            value: self.value * by,
            low: self.low * by,
            high: self.high * by,
        }
    }

    fn holds(self, truth: f64) -> bool {
        self.low <= truth && truth <= self.high
    }
}

/// What came of a trap.
#[derive(Clone, Debug)]
pub struct Sprung {
    pub command: TrapCommand,
    pub truth: Option<f64>,
    pub printed: Option<Printed>,
    /// Which of the right warnings there are, and whether the default screen has them.
    pub named: Vec<(String, bool)>,
}

impl Sprung {
    pub fn judged(
        command: TrapCommand,
        truth: Option<f64>,
        printed: Option<Printed>,
        (run, screen): (&Value, &str),
        names: &[&str],
    ) -> Self {
        let screen = joined(screen);
        let warnings = warnings(run);
        let said: BTreeSet<&str> = warnings.iter().map(|(code, _)| *code).collect();
        let named = said.into_iter().filter(|code| names.contains(code));
        let is_shown = |code: &str| {
            let mut texts = warnings.iter().filter(|(it, _)| *it == code);
            texts.any(|(_, text)| screen.contains(&beginning(&joined(text))))
        };
        Self {
            command,
            truth,
            printed,
            named: named
                .map(|code| (code.to_owned(), is_shown(code)))
                .collect(),
        }
    }

    pub fn holds_truth(&self) -> bool {
        let both = self.printed.zip(self.truth);
        both.is_some_and(|(printed, truth)| printed.holds(truth))
    }

    /// What is printed, over the truth.
    pub fn ratio(&self) -> Option<f64> {
        let both = self.printed.zip(self.truth);
        both.map(|(printed, truth)| printed.value / truth)
    }

    /// Whether the default screen has a warning of the right kind.
    pub fn is_named(&self) -> bool {
        self.named.iter().any(|(_, is_shown)| *is_shown)
    }

    /// A wrong number and nothing that says so.
    pub fn is_silent(&self) -> bool {
        !self.holds_truth() && !self.is_named()
    }

    /// Its line of the table, without the name.
    pub fn line(&self) -> String {
        let unit = self.command.unit();
        let truth = self.truth.map_or_else(|| "-".into(), |it| three(it) + unit);
        let printed = self.printed.map_or_else(
            || "-".into(),
            |it| {
                let end = |end: f64| match end.is_finite() {
                    true => three(end),
                    false => "..".into(),
                };
                format!("{} ({} .. {})", three(it.value), end(it.low), end(it.high))
            },
        );
        let holds = match (self.truth, self.holds_truth()) {
            (None, _) => "-",
            (_, true) => "yes",
            (_, false) => "no",
        };
        let codes = |shown: bool| {
            let codes = self.named.iter().filter(|(_, it)| *it == shown);
            let codes: Vec<String> = codes.map(|(code, _)| format!("`{code}`")).collect();
            codes.join(", ")
        };
        format!(
            "{} | {truth} | {printed} | {holds} | {} | {}",
            self.command.name(),
            codes(true),
            codes(false)
        )
    }
}

/// Codes and texts of all warnings of a run.
fn warnings(run: &Value) -> Vec<(&str, &str)> {
    let each = |key: &str| run[key].as_array().into_iter().flatten();
    let parts = each("measurements").chain(each("curves")).chain([run]);
    let of_parts = parts.flat_map(|it| it["warnings"].as_array().into_iter().flatten());
    let all = of_parts.chain(each("row_warnings"));
    all.filter_map(|it| it["code"].as_str().zip(it["text"].as_str()))
        .collect()
}

/// Lines may break anywhere.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Enough of a text to know it; the end may name other rows of which the same is true.
fn beginning(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Three significant digits.
fn three(number: f64) -> String {
    let digits = match number.abs() {
        0.0 => 0,
        size => (2 - size.log10().floor() as i32).clamp(0, 6) as usize,
    };
    format!("{number:.digits$}")
}
