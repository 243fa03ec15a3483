//! A run that is killed at any instant loses the cell under way and no more: it goes on from the
//! last result that it had, to the same figures where time is virtual, or is kept as a partial run.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::support::tables::{in_turn, notes, rows};
use crate::support::{Ended, Running, Scratch, finish};
use crate::table::Table;
use crate::{random, scaled};
use rustix::process::Signal;
use serde_json::Value;

/// The words of a command; none has a space in it.
fn words(command: &str) -> Vec<&str> {
    command.split(' ').collect()
}

/// A check-up of a model.
const CHECK_UP: &str = "run sim:mmc?servers=4&mean=1ms --budget 20s";
/// A check-up of a directory.
const CHECK_UP_OF_FILES: &str = "run . --budget 4s --size 16MiB --reserve 0";

/// A place for a run, with the trace that `replay` reads.
fn place() -> Scratch {
    let scratch = Scratch::new();
    let requests = (0..400_u64).map(|at| {
        let what = if at % 4 == 0 { "write" } else { "read" };
        format!("{} /old {what} {} 4096\n", at / 4, at * 7 % 1000 * 4096)
    });
    let head = "fio version 3 iolog\n0 /old add\n0 /old open\n".to_owned();
    let text = std::iter::once(head).chain(requests).collect::<String>();
    fs::write(scratch.path("trace"), text).expect("a trace");
    scratch
}

/// The journals of killed runs.
fn journals(scratch: &Scratch) -> Vec<PathBuf> {
    let archive = scratch.archive();
    let directory = archive.parent().expect("a directory");
    let paths = fs::read_dir(directory).expect("a list").flatten();
    let paths = paths.map(|entry| entry.path());
    let is_one = |path: &PathBuf| path.to_string_lossy().contains(".db.unfinished-");
    paths.filter(is_one).collect()
}

/// The results that a journal holds.
fn results(scratch: &Scratch) -> Vec<Value> {
    let Some(text) = journals(scratch)
        .first()
        .and_then(|it| fs::read_to_string(it).ok())
    else {
        return Vec::new();
    };
    let whole = text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    let lines = whole.map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    let cells = lines.filter_map(|mut line| line.get_mut("cell").map(Value::take));
    cells.filter(|cell| cell["is_result"] == true).collect()
}

/// The name of the row that a result belongs to.
fn row(result: &Value) -> Option<String> {
    let name = result["of"].as_str()?.split_whitespace().next();
    name.map(str::to_owned)
}

/// Kill a run some moments after it has a few results; `false` where it was done before.
fn killed(scratch: &Scratch, args: &[&str], random: &mut fastrand::Rng) -> bool {
    let (least, moments) = (random.usize(1..6), random.u32(0..5_000));
    killed_after(scratch, args, least, moments)
}

fn killed_after(scratch: &Scratch, args: &[&str], least: usize, moments: u32) -> bool {
    let mut running = Running::start(scratch.seekstone(args));
    running.runs_until(|| results(scratch).len() >= least);
    for _ in 0..moments {
        std::thread::yield_now();
    }
    if running.is_running() {
        running.signal(Signal::KILL);
    }
    running.end().signal == Some(Signal::KILL.as_raw())
}

fn quiet<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [args, &["--quiet", "--seed", "7", "--json", "-"]].concat()
}

fn resumed(scratch: &Scratch, more: &[&str]) -> Ended {
    let args = ["runs", "resume", "--quiet", "--yes", "--json", "-"];
    finish(scratch.seekstone([&args[..], more].concat()))
}

/// What was found, without where and when, and without the note that it went on.
fn figures(scratch: &Scratch, run: &Value) -> Value {
    let here = scratch.path("").display().to_string();
    let text = run.to_string().replace(&here, "");
    let mut run: Value = serde_json::from_str(&text).expect("a run");
    for key in ["environment", "id", "elapsed_ns"] {
        run[key] = Value::Null;
    }
    for warnings in [&["warnings"][..], &["summary", "warnings"]] {
        let place = warnings
            .iter()
            .try_fold(&mut run, |at, key| at.get_mut(key));
        if let Some(Value::Array(warnings)) = place {
            warnings.retain(|it| it["code"] != "resumed");
        }
    }
    run["summary"] = Value::Null;
    run
}

