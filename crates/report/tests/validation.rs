//! The tables of `seekstone devices validate`, with invented figures.

use report::{Style, validation, validation_json};
use results::{Bar, Reference, Validation, ValidationRow, ValidationTable};

const SCHEMA: &str = include_str!("../../../docs/json-schema.md");

fn found() -> Validation {
    let row = ValidationRow::new;
    let rows = vec![
        row("40 MB", "ms", 14.3).simulated(13.949).within(0.12),
        row("200 MB", "ms", 16.5).simulated(12.1).within(0.12),
        row("2 tasks", "/s", 2.17)
            .between(2.7357, 1.8112)
            .judged(Bar::Bracket),
        row("share of hits", "", 0.33)
            .simulated(0.334)
            .noted("an estimate")
            .judged(Bar::Range {
                low: 0.3,
                high: Some(0.36),
            }),
        row("at most", "/s", 9124.0)
            .simulated(9000.0)
            .judged(Bar::Bound { share: 0.5 }),
        row("95 %", "s", 3.35).misprinted("below its mean"),
        ValidationRow::in_words("stops", "")
            .simulated(13.0)
            .noted("an estimate")
            .judged(Bar::Range {
                low: 9.0,
                high: None,
            }),
    ];
    Validation {
        schema: 1,
        device: None,
        tables: vec![ValidationTable {
            title: "A document 7: reads".into(),
            reference: Reference::Document,
            devices: vec!["drum".into()],
            method: "diskrand Write sim:drum 40 300".into(),
            rows,
        }],
        stopped: Some("stopped by SIGINT".into()),
    }
}

#[test]
fn a_table_shows_figures_bars_and_reasons() {
    let text = validation(&found(), &Style::default());
    let tables = text.split_once("A document").expect("a table").1;
    insta::assert_snapshot!(tables, @"");
}

#[test]
fn every_key_is_documented_and_read_back() {
    let text = validation_json(&found());
    let back: Validation = serde_json::from_str(&text).expect("own output is readable");
    assert_eq!(back, found());
    for line in text.lines() {
        let key = line
            .trim()
            .strip_prefix('"')
            .and_then(|it| it.split_once("\":"));
        if let Some((key, _)) = key {
            assert!(
                SCHEMA.contains(&format!("`{key}`")),
                "{key} is not documented"
            );
        }
    }
}
