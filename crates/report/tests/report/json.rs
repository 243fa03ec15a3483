//! The JSON form: what is written is read back, and every key is documented.

use std::collections::{BTreeMap, BTreeSet};

use crate::found;
use results::environment::{RaidActivity, RaidState};
use results::{
    Interval, JsonError, Law, QueueLaw, Run, ServerTimes, SteadyLaw, from_json, histogram_text,
    json,
};
use serde_json::Value;
use stats::{DriftVerdict, Estimate, Histogram, Verdict};
use units::Duration;

const SCHEMA: &str = include_str!("../../../../docs/json-schema.md");

/// The sample with the workloads of the RAID Performance Test.
fn whole_run() -> Run {
    let mut run = sample::run();
    let ssd = found::ssd();
    run.tables = ssd.tables(procedure::ssd_sayings(&ssd));
    run.tables.extend(found::replay().tables());
    run.tables.extend(found::timing().tables());
    // The study has a table of the name of the first.
    run.tables.extend(found::transfer().tables().split_off(1));
    run.tables.extend(found::random_access().tables());
    run.tables.extend(found::rab().tables());
    run.curves.extend(found::rab().curves());
    run.row_warnings = found::ssd().row_warnings();
    run.row_warnings.extend(found::timing().row_warnings());
    run.row_warnings.extend(found::transfer().row_warnings());
    run.row_warnings
        .extend(found::random_access().row_warnings());
    run.row_warnings.extend(found::rab().row_warnings());
    sample::study().give_to(&mut run);
    // As a trial has them that was cut into intervals.
    let of_users = found::transactions().loads.remove(0);
    run.measurements[0].series = of_users.series;
    run.measurements[0].intervals = vec![interval(1), interval(2)];
    run.measurements[0].law = Some(Law::Steady(SteadyLaw {
        name: "a law".into(),
        fresh_per_second: 9000.0,
        steady_per_second: 1000.0,
    }));
    run.measurements[1].law = Some(Law::Queue(QueueLaw {
        name: "M/M/1".into(),
        wait_mean_ns: 4e5,
        service_mean_ns: 1e5,
        response_mean_ns: 5e5,
        per_second: 8000.0,
    }));
    run.measurements[1].server = Some(ServerTimes {
        wait: Estimate::exact(4e5, 100.0),
        service: Estimate::exact(1e5, 100.0),
    });
    run.tables.extend(found::files().tables(run.target.kind));
    run.other_targets.extend(found::files().memory);
    let clients = sample::all_clients();
    assert!(run.measurements.len() >= clients.len());
    for (measurement, clients) in run.measurements.iter_mut().zip(clients) {
        measurement.workload = Some(clients);
    }
    run
}

/// That it is read back with every value. A level between two loads has none of its own, and such
/// a value equals none.
#[track_caller]
fn assert_survives(run: &Run) {
    let text = json(run);
    let back = from_json(&text).expect("own output is readable");
    assert_eq!(format!("{back:?}"), format!("{run:?}"));
}

/// An interval in which a device was shared, an operation failed, and a thousand took 1 us to 1 ms.
fn interval(end_s: u64) -> Interval {
    let mut response = Histogram::new();
    (1..=1_000).for_each(|at| response.record(at * 1_000));
    Interval {
        end_ns: end_s * 1_000_000_000,
        length_ns: 1_000_000_000,
        errors: 1,
        foreign_share: Some(0.25),
        response_histogram: histogram_text(&response),
    }
}

/// Joined, they are what a reader computes by hand.
#[test]
fn a_series_tells_the_percentiles_of_any_length() {
    let mut run = whole_run();
    run.measurements[0].started_at = Some("2026-11-29T23:59:58.5Z".into());
    let header = "measurement,time,begin_s,end_s,operations,errors,iops,mean_us,p50_us,p95_us,\
                  p99_us,p999_us,p9999_us,max_us,foreign_io_share";
    let check = |every, expected: &[[f64; 12]]| {
        let text = report::csv_series(&run, every).expect("intervals");
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some(header));
        let rows: Vec<&str> = lines.collect();
        assert_eq!(rows.len(), expected.len(), "{text}");
        for (row, expected) in rows.iter().zip(expected) {
            let mut cells: Vec<&str> = row.split(',').collect();
            assert_eq!(cells.remove(0), run.measurements[0].name);
            let time = ["2026-11-29T23:59:58.500Z", "2026-11-29T23:59:59.500Z"];
            assert_eq!(cells.remove(0), time[usize::from(expected[0] > 0.0)]);
            // No operation lies above this.
            assert_eq!(cells.remove(10), "", "{row}");
            for (cell, expected) in cells.iter().zip(expected) {
                let value: f64 = cell.parse().expect("a number");
                let off = (value - expected).abs();
                assert!(off <= 1e-3 * expected, "{row}: {expected}");
            }
        }
    };
    let row = |begin: f64, seconds: f64| {
        let (end, count) = (begin + seconds, 1000.0 * seconds);
        let [mean, p50, p95, p99, p999] = [500.5, 500.0, 950.0, 990.0, 999.0];
        [
            begin, end, count, seconds, 1000.0, mean, p50, p95, p99, p999, 1000.0, 0.25,
        ]
    };
    check(None, &[row(0.0, 1.0), row(1.0, 1.0)]);
    check(Some(Duration::from_secs(2)), &[row(0.0, 2.0)]);
    let uneven = Some(Duration::from_millis(1_500));
    assert_eq!(report::csv_series(&run, uneven), None);
    assert_eq!(report::csv_series(&sample::run(), None), None);
}

