//! Steady state of SSDs: the rounds with both verdicts, and what came out of each load.

use results::{SsdCell, SsdPattern, SsdPhase, SsdRound, SsdTests, Tracked};
use stats::{DriftVerdict, Estimate};
use units::{Bytes, format_count, format_duration_ns, format_rate};

use crate::figure::{operations, rate, time};
use crate::page::Page;
use crate::style::Tone;
use crate::table::{Align, Table};

/// Rounds that fit a screen: of a test with one load, of one with many, and of two tests.
const ROUNDS_ALONE: usize = 12;
const ROUNDS_WITH_LOADS: usize = 6;
const ROUNDS_OF_TWO: usize = 2;
/// Of more tests a screen holds what they found, and no rounds.
const TESTS_WITH_ROUNDS: usize = 2;
/// Columns of the longest bar.
const BAR: usize = 10;

/// Everything about the tests.
pub(crate) fn section(page: &mut Page<'_>, found: &SsdTests) {
    settings(page, found);
    let is_brief = found.phases.len() > TESTS_WITH_ROUNDS && !page.style.all;
    for phase in &found.phases {
        let shown = match (found.phases.len(), phase.cells.len()) {
            (1, 1) => ROUNDS_ALONE,
            (1, _) => ROUNDS_WITH_LOADS,
            _ => ROUNDS_OF_TWO,
        };
        page.blank();
        page.heading(&format!("{}: {}", phase.name, phase.title));
        if !is_brief {
            rounds(page, found, phase, shown);
        }
        if !is_brief && phase.cells.len() > 1 {
            cells(page, phase);
        }
        summary(page, phase);
    }
    if is_brief {
        page.paragraph(
            Tone::Quiet,
            "--all shows the rounds and the loads of each test.",
        );
        return;
    }
    let text = "written: in capacities, precondition included. PTS: range and line of five rounds, \
                20 % and 10 % allowed. trend: change over the last half of the rounds, 90 % CI.";
    page.paragraph(Tone::Quiet, text);
}

fn settings(page: &mut Page<'_>, found: &SsdTests) {
    let round = format_duration_ns(found.round_ns as f64);
    let time = match found.is_quick {
        true => format!("quick: each load at most {round}, not the timing of SSS PTS"),
        false => format!("each load {round}"),
    };
    let size = Bytes(found.size_bytes);
    let text = format!(
        "{size} in play; {time}; steady: a change above {:.0} % excluded",
        found.trend_limit * 100.0
    );
    page.paragraph(Tone::Plain, &text);
}

/// A tracked figure without its interval.
pub(crate) fn value(tracked: Tracked, value: f64) -> String {
    match tracked {
        Tracked::Iops => format!("{}/s", format_count(value)),
        Tracked::Latency => format_duration_ns(value),
        Tracked::Throughput => format_rate(value),
    }
}

/// A tracked figure with its interval.
fn estimated(tracked: Tracked, estimate: Estimate) -> (String, String) {
    match tracked {
        Tracked::Iops => operations(estimate),
        Tracked::Latency => time(estimate),
        Tracked::Throughput => rate(estimate),
    }
}

pub(crate) const fn word(verdict: DriftVerdict) -> &'static str {
    match verdict {
        DriftVerdict::Steady => "steady",
        DriftVerdict::Drifting => "drifting",
        DriftVerdict::Undecided => "undecided",
    }
}

