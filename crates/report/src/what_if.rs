//! What a fitted model predicts, and first of all how well it did on data that it did not see.

use results::{ModelParameter, ModelScore, Prediction, UnseenScore, WhatIf};
use stats::Estimate;
use units::{format_count, format_counted, format_duration_ns, format_interval_count};

use crate::figure::{operations, time};
use crate::page::TextPage;
use crate::style::{Style, Tone};
use crate::table::{Align, TextTable};
use crate::warnings;

/// What the columns of the scores mean.
const LEGEND: &str = "Errors of the mean response time at groups of neighbouring points that were \
                      left out of the fit in turn. \"seen\" is the error at the points of the fit \
                      itself. The model that is used is the smallest whose root mean square \
                      (rms) is close to the best.";

/// Model, scores and predictions.
pub fn what_if(found: &WhatIf, style: &Style) -> String {
    let mut page = TextPage::new(style);
    header(&mut page, found);
    model(&mut page, found);
    scores(&mut page, found);
    if let Some(refusal) = &found.refusal {
        page.blank();
        page.item(Tone::Bad, "no prediction:", refusal);
    }
    predictions(&mut page, found);
    device(&mut page, found);
    if !found.warnings.is_empty() {
        page.blank();
        page.heading("Warnings");
        for warning in warnings::in_order(found.warnings.iter()) {
            warnings::item(&mut page, warning);
        }
    }
    page.finish()
}

/// The JSON form, described in `docs/json-schema.md`.
///
/// # Panics
/// Never: it has no value that JSON cannot hold.
pub fn what_if_json(found: &WhatIf) -> String {
    let mut text = serde_json::to_string_pretty(found).expect("no keys but text");
    text.push('\n');
    text
}

fn header(page: &mut TextPage<'_>, found: &WhatIf) {
    let numbers: Vec<String> = found.runs.iter().map(ToString::to_string).collect();
    let plural = if numbers.len() == 1 { "" } else { "s" };
    let runs = numbers.join(", ");
    page.heading(&format!("what if? run{plural} {runs}: {}", found.title));
    let range = &found.range;
    page.paragraph(
        Tone::Plain,
        &format!(
            "{}: {} to {} {}, {} to {}/s, {} to {}, think time {}",
            format_counted(found.points.into(), "point"),
            range.clients_min,
            range.clients_max,
            found.clients_name,
            format_count(range.load_min),
            format_count(range.load_max),
            format_duration_ns(range.response_min_ns),
            format_duration_ns(range.response_max_ns),
            match found.think.value {
                0.0 => "none".to_owned(),
                think => format_duration_ns(think),
            }
        ),
    );
}

fn model(page: &mut TextPage<'_>, found: &WhatIf) {
    page.blank();
    page.heading(&format!("Model: {}", found.model));
    let mut table = TextTable::new(&[
        ("parameter", Align::Left, 9),
        ("value", Align::Right, 9),
        ("95 % interval", Align::Left, 8),
    ]);
    for parameter in &found.parameters {
        let (value, mut interval) = shown(parameter);
        if parameter.value.low == parameter.value.high {
            interval = "not fitted".into();
        }
        table.row(Tone::Plain, [parameter.name.clone(), value, interval]);
    }
    page.table(&table);
}

fn shown(parameter: &ModelParameter) -> (String, String) {
    let Estimate {
        value, low, high, ..
    } = parameter.value;
    match parameter.unit.as_str() {
        "ns" => time(parameter.value),
        _ => format_interval_count(value, low, high),
    }
}

fn scores(page: &mut TextPage<'_>, found: &WhatIf) {
    page.blank();
    page.heading("How well each model predicts what it did not see");
    let mut table = TextTable::new(&[
        ("model", Align::Left, 9),
        ("parameters", Align::Right, 3),
        ("left out", Align::Right, 4),
        ("median error", Align::Right, 9),
        ("worst", Align::Right, 9),
        ("rms", Align::Right, 8),
        ("seen", Align::Right, 5),
        ("", Align::Left, 9),
    ]);
    for score in &found.scores {
        let tone = if score.is_chosen {
            Tone::Strong
        } else {
            Tone::Quiet
        };
        table.row(tone, score_row(score));
    }
    page.table(&table);
    page.paragraph(Tone::Quiet, LEGEND);
    for score in &found.unseen {
        page.fact(&score.source, &unseen(score));
    }
}

