//! Data of a run to which a model can be fitted.

use results::{Curve, CurvePoint, Row, Run, Severity, Table};
use stats::{Channel, Estimate};

use super::network::ProcessorDemand;

/// Minimum number of final points of a curve.
const FINALS_MIN: usize = 2;
/// Points with a larger relative half-width are useless.
const HALF_WIDTH_MAX: f64 = 0.3;
/// A think time below this share of the shortest response time counts as zero.
const THINK_MIN: f64 = 0.01;
/// Allowed deviation of Little's law from the requested think time.
const LAW_TOLERANCE: f64 = 0.05;

/// One measured number of clients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadPoint {
    /// Number of clients.
    pub clients: u32,
    /// Operations, or transactions, per second.
    pub load: Estimate,
    /// Mean response time from due, nanoseconds.
    pub response: Estimate,
}

/// The data for a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// What was measured, in words.
    pub title: String,
    /// `clients` or `users`.
    pub clients_name: &'static str,
    /// Points in order of clients.
    pub points: Vec<LoadPoint>,
    /// Points excluded from fits, by source.
    pub unseen: Vec<(String, Vec<LoadPoint>)>,
    /// Mean think time, nanoseconds.
    pub think: Estimate,
    /// CPU demand, for transactions.
    pub processors: Option<ProcessorDemand>,
}

/// Why a run cannot be fitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceError {
    /// A run of another kind.
    #[error(
        "run {id} is a run of `{command}`, and holds neither a load curve nor transactions. Fit a \
         run of `seekstone curve`, `run` or `transactions`"
    )]
    Kind {
        /// Its number.
        id: i64,
        /// Its command.
        command: String,
    },
    /// Too few final points.
    #[error(
        "run {id} holds {found} points that were measured for its result and are known to 30 %, \
         and {wanted} are needed. Estimates do not count. Rerun with more --budget"
    )]
    ScoutsOnly {
        /// Its number.
        id: i64,
        found: usize,
        /// Required number.
        wanted: usize,
    },
    /// Invalid numbers.
    #[error("run {id} has numbers that must not be used: {why}")]
    Void {
        /// Its number.
        id: i64,
        /// The warning.
        why: String,
    },
    /// Levels of another time.
    #[error("run {id} gives service times, and this one response times from due")]
    Service {
        /// Its number.
        id: i64,
    },
    /// Different measurements.
    #[error(
        "runs {first} and {second} are not of the same kind: \"{one}\" and \"{other}\". Only runs \
         of one target and one workload can be taken together"
    )]
    Unlike {
        /// The first run.
        first: i64,
        /// The other run.
        second: i64,
        /// Kind of the first.
        one: String,
        other: String,
    },
}

/// The data of `run`. `think_ns` is the requested think time of a curve, if known.
///
/// # Errors
/// If the run is of another kind, or has no data for a model.
pub fn evidence(run: &Run, think_ns: Option<f64>) -> Result<Evidence, EvidenceError> {
    let id = run.id.unwrap_or_default();
    let void = run
        .all_warnings()
        .find(|it| it.severity == Severity::Invalid);
    if let Some(warning) = void {
        let why = warning.text();
        return Err(EvidenceError::Void { id, why });
    }
    let table = |name: &str| run.tables.iter().find(|it| it.name == name);
    let users = table("transactions").zip(table("transactions-machine"));
    match (run.curve(), users) {
        (Some(curve), _) => curve_evidence(curve, &run.target.given, id, think_ns),
        (None, Some((users, machine))) => of_transactions(users, machine, run, id),
        _ => Err(EvidenceError::Kind {
            id,
            command: run.settings.command.clone(),
        }),
    }
}

impl Evidence {
    /// Adds the points of another run to the fitted ones.
    ///
    /// # Errors
    /// If it is of another kind.
    pub fn join(&mut self, other: Self, ids: (i64, i64)) -> Result<(), EvidenceError> {
        self.check_likeness(&other, ids)?;
        self.points.extend(other.points);
        self.points.sort_by_key(|point| point.clients);
        Ok(())
    }

    /// Adds the points of another run as unseen ones.
    ///
    /// # Errors
    /// If it is of another kind.
    pub fn check_with(&mut self, other: Self, ids: (i64, i64)) -> Result<(), EvidenceError> {
        self.check_likeness(&other, ids)?;
        self.unseen.push((format!("run {}", ids.1), other.points));
        Ok(())
    }

    fn check_likeness(&self, other: &Self, ids: (i64, i64)) -> Result<(), EvidenceError> {
        if self.title == other.title {
            return Ok(());
        }
        Err(EvidenceError::Unlike {
            first: ids.0,
            second: ids.1,
            one: self.title.clone(),
            other: other.title.clone(),
        })
    }
}

