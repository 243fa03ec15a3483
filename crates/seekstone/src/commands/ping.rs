//! `seekstone ping`: one operation after the other, a line for each, as ioping prints them.

use anyhow::Context as _;
use engine::{Driver, DriverError};
use host::interrupt::Interrupt;
use lab::bench::only_objects;
use lab::simulated::open_model;
use serde_json::json;
use stats::Histogram;
use sys::MonotonicClock;
use units::{Duration, Instant, TargetName, format_counted, format_duration_ns};
use watch::{PROBE_BYTES, ProbeKind, ProbePlaces};
use workload::Completion;

use crate::args::PingArgs;
use crate::commands::watch::place::ProbedPlace;
use crate::commands::watch::probing::probe_driver;
use crate::exit::{Exit, UsageError};
use crate::output;

/// Operations of a model, and of a Nagios plugin, unless it is said.
const COUNT: u32 = 10;
/// How often a signal is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// The share that Nagios is told.
const NAGIOS_SHARE: f64 = 0.95;

/// Ping a target.
///
/// # Errors
/// When it cannot be opened, or options do not go together.
pub fn ping(args: &PingArgs) -> anyhow::Result<Exit> {
    let interrupt = Interrupt::install().context("cannot set up signal handling")?;
    let mut pings = Pings::new(args);
    match &args.target {
        TargetName::Null => {
            refuse!("null: answers at once. There is nothing to ping");
        }
        TargetName::Bucket(name) => {
            return Err(UsageError(only_objects(name)).into());
        }
        TargetName::Model(name) => {
            let spec = open_model(name).map_err(UsageError::of)?;
            let mut driver = spec.driver(args.seed, 1, Instant::START);
            pings.run(&mut driver, spec.size.0, &interrupt)?;
        }
        TargetName::Path(_) => {
            let path = args.target.path().context("a path")?;
            let place = ProbedPlace::open(path)?;
            if args.sync && !place.syncs {
                place.remove()?;
                refuse!("--sync takes a directory: files and devices are only read");
            }
            if place.is_buffered {
                output::complain("warning: without direct I/O the page cache answers reads");
            }
            let opened = probe_driver(&place.table, MonotonicClock::of_system());
            let ran = opened
                .map_err(anyhow::Error::from)
                .and_then(|mut it| pings.run(it.as_mut(), place.size, &interrupt));
            match pings.is_answered {
                true => place.remove()?,
                false => place.leave(),
            }
            ran?;
        }
    }
    pings.report()
}

/// What was asked and answered.
struct Pings<'a> {
    args: &'a PingArgs,
    count: Option<u32>,
    kind: ProbeKind,
    asked: u32,
    failed: u32,
    /// Whether nothing is under way.
    is_answered: bool,
    times: Histogram,
}

impl<'a> Pings<'a> {
    fn new(args: &'a PingArgs) -> Self {
        let is_nagios = args.warn.is_some() || args.crit.is_some();
        let ends = args.target.is_model() || is_nagios;
        Self {
            args,
            count: args.count.or(ends.then_some(COUNT)),
            kind: if args.sync {
                ProbeKind::Sync
            } else {
                ProbeKind::Read
            },
            asked: 0,
            failed: 0,
            is_answered: true,
            times: Histogram::new(),
        }
    }

    fn run(
        &mut self,
        driver: &mut dyn Driver,
        size: u64,
        interrupt: &Interrupt,
    ) -> anyhow::Result<()> {
        let mut places = ProbePlaces::new(self.kind, size, self.args.seed);
        let mut due = driver.now();
        while self.count.is_none_or(|count| self.asked < count) {
            if !self.wait_until(driver, due, interrupt)? {
                return Ok(());
            }
            self.asked += 1;
            driver.submit(places.next(driver.now().max(due)))?;
            self.is_answered = false;
            let Some(done) = answer(driver, interrupt)? else {
                return Ok(());
            };
            self.is_answered = true;
            self.take(&done)?;
            due = (due + self.args.interval).max(driver.now());
        }
        Ok(())
    }

    /// Says whether it is time, and not a signal.
    fn wait_until(
        &self,
        driver: &mut dyn Driver,
        due: Instant,
        interrupt: &Interrupt,
    ) -> Result<bool, DriverError> {
        while driver.now() < due {
            if interrupt.is_raised().is_some() {
                return Ok(false);
            }
            let until = due.min(driver.now() + LOOK_EVERY);
            driver.wait(Some(until), &mut Vec::new())?;
        }
        Ok(interrupt.is_raised().is_none())
    }

