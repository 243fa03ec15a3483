//! Runs of every kind as version 3 of the JSON form held them: read back, each figure is there by
//! its name and with its digits.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;

use flate2::read::GzDecoder;
use report::{Style, check_up, csv_figures, html, markdown, openmetrics};
use results::{Run, from_json, json};
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
        assert_eq!(new["schema"], 4, "{name}");
        let new = figures(&new);
        for (figure, values) in figures(&old) {
            assert_eq!(new.get(&figure), Some(&values), "{name}: {figure}");
        }
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
