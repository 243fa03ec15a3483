//! Trials on models in virtual time: one model, or several that share a clock.

use std::sync::Arc;

use engine::{Clock as _, Follower, OnError};
use procedure::Trial;
use results::{KindTimes, ServerTimes};
use sim::{
    ArrayState, Device, Faults, Served, SimDriver, SimGroup, SimSpec, group_loop, model_loop,
};
use stats::Estimate;
use units::{Duration, Instant};
use workload::TargetId;

use crate::kept::StatelessTrials;
use crate::laboratory::{Began, Laboratory, LaboratoryError, Outcome, Watch, inline, trial_seed};

/// Half-width of a normal distribution's 95 % interval, in standard deviations.
const NORMAL_95: f64 = 1.959_964;

/// Trials on models, in virtual time. A machine keeps its caches and arm position between trials,
/// and models with burst credits keep those. Any other queue starts anew for each trial.
pub struct SimLaboratory {
    /// The models, at least one, in the order of their targets.
    models: Vec<ModelInUse>,
    seed: u64,
    on_error: OnError,
    now: Instant,
    follower: Option<Arc<dyn Follower>>,
}

/// A model, with its state between trials.
struct ModelInUse {
    target: TargetId,
    /// Number among the models, which separates their random draws.
    number: u64,
    spec: SimSpec,
    used: Option<Box<dyn Device>>,
}

impl ModelInUse {
    /// Its seed, where the first model uses `seed`.
    fn seed(&self, seed: u64) -> u64 {
        match self.number {
            0 => seed,
            number => trial_seed(seed, number),
        }
    }

    /// Its driver in a trial with the first seed, in a run with the second.
    fn driver(&mut self, (trial, run): (u64, u64), depth: usize, now: Instant) -> SimDriver {
        let (trial, run) = (self.seed(trial), self.seed(run));
        if !self.spec.keeps_state() {
            return self.spec.driver(trial, depth, now);
        }
        let used = self.used.take();
        let device = used.unwrap_or_else(|| self.spec.device(run));
        self.spec.driver_on(device, trial, depth, now)
    }
}

impl SimLaboratory {
    /// A laboratory with one model for all targets.
    pub fn new(spec: SimSpec, seed: u64) -> Self {
        Self::on_several(vec![(TargetId(0), spec)], seed)
    }

    /// A laboratory with the models of these targets, at least one, in the order of the targets.
    pub fn on_several(models: Vec<(TargetId, SimSpec)>, seed: u64) -> Self {
        assert!(!models.is_empty(), "a laboratory has a model");
        let in_use = |(number, (target, spec))| ModelInUse {
            target,
            number,
            spec,
            used: None,
        };
        Self {
            models: (0..).zip(models).map(in_use).collect(),
            seed,
            on_error: OnError::Stop,
            now: Instant::START,
            follower: None,
        }
    }

    /// Sets whether a failed operation ends a trial or is counted.
    #[must_use]
    pub const fn with_errors(mut self, on_error: OnError) -> Self {
        self.on_error = on_error;
        self
    }

    /// The model, or the first of several.
    pub fn spec(&self) -> &SimSpec {
        &self.models[0].spec
    }

    /// State of the model's array, if it has one.
    pub fn array_state(&self) -> Option<ArrayState> {
        let first = &self.models[0];
        first.spec.machine()?.array.array.as_ref()?;
        match &first.used {
            Some(device) => device.array_state(),
            None => first.spec.device(self.seed).array_state(),
        }
    }

