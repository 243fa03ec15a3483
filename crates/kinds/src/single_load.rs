//! Runs one trial, or a load curve, of a workload that the user put together.

use std::sync::Arc;

use engine::Follower;
use procedure::{
    CurveOptions, LoadCurve, MAIN_DIRECT, OfferedFigures, OfferedRow, PointPlan, Requirement,
    Trial, rated_name,
};
use results::{Access, Curve, Law, Measurement, Run, Setup, Status, Warning, WarningCode};
use stats::{Goal, Verdict};
use units::{Bytes, Duration, format_count, format_counted};
use workload::{ClientSpec, FileSet, Gap, GapShape, MixSpec, Pacing};

use crate::check_up::rates;
use crate::depth::{closed_depth, open_depth};
use crate::session::{self, MeasurementPlan, Result, Session};
use crate::stage::{RunPlan, Show, Stage};
use host::interrupt::Interrupt;
use lab::bench::{Bench, BenchError, BenchRequest, HostReach, open_bench, open_null};
use lab::hosts::Ranks;
use lab::simulated::law;
use lab::storage::wrong_data;
use lab::test_file::{SIZE_DEFAULT, stopped};

/// The name of the one trial.
pub(crate) const TRIAL: &str = "trial";

/// What is to be measured of one workload.
#[derive(Clone, Debug)]
pub enum LoadQuestion {
    /// One load.
    Trial {
        /// Number of clients.
        clients: u32,
        /// Requests that may be outstanding.
        depth: u32,
        /// When the answer is good enough; `None` runs for `duration_max`.
        goal: Option<Goal>,
        /// When to stop in any case.
        duration_max: Duration,
        /// Length of the intervals that are listed, if any are.
        sample_every: Option<Duration>,
        /// What is left out at the start, whatever it looks like; a rule finds it when absent.
        warm_up: Option<Duration>,
    },
    /// Response time against load.
    Curve(CurveOptions),
}

/// One workload on one target.
#[derive(Clone, Debug)]
pub struct LoadRequest {
    /// What is measured, and what may be done to it.
    pub bench: BenchRequest,
    /// What a client does; the length of its region is set to that of the target.
    pub spec: MixSpec,
    /// What a client does, in words.
    pub subject: String,
    /// The same, with the load where it is fixed.
    pub title: String,
    /// What is to be measured.
    pub question: LoadQuestion,
    /// What figures are required to be; a trial is repeated at each load that they name.
    pub goals: Vec<Requirement>,
    /// Is handed each operation of the trial.
    pub follower: Option<Arc<dyn Follower>>,
}

/// Answer a question about one workload.
///
/// # Errors
/// When nothing could be measured.
pub fn measure_load(request: &LoadRequest, interrupt: &Interrupt, show: Show<'_>) -> Result<Run> {
    let offer = request.offer();
    let goals = offer.check(&request.goals).map_err(BenchError::Usage);
    Ranks::on_all(request.bench.ranks.as_ref(), goals)?;
    let bench = &request.bench;
    let opened = match (&request.question, bench.target.is_null()) {
        (LoadQuestion::Curve(_), true) => {
            let text = "the null target has no load curve";
            return Err(BenchError::Usage(text.into()));
        }
        (_, true) => open_null(bench.size.unwrap_or(SIZE_DEFAULT), bench.storage.seed),
        (_, false) => open_bench(bench)?,
    };
    session::run_on(opened, (bench, interrupt, show), |session| {
        if request.spec.mix.write > 0 || request.spec.mix.flush > 0 {
            session.refuse_writes()?;
        }
        let blocks = request.spec.sizes.iter().map(|size| size.len.into());
        session.bench.refuse_misaligned(blocks)?;
        Ok(LoadPlan {
            request,
            curve: None,
            verified: None,
        })
    })
}

/// That verification found nothing is a result, too.
fn verified(read: Bytes) -> Warning {
    Warning::info(
        WarningCode::Verified,
        format!("Verified {read}: all that was written was read back intact."),
    )
}

