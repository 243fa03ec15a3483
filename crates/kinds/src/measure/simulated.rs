//! Models that take part in a measurement: several of them in one virtual time, each a device by
//! itself.

use results::{Better, Reading, Unit};
use sim::{Action, Answer, Command, Device, SIM_PREFIX, SimSpec};
use units::Instant;
use workload::{ClientId, Errno};

use super::Stop;
use super::place::{MeasureError, go_on};
use super::settings::Settings;
use lab::bench::BenchError;
use lab::simulated::open_model;

/// Events in virtual time between two looks at the signals.
const LOOK: u64 = 4096;

/// A model's device, and which of its bytes are the target.
pub struct Part {
    /// The device at rest.
    pub device: Box<dyn Device>,
    /// The target's first byte on it.
    pub start: u64,
    /// Bytes of the target.
    pub size: u64,
}

/// Whether a name is that of a model.
pub fn is_model(name: &str) -> bool {
    name.starts_with(SIM_PREFIX)
}

/// Which of these settings was given first.
pub fn given(settings: &Settings<'_>, names: &[&'static str]) -> Option<&'static str> {
    names.iter().copied().find(|name| settings.is_given(name))
}

/// Refuse a setting that would do nothing on a model.
pub fn refuse_for_files(name: Option<&str>, target: &str) -> Result<(), MeasureError> {
    name.map_or(Ok(()), |name| {
        Err(MeasureError::Usage(format!(
            "{target}: a model has no page cache, no directories and no content: leave {name} out"
        )))
    })
}

/// Refuse a setting that would do nothing on real storage.
pub fn refuse_for_models(name: Option<&str>, target: &str) -> Result<(), MeasureError> {
    name.map_or(Ok(()), |name| {
        Err(MeasureError::Usage(format!(
            "{target}: {name} is for models, as sim:NAME: leave it out"
        )))
    })
}

/// The specification of a model that takes part in a measurement.
///
/// # Errors
/// When there is no such model, or it has faults, which are not injected here.
pub fn open_part(name: &str) -> Result<SimSpec, MeasureError> {
    let spec = open_model(name).map_err(BenchError::from)?;
    if spec.faults == sim::Faults::default() {
        return Ok(spec);
    }
    Err(MeasureError::Usage(format!(
        "{name}: faults are not injected in this measurement: leave error, stall and short out"
    )))
}

/// Refuse a model that is only read.
pub fn refuse_read_only(spec: &SimSpec) -> Result<(), MeasureError> {
    if !spec.is_read_only() {
        return Ok(());
    }
    Err(MeasureError::Usage(format!(
        "{} cannot be written",
        spec.text
    )))
}

/// Refuse what does not fit on a model.
pub fn refuse_larger(what: &str, bytes: u64, spec: &SimSpec) -> Result<(), MeasureError> {
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

impl Part {
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
pub fn perform(
    device: &mut dyn Device,
    now: Instant,
    command: Command,
) -> Result<Instant, MeasureError> {
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

/// Looks at the signals every so many events.
#[derive(Default)]
pub struct Watch {
    events: u64,
}

impl Watch {
    /// Go on unless a signal came.
    pub fn go_on(&mut self, stop: &Stop) -> Result<(), MeasureError> {
        let looks = self.events.is_multiple_of(LOOK);
        self.events += 1;
        if looks { go_on(stop) } else { Ok(()) }
    }
}

/// A rate.
pub fn rate(name: &str, bytes: u64, seconds: f64) -> Reading {
    let value = bytes as f64 / seconds.max(1e-9);
    Reading::new(name, Unit::BytesPerSecond, value, Better::Higher)
}

/// A number of things.
pub fn count(name: &str, value: u64, better: Better) -> Reading {
    Reading::new(name, Unit::Count, value as f64, better)
}

/// How often tapes stopped, if any of the devices is one.
pub fn tape_stops(devices: &[&dyn Device]) -> Option<Reading> {
    let stops = devices.iter().filter_map(|device| device.tape_stops());
    let stops = stops.reduce(|sum, stops| sum + stops)?;
    Some(count(TAPE_STOPS.0, stops, Better::Neither))
}

/// The reading of [`tape_stops`], for lists of readings.
pub const TAPE_STOPS: (&str, &str) = (
    "tape stops",
    "how often a simulated tape could not keep streaming, stopped, and went back",
);
