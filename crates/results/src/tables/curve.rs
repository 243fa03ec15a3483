//! Tables of load curves: the load at each latency level, the highest load, the points.

use stats::{Channel, Estimate, is_indicative};

use super::measurement::of_device;
use crate::curve::{Arrivals, Curve, CurveLevel, CurvePoint, LevelOutcome, Saturation};
use crate::metric::*;
use crate::reading::Unit;
use crate::table::{Figure, Role, Row, Table, Trust, percentile_name};

/// Name of the table of latency levels.
pub(crate) const LEVELS: &str = "levels";
/// Name of the table of points, which differ between runs.
pub(crate) const POINTS: &str = "points";

/// Levels, saturation and points.
pub(super) fn tables(curve: &Curve) -> [Table; 3] {
    let levels = curve.levels.iter().map(|it| level(curve, it));
    let saturation = curve.saturation.iter().map(|it| saturated(curve, it));
    let points = curve.points.iter().filter(|point| !point.is_scout);
    let points = points.map(|it| point(curve, it));
    let source = match curve.arrivals {
        Arrivals::Closed => "clients",
        Arrivals::Open => "offered",
    };
    [
        Table::new(LEVELS, &["level"], levels.collect()),
        Table::new("saturation", &[], saturation.collect()),
        Table::new(POINTS, &[source], points.collect()),
    ]
}

impl Curve {
    /// A level as typed: `2ms`, `1500us@p99`.
    pub fn level_name(&self, level_ns: u64) -> String {
        let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
        let mut units = units.into_iter();
        let (nanos, unit) = units
            .find(|(nanos, _)| level_ns.is_multiple_of(*nanos))
            .unwrap_or((1, "ns"));
        let time = format!("{}{unit}", level_ns / nanos);
        match self.percentile {
            Some(p) => format!("{time}@{}", percentile_name(p)),
            None => time,
        }
    }
}

fn level(curve: &Curve, level: &CurveLevel) -> Row {
    let (load, trust) = load_of(&level.outcome);
    let mut figures: Vec<Figure> = load.map(|it| IOPS.of(it)).into_iter().collect();
    if let LevelOutcome::Exceeded { response } = level.outcome {
        figures.push(LATENCY_ONE_CLIENT.of_ns(response));
    }
    if let LevelOutcome::Reached { clients, .. } = level.outcome
        && clients.is_finite()
    {
        figures.push(CLIENTS.bare(clients));
    }
    if let Some(open) = level.open {
        figures.push(IOPS_OPEN.of(open.load));
        figures.push(LATENCY_OPEN.of_ns(open.response));
    }
    let name = curve.level_name(level.level_ns);
    let trust = trust.max(Trust::unless_invalid(&curve.warnings));
    Row::new(vec![name], figures, "iops", trust).warned(&curve.warnings)
}

/// The load at a level, and how far it can be used. If the level was not reached, the highest load
/// is a lower bound. If even one client exceeds it, there is none.
pub(super) fn load_of(outcome: &LevelOutcome) -> (Option<Estimate>, Trust) {
    match *outcome {
        LevelOutcome::Reached { load, .. } => (Some(load), Trust::Reliable),
        LevelOutcome::Between { low, high } => {
            let value = Estimate::exact(f64::NAN, 0.0);
            (Some(Estimate { low, high, ..value }), Trust::Reliable)
        }
        LevelOutcome::NotReached { load, .. } => {
            let high = f64::INFINITY;
            (Some(Estimate { high, ..load }), Trust::Reliable)
        }
        LevelOutcome::Exceeded { .. } => (None, Trust::Reliable),
    }
}

fn saturated(curve: &Curve, found: &Saturation) -> Row {
    let clients = CLIENTS.exact(found.clients);
    let figures = [IOPS.of(found.load), clients];
    let settled = Trust::reliable_if(found.is_converged);
    let trust = settled.max(Trust::unless_invalid(&curve.warnings));
    Row::new(Vec::new(), figures, "iops", trust).warned(&curve.warnings)
}

fn point(curve: &Curve, point: &CurvePoint) -> Row {
    let source = match point.offered {
        Some(offered) => Unit::PerSecond.format(offered),
        None => point.clients.to_string(),
    };
    let mut figures = vec![
        IOPS.of(point.load),
        LATENCY.of_ns(point.response),
        service_time(curve, point),
    ];
    // Terms of queueing theory, for a simulated queue only.
    figures.extend(point.server.iter().flat_map(|server| {
        let wait = QUEUE_WAIT.of_ns(server.wait);
        [wait, SERVER_TIME.of_ns(server.service)]
    }));
    figures.extend(point.law.as_ref().map(|law| {
        let theory = Estimate::exact(law.response_mean_ns, f64::INFINITY);
        LATENCY_THEORY.of_ns(theory)
    }));
    figures.extend(
        point
            .response_p99
            .map(|it| percentile("latency-p99".into(), 0.99, it)),
    );
    if let (Some(p), Some(time)) = (curve.percentile, point.at_percentile) {
        let name = format!("latency-{}", percentile_name(p));
        figures.retain(|figure| figure.metric.name != name);
        figures.push(percentile(name, p, time));
    }
    figures.extend(point.device_time.iter().flat_map(of_device));
    let headline = match curve.channel {
        Channel::Response => "latency",
        Channel::Service => "service-time",
    };
    let trust = Trust::reliable_if(point.is_converged);
    Row::new(vec![source], figures, headline, trust)
}

/// From issue to completion. A simulated queue includes the wait, so it gets no column there.
fn service_time(curve: &Curve, point: &CurvePoint) -> Figure {
    let figure = SERVICE_TIME.of_ns(point.service);
    match point.server.is_some() && curve.channel == Channel::Response {
        true => figure.as_role(Role::Detail),
        false => figure,
    }
}

fn percentile(name: String, p: f64, time: Estimate) -> Figure {
    Figure {
        is_indicative: is_indicative(p, time.samples),
        ..LATENCY.named(name, time.scale(1e-9))
    }
}
