//! One hostile text in every field that others can fill, read back out of every form: control
//! characters, a title for the window, turned writing, markup, a formula.

use crate::kinds::kinds;
use report::Style;
use results::Run;
use serde_json::Value;
use units::is_obeyed;

const HOSTILE: &str =
    "=1+\u{1b}]0;T\u{7}\u{9b}2J\u{202e}<script>|`[x](javascript:1)\"'&\n@b,c\r# EOF";

/// The run with the text in every field that takes it, and how many these are.
fn filled(run: &Run) -> (Run, usize) {
    let mut document: Value = serde_json::from_str(&results::json(run)).expect("JSON");
    let mut paths = Vec::new();
    texts(&document, String::new(), &mut paths);
    let mut filled = 0;
    for path in paths {
        let place = document.pointer_mut(&path).expect("a text");
        let before = std::mem::replace(place, HOSTILE.into());
        match results::from_json(&document.to_string()) {
            Ok(_) => filled += 1,
            Err(_) => *document.pointer_mut(&path).expect("a text") = before,
        }
    }
    let run = results::from_json(&document.to_string()).expect("it was taken");
    (run, filled)
}

fn texts(value: &Value, path: String, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(path),
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items
                .by_ref()
                .take(3)
                .for_each(|(at, it)| texts(it, format!("{path}/{at}"), found));
        }
        // What is computed from the rest is written anew.
        Value::Object(keys) if path != "/tables" && path != "/summary" => {
            let each = keys.iter().filter(|(key, _)| !key.contains(['/', '~']));
            each.for_each(|(key, it)| texts(it, format!("{path}/{key}"), found));
        }
        _ => {}
    }
}

#[track_caller]
fn check_shown(form: &str, text: &str) {
    let obeyed = text
        .chars()
        .find(|c| is_obeyed(*c) && !matches!(c, '\n' | '\t'));
    assert_eq!(obeyed, None, "{form}: {text:?}");
}

fn check_csv(form: &str, text: &str) {
    // Cells of lines in quotes are one cell: quotes alone decide where one ends.
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for c in text.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' | '\n' if !is_quoted => cells.push(String::new()),
            c => cells.last_mut().expect("one").push(c),
        }
    }
    for cell in cells {
        let is_formula = cell.starts_with(['=', '+', '-', '@', '\t']);
        let is_number = cell.trim_end().parse::<f64>().is_ok();
        assert!(!is_formula || is_number, "{form}: {cell:?}");
    }
}

fn check_markup(form: &str, text: &str) {
    check_shown(form, text);
    assert!(!text.contains("=1+?]0;T??2J?<script>"), "{form}");
    assert!(!text.contains("\"'&"), "{form}");
}

#[test]
fn foreign_text_is_shown_and_never_obeyed() {
    let style = Style {
        color: false,
        ..Style::default()
    };
    let mut all = 0;
    for (kind, run, _) in kinds() {
        let (run, count) = filled(&run);
        all += count;
        check_shown(&format!("{kind}, screen"), &report::check_up(&run, &style));
        check_shown(
            &format!("{kind}, setup"),
            &report::setup(&run.settings, &style),
        );
        let points = report::csv_points(&run);
        let intervals = report::csv_intervals(&run);
        for (form, text) in [
            ("figures", Some(report::csv_figures(&run))),
            ("replicates", report::csv_replicates(&run)),
            ("points", points),
            ("intervals", intervals),
        ] {
            check_csv(&format!("{kind}, {form}"), &text.unwrap_or_default());
        }
        check_markup(&format!("{kind}, page"), &report::html(&run));
        let markdown = report::markdown(&run);
        check_shown(&format!("{kind}, Markdown"), &markdown);
        assert!(
            !markdown.contains("J?<script>") && !markdown.contains(" [x]("),
            "{markdown}"
        );
        let points = report::line_protocol(&run);
        check_shown(&format!("{kind}, line protocol"), &points);
        assert!(
            points.lines().all(|it| it.starts_with("seekstone")),
            "{points}"
        );
        let metrics = report::openmetrics(&run);
        check_shown(&format!("{kind}, OpenMetrics"), &metrics);
        assert_eq!(
            metrics.lines().filter(|it| *it == "# EOF").count(),
            1,
            "{metrics}"
        );
        assert!(metrics.trim_end().ends_with("# EOF"), "{metrics}");
    }
    assert!(all > 100, "{all} fields took the text");
}
