//! A serpentine tape: passes in both directions, a buffer, and a drive that loses time whenever it
//! cannot keep streaming.
//!
//! Position: a byte lies at L f on even passes and at L (1 - f) on odd ones, with f its share of
//! the pass; locating takes a fixed time, the distance at search speed, and the change to another
//! track, which a stream also needs at the end of a track. Streaming: when the buffer runs dry, the
//! drive stops and repositions; it starts again when the buffer is full. With a host rate h below
//! the tape rate R, a buffer B and a reposition time p, a cycle is the longer of p and B / h, and B
//! / (R - h) of streaming. File marks: a skip over marks passes all tape in between at search
//! speed, since the drive must see each mark.

use units::Instant;

use crate::device::{Action, Answer, Command, SerialDevice, SerialMechanism};

/// Parameters of a tape drive. Times are nanoseconds, rates bytes per second.
#[derive(Clone, Debug, PartialEq)]
pub struct TapeSpec {
    /// Passes over the length of the tape.
    pub passes: u64,
    /// Bytes per pass, before compression.
    pub pass_bytes: u64,
    /// Data rate of the tape.
    pub rate: f64,
    /// Search time from end to end.
    pub search: u64,
    /// Fixed time of locating.
    pub locate: u64,
    /// Track change, including reversal.
    pub track_change: u64,
    /// Reposition time: from stopping until ready to stream again.
    pub reposition: u64,
    /// Drive buffer, in uncompressed bytes.
    pub buffer: u64,
    /// Compression ratio: host bytes per byte on tape.
    pub compression: f64,
    /// Rate between host and drive.
    pub bus: f64,
    /// Command overhead of the controller.
    pub overhead: u64,
}

impl TapeSpec {
    /// Capacity in uncompressed bytes.
    pub fn size(&self) -> u64 {
        (self.passes as f64 * self.pass_bytes as f64 * self.compression) as u64
    }

    /// Streaming rate in uncompressed bytes per second.
    pub fn streaming_rate(&self) -> f64 {
        self.rate * self.compression
    }

    /// Time from one host byte to another that does not follow it, nanoseconds.
    pub fn locate_ns(&self, from: u64, to: u64) -> u64 {
        let place = |byte: u64| {
            let (pass, share) = self.place(byte);
            if pass.is_multiple_of(2) {
                share
            } else {
                1.0 - share
            }
        };
        let distance = (place(from) - place(to)).abs();
        let change = match self.place(from).0 == self.place(to).0 {
            true => 0,
            false => self.track_change,
        };
        self.locate + change + (distance * self.search as f64).round() as u64
    }

    /// The pass of a host byte, and the share of the pass before it.
    fn place(&self, byte: u64) -> (u64, f64) {
        let on_tape = byte as f64 / self.compression / self.pass_bytes as f64;
        (on_tape as u64, on_tape.fract())
    }

    /// Time of track changes between two host bytes, neither included, nanoseconds: data that ends
    /// with its track needs no change.
    fn changes_ns(&self, from: u64, to: u64) -> u64 {
        let [from, to] = [from, to].map(|end| self.place(end.saturating_sub(1)).0);
        (to - from) * self.track_change
    }

