//! The random access test of 1997 as a user runs it, with files of a few megabytes.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use support::storage::{FileSystem, fill};
use support::{Belongings, Ended, PROGRAM, Running, Scratch, finish, skipped};

/// A model whose answers do not depend on this machine.
const MODEL: &str = "sim:mm1?mean=8ms";
/// A user who has made no transaction by then hangs.
const HANGING: Duration = Duration::from_secs(180);

/// Make a data file of one megabyte.
#[track_caller]
fn write(scratch: &Scratch, file: &str) {
    let args = [
        "diskrand",
        "Write",
        file,
        "1",
        "0",
        "Made.txt",
        "--short",
        "--reserve",
        "0",
    ];
    scratch.check(&args, 0, "File written 1 Mbytes, 256 records of 4096 bytes");
}

fn read(scratch: &Scratch, name: &str) -> String {
    fs::read_to_string(scratch.path(name)).expect("a log")
}

/// Words of the lines of `text` that hold `mark`.
fn words_of<'a>(text: &'a str, mark: &str) -> Vec<Vec<&'a str>> {
    let lines = text.lines().filter(|line| line.contains(mark));
    lines
        .map(|line| line.split_whitespace().collect())
        .collect()
}

/// A line's words with its numbers and times left out.
fn shape(line: &str) -> String {
    let is_number = |word: &&str| word.starts_with(|letter: char| letter.is_ascii_digit());
    let words: Vec<&str> = line
        .split_whitespace()
        .map(|word| if is_number(&word) { "#" } else { word })
        .collect();
    words.join(" ")
}

#[test]
fn without_arguments_it_shows_its_commands() {
    let scratch = Scratch::new();
    let ended = scratch.check(&["diskrand"], 0, "diskrand Write DF MB RS LF");
    for expected in ["Yread DF UN NT LF IO TT [KM CP]", "Erase or E", "2logs"] {
        assert!(ended.stdout.contains(expected), "{}", ended.stdout);
    }
}

/// `RANDNT95 Write RandData.txt 40 15 LogFile.txt`, on a model of a disk of 8 ms.
#[test]
fn the_documents_write_command_gives_its_log() {
    let scratch = Scratch::new();
    let args = ["diskrand", "Write", MODEL, "40", "15", "LogFile.txt", "-q"];
    let ended = scratch.check(&args, 0, "Random reading records of 4096 bytes");
    let log = read(&scratch, "LogFile.txt");
    assert_eq!(ended.stdout, log, "screen and log are the same");
    let shapes: Vec<String> = log.lines().filter(|it| !it.is_empty()).map(shape).collect();
    assert!(
        shapes[0].starts_with("Disk test RAND in Rust Linux Version #"),
        "{}",
        shapes[0]
    );
    assert_eq!(
        shapes[1..],
        [
            "File written # Mbytes, # records of # bytes",
            "# seconds for writing file at # MB/s #",
            "Random reading records of # bytes",
            "# seconds for # records at # ms #",
            "# seconds for # records at # ms #",
            "# seconds for # records at # ms #",
        ]
    );
    assert!(
        log.contains("File written 40 Mbytes, 10240 records of 4096 bytes"),
        "{log}"
    );
    for pass in words_of(&log, " ms ") {
        let number = |place: usize| pass[place].parse::<f64>().expect("a number");
        let (seconds, records, ms) = (number(0), number(3), number(6));
        assert!(seconds >= 5.0 && records % 200.0 == 0.0, "{pass:?}");
        assert!((ms - 1000.0 * seconds / records).abs() < 0.02, "{pass:?}");
        // 600 exponential times of 8 ms: four standard errors are 1.3 ms.
        assert!((ms - 8.0).abs() < 1.3, "{pass:?}");
    }
}

/// `RANDNT95 Read RanData.txt 23 20 LogFile.txt 50 1`.
#[test]
fn the_documents_read_command_gives_its_log_twice() {
    let scratch = Scratch::new();
    let run = |log: &str| {
        let args = ["diskrand", "Read", MODEL, "23", "20", log, "50", "1", "-q"];
        scratch.check(&args, 0, "");
        read(&scratch, log)
    };
    let log = run("LogFile.txt");
    for expected in [
        "User 23, 20 transactions, 50 I/O/transaction, 1 think secs\n",
        &format!("Read {MODEL}, 65536 MB, 16777216 records, 0 CP load\n"),
        "Random number seed 23\n",
    ] {
        assert!(log.contains(expected), "{expected}: {log}");
    }
    let lines: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("response"))
        .collect();
    assert_eq!(lines.len(), 20, "{log}");
    for line in &lines {
        assert_eq!(shape(line), "# # think # response # secs. load #");
    }
    let times = |log: &str| -> Vec<String> {
        let lines = words_of(log, "response");
        lines.iter().map(|words| words[2..].join(" ")).collect()
    };
    let sum: f64 = words_of(&log, "response")
        .iter()
        .map(|words| words[5].parse::<f64>().expect("a time"))
        .sum();
    // 1000 exponential times of 8 ms: four standard errors are 13 %.
    assert!((sum - 8.0).abs() < 1.0, "{sum}");
    assert_eq!(
        times(&run("Again.txt")),
        times(&log),
        "the same user does the same"
    );
}

