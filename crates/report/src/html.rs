//! A run as one page that needs nothing else: no network, no other file.
//!
//! Tables, charts and facts are written out here; the script only shows values under the pointer,
//! hides series and saves the JSON that the page holds. The page forbids everything but its own
//! style and script, by their digests: what is escaped wrongly would still not run.

mod charts;
mod comparison;
mod facts;
mod markup;
mod over_time;
mod plot;
mod tables;
mod verdict;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use results::Run;
use sha2::{Digest as _, Sha256};
use units::format_counted;

use crate::check_up::title;

use markup::escaped;
use plot::Plot;

pub use comparison::comparison_html;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");
/// How charts by nines are read.
const NINES: &str = "Equal axes. Dots are of the steady part, with 95 % intervals. The line is \
    the whole test, warm-up included, where a histogram was kept; else it joins the dots.";
/// Before and after the run's JSON.
const RUN_BEGIN: &str = "<script type=\"application/json\" id=\"run\">";
const RUN_END: &str = "</script>";

/// A part of a page with a heading of its own.
struct Section {
    id: &'static str,
    name: String,
    body: String,
}

impl Section {
    fn new(id: &'static str, name: &str, body: String) -> Self {
        Self {
            id,
            name: name.to_owned(),
            body,
        }
    }
}

/// A run as a page.
#[must_use]
pub fn html(run: &Run) -> String {
    let tables = run.tables();
    let curves = run.curves();
    let curves = curves.filter_map(|(title, curve)| charts::curve(title, curve));
    let curves: Vec<Plot> = curves.collect();
    let (nines, measured) = charts::by_nines(run);
    let note = nines_note(measured.saturating_sub(nines.len()));
    let mut number = 1;
    let sections = [
        Section::new("figures", "Figures", tables::all(run, &tables)),
        Section::new("mind", "What to mind", facts::to_mind(run)),
        Section::new("load", "Latency over load", grid("", &curves, &mut number)),
        Section::new(
            "nines",
            "Latency by percentile",
            grid(&note, &nines, &mut number),
        ),
        Section::new(
            "time",
            "Over time",
            grid("", &over_time::plots(run), &mut number),
        ),
        Section::new(
            "environment",
            "Where it was measured",
            facts::environment(run),
        ),
        Section::new("setup", "Settings", facts::setup(run)),
        Section::new("repeat", "Measure it again", facts::repeat(run)),
    ];
    let held = format!(
        "<button type=\"button\" id=\"save\" hidden>Save as JSON</button>{RUN_BEGIN}{}{RUN_END}",
        embedded(run)
    );
    document(
        &title(run),
        &verdict::header(run, &tables),
        &sections,
        &held,
    )
}

/// A page of sections; those without a body are left out.
fn document(title: &str, header: &str, sections: &[Section], held: &str) -> String {
    let sections = || sections.iter().filter(|it| !it.body.is_empty());
    let mut text = head(title);
    text.push_str(&format!("<body>\n{header}<nav aria-label=\"Sections\">"));
    for Section { id, name, .. } in sections() {
        text.push_str(&format!("<a href=\"#{id}\">{}</a>", escaped(name)));
    }
    text.push_str("</nav>\n<main>\n");
    for Section { id, name, body } in sections() {
        text.push_str(&format!(
            "<section id=\"{id}\">\n<h2>{}</h2>\n{body}</section>\n",
            escaped(name)
        ));
    }
    text.push_str(&format!(
        "</main>\n<footer><span>Made by Seekstone</span>{held}</footer>\n\
         <div id=\"tip\" role=\"status\" hidden></div>\n<script>{SCRIPT}</script>\n\
         </body>\n</html>\n"
    ));
    text
}

/// The JSON of the run that a page of [`html`] holds.
#[must_use]
pub fn run_in_page(page: &str) -> Option<&str> {
    let (_, rest) = page.split_once(RUN_BEGIN)?;
    let (json, _) = rest.split_once(RUN_END)?;
    Some(json)
}

/// JSON in which nothing ends the element that holds it. Histograms, whose shapes are drawn, would
/// be most of a page and are left out; the tables follow from the rest.
fn embedded(run: &Run) -> String {
    let mut run = run.clone();
    for kind in run.measurements.iter_mut().flat_map(|it| &mut it.kinds) {
        kind.response_histogram.clear();
        kind.service_histogram.clear();
    }
    results::json_without_tables(&run).replace('<', "\\u003c")
}

fn head(title: &str) -> String {
    let digest = |text: &str| STANDARD.encode(Sha256::digest(text));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         base-uri 'none'; form-action 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n</head>\n",
        digest(STYLE),
        digest(SCRIPT),
        escaped(&format!("Seekstone: {title}"))
    )
}

/// Charts beside each other; `number` is that of the next chart of the page.
fn grid(note: &str, plots: &[Plot], number: &mut usize) -> String {
    if plots.is_empty() {
        return String::new();
    }
    let mut text = format!("{note}<div class=\"plots\">\n");
    for plot in plots {
        text.push_str(&plot.html(*number));
        *number += 1;
    }
    text + "</div>\n"
}

fn nines_note(left: usize) -> String {
    let left = match left as u64 {
        0 => String::new(),
        left => format!(
            " {} more are in the JSON.",
            format_counted(left, "measurement")
        ),
    };
    format!("<p class=\"legend\">{NINES}{left}</p>\n")
}