impl LoadRequest {
    fn trial(&self, size: Bytes, spread: Option<FileSet>, access: Access) -> Trial {
        let mut spec = self.spec.clone();
        spec.addresses.region.target = MAIN_DIRECT;
        spec.spread = spread;
        let files = spread.map_or(1, |it| u64::from(it.files));
        spec.addresses.region.len = size.0 / files;
        let mut trial = Trial {
            title: self.title.clone(),
            ..Trial::new(TRIAL, ClientSpec::Mix(spec), access)
        };
        if let LoadQuestion::Trial {
            clients,
            depth,
            goal,
            duration_max,
            sample_every,
            warm_up,
        } = self.question
        {
            let shares = goal.map_or(1, |_| self.trials());
            trial = Trial {
                clients,
                depth,
                goal,
                duration_max: Duration::from_nanos(duration_max.as_nanos() / shares),
                sample_every,
                warm_up,
                ..trial
            };
        }
        trial
    }

    /// The time that the test file shares with what is measured; `None` where how long that takes
    /// was said.
    fn budget(&self) -> Option<Duration> {
        match &self.question {
            LoadQuestion::Trial {
                goal, duration_max, ..
            } => goal.and(Some(*duration_max)),
            LoadQuestion::Curve(options) => options.budget,
        }
    }

    /// Trials that share the budget: the one asked for, and those at the loads that goals name.
    fn trials(&self) -> u64 {
        1 + rates(&self.goals).len() as u64
    }

    fn resolve_depth(&self, setup: &mut Setup) {
        if let LoadQuestion::Trial { depth, .. } = &self.question {
            setup.resolve("depth", [depth.to_string()]);
        }
    }

    /// The figures that the question gives.
    fn offer(&self) -> OfferedFigures {
        if let LoadQuestion::Curve(options) = &self.question {
            return OfferedFigures::default().and_curve(options.levels.given(options.percentile));
        }
        let rows = OfferedRow::Only(TRIAL.into());
        let mut offer = OfferedFigures::default().and(rows, "trial");
        let mut rated = vec![TRIAL];
        let mix = self.spec.mix;
        let kinds = [
            ("read", mix.read),
            ("write", mix.write),
            ("flush", mix.flush),
        ];
        let kinds = kinds.into_iter().filter(|(_, share)| *share > 0);
        let kinds: Vec<&str> = kinds.map(|(name, _)| name).collect();
        if kinds.len() > 1 {
            for &kind in &kinds {
                offer = offer.and(OfferedRow::Named(kind.into()), "trial");
            }
            rated.extend(kinds);
        }
        match self.bench.target.is_null() {
            true => offer,
            false => rated.into_iter().fold(offer, OfferedFigures::and_rated),
        }
    }
}

/// However long the test file took, a trial has this long.
const TRIAL_LEAST: Duration = Duration::from_millis(100);

struct LoadPlan<'a> {
    request: &'a LoadRequest,
    curve: Option<Curve>,
    /// What was read back, and found to be right.
    verified: Option<Bytes>,
}

impl MeasurementPlan for LoadPlan<'_> {
    type Outcome = Run;

    fn plan(&self, session: &Session<'_>) -> RunPlan {
        let time = match &self.request.question {
            LoadQuestion::Trial { duration_max, .. } => Some(*duration_max),
            LoadQuestion::Curve(options) => options.budget,
        };
        let mut plan = session.filled_plan(self.request.budget(), ("measure", time));
        let verified = self.request.bench.storage.verify_unit;
        if verified.is_some() {
            plan.phases.push(("verify", None));
            plan.budget = None;
        }
        plan
    }

    fn carry_out(&mut self, session: &mut Session<'_>) -> Result<()> {
        let prepared = match session.facts.makes_files {
            true => session.fill(self.request.budget()).map(drop),
            false => session.bench.verify_as_asked().map_err(BenchError::from),
        };
        let measured = prepared.and_then(|()| match &self.request.question {
            LoadQuestion::Trial { .. } => self.measure_trial(session),
            LoadQuestion::Curve(options) => self.measure_curve(session, options.clone()),
        });
        self.verify(session, measured)
    }

    fn is_empty(&self, session: &Session<'_>) -> bool {
        session.measurements.is_empty() && self.curve.is_none()
    }

    fn resolve(&self, setup: &mut Setup, status: &Status) {
        match &self.request.question {
            LoadQuestion::Trial { .. } => self.request.resolve_depth(setup),
            LoadQuestion::Curve(_) => resolve_levels(setup, status, self.curve.as_ref()),
        }
    }

    fn complete(self, mut run: Run) -> Run {
        run.warnings.extend(self.verified.map(verified));
        run.curves.extend(self.curve);
        run
    }
}

