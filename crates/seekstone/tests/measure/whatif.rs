//! `seekstone whatif` on curves of known queues, and what it refuses.

use std::fs;

use crate::support::Scratch;
use serde_json::Value;

const DISK: &str = "sim:mmc?servers=4&mean=5ms";

/// Run 1 is a load curve of four servers of 5 ms and clients that think for 50 ms.
fn with_curve(scratch: &Scratch) {
    let args = ["curve", DISK, "--think", "50ms", "--seed", "1", "--quiet"];
    scratch.check(&args, 0, "Saved as run 1");
}

#[track_caller]
fn asked(scratch: &Scratch, args: &[&str]) -> Value {
    let args = [&["whatif"], args, &["--json", "-"]].concat();
    scratch.check(&args, 0, "\"scores\"").json()
}

fn contains(estimate: &Value, truth: f64) -> bool {
    let end = |name: &str| estimate[name].as_f64().unwrap_or(f64::INFINITY);
    end("low") <= truth && truth <= end("high")
}

#[test]
fn answers_come_with_scores_and_hold_the_truth() {
    let scratch = Scratch::new();
    with_curve(&scratch);
    let before = fs::read(scratch.archive()).expect("the archive");
    let found = asked(&scratch, &["1", "--clients", "20,60", "--level", "20ms"]);
    assert_eq!(found["model"], "several exponential servers");
    assert!(contains(&found["parameters"][1]["value"], 4.0), "{found}");
    let predictions = &found["predictions"];
    // M/M/4//N with 50 ms of thinking, from the balance of births and deaths.
    assert!(contains(&predictions[0]["response"], 5.189e6), "{found}");
    assert!(contains(&predictions[1]["response"], 25.11e6), "{found}");
    assert!(predictions.as_array().is_some_and(|it| {
        it.len() == 3 && it.iter().all(|one| one["is_extrapolated"] == false)
    }));
    let after = fs::read(scratch.archive()).expect("the archive");
    assert!(before == after, "the archive was changed");
    let text = ["whatif", "1", "--clients", "20"];
    scratch.check(&text, 0, "How well each model predicts what it did not see");
}

#[test]
fn mistakes_are_named() {
    let scratch = Scratch::new();
    scratch.check(&["whatif", "1"], 1, "");
    with_curve(&scratch);
    let check = |args: &[&str], code: i32, expected: &str| {
        let args = [&["whatif"], args].concat();
        let ended = scratch.check(&args, code, "");
        assert!(
            ended.error().contains(expected),
            "{args:?}: {}",
            ended.error()
        );
    };
    check(&["7"], 1, "7");
    check(&["0"], 2, "0");
    check(&["x"], 2, "invalid");
    check(&["1", "--clients", "0"], 2, "0 is not in");
    check(&["1", "--clients", "5000"], 2, "ten times beyond");
    check(
        &["1", "--clients", "400"],
        2,
        "is outside the measured range",
    );
    check(&["1", "--load", "5ms"], 2, "5ms");
    check(&["1", "--load", "0/s"], 2, "above zero");
    check(&["1", "--load", "810/s"], 2, "sustains");
    check(&["1", "--level", "0"], 2, "above zero");
    check(&["1", "--level", "5MiB"], 2, "5MiB");
    check(&["1", "--cache", "120%"], 2, "between 0% and 100%");
    check(&["1", "--cache", "50%"], 2, "cache and device apart");
    check(
        &["1", "--device", "/dev/null"],
        2,
        "only a simulated device",
    );
    check(&["1", "--device", "sim:drum"], 2, "no simulated device");
    check(&["1", "--check", "1"], 2, "named twice");
}

#[test]
fn other_kinds_of_runs_are_refused() {
    let scratch = Scratch::new();
    with_curve(&scratch);
    let trial = ["trial", "sim:mm1", "--budget", "5s", "--quiet"];
    scratch.check(&trial, 0, "Saved as run 2");
    let other = ["curve", "sim:mm1", "--seed", "1", "--quiet"];
    scratch.check(&other, 0, "Saved as run 3");
    let ended = scratch.check(&["whatif", "2"], 2, "");
    assert!(
        ended.error().contains("is a run of `trial`"),
        "{}",
        ended.error()
    );
    let ended = scratch.check(&["whatif", "1", "3"], 2, "");
    assert!(
        ended.error().contains("not of the same kind"),
        "{}",
        ended.error()
    );
}

