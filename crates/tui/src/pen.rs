//! Writes into the display without exceeding its edges.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::merge::MergeStrategy;
use ratatui::text::Line;
use ratatui::widgets::{Block, Widget as _};

use crate::number::{beginning, width};

/// Meaning of a piece of text. Never conveyed by colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Running text.
    Plain,
    /// An important value.
    Strong,
    /// Row names, axes.
    Quiet,
    /// A key of the keyboard.
    Key,
    /// Success.
    Good,
    /// Doubtful.
    Doubtful,
}

impl Tone {
    pub(crate) fn style(self) -> Style {
        let style = Style::new();
        match self {
            Self::Plain => style,
            Self::Strong => style.add_modifier(Modifier::BOLD),
            Self::Quiet => style.add_modifier(Modifier::DIM),
            Self::Key => style.fg(Color::Cyan).add_modifier(Modifier::BOLD),
            Self::Good => style.fg(Color::Green).add_modifier(Modifier::BOLD),
            Self::Doubtful => style.fg(Color::Yellow),
        }
    }
}

/// A row of a window: everything is written into one of these.
pub(crate) fn row(area: Rect, index: u16) -> Rect {
    let top = area.y.saturating_add(index);
    let height = u16::from(index < area.height);
    Rect::new(area.x, top, area.width, height)
}

/// Part of a row: so many columns from the first.
pub(crate) fn columns(row: Rect, first: u16, count: u16) -> Rect {
    let first = first.min(row.width);
    let width = count.min(row.width - first);
    Rect::new(row.x + first, row.y, width, row.height)
}

/// Text at the left end of a row. Returns the columns that it took.
pub(crate) fn left(buffer: &mut Buffer, row: Rect, text: &str, tone: Tone) -> u16 {
    let row = row.intersection(buffer.area);
    if row.is_empty() {
        return 0;
    }
    let shown = beginning(text, usize::from(row.width));
    let (x, _) = buffer.set_stringn(row.x, row.y, shown, usize::from(row.width), tone.style());
    x - row.x
}

/// Text at the right end of a row.
pub(crate) fn right(buffer: &mut Buffer, row: Rect, text: &str, tone: Tone) {
    let row = row.intersection(buffer.area);
    let shown = beginning(text, usize::from(row.width));
    let first = usize::from(row.width).saturating_sub(width(&shown));
    left(buffer, columns(row, first as u16, row.width), &shown, tone);
}

/// Text in the middle of a row.
pub(crate) fn centred(buffer: &mut Buffer, row: Rect, text: &str, tone: Tone) {
    let shown = beginning(text, usize::from(row.width));
    let first = (usize::from(row.width) - width(&shown).min(usize::from(row.width))) / 2;
    left(buffer, columns(row, first as u16, row.width), &shown, tone);
}

/// A window's frame, joined to adjacent ones. Returns the inside.
pub(crate) fn window(buffer: &mut Buffer, area: Rect, title: &str, at_right: &str) -> Rect {
    let room = usize::from(area.width.saturating_sub(4));
    let title = beginning(title, room);
    let at_right = beginning(at_right, room.saturating_sub(width(&title) + 1));
    let mut block = Block::bordered().merge_borders(MergeStrategy::Exact);
    if !title.is_empty() {
        block = block.title_top(Line::styled(format!("─{title}"), Tone::Plain.style()));
    }
    if !at_right.is_empty() {
        block = block.title_top(Line::raw(format!("{at_right}─")).right_aligned());
    }
    let inner = block.inner(area);
    block.render(area, buffer);
    inner
}

/// A bar that is full at 1.
pub(crate) fn bar(buffer: &mut Buffer, row: Rect, share: f64, tone: Tone) {
    let share = if share.is_finite() {
        share.clamp(0.0, 1.0)
    } else {
        0.0
    };
    let full = (share * f64::from(row.width)).round() as usize;
    let empty = usize::from(row.width).saturating_sub(full);
    let shown = format!("{}{}", "█".repeat(full), "░".repeat(empty));
    left(buffer, row, &shown, tone);
}