    /// On a single model.
    fn measure_on_one(
        &mut self,
        trial: &Trial,
        began: Began,
        watch: Watch<'_>,
    ) -> Result<Outcome, LaboratoryError> {
        let model = &mut self.models[0];
        let seeds = (began.seed, self.seed);
        let driver = model.driver(seeds, trial.depth as usize, self.now);
        let (outcome, driver) = inline(trial, driver, model_loop, "sim", began, watch)?;
        let served = driver.served().filter(|served| served.operations > 0);
        self.now = driver.now();
        if model.spec.keeps_state() {
            let (device, end) = driver.into_device();
            model.used = Some(device);
            self.now = end;
        }
        let mut outcome = outcome?;
        let measured = &outcome.measurement;
        // Requests held back by a fault, or for lack of a slot, wait before they reach the queue.
        let is_held_back = model.spec.faults != Faults::default() || measured.room.is_some();
        let (response, whole) = (measured.response.mean, mean_of_all(&measured.kinds));
        let counts_operations = outcome.units.is_empty();
        outcome.measurement.server =
            served
                .filter(|_| counts_operations)
                .map(|served| ServerTimes {
                    wait: match served.waited {
                        0 if !is_held_back => Estimate::exact(0.0, served.operations as f64),
                        _ => wait(&served, (response, whole)),
                    },
                    service: service(&served),
                });
        Ok(outcome)
    }

    /// On all models at once.
    fn measure_on_all(
        &mut self,
        trial: &Trial,
        began: Began,
        watch: Watch<'_>,
    ) -> Result<Outcome, LaboratoryError> {
        let (seeds, now) = ((began.seed, self.seed), self.now);
        let depth = trial.depth as usize;
        let drivers = self
            .models
            .iter_mut()
            .map(|model| (model.target, model.driver(seeds, depth, now)));
        let group = SimGroup::new(drivers.collect());
        let (outcome, group) = inline(trial, group, group_loop, "sim", began, watch)?;
        let (devices, end) = group.into_devices();
        self.now = end;
        for (model, device) in self.models.iter_mut().zip(devices) {
            model.used = Some(device).filter(|_| model.spec.keeps_state());
        }
        outcome
    }
}

impl SimLaboratory {
    /// Lets idle time pass.
    pub fn pass(&mut self, time: Duration) {
        self.now += time;
    }
}

impl Laboratory for SimLaboratory {
    fn measure(&mut self, trial: &Trial, watch: Watch<'_>) -> Result<Outcome, LaboratoryError> {
        let began = Began {
            seed: trial_seed(self.seed, trial.salt),
            start: self.now,
            // A failed write to a model leaves no hole.
            on_error: self.on_error,
            cpu: None,
            follower: self.follower.clone(),
        };
        match self.models.len() {
            1 => self.measure_on_one(trial, began, watch),
            _ => self.measure_on_all(trial, began, watch),
        }
    }

    fn follow(&mut self, follower: Option<Arc<dyn Follower>>) {
        self.follower = follower;
    }

    fn now(&self) -> Instant {
        self.now
    }
}

impl StatelessTrials for SimLaboratory {
    /// A machine keeps its state between trials.
    fn is_stateless(&self) -> bool {
        !self.models.iter().any(|model| model.spec.keeps_state())
    }

    /// A disk keeps rotating meanwhile.
    fn skip(&mut self, took: Duration) -> Duration {
        self.pass(took);
        Duration::ZERO
    }
}

/// Mean response time over the whole trial, nanoseconds.
fn mean_of_all(kinds: &[KindTimes]) -> f64 {
    let count: f64 = kinds.iter().map(|it| it.count as f64).sum();
    let sum = kinds.iter().map(|it| it.response_mean_ns * it.count as f64);
    sum.sum::<f64>() / count.max(1.0)
}

/// Mean service time over the whole trial. Its interval assumes independent times.
fn service(served: &Served) -> Estimate {
    let count = served.operations as f64;
    let mean = served.sum_ns / count;
    let variance = (served.squares / count - mean * mean).max(0.0);
    let half = if served.is_independent {
        NORMAL_95 * (variance / count).sqrt()
    } else {
        f64::INFINITY
    };
    Estimate {
        value: mean,
        low: (mean - half).max(0.0),
        high: mean + half,
        ..Estimate::exact(mean, count)
    }
}

/// Mean wait: the rest of the response time, with an interval as wide as that of the steady
/// response time.
fn wait(served: &Served, (response, whole): (Estimate, f64)) -> Estimate {
    let wait = (whole - served.sum_ns / served.operations as f64).max(0.0);
    Estimate {
        value: wait,
        low: (wait - (response.value - response.low)).max(0.0),
        high: wait + (response.high - response.value),
        ..response
    }
}
