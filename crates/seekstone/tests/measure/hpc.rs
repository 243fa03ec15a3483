//! `seekstone ior` and `seekstone mdtest`: options of those programs, their tables, our forms.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::tables::{figure, notes, readings, row, rows};
use crate::support::{Ended, Scratch, finish};
use serde_json::Value;

/// Run one, with a run in JSON beside.
fn measured(scratch: &Scratch, line: &str) -> (Ended, Value) {
    let target = scratch.target();
    let args: Vec<&str> = line.split_whitespace().collect();
    let more = [
        "--json",
        "run.json",
        "--no-save",
        "--quiet",
        "--reserve",
        "0",
    ];
    let args = [&args[..], &more].concat();
    let ended = scratch.check(&args, 0, "");
    scratch.assert_clean(&target);
    let run = fs::read_to_string(scratch.path("run.json")).expect("a run");
    (ended, serde_json::from_str(&run).expect("JSON"))
}

#[test]
fn ior_prints_its_table_and_archives_a_run_of_files() {
    let scratch = Scratch::in_memory();
    let line = "ior -t 64k -b 256k -s 2 -F -w -r -R -e -i 3 -o target/file";
    let (ended, run) = measured(&scratch, line);
    for column in [
        "access    bw(MiB/s)",
        "Max Write: ",
        "Max Read : ",
        "Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)",
    ] {
        assert!(ended.stdout.contains(column), "{column}: {}", ended.stdout);
    }
    assert_eq!(rows(&run, "files").len(), 2, "{run}");
    let write = row(&run, "files", &["write"]);
    assert_eq!(
        readings(write, "bytes"),
        [524_288.0; 3],
        "every repetition counts"
    );
    assert_eq!(figure(write, "items"), 8.0);
    assert!(!notes(&run, "files").contains("512 bytes are compared"));
}

/// Blocks of several transfers in a file of all, in random order, each read by the next client.
#[test]
fn blocks_of_a_shared_file_come_in_random_order() {
    let scratch = Scratch::in_memory();
    let line = "ior -t 3000 -b 9000 -s 5 -N 3 -z -C -R -w -o target/file";
    let (_, run) = measured(&scratch, line);
    let read = row(&run, "files", &["read"]);
    assert_eq!(readings(read, "bytes"), [135_000.0]);
    let (_, own) = measured(&scratch, "ior -t 4k -b 64k -F -z -o target/file");
    let read = row(&own, "files", &["read"]);
    assert_eq!(readings(read, "bytes"), [65_536.0]);
    assert!(notes(&own, "files").contains("only the first 512 bytes are compared"));
}

#[test]
fn mdtest_prints_its_table_of_the_phases_asked_for() {
    let scratch = Scratch::in_memory();
    let line = "mdtest -F -n 50 -u -L -z 1 -b 3 -w 100 -e 100 -i 2 -P -d target";
    let (ended, run) = measured(&scratch, line);
    for text in [
        "SUMMARY rate (in ops/sec): (of 2 iterations)",
        "SUMMARY time (in sec): (of 2 iterations)",
        "File creation",
        "Tree removal",
    ] {
        assert!(ended.stdout.contains(text), "{text}: {}", ended.stdout);
    }
    let phases = rows(&run, "files");
    let phases: Vec<&str> = phases
        .iter()
        .filter_map(|it| it["levels"][0].as_str())
        .collect();
    assert_eq!(
        phases,
        ["mkdir", "create", "stat", "read", "remove", "rmdir"]
    );
    let (ended, run) = measured(&scratch, "mdtest -F -n 20 -C -T -N 1 -d target");
    assert_eq!(rows(&run, "files").len(), 2);
    assert!(!ended.stdout.contains("File removal"), "{}", ended.stdout);
}

#[test]
fn a_stonewall_that_is_not_worn_out_gives_the_rate_at_the_wall() {
    let scratch = Scratch::in_memory();
    let line = "ior -t 64k -b 64m -F -D 1 -O stoneWallingWearOut=1 -N 2 -o target/file";
    let (_, run) = measured(&scratch, line);
    assert_eq!(rows(&run, "files-stonewall").len(), 1, "{run}");
}

