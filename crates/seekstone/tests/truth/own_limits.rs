//! What is a limit of this program's own is told of it, on real storage.

use crate::support;
use crate::support::Scratch;
use serde_json::Value;

/// A trial of reads that the page cache answers: a worker with several of them never waits.
fn cached(scratch: &Scratch, clients: &str) -> Value {
    let directory = scratch.path("measured");
    std::fs::create_dir(&directory).expect("a directory");
    let target = directory.to_str().expect("a plain path");
    let common = [
        "--buffered",
        "--size",
        "16MiB",
        "--workers",
        "1",
        "--reserve",
        "0",
    ];
    let output = ["--duration", "1s", "--no-save", "--quiet", "--json", "-"];
    let args = [
        &["trial", target, "--clients", clients],
        &common[..],
        &output,
    ]
    .concat();
    let run = support::finish(scratch.seekstone(&args)).json();
    run["measurements"][0].clone()
}

fn is_told(trial: &Value) -> bool {
    let mut warnings = trial["warnings"].as_array().expect("warnings").iter();
    warnings.any(|it| it["code"] == "busy-worker")
}

/// Bug: what one thread of ours could ask for passed for what the storage could do.
#[test]
fn a_worker_that_has_no_time_for_more_is_told() {
    let many = cached(&Scratch::new(), "8");
    let busiest = many["generator"]["busiest_worker"].as_f64();
    let busiest = busiest.expect("a share");
    // What the hypervisor gives to others is neither work nor a wait that the kernel counts.
    assert!(busiest > 0.5, "{}", many["generator"]);
    assert_eq!(is_told(&many), busiest >= 0.95, "{}", many["warnings"]);
}

/// One request at a time is the way to the storage itself.
#[test]
fn a_worker_that_asks_once_at_a_time_is_no_limit() {
    let one = cached(&Scratch::new(), "1");
    assert!(!is_told(&one), "{}", one["warnings"]);
}