/// The data of a curve of `target`, as [`evidence`].
///
/// # Errors
/// If its levels refer to another time, or it has too few final points.
pub fn curve_evidence(
    curve: &Curve,
    target: &str,
    id: i64,
    think_ns: Option<f64>,
) -> Result<Evidence, EvidenceError> {
    if curve.channel == Channel::Service {
        return Err(EvidenceError::Service { id });
    }
    let is_usable = |point: &&CurvePoint| is_sound(point.load) && is_sound(point.response);
    let finals = curve.points.iter().filter(is_usable);
    let found = finals.filter(|point| !point.is_scout).count();
    if found < FINALS_MIN {
        return Err(EvidenceError::ScoutsOnly {
            id,
            found,
            wanted: FINALS_MIN,
        });
    }
    let points: Vec<LoadPoint> = curve
        .points
        .iter()
        .filter(is_usable)
        .map(|point| LoadPoint {
            clients: point.clients,
            load: point.load,
            response: point.response,
        })
        .collect();
    Ok(Evidence {
        title: format!("{} on {target}", curve.title),
        clients_name: "clients",
        think: think_time(&points, think_ns),
        points,
        unseen: Vec::new(),
        processors: None,
    })
}

/// A number of users from its tables, nanoseconds.
struct UserPoint {
    point: LoadPoint,
    cpu_each: f64,
    cpu_share: Option<f64>,
    think: f64,
    per_second_whole: f64,
}

impl UserPoint {
    fn of(users: &Row, machine: &Row) -> Option<Self> {
        let value = |metric: &str| machine.figure(metric).map(|it| it.value.value);
        let ns = |metric: &str| value(metric).map(|it| it * 1e9);
        Some(Self {
            point: LoadPoint {
                clients: users.levels.first()?.parse().ok()?,
                load: users.figure("tps")?.value,
                response: users.figure("latency")?.value.scale(1e9),
            },
            cpu_each: ns("cpu-per-transaction").or(ns("cpu-asked"))?,
            cpu_share: value("cpu-busy"),
            think: ns("think-time")?,
            per_second_whole: value("tps")?,
        })
    }
}

fn of_transactions(
    users: &Table,
    machine: &Table,
    run: &Run,
    id: i64,
) -> Result<Evidence, EvidenceError> {
    // One row of each table per load.
    let of_all = users.rows.iter().filter(|row| row.levels[1] == "all");
    let whole = machine.rows.iter();
    let whole = whole.filter(|row| row.levels[1] == "whole run");
    let loads = of_all.zip(whole);
    let loads = loads.filter_map(|(users, machine)| UserPoint::of(users, machine));
    let is_usable = |it: &UserPoint| is_sound(it.point.load) && is_sound(it.point.response);
    let loads: Vec<UserPoint> = loads.filter(is_usable).collect();
    let Some(first) = loads.first() else {
        return Err(EvidenceError::ScoutsOnly {
            id,
            found: 0,
            wanted: 1,
        });
    };
    let mut points: Vec<LoadPoint> = loads.iter().map(|it| it.point).collect();
    points.sort_by_key(|point| point.clients);
    let mean =
        |of: &dyn Fn(&UserPoint) -> f64| loads.iter().map(of).sum::<f64>() / loads.len() as f64;
    let demand = mean(&|load| load.cpu_each);
    // The ratio of the cores used to the share of all processors is the number of processors.
    let count = first.cpu_share.map_or(1.0, |share| {
        let busy = demand / 1e9 * first.per_second_whole;
        (busy / share).round().max(1.0)
    });
    // Everything except the number of users, in which points differ.
    let mut trials = run.measurements.iter();
    let trial = trials.find(|it| it.clients == first.point.clients);
    let what = trial.and_then(|it| it.title.split_once(", "));
    let what = what.map_or("transactions", |(_, what)| what);
    Ok(Evidence {
        title: format!("{what} on {}", run.target.given),
        clients_name: "users",
        points,
        unseen: Vec::new(),
        think: Estimate::exact(mean(&|load| load.think), loads.len() as f64),
        processors: (demand > 0.0).then_some(ProcessorDemand { demand, count }),
    })
}

fn is_sound(estimate: Estimate) -> bool {
    estimate.is_bounded() && estimate.low > 0.0 && estimate.relative_half_width() <= HALF_WIDTH_MAX
}

/// The mean think time by Little's law, Z = N / X - R, or as requested if the law agrees.
fn think_time(points: &[LoadPoint], asked: Option<f64>) -> Estimate {
    let mut sum = 0.0;
    let mut weights = 0.0;
    let half_width = |estimate: Estimate| 0.5 * (estimate.high - estimate.low);
    for point in points {
        let cycle = f64::from(point.clients) / point.load.value * 1e9;
        let error = half_width(point.load) / point.load.value * cycle;
        let error = error.hypot(half_width(point.response)).max(1e-3 * cycle);
        let weight = error.powi(-2);
        sum += weight * (cycle - point.response.value);
        weights += weight;
    }
    let think = (sum / weights).max(0.0);
    let shortest = points.iter().map(|point| point.response.value);
    let shortest = shortest.fold(f64::INFINITY, f64::min);
    let samples = points.len() as f64;
    let error = weights.powf(-0.5);
    let tolerance = (LAW_TOLERANCE * think)
        .max(THINK_MIN * shortest)
        .max(2.0 * error);
    match asked {
        Some(asked) if (asked - think).abs() <= tolerance => Estimate::exact(asked, samples),
        _ if think <= THINK_MIN * shortest => Estimate::exact(0.0, samples),
        _ => Estimate {
            low: (think - error).max(0.0),
            high: think + error,
            ..Estimate::exact(think, samples)
        },
    }
}