    /// Time to skip file marks from one host byte to a later one, nanoseconds: all tape between
    /// them passes at search speed.
    pub fn skip_ns(&self, from: u64, to: u64) -> u64 {
        let to = to.max(from);
        let passes = (to - from) as f64 / self.compression / self.pass_bytes as f64;
        let search = (passes * self.search as f64).round() as u64;
        self.locate + self.changes_ns(from, to) + search
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TapeDirection {
    Reading,
    Writing,
}

/// A running tape drive.
pub type Tape = SerialDevice<TapeDrive>;

/// State of its head and buffer. Levels and positions are host bytes.
#[derive(Clone, Debug)]
pub struct TapeDrive {
    spec: TapeSpec,
    direction: TapeDirection,
    /// Where the host continues.
    position: u64,
    /// Bytes in the buffer: written but not on tape, or read but not requested.
    level: f64,
    is_streaming: bool,
    /// Time up to which level and streaming are known, ns.
    clock: u64,
    /// When the drive can stream again, ns.
    ready: u64,
    /// Number of stops with repositioning.
    stops: u64,
}

impl Tape {
    /// An idle drive at the beginning of the tape.
    pub const fn new(spec: TapeSpec) -> Self {
        Self::of(TapeDrive {
            spec,
            direction: TapeDirection::Writing,
            position: 0,
            level: 0.0,
            is_streaming: false,
            clock: 0,
            ready: 0,
            stops: 0,
        })
    }
}

impl TapeDrive {
    /// Time in which `bytes` pass the head, nanoseconds.
    fn span(&self, bytes: f64) -> u64 {
        (bytes * 1e9 / self.spec.streaming_rate()).ceil() as u64
    }

    fn stop(&mut self, at: u64) {
        self.is_streaming = false;
        self.stops += 1;
        self.ready = at + self.spec.reposition;
    }

    /// Streams until `now`; stops when there is nothing left to write, or no space to read into.
    fn stream_to(&mut self, now: u64) {
        let span = now.saturating_sub(self.clock);
        if !self.is_streaming || span == 0 {
            self.clock = self.clock.max(now);
            return;
        }
        let full = self.spec.buffer as f64;
        let left = match self.direction {
            TapeDirection::Writing => self.level,
            TapeDirection::Reading => full - self.level,
        };
        let until_stop = self.span(left);
        if until_stop <= span {
            let at = self.clock + until_stop;
            self.level = if self.direction == TapeDirection::Writing {
                0.0
            } else {
                full
            };
            self.stop(at);
        } else {
            let passed = span as f64 * self.spec.streaming_rate() / 1e9;
            self.level += match self.direction {
                TapeDirection::Writing => -passed,
                TapeDirection::Reading => passed,
            };
        }
        self.clock = now;
    }

    fn start(&mut self, now: u64) {
        if !self.is_streaming {
            self.is_streaming = true;
            self.clock = now.max(self.ready);
        }
    }

    fn write(&mut self, now: u64, command: &Command) -> u64 {
        let mut now = self.turn_to(now, TapeDirection::Writing, command.offset);
        let arrives = (command.len as f64 * 1e9 / self.spec.bus).ceil() as u64;
        self.stream_to(now + arrives);
        now += arrives;
        self.clock += self.spec.changes_ns(command.offset, command.end());
        self.level += command.len as f64;
        let full = self.spec.buffer as f64;
        if self.level >= full {
            self.start(now);
            // The host waits until the excess has gone to the tape.
            let excess = self.level - full;
            if excess > 0.0 {
                now = now.max(self.clock + self.span(excess));
                self.stream_to(now);
            }
        }
        self.position = command.end();
        now
    }

    fn read(&mut self, now: u64, command: &Command) -> u64 {
        let mut now = self.turn_to(now, TapeDirection::Reading, command.offset);
        self.stream_to(now);
        self.clock += self.spec.changes_ns(command.offset, command.end());
        let mut left = command.len as f64;
        let full = self.spec.buffer as f64;
        // A command may be longer than the buffer, and is taken in parts.
        while left > 0.0 {
            let part = left.min(full);
            if self.level < part {
                self.start(now);
                now = now.max(self.clock + self.span(part - self.level));
                self.stream_to(now);
            }
            self.level = (self.level - part).max(0.0);
            left -= part;
        }
        self.position = command.end();
        let arrives = (command.len as f64 * 1e9 / self.spec.bus).ceil() as u64;
        now + arrives
    }

    /// Waits until everything written is on the tape.
    fn empty(&mut self, now: u64) -> u64 {
        self.stream_to(now);
        if self.direction == TapeDirection::Reading || self.level <= 0.0 {
            return now;
        }
        self.start(now);
        let end = self.clock + self.span(self.level);
        self.stream_to(end);
        end
    }

    /// Positions the tape where a command continues, running in its direction.
    fn turn_to(&mut self, now: u64, direction: TapeDirection, offset: u64) -> u64 {
        if self.direction == direction && self.position == offset {
            return now;
        }
        let now = self.empty(now);
        let head = match self.direction {
            TapeDirection::Writing => self.position,
            TapeDirection::Reading => self.position + self.level as u64,
        };
        self.direction = direction;
        self.position = offset;
        self.level = 0.0;
        self.is_streaming = false;
        self.clock = now;
        if head == offset {
            return now;
        }
        let there = now + self.spec.locate_ns(head, offset);
        self.ready = self.ready.max(there);
        self.clock = there;
        there
    }
}

impl SerialMechanism for TapeDrive {
    fn size(&self) -> u64 {
        self.spec.size()
    }

    fn carry_out(&mut self, now: Instant, command: &Command) -> (Instant, Answer) {
        let ready = now.0 + self.spec.overhead;
        let end = match command.action {
            Action::Write(_) => self.write(ready, command),
            Action::Read => self.read(ready, command),
            Action::Flush | Action::Compute { .. } => self.empty(ready),
        };
        (Instant(end), command.done())
    }

    fn tape_stops(&self) -> Option<u64> {
        Some(self.stops)
    }
}
