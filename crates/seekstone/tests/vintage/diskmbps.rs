//! The transfer rate test of 1997 as a user runs it, with files of a few megabytes.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::storage::{FileSystem, fill};
use crate::support::tables::{figure, readings, row, rows};
use crate::support::{Belongings, Ended, PROGRAM, Running, Scratch, finish};
use rustix::process::Signal;

/// Names of the files of a job in a directory: logs and data.
fn files_of_jobs(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| name.starts_with('J') && (name.ends_with(".TMP") || name.ends_with(".TXT")))
        .collect();
    names.sort();
    names
}

/// The only log in the scratch directory.
#[track_caller]
fn log_of(scratch: &Scratch) -> (String, String) {
    let names = files_of_jobs(&scratch.path("."));
    assert_eq!(names.len(), 1, "{names:?}");
    let text = fs::read_to_string(scratch.path(&names[0])).expect("a log");
    (names[0].clone(), text)
}

fn passes_in(text: &str) -> usize {
    let is_pass = |line: &&str| line.contains("seconds") && line.contains(" at ");
    text.lines().filter(is_pass).count()
}

/// A disk of 4 MB/s that is written and read in virtual time; nothing but the log is made.
#[test]
fn a_model_is_written_and_read_in_virtual_time() {
    let scratch = Scratch::new();
    // 64 KiB in 15.625 ms are 4 MB/s.
    let disk = "sim:delay?time=15.625ms&size=8MiB";
    let args = ["diskmbps", "8", "2", "A", disk];
    let ended = scratch.check(
        &args,
        0,
        "2.00 seconds for writing file at     4.00 Mbytes/second",
    );
    assert_eq!(passes_in(&ended.stdout), 3, "{}", ended.stdout);
    let log = log_of(&scratch).1;
    assert!(log.contains("2.00 seconds for read pass  2 at "), "{log}");
    let args = ["diskmbps", "0", "1", "B", disk];
    scratch.check(&args, 0, "Reading file sim:delay");
    for (args, expected) in [
        (["diskmbps", "9", "1", "C", disk], "do not fit it"),
        (
            ["diskmbps", "1", "1", "C", "sim:cdrom8"],
            "cannot be written",
        ),
        (
            ["diskmbps", "1", "1", "C", "sim:drum"],
            "no simulated device",
        ),
    ] {
        scratch.check(&args, 2, expected);
    }
}

/// Passes of 2 s all carried the moment at which the computing was over.
#[test]
fn passes_of_a_model_end_when_its_clock_says_so() {
    let scratch = Scratch::new();
    let disk = "sim:delay?time=15.625ms&size=8MiB";
    scratch.check(&["diskmbps", "8", "2", "A", disk], 0, "End of program");
    let log = log_of(&scratch).1;
    let passes = log
        .lines()
        .filter(|line| line.contains(" at ") && line.contains(';'));
    let clocks: Vec<f64> = passes
        .map(|line| {
            let mut words = line
                .split(';')
                .nth(1)
                .expect("a comment")
                .split_whitespace();
            let clock = words.find_map(|word| word.parse().ok());
            clock.expect("the monotonic clock")
        })
        .collect();
    assert_eq!(clocks.len(), 3, "{log}");
    for pair in clocks.windows(2) {
        assert!((pair[1] - pair[0] - 2.0).abs() < 0.01, "{clocks:?}");
    }
}

/// A log is named after its second. The documents' batches run job after job, and a job took
/// minutes then; the second one of a second was refused.
#[test]
fn jobs_of_a_batch_follow_each_other() {
    let scratch = Scratch::new();
    let disk = "sim:delay?time=1ms&size=8MiB";
    for _ in 0..3 {
        scratch.check(&["diskmbps", "1", "1", "Z", disk], 0, "End of program");
    }
    assert_eq!(files_of_jobs(&scratch.path(".")).len(), 3);
}

