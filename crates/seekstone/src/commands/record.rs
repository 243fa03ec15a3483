//! `seekstone record`: the requests of a device or a process, as the kernel's block events tell
//! them, into a file.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration as StdDuration, Instant as StdInstant};

use anyhow::Context as _;
use host::counters::process_cpu_ns;
use host::interrupt::Interrupt;
use host::traced::{
    Ownership, ThreadOwners, Traced, TracedDevice, TracedError, is_on, program_name,
};
use host::tracefs::TraceInstance;
use indicatif::ProgressBar;
use trace::{
    BlockEventKind, PageLayout, RecordedPart, RecorderCounts, RecordingEnd, ThreadOwner,
    TraceRecorder,
};
use units::{
    Bytes, Duration, format_count, format_counted, format_duration_ns, format_rate, printable,
};

use crate::args::RecordArgs;
use crate::exit::{Exit, UsageError};
use crate::output::{self, Filling};
use crate::progress::status_line;

/// How often the kernel's buffer is emptied.
const EMPTY_EVERY: StdDuration = StdDuration::from_millis(50);
/// How often the status line is written anew.
const TICK: StdDuration = StdDuration::from_secs(1);
/// Pieces of the file that wait to be written, at most: each is a block of 64 KiB or so.
const WAITING_MAX: usize = 1024;
/// What is traced; kernels before Linux 6.5 lack the first.
const KINDS: [BlockEventKind; 3] = [
    BlockEventKind::Started,
    BlockEventKind::Issued,
    BlockEventKind::Completed,
];

/// Record until the time is over or a signal comes.
///
/// # Errors
/// When nothing can be traced, or the file not be written.
pub fn record(args: &RecordArgs) -> anyhow::Result<Exit> {
    if args.output.is_stdout() {
        refuse!("--output - is no place for a recording: name a file");
    }
    if args.length == Some(Duration::ZERO) {
        refuse!("--for 0 s records nothing. Use a longer time");
    }
    let traced = traced(args)?;
    let devices = match &traced {
        Traced::Devices(devices) => devices.clone(),
        Traced::Process(_) | Traced::Group(_) => Vec::new(),
    };
    let path = args.output.path();
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
    if is_on(directory.unwrap_or(Path::new(".")), &devices) {
        output::complain(&format!(
            "warning: {} lies on a recorded device, so writing it is part of the recording",
            path.display()
        ));
    }
    let interrupt = Interrupt::install().context("cannot set up signal handling")?;
    let file = args.output.begin()?;
    let own_cpu_ns = process_cpu_ns();
    let instance = TraceInstance::create()?;
    let subject = subject(&traced);
    let mut recording = Recording {
        started: recorder(&instance, &devices)?,
        instance,
        owners: ThreadOwners::new(traced),
        file: FileThread::start(file)?,
        shown: (0, 0),
        has_names: args.names,
        own_cpu_ns,
    };
    recording.follow(args, &subject, &interrupt)?;
    recording.finish(args, &subject)
}

/// Begin to trace.
fn recorder(instance: &TraceInstance, devices: &[TracedDevice]) -> anyhow::Result<StartedRecorder> {
    let named = KINDS.into_iter().filter_map(|kind| {
        let text = instance.event_format(kind.event_name())?;
        Some((kind, text))
    });
    let named: Vec<(BlockEventKind, String)> = named.collect();
    let has_starts = named.iter().any(|it| it.0 == BlockEventKind::Started);
    if named.len() + usize::from(!has_starts) < KINDS.len() {
        anyhow::bail!("this kernel has no block events: it takes CONFIG_BLK_DEV_IO_TRACE");
    }
    if devices.is_empty() && !has_starts {
        output::complain(
            "warning: before Linux 6.5 the kernel does not say who asks for a request. What a \
             kernel thread hands to the device is left out",
        );
    }
    let texts: Vec<(BlockEventKind, &str)> = named.iter().map(|it| (it.0, it.1.as_str())).collect();
    let layout = PageLayout::parse(&instance.header_page()?, &texts).map_err(anyhow::Error::msg)?;
    let part = |it: &TracedDevice| RecordedPart {
        device: it.number,
        sectors: it.sectors,
    };
    let numbers: Vec<u32> = devices.iter().map(|it| it.number).collect();
    let events: Vec<&str> = texts.iter().map(|it| it.0.event_name()).collect();
    let begin_ns = instance.begin(&events, &numbers)?;
    let parts = devices.iter().map(part).collect();
    Ok(StartedRecorder {
        recorder: TraceRecorder::new(layout, (begin_ns, has_starts), parts),
        begin_ns,
        has_starts,
    })
}

