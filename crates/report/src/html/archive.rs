//! The archive as a page of a server: list, filter, sort, open, compare by ticking.

use std::collections::BTreeSet;

use results::Unit;
use units::{TargetName, format_counted, format_duration_ns};

use super::{HtmlPage, HtmlSection};
use crate::figure::QUOTED;
use crate::list::{ListRow, moment};
use crate::markup::{escaped, in_print};
use crate::plot::axis::AxisScale;
use crate::plot::{Plot, Series, SideOf, TimeStep};

const SCRIPT: &str = include_str!("archive.js");

/// Fewer runs show no trend.
const RUNS_OF_TREND: usize = 3;
/// Runs that a chart tells apart.
pub const RUNS_COMPARED_MAX: usize = 6;

/// The runs that a page of the archive asks to compare, by `run=ID&run=ID`, oldest first.
///
/// # Errors
/// When one is no number, or they are too few or too many.
// fuzzed: page_query
pub fn runs_asked(query: &str) -> Result<Vec<i64>, String> {
    let ids = query.split('&').filter_map(|it| it.strip_prefix("run="));
    let ids = ids.map(|id| id.parse().map_err(|_| format!("{id} is not a run number")));
    let ids: Vec<i64> = ids
        .collect::<Result<BTreeSet<i64>, String>>()?
        .into_iter()
        .collect();
    match (2..=RUNS_COMPARED_MAX).contains(&ids.len()) {
        true => Ok(ids),
        false => Err(format!(
            "tick two runs to compare them, or up to {RUNS_COMPARED_MAX}"
        )),
    }
}

/// A page with one row for each run, in the order given, by target and host. `p99` has run, row and
/// value of that percentile, seconds. Links are `run/ID` and `compare?run=ID&run=ID`, as paths
/// beneath the page's own.
pub fn archive_html(rows: &[ListRow], p99: &[(i64, String, f64)], archive: &str) -> String {
    let header = format!(
        "<header>\n<h1>Archive</h1>\n<p class=\"lead\">{}</p>\n\
         <p class=\"place\">{}</p>\n</header>\n",
        match rows.len() {
            0 => "No runs yet".to_owned(),
            count => format_counted(count as u64, "run"),
        },
        escaped(archive)
    );
    let mut body = String::new();
    if !rows.is_empty() {
        body.push_str(
            "<form action=\"compare\" method=\"get\">\n<div class=\"tools\">\
             <input id=\"filter\" type=\"search\" placeholder=\"Filter: target, command, day\" \
             aria-label=\"Filter runs\" hidden>\
             <button id=\"compare\" type=\"submit\">Compare ticked runs</button>\
             <span id=\"shown\" role=\"status\"></span></div>\n\
             <table class=\"runs\"><thead><tr><th scope=\"col\"></th>",
        );
        for column in ["run", "started", "command", "workload and result"] {
            body.push_str(&format!("<th scope=\"col\">{column}</th>"));
        }
        body.push_str("</tr></thead>\n");
        groups(rows)
            .iter()
            .for_each(|group| body.push_str(&one(group, p99)));
        body.push_str("</table>\n</form>\n");
    }
    HtmlPage {
        title: "archive",
        header: &header,
        sections: &[HtmlSection::new("runs", "Runs", body)],
        held: "",
        script: SCRIPT,
        rules: "",
        policy: "form-action 'self'",
    }
    .html()
}

/// The runs of each target of each host, that of the first run first.
fn groups(rows: &[ListRow]) -> Vec<Vec<&ListRow>> {
    let mut groups: Vec<Vec<&ListRow>> = Vec::new();
    for row in rows {
        let is_same =
            |it: &&mut Vec<&ListRow>| (&it[0].target, &it[0].host) == (&row.target, &row.host);
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

/// A target with its runs.
fn one(group: &[&ListRow], p99: &[(i64, String, f64)]) -> String {
    let ListRow { target, host, .. } = group[0];
    let host = match host.as_str() {
        "" => String::new(),
        _ if TargetName::from(target.as_str()).is_model() => String::new(),
        host => format!(" on {host}"),
    };
    let runs = format_counted(group.len() as u64, "run");
    let rows = group.iter().map(|row| line(row));
    format!(
        "<tbody><tr class=\"group\"><th colspan=\"5\" scope=\"rowgroup\">{}<small>{runs}</small>{}\
         </th></tr>\n{}</tbody>\n",
        escaped(&format!("{target}{host}")),
        trend(group, p99).unwrap_or_default(),
        rows.collect::<String>()
    )
}

/// The percentile over the runs, of the row that most of them have; none where fewer than three do.
fn trend(group: &[&ListRow], p99: &[(i64, String, f64)]) -> Option<String> {
    let of_group = || {
        p99.iter()
            .filter(|(id, ..)| group.iter().any(|it| it.id == *id))
    };
    let count = |name: &str| of_group().filter(|(_, row, _)| row == name).count();
    let quoted = |name: &str| QUOTED.iter().rev().position(|it| *it == name);
    let names = of_group().map(|(_, row, _)| row.as_str());
    let name = names.max_by_key(|name| (count(name), quoted(name)))?;
    let values: Vec<f64> = of_group()
        .filter(|(_, row, _)| row == name)
        .map(|it| it.2)
        .collect();
    let [first, .., last] = values.as_slice() else {
        return None;
    };
    if values.len() < RUNS_OF_TREND {
        return None;
    }
    let steps = values.iter().zip(0_u32..).map(|(value, at)| TimeStep {
        from: f64::from(at),
        to: f64::from(at + 1),
        value: Some(*value),
        text: String::new(),
    });
    let side = |name, unit, scale| SideOf { name, unit, scale };
    let sides = [
        side("run", Unit::Count, AxisScale::FromZero),
        side("p99", Unit::Seconds, AxisScale::Factors),
    ];
    let spark = Plot::new(sides, vec![Series::steps("p99", steps)], Vec::new());
    let time = |seconds: f64| in_print(&format_duration_ns(seconds * 1e9));
    let label = format!("p99 of {name}: {} to {}", time(*first), time(*last));
    Some(format!(
        "<small>{}</small><span class=\"spark\">{}</span>",
        escaped(&label),
        spark.spark(&label)
    ))
}

fn line(row: &ListRow) -> String {
    let id = row.id;
    let class = if row.has_invalid_number {
        "invalid"
    } else {
        "unstable"
    };
    let mark = match row.mark() {
        mark if mark.is_empty() => mark,
        mark => format!("<span class=\"t {class}\">{}</span> ", escaped(&mark)),
    };
    format!(
        "<tr><td><input type=\"checkbox\" name=\"run\" value=\"{id}\" aria-label=\"Run {id}\"></td>\
         <th scope=\"row\"><a href=\"run/{id}\">{id}</a></th><td>{}</td><td>{}</td>\
         <td>{mark}{}</td></tr>\n",
        escaped(&moment(&row.started_at)),
        escaped(&row.command),
        escaped(&in_print(&row.headline)),
    )
}
