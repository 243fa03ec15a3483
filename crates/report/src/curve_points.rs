//! The points of a load curve as a table: on the screen the measured ones, in full all of them.

use std::borrow::Cow;

use results::{Arrivals, Curve, CurvePoint, percentile_name};
use stats::Estimate;
use units::{format_count, format_duration_ns};

use crate::charts::load::cited_points;
use crate::curve::channel_name;
use crate::figure::{INDICATIVE, indicative_legend, operations, time};
use crate::page::TextPage;
use crate::style::Tone;
use crate::table::{Align, TextTable};

/// Rows of the points on a screen that has more to show.
const ROWS: usize = 9;
/// The percentile that has a column of its own.
const LATE: f64 = 0.99;

/// Every point, estimates included.
pub(crate) fn all(page: &mut TextPage<'_>, curve: &Curve) {
    let points: Vec<&CurvePoint> = curve.points.iter().collect();
    if points.is_empty() {
        page.paragraph(Tone::Quiet, "no point was measured");
    } else {
        rows(page, curve, &points);
    }
}

/// The measured points, of many those at equal distances.
pub(crate) fn cited(page: &mut TextPage<'_>, curve: &Curve) {
    let points: Vec<&CurvePoint> = cited_points(curve).collect();
    let shown = match points.len() {
        _ if page.style.all => return all(page, curve),
        0 => return,
        many if many > ROWS => {
            let last = many - 1;
            let places = (0..ROWS).map(|row| row * last / (ROWS - 1));
            places.map(|place| points[place]).collect()
        }
        _ => points.clone(),
    };
    rows(page, curve, &shown);
    let left_out = points.len() - shown.len();
    if left_out > 0 {
        let text = format!("{left_out} more points: --all shows them");
        page.paragraph(Tone::Quiet, &text);
    }
}

fn rows(page: &mut TextPage<'_>, curve: &Curve, points: &[&CurvePoint]) {
    let mut table = TextTable::with_headings(headings(curve));
    let mut is_indicative = false;
    for point in points {
        let cells = cells(curve, point);
        is_indicative |= cells.iter().any(|cell| cell.ends_with(INDICATIVE));
        let tone = match point.is_scout {
            true => Tone::Quiet,
            false => Tone::Plain,
        };
        table.row(tone, cells);
    }
    page.table(&table);
    if is_indicative {
        page.paragraph(Tone::Quiet, &indicative_legend());
    }
}

fn headings(curve: &Curve) -> [(Cow<'static, str>, Align, u8); 13] {
    let source = match curve.arrivals {
        Arrivals::Closed => "clients",
        Arrivals::Open => "offered",
    };
    let laws = curve.points.iter().filter_map(|it| it.law.as_ref());
    let mut names: Vec<&str> = laws.map(|it| it.name.as_str()).collect();
    names.dedup();
    let law: Cow<'static, str> = match names[..] {
        [one] => format!("by {one}").into(),
        _ => "theory".into(),
    };
    [
        (source.into(), Align::Right, 9),
        ("IOPS".into(), Align::Right, 9),
        ("95 % CI".into(), Align::Left, 3),
        ("MB/s".into(), Align::Right, 4),
        (judged_name(curve).into(), Align::Right, 9),
        ("95 % CI".into(), Align::Left, 8),
        ("mean".into(), Align::Right, 5),
        ("p99".into(), Align::Right, 7),
        (law, Align::Right, 6),
        ("wait".into(), Align::Right, 2),
        ("service".into(), Align::Right, 2),
        ("CPU".into(), Align::Right, 1),
        ("remarks".into(), Align::Left, 6),
    ]
}

/// What of the times the levels are about: `mean latency`, or `p99 latency`.
pub(crate) fn judged_name(curve: &Curve) -> String {
    let channel = channel_name(curve.channel);
    match curve.percentile {
        None => format!("mean {channel}"),
        Some(p) => format!("{} {channel}", percentile_name(p)),
    }
}

fn cells(curve: &Curve, point: &CurvePoint) -> [String; 13] {
    let source = match point.offered {
        Some(rate) => format!("{}/s", format_count(rate)),
        None => format_count(f64::from(point.clients)),
    };
    let (load, load_within) = operations(point.load);
    let bandwidth = point.bandwidth.map(|it| format_count(it.value / 1e6));
    let (judged, judged_within) = time(point.time(curve.channel));
    let is_late = |p: f64| (p - LATE).abs() < 1e-9;
    let late = match curve.percentile {
        Some(p) if is_late(p) => None,
        _ => point.response_p99,
    };
    let late = late.map(|it| marked(LATE, it));
    let mean = curve.percentile.map(|_| point.response.value);
    let brief = |ns: f64| match ns.is_finite() {
        true => format_duration_ns(ns),
        false => String::new(),
    };
    let server = |of: fn(&results::ServerTimes) -> Estimate| {
        let value = point.server.as_ref().map(|it| of(it).value);
        value.map(brief).unwrap_or_default()
    };
    let law = point.law.as_ref().filter(|_| curve.percentile.is_none());
    let cpu = point.cores_busy.map(|it| format!("{:.0} %", it * 100.0));
    [
        source,
        load.trim_end_matches("/s").to_owned(),
        load_within,
        bandwidth.unwrap_or_default(),
        judged,
        judged_within,
        mean.map(brief).unwrap_or_default(),
        late.unwrap_or_default(),
        law.map(|it| brief(it.response_mean_ns)).unwrap_or_default(),
        server(|it| it.wait),
        server(|it| it.service),
        cpu.unwrap_or_default(),
        remarks(point).to_owned(),
    ]
}

/// A percentile, with the sign of those with little evidence.
fn marked(p: f64, estimate: Estimate) -> String {
    let sign = match stats::is_indicative(p, estimate.samples) {
        true => INDICATIVE,
        false => "",
    };
    format!("{}{sign}", format_duration_ns(estimate.value))
}

const fn remarks(point: &CurvePoint) -> &'static str {
    match (point.is_scout, point.is_converged) {
        (true, _) => "estimate",
        (false, false) => "wide interval",
        (false, true) => "",
    }
}
