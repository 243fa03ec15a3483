//! Response time against load: a chart with its levels, and the table of all points.

use results::{Curve, CurvePoint, Level, LevelOutcome, Saturation};
use stats::Channel;
use units::{format_count, format_counted, format_duration_ns, format_interval_ns};

use crate::chart::{Size, chart};
use crate::figure::{INDICATIVE, indicative_legend, operations, time};
use crate::page::{Page, wrap};
use crate::style::{Style, Tone};
use crate::table::{Align, Table};
use crate::warnings;

/// Columns of the table of levels beside the chart, and of the gap before it.
const PANEL: usize = 46;
const GAP: usize = 2;
/// Columns before a chart.
const INDENT: usize = 2;
/// Pages of at least this width have room for both.
const BESIDE_MIN: usize = 96;
/// No chart is wider or higher than this.
const CHART: Size = Size {
    columns: 72,
    rows: 12,
};
/// Columns of a level's name, and of a value with its interval.
const NAME: usize = 11;
const FIGURES: usize = 32;
/// Stands for a blank at which no line is broken.
const GLUE: &str = "\u{e000}";

/// Independent times beyond a percentile from which it is more than indicative.
const EVIDENCE_FIRM: f64 = 50.0;

/// Every point of the curve, scouts included, its levels and its doubts.
#[must_use]
pub fn curve_table(curve: &Curve, style: &Style) -> String {
    let mut page = Page::new(style);
    page.heading(&title(curve));
    let mut table = Table::new(&[
        ("clients", Align::Right, 9),
        ("load", Align::Right, 9),
        ("95 % interval", Align::Left, 6),
        (mean_heading(curve.channel), Align::Right, 9),
        ("95 % interval", Align::Left, 7),
        ("99 % below", Align::Right, 5),
        ("remarks", Align::Left, 4),
    ]);
    let mut is_indicative = false;
    for point in &curve.points {
        let (load, load_interval) = operations(point.load);
        let (response, response_interval) = time(point.time(curve.channel));
        let p99 = percentile_99(point);
        is_indicative |= p99.ends_with(INDICATIVE);
        let tone = if point.is_scout {
            Tone::Quiet
        } else {
            Tone::Plain
        };
        let clients = format_count(f64::from(point.clients));
        let remarks = remarks(point);
        let cells = [
            clients,
            load,
            load_interval,
            response,
            response_interval,
            p99,
            remarks,
        ];
        table.row(tone, cells);
    }
    if table.is_empty() {
        page.paragraph(Tone::Quiet, "no point was measured");
    } else {
        page.table(&table);
    }
    if is_indicative {
        page.paragraph(Tone::Quiet, &indicative_legend());
    }
    page.blank();
    for line in panel(curve, style.columns() - INDENT) {
        page.line(Tone::Plain, &format!("{:INDENT$}{line}", ""));
    }
    for warning in warnings::in_order(curve.warnings.iter()) {
        warnings::item(&mut page, warning);
    }
    page.finish()
}

/// The 99th percentile of the response time, with the sign of those with little evidence.
fn percentile_99(point: &CurvePoint) -> String {
    let Some(p99) = point.response_p99 else {
        return String::new();
    };
    let mark = if p99.samples * 0.01 < EVIDENCE_FIRM {
        INDICATIVE
    } else {
        ""
    };
    format!("{}{mark}", format_duration_ns(p99.value))
}

fn remarks(point: &CurvePoint) -> String {
    let scout = point.is_scout.then_some("scout, not for citing");
    let open = (!point.is_converged && !point.is_scout).then_some("not converged");
    scout.or(open).unwrap_or_default().to_owned()
}

const fn mean_heading(channel: Channel) -> &'static str {
    match channel {
        Channel::Response => "mean response",
        Channel::Service => "mean service",
    }
}

fn title(curve: &Curve) -> String {
    format!(
        "{}: mean {} time against load",
        curve.title,
        channel_name(curve.channel)
    )
}

/// The word for a kind of time.
pub(crate) const fn channel_name(channel: Channel) -> &'static str {
    match channel {
        Channel::Response => "response",
        Channel::Service => "service",
    }
}