/// What is recorded: several devices, or one of something else.
fn traced(args: &RecordArgs) -> anyhow::Result<Traced> {
    let mut devices: Vec<TracedDevice> = Vec::new();
    for word in &args.targets {
        match Traced::find(word).map_err(usage)? {
            Traced::Devices(found) => {
                for device in found {
                    if !devices.contains(&device) {
                        devices.push(device);
                    }
                }
            }
            other if args.targets.len() == 1 => return Ok(other),
            Traced::Process(_) | Traced::Group(_) => {
                refuse!("record several devices, or one process, or one control group");
            }
        }
    }
    Ok(Traced::Devices(devices))
}

fn usage(error: TracedError) -> anyhow::Error {
    match error {
        TracedError::Inspect(error) => error.into(),
        error => UsageError(error.to_string()).into(),
    }
}

fn subject(traced: &Traced) -> String {
    match traced {
        Traced::Devices(devices) => {
            let name = |it: &TracedDevice| format!("{} ({})", it.name, it.number_text());
            let names: Vec<String> = devices.iter().map(name).collect();
            names.join(", ")
        }
        Traced::Process(pid) => format!("process {pid}"),
        Traced::Group(path) => format!("control group {}", path.display()),
    }
}

/// A recorder, and since when it records.
struct StartedRecorder {
    recorder: TraceRecorder,
    /// By the clock of events.
    begin_ns: u64,
    /// Whether the kernel says when a request is asked for.
    has_starts: bool,
}

/// Writes the file in a thread of its own: a disk that is busy must not keep the kernel's buffer
/// from being emptied.
struct FileThread {
    sender: Option<SyncSender<Vec<u8>>>,
    thread: JoinHandle<(Filling, Option<io::Error>)>,
}

impl FileThread {
    fn start(mut file: Filling) -> anyhow::Result<Self> {
        let (sender, receiver) = sync_channel::<Vec<u8>>(WAITING_MAX);
        let write = move || {
            let error = receiver.iter().find_map(|it| file.write_all(&it).err());
            (file, error)
        };
        let builder = Builder::new().name("file".into());
        Ok(Self {
            sender: Some(sender),
            thread: builder.spawn(write).context("cannot start a thread")?,
        })
    }

    /// Hand over what is to be written; nothing once that is no longer possible.
    fn write(&mut self, bytes: Vec<u8>) {
        if let Some(sender) = &self.sender
            && !bytes.is_empty()
            && sender.send(bytes).is_err()
        {
            self.sender = None;
        }
    }

    const fn is_broken(&self) -> bool {
        self.sender.is_none()
    }

    /// Name the file; returns why it is not all there.
    fn finish(mut self) -> anyhow::Result<Option<io::Error>> {
        self.sender = None;
        let (file, error) = self.thread.join().expect("writing does not panic");
        file.finish()?;
        Ok(error)
    }
}

/// A recording under way.
struct Recording {
    instance: TraceInstance,
    started: StartedRecorder,
    owners: ThreadOwners,
    file: FileThread,
    /// Requests and bytes when the status line was written last.
    shown: (u64, u64),
    has_names: bool,
    /// Own CPU time when it began.
    own_cpu_ns: u64,
}

impl Recording {
    fn follow(
        &mut self,
        args: &RecordArgs,
        subject: &str,
        interrupt: &Interrupt,
    ) -> anyhow::Result<()> {
        let status = (!args.quiet).then(status_line).flatten();
        if !args.quiet && status.is_none() {
            let length = args
                .length
                .map_or("until Ctrl-C".into(), |it| format!("for {it}"));
            output::complain(&format!("recording {subject} {length}"));
        }
        let began = StdInstant::now();
        let length = args.length.map_or(StdDuration::MAX, |it| {
            StdDuration::from_nanos(it.as_nanos())
        });
        let mut shown = began;
        while began.elapsed() < length && interrupt.is_raised().is_none() {
            let left = length.saturating_sub(began.elapsed());
            std::thread::sleep(EMPTY_EVERY.min(left));
            self.empty()?;
            if self.file.is_broken() {
                break;
            }
            if shown.elapsed() >= TICK {
                self.show(status.as_ref(), subject, (shown.elapsed(), began.elapsed()));
                shown = StdInstant::now();
            }
        }
        if let Some(status) = status {
            status.finish_and_clear();
        }
        Ok(())
    }

