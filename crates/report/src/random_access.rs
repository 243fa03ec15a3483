//! Random access: a table for each sweep, over spans with bars.

use results::{RandomAccess, RandomCell, RandomKind, Severity};
use units::{Bytes, format_count, format_counted, format_duration_ns};

use crate::figure::{INDICATIVE, indicative_legend, operations, percent, rate, time};
use crate::page::Page;
use crate::style::Tone;
use crate::table::{Align, Table};

/// Columns of the longest bar.
const BAR: usize = 10;
/// Percentiles of the tables.
const SHOWN: [(f64, &str); 3] = [(0.5, "p50"), (0.95, "p95"), (0.99, "p99")];
const KINDS: [RandomKind; 2] = [RandomKind::Read, RandomKind::Write];

/// What changes from row to row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sweep {
    Spans,
    Blocks,
    Depths,
    Everything,
}

/// Everything about the cells.
pub(crate) fn section(page: &mut Page<'_>, found: &RandomAccess) {
    settings(page, found);
    let (block, span) = (
        Bytes(found.block_bytes),
        whole_or_part(found, found.span_bytes),
    );
    let depth = found.depth;
    let swept = |of: fn(&RandomAccess, RandomKind) -> Vec<&RandomCell>| -> Vec<&RandomCell> {
        KINDS.iter().flat_map(|&kind| of(found, kind)).collect()
    };
    let sweeps = [
        (
            Sweep::Spans,
            format!("Against file size ({block}, depth {depth})"),
            swept(RandomAccess::over_spans),
        ),
        (
            Sweep::Blocks,
            format!("Against block size (within {span}, depth {depth})"),
            swept(RandomAccess::over_blocks),
        ),
        (
            Sweep::Depths,
            format!("Against depth ({block} within {span})"),
            swept(RandomAccess::over_depths),
        ),
    ];
    for (index, (sweep, heading, cells)) in sweeps.iter().enumerate() {
        // A sweep of one cell is the cell in which the others meet.
        let is_lone = KINDS.iter().all(|kind| {
            let of_kind = cells.iter().filter(|cell| cell.kind == *kind);
            of_kind.count() < 2
        });
        if !is_lone || (index == 0 && found.cells.len() == cells.len()) {
            table(page, heading, *sweep, found, cells);
        }
    }
    if found.is_crossed {
        let all: Vec<&RandomCell> = found.cells.iter().collect();
        table(page, "All combinations", Sweep::Everything, found, &all);
    }
    legend(page, found);
}

fn settings(page: &mut Page<'_>, found: &RandomAccess) {
    let durable = if found.durable {
        "; each write with its fsync"
    } else {
        ""
    };
    let check = match found.check.as_str() {
        "record" => "number and text of each record are checked",
        _ => "data are not checked",
    };
    let text = format!(
        "{}, each cell until {:.1} % precise{durable}; {check}",
        format_counted(found.rounds.into(), "round"),
        found.precision * 100.0
    );
    page.paragraph(Tone::Plain, &text);
    if let Some(filling) = found.fill_rate {
        let (value, interval) = rate(filling);
        let interval = if filling.is_bounded() {
            interval
        } else {
            "too short for an interval".into()
        };
        let text = format!("file written from its first byte to its last at {value} ({interval})");
        page.paragraph(Tone::Plain, &text);
    }
}

fn table(
    page: &mut Page<'_>,
    heading: &str,
    sweep: Sweep,
    found: &RandomAccess,
    cells: &[&RandomCell],
) {
    // Over spans the bars say more than the rate, which is there the time upside down.
    let rate_weight = if sweep == Sweep::Spans { 3 } else { 7 };
    let mut table = Table::new(&[
        ("", Align::Left, 9),
        ("mean", Align::Right, 9),
        ("95 % interval", Align::Left, 8),
        ("p50", Align::Right, 4),
        ("p95", Align::Right, 5),
        ("p99", Align::Right, 6),
        ("I/Os", Align::Right, rate_weight),
        ("CPU/op", Align::Right, 2),
        ("cache", Align::Right, 7),
        ("", Align::Left, 6),
    ]);
    let longest = cells.iter().map(|cell| cell.service.mean.value);
    let longest = longest.fold(0.0, f64::max);
    for cell in cells {
        let (value, interval) = match cell.is_all_failed() {
            true => ("none".into(), "all failed".into()),
            false => time(cell.service.mean),
        };
        let [mut p50, mut p95, p99] = SHOWN.map(|(p, _)| percentile(cell, p));
        if sweep == Sweep::Everything {
            // The names take their place.
            p50.clear();
            p95.clear();
        }
        let bar = match sweep {
            Sweep::Spans => bar(page, cell.service.mean.value / longest),
            _ => String::new(),
        };
        table.row(
            tone(cell),
            [
                name(sweep, found, cell),
                format!("{}{value}", mark(cell)),
                interval,
                p50,
                p95,
                p99,
                format!("{}/s", format_count(cell.throughput.value)),
                cell.cpu_per_operation_ns
                    .map_or_else(String::new, format_duration_ns),
                cell.page_cache_share.map_or_else(String::new, percent),
                bar,
            ],
        );
    }
    page.blank();
    page.heading(heading);
    page.table(&table);
    if page.style.all {
        intervals(page, sweep, found, cells);
        rounds(page, sweep, found, cells);
    }
}

