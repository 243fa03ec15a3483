//! A laboratory whose outcomes are kept, and one that only tells what was kept.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use engine::{Follower, KindRecord, RowKey, RowRecord};
use procedure::{CheckUpFacts, Ending, Trial, WithinLimit};
use results::{
    Caution, Interval, Measurement, SystemSeries, Tails, TargetDescription, Warning, histogram_in,
    histogram_text,
};
use serde::{Deserialize, Serialize};
use stats::{PercentileEstimate, Window};
use units::{Duration, Instant, TimeSpan};
use workload::{ClientSpec, OpKind, RateMiss, Spread, TargetId};

use crate::cells::{Cells, Killed};
use crate::laboratory::{Laboratory, LaboratoryError, Outcome, Watch};

/// A laboratory that keeps what its trials give.
#[derive(Debug)]
pub struct Kept<L> {
    laboratory: L,
    cells: Cells,
    /// Told apart from other laboratories of the run.
    seed: u64,
    /// Time of the trials that were told and not measured, as far as the clock did not pass it.
    skipped: Duration,
}

impl<L> Kept<L> {
    /// A laboratory of the run that `cells` are of; `seed` is that of its trials.
    pub const fn new(laboratory: L, cells: Cells, seed: u64) -> Self {
        Self {
            laboratory,
            cells,
            seed,
            skipped: Duration::ZERO,
        }
    }

    /// The laboratory, of whose trials nothing is kept any more.
    #[must_use]
    pub fn alone(self) -> L {
        self.laboratory
    }

    /// The laboratory for a trial that leaves something behind, or is followed.
    pub const fn leaving(&mut self) -> Leaving<'_, L> {
        Leaving(self)
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

/// Where trials leave nothing behind that the next ones would miss.
pub trait Forgets {
    /// Whether a trial may be left out.
    fn forgets(&self) -> bool;

    /// Let the time of a trial pass that is left out; returns what its own clock did not let pass.
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
        if let Some(kept) = KeptOutcome::of(&outcome, took) {
            self.cells.keep(of, &kept);
        }
        Ok(outcome)
    }
}

impl<L: Laboratory + Forgets> Laboratory for Kept<L> {
    fn measure(&mut self, trial: &Trial, watch: Watch<'_>) -> Result<Outcome, LaboratoryError> {
        let of = name_of(trial, self.seed);
        // Later trials read the files that are made, and remove them.
        let leaves = matches!(trial.spec, ClientSpec::Files(_));
        if self.laboratory.forgets()
            && !leaves
            && let Some((outcome, took)) = told(&self.cells, &of)
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

/// A laboratory that measures what it is asked for, and keeps it.
#[derive(Debug)]
pub struct Leaving<'a, L>(&'a mut Kept<L>);

impl<L: Laboratory + Forgets> Laboratory for Leaving<'_, L> {
    fn measure(&mut self, trial: &Trial, watch: Watch<'_>) -> Result<Outcome, LaboratoryError> {
        let of = name_of(trial, self.0.seed);
        self.0.measure_now(&of, trial, watch)
    }

    fn follow(&mut self, follower: Option<Arc<dyn Follower>>) {
        self.0.follow(follower);
    }

    fn now(&self) -> Instant {
        self.0.now()
    }
}

/// Tells what was kept of a run on a target that is not touched any more.
#[derive(Debug)]
pub struct Told {
    cells: Cells,
    seed: u64,
    now: Instant,
}

impl Told {
    /// What was kept by a laboratory with that seed.
    #[must_use]
    pub const fn new(cells: Cells, seed: u64) -> Self {
        Self {
            cells,
            seed,
            now: Instant::START,
        }
    }
}

impl Laboratory for Told {
    fn measure(&mut self, trial: &Trial, _: Watch<'_>) -> Result<Outcome, LaboratoryError> {
        let told = told(&self.cells, &name_of(trial, self.seed));
        let (outcome, took) = told.ok_or(LaboratoryError::Killed(Killed))?;
        self.now += took;
        Ok(outcome)
    }

    /// Nothing is measured that anybody could follow.
    fn follow(&mut self, _: Option<Arc<dyn Follower>>) {}

    fn now(&self) -> Instant {
        self.now
    }
}

/// What a target was found to be when it was opened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Found {
    pub(crate) description: TargetDescription,
    pub(crate) cautions: Vec<Caution>,
    pub(crate) facts: CheckUpFacts,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) test_files: Vec<TargetId>,
    pub(crate) spread: Option<Spread>,
}

/// A kept outcome, with how long it took.
fn told(cells: &Cells, of: &str) -> Option<(Outcome, Duration)> {
    let kept: KeptOutcome = cells.told(of)?;
    let took = kept.took();
    Some((kept.into_outcome()?, took))
}

/// What is asked for in a trial, but for its time: that is what was left of a budget.
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

/// An outcome in a journal.
#[derive(Debug, Serialize, Deserialize)]
pub struct KeptOutcome {
    measurement: Measurement,
    series_of_goal: SeriesOfGoal,
    ending: KeptEnding,
    units: BTreeMap<u32, KeptKind>,
    rows: Vec<KeptRow>,
    elapsed_ns: u64,
    /// The same on the laboratory's clock, with what went before and after.
    took_ns: u64,
    series: Option<SystemSeries>,
    intervals: Vec<Interval>,
    within: Option<WithinLimit>,
    model_cpu_ns: Option<u64>,
}

