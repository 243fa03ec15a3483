//! The window Precision: convergence of the current trial's interval, and the latest warnings.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use results::live::{Live, LiveConvergence};

use crate::number::percent;
use crate::pen::{Tone, columns, left, row};
use crate::warnings;

/// Maximum rows of the history; more are not useful.
const HISTORY_ROWS_MAX: u16 = 10;
/// Top of the history as a multiple of the goal, if the first values do not reach it.
const TOP_MIN: f64 = 2.0;
/// Eighths of a row.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Precision of the current trial, in words.
pub(crate) fn title(live: &Live) -> String {
    let convergence = &live.convergence;
    let now = convergence
        .relative_half_widths
        .last()
        .map(|&now| half_width(now));
    match (now, convergence.goal) {
        (Some(now), Some(goal)) => format!("{now}, goal {}", half_width(goal)),
        (Some(now), None) => now,
        (None, Some(goal)) => format!("goal {}", half_width(goal)),
        (None, None) => String::new(),
    }
}

fn half_width(share: f64) -> String {
    if share.is_finite() {
        format!("{} %", percent(share, 8))
    } else {
        "not known yet".to_owned()
    }
}

/// Draws inside the window: the history above, the warnings below.
pub(crate) fn draw(buffer: &mut Buffer, area: Rect, live: &Live) {
    let warnings = warnings::lines(live, usize::from(area.width.saturating_sub(2)));
    let has_warnings = !warnings.is_empty() && area.height > 3;
    let wanted = if has_warnings {
        (warnings.len() as u16 + 1).min(area.height / 2)
    } else {
        0
    };
    let rows = (area.height - wanted).min(HISTORY_ROWS_MAX);
    history(
        buffer,
        Rect {
            height: rows,
            ..area
        },
        &live.convergence,
    );
    let first = rows + u16::from(rows + 1 < area.height);
    for (index, (tone, line)) in (first..area.height).zip(&warnings) {
        let place = columns(row(area, index), 1, area.width.saturating_sub(2));
        left(buffer, place, line, *tone);
    }
}

/// A column per recent value, with the goal as a line through them.
fn history(buffer: &mut Buffer, area: Rect, convergence: &LiveConvergence) {
    let names = 7;
    let plot = columns(area, names, area.width.saturating_sub(names + 1));
    let looks = &convergence.relative_half_widths;
    if looks.is_empty() || plot.is_empty() {
        left(
            buffer,
            columns(row(area, 0), 1, area.width),
            "no look yet",
            Tone::Quiet,
        );
        return;
    }
    let shown = &looks[looks.len().saturating_sub(usize::from(plot.width))..];
    let highest = shown
        .iter()
        .copied()
        .filter(|look| look.is_finite())
        .fold(0.0, f64::max);
    let goal = convergence
        .goal
        .filter(|goal| goal.is_finite() && *goal > 0.0);
    let top = highest.max(goal.unwrap_or(0.0) * TOP_MIN);
    if top <= 0.0 {
        return;
    }
    let eighths = |share: f64| (share / top * f64::from(plot.height) * 8.0).round() as u16;
    if let Some(goal) = goal {
        let line = (eighths(goal) / 8).min(plot.height - 1);
        let place = row(area, plot.height - 1 - line);
        left(
            buffer,
            columns(place, 1, names),
            &format!("{}%", percent(goal, 5)),
            Tone::Quiet,
        );
        let dashes = "╌".repeat(usize::from(plot.width));
        left(
            buffer,
            columns(place, names, plot.width),
            &dashes,
            Tone::Quiet,
        );
    }
    if goal.is_none_or(|goal| eighths(goal) / 8 + 1 < plot.height) {
        let name = format!("{}%", percent(top, 5));
        left(buffer, columns(row(area, 0), 1, names), &name, Tone::Quiet);
    }
    for (column, &look) in (0..).zip(shown) {
        let is_met = goal.is_some_and(|goal| look <= goal);
        let tone = if is_met { Tone::Good } else { Tone::Plain };
        // An unknown width reaches beyond the top.
        let height = if look.is_finite() {
            eighths(look).max(1)
        } else {
            plot.height * 8
        };
        for line in 0..plot.height {
            let filled = height.saturating_sub(line * 8).min(8);
            if filled > 0 {
                let block = BLOCKS[usize::from(filled)].to_string();
                let place = columns(row(plot, plot.height - 1 - line), column, 1);
                left(buffer, place, &block, tone);
            }
        }
    }
}
