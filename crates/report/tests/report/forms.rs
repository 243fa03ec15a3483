//! Every kind of measurement in every form: what one kind has, all have, by the same names.

use std::collections::BTreeSet;

use crate::kinds::kinds;
use report::{
    Style, check_up, comparison, csv_figures, csv_replicates, line_protocol, markdown, openmetrics,
};
use results::{Role, Run, Shown, Table, Trust, WarningCode, compare, json, setup_differences};

pub fn figures(tables: &[Table]) -> usize {
    let rows = tables.iter().flat_map(|table| &table.rows);
    rows.map(|row| row.figures.len()).sum()
}

/// The fields of a line of CSV.
pub fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            c => fields.last_mut().expect("one").push(c),
        }
    }
    fields
}

#[test]
fn every_kind_has_its_tables_and_each_row_one_headline() {
    for (kind, run, expected) in kinds() {
        let tables = run.tables();
        let names: Vec<&str> = tables.iter().map(|table| table.name.as_ref()).collect();
        for name in expected {
            assert!(names.contains(name), "{kind}: {name} is not in {names:?}");
        }
        for table in &tables {
            let mut seen = BTreeSet::new();
            for row in &table.rows {
                let name = table.row_name(row);
                assert_eq!(row.levels.len(), table.factors.len(), "{kind}: {name}");
                assert!(
                    seen.insert(row.levels.clone()),
                    "{kind}: {name} is given twice"
                );
                let metrics: BTreeSet<&str> = row
                    .figures
                    .iter()
                    .map(|it| it.metric.name.as_str())
                    .collect();
                assert_eq!(
                    metrics.len(),
                    row.figures.len(),
                    "{kind}: {name}: {metrics:?}"
                );
                let heads = row
                    .figures
                    .iter()
                    .filter(|it| it.metric.role == Role::Headline);
                assert!(heads.count() <= 1, "{kind}: {name}");
                let is_empty = row.figures.is_empty() && row.words.is_empty();
                assert!(!is_empty, "{kind}: {name} says nothing");
            }
            let mut figures = table.rows.iter().flat_map(|row| &row.figures);
            let is_of_details = figures.all(|it| it.metric.role == Role::Detail);
            let headed = table.rows.iter().filter(|row| row.headline().is_some());
            assert!(
                is_of_details || headed.count() > 0,
                "{kind}: no row of {} has a headline",
                table.name
            );
        }
    }
}

#[test]
fn every_kind_is_written_as_csv_with_the_same_columns() {
    let mut headers = BTreeSet::new();
    for (kind, run, _) in kinds() {
        let text = csv_figures(&run);
        let mut lines = text.split_terminator("\r\n");
        let header = fields(lines.next().expect("a header"));
        let rows: Vec<Vec<String>> = lines.map(fields).collect();
        // One line more has the verdict.
        assert_eq!(rows.len(), 1 + figures(&run.tables()), "{kind}");
        assert!(rows.iter().all(|row| row.len() == header.len()), "{kind}");
        headers.insert(header);
    }
    assert_eq!(headers.len(), 1);
}

#[test]
fn repetitions_are_written_where_there_are_any() {
    for (kind, run, _) in kinds() {
        let repeats = ["transfer", "random", "time", "files", "ssd", "study"].contains(&kind);
        let text = csv_replicates(&run);
        assert_eq!(text.is_some(), repeats, "{kind}");
        if let Some(text) = text {
            let columns = fields(text.lines().next().expect("a header")).len();
            assert!(text.lines().count() > 1, "{kind}");
            assert!(
                text.split_terminator("\r\n")
                    .all(|it| fields(it).len() == columns)
            );
        }
    }
}

#[test]
fn every_kind_is_written_as_markdown() {
    for (kind, run, _) in kinds() {
        let text = markdown(&run);
        assert!(text.starts_with("# "), "{kind}");
        let tables = text.lines().filter(|line| line.starts_with("| --- "));
        let tables = tables.count() + text.lines().filter(|it| it.starts_with("| ---: ")).count();
        assert!(tables >= 1, "{kind}:\n{text}");
        for line in text.lines().filter(|line| line.starts_with('|')) {
            assert!(line.ends_with(" |"), "{kind}: {line}");
        }
    }
}

