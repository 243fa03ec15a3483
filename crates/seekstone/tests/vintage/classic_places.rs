//! `rpt`'s batch workload on a disk: what few messages tell, and what they cannot.
//!
//! Threads in step keep the places where they began. A sum of two rounds was suspected to overstate
//! the throughput, 1.30 MiB/s next to 1.18: it is right for its places, as one of 20 times the
//! length is, and others give less.

use std::fs;

use crate::support::Scratch;

/// Throughputs of twelve runs, MiB/s, each with places of its own; and the log.
fn throughputs(messages: u32) -> (Vec<f64>, String) {
    let scratch = Scratch::new();
    scratch.check(&["rpt", "--write-files"], 0, "wrote rpt.rpt");
    let text = format!(
        "TestFile=t.rpt\nParmFile=rpt.rpp\nReptFile=t.rpr\nDnmin={messages}\nDnmax={messages}\n\n\
         ParmFile\nBatchWorkload\n"
    );
    fs::write(scratch.path("t.rpt"), text).expect("a test file");
    let args = [
        "rpt",
        "-t",
        "t.rpt",
        "-q",
        "-n",
        "12",
        "-f",
        "sim:hp97560",
        "--no-screen",
        "--seed",
        "1",
    ];
    scratch.check(&args, 0, "");
    let report = fs::read_to_string(scratch.path("t.rpr")).expect("a report");
    let rates = report
        .lines()
        .filter_map(|line| line.strip_prefix("Rabmarks "));
    let rates = rates.filter_map(|marks| marks.split(' ').nth(1)?.parse().ok());
    let log = fs::read_to_string(scratch.path("t.rpl")).expect("a log");
    (rates.collect(), log)
}

/// Mean and its standard error.
fn mean(of: &[f64]) -> (f64, f64) {
    let count = of.len() as f64;
    let mean = of.iter().sum::<f64>() / count;
    let squares: f64 = of.iter().map(|one| (one - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

#[test]
fn two_rounds_have_the_throughput_of_forty_and_say_that_places_decide() {
    let (few, log) = throughputs(10);
    let (many, _) = throughputs(200);
    assert_eq!((few.len(), many.len()), (12, 12));
    let ((few_mean, few_error), (many_mean, many_error)) = (mean(&few), mean(&many));
    let error = few_error.hypot(many_error);
    assert!(
        (few_mean - many_mean).abs() < 3.0 * error,
        "{few_mean} and {many_mean} MiB/s, standard error {error}: {few:?}, {many:?}"
    );
    // The places make more of a difference than a run of either length can see.
    let spread = many
        .iter()
        .fold(0.0_f64, |most, one| most.max((one / many_mean - 1.0).abs()));
    assert!(spread > 0.02, "{many:?}");
    assert!(
        log.contains("5 threads run in step, and go on as they began"),
        "{log}"
    );
}