#[test]
fn what_is_extrapolated_is_marked() {
    let scratch = Scratch::new();
    with_curve(&scratch);
    let args = ["whatif", "1", "--clients", "500", "--extrapolate"];
    scratch.check(&args, 0, "extrapolated");
    let found = asked(&scratch, &["1", "--servers", "8", "--clients", "60"]);
    assert_eq!(found["predictions"][0]["is_extrapolated"], true);
}

#[test]
fn the_same_load_runs_on_a_simulated_device() {
    let scratch = Scratch::new();
    with_curve(&scratch);
    let args = ["1", "--quiet", "--device", "sim:delay?time=5ms"];
    let found = asked(&scratch, &args);
    let rows = found["device_rows"].as_array().expect("rows");
    assert!(rows.len() > 3, "{found}");
    for row in rows {
        assert_eq!(row["device_response"]["value"], 5e6);
    }
}

/// What the cache answers shows in the times of reads one at a time.
#[test]
fn another_share_of_the_cache_is_an_extrapolation() {
    let scratch = Scratch::new();
    let device = "sim:cache?hit=10us&miss=2ms&hits=50%&run=2";
    let args = ["run", device, "--budget", "300s", "--seed", "2", "--quiet"];
    scratch.check(&args, 0, "Saved as run 1");
    let found = asked(&scratch, &["1", "--cache", "80%"]);
    let prediction = &found["predictions"][0];
    assert_eq!(prediction["is_extrapolated"], true);
    let clients = prediction["clients"].as_f64().expect("a number");
    let truth = clients * (0.8 * 10e3 + 0.2 * 2e6);
    assert!(contains(&prediction["response"], truth), "{truth}: {found}");
}

/// Users of a processor and a disk: four runs are fitted together, and a fifth is predicted.
#[test]
fn transactions_are_predicted_from_other_numbers_of_users() {
    let scratch = Scratch::new();
    for users in ["4", "10", "20", "40", "28"] {
        let args = [
            "transactions",
            "sim:mm1?mean=10ms",
            "--users",
            users,
            "--ios",
            "5",
            "--cpu",
            "20ms",
            "--think",
            "1s",
            "--budget",
            "20min",
            "--seed",
            "1",
            "--quiet",
        ];
        scratch.check(&args, 0, "Saved as run");
    }
    let found = asked(
        &scratch,
        &["1", "2", "3", "4", "--users", "28", "--check", "5"],
    );
    assert_eq!(found["clients_name"], "users");
    assert_eq!(found["unseen"][0]["met"], 1, "{found}");
    // Too few to leave any out: further runs are what the model is tested on.
    let found = asked(&scratch, &["1", "3", "--check", "2,4,5", "--users", "15"]);
    assert_eq!(found["scores"][0]["held_out"], 3, "{found}");
    let few = ["whatif", "1"];
    let ended = scratch.check(&few, 2, "");
    assert!(ended.error().contains("too few"), "{}", ended.error());
}

/// "1.00 ms at 3,900/s" was true of four clients that never think; arrivals at that rate wait ten
/// times as long.
#[test]
fn a_load_is_predicted_closed_and_open() {
    let scratch = Scratch::new();
    let device = "sim:mmc?servers=4&mean=1ms";
    let args = ["curve", device, "--seed", "1", "--quiet"];
    scratch.check(&args, 0, "Saved as run 1");
    let found = asked(&scratch, &["1", "--load", "3600/s"]);
    let [closed, open] = &found["predictions"].as_array().expect("predictions")[..] else {
        panic!("{found}");
    };
    let question = closed["question"].as_str().unwrap_or_default();
    assert!(
        question.starts_with("a load of 3,600/s, closed, with 3.6"),
        "{found}"
    );
    assert!(contains(&closed["response"], 1e6), "{found}");
    // M/M/4 at 90 %, by Erlang's formula.
    assert_eq!(open["question"], "a load of 3,600/s, open");
    assert!(contains(&open["response"], 2.969e6), "{found}");
    let value = |found: &Value| found["response"]["value"].as_f64().expect("a time");
    assert!(value(open) > 2.0 * value(closed), "{found}");
    assert_eq!(open["is_extrapolated"], true);
    assert!(open["clients"].is_null(), "{found}");
    let text = ["whatif", "1", "--load", "3600/s"];
    let text = scratch.check(&text, 0, "Predictions").stdout;
    let words: Vec<&str> = text.split_whitespace().collect();
    let note = "An open load arrives at that rate however many are waiting";
    assert!(words.join(" ").contains(note), "{text}");
}
