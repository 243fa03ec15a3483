//! Characterises the load of a trace: over its whole length, by kind of request, and by time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};

use stats::Histogram;

use crate::error::TraceError;
use crate::record::{TraceOp, TraceReader, TraceRecord};
use crate::summary::TraceSummary;

/// Number of periods of a trace.
const PERIODS: u64 = 10;
/// Number of windows in which reads and writes are counted.
const TIME_WINDOWS: u64 = 400;
/// Windows of the index of dispersion, nanoseconds.
const WINDOWS_NS: [u64; 4] = [1_000_000, 10_000_000, 100_000_000, 1_000_000_000];
/// Minimum number of windows for an index.
const WINDOWS_MIN: u64 = 20;
/// The working set is initially counted in parts of this size ...
const PART_BITS: u32 = 16;
/// ... which are enlarged when there are more than this many.
const PARTS_MAX: usize = 1 << 20;
/// Maximum number of distinct lengths. Further ones are rounded up to a power of two.
const LENGTHS_MAX: usize = 1024;
/// Number of shares of the target in which offsets are counted.
const PLACES: usize = 100;
/// Maximum number of processes listed.
const PROCESSES_MAX: usize = 10;
/// Maximum depth that is distinguished.
const DEPTH_MAX: usize = 1 << 16;

/// Reads, or writes.
#[derive(Clone, Debug, Default)]
pub struct OpProfile {
    pub count: u64,
    pub bytes: u64,
    /// Requests that start where the previous one of the same kind on the same file ended.
    pub sequential: u64,
    /// By length: how many requests have it.
    pub lengths: BTreeMap<u64, u64>,
    /// By hundredth of the bytes that the trace reaches: requests that begin there.
    pub places: Vec<u64>,
    /// Number of requests by four-hundredth of the trace's time.
    pub by_time: Vec<u64>,
    /// Their times, nanoseconds, if the trace has them.
    pub took: Histogram,
}

impl OpProfile {
    /// Mean length of sequential runs, in requests.
    pub fn run_mean(&self) -> f64 {
        self.count as f64 / (self.count - self.sequential).max(1) as f64
    }
}

/// A tenth of a trace.
#[derive(Clone, Debug, Default)]
pub struct PeriodProfile {
    /// Requests of each kind: reads, writes, trims, syncs.
    pub ops: [u64; 4],
    pub bytes: u64,
    /// Mean number of requests in flight, if known.
    pub depth_mean: Option<f64>,
    /// Times of requests, nanoseconds.
    pub took: Histogram,
    /// Bytes of the parts touched in it, and of those not touched before.
    pub touched: u64,
    pub new: u64,
}

/// Number of requests in flight, by time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceDepth {
    pub mean: f64,
    pub p99: u64,
    pub max: u64,
}

/// Dependencies between requests.
#[derive(Clone, Debug, Default)]
pub struct WriteChains {
    /// Writes from one sync to the next.
    pub writes_per_sync: Histogram,
    /// Requests made by a process without another one in flight.
    pub alone: u64,
    /// From the end of the previous request to such a request, nanoseconds.
    pub think: Histogram,
}

/// A process of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessProfile {
    /// Its number in the recording.
    pub process: u32,
    pub requests: u64,
    pub bytes: u64,
}

/// Characteristics of a load.
#[derive(Clone, Debug, Default)]
pub struct LoadProfile {
    /// From the first request to the last, nanoseconds.
    pub span_ns: u64,
    /// Reads and writes.
    pub ops: [OpProfile; 2],
    /// Window in nanoseconds, and the index of dispersion: the variance of arrivals per window over
    /// their mean. 1 for random arrivals, more for bursts.
    pub dispersion: Vec<(u64, f64)>,
    /// Its tenths.
    pub periods: Vec<PeriodProfile>,
    pub depth: Option<TraceDepth>,
    pub chains: WriteChains,
    /// Processes of a recording, the busiest first.
    pub processes: Vec<ProcessProfile>,
    /// Number of processes.
    pub process_count: u64,
    /// Bytes of all parts touched, and the size of a part.
    pub working_set: u64,
    pub part_bytes: u64,
}

/// Reads a summarised trace again; `go_on` is called from time to time.
///
/// # Errors
/// At the first error in it.
pub fn profile(
    reader: &mut dyn TraceReader,
    summary: &TraceSummary,
    mut go_on: impl FnMut() -> bool,
) -> Result<LoadProfile, TraceError> {
    const LOOK_EVERY: u64 = 1 << 16;
    let mut pass = ProfileBuilder::new(summary);
    let mut count = 0_u64;
    while let Some(record) = reader.next_record()? {
        pass.add(&record, reader);
        count += 1;
        if count.is_multiple_of(LOOK_EVERY) && !go_on() {
            break;
        }
    }
    Ok(pass.finish())
}

