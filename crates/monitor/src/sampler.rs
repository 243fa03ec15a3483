//! Divides a trial into intervals on one time base, with the completions of users and the activity
//! of the machine in each.
//!
//! Source: the document of DISKRAND (1997), section 11, which compares a performance monitor's
//! samples with measured response times. There they come from two clocks. Here both use the same
//! intervals.

use engine::Activity;
use results::{Interval, SystemSample, SystemSeries, histogram_text};
use stats::{Slot, Tally};
use units::Duration;

/// Maximum number of intervals of a requested length: an hour of seconds.
const SAMPLES_MAX: usize = 3_600;
/// The same for intervals that were not requested: a check-up keeps those of each row.
const UNASKED_MAX: usize = 100;
/// The same for kinds that always record the machine's activity.
const USUAL_MAX: u64 = 300;
/// Interval length of longer trials.
const USUAL: Duration = Duration::from_secs(1);
/// Interval length of the shortest trials. The kernel counts CPU time in milliseconds.
const LEAST: Duration = Duration::from_millis(100);
/// Trials shorter than this many usual intervals get shorter ones.
const WANTED: f64 = 10.0;
/// Lengths to which intervals are merged if there are too many, ns. Each is a multiple of the
/// previous one, so that whole seconds and minutes can still be formed.
const LENGTHS: [u64; 9] = [
    100_000_000,
    500_000_000,
    1_000_000_000,
    5_000_000_000,
    10_000_000_000,
    60_000_000_000,
    300_000_000_000,
    600_000_000_000,
    3_600_000_000_000,
];
/// Page size in activity counters, bytes.
const PAGE: f64 = 4096.0;
/// Minimum number of operations to show the p99 of a running trial: 10 are above it.
const SHOWN_FROM: u64 = 1_000;

/// Interval length for a trial with the time limit `duration_max`: at most 300 intervals.
pub fn usual_interval(duration_max: Duration) -> Duration {
    let short = duration_max.mul_f64(1.0 / WANTED).min(USUAL).max(LEAST);
    let is_long_enough = |length: &u64| length.saturating_mul(USUAL_MAX) >= duration_max.as_nanos();
    let length = LENGTHS.into_iter().find(is_long_enough);
    length.map_or(short, |it| short.max(Duration::from_nanos(it)))
}

/// Collects intervals of equal length from the start of the trial.
#[derive(Clone, Debug)]
pub(crate) struct Sampler {
    interval_ns: u64,
    spans_max: usize,
    spans: Vec<Span>,
    /// Number of finished intervals.
    closed: usize,
    /// Counters at the last reading, and its time, ns.
    before: Activity,
    seen_ns: u64,
    /// Response times of the trial so far, and their p99 at the last reading, ns.
    whole: Tally,
    p99_ns: Option<f64>,
    /// Whether pages read from the device are page-cache misses.
    is_cached: bool,
}

/// Activity in one interval.
#[derive(Clone, Debug, Default)]
struct Span {
    begin_ns: u64,
    end_ns: u64,
    response: Tally,
    errors: u64,
    /// Activity of the machine between the readings next to the ends of the interval, and the time
    /// between them, ns.
    activity: Activity,
    activity_ns: u64,
}

impl Sampler {
    /// A sampler for a trial. Without an `interval` it starts with the shortest.
    pub fn new(interval: Option<Duration>, is_cached: bool) -> Self {
        assert!(interval != Some(Duration::ZERO), "intervals have a length");
        Self {
            interval_ns: interval.unwrap_or(LEAST).as_nanos(),
            spans_max: interval.map_or(UNASKED_MAX, |_| SAMPLES_MAX),
            spans: Vec::new(),
            closed: 0,
            before: Activity::default(),
            seen_ns: 0,
            whole: Tally::default(),
            p99_ns: None,
            is_cached,
        }
    }

    /// Records the counters at the start of the trial.
    pub fn begin(&mut self, activity: Activity) {
        self.before = activity;
    }

    /// Counts completions at `at_ns` from the start of the trial.
    pub fn count(&mut self, slot: &Slot, at_ns: u64) {
        let span = self.span_at(at_ns);
        span.response.merge(&slot.response);
        span.errors += slot.errors;
        self.whole.merge(&slot.response);
    }

    /// The interval that contains `at_ns`.
    fn span_at(&mut self, at_ns: u64) -> &mut Span {
        while at_ns / self.interval_ns >= self.spans_max as u64 {
            self.join_neighbours();
        }
        let place = (at_ns / self.interval_ns) as usize;
        for at in self.spans.len()..=place {
            let begin_ns = at as u64 * self.interval_ns;
            self.spans.push(Span {
                begin_ns,
                end_ns: begin_ns + self.interval_ns,
                ..Span::default()
            });
        }
        &mut self.spans[place]
    }

