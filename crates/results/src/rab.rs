//! The seven workloads of the RAID Performance Test and their RABmarks.

use serde::{Deserialize, Serialize};
use stats::Estimate;

use crate::curve::{Curve, CurvePoint, LevelOutcome};
use crate::measurement::Measurement;
use crate::mode::Mode;
use crate::warning::Warning;

units::words! {
    /// The two kinds of workload, whose RABmarks are averaged apart.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum RabGroup {
        /// Clients are added until the response time reaches each level.
        Transaction = "transaction",
        /// A fixed number of clients, none of which ever waits.
        Batch = "batch",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rabmark {
    /// `[r]`: operations per second and millisecond, summed over the levels; `[s]`: MiB per
    /// second.
    pub value: Estimate,
    /// Whether every level was reached. If not, those that were are summed, and the value is a
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
    /// The level with its interval, nanoseconds, where it was made from the time of one client: as
    /// uncertain as that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level_estimate: Option<Estimate>,
    /// Load at which the mean service time is that.
    pub by_service: LevelOutcome,
    /// Load at which the mean response time, from due, is that; absent when not asked for.
    pub by_response: Option<LevelOutcome>,
}

/// One workload, measured once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RabWorkload {
    /// Number of the run through all workloads, from 1.
    pub run: u32,
    /// Number of the workload in the set, from 1.
    pub number: u32,
    /// Its name, in kebab case.
    pub name: String,
    /// What it is, in words.
    pub title: String,
    /// Which group it belongs to.
    pub group: RabGroup,
    /// The mode in which all of it was measured.
    pub mode: Mode,
    /// When it began, nanoseconds since the start.
    pub begun_ns: u64,
    /// How long it took, nanoseconds.
    pub elapsed_ns: u64,
    /// Operations done, scouts included.
    pub operations: u64,
    /// Whether it was measured to its end.
    pub is_complete: bool,
    /// One client alone (transaction).
    pub no_load: Option<CurvePoint>,
    /// Levels in ascending order (transaction).
    pub levels: Vec<RabLevel>,
    /// Service time against load (transaction).
    pub curve: Option<Curve>,
    /// At how many sets of random places its clients were begun (batch): the intervals are over
    /// them. Absent in runs of earlier versions, whose intervals are of one set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place_sets: Option<u32>,
    /// The one load (batch); of a transaction workload a load of which every operation failed, with
    /// which its search ended.
    pub measurement: Option<Measurement>,
    /// Load over response time.
    pub rabmark_r: Option<Rabmark>,
    /// Throughput: at the highest level (transaction), or of the one load (batch).
    pub rabmark_s: Option<Rabmark>,
    /// Doubts about this workload.
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
    /// Number of the run through all workloads, from 1.
    pub run: u32,
    pub group: RabGroup,
    pub mode: Mode,
    /// Over how many workloads.
    pub workloads: u32,
    /// Average of `[r]`.
    pub rabmark_r: Rabmark,
    /// Average of `[s]`.
    pub rabmark_s: Rabmark,
}

/// A workload, or the average over a group, of several runs in one mode as one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RabOverRuns {
    /// The workload's name; of an average, that of the group with `-average`.
    pub name: String,
    /// The workload in words; absent for an average.
    pub title: Option<String>,
    pub group: RabGroup,
    pub mode: Mode,
    /// Over how many runs.
    pub runs: u32,
    /// The mean of `[r]`; its interval holds what the runs differ by.
    pub rabmark_r: Rabmark,
    /// The mean of `[s]`, likewise.
    pub rabmark_s: Rabmark,
}

/// From when on results were stamped with which mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModeChange {
    /// Nanoseconds since the start.
    pub at_ns: u64,
    /// The mode from then on.
    pub mode: Mode,
    /// Whether the system said so; else the user did.
    pub is_detected: bool,
    /// What was seen, or who set it.
    pub text: String,
}

/// A figure of one workload in one mode over the same in another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModeComparison {
    /// The workload's name.
    pub workload: String,
    /// `RABmark[r]` or `RABmark[s]`.
    pub figure: String,
    /// The mode compared with.
    pub base: Mode,
    /// The mode compared.
    pub mode: Mode,
    /// Figure in `mode` over figure in `base`.
    pub ratio: Estimate,
    /// Whether the variation from run to run is in the interval, or only that within one run.
    pub spans_runs: bool,
}

/// What `seekstone rab` found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rab {
    /// The highest level, nanoseconds.
    pub response_max_ns: u64,
    /// Mean rate of each client that waits, operations per second; absent when each workload has
    /// its own.
    pub iops_per_client: Option<f64>,
    /// Relative half-width asked for.
    pub precision: f64,
    /// Workloads in the order of measuring.
    pub workloads: Vec<RabWorkload>,
    /// Averages over groups, for each run and mode in which all of a group was measured.
    pub averages: Vec<RabAverage>,
    /// What several runs say together, where there were several: workloads, then averages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub over_runs: Vec<RabOverRuns>,
    /// Modes in the order of time; the first holds from the start.
    pub modes: Vec<ModeChange>,
    /// What another mode changed.
    pub comparisons: Vec<ModeComparison>,
}
