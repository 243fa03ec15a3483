//! What `watch` says, and its metrics, read by a parser of their own.

use std::collections::{BTreeMap, BTreeSet};

use report::{watch_event, watch_hours, watch_metrics, watch_status, watch_summary};
use units::{Duration, Instant};
use watch::{Probe, ProbeKind, ProcessShare, SlowEvent, TargetWatch, WatchCounter, WatchEvent};

/// 03:12:07 of the first day.
const BEGIN_MS: u64 = ((3 * 60 + 12) * 60 + 7) * 1_000;

fn clock(ms: u64) -> String {
    let (day, second) = (1 + ms / 86_400_000, ms / 1_000 % 86_400);
    let (minute, hour) = (second / 60 % 60, second / 3_600);
    format!("1970-01-{day:02}T{hour:02}:{minute:02}:{:02}Z", second % 60)
}

fn event() -> WatchEvent {
    WatchEvent {
        target: "/data".into(),
        probe: ProbeKind::Read,
        slow: SlowEvent {
            begin_ms: BEGIN_MS,
            end_ms: Some(BEGIN_MS + 12_000),
            probes: 1_200,
            worst_ns: 900_000_000,
            p99_ns: 480_000_000,
            usual_p99_ns: 4_000_000,
            stays: false,
        },
        who: vec![ProcessShare {
            pid: 4711,
            name: "pg_dump".into(),
            read_bytes: 2_100_000_000,
            written_bytes: 0,
        }],
        queue_max: Some(128),
        pressure_io: None,
    }
}

#[test]
fn an_event_says_when_how_slow_and_who() {
    let check = |event: &WatchEvent, expected: &str| {
        assert_eq!(watch_event(event, &clock), expected);
    };
    let mut told = event();
    check(
        &told,
        "1970-01-01T03:12:07Z to 03:12:19 read p99 480 ms (usual p99 4.00 ms, 1,200 probes): \
         pg_dump (pid 4711) read 2.10 GB, queue 128",
    );
    told.slow.end_ms = Some(BEGIN_MS + 86_400_000);
    told.slow.stays = true;
    told.slow.probes = 7;
    told.who.clear();
    told.queue_max = Some(1);
    check(
        &told,
        "1970-01-01T03:12:07Z to 1970-01-02T03:12:07Z read worst 900 ms (usual p99 4.00 ms, 7 \
         probes), taken as usual from now on",
    );
    told.slow.end_ms = None;
    told.slow.probes = 0;
    told.slow.stays = false;
    check(
        &told,
        "1970-01-01T03:12:07Z on read unanswered for 900 ms (usual p99 4.00 ms, 0 probes)",
    );
}

/// A watch of so many seconds with reads of 1 ms, one of 3 ms, and one that came too late.
fn watch(seconds: u64) -> TargetWatch {
    let mut watch = TargetWatch::new(Duration::from_secs(1), 0);
    for second in 1..=seconds {
        let due = Instant(second * 1_000_000_000);
        let probe = Probe {
            kind: ProbeKind::Read,
            due,
            completed: due + Duration::from_millis(if second == 9 { 3 } else { 1 }),
            lateness: Duration::ZERO,
            result: Ok(()),
        };
        assert_eq!(watch.take(&probe, second * 1_000, second == 7), None);
        watch.count(WatchCounter::DeviceReads, 2);
        watch.count(WatchCounter::DeviceQueueMax, second % 10);
        watch.at(second);
    }
    watch
}

#[test]
fn the_status_and_the_summary_are_short() {
    let watch = watch(3_600);
    let status = watch_status("/data", &watch);
    let expected = "/data: read p50 1.00 ms, p99 1.01 ms, max 3.00 ms in the last hour, 0 events";
    assert_eq!(status, expected);
    let summary = watch_summary("/data", &watch, Duration::from_secs(3_600));
    let expected = "/data for 1 h: read p99 1.01 ms, longest 3.00 ms. It was never slower than \
                    usual.\n  not counted: 1 probe, under way while seekstone stood still";
    assert_eq!(summary, expected);
}

/// Bug: after 59 probes the longest was called their p99, and none was slower than usual.
#[test]
fn few_probes_have_no_p99_and_nothing_usual() {
    let watch = watch(59);
    let status = watch_status("/data", &watch);
    assert_eq!(
        status,
        "/data: read p50 1.00 ms, max 3.00 ms in the last hour, 0 events"
    );
    let summary = watch_summary("/data", &watch, Duration::from_secs(59));
    let expected = "/data for 59.0 s: read p50 1.00 ms, longest 3.00 ms of 58 probes. Too few \
                    probes to know what is usual.";
    assert_eq!(summary.lines().next(), Some(expected));
    let hours = watch_hours(&[watch.all()], &clock);
    assert_eq!(hours.matches("3.00 ms").count(), 1, "{hours}");
}

/// A sample: its labels and value.
type Sample = (BTreeMap<String, String>, f64);

