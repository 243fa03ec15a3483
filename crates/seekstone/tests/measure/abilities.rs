//! What each kind of measurement can do: every cell of the table is run here, on a model or a small
//! file, or says why it is empty; docs/abilities.md is this table.
//!
//! `make simulations` writes it anew.

mod commands;

use std::collections::BTreeSet;
use std::fs;
use std::io::{Write as _, stderr};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use kinds::measure::{KINDS, Kind, TargetUse};
use results::Unit;
use rustix::process::Signal;

use self::commands::{COMMANDS, Cell, Commanded, Empty, Refused, Runs};
use super::budgets::{elapsed, measured, most};
use super::kinds_on_targets::{OF_SERVERS, settings};
use crate::support::pressure::Pressure;
use crate::support::{Ended, Running, Scratch, finish, side_by_side};

/// What writes the document anew.
const WRITE: &str = "SEEKSTONE_WRITE_SIMULATIONS";
const HEAD: &str = "\
# What each kind of measurement can do

Every cell is run by a nightly test, on a model, in a directory or on a small file. `http`, `ftp`,
`tcp` and `objects`, which need a server, have tests of their own. This page is what the test
prints (`make simulations`). A number is a reason, below the table. How several hosts measure:
[fleet.md](fleet.md).

";
/// The columns: each with how a cell is shown to be true.
const ABILITIES: [&str; 11] = [
    "model",
    "directory",
    "file or device",
    "compare",
    "study",
    "several hosts",
    "resume",
    "goals",
    "page",
    "partial result",
    "budget",
];

/// A place with a file, and with the trace that `replay` reads.
fn place() -> Scratch {
    let scratch = Scratch::new();
    fs::write(scratch.path("FILE"), vec![7; 16 << 20]).expect("a file");
    let requests =
        (0..400_u64).map(|at| format!("{} /old read {} 4096\n", at / 4, at % 100 * 4096));
    let head = "fio version 3 iolog\n0 /old add\n0 /old open\n".to_owned();
    let text = std::iter::once(head).chain(requests).collect::<String>();
    fs::write(scratch.path("trace"), text).expect("a trace");
    fs::write(scratch.path("job.fio"), "[a]\nrw=randread\nsize=1m\n").expect("a job");
    scratch
}

/// The words of a command, quiet and with a seed; `~` is a blank within a word.
fn quiet(command: &str, more: &[&str]) -> Vec<String> {
    let seed: &[&str] = match command.starts_with("fio") {
        true => &[],
        false => &["--seed", "7"],
    };
    let mut args: Vec<&str> = command.split_whitespace().collect();
    // What stands behind the program of `time` would be another.
    let at = args.iter().position(|it| *it == "true");
    let at = at.unwrap_or(args.len());
    args.splice(at..at, [&["-q"], seed, more].concat());
    args.iter().map(|it| it.replace('~', " ")).collect()
}

/// What is wrong with how it ended.
fn fault(ended: &Ended, code: i32, said: &str) -> Option<String> {
    // A busy machine makes results invalid.
    let is_ended = ended.code == Some(code) || code == 0 && ended.code == Some(3);
    let is_right = is_ended && (ended.stdout.contains(said) || ended.stderr.contains(said));
    (!is_right).then(|| format!("{:?}: {} {}", ended.code, ended.stderr, ended.stdout.len()))
}

/// What is wrong with a cell.
fn run(cell: Cell, more: &[&str]) -> Option<String> {
    let scratch = place();
    match cell {
        Empty(_) => None,
        Runs(command) => fault(&finish(scratch.seekstone(quiet(command, more))), 0, ""),
        Refused(command, why) => fault(&finish(scratch.seekstone(quiet(command, more))), 2, why),
    }
}

/// What is wrong with a run that has a goal.
fn judged(command: &str) -> Option<String> {
    let ended = finish(place().seekstone(quiet(command, &[])));
    let code = ended.code.filter(|code| [4, 5].contains(code)).unwrap_or(0);
    // fio's output has lines of its own for them.
    let said = if command.starts_with("fio") {
        "PASS"
    } else {
        "Goals"
    };
    fault(&ended, code, said)
}