fn rounds(page: &mut Page<'_>, found: &SsdTests, phase: &SsdPhase, shown: usize) {
    let mut table = Table::new(&[
        ("round", Align::Right, 9),
        ("written", Align::Right, 6),
        (phase.tracked.name(), Align::Right, 9),
        ("", Align::Left, 3),
        ("PTS range", Align::Right, 7),
        ("line", Align::Right, 7),
        ("", Align::Left, 7),
        ("trend", Align::Right, 8),
        ("", Align::Left, 8),
    ]);
    let largest = phase.rounds.iter().map(|round| round.tracked.value);
    let largest = largest.fold(0.0, f64::max);
    let all = page.style.all;
    for round in chosen(&phase.rounds, if all { usize::MAX } else { shown }) {
        let pts = round.pts.as_ref();
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let trend = round.trend.as_ref();
        let tone = match trend.map(|it| it.verdict) {
            Some(DriftVerdict::Steady) => Tone::Plain,
            _ => Tone::Doubtful,
        };
        let row = [
            round.number.to_string(),
            format!(
                "{:.2}x",
                round.written_bytes as f64 / found.size_bytes.max(1) as f64
            ),
            value(phase.tracked, round.tracked.value),
            bar(page, round.tracked.value / largest),
            pts.map_or_else(String::new, |it| percent(it.range)),
            pts.map_or_else(String::new, |it| percent(it.excursion.abs())),
            pts.map_or("", |it| if it.is_met { "met" } else { "no" })
                .to_owned(),
            trend.map_or_else(String::new, change),
            trend.map_or("", |it| word(it.verdict)).to_owned(),
        ];
        table.row(tone, row);
    }
    page.table(&table);
}

/// The change with its 90 % interval.
fn change(trend: &results::RoundTrend) -> String {
    let half = (trend.bound - trend.total.abs()) * 100.0;
    let total = trend.total * 100.0;
    match half < 10.0 {
        true => format!("{total:+.1} ± {half:.1} %"),
        false => format!("{total:+.0} ± {half:.0} %"),
    }
}

/// The first, the last, and what lies evenly between, at most so many.
fn chosen(rounds: &[SsdRound], most: usize) -> Vec<&SsdRound> {
    let count = rounds.len();
    if count <= most {
        return rounds.iter().collect();
    }
    let places = (0..most).map(|place| place * (count - 1) / (most - 1));
    places.map(|place| &rounds[place]).collect()
}

/// A bar from zero.
fn bar(page: &Page<'_>, share: f64) -> String {
    let ink = if page.style.unicode { "▇" } else { "#" };
    let len = (share * BAR as f64).round();
    match len.is_finite() {
        true => ink.repeat((len as usize).clamp(1, BAR)),
        false => String::new(),
    }
}

/// The loads: of random ones a matrix of block sizes and mixes.
fn cells(page: &mut Page<'_>, phase: &SsdPhase) {
    let is_matrix = phase
        .cells
        .iter()
        .all(|it| it.load.pattern == SsdPattern::Random);
    match is_matrix && !page.style.all {
        true => matrix(page, phase),
        false => list(page, phase),
    }
}

fn matrix(page: &mut Page<'_>, phase: &SsdPhase) {
    let mut mixes: Vec<u32> = Vec::new();
    let mut blocks: Vec<u64> = Vec::new();
    for cell in &phase.cells {
        if !mixes.contains(&cell.load.read_percent) {
            mixes.push(cell.load.read_percent);
        }
        if !blocks.contains(&cell.load.block_bytes) {
            blocks.push(cell.load.block_bytes);
        }
    }
    let headings = mixes.iter().map(|reads| format!("{reads}/{}", 100 - reads));
    let columns = headings.map(|heading| (heading.into(), Align::Right, 8));
    let first = (phase.tracked.name().into(), Align::Left, 9);
    let mut table = Table::with_headings(std::iter::once(first).chain(columns));
    for block in blocks {
        let mut row = vec![Bytes(block).to_string()];
        row.extend(mixes.iter().map(|&reads| {
            let mut cells = phase.cells.iter();
            let cell =
                cells.find(|it| (it.load.block_bytes, it.load.read_percent) == (block, reads));
            cell.map_or_else(String::new, |it| {
                value(phase.tracked, figure(phase, it).value)
            })
        }));
        table.row(Tone::Plain, row);
    }
    page.table(&table);
}

