//! Random access: a table for each sweep, over spans with bars.

use results::{RandomAccess, RandomCell, RandomKind, Severity};
use stats::Estimate;
use units::{Bytes, format_count, format_counted, format_duration_ns};

use crate::figure::{INDICATIVE, indicative_legend, operations, percent, rate, time};
use crate::page::Page;
use crate::style::Tone;
use crate::table::{Align, Table};

/// Columns of the longest bar.
const BAR: usize = 10;
/// Percentiles of the tables.
const SHOWN: [(f64, &str); 3] = [(0.5, "p50"), (0.95, "p95"), (0.99, "p99")];
/// Columns before a table.
const INDENT: usize = 2;
const KINDS: [RandomKind; 2] = [RandomKind::Read, RandomKind::Write];

/// What changes from row to row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sweep {
    Spans,
    Blocks,
    Depths,
    Everything,
}

/// The cells: on one screen, or all that is known of them.
pub(crate) fn section(page: &mut Page<'_>, found: &RandomAccess) {
    settings(page, found);
    let sweeps = sweeps(found);
    if page.style.all || found.is_crossed {
        for (sweep, heading, cells) in &sweeps {
            table(page, heading, *sweep, found, cells);
        }
    } else {
        screen(page, found, &sweeps);
    }
    if found.is_crossed {
        let all: Vec<&RandomCell> = found.cells.iter().collect();
        table(page, "All combinations", Sweep::Everything, found, &all);
    }
    legend(page, found);
}

/// What is swept, with its heading, and its cells: reads before writes.
type Swept<'a> = (Sweep, String, Vec<&'a RandomCell>);

fn sweeps(found: &RandomAccess) -> Vec<Swept<'_>> {
    let (block, span) = (
        Bytes(found.block_bytes),
        whole_or_part(found, found.span_bytes),
    );
    let depth = found.depth;
    let swept = |of: fn(&RandomAccess, RandomKind) -> Vec<&RandomCell>| -> Vec<&RandomCell> {
        KINDS.iter().flat_map(|&kind| of(found, kind)).collect()
    };
    let sweeps = vec![
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
    let kept = sweeps.into_iter().enumerate();
    let kept = kept.filter(|(index, (_, _, cells))| {
        // A sweep of one cell is the cell in which the others meet.
        let is_lone = KINDS.iter().all(|kind| {
            let of_kind = cells.iter().filter(|cell| cell.kind == *kind);
            of_kind.count() < 2
        });
        !is_lone || (*index == 0 && found.cells.len() == cells.len())
    });
    kept.map(|(_, swept)| swept).collect()
}

/// One table of all sweeps, with reads and writes in the same row.
fn screen(page: &mut Page<'_>, found: &RandomAccess, sweeps: &[Swept<'_>]) {
    let mut table = Table::new(&[
        ("", Align::Left, 9),
        ("read", Align::Right, 9),
        ("95 % CI", Align::Right, 8),
        ("p99", Align::Right, 7),
        ("IOPS", Align::Right, 5),
        ("cache", Align::Right, 3),
        ("write", Align::Right, 9),
        ("95 % CI", Align::Right, 8),
        ("p99", Align::Right, 6),
        ("IOPS", Align::Right, 4),
        ("cache", Align::Right, 2),
        ("read", Align::Left, 1),
    ])
    .unbroken();
    let mut rows = Vec::new();
    // The cell in which sweeps meet stands in the first of them.
    let mut told: Vec<&RandomCell> = Vec::new();
    for (sweep, _, cells) in sweeps {
        let [reads, writes] = KINDS.map(|kind| {
            let of_kind = cells.iter().filter(move |cell| cell.kind == kind);
            of_kind.copied().collect::<Vec<_>>()
        });
        let named = if reads.is_empty() { &writes } else { &reads };
        let is_new = |cell: &&&RandomCell| !told.iter().any(|it| is_level(it, cell));
        let named: Vec<&RandomCell> = named.iter().filter(is_new).copied().collect();
        told.extend(named.iter().copied());
        for cell in &named {
            let of = |cells: &[&'_ RandomCell]| cells.iter().position(|it| is_level(it, cell));
            let (read, write) = (
                of(&reads).map(|at| reads[at]),
                of(&writes).map(|at| writes[at]),
            );
            let worst = [read, write]
                .into_iter()
                .flatten()
                .max_by_key(|it| weight(it));
            let longest = reads.iter().map(|it| it.service.mean.value);
            let longest = longest.fold(0.0, f64::max);
            let barred = read.filter(|_| *sweep == Sweep::Spans);
            let ink = barred.map(|it| bar(page, it.service.mean.value / longest));
            let cells = [
                vec![level(*sweep, found, cell)],
                side(page, read),
                side(page, write),
            ];
            let cells = cells.into_iter().flatten().chain([ink.unwrap_or_default()]);
            table.row(worst.map_or(Tone::Plain, tone), cells);
        }
        rows.push(named.len());
    }
    let mut lines = table.render(page.style.columns() - INDENT).into_iter();
    let mut print = |page: &mut Page<'_>, count: usize| {
        for (tone, line) in lines.by_ref().take(count) {
            page.line(tone, &format!("{:INDENT$}{line}", ""));
        }
    };
    print(page, 1);
    for ((_, heading, _), count) in sweeps.iter().zip(rows) {
        page.line(Tone::Strong, heading);
        print(page, count);
    }
}

