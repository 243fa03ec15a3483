//! A point of the curve as the procedure keeps it.

use results::{CurvePoint, Law, Measurement, QueueLaw, Resolution, Severity, Tails, WarningCode};
use stats::{Aim, Channel, Estimate, NOT_NEGATIVE, Verdict, Window, mean_interval};
use units::Duration;

use super::interpolation::sigma;
use super::{PointPlan, kept_of};

/// A load below this share of the offered load is an overload.
const OVERLOAD_SHARE: f64 = 0.995;
/// A response time above this multiple of the service time is mostly waiting.
const WAIT_FACTOR: f64 = 2.0;
/// Margin for an imprecise mean time beyond its interval: this many half-widths, up to a share of
/// it.
const MARGIN_FACTOR: f64 = 3.0;
const MARGIN_MAX: f64 = 0.15;
/// A mean time with this precision, as with clients that always wait, needs no margin.
const SURE: f64 = 0.02;

/// A measured point.
#[derive(Clone, Debug)]
pub(super) struct Visit {
    pub(super) point: CurvePoint,
    /// Which time this curve's levels refer to.
    pub(super) channel: Channel,
    pub(super) window: Option<Window>,
    pub(super) service_window: Option<Window>,
    /// Percentiles that the levels may refer to.
    pub(super) tails: Option<Tails>,
    /// What it was long enough to detect.
    pub(super) resolution: Option<Resolution>,
    /// Mean bytes per operation.
    pub(super) bytes_each: f64,
    /// Whether the load was not sustained, so that the response time has no mean.
    pub(super) is_overloaded: bool,
    /// Whether the mean time, not only the load, is as precise and stable as required.
    pub(super) is_time_known: bool,
    /// Whether only the load was requested: its time is not used for a chord.
    pub(super) is_load_alone: bool,
    pub(super) precision: f64,
    pub(super) elapsed: Duration,
    pub(super) is_drifting: bool,
    /// Whether its numbers are invalid, such as with mostly background I/O.
    pub(super) is_void: bool,
}

/// Warnings about a level that moved.
const LEVEL_MOVED: [WarningCode; 4] = [
    WarningCode::Drift,
    WarningCode::Step,
    WarningCode::WarmUp,
    WarningCode::WriteCliff,
];

/// Whether the level of a trial moved outside the warm-up. Among many points, some seem to at the 1
/// % level of [`stats::DriftVerdict`]; a warning uses 0.1 %.
fn has_moved(measurement: &Measurement) -> bool {
    let mut doubts = measurement.warnings.iter();
    doubts.any(|doubt| doubt.severity > Severity::Info && LEVEL_MOVED.contains(&doubt.code))
}

fn queue_law(measurement: &Measurement) -> Option<QueueLaw> {
    match &measurement.law {
        Some(Law::Queue(law)) => Some(law.clone()),
        _ => None,
    }
}

/// One end of a bracket, for interpolation.
#[derive(Clone, Copy, Debug)]
pub(super) struct BracketEnd<'a> {
    pub(super) load: Estimate,
    pub(super) time: Estimate,
    pub(super) window: Option<&'a Window>,
    pub(super) is_load_alone: bool,
}

impl Visit {
    /// The point of `plan` from its `measurement`, which took `elapsed` in total.
    pub(super) fn new(
        plan: &PointPlan,
        channel: Channel,
        measurement: &Measurement,
        elapsed: Duration,
    ) -> Self {
        let tail = measurement.tails.as_ref().and_then(|it| it.of(channel));
        let (window, service_window) = (&measurement.window, &measurement.service_window);
        let seen = |estimate: Estimate, window: &Option<Window>, series: fn(&Window) -> &[f64]| {
            window
                .as_ref()
                .map_or(estimate, |it| as_of_long(measurement, estimate, series(it)))
        };
        let load = seen(measurement.throughput, window, |it| &it.throughput);
        let bytes_each = measurement.bytes_all as f64 / measurement.completions_all.max(1) as f64;
        Self {
            point: CurvePoint {
                clients: plan.clients,
                offered: plan.sources.and(measurement.offered),
                load,
                bandwidth: (bytes_each > 0.0).then(|| load.scale(bytes_each)),
                response: seen(measurement.response.mean, window, |it| {
                    &it.response_influence
                }),
                service: seen(measurement.service.mean, service_window, |it| {
                    &it.response_influence
                }),
                response_p99: measurement.response.percentile(0.99),
                lateness_ns: measurement.lateness.mean_ns,
                cores_busy: measurement.cpu.map(|cpu| cpu.cores_busy),
                device_time: measurement.counters.as_ref().and_then(|it| it.device_time),
                server: measurement.server,
                law: queue_law(measurement),
                at_percentile: tail.map(|it| it.time),
                is_scout: plan.is_scout,
                is_converged: measurement.is_converged(),
            },
            channel,
            window: measurement.window.clone(),
            service_window: measurement.service_window.clone(),
            tails: measurement.tails.clone(),
            resolution: measurement.resolution,
            bytes_each,
            is_overloaded: match plan.sources {
                Some(sources) => is_unbounded(measurement, sources.idle_ns),
                None => is_overloaded(measurement),
            },
            is_time_known: measurement.is_converged() && plan.goal.aim == Aim::TimeAndLoad,
            is_load_alone: plan.goal.aim == Aim::Load,
            precision: match plan.goal.aim {
                Aim::LoadAtTime(of_time) => of_time,
                Aim::TimeAndLoad | Aim::Load | Aim::Percentile(_) => plan.goal.precision,
            },
            elapsed,
            // Near saturation the time wanders. If the time is not requested, that is no drift.
            is_drifting: has_moved(measurement) && plan.goal.aim == Aim::TimeAndLoad,
            is_void: kept_of(plan, measurement).any(|it| it.severity == Severity::Invalid),
        }
    }

