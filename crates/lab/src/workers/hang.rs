//! When unanswered operations are reported, and when they are abandoned. Uses no clock, so that it
//! works in virtual time, too.

use std::fmt;

use engine::Outstanding;
use units::{Duration, format_counted};

/// Operations are reported if nothing completed for this long ...
const REPORTED_AFTER: Duration = Duration::from_secs(5);
/// ... or if a stopping run has waited for this long.
const REPORTED_STOPPING_AFTER: Duration = Duration::from_secs(1);

/// Operations that the storage does not answer, for a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unanswered {
    pub operations: u64,
    /// How long nothing completed.
    pub span: Duration,
    /// Whether the run is stopping and waits only for these.
    pub is_stopping: bool,
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operations = format_counted(self.operations, "operation");
        let span = whole_seconds(self.span);
        match self.is_stopping {
            false => write!(f, "{operations} outstanding for {span}"),
            true => write!(
                f,
                "Waiting for {operations}, outstanding for {span}. Ctrl-C again keeps what was \
                 measured."
            ),
        }
    }
}

fn whole_seconds(span: Duration) -> String {
    format!("{:.0} s", span.as_secs_f64())
}

/// Watches the outstanding requests of a trial. All times are from its start.
#[derive(Clone, Copy, Debug)]
pub struct HangWatch {
    /// How long a finished trial waits for a completion.
    limit: Duration,
    /// When the trial's time is over; `None` if its work ends it.
    ends_after: Option<Duration>,
    seen: Outstanding,
    last_answer: Duration,
    over_since: Option<Duration>,
    stopping_since: Option<Duration>,
}

impl HangWatch {
    /// For a trial whose time is over after `ends_after`; `None` if its work ends it.
    pub fn new(limit: Duration, ends_after: Option<Duration>) -> Self {
        Self {
            limit,
            ends_after,
            seen: Outstanding::default(),
            last_answer: Duration::ZERO,
            over_since: None,
            stopping_since: None,
        }
    }

    /// Records the outstanding requests.
    pub fn see(&mut self, elapsed: Duration, outstanding: Outstanding) {
        if outstanding.answered != self.seen.answered || outstanding.operations == 0 {
            self.last_answer = elapsed;
        }
        self.seen = outstanding;
    }

    /// The trial is over: only outstanding requests are waited for.
    pub fn end(&mut self, elapsed: Duration) {
        self.over_since.get_or_insert(elapsed);
    }

    /// The run is stopping.
    pub fn stop(&mut self, elapsed: Duration) {
        self.stopping_since.get_or_insert(elapsed);
    }

    /// Whether the run is stopping.
    pub const fn is_stopping(&self) -> bool {
        self.stopping_since.is_some()
    }

    /// Outstanding requests, and how long nothing completed.
    pub fn unanswered(&self, elapsed: Duration) -> Unanswered {
        Unanswered {
            operations: self.seen.operations,
            span: elapsed.saturating_sub(self.last_answer),
            is_stopping: self.is_stopping(),
        }
    }

    /// The same, if it has lasted long enough to be reported.
    pub fn report(&self, elapsed: Duration) -> Option<Unanswered> {
        let unanswered = self.unanswered(elapsed);
        let stopping = self
            .stopping_since
            .map(|since| elapsed.saturating_sub(since));
        let is_long = unanswered.span >= REPORTED_AFTER
            || stopping.is_some_and(|span| span >= REPORTED_STOPPING_AFTER);
        (unanswered.operations > 0 && is_long).then_some(unanswered)
    }

    /// Whether outstanding requests are to be abandoned.
    pub fn is_over_limit(&self, elapsed: Duration) -> bool {
        let waits_since = match (self.over_since, self.ends_after) {
            (Some(over), _) => over.max(self.last_answer),
            (None, Some(end)) => end.max(self.last_answer),
            (None, None) => self.last_answer,
        };
        self.seen.operations > 0 && elapsed.saturating_sub(waits_since) >= self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn outstanding(operations: u64, answered: u64) -> Outstanding {
        Outstanding {
            operations,
            answered,
        }
    }

    fn report(watch: &HangWatch, second: u64) -> Option<String> {
        watch.report(SECOND * second).map(|it| it.to_string())
    }

    /// Bug: in a trial of 8 s whose storage stops responding at 5 s, is stopped at 20 s, and waits
    /// for a minute, the screen said "at most 0 s left", and nothing after Ctrl-C.
    #[test]
    fn a_hang_is_told_and_waited_for_as_long_as_was_asked_for() {
        let mut watch = HangWatch::new(SECOND * 60, Some(SECOND * 8));
        for second in 0..=5 {
            watch.see(SECOND * second, outstanding(4, 1000 * second));
        }
        assert_eq!(report(&watch, 9), None);
        assert_eq!(
            report(&watch, 10).as_deref(),
            Some("4 operations outstanding for 5 s")
        );
        watch.end(SECOND * 8);
        watch.see(SECOND * 17, outstanding(4, 5000));
        assert_eq!(
            report(&watch, 17).as_deref(),
            Some("4 operations outstanding for 12 s")
        );
        assert!(!watch.is_over_limit(SECOND * 67));
        assert!(watch.is_over_limit(SECOND * 68));
        watch.stop(SECOND * 20);
        assert_eq!(
            report(&watch, 20).as_deref(),
            Some(
                "Waiting for 4 operations, outstanding for 15 s. Ctrl-C again keeps what was \
                 measured."
            )
        );
        // Any completion in the end counts.
        watch.see(SECOND * 60, outstanding(3, 5001));
        assert_eq!(
            report(&watch, 64).map(|it| it.contains("3 operations, outstanding for 4 s")),
            Some(true)
        );
        assert!(!watch.is_over_limit(SECOND * 119));
        assert!(watch.is_over_limit(SECOND * 120));
        watch.see(SECOND * 120, outstanding(0, 5004));
        assert_eq!(report(&watch, 130), None);
        assert!(!watch.is_over_limit(SECOND * 300));
    }

    #[test]
    fn a_run_that_is_to_stop_says_soon_what_it_waits_for() {
        let mut watch = HangWatch::new(SECOND * 60, Some(SECOND * 8));
        watch.see(SECOND * 2, outstanding(1, 70));
        watch.stop(SECOND * 3);
        watch.end(SECOND * 3);
        assert_eq!(report(&watch, 3), None);
        let text = report(&watch, 4).expect("it is told");
        assert!(
            text.starts_with("Waiting for 1 operation, outstanding for 2 s."),
            "{text}"
        );
    }

    /// Clients that think have nothing outstanding, however long nothing completes.
    #[test]
    fn who_waits_for_its_clients_does_not_hang() {
        let mut watch = HangWatch::new(SECOND * 10, Some(SECOND * 8));
        watch.end(SECOND * 8);
        watch.see(SECOND * 100, outstanding(0, 12));
        assert_eq!(watch.report(SECOND * 200), None);
        watch.see(SECOND * 201, outstanding(2, 12));
        assert!(!watch.is_over_limit(SECOND * 105));
    }

    /// In a trial of fixed length the storage may come back; one that ends with its work would wait
    /// for ever.
    #[test]
    fn before_its_end_a_trial_gives_up_only_where_its_work_ends_it() {
        for (ends_after, gives_up) in [(Some(SECOND * 600), false), (None, true)] {
            let mut watch = HangWatch::new(SECOND * 60, ends_after);
            watch.see(SECOND * 5, outstanding(4, 1));
            assert!(!watch.is_over_limit(SECOND * 64));
            assert_eq!(watch.is_over_limit(SECOND * 65), gives_up);
        }
    }
}
