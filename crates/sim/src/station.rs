//! A station: servers with one queue, first come, first served.
//!
//! With exponential service and Poisson arrivals this is M/M/1 or M/M/c, with constant service
//! M/D/1. Their exact solutions are in every textbook, which makes them useful here.

use random::{Purpose, Stream, standard_exponential};
use units::{Duration, Instant};

use crate::device::{Answer, Calendar, Command, Device};
use crate::drive::{Drive, DriveLaw};
use crate::pace::ServiceTimeScaling;

/// Law of service times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ServiceLaw {
    /// Always the same time.
    Constant {
        /// Nanoseconds.
        time_ns: f64,
    },
    /// Exponential times.
    Exponential {
        /// Mean in nanoseconds.
        mean_ns: f64,
    },
    /// Pareto times, a few of which are very long. Up to a shape of 2 they have no variance.
    Pareto {
        /// The shortest time in nanoseconds.
        least_ns: f64,
        /// The share of times longer than `t` is `(least / t)^shape`; above 1.
        shape: f64,
    },
    /// A cache with runs of hits and misses, as a two-state Markov chain, so that successive times
    /// are correlated.
    Cache {
        /// Mean time of a hit, nanoseconds, exponential.
        hit_ns: f64,
        /// Mean time of a miss, nanoseconds, exponential.
        miss_ns: f64,
        /// Long-run share of hits, in 0..=1.
        hit_share: f64,
        /// Mean number of operations before the state is drawn again.
        run_length: f64,
    },
    /// A moving head with a cache: the time depends on the position of an operation.
    Drive(DriveLaw),
}

impl ServiceLaw {
    /// Long-run mean, nanoseconds; unknown for a moving head.
    pub fn mean_ns(&self) -> Option<f64> {
        match self {
            Self::Constant { time_ns } => Some(*time_ns),
            Self::Exponential { mean_ns } => Some(*mean_ns),
            Self::Pareto { least_ns, shape } => Some(least_ns * shape / (shape - 1.0)),
            Self::Cache {
                hit_ns,
                miss_ns,
                hit_share,
                ..
            } => Some(hit_share * hit_ns + (1.0 - hit_share) * miss_ns),
            Self::Drive(_) => None,
        }
    }

    /// Mean square, in square nanoseconds, if times are independent and it exists.
    pub fn mean_square(&self) -> Option<f64> {
        match *self {
            Self::Constant { time_ns } => Some(time_ns * time_ns),
            Self::Exponential { mean_ns } => Some(2.0 * mean_ns * mean_ns),
            Self::Pareto { least_ns, shape } if shape > 2.0 => {
                Some(least_ns * least_ns * shape / (shape - 2.0))
            }
            Self::Cache {
                hit_ns,
                miss_ns,
                hit_share,
                run_length: 1.0,
            } => {
                let of_hits = hit_share * hit_ns * hit_ns;
                Some(2.0 * (of_hits + (1.0 - hit_share) * miss_ns * miss_ns))
            }
            Self::Pareto { .. } | Self::Cache { .. } | Self::Drive(_) => None,
        }
    }

    /// Whether times are independent and have a variance.
    const fn is_independent(&self) -> bool {
        matches!(self, Self::Constant { .. } | Self::Exponential { .. })
    }
}

/// Service times of operations, without queueing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Served {
    pub operations: u64,
    /// Their sum, nanoseconds.
    pub sum_ns: f64,
    /// The sum of their squares.
    pub squares: f64,
    /// Number of operations that waited for a server.
    pub waited: u64,
    /// Whether they are independent and identically distributed.
    pub is_independent: bool,
}

impl Served {
    const fn add(&mut self, service: Duration) {
        let nanos = service.as_nanos() as f64;
        self.operations += 1;
        self.sum_ns += nanos;
        self.squares += nanos * nanos;
    }
}

/// Servers and their queue.
#[derive(Clone, Debug)]
pub struct Station {
    law: ServiceLaw,
    stream: Stream,
    free_at: Vec<Instant>,
    in_hit_state: bool,
    drive: Drive,
    carry_ns: f64,
    ends: Calendar<Answer>,
    pace: ServiceTimeScaling,
    /// Time of the first operation.
    started: Option<Instant>,
    served: Served,
}

impl Station {
    /// An idle station with service times drawn from `seed`. Without `servers` there is one per
    /// operation: a pure delay without a queue.
    pub fn new(law: ServiceLaw, servers: Option<usize>, seed: u64) -> Self {
        assert!(servers != Some(0), "a station needs a server");
        Self {
            law,
            stream: Stream::new(seed, 0, Purpose::Device),
            free_at: vec![Instant::START; servers.unwrap_or(0)],
            in_hit_state: false,
            drive: Drive::default(),
            carry_ns: 0.0,
            ends: Calendar::default(),
            pace: ServiceTimeScaling::default(),
            started: None,
            served: Served {
                is_independent: law.is_independent(),
                ..Served::default()
            },
        }
    }

    /// Makes service times change over time.
    #[must_use]
    pub fn at_pace(mut self, pace: ServiceTimeScaling) -> Self {
        self.pace = pace;
        self.served.is_independent &= pace == ServiceTimeScaling::default();
        self
    }

    /// When `command`, which arrives at `now`, completes. Arrivals must be in order of time, since
    /// first come, first served determines the end at once.
    fn accept(&mut self, now: Instant, command: &Command) -> Instant {
        let started = *self.started.get_or_insert(now);
        let free = self.free_at.iter().copied().min().unwrap_or(now);
        let begin = now.max(free);
        let factor = self.pace.factor(begin.since(started));
        let service = self.draw(command, factor);
        self.served.add(service);
        self.served.waited += u64::from(begin > now);
        let end = begin + service;
        if let Some(server) = self.free_at.iter_mut().min() {
            *server = end;
        }
        end
    }

    fn draw(&mut self, command: &Command, factor: f64) -> Duration {
        let exact = match self.law {
            ServiceLaw::Constant { time_ns } => time_ns,
            ServiceLaw::Exponential { mean_ns } => mean_ns * standard_exponential(&mut self.stream),
            ServiceLaw::Pareto { least_ns, shape } => {
                least_ns * (1.0 - self.stream.unit()).powf(-1.0 / shape)
            }
            ServiceLaw::Cache {
                hit_ns,
                miss_ns,
                hit_share,
                run_length,
            } => {
                if self.stream.unit() * run_length < 1.0 {
                    self.in_hit_state = self.stream.unit() < hit_share;
                }
                let mean = if self.in_hit_state { hit_ns } else { miss_ns };
                mean * standard_exponential(&mut self.stream)
            }
            ServiceLaw::Drive(law) => self.drive.take(command, &law),
        };
        // The fraction of a nanosecond carries over, or fast devices would be slightly too fast.
        let owed = exact * factor + self.carry_ns;
        let whole = owed.floor();
        self.carry_ns = owed - whole;
        Duration::from_nanos(whole as u64)
    }
}

impl Device for Station {
    fn size(&self) -> u64 {
        u64::MAX
    }

    fn begin(&mut self, now: Instant, command: Command) {
        let end = self.accept(now, &command);
        self.ends.plan(end, command.done());
    }

    fn next(&self) -> Option<Instant> {
        self.ends.next()
    }

    fn step(&mut self, now: Instant, answers: &mut Vec<Answer>) {
        while let Some(answer) = self.ends.take(now) {
            answers.push(answer);
        }
    }

    fn served(&self) -> Option<Served> {
        Some(self.served)
    }
}
