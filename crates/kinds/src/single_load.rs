//! Runs one trial, or a load curve, of a workload that the user put together.

use std::sync::Arc;

use engine::Follower;
use procedure::{
    CurveOptions, CurveStep, LoadCurve, MAIN_DIRECT, Offer, OfferedRow, Preparation, Requirement,
    Trial, TrialError, rated_name, trial_metrics,
};
use results::{
    Access, Curve, Measurement, Run, Setup, Status, TargetDescription, Warning, WarningCode,
};
use stats::{Channel, Goal, Verdict};
use units::{Bytes, Duration, TargetName, format_count, format_counted};
use workload::{ClientSpec, Gap, GapShape, MixSpec, Pacing, Spread};

use crate::check_up::rates;
use crate::depth::{closed_depth, open_depth};
use crate::stage::{Show, Stage};
use host::environment;
use host::interrupt::Interrupt;
use lab::bench::{Bench, BenchError, BenchRequest, Opened, open_bench};
use lab::laboratory::{Glimpse, Laboratory as _, NullLaboratory, Outcome};
use lab::simulated::law;
use lab::storage::wrong_data;
use lab::test_file::{SIZE_DEFAULT, make_test_file, stop_of, stopped};

/// The name of the one trial.
pub(crate) const TRIAL: &str = "trial";

/// What is to be measured of one workload.
#[derive(Clone, Debug)]
pub enum Question {
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
    pub question: Question,
    /// What figures are required to be; a trial is repeated at each load that they name.
    pub goals: Vec<Requirement>,
    /// Is handed each operation of the trial.
    pub follower: Option<Arc<dyn Follower>>,
}

/// Answer a question about one workload.
///
/// # Errors
/// When nothing could be measured.
pub fn measure_load(
    request: &LoadRequest,
    interrupt: &Interrupt,
    show: Show<'_>,
) -> Result<Run, BenchError> {
    let offer = request.offer();
    let goals = offer.check(&request.goals).map_err(BenchError::Usage);
    request.bench.checked_on_all(goals)?;
    if request.bench.target.is_null() {
        return on_null(request, interrupt, show);
    }
    let Opened {
        mut bench,
        description,
        cautions,
        facts,
    } = open_bench(&request.bench)?;
    bench.serve(interrupt)?;
    let may_write = facts.makes_files || facts.may_overwrite;
    let blocks = request.spec.sizes.iter().map(|size| size.len.into());
    let refused = refuse_unwanted_writes(request, may_write);
    if let Err(error) = refused.and_then(|()| bench.refuse_misaligned(blocks)) {
        return Err(bench.abandon(error));
    }
    let mut asker = Asker {
        request,
        interrupt,
        show,
        size: Bytes(0),
        spread: bench.spread(),
        measurements: Vec::new(),
        curve: None,
        spent: Duration::ZERO,
        verified: None,
    };
    let begun = bench.laboratory().now();
    let environment = environment::capture();
    asker.size = facts
        .existing
        .unwrap_or_else(|| request.bench.size.unwrap_or(SIZE_DEFAULT).min(facts.room));
    let asked = if facts.makes_files {
        asker.fill(&mut bench, facts.access)
    } else {
        bench.verify_as_asked().map_err(BenchError::from)
    };
    let asked = asked.and_then(|()| asker.ask(&mut bench, facts.access));
    let asked = asker.verify(&bench, asked);
    let elapsed = bench.laboratory().now().since(begun);
    let status = match asked {
        Ok(()) => Status::Complete,
        Err(stop) if asker.measurements.is_empty() && asker.curve.is_none() => {
            return Err(bench.abandon(stop));
        }
        Err(stop) => Status::Partial {
            reason: stop.reason(),
        },
    };
    let mut warnings = bench.warnings(&cautions);
    warnings.extend(bench.clean_up());
    warnings.extend(asker.verified.map(verified));
    let setup = asker.setup(&status);
    Ok(Run {
        status,
        elapsed_ns: elapsed.as_nanos(),
        measurements: asker.measurements,
        curves: Vec::from_iter(asker.curve),
        warnings,
        ..Run::empty(setup, environment, description)
    })
}

/// That verification found nothing is a result, too.
fn verified(read: Bytes) -> Warning {
    Warning::note(
        WarningCode::Verified,
        format!(
            "All that was written was read back ({read}) and is what was written last: nothing \
             lost, stale, misplaced, torn or flipped."
        ),
    )
}

impl LoadRequest {
    /// The figures that the question gives.
    fn offer(&self) -> Offer {
        if let Question::Curve(options) = &self.question {
            return Offer::default().and_curve(options.levels.given(options.percentile));
        }
        let rows = OfferedRow::Only(TRIAL.into());
        let mut offer = Offer::default().and(rows, &trial_metrics());
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
                offer = offer.and(OfferedRow::Named(kind.into()), &trial_metrics());
            }
            rated.extend(kinds);
        }
        match self.bench.target.is_null() {
            true => offer,
            false => rated.into_iter().fold(offer, Offer::and_rated),
        }
    }
}

