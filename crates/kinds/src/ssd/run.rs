//! Runs `ssd`: from a target's name to a [`Run`] with the steady state of its tests.

use drivers::PurgeMethod;
use procedure::{
    Ending, Plan as _, SsdOptions, SsdPhasePlan, SsdPlace, SsdProcedure, SsdSegmentPlan,
    SsdSegmentProcedure, SsdTest, Trial, ssd_findings, ssd_sayings, ssd_segments_saying,
    ssd_warnings, time_needed,
};
use results::{
    DeviceHealth, PurgeRecord, Run, SSD_SEGMENTS, Setup, SsdPhase, SsdTests, Status, Warning,
    WarningCode,
};
use stats::Estimate;
use units::{Bytes, Duration, Instant, format_duration_ns};
use workload::ClientSpec;

use crate::random_access::is_silence;
use crate::session::{self, MeasurementPlan, Result, Session, TrialProgress};
use crate::stage::{RunPlan, Show};
use host::device_state::device_health;
use host::inspect::SystemRoots;
use host::interrupt::Interrupt;
use lab::bench::{Bench, BenchError, BenchRequest, HostReach};
use lab::hosts::TargetSharing;
use lab::laboratory::{Laboratory as _, Outcome};
use lab::simulated::law;
use lab::test_file::stop_of;

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
    /// Whether the volatile cache of the drive is switched off meanwhile.
    pub cache_off: bool,
}

/// Bring an SSD to its steady state, and measure it there.
///
/// # Errors
/// When nothing could be measured. What was measured before something went wrong is a partial run.
pub fn measure_ssd(request: &SsdRequest, interrupt: &Interrupt, show: Show<'_>) -> Result<Run> {
    checks::refuse_unwritable(request)?;
    session::run(&request.bench, interrupt, show, |session| {
        SsdPlan::new(request, session)
    })
}

/// Share of the time of a test that its rounds have: at least, and where something follows them.
pub(super) const ROUNDS_SHARE: f64 = 0.4;

struct SsdPlan<'a> {
    request: &'a SsdRequest,
    place: SsdPlace,
    plans: Vec<SsdPhasePlan>,
    /// The whole drive that the target is, or is on, where there is one.
    drive: Option<String>,
    found: SsdTests,
}

impl MeasurementPlan for SsdPlan<'_> {
    type Outcome = Run;

    fn plan(&self, session: &Session<'_>) -> RunPlan {
        let filling = session.facts.makes_files.then_some(("fill", None));
        let tests = [("write before each test", None), ("rounds", None)];
        let segments = self.plans.iter().filter(|it| !it.segments.is_empty());
        let segments = segments.map(|it| (it.name, Some(self.segments_time(it))));
        let budget = self.request.options.budget;
        let is_given = session.request.setup.is_given("budget");
        RunPlan {
            phases: filling.into_iter().chain(tests).chain(segments).collect(),
            budget: is_given.then_some(budget),
        }
    }

    fn carry_out(&mut self, session: &mut Session<'_>) -> Result<()> {
        let roots = SystemRoots::default();
        let cache = self.drive.clone().filter(|_| self.request.cache_off);
        let cache = cache
            .map(|drive| checks::cache_off(&roots, &drive))
            .transpose()?;
        let measured = self.measure_all(session);
        drop(cache);
        session.size = Bytes(self.place.size);
        self.found.phases.retain(|phase| !phase.is_empty());
        measured
    }

    fn is_empty(&self, _: &Session<'_>) -> bool {
        self.found.phases.is_empty()
    }

    fn resolve(&self, setup: &mut Setup, _: &Status) {
        let most = self.request.options.time.most();
        setup.resolve("round", [most.to_exact_string()]);
    }

    fn complete(self, run: Run) -> Run {
        let mut found = self.found;
        let sized = found.clone();
        for phase in &mut found.phases {
            phase.warnings.extend(ssd_warnings(phase, &sized));
        }
        let mut tables = found.tables(ssd_sayings(&found));
        let segments = tables.iter_mut().filter(|it| it.name == SSD_SEGMENTS);
        segments.for_each(|it| it.says = ssd_segments_saying(&found));
        Run {
            findings: ssd_findings(&found),
            tables,
            row_warnings: found.row_warnings(),
            ..run
        }
    }
}

