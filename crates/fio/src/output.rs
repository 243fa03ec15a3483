//! fio's output formats, from our measurements.
//!
//! `clat` is the service time, `slat` the time from ready to submission, which fio does not measure
//! for synchronous engines, `lat` the sum of both. The time from when a request of a rate was due
//! is under the key `seekstone`.

mod idleness;
mod json;
mod normal;
mod terse;

use std::collections::BTreeMap;

use stats::Histogram;
use units::{Duration, TimeSpan};

use crate::job::{PercentilesOf, ReportedDirections};
use crate::steady::SteadyReport;

pub use idleness::Idleness;
pub use json::{Document, json};
pub use normal::normal;
pub use terse::{TerseVersion, terse};

/// The version expected by parsers: the fio whose formats these are.
pub const VERSION: &str = "fio-3.33";

/// fio's names of directions.
const NAMES: [&str; 3] = ["read", "write", "trim"];

/// fio's default percentiles.
pub const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// Transfers of a row in one direction. Times are in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Transfers {
    /// fio's `lat`: from ready to completed.
    pub whole: Histogram,
    /// fio's `clat`: from issued to completed.
    pub service: Histogram,
    /// fio's `slat`: from ready to issued, for asynchronous engines.
    pub submission: Histogram,
    /// Bytes moved.
    pub bytes: u64,
    /// Recorded time, from the start of the run.
    pub span: TimeSpan,
    /// Operations and bytes in each window.
    pub windows: Vec<(u64, u64)>,
    /// Length of a window.
    pub window: Duration,
    /// Bytes per second of all rows in its group, set by [`share_in_groups`].
    pub group_rate: f64,
    /// Times by priority, if requests differ in it.
    pub priorities: Vec<PriorityTimes>,
}

/// Times of requests with one priority.
#[derive(Clone, Debug, Default)]
pub struct PriorityTimes {
    /// Linux's class, and the level within it.
    pub class: u16,
    pub level: u16,
    /// As in [`Transfers`].
    pub whole: Histogram,
    /// As in [`Transfers`].
    pub service: Histogram,
}

/// System counters of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// User CPU time, in percent of one processor.
    pub user_percent: f64,
    /// System CPU time, likewise.
    pub system_percent: f64,
    /// Major page faults.
    pub major_faults: u64,
    /// Minor page faults.
    pub minor_faults: u64,
}

/// Activity of a disk during the jobs, from all processes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiskUse {
    pub name: String,
    /// Completed reads and writes.
    pub operations: [u64; 2],
    /// Merged reads and writes.
    pub merges: [u64; 2],
    /// Milliseconds of reads and writes.
    pub ticks_ms: [u64; 2],
    /// Milliseconds of all requests.
    pub queue_ms: u64,
    /// Percentage of the time in which it was busy.
    pub busy_percent: f64,
}

/// Host of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientHost {
    /// Its name in the report.
    pub title: String,
    /// Host name.
    pub name: String,
}

/// One row: a copy of a job, or a group.
#[derive(Clone, Debug, Default)]
pub struct JobReport {
    /// The job's name.
    pub name: String,
    /// The host, if several took part; absent for their sum.
    pub client: Option<ClientHost>,
    pub group: u32,
    /// Number of copies in the row.
    pub copies: u32,
    /// fio's name of its pattern, its engine, and its block sizes.
    pub rw: String,
    /// The engine's name.
    pub engine: String,
    /// Depth.
    pub depth: u32,
    /// Requests under way at once: the depth, or the mean where a rate or pauses keep it lower.
    pub in_flight: u32,
    /// Options of its own section and of the command line.
    pub options: Vec<(String, String)>,
    /// errno value that ended it; 0 for none.
    pub error: i32,
    /// Reads, writes and trims.
    pub transfers: [Transfers; 3],
    /// All of them combined.
    pub together: Transfers,
    pub flushes: Transfers,
    /// Percentiles, 0 to 100.
    pub percentiles: Vec<f64>,
    /// Which times have percentiles.
    pub percentiles_of: PercentilesOf,
    /// Whether reads, writes and trims are combined.
    pub directions: ReportedDirections,
    /// Minimum and maximum request size of reads, writes and trims, bytes.
    pub sizes: [(u64, u64); 3],
    /// Seconds from the start of the first job of all to the end of the last.
    pub seconds_in_all: u64,
    /// Its system counters.
    pub usage: Usage,
    /// Its steady state, if requested.
    pub steady: Option<SteadyReport>,
    /// Our additions, as JSON.
    pub own: Option<serde_json::Value>,
}

