//! What is typed wrongly is refused in one sentence before anything is touched, and what is printed
//! can be relied on.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::support::{Belongings, Ended, PROGRAM, SHORT, Scratch, finish};

/// Each is wrong usage, says so in words that hold the text, and touches nothing.
#[track_caller]
fn check_usage(cases: &[(&[&str], &str)]) {
    let scratch = Scratch::new();
    let target = scratch.target();
    let belongings = Belongings::of(&target);
    for (args, expected) in cases {
        let mut command = scratch.seekstone(*args);
        command.current_dir(&target);
        finish(command).check(args, 2, expected);
    }
    belongings.assert_untouched();
    scratch.assert_clean(&target);
    assert!(!scratch.archive().exists(), "an archive was made");
}

#[test]
fn wrong_units_and_values_are_wrong_usage() {
    check_usage(&[
        // Bug: it ran 16 ms, "for the time that was asked for".
        (
            &["trial", "sim:mm1", "--duration", "1ns"],
            "is shorter than the shortest trial, 16.0 ms",
        ),
        (&["run", "--size", "4x"], "Sizes take B, k, m"),
        (
            &["run", "--size", "99999999999t"],
            "too large. The largest size is",
        ),
        (&["run", "--size", "0"], "must be above zero"),
        (&["run", "--size", "nan"], "a digit was expected"),
        (&["run", "--size", "1e9"], "exponents are not read"),
        (
            &["run", "--budget", "10"],
            "a time needs a unit. Use 10s, 10ms or 10us",
        ),
        (&["run", "--budget", "99999999999t"], "Times take ns, us"),
        (&["run", "--budget", "99999999999h"], "--budget"),
        (&["run", "--budget", "8d"], "is longer than a week"),
        (
            &["run", "--budget", "0"],
            "too short to measure anything: use at least 1s",
        ),
        (&["run", "--level", "0"], "must be above zero"),
        (&["run", "--level", "100"], "a time needs a unit"),
        (&["run", "--clients-max", "0"], "0 is not in 1..=4096"),
        (&["run", "--batch", "0"], "0 is not in 1..=4096"),
        (&["run", "--workers", "0"], "0 is not in 1..=256"),
        (&["trial", "--clients", "0"], "0 is not in 1..=1000000"),
        (
            &["trial", "--writes", "120%"],
            "must be between 0% and 100%",
        ),
        (
            &["trial", "--precision", "0%"],
            "must be between 0.1% and 50%",
        ),
        (
            &["trial", "--precision", "10%@p98"],
            "\"p98\" must be one of p50, p95, p99, p99.9, p99.99, as in 10%@p99",
        ),
        (
            &["curve", "--precision", "10%@p99.9"],
            "only a trial measures a percentile to a precision. Use `seekstone trial TARGET \
             --precision 10%@p99.9`, which takes about 50,000 independent operations",
        ),
        (
            &["run", "--precision", "10%@p99.9"],
            "an option of other commands: trial",
        ),
        (&["trial", "--rate", "0/s"], "must be above zero"),
        (
            &["trial", "--rate", "2000000k/s"],
            "is more than 1000000k/s",
        ),
    ]);
}

/// Depths were taken, and the driver failed.
#[test]
fn depths_and_patterns_that_nothing_has_are_wrong_usage() {
    check_usage(&[
        (&["trial", "--depth", "20000"], "20000 is not in 1..=16384"),
        (
            &["trial", "sim:nvme", "--depth", "32"],
            "For fio's iodepth=32, use --clients 32",
        ),
        (
            &["transactions", "--depth", "20000"],
            "20000 is not in 1..=16384",
        ),
        (&["trial", "--pattern", "zipf"], "use zipf:NUMBER"),
        (
            &["trial", "--pattern", "zipf:1e-9"],
            "theta is at least 0.001",
        ),
        (&["trial", "--pattern", "spiral"], "use sequential, uniform"),
        (&["runs", "delete", "99999999999999999999"], "names no run"),
    ]);
}

/// The parser took `-5s` for an unknown option `-5`, and advised to say `-- -5`.
#[test]
fn negative_values_are_called_negative() {
    check_usage(&[
        (&["run", "--budget", "-5s"], "a time cannot be negative"),
        (&["run", "--size", "-5"], "a size cannot be negative"),
        (&["run", "--reserve", "-1g"], "a size cannot be negative"),
        (&["run", "--level", "-1ms"], "a time cannot be negative"),
        (&["trial", "--writes", "-1%"], "--writes"),
    ]);
}

