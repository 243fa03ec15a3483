//! Figures of a run's JSON by table, row and metric.

use serde_json::Value;

/// The rows of a table; none where the run has no such table.
pub fn rows<'a>(run: &'a Value, table: &str) -> Vec<&'a Value> {
    let tables = run["tables"].as_array().expect("tables");
    let found = tables.iter().filter(|it| it["name"] == table);
    found
        .flat_map(|it| it["rows"].as_array().expect("rows"))
        .collect()
}

/// The row whose first levels are these.
pub fn row<'a>(run: &'a Value, table: &str, levels: &[&str]) -> &'a Value {
    let begins = |row: &&Value| {
        levels
            .iter()
            .zip(0..)
            .all(|(it, at)| row["levels"][at] == **it)
    };
    let found = rows(run, table).into_iter().find(begins);
    found.unwrap_or_else(|| panic!("{table} has no row {levels:?}: {}", run["tables"]))
}

/// An estimate of a row, if it has that metric.
pub fn estimate<'a>(row: &'a Value, metric: &str) -> Option<&'a Value> {
    let figures = row["figures"].as_array().expect("figures");
    figures.iter().find(|it| it["name"] == metric)
}

/// The value of a figure.
pub fn figure(row: &Value, metric: &str) -> f64 {
    let found = estimate(row, metric).and_then(|it| it["value"].as_f64());
    found.unwrap_or_else(|| panic!("no {metric} in {row}"))
}

/// What is known in words; empty where nothing is.
pub fn word<'a>(row: &'a Value, what: &str) -> &'a str {
    let words = row["words"].as_array().into_iter().flatten();
    let mut found = words.filter(|it| it[0] == what);
    found.next().and_then(|it| it[1].as_str()).unwrap_or("")
}

/// A reading of each repetition behind a row.
pub fn readings(row: &Value, reading: &str) -> Vec<f64> {
    let all = row["replicates"].as_array().expect("replicates").iter();
    let found = all.map(|it| {
        let readings = it["readings"].as_array().expect("readings");
        readings.iter().find(|it| it[0] == reading)
    });
    let found = found.map(|it| it.and_then(|it| it[2].as_f64()));
    found
        .map(|it| it.unwrap_or_else(|| panic!("no {reading} in {row}")))
        .collect()
}

/// Repetitions of rows that take turns, in the order of measuring: the row, and the repetition.
pub fn in_turn(run: &Value) -> Vec<(&Value, &Value)> {
    let tables = run["tables"].as_array().expect("tables").iter();
    let rows = tables.flat_map(|it| it["rows"].as_array().expect("rows"));
    let all = rows.flat_map(|row| {
        let replicates = row["replicates"].as_array().into_iter().flatten();
        replicates.map(move |it| (row, it))
    });
    let mut found: Vec<(&Value, &Value)> =
        all.filter(|(_, it)| it["turn"]["place"].is_u64()).collect();
    found.sort_by_key(|(_, it)| it["turn"]["place"].as_u64());
    found
}

/// The severity of a warning about rows whose names begin so.
pub fn severity<'a>(run: &'a Value, row: &str, code: &str) -> &'a str {
    let mut warnings = run["row_warnings"].as_array().into_iter().flatten();
    let is_it = |it: &&Value| {
        let name = it["row"].as_str().unwrap_or_default();
        name.starts_with(row) && it["code"] == code
    };
    let found = warnings.find(is_it);
    let severity = found.and_then(|it| it["severity"].as_str());
    severity.unwrap_or_else(|| panic!("no {code} of {row}: {}", run["row_warnings"]))
}

/// The notes of a table, joined; none where the run has no such table.
pub fn notes(run: &Value, table: &str) -> String {
    let tables = run["tables"].as_array().expect("tables").iter();
    let notes = tables.filter(|it| it["name"] == table);
    let notes = notes.flat_map(|it| it["notes"].as_array().into_iter().flatten());
    let notes: Vec<&str> = notes.filter_map(Value::as_str).collect();
    notes.join("\n")
}