/// Whether both stand in the same row.
fn is_level(one: &RandomCell, other: &RandomCell) -> bool {
    let level = |it: &RandomCell| (it.span_bytes, it.block_bytes, it.depth);
    level(one) == level(other)
}

/// Mean, interval, p99, IOPS and share of the page cache of one kind, or nothing.
fn side(page: &Page<'_>, cell: Option<&RandomCell>) -> Vec<String> {
    let Some(cell) = cell else {
        return vec![String::new(); 5];
    };
    let mean = cell.service.mean;
    if cell.is_all_failed() {
        let [interval, p99, iops, cache] = [const { String::new() }; 4];
        return vec![format!("{}none", mark(cell)), interval, p99, iops, cache];
    }
    let cached = cell.page_cache_share.filter(|share| *share > 0.0);
    vec![
        format!("{}{}", mark(cell), time(mean).0),
        relative(page, mean),
        percentile(cell, 0.99),
        format_count(cell.throughput.value),
        cached.map_or_else(String::new, percent),
    ]
}

/// The farther end of an interval, as in `± 5 %`.
fn relative(page: &Page<'_>, mean: Estimate) -> String {
    let farther = (mean.high - mean.value).max(mean.value - mean.low) / mean.value;
    if !mean.is_bounded() || !farther.is_finite() {
        return "unknown".to_owned();
    }
    let sign = if page.style.unicode { "±" } else { "+-" };
    match (farther * 100.0).ceil() {
        percent if percent < 1000.0 => format!("{sign} {percent:>2} %"),
        _ => format!("x {}", format_count(farther + 1.0)),
    }
}

/// How much is amiss with a cell.
fn weight(cell: &RandomCell) -> usize {
    let signs = ["", "*", "!", "x"];
    let sign = mark(cell);
    signs.iter().position(|it| *it == sign).unwrap_or(0)
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
        rounds_done(found),
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

/// Rounds of the cells, of which imprecise ones get more than were asked for.
fn rounds_done(found: &RandomAccess) -> String {
    let done = found.cells.iter().map(|it| it.rounds.len());
    match done.max() {
        Some(most) if most > found.rounds as usize => format!("{} to {most} rounds", found.rounds),
        _ => format_counted(found.rounds.into(), "round"),
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
            let known = cell.service.percentile(p).filter(Estimate::is_bounded);
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

/// What a sweep changes from row to row, as in `depth 4`.
fn level(sweep: Sweep, found: &RandomAccess, cell: &RandomCell) -> String {
    match sweep {
        Sweep::Spans => whole_or_part(found, cell.span_bytes),
        Sweep::Blocks => Bytes(cell.block_bytes).to_string(),
        Sweep::Depths => format!("depth {}", cell.depth),
        Sweep::Everything => String::new(),
    }
}

fn name(sweep: Sweep, found: &RandomAccess, cell: &RandomCell) -> String {
    let kind = cell.kind.name();
    let (block, depth) = (Bytes(cell.block_bytes), cell.depth);
    match sweep {
        Sweep::Spans | Sweep::Blocks => format!("{kind} {}", level(sweep, found, cell)),
        Sweep::Depths => format!("{kind}, {}", level(sweep, found, cell)),
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
    if page.style.all || found.is_crossed {
        page.blank();
    }
    let signs = [
        ("*", "rounds differ: the CI covers that"),
        ("!", "shaky: do not quote"),
        ("x", "void: do not use"),
    ];
    let is_used = |sign: &str| found.cells.iter().any(|cell| mark(cell) == sign);
    let used = signs.iter().filter(|(sign, _)| is_used(sign));
    let mut legends: Vec<String> = used.map(|(sign, text)| format!("{sign} {text}")).collect();
    let percentiles = SHOWN.iter().map(|(p, _)| *p);
    let mut shown = percentiles.flat_map(|p| found.cells.iter().map(move |it| percentile(it, p)));
    if shown.any(|text| text.ends_with(INDICATIVE)) {
        legends.push(indicative_legend());
    }
    legends.push("times are from issue to completion".to_owned());
    let has = |kind: RandomKind| found.cells.iter().any(|cell| cell.kind == kind);
    if KINDS.into_iter().all(has) {
        legends.push(
            "the storage may still be busy with earlier writes while reads are measured".to_owned(),
        );
    }
    let cached = |cell: &RandomCell| cell.page_cache_share.is_some_and(|share| share > 0.0);
    if page.style.all || found.cells.iter().any(cached) {
        legends.push("cache: share of the bytes that the page cache answered".to_owned());
    }
    page.paragraph(Tone::Quiet, &legends.join("; "));
}
