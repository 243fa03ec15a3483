//! The window Summary Results: response times and loads at the levels, with workloads side by side,
//! and the throughput of workloads without levels.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use results::live::{Live, LiveLevel, LiveWorkload, Verbosity};

use crate::number::{Precision, milliseconds, percent, rate};
use crate::pen::{Tone, columns, left, right, row};
use crate::status::mode_name;

/// Columns of the names of rows.
const NAMES: u16 = 13;
/// Columns of a number with the space before it.
const NUMBER: u16 = 8;
/// Columns of a half-width in percent.
const HALF_WIDTH: u16 = 6;
/// Head, four levels and two figures of merit.
const LEVEL_ROWS: u16 = 7;
/// Minimum rows inside the window: one for throughput.
pub(crate) const ROWS_MIN: u16 = LEVEL_ROWS + 1;
/// Maximum useful rows, for twelve workloads in rows of their own.
pub(crate) const ROWS_MAX: u16 = ROWS_MIN + 12;
/// Columns inside the window that show four workloads with half-widths.
pub(crate) const FULL_COLUMNS: u16 = NAMES + 4 * (2 * NUMBER + HALF_WIDTH) + 1;

/// Names of the rows, and the level's place in a workload.
const LEVELS: [(&str, usize); 4] = [
    ("Max Response", 3),
    ("2/3 Response", 2),
    ("1/3 Response", 1),
    ("N/L Response", 0),
];

