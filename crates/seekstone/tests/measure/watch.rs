//! `watch` and `ping` on models, in virtual time.

use serde_json::Value;

use crate::support::{Scratch, finish};

/// A day with three stalls of two minutes.
const STALLS: &str = "sim:nvme?stall=2min@every:6h";

fn lines_with<'a>(text: &'a str, part: &str) -> Vec<&'a str> {
    text.lines().filter(|line| line.contains(part)).collect()
}

#[test]
fn a_day_of_a_model_is_told_and_kept() {
    let scratch = Scratch::new();
    let args = ["watch", STALLS, "--for", "24h", "--level", "p99 <= 1ms"];
    let told = scratch.check(&args, 4, "was broken").stdout;
    for kind in ["read", "sync"] {
        let ended = lines_with(&told, "ended: ");
        let ended: Vec<&str> = ended.into_iter().filter(|it| it.contains(kind)).collect();
        assert_eq!(ended.len(), 3, "{told}");
        for (line, hour) in ended.iter().zip(["06:0", "12:0", "18:0"]) {
            assert!(
                line.starts_with(&format!("ended: 1970-01-01T{hour}")),
                "{line}"
            );
        }
    }
    assert_eq!(
        lines_with(&told, "level broken of reads").len(),
        3,
        "{told}"
    );
    assert_eq!(
        lines_with(&told, "level kept again of reads").len(),
        3,
        "{told}"
    );
    let past = scratch.check(&["watch", STALLS, "--past", "2d"], 0, "");
    let rows = lines_with(&past.stdout, ":00:00Z   ");
    assert_eq!(rows.len(), 48, "24 hours of both kinds: {}", past.stdout);
    assert_eq!(lines_with(&past.stdout, " to ").len(), 6, "{}", past.stdout);
    let lines = scratch.check(&["watch", STALLS, "--past", "7h", "--json"], 0, "");
    let of = |kind: &str| lines_with(&lines.stdout, &format!("\"type\":\"{kind}\"")).len();
    assert_eq!((of("minute"), of("event")), (7 * 60, 2), "{}", lines.stdout);
    // What was seen within the last hours alone.
    let past = scratch.check(&["watch", STALLS, "--past", "7h"], 0, "");
    assert_eq!(lines_with(&past.stdout, " to ").len(), 2, "{}", past.stdout);
    scratch.check(
        &["watch", "sim:mm1", "--past", "1h"],
        2,
        "nothing is kept of sim:mm1",
    );
}

#[test]
fn a_level_that_is_kept_or_open_has_its_exit_code() {
    let scratch = Scratch::new();
    let level = ["--level", "p99 <= 1ms", "--no-save"];
    let args = [&["watch", "sim:nvme", "--for", "2h"][..], &level].concat();
    let told = scratch.check(&args, 0, "was kept in every hour").stdout;
    assert!(told.contains("It was never slower than usual"), "{told}");
    let args = [&["watch", "sim:nvme", "--for", "10min"][..], &level].concat();
    scratch.check(&args, 5, "Too few probes");
}

#[test]
fn json_lines_are_events_minutes_and_a_summary() {
    let scratch = Scratch::new();
    let models = [
        "watch",
        STALLS,
        "sim:mm1",
        "--for",
        "7h",
        "--json",
        "--no-save",
    ];
    let told = scratch.check(&models, 0, "").stdout;
    let documents: Vec<Value> = told
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let of = |kind: &str| documents.iter().filter(|it| it["type"] == kind).count();
    // Each of both targets has its minutes, and what is left at the end.
    assert_eq!(of("minute"), 2 * (7 * 60 + 1));
    assert_eq!(of("event"), 4, "{told}");
    assert_eq!(of("summary"), 1);
    let event = documents.iter().find(|it| it["what"] == "ended");
    let event = &event.expect("an event that ended")["event"];
    assert_eq!(event["target"], STALLS);
    assert!(event["worst_ns"].as_u64() > Some(60_000_000_000), "{event}");
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let target = target.to_str().expect("a path");
    scratch.check(&["watch", "null:"], 2, "nothing to watch");
    scratch.check(&["watch", "sim:nvme", target], 2, "a clock of their own");
    scratch.check(&["watch", "nowhere"], 2, "nowhere");
    scratch.check(
        &["watch", "sim:nvme", "--listen", "0"],
        2,
        "--listen is for storage",
    );
    scratch.check(
        &["watch", target, "--level", "fast"],
        2,
        "as in 'p99 <= 20ms'",
    );
    scratch.assert_clean(&scratch.target());
}

#[test]
fn pings_are_lines_json_or_a_line_for_nagios() {
    let scratch = Scratch::new();
    let ping = |more: &[&str], code: i32| {
        let args = [&["ping", "sim:mm1?mean=1ms"][..], more].concat();
        scratch.check(&args, code, "").stdout
    };
    let told = ping(&["-c", "3"], 0);
    let lines = lines_with(&told, "4 KiB from sim:mm1?mean=1ms: request=");
    assert_eq!(lines.len(), 3, "{told}");
    assert!(told.contains("3 of 3 reads answered: min "), "{told}");
    assert_eq!(ping(&["-c", "3", "-q"], 0).lines().count(), 1);
    let document: Value = serde_json::from_str(&ping(&["--json"], 0)).expect("JSON");
    assert_eq!(
        (&document["asked"], &document["answered"]),
        (&10.into(), &10.into())
    );
    for (warn, crit, code, state) in [
        ("1s", "2s", 0, "OK"),
        ("1us", "2s", 1, "WARNING"),
        ("1us", "2us", 2, "CRITICAL"),
    ] {
        let limits = ["--warn", warn, "--crit", crit];
        let args = [&["ping", "sim:mm1?mean=1ms", "-c", "20"][..], &limits].concat();
        // A state of Nagios is no error of this program.
        let ended = finish(scratch.seekstone(args));
        assert_eq!(ended.code, Some(code), "{ended:?}");
        let told = ended.stdout;
        assert!(
            told.starts_with(&format!("SEEKSTONE {state} - read p95 ")),
            "{told}"
        );
        assert_eq!(told.lines().count(), 1, "{told}");
        assert!(told.contains("20 of 20 answered | p95=0.00"), "{told}");
    }
}

#[test]
fn a_directory_is_pinged_and_left_as_it_was() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let path = target.to_str().expect("a path");
    for more in [&[][..], &["--sync"]] {
        let args = [&["ping", path, "-c", "5", "-i", "0"][..], more].concat();
        let told = scratch.check(&args, 0, "5 of 5 ").stdout;
        assert_eq!(lines_with(&told, ": request=").len(), 5, "{told}");
    }
    let file = target.join("main");
    let file = file.to_str().expect("a path");
    scratch.check(&["ping", file, "--sync"], 2, "is smaller than a probe");
    scratch.assert_clean(&target);
}
