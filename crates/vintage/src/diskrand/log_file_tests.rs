use super::super::{LogName, PassLength, TRANSACTIONS_LOG};
use super::*;

/// All samples of the document, with the line ends that were lost in its text.
const SAMPLES: &str = include_str!("../fixtures/diskrand.log");

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn the_documents_logs_are_read() {
    let log = DiskRandLog::read(SAMPLES).expect("a log");
    assert_eq!(log.strange, [0; 0]);
    assert_eq!(log.writes.len(), 1);
    let run = &log.writes[0];
    assert_eq!(run.started.as_deref(), Some("Mon Jul  7 12:53:44 1997"));
    assert_eq!(run.size, (40, 10_240));
    assert_eq!(run.written.as_ref().map(|it| it.seconds), Some(17.45));
    let found: Vec<(f64, u64, f64)> = run
        .passes
        .iter()
        .map(|pass| (pass.seconds, pass.records, pass.milliseconds))
        .collect();
    assert_eq!(
        found,
        [(6.18, 800, 7.72), (6.19, 800, 7.74), (6.2, 800, 7.75)]
    );
    let users: Vec<(u32, usize, u64)> = log
        .sessions
        .iter()
        .map(|session| {
            let profile = session.profile.as_ref().expect("a profile");
            (session.user, session.transactions.len(), profile.seed)
        })
        .collect();
    assert_eq!(
        users,
        [(23, 20, 23), (23, 20, 513), (99, 10, 99), (91, 10, 91)]
    );
    let zread = &log.sessions[1];
    assert_eq!(zread.allocated.as_ref().map(|it| it.seconds), Some(12.55));
    assert_eq!(zread.profile.as_ref().map(|it| it.cpu_units), Some(2.0));
    assert_eq!(zread.transactions[4].load, 3.812);
    assert_eq!(
        log.sessions[3].profile.as_ref().map(|it| it.records),
        Some(25_541)
    );
}

/// Loads vary as the document says: the sample's mean factor is near one.
#[test]
fn the_documents_factors_scale_its_response_times() {
    let log = DiskRandLog::read(SAMPLES).expect("a log");
    let of = |session: &UserSession, value: fn(&Transaction) -> f64| {
        let values = session.transactions.iter().map(value);
        values.sum::<f64>() / session.transactions.len() as f64
    };
    let zread = &log.sessions[1];
    assert!((of(zread, |it| it.load) - 0.9726).abs() < 0.001);
    let ratio = of(zread, |it| it.response_s) / of(zread, |it| it.load);
    for transaction in &zread.transactions {
        let expected = ratio * transaction.load;
        assert!(
            (transaction.response_s - expected).abs() < 0.4,
            "{transaction:?}"
        );
    }
    // Whole seconds, from zero to twice the mean.
    let thinks = log.sessions[..2].iter().flat_map(|it| &it.transactions);
    assert!(thinks.clone().all(|it| it.think_s <= 2));
    assert_eq!(thinks.map(|it| it.think_s).sum::<u32>(), 37);
}

/// Prints what was parsed, and compares it word by word with the document.
#[test]
fn every_line_of_the_document_comes_out() {
    let log = DiskRandLog::read(SAMPLES).expect("a log");
    let mut lines = Vec::new();
    for run in &log.writes {
        let written = run.written.as_ref().expect("it was written");
        lines.extend([
            written.title(),
            written.line(),
            RandomPass::TITLE.to_owned(),
        ]);
        lines.extend(run.passes.iter().map(RandomPass::line));
    }
    for session in &log.sessions {
        lines.extend(session.allocated.as_ref().map(Allocated::line));
        lines.push(session.profile.as_ref().expect("a profile").lines());
        lines.extend(session.transactions.iter().map(Transaction::line));
    }
    let printed = lines.join("\n");
    let document = SAMPLES
        .lines()
        .filter(|line| !line.starts_with("Disk test"));
    let document = document.collect::<Vec<_>>().join("\n");
    assert_eq!(words(&printed), words(&document));
    assert_eq!(
        printed.lines().filter(|it| it.contains(" think ")).count(),
        64
    );
}

fn transactions(user: u32, count: usize) -> String {
    let line =
        |second| format!("{user} 12:00:{second:02} think 0 response 0.500 secs. load 0.000\n");
    (0..count).map(line).collect()
}

fn profile(user: u32, count: usize) -> String {
    format!(
        "Disk test RAND in Rust Linux Version 1  Sun Nov 22 12:00:00 2026\n\
         User {user}, {count} transactions, 2 I/O/transaction, 0 think secs\n\
         Read D, 1 MB, 256 records, 0 CP load\nRandom number seed {user}\n"
    )
}

