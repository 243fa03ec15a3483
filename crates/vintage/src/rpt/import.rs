//! A log as curves: response time against load, workload by workload.
//!
//! The log knows the sums of squares, so each point gets an interval. The classic rule assumes
//! independent I/Os, which is wrong: the intervals are too narrow, and a warning says so.

use std::collections::BTreeSet;

use results::{Curve, CurveLevel, CurvePoint, LevelOutcome, Mode, Warning, WarningCode};
use stats::{Channel, Estimate};

use crate::rpt::log::{Block, LogEntry};
use crate::rpt::log_file::RptLog;
use crate::rpt::sums::{Calculation, Converging, Sums};

/// Half-width of a 95 % interval in standard errors; the log's factor has three of them.
const STANDARD_ERRORS: f64 = 1.96;

/// Start of the log's message about a mean that did not converge.
const FAILURE: &str = "Convergence failure";

/// One workload of one run, as logged.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// Number of the run through all workloads, from one.
    pub run: u32,
    /// Number of the workload, from zero.
    pub workload: usize,
    pub name: String,
    /// The mode of its last results.
    pub mode: Mode,
    /// Seconds from its first entry to its last.
    pub elapsed_s: f64,
    /// Whether it has results.
    pub is_complete: bool,
    /// `RABmark[r]` and `RABmark[s]`.
    pub rabmarks: Option<(f64, f64)>,
    /// Response time against load; response times are service times.
    pub curve: Curve,
}

/// All workloads of a log, in order.
pub fn imported(log: &RptLog) -> Vec<Imported> {
    sections(&log.entries)
        .into_iter()
        .filter_map(|entries| workload(&entries))
        .collect()
}

/// The entries of each workload. A new one starts where the first thread becomes active after
/// results or another workload.
fn sections(entries: &[LogEntry]) -> Vec<Vec<&LogEntry>> {
    let mut sections: Vec<Vec<&LogEntry>> = Vec::new();
    let mut of = None;
    let mut active = 0_i64;
    for entry in entries {
        if let LogEntry::Active(_, thread, workload) = entry {
            let is_new = of != Some(*workload) || (active == 0 && *thread == 0);
            if is_new || sections.is_empty() {
                sections.push(Vec::new());
                active = 0;
            }
            of = Some(*workload);
            active += 1;
        }
        if let LogEntry::Inactive(..) = entry {
            active -= 1;
        }
        match sections.last_mut() {
            Some(section) => section.push(entry),
            None => sections.push(vec![entry]),
        }
    }
    sections
}

fn workload(entries: &[&LogEntry]) -> Option<Imported> {
    let block: Option<&Block> = entries.iter().rev().find_map(|entry| match entry {
        LogEntry::Results(block) => Some(block),
        _ => None,
    });
    let number = block.map(|block| block.workload).or_else(|| {
        entries.iter().find_map(|entry| match entry {
            LogEntry::Active(.., workload) => Some(*workload),
            _ => None,
        })
    })?;
    let points = points(entries);
    if points.is_empty() && block.is_none() {
        return None;
    }
    let nothing = Block {
        run: 1,
        ..Block::default()
    };
    let found = block.unwrap_or(&nothing);
    let name = match found.name.as_str() {
        "" => format!("workload {number}"),
        name => name.to_owned(),
    };
    let mut times = entries.iter().filter_map(|entry| time_of(entry));
    let first = times.next().unwrap_or(0.0);
    let levels = levels(entries, &points);
    Some(Imported {
        run: found.run,
        workload: number,
        mode: found.mode,
        elapsed_s: times.next_back().unwrap_or(first) - first,
        is_complete: block.is_some(),
        rabmarks: block.map(|block| (block.rabmark_r, block.rabmark_s)),
        curve: Curve {
            channel: Channel::Service,
            title: name.clone(),
            points,
            levels,
            warnings: warnings(entries),
            ..Curve::default()
        },
        name,
    })
}