#[test]
fn a_run_survives_the_round_trip() {
    let run = whole_run();
    assert_survives(&run);
}

#[test]
fn seeds_of_64_bits_are_kept() {
    let mut run = whole_run();
    run.settings.seed = u64::MAX;
    let back = from_json(&json(&run)).expect("own output is readable");
    assert_eq!(back.settings.seed, u64::MAX);
}

/// Archives hold runs of version 2: seeds were numbers, verdicts text or object in other words.
#[test]
fn version_2_is_read() {
    let mut run = sample::run();
    run.measurements[0].verdict = Verdict::Budget { is_citable: false };
    run.measurements[1].verdict = Verdict::NotStationary;
    run.measurements[0].drift.verdict = DriftVerdict::Steady;
    let mut old: Value = serde_json::from_str(&json(&run)).expect("own output is JSON");
    assert_eq!(old["measurements"][0]["verdict"], "budget-few-samples");
    assert_eq!(old["measurements"][1]["verdict"], "not-stationary");
    old["schema"] = 2.into();
    old["setup"]["seed"] = run.settings.seed.into();
    let first = &mut old["measurements"][0];
    first["verdict"] = serde_json::json!({"Budget": {"is_citable": false}});
    first["drift"]["verdict"] = "Steady".into();
    first["seed"] = run.measurements[0].seed.into();
    old["measurements"][1]["verdict"] = "NotStationary".into();
    assert_eq!(from_json(&old.to_string()).expect("version 2"), run);
}

#[test]
fn an_interval_without_an_upper_end_is_null() {
    let mut run = whole_run();
    run.measurements[0].response.mean.high = f64::INFINITY;
    let text = json(&run);
    assert!(text.contains("\"high\": null"));
    assert_survives(&run);
}

#[test]
fn other_schemas_are_refused_in_a_sentence() {
    let refused = |schema: u32| {
        let text = format!("\"schema\": {schema}");
        let text = json(&whole_run()).replacen("\"schema\": 5", &text, 1);
        from_json(&text).expect_err("another schema")
    };
    let (older, newer) = (refused(1), refused(6));
    assert!(matches!(
        older,
        JsonError::OlderSchema { found: 1, known: 5 }
    ));
    assert!(matches!(
        newer,
        JsonError::NewerSchema { found: 6, known: 5 }
    ));
    assert_eq!(
        older.to_string(),
        "the run has schema version 1, and this program reads 2 to 5. Read it with the \
         version of Seekstone that wrote it, or rerun"
    );
    assert_eq!(
        newer.to_string(),
        "the run has schema version 6, and this program reads 2 to 5. Read it with the \
         version of Seekstone that wrote it, or a newer one"
    );
}

#[test]
fn other_texts_are_refused() {
    for text in [
        "",
        "{",
        "[]",
        "{}",
        "{\"schema\":\"x\"}",
        "{\"schema\":2}",
        "null",
        "\u{0}",
    ] {
        let error = from_json(text).expect_err(text);
        assert!(
            error
                .to_string()
                .starts_with("this is not the JSON form of a run"),
            "{error}"
        );
    }
}

/// A trial that was cut short has numbers that are not finite, and its run was unreadable once
/// it was archived.
#[test]
fn every_number_may_be_missing() {
    let whole: Value = serde_json::from_str(&json(&whole_run())).expect("own output is JSON");
    let mut pointers = Vec::new();
    floats(&whole, "", &mut pointers);
    assert!(pointers.len() > 100, "the sample has numbers");
    // These are constants of the program, or numbers that the kernel printed.
    let always_finite = [
        "/confidence",
        "/p",
        "/precision",
        "_percent",
        "/load_average",
    ];
    pointers.retain(|pointer| {
        let path = without_indices(pointer);
        !always_finite.iter().any(|end| path.ends_with(end))
    });
    // What was asked for was typed, and no number without an end is taken.
    pointers.retain(|pointer| !pointer.contains("/workload/"));
    let reads_without = |pointers: &[&str]| {
        let mut changed = whole.clone();
        for pointer in pointers {
            *changed.pointer_mut(pointer).expect("found just now") = Value::Null;
        }
        from_json(&changed.to_string()).is_ok()
    };
    let all: Vec<&str> = pointers.iter().map(String::as_str).collect();
    if reads_without(&all) {
        return;
    }
    // One reading for all places of one kind: each reading takes the whole run.
    let mut alike: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for pointer in all {
        let path = without_indices(pointer);
        alike.entry(path).or_default().push(pointer);
    }
    alike.retain(|_, pointers| !reads_without(pointers));
    panic!("null is refused at {:#?}", alike.into_keys());
}

