//! What procedures of trials have in common: each is told what was measured, and says what to
//! measure next.
//!
//! Three are none: the search for users is told percentiles, the tests of files and the timing of
//! commands are told how long a pass took, and count the time between passes as well.

use results::Measurement;
use units::Duration;

/// Says what to measure next, until it has enough or its time is over.
pub trait Plan {
    /// What is measured in one go.
    type Step;

    /// What to measure next; `None` when nothing more is wanted.
    fn next_step(&mut self) -> Option<Self::Step>;

    /// Take in what a step gave, which took `elapsed` with all that belongs to it.
    fn record(&mut self, step: &Self::Step, measurement: &Measurement, elapsed: Duration);
}
