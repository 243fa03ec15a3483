//! The Verbose Window: the latest message, the current and previous number of threads, the latest
//! level.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use results::live::{Live, LiveRow, Verbosity};

use crate::number::{Precision, count, milliseconds, rate};
use crate::pen::{Tone, columns, left, right, row};

/// Columns of the names of rows.
const NAMES: u16 = 14;
/// Heads, and column widths including the space before them, for a width of 80.
const HEADS: [(&str, u16); 8] = [
    ("Cnt", 6),
    ("Thrd", 6),
    ("Nios", 9),
    ("NkB", 10),
    ("R ms", 8),
    ("Iops", 8),
    ("R[r]", 8),
    ("R[s]", 8),
];

/// The verbosity in words.
pub(crate) const fn name(verbosity: Verbosity) -> &'static str {
    match verbosity {
        Verbosity::None => "none",
        Verbosity::Summary => "summary",
        Verbosity::Detail => "detail",
    }
}

/// Draws inside the window. Without verbosity the row of messages stays empty.
pub(crate) fn draw(buffer: &mut Buffer, area: Rect, live: &Live) {
    // Extra width is distributed over the columns.
    let more = area.width.saturating_sub(78) / 8;
    let mut first = NAMES;
    let places = HEADS.map(|(head, width)| {
        let place = (head, first, width + more);
        first += width + more;
        place
    });
    for (head, first, width) in places {
        right(
            buffer,
            columns(row(area, 0), first, width),
            head,
            Tone::Strong,
        );
    }
    let message = match live.verbosity {
        Verbosity::None => LiveRow::default(),
        Verbosity::Summary | Verbosity::Detail => live.current_message,
    };
    let rows = [
        ("Curr Message", message),
        ("Curr Thread", live.current_thread),
        ("Last Thread", live.last_thread),
        ("Last Response", live.last_response),
    ];
    for (index, (name, values)) in (1..).zip(rows) {
        left(
            buffer,
            columns(row(area, index), 1, NAMES - 1),
            name,
            Tone::Quiet,
        );
        let widths = places.map(|(_, _, width)| usize::from(width) - 1);
        let shown = cells(&values, live.verbosity, widths);
        for ((_, first, width), text) in places.into_iter().zip(shown) {
            right(
                buffer,
                columns(row(area, index), first, width),
                &text,
                Tone::Plain,
            );
        }
    }
}

fn cells(values: &LiveRow, verbosity: Verbosity, widths: [usize; 8]) -> [String; 8] {
    let precision = match verbosity {
        Verbosity::None | Verbosity::Summary => Precision::Usual,
        Verbosity::Detail => Precision::Detail,
    };
    let whole = |value: Option<u64>, width| value.map(|v| count(v, width));
    let per_second = |value: Option<f64>, width| value.map(|v| rate(v, precision, width));
    let response = values
        .response_ms
        .map(|v| milliseconds(v, precision, widths[4]));
    [
        whole(values.count, widths[0]),
        whole(values.threads, widths[1]),
        whole(values.operations, widths[2]),
        whole(values.kib, widths[3]),
        response,
        per_second(values.iops, widths[5]),
        per_second(values.rabmark_r, widths[6]),
        per_second(values.rabmark_s, widths[7]),
    ]
    .map(Option::unwrap_or_default)
}