fn refuse_unwanted_writes(request: &LoadRequest, may_write: bool) -> Result<(), BenchError> {
    let writes = request.spec.mix.write > 0 || request.spec.mix.flush > 0;
    if !writes || may_write {
        return Ok(());
    }
    Err(BenchError::Usage(format!(
        "{} exists and is only written to with --overwrite; all data on it may then be \
         lost",
        request.bench.target
    )))
}

/// What the engine itself costs: no target, no file, no driver of the kernel's.
fn on_null(
    request: &LoadRequest,
    interrupt: &Interrupt,
    show: Show<'_>,
) -> Result<Run, BenchError> {
    let mut laboratory = NullLaboratory::new(request.bench.storage.seed);
    let size = request.bench.size.unwrap_or(SIZE_DEFAULT);
    let mut asker = Asker {
        request,
        interrupt,
        show,
        size,
        spread: None,
        measurements: Vec::new(),
        curve: None,
        spent: Duration::ZERO,
        verified: None,
    };
    let Question::Trial { .. } = request.question else {
        return Err(BenchError::Usage(
            "the null target has no load curve".into(),
        ));
    };
    let environment = environment::capture();
    let trial = asker.trial(Access::Null);
    let outcome = laboratory.measure(&trial, &mut |glimpse| asker.watch(&trial, glimpse, 0.0))?;
    let elapsed = laboratory.now();
    let status = match asker.check(&trial, outcome.failure) {
        Ok(()) => Status::Complete,
        Err(stop) => Status::Partial {
            reason: stop.reason(),
        },
    };
    let mut measurement = outcome.measurement;
    measurement.series = outcome.series;
    measurement.intervals = outcome.intervals;
    asker.measurements.push(measurement);
    let setup = asker.setup(&status);
    Ok(Run {
        status,
        elapsed_ns: elapsed.as_nanos(),
        measurements: asker.measurements,
        warnings: vec![Warning::note(
            WarningCode::NullTarget,
            "Nothing was read or written: the figures are Seekstone's own overhead.",
        )],
        ..Run::empty(setup, environment, null_description(size))
    })
}

/// The target that holds nothing.
pub(crate) fn null_description(size: Bytes) -> TargetDescription {
    TargetDescription {
        given: TargetName::Null.to_string(),
        path: TargetName::Null.to_string(),
        kind: results::environment::TargetKind::Simulated,
        size_bytes: (size > Bytes(0)).then_some(size.0),
        allocated_bytes: None,
        file_system: None,
        devices: Vec::new(),
        memory_backed: true,
        remote: false,
        raid: None,
    }
}

struct Asker<'a> {
    request: &'a LoadRequest,
    interrupt: &'a Interrupt,
    show: Show<'a>,
    size: Bytes,
    /// Whether several files make up that size.
    spread: Option<Spread>,
    measurements: Vec<Measurement>,
    curve: Option<Curve>,
    /// Time spent in trials that are over.
    spent: Duration,
    /// What was read back, and found to be right.
    verified: Option<Bytes>,
}

