//! Summary of a trace, from one pass in bounded memory.

use std::collections::BTreeMap;

use stats::Histogram;

use crate::error::TraceError;
use crate::heat::{Heat, HeatMap};
use crate::record::{Notes, TraceOp, TraceReader, TraceRecord};

/// Maximum number of distinct lengths. Further ones are rounded up to a power of two.
const LENGTHS_MAX: usize = 1024;
const SECOND_NS: u64 = 1_000_000_000;
/// Number of hot spots listed.
const HOT_SPOTS: usize = 5;
/// Larger alignments are irrelevant.
const UNIT_MAX: u64 = 1 << 20;

/// Requests of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpCount {
    pub count: u64,
    /// Total bytes.
    pub bytes: u64,
}

/// Number of requests with one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthCount {
    /// Bytes.
    pub length: u64,
    /// Reads and writes of that length.
    pub count: u64,
}

/// A part of a file with many requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HotSpot {
    /// Name of the file or device.
    pub file: String,
    /// Its first byte.
    pub offset: u64,
    /// Its length, bytes.
    pub length: u64,
    /// Number of requests in it.
    pub count: u64,
}

/// What a trace asks for.
#[derive(Clone, Debug, Default)]
pub struct TraceSummary {
    /// Reads, writes, trims and syncs, in this order.
    pub ops: [OpCount; 4],
    /// From the first record to the last, nanoseconds.
    pub span_ns: u64,
    /// Times between a request and the next, nanoseconds.
    pub gaps: Histogram,
    /// Coefficient of variation of gaps: 0 if even, 1 for random arrivals, more for bursts.
    pub gap_variation: f64,
    /// Maximum number of requests in one second of the trace.
    pub busiest_second: u64,
    /// Lengths of reads and writes, the most frequent first.
    pub sizes: Vec<LengthCount>,
    /// Common alignment of offsets and lengths: a power of two, at most 1 MiB.
    pub unit: u64,
    /// Share of reads and writes that start where the previous one on the same file ended.
    pub sequential_share: f64,
    /// Files or devices with their ends: the byte after the last one used.
    pub files: Vec<(String, u64)>,
    /// Hot spots, the hottest first.
    pub hot_spots: Vec<HotSpot>,
    /// Distribution of requests over all parts.
    pub heat: Heat,
    /// Observations of the reader.
    pub notes: Notes,
}

impl TraceSummary {
    /// Requests of all kinds.
    pub fn requests(&self) -> u64 {
        self.ops.iter().map(|it| it.count).sum()
    }

    /// Reads and writes.
    pub fn moving(&self) -> u64 {
        self.ops[0].count + self.ops[1].count
    }

    /// Mean requests per second, if the trace has a length.
    pub fn per_second(&self) -> Option<f64> {
        let seconds = self.span_ns as f64 / SECOND_NS as f64;
        (self.span_ns > 0).then(|| self.requests() as f64 / seconds)
    }

    /// Total size of all files.
    pub fn extent(&self) -> u64 {
        let ends = self.files.iter().map(|(_, end)| *end);
        ends.fold(0, u64::saturating_add)
    }
}

/// Reads a trace to its end; `go_on` is called from time to time.
///
/// # Errors
/// At the first error in it.
pub fn summarise(
    reader: &mut dyn TraceReader,
    mut go_on: impl FnMut() -> bool,
) -> Result<TraceSummary, TraceError> {
    const LOOK_EVERY: u64 = 1 << 16;
    let mut pass = SummaryBuilder::default();
    let mut count = 0_u64;
    while let Some(record) = reader.next_record()? {
        pass.add(&record);
        count += 1;
        if count.is_multiple_of(LOOK_EVERY) && !go_on() {
            break;
        }
    }
    Ok(pass.finish(reader))
}

#[derive(Default)]
struct SummaryBuilder {
    found: TraceSummary,
    lengths: BTreeMap<u64, u64>,
    heat: HeatMap,
    /// By file: end of the last request, and the highest end.
    ends: Vec<(Option<u64>, u64)>,
    sequential: u64,
    last_at: Option<u64>,
    /// Mean and sum of squared deviations of gaps (Welford).
    gap_mean: f64,
    gap_squares: f64,
    second: u64,
    in_second: u64,
}

impl SummaryBuilder {
    fn add(&mut self, record: &TraceRecord) {
        let kind = match record.op {
            TraceOp::Read => 0,
            TraceOp::Write => 1,
            TraceOp::Trim => 2,
            TraceOp::Sync => 3,
        };
        let op = &mut self.found.ops[kind];
        op.count += 1;
        op.bytes = op.bytes.saturating_add(record.length);
        self.add_time(record.at);
        if matches!(record.op, TraceOp::Read | TraceOp::Write) {
            self.add_place(record);
        }
    }

    fn add_time(&mut self, at: u64) {
        if let Some(last) = self.last_at.replace(at) {
            let gap = at - last;
            self.found.gaps.record(gap);
            let before = gap as f64 - self.gap_mean;
            self.gap_mean += before / self.found.gaps.len() as f64;
            self.gap_squares += before * (gap as f64 - self.gap_mean);
        }
        self.found.span_ns = at;
        if at / SECOND_NS != self.second {
            (self.second, self.in_second) = (at / SECOND_NS, 0);
        }
        self.in_second += 1;
        self.found.busiest_second = self.found.busiest_second.max(self.in_second);
    }

    fn add_place(&mut self, record: &TraceRecord) {
        let length = match self.lengths.len() < LENGTHS_MAX {
            true => record.length,
            false if self.lengths.contains_key(&record.length) => record.length,
            false => record.length.checked_next_power_of_two().unwrap_or(1 << 63),
        };
        *self.lengths.entry(length).or_insert(0) += 1;
        let unit = 1 << (record.offset | record.length | UNIT_MAX).trailing_zeros();
        let found = &mut self.found.unit;
        *found = if *found == 0 { unit } else { unit.min(*found) };
        let file = record.file as usize;
        if self.ends.len() <= file {
            self.ends.resize(file + 1, (None, 0));
        }
        let (last, highest) = &mut self.ends[file];
        self.sequential += u64::from(*last == Some(record.offset));
        *last = Some(record.end());
        *highest = (*highest).max(record.end());
        self.heat.add(record.file, record.offset);
    }

    fn finish(mut self, reader: &dyn TraceReader) -> TraceSummary {
        let mut found = self.found;
        let gaps = found.gaps.len() as f64;
        if self.gap_mean > 0.0 && gaps > 1.0 {
            found.gap_variation = (self.gap_squares / (gaps - 1.0)).sqrt() / self.gap_mean;
        }
        let sizes = self.lengths.iter();
        let mut sizes: Vec<LengthCount> = sizes
            .map(|(&length, &count)| LengthCount { length, count })
            .collect();
        sizes.sort_by_key(|it| (std::cmp::Reverse(it.count), it.length));
        found.sizes = sizes;
        found.sequential_share = self.sequential as f64 / found.moving().max(1) as f64;
        let names = reader.files();
        self.ends.resize(names.len(), (None, 0));
        let ends = self.ends.iter().map(|(_, end)| *end);
        found.files = names.iter().cloned().zip(ends).collect();
        let hottest = self.heat.hottest(HOT_SPOTS);
        found.hot_spots = hottest
            .into_iter()
            .map(|(file, offset, count)| HotSpot {
                file: names.get(file as usize).cloned().unwrap_or_default(),
                offset,
                length: self.heat.part_bytes(),
                count,
            })
            .collect();
        found.heat = self.heat.finish(&found.files, found.moving());
        found.notes = reader.notes().clone();
        found
    }
}
