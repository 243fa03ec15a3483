//! What a recorded trace asks for, and a job fitted to it.

use serde_json::{Value, json};
use trace::{FittedJob, Notes, OpCount, TraceSummary};
use units::{Bytes, format_count, format_counted, format_duration_ns, format_rate};

use crate::page::TextPage;
use crate::style::{Style, Tone};

/// Lengths that are listed unless everything is asked for.
const SIZES_SHOWN: usize = 8;
/// Files that are listed.
const FILES_SHOWN: usize = 10;
const KINDS: [&str; 4] = ["read", "write", "trim", "sync"];

/// A trace of that name and format.
pub fn trace_sheet(
    (name, format): (&str, &str),
    summary: &TraceSummary,
    fit: Option<&FittedJob>,
    style: &Style,
) -> String {
    let mut page = TextPage::new(style);
    page.heading(&format!("{name}: {format}"));
    page.fact("requests", &requests(summary));
    page.fact("mix", &mix(&summary.ops));
    page.fact("arrivals", &arrivals(summary));
    page.fact("sizes", &sizes(summary));
    page.fact("alignment", &Bytes(summary.unit).to_string());
    let percent = summary.sequential_share * 100.0;
    page.fact(
        "sequential",
        &format!("{percent:.1} % begin where the one before ended"),
    );
    page.fact("files", &files(summary));
    if summary.moving() > 0 {
        page.blank();
        hot_spots(&mut page, summary);
    }
    notes(&mut page, &summary.notes);
    if let Some(fit) = fit {
        page.blank();
        page.heading("A job fitted to it (seekstone fio, or fio)");
        for line in fit.job.lines() {
            page.line(Tone::Plain, &format!("  {line}"));
        }
        page.blank();
        how_well(&mut page, fit);
    }
    page.finish()
}

fn requests(summary: &TraceSummary) -> String {
    let rate = match summary.per_second() {
        Some(rate) => format!(
            " in {}, {}/s on average, {} in the busiest second",
            format_duration_ns(summary.span_ns as f64),
            format_count(rate),
            format_count(summary.busiest_second as f64),
        ),
        None => ", all at one time".to_owned(),
    };
    format!("{}{rate}", format_counted(summary.requests(), "request"))
}

fn mix(ops: &[OpCount; 4]) -> String {
    let all: u64 = ops.iter().map(|it| it.count).sum();
    let kinds = ops.iter().zip(KINDS).filter(|(op, _)| op.count > 0);
    let kinds: Vec<String> = kinds
        .map(|(op, kind)| {
            let share = op.count as f64 / all as f64 * 100.0;
            match op.bytes {
                0 => format!("{share:.1} % {kind}"),
                bytes => format!("{share:.1} % {kind} ({})", Bytes(bytes)),
            }
        })
        .collect();
    kinds.join(", ")
}

fn arrivals(summary: &TraceSummary) -> String {
    if summary.gaps.is_empty() || summary.span_ns == 0 {
        return String::new();
    }
    let bytes: f64 = summary.ops[..2].iter().map(|it| it.bytes as f64).sum();
    let rate = bytes * 1e9 / summary.span_ns as f64;
    format!(
        "{}. Gaps vary by {:.2} of their mean of {} (0 is even, 1 random, more are bursts)",
        format_rate(rate),
        summary.gap_variation,
        format_duration_ns(summary.gaps.mean()),
    )
}

fn sizes(summary: &TraceSummary) -> String {
    let moving = summary.moving().max(1) as f64;
    let shown = summary.sizes.iter().take(SIZES_SHOWN).map(|it| {
        let share = it.count as f64 / moving * 100.0;
        format!("{} {share:.1} %", Bytes(it.length))
    });
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if let Some(more) = summary.sizes.len().checked_sub(SIZES_SHOWN + 1) {
        text.push_str(&format!(
            ", and {}",
            format_counted(more as u64 + 1, "other")
        ));
    }
    text
}

