//! The page of a server while a run goes on. Its script hears what `events` beneath its own path
//! tells, draws it, and in the end shows the page of the run in its place.

use serde::Serialize;

use super::{HtmlPage, HtmlSection, SCRIPT as PAGE_SCRIPT, digest, unindented};
use crate::markup::escaped;

const SCRIPT: &str = include_str!("live.js");

/// How far a run is: one event.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LiveGlimpse {
    /// What is being measured.
    pub title: String,
    /// Share of the run that is done, 0 to 1.
    pub done: f64,
    /// Since the start of the run, seconds.
    pub elapsed_s: f64,
    /// Time that is left at most, seconds, once it is known.
    pub left_s: Option<f64>,
    /// Operations of this part so far, from which the page draws the rate from event to event.
    pub operations: u64,
    /// Operations per second of this part so far.
    pub iops: Option<f64>,
    /// Mean latency so far, microseconds.
    pub mean_us: Option<f64>,
    /// Relative half-width of its interval.
    pub error: Option<f64>,
    /// 99 % of the latencies so far are below this, microseconds.
    pub p99_us: Option<f64>,
}

impl LiveGlimpse {
    /// As the script reads it.
    ///
    /// # Panics
    /// Never: it holds text and numbers.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("text and numbers")
    }
}

/// The page of a run that is being measured.
pub fn live_html(name: &str) -> String {
    let header = format!(
        "<header>\n<p class=\"eyebrow\" id=\"when\">waiting for the first results</p>\n\
         <h1>{}</h1>\n\
         <p class=\"lead\" id=\"lead\">Measuring</p>\n\
         <progress id=\"done\" max=\"1\" value=\"0\" aria-label=\"Done\"></progress>\n\
         <noscript><p>This page needs JavaScript to follow the run.</p></noscript>\n</header>\n",
        escaped(name)
    );
    let chart = |id: &str, name: &str, when: &str, unit: &str| {
        format!(
            "<figure class=\"plot\"><figcaption>{name}<small>{when}</small></figcaption>\
             <svg id=\"{id}\" viewBox=\"0 0 560 320\" role=\"img\" \
             aria-label=\"{name}, {unit}\"></svg></figure>\n"
        )
    };
    let charts = format!(
        "<div class=\"plots\">{}{}</div>\n",
        chart("iops", "IOPS", "of each moment", "1/s"),
        chart(
            "latency",
            "Latency: mean, p99 dashed",
            "of this part, so far",
            "microseconds"
        )
    );
    let rows = "<table><thead><tr><th scope=\"col\">part</th>\
                <th scope=\"col\" class=\"n\">IOPS</th>\
                <th scope=\"col\" class=\"n\">mean latency</th>\
                <th scope=\"col\" class=\"n\">± 95 %</th>\
                <th scope=\"col\" class=\"n\">p99</th>\
                </tr></thead><tbody id=\"rows\"></tbody></table>\n";
    // The page that takes its place brings a script of its own, and names its columns in its style.
    let policy = format!(
        "form-action 'none'; connect-src 'self'; style-src-elem 'unsafe-inline'; \
         script-src-elem '{}' '{}'",
        digest(&unindented(SCRIPT)),
        digest(&unindented(PAGE_SCRIPT))
    );
    HtmlPage {
        title: name,
        header: &header,
        sections: &[
            HtmlSection::new("now", "Now", charts),
            HtmlSection::new("parts", "So far", rows.to_owned()),
        ],
        held: "",
        script: SCRIPT,
        rules: "",
        policy: &policy,
    }
    .html()
}
