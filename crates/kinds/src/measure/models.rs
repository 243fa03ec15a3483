//! Models that take part in a measurement: several of them in one virtual time, each a device by
//! itself.

use results::Reading;
use results::metric::TAPE_STOPS;
use sim::{Action, Answer, Between, Command, CommandSource, Device, SimSpec, Transport};
use units::{Duration, Instant};
use workload::{ClientId, Durability, Errno};

use super::Stop;
use super::place::{MeasureError, Result, go_on};
use super::records::Spent;
use super::steps::{Carried, Carrier, IoAction, IoSteps, Passage};
use lab::bench::BenchError;
use lab::simulated::open_model;

/// A model's device, and which of its bytes are the target.
pub struct ModelTarget {
    /// The device at rest.
    pub device: Box<dyn Device>,
    /// The target's first byte on it.
    pub start: u64,
    /// Bytes of the target.
    pub size: u64,
}

/// The specification of a model that takes part in a measurement.
///
/// # Errors
/// When there is no such model, or it has faults, which are not injected here.
pub fn open_part(name: &str) -> Result<SimSpec> {
    let spec = open_model(name).map_err(BenchError::from)?;
    if spec.faults == sim::Faults::default() {
        return Ok(spec);
    }
    Err(MeasureError::Usage(format!(
        "{name}: faults are not injected in this measurement. Leave error, stall and short out"
    )))
}

/// Refuse a model that is only read.
pub fn refuse_read_only(spec: &SimSpec) -> Result<()> {
    if !spec.is_read_only() {
        return Ok(());
    }
    Err(MeasureError::Usage(format!(
        "{} cannot be written",
        spec.text
    )))
}

/// Refuse what does not fit on a model.
pub fn refuse_larger(what: &str, bytes: u64, spec: &SimSpec) -> Result<()> {
    if bytes <= spec.size.0 {
        return Ok(());
    }
    Err(MeasureError::Usage(format!(
        "{} holds {}, and {what} has {}: set fewer or smaller ones",
        spec.text,
        spec.size.decimal(),
        units::Bytes(bytes).decimal()
    )))
}

impl ModelTarget {
    /// The device of a model at rest; what is random in it comes from `seed`.
    pub fn new(spec: &SimSpec, seed: u64) -> Self {
        Self {
            device: spec.device(seed),
            start: spec.machine().map_or(0, |machine| machine.start),
            size: spec.size.0,
        }
    }
}

/// A command for a client.
pub fn command(client: u64, action: Action, offset: u64, len: u64) -> Command {
    Command {
        tag: client,
        action,
        client: Some(ClientId(client as u32)),
        offset,
        len,
    }
}

/// Do one command; when it is done.
///
/// # Errors
/// When the model gives an error.
pub fn perform(device: &mut dyn Device, now: Instant, command: Command) -> Result<Instant> {
    let mut answers: Vec<Answer> = Vec::new();
    settle(device, now, &mut answers);
    device.begin(now, command);
    let mut now = now;
    loop {
        now = now.max(device.next().expect("a command is under way"));
        settle(device, now, &mut answers);
        if let Some(answer) = answers.pop() {
            return answer.result.map(|_| now).map_err(failed);
        }
    }
}

/// Let a device do all that is due by `now`.
pub fn settle(device: &mut dyn Device, now: Instant, answers: &mut Vec<Answer>) {
    while device.next().is_some_and(|at| at <= now) {
        device.step(now, answers);
    }
}

/// What a model's error is for a user.
pub fn failed(error: Errno) -> MeasureError {
    MeasureError::Failed(format!(
        "the model failed an operation with error number {}",
        error.0
    ))
}

/// What passed in virtual time, which no processor's clock counts.
pub fn spent_until(now: Instant) -> Spent {
    Spent {
        elapsed: now.since(Instant::START),
        cpu: None,
    }
}

