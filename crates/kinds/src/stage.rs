//! Where a run stands while it goes on.

use lab::laboratory::Glimpse;
use units::Duration;

/// Where a run stands, for a screen.
#[derive(Clone, Debug)]
pub struct Stage<'a> {
    /// What is being measured.
    pub title: &'a str,
    /// Share of the work that is done, 0 to 1.
    pub done: f64,
    /// Time since the start.
    pub elapsed: Duration,
    /// Time that is left, at most.
    pub left: Duration,
    /// The trial that is running.
    pub glimpse: Option<&'a Glimpse>,
}

impl<'a> Stage<'a> {
    /// A test file is being written, before anything is measured.
    #[must_use]
    pub fn of_filling(title: &'a str, glimpse: &'a Glimpse) -> Self {
        Self {
            title,
            done: 0.0,
            elapsed: glimpse.elapsed,
            left: Duration(u64::MAX),
            glimpse: Some(glimpse),
        }
    }
}

impl Stage<'_> {
    /// What is done, or, where nothing is, what the storage does not answer.
    #[must_use]
    pub fn activity(&self) -> String {
        let unanswered = self.glimpse.and_then(|glimpse| glimpse.unanswered);
        unanswered.map_or_else(|| self.title.to_owned(), |it| it.to_string())
    }
}

/// Receives the progress of a run.
pub type Show<'a> = &'a mut dyn FnMut(&Stage<'_>);
