//! Detects when probes start to take longer than usual, and when they return to normal.
//!
//! For each kind of change, it uses a CUSUM of log likelihood ratios (E. S. Page, "Continuous
//! Inspection Schemes", Biometrika 41, 1954). The ratios are those of cells of the usual times, so
//! no distribution is assumed. Each has the mean 1 while nothing changes, so that the mean run to a
//! false alarm is at least exp(threshold) probes (G. Lorden, "Procedures for Reacting to a Change
//! in Distribution", Ann. Math. Stat. 42, 1971; J. Shin, A. Ramdas, A. Rinaldo, "E-detectors",
//! 2022). Times that are correlated for minutes violate this, and cause events more often.

use units::Duration;

use crate::event::SlowEvent;
use crate::share_cells::{Evidence, SHIFTS, ShareCells};
use crate::times::ProbeTimes;
use crate::usual::Usual;

/// Mean time between false alarms, at least, ns.
const RUN_TO_FALSE_ALARM_NS: f64 = 30.0 * 86_400e9;
/// Minimum number of usual times to detect a change.
const USUAL_MIN: u64 = 300;
/// Log odds required to end an event: e^7, a thousand to one.
const OVER: f64 = 7.0;
/// An event of this length becomes the new normal.
const STAYS_MS: u64 = 3_600_000;

/// An unanswered probe starts an event after this long ...
const UNANSWERED_MIN_MS: u64 = 1_000;
/// ... and this many times the longest usual time. Initially there is no usual time.
const UNANSWERED_TIMES: u64 = 10;
/// The shift of an event started by an unanswered probe.
const UNANSWERED_SHIFT: usize = SHIFTS.len() - 1;

/// A change caused by a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeFound {
    /// An event started.
    Began(SlowEvent),
    /// It ended.
    Ended(SlowEvent),
}

/// Times since a statistic was last zero.
#[derive(Clone, Debug, Default)]
struct SinceZero {
    statistic: f64,
    begin_ms: u64,
    last_ms: u64,
    times: ProbeTimes,
}

impl SinceZero {
    /// Adds a time and its evidence.
    fn add(&mut self, at_ms: u64, time_ns: u64, evidence: f64) {
        // Probes may complete in any order.
        self.begin_ms = match self.times.count() {
            0 => at_ms,
            _ => self.begin_ms.min(at_ms),
        };
        self.last_ms = self.last_ms.max(at_ms);
        self.times.record(time_ns);
        self.statistic += evidence;
    }
}

/// An event in progress.
#[derive(Clone, Debug)]
struct Going {
    /// Index of its shift.
    shift: usize,
    begin_ms: u64,
    last_ms: u64,
    times: ProbeTimes,
    /// Longest wait of an unanswered probe, ns.
    waited_ns: u64,
    /// Times that may be after its end.
    after: SinceZero,
}

/// Monitors the times of one kind of probe.
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
    /// A detector for probes with that mean interval.
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

    /// Adds the time of a probe due at `due_ms`.
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

    /// Reports that a probe due at `due_ms` is unanswered at `now_ms`.
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

    /// Adds a time of the current event.
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

    /// The current event so far.
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

    /// Usual times: the last day without its events.
    pub const fn usual(&self) -> &ProbeTimes {
        self.usual.times()
    }

    /// Whether enough is known to tell slow probes from usual ones.
    pub const fn knows_usual(&self) -> bool {
        self.cells.is_some()
    }

    /// Called once a minute: its times become usual ones, unless it had an event.
    pub fn end_minute(&mut self) {
        let minute = std::mem::take(&mut self.minute);
        self.learn(&minute);
    }

    /// Adds the times of a minute to the usual ones.
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
