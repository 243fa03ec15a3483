//! The random access test of 1997 as a user runs it, with files of a few megabytes.

use std::fs;

use crate::support::data_files::{read, write};
use crate::support::tables::{figure, row};
use crate::support::{Ended, Running, Scratch, finish, skipped};

/// A model whose answers do not depend on this machine.
const MODEL: &str = "sim:mm1?mean=8ms";

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

/// Sections 7 and 9.5 restrict the file cache by the programs' memory. The log told of memory that
/// was allocated, and ten transactions took 10.0 s whatever it was.
#[test]
fn memory_of_a_program_is_taken_from_a_models_file_cache() {
    let scratch = Scratch::new();
    let seconds = |log: &str, kilobytes: &str| -> f64 {
        let disk = "sim:ppro?size=40M";
        let args = [
            "diskrand", "Read", disk, "99", "10", log, "1000", "0", kilobytes, "0",
        ];
        let ended = scratch.check(&args, 0, "10 transactions, 10000 I/Os in ");
        let said = &ended.stdout;
        assert!(said.contains("the file cache answered "), "{said}");
        let (_, after) = said.split_once("response mean ").expect("a mean");
        let number = after.split_whitespace().next().expect("a number");
        number.parse().expect("seconds")
    };
    let (little, much) = (seconds("A", "10"), seconds("B", "18000"));
    assert!(
        much > 1.2 * little,
        "{little} s, and {much} s with 18 MB less"
    );
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
    let run = scratch.check(&["runs", "export", "1"], 0, "").json();
    let all = row(&run, "transactions", &["1", "all"]);
    assert_eq!(figure(all, "transactions"), 30.0, "{}", shown.stdout);
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
    let sample = include_str!("../../../vintage/src/fixtures/diskrand.log");
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

/// A day of thinking ends at once, in order.
/// Some transactions are done when the signal comes: they are summed up, logged and imported.
/// Writing fails in the middle: the file may not grow beyond one megabyte.
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

/// The 486 took 36 ms for the unit of work that it defines as a second.
#[test]
fn machines_of_the_document_have_its_unit_of_work() {
    let scratch = Scratch::new();
    let seconds = |disk: &str, user: &str, more: &[&str]| -> f64 {
        let args = ["diskrand", "Read", disk, user, "1", "L", "1", "0", "0", "1"];
        let ended = scratch.check(&[&args[..], more].concat(), 0, "response");
        let words: Vec<&str> = ended.stdout.split_whitespace().collect();
        let at = words.iter().position(|word| *word == "response");
        let found = words[at.expect("a transaction") + 1];
        found.parse().expect("seconds")
    };
    for (machine, unit) in [("i486", 1.0), ("p100", 0.25), ("ppro", 0.1)] {
        let disk = format!("sim:{machine}");
        let found = seconds(&disk, "1", &[]);
        assert!((unit..unit + 0.05).contains(&found), "{machine}: {found}");
        let found = seconds(&disk, "2", &["--cpu-unit", "5s"]);
        assert!((5.0..5.05).contains(&found), "{machine}: {found}");
    }
}

/// Section 4 writes `DataFile.txt` and reads `Datafile.txt`, and in between `RanData.txt`.
#[test]
fn a_name_that_is_nearly_there_is_named() {
    let scratch = Scratch::new();
    fs::write(scratch.path("DataFile.txt"), vec![0; 8192]).expect("a file");
    let read = |file: &str| ["diskrand", "Read", file, "1", "1", "L", "1", "0"].map(str::to_owned);
    for file in ["Datafile.txt", "DatFile.txt", "DDataFile.txt"] {
        let args = read(file);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        scratch.check(&args, 2, "there is DataFile.txt");
    }
    let args = read("other.txt");
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let ended = finish(scratch.seekstone(&args));
    assert!(!ended.stderr.contains("there is"), "{}", ended.stderr);
}

/// A response of a microsecond came back as 954 ns: times were kept from 1970 on.
#[test]
fn a_microsecond_is_imported_as_one() {
    let scratch = Scratch::new();
    let mut log = "Disk test RAND in C++ Win95/NT Version 1\nMon Jul 7 12:53:44 1997\n\n\
        User 23, 20 transactions, 1 I/O/transaction, 1 think secs\n\
        Read R.txt, 40 MB, 10240 records, 0 CP load\nRandom number seed 23\n"
        .to_owned();
    for second in 0..20 {
        let time = format!("12:54:{:02}", second + 10);
        log += &format!("23 {time} think 1 response 0.000001 secs. load 0.000\n");
    }
    fs::write(scratch.path("LogFile.txt"), log).expect("a log");
    scratch.check(&["runs", "import", "LogFile.txt"], 0, "run 1");
    let run = scratch.check(&["runs", "export", "1"], 0, "").json();
    let all = row(&run, "transactions", &["1", "all"]);
    assert_eq!(figure(all, "latency-from-start-min"), 1e-6);
    assert_eq!(figure(all, "latency-from-start-max"), 1e-6);
}
