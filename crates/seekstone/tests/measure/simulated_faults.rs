//! What stalls, errors, drift, warm-up, two modes and a write cliff of a simulated device do to the
//! answer of each procedure is known beforehand, and so is what must be named, and what must not.
//! Check-ups are tested with many seeds by `crates/validation/tests/detection.rs`.

use std::collections::BTreeSet;

use crate::support::tables::{self, estimate, figure, readings, row, rows};
use crate::support::{Scratch, finish};
use serde_json::Value;

/// 80 % of 10 us and 20 % of 5 ms.
const TWO_MODES: &str = "sim:cache?hit=10us&miss=5ms&hits=80%&run=1&size=64MiB";
const TWO_MODES_MEAN_S: f64 = 0.8 * 10e-6 + 0.2 * 5e-3;
/// Flash that was never written: writing is fast until cleaning begins.
const FLASH: &str = "sim:nvme?channels=2&dies=2&content=fresh&write-buffer=64KiB";
/// What is looked for.
const NAMES: [&str; 11] = [
    "stall",
    "kept-back",
    "load-not-sustained",
    "rare-episodes",
    "drift",
    "curve-drift",
    "step",
    "warm-up",
    "write-cliff",
    "two-modes",
    "oscillation",
];

fn run(scratch: &Scratch, args: &[&str]) -> (Option<i32>, Value) {
    let common = ["--seed", "1", "--no-save", "--quiet", "--json", "-"];
    let ended = finish(scratch.seekstone([args, &common].concat()));
    (ended.code, ended.json())
}

/// A run that ends well, or with a number that is in doubt.
#[track_caller]
fn complete(args: &[&str]) -> Value {
    let (code, run) = run(&Scratch::new(), args);
    assert_eq!(code, Some(0), "{args:?}: {}", run["status"]);
    run
}

/// What failed is said, and what was measured before is kept.
#[track_caller]
fn partial(args: &[&str]) -> Value {
    let (code, run) = run(&Scratch::new(), args);
    let status = run["status"].to_string();
    assert_eq!(code, Some(1), "{args:?}: {status}");
    assert!(status.contains("failed: Input/output error"), "{status}");
    run
}

#[track_caller]
fn number(value: &Value) -> f64 {
    let found = value.as_f64();
    found.unwrap_or_else(|| panic!("a number was expected, not {value}"))
}

#[track_caller]
fn array(value: &Value) -> &Vec<Value> {
    let found = value.as_array();
    found.unwrap_or_else(|| panic!("an array was expected, not {value}"))
}

#[track_caller]
fn assert_near(found: &Value, expected: f64, off: f64) {
    let ratio = number(found) / expected;
    assert!((ratio - 1.0).abs() <= off, "{found} instead of {expected}");
}

/// The interval holds the truth, and is no wider than `off` of it to either side.
#[track_caller]
fn assert_covers(estimate: &Value, truth: f64, off: f64) {
    let (low, high) = (number(&estimate["low"]), number(&estimate["high"]));
    assert!(low <= truth && truth <= high, "{estimate} without {truth}");
    assert!(high - low <= 2.0 * off * truth, "{estimate} is wide");
}

/// What the warnings, or the codes of a row's, name of `NAMES`.
#[track_caller]
fn names(warnings: &Value) -> BTreeSet<&str> {
    let codes = array(warnings).iter();
    let codes = codes.map(|one| one["code"].as_str().or(one.as_str()).expect("a code"));
    codes.filter(|code| NAMES.contains(code)).collect()
}

#[track_caller]
fn assert_names(warnings: &Value, expected: &[&str]) {
    let expected: BTreeSet<&str> = expected.iter().copied().collect();
    assert_eq!(names(warnings), expected, "{warnings}");
}

mod trial {
    use super::*;

    fn trial(target: &str, more: &[&str]) -> Value {
        let mut run = complete(&[&["trial", target], more].concat());
        run["measurements"][0].take()
    }

