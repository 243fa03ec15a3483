//! What is known of all targets while they are watched, and who is told.

use std::time::{Duration as StdDuration, Instant as StdInstant};

use archive::{Archive, WatchEntries};
use host::machine_look::MachineLook;
use host::process_io::{ProcessBytes, ProcessLook};
use report::{watch_event, watch_level, watch_summary};
use serde_json::json;
use units::{Duration, Instant};
use watch::{
    LevelFinding, Probe, ProbeKind, ProcessShare, SlowEvent, TargetWatch, WatchCounter, WatchEvent,
    WatchLevel, WatchNews, WatchWindow,
};

use super::hook::Hook;
use super::probing::ProbeBatch;
use crate::exit::Exit;
use crate::output;

/// Windows that wait to be kept, at most: so many hours without an archive are lost.
const UNSAVED_MAX: usize = 1_440;

/// How a session tells what it finds.
#[derive(Debug)]
pub struct WatchOutputs {
    pub is_json: bool,
    pub archive: Option<Archive>,
    /// Bytes that windows of a target may take there.
    pub keep: u64,
    /// Minutes that are kept at once.
    pub keep_together: usize,
    pub hook: Option<Hook>,
    pub level: Option<WatchLevel>,
    /// A millisecond since 1970 as text.
    pub clock: fn(u64) -> String,
}

/// What was seen besides, while an event of a kind goes on.
#[derive(Debug)]
struct Beside {
    processes: Option<ProcessLook>,
    queue_max: Option<u64>,
    pressure_us: Option<u64>,
    since: StdInstant,
}

/// A target that is watched.
#[derive(Debug)]
pub struct WatchedTarget {
    pub name: String,
    pub device: Option<String>,
    pub watch: TargetWatch,
    look: Option<MachineLook>,
    beside: [Option<Beside>; ProbeKind::ALL.len()],
    /// Kinds whose level is broken now.
    broken: Vec<ProbeKind>,
    /// Whether the level was ever judged, and ever broken.
    judged: bool,
    ever_broken: bool,
}

impl WatchedTarget {
    /// A target whose probes come so often, from that second since 1970 on.
    pub fn new(name: String, device: Option<String>, every: Duration, second: u64) -> Self {
        Self {
            name,
            device,
            watch: TargetWatch::new(every, second),
            look: None,
            beside: Default::default(),
            broken: Vec::new(),
            judged: false,
            ever_broken: false,
        }
    }

    /// Look at the device and the machine; tells how many requests the device has.
    pub fn look(&mut self) -> Option<u64> {
        let look = MachineLook::take(self.device.as_deref());
        let figures = self.look.as_ref().map(|before| look.since(before));
        let figures = figures.into_iter().flatten();
        let figures = figures.map(|(it, figure)| (WatchCounter::named(it.name()), figure));
        for (counter, figure) in figures {
            let counter = counter.expect("both have the same names");
            self.watch.count(counter, figure);
            for beside in self.beside.iter_mut().flatten() {
                let sum = match counter {
                    WatchCounter::DeviceQueueMax => &mut beside.queue_max,
                    WatchCounter::PressureIoUs => &mut beside.pressure_us,
                    _ => continue,
                };
                *sum = Some(counter.join(sum.unwrap_or(0), figure));
            }
        }
        let queue = look.queue();
        self.look = Some(look);
        queue
    }

    fn event(&mut self, kind: ProbeKind, slow: SlowEvent) -> WatchEvent {
        let beside = &mut self.beside[kind as usize];
        let is_over = slow.end_ms.is_some();
        let seen = if is_over { beside.take() } else { None };
        let processes = seen.as_ref().and_then(|it| it.processes.as_ref());
        let elapsed_us = |it: &Beside| it.since.elapsed().as_micros().max(1) as f64;
        let pressure = |it: &Beside| Some(it.pressure_us? as f64 / elapsed_us(it));
        WatchEvent {
            target: self.name.clone(),
            probe: kind,
            slow,
            who: processes.map_or_else(Vec::new, who_moved_since),
            queue_max: seen.as_ref().and_then(|it| it.queue_max),
            pressure_io: seen.as_ref().and_then(pressure).map(|it| it.min(1.0)),
        }
    }
}

