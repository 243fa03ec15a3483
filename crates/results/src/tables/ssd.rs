//! Steady state of SSDs: what came out of each test, its loads, and its rounds.

use stats::{DriftVerdict, Estimate};
use units::Bytes;

use crate::reading::{Better, Unit};
use crate::ssd::{SsdCell, SsdPhase, SsdRound, SsdTests, Tracked};
use crate::table::{Figure, Replicate, Row, Table, Trust};

/// The rounds, which the other tables sum up.
pub(crate) const ROUNDS: &str = "ssd-rounds";

/// The tests, the loads of all, and the rounds.
pub(super) fn tables(found: &SsdTests) -> Vec<Table> {
    let tests = found.phases.iter().filter_map(of_test).collect();
    let loads = ["test", "pattern", "block", "read", "depth"];
    let cells = found.phases.iter();
    let cells = cells.flat_map(|phase| phase.cells.iter().map(|cell| of_cell(phase, cell)));
    let rounds = found.phases.iter();
    let size = found.size_bytes;
    let rounds =
        rounds.flat_map(|phase| phase.rounds.iter().map(move |it| of_round(phase, it, size)));
    vec![
        Table::new("ssd", &["test"], tests),
        Table::new("ssd-loads", &loads, cells.collect()),
        Table::new(ROUNDS, &["test", "round"], rounds.collect()),
    ]
}

/// Only what is steady can be quoted.
fn trust(phase: &SsdPhase) -> Trust {
    let settled = match phase.verdict() {
        DriftVerdict::Steady => Trust::Sound,
        DriftVerdict::Drifting | DriftVerdict::Undecided => Trust::Shaky,
    };
    settled.max(Trust::unless_void(&phase.warnings))
}

/// The tracked figure in the units of tables.
fn tracked(tracked: Tracked, name: &str, value: Estimate) -> Figure {
    match tracked {
        Tracked::Iops => Figure::new(name, Unit::PerSecond, Better::Higher, value),
        Tracked::Latency => Figure::time_ns(name, value),
        Tracked::Throughput => Figure::new(name, Unit::BytesPerSecond, Better::Higher, value),
    }
}

const fn metric(tracked: Tracked) -> &'static str {
    match tracked {
        Tracked::Iops => "iops",
        Tracked::Latency => "latency",
        Tracked::Throughput => "throughput",
    }
}

fn bare(name: &str, unit: Unit, value: f64) -> Figure {
    Figure::bare(name, unit, Better::Neither, value)
}

fn of_test(phase: &SsdPhase) -> Option<Row> {
    let trend = phase.trend();
    let last = phase.rounds.last()?;
    let name = metric(phase.tracked);
    let mean = trend.map_or(last.tracked, |it| it.mean);
    let mut figures = vec![tracked(phase.tracked, name, mean)];
    if let Some(window) = phase.pts_window() {
        let value = Estimate::exact(window.mean, 5.0).without_interval();
        figures.push(tracked(phase.tracked, &format!("pts-{name}"), value));
        figures.push(bare("pts-range", Unit::Share, window.range));
        figures.push(bare("pts-excursion", Unit::Share, window.excursion));
    }
    figures
        .extend(trend.map(|it| Figure::new("trend", Unit::Share, Better::Neither, interval(it))));
    let steady = phase.law.iter().map(|law| law.steady_per_second);
    figures.extend(steady.map(|it| bare("iops-by-law", Unit::PerSecond, it)));
    let rounds = [
        ("rounds", Some(last.number)),
        ("steady-round", phase.steady_round),
        ("pts-round", phase.pts_round),
    ];
    let known = rounds
        .into_iter()
        .filter_map(|(name, it)| Some((name, it?)));
    figures.extend(known.map(|(name, it)| Figure::exact(name, Unit::Count, f64::from(it))));
    let written = last.written_bytes as f64;
    figures.push(Figure::exact("written", Unit::Bytes, written));
    let levels = vec![phase.name.clone()];
    let row = Row::new(levels, figures, name, trust(phase), &phase.warnings);
    Some(row)
}

/// The change over the window with its two-sided interval, from the one-sided bound's error.
fn interval(trend: &crate::ssd::RoundTrend) -> Estimate {
    let half = trend.bound - trend.total.abs();
    Estimate {
        low: trend.total - half,
        high: trend.total + half,
        confidence: 0.9,
        ..Estimate::exact(trend.total, trend.mean.samples)
    }
}

fn of_cell(phase: &SsdPhase, cell: &SsdCell) -> Row {
    let load = &cell.load;
    let levels = vec![
        phase.name.clone(),
        load.pattern.name().to_owned(),
        Bytes(load.block_bytes).to_string(),
        format!("{} %", load.read_percent),
        load.depth.to_string(),
    ];
    let mut figures = vec![
        Figure::iops(cell.iops),
        Figure::throughput(cell.iops.scale(load.block_bytes as f64)),
        Figure::time_ns("latency", cell.latency_ns),
    ];
    figures.extend(cell.p99_ns.map(|it| Figure::time_ns("latency-p99", it)));
    figures.extend(cell.p999_ns.map(|it| Figure::time_ns("latency-p99.9", it)));
    let longest = cell.max_ns as f64 / 1e9;
    figures.push(Figure::bare(
        "latency-max",
        Unit::Seconds,
        Better::Lower,
        longest,
    ));
    figures.push(Figure::exact("errors", Unit::Count, cell.errors as f64));
    let rounds = cell.rounds.iter().map(|round| Replicate {
        number: round.number,
        counts: true,
        readings: vec![
            ("iops".to_owned(), Unit::PerSecond, round.iops.value),
            (
                "latency".to_owned(),
                Unit::Seconds,
                round.latency_ns.value / 1e9,
            ),
        ],
    });
    Row::new(levels, figures, metric(phase.tracked), trust(phase), &[])
        .with_replicates(rounds.collect())
}

fn of_round(phase: &SsdPhase, round: &SsdRound, size: u64) -> Row {
    let name = metric(phase.tracked);
    let mut figures = vec![tracked(phase.tracked, name, round.tracked)];
    let written = round.written_bytes as f64;
    figures.push(Figure::exact("written", Unit::Bytes, written));
    figures.push(Figure::exact(
        "capacities",
        Unit::Ratio,
        written / size.max(1) as f64,
    ));
    figures.push(Figure::exact(
        "end",
        Unit::Seconds,
        round.end_ns as f64 / 1e9,
    ));
    if let Some(window) = &round.pts {
        figures.push(bare("pts-range", Unit::Share, window.range));
        figures.push(bare("pts-excursion", Unit::Share, window.excursion));
    }
    let trend = round.trend.as_ref();
    figures
        .extend(trend.map(|it| Figure::new("trend", Unit::Share, Better::Neither, interval(it))));
    let levels = vec![phase.name.clone(), round.number.to_string()];
    let settled = match round.trend.map(|it| it.verdict) {
        Some(DriftVerdict::Steady) => Trust::Sound,
        _ => Trust::Shaky,
    };
    Row::new(levels, figures, name, settled, &[])
}