impl LoadPlan<'_> {
    /// Read back what was written, after `measured` went well, and tell what is wrong with it.
    fn verify(&mut self, session: &mut Session<'_>, measured: Result<()>) -> Result<()> {
        let (interrupt, elapsed) = (session.interrupt, session.spent);
        let read = measured.and_then(|()| {
            let show = &mut session.show;
            let read = session.bench.read_back(&mut |done, _| {
                show(&Stage {
                    title: "reading back what was written",
                    done,
                    elapsed,
                    ..Stage::default()
                });
                interrupt.is_raised().is_none()
            });
            read.map_err(BenchError::from)
        });
        let findings = session.bench.findings();
        if findings.total() == 0 {
            let read = read?;
            stopped(interrupt).map_or(Ok(()), Err)?;
            self.verified = (read > Bytes(0)).then_some(read);
            return Ok(());
        }
        if let Some(last) = session.measurements.last_mut() {
            last.warnings.push(wrong_data(&last.title, &findings));
        }
        Err(BenchError::WrongData(findings))
    }

    fn measure_trial(&self, session: &mut Session<'_>) -> Result<()> {
        let mut trial = self.trial(session);
        if trial.goal.is_some() {
            // Reading back takes about as long as writing.
            let is_verified = self.request.bench.storage.verify_unit.is_some();
            let used = session.spent * (1 + u64::from(is_verified));
            let left = trial
                .duration_max
                .saturating_sub(used / self.request.trials());
            trial.duration_max = left.max(TRIAL_LEAST);
        }
        let follower = self.request.follower.clone();
        session.bench.laboratory().follow(follower);
        let measured = session.measure_alone(&trial);
        session.bench.laboratory().follow(None);
        let mut outcome = measured?;
        outcome.measurement.law = law_of(session, &trial);
        outcome.measurement.series = outcome.series.take();
        outcome.measurement.intervals = std::mem::take(&mut outcome.intervals);
        let doubt = too_short(&outcome.measurement);
        outcome.measurement.warnings.extend(doubt);
        session.measurements.push(outcome.measurement);
        let rows = session.bench.take_rows();
        session.measurements.extend(rows);
        session.go_on(&trial, outcome.failure)?;
        self.measure_at_rates(session, &trial)
    }

    /// The same operations at each load that a goal names.
    fn measure_at_rates(&self, session: &mut Session<'_>, own: &Trial) -> Result<()> {
        for (rate, salt) in rates(&self.request.goals).into_iter().zip(1..) {
            let mut trial = own.clone();
            if let ClientSpec::Mix(spec) = &mut trial.spec {
                let gap = Duration::from_secs(1).mul_f64(f64::from(trial.clients) / rate);
                let gap = Gap::new(GapShape::Exponential, gap);
                spec.pacing = Pacing::Open { gap };
            }
            let driver = self.request.bench.storage.driver;
            trial.depth = open_depth(driver, trial.clients, rate, self.largest_block());
            trial.name = rated_name(&own.name, rate);
            trial.title = format!("{}, {}/s offered", self.request.subject, format_count(rate));
            trial.salt = salt;
            let outcome = session.measure_alone(&trial)?;
            session.measurements.push(Measurement {
                law: law_of(session, &trial),
                is_for_goal: true,
                ..outcome.measurement
            });
            session.go_on(&trial, outcome.failure)?;
        }
        Ok(())
    }

    fn largest_block(&self) -> Bytes {
        let sizes = self.request.spec.sizes.iter();
        Bytes(sizes.map(|size| size.len.into()).max().unwrap_or(0))
    }

    fn measure_curve(&mut self, session: &mut Session<'_>, options: CurveOptions) -> Result<()> {
        let time = options.budget.unwrap_or(Duration(u64::MAX));
        let mut procedure = LoadCurve::new(CurveOptions {
            budget: options.budget.map(|it| it.saturating_sub(session.spent)),
            ..options
        });
        let mut hosts = HostsAtPeak::default();
        let measured = session.follow(&mut procedure, |session, procedure, plan| {
            let trial = self.trial_of_point(session, plan);
            let done = procedure.progress();
            let mut outcome = session.measure_among(&trial, HostReach::Shared, done, time)?;
            if plan.is_scout {
                // Cut short it shows no way.
                session.go_on(&trial, None)?;
            }
            outcome.measurement.law = law_of(session, &trial);
            hosts.see(&outcome.measurement, session.bench.take_rows());
            Ok((trial, outcome))
        });
        self.curve = procedure.found(&self.request.title);
        measured?;
        session.measurements.extend(procedure.failed().cloned());
        session.measurements.extend(hosts.rows);
        Ok(())
    }

    fn trial_of_point(&self, session: &Session<'_>, plan: &PointPlan) -> Trial {
        let driver = self.request.bench.storage.driver;
        let mut trial = self.trial(session);
        trial.clients = plan.clients;
        trial.depth = closed_depth(driver, plan.clients, self.largest_block());
        let clients = format_counted(plan.clients.into(), "client");
        trial.title = format!("{}, {clients}", self.request.title);
        if let (Some(sources), ClientSpec::Mix(spec)) = (plan.sources, &mut trial.spec) {
            let gap = Duration::from_secs(1).mul_f64(1.0 / sources.rate_each);
            let gap = Gap::new(GapShape::Exponential, gap);
            spec.pacing = Pacing::Open { gap };
            let rate = sources.rate_each * f64::from(plan.clients);
            trial.depth = open_depth(driver, 1, rate, self.largest_block());
            trial.title = format!("{}, {}/s", self.request.title, format_count(rate));
        }
        trial.goal = Some(plan.goal);
        trial.duration_max = plan.duration_max;
        trial.warm_up = plan.warm_up;
        trial.salt = plan.salt;
        trial
    }

    fn trial(&self, session: &Session<'_>) -> Trial {
        let spread = session.bench.spread();
        self.request
            .trial(session.size, spread, session.facts.access)
    }
}