fn who_moved_since(before: &ProcessLook) -> Vec<ProcessShare> {
    let moved = ProcessLook::take().since(before).into_iter();
    let share = |it: ProcessBytes| ProcessShare {
        pid: it.pid,
        name: it.name,
        read_bytes: it.read,
        written_bytes: it.written,
    };
    moved.map(share).collect()
}

/// All targets, and what is not kept yet.
#[derive(Debug)]
pub struct WatchSession {
    pub targets: Vec<WatchedTarget>,
    outputs: WatchOutputs,
    unsaved: WatchEntries,
    is_archive_broken: bool,
    /// The last two looks at all processes, and when they were.
    processes: Vec<(u64, ProcessLook)>,
}

impl WatchSession {
    pub fn new(targets: Vec<WatchedTarget>, outputs: WatchOutputs) -> Self {
        Self {
            targets,
            outputs,
            unsaved: WatchEntries::default(),
            is_archive_broken: false,
            processes: Vec::new(),
        }
    }

    /// Take what was kept of the last day for what is usual, without the minutes of its events.
    pub fn learn(&mut self, now_s: u64) {
        let Some(archive) = &self.outputs.archive else {
            return;
        };
        let after = now_s.saturating_sub(86_400);
        for target in &mut self.targets {
            let windows = archive.watched_windows(&target.name, after);
            let events = archive.watched_events(&target.name, after.saturating_sub(3_600));
            let events = events.unwrap_or_default();
            let is_usual = |window: &WatchWindow| {
                let (start, end) = (window.start_s, window.start_s + window.span_s);
                let meets = |it: &WatchEvent| {
                    let end_ms = it.slow.end_ms.unwrap_or(it.slow.begin_ms);
                    it.slow.begin_ms / 1_000 < end && end_ms / 1_000 >= start
                };
                !events.iter().any(meets)
            };
            let windows = windows.unwrap_or_default();
            let usual = windows.iter().filter(|it| is_usual(it));
            usual.for_each(|window| target.watch.learn(window));
        }
    }

    /// Look at all processes: what moved bytes before an event began is not its cause.
    pub fn look_at_processes(&mut self, now_ms: u64) -> StdDuration {
        let begun = StdInstant::now();
        self.processes.push((now_ms, ProcessLook::take()));
        if self.processes.len() > 2 {
            self.processes.remove(0);
        }
        begun.elapsed()
    }

    /// Processes that may not be looked at.
    pub fn closed_processes(&self) -> u32 {
        self.processes.last().map_or(0, |(_, look)| look.closed)
    }

    /// Take probes that are over; `unix_ms` is the time of day of an instant.
    pub fn take(
        &mut self,
        batch: &ProbeBatch,
        was_stopped: impl Fn(&Probe) -> bool,
        unix_ms: impl Fn(Instant) -> u64,
    ) -> anyhow::Result<()> {
        let watch = &mut self.targets[batch.target].watch;
        let mut news = Vec::new();
        for probe in &batch.probes {
            news.extend(watch.take(probe, unix_ms(probe.due), was_stopped(probe)));
        }
        let now_ms = unix_ms(batch.now);
        for (kind, due) in ProbeKind::ALL.into_iter().zip(batch.oldest_due) {
            let due = due.map(&unix_ms);
            news.extend(due.and_then(|due| watch.unanswered(kind, due, now_ms)));
        }
        watch.withheld(batch.withheld);
        news.extend(watch.at(now_ms / 1_000));
        for it in news {
            self.report(batch.target, it)?;
        }
        Ok(())
    }