impl<'a> SsdPlan<'a> {
    /// Everything that can be refused is refused here, before anything is written.
    fn new(request: &'a SsdRequest, session: &mut Session<'a>) -> Result<Self> {
        let facts = &session.facts;
        purge_of(request, &session.bench)?;
        let size = size_of(request, facts)?;
        let unit = session.bench.unit();
        let tests = request.tests.iter();
        let all: Vec<SsdPhasePlan> = tests.flat_map(|it| it.phases(request.depth)).collect();
        let plans = all.iter().cloned().map(|plan| plan.without_smaller(unit));
        let plans: Vec<SsdPhasePlan> = plans.collect();
        refuse_impossible(&plans, size, unit)?;
        checks::refuse_short(request, &plans)?;
        let mut warnings = checks::cautions(request, &session.target, facts);
        if plans
            .iter()
            .zip(&all)
            .any(|(kept, all)| kept.loads.len() < all.loads.len())
        {
            let text = format!(
                "Blocks smaller than {unit} bytes were left out: direct I/O cannot move them here."
            );
            warnings.push(Warning::info(WarningCode::SsdBlocksLeftOut, text));
        }
        let place = place_of(session, size);
        let drive = checks::drive_of(request, &session.target)?;
        session.size = Bytes(size);
        session.warnings.append(&mut warnings);
        let time = request.options.time;
        Ok(Self {
            request,
            plans,
            drive,
            found: SsdTests {
                size_bytes: place.all(),
                is_quick: time.is_quick(),
                round_ns: time.most().as_nanos(),
                trend_limit: request.options.trend_limit,
                write_cache: checks::write_cache(request, &session.target),
                phases: Vec::new(),
            },
            place,
        })
    }

    fn measure_all(&mut self, session: &mut Session<'_>) -> Result<()> {
        let mut filled = None;
        let budget = self.request.options.budget;
        let budget = Some(budget).filter(|_| session.request.setup.is_given("budget"));
        let mut tests = self.plans.len() as u64;
        if let Some(writing) = session.fill(budget.map(|it| it / tests))? {
            if session.size.0 < self.place.size {
                refuse_impossible(&self.plans, session.size.0, session.bench.unit())?;
                self.place = place_of(session, session.size.0);
                self.found.size_bytes = self.place.all();
            }
            // Blocks of 512 bytes are no blocks that could be recognised.
            session.bench.read_unchecked()?;
            session.settle()?;
            filled = writing.bandwidth;
        }
        for (number, plan) in self.plans.clone().into_iter().enumerate() {
            let number = number as u64;
            let share = budget.map(|it| it.saturating_sub(session.elapsed()) / tests);
            tests -= 1;
            let begun = session.now();
            let purge = self.purge(session, &plan, number)?;
            let filled = filled.take();
            let (bytes, rate) = self.precondition(session, &plan, (number, share), filled)?;
            let took = session.now().since(begun);
            let left = share.map(|it| it.saturating_sub(took));
            // What follows the rounds has its part of the time.
            let part = rounds_part(&plan);
            let of_rounds = left.map(|it| it.mul_f64(part));
            let quick = self.request.options.budget.mul_f64(part);
            let mut procedure = SsdProcedure::new(
                plan.clone(),
                SsdOptions {
                    budget: of_rounds.unwrap_or(match self.is_scaled() {
                        true => quick,
                        false => self.request.options.budget,
                    }),
                    ..self.request.options
                },
                self.place,
                (number, bytes),
            );
            let before = self.health();
            let measured = self.rounds(session, &plan, (number, &mut procedure), of_rounds);
            let mut phase = phase_of(&plan, &procedure);
            phase.purge = purge;
            (phase.precondition_bytes, phase.precondition_rate) = (bytes, rate);
            phase.law = self.law(&session.bench, &plan, &procedure);
            let measured = measured.and_then(|()| {
                let left = share.map(|it| it.saturating_sub(session.now().since(begun)));
                self.segments(session, &plan, (number, left), &mut phase)
            });
            phase.health = [before, self.health()];
            self.found.phases.push(phase);
            measured?;
        }
        Ok(())
    }

