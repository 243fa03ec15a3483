//! The seven workloads of the RAID Performance Test and their RABmarks.

use serde::{Deserialize, Serialize};
use stats::Estimate;

use crate::curve::{Curve, CurvePoint, LevelOutcome};
use crate::measurement::Measurement;
use crate::mode::Mode;
use crate::warning::Warning;

units::words! {
    /// The two groups of workloads, whose RABmarks are averaged separately.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum RabGroup {
        /// Clients are added until the response time reaches each level.
        Transaction = "transaction",
        /// A fixed number of clients without think time.
        Batch = "batch",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rabmark {
    /// `[r]`: operations per second and millisecond, summed over the levels; `[s]`: MiB per
    /// second.
    pub value: Estimate,
    /// Whether every level was reached. If not, the reached ones are summed and the value is a
    /// lower bound.
    pub is_whole: bool,
}

/// A level of a transaction workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RabLevel {
    /// `no load`, `1/3`, `2/3`, `max`, or the response time asked for.
    pub label: String,
    /// Service time at which the load is wanted, nanoseconds: the document's response time.
    pub level_ns: u64,
    /// The level with its interval, nanoseconds, if it was derived from the time of one client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level_estimate: Option<Estimate>,
    /// Load at which the mean service time equals the level.
    pub by_service: LevelOutcome,
    /// Load at which the mean response time, from due, equals the level; absent if not requested.
    pub by_response: Option<LevelOutcome>,
}

/// One workload, measured once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RabWorkload {
    /// Number of the cycle through all workloads, from 1.
    pub run: u32,
    /// Number of the workload in the set, from 1.
    pub number: u32,
    /// Its name, in kebab case.
    pub name: String,
    /// Description.
    pub title: String,
    /// Its group.
    pub group: RabGroup,
    /// The mode in which it was measured.
    pub mode: Mode,
    /// Start, nanoseconds from the start of the run.
    pub begun_ns: u64,
    /// How long it took, nanoseconds.
    pub elapsed_ns: u64,
    /// Operations, search points included.
    pub operations: u64,
    /// Whether it was measured completely.
    pub is_complete: bool,
    /// One client alone (transaction).
    pub no_load: Option<CurvePoint>,
    /// Levels in ascending order (transaction).
    pub levels: Vec<RabLevel>,
    /// Service time against load (transaction).
    pub curve: Option<Curve>,
    /// Number of random placements of the clients (batch), which intervals cover. Absent in runs of
    /// earlier versions, which used one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place_sets: Option<u32>,
    /// The load of a batch workload. For a transaction workload, a load at which every operation
    /// failed and the search stopped.
    pub measurement: Option<Measurement>,
    /// Load over response time.
    pub rabmark_r: Option<Rabmark>,
    /// Throughput: at the highest level (transaction), or of the one load (batch).
    pub rabmark_s: Option<Rabmark>,
    /// Warnings about this workload.
    pub warnings: Vec<Warning>,
}

impl RabWorkload {
    /// Every warning about this workload.
    pub fn all_warnings(&self) -> impl Iterator<Item = &Warning> {
        let of_curve = self.curve.iter().flat_map(|curve| &curve.warnings);
        let of_load = self.measurement.iter().flat_map(|load| &load.warnings);
        self.warnings.iter().chain(of_curve).chain(of_load)
    }
}

/// The average over the workloads of a group in one run and one mode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RabAverage {
    /// Number of the cycle through all workloads, from 1.
    pub run: u32,
    pub group: RabGroup,
    pub mode: Mode,
    /// Number of workloads averaged.
    pub workloads: u32,
    /// Average of `[r]`.
    pub rabmark_r: Rabmark,
    /// Average of `[s]`.
    pub rabmark_s: Rabmark,
}

/// A workload, or a group's average, combined over several runs in one mode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RabOverRuns {
    /// Name of the workload; for an average, that of the group with `-average`.
    pub name: String,
    /// The workload in words; absent for an average.
    pub title: Option<String>,
    pub group: RabGroup,
    pub mode: Mode,
    /// Number of runs.
    pub runs: u32,
    /// Mean of `[r]`; its interval covers the variation between runs.
    pub rabmark_r: Rabmark,
    /// The mean of `[s]`, likewise.
    pub rabmark_s: Rabmark,
}

/// A change of the mode that results are recorded with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModeChange {
    /// Nanoseconds since the start.
    pub at_ns: u64,
    /// The mode from then on.
    pub mode: Mode,
    /// Whether the system reported it; otherwise the user set it.
    pub is_detected: bool,
    /// What was detected, or who set it.
    pub text: String,
}

/// A figure of one workload in one mode relative to another mode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModeComparison {
    /// The workload's name.
    pub workload: String,
    /// `RABmark[r]` or `RABmark[s]`.
    pub figure: String,
    /// The base mode.
    pub base: Mode,
    /// The mode compared.
    pub mode: Mode,
    /// Figure in `mode` over figure in `base`.
    pub ratio: Estimate,
    /// Whether the interval covers the variation between runs, or only within one run.
    pub spans_runs: bool,
}

/// Result of `seekstone rab`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rab {
    /// The highest level, nanoseconds.
    pub response_max_ns: u64,
    /// Mean rate of each client, operations per second; absent if each workload has its own.
    pub iops_per_client: Option<f64>,
    /// Requested relative half-width.
    pub precision: f64,
    /// Workloads in the order of measuring.
    pub workloads: Vec<RabWorkload>,
    /// Averages over groups, for each cycle and mode in which the whole group was measured.
    pub averages: Vec<RabAverage>,
    /// Results over several runs, if there were several: workloads, then averages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub over_runs: Vec<RabOverRuns>,
    /// Modes in order of time; the first applies from the start.
    pub modes: Vec<ModeChange>,
    /// Comparisons between modes.
    pub comparisons: Vec<ModeComparison>,
}