    fn report(&mut self, number: usize, news: WatchNews) -> anyhow::Result<()> {
        match news {
            WatchNews::Began(kind, slow) => {
                let before = self.processes.iter().rev();
                let mut before = before.filter(|(at, _)| *at <= slow.begin_ms);
                let before = before.next().or(self.processes.first());
                let target = &mut self.targets[number];
                target.beside[kind as usize] = Some(Beside {
                    processes: before.map(|(_, look)| look.clone()),
                    queue_max: target.look.as_ref().and_then(MachineLook::queue),
                    pressure_us: None,
                    since: StdInstant::now(),
                });
                let event = target.event(kind, slow);
                self.report_event("began", event)
            }
            WatchNews::Ended(kind, slow) => {
                let event = self.targets[number].event(kind, slow);
                self.report_event("ended", event)
            }
            WatchNews::Minute(window) => self.end_minute(number, window),
        }
    }

    fn report_event(&mut self, what: &'static str, event: WatchEvent) -> anyhow::Result<()> {
        let document = event_json(what, &event, self.outputs.clock);
        let text = format!(
            "{}{what}: {}",
            self.named(&event.target),
            watch_event(&event, &self.outputs.clock)
        );
        // What is said is kept, whatever becomes of this process.
        self.unsaved.events.push(event);
        self.keep();
        self.say(&text, &document)?;
        if let Some(hook) = &mut self.outputs.hook {
            hook.run(what, &document);
        }
        Ok(())
    }

    /// What stands before a line, where there are several targets.
    fn named(&self, target: &str) -> String {
        match self.targets.len() {
            1 => String::new(),
            _ => format!("{target} "),
        }
    }

    fn end_minute(&mut self, number: usize, window: WatchWindow) -> anyhow::Result<()> {
        let name = self.targets[number].name.clone();
        let document = minute_json(&name, &window, self.outputs.clock);
        self.unsaved.windows.push((name, window));
        if self.unsaved.windows.len() >= self.outputs.keep_together {
            self.keep();
        }
        if self.outputs.is_json {
            output::print(&document.to_string())?;
        }
        self.judge(number)
    }

    fn judge(&mut self, number: usize) -> anyhow::Result<()> {
        let Some(level) = self.outputs.level.clone() else {
            return Ok(());
        };
        let hour = self.targets[number].watch.last_hour();
        let found = level.judge(&hour);
        let target = &mut self.targets[number];
        target.judged |= !found.is_empty();
        let mut turned: Vec<LevelFinding> = Vec::new();
        for it in found {
            let was_broken = target.broken.contains(&it.kind);
            if was_broken == it.is_kept {
                turned.push(it);
            }
            target.broken.retain(|kind| *kind != it.kind);
            if !it.is_kept {
                target.broken.push(it.kind);
                target.ever_broken = true;
            }
        }
        let (name, end_s) = (target.name.clone(), hour.start_s + hour.span_s);
        for it in turned {
            let what = if it.is_kept { "kept" } else { "broken" };
            let at = (self.outputs.clock)(end_s * 1_000);
            let document = json!({"type": "level", "what": what, "target": name, "at": at,
                "probe": it.kind.name(), "level": level.to_string(), "found_ns": it.found_ns});
            let text = format!(
                "{}{at} level {}",
                self.named(&name),
                watch_level(&level, &it)
            );
            self.say(&text, &document)?;
            if let Some(hook) = &mut self.outputs.hook {
                hook.run(what, &document);
            }
        }
        Ok(())
    }

    /// Say something that is no event of a target.
    pub fn note(&self, at_ms: u64, text: &str) -> anyhow::Result<()> {
        let at = (self.outputs.clock)(at_ms);
        self.say(
            &format!("{at} {text}"),
            &json!({"type": "note", "at": at, "text": text}),
        )
    }

    fn say(&self, text: &str, document: &serde_json::Value) -> anyhow::Result<()> {
        match self.outputs.is_json {
            true => output::print(&document.to_string())?,
            false => output::print(text)?,
        };
        Ok(())
    }