    /// What the drive says of itself.
    fn health(&self) -> Option<DeviceHealth> {
        device_health(&SystemRoots::default(), self.drive.as_ref()?)
    }

    /// Whether what follows the rounds has less time than by the standard.
    fn is_scaled(&self) -> bool {
        let request = self.request;
        request.options.time.is_quick() || request.bench.setup.is_given("budget")
    }

    /// The time of what follows the rounds of a test.
    fn segments_time(&self, plan: &SsdPhasePlan) -> Duration {
        let whole = whole_time(&plan.segments, self.request.options.scale);
        let budget = self.request.options.budget;
        // One that is given is of all tests together.
        let each = match self.request.bench.setup.is_given("budget") {
            true => budget / self.plans.len() as u64,
            false => budget,
        };
        let part = if plan.has_rounds {
            1.0 - ROUNDS_SHARE
        } else {
            1.0
        };
        match self.is_scaled() {
            true => whole.min(each.mul_f64(part)),
            false => whole,
        }
    }

    /// What follows the rounds of a test: as many of the bursts as there is time for.
    fn segments(
        &self,
        session: &mut Session<'_>,
        plan: &SsdPhasePlan,
        (number, left): (u64, Option<Duration>),
        phase: &mut SsdPhase,
    ) -> Result<()> {
        let options = &self.request.options;
        let whole = whole_time(&plan.segments, options.scale);
        let time = left.unwrap_or_else(|| self.segments_time(plan));
        let share = match whole > time {
            true => time.as_secs_f64() / whole.as_secs_f64(),
            false => 1.0,
        };
        let begun = session.now();
        for (place, segment) in (0..).zip(&plan.segments) {
            let Some(load) = segment.load(&phase.cells) else {
                continue;
            };
            // One burst that is cut is as long as its share.
            let scale = match segment.bursts {
                1 => options.scale * share,
                _ => options.scale,
            };
            let mut procedure = SsdSegmentProcedure::new(
                (segment, load, scale),
                self.place,
                (plan.name, (number, place)),
                share,
            );
            let measured = self.bursts(session, (plan, number), (segment, &mut procedure), begun);
            phase.segments.extend(procedure.segment());
            measured?;
        }
        Ok(())
    }

    /// The bursts of a segment, with its pauses.
    fn bursts(
        &self,
        session: &mut Session<'_>,
        (plan, number): (&SsdPhasePlan, u64),
        (segment, procedure): (&SsdSegmentPlan, &mut SsdSegmentProcedure),
        begun: Instant,
    ) -> Result<()> {
        let (part, time) = (rounds_part(plan), self.segments_time(plan));
        while let Some((mut trial, pause)) = procedure.next_step() {
            let spent = session.now().since(begun);
            let share = spent.as_secs_f64() / time.as_secs_f64();
            let done = part + (1.0 - part) * share.min(1.0);
            let rest = Some(time.saturating_sub(spent));
            trial.title = format!("{}, {}: {}", plan.name, segment.name, trial.title);
            if pause > Duration::ZERO {
                // The same title: a log has one line for all of a segment.
                let standing = self.standing(session, (number, done), rest);
                let of = format!("pause {}", trial.name);
                session.pause(pause, (&trial.title, standing), &of)?;
            }
            let rest = rest.map(|it| it.saturating_sub(pause));
            let standing = self.standing(session, (number, done), rest);
            let outcome = measure(session, &trial, standing, HostReach::Each)?;
            procedure.record(&outcome.measurement, session.now().since(begun));
        }
        Ok(())
    }