fn files(summary: &TraceSummary) -> String {
    let shown = summary.files.iter().take(FILES_SHOWN);
    let shown = shown.map(|(name, end)| format!("{name} (to {})", Bytes(*end)));
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if summary.files.len() > FILES_SHOWN {
        let more = (summary.files.len() - FILES_SHOWN) as u64;
        text.push_str(&format!(", and {}", format_counted(more, "other")));
    }
    text
}

fn hot_spots(page: &mut TextPage<'_>, summary: &TraceSummary) {
    let heat = &summary.heat;
    let share = |part: f64| heat.share_of_hottest(part) * 100.0;
    page.heading("Hot spots");
    page.paragraph(
        Tone::Plain,
        &format!(
            "{:.1} % of I/Os go to the hottest tenth of the bytes, {:.1} % to the hottest half \
             (in parts of {}).",
            share(0.1),
            share(0.5),
            Bytes(heat.part_bytes)
        ),
    );
    for spot in &summary.hot_spots {
        let percent = spot.count as f64 / summary.moving() as f64 * 100.0;
        let text = format!(
            "{percent:.2} % begin in the {} from byte {} of {}",
            Bytes(spot.length),
            spot.offset,
            spot.file
        );
        page.item(Tone::Plain, "-", &text);
    }
}

fn notes(page: &mut TextPage<'_>, notes: &Notes) {
    let mut lines: Vec<String> = notes
        .skipped
        .iter()
        .map(|(what, count)| format!("left out: {what}, {}", format_count(*count as f64)))
        .collect();
    if notes.reordered > 0 {
        lines.push(format!(
            "{} had an earlier time than the one before",
            format_counted(notes.reordered, "record")
        ));
    }
    if notes.has_whole_seconds {
        lines.push("times are whole seconds. Requests were spread evenly over each".into());
    }
    for line in lines {
        page.item(Tone::Doubtful, "-", &line);
    }
}

fn how_well(page: &mut TextPage<'_>, fit: &FittedJob) {
    page.heading("How well it fits (0 % is the trace itself)");
    let line = |share: f64| format!("{:.1} %", share * 100.0);
    page.fact(
        "sizes",
        &format!("{} of the requests have another length", line(fit.sizes)),
    );
    page.fact(
        "places",
        &format!(
            "the shares that the hottest parts get differ by {} at most",
            line(fit.places)
        ),
    );
    if let Some(gaps) = fit.gaps {
        page.fact(
            "arrivals",
            &format!(
                "the shares of gaps that are shorter than some time differ by {} at most",
                line(gaps)
            ),
        );
    }
}

/// The same as JSON.
pub fn trace_json(
    (name, format): (&str, &str),
    summary: &TraceSummary,
    fit: Option<&FittedJob>,
) -> Value {
    let kinds = summary.ops.iter().zip(KINDS);
    let kinds = kinds.map(|(op, kind)| json!({"kind": kind, "count": op.count, "bytes": op.bytes}));
    let sizes = summary.sizes.iter();
    let sizes = sizes.map(|it| json!({"length": it.length, "count": it.count}));
    let files = summary.files.iter();
    let files = files.map(|(name, end)| json!({"name": name, "end": end}));
    let spots = summary.hot_spots.iter().map(
        |it| json!({"file": it.file, "offset": it.offset, "length": it.length, "count": it.count}),
    );
    json!({
        "trace": name,
        "format": format,
        "requests": summary.requests(),
        "span_ns": summary.span_ns,
        "per_second": summary.per_second(),
        "busiest_second": summary.busiest_second,
        "gap_mean_ns": summary.gaps.mean(),
        "gap_variation": summary.gap_variation,
        "sequential_share": summary.sequential_share,
        "alignment": summary.unit,
        "kinds": kinds.collect::<Vec<_>>(),
        "sizes": sizes.collect::<Vec<_>>(),
        "files": files.collect::<Vec<_>>(),
        "hottest_tenth_share": summary.heat.share_of_hottest(0.1),
        "hot_spots": spots.collect::<Vec<_>>(),
        "reordered": summary.notes.reordered,
        "fit": fit.map(|fit| json!({
            "job": fit.job,
            "sizes": fit.sizes,
            "places": fit.places,
            "gaps": fit.gaps,
        })),
    })
}
