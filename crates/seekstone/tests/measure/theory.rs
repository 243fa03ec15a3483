//! A trial on a queue prints what the textbook says of the same load, with wait and service apart.

use crate::support::{Scratch, finish};
use serde_json::Value;

fn trial(args: &[&str]) -> Value {
    let common = ["--seed", "1", "--no-save", "--quiet", "--json", "-"];
    let ended = finish(Scratch::new().seekstone([&["trial"], args, &common].concat()));
    ended.check(args, 0, "");
    ended.json()["measurements"][0].take()
}

#[track_caller]
fn number(value: &Value) -> f64 {
    let found = value.as_f64();
    found.unwrap_or_else(|| panic!("a number was expected, not {value}"))
}

/// The truth lies within twice the interval: chance puts one seed in 10,000 outside.
#[track_caller]
fn assert_near(estimate: &Value, truth: f64) {
    let [value, low, high] = ["value", "low", "high"].map(|key| number(&estimate[key]));
    let half = (high - low) / 2.0;
    assert!(half < 0.1 * truth, "{estimate} is wide");
    assert!(
        (value - truth).abs() <= 2.0 * half,
        "{estimate} and not {truth}"
    );
}

#[track_caller]
fn check(args: &[&str], name: &str, [wait, service, per_second]: [f64; 3]) {
    let found = trial(args);
    let law = &found["law"];
    assert_eq!(law["name"], name);
    for (key, expected) in [
        ("wait_mean_ns", wait),
        ("service_mean_ns", service),
        ("response_mean_ns", wait + service),
        ("per_second", per_second),
    ] {
        let ratio = number(&law[key]) / expected;
        assert!(
            (ratio - 1.0).abs() < 1e-3,
            "{key}: {} and not {expected}",
            law[key]
        );
    }
    assert_near(&found["response"]["mean"], wait + service);
    assert_near(&found["throughput"], per_second);
    assert_near(&found["server"]["wait"], wait);
    let measured = number(&found["server"]["service"]["value"]);
    assert!(
        (measured / service - 1.0).abs() < 0.02,
        "{measured} and not {service}"
    );
}

/// Bug: the last operation was served and not counted as done, so that a client who is alone waited
/// for 76 ns (0.0 .. 24,923.9).
#[test]
fn who_is_alone_never_waits() {
    for model in ["sim:mm1?mean=1ms", "sim:mm1?mean=1ms&drift=50%@20s"] {
        let found = trial(&[model, "--duration", "10s"]);
        let wait = &found["server"]["wait"];
        assert_eq!(
            ["value", "low", "high"].map(|key| number(&wait[key])),
            [0.0; 3]
        );
    }
}

/// 5,000 clients shared 1,024 requests; the time that they waited for one was not reported.
#[test]
fn clients_have_a_request_each_or_wait_for_one() {
    let device = "sim:delay?time=5ms";
    let each = trial(&[device, "--clients", "5000", "--duration", "500ms"]);
    assert_eq!(number(&each["response"]["mean"]["value"]), 5e6);
    assert_eq!(number(&each["server"]["wait"]["high"]), 0.0);
    let load = ["trial", device, "--clients", "50000", "--duration", "500ms"];
    let form = ["--no-save", "--quiet", "--json", "-"];
    let ended = finish(Scratch::new().seekstone(load.iter().chain(&form)));
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let shared = ended.json()["measurements"][0].take();
    let warnings = shared["warnings"].to_string();
    assert!(warnings.contains("own-limit"), "{warnings}");
    assert!(
        number(&shared["server"]["wait"]["value"]) > 5e6,
        "{}",
        shared["server"]
    );
}

#[test]
fn even_arrivals_and_hits_and_misses_have_their_laws() {
    // 0.20319 of the arrivals at half the load find the server busy.
    let even = [
        "sim:mm1?mean=100us",
        "--rate",
        "5k/s",
        "--shape",
        "constant",
        "--precision",
        "1%",
    ];
    check(&even, "D/M/1", [25.5e3, 100e3, 5000.0]);
    let cache = "sim:cache?hit=10us&miss=1ms&hits=90%&run=1";
    let mixed = [cache, "--rate", "5k/s", "--precision", "2%"];
    check(&mixed, "M/G/1", [1_099_890.0, 109e3, 5000.0]);
}

#[test]
fn open_queues_have_the_wait_of_the_textbook() {
    let load = ["--rate", "8k/s", "--precision", "2%"];
    let mm1 = [&["sim:mm1?mean=100us"], &load[..]].concat();
    check(&mm1, "M/M/1", [400e3, 100e3, 8000.0]);
    let md1 = [&["sim:md1?time=100us"], &load[..]].concat();
    check(&md1, "M/D/1", [200e3, 100e3, 8000.0]);
    // Erlang's C of four servers at 80 % is 0.59643.
    let mmc = [
        "sim:mmc?mean=100us&servers=4",
        "--rate",
        "32k/s",
        "--precision",
        "1%",
    ];
    check(&mmc, "M/M/4", [74_554.0, 100e3, 32_000.0]);
}

/// Two clients who think as long as a service takes: one server is busy for 4 of 5.
#[test]
fn closed_queues_have_the_wait_of_machine_repair() {
    let args = [
        "sim:mm1?mean=1ms",
        "--clients",
        "2",
        "--think",
        "1ms",
        "--precision",
        "1%",
    ];
    check(&args, "M/M/1//2 (machine repair)", [500e3, 1e6, 800.0]);
}

#[test]
fn where_no_law_holds_none_is_printed() {
    for target in ["sim:mm1?mean=1ms&drift=10%@1s", "sim:fireball"] {
        let found = trial(&[target, "--duration", "2s"]);
        assert_eq!(found["law"], Value::Null, "{target}");
    }
    let machine = trial(&["sim:fireball", "--duration", "2s"]);
    assert_eq!(machine["server"], Value::Null);
}

/// The page, as a reader sees it.
fn page(args: &[&str]) -> String {
    let common = ["--seed", "1", "--no-save", "--quiet"];
    let ended = finish(Scratch::new().seekstone([&["trial"], args, &common].concat()));
    ended.check(args, 0, "");
    ended.stdout
}

#[test]
fn a_client_alone_waits_in_no_queue_and_is_not_several() {
    let found = trial(&["sim:delay?time=1ms", "--duration", "2s"]);
    assert_eq!(found["law"]["name"], "1 client, no queue");
}

#[test]
fn a_mean_without_an_interval_lies_inside_of_none() {
    let page = page(&[
        "sim:mm1?mean=1ms",
        "--duration",
        "31ms",
        "--warm-up",
        "30ms",
    ]);
    assert!(page.contains("no interval to hold it against"), "{page}");
    assert!(!page.contains("inside the interval"), "{page}");
}

#[test]
fn a_warm_up_that_takes_all_the_time_is_refused() {
    for (time, ok) in [("10s", 2), ("30s", 2), ("31s", 0)] {
        let args = [
            "trial",
            "sim:mm1?mean=1ms",
            "--warm-up",
            "30s",
            "--duration",
            time,
        ];
        let ended = finish(Scratch::new().seekstone([&args[..], &["--no-save", "-q"]].concat()));
        assert_eq!(ended.code, Some(ok), "{time}: {}", ended.stderr);
        let named = ended.stderr.contains("nothing would be left of --duration");
        assert_eq!(named, ok == 2, "{time}: {}", ended.stderr);
    }
}