#[test]
fn unknown_words_and_conflicts_are_wrong_usage() {
    check_usage(&[
        (&["run", "--frob"], "unexpected argument '--frob'"),
        (&["frob"], "unrecognized subcommand 'frob'"),
        (&["run", "one", "two"], "unexpected argument 'two'"),
        (
            &["run", "--driver", "magic"],
            "possible values: auto, uring, threads",
        ),
        (
            &["run", "--no-save", "sim:nosuch"],
            "there is no simulated device \"nosuch\": `seekstone devices list` lists all",
        ),
        (&["run", "--no-save", "sim:mm1?foo=1"], "foo"),
        (
            &["run", "--no-save", "sim:mm1?mean=1ms&mean=2ms"],
            "mean is given twice, 1ms and 2ms. Leave one of them out",
        ),
        (
            &["run", "--no-save", "sim:mm1?mean=1x"],
            "unknown unit \"x\"",
        ),
        (&["run", "--no-save", "sim:"], "lists all"),
        (
            &["run", "--no-save", "--archive", "a"],
            "use either --archive or --no-save",
        ),
        (&["run", "--confirm", "loop0"], "--overwrite"),
        (
            &["trial", "--rate", "5/s", "--think", "1s"],
            "cannot be used with '--think",
        ),
        (
            &["trial", "--durable", "--no-save", "sim:mm1"],
            "add --writes 100%",
        ),
    ]);
}

/// These were taken silently and did nothing; `--size 1MiB` made a file of 16 MiB.
#[test]
fn options_that_would_do_nothing_are_wrong_usage() {
    let overwrite = "--overwrite applies to an existing file or device";
    check_usage(&[
        (&["run", "--no-save", "--overwrite", "."], overwrite),
        (&["run", "--no-save", "--overwrite", "sim:mm1"], overwrite),
        (
            &["run", "--no-save", "--reserve", "0", "sim:mm1"],
            "--reserve applies to a directory",
        ),
        (
            &["run", "--no-save", "--reserve", "0", "main"],
            "--reserve applies to a directory",
        ),
        (
            &["run", "--no-save", "--overwrite", "--confirm", "x", "main"],
            "--confirm applies to the content of a block device",
        ),
        (
            &["run", "--no-save", "--size", "99g", "sim:mm1"],
            "sim:mm1 holds only 64 GiB",
        ),
        (
            &["run", "--no-save", "--size", "2MiB", "main"],
            "--size 2 MiB: main holds only 17 B",
        ),
        (
            &["run", "--no-save", "--size", "1MiB"],
            "--size 1 MiB is too small for a check-up",
        ),
        (
            &["trial", "--no-save", "--size", "1MiB"],
            "is too small: use a --size of at least 4 MiB",
        ),
    ]);
}

/// Blocks that direct I/O cannot move were tried all the same, and each failed: "Invalid argument
/// (10947 times)".
#[test]
fn blocks_that_do_not_fit_are_wrong_usage() {
    let fit = "Use a block size that is a multiple of ";
    let trial = [
        "trial",
        "--no-save",
        "--size",
        "4MiB",
        "--duration",
        "1s",
        "--block",
    ];
    let with = |block| [&trial[..], &[block]].concat();
    check_usage(&[
        (&with("3000"), fit),
        // Bug: it did not say what is meant by it, and a file was laid out before.
        (&with("4kb"), "(4KiB has 4096 bytes, 4kB 4000)"),
        (&with("100m"), "Use a larger region, smaller blocks"),
        (&with("2g"), "--block 2 GiB: at most 1 GiB"),
    ]);
}

/// Blocks in the test file are stamped every 4 KiB. Reads of parts of them were held against stamps
/// that they could not hold, and the storage was accused of returning something else.
#[test]
fn blocks_of_any_size_are_measured() {
    let scratch = Scratch::new();
    let trial = [
        "trial",
        "--no-save",
        "--size",
        "4MiB",
        "--duration",
        "1s",
        "--block",
    ];
    for options in [
        &["3000", "--buffered"][..],
        &["512"],
        &["6k"],
        &["512", "--writes", "50%"],
    ] {
        let args = [&trial[..], options].concat();
        scratch.check(&args, 0, "Workload on .");
    }
}

