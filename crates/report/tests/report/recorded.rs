//! Runs of every kind as version 3 of the JSON form held them: read back, each figure is there by
//! its name and with its digits.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read as _;

use flate2::read::GzDecoder;
use report::{Style, check_up, csv_figures, html, markdown, openmetrics};
use results::{KnownMetric, METRICS, Metric, Run, from_json, json, metrics_of};
use serde_json::Value;

/// The files, with their names.
fn recorded() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded");
    let files = fs::read_dir(folder).expect("the folder");
    let read = files.map(|file| {
        let path = file.expect("a file").path();
        let mut text = String::new();
        let unpacked = GzDecoder::new(File::open(&path).expect("a file")).read_to_string(&mut text);
        unpacked.expect("gzip");
        (path.display().to_string(), text)
    });
    read.collect()
}

/// Each figure under its table, row and metric.
fn figures(run: &Value) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for table in run["tables"].as_array().expect("tables") {
        for row in table["rows"].as_array().expect("rows") {
            for figure in row["figures"].as_array().expect("figures") {
                let levels = row["levels"].to_string();
                let (table, name) = (&table["name"], &figure["name"]);
                let ends = ["value", "low", "high", "samples"].map(|it| figure[it].to_string());
                found.insert(format!("{table} {levels} {name}"), ends.join(" "));
            }
        }
    }
    found
}

fn read(text: &str) -> Run {
    from_json(text).expect("a run of version 3")
}

#[test]
fn every_figure_of_version_3_is_kept() {
    let files = recorded();
    assert!(files.len() > 20, "{} files", files.len());
    for (name, text) in files {
        let old: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(old["schema"], 3, "{name}");
        let new: Value = serde_json::from_str(&json(&read(&text))).expect("JSON");
        assert_eq!(new["schema"], 5, "{name}");
        let new = figures(&new);
        for (figure, values) in figures(&old) {
            assert_eq!(new.get(&figure), Some(&values), "{name}: {figure}");
        }
    }
}

/// What a figure is called, in which unit, is said before anything is measured. Tables of studies
/// and comparisons also have quotients.
#[test]
fn every_figure_is_of_a_known_metric() {
    let is_known = |metric: &Metric| {
        let percentile = |known: &KnownMetric| {
            let of_time = metric.name.strip_prefix(known.name);
            of_time.is_some_and(|it| it.starts_with("-p"))
        };
        METRICS.iter().any(|known| {
            (known.name == metric.name || percentile(known)) && known.unit == metric.unit
        })
    };
    let mut unknown = BTreeSet::new();
    for (_, text) in recorded() {
        let run = read(&text);
        if ["study", "compare"].contains(&run.settings.command.as_str()) {
            continue;
        }
        let tables = run.tables();
        let rows = tables.iter().flat_map(|it| &it.rows);
        let all = rows.flat_map(|it| &it.figures).map(|it| &it.metric);
        unknown.extend(all.filter(|it| !is_known(it)).map(|it| it.name.clone()));
    }
    let of_ssd = [
        "allowed-high",
        "allowed-low",
        "mean",
        "precondition-rate",
        "slope",
    ];
    unknown.retain(|it| !of_ssd.contains(&it.as_str()) && !it.starts_with("pts-"));
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// Each command whose goals are checked before it measures has metrics, and what a goal may be on
/// is a figure of its rows.
#[test]
fn metrics_of_goals_are_figures_of_the_command() {
    for (name, text) in recorded() {
        let run = read(&text);
        let command = run.settings.command.as_str();
        let known = metrics_of(command);
        let tables = run.tables();
        let rows = || tables.iter().flat_map(|it| &it.rows);
        let found = |metric: &str| rows().any(|row| row.figure(metric).is_some());
        let first = known.first().map(|(metric, _)| metric.as_str());
        assert!(first.is_none_or(found), "{name}: no {first:?}");
        // The headline of a row is a metric that a goal may be on.
        let headlines = rows().filter_map(|row| row.headline());
        let is_goal = |name: &str| known.iter().any(|(metric, _)| metric == name);
        let mut headlines = headlines.map(|it| it.metric.name.as_str());
        assert!(known.is_empty() || headlines.any(is_goal), "{name}");
    }
}

/// The archive holds runs without the tables that follow from the rest.
#[test]
fn what_the_archive_held_is_read_alike() {
    for (name, text) in recorded() {
        let mut old: Value = serde_json::from_str(&text).expect("JSON");
        let whole = old.as_object_mut().expect("an object");
        whole.remove("tables");
        whole.remove("summary");
        assert!(
            json(&read(&old.to_string())) == json(&read(&text)),
            "{name}"
        );
    }
}

#[test]
fn what_was_read_is_written_and_read_again() {
    for (name, text) in recorded() {
        let run = read(&text);
        let written = json(&run);
        assert!(json(&read(&written)) == written, "{name}");
        let archived = serde_json::to_string(&run).expect("JSON");
        assert!(json(&read(&archived)) == written, "{name}, as archived");
    }
}

#[test]
fn every_form_of_an_old_run_is_drawn() {
    for (name, text) in recorded() {
        let run = read(&text);
        let screen = check_up(&run, &Style::default());
        let forms = [
            screen,
            html(&run),
            markdown(&run),
            csv_figures(&run),
            openmetrics(&run),
        ];
        assert!(forms.iter().all(|it| it.len() > 300), "{name}");
    }
}
