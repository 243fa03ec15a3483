//! Loads at a response time, of clients that wait and of random arrivals, as a user asks for them.

use crate::support::Scratch;
use serde_json::Value;

/// Every option that makes a run repeatable, and its result JSON.
const QUIET: [&str; 6] = ["--json", "-", "--no-save", "--quiet", "--seed", "1"];

fn found(args: &[&str]) -> Value {
    let scratch = Scratch::new();
    let args = [args, &QUIET].concat();
    scratch.check(&args, 0, "").json()
}

fn covers(estimate: &Value, truth: f64) {
    let end = |name: &str| estimate[name].as_f64().expect("a number");
    let (low, high) = (end("low"), end("high"));
    assert!(low <= truth && truth <= high, "{truth}: {estimate}");
    assert!(high - low < 0.2 * truth, "{estimate}");
}

/// M/M/1 of 1000 per second: R = 1 / (1000 - load), and the response is exponential.
#[test]
fn random_arrivals_have_their_own_load_at_a_level() {
    let model = "sim:mm1?mean=1ms";
    let open = ["curve", model, "--open", "--budget", "1h"];
    let of_mean = found(&[&open[..], &["--level", "2ms"]].concat());
    assert_eq!(of_mean["curves"][0]["arrivals"], "open");
    covers(&of_mean["curves"][0]["levels"][0]["load"], 500.0);
    let of_p99 = found(&[&open[..], &["--level", "10ms@p99"]].concat());
    assert_eq!(of_p99["curves"][0]["percentile"], 0.99);
    let truth = 1000.0 - 100_f64.ln() / 0.010;
    covers(&of_p99["curves"][0]["levels"][0]["load"], truth);
}

/// Bug: a curve could not be told how long a storage takes to settle. Eight servers of 1 ms carry
/// 8000 per second; every trial of this model is three times as slow at first, for 2 s.
#[test]
fn a_curve_leaves_out_the_warm_up_of_every_point() {
    let model = "sim:mmc?mean=1ms&servers=8&warm-up=200%@2s";
    let asked = ["curve", model, "--level", "1500us", "--budget", "10min"];
    let names = |run: &Value| {
        let warnings = run["curves"][0]["warnings"].as_array().expect("warnings");
        let names = warnings
            .iter()
            .map(|it| it["code"].as_str().expect("a code").to_owned());
        names.collect::<Vec<_>>()
    };
    let as_it_is = found(&asked);
    assert_eq!(names(&as_it_is), ["warm-up", "curve-drift"]);
    let settled = found(&[&asked[..], &["--warm-up", "2s"]].concat());
    assert_eq!(names(&settled), ["warm-up-left-out"]);
    covers(&settled["curves"][0]["levels"][0]["load"], 8000.0);
    let settings = settled["setup"]["settings"].as_array().expect("settings");
    let warm_up = settings.iter().find(|it| it["name"] == "warm-up");
    assert_eq!(warm_up.expect("it is recorded")["values"][0], "2s");
}

#[test]
fn a_warm_up_that_leaves_no_time_for_a_curve_is_refused() {
    let args = [
        "curve",
        "sim:mm1?mean=1ms",
        "--budget",
        "60s",
        "--warm-up",
        "10s",
    ];
    Scratch::new().check(&args, 2, "Nothing would be left of --budget 1 min");
}

/// A closed load of 100 % at 2 ms, and what everybody else waits for at nine tenths of it.
#[test]
fn the_check_up_tries_each_level_under_random_arrivals() {
    let scratch = Scratch::new();
    let args = [
        "run",
        "sim:mm1?mean=1ms",
        "--level",
        "2ms",
        "--no-save",
        "-q",
        "--seed",
        "1",
    ];
    let screen = scratch.check(&args, 0, "IOPS, closed loop, at a mean latency of");
    for expected in ["Sustains 1,", "Open loop: ", "open loop  9"] {
        assert!(
            screen.stdout.contains(expected),
            "{expected}: {}",
            screen.stdout
        );
    }
    let level = &found(&args[..4])["curves"][0]["levels"][0];
    let offered = level["open"]["offered"].as_f64().expect("a rate");
    let truth = 1e9 / (1000.0 - offered);
    let response = &level["open"]["response"];
    let (low, high) = (response["low"].as_f64(), response["high"].as_f64());
    assert!(low < Some(truth) && high > Some(truth), "{truth}: {level}");
    assert_eq!(level["open"]["is_within"], false);
}

#[test]
fn levels_that_mean_nothing_are_refused() {
    let scratch = Scratch::new();
    let mixed = ["--level", "1ms", "--level", "5ms@p99"];
    for (level, expected) in [
        (&mixed[..], "every --level must use the mean, or the same"),
        (&["--level", "1ms@99"], "use for instance 5ms@p99"),
        (
            &["--level", "1ms@p100"],
            "not a percentile from p50 to p99.999",
        ),
        (&["--level", "p99=5ms"], "put the time first, as in 5ms@p99"),
        (&["--level", "5ms@p99@p50"], "not a percentile"),
        (&["--open", "--think", "1ms"], "cannot be used with"),
        (&["--open", "--clients-max", "8"], "cannot be used with"),
    ] {
        let args = [&["curve", "sim:mm1"], level].concat();
        scratch.check(&args, 2, expected);
    }
}
