//! Lines of a copy's logs, from its operations in order of completion.
//!
//! The histogram classes are those documented by fio: 64 equal parts of each power of two, 1856 in
//! total, with everything above in the last.

use std::fmt::Write as _;

use units::Duration;

use super::{JobLogs, LogKind, WindowValue};

/// Log2 of the parts per power of two.
const PART_BITS: u32 = 6;
const NS_PER_MS: u64 = 1_000_000;
/// Position of the class in a priority.
const CLASS_SHIFT: u16 = 13;
/// Reads, writes and trims have separate lines.
const DIRECTIONS: usize = 3;
/// Classes of a histogram.
const CLASSES: usize = 29 << PART_BITS;

/// A completed read, write or trim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedOp {
    /// From the job's start to its completion.
    pub at: Duration,
    /// From the job's start to its issue.
    pub issued: Duration,
    /// 0 for a read, 1 for a write, 2 for a trim.
    pub direction: usize,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
    /// From ready to issued.
    pub submission: Duration,
    /// From issued to completed.
    pub completion: Duration,
    /// Its Linux I/O priority.
    pub priority: u16,
}

/// Receives each line including its end, with its log.
pub type TakeLine<'a> = &'a mut dyn FnMut(LogKind, &str);

/// Logs the operations of one copy of a job. Keeps one window and one histogram per direction,
/// however long the job is.
#[derive(Clone, Debug)]
pub struct JobLog {
    options: JobLogs,
    kinds: Vec<LogKind>,
    /// Start time, milliseconds since 1970.
    epoch_ms: u64,
    window: u64,
    sums: [LogLineSums; DIRECTIONS],
    histogram_window: u64,
    histograms: [Option<Box<Classes>>; DIRECTIONS],
    line: String,
}

/// Sums of a window in one direction.
#[derive(Clone, Copy, Debug, Default)]
struct LogLineSums {
    operations: u64,
    bytes: u64,
    /// For submission, completion, and both: the sum and the maximum, nanoseconds.
    times: [(u128, u64); 3],
}

#[derive(Clone, Debug)]
struct Classes {
    counts: [u64; CLASSES],
    operations: u64,
    /// Size of the last operation, bytes.
    len: u32,
}

impl JobLog {
    /// Logs of a copy whose job started `epoch_ms` milliseconds after 1970.
    pub fn new(options: &JobLogs, epoch_ms: u64) -> Self {
        Self {
            kinds: options.kinds_with_lines(),
            epoch_ms: if options.is_unix { epoch_ms } else { 0 },
            options: options.clone(),
            window: 0,
            sums: [LogLineSums::default(); DIRECTIONS],
            histogram_window: 0,
            histograms: [const { None }; DIRECTIONS],
            line: String::new(),
        }
    }

    /// Adds an operation, and outputs the lines of windows that have ended.
    pub fn add(&mut self, op: &LoggedOp, out: TakeLine<'_>) {
        if self.options.window == Duration::ZERO {
            self.each(op, out);
        } else {
            self.close_before(op.at, out);
            self.sums[op.direction].add(op);
        }
        if self.kinds.contains(&LogKind::Histogram)
            && self.options.histogram_window > Duration::ZERO
        {
            self.close_histogram_before(op.at, out);
            self.histograms[op.direction]
                .get_or_insert_with(|| Box::new(Classes::EMPTY))
                .add(op);
        }
    }

    /// Outputs the rest at the end of the job. A truncated window has latencies and a histogram,
    /// but no rate.
    pub fn finish(&mut self, ended: Duration, out: TakeLine<'_>) {
        if self.options.window > Duration::ZERO {
            self.close_before(ended, out);
            self.close(ended, false, out);
        }
        if self.options.histogram_window > Duration::ZERO {
            self.close_histogram_before(ended, out);
            self.close_histogram(ended, out);
        }
    }

    fn each(&mut self, op: &LoggedOp, out: TakeLine<'_>) {
        let sum = op.submission + op.completion;
        for index in 0..self.kinds.len() {
            let kind = self.kinds[index];
            let value = match kind {
                LogKind::Submission => op.submission.as_nanos(),
                LogKind::Completion => op.completion.as_nanos(),
                LogKind::Latency => sum.as_nanos(),
                LogKind::Bandwidth => match op.completion.as_nanos() {
                    0 => 0,
                    nanos => u64::from(op.len) * 1_000_000 / nanos,
                },
                LogKind::Iops => 1,
                LogKind::Histogram | LogKind::Requests => continue,
            };
            let about = About {
                at: op.at,
                direction: op.direction,
                len: op.len,
                offset: op.offset,
                issued: op.issued,
                priority: op.priority,
            };
            self.write(kind, (value, value), about, out);
        }
    }

    /// Closes windows that end at or before `at`.
    fn close_before(&mut self, at: Duration, out: TakeLine<'_>) {
        let now = at.as_nanos() / self.options.window.as_nanos();
        if now > self.window {
            self.close(self.options.window * (self.window + 1), true, out);
            self.window = now;
        }
    }