/// The last part of a file whose size is no multiple of 4 MiB was never written, and the storage
/// was accused of returning something else than was written.
#[test]
fn all_of_an_odd_size_is_written_before_it_is_read() {
    let scratch = Scratch::new();
    for size in ["4500KiB", "5000001"] {
        let args = [
            "trial",
            "--size",
            size,
            "--duration",
            "1s",
            "--no-save",
            "--json",
            "-",
        ];
        let ended = scratch.check(&args, 0, "complete");
        assert_eq!(setting(&ended.json(), "size"), "4MiB");
    }
}

#[test]
fn sizes_and_times_are_taken_as_written() {
    let scratch = Scratch::new();
    let args = [
        "run", "sim:mm1", "--budget", "10sec", "--size", "1.5g", "--level", "1m30s",
    ];
    let ended = finish(scratch.seekstone(args.iter().chain(&["--json", "-", "--no-save", "-q"])));
    ended.check(&args, 0, "");
    assert_eq!(ended.stderr, "");
    let run = ended.json();
    assert_eq!(setting(&run, "budget"), "10s");
    assert_eq!(setting(&run, "size"), "1536MiB");
    assert_eq!(setting(&run, "level"), "90s");
}

/// The first value of a setting that a run recorded.
fn setting(run: &serde_json::Value, name: &str) -> String {
    let settings = run["setup"]["settings"].as_array().expect("settings");
    let setting = settings.iter().find(|it| it["name"] == name).expect(name);
    setting["values"][0].as_str().expect("a value").to_owned()
}

/// What Bash offers when Tab is pressed after a line, once `seekstone completions bash` was read.
fn offered(scratch: &Scratch, line: &str) -> Vec<String> {
    let script = r#"
        PATH="$(dirname "$0"):$PATH"
        source <(seekstone completions bash)
        COMP_WORDS=($1)
        [[ "$1" == *" " ]] && COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _clap_complete_seekstone seekstone "${COMP_WORDS[COMP_CWORD]}" ""
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let mut shell = Command::new("bash");
    shell.args(["-c", script, PROGRAM, line]);
    scratch.settle(&mut shell);
    let ended = finish(shell);
    ended.check(&[line], 0, "");
    ended.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn a_shell_offers_runs_models_and_what_comes_with_the_program() {
    let scratch = Scratch::new();
    for _ in 0..2 {
        scratch.check(&["trial", "sim:delay", "--seed", "1"], 0, "Saved as run");
    }
    let check = |line: &str, expected: &[&str]| {
        let offered = offered(&scratch, line);
        for expected in expected {
            assert!(
                offered.iter().any(|it| it == expected),
                "{line}: {offered:?}"
            );
        }
    };
    check("seekstone cur", &["curve"]);
    check("seekstone runs show ", &["latest", "2", "1"]);
    check("seekstone runs compare l", &["latest"]);
    check("seekstone trial sim:mm", &["sim:mm1", "sim:mmc"]);
    check(
        "seekstone compare sim:fireball sim:rz",
        &["sim:rz26", "sim:rz28"],
    );
    check("seekstone rab sim:mm1 --workload trans", &["transaction"]);
    check("seekstone study disk-", &["disk-io"]);
    check("seekstone devices show fire", &["fireball"]);
    check("seekstone trial . --pat", &["--pattern"]);
    check("seekstone trial . --pattern ", &["uniform", "zipf:"]);
    check("seekstone wal --sync f", &["fdatasync", "fsync"]);
    check("seekstone wal . --goal ", &["commits", "latency-p99"]);
    assert_eq!(offered(&scratch, "seekstone runs show 3"), [""]);
}

/// Runs a short check-up through a shell, as `"$0" ARGUMENTS` followed by `redirection`.
fn through_shell(scratch: &Scratch, redirection: &str, args: &[&str]) -> Ended {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("\"$0\" \"$@\" {redirection}"), PROGRAM]);
    shell.args(SHORT).args(args).arg(scratch.target());
    scratch.settle(&mut shell);
    finish(shell)
}