/// The samples of a page by name, as OpenMetrics 1.0 has them: each family declared before its
/// samples, all of its samples together, its unit at the end of its name, one mark of the end.
fn parsed(page: &str) -> BTreeMap<String, Vec<Sample>> {
    let mut found: BTreeMap<String, Vec<Sample>> = BTreeMap::new();
    let mut families = BTreeSet::new();
    let (mut family, mut kind) = (String::new(), String::new());
    let body = page.strip_suffix("# EOF\n").expect("the mark of the end");
    for line in body.lines() {
        if let Some(declared) = line.strip_prefix("# ") {
            let mut words = declared.splitn(3, ' ');
            let mut word = || words.next().expect("a word");
            let (what, name, text) = (word(), word(), word());
            match what {
                "TYPE" => {
                    assert!(families.insert(name.to_owned()), "{name} is declared twice");
                    (family, kind) = (name.to_owned(), text.to_owned());
                }
                "UNIT" => assert!(name.ends_with(&format!("_{text}")), "{line}"),
                "HELP" => assert!(text.ends_with('.'), "{line}"),
                _ => panic!("{line}"),
            }
            assert_eq!(name, family, "{line}");
            continue;
        }
        let (name, labels, value) = match line.split_once('{') {
            Some((name, rest)) => {
                let (labels, value) = rest.rsplit_once("} ").expect("labels and a value");
                (name, labels, value)
            }
            None => {
                let (name, value) = line.split_once(' ').expect("a value");
                (name, "", value)
            }
        };
        let suffix = name.strip_prefix(&*family).expect("a sample of its family");
        let allowed: &[&str] = match &*kind {
            "counter" => &["_total"],
            "gauge" => &[""],
            "histogram" => &["_bucket", "_count", "_sum"],
            _ => panic!("{kind}"),
        };
        assert!(allowed.contains(&suffix), "{line}");
        let labels = labels.split(',').filter(|it| !it.is_empty()).map(|it| {
            let (key, value) = it.split_once('=').expect("a label");
            let value = value.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
            (key.to_owned(), value.expect("quotes").to_owned())
        });
        let sample = (labels.collect(), value.parse().expect("a number"));
        found.entry(name.to_owned()).or_default().push(sample);
    }
    found
}

#[test]
fn metrics_are_sound_and_say_what_was_seen() {
    let watch = watch(3_600);
    let page = watch_metrics(
        [("/data", &watch), ("/b", &watch)].into_iter(),
        2_500_000_000,
    );
    let found = parsed(&page);
    let of = |name: &str| {
        let samples = found.get(name).unwrap_or_else(|| panic!("{name}: {page}"));
        samples[0].1
    };
    let buckets = &found["seekstone_watch_probe_seconds_bucket"];
    let (one, other) = buckets.split_at(buckets.len() / 2);
    assert_eq!(one[0].0["target"], "/data");
    assert_eq!(other[0].0["target"], "/b");
    let le = |sample: &Sample| match &*sample.0["le"] {
        "+Inf" => f64::INFINITY,
        le => le.parse().expect("a number"),
    };
    assert!(
        one.is_sorted_by(|a, b| le(a) < le(b) && a.1 <= b.1),
        "{one:?}"
    );
    let last = one.last().expect("buckets");
    assert_eq!((le(last), last.1), (f64::INFINITY, 3_599.0));
    let below = |limit: f64| one.iter().rfind(|it| le(it) < limit).map(|it| it.1);
    assert_eq!(below(0.001), Some(0.0));
    assert_eq!(below(0.0029), Some(3_598.0));
    assert_eq!(of("seekstone_watch_probe_seconds_count"), 3_599.0);
    assert!((of("seekstone_watch_probe_seconds_sum") - 3.601).abs() < 1e-9);
    assert_eq!(of("seekstone_watch_device_reads_total"), 7_200.0);
    assert_eq!(of("seekstone_watch_device_queue_max"), 9.0);
    assert_eq!(of("seekstone_watch_events_total"), 0.0);
    assert_eq!(of("seekstone_watch_slow"), 0.0);
    assert_eq!(of("seekstone_watch_own_cpu_seconds_total"), 2.5);
    let reasons = found["seekstone_watch_probes_not_counted_total"].iter();
    let stopped: Vec<f64> = reasons
        .filter(|(labels, _)| labels["reason"] == "stopped")
        .map(|it| it.1)
        .collect();
    assert_eq!(stopped, [1.0, 1.0]);
}

#[test]
fn a_hostile_target_stays_one_label() {
    let watch = watch(3_600);
    let page = watch_metrics([("a\"b\\c\nd# EOF", &watch)].into_iter(), 0);
    assert_eq!(page.lines().filter(|line| *line == "# EOF").count(), 1);
    for line in page.lines().filter(|it| it.contains("target=")) {
        assert!(line.contains(r#"target="a\"b\\c"#), "{line}");
    }
}
