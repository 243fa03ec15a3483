//! What users of transactions saw, and what the system did meanwhile.

use serde::{Deserialize, Serialize};
use stats::Estimate;

use crate::measurement::Times;
use crate::series::SystemSeries;

/// The transactions of some users, or of all: how many, how fast, how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserTimes {
    /// The profile's name; `all` for all of them.
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
    /// Mean of this sample's response times, from start: the document's figure, which says nothing
    /// of how sure it is. Nanoseconds.
    #[serde(with = "stats::undefined")]
    pub sample_mean_ns: f64,
    /// 95 % of this sample's response times, from start, lie at or below: the document's figure,
    /// which says nothing of how sure it is. Nanoseconds.
    #[serde(with = "stats::undefined")]
    pub sample_95_ns: f64,
    /// Response time from the start of a transaction: from the issue of its first operation.
    pub from_start: Times,
    /// Response time from when a transaction was due: from the end of the think time.
    pub from_due: Times,
}

/// What was measured with one number of users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransactionLoad {
    /// Name of the measurement in the run that this is about.
    pub measurement: String,
    pub users: u32,
    /// From the start of the first user to the end of the last, nanoseconds.
    pub elapsed_ns: u64,
    /// Transactions over elapsed time, stragglers and ramp included: the document's figure.
    #[serde(with = "stats::undefined")]
    pub per_second_whole: f64,
    /// Transactions per second in the steady part.
    pub per_second_steady: Estimate,
    /// All users together.
    pub all: UserTimes,
    /// The same by profile, where there are several.
    pub profiles: Vec<UserTimes>,
    /// CPU time of this process for each transaction, its own cost included, nanoseconds; on a
    /// model, what its processors worked for each.
    pub cpu_each_ns: Option<f64>,
    /// CPU work that transactions asked for on average, nanoseconds.
    #[serde(with = "stats::undefined")]
    pub cpu_work_each_ns: f64,
    /// Share of all processors that this process had; on a model, how busy they were.
    pub cpu_share: Option<f64>,
    /// Share of the time in which the device had something to do.
    pub device_busy_share: Option<f64>,
    /// Requests in the device's queue on average, as the kernel counts them.
    pub device_queue: Option<f64>,
    /// Requests that the storage had on average, as they were timed here.
    #[serde(with = "stats::undefined")]
    pub storage_queue: f64,
    /// I/Os that read, per second.
    #[serde(with = "stats::undefined")]
    pub reads_per_second: f64,
    /// I/Os that write, per second.
    #[serde(with = "stats::undefined")]
    pub writes_per_second: f64,
    /// Reads of the device per second.
    pub device_reads_per_second: Option<f64>,
    /// Writes of the device per second.
    pub device_writes_per_second: Option<f64>,
    /// Share of the bytes that the page cache answered.
    pub page_cache_share: Option<f64>,
    /// Page faults served from memory, per second.
    pub minor_faults_per_second: Option<f64>,
    /// Page faults that waited for a device, per second.
    pub major_faults_per_second: Option<f64>,
    /// Bytes in the file cache of a model on average.
    #[serde(default)]
    pub file_cache_bytes: Option<f64>,
    /// Mean think time asked for, over transactions, nanoseconds.
    #[serde(with = "stats::undefined")]
    pub think_ns: f64,
    /// Users by Little's law: throughput times the sum of response and think time.
    pub users_by_law: Estimate,
    /// Response time by the response-time law: users over throughput less think time, nanoseconds.
    pub response_by_law: Estimate,
    /// What the machine did meanwhile, interval by interval.
    pub series: Option<SystemSeries>,
}

/// One trial on the way to the largest number of users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserSearchStep {
    pub users: u32,
    /// Whether it was a fresh trial of full length, and no scout.
    pub is_final: bool,
    /// The percentile of the response time, nanoseconds; where the sample is small, its interval is
    /// a rough one.
    pub percentile: Estimate,
    /// The share of the response times within the limit; absent where nothing can be said.
    pub within: Option<Estimate>,
    /// What it says about the limit.
    pub outcome: UserSearchOutcome,
}

units::words! {
    /// What a trial says about a limit.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum UserSearchOutcome {
        /// All of the interval of the share within the limit lies at or above the share wanted.
        Meets = "meets",
        /// All of it lies below.
        Misses = "misses",
        /// It lies on both sides, or is not known.
        Unclear = "unclear",
    }
}

/// How many users meet a limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserSearchResult {
    /// Which percentile, 0 to 1.
    #[serde(with = "stats::undefined")]
    pub share: f64,
    /// What it must not exceed, nanoseconds.
    pub limit_ns: u64,
    /// The largest number of users whose upper bound meets the limit; 0 when none does.
    pub meets: u32,
    /// The smallest number of users whose lower bound misses it; absent when none did.
    pub misses: Option<u32>,
    /// All trials in their order.
    pub steps: Vec<UserSearchStep>,
}

/// One cell of a published table beside what was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StandardRow {
    /// The machine of the document, or `here`.
    pub machine: String,
    /// Tasks, or what else the first column says.
    pub tasks: String,
    /// Cells under the columns; empty where the document has none.
    pub cells: Vec<String>,
    /// What is wrong with the published row; empty when nothing is known.
    pub fault: String,
}

/// A standard test of the document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StandardTable {
    /// Its section, as in `9.4`.
    pub section: String,
    /// What it is about.
    pub title: String,
    /// Headings of the cells.
    pub columns: Vec<String>,
    /// Published rows and ours.
    pub rows: Vec<StandardRow>,
}

/// What `seekstone transactions` found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transactions {
    /// Users that start in a second; absent when all start at once.
    pub ramp_per_second: Option<f64>,
    /// What was measured, in its order.
    pub loads: Vec<TransactionLoad>,
    /// How many users meet the limit, where that was asked for.
    pub search: Option<UserSearchResult>,
    /// A standard test, where one was asked for.
    pub standard: Option<StandardTable>,
}