/// Two models in one virtual time.
pub struct ModelPair {
    /// Where the bytes come from.
    pub source: ModelTarget,
    /// Where they go.
    pub sink: ModelTarget,
    /// What allocating space takes, however much it is.
    pub space_time: Duration,
    /// What the time is.
    pub now: Instant,
}

/// What one passage between models did.
pub struct Passed {
    /// Reads and writes.
    pub calls: u64,
    /// Processor time.
    pub work: Duration,
}

impl ModelPair {
    /// Models at rest at the beginning of time.
    pub fn new(source: ModelTarget, sink: ModelTarget) -> Self {
        Self {
            source,
            sink,
            space_time: Duration::ZERO,
            now: Instant::START,
        }
    }

    /// The way back: what was the sink is read.
    pub fn turned(self) -> Self {
        Self {
            source: self.sink,
            sink: self.source,
            ..self
        }
    }

    /// Carry a passage out; the models stay as it leaves them.
    ///
    /// # Errors
    /// When a model gives an error, or somebody stopped it.
    pub fn pass(self, passage: Passage, stop: &Stop) -> Result<(Self, Passed)> {
        let between = Between {
            window: passage.window,
            work_byte: passage.work_byte,
        };
        let (source_start, sink_start) = (self.source.start, self.sink.start);
        let source = CommandSource {
            steps: device_steps(passage.source, source_start, Duration::ZERO),
            device: self.source.device,
            at_once: passage.reads_at_once as usize,
        };
        let sink = CommandSource {
            steps: device_steps(passage.sink, sink_start, self.space_time),
            device: self.sink.device,
            at_once: 1,
        };
        let mut transport = Transport::new(between, source, sink, self.now);
        while transport.step().map_err(failed)? {
            go_on(stop)?;
        }
        let (now, done) = (transport.now(), transport.done());
        let [source, sink] = transport.into_devices();
        let part = |device, start, size| ModelTarget {
            device,
            start,
            size,
        };
        let this = Self {
            source: part(source, source_start, self.source.size),
            sink: part(sink, sink_start, self.sink.size),
            space_time: self.space_time,
            now,
        };
        let passed = Passed {
            calls: done.source_commands + done.sink_commands - done.flushes,
            work: done.work,
        };
        Ok((this, passed))
    }

    /// How often tapes stopped, if one of them is one.
    pub fn tape_stops(&self) -> Option<Reading> {
        tape_stops(&[&*self.source.device, &*self.sink.device])
    }
}

impl Carrier for ModelPair {
    fn carry(self: Box<Self>, passage: Passage, stop: &Stop) -> Result<Carried> {
        let (this, passed) = self.pass(passage, stop)?;
        Ok(Carried {
            spent: spent_until(this.now),
            calls: passed.calls,
            others: this.tape_stops().into_iter().collect(),
            warnings: Vec::new(),
        })
    }
}

/// Steps as a device takes them, of a target that begins at byte `start` of it.
fn device_steps(steps: IoSteps, start: u64, space_time: Duration) -> sim::TransportCommands {
    Box::new(steps.filter_map(move |step| {
        let before = match step.space {
            0 => Duration::ZERO,
            _ => space_time,
        };
        Some(sim::TransportCommand {
            action: device_action(step.action)?,
            offset: start + step.offset,
            len: step.len,
            bytes: step.bytes,
            before,
        })
    }))
}

/// What a device is asked; nothing where it has no time for it.
pub fn device_action(action: IoAction) -> Option<Action> {
    match action {
        IoAction::Read => Some(Action::Read),
        IoAction::Write => Some(Action::Write(Durability::Volatile)),
        IoAction::WriteSynced => Some(Action::Write(Durability::Synced)),
        IoAction::Sync => Some(Action::Flush),
        IoAction::Cut => None,
    }
}

/// How often tapes stopped, if any of the devices is one.
pub fn tape_stops(devices: &[&dyn Device]) -> Option<Reading> {
    let stops = devices.iter().filter_map(|device| device.tape_stops());
    let stops = stops.reduce(|sum, stops| sum + stops)?;
    Some(TAPE_STOPS.reading(stops as f64))
}
