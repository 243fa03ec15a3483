//! The archive and a run under way as pages: a browser is answered what the other forms say.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};

use crate::support::http::{asked, connected, events, get, url_in};
use crate::support::{self, Running, Scratch};
use rustix::process::Signal;
use serde_json::Value;

/// A model, at once.
const TRIAL: [&str; 6] = [
    "trial",
    "sim:mm1?mean=100us",
    "--rate",
    "2k",
    "--duration",
    "5s",
];

fn archived(scratch: &Scratch, seed: &str) {
    let args = [&TRIAL[..], &["--seed", seed, "--quiet"]].concat();
    scratch.check(&args, 0, "Saved as run");
}

#[test]
fn the_archive_is_listed_opened_and_compared() {
    let scratch = Scratch::new();
    archived(&scratch, "1");
    archived(&scratch, "2");
    let mut server = Running::start(scratch.seekstone(["serve", "--listen", "0"]));
    let url = url_in(&server.line_with("serving http://127.0.0.1:"));
    let (status, list) = get(&url, "");
    assert_eq!(status, 200);
    for part in [
        "href=\"run/1\"",
        "value=\"2\"",
        "sim:mm1?mean=100us",
        "action=\"compare\"",
    ] {
        assert!(list.contains(part), "{part}: {list}");
    }
    let exported = |form: &str| {
        let args = ["runs", "export", "2", "--form", form];
        scratch.check(&args, 0, "").stdout
    };
    assert_eq!(get(&url, "run/2"), (200, exported("html")));
    assert_eq!(get(&url, "run/2.json"), (200, exported("json")));
    let listed = scratch
        .check(&["runs", "list", "--json", "-"], 0, "")
        .stdout;
    assert_eq!(get(&url, "runs.json"), (200, listed));

    let page = scratch.path("compared.html");
    let page = page.to_str().expect("a path");
    scratch.check(&["runs", "compare", "1", "2", "--html", page], 0, "");
    let expected = fs::read_to_string(page).expect("a page");
    // However they were ticked, the older one is the base.
    assert_eq!(get(&url, "compare?run=2&run=1"), (200, expected));
    for (path, status, why) in [
        ("compare?run=1", 400, "Tick two runs"),
        ("compare?run=1&run=1", 400, "Tick two runs"),
        ("run/x", 400, "not a run number"),
        ("run/9", 404, "9"),
        ("compare?run=1&run=9", 404, "9"),
        ("../archive.db", 404, "no page"),
    ] {
        let (found, body) = get(&url, path);
        assert_eq!(found, status, "{path}: {body}");
        assert!(body.contains(why), "{path}: {body}");
    }
    // A run that was saved meanwhile is there.
    archived(&scratch, "3");
    assert!(get(&url, "").1.contains("href=\"run/3\""));
    server.signal(Signal::INT);
    server.end().check(&["serve"], 0, "serving");
}

#[test]
fn what_cannot_be_served_is_said_at_once() {
    let scratch = Scratch::new();
    scratch.check(&["serve", "--listen", "0"], 1, "archive");
    scratch.check(&["serve", "--listen", "here"], 2, "give a port");
    archived(&scratch, "1");
    let mut server = Running::start(scratch.seekstone(["serve", "--listen", "0"]));
    let url = url_in(&server.line_with("serving"));
    let port = url
        .trim_end_matches('/')
        .rsplit_once(':')
        .expect("a port")
        .1;
    scratch.check(
        &["serve", "--listen", port],
        1,
        ": Address already in use (os error 98)\n",
    );
    server.signal(Signal::TERM);
    server.end().check(&["serve"], 0, "");
}

/// Readers that leave before the answer, in the middle of it, and before they have asked.
#[test]
fn readers_that_go_away_stop_no_server() {
    let scratch = Scratch::new();
    archived(&scratch, "1");
    for signal in [Signal::INT, Signal::TERM] {
        let mut server = Running::start(scratch.seekstone(["serve", "--listen", "0"]));
        let url = url_in(&server.line_with("serving"));
        let (status, page) = get(&url, "run/1");
        assert_eq!(status, 200);
        for _ in 0..20 {
            drop(asked(&url, "run/1"));
            let mut first = [0; 1];
            asked(&url, "run/1").read_exact(&mut first).expect("a byte");
            assert_eq!(first, *b"H");
        }
        let silent = connected(&url);
        assert_eq!(get(&url, "run/1"), (200, page));
        // One that is connected and asks for nothing does not hold up the end.
        server.signal(signal);
        server.end().check(&["serve"], 0, "serving");
        drop(silent);
    }
}

