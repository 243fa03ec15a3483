//! Storage, watched as long as it takes: a thread for each target, and this one, which follows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration as StdDuration, Instant as StdInstant};

use anyhow::Context as _;
use engine::{Clock as _, DriverError};
use host::counters::process_cpu_ns;
use host::environment::unix_ms;
use host::heartbeat::{ClockGap, Heartbeat};
use host::interrupt::Interrupt;
use indicatif::ProgressBar;
use report::{watch_metrics, watch_status};
use sys::MonotonicClock;
use units::{Duration, Instant, TargetName, format_counted, format_duration_ns, printable};
use watch::{Probe, ProbePlan};

use super::metrics_page::MetricsPage;
use super::place::{ProbedPlace, whole_name};
use super::probing::{ProbeBatch, ProbingThread};
use super::session::{WatchOutputs, WatchSession, WatchedTarget};
use crate::args::WatchArgs;
use crate::exit::Exit;
use crate::output;
use crate::progress::status_line;

/// How often signals are looked for.
const LOOK_EVERY: StdDuration = StdDuration::from_millis(100);
/// How often the device, the page and the status line are looked after.
const TICK: Duration = Duration::from_secs(1);
/// Requests at a device from which on most probes are left out.
const QUEUE_LONG: u64 = 64;
/// Looks at all processes take this part of a processor at most, and are no rarer than the latter.
const LOOK_COST: u32 = 1_000;
const LOOK_RANGE_MS: (u64, u64) = (5_000, 60_000);
/// A stop is said from this length on, ns.
const STOP_TOLD_NS: u64 = 1_000_000_000;
/// How long probers may take to end.
const END_LIMIT: StdDuration = StdDuration::from_secs(2);

/// Watch storage until the time is over or a signal comes.
///
/// # Errors
/// When a target cannot be opened, or the system refuses.
pub fn watch(
    args: &WatchArgs,
    outputs: WatchOutputs,
    interrupt: &Interrupt,
) -> anyhow::Result<Exit> {
    let mut places = Vec::new();
    for name in &args.targets {
        let path = name.path().context("a path")?;
        let place = ProbedPlace::open(path)?;
        if place.is_buffered {
            output::complain(&format!(
                "warning: {name} has no direct I/O. The page cache answers reads"
            ));
        }
        places.push(place);
    }
    let second = unix_ms() / 1_000;
    let target = |(name, place): (&TargetName, &ProbedPlace)| {
        WatchedTarget::new(whole_name(name), place.device.clone(), args.every, second)
    };
    let targets = args.targets.iter().zip(&places).map(target).collect();
    let page = args.listen.map(MetricsPage::start).transpose()?;
    let mut session = WatchSession::new(targets, outputs);
    session.learn(second);
    session.look_at_processes(unix_ms());
    match session.closed_processes() {
        // Even root may not look at a few.
        _ if rustix::process::geteuid().is_root() => {}
        0 => {}
        others => output::complain(&format!(
            "note: events cannot name {}, which takes root",
            format_counted(others.into(), "other process")
        )),
    }
    let clock = MonotonicClock::of_system();
    let mut following = Following {
        clock,
        began: clock.now(),
        heartbeat: Heartbeat::start(clock)?,
        gaps: Vec::new(),
        early: Vec::new(),
        next_tick: clock.now(),
        next_look_ms: 0,
        hold_back: Vec::new(),
        status: (!args.quiet && !args.json).then(status_line).flatten(),
        page,
        own_cpu_ns: process_cpu_ns(),
    };
    let probes = start(args, &places, &mut following, clock)?;
    let followed = following.follow(&mut session, &probes, (args.length, interrupt));
    probes.stop.store(true, Ordering::Relaxed);
    let is_ended = probes.end();
    for place in places {
        match is_ended {
            true => place.remove()?,
            false => place.leave(),
        }
    }
    if !is_ended {
        output::complain(
            "warning: a target does not answer, `seekstone clean` removes what is left",
        );
    }
    followed?;
    following.end(session)
}