/// `RANDNT95 ZRead RandData.txt 23 20 LogFile.txt 50 1 2000 2`.
#[test]
fn memory_and_loads_are_logged() {
    let scratch = Scratch::new();
    write(&scratch, "RandData.txt");
    let args = [
        "diskrand",
        "ZRead",
        "RandData.txt",
        "23",
        "20",
        "LogFile.txt",
        "50",
        "0",
        "2000",
        "2",
        "--cpu-unit",
        "100us",
    ];
    scratch.check(&args, 0, "the page cache answered");
    let log = read(&scratch, "LogFile.txt");
    let allocated = words_of(&log, "start/allocate memory");
    assert_eq!(allocated.len(), 1, "{log}");
    assert_eq!(
        shape(&allocated[0].join(" ")),
        "# # start/allocate memory # secs. # Kbytes"
    );
    assert!(
        log.contains("Read RandData.txt, 1 MB, 256 records, 2 CP load\n"),
        "{log}"
    );
    assert!(
        !log.contains("Random number seed 23\n"),
        "the time of day is in it: {log}"
    );
    let loads: Vec<f64> = words_of(&log, "response")
        .iter()
        .map(|words| words[8].parse().expect("a load"))
        .collect();
    assert_eq!(loads.len(), 20);
    assert!(loads.iter().any(|&load| load > 1.0) && loads.iter().any(|&load| load < 1.0));
}

#[test]
fn two_logs_have_profiles_and_transactions_apart() {
    let scratch = Scratch::new();
    for user in ["101", "102"] {
        let args = [
            "diskrand", "y", MODEL, user, "30", "2logs", "20", "5", "10", "1", "-q",
        ];
        scratch.check(&args, 0, "");
    }
    let (profiles, transactions) = (read(&scratch, "Multi1.txt"), read(&scratch, "Multi2.txt"));
    assert_eq!(
        profiles.matches("Random number seed").count(),
        2,
        "{profiles}"
    );
    assert!(!profiles.contains("response"), "{profiles}");
    assert_eq!(transactions.lines().count(), 60);
    assert!(
        transactions.lines().all(|line| line.contains("response")),
        "{transactions}"
    );
    let imported = scratch.check(&["runs", "import", "Multi2.txt"], 0, "imported Multi2.txt");
    assert_eq!(
        imported.stdout.matches("run ").count(),
        2,
        "{}",
        imported.stdout
    );
    let shown = scratch.check(
        &["runs", "show", "1"],
        0,
        "20 I/Os, CP 1, think 5 s, loads vary",
    );
    assert!(
        shown.stdout.contains("1 user, 30 transactions in"),
        "{}",
        shown.stdout
    );
}

#[test]
fn four_users_share_a_log_without_mixing_lines() {
    let scratch = Scratch::new();
    write(&scratch, "RandData.txt");
    let running: Vec<Running> = ["101", "102", "103", "104"]
        .into_iter()
        .map(|user| {
            let args = [
                "diskrand",
                "Read",
                "RandData.txt",
                user,
                "100",
                "Multi.txt",
                "20",
                "0",
            ];
            Running::start(scratch.seekstone(args))
        })
        .collect();
    let ended: Vec<Ended> = running.into_iter().map(Running::end).collect();
    for ended in &ended {
        ended.check(&["diskrand"], 0, "100 transactions, 2000 I/Os in");
    }
    let log = read(&scratch, "Multi.txt");
    let lines: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("response"))
        .collect();
    assert_eq!(lines.len(), 400, "{log}");
    for user in ["101", "102", "103", "104"] {
        let of_user = words_of(&log, "response");
        let count = of_user.iter().filter(|words| words[0] == user).count();
        assert_eq!(count, 100, "{user}");
    }
    let wrong = lines
        .iter()
        .find(|it| shape(it) != "# # think # response # secs. load #");
    assert_eq!(wrong, None);
    let imported = scratch.check(&["runs", "import", "Multi.txt"], 0, "imported");
    assert!(
        !imported.stderr.contains("mean nothing"),
        "{}",
        imported.stderr
    );
}

