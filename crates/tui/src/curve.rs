//! The live curve: mean response time upwards on a logarithmic axis, load to the right.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;
use ratatui::symbols::Marker;
use ratatui::widgets::Widget as _;
use ratatui::widgets::canvas::{Canvas, Line};
use results::live::Live;
use results::{CurvePoint, Level, LevelOutcome};
use units::{format_count, format_duration_ns, format_interval_count};

use crate::axis::{LoadAxis, ResponseAxis, is_drawable};
use crate::number::{round_time, width};
use crate::pen::{Tone, centred, columns, left, right, row};

/// Columns of the names of response times, without the axis.
const NAMES: u16 = 8;
/// Rows below the plot: axis, names of loads, key.
const FLOOR_ROWS: u16 = 3;
/// Smaller windows show no curve.
const COLUMNS_MIN: u16 = 28;
const ROWS_MIN: u16 = 8;
/// Levels further away than this factor from every point are left out: they would flatten the rest.
const LEVEL_REACH: f64 = 4.0;
/// Columns of the name of a load.
const LOAD_NAME: u16 = 12;

/// Both axes and the area between them.
struct CurvePlot {
    area: Rect,
    loads: LoadAxis,
    responses: ResponseAxis,
}

impl CurvePlot {
    fn of(area: Rect, points: &[&CurvePoint], levels: &[Level], live: &Live) -> Option<Self> {
        let inside = columns(area, NAMES + 1, area.width.saturating_sub(NAMES + 2));
        let inside = Rect {
            height: area.height.saturating_sub(FLOOR_ROWS),
            ..inside
        };
        let highest = live.saturation.map(|saturation| saturation.load.value);
        let found = points.iter().map(|point| point.load.value);
        let loads = LoadAxis::over(found.chain(highest), inside.width)?;
        let measured = points.iter().map(|point| point.response.value);
        let wanted = levels.iter().map(|level| level.level_ns as f64);
        let responses = ResponseAxis::over(measured.chain(wanted), inside.height)?;
        Some(Self {
            area: inside,
            loads,
            responses,
        })
    }

    /// The row that shows a response time.
    fn row(&self, response: f64) -> Option<Rect> {
        let from_below = self.responses.row(response)?;
        Some(row(self.area, self.area.height - 1 - from_below))
    }

    fn cell(&self, load: f64, response: f64) -> Option<Rect> {
        Some(columns(self.row(response)?, self.loads.column(load)?, 1))
    }
}

/// Which workload the curve belongs to.
pub(crate) fn title(live: &Live) -> String {
    live.workloads
        .get(live.workload)
        .map(|workload| workload.name.clone())
        .unwrap_or_default()
}

/// Draws inside of the window.
pub(crate) fn draw(buffer: &mut Buffer, area: Rect, live: &Live) {
    if area.width < COLUMNS_MIN || area.height < ROWS_MIN {
        return;
    }
    let is_shown =
        |point: &&CurvePoint| is_drawable(point.load.value) && is_drawable(point.response.value);
    // The axis of times shows the time that the levels are about.
    let of_channel = |point: &CurvePoint| CurvePoint {
        response: point.time(live.channel),
        ..point.clone()
    };
    let all: Vec<CurvePoint> = live.points.iter().map(of_channel).collect();
    let points: Vec<&CurvePoint> = all.iter().filter(is_shown).collect();
    let levels = levels_in_reach(live, &points);
    let Some(plot) = CurvePlot::of(area, &points, &levels, live).filter(|_| !points.is_empty())
    else {
        let middle = row(area, area.height / 2);
        centred(buffer, middle, "no point measured yet", Tone::Quiet);
        return;
    };
    side(buffer, &plot, area, &levels);
    floor(buffer, &plot, area);
    for level in &levels {
        level_line(buffer, &plot, level);
    }
    saturation(buffer, &plot, live);
    line(buffer, &plot, &points);
    marks(buffer, &plot, &points);
    for level in &levels {
        level_mark(buffer, &plot, level);
    }
    for level in &levels {
        level_text(buffer, &plot, level);
    }
    key(buffer, row(area, area.height - 1), live, &points);
}

/// Levels near enough to the points to be worth a line.
fn levels_in_reach(live: &Live, points: &[&CurvePoint]) -> Vec<Level> {
    let responses = || points.iter().map(|point| point.response.value);
    let low = responses().fold(f64::INFINITY, f64::min) / LEVEL_REACH;
    let high = responses().fold(0.0, f64::max) * LEVEL_REACH;
    let in_reach = |level: &&Level| (low..=high).contains(&(level.level_ns as f64));
    live.levels.iter().filter(in_reach).copied().collect()
}

