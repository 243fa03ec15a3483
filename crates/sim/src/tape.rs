//! A serpentine tape: passes up and down its length, a buffer, and a drive that loses time
//! whenever it cannot keep streaming.
//!
//! Position: a byte lies at L f on even passes and at L (1 - f) on odd ones, with f its share of
//! the pass; locating takes a fixed time, the distance at search speed, and the change to another
//! track, which a stream that comes to the end of one takes, too. Streaming: when the
//! buffer runs dry, the drive stops and repositions; it starts again when the buffer is full. With
//! a host slower than the tape, rate h, a buffer B, a tape rate R and a reposition time p, a cycle
//! is the longer of p and B / h, and B / (R - h) of streaming. File marks: a skip over marks goes
//! along every inch between, at search speed, since the drive must see each mark.

use units::Instant;

use crate::device::{Action, Answer, Command, SerialDevice, SerialMechanism};

/// Everything that fixes a tape drive. Times are nanoseconds, rates bytes per second.
#[derive(Clone, Debug, PartialEq)]
pub struct TapeSpec {
    /// Passes over the length of the tape.
    pub passes: u64,
    /// Bytes of a pass, before compression.
    pub pass_bytes: u64,
    /// Data on the tape per second.
    pub rate: f64,
    /// Length over speed of search: from end to end.
    pub search: u64,
    /// What every locating takes besides.
    pub locate: u64,
    /// From one track to another, turning round included.
    pub track_change: u64,
    /// From the stop to being ready to stream again.
    pub reposition: u64,
    /// The drive's memory, in bytes of the host.
    pub buffer: u64,
    /// Bytes of the host for each byte on tape.
    pub compression: f64,
    /// Bytes per second between host and drive.
    pub bus: f64,
    /// What the controller needs for a command.
    pub overhead: u64,
}

impl TapeSpec {
    /// Bytes of the host that fit.
    #[must_use]
    pub fn size(&self) -> u64 {
        (self.passes as f64 * self.pass_bytes as f64 * self.compression) as u64
    }

    /// Bytes of the host per second while streaming.
    #[must_use]
    pub fn streaming_rate(&self) -> f64 {
        self.rate * self.compression
    }

    /// Nanoseconds from one byte of the host to another that does not follow it.
    #[must_use]
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

    /// The pass on which a byte of the host lies, and the share of the pass before it.
    fn place(&self, byte: u64) -> (u64, f64) {
        let on_tape = byte as f64 / self.compression / self.pass_bytes as f64;
        (on_tape as u64, on_tape.fract())
    }

    /// Nanoseconds of changing tracks up to one byte of the host from an earlier one, neither
    /// included: what ends with its track changes to no other.
    fn changes_ns(&self, from: u64, to: u64) -> u64 {
        let [from, to] = [from, to].map(|end| self.place(end.saturating_sub(1)).0);
        (to - from) * self.track_change
    }

    /// Nanoseconds to skip over file marks from one byte of the host to a later one: every inch of
    /// every pass between them goes by at search speed.
    #[must_use]
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

/// A tape drive at work.
pub type Tape = SerialDevice<TapeDrive>;

/// Its head and its buffer. Levels and positions are bytes of the host.
#[derive(Clone, Debug)]
pub struct TapeDrive {
    spec: TapeSpec,
    direction: TapeDirection,
    /// Where the host goes on.
    position: u64,
    /// Bytes in the buffer: written and not on tape, or read and not asked for.
    level: f64,
    is_streaming: bool,
    /// Until when level and streaming are known, ns.
    clock: u64,
    /// When the drive can stream again, ns.
    ready: u64,
    /// How often it stopped and had to reposition.
    stops: u64,
}

impl Tape {
    /// A drive at rest at the beginning of the tape.
    #[must_use]
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
    /// Nanoseconds in which so many bytes pass the head.
    fn span(&self, bytes: f64) -> u64 {
        (bytes * 1e9 / self.spec.streaming_rate()).ceil() as u64
    }

    fn stop(&mut self, at: u64) {
        self.is_streaming = false;
        self.stops += 1;
        self.ready = at + self.spec.reposition;
    }

    /// Let the tape stream until `now`; it stops when nothing is left to write, or no room to read.
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
            // The host waits until what does not fit has gone to the tape.
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
        // A command may be longer than the buffer: take it part by part.
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

    /// Everything written is on the tape.
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

    /// The tape stands where a command goes on, and runs in its direction.
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
