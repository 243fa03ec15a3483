//! Finds when probes begin to take longer than usual, and when they do so no more.
//!
//! For each change that is looked for, a CUSUM of log likelihood ratios (E. S. Page, "Continuous
//! Inspection Schemes", Biometrika 41, 1954). The ratios are those of cells of the usual times, so
//! no law is assumed; each has the mean 1 while nothing changes, and then the mean run to a false
//! alarm is at least exp(threshold) probes (G. Lorden, "Procedures for Reacting to a Change in
//! Distribution", Ann. Math. Stat. 42, 1971; J. Shin, A. Ramdas, A. Rinaldo, "E-detectors", 2022).
//! Times that depend on each other for minutes are no such case, and are events more often.

use units::Duration;

use crate::event::SlowEvent;
use crate::share_cells::{Evidence, SHIFTS, ShareCells};
use crate::times::ProbeTimes;
use crate::usual::Usual;

/// A false alarm at most once in so long on average, ns.
const RUN_TO_FALSE_ALARM_NS: f64 = 30.0 * 86_400e9;
/// Usual times that must be known before a change is looked for.
const USUAL_MIN: u64 = 300;
/// How sure it must be that all is as usual again: e^7, a thousand to one.
const OVER: f64 = 7.0;
/// An event that lasts so long is what is usual from then on.
const STAYS_MS: u64 = 3_600_000;

/// A probe without an answer begins an event after this long ...
const UNANSWERED_MIN_MS: u64 = 1_000;
/// ... and so many times the longest that is usual. Nothing is usual at first.
const UNANSWERED_TIMES: u64 = 10;
/// The shift of an event that a probe without an answer began.
const UNANSWERED_SHIFT: usize = SHIFTS.len() - 1;

/// What a probe began or ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeFound {
    /// An event began; it goes on.
    Began(SlowEvent),
    /// It is over.
    Ended(SlowEvent),
}

/// Times since a statistic was last at zero.
#[derive(Clone, Debug, Default)]
struct SinceZero {
    statistic: f64,
    begin_ms: u64,
    last_ms: u64,
    times: ProbeTimes,
}

impl SinceZero {
    /// Adds a time and what it says.
    fn add(&mut self, at_ms: u64, time_ns: u64, evidence: f64) {
        // Probes are answered in any order.
        self.begin_ms = match self.times.count() {
            0 => at_ms,
            _ => self.begin_ms.min(at_ms),
        };
        self.last_ms = self.last_ms.max(at_ms);
        self.times.record(time_ns);
        self.statistic += evidence;
    }
}

/// An event that goes on.
#[derive(Clone, Debug)]
struct Going {
    /// Which of the shifts it is.
    shift: usize,
    begin_ms: u64,
    last_ms: u64,
    times: ProbeTimes,
    /// How long a probe has waited that is not answered yet, ns.
    waited_ns: u64,
    /// Times that may be after its end.
    after: SinceZero,
}

/// Watches the times of one kind of probe.
#[derive(Clone, Debug)]
pub struct ChangeDetector {
    threshold: f64,
    usual: Usual,
    /// `None` until enough is known.
    cells: Option<ShareCells>,
    minute: ProbeTimes,
    tails: [SinceZero; SHIFTS.len()],
    going: Option<Going>,
}

impl ChangeDetector {
    /// A detector of probes that come so often on average.
    #[must_use]
    pub fn new(every: Duration) -> Self {
        let probes = RUN_TO_FALSE_ALARM_NS / every.as_nanos().max(1) as f64;
        Self {
            threshold: (probes * SHIFTS.len() as f64).ln(),
            usual: Usual::default(),
            cells: None,
            minute: ProbeTimes::default(),
            tails: Default::default(),
            going: None,
        }
    }

    /// Takes the time of a probe that was due then.
    pub fn observe(&mut self, due_ms: u64, time_ns: u64) -> Option<ChangeFound> {
        let evidence = match &self.cells {
            Some(cells) => *cells.evidence(time_ns),
            None => Evidence::default(),
        };
        if self.going.is_some() {
            return self.follow(due_ms, time_ns, &evidence);
        }
        self.minute.record(time_ns);
        if self.cells.is_none() {
            if self.minute.count() >= USUAL_MIN {
                self.end_minute();
            }
            return None;
        }
        for (tail, evidence) in self.tails.iter_mut().zip(evidence) {
            match tail.statistic + evidence > 0.0 {
                true => tail.add(due_ms, time_ns, evidence),
                false => *tail = SinceZero::default(),
            }
        }
        let shift = (0..SHIFTS.len()).find(|&it| self.tails[it].statistic >= self.threshold)?;
        let tail = std::mem::take(&mut self.tails[shift]);
        Some(self.begin(shift, tail))
    }

