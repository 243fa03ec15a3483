//! `seekstone devices validate`: the documents' tables, and what docs/evidence/device-tables.md
//! says of them.

use std::fs;
use std::path::Path;

use crate::support::{Running, Scratch};
use rustix::process::Signal;
use validation::{FigureAccount, published_tables};

/// What stands around the tables in the document; `cargo xtask tables` writes them anew.
const BEGIN: &str = "<!-- tables: begin -->\n```text\n";
const END: &str = "```\n<!-- tables: end -->\n";

/// Every row that is judged keeps its bar, and the document shows the command's own words: no
/// figure in it was typed by hand.
#[test]
fn every_judged_row_keeps_its_bar_and_the_document_shows_them() {
    let scratch = Scratch::new();
    let args = ["devices", "validate", "--quiet", "--json", "found.json"];
    let ended = scratch.check(&args, 0, "known to miss theirs, 0 outside");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/evidence/device-tables.md");
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
    assert!(rows().filter(|row| row["standing"] == "within").count() >= 180);
    assert!(rows().all(|row| row["standing"] != "outside"));
    every_figure_has_an_account(tables);
    // Whoever is not judged says why.
    for row in rows().filter(|row| row["standing"] == "not-judged") {
        assert_ne!(row["note"], "", "{row}");
    }
    assert!(rows().filter(|row| row["is_misprint"] == true).count() >= 5);
}

/// The documents' tables and logs, counted by hand: how many there are, and their figures.
const COUNTED: [(&str, usize, usize); 4] = [
    ("RPT", 8, 150),
    ("DISKMBPS", 31, 357),
    ("DISKRAND", 13, 453),
    ("KP3", 16, 323),
];

/// No figure of the documents is missing: each has an account, each account its rows, and each row
/// that is held against a document its account.
fn every_figure_has_an_account(tables: &[serde_json::Value]) {
    for (document, count, figures) in COUNTED {
        let those = || published_tables().filter(|it| it.document == document);
        assert_eq!(those().count(), count, "tables of {document}");
        let sum: usize = those().map(|it| it.figures).sum();
        assert_eq!(sum, figures, "figures of {document}");
    }
    let of_documents = tables.iter().filter(|it| it["reference"] == "document");
    let named = of_documents.flat_map(|table| {
        let rows = table["rows"].as_array().expect("rows");
        let title = table["title"].as_str().expect("a title");
        rows.iter()
            .map(move |row| (title, row["row"].as_str().expect("a name")))
    });
    let named: Vec<(&str, &str)> = named.collect();
    let mut claimed: Vec<(&str, &str)> = Vec::new();
    for table in published_tables() {
        let place = format!("{} {}", table.document, table.place);
        let sum: usize = table.parts.iter().map(|part| part.figures).sum();
        assert_eq!(sum, table.figures, "{place}");
        for part in table.parts {
            match part.account {
                FigureAccount::Compared { title, rows } => {
                    let is_asked = |row| rows.is_empty() || rows.contains(&row);
                    let found = named
                        .iter()
                        .filter(|(of, row)| *of == title && is_asked(*row));
                    let found: Vec<_> = found.copied().collect();
                    let asked = if rows.is_empty() {
                        found.len()
                    } else {
                        rows.len()
                    };
                    assert!(
                        asked > 0 && found.len() == asked,
                        "{place}: {title}: {rows:?}"
                    );
                    claimed.extend(found);
                }
                FigureAccount::Given(why) | FigureAccount::Unreached(why) => {
                    assert_ne!(why, "", "{place}");
                }
                FigureAccount::Tested(test) => {
                    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
                        .join("../..")
                        .join(test);
                    assert!(path.exists(), "{place}: {test}");
                }
            }
        }
    }
    let out_of_reach = |title: &str| title == "Figures that are out of reach";
    for (title, row) in &named {
        let has_account = claimed.contains(&(*title, *row)) || out_of_reach(title);
        assert!(has_account, "{title}: {row}: of which table?");
    }
}

/// The document's list of tables is that of the census.
#[test]
fn every_table_stands_in_the_document() {
    let mut expected = String::from(
        "| table | figures | compared | given or tested | out of reach |\n\
         | --- | ---: | ---: | ---: | ---: |\n",
    );
    for table in published_tables() {
        let sum = |is_one: fn(&FigureAccount) -> bool| {
            let parts = table.parts.iter().filter(|part| is_one(&part.account));
            match parts.map(|part| part.figures).sum() {
                0 => String::new(),
                sum => sum.to_string(),
            }
        };
        let [compared, given, unreached] = [
            sum(|it| matches!(it, FigureAccount::Compared { .. })),
            sum(|it| matches!(it, FigureAccount::Given(_) | FigureAccount::Tested(_))),
            sum(|it| matches!(it, FigureAccount::Unreached(_))),
        ];
        let (document, place, figures) = (table.document, table.place, table.figures);
        expected.push_str(&format!(
            "| {document} {place} | {figures} | {compared} | {given} | {unreached} |\n"
        ));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/documents.md");
    let document = fs::read_to_string(path).expect("the document");
    assert!(
        document.contains(&expected),
        "docs/documents.md must have\n{expected}"
    );
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
    scratch.check(
        &drum,
        2,
        "There are values for aws-gp2, aws-sc1, aws-st1, axp612, ",
    );
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
        "error: stopped by SIGINT. The tables that were done are above",
    );
    assert!(
        ended.stdout.contains("partial: stopped by SIGINT"),
        "{}",
        ended.stdout
    );
    // One of the first, whichever was done first.
    assert!(ended.stdout.contains("DISKRAND "), "{}", ended.stdout);
}
