//! The thread that started the workers, while they work: it decides when they stop, and which of
//! them it no longer waits for.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration as StdDuration;

use engine::{Clock as _, DriverError, Outstanding};
use host::counters::Counters;
use host::hung::hung_threads;
use host::interrupt::Awaiting;
use host::starting_line::{CalledOff, StartingLine};
use procedure::{Ending, Monitor, Standstill};
use sys::MonotonicClock;
use units::{Duration, Instant};

use super::hang::HangWatch;
use super::{GivenUp, TrialState, WatchWorkers, WorkerReport};
use crate::coordinator::TrialCoordinator;

/// How often the watcher wakes up without reports.
const WATCH_EVERY: StdDuration = StdDuration::from_millis(50);
/// If the watcher wakes up this much late, it did not get to run.
const STANDSTILL_MIN: Duration = Duration::from_millis(20);
/// If the end of a trial takes longer than this, it is shown again.
const SHOWN_AFTER: Duration = Duration::from_secs(1);
/// How long workers have to finish when their requests are abandoned. One that does not hangs
/// itself.
const WAY_HOME: Duration = Duration::from_millis(500);

/// The phase in which workers open their drivers, for which they access the storage.
pub(super) struct Opening<'a> {
    pub(super) line: &'a StartingLine,
    pub(super) clock: MonotonicClock,
    pub(super) hang: HangWatch,
    pub(super) awaiting: &'a Awaiting,
}

impl Opening<'_> {
    /// Waits until all are ready.
    ///
    /// # Errors
    /// If the storage does not answer one of them, and it is abandoned.
    pub(super) fn wait(
        mut self,
        monitor: &Monitor,
        watch: WatchWorkers<'_>,
    ) -> Result<(), DriverError> {
        let begun = self.clock.now();
        self.hang.end(Duration::ZERO);
        let all = self.line.wait_while(WATCH_EVERY, |missing| {
            let elapsed = self.clock.now().since(begun);
            let operations = missing as u64;
            self.hang.see(
                elapsed,
                Outstanding {
                    operations,
                    answered: 0,
                },
            );
            if elapsed >= SHOWN_AFTER && !watch(monitor, Duration::ZERO, self.hang.report(elapsed))
            {
                self.hang.stop(elapsed);
            }
            !self.awaiting.is_given_up() && !self.hang.is_over_limit(elapsed)
        });
        all.map_err(|CalledOff| {
            let hung = hung_threads();
            let hung = hung.iter().map(|thread| format!(". {thread}"));
            DriverError::System {
                operation: "opening the storage",
                reason: format!(
                    "no answer for {}{}",
                    self.clock.now().since(begun),
                    hung.collect::<String>()
                ),
            }
        })
    }
}

/// The phase in which workers work.
pub(super) struct Watcher<'a> {
    pub(super) receiver: Receiver<WorkerReport>,
    pub(super) shared: &'a TrialState,
    pub(super) clock: MonotonicClock,
    pub(super) start: Instant,
    pub(super) hang: HangWatch,
    pub(super) awaiting: &'a Awaiting,
    /// The device whose counters are read.
    pub(super) device: Option<&'a str>,
    /// How and when each worker ended.
    pub(super) ended: Vec<Option<(Ending, Duration)>>,
    pub(super) decided: Option<(Ending, Duration)>,
}

/// Result of watching the workers.
pub(super) struct Watched {
    pub(super) ending: Ending,
    pub(super) elapsed: Duration,
    pub(super) given_up: Option<GivenUp>,
    /// Which workers did not return.
    pub(super) away: Vec<bool>,
}