/// The threads that probe, and what they send.
struct Probes {
    threads: Vec<JoinHandle<()>>,
    receiver: Receiver<Result<ProbeBatch, DriverError>>,
    stop: Arc<AtomicBool>,
}

impl Probes {
    /// Wait for their end for a while; says whether all ended.
    fn end(self) -> bool {
        let until = StdInstant::now() + END_LIMIT;
        while let Some(left) = until.checked_duration_since(StdInstant::now()) {
            if let Err(RecvTimeoutError::Disconnected) = self.receiver.recv_timeout(left) {
                break;
            }
        }
        self.threads.iter().all(JoinHandle::is_finished)
            || matches!(
                self.receiver.try_recv(),
                Err(std::sync::mpsc::TryRecvError::Disconnected)
            )
    }
}

fn start(
    args: &WatchArgs,
    places: &[ProbedPlace],
    following: &mut Following,
    clock: MonotonicClock,
) -> anyhow::Result<Probes> {
    let (sender, receiver) = channel();
    let stop = Arc::new(AtomicBool::new(false));
    let mut threads = Vec::new();
    for (number, place) in places.iter().enumerate() {
        let hold_back = Arc::new(AtomicBool::new(false));
        following.hold_back.push(Arc::clone(&hold_back));
        let plan = ProbePlan {
            every: args.every,
            size: place.size,
            syncs: place.syncs,
            seed: args.seed.wrapping_add(number as u64),
        };
        let thread = ProbingThread {
            number,
            clock,
            sender: sender.clone(),
            stop: Arc::clone(&stop),
            hold_back,
        };
        threads.push(thread.start(place, plan)?);
    }
    Ok(Probes {
        threads,
        receiver,
        stop,
    })
}

/// What the thread that follows knows of time.
struct Following {
    clock: MonotonicClock,
    began: Instant,
    heartbeat: Heartbeat,
    /// In which this process stood still.
    gaps: Vec<(Instant, Instant)>,
    /// Batches that are later than the last look at the clocks.
    early: Vec<ProbeBatch>,
    next_tick: Instant,
    next_look_ms: u64,
    hold_back: Vec<Arc<AtomicBool>>,
    status: Option<ProgressBar>,
    page: Option<MetricsPage>,
    own_cpu_ns: u64,
}