/// What a model's law says of a trial.
fn law_of(session: &Session<'_>, trial: &Trial) -> Option<Law> {
    match (&session.bench, &trial.spec) {
        (Bench::Simulated(model), ClientSpec::Mix(spec)) => law(model.spec(), spec, trial.clients),
        _ => None,
    }
}

/// What each of several hosts did at the point of a curve with the highest throughput: rows for all
/// points would be many, and there the slowest host holds the others back most.
#[derive(Default)]
struct HostsAtPeak {
    throughput: f64,
    rows: Vec<Measurement>,
}

impl HostsAtPeak {
    fn see(&mut self, point: &Measurement, rows: Vec<Measurement>) {
        if point.throughput.value >= self.throughput {
            self.throughput = point.throughput.value;
            self.rows = rows;
            for row in &mut self.rows {
                let clients = format_counted(point.clients.into(), "client");
                row.title = format!("{} of {clients}", row.title);
            }
        }
    }
}

/// The levels that a curve chose. One that was stopped has no answer for some of them.
pub(crate) fn resolve_levels(setup: &mut Setup, status: &Status, curve: Option<&Curve>) {
    let levels = curve.map_or(&[][..], |curve| &curve.levels);
    if *status == Status::Complete && !levels.is_empty() && !setup.is_given("level") {
        let texts = levels
            .iter()
            .map(|it| Duration(it.level_ns).to_exact_string());
        setup.resolve("level", texts);
    }
}

/// Nobody asked for a precision, but a number that means little says so.
fn too_short(measurement: &Measurement) -> Option<Warning> {
    let is_short = measurement.verdict == Verdict::Timed { is_citable: false };
    (is_short && !measurement.is_all_failed()).then(|| {
        Warning::warn(
            WarningCode::TooFewSamples,
            format!(
                "{}: only {} in the requested time. Do not quote the number.",
                measurement.title,
                format_counted(
                    measurement.response.mean.samples as u64,
                    "independent sample"
                )
            ),
        )
        .advise("Allow more time with --duration.")
    })
}
