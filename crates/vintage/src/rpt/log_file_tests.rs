//! Logs are read back.

use super::*;
use crate::rpt::log::{log_header, not_converged};

/// The facts of the manual's excerpt, wrapped as it wraps them.
const EXCERPT: &str = include_str!("../fixtures/excerpt.rpl");

#[test]
fn the_manuals_excerpt_is_read() {
    let log = RptLog::read(EXCERPT).expect("a log");
    assert_eq!(log.timestamp.as_deref(), Some("Fri Jun 23 12:36:08 1995"));
    assert_eq!(log.command.as_deref(), Some("rpt -t rptq.rpt"));
    assert_eq!(log.thread_name.as_deref(), Some(" "));
    assert_eq!(log.strange, Vec::<usize>::new());
    assert_eq!(log.entries.len(), 12, "{:#?}", log.entries);
    let LogEntry::Sum {
        at, sums, factor, ..
    } = &log.entries[5]
    else {
        panic!("{:?}", log.entries[5])
    };
    assert_eq!((*at, sums.messages, sums.xfer_sq), (170.0, 32.0, 3.404_86));
    assert_eq!(*factor, 0.076_782_6);
    let LogEntry::Warning { threads, text, .. } = &log.entries[7] else {
        panic!("{:?}", log.entries[7])
    };
    assert_eq!(
        (*threads, text.as_str()),
        (1, not_converged(32.0, 209.62).as_str())
    );
    let LogEntry::Interpolation { part, .. } = &log.entries[9] else {
        panic!("{:?}", log.entries[9])
    };
    assert_eq!(*part, 1.0);
    let LogEntry::Results(block) = &log.entries[10] else {
        panic!("{:?}", log.entries[10])
    };
    assert_eq!(
        (block.name.as_str(), block.rows.len()),
        ("TransactionWorkload", 1)
    );
    assert_eq!((block.rabmark_r, block.rabmark_s), (1.056_959, 0.076_546));
}

#[test]
fn the_excerpts_calculations_follow_from_its_sums() {
    let log = RptLog::read(EXCERPT).expect("a log");
    let mut checked = 0;
    for pair in log.entries.windows(2) {
        if let [
            LogEntry::Sum { sums, .. },
            LogEntry::Calculation(.., calculation),
        ] = pair
        {
            let found = sums.calculation();
            let is_near = |a: f64, b: f64| (a - b).abs() <= 1e-5 * b.abs();
            assert!(
                is_near(found.response_ms, calculation.response_ms),
                "{found:?}"
            );
            assert!(is_near(found.load, calculation.load), "{found:?}");
            assert!(is_near(found.rabmark_r, calculation.rabmark_r), "{found:?}");
            assert!(is_near(found.rabmark_n, calculation.rabmark_n), "{found:?}");
            checked += 1;
        }
    }
    assert_eq!(checked, 3);
}

fn sums() -> Sums {
    Sums {
        threads: 2.5,
        messages: 8.0,
        kbytes: 3200.0,
        nios: 800.0,
        seek: 0.25,
        xfer: 16.5,
        total: 40.125,
        seek_sq: 0.5,
        xfer_sq: 0.75,
        total_sq: 200.0,
        message_total: 0.0,
    }
}

/// One entry of each kind that has no calculation.
fn entries() -> [LogEntry; 8] {
    let sums = sums();
    [
        LogEntry::Active(1.0, 3, 1),
        LogEntry::Message(ThreadMessage::of(
            3,
            &Sums {
                kbytes: 400.0,
                nios: 100.0,
                xfer: 2.5,
                total: 5.0,
                xfer_sq: 0.125,
                total_sq: 25.0,
                ..Sums::default()
            },
        )),
        LogEntry::Sum {
            at: 60.0,
            number: 2,
            sums,
            factor: 0.5,
        },
        LogEntry::Interpolation {
            at: 61.0,
            number: 3,
            sums,
            part: 0.25,
        },
        LogEntry::Warning {
            run: 1,
            workload: 1,
            threads: 4,
            text: "a note".into(),
        },
        LogEntry::Results(Block {
            run: 2,
            mode: Mode::Rebuild,
            at: 3661.0,
            workload: 1,
            name: "Multi User Workload".into(),
            rows: vec![LevelRow {
                level: 0,
                response_ms: 0.25,
                load: 4000.0,
            }],
            rabmark_r: 1.5,
            rabmark_s: 0.25,
        }),
        LogEntry::Average {
            count: 3,
            rabmark_r: 0.5,
            rabmark_s: 0.25,
            remark: "modes Normal, Rebuild".into(),
        },
        LogEntry::Inactive(62.0, 3, 1),
    ]
}

#[test]
fn what_is_written_is_read_back() {
    let entries = entries();
    let mut text = log_header("Fri Jun 23 12:36:08 1995", &["-t".into(), "x.rpt".into()]);
    for entry in &entries {
        text.push_str(&entry.render());
        text.push('\n');
    }
    let log = RptLog::read(&text).expect("a log");
    assert_eq!(log.entries, entries);
    assert_eq!(log.strange, Vec::<usize>::new());
}

#[test]
fn times_in_ticks_become_seconds() {
    let text =
        "initialized at 100 clock ticks/s\n0:00:01 s0: 1 8 32 8 0 200 400 0 10000 20000 0.1\n";
    let log = RptLog::read(text).expect("a log");
    let LogEntry::Sum { sums, .. } = &log.entries[0] else {
        panic!("{log:?}")
    };
    assert_eq!((sums.xfer, sums.total, sums.xfer_sq), (2.0, 4.0, 1.0));
}

#[test]
fn what_is_no_log_is_refused() {
    assert_eq!(RptLog::read(""), Err(NoLog::Nothing));
    assert_eq!(RptLog::read("[section]\nkey=1\n"), Err(NoLog::Nothing));
    let text = format!(
        "{}0:00:01 s0: 1 8 32 8 0 2 4 0 1 2 0.1\n",
        "word salad\n".repeat(20)
    );
    assert!(matches!(
        RptLog::read(&text),
        Err(NoLog::Strange { first: 1, .. })
    ));
}