    fn close(&mut self, end: Duration, is_whole: bool, out: TakeLine<'_>) {
        let sums = std::mem::take(&mut self.sums);
        let present = sums.iter().enumerate().filter(|(_, it)| it.operations > 0);
        for (direction, sums) in present {
            for index in 0..self.kinds.len() {
                let kind = self.kinds[index];
                let rate = |amount: u64| {
                    let nanos = u128::from(self.options.window.as_nanos());
                    let rate = (u128::from(amount) * 1_000_000_000 / nanos) as u64;
                    is_whole.then_some((rate, rate))
                };
                let values = match kind {
                    LogKind::Submission => Some(sums.time(0)),
                    LogKind::Completion => Some(sums.time(1)),
                    LogKind::Latency => Some(sums.time(2)),
                    LogKind::Bandwidth => rate(sums.bytes).map(|(a, b)| (a >> 10, b >> 10)),
                    LogKind::Iops => rate(sums.operations),
                    LogKind::Histogram | LogKind::Requests => None,
                };
                let about = About {
                    at: end,
                    direction,
                    ..About::default()
                };
                if let Some(values) = values {
                    self.write(kind, values, about, out);
                }
            }
        }
    }

    fn write(
        &mut self,
        kind: LogKind,
        (mean, largest): (u64, u64),
        about: About,
        out: TakeLine<'_>,
    ) {
        let options = &self.options;
        let line = &mut self.line;
        line.clear();
        let _ = write!(
            line,
            "{}, ",
            self.epoch_ms + about.at.as_nanos() / NS_PER_MS
        );
        let _ = match options.value {
            WindowValue::Mean => write!(line, "{mean}"),
            WindowValue::Largest => write!(line, "{largest}"),
            WindowValue::Both => write!(line, "{mean}, {largest}"),
        };
        let _ = write!(line, ", {}, {}", about.direction, about.len);
        if options.has_offset {
            let _ = write!(line, ", {}", about.offset);
        }
        let _ = match options.has_priority {
            true => write!(line, ", {:#06x}", about.priority),
            // 1 for the real-time class.
            false => write!(line, ", {}", u8::from(about.priority >> CLASS_SHIFT == 1)),
        };
        if options.has_issue_time {
            let _ = write!(line, ", {}", about.issued.as_nanos());
        }
        line.push('\n');
        out(kind, line);
    }

    fn close_histogram_before(&mut self, at: Duration, out: TakeLine<'_>) {
        let window = self.options.histogram_window;
        let now = at.as_nanos() / window.as_nanos();
        if now > self.histogram_window {
            self.close_histogram(window * (self.histogram_window + 1), out);
            self.histogram_window = now;
        }
    }

    fn close_histogram(&mut self, end: Duration, out: TakeLine<'_>) {
        let together = 1 << self.options.coarseness.min(PART_BITS);
        for (direction, classes) in self.histograms.iter_mut().enumerate() {
            let Some(classes) = classes.as_mut().filter(|it| it.operations > 0) else {
                continue;
            };
            let line = &mut self.line;
            line.clear();
            let at = self.epoch_ms + end.as_nanos() / NS_PER_MS;
            let _ = write!(line, "{at}, {direction}, {}", classes.len);
            for part in classes.counts.chunks(together) {
                let _ = write!(line, ", {}", part.iter().sum::<u64>());
            }
            line.push('\n');
            out(LogKind::Histogram, line);
            **classes = Classes::EMPTY;
        }
    }
}

/// Fields of a line besides its value.
#[derive(Clone, Copy, Debug, Default)]
struct About {
    at: Duration,
    direction: usize,
    len: u32,
    offset: u64,
    issued: Duration,
    priority: u16,
}

impl LogLineSums {
    fn add(&mut self, op: &LoggedOp) {
        self.operations += 1;
        self.bytes += u64::from(op.len);
        let (submission, completion) = (op.submission.as_nanos(), op.completion.as_nanos());
        let times = [submission, completion, submission + completion];
        for ((sum, largest), time) in self.times.iter_mut().zip(times) {
            *sum += u128::from(time);
            *largest = time.max(*largest);
        }
    }

    /// The rounded mean, and the maximum.
    fn time(&self, which: usize) -> (u64, u64) {
        let (sum, largest) = self.times[which];
        let operations = u128::from(self.operations);
        (((sum + operations / 2) / operations) as u64, largest)
    }
}

impl Classes {
    const EMPTY: Self = Self {
        counts: [0; CLASSES],
        operations: 0,
        len: 0,
    };

    fn add(&mut self, op: &LoggedOp) {
        self.counts[class_of(op.completion.as_nanos())] += 1;
        self.operations += 1;
        self.len = op.len;
    }
}

/// Class of a latency in nanoseconds.
fn class_of(nanos: u64) -> usize {
    let highest = nanos.max(1).ilog2();
    if highest <= PART_BITS {
        return nanos as usize;
    }
    let power = highest - PART_BITS;
    let part = (nanos >> power) as usize - (1 << PART_BITS);
    (((power as usize + 1) << PART_BITS) + part).min(CLASSES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A class starts where the previous one ends: below 128 ns each value has its own, above each
    /// power of two has 64.
    #[test]
    fn classes_follow_each_other_without_a_gap() {
        let mut before = 0;
        for nanos in 1..1_u64 << 16 {
            let class = class_of(nanos);
            assert!(class == before || class == before + 1, "{nanos}");
            before = class;
        }
        for (nanos, class) in [
            (0, 0),
            (127, 127),
            (128, 128),
            (129, 128),
            (255, 191),
            (256, 192),
            ((1 << 34) - 1, CLASSES - 1),
            (u64::MAX, CLASSES - 1),
        ] {
            assert_eq!(class_of(nanos), class, "{nanos}");
        }
    }
}
