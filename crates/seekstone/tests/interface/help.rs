//! Help, manual pages, and what is answered to words and options of other tools.

use crate::support::Scratch;

#[test]
fn help_is_for_whoever_asks() {
    let scratch = Scratch::new();
    let nothing = scratch.check(&[], 2, "Usage: seekstone [OPTIONS] <COMMAND>");
    assert_eq!(nothing.stdout, "");
    for command in [
        "run",
        "trial",
        "curve",
        "inspect",
        "runs",
        "clean",
        "completions",
        "man",
    ] {
        scratch.check(&[command, "--help"], 0, &format!("seekstone {command}"));
        scratch.check(&["help", "--all"], 0, &format!("{command} "));
    }
    let first = scratch.check(&["--help"], 0, "Test    run          Quick benchmark");
    assert!(first.stdout.lines().count() <= 30, "{}", first.stdout);
    let brief = scratch.check(&["trial", "-h"], 0, "--pattern <PATTERN>");
    assert!(!brief.stdout.contains("--hang-limit"), "{}", brief.stdout);
    scratch.check(&["trial", "-h"], 0, "--help shows all ");
    for (command, expected) in [
        ("run", "[default: 110s]"),
        (
            "run",
            "[default: the larger of 5 % and 1 GiB, at most a quarter]",
        ),
        ("run", "--size <BYTES>"),
        ("run", "--level <TIME[@pN]>"),
        ("trial", "[default: 60s]"),
        ("trial", "[default: 4KiB]"),
        ("trial", "--writes <PERCENT>"),
        ("curve", "[default: 5min]"),
        ("clean", "[default: .]"),
        ("inspect", "[default: .]"),
        ("completions", "[possible values: bash,"),
    ] {
        scratch.check(&[command, "--help"], 0, expected);
    }
    scratch.check(&["--version"], 0, "seekstone ");
    scratch.check(&["man"], 0, ".TH seekstone 1");
    scratch.check(&["man"], 0, "seekstone run");
    scratch.check(&["man", "wal"], 0, ".TH seekstone-wal 1");
    let part = [&["man", "runs", "export"][..], &["man", "wal", "x"]];
    scratch.check(part[0], 0, ".TH seekstone-runs-export 1");
    scratch.check(part[1], 2, "wal has no commands of its own: leave x out");
    scratch.check(
        &["man", "wall"],
        2,
        "there is no command wall. There are run,",
    );
    scratch.check(&["completions", "bash"], 0, "-F _clap_complete_seekstone");
    scratch.check(&["completions", "tcsh"], 2, "possible values: bash");
}

/// Bugs: options of fio were answered one at a time, and `--iodepth 32 --numjobs 4` with two
/// numbers of clients; words such as `list` with other commands.
#[test]
fn what_is_typed_by_habit_is_answered_with_what_to_type() {
    let scratch = Scratch::new();
    let line = "trial /data --rw=randread --bs=4k --iodepth=32 --numjobs=4 --runtime=60 --name=a";
    let typed: Vec<&str> = line.split(' ').collect();
    let answer = scratch.check(
        &typed,
        2,
        "--numjobs and --runtime are options of fio. Here:",
    );
    let ours = "seekstone trial /data --pattern random --block 4k --clients 128 --duration 60s";
    assert!(answer.stderr.contains(ours), "{}", answer.stderr);
    for (typed, expected) in [
        (&["run", "--runtime=60"][..], "seekstone run --budget 60s"),
        (&["run", "--bs=4k"], "--budget 60s sets its time"),
        (&["list"], "`seekstone runs list`"),
        (&["monitor"], "`seekstone watch` probes storage for days"),
        (&["trial", "--writes", "0.3"], "Use 30% or 0.3%"),
        (&["trial", "--writes", "30"], "Use 30%"),
    ] {
        scratch.check(typed, 2, expected);
    }
    let random = [
        "trial",
        "sim:mm1",
        "--duration",
        "50ms",
        "-q",
        "--no-save",
        "--pattern",
        "rand",
    ];
    scratch.check(&random, 0, "random read 4 KiB");
    let options = [
        "--rw=randread",
        "--bs=4k",
        "--size=1m",
        "--filename=sim:mm1",
    ];
    for begin in [&["fio"][..], &["fio", "--"]] {
        scratch.check(&[begin, &options].concat(), 0, "job: (groupid=0, jobs=1)");
    }
}
