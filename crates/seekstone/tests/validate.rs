//! `seekstone devices validate`: the documents' tables, and what docs/devices.md says of them.

mod support;

use std::fs;
use std::path::Path;

use rustix::process::Signal;
use support::{Running, Scratch};

/// What stands around the tables in the document; `cargo xtask tables` writes them anew.
const BEGIN: &str = "<!-- tables: begin -->\n```text\n";
const END: &str = "```\n<!-- tables: end -->\n";

/// Every row that is judged keeps its bar, and the document shows the command's own words: no
/// figure in it was typed by hand.
#[test]
fn every_judged_row_keeps_its_bar_and_the_document_shows_them() {
    let scratch = Scratch::new();
    let args = ["devices", "validate", "--quiet", "--json", "found.json"];
    let ended = scratch.check(&args, 0, "rows within their bars, 0 outside");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/devices.md");
    let document = fs::read_to_string(path).expect("the document");
    let tables = document.split_once(BEGIN).expect("the beginning").1;
    let tables = tables.split_once(END).expect("the end").0;
    for (line, (shown, said)) in tables.lines().zip(ended.stdout.lines()).enumerate() {
        assert_eq!(shown, said, "line {line}: run `cargo xtask tables`");
    }
    assert_eq!(tables, ended.stdout, "run `cargo xtask tables`");

    let text = fs::read_to_string(scratch.path("found.json")).expect("a file");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let tables = json["tables"].as_array().expect("tables");
    let rows = || {
        let rows = tables.iter().filter_map(|table| table["rows"].as_array());
        rows.flatten()
    };
    assert!(rows().filter(|row| row["standing"] == "within").count() >= 90);
    assert!(rows().all(|row| row["standing"] != "outside"));
    // Every row of the standard tables stands somewhere, one task and taken memory included.
    let has = |title: &str, row: &str| {
        let mut all = tables.iter();
        all.any(|table| {
            let is_there = table["title"].as_str().is_some_and(|it| it.contains(title));
            let rows = table["rows"].as_array().expect("rows");
            is_there && rows.iter().any(|it| it["row"] == row)
        })
    };
    for section in ["9.2", "9.3", "9.4"] {
        for machine in ["486", "P100", "PPro"] {
            for tasks in ["1 task", "2 tasks", "4 tasks"] {
                let row = format!("{machine}, {tasks}");
                assert!(
                    has(&format!("DISKRAND {section}"), &row),
                    "{section}: {row}"
                );
            }
        }
    }
    for taken in [
        "PPro, 4", "PPro, 8", "PPro, 12", "PPro, 16", "PPro, 20", "PPro, 24",
    ] {
        assert!(has("DISKRAND 9.5", &format!("{taken} MB")), "{taken}");
    }
    assert!(has("DISKRAND 9.5", "P100, 4 MB") && has("DISKRAND 9.5", "P100, 8 MB"));
    // Whoever is not judged says why.
    for row in rows().filter(|row| row["standing"] == "not-judged") {
        assert_ne!(row["note"], "", "{row}");
    }
    assert!(rows().filter(|row| row["is_misprint"] == true).count() >= 5);
}

#[test]
fn one_device_and_mistakes() {
    let scratch = Scratch::new();
    let floppy = ["devices", "validate", "sim:floppy"];
    let ended = scratch.check(
        &floppy,
        0,
        "Simulated floppy compared with what was published",
    );
    assert!(ended.stdout.contains("1 rows within"), "{}", ended.stdout);
    assert!(ended.stderr.contains("[1 of 1] KP3"), "{}", ended.stderr);
    let json = ["devices", "validate", "floppy", "--json", "-", "--quiet"];
    assert_eq!(scratch.check(&json, 0, "").json()["device"], "floppy");
    let drum = ["devices", "validate", "drum"];
    scratch.check(&drum, 2, "there are figures of axp612, ");
}

#[test]
fn a_signal_keeps_the_tables_that_are_done() {
    let scratch = Scratch::new();
    let mut running = Running::start(scratch.seekstone(["devices", "validate"]));
    running.wait_for("[2 of ");
    running.signal(Signal::INT);
    let ended = running.end();
    ended.check(
        &["validate"],
        1,
        "error: stopped by SIGINT; the tables before it are above",
    );
    assert!(
        ended.stdout.contains("partial: stopped by SIGINT"),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stdout.contains("DISKRAND 7: random reads"),
        "{}",
        ended.stdout
    );
}
