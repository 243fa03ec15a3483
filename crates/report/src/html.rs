//! A run as one page that needs nothing else: no network, no other file.
//!
//! Tables, charts and facts are written out here; the script only shows values under the pointer,
//! hides series and saves the JSON that the page holds. The page forbids everything but its own
//! style and script, by their digests: what is escaped wrongly would still not run.

mod archive;
mod comparison;
mod facts;
mod key_figures;
mod live;
mod sparklines;
mod tables;
mod verdict;

use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};
use results::Run;
use sha2::{Digest as _, Sha256};
use units::format_counted;

use crate::charts::{load, nines, of_tables, over_time};
use crate::check_up::page_title;
use crate::markup::escaped;
use crate::plot::Plot;
use crate::plot::svg::{ChartPlace, PageCharts};

use tables::Labels;

pub use archive::{RUNS_COMPARED_MAX, archive_html, runs_asked};
pub use comparison::{comparison_html, gate_html, not_compared_html};
pub use live::{LiveGlimpse, live_html};

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");
/// How charts by nines are read.
const NINES: &str = "Equal axes. Dots: the steady part, with 95 % intervals. Line: the whole \
    test with warm-up, if a histogram was kept. Otherwise it joins the dots.";
/// Before and after the run's JSON, compressed and in base 64.
const RUN_BEGIN: &str = "<script type=\"application/gzip\" id=\"run\">";
const RUN_END: &str = "</script>";
/// Pages of earlier versions hold it as it is.
const RUN_BEGIN_PLAIN: &str = "<script type=\"application/json\" id=\"run\">";
/// More than any run has: a page from an unknown source must not fill memory.
const JSON_BYTES_MAX: u64 = 1 << 28;

/// A part of a page with a heading of its own.
struct HtmlSection {
    id: &'static str,
    name: String,
    body: String,
    is_folded: bool,
}

impl HtmlSection {
    fn new(id: &'static str, name: &str, body: String) -> Self {
        Self {
            id,
            name: name.to_owned(),
            body,
            is_folded: false,
        }
    }

    /// Shown to those who ask for it.
    fn folded(id: &'static str, name: &str, body: String) -> Self {
        Self {
            is_folded: true,
            ..Self::new(id, name, body)
        }
    }

    fn html(&self) -> String {
        let Self { id, body, .. } = self;
        let heading = format!("<h2>{}</h2>", escaped(&self.name));
        match self.is_folded {
            // A link to what is inside unfolds it.
            true => format!(
                "<details><summary>{heading}</summary>\n<section id=\"{id}\">\n{body}</section>\n\
                 </details>\n"
            ),
            false => format!("<section id=\"{id}\">\n{heading}\n{body}</section>\n"),
        }
    }
}

/// A run as a page.
pub fn html(run: &Run) -> String {
    let tables = run.tables();
    let curves = run.curves.iter();
    let curves = curves.filter_map(load::curve);
    let curves: Vec<Plot> = curves.collect();
    let (mut nines, measured) = nines::by_nines(run);
    let note = nines_note(measured.saturating_sub(nines.len()));
    let by_nines = tables.iter().filter(|it| it.show.by_nines);
    nines.extend(by_nines.flat_map(nines::rows_by_nines));
    let mut drawn = PageCharts::default();
    let mut labels = Labels::default();
    let figures = verdict::findings(run) + &tables::all(run, &tables, &mut labels);
    let charts = of_tables::all(run);
    let charts = match charts.as_slice() {
        [_] => alone(&charts, &mut drawn),
        _ => grid("", &charts, &mut drawn),
    };
    let sections = [
        HtmlSection::new("load", "Latency against load", alone(&curves, &mut drawn)),
        HtmlSection::new("charts", "Charts", charts),
        over_time(run, &mut drawn),
        HtmlSection::new("figures", "Results", figures),
        HtmlSection::new("warnings", "Warnings", facts::warnings(run)),
        HtmlSection::folded(
            "nines",
            "Latency by percentile",
            grid(&note, &nines, &mut drawn),
        ),
        HtmlSection::folded("system", "System", facts::environment(run)),
        HtmlSection::folded("setup", "Settings", facts::setup(run)),
        HtmlSection::new("reproduce", "Reproduce", facts::repeat(run)),
    ];
    let held = format!(
        "<button type=\"button\" id=\"save\" hidden>Save as JSON</button>{RUN_BEGIN}{}{RUN_END}",
        embedded(run)
    );
    document(
        &page_title(run),
        &verdict::header(run, &tables),
        &sections,
        &held,
        &labels.into_rules(),
    )
}