#[test]
fn a_file_is_written_read_and_removed() {
    let scratch = Scratch::new();
    let args = ["diskmbps", "3", "4", "--reserve", "0"];
    let ended = scratch.check(&args, 0, "Data file closed 3145728 bytes (data*3)");
    assert_eq!(passes_in(&ended.stdout), 5, "{}", ended.stdout);
    let (name, log) = log_of(&scratch);
    assert!(name.len() == 12 && name.ends_with("Z.TXT"), "{name}");
    let job = name.trim_end_matches(".TXT");
    assert!(
        ended
            .stdout
            .contains(&format!("results are in file {name}"))
    );
    for expected in [
        "##############################################\n\nDisk test diskut",
        &format!("Job {job} "),
        &format!("Data File {job}.TMP 3.0 Mbytes\n"),
        "Files written 3145728 bytes (data*3)\n",
        " seconds for writing file at ",
        " seconds for read pass  4 at ",
    ] {
        assert!(log.contains(expected), "{expected}: {log}");
    }
    assert_eq!(passes_in(&log), 5, "{log}");
    let merged = scratch.check(&["runs", "merge", &name], 0, &format!(", {job}"));
    assert_eq!(
        merged.stdout.matches(" MB/s  ").count(),
        5,
        "{}",
        merged.stdout
    );
    assert!(
        merged.stdout.contains("monotonic clock of"),
        "{}",
        merged.stdout
    );
}

