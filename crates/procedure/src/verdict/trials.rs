//! Statements about trials, load curves and check-ups.

use results::{
    Access, Arrivals, Curve, LevelOutcome, Measurement, Row, Run, Table, Unit, WarningCode, known,
    percentile_name, with_unit,
};
use stats::{Estimate, RESOLVABLE};
use units::{format_count, format_counted, format_duration_ns};

use super::{Brief, Candidates, Statement, rows_of};
use crate::checkup::{carried_at, load_carried};

/// From this operation size on, throughput is given in bytes per second.
const STREAMING_BYTES: f64 = 262_144.0;
const AT_EACH_LOAD: &str = " at each load";
/// Maximum number of rows in a sentence.
const FEW: usize = 3;
/// The main rows of a check-up.
const MAIN_ROWS: [&str; 4] = [
    "random-read",
    "durable-write",
    "sequential-read",
    "sequential-write",
];

/// Statements for runs with trials and curves.
pub(super) fn answer<'a>(run: &Run, tables: &'a [Table]) -> Candidates<'a> {
    let trials = run.measurements.iter().zip(rows_of(tables, "measurements"));
    let trials = trials.filter(|(it, _)| !it.is_for_goal);
    let trials: Vec<(&Measurement, &Row)> = trials.collect();
    let brief = |it: &Measurement, of| Brief::of(run, it.duration_ns, of);
    match run.curve() {
        _ if run.settings.command == "run" => {
            let carried = run.curve().and_then(|curve| carried(run, curve, tables));
            let count = if carried.is_some() { 1 } else { 2 };
            let rows = check_up_rows(run, &trials);
            Candidates::of(carried.into_iter().chain(rows), count)
        }
        Some(curve) => Candidates::of(of_curve(run, curve, tables), 2),
        None if trials.len() == 1 => {
            let texts = trials.iter();
            let texts = texts.map(|(it, row)| trial(it, row).over(brief(it, "")));
            Candidates::of(texts, 1)
        }
        None => {
            let texts = trials.iter();
            let texts = texts.map(|(it, row)| one_of_many(it, row).over(brief(it, " each")));
            Candidates::of(texts, FEW).beginning_with_name()
        }
    }
}

/// Operations per second with their interval.
fn iops(it: Estimate) -> String {
    with_unit(Unit::PerSecond, it, "IOPS")
}

/// Throughput of a row: bytes if its operations are large, else operations.
fn rate(row: &Measurement) -> String {
    match row.bandwidth.filter(|it| is_large(row, it)) {
        Some(it) => known(Unit::BytesPerSecond, it),
        None => iops(row.throughput),
    }
}

fn is_large(row: &Measurement, bandwidth: &Estimate) -> bool {
    bandwidth.is_bounded() && bandwidth.value / row.throughput.value >= STREAMING_BYTES
}

/// Mean latency and, with enough samples, the 99th percentile.
fn latency(row: &Measurement) -> String {
    let mean = known(Unit::Seconds, row.response.mean.scale(1e-9));
    let mut percentiles = row.response.percentiles.iter();
    let firm = percentiles.find(|it| it.p == 0.99 && !it.is_indicative);
    match firm.and_then(|it| it.estimate) {
        Some(p99) => format!("mean latency {mean}, p99 {}", format_duration_ns(p99.value)),
        None => format!("mean latency {mean}"),
    }
}

/// How much of it the page cache did, where it took part: such a rate is no device's.
fn page_cache(row: &Measurement) -> String {
    match (row.access, row.page_cache_share) {
        (Access::Buffered, Some(share)) => format!(" ({:.0} % page cache)", share * 100.0),
        (Access::Buffered, None) => " (through the page cache)".to_owned(),
        (Access::Direct | Access::Simulated | Access::Null, _) => String::new(),
    }
}

fn is_bounded(row: &Measurement) -> bool {
    row.response.mean.is_bounded() && row.throughput.is_bounded()
}

fn trial<'a>(row: &Measurement, marks: &'a Row) -> Statement<'a> {
    if let Some(overload) = overload(row, marks, "") {
        return overload;
    }
    let clients = format_counted(row.clients.into(), "client");
    let delivered = match row.offered {
        Some(offered) => format!("sustains the offered {} IOPS", format_count(offered)),
        None => format!("delivers {} with {clients}", rate(row)),
    };
    let text = format!("{delivered}{}, {}", page_cache(row), latency(row));
    Statement::quoting(vec![marks], is_bounded(row).then_some(text))
}

/// The same for one of several rows, with its title.
fn one_of_many<'a>(row: &Measurement, marks: &'a Row) -> Statement<'a> {
    if let Some(overload) = overload(row, marks, &format!("{} ", row.title)) {
        return overload;
    }
    let (rate, cache) = (rate(row), page_cache(row));
    let text = format!("{}: {rate}{cache}, {}", row.title, latency(row));
    Statement::quoting(vec![marks], is_bounded(row).then_some(text))
}

/// States that the offered load was not sustained.
fn overload<'a>(row: &Measurement, marks: &'a Row, subject: &str) -> Option<Statement<'a>> {
    let offered = row.offered.filter(|_| row.is_overloaded())?;
    let done = match marks.trust.is_usable() {
        true => format!(", only {}", iops(row.throughput)),
        false => String::new(),
    };
    let text = format!(
        "{subject}cannot sustain {} IOPS{done}",
        format_count(offered)
    );
    Some(Statement::without_figures(vec![marks], Some(text)))
}