/// The screen has a section for each kind: what its first table tells apart is named there.
#[test]
fn every_kind_is_shown_on_the_screen() {
    let style = Style {
        all: true,
        ..Style::default()
    };
    // Levels are names there, `40us` and `sequential-read`, and words on the screen.
    let bare = |text: &str| text.to_lowercase().replace([' ', '-'], "");
    for (kind, run, _) in kinds() {
        let screen = check_up(&run, &style);
        let shown = bare(&screen);
        let table = &run.tables()[0];
        let told = table.rows.iter().filter(|row| {
            let mut levels = row.levels.iter();
            levels.all(|level| shown.contains(&bare(level)))
        });
        // One row alone is told from nothing: its section has its name.
        let is_section = table.rows.len() == 1 && shown.contains(&bare(&table.name));
        assert!(told.count() > 0 || is_section, "{kind}:\n{screen}");
    }
}

#[test]
fn every_kind_is_written_as_json_with_its_tables() {
    for (kind, run, expected) in kinds() {
        let value: serde_json::Value = serde_json::from_str(&json(&run)).expect("JSON");
        let tables = value["tables"].as_array().expect("tables");
        let names: Vec<&str> = tables.iter().filter_map(|it| it["name"].as_str()).collect();
        assert!(
            expected.iter().all(|name| names.contains(name)),
            "{kind}: {names:?}"
        );
        let first = &tables[0]["rows"][0]["figures"][0];
        assert!(
            first["name"].is_string() && first["unit"].is_string(),
            "{kind}: {first}"
        );
        let back = results::from_json(&json(&run)).expect("a run");
        // A value that is not known equals none.
        assert!(format!("{back:?}") == format!("{run:?}"), "{kind}");
    }
}

/// The fields of a line by name, after its measurement and tags; a backslash takes the next
/// character as it is, and quotes enclose text.
fn point_of(line: &str) -> (Vec<String>, Vec<String>, i128) {
    let (mut parts, mut part) = (Vec::new(), vec![String::new()]);
    let (mut is_quoted, mut chars) = (false, line.chars());
    while let Some(c) = chars.next() {
        let last = part.last_mut().expect("a piece");
        match c {
            '\\' => last.extend(['\\', chars.next().expect("an escaped character")]),
            '"' => {
                is_quoted = !is_quoted;
                last.push(c);
            }
            ' ' if !is_quoted => parts.push(std::mem::replace(&mut part, vec![String::new()])),
            ',' if !is_quoted => part.push(String::new()),
            c => last.push(c),
        }
    }
    assert!(!is_quoted && parts.len() == 2, "{line}");
    let moment = part.concat().parse().expect("nanoseconds");
    let fields = parts.pop().expect("fields");
    (parts.pop().expect("tags"), fields, moment)
}

/// A point is known by its measurement, tags and instant: no two are alike, no tag is empty, and
/// each field is a finite number or text.
#[test]
fn every_kind_is_written_as_line_protocol() {
    for (kind, run, _) in kinds() {
        let mut points = BTreeSet::new();
        let mut fields_all = 0;
        for line in line_protocol(&run).lines() {
            let (tags, fields, moment) = point_of(line);
            assert!(moment > 900_000_000_000_000_000, "{line}");
            for tag in &tags[1..] {
                let (name, value) = tag.split_once('=').expect("a tag");
                assert!(!name.is_empty() && !value.is_empty(), "{line}");
            }
            for field in &fields {
                let (name, value) = field.split_once('=').expect("a field");
                let is_number = value.parse::<f64>().is_ok_and(f64::is_finite);
                let is_text = value.starts_with('"') && value.ends_with('"');
                assert!(!name.is_empty() && (is_number || is_text), "{line}");
            }
            fields_all += fields.len();
            assert!(points.insert(tags), "{kind}: twice: {line}");
        }
        let rows = run.tables().iter().map(|it| it.rows.len()).sum::<usize>();
        assert!(
            points.len() > rows / 2 && fields_all > points.len(),
            "{kind}"
        );
    }
}

/// The rules of the format that a reader relies on: a type before the first sample of each family,
/// no family in two pieces, no two samples alike, the end marked.
#[test]
fn every_kind_is_written_as_openmetrics() {
    for (kind, run, _) in kinds() {
        let text = openmetrics(&run);
        assert!(text.ends_with("# EOF\n"), "{kind}");
        let (mut families, mut samples) = (BTreeSet::new(), BTreeSet::new());
        let mut family = String::new();
        for line in text.lines().filter(|line| *line != "# EOF") {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                family = rest.split(' ').next().expect("a name").to_owned();
                assert!(
                    families.insert(family.clone()),
                    "{kind}: {family} comes twice"
                );
            } else if let Some(rest) = line.strip_prefix("# UNIT ") {
                let (name, unit) = rest.split_once(' ').expect("a unit");
                assert!(
                    name == family && name.ends_with(&format!("_{unit}")),
                    "{line}"
                );
            } else {
                let (name, rest) = line.split_once('{').expect("labels");
                let (labels, value) = rest.rsplit_once("} ").expect("a value");
                assert!(name == family || name == format!("{family}_info"), "{line}");
                let legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
                assert!(name.chars().all(legal), "{line}");
                assert!(value.parse::<f64>().is_ok_and(f64::is_finite), "{line}");
                assert!(
                    samples.insert((name.to_owned(), labels.to_owned())),
                    "twice: {line}"
                );
            }
        }
        assert!(samples.len() > 2, "{kind}");
    }
}

