//! Several models in one trial or curve: one virtual time, and the textbook's answer for each.

use std::fs;

use crate::support::{Scratch, finish};
use serde_json::Value;

const OUTPUT: [&str; 5] = ["--json", "-", "--no-save", "--quiet", "--all"];

fn run(scratch: &Scratch, args: &[&str]) -> Value {
    let ended = finish(scratch.seekstone([args, &OUTPUT].concat()));
    assert!(ended.code == Some(0), "{args:?}: {ended:?}");
    ended.json()
}

#[track_caller]
fn number(value: &Value, path: &str) -> f64 {
    let found = value.pointer(path).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("no {path} in {value}"))
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found / expected - 1.0).abs() <= tolerance,
        "{what}: {found}, not {expected}"
    );
}

/// The truth lies within twice the interval, which is narrow: chance puts one seed in 10,000
/// outside.
#[track_caller]
fn holds(row: &Value, estimate: &str, truth: f64) {
    let [value, low, high] =
        ["value", "low", "high"].map(|key| number(row, &format!("{estimate}/{key}")));
    let half = (high - low) / 2.0;
    assert!(half < 0.05 * truth, "{estimate} is wide: {low} to {high}");
    assert!(
        (value - truth).abs() <= 2.0 * half,
        "{estimate}: {value}, {low} to {high}, and not {truth}"
    );
}

const SLOW: &str = "sim:mmc?mean=1ms&servers=4";
const FAST: &str = "sim:mm1?mean=250us";

/// M/M/4 at 80 % waits .745541 of a service time (Erlang's C of 4 servers is .596433, over the
/// relief of .8 servers), and M/M/1 at the same load four.
#[test]
fn each_of_two_models_keeps_its_own_law() {
    let scratch = Scratch::new();
    let load = ["--rate", "3200/s", "--duration", "2min", "--seed", "3"];
    let found = run(&scratch, &[&["trial", SLOW, FAST][..], &load].concat());
    let rows = found["measurements"].as_array().expect("rows");
    let names: Vec<&str> = rows.iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["trial", SLOW, FAST]);
    for (row, name, response) in [
        (&rows[1], "M/M/4", 1_745_541.0),
        (&rows[2], "M/M/1", 1_250_000.0),
    ] {
        assert_eq!(row["law"]["name"], name);
        near(number(row, "/law/response_mean_ns"), response, 1e-6, name);
        holds(row, "/response/mean", response);
        holds(row, "/throughput", 3200.0);
        assert_eq!(number(row, "/offered"), 3200.0);
    }
    assert_eq!(number(&rows[0], "/offered"), 6400.0);
    for key in ["/completions_all", "/bytes_all"] {
        let sum = number(&rows[1], key) + number(&rows[2], key);
        assert_eq!(number(&rows[0], key), sum, "{key}");
    }
}

/// The same model under two names would draw the same times, if all drew from one stream.
#[test]
fn models_draw_each_for_itself_and_the_same_again() {
    let scratch = Scratch::new();
    let args = |seed| {
        let load = ["--clients", "4", "--duration", "5s", "--seed", seed];
        let models = ["trial", "sim:mm1?mean=1ms", "sim:mm1?mean=1000us"];
        run(&scratch, &[&models[..], &load].concat())["measurements"].take()
    };
    let (first, again, other) = (args("5"), args("5"), args("6"));
    let times = |it: &Value, row: usize| number(&it[row], "/response/mean/value");
    for row in 0..3 {
        assert_eq!(times(&first, row), times(&again, row));
        assert_ne!(times(&first, row), times(&other, row));
    }
    assert_ne!(times(&first, 1), times(&first, 2));
}

#[test]
fn fio_jobs_work_on_several_models_at_once() {
    let scratch = Scratch::new();
    let jobs = "[global]\nrw=randread\nbs=4k\nioengine=libaio\ntime_based=1\nruntime=20\n\
                [slow]\nfilename=sim:md1?time=1ms\niodepth=4\n\
                [fast]\nfilename=sim:md1?time=250us\niodepth=2\n";
    fs::write(scratch.path("x.fio"), jobs).expect("a file");
    let args = ["fio", "x.fio", "--output-format", "json", "--no-save"];
    let ended = finish(scratch.seekstone(args));
    let found = ended.json();
    for (job, iops) in [(0, 1000.0), (1, 4000.0)] {
        let read = &found["jobs"][job]["read"];
        near(number(read, "/iops"), iops, 0.001, "iops");
    }
}

