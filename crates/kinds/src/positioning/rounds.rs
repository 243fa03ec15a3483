//! The command: round by round on a simulated device, with a histogram of the times.

use procedure::{fits_another, wider_bin};
use results::Run;
use units::{Bytes, Duration, TargetName};

use super::filled::FilledModel;
use super::kp3;
use super::tables::tables;
use crate::session::{self, MeasurementPlan, Result, Session};
use crate::stage::{Show, Stage};
use host::interrupt::Interrupt;
use lab::bench::{BenchError, BenchRequest};
use lab::simulated::open_recorded_model;
use lab::test_file::stopped;

/// The model of the drive that times are published of.
const PUBLISHED_MODEL: &str = "dlt2000";

/// What is asked for, as resolved from the command line.
#[derive(Clone, Debug)]
pub struct PositioningRequest {
    /// A model; its seed is that of the orders.
    pub bench: BenchRequest,
    /// Files, which fill the target.
    pub files: u32,
    /// Bytes of the first record.
    pub record: Bytes,
    /// How often all are opened.
    pub rounds: u32,
    /// None begins that would exceed it, in the model's time.
    pub budget: Option<Duration>,
    /// Width of a bin.
    pub bin: Option<Duration>,
    /// Whether the published times of a DLT2000 stand beside.
    pub published: Published,
}

/// Which published times stand beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// None.
    Nothing,
    /// Those of 91 files on a DLT2000.
    Dlt2000,
}

/// Open all files, round by round.
///
/// # Errors
/// When no round was completed. What was measured before something went wrong is a partial run.
pub fn measure_positioning(
    request: &PositioningRequest,
    interrupt: &Interrupt,
    show: Show<'_>,
) -> Result<Run> {
    let usage = |text: String| Err(BenchError::Usage(text));
    let published_of = TargetName::of_model(PUBLISHED_MODEL);
    let BenchRequest { target, setup, .. } = &request.bench;
    let Some(name) = target.model() else {
        return usage(format!(
            "{target}: files are laid out on simulated devices only, as in {published_of}"
        ));
    };
    let is_published = name.split('?').next() == Some(published_of.as_str());
    if request.published == Published::Dlt2000 && !is_published {
        return usage(format!(
            "{name}: times are published for {published_of} only. Leave --published out"
        ));
    }
    let spec = open_recorded_model(name, setup)?;
    let mut model = FilledModel::of(spec, request.files, request.record, setup.seed)?;
    model.plan.bin = match request.published {
        Published::Nothing => request.bin,
        Published::Dlt2000 => Some(Duration::from_secs(kp3::POSITIONING_BIN_S)),
    };
    session::run(&request.bench, interrupt, show, |_| {
        Ok(PositioningRounds {
            request,
            model,
            rounds: Vec::new(),
            spent: Duration::ZERO,
        })
    })
}

struct PositioningRounds<'a> {
    request: &'a PositioningRequest,
    model: FilledModel,
    /// The time of each file, by round.
    rounds: Vec<Vec<Duration>>,
    /// All of them together.
    spent: Duration,
}

impl MeasurementPlan for PositioningRounds<'_> {
    type Outcome = Run;

    fn carry_out(&mut self, session: &mut Session<'_>) -> Result<()> {
        let rounds = self.request.rounds;
        for round in 0..rounds {
            if let Some(stop) = stopped(session.interrupt) {
                return Err(stop);
            }
            let left = self.left(round);
            if round > 0 && left.is_some_and(|left| left == Duration::ZERO) {
                break;
            }
            (session.show)(&Stage {
                title: &format!("opening {} files", self.request.files),
                done: f64::from(round) / f64::from(rounds),
                elapsed: self.spent,
                left,
                ..Stage::default()
            });
            let of = format!("round {round}");
            let cells = &self.request.bench.cells;
            let times = cells.result(&of, || self.model.round(round).map_err(BenchError::from))?;
            self.add(times)?;
        }
        Ok(())
    }

    fn is_empty(&self, _: &Session<'_>) -> bool {
        self.rounds.is_empty()
    }

    fn complete(self, run: Run) -> Run {
        Run {
            elapsed_ns: self.spent.as_nanos(),
            tables: tables(&self.model.plan, &self.rounds, self.request.published),
            ..run
        }
    }
}

impl PositioningRounds<'_> {
    /// Time for rounds after `done` ones; none where there is no budget.
    fn left(&self, done: u32) -> Option<Duration> {
        let budget = self.request.budget?;
        match fits_another(budget, done, self.spent) {
            true => Some(budget.saturating_sub(self.spent)),
            false => Some(Duration::ZERO),
        }
    }

    fn add(&mut self, times: Vec<Duration>) -> Result<()> {
        let bin = self.model.plan.bin;
        if let Some((bin, wider)) = bin.and_then(|bin| Some((bin, wider_bin(bin, &times)?))) {
            self.rounds.clear();
            return Err(BenchError::Usage(format!(
                "--bin {bin}: that makes more than a thousand bins. {wider} would do here"
            )));
        }
        self.spent = times.iter().fold(self.spent, |sum, time| sum + *time);
        self.rounds.push(times);
        Ok(())
    }
}
