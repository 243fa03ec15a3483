//! The figures of a run for scripts: one object per row, with names that need no quoting.
//!
//! Everything is derived from the tables. Unknown values are left out.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::goal::LimitVerdict;
use crate::metric::LATENCY_MAX;
use crate::reading::Unit;
use crate::run::Run;
use crate::table::{Figure, Role, Row, Table, Trust};

/// Key-value pairs in insertion order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entries<T>(Vec<(String, T)>);

impl<T: Serialize> Serialize for Entries<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// The first key of a run's JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The verdict's sentence; absent if there is no verdict yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// Trust in the least reliable row.
    pub trust: Trust,
    /// I/O engines of its trials; absent if there were none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub engine: String,
    /// The largest share of background I/O on a device; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign_io_share: Option<f64>,
    /// The figures of each row.
    pub rows: Entries<Entries<Value>>,
    /// Verdicts of the goals.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<GoalSummary>,
}

/// A goal and its verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GoalSummary {
    /// As it was typed.
    pub goal: String,
    /// `pass`, `fail` or `undecided`.
    pub verdict: &'static str,
}

impl Run {
    /// The summary for scripts.
    pub fn summary(&self) -> Summary {
        let tables = self.summaries();
        let tables = || tables.iter().filter(|table| !table.is_points());
        let rows = tables().flat_map(|table| {
            let rows = table.rows.iter();
            rows.map(move |row| (row_key(table, row), summed_up(row)))
        });
        let trusts = tables().flat_map(|table| &table.rows).map(|row| row.trust);
        let foreign = self.measurements.iter();
        let foreign = foreign.filter_map(|it| Some(it.counters.as_ref()?.foreign?.share));
        let goals = self.goals.iter().map(|it| GoalSummary {
            goal: it.goal.clone(),
            verdict: match it.verdict {
                LimitVerdict::Kept => "pass",
                LimitVerdict::Exceeded => "fail",
                LimitVerdict::Undecided => "undecided",
            },
        });
        Summary {
            verdict: self.verdict.as_ref().map(|it| it.sentence.clone()),
            trust: trusts.max().unwrap_or(Trust::Reliable),
            engine: self.engines(),
            foreign_io_share: foreign.reduce(f64::max),
            rows: Entries(rows.collect()),
            goals: goals.collect(),
        }
    }
}

/// The columns of a row: values, the relative half-width of the headline's interval, and what is
/// not reliable.
fn summed_up(row: &Row) -> Entries<Value> {
    let mut entries = Vec::new();
    let is_shown = |it: &&Figure| !it.is_detail() || it.metric.name == LATENCY_MAX.name;
    let shown = row.figures.iter().filter(is_shown);
    for figure in shown {
        let (name, factor) = key(figure);
        let value = scaled(figure.value.value, factor);
        if !value.is_finite() {
            // For a level between two loads, only these are known.
            let ends = [("low", figure.value.low), ("high", figure.value.high)];
            let known = ends
                .into_iter()
                .filter(|(_, end)| end.is_finite() && *end > 0.0);
            let known = known.map(|(end, at)| (end, scaled(at, factor)));
            entries.extend(known.map(|(end, at)| (format!("{name}_{end}"), at.into())));
            continue;
        }
        entries.push((name.clone(), Value::from(value)));
        let error = figure.value.relative_half_width();
        if figure.metric.role == Role::Headline && error.is_finite() {
            entries.push(("error".into(), Value::from(error)));
        }
        let word = match () {
            () if figure.is_detail() => continue,
            () if !figure.value.is_bounded() => "raw",
            () if figure.is_indicative => "indicative",
            () => continue,
        };
        let is_rate = name.ends_with("_per_s");
        let name = name.trim_end_matches("_us");
        let name = if is_rate {
            name
        } else {
            name.trim_end_matches("_s")
        };
        entries.push((format!("{name}_trust"), word.into()));
    }
    entries.push(("trust".into(), row.trust.name().into()));
    Entries(entries)
}

/// Converts to another unit without spurious digits: 97.3 us, not 97.30000000000001.
fn scaled(value: f64, factor: f64) -> f64 {
    let product = value * factor;
    match factor == 1.0 {
        true => product,
        false => format!("{product:.12e}").parse().unwrap_or(product),
    }
}

/// The key of a figure, which ends with its unit, and the factor to that unit.
fn key(figure: &Figure) -> (String, f64) {
    const US: f64 = 1e6;
    const SERVICE: &str = "service-time";
    let name = &figure.metric.name;
    match figure.metric.unit {
        Unit::Seconds if name == "latency" => ("mean_us".into(), US),
        Unit::Seconds if name == SERVICE => ("service_time_mean_us".into(), US),
        Unit::Seconds if name.starts_with(SERVICE) => (format!("{}_us", percentile(name)), US),
        Unit::Seconds => match name.strip_prefix("latency-") {
            Some(which) => (format!("{}_us", percentile(which)), US),
            None => (format!("{}_s", snake_case(name)), 1.0),
        },
        Unit::BytesPerSecond if name == "throughput" => ("bytes_per_s".into(), 1.0),
        Unit::BytesPerSecond => (format!("{}_bytes_per_s", snake_case(name)), 1.0),
        _ => (snake_case(name), 1.0),
    }
}

/// `p99.9` as `p999`; other names unchanged.
fn percentile(which: &str) -> String {
    snake_case(&which.replace('.', ""))
}

/// The key of a row; that of a level starts with the table's name.
fn row_key(table: &Table, row: &Row) -> String {
    let name = table.row_name(row);
    match name.starts_with(|c: char| c.is_ascii_digit()) {
        true => snake_case(&format!("{} {name}", table.name)),
        false => snake_case(&name),
    }
}

/// A name of letters, digits and underscores.
fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            text.push(c.to_ascii_lowercase());
        } else if !text.is_empty() && !text.ends_with('_') {
            text.push('_');
        }
    }
    text.trim_end_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_need_no_quoting() {
        let check = |name: &str, expected: &str| assert_eq!(snake_case(name), expected);
        check("random-read", "random_read");
        check("read 64 KiB, QD4", "read_64_kib_qd4");
        check("200 us", "200_us");
        check("/data/x/", "data_x");
        assert_eq!(percentile("p99.9"), "p999");
    }
}
