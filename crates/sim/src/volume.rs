//! A cloud volume: its internals are not published, so it is modelled only by its response time and
//! its limits. Any number of commands are in flight at once.

use random::{Purpose, Stream, standard_exponential};
use units::{Duration, Instant};

use crate::device::{Answer, Calendar, Command, Device};

/// Parameters of a volume. Times are nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeSpec {
    /// Bytes.
    pub size: u64,
    /// Minimum response time.
    pub least: u64,
    /// Mean response time; the part above the minimum is exponential.
    pub latency: u64,
}

/// A running volume.
#[derive(Debug)]
pub struct Volume {
    spec: VolumeSpec,
    stream: Stream,
    answers: Calendar<Answer>,
}

impl Volume {
    /// Idle, with times drawn from `seed`.
    pub fn new(spec: VolumeSpec, seed: u64) -> Self {
        Self {
            spec,
            stream: Stream::new(seed, 0, Purpose::Device),
            answers: Calendar::default(),
        }
    }
}

impl Device for Volume {
    fn size(&self) -> u64 {
        self.spec.size
    }

    fn begin(&mut self, now: Instant, command: Command) {
        let VolumeSpec { least, latency, .. } = self.spec;
        let mean = (latency - least) as f64;
        let above = (mean * standard_exponential(&mut self.stream)).round() as u64;
        self.answers
            .plan(now + Duration(least + above), command.done());
    }

    fn next(&self) -> Option<Instant> {
        self.answers.next()
    }

    fn step(&mut self, now: Instant, answers: &mut Vec<Answer>) {
        while let Some(answer) = self.answers.take(now) {
            answers.push(answer);
        }
    }
}
