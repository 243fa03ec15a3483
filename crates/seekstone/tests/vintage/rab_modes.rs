//! The state of a RAID is found out, stamped on what is measured, and compared.

use crate::support::storage::{Mirror, succeed};
use crate::support::{Running, Scratch, finish, tables, with_enough_time};
use rustix::process::Signal;
use serde_json::Value;

/// Members of a mirror, sparse. Blocks that were rewritten count as used until the next commit, and
/// a replacement keeps a tenth of a member from being written: a faster disk takes more.
const MEMBER_MIB: usize = 4096;
/// Two disks of 5 MB/s write that within the share of a short budget.
const SMALL: [&str; 6] = ["--size", "8MiB", "--reserve", "0", "--workload", "archive"];

/// The modes of the workloads of a run, and whether each change was found out.
fn modes<'a>(run: &'a Value) -> (Vec<&'a str>, Vec<(&'a str, bool)>) {
    let mode = |row: &'a Value, place: usize| row["levels"][place].as_str().expect("a mode");
    let workloads = tables::rows(run, "rab-workloads").into_iter();
    let changes = tables::rows(run, "rab-modes").into_iter();
    let changes = changes.map(|it| (mode(it, 0), tables::word(it, "known") == "detected"));
    (workloads.map(|it| mode(it, 1)).collect(), changes.collect())
}

#[test]
fn a_mirror_without_a_member_is_reduced() {
    let test = "a_mirror_without_a_member_is_reduced";
    let scratch = Scratch::new();
    let Some(mut mirror) = Mirror::new(test, &scratch, MEMBER_MIB) else {
        return;
    };
    let measure = |mirror: &Mirror| {
        with_enough_time(|budget| {
            let mut args = vec!["rab", mirror.path(), "--budget", budget, "--json", "-"];
            args.extend(SMALL);
            let ended = finish(scratch.seekstone(args));
            if ended.error().contains("--budget") {
                return None;
            }
            ended.check(&[], 0, "");
            Some(ended.json())
        })
    };
    let whole = measure(&mirror);
    assert_eq!(modes(&whole), (vec!["normal"], vec![("normal", false)]));
    if !mirror.lose_member(test) {
        return;
    }
    let reduced = measure(&mirror);
    assert_eq!(modes(&reduced), (vec!["reduced"], vec![("reduced", true)]));
    let text = tables::word(tables::rows(&reduced, "rab-modes")[0], "why");
    assert!(
        text.contains("btrfs raid1") && text.contains("1 missing: degraded"),
        "{text}"
    );
}

#[test]
fn an_exchange_in_a_continuous_run_is_stamped_and_compared() {
    let test = "an_exchange_in_a_continuous_run_is_stamped_and_compared";
    let scratch = Scratch::new();
    let Some(mut mirror) = Mirror::new(test, &scratch, MEMBER_MIB) else {
        return;
    };
    if !mirror.lose_member(test) {
        return;
    }
    let Some(spare) = Mirror::device(test, &scratch, "spare", MEMBER_MIB) else {
        return;
    };
    let json = scratch.path("run.json");
    let mut running = with_enough_time(|budget| {
        let mut args = vec!["rab", mirror.path(), "--budget", budget];
        args.extend(["--mode", "continuous"]);
        args.extend(&SMALL[..4]);
        // Two workloads, because a stage is announced when its title changes.
        args.extend(["--workload", "archive,scientific"]);
        args.extend(["--json", json.to_str().expect("a plain path")]);
        let running = Running::start(scratch.seekstone(args));
        running.in_time_for("Scientific")
    });
    // Without -B it goes on by itself; with it, the state is whole again once the command ends.
    let replace = [
        "replace",
        "start",
        "-f",
        "-B",
        "2",
        spare.path(),
        mirror.path(),
    ];
    succeed("btrfs", &replace);
    for workload in ["Archive save", "Scientific", "Archive save", "Scientific"] {
        running.wait_for(workload);
    }
    running.signal(Signal::INT);
    let ended = running.end();
    assert_eq!(ended.code, Some(1), "stopped by a signal: {}", ended.stderr);
    let text = std::fs::read_to_string(&json).expect("the run as JSON");
    let run: Value = serde_json::from_str(&text).expect("JSON");
    let (_, changes) = modes(&run);
    assert_eq!(changes.first(), Some(&("reduced", true)), "{changes:?}");
    assert_eq!(changes.last(), Some(&("continuous", false)), "{changes:?}");
    let comparisons = tables::rows(&run, "rab-modes-compared").into_iter();
    let pairs: Vec<(&str, &str)> = comparisons
        .filter_map(|it| Some((it["levels"][3].as_str()?, it["levels"][2].as_str()?)))
        .collect();
    assert!(pairs.contains(&("reduced", "continuous")), "{pairs:?}");
}

/// A small array, so that its rebuild ends while it is measured.
const SMALL_DISK: &str = r#"kind = "disk"
title = "a small disk"
rpm = 7200
heads = 4
cylinders = 100
sectors-outer = 200
seek = "data-sheet"
seek-min = "1 ms"
seek-avg = "8 ms"
seek-max = "17 ms"
"#;

/// A model knows what its array is doing: nobody need say so, and nobody can say otherwise.
#[test]
fn a_simulated_array_stamps_its_own_state() {
    let scratch = Scratch::new();
    let disk = scratch.path("small.toml");
    std::fs::write(&disk, SMALL_DISK).expect("a file");
    let measure = |mode: &str| {
        let target = format!("sim:{}?raid=5&disks=5&unit=16K&{mode}", disk.display());
        let args = [
            "rab", &target, "--budget", "2min", "--seed", "1", "--json", "-",
        ];
        let small = ["--workload", "archive", "--no-save"];
        let ended = finish(scratch.seekstone(args.iter().chain(&small)));
        ended.check(&[], 0, "");
        ended.json()
    };
    let reduced = measure("mode=reduced");
    assert_eq!(modes(&reduced), (vec!["reduced"], vec![("reduced", true)]));
    let held = measure("mode=rebuild&rebuild-held-at=50%");
    assert_eq!(modes(&held), (vec!["rebuild"], vec![("rebuild", true)]));
    let text = tables::word(tables::rows(&held, "rab-modes")[0], "why");
    assert!(text.contains("simulated raid5 of 5 members, 1 missing: rebuilding, 50 % done"));
    // The set of places in which the rebuild ended is neither's; those before it are its unfinished
    // result, and the workload begins again.
    let ended = measure("mode=rebuild");
    let expected = vec![("rebuild", true), ("normal", false)];
    assert_eq!(modes(&ended), (vec!["rebuild", "normal"], expected));
    let state = |at: usize| tables::word(tables::rows(&ended, "rab-workloads")[at], "state");
    assert_eq!((state(0), state(1)), ("unfinished", ""));
}