/// The axis of response times. Levels are named first, then as many round times as have room.
fn side(buffer: &mut Buffer, plot: &CurvePlot, area: Rect, levels: &[Level]) {
    let mut is_named = vec![false; usize::from(plot.area.height)];
    for line in 0..plot.area.height {
        left(buffer, columns(row(area, line), NAMES, 1), "│", Tone::Quiet);
    }
    let wanted = levels
        .iter()
        .map(|level| (level.level_ns as f64, Tone::Strong));
    let round = plot
        .responses
        .ticks()
        .into_iter()
        .map(|tick| (tick, Tone::Quiet));
    for (value, tone) in wanted.chain(round) {
        let Some(place) = plot.row(value) else {
            continue;
        };
        let line = usize::from(place.y - plot.area.y);
        // Levels are named wherever two do not share a row; round times keep a row's distance.
        let reach = usize::from(tone == Tone::Quiet);
        let around = line.saturating_sub(reach)..=(line + reach).min(is_named.len() - 1);
        if is_named[around].contains(&true) {
            continue;
        }
        is_named[line] = true;
        let place = Rect {
            x: area.x,
            width: area.width,
            ..place
        };
        right(
            buffer,
            columns(place, 0, NAMES - 1),
            &round_time(value),
            tone,
        );
        left(buffer, columns(place, NAMES, 1), "┤", Tone::Quiet);
    }
}

/// The axis of loads with its names.
fn floor(buffer: &mut Buffer, plot: &CurvePlot, area: Rect) {
    let axis = Rect {
        y: plot.area.bottom(),
        height: 1,
        ..area
    };
    let axis = columns(axis, NAMES, plot.area.width + 1);
    let floor = format!("└{}", "─".repeat(usize::from(plot.area.width)));
    left(buffer, axis, &floor, Tone::Quiet);
    let names = Rect {
        y: axis.y + 1,
        ..axis
    };
    for tick in plot.loads.ticks(LOAD_NAME) {
        let Some(column) = plot.loads.column(tick) else {
            continue;
        };
        if column > 0 {
            left(buffer, columns(axis, column + 1, 1), "┬", Tone::Quiet);
        }
        let name = format_count(tick);
        let first = (column + 1).saturating_sub(width(&name) as u16 / 2);
        let first = first.min(names.width.saturating_sub(width(&name) as u16));
        left(
            buffer,
            columns(names, first, names.width),
            &name,
            Tone::Quiet,
        );
    }
}

/// The highest load, as a line upwards.
fn saturation(buffer: &mut Buffer, plot: &CurvePlot, live: &Live) {
    let highest = live
        .saturation
        .and_then(|found| plot.loads.column(found.load.value));
    let Some(column) = highest else { return };
    for line in 0..plot.area.height {
        left(
            buffer,
            columns(row(plot.area, line), column, 1),
            "┊",
            Tone::Quiet,
        );
    }
}

/// The curve through the points that count, or through the scouts as long as there are no others.
fn line(buffer: &mut Buffer, plot: &CurvePlot, points: &[&CurvePoint]) {
    let finals = points.iter().filter(|point| !point.is_scout);
    let finals: Vec<&CurvePoint> = finals.copied().collect();
    let through = if finals.len() < 2 { points } else { &finals };
    let at = |point: &CurvePoint| (point.load.value, point.response.value.log10());
    Canvas::default()
        .marker(Marker::Braille)
        .x_bounds([0.0, plot.loads.high()])
        .y_bounds(plot.responses.bounds())
        .paint(|context| {
            for pair in through.windows(2) {
                let ((x1, y1), (x2, y2)) = (at(pair[0]), at(pair[1]));
                context.draw(&Line {
                    x1,
                    y1,
                    x2,
                    y2,
                    color: Color::Blue,
                });
            }
        })
        .render(plot.area, buffer);
}

/// The points: scouts first, so that a point that counts is never hidden by one that does not.
fn marks(buffer: &mut Buffer, plot: &CurvePlot, points: &[&CurvePoint]) {
    let (scouts, finals): (Vec<&CurvePoint>, Vec<&CurvePoint>) =
        points.iter().copied().partition(|point| point.is_scout);
    for point in &finals {
        if let Some(row) = plot.row(point.response.value) {
            interval(buffer, plot, row, (point.load.low, point.load.high));
        }
    }
    for point in scouts.into_iter().chain(finals) {
        if let Some(cell) = plot.cell(point.load.value, point.response.value) {
            let (mark, tone) = mark(point);
            left(buffer, cell, mark, tone);
        }
    }
}

const fn mark(point: &CurvePoint) -> (&'static str, Tone) {
    match (point.is_scout, point.is_converged) {
        (true, _) => ("○", Tone::Plain),
        (false, true) => ("●", Tone::Strong),
        (false, false) => ("◐", Tone::Doubtful),
    }
}

