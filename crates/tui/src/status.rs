//! The windows Status, Configuration and Operator.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use results::Mode;
use results::live::{Live, LiveCommand};

use crate::number::{clock, count, end, width};
use crate::pen::{Tone, columns, left, right, row};
use crate::view::ViewState;

/// Width of the run's number; the mode has the rest of the row.
const RUN_COLUMNS: u16 = 12;
/// The operator line; letters in brackets are keys.
const OPERATOR: &[&str] = &[
    "[M]ode",
    "[Q]uit",
    "[R]estart",
    "[S]tart/[S]top",
    "[T]est",
    "[V]erbose",
    "e[X]it",
    "[C]urve",
    "[?]",
];

/// Run, mode, workload, threads and time.
pub(crate) fn draw(buffer: &mut Buffer, area: Rect, live: &Live) {
    let first = row(area, 0);
    pair(
        buffer,
        columns(first, 0, RUN_COLUMNS),
        "Run",
        &live.run.to_string(),
    );
    let mode_columns = columns(first, RUN_COLUMNS, area.width);
    pair(buffer, mode_columns, "Mode", &mode_words(live));
    pair(buffer, row(area, 1), "Current Workload", &workload(live));
    let threads = count(live.threads, 14);
    pair(buffer, row(area, 2), "# Threads", &threads);
    pair(buffer, row(area, 3), "Test Time", &clock(live.elapsed_ns));
}

/// The lines of the configuration.
pub(crate) fn draw_configuration(buffer: &mut Buffer, area: Rect, live: &Live) {
    for (index, (name, value)) in (0..area.height).zip(&live.configuration) {
        pair(buffer, row(area, index), name, value);
    }
}

/// The keys, and the one that the program has not handled yet.
pub(crate) fn draw_operator(buffer: &mut Buffer, area: Rect, view: &ViewState) {
    let mut rest = columns(row(area, 0), 1, area.width);
    let mut write = |text: &str, tone: Tone| {
        let taken = left(buffer, rest, text, tone);
        rest = columns(rest, taken, rest.width);
    };
    for (index, word) in OPERATOR.iter().enumerate() {
        if index > 0 {
            write(", ", Tone::Quiet);
        }
        for part in word.split_inclusive(']') {
            let (plain, key) = part.split_once('[').unwrap_or((part, ""));
            write(plain, Tone::Plain);
            write(key.trim_end_matches(']'), Tone::Key);
        }
    }
    write(">", Tone::Plain);
    if let Some(command) = view.asked {
        write(letter(command), Tone::Key);
    }
}

const fn letter(command: LiveCommand) -> &'static str {
    match command {
        LiveCommand::NextMode => "M",
        LiveCommand::Quit => "Q",
        LiveCommand::Restart => "R",
        LiveCommand::StartStop => "S",
        LiveCommand::NextWorkload => "T",
        LiveCommand::NextVerbosity => "V",
    }
}

/// A name at the left end, its value at the right end.
fn pair(buffer: &mut Buffer, row: Rect, name: &str, value: &str) {
    let row = columns(row, 1, row.width.saturating_sub(2));
    let name = format!("{name}:");
    let names = left(buffer, row, &name, Tone::Quiet);
    let room = columns(row, names + 1, row.width);
    let mut shown = value.to_owned();
    if value.contains('/') && width(value) > usize::from(room.width) {
        shown = end(value, usize::from(room.width));
    }
    right(buffer, room, &shown, Tone::Strong);
}

/// The mode with a capital, as on the screen of 1995.
pub(crate) const fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Normal => "Normal",
        Mode::Continuous => "Continuous",
        Mode::Reduced => "Reduced",
        Mode::Repair => "Repair",
        Mode::Rebuild => "Rebuild",
        Mode::Exchange => "Exchange",
    }
}

/// The mode, and whether the system itself reported it.
pub(crate) fn mode_words(live: &Live) -> String {
    let origin = if live.is_mode_detected {
        " (system)"
    } else {
        ""
    };
    format!("{}{origin}", mode_name(live.mode))
}

/// The current workload and its number.
pub(crate) fn workload(live: &Live) -> String {
    live.workloads
        .get(live.workload)
        .map(|workload| format!("{} {}", workload.number, workload.name))
        .unwrap_or_default()
}
