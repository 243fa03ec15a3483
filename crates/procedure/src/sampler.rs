//! Cuts a trial into intervals on one time base: what users completed in each of them, beside what
//! the machine did.
//!
//! Source: the document of DISKRAND (1997), section 11, which lays a performance monitor's samples
//! beside the measured response times. There they come from two clocks; here both are cut at the
//! same instants.

use engine::Activity;
use results::{Interval, SystemSample, SystemSeries, histogram_text};
use stats::{Slot, Tally};
use units::Duration;

/// The most intervals that are kept where their length was asked for: an hour of seconds.
const SAMPLES_MAX: usize = 3_600;
/// The same where nobody asked for intervals: a check-up keeps those of each of its rows.
const UNASKED_MAX: usize = 100;
/// The same of intervals that a kind always has, beside what the machine did.
const USUAL_MAX: u64 = 300;
/// Intervals of longer trials.
const USUAL: Duration = Duration::from_secs(1);
/// Intervals of the shortest trials: the kernel counts processor time in steps of milliseconds.
const LEAST: Duration = Duration::from_millis(100);
/// Shorter trials than so many usual intervals have shorter ones.
const WANTED: f64 = 10.0;
/// Lengths to which intervals are joined when there are too many of them, ns. Each is a multiple of
/// the one before, so that whole seconds and minutes can still be made of them.
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
/// Bytes of a page, as activities count them.
const PAGE: f64 = 4096.0;
/// Operations that make the p99 of a running trial worth showing: 10 are above it.
const SHOWN_FROM: u64 = 1_000;

/// How long intervals of a trial are that ends after `duration_max` in any case: no more than
/// 300 of them.
#[must_use]
pub fn usual_interval(duration_max: Duration) -> Duration {
    let short = duration_max.mul_f64(1.0 / WANTED).min(USUAL).max(LEAST);
    let is_long_enough = |length: &u64| length.saturating_mul(USUAL_MAX) >= duration_max.as_nanos();
    let length = LENGTHS.into_iter().find(is_long_enough);
    length.map_or(short, |it| short.max(Duration::from_nanos(it)))
}

/// Collects intervals, all of the same length from the start of the trial on.
#[derive(Clone, Debug)]
pub(crate) struct Sampler {
    interval_ns: u64,
    spans_max: usize,
    spans: Vec<Span>,
    /// How many of them are over.
    closed: usize,
    /// What had been done at the last look, and when that was, ns.
    before: Activity,
    seen_ns: u64,
    /// Response times of the whole trial so far, and their p99 at the last look, ns.
    whole: Tally,
    p99_ns: Option<f64>,
    /// Whether pages that were fetched are misses of the page cache.
    is_cached: bool,
}

/// What happened in an interval.
#[derive(Clone, Debug, Default)]
struct Span {
    begin_ns: u64,
    end_ns: u64,
    response: Tally,
    errors: u64,
    /// What the machine did between the looks next to the ends of the interval, and the time
    /// between these looks, ns.
    activity: Activity,
    activity_ns: u64,
}

impl Sampler {
    /// A sampler of a trial that has not begun. Without an `interval` it begins with the shortest.
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

    /// Take note of what had been done when the trial began.
    pub fn begin(&mut self, activity: Activity) {
        self.before = activity;
    }

    /// Count what was completed at `at_ns` from the start of the trial.
    pub fn count(&mut self, slot: &Slot, at_ns: u64) {
        let span = self.span_at(at_ns);
        span.response.merge(&slot.response);
        span.errors += slot.errors;
        self.whole.merge(&slot.response);
    }

    /// The interval in which `at_ns` lies.
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

    /// Whether an interval is over since the last look.
    pub fn is_due(&self, elapsed: Duration) -> bool {
        elapsed.as_nanos() / self.interval_ns > self.closed as u64
    }

    /// Close the intervals that are over. Whoever looks does so a little late: completions are in
    /// the interval to which they belong all the same, and what the machine did is taken as a rate
    /// between the looks.
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

    /// 99 % of the response times until the last look are below this, ns; `None` of few.
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

    /// What was collected of the machine.
    pub fn series(&self, processors: u32) -> SystemSeries {
        let mut spans = self.spans();
        // A short rest at the end says nothing by itself.
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

    /// What was collected of the operations.
    pub fn intervals(&self) -> Vec<Interval> {
        self.spans().iter().map(Span::interval).collect()
    }

    /// The intervals until the last look. The last one is shorter, as a rule.
    fn spans(&self) -> Vec<Span> {
        let count = self.seen_ns.div_ceil(self.interval_ns) as usize;
        let (until, later) = self.spans.split_at(count);
        let mut spans = until.to_vec();
        if let Some(last) = spans.last_mut() {
            last.end_ns = self.seen_ns;
            // What was completed at the very end.
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

    /// The machine did that in `activity_ns` more.
    fn add(&mut self, activity: &Activity, activity_ns: u64) {
        self.activity = match (self.activity_ns, activity_ns) {
            (_, 0) => self.activity,
            (0, _) => *activity,
            _ => self.activity.plus(activity),
        };
        self.activity_ns += activity_ns;
    }

    /// What the device moved for others, of all that it moved. What the file system adds of its own
    /// and what the kernel writes late seem to be others', too: whoever knows better corrects it.
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
            // The kernel counts in milliseconds: more than the whole is rounding.
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

    /// Nobody asked: they are there all the same, and few.
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

    /// Bug: intervals ended when somebody looked, so that those of 1 s could be 1.6 s long, and
    /// `--every 5s` made 6 s of them.
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
