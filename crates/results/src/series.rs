//! Activity of the machine during a trial, by interval, on one time base.

use serde::{Deserialize, Serialize};
use stats::Estimate;

/// One interval. Values that the machine or the model does not report are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SystemSample {
    /// End of the interval, from the start of the trial, nanoseconds.
    pub end_ns: u64,
    /// Length of the interval, nanoseconds.
    pub length_ns: u64,
    /// Transactions that were completed in it.
    pub transactions: u64,
    /// Transactions per second.
    #[serde(with = "stats::undefined")]
    pub per_second: f64,
    /// Mean response time of these transactions, from due, nanoseconds.
    pub response_mean_ns: Option<f64>,
    /// Share of all processors used, by any process.
    pub cpu_share: Option<f64>,
    /// Share of all processors that this process used.
    pub cpu_own_share: Option<f64>,
    /// Share of the interval in which the device was busy.
    pub device_busy_share: Option<f64>,
    /// Mean number of requests in the device.
    pub device_queue: Option<f64>,
    /// Mean device time of a request, nanoseconds.
    pub device_transfer_ns: Option<f64>,
    /// Reads of the device per second.
    pub device_reads_per_second: Option<f64>,
    /// Writes of the device per second.
    pub device_writes_per_second: Option<f64>,
    /// Bytes moved by the device per second.
    pub device_bytes_per_second: Option<f64>,
    /// Pages that this process caused to be read from a device, per second: page-cache misses and
    /// read-ahead. Absent with direct I/O.
    pub page_cache_misses_per_second: Option<f64>,
    /// Minor page faults of this process per second.
    pub minor_faults_per_second: Option<f64>,
    /// Major page faults of this process per second.
    pub major_faults_per_second: Option<f64>,
    /// Mean size of a model's file cache, bytes.
    pub file_cache_bytes: Option<f64>,
}

/// A model's law for its steady-state throughput.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteadyLaw {
    /// The law, in words.
    pub name: String,
    /// Operations per second before cleaning starts.
    #[serde(with = "stats::undefined")]
    pub fresh_per_second: f64,
    /// Operations per second in steady state.
    #[serde(with = "stats::undefined")]
    pub steady_per_second: f64,
}

/// A queueing law's steady-state prediction for a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueLaw {
    /// Name of the law, as in `M/M/1`.
    pub name: String,
    /// Mean time in the queue, nanoseconds.
    #[serde(with = "stats::undefined")]
    pub wait_mean_ns: f64,
    /// Mean service time, nanoseconds.
    #[serde(with = "stats::undefined")]
    pub service_mean_ns: f64,
    /// Mean of wait plus service, nanoseconds.
    #[serde(with = "stats::undefined")]
    pub response_mean_ns: f64,
    /// Operations per second.
    #[serde(with = "stats::undefined")]
    pub per_second: f64,
}

/// Theory for a load on a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Law {
    /// For random writes to flash.
    Steady(SteadyLaw),
    Queue(QueueLaw),
}

/// Measured wait and service time of operations on a simulated queue, as in queueing theory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerTimes {
    /// Mean time from due until service starts, nanoseconds.
    pub wait: Estimate,
    /// Mean service time, nanoseconds.
    pub service: Estimate,
}

/// The intervals of a trial, in order and without gaps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SystemSeries {
    /// Intended length of an interval, nanoseconds. The last one is usually shorter.
    pub interval_ns: u64,
    /// The intervals.
    pub samples: Vec<SystemSample>,
}

impl SystemSeries {
    /// At most `count` samples, merged from neighbours.
    pub fn condensed(&self, count: usize) -> Vec<SystemSample> {
        let together = self.samples.len().div_ceil(count.max(1)).max(1);
        let groups = self.samples.chunks(together);
        groups.map(SystemSample::over).collect()
    }