#[test]
fn numbers_that_are_not_finite_survive() {
    let mut run = whole_run();
    let m = &mut run.measurements[0];
    m.drift.bound = f64::INFINITY;
    m.drift.standard_error = f64::NAN;
    m.effective_depth = f64::NAN;
    m.response.mean.value = f64::NAN;
    m.lateness.mean_ns = f64::INFINITY;
    let text = json(&run);
    let back = from_json(&text).expect("own output is readable");
    assert_eq!(json(&back), text);
    assert_eq!(back.measurements[0].drift.bound, f64::INFINITY);
}

#[test]
fn every_key_is_documented() {
    let mut run = whole_run();
    run.target = sample::rich_target();
    run.status = results::Status::Partial {
        reason: "interrupted".into(),
    };
    let mut keys = BTreeSet::new();
    keys_of(
        &serde_json::to_value(&run).expect("a run is JSON"),
        &mut keys,
    );
    assert!(keys.len() > 150, "the sample has something in every field");
    let missing: Vec<&String> = keys
        .iter()
        .filter(|key| !SCHEMA.contains(&format!("`{key}`")))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/json-schema.md does not name {missing:?}"
    );
}

/// What a script reads comes first, under names that jq takes without quotes.
#[test]
fn a_summary_comes_first() {
    let mut run = sample::run();
    run.measurements[4].response.percentiles[2].is_indicative = true;
    let text = json(&run);
    assert!(text.starts_with("{\n  \"summary\": {"), "{text}");
    let whole: Value = serde_json::from_str(&text).expect("own output is JSON");
    let summary = &whole["summary"];
    let read = &summary["rows"]["random_read"];
    let of_run = &run.measurements[3];
    assert_eq!(read["iops"], of_run.throughput.value);
    let mean = read["mean_us"].as_f64().expect("a time");
    assert!((mean - of_run.response.mean.value / 1e3).abs() < 1e-6);
    assert_eq!(read["trust"], "reliable");
    let error = read["error"].as_f64().expect("a share");
    assert!((error - of_run.response.mean.relative_half_width()).abs() < 1e-9);
    assert!(read.get("p99_trust").is_none(), "{read}");
    assert!(read["max_us"].as_f64() >= read["p99_us"].as_f64(), "{read}");
    assert_eq!(summary["engine"], "threads, uring");
    assert_eq!(summary["rows"]["durable_write"]["p99_trust"], "indicative");
    assert!(
        summary["rows"]["levels_250us"]["iops"].is_f64(),
        "{summary:#}"
    );
    let bare = |name: &String| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let rows = summary["rows"].as_object().expect("rows");
    let keys = rows.values().filter_map(Value::as_object).flatten();
    assert!(
        rows.keys().chain(keys.map(|(key, _)| key)).all(bare),
        "{summary:#}"
    );
}

#[test]
fn the_document_names_this_version() {
    let version = format!("version {}", results::SCHEMA_VERSION);
    assert!(
        SCHEMA.contains(&version),
        "docs/json-schema.md describes another version"
    );
}

#[test]
fn every_state_of_a_raid_survives() {
    for state in [
        RaidActivity::Normal,
        RaidActivity::Degraded,
        RaidActivity::Rebuilding { percent: None },
        RaidActivity::Replacing,
        RaidActivity::Checking {
            percent: Some(12.5),
        },
    ] {
        let mut run: Run = whole_run();
        run.target.raid = Some(RaidState {
            kind: "md".into(),
            level: None,
            members: None,
            missing: None,
            state,
            source: "/proc/mdstat".into(),
        });
        assert_survives(&run);
    }
}

fn floats(value: &Value, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(number) if number.is_f64() => found.push(pointer.to_owned()),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                floats(item, &format!("{pointer}/{index}"), found);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                floats(field, &format!("{pointer}/{key}"), found);
            }
        }
        _ => {}
    }
}

fn without_indices(pointer: &str) -> String {
    pointer
        .split('/')
        .filter(|part| part.parse::<u32>().is_err())
        .collect::<Vec<_>>()
        .join("/")
}

fn keys_of(value: &Value, keys: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| keys_of(item, keys)),
        Value::Object(fields) => {
            for (key, field) in fields {
                keys.insert(key.clone());
                keys_of(field, keys);
            }
        }
        _ => {}
    }
}
