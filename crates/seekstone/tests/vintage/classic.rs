//! The classic programs as a user runs them, most of them in virtual time.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{Ended, PROGRAM, Running, Scratch, finish};
use rustix::process::Signal;

/// A device on which the levels are reached with a few threads of 20 I/Os a second.
const DISK: &str = "sim:mm1?mean=10ms";
const DATA_BYTES: usize = 16 << 20;

/// A test of some of the standard workloads, short.
fn write_test(scratch: &Scratch, name: &str, extra: &str, workloads: &[&str]) {
    scratch.check(&["rpt", "--write-files"], 0, "wrote rpt.rpt");
    let stem = name.trim_end_matches(".rpt");
    let text = format!(
        "TestFile={name}\nParmFile=rpt.rpp\nReptFile={stem}.rpr\n{extra}\nParmFile\n{}\n",
        workloads.join("\n")
    );
    fs::write(scratch.path(name), text).expect("a test file");
}

fn read(scratch: &Scratch, name: &str) -> String {
    fs::read_to_string(scratch.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn lines_with(text: &str, part: &str) -> usize {
    text.lines().filter(|line| line.contains(part)).count()
}

#[test]
fn the_quick_test_runs_all_seven_workloads_on_a_model() {
    let scratch = Scratch::new();
    scratch.check(
        &["rpt"],
        2,
        "there is no test file rpt.rpt here: `seekstone rpt --write-files`",
    );
    scratch.check(
        &["rpt", "--write-files"],
        0,
        "wrote rpt.rpt, rptq.rpt, rpt.rpp, rpt.rpc",
    );
    scratch.check(
        &["rpt", "--write-files"],
        2,
        "is there already and is not touched",
    );
    let args = ["rpt", "-t", "rptq.rpt", "-f", DISK, "--seed", "1"];
    let ended = scratch.check(&args, 0, "Average of 3 Rabmarks");
    assert_eq!(
        lines_with(&ended.stdout, "#00:"),
        0,
        "verbosity 0 shows no threads"
    );
    let report = read(&scratch, "rptq.rpr");
    for (number, name) in [
        "Transaction",
        "Multiuser",
        "Database",
        "Batch",
        "Video",
        "Archive",
    ]
    .into_iter()
    .enumerate()
    {
        let line = format!("Workload {number}  {name}Workload");
        assert_eq!(lines_with(&report, &line), 1, "{report}");
    }
    assert_eq!(lines_with(&report, "Average of"), 2, "{report}");
    // Batch workloads have one level, transaction workloads four.
    assert_eq!(lines_with(&report, "ms "), 3 * 4 + 4, "{report}");
    let log = read(&scratch, "rptq.rpl");
    assert!(log.contains("\n\trpt -t rptq.rpt -f sim:mm1?mean=10ms --seed 1 \n\t\t\" \"\n"));
    let started = lines_with(&log, ":  active, workload");
    assert_eq!(started, lines_with(&log, ":  inactive, workload"));
    assert_eq!(started, read(&scratch, "rptq.rpe").lines().count());
    assert_eq!(
        lines_with(&log, "\t#0"),
        0,
        "messages are logged at verbosity 2 only"
    );
}

#[test]
fn the_same_seed_gives_the_same_report() {
    let report = || {
        let scratch = Scratch::new();
        write_test(&scratch, "t.rpt", "Dnmax=32", &["TransactionWorkload"]);
        scratch.check(
            &["rpt", "-t", "t.rpt", "-f", DISK, "--seed", "7", "-q"],
            0,
            "Rabmarks",
        );
        read(&scratch, "t.rpr")
            .lines()
            .skip(1)
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(report(), report());
}

#[test]
fn verbosity_adds_calculations_and_then_messages() {
    let scratch = Scratch::new();
    write_test(&scratch, "t.rpt", "Dnmax=16", &["ArchiveWorkload"]);
    let run = |level: &str| -> Ended {
        let args = ["rpt", "-t", "t.rpt", "-f", DISK, "--seed", "3", "-v", level];
        scratch.check(
            &args,
            0,
            "Workload 0  ArchiveWorkload  NThreads 1\n\tArchiveThread",
        )
    };
    let (none, summary, detail) = (run("0").stdout, run("1").stdout, run("2").stdout);
    for (text, calculations, sums, messages) in
        [(&none, 0, 0, 0), (&summary, 2, 0, 0), (&detail, 2, 1, 10)]
    {
        let has = |part, least| {
            let found = lines_with(text, part);
            assert!(
                found >= least && (least > 0 || found == 0),
                "{part}: {text}"
            );
        };
        has(" c1:  ", calculations);
        has(" s0:  ", sums);
        has("\t#00:  5120 160  ", messages);
    }
    assert!(scratch.path("t.rpl.2").exists(), "earlier results are kept");
}

#[test]
fn what_a_file_defines_counts_more_than_a_switch_and_is_told() {
    let scratch = Scratch::new();
    write_test(
        &scratch,
        "t.rpt",
        &format!("Dnmax=16\nDataFile={DISK}"),
        &["ArchiveWorkload"],
    );
    let ended = scratch.check(
        &["rpt", "-t", "t.rpt", "-f", "sim:delay"],
        0,
        "ArchiveWorkload",
    );
    assert!(
        ended
            .stderr
            .contains("warning: t.rpt:5: DataFile=\"sim:mm1?mean=10ms\" overrides -f"),
        "{}",
        ended.stderr
    );
}

#[test]
fn mistakes_in_files_are_told_with_their_lines() {
    let scratch = Scratch::new();
    let check = |extra: &str, expected: &str| {
        fs::remove_file(scratch.path("rpt.rpt")).ok();
        for name in ["rptq.rpt", "rpt.rpp", "rpt.rpc"] {
            fs::remove_file(scratch.path(name)).ok();
        }
        write_test(&scratch, "t.rpt", extra, &["ArchiveWorkload"]);
        scratch.check(&["rpt", "-t", "t.rpt", "-f", DISK], 2, expected);
    };
    check(
        "TransactionWorkloads",
        "t.rpt:4: there is no object \"TransactionWorkloads\"",
    );
    check("Rsmax=fast", "t.rpt:4: Rsmax \"fast\" is not the number");
    check("ParmFile=none.rpp", "t.rpt:5: cannot read none.rpp");
    check(
        "DataSize=65536",
        "ArchiveWorkload: the file of 65536 bytes is too small",
    );
    check("x!\n".repeat(9).trim_end(), "and 4 more");
    fs::write(scratch.path("b.rpt"), b"\x1b[31m\0").expect("a file");
    scratch.check(
        &["rpt", "-t", "b.rpt"],
        2,
        "is no text file (line 1 holds a byte 0x1b)",
    );
    scratch.check(&["rpt", "-t", "nowhere.rpt"], 2, "cannot read nowhere.rpt");
    scratch.check(&["rpt", "-t", "."], 2, "is not a regular file");
    assert!(
        !scratch.path("t.rpl").exists(),
        "nothing is written before a plan is sound"
    );
}

#[test]
fn a_data_file_is_made_once_and_only_ours_is_written() {
    let scratch = Scratch::new();
    write_test(&scratch, "t.rpt", "Dnmin=2\nDnmax=2", &["VideoWorkload"]);
    let data = scratch.path("data");
    let rpt = |more: &[&str], code, expected: &str| {
        let mut args = vec!["rpt", "-t", "t.rpt", "-f", "data", "--reserve", "0"];
        args.extend(more);
        scratch.check(&args, code, expected)
    };
    rpt(
        &[],
        2,
        "the data file data does not exist: make it with -B BYTES",
    );
    rpt(
        &["-B", "4MiB"],
        2,
        "VideoWorkload: the file of 4194304 bytes is too small",
    );
    assert!(!data.exists());
    rpt(&["-B", "16MiB"], 0, "Workload 0  VideoWorkload");
    let content = fs::read(&data).expect("the data file");
    assert_eq!(content.len(), DATA_BYTES);
    assert!(
        content
            .chunks(4096)
            .all(|block| block.iter().any(|&byte| byte != 0))
    );
    rpt(&[], 0, "Workload 0  VideoWorkload");
    rpt(
        &["-B", "32MiB"],
        2,
        "data has 16 MiB, and 32 MiB are asked for",
    );

    // Somebody else's file of the same name, size and marker.
    fs::rename(&data, scratch.path("away")).expect("a rename");
    fs::write(&data, vec![7; DATA_BYTES]).expect("a user's file");
    rpt(
        &[],
        2,
        "data is not written to: nothing in it proves that this program made it",
    );
    assert_eq!(
        fs::read(&data).expect("the user's file"),
        vec![7; DATA_BYTES]
    );
    rpt(&["--overwrite"], 0, "Workload 0  VideoWorkload");
    assert_ne!(
        fs::read(&data).expect("the user's file"),
        vec![7; DATA_BYTES]
    );
}

/// The marker knew the data file by inode number and size alone: a file that was copied over it, or
/// that got its freed inode number, was overwritten without a word.
#[test]
fn a_file_with_the_inode_number_and_size_of_ours_is_not_written() {
    let scratch = Scratch::new();
    let data = scratch.path("d");
    let args = [
        "transact",
        "-C",
        "1",
        "-c",
        "0",
        "-b",
        "4096",
        "-I",
        "4096",
        "-w",
        "1",
        "-n",
        "20",
        "--messages",
        "3",
        "-f",
        "d",
        "--reserve",
        "0",
    ];
    let making = [&args[..], &["-B", "1MiB"]].concat();
    let precious = vec![b'p'; 1 << 20];
    scratch.check(&making, 0, "#00:");
    scratch.check(&args, 0, "#00:");
    for is_copied_over in [true, false] {
        if !is_copied_over {
            fs::remove_file(&data).expect("removed");
        }
        fs::write(&data, &precious).expect("a file");
        scratch.check(&args, 2, "nothing in it proves that this program made it");
        scratch.check(&making, 2, "nothing in it proves that this program made it");
        assert!(
            fs::read(&data).expect("a file") == precious,
            "it was altered"
        );
    }
    // With leave it is written, and does not pass for ours because of that.
    let leave = [&args[..], &["--overwrite"]].concat();
    scratch.check(&leave, 0, "#00:");
    scratch.check(&args, 2, "nothing in it proves that this program made it");
}

#[test]
fn a_data_file_that_cannot_be_made_leaves_nothing() {
    let scratch = Scratch::new();
    let mut command =
        scratch.seekstone(["transact", "-C", "1", "-b", "4096", "-f", "d", "-B", "1P"]);
    command.arg("-q");
    finish(command).check(&["transact"], 2, "there is no space for d of 1 PiB");
    fs::write(scratch.path("e.seekstone"), "a user's\n").expect("a user's file");
    let args = [
        "transact",
        "-C",
        "1",
        "-b",
        "4096",
        "-f",
        "e",
        "-B",
        "1M",
        "--reserve",
        "0",
    ];
    scratch.check(
        &args,
        2,
        "e.seekstone exists and is not a marker of this program",
    );
    assert!(!scratch.path("d").exists() && !scratch.path("e").exists());
    assert_eq!(read(&scratch, "e.seekstone"), "a user's\n");
}

#[test]
fn an_unfinished_data_file_is_made_anew_when_asked_for() {
    let scratch = Scratch::new();
    let data = scratch.path("u");
    let args = [
        "transact",
        "-C",
        "1",
        "-b",
        "4096",
        "-w",
        "1",
        "-f",
        "u",
        "--messages",
        "1",
        "-n",
        "4",
        "--reserve",
        "0",
    ];
    let making = [&args[..], &["-B", "512MiB"]].concat();
    let mut running = Running::start(scratch.seekstone(making));
    running.wait_for("making the data file");
    running.signal(Signal::KILL);
    running.end();
    scratch.check(
        &args,
        2,
        "u was not filled to its end when this program was killed",
    );
    let args = [&args[..], &["-B", "1MiB"]].concat();
    // A file of the user's that has its name and its marker now is neither removed nor written.
    fs::rename(&data, scratch.path("half")).expect("renamed");
    fs::write(&data, vec![b'p'; 1 << 20]).expect("a file");
    scratch.check(&args, 2, "nothing in it proves that this program made it");
    assert!(fs::read(&data).expect("a file") == vec![b'p'; 1 << 20]);
    fs::rename(scratch.path("half"), &data).expect("renamed");
    scratch.check(&args, 0, "#00:  16 4  ");
    assert_eq!(fs::metadata(&data).expect("metadata").len(), 1 << 20);
}

#[test]
fn a_failed_io_ends_the_test_in_one_sentence_and_keeps_the_log() {
    let scratch = Scratch::new();
    write_test(&scratch, "t.rpt", "", &["ArchiveWorkload"]);
    let device = "sim:mm1?mean=10ms&error=EIO@1500";
    let expected = "control thread 0: the read of 32768 bytes at offset";
    scratch.check(&["rpt", "-t", "t.rpt", "-f", device, "-q"], 1, expected);
    assert!(read(&scratch, "t.rpl").ends_with('\n'));
}

#[test]
fn one_control_thread_tells_messages_and_ios() {
    let scratch = Scratch::new();
    let base = [
        "transact", "-f", DISK, "-a", "1", "-b", "4096", "-C", "50", "-n", "5", "-r", "1",
    ];
    let run = |more: &[&str]| {
        let args = [&base[..], more].concat();
        scratch.check(&args, 0, "#00:  20 5  0 ").stdout
    };
    assert_eq!(run(&["--messages", "3"]).lines().count(), 3);
    assert_eq!(
        run(&["--messages", "2", "-v", "3"]).lines().count(),
        2 + 2 * 5
    );
    let fine = run(&["-v", "4"]);
    assert_eq!(
        (fine.lines().count(), lines_with(&fine, "  wait ")),
        (6, 5),
        "{fine}"
    );
    scratch.check(&["transact"], 2, "-C is missing");
    scratch.check(
        &["transact", "-C", "1", "-S", "7"],
        2,
        "-S: is 7, and must be 0 to 3",
    );
    // What `rpt` writes of threads that contend.
    let more = ["-a", "2", "-C", "1", "-c", "2", "--messages", "1"];
    let args = [&["transact", "-b", "4096", "-f", DISK], &more[..]].concat();
    scratch.check(&args, 0, "#02:");
    let args = ["transact", "-C", "2", "-c", "2", "-b", "4096", "-f", DISK];
    scratch.check(
        &args,
        2,
        "control thread 2 does not exist when the file has 2 shares",
    );
}

#[test]
fn a_log_becomes_runs_in_the_archive() {
    let scratch = Scratch::new();
    let workloads = ["TransactionWorkload", "BatchWorkload"];
    write_test(&scratch, "t.rpt", "Dnmax=32", &workloads);
    scratch.check(
        &["rpt", "-t", "t.rpt", "-f", DISK, "--seed", "5", "-q"],
        0,
        "Rabmarks",
    );
    let archive = scratch.archive();
    let archive = archive.to_str().expect("a plain path");
    let import = |file: &str, code, expected: &str| {
        scratch.check(
            &["runs", "import", file, "--archive", archive],
            code,
            expected,
        )
    };
    let first = import("t.rpl", 0, "run 1: TransactionWorkload (run 1, Normal)");
    assert!(first.stdout.contains("run 2: BatchWorkload") && first.stderr.is_empty());
    import("t.rpr", 2, "results without the sums behind them");
    let again = import("t.rpl", 0, "run 3: TransactionWorkload");
    assert!(
        again.stderr.contains("was imported before, as run"),
        "{}",
        again.stderr
    );
    let args = ["runs", "show", "1", "--all", "--archive", archive];
    let warned = "The intervals of this imported log are too narrow";
    let shown = scratch.check(&args, 0, warned).stdout;
    // Bug: of a log that tells neither machine nor seed, "0 CPUs" and "seed 0" were shown.
    assert!(
        !shown.contains("0 CPUs") && !shown.contains(", seed"),
        "{shown}"
    );
    import("rpt.rpp", 2, "is no log of rpt");
    import("none.rpl", 2, "cannot read none.rpl");
    fs::write(scratch.path("b.rpl"), [0xff, 0xfe, 0]).expect("a file");
    import(
        "b.rpl",
        2,
        "is not text, so not a log of rpt, diskmbps or diskrand",
    );
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vintage/src/fixtures/excerpt.rpl");
    import(
        fixture.to_str().expect("a plain path"),
        0,
        "RABmarks 1.05696 0.076546",
    );
}

/// An endless test on a real file, once its first workload is under way.
fn endless(scratch: &Scratch) -> Running {
    write_test(
        scratch,
        "t.rpt",
        "Mode=1\nDnmin=2\nDnmax=2",
        &["ArchiveWorkload"],
    );
    let args = [
        "rpt",
        "-t",
        "t.rpt",
        "-f",
        "data",
        "-B",
        "16MiB",
        "--reserve",
        "0",
    ];
    let mut running = Running::start(scratch.seekstone(args));
    running.wait_for("run 2 workload 0 ArchiveWorkload");
    running
}

#[test]
fn a_signal_ends_a_test_with_its_files_whole() {
    let scratch = Scratch::new();
    let running = endless(&scratch);
    running.signal(Signal::INT);
    running.end().check(
        &["rpt"],
        1,
        "stopped by SIGINT. What was measured is kept: t.rpr is",
    );
    let log = read(&scratch, "t.rpl");
    assert!(log.ends_with("#00:  inactive, workload 0\n"), "{log}");
    assert!(read(&scratch, "t.rpr").contains("Run 1  Mode   Continuous "));
    scratch.check(
        &["runs", "import", "t.rpl"],
        0,
        "run 1: ArchiveWorkload (run 1, Continuous)",
    );
}

#[test]
fn a_data_file_that_somebody_cuts_short_ends_the_test_in_one_sentence() {
    let scratch = Scratch::new();
    let running = endless(&scratch);
    let data = fs::OpenOptions::new()
        .write(true)
        .open(scratch.path("data"));
    data.and_then(|file| file.set_len(4096))
        .expect("a shorter file");
    running.end().check(
        &["rpt"],
        1,
        "the data file ends there: somebody made it shorter",
    );
}

#[test]
fn a_data_file_past_the_file_size_limit_is_removed() {
    let scratch = Scratch::new();
    let mut command = Command::new("sh");
    let script = "ulimit -f 4096; exec \"$0\" transact -C 1 -b 4096 -f d -B 64MiB --reserve 0";
    command.args(["-c", script, PROGRAM]);
    scratch.settle(&mut command);
    finish(command).check(&["transact"], 1, "d: File too large");
    assert!(!scratch.path("d").exists() && !scratch.path("d.seekstone").exists());
}

#[test]
fn a_known_device_gives_its_known_figures() {
    let scratch = Scratch::new();
    // After the parameter file, which defines 50.
    let workloads = [
        "MaxActualThreads=3",
        "TransactionWorkload",
        "ArchiveWorkload",
    ];
    write_test(&scratch, "t.rpt", "Dnmax=128", &workloads);
    let device = "sim:delay?time=10ms";
    let args = ["rpt", "-t", "t.rpt", "-f", device, "--seed", "2"];
    let ended = scratch.check(&args, 0, "0   10ms    100\nRabmarks 10.000000 3.125000\n");
    let expected = "Warning:  the level of 23.3333 ms was not reached: 3 threads wait 10.0000 ms";
    assert!(ended.stdout.contains(expected), "{}", ended.stdout);
    // One thread asks for 20 I/Os a second.
    let report = read(&scratch, "t.rpr");
    let load: f64 = report
        .lines()
        .find_map(|line| line.strip_prefix("0   10ms"))
        .and_then(|load| load.trim().parse().ok())
        .expect("the level without load");
    assert!((load - 20.0).abs() <= 2.0, "{report}");
}

/// The manual's warnings were said by `rab` alone.
#[test]
fn the_manuals_warnings_are_in_the_log() {
    let scratch = Scratch::new();
    scratch.check(&["rpt", "--write-files"], 0, "");
    let args = [
        "rpt",
        "-t",
        "rptq.rpt",
        "-B",
        "50M",
        "-f",
        DISK,
        "--no-screen",
        "--seed",
        "1",
    ];
    let ended = scratch.check(&args, 0, "");
    let log = read(&scratch, "rptq.rpl");
    assert!(
        lines_with(&log, "places to go to, and the same ones") > 0,
        "{log}"
    );
    assert!(
        lines_with(&log, "never waits and saturates the storage") > 0,
        "{log}"
    );
    assert!(ended.stderr.contains("places to go to"), "{}", ended.stderr);
}