/// What a result is known by in the run: where the run holds it, its histograms and times.
fn marks(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                match (key.as_str(), value) {
                    // No run holds it.
                    ("series_of_goal", _) => {}
                    ("rate" | "real_s", Value::Number(number)) => into.push(number.to_string()),
                    (_, value) => marks(value, into),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| marks(value, into)),
        _ => {}
    }
}

/// More tries with a run that was done each time before it could be killed.
const TRIES_MORE: u64 = 30;

/// Kill a run a few times, and look at what becomes of it when it had a result. One that could not
/// be killed with a result shows nothing, and fails.
#[track_caller]
fn kill(command: &str, mut fault: impl FnMut(&Scratch) -> Option<String>) {
    let mut table = Table::new("resume");
    let args = &words(command);
    let (mut kills, mut resumed, mut tries, mut faults) = (0, 0, 0, Vec::new());
    while tries < scaled(2, 13) || resumed == 0 && tries < scaled(2, 13) + TRIES_MORE {
        let scratch = place();
        let mut random = random(&args.join(" "), tries);
        let is_killed = match tries < scaled(2, 13) {
            true => killed(&scratch, &quiet(args), &mut random),
            // It was always done before it was killed: no moment is lost now.
            false => killed_after(&scratch, &quiet(args), 1, 0),
        };
        tries += 1;
        if !is_killed {
            continue;
        }
        kills += 1;
        if !results(&scratch).is_empty() {
            resumed += 1;
            faults.extend(fault(&scratch));
        }
    }
    if resumed == 0 {
        faults.push(format!("never killed with a result, in {tries} times"));
    }
    table.row(&args[..2].join(" "), &format!("{kills} kills"), &faults);
    table.finish();
}

/// The run of a model that goes on has the figures of one that was not killed, to the last digit.
#[track_caller]
fn kill_on_model(command: &str) {
    let args = quiet(&words(command));
    let whole = place();
    let expected = figures(&whole, &finish(whole.seekstone(args)).json());
    kill(command, |scratch| {
        let ended = resumed(scratch, &[]);
        if ended.code != Some(0) {
            Some(format!("{ended:?}"))
        } else if figures(scratch, &ended.json()) != expected {
            Some("other figures than those of a run that was not killed".into())
        } else if !journals(scratch).is_empty() {
            Some("the journal is still there".into())
        } else {
            None
        }
    });
}

/// The run on files that goes on has every figure that was found before.
#[track_caller]
fn kill_on_files(command: &str) {
    kill(command, fault_on_files);
}

/// What is wrong with a run on files that was killed, and went on.
fn fault_on_files(scratch: &Scratch) -> Option<String> {
    // What fills a file, what is written to be read, and what makes files is done again.
    let leaves = ["files-", "write 2 MiB", "precondition", "fill "];
    let before = results(scratch);
    let name_of = |cell: &Value| cell["of"].as_str().expect("a name").to_owned();
    // The file's first writing lays it out. A disk that is fast writes it again, for a row, and one
    // that was held up until it is whole: whether either happens once more is not known.
    let is_layout = |cell: &Value| name_of(cell).contains("sequential-write");
    let again = before.iter().filter(|it| is_layout(it)).count();
    let again = again.saturating_sub(1);
    let told = before.iter().filter(|cell| {
        let of = name_of(cell);
        !is_layout(cell) && !leaves.iter().any(|it| of.contains(it))
    });
    let told: Vec<&Value> = told.collect();
    let mut known = Vec::new();
    for cell in &told {
        marks(&cell["found"], &mut known);
    }
    let ended = resumed(scratch, &[]);
    if !matches!(ended.code, Some(0 | 3)) {
        return Some(format!("{ended:?}"));
    }
    if !journals(scratch).is_empty() {
        return Some("the journal is still there".into());
    }
    let says = |count: usize| {
        let plural = if count == 1 { "" } else { "s" };
        let said = format!("killed after {count} result{plural}: the rest");
        ended.stdout.contains(&said)
    };
    let counts = told.len()..=told.len() + again;
    if !told.is_empty() && !counts.clone().any(says) {
        let names: Vec<String> = before.iter().map(|cell| cell["of"].to_string()).collect();
        return Some(format!("not killed after {counts:?} results of {names:?}"));
    }
    let lost: Vec<&String> = known
        .iter()
        .filter(|mark| !ended.stdout.contains(*mark))
        .collect();
    (!lost.is_empty())
        .then(|| format!("{} of {} marks are lost: {lost:?}", lost.len(), known.len()))
}