/// Minimum, maximum, mean and standard deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SampleStatistics {
    pub least: f64,
    pub most: f64,
    pub mean: f64,
    pub deviation: f64,
    pub count: u64,
}

impl SampleStatistics {
    /// Statistics of a histogram, with buckets represented by their middles.
    pub(crate) fn of(histogram: &Histogram) -> Self {
        if histogram.is_empty() {
            return Self::default();
        }
        let mean = histogram.mean();
        let squares: f64 = histogram
            .iter_recorded()
            .map(|bucket| {
                let middle = f64::midpoint(bucket.low as f64, bucket.high as f64);
                let middle = middle.clamp(histogram.min() as f64, histogram.max() as f64);
                (middle - mean).powi(2) * bucket.count as f64
            })
            .sum();
        Self {
            least: histogram.min() as f64,
            most: histogram.max() as f64,
            mean,
            deviation: (squares / histogram.len() as f64).sqrt(),
            count: histogram.len(),
        }
    }

    fn of_values(values: &[f64]) -> Self {
        if values.is_empty() {
            return Self::default();
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self {
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            most: values.iter().copied().fold(0.0, f64::max),
            mean,
            deviation: (squares / count).sqrt(),
            count: values.len() as u64,
        }
    }
}

impl Transfers {
    /// Operations.
    pub fn count(&self) -> u64 {
        self.service.len()
    }

    fn per_second(&self, amount: f64) -> f64 {
        let seconds = self.span.length().as_secs_f64();
        if seconds > 0.0 { amount / seconds } else { 0.0 }
    }

    pub(crate) fn iops(&self) -> f64 {
        self.per_second(self.count() as f64)
    }

    pub(crate) fn bytes_per_second(&self) -> f64 {
        self.per_second(self.bytes as f64)
    }

    /// Whole milliseconds, at least one if anything was done, as in fio.
    pub(crate) fn milliseconds(&self) -> u64 {
        let nanos = self.span.length().as_nanos();
        if nanos == 0 {
            0
        } else {
            (nanos / 1_000_000).max(1)
        }
    }

    /// Percentage of its group's rate that a mean rate (KiB/s) is: fio's `bw_agg`.
    pub(crate) fn share_of_group(&self, bw: &SampleStatistics) -> f64 {
        match bw.count > 0 && self.group_rate > 0.0 {
            true => (bw.mean * 1024.0 * 100.0 / self.group_rate).min(100.0),
            false => 0.0,
        }
    }

    pub(crate) fn windows(&self) -> [SampleStatistics; 2] {
        let whole = self.windows.len().saturating_sub(1);
        let seconds = self.window.as_secs_f64().max(1e-9);
        let rates = |of: fn(&(u64, u64)) -> f64| {
            let values = self.windows[..whole].iter().map(|it| of(it) / seconds);
            SampleStatistics::of_values(&values.collect::<Vec<_>>())
        };
        [rates(|it| it.0 as f64), rates(|it| it.1 as f64 / 1024.0)]
    }
}

/// Sets in each row the rate of its group: as in fio, all bytes of its rows over the longest time.
pub fn share_in_groups(jobs: &mut [JobReport]) {
    type OfDirection = fn(&mut JobReport) -> &mut Transfers;
    let directions: [OfDirection; 4] = [
        |job| &mut job.transfers[0],
        |job| &mut job.transfers[1],
        |job| &mut job.transfers[2],
        |job| &mut job.together,
    ];
    for of_direction in directions {
        let mut groups: BTreeMap<u32, (u64, f64)> = BTreeMap::new();
        for job in &mut *jobs {
            let (bytes, longest) = groups.entry(job.group).or_default();
            let moved = of_direction(job);
            *bytes += moved.bytes;
            *longest = longest.max(moved.span.length().as_secs_f64());
        }
        for job in &mut *jobs {
            let (bytes, longest) = groups[&job.group];
            of_direction(job).group_rate = bytes as f64 / longest.max(1e-9);
        }
    }
}

impl JobReport {
    /// Its name, preceded by that of its host if it has one.
    pub(crate) fn title(&self) -> String {
        match &self.client {
            None => self.name.clone(),
            Some(client) => format!("<{}> {}", client.title, self.name),
        }
    }