    /// How far the run is where that share of a test is done and the rest of it takes so long.
    fn standing(
        &self,
        session: &mut Session<'_>,
        (number, share): (u64, f64),
        rest: Option<Duration>,
    ) -> TrialProgress {
        let tests = self.plans.len() as u64;
        let elapsed = session.elapsed();
        let budget = self.request.options.budget.saturating_sub(elapsed);
        let is_given = session.request.setup.is_given("budget");
        TrialProgress {
            done: (number as f64 + share) / tests as f64,
            elapsed,
            left: match is_given {
                true => Some(budget),
                false => rest.filter(|_| number + 1 == tests),
            },
        }
    }

    /// Forget earlier writes, unless that was done before the program was killed.
    fn purge(
        &self,
        session: &mut Session<'_>,
        plan: &SsdPhasePlan,
        number: u64,
    ) -> Result<Option<PurgeRecord>> {
        let of = format!("ssd purge {number} {}", plan.name);
        let (cells, interrupt) = (&self.request.bench.cells, session.interrupt);
        if let Bench::Replayed(..) = session.bench {
            return Ok(cells.replay(&of));
        }
        let (Some(method), Bench::Real(real)) = (self.request.purge, &mut session.bench) else {
            return Ok(None);
        };
        let record = cells.result(&of, || {
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
                 device need not return zeroes. Whether it forgot is not proven.",
                plan.name,
                record.method,
                record.sampled - record.zero,
                record.sampled
            );
            let doubt = Warning::warn(WarningCode::SsdPurgeUnproven, text);
            session.warnings.push(doubt);
        }
        Ok(Some(record))
    }

    /// Write all as often as the test has it; returns the bytes and the rate. A test file that was
    /// just filled was written once.
    fn precondition(
        &self,
        session: &mut Session<'_>,
        plan: &SsdPhasePlan,
        (number, share): (u64, Option<Duration>),
        filled: Option<Estimate>,
    ) -> Result<(u64, Option<Estimate>)> {
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
        let mut trial = plan.precondition_trial(self.place, passes, number);
        let written = self.place.written_in(passes) as f64;
        if let (Some(share), Some(rate)) = (share, filled)
            && written / rate.value > share.as_secs_f64()
        {
            return Err(self.too_long(share, passes, rate.value));
        }
        trial.duration_max = share.unwrap_or(trial.duration_max);
        // The file of a directory is a new one when the run goes on.
        let reach = match session.facts.makes_files {
            true => HostReach::Leaving,
            false => HostReach::Each,
        };
        let standing = self.standing(session, (number, 0.0), None);
        let outcome = measure(session, &trial, standing, reach)?;
        if let (Ending::Budget, Some(share)) = (outcome.ending, share) {
            let rate = outcome.measurement.bandwidth.map_or(1.0, |it| it.value);
            return Err(self.too_long(share, passes, rate));
        }
        session.settle()?;
        Ok((bytes, outcome.measurement.bandwidth))
    }

    /// Writing all so often at that rate leaves no time of a test for its rounds.
    fn too_long(&self, share: Duration, passes: u32, rate: f64) -> BenchError {
        let bytes = self.place.written_in(passes);
        let takes = bytes as f64 / rate;
        let budget = self.request.options.budget;
        let times = takes / share.as_secs_f64() / (1.0 - ROUNDS_SHARE);
        BenchError::Usage(format!(
            "--budget {budget}: writing {} before the first round takes {} at {}/s. Use --budget \
             {:.0}s, or a smaller --size",
            Bytes(bytes),
            format_duration_ns(takes * 1e9),
            Bytes(rate as u64),
            (budget.as_secs_f64() * times).ceil()
        ))
    }