/// The course of the run: charts of few measurements, lines of many.
fn over_time(run: &Run, drawn: &mut PageCharts) -> HtmlSection {
    let (first, others) = over_time::plots(run);
    let charts = alone(&first, drawn) + &grid("", &others, drawn);
    let lines = sparklines::all(run);
    let of = match lines.is_empty() {
        true => HtmlSection::new,
        false => HtmlSection::folded,
    };
    of("time", "Over time", lines + &charts)
}

/// A page of sections; those without a body are left out.
struct HtmlPage<'a> {
    title: &'a str,
    header: &'a str,
    sections: &'a [HtmlSection],
    held: &'a str,
    script: &'a str,
    /// Rules of style beside those of all pages.
    rules: &'a str,
    /// What this page may do besides; most may do nothing.
    policy: &'a str,
}

impl HtmlPage<'_> {
    fn html(&self) -> String {
        let sections = || self.sections.iter().filter(|it| !it.body.is_empty());
        let mut text = self.head();
        let header = self.header;
        text.push_str(&format!("<body>\n{header}<nav aria-label=\"Sections\">"));
        for HtmlSection { id, name, .. } in sections() {
            text.push_str(&format!("<a href=\"#{id}\">{}</a>", escaped(name)));
        }
        text.push_str("</nav>\n<main>\n");
        for section in sections() {
            text.push_str(&section.html());
        }
        let (held, script) = (self.held, unindented(self.script));
        text.push_str(&format!(
            "</main>\n<footer><span>Made by Seekstone</span>{held}</footer>\n\
             <div id=\"tip\" role=\"status\" hidden></div>\n<script>{script}</script>\n\
             </body>\n</html>\n"
        ));
        text
    }

    fn head(&self) -> String {
        let style = format!("{}{}", unindented(STYLE), self.rules);
        let script = unindented(self.script);
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             base-uri 'none'; {}; style-src '{}'; script-src '{}'\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{}</title>\n<style>{style}</style>\n</head>\n",
            self.policy,
            digest(&style),
            digest(&script),
            escaped(&format!("Seekstone: {}", self.title))
        )
    }
}

/// A page of a run or of several: it does nothing but show them.
fn document(
    title: &str,
    header: &str,
    sections: &[HtmlSection],
    held: &str,
    rules: &str,
) -> String {
    HtmlPage {
        title,
        header,
        sections,
        held,
        script: SCRIPT,
        rules,
        policy: "form-action 'none'",
    }
    .html()
}

/// A style or script without what only its authors need: indents, and lines of comment.
fn unindented(text: &str) -> String {
    let lines = text.lines().map(str::trim_start);
    let kept = lines.filter(|it| !it.is_empty() && !it.starts_with("//"));
    kept.flat_map(|line| [line, "\n"]).collect()
}

/// What a policy calls a style or a script by.
fn digest(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

/// The JSON of the run that a page of [`html`] holds.
pub fn run_in_page(page: &str) -> Option<String> {
    if let Some((_, rest)) = page.split_once(RUN_BEGIN_PLAIN) {
        return Some(rest.split_once(RUN_END)?.0.to_owned());
    }
    let (_, rest) = page.split_once(RUN_BEGIN)?;
    let bytes = STANDARD.decode(rest.split_once(RUN_END)?.0).ok()?;
    let mut json = String::new();
    let mut unpacked = GzDecoder::new(bytes.as_slice()).take(JSON_BYTES_MAX);
    unpacked.read_to_string(&mut json).ok()?;
    Some(json)
}

/// The JSON of a run, compressed: a fifth of its size. Histograms and intervals, whose shapes are
/// drawn, would be most of a page and are left out; the tables follow from the rest.
fn embedded(run: &Run) -> String {
    let mut run = run.clone();
    for measurement in &mut run.measurements {
        measurement.intervals.clear();
        for kind in &mut measurement.kinds {
            kind.response_histogram.clear();
            kind.service_histogram.clear();
        }
    }
    let json = results::json_without_tables(&run);
    let mut packed = GzBuilder::new().write(Vec::new(), Compression::best());
    let written = packed.write_all(json.as_bytes());
    let bytes = written.and_then(|()| packed.finish());
    STANDARD.encode(bytes.expect("writing to memory"))
}

/// Charts beside each other.
fn grid(note: &str, plots: &[Plot], drawn: &mut PageCharts) -> String {
    if plots.is_empty() {
        return String::new();
    }
    let charts = plots.iter().map(|it| it.html(drawn, ChartPlace::Beside));
    let charts: String = charts.collect();
    format!("{note}<div class=\"plots\">\n{charts}</div>\n")
}

/// Charts as wide as the page, one below the other.
fn alone(plots: &[Plot], drawn: &mut PageCharts) -> String {
    let charts = plots.iter().map(|it| it.html(drawn, ChartPlace::Alone));
    charts.collect()
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