    pub(super) fn end(&self) -> BracketEnd<'_> {
        BracketEnd {
            load: self.point.load,
            time: self.time(),
            window: self.series(),
            is_load_alone: self.is_load_alone,
        }
    }

    /// The series of the time that the levels refer to.
    pub(super) fn series(&self) -> Option<&Window> {
        if let Some(tails) = &self.tails {
            return tails.of(self.channel).map(|tail| &tail.window);
        }
        match self.channel {
            Channel::Response => self.window.as_ref(),
            Channel::Service => self.service_window.as_ref(),
        }
    }

    /// The same measurement, with levels on another time.
    pub(super) fn about(&mut self, channel: Channel) {
        self.channel = channel;
        let tail = self.tails.as_ref().and_then(|it| it.of(channel));
        self.point.at_percentile = tail.map(|it| it.time);
    }

    /// Whether the mean time is reliably below a level (nanoseconds).
    pub(super) fn is_surely_below(&self, level: f64) -> bool {
        self.time().high * self.margin() < level
    }

    /// Whether the mean time is reliably above a level (nanoseconds).
    pub(super) fn is_surely_above(&self, level: f64) -> bool {
        self.time().low / self.margin() > level
    }

    /// A short trial near saturation starts with empty queues and underestimates the time, all the
    /// more if the time is imprecise.
    fn margin(&self) -> f64 {
        let half_width = self.time().relative_half_width();
        if self.is_time_known || half_width < SURE {
            return 1.0;
        }
        1.0 + (MARGIN_FACTOR * half_width).min(MARGIN_MAX)
    }

    /// The mean of the time that the levels refer to. Unbounded if the load was not sustained.
    pub(super) fn time(&self) -> Estimate {
        if self.is_overloaded && self.channel == Channel::Response {
            return Estimate::exact(f64::INFINITY, 0.0);
        }
        self.point.time(self.channel)
    }
}

/// The interval of a trial of the same length without correlation over most of it. The margins of
/// the search compensate for that, and were chosen for it.
fn as_of_long(measurement: &Measurement, estimate: Estimate, series: &[f64]) -> Estimate {
    if measurement.verdict != Verdict::Correlated {
        return estimate;
    }
    let Estimate { low, high, .. } = mean_interval(series).within(&NOT_NEGATIVE);
    Estimate {
        low,
        high,
        ..estimate
    }
}

pub(super) fn joint_sigma(below: &Visit, above: &Visit) -> f64 {
    sigma(&below.time()).hypot(sigma(&above.time()))
}

/// Whether random arrivals exceed the storage's rate: completions lag arrivals by more than twice
/// the width of the interval, and took much longer than on the idle storage (nanoseconds). Too few
/// arrivals by chance would not cause waiting.
fn is_unbounded(measurement: &Measurement, idle_ns: f64) -> bool {
    let load = measurement.throughput;
    let waits = measurement.response.mean.value > WAIT_FACTOR * idle_ns;
    let most = load.high + (load.high - load.value);
    let offered = measurement.offered;
    waits && offered.is_some_and(|offered| most < OVERLOAD_SHARE * offered)
}

/// Whether clients with own schedules fell increasingly behind: the achieved load is below the
/// offered load, and waiting takes longer than service. A short trial may draw fewer arrivals by
/// chance, but without waiting.
fn is_overloaded(measurement: &Measurement) -> bool {
    let load = measurement.throughput;
    let waits = measurement.response.mean.value > WAIT_FACTOR * measurement.service.mean.value;
    let offered = measurement.offered;
    waits && offered.is_some_and(|offered| load.high < OVERLOAD_SHARE * offered)
}
