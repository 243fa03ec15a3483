//! The table of trials.

use crate::environment::DeviceTime;
use crate::measurement::{Measurement, Work};
use crate::metric::*;
use crate::table::{Figure, Role, Row, Table, Trust};

/// Name of the table of trials.
pub(super) const NAME: &str = "measurements";
/// Operations of at least this many bytes are judged by throughput.
const STREAMING_BYTES: f64 = 65_536.0;

/// Trials by name.
pub(super) fn table(measurements: &[Measurement]) -> Table {
    let rows = measurements.iter().map(|it| row(vec![it.name.clone()], it));
    Table::new(NAME, &["measurement"], rows.collect())
}

/// A trial as a row with these levels.
pub(super) fn row(levels: Vec<String>, it: &Measurement) -> Row {
    let detail = |figure: Figure| figure.as_role(Role::Detail);
    let mut figures = vec![IOPS.of(it.throughput)];
    figures.extend(it.bandwidth.map(|it| THROUGHPUT.of(it)));
    if !it.is_all_failed() {
        figures.extend(LATENCY.of_times(&it.response));
        figures.extend(SERVICE_TIME.of_times(&it.service).map(detail));
        let longest = it.response.max_ns as f64 / 1e9;
        figures.push(LATENCY_MAX.exact(longest));
    }
    figures.extend([
        CLIENTS.exact(it.clients),
        OPERATIONS.count(it.completions),
        ERRORS.count(it.errors_total()),
        DURATION.exact(it.duration_ns as f64 / 1e9),
        QUEUE_DEPTH.bare(it.effective_depth),
    ]);
    figures.extend(it.offered.map(|it| OFFERED.exact(it)));
    figures.extend(it.cpu.map(|cost| {
        let seconds = cost.per_operation_ns / 1e9;
        CPU_PER_IO.bare(seconds)
    }));
    let device_time = it.counters.as_ref().and_then(|it| it.device_time);
    figures.extend(device_time.iter().flat_map(of_device));
    figures.extend(it.page_cache_share.map(|it| PAGE_CACHE_SHARE.bare(it)));
    let trust = it.trust();
    Row::new(levels, figures, headline(it), trust).warned(&it.warnings)
}

/// How far its figures can be used, by its verdict and warnings. Unstable if the interval of its
/// headline is unknown or includes zero.
pub(super) fn of_device(time: &DeviceTime) -> impl Iterator<Item = Figure> + use<> {
    let means = [
        (DEVICE_TIME_READ, time.read_mean_ns),
        (DEVICE_TIME_WRITE, time.write_mean_ns),
    ];
    means
        .into_iter()
        .filter_map(|(metric, mean)| Some(metric.bare_ns(mean?)))
}

impl Measurement {
    /// How far its figures can be used, by its verdict and warnings; not if the interval of its
    /// headline is unknown or includes zero.
    pub fn trust(&self) -> Trust {
        let trust = Trust::of(&self.verdict, &self.warnings);
        match self.has_interval() {
            true => trust,
            false => trust.max(Trust::Unstable),
        }
    }

    /// Whether the interval of its headline is informative.
    pub fn has_interval(&self) -> bool {
        let headline = match (headline(self), self.bandwidth) {
            ("latency", _) => self.response.mean,
            ("throughput", Some(bandwidth)) => bandwidth,
            _ => self.throughput,
        };
        headline.is_bounded() && (headline.low > 0.0 || headline.high <= 0.0)
    }
}

/// The headline figure of a trial: the time at low depth, bytes per second for streams, files per
/// second for whole files.
fn headline(it: &Measurement) -> &'static str {
    let bytes = it.bytes_all as f64 / it.completions_all.max(1) as f64;
    match it.work {
        _ if it.is_all_failed() => "iops",
        Work::File => "iops",
        Work::Operation if it.bandwidth.is_some() && bytes >= STREAMING_BYTES => "throughput",
        Work::Operation | Work::Transaction => "latency",
    }
}
