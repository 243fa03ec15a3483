//! Draws the whole display.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use results::live::{Live, LiveState};

use crate::layout::WindowFrames;
use crate::pen::{Tone, bar, columns, left, right, row, window};
use crate::view::ViewState;
use crate::{compact, curve, help, precision, status, summary, verbose, warnings};

/// Width of the progress bar on a narrow and on a wide display.
const BAR_COLUMNS: (u16, u16) = (10, 20);
/// Width from which a display counts as wide.
const WIDE: u16 = 100;

/// Draws everything that the display shows. The same input gives the same picture, at any size.
pub fn draw(frame: &mut Frame<'_>, live: &Live, view: &ViewState) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    if area.is_empty() {
        return;
    }
    match WindowFrames::of(area, live, view) {
        Some(plan) => windows(buffer, &plan, live, view),
        None => compact::draw(buffer, area, live, view),
    }
    if let Some(page) = view.warnings_page {
        warnings::draw(buffer, area, live, page);
    }
    if view.shows_help {
        help::draw(buffer, area, view);
    }
    view.look.apply(buffer);
}

fn windows(buffer: &mut Buffer, plan: &WindowFrames, live: &Live, view: &ViewState) {
    let inside = window(buffer, plan.status, "Status", "");
    status::draw(buffer, inside, live);
    let inside = window(buffer, plan.configuration, "Configuration", &view.title);
    status::draw_configuration(buffer, inside, live);
    if let Some(area) = plan.summary {
        let inside = window(buffer, area, "Summary Results", "");
        summary::draw(buffer, inside, live);
    }
    if let Some(area) = plan.verbose {
        let inside = window(
            buffer,
            area,
            "Verbose Window",
            verbose::name(live.verbosity),
        );
        verbose::draw(buffer, inside, live);
    }
    if let Some(area) = plan.precision {
        let inside = window(buffer, area, "Precision", &precision::title(live));
        precision::draw(buffer, inside, live);
    }
    let inside = window(buffer, plan.operator, "Operator", "");
    status::draw_operator(buffer, inside, view);
    let edge = columns(row(plan.operator, 0), 0, plan.operator.width - 2);
    right(buffer, edge, &warning_count(live), Tone::Doubtful);
    let inside = window(buffer, plan.state, "State", "");
    let (word, tone) = state(live.state);
    left(buffer, columns(row(inside, 0), 1, inside.width), word, tone);
    if let Some(area) = plan.curve {
        let inside = window(buffer, area, "Curve", &curve::title(live, view));
        curve::draw(buffer, inside, live, view);
    }
    foot(buffer, plan.foot, live);
}

/// The state in the words of the manual of 1995.
pub(crate) const fn state(state: LiveState) -> (&'static str, Tone) {
    match state {
        LiveState::Stopped => ("Stopped", Tone::Doubtful),
        LiveState::Execute => ("Execute", Tone::Good),
        LiveState::Finished => ("Finished", Tone::Strong),
    }
}

/// Activity and progress.
fn foot(buffer: &mut Buffer, area: Rect, live: &Live) {
    let mut room = columns(area, 1, area.width.saturating_sub(2));
    if let Some(share) = live.progress {
        let place = columns(room, room.width.saturating_sub(5), 5);
        right(buffer, place, &whole_percent(share), Tone::Strong);
        let length = if area.width < WIDE {
            BAR_COLUMNS.0
        } else {
            BAR_COLUMNS.1
        };
        let first = room.width.saturating_sub(5 + length);
        bar(buffer, columns(room, first, length), share, Tone::Plain);
        room = columns(room, 0, first.saturating_sub(2));
    }
    left(buffer, room, &live.activity, Tone::Plain);
}

/// Never 100 % before the end.
pub(crate) fn whole_percent(share: f64) -> String {
    if share.is_nan() {
        return "n/a".to_owned();
    }
    format!("{:.0}%", (share.clamp(0.0, 1.0) * 100.0).floor())
}

/// Number of warnings, and the key that shows them.
pub(crate) fn warning_count(live: &Live) -> String {
    match live.warnings.len() {
        0 => String::new(),
        1 => "W: 1 warning".to_owned(),
        count => format!("W: {count} warnings"),
    }
}
