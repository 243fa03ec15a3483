//! Rank 0's view and decisions during a trial on all hosts.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration as StdDuration;

use engine::{Clock as _, DriverError};
use fleet::{ClientShare, ClockLine, FleetError, FleetGroup};
use procedure::{Ending, Monitor, Trial};
use stats::Slot;
use sys::MonotonicClock;
use units::{Duration, Instant, format_counted};

use super::ranks::Ranks;
use super::times::{ClockTrust, HostEnd, first_and_last};
use super::wire::{Note, RankReport, Readiness, Scope, from_bytes, to_bytes};
use crate::coordinator::TrialCoordinator;
use crate::laboratory::{Glimpse, Watch, monitor_of};

/// Messages in a burst to read another host's clock.
const QUESTIONS: u32 = 16;
/// Time from "all ready" to the first request, within which all ranks must be notified.
const START_AHEAD: Duration = Duration::from_millis(50);
/// Additional time per rank.
const START_AHEAD_EACH: Duration = Duration::from_micros(50);
/// Interval for reading the clock of a host at work: each about once a second ...
const GLANCE_EACH: Duration = Duration::from_secs(1);
/// ... but in total no more often than this.
const GLANCE_EVERY: Duration = Duration::from_millis(250);
/// How long rank 0 waits for a busy host to reply: each wakes up every 50 ms.
const GLANCE_MAX: Duration = Duration::from_millis(100);

/// How often rank 0 wakes up once its own clients have finished.
const WAIT_EVERY: StdDuration = StdDuration::from_millis(20);

/// Stage that the other ranks have reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeadingStage {
    Ordered,
    CalledOff,
    Running,
    Stopped,
}

/// Rank 0's state during a trial.
pub(super) struct Leading {
    ranks: Ranks,
    /// The trial of all hosts together.
    trial: Trial,
    scope: Scope,
    stage: LeadingStage,
    pub monitor: Option<Monitor>,
    /// Number of workers on this host.
    workers: usize,
    lines: Vec<ClockLine>,
    /// What each rank's clock should read at the start.
    begun: Vec<Instant>,
    /// The last rank whose clock was read during the trial, and when.
    glanced: (u32, Instant),
    /// Start on the group's clock.
    start: Instant,
    pub lost: Option<FleetError>,
    /// The first rank that stopped on its own.
    pub ended_early: Option<u32>,
    /// Ranks whose clients have finished.
    finished: BTreeSet<u32>,
    pub ending: Option<Ending>,
}

impl Leading {
    pub fn new(ranks: &Ranks, trial: &Trial, scope: Scope) -> Self {
        Self {
            lines: vec![ClockLine::own(); ranks.share().ranks as usize],
            begun: vec![Instant::START; ranks.share().ranks as usize],
            glanced: (0, Instant::START),
            ranks: ranks.clone(),
            trial: trial.clone(),
            scope,
            stage: LeadingStage::Ordered,
            monitor: None,
            workers: 0,
            start: Instant::START,
            lost: None,
            ended_early: None,
            finished: BTreeSet::new(),
            ending: None,
        }
    }

    /// The part of the trial that each host runs.
    pub const fn scope(&self) -> Scope {
        self.scope
    }

    /// Other ranks with clients.
    pub fn at_work(&self) -> Vec<u32> {
        let ranks = self.ranks.share().ranks;
        let has_clients = |rank: &u32| {
            let rank = *rank;
            self.scope == Scope::Each || ClientShare { rank, ranks }.count(self.trial.clients) > 0
        };
        (1..ranks).filter(has_clients).collect()
    }

    /// The clients of this rank have finished. The others continue until theirs have, or until time
    /// is up.
    pub fn wait_for_others(&mut self, watch: Watch<'_>) {
        let at_work = self.at_work();
        let is_done = |it: &Self| at_work.iter().all(|rank| it.finished.contains(rank));
        while self.stage == LeadingStage::Running && !is_done(self) {
            thread::sleep(WAIT_EVERY);
            self.attend();
            let elapsed = self.ranks.group().now().since(self.start);
            let Some(mut monitor) = self.monitor.take() else {
                return;
            };
            if !watch(&Glimpse::of(&monitor, elapsed, None)) {
                self.ending = Some(Ending::Interrupted);
                self.stop();
            }
            let by_monitor = monitor.decide(elapsed);
            self.monitor = Some(monitor);
            self.end_if(by_monitor);
        }
    }

