//! The tables of `seekstone devices validate`, with invented figures.

use crate::support::assert_documented;
use report::{Style, validation, validation_json};
use results::{Bar, Reference, Validation, ValidationRow, ValidationTable};

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
        row("16 MB", "%", 50.0)
            .simulated(25.0)
            .missed(Bar::Tolerance { tolerance: 0.2 }, "not in the model"),
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
    let line = |row: &str| {
        let mut lines = text.lines().map(str::trim_start);
        let line = lines.find(|line| line.starts_with(row));
        let words = line.unwrap_or_else(|| panic!("{row}: {text}"));
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("40 MB"), "40 MB 14.3 ms 13.95 ms 0.98 12 % within");
    assert_eq!(line("200 MB"), "200 MB 16.5 ms 12.1 ms 0.73 12 % OUTSIDE");
    assert_eq!(
        line("2 tasks"),
        "2 tasks 2.17/s 1.811 to 2.736/s between within"
    );
    assert_eq!(
        line("share of hits"),
        "share of hits 0.33 0.334 1.01 0.3 to 0.36 within (1)"
    );
    assert_eq!(line("at most"), "at most 9124/s 9000/s 0.99 at most within");
    assert_eq!(line("95 %"), "95 % ! 3.35 s - (2)");
    assert_eq!(line("stops"), "stops 13 9 or more within (1)");
    assert_eq!(line("(2)"), "(2) below its mean");
    assert_eq!(line("16 MB"), "16 MB 50 % 25 % 0.50 20 % missed (3)");
    assert_eq!(line("(3)"), "(3) not in the model");
    assert_eq!(
        line("4 rows within"),
        "4 rows within their bars, 1 between two models (1 wide), 1 known to miss theirs, \
         1 outside, 1 not"
    );
    assert!(text.ends_with("partial: stopped by SIGINT\n"), "{text}");
}

#[test]
fn every_key_is_documented_and_read_back() {
    let text = validation_json(&found());
    let back: Validation = serde_json::from_str(&text).expect("own output is readable");
    assert_eq!(back, found());
    assert_documented(&text);
}