#[test]
fn what_cannot_be_done_is_one_sentence_before_any_file_is_made() {
    let scratch = Scratch::new();
    let target = scratch.target();
    for (line, expected) in [
        (
            "ior -o target/file -B",
            "-B: files go through the page cache",
        ),
        ("ior -o target/file -r", "reading needs -w"),
        ("ior -o missing/file", "missing"),
        (
            "ior -o target/file -t 1g -b 1g",
            "a call reads or writes at most 64 MiB",
        ),
        ("mdtest -n 10 -d target", "add -F"),
        (
            "mdtest -F -n 10 -d target --nonsense",
            "nonsense: is no option known here",
        ),
    ] {
        let args: Vec<&str> = line.split_whitespace().collect();
        scratch.check(&args, 2, expected);
        scratch.assert_clean(&target);
    }
}

/// A tool of that name that writes down how it was called.
#[test]
fn stripes_are_set_by_lustres_own_tool_before_files_are_made() {
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    let args = [
        "ior",
        "-b",
        "1m",
        "-O",
        "lustreStripeCount=-1,lustreStripeSize=1m",
    ];
    let args = [
        &args[..],
        &["-o", "target/file", "--reserve", "0", "--no-save"],
    ]
    .concat();
    let empty = scratch.path("bin");
    fs::create_dir(&empty).expect("a directory");
    let started = || {
        let mut command = scratch.seekstone(&args);
        command.env("PATH", format!("{}:/usr/bin:/bin", empty.display()));
        finish(command)
    };
    started().check(&args, 2, "Stripes can be set on Lustre only");
    scratch.assert_clean(&target);
    let tool = empty.join("lfs");
    let script = format!(
        "#!/bin/sh\necho \"$@\" > {}\n",
        scratch.path("called").display()
    );
    fs::write(&tool, script).expect("a tool");
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).expect("a program");
    started().check(&args, 0, "Max Write: ");
    let called = fs::read_to_string(scratch.path("called")).expect("it was called");
    assert!(
        called.starts_with("setstripe -c -1 -S 1048576 "),
        "{called}"
    );
    scratch.assert_clean(&target);
}

/// A short form: a stonewall of a second, which a few files never reach.
#[test]
fn io500_runs_its_phases_and_writes_its_files() {
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    let config = format!(
        "[global]\ndatadir = {}\nresultdir = {}\n[debug]\nstonewall-time = 1\n\
         [ior-easy]\nblockSize = 4m\n[mdtest-easy]\nn = 200\n[ior-hard]\nsegmentCount = 50\n\
         [mdtest-hard]\nn = 100\n",
        target.display(),
        scratch.path("results").display()
    );
    fs::write(scratch.path("short.ini"), config).expect("a file");
    let args = ["io500", "short.ini", "--clients", "2", "--json", "run.json"];
    let args = [&args[..], &["--no-save", "--quiet", "--reserve", "0"]].concat();
    let ended = scratch.check(&args, 0, "[SCORE] Bandwidth ");
    scratch.assert_clean(&target);
    assert_eq!(
        ended.stdout.matches("[RESULT]").count(),
        12,
        "{}",
        ended.stdout
    );
    for reason in [
        "program only",
        "stonewall-time is 1.00 s",
        "nothing left to write",
    ] {
        assert!(ended.stdout.contains(reason), "{reason}: {}", ended.stdout);
    }
    let run = fs::read_to_string(scratch.path("run.json")).expect("a run");
    let run: Value = serde_json::from_str(&run).expect("JSON");
    assert_eq!(rows(&run, "io500").len(), 12, "{run}");
    assert_eq!(rows(&run, "io500-scores").len(), 3, "{run}");
    let mut results = fs::read_dir(scratch.path("results")).expect("results");
    let directory = results.next().expect("one run").expect("an entry").path();
    let result = fs::read_to_string(directory.join("result.txt")).expect("a result");
    assert!(
        result.contains("[mdtest-hard-delete]\nscore = "),
        "{result}"
    );
    assert!(result.contains("; NOT A SUBMISSION "), "{result}");
    let summary = fs::read_to_string(directory.join("result_summary.txt")).expect("a summary");
    assert!(ended.stdout.starts_with(summary.trim_end()), "{summary}");

    fs::write(scratch.path("bad.ini"), "[global]\napi = DFS\n").expect("a file");
    scratch.check(
        &["io500", "bad.ini"],
        2,
        "bad.ini: line 2: API DFS: files are reached by",
    );
}