fn score_row(score: &ModelScore) -> [String; 8] {
    [
        score.title.clone(),
        score.parameters.to_string(),
        score.held_out.to_string(),
        error(score.median_error),
        error(score.worst_error),
        error(score.rms_error),
        error(score.fit_error),
        if score.is_chosen { "used" } else { "" }.into(),
    ]
}

/// An error with the digits that matter.
fn error(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        percent if !percent.is_finite() => "unknown".into(),
        percent if percent >= 1000.0 => "> 1000 %".into(),
        percent if percent >= 10.0 => format!("{percent:.0} %"),
        percent => format!("{percent:.1} %"),
    }
}

fn unseen(score: &UnseenScore) -> String {
    format!(
        "{} that no fit saw: response time off by {} in the median and {} at worst. Load is off by \
         {} in the median. {} are within the intervals",
        format_counted(score.points.into(), "point"),
        error(score.median_error),
        error(score.worst_error),
        error(score.median_load_error),
        score.met
    )
}

fn predictions(page: &mut TextPage<'_>, found: &WhatIf) {
    if found.predictions.is_empty() {
        return;
    }
    page.blank();
    page.heading("Predictions");
    let mut table = TextTable::new(&[
        ("question", Align::Left, 9),
        ("mean response", Align::Right, 9),
        ("95 % interval", Align::Left, 8),
        ("load", Align::Right, 9),
        ("95 % interval", Align::Left, 7),
        (
            if found.clients_name == "users" {
                "users"
            } else {
                "clients"
            },
            Align::Right,
            3,
        ),
        ("", Align::Left, 9),
    ]);
    for prediction in &found.predictions {
        let tone = if prediction.is_extrapolated {
            Tone::Doubtful
        } else {
            Tone::Plain
        };
        table.row(tone, prediction_row(prediction));
    }
    page.table(&table);
}

fn prediction_row(prediction: &Prediction) -> [String; 7] {
    // What was asked has no interval.
    let asked = |estimate: Estimate, (value, interval): (String, String)| {
        let is_asked = estimate.low == estimate.high;
        (
            value,
            if is_asked {
                "as asked".into()
            } else {
                interval
            },
        )
    };
    let response = asked(prediction.response, time(prediction.response));
    let load = asked(prediction.load, operations(prediction.load));
    let standing = if prediction.is_extrapolated {
        "extrapolated"
    } else {
        "inside"
    };
    [
        prediction.question.clone(),
        response.0,
        response.1,
        load.0,
        load.1,
        if prediction.clients.is_nan() {
            "any".into()
        } else {
            format_count(prediction.clients)
        },
        standing.into(),
    ]
}

fn device(page: &mut TextPage<'_>, found: &WhatIf) {
    let Some(device) = &found.device else {
        return;
    };
    page.blank();
    page.heading(&format!("The same load on {device}, in virtual time"));
    let mut table = TextTable::new(&[
        ("clients", Align::Right, 9),
        ("measured", Align::Right, 9),
        ("95 % interval", Align::Left, 7),
        ("there", Align::Right, 9),
        ("95 % interval", Align::Left, 8),
        ("load", Align::Right, 6),
        ("there", Align::Right, 6),
    ]);
    for row in &found.device_rows {
        let (measured, interval) = time(row.response);
        let (there, there_interval) = time(row.device_response);
        table.row(
            Tone::Plain,
            [
                format_count(f64::from(row.clients)),
                measured,
                interval,
                there,
                there_interval,
                operations(row.load).0,
                operations(row.device_load).0,
            ],
        );
    }
    page.table(&table);
}
