//! Percentiles with little evidence carry their sign wherever they are printed.

use report::{Style, check_up, curve_table};

const LEGEND: &str = "? too few samples beyond it to rely on";

fn wide() -> Style {
    Style {
        width: 160,
        all: true,
        ..Style::default()
    }
}

/// It was printed like any other.
#[test]
fn percentiles_of_transactions() {
    let mut run = sample::run();
    run.measurements.clear();
    run.curves.clear();
    let mut found = sample::transactions();
    found.standard = None;
    found.search = None;
    let load = &mut found.loads[0];
    for times in std::iter::once(&mut load.all).chain(&mut load.profiles) {
        for one in &mut times.from_due.percentiles {
            one.is_indicative = false;
        }
        times.from_start = times.from_due.clone();
    }
    found.loads[0].profiles.truncate(1);
    run.transactions = Some(found.clone());
    let text = check_up(&run, &wide());
    assert!(!text.contains('?'), "{text}");

    for one in &mut found.loads[0].all.from_due.percentiles {
        one.is_indicative |= one.p > 0.98;
    }
    run.transactions = Some(found.clone());
    let text = check_up(&run, &wide());
    let row = text.lines().find(|line| line.contains("all, from due"));
    assert_eq!(row.map(|row| row.matches('?').count()), Some(1), "{text}");
    assert!(text.contains(LEGEND), "{text}");

    found.loads.clear();
    found.search = sample::transactions().search;
    let search = found.search.as_mut().expect("a search");
    search.steps[0].percentile.samples = 300.0;
    run.transactions = Some(found);
    let text = check_up(&run, &wide());
    let row = text.lines().find(|line| line.contains("fresh"));
    assert!(row.is_some_and(|row| row.contains("190 ms?")), "{text}");
    assert!(text.contains(LEGEND), "{text}");
}

/// Bug: figures of the whole run, most of whose end was idle, stood below the rate of the steady
/// part without a word: 30 % busy at a rate that made 43 %.
#[test]
fn what_is_busy_is_told_of_the_steady_part_and_of_the_whole_run() {
    let mut run = sample::run();
    run.measurements.clear();
    run.curves.clear();
    let mut found = sample::transactions();
    (found.standard, found.search) = (None, None);
    let load = &mut found.loads[0];
    load.per_second_whole = 2.97;
    load.per_second_steady.value = 4.27;
    (load.cpu_share, load.device_busy_share) = (Some(0.297), Some(0.59));
    (load.reads_per_second, load.writes_per_second) = (59.3, 0.0);
    run.transactions = Some(found);
    let text = check_up(&run, &wide());
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
    let steady = place("processors 43 % busy, device 85 % busy, reads 85.3/s, writes 0/s");
    let whole = place("2.97/s; the figures below are of the whole run");
    assert!(
        steady < whole && whole < place("all processors 30 % busy"),
        "{text}"
    );
    assert!(whole < place("busy 59 %"), "{text}");
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