/// One reader leaves after the first figures, one never reads, one leaves at once: the run has
/// every operation that its model has without them.
#[test]
fn readers_that_go_away_cost_a_live_run_nothing() {
    let scratch = Scratch::new();
    let measured = |extra: &[&str]| {
        let args = ["--no-save", "--seed", "1", "--json", "-"];
        let args = [&TRIAL[..], &args, extra].concat();
        let run = scratch.seekstone(&args);
        (args.join(" "), Running::start(run))
    };
    let (args, alone) = measured(&[]);
    let alone = alone.end();
    alone.check(&[&args], 0, "");
    let (args, mut run) = measured(&["--live"]);
    let url = url_in(&run.line_with("live: http://127.0.0.1:"));
    drop(asked(&url, "events"));
    let unread = asked(&url, "events");
    drop(asked(&url, ""));
    let ended = run.end();
    ended.check(&[&args], 0, "");
    drop(unread);
    let figures = |ended: &support::Ended| {
        let run = ended.json();
        (run["summary"].clone(), run["measurements"].clone())
    };
    assert_eq!(figures(&ended), figures(&alone));

    let args = ["trial", "null:", "--duration", "1s", "--live"];
    let args = [&args[..], &["--json", "run.json"]].concat();
    let mut run = Running::start(scratch.seekstone(&args));
    let url = url_in(&run.line_with("live: http://127.0.0.1:"));
    let mut lines = BufReader::new(asked(&url, "events")).lines();
    let figures = lines.any(|line| line.expect("text").starts_with("data:"));
    assert!(figures);
    drop(lines);
    run.end().check(&args, 0, "Saved as run");
    let written = fs::read_to_string(scratch.path("run.json")).expect("JSON");
    let written: Value = serde_json::from_str(&written).expect("JSON");
    assert_eq!(written["status"]["state"], "complete");
    assert!(written["elapsed_ns"].as_u64() >= Some(1_000_000_000));
}

/// A run is followed to its end, and what the browser holds then is the run.
fn follow(args: &[&str], title: &str) {
    let scratch = Scratch::in_memory();
    let json = scratch.path("run.json");
    let args = [args, &["--live", "--json", "run.json"]].concat();
    let mut run = Running::start(scratch.seekstone(&args));
    let url = url_in(&run.line_with("live: http://127.0.0.1:"));
    let (status, page) = get(&url, "");
    assert_eq!(status, 200);
    assert!(
        page.contains(title) && page.contains("EventSource"),
        "{page}"
    );
    let told = events(&url);
    run.end().check(&args, 0, "");
    let ((name, last), glimpses) = told.split_last().expect("events");
    assert_eq!(name, "end");
    let written = fs::read_to_string(json).expect("JSON");
    let written: Value = serde_json::from_str(&written).expect("JSON");
    let held = report::run_in_page(last).expect("a run");
    let held: Value = serde_json::from_str(&held).expect("JSON");
    for key in ["id", "elapsed_ns", "setup"] {
        assert_eq!(held[key], written[key], "{key}");
    }
    assert!(!glimpses.is_empty());
    let mut elapsed = 0.0;
    for (_, glimpse) in glimpses {
        let glimpse: Value = serde_json::from_str(glimpse).expect("JSON");
        let now = glimpse["elapsed_s"].as_f64().expect("a time");
        assert!(now >= elapsed, "{told:?}");
        elapsed = now;
        let done = glimpse["done"].as_f64().expect("a share");
        assert!((0.0..=1.0).contains(&done), "{glimpse}");
        let left = glimpse["left_s"].as_f64();
        assert!(left.is_none_or(|left| left < 1e6), "{glimpse}");
        assert!(glimpse["operations"].is_u64(), "{glimpse}");
    }
}

#[test]
fn a_trial_is_followed_to_its_page() {
    follow(&["trial", "null:", "--duration", "1s"], "trial null:");
}

#[test]
fn a_comparison_is_followed_to_its_page() {
    let short = ["--set", "duration=300ms", "--set", "size=16MiB"];
    let rounds = [&["--rounds", "2", "--reserve", "0"][..], &short].concat();
    follow(&[&["compare", ".", "."][..], &rounds].concat(), "compare ");
}

#[test]
fn a_kind_that_is_a_study_is_followed_to_its_page() {
    let short = ["--replicates", "3", "--time", "1s", "--size", "16MiB"];
    follow(
        &[&["wal", ".", "--reserve", "0"][..], &short].concat(),
        "wal ",
    );
}

#[test]
fn workloads_are_followed_to_their_page() {
    let short = ["--budget", "4s", "--size", "8MiB", "--reserve", "0"];
    follow(&[&["rab", "."][..], &short].concat(), "rab ");
}

#[test]
fn a_job_of_fio_is_followed_to_its_page() {
    let job = ["--name=a", "--ioengine=null", "--size=1g", "--runtime=1"];
    follow(&[&["fio"][..], &job, &["--time_based"]].concat(), "fio");
}

#[test]
fn live_needs_an_address() {
    let scratch = Scratch::new();
    scratch.check(&["trial", "null:", "--live=nowhere"], 2, "give a port");
}
