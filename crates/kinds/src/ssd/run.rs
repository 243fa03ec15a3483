//! Runs `ssd`: from a target's name to a [`Run`] with the steady state of its tests.

use drivers::PurgeMethod;
use procedure::{
    CheckUpFacts, Ending, SsdOptions, SsdPhasePlan, SsdPlace, SsdProcedure, SsdTest, Trial,
    ssd_findings, ssd_sayings, ssd_warnings,
};
use results::{
    PurgeRecord, Run, Setup, SsdPhase, SsdTests, Status, TargetDescription, Warning, WarningCode,
};
use stats::Estimate;
use units::Bytes;
use workload::ClientSpec;

use crate::random_access::is_silence;
use crate::stage::{Show, Stage};
use host::environment;
use host::interrupt::Interrupt;
use lab::bench::{Bench, BenchError, BenchRequest, Opened, open_bench};
use lab::laboratory::{Glimpse, Laboratory as _, Outcome};
use lab::simulated::law;
use lab::test_file::{fill_test_file, stop_of, stopped};

use super::checks::{self, purge_of, refuse_impossible, size_of};

/// What is asked for, as resolved from the command line.
#[derive(Clone, Debug)]
pub struct SsdRequest {
    /// What is measured, and what may be done to it.
    pub bench: BenchRequest,
    /// The tests, in their order.
    pub tests: Vec<SsdTest>,
    /// Operations outstanding where the standard leaves that open.
    pub depth: u32,
    /// How rounds are measured, and when there are enough.
    pub options: SsdOptions,
    /// How often all is written before the first round; as the test has it when absent.
    pub precondition: Option<u32>,
    /// How earlier writes are forgotten, if at all.
    pub purge: Option<PurgeMethod>,
}

/// Bring an SSD to its steady state, and measure it there.
///
/// # Errors
/// When nothing could be measured. What was measured before something went wrong is a partial run.
pub fn measure_ssd(
    request: &SsdRequest,
    interrupt: &Interrupt,
    show: Show<'_>,
) -> Result<Run, BenchError> {
    checks::refuse_unwritable(request)?;
    let Opened {
        mut bench,
        description,
        cautions,
        facts,
    } = open_bench(&request.bench)?;
    bench.serve(interrupt)?;
    let remote = description.remote;
    let mut session = match Session::new(request, interrupt, show, (&bench, &description), &facts) {
        Ok(session) => session,
        Err(error) => return Err(bench.abandon(error)),
    };
    session.know_hosts(&bench, remote);
    let environment = environment::capture();
    let begun = bench.laboratory().now();
    let measured = session.measure_all(&mut bench);
    let elapsed = bench.laboratory().now().since(begun);
    let found = &mut session.found;
    found.phases.retain(|phase| !phase.rounds.is_empty());
    let status = match measured {
        Ok(()) => Status::Complete,
        Err(stop) if found.phases.is_empty() => return Err(bench.abandon(stop)),
        Err(stop) => Status::Partial {
            reason: stop.reason(),
        },
    };
    let mut warnings = bench.warnings(&cautions);
    warnings.append(&mut session.warnings);
    warnings.extend(bench.clean_up());
    let mut found = session.found;
    let sized = found.clone();
    for phase in &mut found.phases {
        phase.warnings.extend(ssd_warnings(phase, &sized));
    }
    let setup = resolved(request, session.place.size);
    Ok(Run {
        status,
        elapsed_ns: elapsed.as_nanos(),
        findings: ssd_findings(&found),
        tables: found.tables(ssd_sayings(&found)),
        row_warnings: found.row_warnings(),
        warnings,
        ..Run::empty(setup, environment, description)
    })
}

fn resolved(request: &SsdRequest, size: u64) -> Setup {
    let mut setup = request.bench.resolved(Bytes(size));
    let most = request.options.time.most();
    setup.resolve("round", [most.to_exact_string()]);
    setup
}

struct Session<'a> {
    request: &'a SsdRequest,
    interrupt: &'a Interrupt,
    show: Show<'a>,
    place: SsdPlace,
    /// Whether the test file is made here.
    makes_file: bool,
    plans: Vec<SsdPhasePlan>,
    found: SsdTests,
    warnings: Vec<Warning>,
}