/// A test for each command: they run side by side.
macro_rules! tests {
    ($fate:ident $($name:ident: $command:expr;)*) => {
        $(
            #[test]
            fn $name() {
                $fate($command);
            }
        )*
    };
}

/// Every kind on models.
mod a_killed_run_of_a_model_goes_on_to_the_same_figures {
    use super::{CHECK_UP, kill_on_model};

    tests! {
        kill_on_model
        curve_of_a_percentile: "curve sim:mmc?servers=4&mean=1ms --level 5ms@p99 --budget 60s";
        check_up: CHECK_UP;
        curve: "curve sim:mmc?servers=4&mean=1ms --budget 20s";
        curve_of_arrivals: "curve sim:mm1?mean=1ms --open --budget 20s";
        random: "random sim:drive?size=64MiB --budget 9s --rounds 1";
        transactions: "transactions sim:mm1?mean=10ms --find-users --limit 80ms";
        rab: "rab sim:mmc?servers=4&mean=5ms -w batch,archive --budget 20s";
        transfer: "transfer sim:md1?time=1ms&size=4MiB --passes 4";
        files: "files sim:rt11 --tests 1,2";
        curve_of_a_drive: "curve sim:rz26 --budget 20s";
        ssd: "ssd sim:nvme?blocks=32&pages-per-block=32&channels=2&dies=2&spare=20% --quick \
              --round 500ms --rounds 12";
        fio: "fio --filename=sim:mmc?servers=4&mean=1ms&size=64MiB --iodepth=4 --numjobs=2 \
              --time_based --runtime=20 --name=first --rw=randread --name=second --stonewall \
              --rw=randrw --name=third --stonewall --rw=read --name=fourth --stonewall \
              --rw=randwrite";
        positioning: "positioning sim:dlt2000 --files 500 --repeat 100";
        replay: "replay trace sim:mm1?mean=1ms&size=8MiB";
    }
}

/// Every kind on a directory.
mod a_killed_run_on_files_keeps_what_it_measured {
    use super::{CHECK_UP_OF_FILES, kill_on_files};

    tests! {
        kill_on_files
        check_up: CHECK_UP_OF_FILES;
        curve: "curve . --budget 4s --size 8MiB --reserve 0";
        random: "random . --size 4MiB --spans 32KiB,1MiB --blocks 4KiB --depths 1,2 --rounds 2 \
                 --max-time 300ms --budget 3s --reserve 0";
        rab: "rab . -w batch,archive --budget 4s --size 8MiB --reserve 0";
        transfer: "transfer . --size 2MiB --block 64KiB,256KiB --passes 3 --reserve 0";
        files: "files . --passes 3 --tests 2,6,7 --state as-is --memory none --reserve 0";
        time: "time --runs 4 true pwd";
        ssd: "ssd . --test wsat,tp --quick --round 100ms --rounds 8 --depth 4 --size 8MiB \
              --reserve 0";
        fio: "fio --directory=. --filename=shared --size=4M --time_based --runtime=200ms \
              --name=first --rw=randwrite --name=second --stonewall --rw=randread --name=third \
              --stonewall --rw=read";
        replay: "replay trace . --size 8MiB --reserve 0";
    }
}