    /// Stops all ranks if one is missing or a stop was decided.
    fn end_if(&mut self, decided: Option<Ending>) -> Option<Ending> {
        let ending = if self.lost.is_some() || self.ended_early.is_some() {
            Some(Ending::Failed)
        } else {
            decided
        };
        if ending.is_some() && self.stage == LeadingStage::Running {
            self.ending = ending.clone();
            self.stop();
        }
        ending
    }

    /// Waits until all are ready, reads their clocks, and sends each its start.
    fn start_all(&mut self, group: &mut FleetGroup) -> Result<Result<Instant, String>, FleetError> {
        let ready = group.gather(&to_bytes(&Readiness::Ok(())))?;
        for (rank, bytes) in (0..).zip(&ready) {
            if let Err(reason) = from_bytes::<Readiness>(rank, bytes)? {
                self.stage = LeadingStage::CalledOff;
                group.note_all(&Note::CallOff.to_bytes())?;
                return Ok(Err(format!("{}: {reason}", self.ranks.name(rank))));
            }
        }
        self.read_clocks(group)?;
        let ranks = group.share().ranks;
        let ahead = START_AHEAD + START_AHEAD_EACH * u64::from(ranks);
        let start = group.now() + ahead;
        for rank in 1..ranks {
            let start = self.lines[rank as usize].there(start);
            self.begun[rank as usize] = start;
            group.note(rank, &Note::Go { start }.to_bytes())?;
        }
        Ok(Ok(start))
    }

    fn read_clocks(&mut self, group: &mut FleetGroup) -> Result<(), FleetError> {
        for rank in 1..group.share().ranks {
            let burst = group.read_clock(rank, QUESTIONS)?;
            self.lines[rank as usize].add(&burst);
        }
        Ok(())
    }

    /// Reads the clock of the next host at work, if due. Only this thread and that host's watching
    /// thread take part, no worker.
    fn glance(&mut self, group: &mut FleetGroup) -> Result<(), FleetError> {
        let at_work = self.at_work();
        let each = GLANCE_EACH.as_nanos() / (at_work.len() as u64).max(1);
        let every = GLANCE_EVERY.max(Duration(each));
        let now = group.now();
        let is_due = now.since(self.glanced.1.max(self.start)) >= every;
        if at_work.is_empty() || self.stage != LeadingStage::Running || !is_due {
            return Ok(());
        }
        let next = at_work.iter().find(|rank| **rank > self.glanced.0);
        let next = next.copied().unwrap_or(at_work[0]);
        let burst = group.glance_at_clock(next, QUESTIONS, now + GLANCE_MAX)?;
        self.lines[next as usize].add(&burst);
        self.glanced = (next, group.now());
        Ok(())
    }

    fn stop(&mut self) {
        if self.stage == LeadingStage::Running {
            self.stage = LeadingStage::Stopped;
            let stop = Note::Stop.to_bytes();
            let sent = self.ranks.group().note_all(&stop);
            self.lost = self.lost.take().or(sent.err());
        }
    }

    /// Handles the notes that have arrived.
    fn take_notes(&mut self, group: &mut FleetGroup) -> Result<(), FleetError> {
        while let Some((rank, bytes)) = group.next_note(Instant::START)? {
            match Note::from_bytes(rank, &bytes)? {
                Note::Slots { elapsed, slots } => {
                    let worker = self.workers + rank as usize - 1;
                    if let Some(monitor) = &mut self.monitor {
                        monitor.push(worker, slots, elapsed);
                    }
                }
                Note::Finished => {
                    self.finished.insert(rank);
                    let worker = self.workers + rank as usize - 1;
                    if let Some(monitor) = &mut self.monitor {
                        monitor.push(worker, Vec::new(), Duration(u64::MAX));
                    }
                }
                Note::Ended => self.ended_early = self.ended_early.or(Some(rank)),
                Note::Go { .. } | Note::CallOff | Note::Stop => {
                    let what = "an order that rank 0 alone gives".into();
                    return Err(FleetError::Unexpected { rank, what });
                }
            }
        }
        Ok(())
    }

    /// Results of the other ranks, from 1; `None` for lost ones.
    pub fn reports(&mut self, ranks: &Ranks) -> Vec<Option<RankReport>> {
        self.stop();
        let mut group = ranks.group();
        let mut reports: Vec<Option<RankReport>> = Vec::new();
        match group.gather_living(&[]) {
            Ok((found, lost)) => {
                self.lost = self.lost.take().or(lost);
                for (rank, bytes) in (0..).zip(found).skip(1) {
                    reports.push(bytes.and_then(|it| from_bytes(rank, &it).ok()));
                }
            }
            Err(error) => self.lost = self.lost.take().or(Some(error)),
        }
        let noted = self.take_notes(&mut group);
        let read = if self.lost.is_none() {
            self.read_clocks(&mut group)
        } else {
            Ok(())
        };
        self.lost = self.lost.take().or(noted.and(read).err());
        reports
    }

