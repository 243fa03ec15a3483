//! Transfers from one device to another by a program: copies, saves, verifies.
//!
//! The source is read ahead into buffers, a processor works on the data, and the sink gets its
//! commands when enough is ready. All three overlap, limited by the window of data read but not
//! handed on, and by the commands that each side takes at once. A sink may also be read: a
//! verifying pass reads both. The caller chooses the devices and the order of bytes.

use std::iter::Peekable;

use units::{Duration, Instant};
use workload::Errno;

use crate::device::{Action, Answer, Calendar, Command, Device, first};

/// One command of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransportCommand {
    /// The action.
    pub action: Action,
    /// First byte on the device.
    pub offset: u64,
    /// Bytes moved by the device.
    pub len: u64,
    /// Bytes of the stream that it provides or consumes.
    pub bytes: u64,
    /// Delay before it, once nothing else holds it back: extending a file.
    pub before: Duration,
}

/// Commands, one after the other.
pub type TransportCommands = Box<dyn Iterator<Item = TransportCommand> + Send>;

/// A device with its commands.
pub struct CommandSource {
    pub device: Box<dyn Device>,
    /// Commands in order.
    pub steps: TransportCommands,
    /// Maximum outstanding commands.
    pub at_once: usize,
}

/// What is between both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Between {
    /// Reading continues while less than this has been requested but not handed on. Commands of the
    /// sink have their own buffers, and none is larger than this.
    pub window: u64,
    /// CPU time per byte of the source, nanoseconds.
    pub work_byte: f64,
}

/// Work done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transported {
    pub source_commands: u64,
    pub sink_commands: u64,
    /// Those that move nothing, but make written data durable.
    pub flushes: u64,
    /// Number of delays before commands of the sink.
    pub waits: u64,
    /// Processor time.
    pub work: Duration,
}

/// A running transfer in virtual time.
pub struct Transport {
    between: Between,
    source: Under,
    sink: Under,
    now: Instant,
    /// Bytes requested from the source, and handed to the sink.
    asked: u64,
    handed: u64,
    /// Bytes processed.
    ready: u64,
    /// Bytes being processed, and when the processor is free.
    working: Calendar<u64>,
    free_at: Instant,
    /// When the delay before the next command of the sink ends.
    wait: Option<Instant>,
    done: Transported,
}

/// A running side.
struct Under {
    device: Box<dyn Device>,
    steps: Peekable<TransportCommands>,
    at_once: usize,
    under_way: usize,
}

impl Under {
    fn new(side: CommandSource) -> Self {
        assert!(side.at_once > 0, "a side takes a command at least");
        Self {
            device: side.device,
            steps: side.steps.peekable(),
            at_once: side.at_once,
            under_way: 0,
        }
    }

    fn has_room(&self) -> bool {
        self.under_way < self.at_once
    }

    /// The tag holds its bytes, since answers may be out of order.
    fn begin(&mut self, now: Instant, step: &TransportCommand) {
        self.steps.next();
        self.under_way += 1;
        let command = Command {
            tag: step.bytes,
            action: step.action,
            client: None,
            offset: step.offset,
            len: step.len,
        };
        self.device.begin(now, command);
    }

    /// Bytes of commands completed by `now`.
    fn answered(&mut self, now: Instant) -> Result<u64, Errno> {
        let mut answers: Vec<Answer> = Vec::new();
        while self.device.next().is_some_and(|at| at <= now) {
            self.device.step(now, &mut answers);
        }
        self.under_way -= answers.len();
        answers.iter().try_fold(0, |sum, answer| {
            answer.result?;
            Ok(sum + answer.tag)
        })
    }
}

impl Transport {
    /// A transfer that starts at `now`.
    pub fn new(between: Between, source: CommandSource, sink: CommandSource, now: Instant) -> Self {
        assert!(between.window > 0, "something must be under way");
        Self {
            between,
            source: Under::new(source),
            sink: Under::new(sink),
            now,
            asked: 0,
            handed: 0,
            ready: 0,
            working: Calendar::default(),
            free_at: now,
            wait: None,
            done: Transported::default(),
        }
    }

    /// Processes the next event. Returns whether there was one.
    ///
    /// # Errors
    /// The errno of a failed command.
    pub fn step(&mut self) -> Result<bool, Errno> {
        // Handing on frees space for read-ahead.
        self.hand_on();
        self.read_ahead();
        let devices = first(self.source.device.next(), self.sink.device.next());
        let Some(at) = first(first(devices, self.working.next()), self.wait) else {
            let left = self.source.steps.peek().or(self.sink.steps.peek());
            assert!(
                left.is_none(),
                "a step that nothing will ever begin: {left:?}"
            );
            return Ok(false);
        };
        let now = at.max(self.now);
        self.now = now;
        let brought = self.source.answered(now)?;
        if brought > 0 {
            self.work_on(brought);
        }
        while let Some(bytes) = self.working.take(now) {
            self.ready += bytes;
        }
        self.sink.answered(now)?;
        Ok(true)
    }

    fn read_ahead(&mut self) {
        while self.source.has_room() && self.asked - self.handed < self.between.window {
            let Some(step) = self.source.steps.peek().copied() else {
                return;
            };
            self.source.begin(self.now, &step);
            self.asked += step.bytes;
            self.done.source_commands += 1;
        }
    }

    fn work_on(&mut self, bytes: u64) {
        let work = Duration((bytes as f64 * self.between.work_byte).round() as u64);
        self.free_at = self.free_at.max(self.now) + work;
        self.done.work += work;
        self.working.plan(self.free_at, bytes);
    }

    fn hand_on(&mut self) {
        while self.sink.has_room() {
            let Some(step) = self.sink.steps.peek().copied() else {
                return;
            };
            if self.ready - self.handed < step.bytes {
                return;
            }
            match self.wait {
                None if step.before > Duration::ZERO => {
                    self.wait = Some(self.now + step.before);
                    self.done.waits += 1;
                    return;
                }
                Some(until) if until > self.now => return,
                _ => self.wait = None,
            }
            self.sink.begin(self.now, &step);
            self.handed += step.bytes;
            self.done.sink_commands += 1;
            self.done.flushes += u64::from(step.action == Action::Flush);
        }
    }

    /// Current time.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Work done so far.
    pub const fn done(&self) -> Transported {
        self.done
    }

    /// Source and sink in their final states.
    pub fn into_devices(self) -> [Box<dyn Device>; 2] {
        [self.source.device, self.sink.device]
    }
}
