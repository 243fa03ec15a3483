//! A test laboratory: runs whole trials in virtual time, and judges intervals against known truth.
//!
//! Used by the tests of several crates, through `#[path]`.

#![allow(
    clippy::print_stdout,
    reason = "the tables are a product of these tests"
)]
#![allow(
    dead_code,
    reason = "each test binary uses its own part of the laboratory"
)]

pub mod curves;
pub mod queues;

use engine::{Engine, EngineOptions, KindSet, OnError, Record};
use procedure::{
    Circumstances, Ending, Monitor, Preparation, Standstill, Trial, TrialError, run_inline,
    summarise,
};
use results::{Access, Measurement};
use sim::SimSpec;
use stats::{Channel, Estimate, Goal};
use units::{Duration, Instant};
use workload::{
    AddressSpec, AnyClient, ClientSpec, Durability, Errno, Gap, GapShape, Mix, MixSpec,
    OperationSize, Pacing, Partition, Pattern, Region, TargetId, WalkStart,
};

/// Everything that fixes a trial in virtual time.
#[derive(Clone, Debug)]
pub struct Bench {
    pub device: SimSpec,
    pub trial: Trial,
    pub seed: u64,
    pub slot_width: Duration,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    pub ending: Ending,
    pub elapsed: Duration,
    pub record: Record,
    pub measurement: Result<Measurement, TrialError>,
}

impl Bench {
    /// Clients of that pacing on `device`, until the response time is known to 10 % or `seconds`
    /// of virtual time are over.
    pub fn new(device: &str, clients: u32, pacing: Pacing, seconds: f64) -> Self {
        let trial = Trial {
            name: "laboratory".into(),
            title: "laboratory".into(),
            spec: reads(pacing),
            clients,
            depth: 1 << 16,
            access: Access::Simulated,
            preparation: Preparation::None,
            goal: Some(Goal::result(0.10)),
            channel: Channel::Response,
            duration_max: Duration::from_secs_f64(seconds),
            salt: 0,
            sample_every: None,
            limit: None,
            warm_up: None,
        };
        let device = SimSpec::parse(device).expect("a valid simulated device");
        Self {
            device,
            trial,
            seed: 1,
            slot_width: Duration::from_millis(1),
        }
    }

    /// The same with that goal; `None` runs for the whole time.
    pub fn goal(mut self, goal: Option<Goal>) -> Self {
        self.trial.goal = goal;
        self
    }

    /// The same with writes among the reads.
    pub fn mix(mut self, mix: Mix) -> Self {
        if let ClientSpec::Mix(spec) = &mut self.trial.spec {
            spec.mix = mix;
        }
        self
    }

    /// The same with room for `depth` requests in the driver; the rest wait in the engine.
    pub fn depth(mut self, depth: u32) -> Self {
        self.trial.depth = depth;
        self
    }

    /// The same with that length of an epoch.
    pub fn slots_of(mut self, width: Duration) -> Self {
        self.slot_width = width;
        self
    }

    /// Run with `seed`, which replaces the bench's own.
    pub fn run(&self, seed: u64) -> Outcome {
        run_trial(&self.device, &self.trial, seed, self.slot_width)
    }

    /// Run with `seed`, where nothing can go wrong.
    pub fn measure(&self, seed: u64) -> Measurement {
        let outcome = self.run(seed);
        outcome
            .measurement
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"))
    }
}

/// Reads of 4 KiB all over a region of 1 GiB.
pub fn reads(pacing: Pacing) -> ClientSpec {
    let region = Region {
        target: TargetId(0),
        offset: 0,
        len: 1 << 30,
        block: 4096,
    };
    ClientSpec::Mix(MixSpec {
        addresses: AddressSpec {
            region,
            partition: Partition::Contending,
            pattern: Pattern::Uniform,
            start: WalkStart::First,
        },
        mix: Mix::READ,
        sizes: vec![OperationSize {
            len: 4096,
            weight: 1,
        }],
        durability: Durability::Volatile,
        pacing,
        operations: None,
        spread: None,
    })
}

/// Poisson arrivals, `rate` per second from each client.
pub fn poisson(rate: f64) -> Pacing {
    Pacing::Open {
        gap: Gap {
            shape: GapShape::Exponential,
            mean_ns: 1e9 / rate,
        },
    }
}

/// Clients that think for an exponential time with that mean; zero is no time at all.
pub fn thinking(mean: Duration) -> Pacing {
    let shape = if mean == Duration::ZERO {
        GapShape::Constant
    } else {
        GapShape::Exponential
    };
    Pacing::Closed {
        think: Gap::new(shape, mean),
    }
}