impl Watcher<'_> {
    pub(super) fn watch(
        mut self,
        standstill: &mut Standstill,
        monitor: &mut Monitor,
        coordinator: &mut dyn TrialCoordinator,
        watch: WatchWorkers<'_>,
    ) -> Result<Watched, DriverError> {
        let mut broken: Option<DriverError> = None;
        let mut given_up: Option<(Duration, GivenUp)> = None;
        while self.ended.iter().any(Option::is_none) {
            match self.receive(standstill) {
                // The others must stop first: nobody may create files while they are being removed.
                Ok(WorkerReport::Broken { worker, error }) => {
                    broken.get_or_insert(error);
                    self.ended[worker] = Some((Ending::Failed, Duration::ZERO));
                }
                Ok(report) => self.take(report, monitor, coordinator),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            coordinator.attend();
            let elapsed = self.clock.now().since(self.start);
            self.hang.see(elapsed, self.outstanding(elapsed));
            match &given_up {
                Some((since, _)) if elapsed >= *since + WAY_HOME => break,
                Some(_) => {}
                None if self.decided.is_some() => {
                    self.await_end(coordinator.shown(monitor), elapsed, watch);
                }
                None => self.decide(monitor, coordinator, elapsed, watch),
            }
            if given_up.is_none() && self.is_given_up(elapsed) {
                given_up = Some((elapsed, self.give_up(elapsed)));
            }
        }
        if let Some(error) = broken {
            return Err(error);
        }
        Ok(self.conclude(given_up.map(|(_, it)| it)))
    }

    /// The next report, if one arrives soon. A wait far beyond its timeout is a standstill of the
    /// whole program, since this thread does not wait for storage.
    fn receive(&self, standstill: &mut Standstill) -> Result<WorkerReport, RecvTimeoutError> {
        let before = self.clock.now();
        let report = self.receiver.recv_timeout(WATCH_EVERY);
        let beyond = self.clock.now().since(before + WATCH_EVERY.into());
        if beyond >= STANDSTILL_MIN {
            standstill.note(beyond);
        }
        report
    }

    fn take(
        &mut self,
        report: WorkerReport,
        monitor: &mut Monitor,
        coordinator: &mut dyn TrialCoordinator,
    ) {
        match report {
            WorkerReport::Slots {
                worker,
                slots,
                elapsed,
            } => {
                coordinator.add_slots(worker, &slots, elapsed);
                monitor.push(worker, slots, elapsed);
            }
            WorkerReport::Ended {
                worker,
                ending,
                elapsed,
            } => {
                // A finished worker must not hold back the slots of the others.
                coordinator.add_slots(worker, &[], Duration::from_nanos(u64::MAX));
                monitor.push(worker, Vec::new(), Duration::from_nanos(u64::MAX));
                self.ended[worker] = Some((ending, elapsed));
            }
            WorkerReport::Broken { .. } => {}
        }
    }

    /// Outstanding requests of the workers that have not ended.
    fn outstanding(&self, elapsed: Duration) -> Outstanding {
        let states = self.shared.states.iter().zip(&self.ended);
        let mut sum = Outstanding::default();
        for (state, ended) in states {
            let one = state.outstanding(elapsed);
            sum.operations += if ended.is_none() { one.operations } else { 0 };
            sum.answered += one.answered;
        }
        sum
    }

    /// Checks whether the trial is over.
    fn decide(
        &mut self,
        monitor: &mut Monitor,
        coordinator: &mut dyn TrialCoordinator,
        elapsed: Duration,
        watch: WatchWorkers<'_>,
    ) {
        if monitor.is_sample_due(elapsed) {
            monitor.close_sample(elapsed, &Counters::take(self.device).activity());
        }
        let mut ending = coordinator.decide(monitor, elapsed);
        let unanswered = self.hang.report(elapsed);
        if ending.is_none() && !watch(coordinator.shown(monitor), elapsed, unanswered) {
            self.hang.stop(elapsed);
            ending = Some(Ending::Interrupted);
        }
        let mut ended = self.ended.iter().flatten();
        if ended.any(|(ending, _)| *ending != Ending::Finished) {
            ending = ending.or(Some(Ending::Failed));
        }
        if let Some(ending) = ending {
            self.stop(ending, elapsed);
        }
    }

    fn stop(&mut self, ending: Ending, elapsed: Duration) {
        self.decided = Some((ending, elapsed));
        self.hang.end(elapsed);
        self.shared.stop.store(true, Ordering::Release);
    }

    /// The trial is over: waits for the last completions.
    fn await_end(&mut self, shown: &Monitor, elapsed: Duration, watch: WatchWorkers<'_>) {
        let since = self.decided.as_ref().map_or(elapsed, |(_, since)| *since);
        let unanswered = self.hang.report(elapsed);
        let is_shown = unanswered.is_some() || elapsed >= since + SHOWN_AFTER;
        if is_shown && !watch(shown, elapsed, unanswered) {
            self.hang.stop(elapsed);
        }
    }

    fn is_given_up(&self, elapsed: Duration) -> bool {
        self.awaiting.is_given_up() || self.hang.is_over_limit(elapsed)
    }

    /// Lets workers finish without their outstanding requests.
    fn give_up(&mut self, elapsed: Duration) -> GivenUp {
        if self.awaiting.is_given_up() {
            self.hang.stop(elapsed);
        }
        // Read first, since threads that return no longer hang.
        let given_up = GivenUp {
            unanswered: self.hang.unanswered(elapsed),
            threads: hung_threads(),
        };
        if self.decided.is_none() {
            self.stop(Ending::Failed, elapsed);
        }
        self.shared.give_up.store(true, Ordering::Release);
        given_up
    }

    /// Why and when a trial ended, from the workers' reports and the decisions for them.
    fn conclude(self, given_up: Option<GivenUp>) -> Watched {
        // Everything may have completed at the last moment.
        let given_up = given_up.filter(|it| it.unanswered.operations > 0);
        let away: Vec<bool> = self.ended.iter().map(Option::is_none).collect();
        let ended = self.ended.iter().flatten();
        let decided = self.decided;
        let late = decided.as_ref().filter(|_| away.contains(&true));
        let times = ended.clone().map(|(_, elapsed)| *elapsed);
        let elapsed = times.chain(late.map(|(_, elapsed)| *elapsed)).max();
        let mut endings = ended.map(|(ending, _)| ending);
        let by_worker = endings.find(|it| matches!(it, Ending::Failed | Ending::Overloaded));
        let ending = match &given_up {
            Some(it) if it.unanswered.is_stopping => Ending::Interrupted,
            Some(_) => Ending::Failed,
            None => { by_worker.cloned() }
                .or(decided.map(|(ending, _)| ending))
                .unwrap_or(Ending::Finished),
        };
        Watched {
            ending,
            elapsed: elapsed.unwrap_or(Duration::ZERO),
            given_up,
            away,
        }
    }
}
