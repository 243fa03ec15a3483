//! What `watch` says: events, the status line and the summary.

use units::{Bytes, Duration, format_counted, format_duration_ns};
use watch::{
    LevelFinding, ProbeKind, ProbeTimes, ProcessShare, TargetWatch, WatchEvent, WatchLevel,
    WatchWindow,
};

/// With fewer probes, fewer than ten lie above p99.
const P99_PROBES_MIN: u64 = 1_000;

/// A millisecond since 1970 as text.
pub type WallClock<'a> = &'a dyn Fn(u64) -> String;

/// An event in a line, without its target.
pub fn watch_event(event: &WatchEvent, clock: WallClock<'_>) -> String {
    let slow = &event.slow;
    let begin = clock(slow.begin_ms);
    let span = match slow.end_ms {
        None => format!("{begin} on"),
        Some(end) => format!("{begin} to {}", end_of(&begin, &clock(end))),
    };
    let (what, found) = match slow.probes {
        0 => ("unanswered for", slow.worst_ns),
        1..100 => ("worst", slow.worst_ns),
        _ => ("p99", slow.p99_ns),
    };
    let ns = |ns: u64| format_duration_ns(ns as f64);
    let mut text = format!(
        "{span} {} {what} {} (usual p99 {}, {})",
        event.probe.name(),
        ns(found),
        ns(slow.usual_p99_ns),
        format_counted(slow.probes, "probe"),
    );
    let who: Vec<String> = event.who.iter().map(share).collect();
    let queue = event.queue_max.filter(|queue| *queue > 1);
    let queue = queue.map(|queue| format!("queue {queue}"));
    let causes: Vec<String> = who.into_iter().chain(queue).collect();
    if !causes.is_empty() {
        text += &format!(": {}", causes.join(", "));
    }
    if slow.stays {
        text += ", taken as usual from now on";
    }
    text
}

/// The end of a span whose beginning is given: the time of day alone where the day is the same.
fn end_of(begin: &str, end: &str) -> String {
    let (day, time) = (begin.split('T').next(), end.split_once('T'));
    match time {
        Some((end_day, time)) if Some(end_day) == day => {
            let is_of_clock = |it: &char| it.is_ascii_digit() || *it == ':';
            time.chars().take_while(is_of_clock).collect()
        }
        _ => end.to_owned(),
    }
}

fn share(of: &ProcessShare) -> String {
    let (read, written) = (Bytes(of.read_bytes), Bytes(of.written_bytes));
    let moved = match (of.read_bytes, of.written_bytes) {
        (_, 0) => format!("read {}", read.decimal()),
        (0, _) => format!("wrote {}", written.decimal()),
        _ => format!("read {}, wrote {}", read.decimal(), written.decimal()),
    };
    format!("{} (pid {}) {moved}", of.name, of.pid)
}

/// The present state of a target in a line.
pub fn watch_status(target: &str, watch: &TargetWatch) -> String {
    let hour = watch.last_hour();
    let kinds = ProbeKind::ALL.into_iter();
    let kinds = kinds.filter_map(|kind| of_kind(kind, &hour, watch));
    let kinds: Vec<String> = kinds.collect();
    let events = format_counted(watch.events(), "event");
    match kinds.is_empty() {
        true => format!("{target}: no probe answered yet"),
        false => format!("{target}: {} in the last hour, {events}", kinds.join(", ")),
    }
}

fn of_kind(kind: ProbeKind, hour: &WatchWindow, watch: &TargetWatch) -> Option<String> {
    let times = hour.times(kind);
    let p50 = times.quantile(0.5)?;
    let ns = |ns: u64| format_duration_ns(ns as f64);
    let slow = watch.going_on(kind).map_or("", |_| " SLOW,");
    let p99 = p99(times).map_or_else(String::new, |it| format!(" p99 {},", ns(it)));
    Some(format!(
        "{} p50 {},{p99} max {}{slow}",
        kind.name(),
        ns(p50),
        ns(times.max_ns())
    ))
}

/// The 99th percentile, where enough probes lie above it.
fn p99(times: &ProbeTimes) -> Option<u64> {
    (times.count() >= P99_PROBES_MIN).then(|| times.quantile_or_max(0.99))
}

/// The answer of a whole watch in a sentence, and what was not counted in further lines.
pub fn watch_summary(target: &str, watch: &TargetWatch, elapsed: Duration) -> String {
    let all = watch.all();
    let ns = |ns: u64| format_duration_ns(ns as f64);
    let of = |kind: ProbeKind| {
        let times = all.times(kind);
        let p50 = times.quantile(0.5)?;
        let (name, max) = (kind.name(), ns(times.max_ns()));
        Some(match p99(times) {
            Some(p99) => format!("{name} p99 {}, longest {max}", ns(p99)),
            None => {
                let of = format_counted(times.count(), "probe");
                format!("{name} p50 {}, longest {max} of {of}", ns(p50))
            }
        })
    };
    let kinds: Vec<String> = ProbeKind::ALL.into_iter().filter_map(of).collect();
    let kinds = match kinds.is_empty() {
        true => "no probe was answered".to_owned(),
        false => kinds.join(", "),
    };
    let slow = match watch.events() {
        0 if !watch.knows_usual() => "Too few probes to know what is usual".to_owned(),
        0 => "It was never slower than usual".to_owned(),
        n => format!("It was slower than usual {}", format_counted(n, "time")),
    };
    let mut text = format!(
        "{target} for {}: {kinds}. {slow}.",
        format_duration_ns(elapsed.as_nanos() as f64)
    );
    for (probes, why) in [
        (all.failed, "failed with an error"),
        (all.late, "issued late by seekstone itself"),
        (all.stopped, "under way while seekstone stood still"),
        (all.withheld, "left out while the device's queue was long"),
    ] {
        if probes > 0 {
            text += &format!(
                "\n  not counted: {}, {why}",
                format_counted(probes, "probe")
            );
        }
    }
    text
}

/// That a level is broken, or kept again.
pub fn watch_level(level: &WatchLevel, found: &LevelFinding) -> String {
    format!(
        "{} of {}s in the last hour: {}, {level}",
        if found.is_kept {
            "kept again"
        } else {
            "broken"
        },
        found.kind.name(),
        format_duration_ns(found.found_ns as f64)
    )
}

/// Windows as a table of hours.
pub fn watch_hours(windows: &[WatchWindow], clock: WallClock<'_>) -> String {
    const HOUR_S: u64 = 3_600;
    let mut text = format!(
        "{:<25} {:<5} {:>7} {:>9} {:>9} {:>9}\n",
        "hour", "probe", "probes", "p50", "p99", "max"
    );
    for hour in windows.chunk_by(|one, other| one.start_s / HOUR_S == other.start_s / HOUR_S) {
        let mut all = hour[0].clone();
        hour[1..].iter().for_each(|it| all.merge(it));
        let begin = clock(all.start_s * 1_000);
        for kind in ProbeKind::ALL {
            let times = all.times(kind);
            let Some(p50) = times.quantile(0.5) else {
                continue;
            };
            let ns = |ns: u64| format_duration_ns(ns as f64);
            let p99 = p99(times).map_or_else(String::new, ns);
            text += &format!(
                "{begin:<25} {:<5} {:>7} {:>9} {:>9} {:>9}\n",
                kind.name(),
                times.count(),
                ns(p50),
                p99,
                ns(times.max_ns())
            );
        }
    }
    text.truncate(text.trim_end().len());
    text
}