/// What procedures read in a measurement and no archive holds.
#[derive(Debug, Serialize, Deserialize)]
struct SeriesOfGoal {
    window: Option<Window>,
    service_window: Option<Window>,
    tails: Option<Tails>,
    service_quantiles: Vec<PercentileEstimate>,
}

/// The ways in which a whole trial ends.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum KeptEnding {
    Goal,
    Budget,
    Finished,
    Overloaded,
}

#[derive(Debug, Serialize, Deserialize)]
struct KeptKind {
    response: String,
    service: String,
    bytes: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct KeptRow {
    row: u32,
    kind: OpKind,
    times: KeptKind,
    submission: String,
    /// When its record began, since the trial did; zero in journals of earlier versions.
    #[serde(default)]
    begun_ns: u64,
    elapsed_ns: u64,
    windows: Vec<(u64, u64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    missed: Option<RateMiss>,
}

impl KeptOutcome {
    /// The outcome of a trial that took that long, with what went before and after; `None` of one
    /// that was cut short or failed.
    #[must_use]
    pub fn of(outcome: &Outcome, took: Duration) -> Option<Self> {
        let ending = match outcome.ending {
            Ending::Goal => KeptEnding::Goal,
            Ending::Budget => KeptEnding::Budget,
            Ending::Finished => KeptEnding::Finished,
            Ending::Overloaded => KeptEnding::Overloaded,
            Ending::Failed | Ending::Interrupted => return None,
        };
        if outcome.failure.is_some() {
            return None;
        }
        let kept = |(number, record): (&u32, &KindRecord)| (*number, KeptKind::of(record));
        let Measurement {
            window,
            service_window,
            tails,
            service_quantiles,
            ..
        } = outcome.measurement.clone();
        Some(Self {
            measurement: outcome.measurement.clone(),
            series_of_goal: SeriesOfGoal {
                window,
                service_window,
                tails,
                service_quantiles,
            },
            ending,
            units: outcome.units.iter().map(kept).collect(),
            rows: outcome.rows.iter().map(KeptRow::of).collect(),
            elapsed_ns: outcome.elapsed.as_nanos(),
            took_ns: took.as_nanos(),
            series: outcome.series.clone(),
            intervals: outcome.intervals.clone(),
            within: outcome.within,
            model_cpu_ns: outcome.model_cpu_ns,
        })
    }

    /// How long it took, with what went before and after.
    #[must_use]
    pub const fn took(&self) -> Duration {
        Duration(self.took_ns)
    }

    /// The outcome; `None` where a histogram is none.
    #[must_use]
    pub fn into_outcome(self) -> Option<Outcome> {
        let rows = self.rows.into_iter().map(KeptRow::into_row);
        let rows = rows.collect::<Option<_>>()?;
        let units = self.units.into_iter();
        let units = units.map(|(number, kept)| Some((number, kept.record()?)));
        let SeriesOfGoal {
            window,
            service_window,
            tails,
            service_quantiles,
        } = self.series_of_goal;
        Some(Outcome {
            measurement: Measurement {
                window,
                service_window,
                tails,
                service_quantiles,
                ..self.measurement
            },
            ending: match self.ending {
                KeptEnding::Goal => Ending::Goal,
                KeptEnding::Budget => Ending::Budget,
                KeptEnding::Finished => Ending::Finished,
                KeptEnding::Overloaded => Ending::Overloaded,
            },
            failure: None,
            units: units.collect::<Option<_>>()?,
            rows,
            elapsed: Duration(self.elapsed_ns),
            series: self.series,
            intervals: self.intervals,
            within: self.within,
            model_cpu_ns: self.model_cpu_ns,
        })
    }
}

impl KeptKind {
    fn of(record: &KindRecord) -> Self {
        Self {
            response: histogram_text(&record.response),
            service: histogram_text(&record.service),
            bytes: record.bytes,
        }
    }

    fn record(&self) -> Option<KindRecord> {
        Some(KindRecord {
            response: histogram_in(&self.response)?,
            service: histogram_in(&self.service)?,
            bytes: self.bytes,
        })
    }
}

impl KeptRow {
    fn of(((row, kind), record): (&RowKey, &RowRecord)) -> Self {
        Self {
            row: *row,
            kind: *kind,
            times: KeptKind {
                response: histogram_text(&record.response),
                service: histogram_text(&record.service),
                bytes: record.bytes,
            },
            submission: histogram_text(&record.submission),
            begun_ns: record.span.begun().as_nanos(),
            elapsed_ns: record.span.length().as_nanos(),
            windows: record.windows.clone(),
            missed: record.missed,
        }
    }

    fn into_row(self) -> Option<(RowKey, RowRecord)> {
        let times = self.times.record()?;
        let begun = Duration(self.begun_ns);
        let record = RowRecord {
            response: times.response,
            service: times.service,
            submission: histogram_in(&self.submission)?,
            bytes: times.bytes,
            span: TimeSpan::new(begun, begun + Duration(self.elapsed_ns)),
            windows: self.windows,
            missed: self.missed,
        };
        Some(((self.row, self.kind), record))
    }
}