    fn join_neighbours(&mut self) {
        let is_multiple =
            |it: &&u64| **it > self.interval_ns && it.is_multiple_of(self.interval_ns);
        let longer = LENGTHS.iter().find(is_multiple);
        let together = longer.map_or(2, |it| it / self.interval_ns);
        self.interval_ns *= together;
        let chunks = self.spans.chunks(together as usize);
        self.spans = chunks.map(Span::over).collect();
        self.closed /= together as usize;
        if let Some(last) = self.spans.last_mut() {
            last.end_ns = last.begin_ns + self.interval_ns;
        }
    }

    /// Whether an interval has ended since the last reading.
    pub fn is_due(&self, elapsed: Duration) -> bool {
        elapsed.as_nanos() / self.interval_ns > self.closed as u64
    }

    /// Closes finished intervals. Readings come a little late: completions still belong to their
    /// own interval, and the machine's activity is taken as a rate between readings.
    pub fn close(&mut self, elapsed: Duration, activity: &Activity) {
        let now_ns = elapsed.as_nanos();
        if now_ns <= self.seen_ns {
            return;
        }
        self.span_at(now_ns - 1);
        let over = (now_ns / self.interval_ns) as usize;
        let done = activity.since(&self.before);
        for span in &mut self.spans[self.closed..over.max(self.closed + 1)] {
            span.add(&done, now_ns - self.seen_ns);
        }
        self.closed = over;
        self.before = *activity;
        self.seen_ns = now_ns;
        let has_enough = self.whole.count >= SHOWN_FROM;
        self.p99_ns = has_enough.then(|| self.whole.bins.quantile(0.99)).flatten();
    }

    /// The 99th percentile of the response times until the last reading, ns; `None` with too few.
    pub const fn p99_ns(&self) -> Option<f64> {
        self.p99_ns
    }

    /// The mean response time so far, ns.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.whole.count > 0).then(|| self.whole.sum / self.whole.count as f64)
    }

    /// Operations so far.
    pub const fn operations(&self) -> u64 {
        self.whole.count
    }

    /// Series of the machine's activity.
    pub fn series(&self, processors: u32) -> SystemSeries {
        let mut spans = self.spans();
        // A short remainder at the end is not meaningful by itself.
        if let [.., before, rest] = spans.as_slice()
            && (rest.end_ns - rest.begin_ns) * 4 < self.interval_ns
        {
            let joined = Span::over(&[before.clone(), rest.clone()]);
            spans.truncate(spans.len() - 2);
            spans.push(joined);
        }
        let samples = spans.iter();
        SystemSeries {
            interval_ns: self.interval_ns,
            samples: samples
                .map(|it| it.sample(processors, self.is_cached))
                .collect(),
        }
    }

    /// Intervals with response times.
    pub fn intervals(&self) -> Vec<Interval> {
        self.spans().iter().map(Span::interval).collect()
    }

    /// The intervals until the last reading. The last one is usually shorter.
    fn spans(&self) -> Vec<Span> {
        let count = self.seen_ns.div_ceil(self.interval_ns) as usize;
        let (until, later) = self.spans.split_at(count);
        let mut spans = until.to_vec();
        if let Some(last) = spans.last_mut() {
            last.end_ns = self.seen_ns;
            // Completions at the very end.
            for span in later {
                last.response.merge(&span.response);
                last.errors += span.errors;
            }
        }
        spans
    }
}

impl Span {
    fn over(neighbours: &[Self]) -> Self {
        let mut sum = neighbours[0].clone();
        for next in &neighbours[1..] {
            sum.end_ns = next.end_ns;
            sum.response.merge(&next.response);
            sum.errors += next.errors;
            sum.add(&next.activity, next.activity_ns);
        }
        sum
    }

    /// Adds activity of the machine over `activity_ns`.
    fn add(&mut self, activity: &Activity, activity_ns: u64) {
        self.activity = match (self.activity_ns, activity_ns) {
            (_, 0) => self.activity,
            (0, _) => *activity,
            _ => self.activity.plus(activity),
        };
        self.activity_ns += activity_ns;
    }

    /// Share of the device's bytes moved for other processes. I/O that the file system adds and
    /// delayed kernel writes also count here, unless the caller corrects for them.
    fn foreign_share(&self) -> Option<f64> {
        let (all, own) = (self.activity.device_bytes?, self.activity.own_bytes?);
        (all > 0).then(|| all.saturating_sub(own) as f64 / all as f64)
    }