    /// Whatever the storage kept at the end was in no figure and in no warning.
    #[test]
    fn a_stall_at_the_end_is_named_with_what_it_kept() {
        // Virtual time: 2 s of the 4 s are a stall, and 1000 requests fall due in them.
        let open = trial(
            "sim:mm1?mean=1ms&stall=10s@1000",
            &["--rate", "500/s", "--duration", "4s"],
        );
        let expected = ["stall", "kept-back"];
        assert_names(&open["warnings"], &expected);
        assert_eq!(open["verdict"], "not-stationary");
        let kept = &open["unfinished"];
        assert_near(&kept["count"], 1000.0, 0.15);
        assert_near(&kept["waited_mean_ns"], 1e9, 0.15);
        assert!(number(&open["response"]["max_ns"]) > 1e9, "{open}");
        let closed = trial(
            "sim:mmc?mean=1ms&servers=4&stall=10s@1000",
            &["--clients", "8", "--duration", "4s"],
        );
        // Nothing is said of requests that waited in this program: they were with the device.
        assert_names(&closed["warnings"], &["stall", "kept-back"]);
        assert_eq!(number(&closed["unfinished"]["count"]), 8.0);
        assert_near(&closed["effective_depth"], 8.0, 0.01);
    }

    /// More than a second or a twentieth is left out only where somebody says so.
    #[test]
    fn a_long_warm_up_is_left_out_when_it_is_said_to_be_one() {
        let target = "sim:mm1?mean=1ms&warm-up=200%@10s";
        let told = trial(target, &["--duration", "40s"]);
        assert_names(&told["warnings"], &["warm-up"]);
        let cut = trial(target, &["--duration", "40s", "--warm-up", "10s"]);
        assert_names(&cut["warnings"], &[]);
        assert_covers(&cut["response"]["mean"], 1e6, 0.05);
        assert_near(&cut["warmup_ns"], 10e9, 0.02);
        let open = ["--rate", "500/s", "--duration", "40s", "--warm-up", "10s"];
        let open = trial("sim:delay?time=1ms&warm-up=200%@10s", &open);
        assert_names(&open["warnings"], &[]);
        assert_covers(&open["response"]["mean"], 1e6, 0.05);
    }

    /// With some seeds fewer arrivals fell due than were to be expected, and the storage was called
    /// saturated.
    #[test]
    fn arrivals_by_chance_are_no_saturation() {
        for seed in 1..=60 {
            let seed = seed.to_string();
            let args = ["trial", "sim:delay?time=1ms", "--rate", "100/s"];
            let more = ["--seed", &seed, "--no-save", "--quiet", "--json", "-"];
            let run = finish(Scratch::new().seekstone([&args[..], &more].concat())).json();
            assert_names(&run["measurements"][0]["warnings"], &[]);
        }
    }

    #[test]
    fn a_load_that_is_not_carried_is_told() {
        let args = ["--rate", "1100/s", "--duration", "60s"];
        let over = trial("sim:mm1?mean=1ms", &args);
        assert!(
            names(&over["warnings"]).contains("load-not-sustained"),
            "{over}"
        );
    }
}

mod curve {
    use super::*;

    fn curve(target: &str, more: &[&str]) -> Value {
        let args = [&["curve", target, "--clients-max", "16"], more].concat();
        complete(&args)["curves"][0].take()
    }

    #[test]
    fn a_healthy_queue_saturates_at_its_rate_and_nothing_is_named() {
        let curve = curve("sim:mm1?mean=1ms", &[]);
        assert_covers(&curve["saturation"]["load"], 1e3, 0.03);
        assert_names(&curve["warnings"], &[]);
    }

    /// One operation in a hundred holds all others up for 20 times its own time.
    #[test]
    fn a_curve_saturates_at_what_stalls_leave() {
        let curve = curve("sim:md1?time=1ms&stall=20ms@1%", &[]);
        assert_near(&curve["saturation"]["load"]["value"], 1e3 / 1.2, 0.05);
    }

    #[test]
    fn the_points_before_an_error_are_kept() {
        let run = partial(&["curve", "sim:mm1?mean=1ms&error=EIO@0.01%"]);
        assert!(!array(&run["curves"][0]["points"]).is_empty());
    }

    #[test]
    fn a_drift_is_named() {
        let curve = curve("sim:mm1?mean=1ms&drift=240%@60s", &[]);
        assert_names(&curve["warnings"], &["curve-drift"]);
    }

    /// Each point begins with it, and no more than a second or a twentieth of a point is left out.
    #[test]
    fn a_warm_up_is_told_as_drift() {
        let curve = curve("sim:mm1?mean=1ms&warm-up=200%@2s", &[]);
        assert_covers(&curve["saturation"]["load"], 1e3, 0.03);
        assert_names(&curve["warnings"], &["warm-up", "curve-drift"]);
    }

    #[test]
    fn hits_and_misses_saturate_at_their_mean() {
        let curve = curve(TWO_MODES, &[]);
        assert_covers(&curve["saturation"]["load"], 1.0 / TWO_MODES_MEAN_S, 0.04);
        assert_names(&curve["warnings"], &[]);
    }