struct ProfileBuilder {
    found: LoadProfile,
    period_ns: u64,
    /// Start of each file if all were concatenated, and the end of the last one.
    bases: Vec<u64>,
    extent: u64,
    /// By kind and file: end of the last request.
    ends: [Vec<Option<u64>>; 2],
    windows: [DispersionWindow; WINDOWS_NS.len()],
    depth: DepthCount,
    working_set: WorkingSet,
    /// By process: end of its last request, and its profile.
    processes: BTreeMap<u32, (u64, ProcessProfile)>,
    writes: u64,
}

/// Counts of requests in windows of one length.
#[derive(Clone, Copy, Default)]
struct DispersionWindow {
    number: u64,
    count: u64,
    sum: f64,
    squares: f64,
}

impl DispersionWindow {
    fn add(&mut self, number: u64) {
        if number != self.number {
            self.close();
            self.number = number;
        }
        self.count += 1;
    }

    fn close(&mut self) {
        let count = self.count as f64;
        self.sum += count;
        self.squares += count * count;
        self.count = 0;
    }

    /// The index over complete windows, empty ones included.
    fn index(mut self) -> Option<f64> {
        // The last window is incomplete.
        let windows = self.number;
        self.count = 0;
        let mean = self.sum / windows.max(1) as f64;
        let variance = self.squares / windows.max(1) as f64 - mean * mean;
        (windows >= WINDOWS_MIN && mean > 0.0).then(|| variance / mean)
    }
}

/// Number of requests in flight.
#[derive(Default)]
struct DepthCount {
    ends: BinaryHeap<Reverse<u64>>,
    at: u64,
    /// Time by depth, nanoseconds.
    time: Vec<u64>,
    /// By period: the integral of depth over time.
    sums: Vec<f64>,
}

impl DepthCount {
    fn pass(&mut self, until: u64, period_ns: u64) {
        let depth = self.ends.len();
        let length = until.saturating_sub(self.at);
        let slot = depth.min(DEPTH_MAX);
        if self.time.len() <= slot {
            self.time.resize(slot + 1, 0);
        }
        self.time[slot] += length;
        let period = (self.at / period_ns).min(PERIODS - 1) as usize;
        if let Some(sum) = self.sums.get_mut(period) {
            *sum += depth as f64 * length as f64;
        }
        self.at = self.at.max(until);
    }

    fn add(&mut self, at: u64, took: u64, period_ns: u64) {
        while let Some(&Reverse(end)) = self.ends.peek()
            && end <= at
        {
            self.pass(end, period_ns);
            self.ends.pop();
        }
        self.pass(at, period_ns);
        self.ends.push(Reverse(at.saturating_add(took)));
    }

    fn finish(&self) -> Option<TraceDepth> {
        let all: u64 = self.time.iter().sum();
        let sums = self.time.iter().enumerate();
        let mean = sums
            .map(|(depth, time)| depth as f64 * *time as f64)
            .sum::<f64>();
        let max = self.time.iter().rposition(|it| *it > 0)?;
        let mut left = all / 100;
        let p99 = self.time.iter().rposition(|time| {
            let is_it = *time > left;
            left = left.saturating_sub(*time);
            is_it
        });
        (all > 0).then(|| TraceDepth {
            mean: mean / all as f64,
            p99: p99.unwrap_or(0) as u64,
            max: max as u64,
        })
    }
}

/// Parts touched, in a period and in total.
struct WorkingSet {
    bits: u32,
    all: HashSet<u64>,
    period: HashSet<u64>,
    new: u64,
}

impl WorkingSet {
    fn add(&mut self, place: u64) {
        let part = place >> self.bits;
        if self.period.insert(part) && self.all.insert(part) {
            self.new += 1;
        }
        while self.all.len() > PARTS_MAX && self.bits < 63 {
            self.bits += 1;
            let coarser = |parts: &HashSet<u64>| parts.iter().map(|it| it >> 1).collect();
            (self.all, self.period) = (coarser(&self.all), coarser(&self.period));
            self.new /= 2;
        }
    }

    fn end_period(&mut self, period: &mut PeriodProfile) {
        period.touched = (self.period.len() as u64) << self.bits;
        period.new = self.new << self.bits;
        self.period.clear();
        self.new = 0;
    }
}

impl ProfileBuilder {
    fn new(summary: &TraceSummary) -> Self {
        let mut extent = 0_u64;
        let bases = summary.files.iter().map(|(_, end)| {
            let base = extent;
            extent = extent.saturating_add(*end);
            base
        });
        let bases = bases.collect();
        let op = || OpProfile {
            places: vec![0; PLACES],
            by_time: vec![0; TIME_WINDOWS as usize],
            ..OpProfile::default()
        };
        let depth = DepthCount {
            sums: vec![0.0; PERIODS as usize],
            ..DepthCount::default()
        };
        Self {
            found: LoadProfile {
                span_ns: summary.span_ns,
                ops: [op(), op()],
                ..LoadProfile::default()
            },
            period_ns: (summary.span_ns / PERIODS).max(1),
            bases,
            extent,
            ends: Default::default(),
            windows: Default::default(),
            depth,
            working_set: WorkingSet {
                bits: PART_BITS,
                all: HashSet::new(),
                period: HashSet::new(),
                new: 0,
            },
            processes: BTreeMap::new(),
            writes: 0,
        }
    }

