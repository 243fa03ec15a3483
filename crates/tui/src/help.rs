//! The help overlay.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Clear, Widget as _};

use crate::pen::{Tone, columns, left, row, window};
use crate::view::ViewState;

/// Keys and their functions. An empty key marks a heading.
const LINES: &[(&str, &str)] = &[
    ("M", "Mode: stamp results with the next mode"),
    ("S", "Start or stop. Stopped work goes on where it was"),
    ("R", "Restart the current workload"),
    ("T", "Test: go on with the next workload"),
    ("V", "Verbose: none, summary, detail"),
    ("Q X", "Quit, exit. Ctrl-C too"),
    ("C", "Curve or tables, where there is no space for both"),
    ("P N", "Curve of the previous or next workload"),
    ("W", "Warnings, page by page. Esc closes them"),
    ("? H", "This help. Esc closes it"),
    ("", ""),
    ("", "WL    workload, by its number in the report"),
    ("", "Cnt   messages summed up, or looks at the precision"),
    ("", "N/L   no load: the response time of one client"),
    ("", "[r]   operations per second and millisecond"),
    ("", "[s]   MiB per second"),
    ("", "hw %  half the interval's width, against the value"),
];

/// Size of the help including its frame.
const WIDTH: u16 = 60;
const HEIGHT: u16 = LINES.len() as u16 + 2;

/// Draws the help in the middle.
pub(crate) fn draw(buffer: &mut Buffer, area: Rect, view: &ViewState) {
    let (columns_taken, rows) = (WIDTH.min(area.width), HEIGHT.min(area.height));
    let place = Rect {
        x: area.x + (area.width - columns_taken) / 2,
        y: area.y + (area.height - rows) / 2,
        width: columns_taken,
        height: rows,
    };
    Clear.render(place, buffer);
    let inside = window(buffer, place, "Keys", &view.title);
    for (index, (key, text)) in (0..inside.height).zip(LINES) {
        let line = columns(row(inside, index), 1, inside.width.saturating_sub(2));
        if key.is_empty() {
            left(buffer, line, text, Tone::Plain);
        } else {
            left(buffer, columns(line, 0, 4), key, Tone::Key);
            left(buffer, columns(line, 6, line.width), text, Tone::Plain);
        }
    }
}
