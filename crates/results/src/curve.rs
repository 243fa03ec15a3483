//! Load curves: response time against load.

use serde::{Deserialize, Serialize};
use stats::{Channel, Estimate};
use workload::ClientSpec;

use crate::environment::DeviceTime;
use crate::failure::ErrorCount;
use crate::measurement::Resolution;
use crate::series::{QueueLaw, ServerTimes};
use crate::warning::Warning;

/// What generates the operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// A fixed number of clients, each of which waits for its operation to complete before it
    /// issues the next, so the queue cannot outgrow the number of clients.
    #[default]
    Closed,
    /// Random (Poisson) arrivals at a rate, whether or not the storage keeps up.
    Open,
}

/// One measured load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Number of clients; for random arrivals, the number of sources.
    pub clients: u32,
    /// Offered arrivals per second; absent for closed loops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<f64>,
    /// Completions per second.
    pub load: Estimate,
    /// Bytes per second; absent where none were moved, and in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Estimate>,
    /// Mean response time, nanoseconds.
    pub response: Estimate,
    /// Mean service time, nanoseconds; without a value in runs of versions that did not keep it.
    #[serde(default = "unknown")]
    pub service: Estimate,
    /// 99th percentile of the response time, nanoseconds.
    pub response_p99: Option<Estimate>,
    /// Mean of the generator's own lateness, which is part of the response time, nanoseconds.
    #[serde(with = "stats::undefined")]
    pub lateness_ns: f64,
    /// Processor cores used; absent in simulation.
    pub cores_busy: Option<f64>,
    /// The percentile that the levels refer to, nanoseconds; absent where they refer to the mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_percentile: Option<Estimate>,
    /// Mean device time of a request, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_time: Option<DeviceTime>,
    /// Wait and service time as in queueing theory; absent unless the target is a single simulated
    /// queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerTimes>,
    /// The queueing law's prediction for this load on a simulated queue, where one applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<QueueLaw>,
    /// Whether the point only guided the search and is never quoted.
    pub is_scout: bool,
    /// Whether the point converged.
    pub is_converged: bool,
}

/// A time that is not known.
fn unknown() -> Estimate {
    Estimate {
        low: 0.0,
        high: f64::INFINITY,
        ..Estimate::exact(f64::NAN, 0.0)
    }
}

impl CurvePoint {
    /// The time that the levels refer to, nanoseconds: the percentile if there is one, else the
    /// mean of this channel.
    pub fn time(&self, channel: Channel) -> Estimate {
        self.at_percentile.unwrap_or(match channel {
            Channel::Response => self.response,
            Channel::Service => self.service,
        })
    }
}

/// What was found for a level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum LevelOutcome {
    /// The response time crosses the level at this load.
    Reached {
        /// Completions per second.
        load: Estimate,
        /// Number of clients, interpolated; without a value for random arrivals.
        #[serde(with = "stats::undefined")]
        clients: f64,
        /// Whether the interval is as narrow as was asked for.
        is_precise: bool,
    },
    /// The level lies between two loads, too far apart to interpolate.
    Between {
        /// Completions per second with the response time below the level.
        #[serde(with = "stats::undefined")]
        low: f64,
        /// Completions per second with the response time above the level.
        #[serde(with = "stats::unbounded")]
        high: f64,
    },
    /// The response time exceeds the level even with one client.
    Exceeded {
        /// Mean response time of one client, nanoseconds.
        response: Estimate,
    },
    /// The response time stays below the level up to the maximum number of clients.
    NotReached {
        /// The largest number of clients tried.
        clients: u32,
        /// Their load, completions per second.
        load: Estimate,
        /// Their mean response time, nanoseconds.
        response: Estimate,
    },
}

/// A response time at which the load is wanted, and the result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurveLevel {
    /// Response time, nanoseconds: the mean, or the curve's percentile.
    pub level_ns: u64,
    /// The result.
    #[serde(flatten)]
    pub outcome: LevelOutcome,
    /// The same storage under random arrivals, if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenTrial>,
}

/// A trial with random arrivals at slightly below the closed-loop load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenTrial {
    /// Arrivals per second.
    pub offered: f64,
    /// Completions per second.
    pub load: Estimate,
    /// The response time that the level refers to, nanoseconds.
    pub response: Estimate,
    /// Whether that time is reliably within the level.
    pub is_within: bool,
}

/// The highest load found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saturation {
    /// Completions per second, from a fresh measurement.
    pub load: Estimate,
    /// The number of clients that reached it.
    pub clients: u32,
    /// Whether more clients were tried without a higher load.
    pub is_saturated: bool,
    /// Whether the point converged.
    pub is_converged: bool,
}

/// A load curve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// What one client does, in words.
    pub title: String,
    /// What each client did at the first point; absent if nothing was measured.
    pub workload: Option<ClientSpec>,
    /// Which time the levels refer to.
    #[serde(default)]
    pub channel: Channel,
    /// What generated the operations of the points.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// The percentile that the levels refer to, as a share from 0 to 1; `None` where they refer to
    /// the mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentile: Option<f64>,
    /// Points in order of clients, search points included.
    pub points: Vec<CurvePoint>,
    /// Levels in ascending order.
    pub levels: Vec<CurveLevel>,
    /// The highest load.
    pub saturation: Option<Saturation>,
    /// What every quoted point was long enough to detect; absent where no point is quoted, and in
    /// runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
    /// Failed operations of all points, search points included. They are in no other figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorCount>,
    /// Warnings.
    pub warnings: Vec<Warning>,
}