/// A comparison on a model, long enough to be killed between two of its replicates.
const COMPARISON: [&str; 10] = [
    "compare",
    "sim:mm1?mean=1ms",
    "sim:mm1?mean=2ms",
    "--measure",
    "trial",
    "--set",
    "duration=20s",
    "--rounds",
    "12",
    "--quiet",
];

/// Kill a comparison that has measured a few of its replicates.
fn killed_comparison() -> Scratch {
    for _ in 0..=TRIES_MORE {
        let scratch = Scratch::new();
        let args = [&COMPARISON[..], &["--seed", "7"]].concat();
        let mut running = Running::start(scratch.seekstone(args));
        running.runs_until(|| replicates_kept(&scratch) >= 3);
        running.signal(Signal::KILL);
        if running.end().signal == Some(Signal::KILL.as_raw()) {
            return scratch;
        }
    }
    panic!("it was always done before it was killed");
}

/// Replicates in the journal of a study.
fn replicates_kept(scratch: &Scratch) -> usize {
    let archive = scratch.archive();
    let entries = fs::read_dir(archive.parent().expect("a directory")).expect("a list");
    let paths = entries.flatten().map(|entry| entry.path());
    let mut journals = paths.filter(|path| path.to_string_lossy().contains(".db.study-"));
    let text = journals.next().and_then(|it| fs::read_to_string(it).ok());
    text.map_or(0, |text| text.matches("{\"replicate\":").count())
}

#[test]
fn a_killed_comparison_goes_on_as_any_run_or_is_kept_as_it_is() {
    let args = [&COMPARISON[..], &["--seed", "7", "--json", "-"]].concat();
    let whole = finish(Scratch::new().seekstone(args)).json();
    let scratch = killed_comparison();
    let kept = replicates_kept(&scratch);
    let list = scratch.check(&["runs", "resume", "--list"], 0, "1  `compare sim:mm1");
    let said = format!("ended before it was archived, after {kept} results");
    assert!(list.stdout.contains(&said), "{list:?}");
    let trial = ["trial", "sim:mm1", "--quiet"];
    scratch.check(
        &trial,
        0,
        "`seekstone runs resume` continues it, `--keep` archives its results",
    );
    let elsewhere = scratch.target();
    let mut command = scratch.seekstone(["runs", "resume", "--quiet"]);
    command.current_dir(elsewhere);
    let refused = finish(command);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused
            .stderr
            .contains("and its paths may be relative to that: resume it from there"),
        "{refused:?}"
    );
    let run = resumed(&scratch, &[]).json();
    let figures = |run: &Value| {
        let rows = [rows(run, "trial"), rows(run, "comparisons")].concat();
        let found = rows.iter().map(|it| it["figures"].clone());
        found.collect::<Vec<Value>>()
    };
    assert_eq!(figures(&run), figures(&whole));
    assert_eq!(run["findings"], whole["findings"]);
    assert!(notes(&run, "trial").contains("Resumed at "), "{run:#}");
    scratch.check(&["runs", "resume"], 2, "no run was killed");

    let scratch = killed_comparison();
    let kept = replicates_kept(&scratch);
    let args = [
        "runs", "resume", "--keep", "--quiet", "--yes", "--json", "-",
    ];
    let run = scratch.check(&args, 1, "the program was killed").json();
    assert_eq!(in_turn(&run).len(), kept, "{run:#}");
    scratch.check(&["runs", "resume"], 2, "no run was killed");
    let scratch = killed_comparison();
    let args = ["runs", "resume", "--discard"];
    scratch.check(&args, 0, "dropped: `compare");
    assert_eq!(replicates_kept(&scratch), 0);
}

