//! Logs have fio's names and fio's fields, and their values are those of the operations.

use crate::support::Around;
use fio::{Job, JobLog, LogKind, LoggedOp, log_files, read_job_file, resolve};
use units::Duration;

fn jobs(text: &str) -> Vec<Job> {
    let found = resolve(&read_job_file("j.fio", text, &mut Around::default()), &[]);
    assert_eq!(found.faults, [], "{text}");
    found.jobs
}

/// The lines of each log of a job with these options, one operation a microsecond apart or more.
fn lines(options: &str, ops: &[LoggedOp], ended: Duration) -> Vec<(LogKind, String)> {
    let job = &jobs(&format!("[a]\n{options}\n"))[0];
    let mut log = JobLog::new(&job.reports.logs, 1_000_000);
    let mut lines = Vec::new();
    for op in ops {
        log.add(op, &mut |kind, line| lines.push((kind, line.to_owned())));
    }
    log.finish(ended, &mut |kind, line| lines.push((kind, line.to_owned())));
    lines
}

fn of(kind: LogKind, lines: &[(LogKind, String)]) -> String {
    let own = lines.iter().filter(|(its, _)| *its == kind);
    own.map(|(_, line)| line.as_str()).collect()
}

const ALL: &str = "ioengine=libaio\nwrite_bw_log=x\nwrite_iops_log=x\nwrite_lat_log=x\n";

fn op(at_ms: u64, direction: usize, len: u32, completion: u64) -> LoggedOp {
    let at = Duration::from_millis(at_ms);
    LoggedOp {
        priority: 0,
        at,
        issued: at.saturating_sub(Duration::from_nanos(completion)),
        direction,
        offset: 8192,
        len,
        submission: Duration::from_nanos(100),
        completion: Duration::from_nanos(completion),
    }
}

#[test]
fn files_are_named_as_fio_names_them() {
    let names = |text: &str| {
        let files = log_files(&jobs(text)).into_iter();
        files.map(|it| (it.copy, it.name)).collect::<Vec<_>>()
    };
    let owned = |list: &[(usize, &str)]| {
        let list = list.iter();
        list.map(|(copy, name)| (*copy, (*name).to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names("[a]\nnumjobs=2\nwrite_bw_log\n[b]\nwrite_lat_log=d/p\nwrite_hist_log=h\n"),
        owned(&[
            (0, "a_bw.1.log"),
            (1, "a_bw.2.log"),
            (2, "d/p_slat.3.log"),
            (2, "d/p_clat.3.log"),
            (2, "d/p_lat.3.log"),
            (2, "h_clat_hist.3.log"),
        ])
    );
    assert_eq!(
        names(
            "[a]\nwrite_iops_log=x\nwrite_lat_log=x\ndisable_slat=1\ndisable_clat=1\n\
             per_job_logs=0\n"
        ),
        owned(&[(0, "x_lat.log"), (0, "x_iops.log")])
    );
    assert_eq!(names("[a]\nwrite_lat_log=x\ngtod_reduce=1\n"), []);
}

#[test]
fn each_operation_has_a_line() {
    let ops = [op(0, 0, 4096, 40_960), op(3, 1, 8192, 1000)];
    let found = lines(ALL, &ops, Duration::from_millis(4));
    let check = |kind, expected: &str| assert_eq!(of(kind, &found), expected, "{kind:?}");
    check(
        LogKind::Submission,
        "0, 100, 0, 4096, 0\n3, 100, 1, 8192, 0\n",
    );
    check(
        LogKind::Completion,
        "0, 40960, 0, 4096, 0\n3, 1000, 1, 8192, 0\n",
    );
    check(
        LogKind::Latency,
        "0, 41060, 0, 4096, 0\n3, 1100, 1, 8192, 0\n",
    );
    // 4096 bytes in 40.96 us are 100 MB a second.
    check(
        LogKind::Bandwidth,
        "0, 100000, 0, 4096, 0\n3, 8192000, 1, 8192, 0\n",
    );
    check(LogKind::Iops, "0, 1, 0, 4096, 0\n3, 1, 1, 8192, 0\n");
    let more = format!("{ALL}log_offset=1\nlog_prio=1\nlog_issue_time=1\nlog_unix_epoch=1\n");
    let found = lines(&more, &ops[1..], Duration::from_millis(4));
    assert_eq!(
        of(LogKind::Latency, &found),
        "1000003, 1100, 1, 8192, 8192, 0x0000, 2999000\n"
    );
}

#[test]
fn a_window_has_a_line_for_each_direction_that_did_anything() {
    // Windows of 100 ms: two reads and a write in the first, none in the second, one read in the
    // third, which the end cuts short.
    let ops = [
        op(10, 0, 4096, 1000),
        op(20, 0, 12_288, 2001),
        op(99, 1, 1024, 7),
        op(250, 0, 4096, 5),
    ];
    let ended = Duration::from_millis(260);
    let found = lines(&format!("{ALL}log_avg_msec=100\n"), &ops, ended);
    let check = |kind, expected: &str| assert_eq!(of(kind, &found), expected, "{kind:?}");
    check(
        LogKind::Completion,
        "100, 1501, 0, 0, 0\n100, 7, 1, 0, 0\n260, 5, 0, 0, 0\n",
    );
    check(LogKind::Bandwidth, "100, 160, 0, 0, 0\n100, 10, 1, 0, 0\n");
    check(LogKind::Iops, "100, 20, 0, 0, 0\n100, 10, 1, 0, 0\n");
    for (value, expected) in [
        ("max", "100, 2001, 0, 0, 0\n"),
        ("both", "100, 1501, 2001, 0, 0, 0\n"),
    ] {
        let options = format!("{ALL}log_avg_msec=100\nlog_window_value={value}\n");
        let found = lines(&options, &ops[..2], Duration::from_millis(100));
        assert_eq!(of(LogKind::Completion, &found), expected);
        assert_eq!(
            of(LogKind::Iops, &found).lines().count(),
            1,
            "the window is whole"
        );
    }
}

#[test]
fn histograms_hold_every_operation_once_however_coarse() {
    let ops: Vec<LoggedOp> = (0..1000)
        .map(|at| op(at, (at % 2) as usize, 4096, at * 977))
        .collect();
    for (coarseness, classes) in [(0, 1856), (3, 232), (6, 29)] {
        let options =
            format!("write_hist_log=h\nlog_hist_msec=300\nlog_hist_coarseness={coarseness}\n");
        let found = lines(&options, &ops, Duration::from_millis(1000));
        let text = of(LogKind::Histogram, &found);
        let rows = text.lines().map(|line| {
            let fields = line
                .split(", ")
                .map(|it| it.parse::<u64>().expect("a number"));
            fields.collect::<Vec<_>>()
        });
        let rows: Vec<Vec<u64>> = rows.collect();
        let heads: Vec<(u64, u64)> = rows.iter().map(|row| (row[0], row[1])).collect();
        assert_eq!(
            heads,
            [
                (300, 0),
                (300, 1),
                (600, 0),
                (600, 1),
                (900, 0),
                (900, 1),
                (1000, 0),
                (1000, 1)
            ]
        );
        assert!(
            rows.iter().all(|row| row.len() == 3 + classes),
            "{coarseness}"
        );
        let all: u64 = rows.iter().map(|row| row[3..].iter().sum::<u64>()).sum();
        assert_eq!(all, 1000);
    }
    assert_eq!(
        of(
            LogKind::Histogram,
            &lines("write_hist_log=h\n", &ops, Duration::ZERO)
        ),
        ""
    );
}
