//! The display on a small terminal: the most important lines first, as many as fit.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use results::live::{Live, LiveRow, LiveWorkload};

use crate::draw::{state, warning_count, whole_percent};
use crate::number::{Precision, clock, count, milliseconds, rate, width};
use crate::pen::{Tone, bar, columns, left, right, row};
use crate::status::{mode_words, workload};
use crate::view::ViewState;
use crate::{curve, precision};

/// Width of a number.
const NUMBER: usize = 9;
/// Width of a line's name, and of a terminal below which the most important line has none.
const NAME: usize = 6;
const NAMED_COLUMNS: usize = 32;
/// Minimum rows for the curve below the first ones.
const CURVE_ROWS: u16 = 8;
/// The keys, in one row.
const KEYS: &str = "M Q R S T V X C W ?";
/// Levels from the highest down, as on the large display.
const LEVELS: [(&str, usize); 4] = [("Max", 3), ("2/3", 2), ("1/3", 1), ("N/L", 0)];

/// Draws as much as fits.
pub(crate) fn draw(buffer: &mut Buffer, area: Rect, live: &Live, view: &ViewState) {
    let keys = u16::from(area.height >= 4);
    let body = Rect {
        height: area.height - keys,
        ..area
    };
    let lines = lines(live, usize::from(area.width));
    head(buffer, row(body, 0), live);
    if view.shows_curve && body.height > CURVE_ROWS + 2 {
        text(buffer, row(body, 1), &lines[0]);
        let below = Rect {
            y: body.y + 2,
            height: body.height - 2,
            ..body
        };
        curve::draw(buffer, below, live, view);
    } else {
        let places = (1..body.height).map(|index| row(body, index));
        for (place, line) in places.zip(&lines) {
            text(buffer, place, line);
        }
    }
    if keys > 0 {
        foot(buffer, row(area, area.height - 1), live);
    }
}

/// State, workload and time.
fn head(buffer: &mut Buffer, place: Rect, live: &Live) {
    let (word, tone) = state(live.state);
    let taken = left(buffer, place, word, tone);
    let rest = columns(place, taken + 1, place.width);
    let time = clock(live.elapsed_ns);
    let needed = time.len() as u16;
    if rest.width < needed {
        return;
    }
    right(buffer, rest, &time, Tone::Plain);
    let place = columns(rest, 0, rest.width.saturating_sub(needed + 1));
    let numbered = workload(live);
    let name = live
        .workloads
        .get(live.workload)
        .map_or("", |workload| workload.name.as_str());
    let fits = width(&numbered) <= usize::from(place.width);
    left(
        buffer,
        place,
        if fits { &numbered } else { name },
        Tone::Strong,
    );
}

/// Keys and progress.
fn foot(buffer: &mut Buffer, place: Rect, live: &Live) {
    let taken = left(buffer, place, KEYS, Tone::Key);
    let Some(share) = live.progress else { return };
    let rest = columns(place, taken + 1, place.width);
    if rest.width < 5 {
        return;
    }
    right(buffer, rest, &whole_percent(share), Tone::Strong);
    if rest.width > 12 {
        bar(buffer, columns(rest, 1, rest.width - 7), share, Tone::Plain);
    }
}

/// A name and its text.
type Line = (String, String, Tone);

fn text(buffer: &mut Buffer, place: Rect, (name, value, tone): &Line) {
    let taken = if name.is_empty() {
        0
    } else {
        left(buffer, place, &format!("{name:<NAME$}"), Tone::Quiet) + 1
    };
    left(buffer, columns(place, taken, place.width), value, *tone);
}

/// The most important line first.
fn lines(live: &Live, columns: usize) -> Vec<Line> {
    let mut lines = vec![
        figures(&live.current_thread, live.threads, columns),
        (String::new(), live.activity.clone(), Tone::Plain),
    ];
    lines.retain(|line| !line.1.is_empty());
    if lines.is_empty() {
        lines.push((String::new(), String::new(), Tone::Plain));
    }
    let precision = precision::title(live);
    if !precision.is_empty() {
        lines.push(named("", format!("precision {precision}")));
    }
    if let Some(workload) = live.workloads.get(live.workload) {
        lines.extend(results_of(workload));
    }
    lines.extend(live.warnings.last().map(|last| {
        let text = format!("{}: {last}", warning_count(live));
        (String::new(), text, Tone::Doubtful)
    }));
    lines.push(named(
        "mode",
        format!("{}, run {}", mode_words(live), live.run),
    ));
    let others = live.workloads.iter().enumerate();
    let others = others.filter(|(place, _)| *place != live.workload);
    lines.extend(others.filter_map(|(_, workload)| merits(workload)));
    for (name, value) in &live.configuration {
        lines.push((String::new(), format!("{name}: {value}"), Tone::Quiet));
    }
    lines
}

/// Figures of another workload, if known.
fn merits(workload: &LiveWorkload) -> Option<Line> {
    let shown = |merit: f64| rate(merit, Precision::Usual, NUMBER);
    let response = workload
        .rabmark_r
        .map(|merit| format!("[r] {:>NUMBER$}", shown(merit)));
    let throughput = workload
        .rabmark_s
        .map(|merit| format!("[s] {:>NUMBER$}", shown(merit)));
    let parts: Vec<String> = response.into_iter().chain(throughput).collect();
    let text = format!("{}  {}", parts.join("  "), workload.name);
    (!parts.is_empty()).then(|| named(&format!("WL{}", workload.number), text))
}

fn named(name: &str, value: String) -> Line {
    (name.to_owned(), value, Tone::Plain)
}

/// Response time, load and threads, as far as they fit.
fn figures(values: &LiveRow, threads: u64, columns: usize) -> Line {
    let response = values
        .response_ms
        .map(|ms| format!("{} ms", milliseconds(ms, Precision::Usual, NUMBER)));
    let iops = values
        .iops
        .map(|iops| format!("{} IOPS", rate(iops, Precision::Usual, NUMBER)));
    let threads = format!("{} thr", count(threads, NUMBER));
    let name = if columns < NAMED_COLUMNS { "" } else { "now" };
    let room = columns.saturating_sub(if name.is_empty() { 0 } else { NAME + 1 });
    let mut shown = String::new();
    for part in response.into_iter().chain(iops).chain([threads]) {
        let gap = usize::from(!shown.is_empty());
        if shown.len() + gap + part.len() > room {
            break;
        }
        shown.push_str(&" ".repeat(gap));
        shown.push_str(&part);
    }
    named(name, shown)
}

/// Known levels of a workload, and its throughput.
fn results_of(workload: &LiveWorkload) -> Vec<Line> {
    let mut lines = Vec::new();
    for (name, level) in LEVELS {
        let level = &workload.levels[level];
        if let (Some(response), Some(iops)) = (level.response_ms, level.iops) {
            let response = milliseconds(response, Precision::Usual, NUMBER);
            let iops = rate(iops, Precision::Usual, NUMBER);
            lines.push(named(
                name,
                format!("{response:>NUMBER$} ms {iops:>NUMBER$} IOPS"),
            ));
        }
    }
    let merits = [
        ("[r]", workload.rabmark_r, ""),
        ("[s]", workload.rabmark_s, " MiB/s"),
    ];
    for (name, merit, unit) in merits {
        if let Some(merit) = merit {
            let merit = rate(merit, Precision::Usual, NUMBER);
            lines.push(named(name, format!("{merit:>NUMBER$}{unit}")));
        }
    }
    lines
}
