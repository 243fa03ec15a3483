//! The workloads of the RAID Performance Test.

use stats::Estimate;

use super::curve::load_of;
use crate::rab::{Rab, RabAverage, RabLevel, RabOverRuns, RabWorkload, Rabmark};
use crate::reading::{Better, Unit};
use crate::table::{Figure, Row, Table, Trust};
use crate::warning_code::WarningCode;

/// Bytes in the MiB of `RABmark[s]`.
const MIB: f64 = 1_048_576.0;

/// Workloads, the levels of each, and averages over groups.
pub(super) fn tables(found: &Rab) -> [Table; 4] {
    let workloads = found.workloads.iter().map(workload);
    let levels = found.workloads.iter().flat_map(|workload| {
        let levels = workload.levels.iter();
        levels.map(|it| level(workload, it))
    });
    let averages = found.averages.iter().map(|it| average(found, it));
    let factors = ["workload", "mode", "run"];
    let over_runs = found.over_runs.iter().map(|it| over_runs(found, it));
    [
        Table::new("rab-over-runs", &["workload", "mode"], over_runs.collect()),
        Table::new(
            "rab-averages",
            &["group", "mode", "run"],
            averages.collect(),
        ),
        Table::new("rab-workloads", &factors, workloads.collect()),
        Table::new(
            "rab-levels",
            &["workload", "mode", "run", "level"],
            levels.collect(),
        ),
    ]
}

fn levels_of(workload: &RabWorkload) -> Vec<String> {
    let mode = workload.mode.name().to_owned();
    vec![workload.name.clone(), mode, workload.run.to_string()]
}

fn workload(it: &RabWorkload) -> Row {
    let mut figures: Vec<Figure> = marks(it.rabmark_r, it.rabmark_s).collect();
    if let Some(alone) = &it.no_load {
        figures.push(Figure::time_ns("service-time-one-client", alone.service));
    }
    if let Some(load) = &it.measurement {
        figures.push(Figure::iops(load.throughput));
        figures.extend(load.bandwidth.map(Figure::throughput));
        if !load.is_all_failed() {
            figures.extend(Figure::of_times("service-time", &load.service));
        }
    }
    let codes: Vec<_> = it.all_warnings().cloned().collect();
    Row::new(levels_of(it), figures, "rabmark-r", trust_of(it), &codes)
}

fn trust_of(it: &RabWorkload) -> Trust {
    let of_load = it.measurement.as_ref();
    let of_load = of_load.map(|load| load.trust());
    let of_curve = it.curve.as_ref();
    let of_curve = of_curve.map(|curve| {
        let mut warnings = curve.warnings.iter();
        let trust = Trust::unless_void(&curve.warnings);
        match warnings.any(|it| it.code == WarningCode::LevelNotSettled) {
            true => trust.max(Trust::Shaky),
            false => trust,
        }
    });
    let trust = Trust::unless_void(&it.warnings);
    [of_load, of_curve]
        .into_iter()
        .flatten()
        .fold(trust, Trust::max)
}

fn level(workload: &RabWorkload, level: &RabLevel) -> Row {
    let mut levels = levels_of(workload);
    levels.push(level.label.clone());
    let (load, trust) = load_of(&level.by_service);
    let by_response = level.by_response.as_ref().and_then(|it| load_of(it).0);
    let by_response =
        by_response.map(|it| Figure::new("iops-by-latency", Unit::PerSecond, Better::Higher, it));
    let figures = load.map(Figure::iops).into_iter().chain(by_response);
    let trust = trust.max(trust_of(workload));
    Row::new(levels, figures, "iops", trust, &[])
}

/// Several runs can be used as far as the worst of them.
fn over_runs(found: &Rab, it: &RabOverRuns) -> Row {
    let runs = found.workloads.iter().filter(|workload| {
        let is_of_row = it.title.is_none() || workload.name == it.name;
        is_of_row && (workload.group, workload.mode) == (it.group, it.mode)
    });
    let trust = runs.map(trust_of).max().unwrap_or(Trust::Sound);
    let levels = vec![it.name.clone(), it.mode.name().to_owned()];
    let figures = marks(Some(it.rabmark_r), Some(it.rabmark_s));
    Row::new(levels, figures, "rabmark-r", trust, &[])
}

/// An average can be used as far as the worst of its workloads.
fn average(found: &Rab, it: &RabAverage) -> Row {
    let averaged = found.workloads.iter().filter(|workload| {
        (workload.group, workload.run, workload.mode) == (it.group, it.run, it.mode)
    });
    let trust = averaged.map(trust_of).max().unwrap_or(Trust::Sound);
    let (group, mode) = (it.group.name().to_owned(), it.mode.name().to_owned());
    let figures = marks(Some(it.rabmark_r), Some(it.rabmark_s));
    let levels = vec![group, mode, it.run.to_string()];
    Row::new(levels, figures, "rabmark-r", trust, &[])
}

/// `RABmark[r]` as the manual counts it, and `RABmark[s]` in bytes per second. Where a level was
/// not reached the sum is a lower bound.
fn marks(r: Option<Rabmark>, s: Option<Rabmark>) -> impl Iterator<Item = Figure> {
    let bounded = |mark: Rabmark| match mark.is_whole {
        true => mark.value,
        false => Estimate {
            high: f64::INFINITY,
            ..mark.value
        },
    };
    let r = r.map(|it| Figure::new("rabmark-r", Unit::Ratio, Better::Higher, bounded(it)));
    let s = s.map(|it| {
        let value = bounded(it).scale(MIB);
        Figure::new("rabmark-s", Unit::BytesPerSecond, Better::Higher, value)
    });
    r.into_iter().chain(s)
}
