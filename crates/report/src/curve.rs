//! Response time against load: a chart with its levels, and the table of all points.

use results::{Arrivals, Curve, CurveLevel, LevelOutcome, OpenTrial, Saturation};
use stats::{Channel, Estimate};
use units::{format_count, format_counted, format_interval_ns};

use crate::charts::load::judged;
use crate::curve_points::{self, judged_name};
use crate::figure::{operations, time};
use crate::measurement::not_looked_for;
use crate::page::{TextPage, wrap};
use crate::plot::Guided;
use crate::plot::glyphs::{Glyph, ascii};
use crate::style::{Style, Tone};

/// Columns of the table of levels beside the chart, and of the gap before it.
const PANEL: usize = 46;
const GAP: usize = 2;
/// Columns before a chart.
const INDENT: usize = 2;
/// Pages of at least this width have room for both.
const BESIDE_MIN: usize = 96;
/// No chart is wider or higher than this.
const COLUMNS_MAX: usize = 72;
const ROWS_MAX: usize = 8;
/// A chart of fewer rows shows little shape; one of them makes room for the levels below it.
const ROWS_MIN: usize = 5;
/// Columns of a level's name, and of a value with its interval.
const NAME: usize = 11;
const NAME_SPARE: usize = 2;
const FIGURES: usize = 32;
/// Stands for a blank at which no line is broken.
const GLUE: &str = "\u{e000}";

/// Every point of the curve, estimates included, and its levels. Its warnings are with the run.
pub fn curve_table(curve: &Curve, style: &Style) -> String {
    let mut page = TextPage::new(style);
    page.heading(&title(curve));
    curve_points::all(&mut page, curve);
    page.blank();
    for line in panel(curve, style.columns() - INDENT) {
        page.line(Tone::Plain, &format!("{:INDENT$}{line}", ""));
    }
    unseen(&mut page, curve);
    page.finish()
}

fn title(curve: &Curve) -> String {
    format!("{}: {} against IOPS", curve.title, judged_name(curve))
}

/// What asks for the load, as an engineer calls it.
const fn load_name(arrivals: Arrivals) -> &'static str {
    match arrivals {
        Arrivals::Closed => "IOPS, closed loop,",
        Arrivals::Open => "IOPS, open loop,",
    }
}

/// The word for a kind of time.
pub(crate) const fn channel_name(channel: Channel) -> &'static str {
    match channel {
        Channel::Response => "latency",
        Channel::Service => "service time",
    }
}

/// The chart, with the levels beside it where the page is wide enough. It gives up rows for goals
/// that stand below it and for lines beyond the screen. On a narrow page these take all of it.
pub(crate) fn section(page: &mut TextPage<'_>, curve: &Curve, [goals, beyond]: [usize; 2]) {
    page.heading(&title(curve));
    let style = *page.style;
    let width = style.columns() - INDENT;
    let is_beside = style.columns() >= BESIDE_MIN;
    let (room, rows) = match is_beside {
        true => (
            width - PANEL - GAP,
            ROWS_MAX.saturating_sub(goals + beyond).max(ROWS_MIN),
        ),
        // The levels stand below it.
        false => (width, ROWS_MIN - 1),
    };
    let columns = room.min(COLUMNS_MAX);
    let drawn = match is_beside || beyond == 0 {
        true => chart(curve, [columns, rows], &style),
        false => Vec::new(),
    };
    let panel = match is_beside {
        true => panel(curve, PANEL),
        // Levels of open loads have a line more each.
        false if curve.levels.iter().any(|it| it.open.is_some()) => panel(curve, width),
        false => in_two_columns(curve, width).unwrap_or_else(|| panel(curve, width)),
    };
    let lines: Vec<String> = match is_beside {
        true => {
            let of = |lines: &[String], index| lines.get(index).cloned().unwrap_or_default();
            let line = |index| {
                let (left, right) = (of(&drawn, index), of(&panel, index));
                format!("{left:columns$}{:GAP$}{right}", "")
            };
            (0..drawn.len().max(panel.len())).map(line).collect()
        }
        false => drawn.into_iter().chain(panel).collect(),
    };
    for line in lines {
        page.line(Tone::Plain, &format!("{:INDENT$}{line}", ""));
    }
    unseen(page, curve);
}

/// The chart in characters; a sentence where nothing can be drawn. What was found at its levels
/// stands beside it.
fn chart(curve: &Curve, [columns, rows]: [usize; 2], style: &Style) -> Vec<String> {
    let Some(mut plot) = judged(curve) else {
        return vec!["no point of the curve was measured".to_owned()];
    };
    for guide in &mut plot.guides {
        guide.text.clear();
        // Its figures stand with those of the levels.
        if guide.of == Guided::Across {
            guide.label = "highest".into();
        }
    }
    let shown = |glyph: &Glyph| match style.unicode {
        true => glyph.sign,
        false => ascii(glyph.sign),
    };
    let lines = plot.glyphs(columns, rows).into_iter();
    let lines = lines.map(|line| line.iter().map(shown).collect::<String>());
    lines.map(|line| line.trim_end().to_owned()).collect()
}

