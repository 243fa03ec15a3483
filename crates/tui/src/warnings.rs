//! The full warnings, page by page, over everything except the keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Clear, Widget as _};
use results::live::Live;

use crate::number::width;
use crate::pen::{Tone, columns, left, row, window};

/// Rows that stay visible below: the operator's window and the foot.
const ROWS_BELOW: u16 = 4;
/// A display with fewer rows is covered completely.
const ROWS_MIN: u16 = 12;
/// Maximum number of lines.
const LINES_MAX: usize = 1_000;

/// Draws page `page`, counted from zero.
pub(crate) fn draw(buffer: &mut Buffer, area: Rect, live: &Live, page: usize) {
    let place = place(area);
    Clear.render(place, buffer);
    let pages = pages(live, area);
    let page = page.min(pages - 1);
    let keys = match page + 1 {
        last if last == pages => format!("{last}/{pages}, W closes"),
        shown => format!("{shown}/{pages}, W: next page, Esc closes"),
    };
    let inside = window(buffer, place, "Warnings, the latest first", &keys);
    let lines = lines(live, usize::from(inside.width.saturating_sub(2)));
    let first = page * usize::from(inside.height);
    for (index, (tone, line)) in (0..inside.height).zip(lines.iter().skip(first)) {
        let place = columns(row(inside, index), 1, inside.width.saturating_sub(2));
        left(buffer, place, line, *tone);
    }
}

/// Number of pages, at least one.
pub(crate) fn pages(live: &Live, area: Rect) -> usize {
    let inside = place(area);
    let rows = usize::from(inside.height.saturating_sub(2)).max(1);
    let columns = usize::from(inside.width.saturating_sub(4));
    lines(live, columns).len().div_ceil(rows).max(1)
}

fn place(area: Rect) -> Rect {
    let below = if area.height >= ROWS_MIN {
        ROWS_BELOW
    } else {
        0
    };
    Rect {
        height: area.height - below,
        ..area
    }
}

/// The warnings, latest first, each wrapped into lines.
pub(crate) fn lines(live: &Live, columns: usize) -> Vec<(Tone, String)> {
    let mut lines = Vec::new();
    for warning in live.warnings.iter().rev() {
        for (index, line) in wrapped(warning, columns.saturating_sub(2))
            .into_iter()
            .enumerate()
        {
            let sign = if index == 0 { "! " } else { "  " };
            lines.push((Tone::Doubtful, format!("{sign}{line}")));
        }
        if lines.len() > LINES_MAX {
            break;
        }
    }
    lines
}

fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("never empty");
        if line.is_empty() {
            line.push_str(word);
        } else if width(line) + 1 + width(word) <= columns {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}