    /// All rounds of a test, in the time that is `left` where a budget was asked for.
    fn rounds(
        &self,
        session: &mut Session<'_>,
        plan: &SsdPhasePlan,
        (number, procedure): (u64, &mut SsdProcedure),
        left: Option<Duration>,
    ) -> Result<()> {
        let (first, mut done) = (session.now(), 0.0);
        let part = rounds_part(plan);
        while let Some(step) = procedure.next_step() {
            let mut trial = step.trial.clone();
            let what = &step.trial.title;
            trial.title = format!("{}, round {}: {what}", plan.name, step.round);
            let rest = procedure.time_left() + self.segments_time(plan);
            let done_part = part * procedure.share_done();
            let standing = self.standing(session, (number, done_part), Some(rest));
            let begun = session.now();
            let outcome = measure(session, &trial, standing, HostReach::Each)?;
            let now = session.now();
            procedure.record(&step, &outcome.measurement, now.since(begun));
            done += 1.0 / plan.loads.len() as f64;
            let needed = left.filter(|_| step.round == 1 && done < 1.0);
            let needed = needed.and_then(|left| time_needed(left, (done, now.since(first)), 1));
            if let (Some(needed), Some(left)) = (needed, left) {
                let missing = needed.saturating_sub(left) * self.plans.len() as u64;
                let budget = self.request.options.budget;
                return Err(BenchError::Usage(format!(
                    "--budget {budget}: a round of {} takes about {needed} here. Use --budget \
                     {:.0}s, or a shorter --round",
                    plan.name,
                    (budget + missing).as_secs_f64().ceil()
                )));
            }
        }
        Ok(())
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

/// Share of the time of a test that its rounds have.
fn rounds_part(plan: &SsdPhasePlan) -> f64 {
    match plan.segments.is_empty() {
        true => 1.0,
        false => ROUNDS_SHARE,
    }
}

/// Time of all bursts by the standard.
fn whole_time(segments: &[SsdSegmentPlan], scale: f64) -> Duration {
    let times = segments.iter().map(|it| it.time(scale));
    times.fold(Duration::ZERO, |sum, time| sum + time)
}

/// What each host writes counts, and what they write it to.
fn place_of(session: &Session<'_>, size: u64) -> SsdPlace {
    let mut place = SsdPlace::alone(size, session.facts.access);
    if let Some(ranks) = session.bench.ranks() {
        let machines = ranks.machines().len() as u32;
        place.hosts = ranks.share().ranks;
        place.shares = match ranks.sharing() == TargetSharing::Shared && !session.facts.makes_files
        {
            false => place.hosts,
            true if session.target.remote => 1,
            true => machines,
        };
    }
    place
}

/// One trial, to its end, begun where the run stands so.
fn measure(
    session: &mut Session<'_>,
    trial: &Trial,
    standing: TrialProgress,
    reach: HostReach,
) -> Result<Outcome> {
    let measured = session.measure(trial, &trial.title, reach, |glimpse| TrialProgress {
        done: standing.done,
        elapsed: standing.elapsed + glimpse.elapsed,
        left: standing.left.map(|it| it.saturating_sub(glimpse.elapsed)),
    });
    let outcome = measured.map_err(|error| match is_silence(&error) {
        true => BenchError::Refused(format!(
            "{error}. A round needs operations that end within it. Give a longer --round"
        )),
        false => error,
    })?;
    let is_cut = matches!(outcome.ending, Ending::Interrupted | Ending::Failed);
    if is_cut || outcome.failure.is_some() {
        return Err(stop_of(&trial.title, outcome.failure, session.interrupt));
    }
    Ok(outcome)
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
        health: [None; 2],
        segments: Vec::new(),
        law: None,
        warnings: Vec::new(),
    }
}