    /// With fewer blocks the same flash has to clean while the curve is measured.
    #[test]
    fn a_write_cliff_shows_as_drift() {
        let writes = ["--writes=100%", "--clients-max=4"];
        let below = complete(&[&["curve", FLASH], &writes[..]].concat());
        assert_names(&below["curves"][0]["warnings"], &[]);
        let small = format!("{FLASH}&blocks=48&spare=15%");
        let cliff = complete(&[&["curve", &small], &writes[..]].concat());
        // Cleaning keeps a die busy for an eighth of a second.
        assert_names(&cliff["curves"][0]["warnings"], &["stall", "curve-drift"]);
        let load = |run: &Value| number(&run["curves"][0]["saturation"]["load"]["value"]);
        assert!(load(&cliff) < load(&below) / 3.0);
    }
}

mod rab {
    use super::*;

    /// A batch workload of so many threads, in a file that `--workload` names.
    fn workload(scratch: &Scratch, name: &str, threads: u32, mix: &str) -> String {
        let text = format!(
            "name = \"{name}\"\ngroup = \"batch\"\nthreads-fixed = {threads}\nblock = \"4KiB\"\n\
             shares = 1\n\n[[threads]]\nio = \"4KiB\"\nmix = \"{mix}\"\nspace = \"uniform\"\n\
             time = \"constant\"\n"
        );
        let path = scratch.path(&format!("{name}.toml"));
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    }

    /// What `threads` threads that read, or write, measure.
    fn measurement(target: &str, threads: u32, mix: &str) -> Value {
        let scratch = Scratch::new();
        let batch = workload(&scratch, "batch", threads, mix);
        let mut run = complete(&["rab", target, "--workload", &batch]);
        run["measurements"][0].take()
    }

    fn reads(target: &str) -> Value {
        measurement(target, 4, "1:0")
    }

    #[test]
    fn a_healthy_queue_carries_its_rate_and_nothing_is_named() {
        let found = reads("sim:mm1?mean=1ms");
        assert_covers(&found["throughput"], 1e3, 0.03);
        assert_names(&found["warnings"], &[]);
    }

    #[test]
    fn stalls_are_part_of_the_rate() {
        let found = reads("sim:md1?time=1ms&stall=20ms@1%");
        assert_covers(&found["throughput"], 1e3 / 1.2, 0.04);
    }

    /// With one of five disks lost, a fifth of the reads takes the other four: twice the work for
    /// each.
    #[test]
    fn an_array_that_lost_a_disk_carries_half_of_the_reads() {
        let load = |mode: &str| {
            let array = format!("sim:rz26?raid=5&disks=5&mode={mode}");
            number(&measurement(&array, 64, "1:0")["throughput"]["value"])
        };
        let ratio = load("reduced") / load("normal");
        assert!((0.45..0.55).contains(&ratio), "{ratio}");
    }

    /// A delay without a queue: a set of one thread is some 2,000 requests, and eight make so many
    /// more that they reach the error.
    #[test]
    fn the_workloads_before_an_error_are_kept() {
        let scratch = Scratch::new();
        let one = workload(&scratch, "one", 1, "1:0");
        let eight = workload(&scratch, "eight", 8, "1:0");
        let both = format!("{one},{eight}");
        let broken = "sim:delay?time=1ms&error=EIO@8000";
        let run = partial(&["rab", broken, "--workload", &both]);
        let kept = row(&run, "rab-workloads", &["one"]);
        assert_eq!(tables::word(kept, "state"), "");
        let load = &run["measurements"][0];
        assert_eq!(load["name"], "one");
        assert_near(&load["throughput"]["value"], 1e3, 1e-3);
    }

    #[test]
    fn a_drift_is_named() {
        let found = reads("sim:mm1?mean=1ms&drift=2000%@1min");
        assert_names(&found["warnings"], &["drift"]);
        assert_eq!(found["verdict"], "not-stationary");
    }

    #[test]
    fn a_warm_up_is_named_and_left_out() {
        let found = reads("sim:mm1?mean=1ms&warm-up=200%@2s");
        assert_covers(&found["throughput"], 1e3, 0.03);
        assert_names(&found["warnings"], &["warm-up"]);
    }

    #[test]
    fn hits_and_misses_are_named_and_carry_their_mean() {
        let found = reads(TWO_MODES);
        assert_covers(&found["throughput"], 1.0 / TWO_MODES_MEAN_S, 0.03);
        assert_names(&found["warnings"], &["two-modes"]);
    }

