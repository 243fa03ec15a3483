//! What `watch` saw is read again, and keeps within its budget.

use archive::{Archive, WatchEntries};
use watch::{ProbeKind, SlowEvent, WatchEvent, WatchWindow};

fn minute(number: u64) -> WatchWindow {
    let mut window = WatchWindow::at(1_700_000_400 + 60 * number);
    window.failed = number;
    window
}

fn event(begin_ms: u64, end_ms: Option<u64>) -> WatchEvent {
    WatchEvent {
        target: "/data".into(),
        probe: ProbeKind::Read,
        slow: SlowEvent {
            begin_ms,
            end_ms,
            probes: 1,
            worst_ns: 2,
            p99_ns: 2,
            usual_p99_ns: 1,
            stays: false,
        },
        who: Vec::new(),
        queue_max: Some(3),
        pressure_io: None,
    }
}

#[test]
fn windows_and_events_are_read_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("archive.db");
    let mut archive = Archive::open(&path).expect("an archive");
    for hour in 0..10 {
        let of_data = (60 * hour..60 * (hour + 1)).map(|it| ("/data".into(), minute(it)));
        let entries = WatchEntries {
            windows: of_data.chain([("/b".into(), minute(0))]).collect(),
            events: vec![event(1_700_000_401_000, (hour > 3).then_some(hour))],
        };
        archive.keep_watched(&entries, 4_000).expect("kept");
    }
    let archive = Archive::open_existing(&path).expect("an archive");
    let windows = archive.watched_windows("/data", 0).expect("windows");
    assert!(windows.len() < 600, "{}", windows.len());
    assert_eq!(windows[1].span_s, 3_600);
    assert_eq!(windows.last(), Some(&minute(599)));
    let failed: u64 = windows.iter().map(|it| it.failed).sum();
    assert_eq!(failed, (0..600).sum::<u64>());
    let late = archive.watched_windows("/data", 1_700_000_400 + 60 * 599);
    assert_eq!(late.expect("windows"), [minute(599)]);
    let events = archive.watched_events("/data", 0).expect("events");
    assert_eq!(events, [event(1_700_000_401_000, Some(9))]);
    assert_eq!(archive.watched_targets().expect("names"), ["/b", "/data"]);
}