/// A full standard output cost the run its place in the archive and its JSON file.
#[test]
fn what_cannot_be_written_costs_nothing_else() {
    let scratch = Scratch::in_memory();
    let ended = through_shell(&scratch, "> /dev/full", &["--json", "kept.json"]);
    ended.check(
        &["> /dev/full"],
        1,
        "error: standard output cannot be written",
    );
    scratch.check(&["runs", "show", "1"], 0, "Quick benchmark of");
    let kept = fs::read_to_string(scratch.path("kept.json")).expect("a file");
    serde_json::from_str::<serde_json::Value>(&kept).expect("JSON");

    let full = ["--json", "/dev/full"];
    let ended = through_shell(&scratch, "", &full);
    ended.check(
        &full,
        1,
        "error: /dev/full cannot be written: No space left",
    );
    assert!(
        ended.stdout.contains("random read 4 KiB"),
        "{}",
        ended.stdout
    );
    assert!(
        ended
            .stdout
            .contains("Saved as run 2: seekstone runs show 2")
    );

    // A reader that has seen enough is no failure.
    let ended = through_shell(&scratch, "| head -1", &["--quiet"]);
    ended.check(&["| head -1"], 0, "Quick benchmark of");
    assert_eq!(
        (ended.stdout.lines().count(), ended.stderr.as_str()),
        (1, "")
    );
    scratch.check(&["runs", "list"], 0, "\n  3  ");
    scratch.assert_clean(&scratch.target());
}

#[test]
fn an_archive_that_cannot_be_used_is_refused_before_measuring() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let belongings = Belongings::of(&target);
    fs::write(scratch.path("text"), "not a database\n".repeat(200)).expect("a file");
    let text = Belongings::of(&scratch.path("text"));
    let cannot = "error: runs cannot be archived (use --archive FILE, or --no-save): ";
    for (archive, expected) in [
        ("text", "text is not an archive of Seekstone"),
        ("target", "target is not an archive of Seekstone"),
        (
            "text/archive.db",
            "cannot create the directory text for the archive",
        ),
    ] {
        let args = ["run", "target", "--archive", archive];
        let ended = scratch.check(&args, 1, &format!("{cannot}{expected}"));
        assert_eq!(ended.stdout, "");
    }
    let nowhere = ["run", "target", "--archive", "/proc/none/archive.db"];
    scratch.check(&nowhere, 2, "the directory /proc/none does not exist");
    text.assert_untouched();
    belongings.assert_untouched();
    scratch.assert_clean(&target);
}

/// The key `cautions` stood in no document.
#[test]
fn every_key_of_an_inspection_is_documented() {
    let scratch = Scratch::new();
    let schema = include_str!("../../../../docs/json-schema.md");
    let (_, section) = schema.split_once("\n## Inspection\n").expect("a section");
    let section = section.split("\n##").next().unwrap_or_default();
    let found = scratch.check(&["inspect", ".", "--json", "-"], 0, "cautions");
    let found = found.json();
    let keys = found.as_object().expect("an object").keys();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let documented = rows.filter_map(|row| row.split('`').nth(1));
    assert_eq!(
        keys.map(String::as_str).collect::<BTreeSet<_>>(),
        documented.collect::<BTreeSet<_>>()
    );
}

/// Bug: `--archive` with a misspelled directory made it, and the line on the saved run led to
/// another archive.
#[test]
fn a_named_archive_is_in_a_directory_that_exists_and_in_the_line_on_the_saved_run() {
    let scratch = Scratch::new();
    let trial = ["trial", "sim:mm1", "--duration", "50ms", "-q", "--archive"];
    let nowhere = [&trial[..], &["nowhere/a.db"]].concat();
    let expected = "error: --archive: the directory nowhere does not exist";
    scratch.check(&nowhere, 2, expected);
    let import = ["runs", "import", "run.json", "--archive", "nowhere/a.db"];
    scratch.check(&import, 2, expected);
    assert!(!scratch.path("nowhere").exists());
    let saved = "Saved as run 1: seekstone runs show 1 --archive 'my runs.db'";
    scratch.check(&[&trial[..], &["my runs.db"]].concat(), 0, saved);
    let show = ["runs", "show", "1", "--archive", "my runs.db"];
    scratch.check(&show, 0, "run 1: Workload on sim:mm1");
}

