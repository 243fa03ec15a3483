//! Tells whoever looks on how far a transfer is.

use units::Duration;

use crate::stage::{Show, Stage};
use lab::laboratory::Glimpse;

/// Counts series, and shows the pass under way.
pub struct ProgressReporter<'a> {
    show: Show<'a>,
    series_done: usize,
    series_all: usize,
    budget: Duration,
}

impl<'a> ProgressReporter<'a> {
    /// Nothing is done yet.
    pub fn new(show: Show<'a>, series_all: usize, budget: Duration) -> Self {
        Self {
            show,
            series_done: 0,
            series_all: series_all.max(1),
            budget,
        }
    }

    /// One series more is done.
    pub fn finish_series(&mut self) {
        self.series_done += 1;
    }

    /// Show a stage that is no pass.
    pub fn stage(&mut self, stage: &Stage<'_>) {
        (self.show)(stage);
    }

    /// Show a pass.
    pub fn pass(&mut self, title: &str, glimpse: &Glimpse) {
        let left = (self.series_all - self.series_done.min(self.series_all)) as u64;
        (self.show)(&Stage {
            title,
            done: self.series_done as f64 / self.series_all as f64,
            elapsed: glimpse.elapsed,
            left: Some(self.budget * left),
            glimpse: Some(glimpse),
            ..Stage::default()
        });
    }
}