#[test]
fn without_arguments_it_asks() {
    let scratch = Scratch::new();
    let mut command = scratch.seekstone(["diskmbps", "--reserve", "0"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("a child process");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin
        .write_all(b"ppro\nmy client\n2\n3\n")
        .expect("a reader");
    drop(stdin);
    let output = child.wait_with_output().expect("an end");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    for question in [
        "Z Enter server computer name:",
        "Z Enter client computer name:",
        "File Size - Enter number of 1048576 repeats",
        "Enter number of read passes",
        "Press the Enter key to end",
    ] {
        assert!(said.contains(question), "{question}: {said}");
    }
    let (_, log) = log_of(&scratch);
    assert!(
        log.contains("\nServer ppro Client my-client\nJob J"),
        "{log}"
    );
    assert_eq!(passes_in(&log), 4, "{log}");
}

#[test]
fn nobody_who_answers_is_wrong_usage() {
    let scratch = Scratch::new();
    let ended = finish(scratch.seekstone(["diskmbps"]));
    ended.check(&["diskmbps"], 2, "the questions were not answered");
    assert!(files_of_jobs(&scratch.path(".")).is_empty());
}

#[test]
fn an_existing_file_is_read_to_its_end_and_not_altered() {
    let scratch = Scratch::new();
    let bytes: Vec<u8> = (0..2_500_000_u32).map(|number| number as u8).collect();
    fs::write(scratch.path("film.avi"), bytes).expect("a file");
    let belongings = Belongings::of(&scratch.path("film.avi"));
    let args = ["diskmbps", "0", "2", "n", "film.avi"];
    scratch.check(&args, 0, "Reading file film.avi");
    belongings.assert_untouched();
    let (name, log) = log_of(&scratch);
    assert!(name.ends_with("N.TXT"), "{name}");
    assert!(log.contains("Reading file film.avi\nJob J"), "{log}");
    assert_eq!(log.matches(" seconds 2.4MB pass ").count(), 2, "{log}");
    assert!(!log.contains("Files written"), "{log}");
}

#[test]
fn four_at_once_share_a_directory() {
    let scratch = Scratch::new();
    let data = scratch.path("data");
    fs::create_dir(&data).expect("a directory");
    let data = data.display().to_string();
    let running: Vec<Running> = ["A", "B", "C", "D"]
        .into_iter()
        .map(|letter| {
            let args = ["diskmbps", "2", "5", letter, &data, "--reserve", "0"];
            Running::start(scratch.seekstone(args))
        })
        .collect();
    let ended: Vec<Ended> = running.into_iter().map(Running::end).collect();
    for ended in &ended {
        ended.check(&["diskmbps"], 0, "End of program");
    }
    let logs = files_of_jobs(&scratch.path("."));
    assert_eq!(logs.len(), 4, "{logs:?}");
    assert!(files_of_jobs(Path::new(&data)).is_empty(), "data are left");
    let mut args = vec!["runs", "merge"];
    args.extend(logs.iter().map(String::as_str));
    let merged = scratch.check(&args, 0, "1 MB is 1048576 bytes");
    assert_eq!(
        merged.stdout.matches(" MB/s  ").count(),
        4 * 6,
        "{}",
        merged.stdout
    );
    assert_eq!(merged.stdout.matches("Recorded on").count(), 4);
}

#[test]
fn mistakes_touch_nothing() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let belongings = Belongings::of(&target);
    let path = target.display().to_string();
    let file = target.join("main").display().to_string();
    for (args, code, expected) in [
        (&["20", "8", path.as_str()][..], 2, "a path comes fourth"),
        (&["20", "8", "E:\\TEMP\\"], 2, "a path comes fourth"),
        (&["4", "0"], 2, "no number of read passes"),
        (&["4", "-1"], 2, "no number of read passes"),
        (&["-4", "1"], 2, "no file size"),
        (&["4"], 2, "MB PASSES [X [PATH]]"),
        (&["99999999", "1"], 2, "there is no space for"),
        (&["99999999999999", "1"], 2, "more than a file can hold"),
        (
            &["1", "1", "A", "/missing/place"],
            1,
            "cannot use the directory",
        ),
        (&["1", "1", "A", &file], 2, "is no directory"),
        (
            &["0", "1", "A", "/missing/file"],
            1,
            "cannot open /missing/file",
        ),
        (&["0", "1", "A", &path], 1, "is a directory"),
        (&["0", "1", "A", "/dev/zero"], 1, "character device"),
        (&["0", "1"], 2, "name it"),
    ] {
        let args: Vec<&str> = ["diskmbps"]
            .into_iter()
            .chain(args.iter().copied())
            .collect();
        scratch.check(&args, code, expected);
    }
    belongings.assert_untouched();
    assert!(files_of_jobs(&scratch.path(".")).is_empty());
    assert!(files_of_jobs(&target).is_empty());
}

/// Let a program be killed that has written a part of its data file, which it names.
fn leave_data_file(scratch: &Scratch) -> String {
    let args = ["diskmbps", "3000", "900", "K", "--reserve", "0"];
    let running = Running::start(scratch.seekstone(args));
    let data = || {
        let names = files_of_jobs(&scratch.path("."));
        names.into_iter().find(|name| name.ends_with("K.TMP"))
    };
    // Until its first block is there.
    let name = loop {
        let is_written = |name: &String| {
            let found = scratch.path(name).metadata();
            found.is_ok_and(|it| it.len() > 1 << 20)
        };
        if let Some(found) = data().filter(is_written) {
            break found;
        }
        std::thread::yield_now();
    };
    scratch.check(
        &["clean", ".", "--yes"],
        0,
        "nothing left here by killed runs",
    );
    running.signal(Signal::KILL);
    running.end();
    name
}

/// Nothing can be removed by a program that is killed; the next one offers it. By its name and form
/// alone a file of the user's could be taken for it.
#[test]
fn what_a_killed_program_left_is_removed_on_demand() {
    let scratch = Scratch::new();
    let block: Vec<u8> = (1..=16_384_u32).flat_map(u32::to_le_bytes).collect();
    fs::write(scratch.path("J000000Q.TMP"), &block).expect("a file");
    let file = leave_data_file(&scratch);
    let clean = |yes: &[&'static str], expected: &str| {
        let args = [&["clean", "."], yes].concat();
        scratch.check(&args, 0, expected)
    };
    clean(&[], "Kept. `seekstone clean --yes`");
    assert!(scratch.path(&file).exists());
    clean(&["--yes"], "Removed ");
    let left = files_of_jobs(&scratch.path("."));
    let data: Vec<_> = left.iter().filter(|name| name.ends_with(".TMP")).collect();
    assert_eq!(data, ["J000000Q.TMP"]);
    assert!(!scratch.path(&format!("{file}.seekstone")).exists());
    let other = fs::read(scratch.path("J000000Q.TMP")).expect("a file");
    assert!(other == block);
}

#[test]
fn a_signal_while_writing_leaves_nothing() {
    let scratch = Scratch::new();
    // Stale data are named on standard error once signals are caught: then the signal is sent.
    let stale = leave_data_file(&scratch);
    for name in files_of_jobs(&scratch.path(".")) {
        if name.ends_with(".TXT") {
            fs::remove_file(scratch.path(&name)).expect("removed");
        }
    }
    let args = ["diskmbps", "3000", "900", "S", "--reserve", "0"];
    let mut running = Running::start(scratch.seekstone(args));
    running.wait_for(&format!("{stale} was left by a program that was killed"));
    running.signal(Signal::INT);
    let ended = running.end();
    ended.check(&args, 1, "stopped by SIGINT");
    let left = files_of_jobs(&scratch.path("."));
    let data: Vec<_> = left.iter().filter(|name| name.ends_with(".TMP")).collect();
    assert_eq!(data, [&stale]);
    // A log stays only if it holds a pass.
    for log in left.iter().filter(|name| name.ends_with(".TXT")) {
        let text = fs::read_to_string(scratch.path(log)).expect("a log");
        assert!(
            passes_in(&text) > 0 && text.contains("; stopped: "),
            "{text}"
        );
    }
}

#[test]
fn a_full_disk_ends_in_one_sentence_and_is_given_back() {
    let test = "a_full_disk_ends_in_one_sentence_and_is_given_back";
    let scratch = Scratch::new();
    let Some(small) = FileSystem::ext4(test, &scratch, 16, &[]) else {
        return;
    };
    // A quarter stays free.
    let args = ["diskmbps", "13", "1", "A", small.path()];
    scratch.check(&args, 2, "there is no space for 13 MiB");
    let args = ["diskmbps", "64", "1", "A", small.path(), "--reserve", "0"];
    scratch.check(&args, 2, "there is no space for 64 MiB");
    fill(&small.root);
    let args = ["diskmbps", "1", "1", "A", small.path(), "--reserve", "0"];
    scratch.check(&args, 2, "there is no space for 1 MiB");
    assert!(files_of_jobs(&small.root).is_empty());
    assert!(files_of_jobs(&scratch.path(".")).is_empty());
}

/// Writing fails in the middle: the file may not grow beyond one megabyte.
#[test]
fn a_write_that_fails_leaves_nothing() {
    let scratch = Scratch::new();
    let mut command = Command::new("bash");
    let line = "ulimit -f 1024; exec \"$0\" diskmbps 4 2 --reserve 0";
    command.args(["-c", line, PROGRAM]);
    scratch.settle(&mut command);
    finish(command).check(&["diskmbps"], 1, "cannot write ./J");
    assert!(files_of_jobs(&scratch.path(".")).is_empty());
}

#[test]
fn other_files_cannot_be_merged() {
    let scratch = Scratch::new();
    fs::write(scratch.path("notes.txt"), "nothing of ours\n").expect("a file");
    fs::write(scratch.path("bytes"), [0xff, 0xfe, 0]).expect("a file");
    for (source, code, expected) in [
        ("notes.txt", 2, "it is no log of diskmbps"),
        ("bytes", 2, "is not text"),
        ("/dev/zero", 2, "is not a regular file"),
        ("missing.txt", 1, "cannot read missing.txt"),
    ] {
        scratch.check(&["runs", "merge", source], code, expected);
    }
    scratch.check(&["runs", "merge"], 2, "required arguments");
    scratch.check(&["runs", "merge", "1"], 1, "archive");
    assert!(!scratch.archive().exists(), "an archive was made");
}

/// A log was merged and nothing else: "is no log of rpt ... name a file that ends in .rpl".
#[test]
fn logs_become_runs() {
    let scratch = Scratch::new();
    let old = "\
##############################################
Disk test diskut in C++ Win95/NT Version 1
Server p100 Client ppro
Job J143308N Wed May 21 14:33:08 1997

Data File J143308N.tmp 40.0 Mbytes
Files written 41943040 bytes (data*40)
  8.31 seconds for writing file at  4.81 MB/s 14:33:17
 14.14 seconds for read pass  1 at  2.83 MB/s 14:33:31
 10.32 seconds for read pass  2 at  3.88 MB/s 14:33:41

Reading file D:\\weezer.avi
Job J125954C Thu May 22 12:59:54 1997
 53.28 seconds 30.1MB pass  1 at  0.56 MB/s 13:00:47
";
    fs::write(scratch.path("J143308N.TXT"), old).expect("a log");
    let ended = scratch.check(&["runs", "import", "J143308N.TXT"], 0, "imported");
    assert_eq!(ended.stdout.matches("run ").count(), 2, "{}", ended.stdout);
    let json = |id: &str| scratch.check(&["runs", "export", id], 0, "").json();
    let run = json("1");
    let read = row(&run, "transfer", &["read"]);
    assert_eq!(rows(&run, "transfer")[0]["levels"][0], "write");
    assert_eq!(readings(read, "bytes")[0], f64::from(40 << 20));
    let rate = figure(read, "throughput");
    let expected = 80.0 * f64::from(1 << 20) / (14.14 + 10.32);
    assert!((rate / expected - 1.0).abs() < 1e-9, "{rate}");
    assert_eq!(run["environment"]["host_name"], "ppro");
    let cd = json("2");
    assert_eq!(cd["target"]["given"], "D:\\weezer.avi");
    // A file of 0.1 MB may have half as much more: its log does not say.
    fs::write(scratch.path("small"), vec![1; 100_000]).expect("a file");
    scratch.check(&["diskmbps", "0", "1", "S", "small"], 0, "End of program");
    let names = files_of_jobs(&scratch.path("."));
    let small = names.iter().find(|name| name.ends_with("S.TXT"));
    let small = small.expect("a log");
    scratch.check(&["runs", "import", small], 0, "imported");
    let warnings = json("3")["warnings"].to_string();
    assert!(warnings.contains("may be off by"), "{warnings}");
    fs::remove_file(scratch.path(small)).expect("a log");
    let second = scratch.check(&["runs", "import", "J143308N.TXT"], 0, "");
    assert!(second.stderr.contains("imported before, as run 1"));
    // Ours, too, and what is archived can be merged again.
    scratch.check(&["diskmbps", "1", "2", "N", "."], 0, "");
    let names = files_of_jobs(&scratch.path("."));
    let log = names
        .iter()
        .find(|name| *name != "J143308N.TXT")
        .expect("a log");
    scratch.check(&["runs", "import", log], 0, "imported");
    scratch.check(&["runs", "merge", "6", log], 0, "read 2");
    scratch.check(&["runs", "show", "6", "--all"], 0, "read, 64 KiB");
    let broken = old.replace("at  2.83 MB/s", "at fast MB/s");
    fs::write(scratch.path("BROKEN.TXT"), broken).expect("a log");
    scratch.check(
        &["runs", "import", "BROKEN.TXT"],
        2,
        "line 9 begins as a pass",
    );
}

/// Sections 7 and 10 of the document keep data files by breaking off; here they always went.
#[test]
fn a_data_file_is_kept_on_demand() {
    let scratch = Scratch::new();
    scratch.check(&["diskmbps", "1", "1", "K", ".", "--keep"], 0, "is kept");
    let names = files_of_jobs(&scratch.path("."));
    let data = names.iter().find(|name| name.ends_with(".TMP"));
    let data = data.expect("a data file");
    let bytes = fs::metadata(scratch.path(data)).expect("a file").len();
    assert_eq!(bytes, 1 << 20);
    let read = ["diskmbps", "0", "1", "R", data];
    let ended = scratch.check(&read, 0, "1.0MB pass  1");
    assert!(!ended.stderr.contains("was left"), "{}", ended.stderr);
    // It is the user's now, and nothing to be cleaned up.
    let ended = scratch.check(&["clean", "--yes", "."], 0, "");
    assert!(scratch.path(data).is_file(), "{}", ended.stdout);
    for words in [&["0", "1", "K", data][..], &["1", "1", "K", "sim:p100"]] {
        let args = [&["diskmbps"], words, &["--keep"]].concat();
        scratch.check(&args, 2, "no data file is written");
    }
}

/// A file of 100 kB took "0.0000 seconds".
#[test]
fn the_shortest_pass_has_digits() {
    let scratch = Scratch::new();
    fs::write(scratch.path("small"), vec![1; 100_000]).expect("a file");
    let ended = scratch.check(&["diskmbps", "0", "2", "S", "small"], 0, "End of program");
    assert!(!ended.stdout.contains("0.0000 seconds"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("0.000000"), "{}", ended.stdout);
}