    fn take(&mut self, done: &Completion) -> anyhow::Result<()> {
        let time = done.service_time();
        let time = format_duration_ns(time.as_nanos() as f64);
        let way = match self.kind {
            ProbeKind::Read => "from",
            ProbeKind::Sync => "synced to",
        };
        let head = format!("4 KiB {way} {}: request={}", self.args.target, self.asked);
        let line = match done.result {
            Ok(_) => format!("{head} time={time}"),
            Err(errno) => {
                let error = std::io::Error::from_raw_os_error(errno.0);
                format!("{head} failed after {time}: {error}")
            }
        };
        match done.result {
            Ok(_) => self.times.record(done.service_time().as_nanos()),
            Err(_) => self.failed += 1,
        }
        if !self.args.quiet && !self.is_short() {
            output::print(&line)?;
        }
        Ok(())
    }

    /// Whether there is one line or document at the end, and nothing else.
    fn is_short(&self) -> bool {
        self.args.json || self.args.warn.is_some() || self.args.crit.is_some()
    }

    fn report(&self) -> anyhow::Result<Exit> {
        if self.args.json {
            return output::print(&self.document().to_string());
        }
        if self.is_short() {
            let (text, exit) = self.nagios();
            output::print(&text)?;
            return Ok(exit);
        }
        let ns = |ns: u64| format_duration_ns(ns as f64);
        let mut text = format!(
            "{} of {} answered",
            self.times.len(),
            format_counted(self.asked.into(), self.kind.name())
        );
        if !self.times.is_empty() {
            text += &format!(
                ": min {}, mean {}, p95 {}, max {}",
                ns(self.times.min()),
                format_duration_ns(self.times.mean()),
                ns(self.p95()),
                ns(self.times.max())
            );
        }
        if self.failed > 0 {
            text += &format!(", {} failed", self.failed);
        }
        output::print(&text)?;
        Ok(match self.failed > 0 || !self.is_answered {
            true => Exit::Failed,
            false => Exit::Done,
        })
    }

    fn p95(&self) -> u64 {
        self.times.value_at(NAGIOS_SHARE).unwrap_or(0)
    }

    fn document(&self) -> serde_json::Value {
        let known = (!self.times.is_empty()).then_some(());
        json!({
            "target": self.args.target.as_str(), "operation": self.kind.name(),
            "bytes": PROBE_BYTES, "asked": self.asked, "answered": self.times.len(),
            "failed": self.failed, "min_ns": known.map(|()| self.times.min()),
            "mean_ns": known.map(|()| self.times.mean()), "p95_ns": self.times.value_at(0.95),
            "max_ns": known.map(|()| self.times.max()),
        })
    }

    /// The line of a Nagios plugin, and its state.
    fn nagios(&self) -> (String, Exit) {
        let p95 = Duration::from_nanos(self.p95());
        let above = |limit: Option<Duration>| limit.is_some_and(|limit| p95 > limit);
        let (state, exit) = match () {
            () if self.times.is_empty() => ("UNKNOWN", Exit::NagiosUnknown),
            () if self.failed > 0 || above(self.args.crit) => ("CRITICAL", Exit::NagiosCritical),
            () if above(self.args.warn) => ("WARNING", Exit::NagiosWarning),
            () => ("OK", Exit::Done),
        };
        let limit =
            |it: Option<Duration>| it.map_or(String::new(), |it| it.as_secs_f64().to_string());
        let text = format!(
            "SEEKSTONE {state} - {} p95 {}, {} of {} answered | p95={}s;{};{};0",
            self.kind.name(),
            format_duration_ns(p95.as_nanos() as f64),
            self.times.len(),
            self.asked,
            p95.as_secs_f64(),
            limit(self.args.warn),
            limit(self.args.crit),
        );
        (text, exit)
    }
}

/// The answer, unless a signal comes first.
fn answer(
    driver: &mut dyn Driver,
    interrupt: &Interrupt,
) -> Result<Option<Completion>, DriverError> {
    let mut done = Vec::new();
    while done.is_empty() {
        if interrupt.is_raised().is_some() {
            return Ok(None);
        }
        let until = driver.now() + LOOK_EVERY;
        driver.wait(Some(until), &mut done)?;
    }
    Ok(done.pop())
}