    fn begin(&mut self, shift: usize, tail: SinceZero) -> ChangeFound {
        self.tails = Default::default();
        self.minute = ProbeTimes::default();
        self.going = Some(Going {
            shift,
            begin_ms: tail.begin_ms,
            last_ms: tail.last_ms,
            times: tail.times,
            waited_ns: 0,
            after: SinceZero::default(),
        });
        ChangeFound::Began(self.event().expect("it goes on"))
    }

    /// Says that a probe that was due at `due_ms` has no answer yet, and it is `now_ms`.
    pub fn unanswered(&mut self, due_ms: u64, now_ms: u64) -> Option<ChangeFound> {
        let waited_ms = now_ms.saturating_sub(due_ms);
        let waited_ns = waited_ms.saturating_mul(1_000_000);
        if let Some(going) = &mut self.going {
            going.waited_ns = going.waited_ns.max(waited_ns);
            return None;
        }
        let longest_ns = self.usual.times().max_ns();
        let is_long = waited_ms >= UNANSWERED_MIN_MS
            && self.cells.is_some()
            && waited_ns >= longest_ns.saturating_mul(UNANSWERED_TIMES);
        if !is_long {
            return None;
        }
        let since = SinceZero {
            begin_ms: due_ms,
            last_ms: due_ms,
            ..SinceZero::default()
        };
        let began = self.begin(UNANSWERED_SHIFT, since);
        let going = self.going.as_mut()?;
        going.waited_ns = waited_ns;
        Some(match began {
            ChangeFound::Began(event) => ChangeFound::Began(SlowEvent {
                worst_ns: waited_ns,
                ..event
            }),
            ended @ ChangeFound::Ended(_) => ended,
        })
    }

    /// Takes a time of the event that goes on.
    fn follow(&mut self, due_ms: u64, time_ns: u64, evidence: &Evidence) -> Option<ChangeFound> {
        let going = self.going.as_mut()?;
        going.after.add(due_ms, time_ns, -evidence[going.shift]);
        if going.after.statistic <= 0.0 {
            let after = std::mem::take(&mut going.after);
            going.times.merge(&after.times);
            going.last_ms = going.last_ms.max(after.last_ms);
        }
        let is_over = going.after.statistic >= OVER;
        let stays = due_ms.saturating_sub(going.begin_ms) >= STAYS_MS;
        if !is_over && !stays {
            return None;
        }
        let mut event = self.event()?;
        event.end_ms = Some(self.going.take()?.last_ms);
        event.stays = !is_over;
        if event.stays {
            *self = Self {
                threshold: self.threshold,
                ..Self::new(Duration::from_secs(1))
            };
        }
        Some(ChangeFound::Ended(event))
    }

    /// The event that goes on, as far as it is known.
    #[must_use]
    pub fn event(&self) -> Option<SlowEvent> {
        let going = self.going.as_ref()?;
        Some(SlowEvent {
            begin_ms: going.begin_ms,
            end_ms: None,
            probes: going.times.count(),
            worst_ns: going.times.max_ns().max(going.waited_ns),
            p99_ns: going.times.quantile_or_max(0.99),
            usual_p99_ns: self.usual.times().quantile_or_max(0.99),
            stays: false,
        })
    }

    /// What is usual: the last day without its events.
    #[must_use]
    pub const fn usual(&self) -> &ProbeTimes {
        self.usual.times()
    }

    /// Whether enough is known to tell slow probes from usual ones.
    #[must_use]
    pub const fn knows_usual(&self) -> bool {
        self.cells.is_some()
    }

    /// To be told once a minute: its times are usual ones, unless it had an event.
    pub fn end_minute(&mut self) {
        let minute = std::mem::take(&mut self.minute);
        self.learn(&minute);
    }

    /// Takes the times of a minute for usual ones.
    pub fn learn(&mut self, minute: &ProbeTimes) {
        if minute.count() == 0 {
            return;
        }
        self.usual.add(minute);
        if self.usual.times().count() >= USUAL_MIN {
            self.cells = Some(ShareCells::of(self.usual.times().bins()));
        }
    }
}