/// An interval of loads that is wide enough to be seen.
fn interval(buffer: &mut Buffer, plot: &CurvePlot, row: Rect, (low, high): (f64, f64)) {
    let ends = (plot.loads.nearest(low), plot.loads.nearest(high));
    let (Some(first), Some(last)) = ends else {
        return;
    };
    if last < first + 2 {
        return;
    }
    for column in first..=last {
        let part = match column {
            c if c == first => "├",
            c if c == last => "┤",
            _ => "─",
        };
        left(buffer, columns(row, column, 1), part, Tone::Plain);
    }
}

/// A level across the plot, behind everything else.
fn level_line(buffer: &mut Buffer, plot: &CurvePlot, level: &Level) {
    let Some(place) = plot.row(level.level_ns as f64) else {
        return;
    };
    for column in (1..place.width).step_by(2) {
        left(buffer, columns(place, column, 1), "·", Tone::Quiet);
    }
}

/// What was found for a level, written on its line where nothing else is.
fn level_text(buffer: &mut Buffer, plot: &CurvePlot, level: &Level) {
    let Some(place) = plot.row(level.level_ns as f64) else {
        return;
    };
    let found = format!(" {} ", outcome(&level.outcome));
    let taken = width(&found) as u16;
    let at_right = place.width.saturating_sub(taken + 1);
    // One cell more at both ends keeps the text apart from the curve.
    let is_free = |first: &u16| {
        let around = columns(place, first.saturating_sub(1), taken + 2);
        first + taken < place.width && is_blank(buffer, around)
    };
    if let Some(first) = [2, at_right].into_iter().find(is_free) {
        left(buffer, columns(place, first, taken), &found, Tone::Plain);
    }
}

/// Whether nothing but a level's line is there.
fn is_blank(buffer: &Buffer, place: Rect) -> bool {
    let mut cells = place
        .positions()
        .filter_map(|position| buffer.cell(position));
    cells.all(|cell| matches!(cell.symbol(), " " | "·"))
}

/// What was found for a level, in words.
fn outcome(outcome: &LevelOutcome) -> String {
    match outcome {
        LevelOutcome::Reached {
            load, is_precise, ..
        } => {
            let (value, ends) = format_interval_count(load.value, load.low, load.high);
            let doubt = if *is_precise { "" } else { ", wide" };
            format!("{value} /s ({ends}{doubt})")
        }
        LevelOutcome::Between { low, high } => {
            format!(
                "between {} and {} /s",
                format_count(*low),
                format_count(*high)
            )
        }
        LevelOutcome::Exceeded { response } => {
            format!(
                "exceeded: one client waits {}",
                format_duration_ns(response.value)
            )
        }
        LevelOutcome::NotReached { clients, .. } => {
            format!(
                "not reached with {} clients",
                format_count(f64::from(*clients))
            )
        }
    }
}

/// The load at a level, with its interval.
fn level_mark(buffer: &mut Buffer, plot: &CurvePlot, level: &Level) {
    let Some(row) = plot.row(level.level_ns as f64) else {
        return;
    };
    match &level.outcome {
        LevelOutcome::Reached { load, .. } => {
            interval(buffer, plot, row, (load.low, load.high));
            if let Some(column) = plot.loads.column(load.value) {
                left(buffer, columns(row, column, 1), "◆", Tone::Good);
            }
        }
        LevelOutcome::Between { low, high } => interval(buffer, plot, row, (*low, *high)),
        LevelOutcome::Exceeded { .. } | LevelOutcome::NotReached { .. } => {}
    }
}

/// What the marks mean, and the highest load.
fn key(buffer: &mut Buffer, row: Rect, live: &Live, points: &[&CurvePoint]) {
    let has = |sign: &str| points.iter().any(|point| mark(point).0 == sign);
    let highest = live.saturation.map(|found| {
        let word = if found.is_saturated {
            "max"
        } else {
            "max so far"
        };
        let clients = format_count(f64::from(found.clients));
        format!(
            "┊ {word} {} at {clients} clients",
            format_count(found.load.value)
        )
    });
    let parts = [
        Some("IOPS".to_owned()),
        has("●").then(|| "● measured".to_owned()),
        has("◐").then(|| "◐ not converged".to_owned()),
        has("○").then(|| "○ scout".to_owned()),
        (!live.levels.is_empty()).then(|| "◆ level".to_owned()),
        highest,
    ];
    let mut rest = columns(row, NAMES, row.width.saturating_sub(NAMES + 1));
    for part in parts.into_iter().flatten() {
        // A part that would be cut is left out.
        if width(&part) > usize::from(rest.width) {
            continue;
        }
        let taken = left(buffer, rest, &part, Tone::Quiet);
        rest = columns(rest, taken + 2, rest.width);
    }
}