    /// Take what happened so far; returns the time up to which that is.
    fn empty(&mut self) -> anyhow::Result<u64> {
        let recorder = &mut self.started.recorder;
        let mut fault = Ok(());
        let until = self.instance.read(&mut |page| {
            if fault.is_ok() {
                fault = recorder.page(page);
            }
        })?;
        fault.map_err(anyhow::Error::msg)?;
        let (owners, has_names) = (&mut self.owners, self.has_names);
        recorder.advance(until, &mut |thread| match owners.owner(thread) {
            Ownership::Recorded(process) => {
                let name = has_names.then(|| program_name(process));
                ThreadOwner::Recorded(process, name.unwrap_or_default())
            }
            Ownership::Other => ThreadOwner::Other,
            Ownership::Gone => ThreadOwner::Gone,
        });
        self.file.write(recorder.take());
        Ok(until)
    }

    fn show(
        &mut self,
        status: Option<&ProgressBar>,
        subject: &str,
        (passed, all): (StdDuration, StdDuration),
    ) {
        let counts = &self.started.recorder.counts;
        let seconds = passed.as_secs_f64();
        let (requests, bytes) = (counts.requests, counts.bytes);
        let per_second = |now: u64, before: u64| (now - before) as f64 / seconds;
        if let Some(status) = status {
            let text = format!(
                "{subject}: {} IOPS, {}, {} lost, {} recorded in {}",
                format_count(per_second(requests, self.shown.0).round()),
                format_rate(per_second(bytes, self.shown.1)),
                format_counted(self.instance.lost(), "event"),
                format_counted(requests, "request"),
                format_duration_ns(all.as_secs() as f64 * 1e9),
            );
            status.set_message(printable(&text));
            status.tick();
        }
        self.shown = (requests, bytes);
    }

    fn finish(mut self, args: &RecordArgs, subject: &str) -> anyhow::Result<Exit> {
        self.instance.stop()?;
        let until = self.empty()?;
        self.started.recorder.end_requests();
        let end = RecordingEnd {
            length_ns: until - self.started.begin_ns,
            lost: self.instance.lost(),
            cpu_ns: process_cpu_ns() - self.own_cpu_ns,
            has_starts: self.started.has_starts,
        };
        if self.started.recorder.counts.requests == 0 {
            anyhow::bail!("nothing was recorded: {subject} had no request");
        }
        self.started.recorder.finish(end.clone());
        self.file.write(self.started.recorder.take());
        drop(self.instance);
        let path = args.output.path();
        if let Some(error) = self.file.finish()? {
            anyhow::bail!(
                "{} cannot be written any more: {error}. What was recorded until then is in it",
                path.display()
            );
        }
        output::print(&summary(subject, &self.started.recorder.counts, &end, path))
    }
}

fn summary(subject: &str, all: &RecorderCounts, end: &RecordingEnd, path: &Path) -> String {
    let seconds = (end.length_ns as f64 / 1e9).max(1e-9);
    let size = path.metadata().map_or(0, |it| it.len());
    let quantile = |p| {
        let estimate = all.took.quantile(p);
        estimate.map_or("unknown".into(), |it| format_duration_ns(it as f64))
    };
    let mut text = format!(
        "Recorded {subject} for {}: {}, {} IOPS, {}, latency p50 {}, p99 {}.\n\
         Lost events: {}. Own CPU time: {:.2} % of one CPU. {}: {}, {:.1} bytes a request.",
        Duration::from_nanos(end.length_ns),
        format_counted(all.requests, "request"),
        format_count((all.requests as f64 / seconds).round()),
        format_rate(all.bytes as f64 / seconds),
        quantile(0.5),
        quantile(0.99),
        end.lost,
        end.cpu_ns as f64 / end.length_ns.max(1) as f64 * 100.0,
        path.display(),
        Bytes(size),
        size as f64 / all.requests.max(1) as f64,
    );
    if all.open > 0 {
        let open = format_counted(all.open, "request");
        text += &format!("\n{open} had not completed at the end, or within 10 s.");
    }
    if end.lost > 0 {
        text += "\nwarning: events were lost, so requests are missing from the recording.";
    }
    text
}