    pub(crate) fn is_apart(&self) -> bool {
        self.directions != ReportedDirections::Together
    }

    /// The directions reported separately, by name.
    pub(crate) fn parts(&self) -> Vec<(&'static str, &Transfers)> {
        let apart = NAMES.into_iter().zip(&self.transfers);
        let mixed = ("mixed", &self.together);
        match self.directions {
            ReportedDirections::Apart => apart.collect(),
            ReportedDirections::Together => vec![mixed],
            ReportedDirections::Both => apart.chain([mixed]).collect(),
        }
    }

    pub(crate) fn percentiles(&self) -> &[f64] {
        match self.percentiles.is_empty() {
            true => &PERCENTILES,
            false => &self.percentiles,
        }
    }

    /// Percentage of requests in each latency class: of nanoseconds, microseconds and milliseconds.
    pub(crate) fn classes(&self) -> [Vec<(String, f64)>; 3] {
        let total: u64 = self.transfers.iter().map(Transfers::count).sum();
        let unit = |bounds: &[u64], scale: u64, before: u64| {
            let mut low = before;
            let mut classes = Vec::new();
            for &bound in bounds {
                let high = bound * scale;
                let count: u64 = self.within(low, high);
                classes.push((bound.to_string(), share(count, total)));
                low = high;
            }
            classes
        };
        const BOUNDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
        let mut millis = unit(&[&BOUNDS[..], &[2000]].concat(), 1_000_000, 1_000_000);
        let above = self.within(2_000_000_000, u64::MAX);
        millis.push((">=2000".into(), share(above, total)));
        [unit(&BOUNDS, 1, 0), unit(&BOUNDS, 1000, 1000), millis]
    }

    /// Number of requests with latencies from `low` to below `high`.
    fn within(&self, low: u64, high: u64) -> u64 {
        let of = |transfers: &Transfers| -> u64 {
            let buckets = transfers.service.iter_recorded();
            buckets
                .filter(|bucket| (low..high).contains(&bucket.low))
                .map(|bucket| bucket.count)
                .sum()
        };
        self.transfers.iter().map(of).sum()
    }
}

/// The percentile: the value of its bucket, or the maximum. fio states one however few values there
/// are; its reliability is under our own key.
pub(crate) fn percentile(histogram: &Histogram, percent: f64) -> u64 {
    let rank = (percent / 100.0 * histogram.len() as f64).ceil().max(1.0) as u64;
    let mut counted = 0;
    for bucket in histogram.iter_recorded() {
        counted += bucket.count;
        if counted >= rank {
            return bucket.high.min(histogram.max());
        }
    }
    histogram.max()
}

fn share(count: u64, total: u64) -> f64 {
    count as f64 * 100.0 / total.max(1) as f64
}

/// fio's class of a depth.
pub(crate) fn depth_class(depth: u32) -> usize {
    (depth.max(1).ilog2() as usize).min(6)
}

/// fio's class of submission batches, which here are at most an eighth of the depth.
pub(crate) fn batch_class(depth: u32) -> usize {
    match (depth / 8).max(1) {
        0..=4 => 1,
        5..=8 => 2,
        9..=16 => 3,
        17..=32 => 4,
        33..=64 => 5,
        _ => 6,
    }
}

pub(crate) const BATCH_CLASSES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
pub(crate) const DEPTH_CLASSES: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
