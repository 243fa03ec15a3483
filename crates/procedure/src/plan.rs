//! Common interface of procedures made of trials: they receive a measurement and choose the next
//! one. Three are different: the search for users uses percentiles, and the file tests and timed
//! commands use the time of a pass, and also count the time between passes.

use results::Measurement;
use units::Duration;

/// Chooses the next step until the result is precise enough or time is up.
pub trait Plan {
    /// What is measured in one step.
    type Step;

    /// The next step; `None` when finished.
    fn next_step(&mut self) -> Option<Self::Step>;

    /// Records the result of a step, which took `elapsed` in total.
    fn record(&mut self, step: &Self::Step, measurement: &Measurement, elapsed: Duration);
}