/// Intervals of what the first table states without.
fn intervals(page: &mut Page<'_>, sweep: Sweep, found: &RandomAccess, cells: &[&RandomCell]) {
    let mut table = Table::new(&[
        ("95 % intervals", Align::Left, 9),
        ("p50", Align::Left, 8),
        ("p95", Align::Left, 7),
        ("p99", Align::Left, 6),
        ("I/Os", Align::Left, 8),
    ]);
    for cell in cells {
        let [p50, p95, p99] = SHOWN.map(|(p, _)| {
            let known = cell
                .service
                .percentile(p)
                .filter(stats::Estimate::is_bounded);
            let known = known.map(time);
            known.map_or_else(String::new, |(value, interval)| {
                let unit = value.split(' ').nth(1).unwrap_or_default();
                format!("{interval} {unit}")
            })
        });
        table.row(
            Tone::Quiet,
            [
                name(sweep, found, cell),
                p50,
                p95,
                p99,
                format!("{} /s", operations(cell.throughput).1),
            ],
        );
    }
    page.blank();
    page.table(&table);
}

/// What the rounds were like.
fn rounds(page: &mut Page<'_>, sweep: Sweep, found: &RandomAccess, cells: &[&RandomCell]) {
    let mut table = Table::new(&[
        ("rounds", Align::Left, 9),
        ("number", Align::Right, 5),
        ("fastest", Align::Right, 8),
        ("slowest", Align::Right, 8),
        ("operations", Align::Right, 6),
        ("errors", Align::Right, 7),
    ]);
    for cell in cells.iter().filter(|cell| !cell.rounds.is_empty()) {
        let means = || cell.rounds.iter().map(|round| round.value);
        let fastest = means().fold(f64::INFINITY, f64::min);
        let slowest = means().fold(0.0, f64::max);
        table.row(
            Tone::Quiet,
            [
                name(sweep, found, cell),
                cell.rounds.len().to_string(),
                format_duration_ns(fastest),
                format_duration_ns(slowest),
                format_count(cell.operations as f64),
                format_count(cell.errors as f64),
            ],
        );
    }
    page.blank();
    page.table(&table);
}

fn name(sweep: Sweep, found: &RandomAccess, cell: &RandomCell) -> String {
    let kind = cell.kind.name();
    let (block, depth) = (Bytes(cell.block_bytes), cell.depth);
    match sweep {
        Sweep::Spans => format!("{kind} {}", whole_or_part(found, cell.span_bytes)),
        Sweep::Blocks => format!("{kind} {block}"),
        Sweep::Depths => format!("{kind}, depth {depth}"),
        Sweep::Everything => {
            let span = whole_or_part(found, cell.span_bytes);
            format!("{kind} {block} in {span}, depth {depth}")
        }
    }
}

fn whole_or_part(found: &RandomAccess, span: u64) -> String {
    if span == found.size_bytes {
        format!("all {}", Bytes(span))
    } else {
        Bytes(span).to_string()
    }
}

fn percentile(cell: &RandomCell, p: f64) -> String {
    let all = cell.service.percentiles.iter();
    let known = all.filter(|it| (it.p - p).abs() < 1e-9);
    let known = known.filter_map(|it| Some((it.is_indicative, it.estimate?)));
    known
        .map(|(is_indicative, estimate)| {
            let mark = if is_indicative { INDICATIVE } else { "" };
            format!("{}{mark}", format_duration_ns(estimate.value))
        })
        .collect()
}

/// A bar from zero.
fn bar(page: &Page<'_>, share: f64) -> String {
    let ink = if page.style.unicode { "▇" } else { "#" };
    let len = (share * BAR as f64).round();
    if len.is_finite() {
        ink.repeat((len as usize).clamp(1, BAR))
    } else {
        String::new()
    }
}

/// The sign before a number.
fn mark(cell: &RandomCell) -> &'static str {
    if is_void(cell) {
        "x"
    } else if !cell.is_citable {
        "!"
    } else if !cell.rounds_agree {
        "*"
    } else {
        ""
    }
}

fn is_void(cell: &RandomCell) -> bool {
    let mut warnings = cell.warnings.iter();
    cell.errors > 0 || warnings.any(|warning| warning.severity == Severity::Void)
}

fn tone(cell: &RandomCell) -> Tone {
    match mark(cell) {
        "" => Tone::Plain,
        "x" => Tone::Bad,
        _ => Tone::Doubtful,
    }
}

fn legend(page: &mut Page<'_>, found: &RandomAccess) {
    page.blank();
    for (sign, meaning) in [
        (
            "*",
            "the rounds differ by more than their own intervals; the interval holds that",
        ),
        ("!", "not settled: do not quote, see the warnings"),
        ("x", "void: do not use, see the warnings"),
    ] {
        if found.cells.iter().any(|cell| mark(cell) == sign) {
            page.paragraph(Tone::Quiet, &format!("{sign} {meaning}"));
        }
    }
    let percentiles = SHOWN.iter().map(|(p, _)| *p);
    let mut shown = percentiles.flat_map(|p| found.cells.iter().map(move |it| percentile(it, p)));
    if shown.any(|text| text.ends_with(INDICATIVE)) {
        page.paragraph(Tone::Quiet, &indicative_legend());
    }
    let text = "Times are from issue to completion. Intervals hold what the rounds differ \
                by. Cache: share of the bytes that the page cache answered.";
    page.paragraph(Tone::Quiet, text);
}