/// Clients `0..count` of `spec`.
pub fn clients(spec: &ClientSpec, seed: u64, count: u32) -> Vec<AnyClient> {
    (0..count)
        .map(|id| {
            spec.client(seed, id, count)
                .expect("every client has blocks")
        })
        .collect()
}

/// Run `trial` in virtual time, everything drawn from `seed`.
pub fn run_trial(device: &SimSpec, trial: &Trial, seed: u64, slot_width: Duration) -> Outcome {
    let start = Instant::START;
    // Spread, so that a salt of one seed is not the next seed without one.
    let seed = seed.wrapping_mul(1_000_003).wrapping_add(trial.salt);
    let driver = device.driver(seed, trial.depth as usize, start);
    let options = EngineOptions {
        start,
        slot_width,
        counted: KindSet::of(&trial.spec.counted_kinds()),
        first_client: 0,
        stride: 1,
    };
    let mut engine = Engine::new(driver, clients(&trial.spec, seed, trial.clients), options);
    let mut monitor = Monitor::new(
        trial.goal,
        trial.channel,
        trial.duration_max,
        slot_width,
        1,
        trial.clients,
    )
    .arriving(trial.arrivals());
    let (ending, elapsed) =
        run_inline(&mut engine, &mut monitor, start, slot_width, &mut |_, _| {
            true
        })
        .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let (record, _) = engine.into_parts();
    let circumstances = Circumstances {
        driver: device.text.clone(),
        workers: 1,
        seed,
        nominal_depth: trial.depth,
        elapsed,
        on_error: OnError::Stop,
        standstill: Standstill::default(),
    };
    let measurement = summarise(trial, &monitor, &record, &circumstances, errno_name);
    Outcome {
        ending,
        elapsed,
        record,
        measurement,
    }
}

/// What the tests call an error number.
pub fn errno_name(errno: Errno) -> String {
    format!("errno {}", errno.0)
}

/// How often intervals contained the truth.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    name: String,
    hits: u64,
    missed_by: Vec<u64>,
    errors: Vec<f64>,
    half_widths: Vec<f64>,
}

impl Coverage {
    pub fn of(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Count `estimate`, which `seed` gave.
    pub fn add(&mut self, estimate: &Estimate, truth: f64, seed: u64) {
        for (part, number) in [
            ("value", estimate.value),
            ("low", estimate.low),
            ("high", estimate.high),
        ] {
            assert!(
                !number.is_nan(),
                "{}: seed {seed}: {part} is not a number",
                self.name
            );
        }
        if estimate.contains(truth) {
            self.hits += 1;
        } else {
            self.missed_by.push(seed);
        }
        self.errors.push(estimate.value / truth - 1.0);
        self.half_widths.push(estimate.relative_half_width());
    }

    pub fn replications(&self) -> u64 {
        self.errors.len() as u64
    }

    pub fn share(&self) -> f64 {
        self.hits as f64 / self.replications() as f64
    }

    /// Fails when coverage of 95 % would give so few hits less than once in a thousand times. A
    /// rule that covers 80 % is caught with a probability of 0.52 at 40 replications, 0.79 at 60,
    /// and above 0.999 at 200.
    pub fn check(&self) {
        println!("{self}");
        let floor = binomial_floor(self.replications(), 0.95, 1e-3);
        assert!(
            self.hits >= floor,
            "{self}: fewer than {floor}; missed by seeds {:?}",
            self.missed_by
        );
    }

    /// Fails outside of a band of shares.
    pub fn check_band(&self, band: std::ops::RangeInclusive<f64>) {
        println!("{self}");
        let missed = &self.missed_by;
        assert!(
            band.contains(&self.share()),
            "{self}: outside {band:?}; missed by seeds {missed:?}"
        );
    }
}

impl std::fmt::Display for Coverage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64 * 100.0;
        write!(
            f,
            "{}: {} of {} covered ({:.3}), mean error {:+.2} %, mean half-width {:.2} %",
            self.name,
            self.hits,
            self.replications(),
            self.share(),
            mean(&self.errors),
            mean(&self.half_widths)
        )
    }
}

/// The most successes of which `trials` with chance `p` give fewer with probability `alpha` at
/// most.
pub fn binomial_floor(trials: u64, p: f64, alpha: f64) -> u64 {
    // In logarithms: the first term of 400 trials is smaller than any double.
    let mut log_term = trials as f64 * (1.0 - p).ln();
    let mut below = 0.0;
    for successes in 0..=trials {
        below += log_term.exp();
        if below > alpha {
            return successes;
        }
        let odds = (trials - successes) as f64 / (successes + 1) as f64 * p / (1.0 - p);
        log_term += odds.ln();
    }
    trials
}