    /// This rank cannot continue: stops the others, which wait for the start or are at work.
    pub fn give_up(&mut self, ranks: &Ranks) {
        match self.stage {
            LeadingStage::CalledOff => {}
            LeadingStage::Ordered => {
                let mut group = ranks.group();
                let called_off = group
                    .gather_living(&to_bytes(&Readiness::Ok(())))
                    .and_then(|_| group.note_all(&Note::CallOff.to_bytes()));
                self.lost = self.lost.take().or(called_off.err());
            }
            LeadingStage::Running | LeadingStage::Stopped => {
                self.reports(ranks);
            }
        }
        if self.lost.is_some() {
            ranks.lose();
        }
    }

    /// When a rank finished, after that time on its own clock.
    pub fn end(&self, rank: u32, elapsed: Duration) -> HostEnd {
        let (line, begun) = (&self.lines[rank as usize], self.begun[rank as usize]);
        HostEnd::of(rank, line, (self.start, begun), elapsed)
    }

    /// Reliability of the clocks in a trial of that length.
    pub fn trust(&self, elapsed: Duration) -> ClockTrust {
        ClockTrust::of(&self.lines[1..], &self.begun[1..], self.start, elapsed)
    }

    /// How well the hosts were synchronised, in a sentence or two.
    pub fn words(&self, ranks: &Ranks, ends: &[HostEnd], trust: &ClockTrust) -> String {
        let (first, last) = first_and_last(ends);
        format!(
            "{}, {} ranks: {} finished first, after {}, and {} last, {} later. {}. The rates' \
             intervals include that.",
            format_counted(ranks.machines().len() as u64, "host"),
            ranks.share().ranks,
            ranks.name(first.rank),
            first.words(),
            ranks.name(last.rank),
            last.later_than(&first),
            trust.words(),
        )
    }
}

impl TrialCoordinator for Leading {
    fn share(&self) -> ClientShare {
        self.scope.share(self.ranks.share())
    }

    fn start(&mut self, clock: MonotonicClock, workers: usize) -> Result<Instant, DriverError> {
        let ranks = self.ranks.clone();
        let mut group = ranks.group();
        let refused = |reason: String| DriverError::System {
            operation: "starting all hosts",
            reason,
        };
        let started = self.start_all(&mut group);
        let started = started.map_err(|error| {
            // Ranks that are ready wait for the start, and would not receive an order to part.
            let _ = group.note_all(&Note::CallOff.to_bytes());
            self.stage = LeadingStage::CalledOff;
            let words = refused(self.ranks.words(&error));
            self.lost = Some(error);
            words
        })?;
        self.start = started.map_err(refused)?;
        self.workers = workers;
        let ranks = group.share().ranks;
        let mut monitor = monitor_of(&self.trial, workers + ranks as usize - 1);
        let at_work = self.at_work();
        for rank in (1..ranks).filter(|rank| !at_work.contains(rank)) {
            let worker = workers + rank as usize - 1;
            monitor.push(worker, Vec::new(), Duration(u64::MAX));
        }
        self.monitor = Some(monitor);
        self.stage = LeadingStage::Running;
        Ok(clock.now() + self.start.since(group.now()))
    }

    fn add_slots(&mut self, worker: usize, slots: &[Slot], elapsed: Duration) {
        if let Some(monitor) = &mut self.monitor {
            monitor.push(worker, slots.to_vec(), elapsed);
        }
    }

    fn attend(&mut self) {
        let ranks = self.ranks.clone();
        let mut group = ranks.group();
        let went = group
            .tick()
            .and_then(|()| self.glance(&mut group))
            .and_then(|()| self.take_notes(&mut group));
        let silent = group.silent_since(self.start, &self.at_work());
        self.lost = self.lost.take().or(went.err()).or(silent);
    }

    fn decide(&mut self, _own: &mut Monitor, elapsed: Duration) -> Option<Ending> {
        let by_monitor = self.monitor.as_mut().and_then(|it| it.decide(elapsed));
        self.end_if(by_monitor)
    }

    fn shown<'a>(&'a self, own: &'a Monitor) -> &'a Monitor {
        self.monitor.as_ref().unwrap_or(own)
    }
}