impl<'a> Session<'a> {
    /// Everything that can be refused is refused here, before anything is written.
    fn new(
        request: &'a SsdRequest,
        interrupt: &'a Interrupt,
        show: Show<'a>,
        (bench, target): (&Bench, &TargetDescription),
        facts: &CheckUpFacts,
    ) -> Result<Self, BenchError> {
        purge_of(request, bench)?;
        let size = size_of(request, facts)?;
        let unit = bench.unit();
        let tests = request.tests.iter();
        let all: Vec<SsdPhasePlan> = tests.flat_map(|it| it.phases(request.depth)).collect();
        let plans = all.iter().cloned().map(|plan| plan.without_smaller(unit));
        let plans: Vec<SsdPhasePlan> = plans.collect();
        refuse_impossible(&plans, size, unit)?;
        let mut warnings = checks::cautions(request, target, facts);
        if plans
            .iter()
            .zip(&all)
            .any(|(kept, all)| kept.loads.len() < all.loads.len())
        {
            let text = format!(
                "Blocks smaller than {unit} bytes were left out: direct I/O cannot move them here."
            );
            warnings.push(Warning::note(WarningCode::SsdBlocksLeftOut, text));
        }
        let time = request.options.time;
        Ok(Self {
            request,
            interrupt,
            show,
            place: SsdPlace::alone(size, facts.access),
            makes_file: facts.makes_files,
            plans,
            found: SsdTests {
                size_bytes: size,
                is_quick: time.is_quick(),
                round_ns: time.most().as_nanos(),
                trend_limit: request.options.trend_limit,
                phases: Vec::new(),
            },
            warnings,
        })
    }

    /// Where several hosts measure, what each writes counts, and what they write it to.
    fn know_hosts(&mut self, bench: &Bench, remote: bool) {
        let Some(party) = bench.party() else { return };
        let machines = party.machines().len() as u32;
        self.place.hosts = party.share().ranks;
        self.place.shares = match party.is_shared() && !self.makes_file {
            false => self.place.hosts,
            true if remote => 1,
            true => machines,
        };
        self.found.size_bytes = self.place.all();
    }

    fn measure_all(&mut self, bench: &mut Bench) -> Result<(), BenchError> {
        let mut filled = None;
        if self.makes_file {
            filled = self.fill(bench)?;
        }
        for (number, plan) in self.plans.clone().into_iter().enumerate() {
            let number = number as u64;
            let purge = self.purge(bench, &plan, number)?;
            let (bytes, rate) = self.precondition(bench, &plan, number, filled.take())?;
            let mut procedure = SsdProcedure::new(
                plan.clone(),
                self.request.options,
                self.place,
                (number, bytes),
            );
            let measured = self.rounds(bench, &plan, &mut procedure);
            let mut phase = phase_of(&plan, &procedure);
            phase.purge = purge;
            (phase.precondition_bytes, phase.precondition_rate) = (bytes, rate);
            phase.law = self.law(bench, &plan, &procedure);
            self.found.phases.push(phase);
            measured?;
        }
        Ok(())
    }

    /// Make the test file and write it; returns the rate.
    fn fill(&mut self, bench: &mut Bench) -> Result<Option<Estimate>, BenchError> {
        let show = &mut self.show;
        let mut shown = |title: &str, glimpse: &Glimpse| {
            show(&Stage::of_filling(title, glimpse));
        };
        let size = Bytes(self.place.size);
        let access = self.place.access;
        let filled = fill_test_file(bench, size, access, self.interrupt, &mut shown)?;
        // Blocks of 512 bytes are no blocks that could be recognised.
        bench.read_unchecked()?;
        settle(bench)?;
        Ok(filled.writing.bandwidth)
    }

    /// Forget earlier writes, unless that was done before the program was killed.
    fn purge(
        &mut self,
        bench: &mut Bench,
        plan: &SsdPhasePlan,
        number: u64,
    ) -> Result<Option<PurgeRecord>, BenchError> {
        let of = format!("ssd purge {number} {}", plan.name);
        if let Bench::Told(..) = bench {
            return Ok(self.request.bench.cells.told(&of));
        }
        let (Some(method), Bench::Real(real)) = (self.request.purge, bench) else {
            return Ok(None);
        };
        let interrupt = self.interrupt;
        let record = self.request.bench.cells.result(&of, || {
            let begun = real.now();
            let mut go_on = || interrupt.is_raised().is_none();
            let read_back = real.purge(method, &mut go_on)?;
            let Some(read_back) = read_back else {
                return Err(stop_of("purging", None, interrupt));
            };
            Ok(PurgeRecord {
                method: method.name().into(),
                took_ns: real.now().since(begun).as_nanos(),
                sampled: read_back.sampled,
                zero: read_back.zero,
            })
        })?;
        if record.zero < record.sampled {
            let text = format!(
                "{}: after the {} {} of {} blocks read back held something else than zeroes. The \
                 device need not return zeroes; whether it forgot is not proven.",
                plan.name,
                record.method,
                record.sampled - record.zero,
                record.sampled
            );
            self.warnings
                .push(Warning::doubt(WarningCode::SsdPurgeUnproven, text));
        }
        Ok(Some(record))
    }

