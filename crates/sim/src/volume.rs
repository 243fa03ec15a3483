//! A volume of a cloud: what is behind it is not published, so that all there is of it is how long
//! an answer takes, and what its limits allow. Any number of commands are under way at once.

use random::{Purpose, Stream, standard_exponential};
use units::{Duration, Instant};

use crate::device::{Answer, Calendar, Command, Device};

/// Everything that fixes a volume. Times are nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeSpec {
    /// Bytes.
    pub size: u64,
    /// The shortest time of an answer.
    pub least: u64,
    /// The mean; what is above the shortest is exponential.
    pub latency: u64,
}

/// A volume at work.
#[derive(Debug)]
pub struct Volume {
    spec: VolumeSpec,
    stream: Stream,
    answers: Calendar<Answer>,
}

impl Volume {
    /// At rest, with times drawn from `seed`.
    #[must_use]
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