/// The samples of the document's own logs.
#[test]
fn the_documents_logs_are_imported() {
    let scratch = Scratch::new();
    let sample = include_str!("../../classic/src/fixtures/diskrand.log");
    fs::write(scratch.path("LogFile.txt"), sample).expect("a file");
    let ended = scratch.check(&["runs", "import", "LogFile.txt"], 0, "run 5: ");
    for expected in [
        "run 1: File written: 40 MB, 10240 records, in 17.45 s at 2.29 MB/s",
        "run 2: Response times of this log, as the document's tables have them: min 350 ms, avg \
         429 ms, 95% 530 ms, max 540 ms",
        "run 4: Response times of this log, as the document's tables have them: min 9.47 s, avg \
         11.2 s, 95% 14.1 s, max 14.1 s",
    ] {
        assert!(
            ended.stdout.contains(expected),
            "{expected}: {}",
            ended.stdout
        );
    }
    scratch.check(&["runs", "show", "1"], 0, "7.74 ms");
    let doubt = "40 MB are 10240 records of 4096 bytes, and the log says 10214";
    scratch.check(&["runs", "show", "2"], 0, doubt);
    scratch.check(&["runs", "list"], 0, "Mon Jul  7 14:01:30 1997  diskrand");
    scratch.check(
        &["runs", "import", "LogFile.txt"],
        0,
        "was imported before, as run 1",
    );
}

#[test]
fn only_files_of_this_program_are_overwritten_or_erased() {
    let scratch = Scratch::new();
    let target = scratch.target();
    write(&scratch, "RandData.txt");
    std::os::unix::fs::symlink(scratch.path("RandData.txt"), scratch.path("link")).expect("a link");
    fs::write(scratch.path("zeros"), vec![0; 8192]).expect("a file");
    fs::write(scratch.path("empty"), "").expect("a file");
    let belongings = [".", "target"].map(|name| Belongings::of(&scratch.path(name)));
    for (file, expected) in [
        ("zeros", "does not hold the records"),
        ("empty", "does not hold the records"),
        ("target/main", "does not hold the records"),
        ("target", "no regular file"),
        ("link", "symbolic link"),
        ("/dev/null", "no regular file"),
    ] {
        scratch.check(&["diskrand", "Erase", file], 2, expected);
        let args = [
            "diskrand",
            "Write",
            file,
            "1",
            "15",
            "New.txt",
            "--reserve",
            "0",
        ];
        scratch.check(&args, 2, expected);
    }
    assert!(!scratch.path("New.txt").exists(), "a log was made");
    for belongings in belongings {
        belongings.assert_untouched();
    }
    drop(target);
    write(&scratch, "RandData.txt");
    scratch.check(
        &["diskrand", "E", "RandData.txt"],
        0,
        "RandData.txt is erased, 1 MiB",
    );
    assert!(!scratch.path("RandData.txt").exists());
    scratch.check(
        &["diskrand", "Erase", "RandData.txt"],
        1,
        "cannot examine RandData.txt",
    );
}

