//! Where a run stands while it goes on.

use lab::laboratory::Glimpse;
use units::Duration;

/// What a run does, phase by phase, as it is known before it begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunPlan {
    /// Each with its time; none where it takes as long as its work does.
    pub phases: Vec<(&'static str, Option<Duration>)>,
    /// The most time that all of it takes, where it ends as soon as it knows enough; the sum of
    /// the phases when absent.
    pub budget: Option<Duration>,
}

impl RunPlan {
    /// As `Plan: about 1 min in all (fill 24 s, measure 36 s)`: a narrow terminal cuts off the end.
    /// Nothing of a single phase, or where no time is known.
    pub fn line(&self) -> Option<String> {
        let is_timed = self.budget.is_some() || self.phases.iter().any(|it| it.1.is_some());
        if self.phases.len() < 2 || !is_timed {
            return None;
        }
        let each = self.phases.iter().map(|(name, time)| match time {
            Some(time) => format!("{name} {time}"),
            None => (*name).to_owned(),
        });
        let each = each.collect::<Vec<_>>().join(", ");
        let mut times = self.phases.iter().map(|(_, time)| *time);
        let sum = times.try_fold(Duration::ZERO, |sum, time| Some(sum + time?));
        Some(match (self.budget, sum) {
            (Some(most), _) => format!("Plan: at most {most} in all ({each})"),
            (None, Some(sum)) => format!("Plan: about {sum} in all ({each})"),
            (None, None) => format!("Plan: {each}"),
        })
    }
}

/// Where a run stands, for a screen.
#[derive(Clone, Debug, Default)]
pub struct Stage<'a> {
    /// What is being measured, or, of a plan, all that is going to be.
    pub title: &'a str,
    /// Share of the work that is done, 0 to 1.
    pub done: f64,
    /// Time since the start.
    pub elapsed: Duration,
    /// Time that is left, at most, where that is known.
    pub left: Option<Duration>,
    /// The trial that is running.
    pub glimpse: Option<&'a Glimpse>,
    /// Whether it is the plan of a run, which stays on the screen.
    pub is_plan: bool,
}

impl<'a> Stage<'a> {
    /// A test file is being written, before anything is measured.
    pub fn of_filling(title: &'a str, glimpse: &'a Glimpse) -> Self {
        Self {
            title,
            elapsed: glimpse.elapsed,
            glimpse: Some(glimpse),
            ..Self::default()
        }
    }
}

impl Stage<'_> {
    /// What is done, or, where nothing is, what the storage does not answer.
    pub fn activity(&self) -> String {
        let unanswered = self.glimpse.and_then(|glimpse| glimpse.unanswered);
        unanswered.map_or_else(|| self.title.to_owned(), |it| it.to_string())
    }
}

/// Receives the progress of a run.
pub type Show<'a> = &'a mut dyn FnMut(&Stage<'_>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_tells_its_phases_and_the_time_of_all() {
        let seconds = |time: u64| Some(Duration::from_secs(time));
        let check =
            |phases: &[(&'static str, Option<Duration>)], budget, expected: Option<&str>| {
                let phases = phases.to_vec();
                let line = RunPlan { phases, budget }.line();
                assert_eq!(line.as_deref(), expected);
            };
        let fill = ("fill", seconds(24));
        let both = "Plan: about 2 min in all (fill 24.0 s, measure 1 min 36 s)";
        check(&[fill, ("measure", seconds(96))], None, Some(both));
        check(
            &[fill, ("verify", None)],
            None,
            Some("Plan: fill 24.0 s, verify"),
        );
        let whole = "Plan: at most 30.0 s in all (fill 24.0 s, verify)";
        check(&[fill, ("verify", None)], seconds(30), Some(whole));
        check(&[fill], None, None);
        check(&[("warm-up", None), ("rounds", None)], None, None);
    }
}