    fn interval(&self) -> Interval {
        Interval {
            end_ns: self.end_ns,
            length_ns: self.end_ns - self.begin_ns,
            errors: self.errors,
            foreign_share: self.foreign_share(),
            response_histogram: match self.response.count {
                0 => String::new(),
                _ => histogram_text(&self.response.to_histogram()),
            },
        }
    }

    fn sample(&self, processors: u32, is_cached: bool) -> SystemSample {
        let seconds = (self.end_ns - self.begin_ns) as f64 / 1e9;
        let length = self.activity_ns as f64;
        let done = &self.activity;
        let share = |part: Option<u64>, whole: f64| part.map(|part| part as f64 / whole);
        let rate = |count: Option<u64>| share(count, length / 1e9);
        let there = done.cpu_there_ns.filter(|&there| there > 0);
        let requests = done.device_reads.zip(done.device_writes);
        let requests = requests
            .map(|(reads, writes)| reads + writes)
            .filter(|&all| all > 0);
        SystemSample {
            end_ns: self.end_ns,
            length_ns: self.end_ns - self.begin_ns,
            transactions: self.response.count,
            per_second: self.response.count as f64 / seconds,
            response_mean_ns: (self.response.count > 0)
                .then(|| self.response.sum / self.response.count as f64),
            cpu_share: there
                .and_then(|there| share(done.cpu_busy_ns, there as f64))
                .map(|share| share.min(1.0)),
            cpu_own_share: share(done.cpu_own_ns, length * f64::from(processors.max(1)))
                .map(|share| share.min(1.0)),
            // The kernel counts in milliseconds, so more than the whole is a rounding error.
            device_busy_share: share(done.device_busy_ns, length).map(|share| share.min(1.0)),
            device_queue: share(done.device_queue_ns, length),
            device_transfer_ns: requests
                .and_then(|requests| share(done.device_queue_ns, requests as f64)),
            device_reads_per_second: rate(done.device_reads),
            device_writes_per_second: rate(done.device_writes),
            device_bytes_per_second: rate(done.device_bytes),
            page_cache_misses_per_second: rate(done.pages_fetched).filter(|_| is_cached),
            minor_faults_per_second: rate(done.minor_faults),
            major_faults_per_second: rate(done.major_faults),
            file_cache_bytes: share(done.file_cache_page_us, length / 1e3).map(|it| it * PAGE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(ms: u64) -> Activity {
        Activity {
            cpu_busy_ns: Some(ms * 1_000_000),
            cpu_there_ns: Some(4 * ms * 1_000_000),
            device_reads: Some(ms),
            device_writes: Some(0),
            device_queue_ns: Some(3 * ms * 1_000_000),
            device_bytes: Some(4 * ms),
            own_bytes: Some(ms),
            pages_fetched: Some(2 * ms),
            ..Activity::default()
        }
    }

    fn slot(completions: u64) -> Slot {
        let mut slot = Slot {
            completions,
            errors: 1,
            ..Slot::default()
        };
        (0..completions).for_each(|_| slot.response.record(1_000_000));
        slot
    }

    #[test]
    fn both_are_cut_at_the_same_instants() {
        let mut sampler = Sampler::new(Some(Duration::from_secs(1)), true);
        sampler.begin(busy(500));
        sampler.count(&slot(3), 900_000_000);
        assert!(!sampler.is_due(Duration::from_millis(999)));
        assert!(sampler.is_due(Duration::from_secs(1)));
        sampler.close(Duration::from_secs(1), &busy(1500));
        // This one was late: it belongs to the first interval.
        sampler.count(&slot(2), 999_000_000);
        sampler.count(&slot(7), 1_000_000_000);
        sampler.close(Duration::from_secs(2), &busy(1500));
        let series = sampler.series(2);
        let [first, second] = series.samples.as_slice() else {
            panic!("two intervals: {series:?}");
        };
        assert_eq!((first.transactions, second.transactions), (5, 7));
        assert_eq!(
            (first.end_ns, second.length_ns),
            (1_000_000_000, 1_000_000_000)
        );
        assert_eq!(first.response_mean_ns, Some(1e6));
        assert_eq!((first.cpu_share, second.cpu_share), (Some(0.25), None));
        assert_eq!(first.device_transfer_ns, Some(3e6));
        let rates = (
            first.device_reads_per_second,
            first.page_cache_misses_per_second,
        );
        assert_eq!(rates, (Some(1000.0), Some(2000.0)));
        assert_eq!(first.major_faults_per_second, None);

        let [first, second] = sampler.intervals().try_into().expect("two intervals");
        assert_eq!((first.errors, second.errors), (2, 1));
        assert_eq!(
            (first.end_ns, second.begin_ns()),
            (1_000_000_000, 1_000_000_000)
        );
        let held = first.response();
        assert_eq!(
            (held.len(), held.min(), held.max()),
            (5, 1_000_000, 1_000_000)
        );
        assert_eq!(
            (first.foreign_share, second.foreign_share),
            (Some(0.75), None)
        );
    }

    #[test]
    fn a_long_trial_keeps_a_bounded_number_of_intervals() {
        let mut sampler = Sampler::new(Some(Duration::from_secs(1)), false);
        sampler.begin(busy(0));
        let mut end = 0;
        for second in 1..=10_000_u64 {
            sampler.count(&slot(1), second * 1_000_000_000 - 1);
            let elapsed = Duration::from_secs(second);
            if sampler.is_due(elapsed) {
                sampler.close(elapsed, &busy(second));
                end = second;
            }
        }
        let series = sampler.series(1);
        assert_eq!(series.samples.len(), 2_000);
        assert_eq!(series.interval_ns, 5_000_000_000);
        let all: u64 = series.samples.iter().map(|it| it.transactions).sum();
        let total = series.total().expect("samples");
        assert_eq!((all, total.end_ns), (10_000, end * 1_000_000_000));
        assert_eq!(total.page_cache_misses_per_second, None);
    }

    /// Without a request, intervals exist but are few.
    #[test]
    fn unasked_intervals_begin_short_and_are_few() {
        let mut sampler = Sampler::new(None, false);
        sampler.begin(Activity::default());
        for tenth in 1..=1_000_u64 {
            sampler.count(&slot(1), tenth * 100_000_000 - 1);
            let elapsed = Duration::from_millis(100 * tenth);
            if sampler.is_due(elapsed) {
                sampler.close(elapsed, &Activity::default());
            }
        }
        sampler.close(Duration::from_secs(100), &Activity::default());
        let found = sampler.intervals();
        assert!(
            found.iter().all(|it| it.length_ns == 1_000_000_000),
            "{found:?}"
        );
        assert_eq!(found.len(), UNASKED_MAX);
        let whole = Interval::over(&found);
        assert_eq!((whole.end_ns, whole.begin_ns()), (100_000_000_000, 0));
        assert_eq!((whole.response().len(), whole.errors), (1_000, 1_000));
        assert_eq!(whole.foreign_share, None);
    }

    /// Bug: intervals ended when they were read, so that intervals of 1 s could last 1.6 s, and
    /// `--every 5s` made them 6 s.
    #[test]
    fn intervals_are_as_long_as_asked_whenever_somebody_looks() {
        let mut sampler = Sampler::new(Some(Duration::from_secs(1)), false);
        sampler.begin(busy(0));
        for (slot_ms, look_ms) in [(900, 1_016), (1_010, 1_500), (2_100, 3_300), (3_400, 4_500)] {
            sampler.count(&slot(1), slot_ms * 1_000_000);
            let elapsed = Duration::from_millis(look_ms);
            if sampler.is_due(elapsed) {
                sampler.close(elapsed, &busy(look_ms));
            }
        }
        sampler.count(&slot(1), 4_700_000_000);
        sampler.close(Duration::from_millis(4_800), &busy(4_800));
        let series = sampler.series(1);
        let ends: Vec<u64> = series
            .samples
            .iter()
            .map(|it| it.end_ns / 1_000_000)
            .collect();
        assert_eq!(ends, [1_000, 2_000, 3_000, 4_000, 4_800]);
        let counts: Vec<u64> = series.samples.iter().map(|it| it.transactions).collect();
        assert_eq!(counts, [1, 1, 1, 1, 1]);
        let reads = series.samples.iter().map(|it| it.device_reads_per_second);
        assert!(reads.flatten().all(|it| (it - 1_000.0).abs() < 1e-9));
        assert_eq!((sampler.operations(), sampler.p99_ns()), (5, None));
    }

    #[test]
    fn shorter_trials_have_shorter_intervals() {
        let check = |trial_ms: u64, expected_ms: u64| {
            let found = usual_interval(Duration::from_millis(trial_ms));
            assert_eq!(found, Duration::from_millis(expected_ms), "{trial_ms} ms");
        };
        check(300_000, 1000);
        check(10_000, 1000);
        check(2_000, 200);
        check(200, 100);
    }
}
