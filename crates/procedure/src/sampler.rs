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

/// The most intervals that are kept. One more, and neighbours are joined, two by two.
const SAMPLES_MAX: usize = 300;
/// The same where nobody asked for intervals: a check-up keeps those of each of its rows.
const UNASKED_MAX: usize = 40;
/// Intervals of longer trials.
const USUAL: Duration = Duration::from_secs(1);
/// Intervals of the shortest trials: the kernel counts processor time in steps of milliseconds.
const LEAST: Duration = Duration::from_millis(100);
/// Shorter trials than so many usual intervals have shorter ones.
const WANTED: f64 = 10.0;

/// How long intervals of a trial are that ends after `duration_max` in any case.
#[must_use]
pub fn usual_interval(duration_max: Duration) -> Duration {
    duration_max.mul_f64(1.0 / WANTED).min(USUAL).max(LEAST)
}

/// Collects intervals.
#[derive(Clone, Debug)]
pub(crate) struct Sampler {
    interval: Duration,
    spans_max: usize,
    closed: Vec<Span>,
    open: Span,
    /// What had been done when the interval that is open began.
    before: Activity,
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
    activity: Activity,
}

impl Sampler {
    /// A sampler of a trial that has not begun. Without an `interval` it begins with the shortest.
    pub fn new(interval: Option<Duration>, is_cached: bool) -> Self {
        assert!(interval != Some(Duration::ZERO), "intervals have a length");
        Self {
            interval: interval.unwrap_or(LEAST),
            spans_max: interval.map_or(UNASKED_MAX, |_| SAMPLES_MAX),
            closed: Vec::new(),
            open: Span::default(),
            before: Activity::default(),
            is_cached,
        }
    }

    /// Take note of what had been done when the trial began.
    pub fn begin(&mut self, activity: Activity) {
        self.before = activity;
    }

    /// Count what was completed at `at_ns` from the start of the trial. A slow worker may report
    /// what belongs to an interval that is closed.
    pub fn count(&mut self, slot: &Slot, at_ns: u64) {
        let place = self.closed.partition_point(|it| it.end_ns <= at_ns);
        let interval = self.closed.get_mut(place).unwrap_or(&mut self.open);
        interval.response.merge(&slot.response);
        interval.errors += slot.errors;
    }

    /// Whether the open interval is over. Whoever looks does so a little late; the next interval
    /// ends at a whole number of intervals all the same.
    pub fn is_due(&self, elapsed: Duration) -> bool {
        let interval = self.interval.as_nanos();
        elapsed.as_nanos() >= (self.open.begin_ns / interval + 1) * interval
    }

    /// Close the interval that is open.
    pub fn close(&mut self, elapsed: Duration, activity: &Activity) {
        let end_ns = elapsed.as_nanos();
        if end_ns <= self.open.begin_ns {
            return;
        }
        let next = Span {
            begin_ns: end_ns,
            ..Span::default()
        };
        let mut done = std::mem::replace(&mut self.open, next);
        done.end_ns = end_ns;
        done.activity = activity.since(&self.before);
        self.before = *activity;
        self.closed.push(done);
        if self.closed.len() > self.spans_max {
            self.interval = self.interval * 2;
            self.closed = self.closed.chunks(2).map(Span::over).collect();
        }
    }

    /// What was collected of the machine.
    pub fn series(&self, processors: u32) -> SystemSeries {
        let spans = self.spans();
        let samples = spans.iter();
        SystemSeries {
            interval_ns: self.interval.as_nanos(),
            samples: samples
                .map(|it| it.sample(processors, self.is_cached))
                .collect(),
        }
    }

    /// What was collected of the operations.
    pub fn intervals(&self) -> Vec<Interval> {
        self.spans().iter().map(Span::interval).collect()
    }

    fn spans(&self) -> Vec<Span> {
        let mut intervals = self.closed.clone();
        // What was completed at the very end.
        if let Some(last) = intervals.last_mut() {
            last.response.merge(&self.open.response);
            last.errors += self.open.errors;
        }
        // A short rest at the end says nothing by itself.
        if let [.., before, rest] = intervals.as_slice()
            && (rest.end_ns - rest.begin_ns) * 4 < self.interval.as_nanos()
        {
            let joined = Span::over(&[before.clone(), rest.clone()]);
            intervals.truncate(intervals.len() - 2);
            intervals.push(joined);
        }
        intervals
    }
}

impl Span {
    fn over(neighbours: &[Self]) -> Self {
        let mut sum = neighbours[0].clone();
        for next in &neighbours[1..] {
            sum.end_ns = next.end_ns;
            sum.response.merge(&next.response);
            sum.errors += next.errors;
            sum.activity = sum.activity.plus(&next.activity);
        }
        sum
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
        let length = (self.end_ns - self.begin_ns) as f64;
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
            per_second: self.response.count as f64 / (length / 1e9),
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
        assert!((SAMPLES_MAX / 2..=SAMPLES_MAX).contains(&series.samples.len()));
        assert_eq!(series.interval_ns, 64_000_000_000);
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
            (UNASKED_MAX / 2..=UNASKED_MAX).contains(&found.len()),
            "{}",
            found.len()
        );
        let whole = Interval::over(&found);
        assert_eq!((whole.end_ns, whole.begin_ns()), (100_000_000_000, 0));
        assert_eq!((whole.response().len(), whole.errors), (1_000, 1_000));
        assert_eq!(whole.foreign_share, None);
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