fn time_of(entry: &LogEntry) -> Option<f64> {
    match entry {
        LogEntry::Active(at, ..)
        | LogEntry::Inactive(at, ..)
        | LogEntry::Sum { at, .. }
        | LogEntry::Calculation(at, ..)
        | LogEntry::Interpolation { at, .. } => Some(*at),
        LogEntry::Results(block) => Some(block.at),
        _ => None,
    }
}

/// The longest sum for each number of threads.
fn points(entries: &[&LogEntry]) -> Vec<CurvePoint> {
    let sums = entries.iter().filter_map(|entry| match entry {
        LogEntry::Sum { sums, .. } => Some(sums),
        _ => None,
    });
    let mut points = curve_points(sums);
    for point in &mut points {
        point.is_converged = !entries.iter().any(|entry| {
            matches!(entry, LogEntry::Warning { threads, text, .. }
                if *threads == point.clients && text.starts_with(FAILURE))
        });
    }
    points
}

/// Points of a curve: the longest sum for each number of threads, in their order.
pub fn curve_points<'a>(sums: impl Iterator<Item = &'a Sums>) -> Vec<CurvePoint> {
    let mut longest: Vec<&Sums> = Vec::new();
    for sums in sums {
        match longest
            .iter_mut()
            .find(|known| known.threads == sums.threads)
        {
            Some(known) if sums.messages >= known.messages => *known = sums,
            Some(_) => {}
            None => longest.push(sums),
        }
    }
    longest.sort_by(|a, b| a.threads.total_cmp(&b.threads));
    longest.into_iter().map(point).collect()
}

fn point(sums: &Sums) -> CurvePoint {
    let calculation = sums.calculation();
    let response = interval(
        calculation.response_ms * 1e6,
        sums.factor(Converging::Response),
        sums.nios,
    );
    CurvePoint {
        offered: None,
        at_percentile: None,
        clients: sums.threads as u32,
        // As precise as a count of independent arrivals.
        load: interval(calculation.load, 3.0 / sums.nios.sqrt(), sums.nios),
        response,
        service: response,
        response_p99: None,
        lateness_ns: 1e9 * sums.seek / sums.nios,
        cores_busy: None,
        device_time: None,
        bandwidth: None,
        server: None,
        law: None,
        is_scout: false,
        is_converged: true,
    }
}

/// A 95 % interval from a factor at three standard errors.
fn interval(value: f64, factor: f64, samples: f64) -> Estimate {
    let half_width = value * factor / 3.0 * STANDARD_ERRORS;
    let (low, high) = if half_width.is_finite() {
        ((value - half_width).max(0.0), value + half_width)
    } else {
        (0.0, f64::INFINITY)
    };
    Estimate {
        value,
        low,
        high,
        confidence: 0.95,
        samples,
    }
}

/// The interpolated levels; each directly follows a calculation.
fn levels(entries: &[&LogEntry], points: &[CurvePoint]) -> Vec<CurveLevel> {
    let pairs = entries.windows(2);
    let levels = pairs.filter_map(|pair| match pair {
        [
            LogEntry::Calculation(.., calculation),
            LogEntry::Interpolation { sums, .. },
        ] => Some(level(calculation, sums, points)),
        _ => None,
    });
    let mut levels: Vec<CurveLevel> = levels.collect();
    levels.sort_by_key(|level| level.level_ns);
    levels
}

fn level(calculation: &Calculation, sums: &Sums, points: &[CurvePoint]) -> CurveLevel {
    // As precise as the less precise of the two points around it.
    let around = points
        .iter()
        .filter(|point| (f64::from(point.clients) - sums.threads).abs() < 1.0);
    let half_width = around
        .map(|point| point.load.relative_half_width())
        .fold(0.0, f64::max);
    CurveLevel {
        open: None,
        level_ns: (calculation.response_ms * 1e6) as u64,
        outcome: LevelOutcome::Reached {
            load: interval(
                calculation.load,
                half_width * 3.0 / STANDARD_ERRORS,
                sums.messages,
            ),
            clients: sums.threads,
            is_precise: false,
        },
    }
}