#[test]
fn users_are_told_apart_in_one_log() {
    let mixed = [
        profile(1, 2),
        profile(2, 3),
        transactions(2, 1),
        transactions(1, 2),
        transactions(2, 2),
        profile(1, 1),
        transactions(1, 1),
    ];
    let log = DiskRandLog::read(&mixed.concat()).expect("a log");
    let found: Vec<(u32, usize)> = log
        .sessions
        .iter()
        .map(|session| (session.user, session.transactions.len()))
        .collect();
    assert_eq!(found, [(1, 2), (2, 3), (1, 1)]);
    assert_eq!(log.transactions(), 6);
}

#[test]
fn two_logs_are_joined() {
    let words = ["Read", "D", "1", "2", "2LOGS", "3", "4"].map(str::to_owned);
    let typed = super::super::typed(&words, PassLength::AsDocumented).expect("arguments");
    let super::super::DiskrandArguments::Read(typed) = typed else {
        panic!("{typed:?}");
    };
    assert_eq!((typed.log, TRANSACTIONS_LOG), (LogName::Two, "Multi2.txt"));
    // User 1 runs twice and is stopped the first time; user 9 has no profile.
    let first = [
        profile(99, 1),
        transactions(99, 1),
        profile(1, 5),
        profile(2, 2),
        "User 1 stopped after 2 transactions: stopped by SIGINT\n".into(),
        profile(1, 3),
    ];
    let second = [
        transactions(1, 2),
        transactions(2, 1),
        transactions(9, 1),
        transactions(1, 3),
        transactions(2, 1),
    ];
    let read = |parts: &[String]| DiskRandLog::read(&parts.concat()).expect("a log");
    let joined = read(&first).with_transactions(read(&second));
    let found: Vec<(u32, usize, Option<u64>)> = joined
        .sessions
        .iter()
        .map(|session| (session.user, session.transactions.len(), session.wanted()))
        .collect();
    let expected = [
        (99, 1, Some(1)),
        (1, 2, Some(2)),
        (2, 2, Some(2)),
        (1, 3, Some(3)),
        (9, 1, None),
    ];
    assert_eq!(found, expected);
}

#[test]
fn other_texts_are_refused() {
    for text in [
        "",
        "\n\n",
        "notes of mine\n",
        "Disk test RAND in C++ Version 1\n",
    ] {
        assert_eq!(
            DiskRandLog::read(text),
            Err(NoDiskRandLog::Nothing),
            "{text:?}"
        );
    }
    for (text, expected) in [
        ("\n  \nDisk test RAND in C++ DOS Version 1\n", true),
        ("101 12:00:00 think 0 response 0.5 secs. load 0.0\n", true),
        (
            "User 99, 10 transactions, 1000 I/O/transaction, 0 think secs\n",
            true,
        ),
        ("", false),
        ("\n", false),
        ("User manual\n", false),
        ("Random reading list\n", false),
        ("Fri Jun 23 12:36:08 1995\n\n[00:00] a log of rpt\n", false),
        ("1 Random disk test - this is data\n", false),
        ("101 12:00:00 think", false),
    ] {
        assert_eq!(begins_log(text), expected, "{text:?}");
    }
}

#[test]
fn lines_that_mean_nothing_are_counted() {
    let good = transactions(1, 1);
    for wrong in [
        "1 12:00:00 think 0 response 0.5 secs. load",
        "1 25:00:00 think 0 response 0.5 secs. load 0.0",
        "1 12:00:00 think -1 response 0.5 secs. load 0.0",
        "1 12:00:00 think 0 response -0.5 secs. load 0.0",
        "1 12:00:00 think 0 response inf secs. load 0.0",
        "x 12:00:00 think 0 response 0.5 secs. load 0.0",
        "User 4294967296, 1 transactions, 1 I/O/transaction, 0 think secs",
        "User 2, many transactions, 1 I/O/transaction, 0 think secs",
        "User 8 stopped after 3 transactions: of nobody",
        "Read without a profile, 1 MB, 256 records, 0 CP load",
        "Read D, 1 MB, 256 records",
        "Random number seed 5",
        "Random number seed x",
        "6.18 seconds for 800 records at 7.72 ms 12:54:11",
        "17.45 seconds for writing file at 2.29 MB/s 12:54:01",
        "2 12:00:00 start/allocate memory x secs. 1 Kbytes",
        "File written many Mbytes, 5 records of 4096 bytes",
        "; a comment",
    ] {
        let log = DiskRandLog::read(&format!("{good}{wrong}\n")).expect("a log");
        assert_eq!(
            (log.strange.as_slice(), log.transactions()),
            (&[2][..], 1),
            "{wrong}"
        );
    }
}