impl Asker<'_> {
    fn fill(&mut self, bench: &mut Bench, access: Access) -> Result<(), BenchError> {
        let Self {
            show, interrupt, ..
        } = self;
        self.size = make_test_file(
            bench,
            self.size,
            access,
            interrupt,
            &mut |title, glimpse| {
                show(&Stage::of_filling(title, glimpse));
            },
        )?;
        Ok(())
    }

    /// Read back what was written, after `asked` went well, and tell what is wrong with it.
    fn verify(&mut self, bench: &Bench, asked: Result<(), BenchError>) -> Result<(), BenchError> {
        let Self {
            show,
            interrupt,
            spent,
            verified,
            ..
        } = self;
        let read = asked.and_then(|()| {
            let read = bench.read_back(&mut |done, _| {
                show(&Stage {
                    title: "reading back what was written",
                    done,
                    elapsed: *spent,
                    left: Duration::ZERO,
                    glimpse: None,
                });
                interrupt.is_raised().is_none()
            });
            read.map_err(BenchError::from)
        });
        let findings = bench.findings();
        if findings.total() == 0 {
            let read = read?;
            stopped(interrupt).map_or(Ok(()), Err)?;
            *verified = (read > Bytes(0)).then_some(read);
            return Ok(());
        }
        if let Some(last) = self.measurements.last_mut() {
            last.warnings.push(wrong_data(&last.title, &findings));
        }
        Err(BenchError::WrongData(findings))
    }

    fn ask(&mut self, bench: &mut Bench, access: Access) -> Result<(), BenchError> {
        match &self.request.question {
            Question::Trial { .. } => {
                let trial = self.trial(access);
                bench.laboratory().follow(self.request.follower.clone());
                let measured = self.measure(bench, &trial, 0.0);
                bench.laboratory().follow(None);
                let mut outcome = measured?;
                outcome.measurement.series = outcome.series.take();
                outcome.measurement.intervals = std::mem::take(&mut outcome.intervals);
                let doubt = too_short(&outcome.measurement);
                outcome.measurement.warnings.extend(doubt);
                self.measurements.push(outcome.measurement.clone());
                self.measurements.extend(bench.take_rows());
                self.check(&trial, outcome.failure)?;
                self.ask_rates(bench, &trial)
            }
            Question::Curve(options) => self.ask_curve(bench, access, options.clone()),
        }
    }

    /// The same operations at each load that a goal names.
    fn ask_rates(&mut self, bench: &mut Bench, own: &Trial) -> Result<(), BenchError> {
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
            let outcome = self.measure(bench, &trial, 0.0)?;
            self.measurements.push(Measurement {
                is_for_goal: true,
                ..outcome.measurement
            });
            self.check(&trial, outcome.failure)?;
        }
        Ok(())
    }

    fn largest_block(&self) -> Bytes {
        let sizes = self.request.spec.sizes.iter();
        Bytes(sizes.map(|size| size.len.into()).max().unwrap_or(0))
    }

    fn ask_curve(
        &mut self,
        bench: &mut Bench,
        access: Access,
        options: CurveOptions,
    ) -> Result<(), BenchError> {
        let mut procedure = LoadCurve::new(options);
        let mut hosts = HostsAtPeak::default();
        while let CurveStep::Measure(plan) = procedure.next_step() {
            let begun = bench.laboratory().now();
            let driver = self.request.bench.storage.driver;
            let mut trial = self.trial(access);
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
            let outcome = self.measure(bench, &trial, procedure.progress())?;
            let elapsed = bench.laboratory().now().since(begun);
            self.spent += elapsed;
            procedure.record(&plan, &outcome.measurement, elapsed);
            hosts.see(&outcome.measurement, bench.take_rows());
            self.curve = procedure.found(&self.request.title);
            self.check(&trial, outcome.failure)?;
        }
        self.curve = procedure.found(&self.request.title);
        self.measurements.extend(procedure.failed().cloned());
        self.measurements.append(&mut hosts.rows);
        Ok(())
    }

    fn trial(&self, access: Access) -> Trial {
        let mut spec = self.request.spec.clone();
        spec.addresses.region.target = MAIN_DIRECT;
        spec.spread = self.spread;
        let files = self.spread.map_or(1, |it| u64::from(it.files));
        spec.addresses.region.len = self.size.0 / files;
        let mut trial = Trial {
            name: TRIAL.into(),
            title: self.request.title.clone(),
            spec: ClientSpec::Mix(spec),
            clients: 1,
            depth: 1,
            access,
            preparation: Preparation::None,
            goal: None,
            channel: Channel::Response,
            duration_max: Duration::ZERO,
            salt: 0,
            sample_every: None,
            limit: None,
            warm_up: None,
        };
        if let Question::Trial {
            clients,
            depth,
            goal,
            duration_max,
            sample_every,
            warm_up,
        } = self.request.question
        {
            // One budget for the trial and those at the loads that goals name.
            let shares = goal.map_or(1, |_| 1 + rates(&self.request.goals).len() as u64);
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

    fn measure(
        &mut self,
        bench: &mut Bench,
        trial: &Trial,
        done: f64,
    ) -> Result<Outcome, BenchError> {
        let measured = bench
            .laboratory()
            .measure(trial, &mut |glimpse| self.watch(trial, glimpse, done));
        // A trial that was cut off before its first operation has nothing to say.
        let mut outcome =
            measured.map_err(|error| stopped(self.interrupt).unwrap_or(error.into()))?;
        if let (Bench::Simulated(model), ClientSpec::Mix(spec)) = (&*bench, &trial.spec) {
            outcome.measurement.law = law(model.spec(), spec, trial.clients);
        }
        Ok(outcome)
    }

    fn watch(&mut self, trial: &Trial, glimpse: &Glimpse, done: f64) -> bool {
        (self.show)(&Stage {
            title: &trial.title,
            done: done.max(glimpse.elapsed.as_secs_f64() / trial.duration_max.as_secs_f64()),
            elapsed: self.spent + glimpse.elapsed,
            left: trial.duration_max.saturating_sub(glimpse.elapsed),
            glimpse: Some(glimpse),
        });
        self.interrupt.is_raised().is_none()
    }

    fn check(&self, trial: &Trial, failure: Option<TrialError>) -> Result<(), BenchError> {
        let is_stopped = failure.is_some() || self.interrupt.is_raised().is_some();
        if is_stopped {
            Err(stop_of(&trial.title, failure, self.interrupt))
        } else {
            Ok(())
        }
    }

    fn setup(&self, status: &Status) -> Setup {
        let mut setup = self.request.bench.resolved(self.size);
        match &self.request.question {
            Question::Trial { depth, .. } => setup.resolve("depth", [depth.to_string()]),
            Question::Curve(_) => resolve_levels(&mut setup, status, self.curve.as_ref()),
        }
        setup
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
        Warning::doubt(
            WarningCode::NotCitable,
            format!(
                "{}: only {} in the requested time; do not quote the number.",
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