/// The chart, with the levels beside it where the page is wide enough.
pub(crate) fn section(page: &mut Page<'_>, curve: &Curve) {
    page.heading(&title(curve));
    let style = *page.style;
    let width = style.columns() - INDENT;
    let is_beside = style.columns() >= BESIDE_MIN;
    let room = if is_beside {
        width - PANEL - GAP
    } else {
        width
    };
    let size = Size {
        columns: room.min(CHART.columns),
        rows: CHART.rows,
    };
    let drawn = chart(curve, size, &style);
    if !is_beside {
        let panel = panel(curve, width);
        for line in drawn.iter().chain(&panel) {
            page.line(Tone::Plain, &format!("{:INDENT$}{line}", ""));
        }
        return;
    }
    let panel = panel(curve, PANEL);
    for index in 0..drawn.len().max(panel.len()) {
        let left = drawn.get(index).map_or("", String::as_str);
        let right = panel.get(index).map_or("", String::as_str);
        let columns = size.columns;
        page.line(
            Tone::Plain,
            &format!("{:INDENT$}{left:columns$}{:GAP$}{right}", "", ""),
        );
    }
}

/// The load carried at each level, and the highest load.
fn panel(curve: &Curve, width: usize) -> Vec<String> {
    let mut rows: Vec<(String, String)> = curve.levels.iter().map(level).collect();
    rows.extend(curve.saturation.iter().map(saturation));
    if rows.is_empty() {
        return Vec::new();
    }
    let mut lines = wrap(
        &format!(
            "load carried at a mean {} time of",
            channel_name(curve.channel)
        ),
        width,
    );
    let room = width.saturating_sub(NAME + 2);
    for (name, text) in rows {
        // On a narrow page the columns of values and intervals are given up.
        let text = if room < FIGURES {
            text.replace(GLUE, " ")
        } else {
            text
        };
        for (index, part) in wrap(&text, room).into_iter().enumerate() {
            let name = if index == 0 { name.as_str() } else { "" };
            lines.push(format!("{name:>NAME$}  {}", part.replace(GLUE, " ")));
        }
    }
    if curve.levels.iter().any(is_wide) {
        lines.extend(wrap("~ wider interval than was asked for", width));
    }
    lines
}

const fn is_wide(level: &Level) -> bool {
    matches!(
        level.outcome,
        LevelOutcome::Reached {
            is_precise: false,
            ..
        }
    )
}

/// A level's name and what was found for it.
fn level(level: &Level) -> (String, String) {
    let per_second = |load: f64| format!("{}/s", format_count(load));
    let text = match level.outcome {
        LevelOutcome::Reached {
            load, is_precise, ..
        } => figures(operations(load), if is_precise { "" } else { "~" }),
        LevelOutcome::Between { low, high } => {
            format!("between {} and {}", per_second(low), per_second(high))
        }
        LevelOutcome::Exceeded { response } => {
            format!("no load: even one client waits {}", time(response).0)
        }
        LevelOutcome::NotReached {
            clients,
            load,
            response,
        } => format!(
            "more than {}: {} {} only {}",
            operations(load).0,
            format_counted(clients.into(), "client"),
            if clients == 1 { "waits" } else { "wait" },
            time(response).0
        ),
    };
    (level_name(level.level_ns), text)
}

fn saturation(saturation: &Saturation) -> (String, String) {
    let mark = if saturation.is_converged { "" } else { "~" };
    let figures = figures(operations(saturation.load), mark);
    let clients = format_counted(saturation.clients.into(), "client");
    let how = if saturation.is_saturated {
        ""
    } else {
        ", still growing"
    };
    let name = if saturation.is_saturated {
        "saturation"
    } else {
        "highest"
    };
    (name.to_owned(), format!("{figures} with {clients}{how}"))
}

/// Value and interval in columns of their own, which wrapping does not tear apart.
fn figures((value, interval): (String, String), mark: &str) -> String {
    let text = format!("{:>11}  {interval}", format!("{mark}{value}"));
    text.replace(' ', GLUE)
}

/// A level as it would be typed: `1 ms`, not `1.00 ms`.
pub(crate) fn level_name(level_ns: u64) -> String {
    let shown = format_interval_ns(level_ns as f64, 0.0, 0.0).0;
    match shown.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!(
                "{} {unit}",
                number.trim_end_matches('0').trim_end_matches('.')
            )
        }
        _ => shown,
    }
}