/// How workloads are shown.
struct SummaryColumns<'a> {
    /// Workloads with levels, as many as fit.
    with_levels: Vec<(usize, &'a LiveWorkload)>,
    /// Workloads with throughput only.
    throughput: Vec<(usize, &'a LiveWorkload)>,
    /// Columns of one workload.
    group: u16,
}

impl<'a> SummaryColumns<'a> {
    fn of(live: &'a Live, width: u16) -> Self {
        let numbered = live.workloads.iter().enumerate();
        let (with_levels, throughput): (Vec<_>, Vec<_>) =
            numbered.partition(|(_, workload)| workload.has_levels);
        let room = width.saturating_sub(NAMES);
        let full = 2 * NUMBER + HALF_WIDTH;
        let wanted = with_levels.len().max(1);
        let group = if usize::from(room / full) >= wanted {
            full
        } else {
            2 * NUMBER
        };
        let shown = around(&with_levels, live.workload, usize::from(room / group));
        Self {
            with_levels: with_levels[shown].to_vec(),
            throughput,
            group,
        }
    }

    /// Workloads in a row of throughput.
    fn in_a_row(&self, width: u16) -> usize {
        usize::from(width.saturating_sub(NAMES) / self.group).max(1)
    }
}

/// As many workloads as fit, including the current one.
fn around(all: &[(usize, &LiveWorkload)], current: usize, room: usize) -> Range<usize> {
    let place = all
        .iter()
        .rposition(|(index, _)| *index <= current)
        .unwrap_or(0);
    let first = (place + 1)
        .saturating_sub(room)
        .min(all.len().saturating_sub(room));
    first..all.len().min(first + room)
}

/// Rows inside the window that show everything: with and without the workloads' names.
pub(crate) fn wanted_rows(live: &Live, width: u16) -> (u16, u16) {
    let columns = SummaryColumns::of(live, width);
    let throughput = columns.throughput.len().div_ceil(columns.in_a_row(width)) as u16;
    let levels = if columns.with_levels.is_empty() {
        1
    } else {
        LEVEL_ROWS
    };
    // Names are above the heads, and above each row of throughput.
    let names = u16::from(levels > 1) + throughput;
    let plain = (levels + throughput).min(ROWS_MAX);
    ((plain + names).min(ROWS_MAX), plain)
}

/// Draws inside the window.
pub(crate) fn draw(buffer: &mut Buffer, area: Rect, live: &Live) {
    let shown = SummaryColumns::of(live, area.width);
    let has_names = area.height >= wanted_rows(live, area.width).0;
    left(buffer, label(area, 0), mode_name(live.mode), Tone::Strong);
    let mut next = 1;
    if !shown.with_levels.is_empty() {
        let above = u16::from(has_names);
        level_names(buffer, area, above);
        for (place, workload) in (0..).zip(&shown.with_levels) {
            let group = columns(area, NAMES + place * shown.group, shown.group);
            if has_names {
                name(buffer, row(group, 0), workload.1);
            }
            let is_current = workload.0 == live.workload;
            head(buffer, row(group, above), workload.1, is_current);
            let below = Rect {
                y: group.y + above,
                height: group.height - above,
                ..group
            };
            levels(buffer, below, workload.1, precision(live));
        }
        next = LEVEL_ROWS + above;
    }
    let rest = Rect {
        y: area.y + next.min(area.height),
        ..area
    };
    let rest = Rect {
        height: area.bottom() - rest.y,
        ..rest
    };
    throughput(buffer, rest, &shown, live, has_names);
}

fn precision(live: &Live) -> Precision {
    match live.verbosity {
        Verbosity::None | Verbosity::Summary => Precision::Usual,
        Verbosity::Detail => Precision::Detail,
    }
}

fn label(area: Rect, index: u16) -> Rect {
    columns(row(area, index), 1, NAMES - 1)
}

fn level_names(buffer: &mut Buffer, area: Rect, above: u16) {
    for (index, (name, _)) in (1..).zip(LEVELS) {
        left(buffer, label(area, above + index), name, Tone::Quiet);
    }
    left(buffer, label(area, above + 5), "RABmark [r]", Tone::Quiet);
    left(buffer, label(area, above + 6), "RABmark [s]", Tone::Quiet);
}

fn name(buffer: &mut Buffer, row: Rect, workload: &LiveWorkload) {
    right(
        buffer,
        columns(row, 1, row.width.saturating_sub(1)),
        &workload.name,
        Tone::Plain,
    );
}

fn head(buffer: &mut Buffer, row: Rect, workload: &LiveWorkload, is_current: bool) {
    let tone = if is_current { Tone::Key } else { Tone::Strong };
    let number = format!("WL{} ms", workload.number);
    right(buffer, columns(row, 0, NUMBER), &number, tone);
    right(buffer, columns(row, NUMBER, NUMBER), "IOPS", tone);
    if row.width > 2 * NUMBER {
        right(
            buffer,
            columns(row, 2 * NUMBER, HALF_WIDTH),
            "hw %",
            Tone::Quiet,
        );
    }
}

fn levels(buffer: &mut Buffer, group: Rect, workload: &LiveWorkload, precision: Precision) {
    for (index, (_, level)) in (1..).zip(LEVELS) {
        level_row(
            buffer,
            row(group, index),
            &workload.levels[level],
            precision,
        );
    }
    let merits = [(5, workload.rabmark_r), (6, workload.rabmark_s)];
    for (index, merit) in merits {
        let place = columns(row(group, index), NUMBER, NUMBER);
        if let Some(merit) = merit {
            right(buffer, place, &rate(merit, precision, FIGURE), Tone::Strong);
        }
    }
}

/// Columns of a number without the space before it.
const FIGURE: usize = NUMBER as usize - 1;

fn level_row(buffer: &mut Buffer, row: Rect, level: &LiveLevel, precision: Precision) {
    if let Some(response) = level.response_ms {
        let shown = milliseconds(response, precision, FIGURE);
        right(buffer, columns(row, 0, NUMBER), &shown, Tone::Plain);
    }
    if let Some(iops) = level.iops {
        let shown = rate(iops, precision, FIGURE);
        right(buffer, columns(row, NUMBER, NUMBER), &shown, Tone::Strong);
    }
    if let Some(share) = level.relative_half_width {
        let shown = percent(share, usize::from(HALF_WIDTH) - 1);
        right(
            buffer,
            columns(row, 2 * NUMBER, HALF_WIDTH),
            &shown,
            Tone::Quiet,
        );
    }
}

/// Rows of workloads without levels, with their names above if there is space.
fn throughput(
    buffer: &mut Buffer,
    area: Rect,
    shown: &SummaryColumns<'_>,
    live: &Live,
    names: bool,
) {
    let in_a_row = shown.in_a_row(area.width);
    let rows = usize::from(if names { area.height / 2 } else { area.height });
    let visible = around(&shown.throughput, live.workload, rows * in_a_row);
    for (line, chunk) in (0..).zip(shown.throughput[visible].chunks(in_a_row)) {
        let line = if names { 2 * line + 1 } else { line };
        left(buffer, label(area, line), "MiB/s", Tone::Quiet);
        for (place, (index, workload)) in (0..).zip(chunk) {
            let group = columns(area, NAMES + place * shown.group, shown.group);
            if names {
                name(buffer, row(group, line - 1), workload);
            }
            let tone = if *index == live.workload {
                Tone::Key
            } else {
                Tone::Strong
            };
            let group = row(group, line);
            right(
                buffer,
                columns(group, 0, NUMBER),
                &format!("WL{}", workload.number),
                tone,
            );
            if let Some(merit) = workload.rabmark_s {
                let figure = rate(merit, precision(live), FIGURE);
                right(
                    buffer,
                    columns(group, NUMBER, NUMBER),
                    &figure,
                    Tone::Strong,
                );
            }
        }
    }
}