#[test]
fn mistakes_touch_nothing() {
    let scratch = Scratch::new();
    write(&scratch, "D");
    fs::write(scratch.path("notes.txt"), "notes of mine\n").expect("a file");
    let belongings = Belongings::of(&scratch.path("."));
    for (args, code, expected) in [
        (
            "Write E 40MB 15 L",
            2,
            "MB \"40MB\" is no number of megabytes",
        ),
        ("Write E 0 15 L", 2, "MB \"0\""),
        ("Write E 4 14 L", 2, "three passes of five seconds take 15"),
        ("Write E 99999999 15 L", 2, "there is no room for"),
        ("Write E 99999999999999 15 L", 2, "must lie between"),
        ("Write E 4 15", 2, "LF is missing"),
        ("Write missing/E 4 15 L", 1, "missing"),
        (
            "Write E 1 15 missing/L --reserve 0",
            1,
            "cannot open the log missing/L",
        ),
        (
            "Write E 1 15 notes.txt --reserve 0",
            2,
            "is no log of diskrand",
        ),
        ("Write sim:nonsense 1 15 L", 2, "nonsense"),
        ("Read missing 1 1 L 1 0", 1, "cannot open missing"),
        ("Read notes.txt 1 1 L 1 0", 2, "not one record of 4096"),
        ("Read . 1 1 L 1 0", 1, "is a directory"),
        ("Read /dev/zero 1 1 L 1 0", 1, "character device"),
        (
            "Read D 1 1 missing/L 1 0",
            1,
            "cannot open the log missing/L",
        ),
        ("Read D 1 1 notes.txt 1 0", 2, "is no log of diskrand"),
        ("Read D 1 1 D 1 0", 2, "is no log of diskrand"),
        ("Read D 1 1 . 1 0", 2, "is no regular file"),
        ("Read D 1 1 L 0 0", 2, "one record at least"),
        ("Read D 1 0 L 1 0", 2, "NT \"0\""),
        (
            "Read D 1 1 L 1 0 9999999999 1",
            2,
            "KM 9999999999 asks for 9.31 TiB of memory",
        ),
        ("Read D 1 1 L 1 0 99999999999999999999 1", 2, "KM"),
        ("Read D 1 1 L 1 0 10", 2, "CP is missing"),
        ("Read D one 1 L 1 0", 2, "UN \"one\""),
        ("Read D 1 1 L 1 5s", 2, "without a unit"),
        ("Delete D", 2, "is no command"),
    ] {
        let words: Vec<&str> = ["diskrand"].into_iter().chain(args.split(' ')).collect();
        scratch.check(&words, code, expected);
    }
    belongings.assert_untouched();
    for name in ["E", "L"] {
        assert!(!scratch.path(name).exists(), "{name} is there");
    }
}

#[test]
fn a_user_number_at_work_is_refused() {
    let scratch = Scratch::new();
    write(&scratch, "D");
    let args = ["diskrand", "Read", "D", "101", "9", "Log.txt", "1", "86400"];
    let mut running = Running::start(scratch.seekstone(args));
    running.wait_for("thinking before transaction");
    let again = ["diskrand", "Read", "D", "101", "1", "Log.txt", "1", "0"];
    scratch.check(
        &again,
        2,
        "user 101 is at work already with the log Log.txt",
    );
    scratch.check(
        &["diskrand", "Erase", "D"],
        2,
        "another diskrand is at work with it",
    );
    let other = ["diskrand", "Read", "D", "102", "1", "Log.txt", "1", "0"];
    scratch.check(&other, 0, "User 102: 1 transactions");
    running.signal(Signal::INT);
    running.end().check(&args, 1, "stopped by SIGINT");
}

/// A day of thinking ends at once, in order.
#[test]
fn a_signal_while_thinking_ends_at_once() {
    let scratch = Scratch::new();
    write(&scratch, "D");
    for (signal, name) in [(Signal::INT, "SIGINT"), (Signal::TERM, "SIGTERM")] {
        let log = format!("{name}.txt");
        // Drawn from two days: no user of these two thinks for less than some hours.
        let args = ["diskrand", "Read", "D", "7", "20", &log, "5", "86400"];
        let mut running = Running::start(scratch.seekstone(args));
        running.wait_for("thinking before transaction 1");
        running.signal(signal);
        let ended = running.end();
        ended.check(&args, 1, &format!("stopped by {name}"));
        assert!(
            ended.stdout.contains("User 7: no transaction was done"),
            "{}",
            ended.stdout
        );
        let text = read(&scratch, &log);
        let last = text.lines().last().expect("lines");
        let expected = format!("User 7 stopped after 0 transactions: stopped by {name}");
        assert!(last.starts_with(&expected), "{text}");
    }
}

/// Some transactions are done when the signal comes: they are summed up, logged and imported.
#[test]
fn what_was_done_before_a_signal_is_kept() {
    let scratch = Scratch::new();
    write(&scratch, "D");
    let args = [
        "diskrand",
        "Read",
        "D",
        "7",
        "1000000000",
        "Log.txt",
        "1",
        "0",
        "1",
        "1",
        "--cpu-unit",
        "10ms",
    ];
    let running = Running::start(scratch.seekstone(args));
    let begun = Instant::now();
    while !fs::read_to_string(scratch.path("Log.txt")).is_ok_and(|log| log.contains("response")) {
        assert!(begun.elapsed() < HANGING, "no transaction is logged");
        std::thread::yield_now();
    }
    running.signal(Signal::INT);
    let ended = running.end();
    ended.check(&args, 1, "stopped by SIGINT");
    assert!(
        ended.stdout.contains("of 1000000000 transactions"),
        "{}",
        ended.stdout
    );
    let imported = scratch.check(&["runs", "import", "Log.txt"], 0, "imported");
    assert!(
        !imported.stderr.contains("mean nothing"),
        "{}",
        imported.stderr
    );
    scratch.check(&["runs", "list"], 0, "partial");
}