/// The results that were kept of a run that goes on.
fn is_kept(scratch: &Scratch, least: usize) -> bool {
    let archive = scratch.archive();
    let files = fs::read_dir(archive.parent().expect("a directory"))
        .expect("a list")
        .flatten();
    let journals = files.filter(|it| {
        let name = it.file_name().to_string_lossy().into_owned();
        name.contains(".db.unfinished-") || name.contains(".study-")
    });
    let mut texts = journals.filter_map(|it| fs::read_to_string(it.path()).ok());
    texts.any(|text| {
        let is_result =
            |line: &&str| line.contains("\"is_result\":true") || line.contains("\"readings\"");
        text.lines().filter(is_result).count() >= least
    })
}

const TRIES: usize = 20;

/// What is wrong with a run that a signal ends once it has a result.
fn stopped(
    command: &str,
    signal: Signal,
    look: impl Fn(&Scratch, &Ended) -> Option<String>,
) -> Option<String> {
    let mut last = "it was always done before".to_owned();
    for least in 1..=TRIES {
        let scratch = place();
        let mut running = Running::start(scratch.seekstone(quiet(command, &[])));
        let is_single = command.starts_with("trial") || command.starts_with("replay");
        let archive = scratch.archive();
        let mut looks = 0;
        running.runs_until(|| {
            looks += 1;
            match is_single {
                true => archive.exists() && looks > 400,
                false => is_kept(&scratch, least),
            }
        });
        if !running.is_running() {
            continue;
        }
        running.signal(signal);
        match look(&scratch, &running.end()) {
            None => return None,
            Some(why) => last = why,
        }
    }
    Some(last)
}

fn goes_on(command: &str) -> Option<String> {
    stopped(command, Signal::KILL, |scratch, ended| {
        let is_killed = ended.signal == Some(Signal::KILL.as_raw());
        let args = ["runs", "resume", "--quiet", "--yes"];
        let resumed = finish(scratch.seekstone(args));
        fault(&resumed, 0, "").or((!is_killed).then(|| "it ended before".to_owned()))
    })
}

fn is_partial(command: &str) -> Option<String> {
    stopped(command, Signal::INT, |scratch, ended| {
        let shown = finish(scratch.seekstone(["runs", "show", "1"]));
        fault(ended, 1, "").or_else(|| fault(&shown, 0, "PARTIAL"))
    })
}

fn keeps(command: &'static str, seconds: u32) -> Option<String> {
    let scratch = place();
    let args = measured("sim:rz26", (command, seconds));
    let args: Vec<&str> = args
        .iter()
        .map(|it| if it == "TRUE" { "true" } else { it })
        .collect();
    let used = elapsed(&finish(scratch.seekstone(&args)), (command, seconds))?;
    (used > most(seconds.into())).then(|| format!("{used} s of {seconds}"))
}

/// A study of a kind on a target, in that place; the arguments that measure it.
fn study<'a>(scratch: &Scratch, kind: &str, target: &str, set: &str) -> Vec<&'a str> {
    let study = format!(
        "title = \"a study\"\ntarget = {target:?}\n[measurement]\nkind = {kind:?}\n{set}\n"
    );
    fs::write(scratch.path("s.toml"), study).expect("a study");
    let limits: &[&str] = match target {
        "." => &["--reserve", "1MiB"],
        _ => &[],
    };
    [&["study", "s.toml", "-q", "--seed", "7"], limits].concat()
}