    #[test]
    fn a_write_cliff_is_named() {
        let writes = |target: &str| measurement(target, 4, "0:1");
        let below = writes(FLASH);
        assert!(!names(&below["warnings"]).contains("write-cliff"));
        let cliff = writes(&format!("{FLASH}&blocks=32&spare=15%"));
        assert!(names(&cliff["warnings"]).contains("write-cliff"));
        let load = |found: &Value| number(&found["throughput"]["value"]);
        assert!(load(&cliff) < load(&below) / 3.0);
    }
}

/// Passes of 1024 blocks, each of a millisecond by itself.
mod transfer {
    use super::*;

    const SIZE: f64 = 67_108_864.0;

    /// The series of writes and that of reads.
    fn series(target: &str, more: &[&str]) -> [Value; 2] {
        let args = [&["transfer", target, "--size=64MiB"], more].concat();
        let run = complete(&args);
        ["write", "read"].map(|kind| row(&run, "transfer", &[kind]).clone())
    }

    fn rate(series: &Value) -> &Value {
        estimate(series, "throughput").expect("a rate")
    }

    #[test]
    fn a_slow_stretch_is_part_of_the_rate_and_named() {
        let [write, read] = series("sim:md1?time=1ms&stall=500ms@32MiB+64KiB", &[]);
        assert_near(&rate(&read)["value"], SIZE / 1.524, 1e-3);
        assert_names(&write["warnings"], &["rare-episodes", "stall"]);
    }

    /// A pass has 256 blocks of the first size, and 4096 of the second.
    #[test]
    fn the_series_before_an_error_are_kept() {
        let broken = "sim:md1?time=1ms&size=16MiB&error=EIO@2000";
        let run = partial(&["transfer", broken, "--block=64KiB", "--block=4KiB"]);
        let kept = rows(&run, "transfer");
        let kinds: Vec<&Value> = kept.iter().map(|one| &one["levels"][0]).collect();
        assert_eq!(kinds, ["write", "read"]);
        assert_near(&rate(kept[1])["value"], SIZE / 1.024, 1e-6);
    }

    /// Blocks take `1 ms (1 + t / 1 s)`: the first second makes `1000 ln 2` of them, and what is
    /// left takes 2 ms each.
    #[test]
    fn a_drift_takes_the_time_that_it_takes_and_is_named() {
        let [write, read] = series("sim:md1?time=1ms&drift=100%@1s", &[]);
        let seconds = 1.0 + (1024.0 - 1000.0 * 2f64.ln()) * 2e-3;
        assert_near(&rate(&read)["value"], SIZE / seconds, 1e-3);
        assert_names(&write["warnings"], &["drift"]);
    }

    /// Blocks take `1 ms (3 - 2 t / 0.5 s)`: the first half second makes `250 ln 3` of them.
    #[test]
    fn a_warm_up_takes_the_time_that_it_takes_and_is_named() {
        let [write, read] = series("sim:md1?time=1ms&warm-up=200%@500ms", &[]);
        let seconds = 0.5 + (1024.0 - 250.0 * 3f64.ln()) * 1e-3;
        assert_near(&rate(&read)["value"], SIZE / seconds, 1e-3);
        assert_names(&write["warnings"], &["warm-up"]);
    }

    #[test]
    fn hits_and_misses_are_named_and_have_the_rate_of_their_mean() {
        let [write, read] = series(TWO_MODES, &[]);
        assert_covers(rate(&read), 65_536.0 / TWO_MODES_MEAN_S, 0.04);
        assert!(names(&write["warnings"]).contains("two-modes"));
    }

    /// A buffer takes half of the file at once. The other half goes at the rate of four dies that
    /// program 8 KiB in 600 us. The first pass of reads shares the dies with what is left in the
    /// buffer: it takes longer, by the time of all that at most.
    #[test]
    fn a_write_cliff_is_part_of_the_rate() {
        let buffered = "sim:nvme?channels=2&dies=2&content=fresh&write-buffer=32MiB";
        let [write, read] = series(buffered, &["--passes=2"]);
        let half = SIZE / 2.0 / (4.0 * 8192.0 / 600e-6);
        assert_near(&rate(&write)["value"], SIZE / half, 1e-3);
        let elapsed = readings(&read, "elapsed");
        let waited = elapsed[0] - elapsed[1];
        assert!(
            waited > 0.1 * half && waited < half,
            "{waited} s of {half} s"
        );
    }
}