impl Following {
    fn follow(
        &mut self,
        session: &mut WatchSession,
        probes: &Probes,
        (length, interrupt): (Option<Duration>, &Interrupt),
    ) -> anyhow::Result<()> {
        let end = length.map_or(Instant::NEVER, |length| self.began + length);
        while self.clock.now() < end && interrupt.is_raised().is_none() {
            match probes.receiver.recv_timeout(LOOK_EVERY) {
                Ok(batch) => self.early.push(batch.context("a target cannot be probed")?),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.note_gaps(session)?;
            self.take_batches(session)?;
            if self.clock.now() >= self.next_tick {
                self.next_tick = self.clock.now() + TICK;
                self.tick(session);
            }
        }
        Ok(())
    }

    /// Say what was no fault of the storage.
    fn note_gaps(&mut self, session: &WatchSession) -> anyhow::Result<()> {
        for (from, to, gap) in self.heartbeat.take_gaps() {
            let long = |ns: u64| format_duration_ns(ns as f64);
            let text = match gap {
                ClockGap::Suspended { for_ns } => {
                    format!("the machine was suspended for {}", long(for_ns))
                }
                ClockGap::Stopped { for_ns } => {
                    format!("seekstone stood still for {}", long(for_ns))
                }
                ClockGap::Set { by_ns } => {
                    let way = if by_ns < 0 { "back" } else { "forward" };
                    format!("the clock was set {way} by {}", long(by_ns.unsigned_abs()))
                }
            };
            if !matches!(gap, ClockGap::Set { .. }) {
                self.gaps.push((from, to));
            }
            // A busy machine has many short ones; the summary counts their probes.
            if matches!(gap, ClockGap::Stopped { for_ns } if for_ns < STOP_TOLD_NS) {
                continue;
            }
            self.aside(|| session.note(unix_ms(), &text))?;
        }
        Ok(())
    }

    /// Take the batches of which it is known whether this process ran all the time.
    fn take_batches(&mut self, session: &mut WatchSession) -> anyhow::Result<()> {
        let known = self.heartbeat.last();
        let (now, now_ms) = (self.clock.now(), unix_ms());
        let unix_ms = |at: Instant| match at > now {
            true => now_ms,
            false => now_ms.saturating_sub(now.since(at).as_nanos() / 1_000_000),
        };
        let (ready, early) = std::mem::take(&mut self.early)
            .into_iter()
            .partition(|it: &ProbeBatch| it.now <= known);
        self.early = early;
        let gaps = &self.gaps;
        let was_stopped = |probe: &Probe| {
            let mut gaps = gaps.iter();
            gaps.any(|(from, to)| probe.due < *to && probe.completed > *from)
        };
        let ready: Vec<ProbeBatch> = ready;
        let take = |session: &mut WatchSession| {
            let mut ready = ready.iter();
            ready.try_for_each(|batch| session.take(batch, was_stopped, unix_ms))
        };
        match (&self.status, ready.is_empty()) {
            (Some(bar), false) => bar.suspend(|| take(session))?,
            _ => take(session)?,
        }
        // A probe that waits may be older, but not by an hour.
        let old = Duration::from_secs(3_600);
        self.gaps.retain(|(_, to)| now.since(*to) < old);
        Ok(())
    }

    /// Print something beside the status line.
    fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.status {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    fn tick(&mut self, session: &mut WatchSession) {
        let now_ms = unix_ms();
        if now_ms >= self.next_look_ms {
            let cost = session.look_at_processes(now_ms);
            let rest = u64::try_from((cost * LOOK_COST).as_millis()).unwrap_or(u64::MAX);
            self.next_look_ms = now_ms + rest.clamp(LOOK_RANGE_MS.0, LOOK_RANGE_MS.1);
        }
        let mut is_held_back = false;
        for (target, hold_back) in session.targets.iter_mut().zip(&self.hold_back) {
            let queue = target.look();
            let is_long = queue.is_some_and(|queue| queue >= QUEUE_LONG);
            hold_back.store(is_long, Ordering::Relaxed);
            is_held_back |= is_long;
        }
        session.reap();
        // What could not be kept before.
        session.keep();
        if let Some(page) = &self.page {
            let targets = session.targets.iter();
            let targets = targets.map(|it| (it.name.as_str(), &it.watch));
            page.show(watch_metrics(targets, self.own_cpu()));
        }
        if let Some(bar) = &self.status {
            let targets = session.targets.iter();
            let lines = targets.map(|it| watch_status(&it.name, &it.watch));
            let mut line = lines.collect::<Vec<String>>().join(" | ");
            if is_held_back {
                line += ", one probe of ten: the device's queue is long";
            }
            bar.set_message(printable(&line));
            bar.tick();
        }
    }

    fn own_cpu(&self) -> u64 {
        process_cpu_ns().saturating_sub(self.own_cpu_ns)
    }

    fn end(self, session: WatchSession) -> anyhow::Result<Exit> {
        if let Some(bar) = &self.status {
            bar.finish_and_clear();
        }
        let elapsed = self.clock.now().since(self.began);
        let share = self.own_cpu() as f64 / elapsed.as_nanos().max(1) as f64;
        let exit = session.end(unix_ms() / 1_000, elapsed, Some(share));
        if let Some(page) = self.page {
            page.stop();
        }
        exit
    }
}
