//! Results of transactions: response times of users, and the activity of the system.

use serde::{Deserialize, Serialize};
use stats::Estimate;

use crate::measurement::Times;
use crate::series::SystemSeries;

/// Transactions of one profile or of all users: count, rate and times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserTimes {
    /// Name of the profile; `all` for all of them.
    pub name: String,
    pub users: u32,
    /// Transactions of the whole trial.
    pub transactions: u64,
    /// Transactions per second, over the whole trial.
    #[serde(with = "stats::undefined")]
    pub per_second: f64,
    /// Bytes moved by one transaction, on average.
    #[serde(with = "stats::undefined")]
    pub bytes_each: f64,
    /// Sample mean of the response times from start, without an interval: the document's figure.
    /// Nanoseconds.
    #[serde(with = "stats::undefined")]
    pub sample_mean_ns: f64,
    /// Sample 95th percentile of the response times from start, without an interval: the document's
    /// figure. Nanoseconds.
    #[serde(with = "stats::undefined")]
    pub sample_95_ns: f64,
    /// Response time from the start of a transaction: from the issue of its first operation.
    pub from_start: Times,
    /// Response time from when a transaction was due: from the end of the think time.
    pub from_due: Times,
}

/// Results at one number of users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransactionLoad {
    /// Name of the measurement in the run.
    pub measurement: String,
    pub users: u32,
    /// From the start of the first user to the end of the last, nanoseconds.
    pub elapsed_ns: u64,
    /// Transactions over elapsed time, ramp and stragglers included: the document's figure.
    #[serde(with = "stats::undefined")]
    pub per_second_whole: f64,
    /// Transactions per second in the steady part.
    pub per_second_steady: Estimate,
    /// All users together.
    pub all: UserTimes,
    /// The same by profile, where there are several.
    pub profiles: Vec<UserTimes>,
    /// CPU time of this process per transaction, its overhead included, nanoseconds; on a model,
    /// the work of its processors per transaction.
    pub cpu_each_ns: Option<f64>,
    /// Mean CPU work requested per transaction, nanoseconds.
    #[serde(with = "stats::undefined")]
    pub cpu_work_each_ns: f64,
    /// Share of all processors used by this process; on a model, their utilisation.
    pub cpu_share: Option<f64>,
    /// Share of the time in which the device was busy.
    pub device_busy_share: Option<f64>,
    /// Requests in the device's queue on average, as the kernel counts them.
    pub device_queue: Option<f64>,
    /// Mean number of requests in the storage, from times measured here.
    #[serde(with = "stats::undefined")]
    pub storage_queue: f64,
    /// Read I/Os per second.
    #[serde(with = "stats::undefined")]
    pub reads_per_second: f64,
    /// Write I/Os per second.
    #[serde(with = "stats::undefined")]
    pub writes_per_second: f64,
    /// Reads of the device per second.
    pub device_reads_per_second: Option<f64>,
    /// Writes of the device per second.
    pub device_writes_per_second: Option<f64>,
    /// Share of the bytes served from the page cache.
    pub page_cache_share: Option<f64>,
    /// Minor page faults per second.
    pub minor_faults_per_second: Option<f64>,
    /// Major page faults per second.
    pub major_faults_per_second: Option<f64>,
    /// Mean size of a model's file cache, bytes.
    #[serde(default)]
    pub file_cache_bytes: Option<f64>,
    /// Mean requested think time of the transactions, nanoseconds.
    #[serde(with = "stats::undefined")]
    pub think_ns: f64,
    /// Users by Little's law: throughput times the sum of response and think time.
    pub users_by_law: Estimate,
    /// Response time by the response-time law: users over throughput minus think time, nanoseconds.
    pub response_by_law: Estimate,
    /// Activity of the machine by interval.
    pub series: Option<SystemSeries>,
}

/// One trial in the search for the largest number of users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserSearchStep {
    pub users: u32,
    /// Whether it was a fresh full-length trial, not a search step.
    pub is_final: bool,
    /// The percentile of the response time, nanoseconds. In small samples its interval is
    /// approximate.
    pub percentile: Estimate,
    /// Share of the response times within the limit; absent if unknown.
    pub within: Option<Estimate>,
    /// Outcome relative to the limit.
    pub outcome: UserSearchOutcome,
}

units::words! {
    /// Outcome of a trial relative to a limit.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum UserSearchOutcome {
        /// The whole interval of the share within the limit is at or above the required share.
        Meets = "meets",
        /// The whole interval is below it.
        Misses = "misses",
        /// The interval includes the required share, or is unknown.
        Unclear = "unclear",
    }
}

/// The number of users that meet a limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserSearchResult {
    /// The percentile, 0 to 1.
    #[serde(with = "stats::undefined")]
    pub share: f64,
    /// Its limit, nanoseconds.
    pub limit_ns: u64,
    /// The largest number of users whose upper bound meets the limit; 0 if none does.
    pub meets: u32,
    /// The smallest number of users whose lower bound misses the limit; absent if none did.
    pub misses: Option<u32>,
    /// All trials, in order.
    pub steps: Vec<UserSearchStep>,
}

/// A row of a published table, or of our results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StandardRow {
    /// The machine of the document, or `here`.
    pub machine: String,
    /// Number of tasks, or whatever the first column has.
    pub tasks: String,
    /// Cells of the columns; empty if the document has none.
    pub cells: Vec<String>,
    /// Known error in the published row; empty if none.
    pub fault: String,
}

/// A standard test of the document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StandardTable {
    /// Its section, as in `9.4`.
    pub section: String,
    /// Its subject.
    pub title: String,
    /// Column headings.
    pub columns: Vec<String>,
    /// Published rows and ours.
    pub rows: Vec<StandardRow>,
}

/// Result of `seekstone transactions`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transactions {
    /// Users started per second; absent if all start at once.
    pub ramp_per_second: Option<f64>,
    /// The loads, in order of measurement.
    pub loads: Vec<TransactionLoad>,
    /// The largest number of users within the limit, if requested.
    pub search: Option<UserSearchResult>,
    /// A standard test, if requested.
    pub standard: Option<StandardTable>,
}