/// The changes and stalls that the shortest measured point was too short to show.
fn unseen(page: &mut TextPage<'_>, curve: &Curve) {
    if let Some(seen) = curve.resolution.filter(|_| page.style.all) {
        let text = format!(
            "shortest measured point, not searched for: {}",
            not_looked_for(&seen)
        );
        page.item(Tone::Quiet, "-", &text);
    }
}

/// The load sustained at each level, and the highest load.
fn panel(curve: &Curve, width: usize) -> Vec<String> {
    let found = found(curve, width).into_iter().flatten();
    panel_title(curve, width).into_iter().chain(found).collect()
}

/// The same without a title, and with the levels in half as many lines: the chart above says what
/// they are. `None` where one takes more than its column.
fn in_two_columns(curve: &Curve, width: usize) -> Option<Vec<String>> {
    let column = (width - GAP) / 2;
    let levels = curve.levels.len();
    // Names of levels are shorter than that of the highest load.
    let found: Vec<_> = found(curve, column + NAME_SPARE)
        .into_iter()
        .take(levels)
        .collect();
    if found.iter().any(|it| it.len() > 1) {
        return None;
    }
    let highest = self::found(curve, width).into_iter().skip(levels);
    let mut found: Vec<String> = found.into_iter().flatten().collect();
    for line in &mut found {
        let name = line.trim_start();
        let length = line.chars().count() - NAME_SPARE;
        *line = format!("{:>length$}", format!("at {name}"));
    }
    let (left, right) = found.split_at(found.len().div_ceil(2));
    let right = right.iter().map(String::as_str).chain(std::iter::once(""));
    let beside = left.iter().zip(right);
    let beside = beside.map(|(left, right)| format!("{left:column$}{:GAP$}{right}", ""));
    let beside = beside.map(|it| it.trim_end().to_owned());
    Some(beside.chain(highest.flatten()).collect())
}

/// What the loads below it are; nothing where there are none.
fn panel_title(curve: &Curve, width: usize) -> Vec<String> {
    if curve.levels.is_empty() && curve.saturation.is_none() {
        return Vec::new();
    }
    let (load, time) = (load_name(curve.arrivals), judged_name(curve));
    wrap(&format!("{load} at a {time} of"), width)
}

/// The lines of each level, and of the highest load.
fn found(curve: &Curve, width: usize) -> Vec<Vec<String>> {
    let mut rows: Vec<(String, String)> = Vec::new();
    for found in &curve.levels {
        rows.push(level(found, curve));
        rows.extend(found.open.as_ref().map(open));
    }
    rows.extend(curve.saturation.iter().map(saturation));
    let room = width.saturating_sub(NAME + 2);
    let lines = rows.into_iter().map(|(name, text)| {
        // On a narrow page the columns of values and intervals are given up.
        let text = match room < FIGURES {
            true => text.replace(GLUE, " "),
            false => text,
        };
        let parts = wrap(&text, room).into_iter().enumerate();
        let parts = parts.map(|(index, part)| {
            let name = if index == 0 { name.as_str() } else { "" };
            format!("{name:>NAME$}  {}", part.replace(GLUE, " "))
        });
        parts.collect()
    });
    lines.collect()
}

/// A level's name and what was found for it.
fn level(level: &CurveLevel, curve: &Curve) -> (String, String) {
    let arrivals = curve.arrivals;
    let least = curve.points.first().map_or(1, |point| point.clients);
    let text = match level.outcome {
        LevelOutcome::Reached { load, .. } => figures(load),
        LevelOutcome::Between { low, high } => {
            format!("between {} and {}", format_count(low), format_count(high))
        }
        LevelOutcome::Exceeded { response } => {
            let who = match (arrivals, least) {
                (Arrivals::Open, _) => "few arrivals wait".to_owned(),
                (_, 1) => "one client waits".to_owned(),
                _ => format!("{} wait", format_counted(least.into(), "client")),
            };
            format!("none, even {who} {}", time(response).0)
        }
        LevelOutcome::NotReached {
            clients,
            load,
            response,
        } => {
            let who = match (arrivals, clients) {
                (Arrivals::Open, _) => "they wait".to_owned(),
                (_, 1) => "1 client waits".to_owned(),
                _ => format!("{} wait", format_counted(clients.into(), "client")),
            };
            let most = format_count(load.value);
            format!("more than {most}, where {who} only {}", time(response).0)
        }
    };
    (level_name(level.level_ns), text)
}

/// What random arrivals had to wait.
fn open(open: &OpenTrial) -> (String, String) {
    let (value, interval) = time(open.response);
    let text = format!("{} at {value} ({interval})", format_count(open.offered));
    ("open loop".to_owned(), text.replace(' ', GLUE))
}

fn saturation(saturation: &Saturation) -> (String, String) {
    let figures = figures(saturation.load);
    let clients = format_counted(saturation.clients.into(), "client");
    let how = match (saturation.is_saturated, saturation.is_converged) {
        (true, true) => "",
        (true, false) => ", wide interval",
        (false, _) => ", not saturated",
    };
    let name = if saturation.is_saturated {
        "saturation"
    } else {
        "highest"
    };
    (name.to_owned(), format!("{figures} with {clients}{how}"))
}

/// Operations per second and their interval in columns of their own, which wrapping does not tear
/// apart.
fn figures(load: Estimate) -> String {
    let (value, interval) = operations(load);
    let text = format!("{:>9}  {interval}", value.trim_end_matches("/s"));
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
