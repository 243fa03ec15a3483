//! Percentiles with little evidence carry their sign wherever they are printed.

use crate::found;
use report::{Style, check_up, curve_table};

const LEGEND: &str = "? based on too few samples";

fn wide() -> Style {
    Style {
        width: 160,
        all: true,
        ..Style::default()
    }
}

fn of(found: &results::Transactions) -> String {
    let mut run = sample::run();
    run.measurements.clear();
    run.curves.clear();
    run.tables = found.tables(&[]);
    check_up(&run, &wide())
}

/// It was printed like any other.
#[test]
fn percentiles_of_transactions() {
    let mut found = found::transactions();
    found.standard = None;
    found.search = None;
    let load = &mut found.loads[0];
    for times in std::iter::once(&mut load.all).chain(&mut load.profiles) {
        for one in &mut times.from_due.percentiles {
            one.is_indicative = false;
        }
        times.from_start = times.from_due.clone();
    }
    found.loads[0].profiles.clear();
    let text = of(&found);
    assert!(!text.contains('?'), "{text}");

    for one in &mut found.loads[0].all.from_due.percentiles {
        one.is_indicative |= one.p > 0.98;
    }
    let text = of(&found);
    let row = text.lines().find(|line| line.contains("653 us"));
    assert_eq!(row.map(|row| row.matches('?').count()), Some(1), "{text}");
    assert!(text.contains(LEGEND), "{text}");

    found.loads.clear();
    found.search = found::transactions().search;
    let search = found.search.as_mut().expect("a search");
    search.steps[0].percentile.samples = 300.0;
    let text = of(&found);
    let row = text.lines().find(|line| line.contains("full"));
    assert!(row.is_some_and(|row| row.contains("190 ms?")), "{text}");
    assert!(text.contains(LEGEND), "{text}");
}

/// Bug: figures of the whole run, most of whose end was idle, stood below the rate of the steady
/// part without a word: 30 % busy at a rate that made 43 %.
#[test]
fn what_is_busy_is_told_of_the_steady_part_and_of_the_whole_run() {
    let mut found = found::transactions();
    (found.standard, found.search) = (None, None);
    let load = &mut found.loads[0];
    load.per_second_whole = 2.97;
    load.per_second_steady.value = 4.27;
    (load.cpu_share, load.device_busy_share) = (Some(0.297), Some(0.59));
    (load.reads_per_second, load.writes_per_second) = (59.3, 0.0);
    let text = of(&found);
    let line = |name: &str| -> Vec<String> {
        let mut lines = text.lines().map(str::trim_start);
        let line = lines.find(|line| line.starts_with(name));
        let line = line.unwrap_or_else(|| panic!("{name}: {text}"));
        let parts = line.split("  ").map(str::trim);
        parts
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(line("part ")[1..], ["steady", "by law", "whole run"]);
    assert_eq!(line("CPU busy")[1..], ["42.7 %", "29.7 %"]);
    assert_eq!(line("device busy")[1..], ["84.8 %", "59.0 %"]);
    assert_eq!(line("reads")[1..], ["85.3/s", "59.3/s"]);
    assert_eq!(line("writes")[1..], ["0/s", "0/s"]);
}

/// Points of a curve had no sign at all.
#[test]
fn percentiles_of_points() {
    let mut curve = sample::run().curves.remove(0);
    let set = |curve: &mut results::Curve, samples: f64| {
        for point in &mut curve.points {
            if let Some(p99) = &mut point.response_p99 {
                p99.samples = samples;
            }
        }
    };
    set(&mut curve, 5000.0);
    let text = curve_table(&curve, &wide());
    assert!(!text.contains('?'), "{text}");
    set(&mut curve, 4999.0);
    let text = curve_table(&curve, &wide());
    assert!(text.contains(LEGEND), "{text}");
    let known = curve
        .points
        .iter()
        .filter(|point| point.response_p99.is_some());
    assert_eq!(text.matches('?').count(), 1 + known.count(), "{text}");
}
