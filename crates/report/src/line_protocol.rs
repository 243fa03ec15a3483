//! A run in InfluxDB's line protocol, which Telegraf, VictoriaMetrics and QuestDB read, too.
//!
//! Source: InfluxDB 2, "Line protocol" (docs.influxdata.com/influxdb/v2/reference/syntax). A row of
//! a table is a point: its levels are tags, its figures fields, each with the ends of its interval
//! as fields of their own. All points carry the instant at which the run began.

use jiff::Timestamp;
use results::{Figure, Row, Run, RunVerdict, Table};
use units::printable;

use crate::columns::lower_end;

/// All figures of a run and its verdict, a point in each line.
pub fn line_protocol(run: &Run) -> String {
    let began = moment(run);
    let mut lines: Vec<String> = run.verdict.iter().map(|it| verdict(run, it)).collect();
    for table in &run.tables() {
        lines.extend(table.rows.iter().filter_map(|row| point(run, table, row)));
    }
    let lines = lines.iter();
    lines.map(|line| format!("{line}{began}\n")).collect()
}

/// The end of each line; a run whose start is not known has the instant at which it is written.
fn moment(run: &Run) -> String {
    let started: Result<Timestamp, _> = run.environment.started_at.parse();
    started.map_or_else(|_| String::new(), |it| format!(" {}", it.as_nanosecond()))
}

fn verdict(run: &Run, verdict: &RunVerdict) -> String {
    let tags = [("trust", verdict.trust.name().to_owned())];
    let mut fields = vec![
        format!("sentence={}", text(&verdict.sentence)),
        format!("because={}", text(&verdict.codes())),
    ];
    fields.extend(verdict.goals.map(|it| format!("goals={}", text(it.name()))));
    let tags = tags_of(run, tags);
    format!("seekstone_verdict{tags} {}", fields.join(","))
}

/// `None` of a row without a figure that is known.
fn point(run: &Run, table: &Table, row: &Row) -> Option<String> {
    let own = [
        ("table", table.name.to_string()),
        ("trust", row.trust.name().to_owned()),
    ];
    // A factor of a user's study may have any name; with a prefix it is no other tag's.
    let factors: Vec<String> = table.factors.iter().map(|it| format!("by_{it}")).collect();
    let levels = factors.iter().zip(&row.levels);
    let levels = levels.map(|(factor, level)| (factor.as_str(), level.clone()));
    let fields: Vec<String> = row.figures.iter().flat_map(fields).collect();
    let tags = tags_of(run, own.into_iter().chain(levels));
    (!fields.is_empty()).then(|| format!("seekstone{tags} {}", fields.join(",")))
}

/// The value, and the ends of an interval; what is not known or not finite has no field.
fn fields(figure: &Figure) -> impl Iterator<Item = String> + '_ {
    let it = figure.value;
    let ends = [
        ("", it.value),
        ("-low", lower_end(figure)),
        ("-high", it.high),
    ];
    let is_exact = it.low == it.high;
    let ends = ends.into_iter().take(if is_exact { 1 } else { 3 });
    let known = ends.filter(|(_, value)| value.is_finite());
    known.map(|(end, value)| format!("{}={value}", key(&format!("{}{end}", figure.metric.name))))
}

/// What tells runs apart, then these; one without a value is left out, as the protocol wants it.
fn tags_of<'a>(run: &Run, own: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let id = run.id.map_or_else(String::new, |id| id.to_string());
    let of_run = [
        ("run", id),
        ("command", run.settings.command.clone()),
        ("target", run.target.given.clone()),
        ("host", run.environment.host_name.clone()),
    ];
    let all = of_run.into_iter().chain(own);
    let given = all.filter(|(_, value)| !value.is_empty());
    given
        .map(|(name, value)| format!(",{}={}", key(name), key(&value)))
        .collect()
}

/// A key, or the value of a tag: commas, equals signs and spaces are escaped; a backslash at the
/// end would escape what follows.
fn key(text: &str) -> String {
    let safe = printable(text).replace('\\', "/");
    let mut escaped = String::new();
    for c in safe.chars() {
        match c {
            '\n' => escaped.push_str("\\ "),
            ',' | '=' | ' ' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A field of text.
fn text(value: &str) -> String {
    let safe = printable(value).replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", safe.replace('\n', " "))
}