#[test]
fn a_signal_while_writing_leaves_nothing() {
    let scratch = Scratch::new();
    let args = [
        "diskrand",
        "Write",
        "D",
        "3000",
        "15",
        "Log.txt",
        "--reserve",
        "0",
    ];
    let mut running = Running::start(scratch.seekstone(args));
    running.wait_for("writing the data file");
    running.signal(Signal::INT);
    let ended = running.end();
    // On a machine that writes at once, the passes have begun.
    if ended.stderr.contains("reading, pass") {
        ended.check(&args, 1, "the data file is whole and stays");
        scratch.check(&["diskrand", "Erase", "D"], 0, "is erased");
    } else {
        ended.check(&args, 1, "the unfinished data file was removed");
    }
    assert!(!scratch.path("D").exists());
}

#[test]
fn a_full_disk_ends_in_one_sentence_and_is_given_back() {
    let test = "a_full_disk_ends_in_one_sentence_and_is_given_back";
    let scratch = Scratch::new();
    write(&scratch, "D");
    let Some(small) = FileSystem::tmpfs(test, &scratch, 4) else {
        return;
    };
    let data = format!("{}/D", small.path());
    let log = format!("{}/Log.txt", small.path());
    let args = ["diskrand", "Write", &data, "2", "15", "L.txt"];
    scratch.check(&args, 2, "there is no room for 2 MiB");
    let args = [
        "diskrand",
        "Write",
        &data,
        "64",
        "15",
        "L.txt",
        "--reserve",
        "0",
    ];
    scratch.check(&args, 2, "there is no room for 64 MiB");
    fs::write(&log, "").expect("a file");
    fill(&small.root);
    let args = ["diskrand", "Read", "D", "1", "5", &log, "5", "0"];
    let ended = scratch.check(&args, 1, "cannot write the log");
    assert!(
        ended.error().contains("No space left on device"),
        "{}",
        ended.error()
    );
    assert_eq!(fs::metadata(&log).expect("the log").len(), 0, "no cut line");
    assert!(!Path::new(&data).exists());
}

/// Writing fails in the middle: the file may not grow beyond one megabyte.
#[test]
fn a_write_that_fails_leaves_nothing() {
    let scratch = Scratch::new();
    let mut command = Command::new("bash");
    let line = "ulimit -f 1024; exec \"$0\" diskrand Write D 4 15 Log.txt --reserve 0 -q";
    command.args(["-c", line, PROGRAM]);
    scratch.settle(&mut command);
    finish(command).check(&["diskrand"], 1, "cannot write D: File too large");
    assert!(!scratch.path("D").exists());
}

#[test]
fn no_permission_is_one_sentence() {
    let test = "no_permission_is_one_sentence";
    if rustix::process::geteuid().is_root() && !support::is_installed("setpriv") {
        return skipped(test, "root may do everything, and setpriv is missing");
    }
    let scratch = Scratch::new();
    write(&scratch, "D");
    fs::create_dir(scratch.path("locked")).expect("a directory");
    let lock = "chmod 000 D; chmod 500 locked; chmod 755 .";
    let done = Command::new("sh")
        .args(["-c", lock])
        .current_dir(scratch.path("."))
        .status();
    assert!(done.is_ok_and(|status| status.success()));
    let run = |words: &str| {
        let mut command = if rustix::process::geteuid().is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", PROGRAM]);
            command
        } else {
            Command::new(PROGRAM)
        };
        command.arg("diskrand").args(words.split(' '));
        scratch.settle(&mut command);
        finish(command)
    };
    let probe = run("--help");
    if probe.code != Some(0) {
        return skipped(test, "another user cannot reach the program");
    }
    for words in [
        "Read D 1 1 locked/L 1 0",
        "Erase D",
        "Write locked/E 1 15 locked/L --reserve 0",
        "Write D 1 15 locked/L --reserve 0",
    ] {
        run(words).check(&[words], 1, "Permission denied");
    }
    assert!(scratch.path("D").exists());
}

#[test]
fn direct_reads_pass_the_page_cache() {
    let test = "direct_reads_pass_the_page_cache";
    let scratch = Scratch::new();
    write(&scratch, "D");
    let args = [
        "diskrand", "Read", "D", "1", "2", "Log.txt", "5", "0", "--direct",
    ];
    let ended = finish(scratch.seekstone(args));
    if ended.stderr.contains("direct I/O") && ended.code == Some(1) {
        return skipped(test, "the file system has no direct I/O");
    }
    ended.check(&args, 0, "past the page cache (direct I/O)");
}