    /// Write all as often as the test has it; returns the bytes and the rate. A test file that was
    /// just filled was written once.
    fn precondition(
        &mut self,
        bench: &mut Bench,
        plan: &SsdPhasePlan,
        number: u64,
        filled: Option<Estimate>,
    ) -> Result<(u64, Option<Estimate>), BenchError> {
        let mut wanted = self.request.precondition.unwrap_or(plan.precondition);
        // A file that was punched out has no blocks: writes would measure how they are allocated.
        if self.request.purge == Some(PurgeMethod::Punch) {
            wanted = wanted.max(1);
        }
        let done = u32::from(filled.is_some());
        let passes = wanted.saturating_sub(done);
        let bytes = self.place.written_in(passes + done);
        if passes == 0 {
            return Ok((bytes, filled));
        }
        let trial = plan.precondition_trial(self.place, passes, number);
        let outcome = self.measure(bench, &trial, 0.0, Leaves::Content)?;
        settle(bench)?;
        Ok((bytes, outcome.measurement.bandwidth))
    }

    fn rounds(
        &mut self,
        bench: &mut Bench,
        plan: &SsdPhasePlan,
        procedure: &mut SsdProcedure,
    ) -> Result<(), BenchError> {
        while let Some(step) = procedure.next_step() {
            let mut trial = step.trial.clone();
            let what = &step.trial.title;
            trial.title = format!("{}, round {}: {what}", plan.name, step.round);
            let begun = bench.laboratory().now();
            let outcome = self.measure(bench, &trial, procedure.share_done(), Leaves::Nothing)?;
            let took = bench.laboratory().now().since(begun);
            procedure.record(&step, &outcome.measurement, took);
        }
        Ok(())
    }

    /// One trial, to its end.
    fn measure(
        &mut self,
        bench: &mut Bench,
        trial: &Trial,
        done: f64,
        leaves: Leaves,
    ) -> Result<Outcome, BenchError> {
        let (interrupt, show) = (self.interrupt, &mut self.show);
        let mut watch = |glimpse: &Glimpse| {
            show(&Stage {
                title: &trial.title,
                done,
                elapsed: glimpse.elapsed,
                left: trial.duration_max.saturating_sub(glimpse.elapsed),
                glimpse: Some(glimpse),
            });
            interrupt.is_raised().is_none()
        };
        // The file of a directory is a new one when the run goes on.
        let mut laboratory = match (leaves, self.makes_file) {
            (Leaves::Content, true) => bench.laboratory_that_leaves(),
            _ => bench.laboratory_of_each(),
        };
        let measured = laboratory.measure(trial, &mut watch);
        let outcome = measured.map_err(|error| stopped(interrupt).unwrap_or(error.into()));
        let outcome = outcome.map_err(|error| match is_silence(&error) {
            true => BenchError::Refused(format!(
                "{error}; a round needs operations that end within it: give a longer --round"
            )),
            false => error,
        })?;
        let is_cut = matches!(outcome.ending, Ending::Interrupted | Ending::Failed);
        if is_cut || outcome.failure.is_some() {
            return Err(stop_of(&trial.title, outcome.failure, interrupt));
        }
        Ok(outcome)
    }

    /// What a model's law says of the load that is followed.
    fn law(
        &self,
        bench: &Bench,
        plan: &SsdPhasePlan,
        procedure: &SsdProcedure,
    ) -> Option<results::SteadyLaw> {
        let Bench::Simulated(model) = bench else {
            return None;
        };
        let is_whole = self.place.size == model.spec().size.0;
        let trial = procedure.tracked_trial();
        let ClientSpec::Mix(mix) = &trial.spec else {
            return None;
        };
        match law(model.spec(), mix, plan.tracked().depth)? {
            results::Law::Steady(law) if is_whole => Some(law),
            _ => None,
        }
    }
}

/// What a trial leaves behind for later ones.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaves {
    /// Content that fills the target.
    Content,
    /// Nothing that a round needs.
    Nothing,
}

fn phase_of(plan: &SsdPhasePlan, procedure: &SsdProcedure) -> SsdPhase {
    let (steady_round, pts_round) = procedure.verdicts();
    SsdPhase {
        name: plan.name.into(),
        title: plan.title.clone(),
        tracked: plan.tracked,
        tracked_load: plan.tracked(),
        stride: procedure.stride(),
        purge: None,
        precondition_bytes: 0,
        precondition_rate: None,
        rounds: procedure.rounds().to_vec(),
        steady_round,
        pts_round,
        cells: procedure.cells(),
        law: None,
        warnings: Vec::new(),
    }
}

/// Let the storage finish what was written, so that no later load waits for it.
fn settle(bench: &mut Bench) -> Result<(), BenchError> {
    Ok(bench.settle()?)
}