/// One user without think time, five I/Os a transaction.
mod transactions {
    use super::*;

    const USER: [&str; 3] = ["--users=1", "--ios=5", "--think=0"];

    fn args<'a>(target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        [&["transactions", target], &USER[..], more].concat()
    }

    /// The load of one user, and the warnings about it.
    fn load(target: &str, more: &[&str]) -> (Value, Value) {
        let mut run = complete(&args(target, more));
        let warnings = run["measurements"][0]["warnings"].take();
        (row(&run, "transactions", &["1", "all"]).clone(), warnings)
    }

    fn tps(load: &Value) -> &Value {
        estimate(load, "tps").expect("a rate")
    }

    #[test]
    fn a_healthy_queue_has_its_rate_and_nothing_is_named() {
        let (load, warnings) = load("sim:mm1?mean=10ms", &[]);
        assert_covers(tps(&load), 20.0, 0.05);
        assert_names(&warnings, &[]);
    }

    /// 499 I/Os succeed: 99 transactions of five, and a user who waits for the hundredth. That one
    /// was once counted as completed.
    #[test]
    fn a_transaction_with_an_error_is_not_completed() {
        let broken = "sim:md1?time=10ms&error=EIO@500";
        let run = partial(&args(broken, &["--duration=100s"]));
        assert_eq!(run["measurements"][0]["kinds"][0]["count"], 499);
        let load = row(&run, "transactions", &["1", "all"]);
        assert_eq!(figure(load, "transactions"), 99.0);
    }

    /// One I/O in a hundred takes a tenth of a second longer.
    #[test]
    fn stalls_are_part_of_the_response_time() {
        let (load, _) = load("sim:md1?time=10ms&stall=100ms@1%", &["--duration=1000s"]);
        let mean = estimate(&load, "latency").expect("a mean");
        assert_near(&mean["value"], 5.0 * 0.011, 0.05);
    }

    /// I/Os take `10 ms (1 + t / 100 s)`: in 100 s there are `10000 ln 2` of them.
    #[test]
    fn a_drift_leaves_as_many_as_it_leaves_and_is_named() {
        let (load, warnings) = load("sim:md1?time=10ms&drift=100%@100s", &["--duration=100s"]);
        let expected = (10_000.0 * 2f64.ln() / 5.0).floor();
        assert_eq!(figure(&load, "transactions"), expected);
        assert_names(&warnings, &["drift"]);
    }

    /// I/Os take `10 ms (3 - 2 t / 20 s)`: the first 20 s make `1000 ln 3`, the next 80 s 8000. No
    /// more than a twentieth is left out, so that the mean is that of both, and not to be quoted.
    #[test]
    fn a_long_warm_up_is_named() {
        let (load, warnings) = load("sim:md1?time=10ms&warm-up=200%@20s", &["--duration=100s"]);
        let expected = ((1000.0 * 3f64.ln() + 8000.0) / 5.0).floor();
        assert_eq!(figure(&load, "transactions"), expected);
        let steady = tps(&load);
        let is_held = number(&steady["low"]) <= 20.0 && 20.0 <= number(&steady["high"]);
        assert!(is_held, "{steady}");
        assert_names(&warnings, &["warm-up"]);
        let is_doubted = array(&warnings)
            .iter()
            .any(|it| it["code"] == "not-stationary");
        assert!(is_doubted, "{warnings}");
    }

    #[test]
    fn hits_and_misses_are_named() {
        let one = ["--ios=1", "--users=1", "--think=0", "--duration=60s"];
        let mut run = complete(&[&["transactions", TWO_MODES], &one[..]].concat());
        let warnings = run["measurements"][0]["warnings"].take();
        let steady = tps(row(&run, "transactions", &["1", "all"]));
        assert_covers(steady, 1.0 / TWO_MODES_MEAN_S, 0.03);
        assert_names(&warnings, &["two-modes"]);
    }

    #[test]
    fn a_write_cliff_is_named() {
        let writes = |target: &str| load(target, &["--writes=100%", "--duration=16s"]);
        let (below, silent) = writes(FLASH);
        assert!(!names(&silent).contains("write-cliff"), "{silent}");
        let (cliff, named) = writes(&format!("{FLASH}&blocks=48&spare=15%"));
        assert!(names(&named).contains("write-cliff"), "{named}");
        let all = |load: &Value| figure(load, "transactions");
        assert!(all(&cliff) < all(&below));
    }
}