#[test]
fn every_kind_is_compared_with_itself_and_nothing_differs() {
    for (kind, run, _) in kinds() {
        let found = compare(&run, &run);
        assert!(!found.is_empty(), "{kind}");
        let wrong = found.iter().find(|it| {
            !matches!(
                it.shown,
                Shown::Nothing | Shown::NoInterval | Shown::Untrusted(_)
            ) || it.base != it.new
        });
        assert_eq!(wrong, None, "{kind}");
        assert_eq!(setup_differences(&run, &run), [], "{kind}");
        let text = comparison(&[run.clone(), run], &Style::default()).expect(kind);
        assert!(text.contains("are the same"), "{kind}:\n{text}");
    }
}

#[test]
fn a_difference_beyond_the_intervals_is_named_in_its_direction() {
    let base = sample::run();
    let mut new = base.clone();
    let slowed = new
        .measurements
        .iter_mut()
        .find(|it| it.name == "random-read");
    let slowed = slowed.expect("it is there");
    slowed.response.mean = slowed.response.mean.scale(2.0);
    slowed.throughput = slowed.throughput.scale(2.0);
    new.environment.kernel = "Linux 7.0".into();
    let found = compare(&base, &new);
    let shown = |metric: &str| {
        let it = found
            .iter()
            .find(|it| it.row == "random-read" && it.metric == metric);
        it.expect(metric).shown
    };
    assert_eq!(shown("latency"), Shown::Worse);
    assert_eq!(shown("iops"), Shown::Better);
    assert_eq!(shown("latency-p99"), Shown::Nothing);
    let keys: Vec<String> = setup_differences(&base, &new)
        .into_iter()
        .map(|it| it.key)
        .collect();
    assert_eq!(keys, ["environment.kernel"]);
}

/// Bug: devices were printed as JSON, broken inside words.
#[test]
fn other_devices_are_told_key_by_key() {
    let base = sample::run();
    let mut new = base.clone();
    let device = &mut new.target.devices[0];
    device.name = "sdz".into();
    device.rotational = Some(true);
    let mut keys = setup_differences(&base, &new).into_iter();
    let told = keys.find(|it| it.key == "target.devices.1.rotational");
    assert_eq!(told.expect("a difference").new, "true");
    let lines = comparison(&[base.clone(), new.clone()], &Style::default());
    let lines = lines.expect("a comparison");
    let named = format!(
        "target.devices.1.name       sdz, was {}",
        base.target.devices[0].name
    );
    assert!(lines.contains(&named), "{lines}");
    new.target.devices.clear();
    let told = setup_differences(&base, &new);
    let told = told.iter().map(|it| (it.key.as_str(), it.new.as_str()));
    assert_eq!(told.collect::<Vec<_>>(), [("target.devices.1", "none")]);
}

#[test]
fn figures_that_must_not_be_used_give_no_verdict() {
    let base = sample::run();
    let mut new = base.clone();
    for measurement in &mut new.measurements {
        let void = results::Warning::invalid(WarningCode::BackgroundIo, "somebody else");
        measurement.warnings.push(void);
        measurement.throughput = measurement.throughput.scale(3.0);
    }
    let void = |run: &Run| run.tables()[0].rows[0].trust == Trust::Invalid;
    assert!(void(&new) && !void(&base));
    let of_trials = compare(&base, &new);
    let mut of_trials = of_trials.iter().filter(|it| it.table == "measurements");
    assert!(of_trials.all(|it| it.shown == Shown::Untrusted(Trust::Invalid)));
}

#[test]
fn runs_without_a_common_row_are_no_comparison() {
    let found = kinds();
    let (transfer, files) = (&found[5].1, &found[8].1);
    let error = comparison(&[transfer.clone(), files.clone()], &Style::default());
    let error = error.expect_err("nothing in common").to_string();
    assert!(error.contains("no row in common"), "{error}");
    comparison(
        &found
            .iter()
            .take(1)
            .map(|it| it.1.clone())
            .collect::<Vec<_>>(),
        &Style::default(),
    )
    .expect_err("one run");
}
