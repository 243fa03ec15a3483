//! A run in the text format of OpenMetrics 1.0, which Prometheus and its kin read.
//!
//! Source: OpenMetrics 1.0, "Text format" (prometheus.io/docs/specs/om/open_metrics_spec). A figure
//! is a gauge named after its metric and unit; the ends of its interval are gauges of their own, so
//! that no query adds a bound to a value.

use std::collections::BTreeMap;

use results::{LimitVerdict, Row, Run, RunVerdict, Table, Trust, Unit};

use crate::columns::lower_end;

/// All figures and warnings of a run, ending in the mark of the format's end.
pub fn openmetrics(run: &Run) -> String {
    let mut families: BTreeMap<String, MetricFamily> = BTreeMap::new();
    for table in &run.tables() {
        for row in &table.rows {
            let labels = labels(run, table, row);
            for figure in &row.figures {
                let unit = figure.metric.unit;
                let ends = [
                    ("", figure.value.value),
                    ("_low", lower_end(figure)),
                    ("_high", figure.value.high),
                ];
                // A value that is known exactly has no ends. An end that is not known is left out,
                // as is a value of which only ends are known.
                let is_exact = figure.value.low == figure.value.high;
                let ends = if is_exact { &ends[..1] } else { &ends[..] };
                let known = ends.iter().filter(|(_, value)| value.is_finite());
                for &(end, value) in known {
                    let name = family_name(&figure.metric.name, end, unit);
                    let family = families
                        .entry(name)
                        .or_insert_with(|| MetricFamily::of(unit));
                    family.samples.push((labels.clone(), value));
                }
            }
        }
    }
    let mut text = info(run);
    for (name, family) in &families {
        text.push_str(&format!("# TYPE {name} gauge\n"));
        if !family.unit.is_empty() {
            text.push_str(&format!("# UNIT {name} {}\n", family.unit));
        }
        for (labels, value) in &family.samples {
            text.push_str(&format!("{name}{{{labels}}} {value}\n"));
        }
    }
    text.extend(run.verdict.iter().map(|it| verdict(run, it)));
    text.push_str(&warnings(run));
    text.push_str("# EOF\n");
    text
}

/// Samples of one name.
struct MetricFamily {
    unit: &'static str,
    samples: Vec<(String, f64)>,
}

impl MetricFamily {
    fn of(unit: Unit) -> Self {
        Self {
            unit: suffix(unit),
            samples: Vec::new(),
        }
    }
}

/// The unit as it ends a name; a name without one has none.
const fn suffix(unit: Unit) -> &'static str {
    match unit {
        Unit::Seconds => "seconds",
        Unit::BytesPerSecond => "bytes_per_second",
        Unit::SecondsPerMib => "seconds_per_mebibyte",
        Unit::PerSecond => "per_second",
        Unit::Bytes => "bytes",
        Unit::Share => "ratio",
        Unit::Count | Unit::Ratio => "",
    }
}

fn family_name(metric: &str, end: &str, unit: Unit) -> String {
    let unit = match suffix(unit) {
        "" => String::new(),
        suffix => format!("_{suffix}"),
    };
    format!("seekstone_{}{end}{unit}", name_of(metric))
}

/// The text as a name: what may not stand in one is an underscore.
fn name_of(text: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    text.chars().map(keep).collect()
}

pub(crate) fn label(name: &str, value: &str) -> String {
    let value = units::printable(value)
        .replace('\\', "\\\\")
        .replace('"', "\\\"");
    format!("{name}=\"{}\"", value.replace('\n', "\\n"))
}

fn labels(run: &Run, table: &Table, row: &Row) -> String {
    let own = [
        label("run", &run.id.map_or_else(String::new, |id| id.to_string())),
        label("command", &run.settings.command),
        label("target", &run.target.given),
        label("host", &run.environment.host_name),
        label("table", &table.name),
        label("trust", row.trust.name()),
    ];
    // A factor of a user's study may have any name; with a prefix it is no other label's.
    let levels = table.factors.iter().zip(&row.levels);
    let levels = levels.map(|(factor, level)| label(&format!("by_{}", name_of(factor)), level));
    own.into_iter().chain(levels).collect::<Vec<_>>().join(",")
}

fn info(run: &Run) -> String {
    let labels = [
        label("version", &run.environment.seekstone_version),
        label("kernel", &run.environment.kernel),
        label("started_at", &run.environment.started_at),
        label("command", &run.settings.command),
        label("target", &run.target.given),
    ];
    let labels = labels.join(",");
    format!("# TYPE seekstone_run info\nseekstone_run_info{{{labels}}} 1\n")
}

/// The sentence as a label, and the trust and the goals' outcome each as a set of states: the one
/// that holds is 1.
fn verdict(run: &Run, verdict: &RunVerdict) -> String {
    let run = label("run", &run.id.map_or_else(String::new, |id| id.to_string()));
    let labels = [
        run.clone(),
        label("sentence", &verdict.sentence),
        label("trust", verdict.trust.name()),
        label("because", &verdict.codes()),
    ];
    let labels = labels.join(",");
    let mut text = format!("# TYPE seekstone_verdict info\nseekstone_verdict_info{{{labels}}} 1\n");
    let mut add = |family: &str, states: [&str; 3], holds: &str| {
        text.push_str(&format!("# TYPE {family} stateset\n"));
        for state in states {
            let is_it = u8::from(state == holds);
            let labels = [run.clone(), label(family, state)].join(",");
            text.push_str(&format!("{family}{{{labels}}} {is_it}\n"));
        }
    };
    add(
        "seekstone_run_trust",
        Trust::ALL.map(Trust::name),
        verdict.trust.name(),
    );
    if let Some(goals) = verdict.goals {
        add(
            "seekstone_run_goals",
            LimitVerdict::ALL.map(LimitVerdict::name),
            goals.name(),
        );
    }
    text
}

/// How many warnings of each code and severity there are.
fn warnings(run: &Run) -> String {
    let mut counted: BTreeMap<(&str, &'static str), u32> = BTreeMap::new();
    for warning in run.all_warnings() {
        let severity = warning.severity.name();
        *counted
            .entry((warning.code.as_str(), severity))
            .or_default() += 1;
    }
    let mut text = String::from("# TYPE seekstone_warnings gauge\n");
    for ((code, severity), count) in counted {
        let labels = [label("code", code), label("severity", severity)].join(",");
        text.push_str(&format!("seekstone_warnings{{{labels}}} {count}\n"));
    }
    text
}
