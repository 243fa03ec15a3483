//! `cargo xtask metrics`: writes docs/metrics.md, what each figure is a figure of.

use std::fs;

use anyhow::Result;
use results::{METRICS, PERCENTILES};

use crate::source::root;

const DOCUMENT: &str = "docs/metrics.md";
const HEAD: &str = "# Metrics

What each figure is a figure of, by the name that JSON, CSV and every other form gives it. Times
are in seconds, rates per second, shares from 0 to 1. `--goal`, `--fail` and `--figures` take the
metrics of the commands in the last column. The others are details. A command with % after its
name also has the percentiles PERCENTILES of the time, as in `latency-p99`. `p99` is
short for that. What studies of `transfer` and `positioning` give is marked as such: the commands
of these names measure otherwise.

| metric | unit | better | what it is | goals of |
| --- | --- | --- | --- | --- |
";

/// Write the document.
pub fn metrics() -> Result<()> {
    fs::write(root().join(DOCUMENT), written())?;
    println!("wrote {DOCUMENT}");
    Ok(())
}

/// A fault where the document is not what the list says.
pub fn check(faults: &mut Vec<String>) {
    if fs::read_to_string(root().join(DOCUMENT)).unwrap_or_default() != written() {
        faults.push(format!(
            "{DOCUMENT}: not what crates/results/src/metric.rs says: run `cargo xtask metrics`"
        ));
    }
}

fn written() -> String {
    let percentiles: Vec<String> = PERCENTILES
        .iter()
        .map(|it| format!("`{}`", it.name))
        .collect();
    let mut text = HEAD.replace("PERCENTILES", &percentiles.join(", "));
    for metric in METRICS {
        let goals = metric.goals.iter().map(|command| {
            let mark = if metric.percentiles.contains(command) {
                " %"
            } else {
                ""
            };
            format!("`{command}`{mark}")
        });
        let goals: Vec<String> = goals.collect();
        let (name, unit, better) = (metric.name, metric.unit.name(), metric.better.name());
        let better = if better == "neither" { "" } else { better };
        text.push_str(&format!(
            "| `{name}` | {unit} | {better} | {} | {} |\n",
            metric.meaning,
            goals.join(", ")
        ));
    }
    text
}
