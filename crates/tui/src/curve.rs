//! The live curve of response times over loads, as a report draws it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use report::{GlyphPart, curve_glyphs};
use results::live::Live;

use crate::pen::{Tone, centred, row};
use crate::view::ViewState;

/// Smaller windows have no curve.
const COLUMNS_MIN: u16 = 28;
const ROWS_MIN: u16 = 8;

/// Index of the workload whose curve is shown.
fn shown(live: &Live, view: &ViewState) -> usize {
    let asked = view.curve_of.filter(|&place| has_curve(live, place));
    asked.unwrap_or(live.workload)
}

/// The current workload is shown with a curve even before it has a point.
fn has_curve(live: &Live, place: usize) -> bool {
    let has_points = |at: usize| !live.workloads[at].curve.points.is_empty();
    place < live.workloads.len() && (place == live.workload || has_points(place))
}

/// The previous workload with a curve, or the current one.
pub(crate) fn before(live: &Live, view: &ViewState) -> usize {
    let now = shown(live, view);
    (0..now)
        .rev()
        .find(|&at| has_curve(live, at))
        .unwrap_or(now)
}

/// The next workload with a curve, or the current one.
pub(crate) fn after(live: &Live, view: &ViewState) -> usize {
    let now = shown(live, view);
    let mut later = now + 1..live.workloads.len();
    later.find(|&at| has_curve(live, at)).unwrap_or(now)
}

/// The workload of the curve, and the keys for others if there are any.
pub(crate) fn title(live: &Live, view: &ViewState) -> String {
    let now = shown(live, view);
    let Some(workload) = live.workloads.get(now) else {
        return String::new();
    };
    let has_others = (0..live.workloads.len()).any(|at| at != now && has_curve(live, at));
    let keys = if has_others { ", P N: others" } else { "" };
    format!("{} {}{keys}", workload.number, workload.name)
}

/// Draws inside the window.
pub(crate) fn draw(buffer: &mut Buffer, area: Rect, live: &Live, view: &ViewState) {
    if area.width < COLUMNS_MIN || area.height < ROWS_MIN {
        return;
    }
    let (columns, rows) = (usize::from(area.width - 1), usize::from(area.height));
    let workload = live.workloads.get(shown(live, view));
    let drawn = workload.map_or_else(Vec::new, |it| curve_glyphs(&it.curve, columns, rows));
    if drawn.is_empty() {
        let middle = row(area, area.height / 2);
        centred(buffer, middle, "no point measured yet", Tone::Quiet);
    }
    for (y, glyphs) in (area.y..area.bottom()).zip(drawn) {
        for (x, glyph) in (area.x..area.right()).zip(glyphs) {
            let cell = &mut buffer[(x, y)];
            cell.set_char(glyph.sign).set_style(style(glyph.part));
        }
    }
}

fn style(part: GlyphPart) -> Style {
    match part {
        GlyphPart::Line => Style::new().fg(Color::Blue),
        GlyphPart::Axis | GlyphPart::Height => Tone::Quiet.style(),
        GlyphPart::Found => Tone::Good.style(),
        // Measured series are prominent, unsettled ones doubtful.
        GlyphPart::Series(0) => Tone::Strong.style(),
        GlyphPart::Series(2) => Tone::Doubtful.style(),
        GlyphPart::Series(_) | GlyphPart::Blank | GlyphPart::Interval | GlyphPart::Text => {
            Tone::Plain.style()
        }
    }
}