/// What a test follows, of any of its loads.
fn figure(phase: &SsdPhase, cell: &SsdCell) -> Estimate {
    match phase.tracked {
        Tracked::Iops => cell.iops,
        Tracked::Latency => cell.latency_ns,
        Tracked::Throughput => cell.iops.scale(cell.load.block_bytes as f64),
    }
}

fn list(page: &mut Page<'_>, phase: &SsdPhase) {
    let mut table = Table::new(&[
        ("", Align::Left, 9),
        (phase.tracked.name(), Align::Right, 9),
        ("95 % interval", Align::Left, 8),
        ("latency", Align::Right, 7),
        ("p99.9", Align::Right, 6),
        ("max", Align::Right, 5),
    ]);
    for cell in &phase.cells {
        let load = &cell.load;
        let (shown, interval) = estimated(phase.tracked, figure(phase, cell));
        let (reads, block) = (load.read_percent, Bytes(load.block_bytes));
        let p999 = cell.p999_ns.map(|it| format_duration_ns(it.value));
        table.row(
            Tone::Plain,
            [
                format!("{} {reads}/{} {block}", load.pattern.name(), 100 - reads),
                shown,
                interval,
                format_duration_ns(cell.latency_ns.value),
                p999.unwrap_or_default(),
                format_duration_ns(cell.max_ns as f64),
            ],
        );
    }
    page.table(&table);
}

/// Both verdicts in a line, and what a law says.
fn summary(page: &mut Page<'_>, phase: &SsdPhase) {
    let mut parts = Vec::new();
    if let Some(trend) = phase.trend() {
        let (shown, interval) = estimated(phase.tracked, trend.mean);
        let since = phase
            .steady_round
            .map(|round| format!(" from round {round} on"));
        let since = since.unwrap_or_default();
        parts.push(format!(
            "{}{since}: {shown} ({interval})",
            word(phase.verdict())
        ));
    }
    if let Some(window) = phase.pts_window() {
        let shown = value(phase.tracked, window.mean);
        parts.push(match phase.pts_round {
            Some(round) => format!("SSS PTS to the letter: met at round {round}, {shown}"),
            None => "SSS PTS to the letter: not met".to_owned(),
        });
    }
    if let Some(law) = &phase.law {
        parts.push(format!(
            "{}: {}/s",
            law.name,
            format_count(law.steady_per_second)
        ));
    }
    let tone = match phase.verdict() {
        DriftVerdict::Steady => Tone::Strong,
        _ => Tone::Doubtful,
    };
    page.paragraph(tone, &parts.join("; "));
    if let Some(cell) = phase.tracked_cell() {
        let p99 = cell.p99_ns.map(|it| format!(", p99 {}", time(it).0));
        let p999 = cell.p999_ns.map(|it| format!(", p99.9 {}", time(it).0));
        let text = format!(
            "latency of {}: mean {}{}{}, longest {}",
            match phase.tracked {
                Tracked::Throughput => "writes",
                _ => "4 KiB writes",
            },
            time(cell.latency_ns).0,
            p99.unwrap_or_default(),
            p999.unwrap_or_default(),
            format_duration_ns(cell.max_ns as f64)
        );
        page.paragraph(Tone::Plain, &text);
    }
    if let Some(purge) = &phase.purge {
        let text = format!(
            "purge: {} in {}; {} of {} blocks read back as zeroes",
            purge.method,
            format_duration_ns(purge.took_ns as f64),
            purge.zero,
            purge.sampled
        );
        page.paragraph(Tone::Plain, &text);
    }
}

/// What stands for the run in lists.
pub(crate) fn headline(found: &SsdTests) -> impl Iterator<Item = String> {
    found.phases.iter().filter_map(|phase| {
        let mean = phase
            .trend()
            .map_or(phase.rounds.last()?.tracked, |it| it.mean);
        let (shown, verdict) = (value(phase.tracked, mean.value), word(phase.verdict()));
        Some(format!("{} {shown} ({verdict})", phase.name))
    })
}