fn warnings(entries: &[&LogEntry]) -> Vec<Warning> {
    let mut warnings = vec![
        Warning::warn(
            WarningCode::ClassicInterval,
            "The intervals of this imported log are too narrow: they come from the rule of 1995, \
             which takes I/Os for independent; those of the load are of a mere count.",
        )
        .advise("Measure again with `seekstone rab` for intervals that hold."),
        Warning::info(
            WarningCode::ClassicResponse,
            "The response times of this imported log are service times: they do not count how long \
             an I/O waited after it was due.",
        ),
    ];
    let texts = entries.iter().filter_map(|entry| match entry {
        LogEntry::Warning { threads, text, .. } => Some((*threads, text)),
        _ => None,
    });
    let (failures, others): (Vec<_>, Vec<_>) =
        texts.partition(|(_, text)| text.starts_with(FAILURE));
    if !failures.is_empty() {
        let threads: BTreeSet<u32> = failures.iter().map(|(threads, _)| *threads).collect();
        let threads: Vec<String> = threads.iter().map(u32::to_string).collect();
        warnings.push(Warning::warn(
            WarningCode::ClassicConvergence,
            format!(
                "The log says that means did not converge with {} threads.",
                threads.join(", ")
            ),
        ));
    }
    warnings.extend(others.iter().map(|(threads, text)| {
        Warning::warn(
            WarningCode::ClassicWarning,
            format!("The log says, of {threads} threads: {text}."),
        )
    }));
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manuals_excerpt_becomes_a_point_and_a_level() {
        let log = RptLog::read(include_str!("../fixtures/excerpt.rpl")).expect("a log");
        let found = imported(&log);
        assert_eq!(found.len(), 1, "{found:?}");
        let one = &found[0];
        assert_eq!(
            (one.name.as_str(), one.run, one.workload),
            ("TransactionWorkload", 1, 0)
        );
        assert_eq!(one.rabmarks, Some((1.056_959, 0.076_546)));
        let points = &one.curve.points;
        assert_eq!(
            (points.len(), points[0].clients, points[0].is_converged),
            (1, 1, false)
        );
        // Three standard errors are 7.678 %, so 1.96 are 5.017 %.
        let half_width = points[0].response.relative_half_width();
        assert!((half_width - 0.050_165).abs() < 1e-5, "{half_width}");
        assert!((points[0].load.value - 19.5958).abs() < 1e-4);
        assert_eq!(one.curve.levels.len(), 1);
        assert_eq!(one.curve.levels[0].level_ns, 18_539_800);
        let codes: Vec<&str> = one.curve.warnings.iter().map(|w| w.code.as_str()).collect();
        assert_eq!(
            codes,
            [
                "classic-interval",
                "classic-response",
                "classic-convergence"
            ]
        );
    }

    #[test]
    fn each_run_of_each_workload_is_one() {
        let active = |thread, workload| LogEntry::Active(0.0, thread, workload);
        let inactive = |thread, workload| LogEntry::Inactive(9.0, thread, workload);
        let sum = |threads: f64| LogEntry::Sum {
            at: 5.0,
            number: 0,
            sums: Sums {
                threads,
                messages: 4.0,
                nios: 400.0,
                kbytes: 1600.0,
                xfer: 8.0,
                total: 20.0,
                xfer_sq: 0.2,
                total_sq: 120.0,
                ..Sums::default()
            },
            factor: 0.02,
        };
        let mut entries = Vec::new();
        for workload in [0, 1, 1] {
            entries.extend([active(0, workload), sum(1.0), active(1, workload), sum(2.0)]);
            entries.extend([inactive(1, workload), active(1, workload), sum(2.0)]);
            entries.extend([inactive(1, workload), inactive(0, workload)]);
        }
        let log = RptLog {
            entries,
            ..RptLog::default()
        };
        let found = imported(&log);
        let shape: Vec<(usize, usize)> = found
            .iter()
            .map(|one| (one.workload, one.curve.points.len()))
            .collect();
        assert_eq!(shape, [(0, 2), (1, 2), (1, 2)]);
    }
}
