//! Response time against load.

use serde::{Deserialize, Serialize};
use stats::{Channel, Estimate};
use workload::ClientSpec;

use crate::environment::DeviceTime;
use crate::failure::ErrorCount;
use crate::measurement::Resolution;
use crate::series::{QueueLaw, ServerTimes};
use crate::warning::Warning;

/// What asks the storage for its operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// So many clients, each of which waits for its operation before it asks for the next: the
    /// queue cannot grow longer than they are many.
    #[default]
    Closed,
    /// Random (Poisson) arrivals at a rate, whether or not the storage keeps up.
    Open,
}

/// One load, measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Number of clients; of random arrivals, the number of sources that they come from.
    pub clients: u32,
    /// Arrivals per second, where they do not wait for the storage.
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
    /// Share of one processor core that it took; absent in simulation.
    pub cores_busy: Option<f64>,
    /// The percentile that the levels are about, nanoseconds, where they are not about the mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_percentile: Option<Estimate>,
    /// What a request took the device on average, where that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_time: Option<DeviceTime>,
    /// Wait and service as the textbook has them; absent unless the target is one simulated queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerTimes>,
    /// What theory says of this load on a simulated queue, where a law holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<QueueLaw>,
    /// Whether the point only showed the way and is never cited.
    pub is_scout: bool,
    /// Whether the point converged.
    pub is_converged: bool,
}

/// A time of which nothing is known.
fn unknown() -> Estimate {
    Estimate {
        low: 0.0,
        high: f64::INFINITY,
        ..Estimate::exact(f64::NAN, 0.0)
    }
}

impl CurvePoint {
    /// The time that the levels are about, nanoseconds: the percentile where they have one, else
    /// the mean of this channel.
    #[must_use]
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
    /// The level lies between two loads, and no interpolation between them is sound.
    Between {
        /// Completions per second with the response time below the level.
        #[serde(with = "stats::undefined")]
        low: f64,
        /// Completions per second with the response time above the level.
        #[serde(with = "stats::unbounded")]
        high: f64,
    },
    /// Even one client waits longer.
    Exceeded {
        /// Mean response time of one client, nanoseconds.
        response: Estimate,
    },
    /// The response time stays below the level with as many clients as were allowed.
    NotReached {
        /// The largest number of clients tried.
        clients: u32,
        /// Their load, completions per second.
        load: Estimate,
        /// Their mean response time, nanoseconds.
        response: Estimate,
    },
}

/// A response time at which the load is wanted, and what was found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurveLevel {
    /// Response time, nanoseconds: the mean, or the curve's percentile.
    pub level_ns: u64,
    /// What was found.
    #[serde(flatten)]
    pub outcome: LevelOutcome,
    /// The same storage under random arrivals, where that was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenTrial>,
}

/// Random arrivals at a little less than the load of clients that wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenTrial {
    /// Arrivals per second.
    pub offered: f64,
    /// Completions per second.
    pub load: Estimate,
    /// The time that the level is about, nanoseconds.
    pub response: Estimate,
    /// Whether that time surely is no longer than the level.
    pub is_within: bool,
}

/// The highest load that was found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saturation {
    /// Completions per second, measured afresh.
    pub load: Estimate,
    /// The number of clients that gave it.
    pub clients: u32,
    /// Whether more clients were tried and gave no more.
    pub is_saturated: bool,
    /// Whether the point converged.
    pub is_converged: bool,
}

/// A load curve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// What one client does, in words.
    pub title: String,
    /// What each client did at the first point; absent where nothing was measured.
    pub workload: Option<ClientSpec>,
    /// Which time the levels are about.
    #[serde(default)]
    pub channel: Channel,
    /// What the points' operations came from.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// The share of the times that may not be longer than a level, 0 to 1; `None` where levels are
    /// about the mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentile: Option<f64>,
    /// Points in order of clients, scouts included.
    pub points: Vec<CurvePoint>,
    /// Levels in ascending order.
    pub levels: Vec<CurveLevel>,
    /// The highest load.
    pub saturation: Option<Saturation>,
    /// What every point that is cited was long enough to see; absent where none is, and in runs of
    /// earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
    /// Operations that failed at any point, scouts included; no other figure has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorCount>,
    /// Doubts.
    pub warnings: Vec<Warning>,
}
