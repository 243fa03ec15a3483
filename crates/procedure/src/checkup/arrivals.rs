//! Repeats each level of the curve with random arrivals. A closed loop hides the queue that
//! independent users would wait in.

use results::{LevelOutcome, Measurement, OpenTrial};
use units::Duration;

use super::CheckUp;
use super::phases;
use crate::trial::Trial;

/// Random arrivals are tried at this share of the closed-loop load.
const OPEN_PART: f64 = 0.9;

impl CheckUp {
    /// The trial for the next level whose load is known.
    pub(super) fn arrivals_trial(&mut self, time: Duration) -> Option<Trial> {
        let curve = self.finished_curve.as_ref()?;
        let loads: Vec<Option<f64>> = curve
            .levels
            .iter()
            .map(|level| match level.outcome {
                LevelOutcome::Reached { load, .. } => Some(load.value),
                _ => None,
            })
            .collect();
        while loads.get(self.tried_open) == Some(&None) {
            self.tried_open += 1;
        }
        let load = (*loads.get(self.tried_open)?)?;
        let left = loads[self.tried_open..].iter().flatten().count();
        let level = Duration::from_nanos(curve.levels[self.tried_open].level_ns);
        let mut trial = phases::arrivals(
            &self.scene(),
            OPEN_PART * load,
            level,
            time.mul_f64(1.0 / left as f64),
        );
        if let Some(goal) = &mut trial.goal {
            goal.percentile = curve.percentile;
            goal.duration_min_ns = trial.duration_max.as_nanos().min(goal.duration_min_ns);
        }
        trial.salt = phases::salt(phases::CheckUpPhase::Arrivals, self.tried_open as u64);
        Some(trial)
    }

    pub(super) fn record_arrivals(&mut self, measurement: &Measurement) {
        let tail = measurement.tails.as_ref();
        let response = match tail.and_then(|tails| tails.response.as_ref()) {
            Some(tail) => tail.time,
            None => measurement.response.mean,
        };
        if measurement.is_all_failed() {
            self.measurements.push(measurement.clone());
            self.tried_open += 1;
            return;
        }
        let curve = self.finished_curve.as_mut();
        let level = curve.and_then(|curve| curve.levels.get_mut(self.tried_open));
        if let (Some(level), Some(offered)) = (level, measurement.offered) {
            level.open = Some(OpenTrial {
                offered,
                load: measurement.throughput,
                response,
                is_within: response.high <= level.level_ns as f64,
            });
        }
        self.tried_open += 1;
    }
}