/// What is wrong with a comparison of it with itself.
fn compared(kind: &str, target: &str, set: &str) -> Option<String> {
    let sets = set
        .lines()
        .map(|it| it.replace(" = ", "=").replace('"', ""));
    let sets: Vec<String> = sets.collect();
    let sets = sets.iter().flat_map(|it| ["--set", it.as_str()]);
    let args = [
        "compare",
        target,
        target,
        "--measure",
        kind,
        "--repeat",
        "2",
    ];
    let limits: &[&str] = match target {
        "." => &["--reserve", "1MiB"],
        _ => &[],
    };
    let args: Vec<&str> = args.into_iter().chain(sets).chain(["-q"]).collect();
    let scratch = place();
    let ended = finish(scratch.seekstone([&args[..], limits].concat()));
    fault(&ended, 0, "Saved as run")
}

/// What is wrong with a study of it, whose goals may be missed.
fn studied(kind: &str, target: &str, set: &str, more: &[&str]) -> Option<String> {
    let scratch = place();
    let args = study(&scratch, kind, target, set);
    let args = [&args[..], &["--repeat", "2"], more].concat();
    let ended = finish(scratch.seekstone(args));
    let code = ended.code.filter(|code| [4, 5].contains(code));
    fault(&ended, code.unwrap_or(0), "Saved as run")
}

/// What is wrong with a study that a signal ends after its first replicates.
fn study_stopped(kind: &str, target: &str, set: &str, signal: Signal) -> Option<String> {
    let mut last = "it was always done before".to_owned();
    for least in 1..=TRIES {
        let scratch = place();
        let args = study(&scratch, kind, target, set);
        let args = [&args[..], &["--repeat", "200"]].concat();
        let mut running = Running::start(scratch.seekstone(&args));
        running.runs_until(|| is_kept(&scratch, least));
        if !running.is_running() {
            continue;
        }
        running.signal(signal);
        let ended = running.end();
        let wrong = match signal {
            Signal::KILL => {
                let go_on = [&args[..5], &args[5..args.len() - 2], &["--resume"]].concat();
                let go_on: Vec<&str> = go_on
                    .into_iter()
                    .filter(|it| !["--seed", "7"].contains(it))
                    .collect();
                let resumed =
                    finish(scratch.seekstone([&go_on[..], &["--repeat", "200"]].concat()));
                fault(&resumed, 0, "Saved as run")
            }
            _ => fault(&ended, 1, "").or_else(|| {
                fault(
                    &finish(scratch.seekstone(["runs", "show", "1"])),
                    0,
                    "PARTIAL",
                )
            }),
        };
        match wrong {
            None => return None,
            Some(why) => last = why,
        }
    }
    Some(last)
}

fn hosts(name: &str, alone: Option<&str>) -> Option<String> {
    let scratch = place();
    let mut command = scratch.seekstone([name, "."]);
    command.env("PMI_RANK", "0").env("PMI_SIZE", "4");
    let ended = finish(command);
    let is_refused = ended.stderr.contains("measures on one host");
    match alone {
        Some(why) => fault(&ended, 2, why),
        None => is_refused.then(|| ended.stderr.clone()),
    }
}

/// A cell of the table: why it is empty, if it is, and what is wrong with that.
struct Ability<'a> {
    reason: Option<String>,
    fault: Box<dyn Fn() -> Option<String> + 'a>,
}

fn can<'a>(fault: impl Fn() -> Option<String> + 'a) -> Ability<'a> {
    Ability {
        reason: None,
        fault: Box::new(fault),
    }
}

fn cannot<'a>(why: impl Into<String>, fault: impl Fn() -> Option<String> + 'a) -> Ability<'a> {
    Ability {
        reason: Some(why.into()),
        fault: Box::new(fault),
    }
}

fn of_cell<'a>(cell: Cell, fault: impl Fn(&'static str) -> Option<String> + 'a) -> Ability<'a> {
    match cell {
        Runs(command) => can(move || fault(command)),
        Refused(_, why) => cannot(why, move || run(cell, &[])),
        Empty(why) => cannot(why, || None),
    }
}