/// The line of the run that says which target saturates first.
fn said(found: &Value) -> &str {
    found["findings"][0].as_str().unwrap_or_default()
}

/// With clients that never think, `n` of them keep `c` servers busy from `n = c` on: that is the
/// knee of each, exactly. The proportions of the file, 8 to 2, hold at every load.
#[test]
fn a_curve_of_a_file_finds_the_knee_of_each_model() {
    let scratch = Scratch::new();
    let file = "[[workload]]\ntargets = [\"sim:md1?time=1ms&servers=4\"]\nclients = 8\n\n\
                [[workload]]\ntargets = [\"sim:md1?time=1ms&servers=16\"]\nclients = 2\n";
    fs::write(scratch.path("x.toml"), file).expect("a file");
    let targets = ["sim:md1?time=1ms&servers=4", "sim:md1?time=1ms&servers=16"];
    let how = ["--workload", "x.toml", "--level", "2ms", "--seed", "2"];
    let args = [&["curve", targets[0], targets[1]][..], &how].concat();
    let found = run(&scratch, &args);
    let said = said(&found);
    let first = format!(
        "Saturates first: {} at 4 clients of its own, 5 in all",
        targets[0]
    );
    assert!(said.starts_with(&first), "{said}");
    let then = format!("then {} at 16 clients of its own, 80 in all", targets[1]);
    assert!(said.contains(&then), "{said}");
    let points = found["curves"][0]["points"].as_array().expect("points");
    for point in points {
        let clients = number(point, "/clients");
        assert_eq!(clients % 5.0, 0.0, "{clients} clients");
        let per_second = 1000.0 * ((clients * 0.8).min(4.0) + (clients * 0.2).min(16.0));
        near(number(point, "/load/value"), per_second, 0.01, "the load");
    }
    // 5k clients wait 5k / (4 + k) ms: 2 ms with k = 8/3, at 6,667 a second.
    let level = &found["curves"][0]["levels"][0];
    near(
        number(level, "/load/value"),
        6667.0,
        0.04,
        "the load at 2 ms",
    );
    near(
        number(level, "/clients"),
        40.0 / 3.0,
        0.1,
        "clients at 2 ms",
    );
}

/// Two queues M/M/1 that get arrivals in equal parts wait 1 / (1000 - r) and 1 / (4000 - r) s on
/// average: half of the sum is 1 ms at r = 418.9 a second each, and the slower ends at 1,000.
#[test]
fn a_curve_of_arrivals_names_the_model_that_falls_behind() {
    let scratch = Scratch::new();
    let (slow, fast) = ("sim:mm1?mean=1ms", "sim:mm1?mean=250us");
    let how = ["--open", "--budget", "10min", "--seed", "4"];
    let found = run(&scratch, &[&["curve", slow, fast][..], &how].concat());
    let said = said(&found);
    let first = format!("Saturates first: {slow}, which does ");
    assert!(said.starts_with(&first), "{said}");
    assert!(said.ends_with(&format!("not saturated: {fast}.")), "{said}");
    let level = &found["curves"][0]["levels"][0];
    assert_eq!(level["level_ns"], 1_000_000);
    near(
        number(level, "/load/value"),
        2.0 * 418.9,
        0.06,
        "the load at 1 ms",
    );
}

#[test]
fn what_a_curve_does_not_vary_is_refused() {
    let scratch = Scratch::new();
    let check = |workload: &str, options: &[&str], expected: &str| {
        fs::write(scratch.path("x.toml"), format!("[[workload]]\n{workload}")).expect("a file");
        let args = [&["curve", "sim:mm1", "--workload", "x.toml"][..], options].concat();
        scratch.check(&args, 2, expected);
    };
    check(
        "rate = \"5/s\"\n",
        &[],
        "workload \"1\": rate: a curve varies clients",
    );
    check(
        "name = \"a\"\n",
        &["--open"],
        "workload \"a\": --open varies the rates",
    );
    check(
        "bytes = \"1MiB\"\n",
        &[],
        "bytes and operations are for a trial",
    );
    check(
        "clients = 300\n[[workload]]\nclients = 7\n",
        &[],
        "have 307 clients at least",
    );
    scratch.check(
        &["curve", "sim:mm1", "--workload", "x.toml", "--writes", "5%"],
        2,
        "cannot be used with",
    );
    scratch.check(&["trial", "sim:mm1", "."], 2, "run on different clocks");
}
