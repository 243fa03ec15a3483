//! Series of response times whose mean, variance and quantiles are known exactly.

use super::Random;

/// What a process is, with its parameters. Times are in units of `UNIT_NS`.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Exponential,
    /// Normal with mean 1 and standard deviation 0.25, lag-1 correlation `rho`.
    Autoregressive {
        rho: f64,
    },
    /// Waiting times of an M/M/1 queue with mean service time 1, starting empty.
    Queue {
        load: f64,
    },
    /// Waiting times of an M/H2/1 queue: service time with mean 1 and CV^2 4, balanced means.
    BurstyQueue {
        load: f64,
    },
    /// Runs of hits (0.1) and misses (10), geometric with these mean lengths, times U(0.5, 1.5).
    Sticky {
        hits: f64,
        misses: f64,
    },
    /// Lognormal with mean 1.
    Lognormal {
        sigma: f64,
    },
    /// Devices in turn, 0.5 and 1.5, times U(0.5, 1.5).
    Alternating,
}

#[derive(Clone, Copy, Debug)]
pub struct Process {
    pub name: &'static str,
    pub kind: Kind,
}

const SD: f64 = 0.25;
const HIT: f64 = 0.1;
const MISS: f64 = 10.0;
/// Probability of the short branch of a balanced two-phase hyperexponential with CV^2 4.
const BRANCH: f64 = 0.887_298_334_620_741_7;

impl Process {
    pub const fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind }
    }

    pub fn mean(&self) -> f64 {
        match self.kind {
            Kind::Queue { load } => load / (1.0 - load),
            Kind::BurstyQueue { load } => load / (1.0 - load) * (1.0 + 4.0) / 2.0,
            Kind::Sticky { hits, misses } => (hits * HIT + misses * MISS) / (hits + misses),
            _ => 1.0,
        }
    }

    /// Variance of one time.
    pub fn variance(&self) -> f64 {
        match self.kind {
            Kind::Exponential => 1.0,
            Kind::Autoregressive { .. } => SD * SD,
            Kind::Queue { load } => load * (2.0 - load) / (1.0 - load).powi(2),
            Kind::BurstyQueue { .. } => f64::NAN,
            Kind::Sticky { .. } => self.variance_of_levels() + self.variance_of_noise(),
            Kind::Lognormal { sigma } => (sigma * sigma).exp() - 1.0,
            Kind::Alternating => 0.25 + self.variance_of_noise(),
        }
    }

    /// Long-run variance `gamma_0 + 2 sum gamma_k`; NaN where no closed form is at hand.
    pub fn long_run_variance(&self) -> f64 {
        match self.kind {
            Kind::Autoregressive { rho } => SD * SD * (1.0 + rho) / (1.0 - rho),
            Kind::Queue { load: r } => {
                r * (2.0 + 5.0 * r - 4.0 * r * r + r.powi(3)) / (1.0 - r).powi(4)
            }
            Kind::Sticky { hits, misses } => {
                let stay = 1.0 - 1.0 / hits - 1.0 / misses;
                self.variance_of_levels() * (1.0 + stay) / (1.0 - stay) + self.variance_of_noise()
            }
            Kind::Alternating => self.variance_of_noise(),
            _ => self.variance(),
        }
    }

    fn variance_of_levels(&self) -> f64 {
        let Kind::Sticky { hits, misses } = self.kind else {
            return 0.0;
        };
        let miss = misses / (hits + misses);
        miss * (1.0 - miss) * (MISS - HIT).powi(2)
    }

    fn variance_of_noise(&self) -> f64 {
        match self.kind {
            Kind::Sticky { hits, misses } => {
                (hits * HIT * HIT + misses * MISS * MISS) / (hits + misses) / 12.0
            }
            Kind::Alternating => (0.25 + 2.25) / 2.0 / 12.0,
            _ => 0.0,
        }
    }

    /// Quantile `p` of the stationary distribution, where it is used; `z` is the normal's.
    pub fn quantile(&self, p: f64, z: f64) -> f64 {
        match self.kind {
            Kind::Exponential => -(1.0 - p).ln(),
            Kind::Autoregressive { .. } => 1.0 + SD * z,
            Kind::Queue { load } if p <= 1.0 - load => 0.0,
            Kind::Queue { load } => -((1.0 - p) / load).ln() / (1.0 - load),
            Kind::Sticky { hits, misses } => {
                let hit = hits / (hits + misses);
                if p < hit {
                    HIT * (0.5 + p / hit)
                } else {
                    MISS * (0.5 + (p - hit) / (1.0 - hit))
                }
            }
            Kind::Lognormal { sigma } => (sigma * z - sigma * sigma / 2.0).exp(),
            Kind::BurstyQueue { .. } | Kind::Alternating => f64::NAN,
        }
    }

    pub fn start(&self, replication: u64) -> Series {
        let mut random = Random::new(self.name, replication);
        let state = match self.kind {
            Kind::Autoregressive { .. } => random.normal(),
            Kind::Sticky { hits, misses } => f64::from(random.uniform() * (hits + misses) > hits),
            _ => 0.0,
        };
        Series {
            kind: self.kind,
            random,
            state,
        }
    }
}

/// One replication of a process.
pub struct Series {
    kind: Kind,
    random: Random,
    state: f64,
}

impl Series {
    pub fn next_time(&mut self) -> f64 {
        let random = &mut self.random;
        match self.kind {
            Kind::Exponential => random.exponential(),
            Kind::Autoregressive { rho } => {
                let time = 1.0 + SD * self.state;
                self.state = rho * self.state + (1.0 - rho * rho).sqrt() * random.normal();
                time
            }
            Kind::Queue { load } => {
                let time = self.state;
                let change = random.exponential() - random.exponential() / load;
                self.state = (time + change).max(0.0);
                time
            }
            Kind::BurstyQueue { load } => {
                let time = self.state;
                let branch = if random.uniform() <= BRANCH {
                    BRANCH
                } else {
                    1.0 - BRANCH
                };
                let service = random.exponential() / (2.0 * branch);
                self.state = (time + service - random.exponential() / load).max(0.0);
                time
            }
            Kind::Sticky { hits, misses } => {
                let (level, run) = if self.state == 0.0 {
                    (HIT, hits)
                } else {
                    (MISS, misses)
                };
                if random.uniform() * run < 1.0 {
                    self.state = 1.0 - self.state;
                }
                level * (0.5 + random.uniform())
            }
            Kind::Lognormal { sigma } => (sigma * random.normal() - sigma * sigma / 2.0).exp(),
            Kind::Alternating => {
                self.state = 1.0 - self.state;
                (0.5 + self.state) * (0.5 + random.uniform())
            }
        }
    }
}
