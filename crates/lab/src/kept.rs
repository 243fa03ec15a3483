//! A laboratory that keeps its outcomes, and one that only replays them.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use engine::Follower;
use procedure::{CheckUpFacts, Trial};
use results::{Caution, TargetDescription, Warning};
use serde::{Deserialize, Serialize};
use units::{Duration, Instant};
use workload::{ClientSpec, FileSet, TargetId};

use crate::bench::HostReach;
use crate::cells::{Cells, Killed};
use crate::laboratory::{Laboratory, LaboratoryError, Outcome, Watch};

/// A laboratory that keeps the outcomes of its trials.
#[derive(Debug)]
pub struct Kept<L> {
    laboratory: L,
    cells: Cells,
    /// Distinguishes it from other laboratories of the run.
    seed: u64,
    /// Time of replayed trials by which the clock was not advanced.
    skipped: Duration,
}

impl<L> Kept<L> {
    /// A laboratory of the run that owns `cells`; `seed` is that of its trials.
    pub const fn new(laboratory: L, cells: Cells, seed: u64) -> Self {
        Self {
            laboratory,
            cells,
            seed,
            skipped: Duration::ZERO,
        }
    }

    /// The laboratory itself, which no longer keeps outcomes.
    pub fn alone(self) -> L {
        self.laboratory
    }
}

impl<L> Deref for Kept<L> {
    type Target = L;

    fn deref(&self) -> &L {
        &self.laboratory
    }
}

impl<L> DerefMut for Kept<L> {
    fn deref_mut(&mut self) -> &mut L {
        &mut self.laboratory
    }
}

/// Whether a trial has no effect on later ones, so that it can be skipped.
pub trait StatelessTrials {
    /// Whether a trial can be skipped.
    fn is_stateless(&self) -> bool;

    /// Advances the clock by a skipped trial. Returns the time by which it could not.
    fn skip(&mut self, took: Duration) -> Duration;
}

impl<L: Laboratory> Kept<L> {
    fn measure_now(
        &mut self,
        of: &str,
        trial: &Trial,
        watch: Watch<'_>,
    ) -> Result<Outcome, LaboratoryError> {
        let begun = self.laboratory.now();
        let outcome = self.laboratory.measure(trial, watch)?;
        let took = self.laboratory.now().since(begun);
        if outcome.is_whole() {
            self.cells.keep(of, &(&outcome, took));
        }
        Ok(outcome)
    }
}

impl<L: Laboratory + StatelessTrials> Kept<L> {
    /// Runs a trial, and keeps its outcome or not.
    ///
    /// # Errors
    /// If it cannot be measured.
    pub fn measure_as(
        &mut self,
        reach: HostReach,
        trial: &Trial,
        watch: Watch<'_>,
    ) -> Result<Outcome, LaboratoryError> {
        match reach {
            HostReach::Shared | HostReach::Each => self.measure(trial, watch),
            HostReach::Unkept => self.laboratory.measure(trial, watch),
            HostReach::Leaving => self.measure_now(&name_of(trial, self.seed), trial, watch),
        }
    }
}

impl<L: Laboratory + StatelessTrials> Laboratory for Kept<L> {
    fn measure(&mut self, trial: &Trial, watch: Watch<'_>) -> Result<Outcome, LaboratoryError> {
        let of = name_of(trial, self.seed);
        // Later trials read the created files, and remove them.
        let leaves = matches!(trial.spec, ClientSpec::Files(_));
        if self.laboratory.is_stateless()
            && !leaves
            && let Some((outcome, took)) = replayed(&self.cells, &of)
        {
            self.skipped += self.laboratory.skip(took);
            return Ok(outcome);
        }
        self.measure_now(&of, trial, watch)
    }

    fn follow(&mut self, follower: Option<Arc<dyn Follower>>) {
        self.laboratory.follow(follower);
    }

    fn now(&self) -> Instant {
        self.laboratory.now() + self.skipped
    }
}

/// Replays the kept results of a run, without touching its target.
#[derive(Debug)]
pub struct ReplayLaboratory {
    cells: Cells,
    seed: u64,
    now: Instant,
}

impl ReplayLaboratory {
    /// Results kept by a laboratory with that seed.
    pub const fn new(cells: Cells, seed: u64) -> Self {
        Self {
            cells,
            seed,
            now: Instant::START,
        }
    }
}

impl Laboratory for ReplayLaboratory {
    fn measure(&mut self, trial: &Trial, _: Watch<'_>) -> Result<Outcome, LaboratoryError> {
        let replayed = replayed(&self.cells, &name_of(trial, self.seed));
        let (outcome, took) = replayed.ok_or(LaboratoryError::Killed(Killed))?;
        self.now += took;
        Ok(outcome)
    }

    /// Nothing is measured, so there is nothing to follow.
    fn follow(&mut self, _: Option<Arc<dyn Follower>>) {}

    fn now(&self) -> Instant {
        self.now
    }
}

/// Properties of a target, found when it was opened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OpenedTarget {
    pub(crate) description: TargetDescription,
    pub(crate) cautions: Vec<Caution>,
    pub(crate) facts: CheckUpFacts,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) test_files: Vec<TargetId>,
    pub(crate) spread: Option<FileSet>,
}

/// A kept outcome with its duration.
fn replayed(cells: &Cells, of: &str) -> Option<(Outcome, Duration)> {
    let kept: Option<(Outcome, Duration)> = cells.replay(of);
    kept.filter(|(outcome, _)| outcome.is_whole())
}

/// The request of a trial without its time limit, which is the rest of a budget.
fn name_of(trial: &Trial, seed: u64) -> String {
    let mut hasher = DefaultHasher::new();
    let Trial {
        spec,
        clients,
        depth,
        access,
        preparation,
        ..
    } = trial;
    format!("{spec:?} {clients} {depth} {access:?} {preparation:?}").hash(&mut hasher);
    let load = hasher.finish();
    format!("{} {seed} {} {load:016x}", trial.name, trial.salt)
}

/// Serialises a measurement in a journal, with fields that procedures use but archives do not hold.
pub(crate) mod whole_measurement {
    use results::Measurement;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Whole<M, S> {
        archived: M,
        series_of_goal: S,
    }

    pub fn serialize<S: Serializer>(it: &Measurement, to: S) -> Result<S::Ok, S::Error> {
        let windows = (&it.window, &it.service_window);
        let whole = Whole {
            archived: it,
            series_of_goal: (windows, &it.tails, &it.service_quantiles),
        };
        whole.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Measurement, D::Error> {
        let whole: Whole<Measurement, _> = Whole::deserialize(from)?;
        let ((window, service_window), tails, service_quantiles) = whole.series_of_goal;
        Ok(Measurement {
            window,
            service_window,
            tails,
            service_quantiles,
            ..whole.archived
        })
    }
}

/// Serialises a map whose keys are not text as a list.
pub(crate) mod as_list {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        table: &BTreeMap<K, V>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(table)
    }

    pub fn deserialize<'de, K, V, D>(from: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Vec::deserialize(from)?.into_iter().collect())
    }
}