    /// All samples merged into one, if there are any.
    pub fn total(&self) -> Option<SystemSample> {
        (!self.samples.is_empty()).then(|| SystemSample::over(&self.samples))
    }
}

impl SystemSample {
    /// Merges adjacent samples: rates and shares are weighted by time, response times by
    /// transactions, device times by requests.
    pub fn over(samples: &[Self]) -> Self {
        let length_ns: u64 = samples.iter().map(|sample| sample.length_ns).sum();
        let transactions: u64 = samples.iter().map(|sample| sample.transactions).sum();
        let over_time = |of: fn(&Self) -> Option<f64>| {
            mean(samples, |sample| {
                of(sample).map(|value| (value, sample.length_ns as f64))
            })
        };
        Self {
            end_ns: samples.last().map_or(0, |sample| sample.end_ns),
            length_ns,
            transactions,
            per_second: transactions as f64 / (length_ns as f64 / 1e9).max(1e-9),
            response_mean_ns: mean(samples, |sample| {
                let weight = sample.transactions as f64;
                sample.response_mean_ns.map(|value| (value, weight))
            }),
            cpu_share: over_time(|it| it.cpu_share),
            cpu_own_share: over_time(|it| it.cpu_own_share),
            device_busy_share: over_time(|it| it.device_busy_share),
            device_queue: over_time(|it| it.device_queue),
            device_transfer_ns: mean(samples, |sample| {
                let reads = sample.device_reads_per_second?;
                let rate = reads + sample.device_writes_per_second?;
                Some((sample.device_transfer_ns?, rate * sample.length_ns as f64))
            }),
            device_reads_per_second: over_time(|it| it.device_reads_per_second),
            device_writes_per_second: over_time(|it| it.device_writes_per_second),
            device_bytes_per_second: over_time(|it| it.device_bytes_per_second),
            page_cache_misses_per_second: over_time(|it| it.page_cache_misses_per_second),
            minor_faults_per_second: over_time(|it| it.minor_faults_per_second),
            major_faults_per_second: over_time(|it| it.major_faults_per_second),
            file_cache_bytes: over_time(|it| it.file_cache_bytes),
        }
    }
}

/// Weighted mean of the known values.
fn mean(samples: &[SystemSample], of: impl Fn(&SystemSample) -> Option<(f64, f64)>) -> Option<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (value, weight) in samples.iter().filter_map(of) {
        sum += value * weight;
        weights += weight;
    }
    (weights > 0.0).then(|| sum / weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_joined_by_what_they_weigh() {
        let sample = |end_s: u64, length_s: u64, transactions: u64, busy, response| SystemSample {
            end_ns: end_s * 1_000_000_000,
            length_ns: length_s * 1_000_000_000,
            transactions,
            per_second: transactions as f64 / length_s as f64,
            response_mean_ns: response,
            device_busy_share: busy,
            ..SystemSample::default()
        };
        let series = SystemSeries {
            interval_ns: 1_000_000_000,
            samples: vec![
                sample(1, 1, 30, Some(0.4), Some(1e6)),
                sample(4, 3, 10, Some(0.8), Some(5e6)),
                sample(5, 1, 0, None, None),
            ],
        };
        let joined = series.condensed(2);
        assert_eq!(joined.len(), 2);
        let expected = SystemSample {
            per_second: 10.0,
            ..sample(4, 4, 40, Some(0.7), Some(2e6))
        };
        let off = joined[0].device_busy_share.map(|busy| (busy - 0.7).abs());
        assert!(off < Some(1e-12), "{:?}", joined[0]);
        let joined = SystemSample {
            device_busy_share: Some(0.7),
            ..joined[0].clone()
        };
        assert_eq!(joined, expected);
        assert_eq!(series.condensed(100), series.samples);
        let total = series.total().expect("some samples");
        assert_eq!((total.transactions, total.length_ns), (40, 5_000_000_000));
        assert_eq!(SystemSeries::default().total(), None);
    }
}