/// A mistyped path left an empty archive behind, and its directories; `runs list` took it for an
/// archive without runs, and made an archive of an empty file.
#[test]
fn an_archive_that_is_none_is_said_to_be_none_and_not_made() {
    let scratch = Scratch::new();
    fs::write(scratch.path("empty"), "").expect("a file");
    let commands: [&[&str]; 5] = [
        &["runs", "list"],
        &["runs", "show"],
        &["runs", "export", "7"],
        &["runs", "delete", "7"],
        &["whatif", "7"],
    ];
    for command in commands {
        for (archive, expected) in [
            (
                "below/archive.db",
                "error: there is no archive below/archive.db. Check",
            ),
            ("empty", "error: empty is not an archive of Seekstone"),
            (
                "/dev/null",
                "error: /dev/null is not an archive of Seekstone",
            ),
        ] {
            let args = [command, &["--archive", archive]].concat();
            scratch.check(&args, 1, expected);
        }
    }
    assert!(!scratch.path("below").exists());
    assert_eq!(fs::read(scratch.path("empty")).expect("a file"), b"");
    // Where nobody said otherwise, there may be none yet.
    scratch.check(&["runs", "list"], 0, "no runs are archived");
    let empty = "archive.db is empty: commands that measure fill it";
    scratch.check(&["runs", "show"], 1, empty);
    let into_device = ["trial", "sim:st15150n", "--archive", "/dev/null"];
    scratch.check(&into_device, 1, "/dev/null is not an archive of Seekstone");
}

#[test]
fn archived_runs_are_listed_shown_exported_and_deleted() {
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    let measured = scratch.seekstone(SHORT.iter().chain(&["target", "--json", "-", "--quiet"]));
    let measured = finish(measured);
    measured.check(&SHORT, 0, "");
    assert_eq!(measured.stderr, "");

    // What was typed would mean another place in another directory.
    let listed = format!("run      {}", target.display());
    scratch.check(&["runs", "list"], 0, &listed);
    scratch.check(&["runs", "show"], 0, "Quick benchmark of target");
    scratch.check(
        &["runs", "show", "1", "--all"],
        0,
        "Quick benchmark of target",
    );
    let exported = scratch.check(&["runs", "export", "1"], 0, "random-read");
    assert_eq!(exported.json(), measured.json());
    let written = scratch.check(&["runs", "export", "1", "-o", "run.json"], 0, "");
    assert_eq!(written.stdout, "");
    let text = fs::read_to_string(scratch.path("run.json")).expect("the export");
    let run = results::from_json(&text).expect("a run");
    assert_eq!(results::json(&run).trim_end(), exported.stdout.trim_end());
    let table = scratch.check(&["runs", "export", "1", "--form", "csv"], 0, "random-read");
    assert!(table.stdout.lines().count() > run.measurements.len());

    let unknown = "error: the archive has no run 7: it holds run 1 only";
    scratch.check(&["runs", "show", "7"], 1, unknown);
    scratch.check(&["runs", "export", "7"], 1, unknown);
    scratch.check(&["runs", "delete", "1", "7"], 1, unknown);
    scratch.check(&["runs", "list"], 0, &listed);
    scratch.check(&["runs", "delete", "1"], 0, "deleted: 1");
    scratch.check(&["runs", "list"], 0, "no runs are archived");
    scratch.check(&["runs", "show"], 1, "is empty");
    scratch.assert_clean(&target);
}

#[test]
fn standard_output_that_is_closed_is_no_failure() {
    let scratch = Scratch::in_memory();
    let ended = through_shell(&scratch, ">&-", &["--quiet", "--no-save"]);
    // 3, of which it cannot speak, is a busy machine's.
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
    scratch.assert_clean(&scratch.target());
}

/// Into a pipe nothing is coloured, unless that is asked for.
#[test]
fn colours_are_chosen() {
    let scratch = Scratch::new();
    let trial = ["trial", "sim:mm1", "--duration", "100ms", "--no-save", "-q"];
    let is_coloured = |more: &[&str]| {
        let ended = scratch.check(&[&trial[..], more].concat(), 0, "");
        ended.stdout.contains('\x1b')
    };
    assert!(!is_coloured(&[]));
    assert!(is_coloured(&["--color", "always"]));
    assert!(!is_coloured(&["--color=never"]));
    scratch.check(
        &["--color", "pink", "inspect", "."],
        2,
        "auto, always, never",
    );
}

/// A target in a command's place is checked up; what is neither is a mistake.
#[test]
fn a_target_alone_is_a_check_up() {
    let scratch = Scratch::new();
    let args = ["sim:mm1?mean=1ms", "--no-save", "-q", "--budget", "10s"];
    scratch.check(&args, 0, "Quick benchmark of sim:mm1?mean=1ms");
    scratch.check(&["no-such-place"], 2, "unrecognized subcommand");
}