    /// Keep what is not kept yet. What cannot be kept waits, and it is said once.
    pub fn keep(&mut self) {
        let Some(archive) = &mut self.outputs.archive else {
            self.unsaved = WatchEntries::default();
            return;
        };
        if self.unsaved.is_empty() {
            return;
        }
        match archive.keep_watched(&self.unsaved, self.outputs.keep) {
            Ok(()) => {
                self.unsaved = WatchEntries::default();
                self.is_archive_broken = false;
            }
            Err(error) => {
                if !self.is_archive_broken {
                    let error = anyhow::Error::from(error);
                    output::complain(&format!("warning: nothing is kept for now: {error:#}"));
                }
                self.is_archive_broken = true;
                let surplus = self.unsaved.windows.len().saturating_sub(UNSAVED_MAX);
                self.unsaved.windows.drain(..surplus);
                let surplus = self.unsaved.events.len().saturating_sub(UNSAVED_MAX);
                self.unsaved.events.drain(..surplus);
            }
        }
    }

    /// Let ended commands of `--exec` go.
    pub fn reap(&mut self) {
        if let Some(hook) = &mut self.outputs.hook {
            hook.reap();
        }
    }

    /// End: events that go on, the last minute, the summary, and what the level comes to.
    pub fn end(mut self, second: u64, elapsed: Duration, own: Option<f64>) -> anyhow::Result<Exit> {
        let mut lines = Vec::new();
        for number in 0..self.targets.len() {
            let target = &mut self.targets[number];
            let going = ProbeKind::ALL.map(|kind| Some((kind, target.watch.going_on(kind)?)));
            for (kind, slow) in going.into_iter().flatten() {
                let event = target.event(kind, slow);
                self.unsaved.events.push(event);
            }
            let window = target.watch.end_minute(second);
            self.end_minute(number, window)?;
            let target = &self.targets[number];
            lines.push(watch_summary(&target.name, &target.watch, elapsed));
        }
        self.keep();
        let exit = match &self.outputs.level {
            None => Exit::Done,
            Some(_) if self.targets.iter().any(|it| it.ever_broken) => Exit::Exceeded,
            Some(_) if self.targets.iter().all(|it| it.judged) => Exit::Done,
            Some(_) => Exit::Undecided,
        };
        if let Some(level) = &self.outputs.level {
            lines.push(match exit {
                Exit::Exceeded => format!("{level} was broken."),
                Exit::Done => format!("{level} was kept in every hour."),
                _ => format!("Too few probes to judge {level}: watch longer."),
            });
        }
        lines.extend(own.map(|share| format!("own CPU time: {:.3} %", share * 100.0)));
        let text = lines.join("\n");
        self.say(&text, &json!({"type": "summary", "text": text}))?;
        Ok(exit)
    }
}

/// An event as a line for programs.
pub fn event_json(what: &str, event: &WatchEvent, clock: fn(u64) -> String) -> serde_json::Value {
    json!({"type": "event", "what": what, "event": event,
        "begin": clock(event.slow.begin_ms), "end": event.slow.end_ms.map(clock)})
}

/// A window as a line for programs.
pub fn minute_json(
    target: &str,
    window: &WatchWindow,
    clock: fn(u64) -> String,
) -> serde_json::Value {
    let times = |kind: ProbeKind| {
        let times = window.times(kind);
        json!({"count": times.count(), "p50_ns": times.quantile(0.5),
            "p99_ns": times.quantile(0.99), "max_ns": times.max_ns()})
    };
    let counters = window.counters.iter();
    let counters: serde_json::Map<_, _> = counters
        .map(|(counter, figure)| (counter.name().to_owned(), json!(figure)))
        .collect();
    json!({"type": "minute", "target": target, "start": clock(window.start_s * 1_000),
        "seconds": window.span_s, "read": times(ProbeKind::Read), "sync": times(ProbeKind::Sync),
        "failed": window.failed, "late": window.late, "stopped": window.stopped,
        "withheld": window.withheld, "counters": counters})
}

#[cfg(test)]
mod tests {
    use host::machine_look::MachineCounter;

    use super::*;

    #[test]
    fn what_the_host_counts_is_kept() {
        for counter in MachineCounter::ALL {
            assert!(WatchCounter::named(counter.name()).is_some(), "{counter:?}");
        }
    }
}