impl Commanded {
    fn ability(&self, ability: &str) -> Ability<'_> {
        let short = |cell: Cell| of_cell(cell, move |_| run(cell, &[]));
        let set = self.set.iter();
        let set: Vec<String> = set
            .map(|(key, value)| format!("{key} = {value:?}"))
            .collect();
        let kind = KINDS.iter().find(|it| it.name == self.name);
        let set = kind.map_or(set.join("\n"), |kind| settings(kind, "sim:rz26", ""));
        let target = match self.name {
            "files" => "sim:rt11",
            "time" => ".",
            "ssd" => "sim:nvme?blocks=32&pages-per-block=32&channels=2&dies=2&spare=20%",
            _ => "sim:rz26",
        };
        match ability {
            "model" => short(self.on[0]),
            "directory" => short(self.on[1]),
            "file or device" => short(self.on[2]),
            "compare" => can(move || compared(self.name, target, &set)),
            "study" => can(move || studied(self.name, target, &set, &[])),
            "several hosts" => match self.alone {
                Some(why) => cannot(why, move || hosts(self.name, Some(why))),
                None => can(|| hosts(self.name, None)),
            },
            "resume" => of_cell(self.resume, goes_on),
            "goals" => of_cell(self.goal, judged),
            "page" => {
                let is_empty = matches!(self.on[0], Empty(_));
                let cell = self.on[usize::from(is_empty)];
                can(move || run(cell, &["--html", "page.html"]))
            }
            "partial result" => of_cell(self.partial, is_partial),
            _ => match self.budget {
                Ok((command, seconds)) => can(move || keeps(command, seconds)),
                Err(why) => cannot(why, || None),
            },
        }
    }
}

/// The cells of kinds that are studies of one target, whether or not they have a command. What each
/// does with a target is run by `kinds_on_targets`; of those that need a server no more is run.
fn of_study<'a>(kind: &'a Kind, ability: &str) -> Ability<'a> {
    let on = |found: TargetUse| match found {
        TargetUse::Refused(why) => cannot(why, || None),
        TargetUse::Elsewhere(what) => cannot(format!("not used: {what}"), || None),
        _ => can(|| None),
    };
    let target = match kind.targets.model {
        TargetUse::Refused(_) => ".",
        _ => "sim:rz26",
    };
    let (name, set) = (kind.name, settings(kind, target, "trace"));
    match ability {
        "model" => on(kind.targets.model),
        "directory" => on(kind.targets.directory),
        "file or device" => on(kind.targets.named),
        "several hosts" if kind.targets.on_hosts => can(move || hosts(name, None)),
        "several hosts" => {
            let why = "it repeats whole measurements, each of one host";
            cannot(why, move || {
                let command = kind.is_command.then(|| hosts(name, Some(why)));
                command.flatten()
            })
        }
        _ if OF_SERVERS.contains(&name) => can(|| None),
        "compare" if name == "command" => cannot("`seekstone time` compares commands", || None),
        "compare" => can(move || compared(name, target, &set)),
        "study" => can(move || studied(name, target, &set, &[])),
        "page" => can(move || studied(name, target, &set, &["--html", "page.html"])),
        "goals" => can(move || {
            let goal = match kind.readings[0].unit {
                Unit::Seconds => "<= 24h",
                Unit::PerSecond => ">= 0.001/s",
                _ => ">= 1kB/s",
            };
            let goal = format!("{} {goal}", kind.readings[0].name);
            studied(name, target, &set, &["--goal", &goal])
        }),
        "resume" => can(move || study_stopped(name, target, &set, Signal::KILL)),
        "partial result" => can(move || study_stopped(name, target, &set, Signal::INT)),
        _ => can(move || {
            let more = ["--precision", "0.1%", "--budget", "1s", "--json", "-"];
            let scratch = place();
            let args = study(&scratch, name, target, &set);
            let ended = finish(scratch.seekstone([&args[..], &more].concat()));
            fault(&ended, 0, "").or_else(|| {
                let used = ended.json()["elapsed_ns"].as_f64().map(|ns| ns / 1e9);
                let is_kept = used.is_some_and(|used| used <= most(1.0));
                let is_kept = is_kept || Pressure::new().is_high();
                (!is_kept).then(|| format!("{used:?} s of 1"))
            })
        }),
    }
}