    fn add(&mut self, record: &TraceRecord, reader: &dyn TraceReader) {
        let period = (record.at / self.period_ns).min(PERIODS - 1) as usize;
        while self.found.periods.len() <= period {
            if let Some(last) = self.found.periods.last_mut() {
                self.working_set.end_period(last);
            }
            self.found.periods.push(PeriodProfile::default());
        }
        for (window, length) in self.windows.iter_mut().zip(WINDOWS_NS) {
            window.add(record.at / length);
        }
        let detail = reader.detail();
        let took = detail.and_then(|it| it.took);
        let now = &mut self.found.periods[period];
        now.ops[record.op as usize] += 1;
        if let Some(took) = took {
            now.took.record(took);
            self.depth.add(record.at, took, self.period_ns);
        }
        if let Some(detail) = detail {
            self.add_process(record, detail.process, took);
        }
        match record.op {
            TraceOp::Read => self.add_place(record, took, 0, period),
            TraceOp::Write => {
                self.writes += 1;
                self.add_place(record, took, 1, period);
            }
            TraceOp::Trim => {}
            TraceOp::Sync => {
                let writes = std::mem::take(&mut self.writes);
                self.found.chains.writes_per_sync.record(writes);
            }
        }
    }

    fn add_process(&mut self, record: &TraceRecord, process: u32, took: Option<u64>) {
        let first = ProcessProfile {
            process,
            requests: 0,
            bytes: 0,
        };
        let (end, asked) = self.processes.entry(process).or_insert((0, first));
        if asked.requests > 0 && record.at >= *end {
            self.found.chains.alone += 1;
            self.found.chains.think.record(record.at - *end);
        }
        *end = (*end).max(record.at.saturating_add(took.unwrap_or(0)));
        asked.requests += 1;
        asked.bytes = asked.bytes.saturating_add(record.length);
    }

    fn add_place(&mut self, record: &TraceRecord, took: Option<u64>, op: usize, period: usize) {
        let span_ns = self.found.span_ns.max(1);
        let found = &mut self.found.ops[op];
        found.count += 1;
        found.bytes = found.bytes.saturating_add(record.length);
        let is_known =
            found.lengths.len() < LENGTHS_MAX || found.lengths.contains_key(&record.length);
        let length = match is_known {
            true => record.length,
            false => record.length.checked_next_power_of_two().unwrap_or(1 << 63),
        };
        *found.lengths.entry(length).or_insert(0) += 1;
        if let Some(took) = took {
            found.took.record(took);
        }
        let file = record.file as usize;
        let ends = &mut self.ends[op];
        if ends.len() <= file {
            ends.resize(file + 1, None);
        }
        found.sequential += u64::from(ends[file] == Some(record.offset));
        ends[file] = Some(record.end());
        let base = self.bases.get(file).copied().unwrap_or(0);
        let place = base.saturating_add(record.offset);
        let part = u128::from(place) * PLACES as u128 / u128::from(self.extent.max(1));
        found.places[(part as usize).min(PLACES - 1)] += 1;
        let window = u128::from(record.at) * u128::from(TIME_WINDOWS);
        let window = (window / u128::from(span_ns)) as usize;
        let last = found.by_time.len() - 1;
        found.by_time[window.min(last)] += 1;
        self.working_set.add(place);
        let now = &mut self.found.periods[period];
        now.bytes = now.bytes.saturating_add(record.length);
    }

    fn finish(mut self) -> LoadProfile {
        let mut found = self.found;
        if let Some(last) = found.periods.last_mut() {
            self.working_set.end_period(last);
        }
        let windows = self.windows.into_iter().zip(WINDOWS_NS);
        let index = |(window, length): (DispersionWindow, u64)| Some((length, window.index()?));
        found.dispersion = windows.filter_map(index).collect();
        found.depth = self.depth.finish();
        if found.depth.is_some() {
            for (period, sum) in found.periods.iter_mut().zip(&self.depth.sums) {
                period.depth_mean = Some(sum / self.period_ns as f64);
            }
        }
        found.process_count = self.processes.len() as u64;
        found.processes = self.processes.into_values().map(|it| it.1).collect();
        found
            .processes
            .sort_by_key(|it| (Reverse(it.requests), it.process));
        found.processes.truncate(PROCESSES_MAX);
        found.part_bytes = 1 << self.working_set.bits;
        found.working_set = (self.working_set.all.len() as u64) << self.working_set.bits;
        found
    }
}
