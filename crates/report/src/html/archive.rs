//! The archive as a page of a server: list, filter, open, compare by ticking.

use std::collections::BTreeSet;

use super::{HtmlPage, HtmlSection};
use crate::list::{ListRow, moment};
use crate::markup::escaped;

const SCRIPT: &str = include_str!("archive.js");

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

/// A page with one row for each run, in the order given. Its links are `run/ID` and
/// `compare?run=ID&run=ID`, as paths beneath its own.
#[must_use]
pub fn archive_html(rows: &[ListRow], archive: &str) -> String {
    let header = format!(
        "<header>\n<h1>Archive</h1>\n<p class=\"lead\">{}</p>\n\
         <p class=\"place\">{}</p>\n</header>\n",
        match rows.len() {
            0 => "No runs yet".to_owned(),
            count => units::format_counted(count as u64, "run"),
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
             <div class=\"wide\"><table><thead><tr><th scope=\"col\"></th>\
             <th scope=\"col\">run</th><th scope=\"col\">started</th>\
             <th scope=\"col\">command</th><th scope=\"col\">target</th>\
             <th scope=\"col\">result</th></tr></thead>\n<tbody>\n",
        );
        rows.iter().for_each(|row| body.push_str(&line(row)));
        body.push_str("</tbody></table></div>\n</form>\n");
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

fn line(row: &ListRow) -> String {
    let id = row.id;
    let class = if row.has_invalid_number {
        "invalid"
    } else {
        "unstable"
    };
    let mark = match row.mark() {
        mark if mark.is_empty() => mark,
        mark => format!(" <span class=\"t {class}\">{}</span>", escaped(&mark)),
    };
    format!(
        "<tr><td><input type=\"checkbox\" name=\"run\" value=\"{id}\" aria-label=\"Run {id}\"></td>\
         <th scope=\"row\"><a href=\"run/{id}\">{id}</a></th><td data-l=\"started\">{}</td>\
         <td data-l=\"command\">{}</td><td data-l=\"target\">{}</td>\
         <td data-l=\"result\">{}{mark}</td></tr>\n",
        escaped(&moment(&row.started_at)),
        escaped(&row.command),
        escaped(&row.target),
        escaped(&row.headline),
    )
}
