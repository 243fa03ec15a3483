//! The live curve of response times over loads, as a report draws it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use report::{GlyphPart, curve_glyphs};
use results::Curve;
use results::live::Live;

use crate::pen::{Tone, centred, row};

/// Smaller windows show no curve.
const COLUMNS_MIN: u16 = 28;
const ROWS_MIN: u16 = 8;

/// Which workload the curve belongs to.
pub(crate) fn title(live: &Live) -> String {
    let workload = live.workloads.get(live.workload);
    workload.map_or_else(String::new, |workload| workload.name.clone())
}

/// Draws inside of the window.
pub(crate) fn draw(buffer: &mut Buffer, area: Rect, live: &Live) {
    if area.width < COLUMNS_MIN || area.height < ROWS_MIN {
        return;
    }
    let curve = Curve {
        points: live.points.clone(),
        levels: live.levels.clone(),
        saturation: live.saturation,
        channel: live.channel,
        ..Curve::default()
    };
    let (columns, rows) = (usize::from(area.width - 1), usize::from(area.height));
    let drawn = curve_glyphs(&curve, columns, rows);
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
        // Of the series, what was measured is looked for, and what has not settled is doubtful.
        GlyphPart::Series(0) => Tone::Strong.style(),
        GlyphPart::Series(2) => Tone::Doubtful.style(),
        GlyphPart::Series(_) | GlyphPart::Blank | GlyphPart::Interval | GlyphPart::Text => {
            Tone::Plain.style()
        }
    }
}