#[test]
fn a_killed_run_is_kept_as_a_partial_one_or_forgotten() {
    let scratch = Scratch::new();
    let args = quiet(&words(CHECK_UP_OF_FILES));
    assert!(killed_after(&scratch, &args, 3, 0));
    // A file that is written at once is written again, and that is the row.
    let rows: BTreeSet<Option<String>> = results(&scratch).iter().map(row).collect();
    let list = scratch.check(&["runs", "resume", "--list"], 0, "1  `run");
    assert!(
        list.stdout.contains("ended before it was archived, after"),
        "{list:?}"
    );
    // The next start says what there is.
    let trial = ["trial", "sim:mm1", "--quiet"];
    scratch.check(
        &trial,
        0,
        "`seekstone runs resume` continues it, `--keep` archives its results",
    );
    // Bug: of an archive that the user named, what to type was left out.
    let archive = scratch.path("archive.db");
    let archive = archive.to_str().expect("text");
    let mut elsewhere = scratch.seekstone(["trial", "sim:mm1", "-q", "--archive", archive]);
    elsewhere.env_remove("SEEKSTONE_ARCHIVE");
    let hint = format!("`seekstone runs resume --archive {archive}` continues it");
    finish(elsewhere).check(&["trial"], 0, &hint);
    let kept = [
        "runs", "resume", "--keep", "--quiet", "--yes", "--json", "-",
    ];
    let run = scratch.check(&kept, 1, "the program was killed").json();
    assert_eq!(
        run["measurements"].as_array().map(Vec::len),
        Some(rows.len()),
        "{run:#}"
    );
    assert!(run["status"].to_string().contains("the program was killed"));
    scratch.check(&["runs", "show", "latest"], 0, "PARTIAL");
    scratch.check(&["runs", "resume"], 2, "no run was killed");
    assert!(killed_after(&scratch, &args, 2, 0));
    scratch.check(&["runs", "resume", "--discard"], 0, "dropped: `run");
    assert!(journals(&scratch).is_empty());
}

#[test]
fn a_killed_run_that_cannot_go_on_says_why_and_stays() {
    let scratch = Scratch::new();
    assert!(killed_after(&scratch, &quiet(&words(CHECK_UP)), 2, 0));
    let journal = journals(&scratch).remove(0);
    let text = fs::read_to_string(&journal).expect("a journal");
    let own = format!("\"program\":\"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(&own));
    fs::write(&journal, text.replace(&own, "\"program\":\"9.9.9\"")).expect("a journal");
    scratch.check(
        &["runs", "resume"],
        2,
        "the run was started by version 9.9.9",
    );
    scratch.check(&["runs", "resume", "2"], 2, "there is no killed run 2");
    fs::write(
        &journal,
        text.replace("\"mmc", "\"xmc").replace("sim:mmc", "sim:xmc"),
    )
    .expect("a journal");
    let ended = resumed(&scratch, &[]);
    assert!(matches!(ended.code, Some(1 | 2)), "{ended:?}");
    assert_eq!(journals(&scratch).len(), 1, "it was removed");
}

/// A user's own file, and one whose lines are cut off, are nobody's journal.
#[test]
fn what_is_no_journal_is_left_alone() {
    let scratch = Scratch::new();
    let beside = |name: &str| {
        let mut path = scratch.archive().into_os_string();
        path.push(".unfinished-");
        path.push(name);
        PathBuf::from(path)
    };
    for (name, content) in [
        ("a.journal", "precious\n"),
        ("b.journal", ""),
        ("c.txt", "mine"),
    ] {
        fs::write(beside(name), content).expect("a file");
    }
    let trial = ["trial", "sim:mm1", "--quiet"];
    let ended = scratch.check(&trial, 0, "Saved as run 1");
    assert!(!ended.stderr.contains("killed"), "{ended:?}");
    for (name, content) in [
        ("a.journal", "precious\n"),
        ("b.journal", ""),
        ("c.txt", "mine"),
    ] {
        let there = fs::read_to_string(beside(name)).expect("it is there");
        assert_eq!(there, content);
    }
}
