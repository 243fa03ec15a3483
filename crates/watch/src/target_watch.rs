//! State of one target: its current minute, its usual times, its events.

use std::collections::VecDeque;

use units::Duration;

use crate::detector::{ChangeDetector, ChangeFound};
use crate::event::SlowEvent;
use crate::prober::{Probe, ProbeKind};
use crate::times::ProbeTimes;
use crate::window::{WINDOW_SECONDS, WatchCounter, WatchWindow};

/// A probe issued later than this, and later than its own time, is not used.
const LATENESS_MIN: Duration = Duration::from_millis(1);

/// Number of minutes kept for judging and display.
const HOUR_MINUTES: usize = 60;

/// News about a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchNews {
    /// Probes started to take longer.
    Began(ProbeKind, SlowEvent),
    /// They are back to normal.
    Ended(ProbeKind, SlowEvent),
    /// A minute is complete.
    Minute(WatchWindow),
}

/// Monitors one target.
#[derive(Debug)]
pub struct TargetWatch {
    detectors: [ChangeDetector; ProbeKind::ALL.len()],
    minute: WatchWindow,
    /// Complete minutes of the last hour.
    recent: VecDeque<WatchWindow>,
    /// All complete minutes.
    all: WatchWindow,
    events: u64,
}

impl TargetWatch {
    /// A target with that mean interval between probes of a kind, starting at that second since
    /// 1970.
    pub fn new(every: Duration, second: u64) -> Self {
        Self {
            detectors: ProbeKind::ALL.map(|_| ChangeDetector::new(every)),
            minute: WatchWindow::at(second),
            recent: VecDeque::new(),
            all: WatchWindow::new(second, 0),
            events: 0,
        }
    }

    /// Adds an earlier minute to the usual times.
    pub fn learn(&mut self, minute: &WatchWindow) {
        for kind in ProbeKind::ALL {
            self.detectors[kind as usize].learn(minute.times(kind));
        }
    }

    /// Adds a probe due at that millisecond since 1970. `was_stopped` says that this process stood
    /// still meanwhile.
    pub fn take(&mut self, probe: &Probe, due_ms: u64, was_stopped: bool) -> Option<WatchNews> {
        let minute = &mut self.minute;
        let is_late = probe.lateness > LATENESS_MIN && probe.lateness > probe.time();
        let count = match () {
            () if was_stopped => &mut minute.stopped,
            () if is_late => &mut minute.late,
            () if probe.result.is_err() => &mut minute.failed,
            () => {
                let time_ns = probe.time().as_nanos();
                minute.times_mut(probe.kind).record(time_ns);
                let found = self.detectors[probe.kind as usize].observe(due_ms, time_ns);
                return found.map(|it| self.news(probe.kind, it));
            }
        };
        *count += 1;
        None
    }

    /// Reports that the oldest unanswered probe was due at `due_ms`, at the time `now_ms`.
    pub fn unanswered(&mut self, kind: ProbeKind, due_ms: u64, now_ms: u64) -> Option<WatchNews> {
        let found = self.detectors[kind as usize].unanswered(due_ms, now_ms);
        found.map(|it| self.news(kind, it))
    }

    fn news(&mut self, kind: ProbeKind, found: ChangeFound) -> WatchNews {
        match found {
            ChangeFound::Began(event) => {
                self.events += 1;
                WatchNews::Began(kind, event)
            }
            ChangeFound::Ended(event) => WatchNews::Ended(kind, event),
        }
    }

    /// Counts probes that were left out.
    pub fn withheld(&mut self, probes: u64) {
        self.minute.withheld += probes;
    }

    /// Adds a value of a counter.
    pub fn count(&mut self, counter: WatchCounter, figure: u64) {
        self.minute.count(counter, figure);
    }

    /// Sets the current second. Returns the minute that has ended, if any.
    pub fn at(&mut self, second: u64) -> Option<WatchNews> {
        let start = second - second % WINDOW_SECONDS;
        (start != self.minute.start_s).then(|| WatchNews::Minute(self.end_minute(second)))
    }

    /// Ends the minute so far, before one that starts now.
    pub fn end_minute(&mut self, second: u64) -> WatchWindow {
        self.detectors
            .iter_mut()
            .for_each(ChangeDetector::end_minute);
        let minute = std::mem::replace(&mut self.minute, WatchWindow::at(second));
        self.all.merge(&minute);
        self.recent.push_back(minute.clone());
        if self.recent.len() > HOUR_MINUTES {
            self.recent.pop_front();
        }
        minute
    }

    /// The current event of a kind.
    pub fn going_on(&self, kind: ProbeKind) -> Option<SlowEvent> {
        self.detectors[kind as usize].event()
    }

    /// Usual times of a kind of probe.
    pub const fn usual(&self, kind: ProbeKind) -> &ProbeTimes {
        self.detectors[kind as usize].usual()
    }

    /// Whether enough probes were answered to tell slow ones from usual ones.
    pub fn knows_usual(&self) -> bool {
        self.detectors.iter().any(ChangeDetector::knows_usual)
    }

    /// The last 60 minutes including the current one, as far as monitored.
    pub fn last_hour(&self) -> WatchWindow {
        let mut hour = self.minute.clone();
        self.recent.iter().for_each(|it| hour.merge(it));
        hour
    }

    /// Everything since the start.
    pub fn all(&self) -> WatchWindow {
        let mut all = self.all.clone();
        all.merge(&self.minute);
        all
    }

    /// Number of events that started.
    pub const fn events(&self) -> u64 {
        self.events
    }
}