fn document() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/abilities.md")
}

/// The names of all that a study can measure.
fn registry() -> BTreeSet<String> {
    let scratch = Scratch::new();
    let study = "title = \"a study\"\ntarget = \".\"\n[measurement]\nkind = \"nothing\"\n";
    fs::write(scratch.path("s.toml"), study).expect("a study");
    let ended = finish(scratch.seekstone(["study", "s.toml"]));
    let (_, listed) = ended.stderr.split_once(": use ").expect("a list");
    let words = listed
        .split([',', ' ', '\n'])
        .filter(|it| !it.is_empty() && *it != "and");
    words.map(str::to_owned).collect()
}

/// Every row with its name and its cells.
fn all() -> Vec<(String, Vec<Ability<'static>>)> {
    let commands = COMMANDS.iter().map(|command| {
        let cells = ABILITIES.map(|ability| command.ability(ability));
        (command.name.to_owned(), cells.into())
    });
    let studies = KINDS.iter().map(|kind| {
        let has_other = COMMANDS.iter().any(|it| it.name == kind.name);
        let name = match has_other {
            true => format!("{} of studies", kind.name),
            false => kind.name.to_owned(),
        };
        (
            name,
            ABILITIES.map(|ability| of_study(kind, ability)).into(),
        )
    });
    commands.chain(studies).collect()
}

/// The table, and the reasons of its empty cells.
fn table() -> String {
    let mut reasons = Vec::<String>::new();
    let columns = "---|".repeat(ABILITIES.len());
    let mut table = format!("| kind | {} |\n|---|{columns}\n", ABILITIES.join(" | "));
    for (name, cells) in all() {
        table += &format!("| {name} |");
        for why in cells.into_iter().map(|it| it.reason) {
            let Some(why) = why else {
                table += " yes |";
                continue;
            };
            let known = reasons.iter().position(|it| *it == why);
            let number = known.unwrap_or(reasons.len());
            if known.is_none() {
                reasons.push(why);
            }
            table += &format!(" {} |", number + 1);
        }
        table.push('\n');
    }
    let reasons = reasons.iter().enumerate();
    let reasons = reasons.map(|(at, why)| format!("{}. {why}\n", at + 1));
    format!("{HEAD}{table}\n{}", reasons.collect::<String>())
}

#[test]
fn every_kind_has_a_row_and_every_empty_cell_a_reason() {
    let names = all().into_iter().map(|it| it.0);
    let names: BTreeSet<String> = names.filter(|it| !it.contains(' ')).collect();
    assert_eq!(names, registry());
    if std::env::var_os(WRITE).is_some() {
        return fs::write(document(), table()).expect("a document that can be written");
    }
    let text = fs::read_to_string(document()).expect("docs/abilities.md");
    assert_eq!(text, table(), "`make simulations` writes docs/abilities.md");
}

#[test]
#[ignore = "starts some 300 programs: part of the nightly tests"]
fn every_kind_does_what_its_row_says() {
    let names: Vec<String> = all().into_iter().map(|it| it.0).collect();
    let cells = (0..names.len()).flat_map(|row| (0..ABILITIES.len()).map(move |it| (row, it)));
    let wrong = Mutex::new(String::new());
    side_by_side(&cells.collect::<Vec<_>>(), |&(row, column)| {
        let ability = ABILITIES[column];
        let cell = match COMMANDS.get(row) {
            Some(command) => command.ability(ability),
            None => of_study(&KINDS[row - COMMANDS.len()], ability),
        };
        if let Some(fault) = (cell.fault)() {
            let line = format!("{}, {ability}: {fault}\n", names[row]);
            let _ = stderr().write_all(line.as_bytes());
            wrong.lock().expect("no panic").push_str(&line);
        }
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{wrong}");
}