/// The load that a check-up found at a level.
fn carried<'a>(run: &Run, curve: &Curve, tables: &'a [Table]) -> Option<Statement<'a>> {
    let (level, _) = carried_at(curve)?;
    let text = load_carried(curve, "random 4 KiB reads/s");
    let row = level_row(curve, level.level_ns, tables);
    Some(Statement::quoting(row, text).over(brief_point(run, curve)))
}

/// The shortest quoted point of a curve.
fn brief_point(run: &Run, curve: &Curve) -> Option<Brief> {
    let shortest_ns = curve.resolution?.slowest_change_ns * RESOLVABLE;
    let has_stall = curve
        .warnings
        .iter()
        .any(|it| it.code == WarningCode::Stall);
    match has_stall {
        true => Brief::short(shortest_ns, AT_EACH_LOAD),
        false => Brief::of(run, shortest_ns, AT_EACH_LOAD),
    }
}

/// The rows of a check-up by their purpose.
fn check_up_rows<'a>(
    run: &Run,
    trials: &[(&Measurement, &'a Row)],
) -> impl Iterator<Item = Statement<'a>> + use<'a> {
    let place = |it: &Measurement| MAIN_ROWS.iter().position(|name| *name == it.name);
    let mut trials = trials.to_vec();
    trials.sort_by_key(|(it, _)| place(it).unwrap_or(MAIN_ROWS.len()));
    let texts = trials.into_iter().map(|(it, row)| {
        let is_streaming = it.bandwidth.is_some_and(|bytes| is_large(it, &bytes));
        let figure = if is_streaming { rate(it) } else { latency(it) };
        let text = is_bounded(it).then(|| format!("{}: {figure}", it.title));
        Statement::quoting(vec![row], text).over(Brief::of(run, it.duration_ns, " each"))
    });
    texts.collect::<Vec<_>>().into_iter()
}

fn level_row<'a>(curve: &Curve, level_ns: u64, tables: &'a [Table]) -> Vec<&'a Row> {
    let name = curve.level_name(level_ns);
    let mut rows = rows_of(tables, "levels").iter();
    let row = rows.find(|row| row.levels.first() == Some(&name));
    row.into_iter().collect()
}

/// Which of several targets saturates first; the load at a level, or its range; the highest load.
fn of_curve<'a>(run: &Run, curve: &Curve, tables: &'a [Table]) -> Vec<Statement<'a>> {
    let saturation: Vec<&Row> = rows_of(tables, "saturation").iter().collect();
    let of_targets = run
        .findings
        .first()
        .filter(|_| !run.measurements.is_empty());
    let of_targets = of_targets.map(|it| {
        let text = it.trim_end_matches('.').to_owned();
        Statement::quoting(saturation.clone(), Some(text))
    });
    let carried = carried_at(curve).map(|(level, _)| {
        let text = load_carried(curve, "IOPS");
        (level.level_ns, text.unwrap_or_default())
    });
    let of_level = carried
        .or_else(|| no_load_keeps(curve))
        .or_else(|| between(curve));
    let of_level = of_level
        .map(|(level, text)| Statement::quoting(level_row(curve, level, tables), Some(text)));
    let highest = curve
        .saturation
        .filter(|it| it.load.is_bounded())
        .map(|it| {
            let clients = format_counted(it.clients.into(), "client");
            let verb = match it.is_saturated {
                true => "saturates at",
                false => "not yet saturated at",
            };
            format!("{verb} {} with {clients}", iops(it.load))
        });
    let highest = Statement::quoting(saturation, highest);
    of_targets
        .into_iter()
        .chain(of_level)
        .chain([highest])
        .map(|it| it.over(brief_point(run, curve)))
        .collect()
}

fn time_of_level(curve: &Curve, level_ns: u64) -> String {
    let time = format_duration_ns(level_ns as f64);
    match curve.percentile {
        None => format!("mean latency of {time}"),
        Some(share) => format!("{} latency of {time}", percentile_name(share)),
    }
}

/// The highest level, if even the smallest load exceeds it.
fn no_load_keeps(curve: &Curve) -> Option<(u64, String)> {
    let level = curve.levels.last()?;
    let LevelOutcome::Exceeded { response } = level.outcome else {
        return None;
    };
    let text = format!(
        "no load meets a {}, since the lowest takes {}",
        time_of_level(curve, level.level_ns),
        format_duration_ns(response.value)
    );
    Some((level.level_ns, text))
}

/// The load range of the level that is known best.
fn between(curve: &Curve) -> Option<(u64, String)> {
    let loads = curve.levels.iter().filter_map(|it| match it.outcome {
        LevelOutcome::Between { low, high } if low > 0.0 => Some((it.level_ns, low, high)),
        _ => None,
    });
    let (level, low, high) = loads.min_by(|a, b| (a.2 / a.1).total_cmp(&(b.2 / b.1)))?;
    let arrivals = match curve.arrivals {
        Arrivals::Closed => "in a closed loop",
        Arrivals::Open => "of random arrivals",
    };
    let text = format!(
        "reaches a {} between {} and {} IOPS {arrivals}",
        time_of_level(curve, level),
        format_count(low),
        format_count(high)
    );
    Some((level, text))
}
