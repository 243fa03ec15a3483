//! One of several workloads of a trial as a separate measurement.
//!
//! Counts and bytes cover the whole trial, so that rows add up to it exactly. Rates are means over
//! the windows after the trial's warm-up. Slots hold all workloads together, so times are evaluated
//! like those of an operation kind in a mix.

use engine::{KindRecord, RowRecord, WINDOW};
use results::{Measurement, Times};
use stats::{Estimate, Histogram, mean_interval};
use units::Duration;
use workload::OpKind;

use crate::mixed::{least_independent, times};
use crate::single::{kind_times, no_drift};

/// Minimum number of windows for an interval of a rate.
const WINDOWS_MIN: usize = 10;

/// Properties of a row known before it is measured.
#[derive(Clone, Debug)]
pub struct RowOutline {
    pub name: String,
    /// Description.
    pub title: String,
    /// Outstanding requests, or clients.
    pub clients: u32,
    /// Offered load, operations per second, if it has a rate.
    pub offered: Option<f64>,
    /// Time from the trial's start to the start of its record.
    pub from: Duration,
    /// Whether it ends by itself before the trial does.
    pub has_own_end: bool,
}

/// The row as a measurement; `whole` is that of its trial.
pub fn row_measurement(
    whole: &Measurement,
    outline: RowOutline,
    records: &[(OpKind, RowRecord)],
) -> Measurement {
    let transfers = records.iter().filter(|(kind, _)| *kind != OpKind::Flush);
    let mut all = RowRecord::default();
    transfers.for_each(|(_, record)| all.merge(record));
    let count = all.response.len();
    let share = count as f64 / whole.completions_all.max(1) as f64;
    let rates = Rates::of(whole, &outline, &all);
    let service = judged(&whole.service, &all.service, share);
    Measurement {
        name: outline.name,
        title: outline.title,
        clients: outline.clients,
        nominal_depth: outline.clients,
        offered: outline.offered,
        workers: whole.workers,
        access: whole.access,
        driver: whole.driver.clone(),
        seed: whole.seed,
        response: judged(&whole.response, &all.response, share),
        effective_depth: rates.operations.value * service.mean.value / 1e9,
        service,
        throughput: rates.operations,
        bandwidth: (all.bytes > 0).then_some(rates.bytes),
        kinds: records
            .iter()
            .map(|it| kind_times(it.0, &of_row(&it.1)))
            .collect(),
        completions: rates.count,
        duration_ns: rates.duration_ns,
        completions_all: count,
        bytes_all: all.bytes,
        warmup_ns: whole.warmup_ns,
        verdict: whole.verdict,
        drift: no_drift(),
        ..Measurement::empty()
    }
}

fn judged(whole: &Times, histogram: &Histogram, share: f64) -> Times {
    times(histogram, least_independent(whole) * share)
}

fn of_row(record: &RowRecord) -> KindRecord {
    KindRecord {
        response: record.response.clone(),
        service: record.service.clone(),
        bytes: record.bytes,
    }
}

/// Completions per second.
struct Rates {
    operations: Estimate,
    bytes: Estimate,
    count: u64,
    duration_ns: u64,
}

impl Rates {
    fn of(whole: &Measurement, outline: &RowOutline, all: &RowRecord) -> Self {
        let width = WINDOW.as_nanos();
        let from = outline.from.as_nanos();
        let length = match outline.has_own_end {
            true => all.span.length().as_nanos(),
            false => (whole.warmup_ns + whole.duration_ns).saturating_sub(from),
        };
        let first = whole.warmup_ns.saturating_sub(from).div_ceil(width) as usize;
        let last = (length / width) as usize;
        let empty = std::iter::repeat(&(0, 0));
        let windows = all.windows.iter().chain(empty).take(last).skip(first);
        let windows: Vec<(u64, u64)> = windows.copied().collect();
        if windows.len() < WINDOWS_MIN {
            let duration_ns = all.span.length().as_nanos().max(1);
            let rate = |count: u64| {
                let per_second = count as f64 * 1e9 / duration_ns as f64;
                Estimate::exact(per_second, 0.0).without_interval()
            };
            let count = all.response.len();
            return Self {
                operations: rate(count),
                bytes: rate(all.bytes),
                count,
                duration_ns,
            };
        }
        let rate = |of: &dyn Fn(&(u64, u64)) -> u64| {
            let series = windows
                .iter()
                .map(|it| of(it) as f64 / WINDOW.as_secs_f64());
            mean_interval(&series.collect::<Vec<f64>>())
        };
        Self {
            operations: rate(&|it| it.0),
            bytes: rate(&|it| it.1),
            count: windows.iter().map(|it| it.0).sum(),
            duration_ns: windows.len() as u64 * width,
        }
    }
}

#[cfg(test)]
mod tests {
    use units::TimeSpan;

    use super::*;

    const MS: u64 = 1_000_000;

    /// 50 operations of 4 KiB in each of `windows` windows.
    fn record(windows: usize) -> RowRecord {
        let mut record = RowRecord {
            span: TimeSpan::new(Duration::ZERO, WINDOW * windows as u64),
            windows: vec![(50, 50 * 4096); windows],
            bytes: windows as u64 * 50 * 4096,
            ..RowRecord::default()
        };
        record.response.record_n(2 * MS, windows as u64 * 50);
        record.service.record_n(MS, windows as u64 * 50);
        record
    }

    fn row(record: RowRecord, from_ms: u64, has_own_end: bool) -> Measurement {
        let whole = Measurement {
            warmup_ns: 900 * MS,
            duration_ns: 19_100 * MS,
            completions_all: 4000,
            ..Measurement::empty()
        };
        let outline = RowOutline {
            name: "a".into(),
            title: "a".into(),
            clients: 4,
            offered: None,
            from: Duration::from_millis(from_ms),
            has_own_end,
        };
        row_measurement(&whole, outline, &[(OpKind::Read, record)])
    }

    #[test]
    fn counts_are_of_the_whole_trial_and_rates_of_the_windows_behind_the_warm_up() {
        let found = row(record(40), 0, false);
        assert_eq!(
            (found.completions_all, found.bytes_all),
            (2000, 2000 * 4096)
        );
        // Two windows of 40 are warm-up.
        assert_eq!((found.completions, found.duration_ns), (1900, 19_000 * MS));
        assert!((found.throughput.value - 100.0).abs() < 1e-9);
        assert!(found.throughput.is_bounded());
        // 100/s with a device time of 1 ms.
        assert!((found.effective_depth - 0.1).abs() < 0.001);
        assert_eq!(found.kinds.len(), 1);
    }

    /// A stalled workload has windows without operations, which count.
    #[test]
    fn what_is_silent_at_the_end_is_slow_unless_it_has_ended() {
        let silent = row(record(21), 0, false);
        assert!((silent.throughput.value - 50.0).abs() < 1e-9);
        let ended = row(record(22), 0, true);
        assert!((ended.throughput.value - 100.0).abs() < 1e-9);
        let late = row(record(20), 10_000, false);
        assert!((late.throughput.value - 100.0).abs() < 1e-9);
    }

    #[test]
    fn few_windows_give_a_rate_without_an_interval() {
        let found = row(record(4), 0, true);
        assert!((found.throughput.value - 100.0).abs() < 1e-9);
        assert!(!found.throughput.is_bounded());
    }
}
