//! Runs `replay`: from a trace and a target's name to a [`Run`] that tells how the target took what
//! another storage was asked for.
//!
//! The trace is read twice: once to know what it asks for, before anything is written, and once for
//! the replay, ahead of it. It is never loaded.

use std::sync::{Arc, Mutex, PoisonError};

use host::interrupt::Interrupt;
use lab::bench::{Bench, BenchError, BenchRequest, HostReach, open_bench};
use lab::cells::Killed;
use lab::laboratory::Outcome;
use lab::test_file::{stop_of, whole_size};
use procedure::{Ending, MAIN_DIRECT, Trial};
use results::{Access, Replay, ReplayHost, ReplayPace, Run, Setup, Status};
use units::{Bytes, Duration, format_counted};
use workload::{ClientSpec, OwnCounts, OwnSpec};

use crate::depth::open_depth;
use crate::session::{MeasurementPlan, Result, Session, TrialProgress};
use crate::stage::{RunPlan, Show, Stage};

use super::client::{MakeReplay, ReplayCounts};
use super::dealing::Dealing;
use super::doubts;
use super::file::TraceFile;
use super::fitting::{BeyondEnd, Fitting};
use super::hosts::{self, Parts};
use super::scan::{Scan, TraceLayout};
use super::source::{RequestSource, WhenEmpty};

/// The kind, and its one trial.
pub(super) const KIND: &str = "replay";
/// A replay that is slower than its trace goes on for this long at most.
const DURATION_MAX: Duration = Duration::from_secs(30 * 24 * 3600);
/// A trace is taken to last at least this long when its rate is asked for, seconds.
const SECONDS_MIN: f64 = 1e-3;
/// A test file is made larger by this until it holds the trace.
const SIZE_STEP: u64 = 4 << 20;

/// What is asked for, as resolved from the command line.
#[derive(Clone, Debug)]
pub struct ReplayRequest {
    /// What is measured, and what may be done to it.
    pub bench: BenchRequest,
    /// What is replayed.
    pub trace: TraceFile,
    /// When requests are due.
    pub pace: ReplayPace,
    /// Requests outstanding at the target at most, of all hosts; chosen from the trace's rate when
    /// absent.
    pub depth: Option<u32>,
    /// What becomes of requests beyond the target's end.
    pub fit: BeyondEnd,
    /// When to stop before the trace's end.
    pub duration: Option<Duration>,
}

/// Replay a trace.
///
/// # Errors
/// When nothing could be measured. What was measured before something went wrong is a partial run.
pub fn measure_replay(
    request: &ReplayRequest,
    interrupt: &Interrupt,
    show: Show<'_>,
) -> Result<Run> {
    show(&Stage {
        title: "reading the trace",
        ..Stage::default()
    });
    let ranks = request.bench.ranks.as_ref();
    let (scan, dealing) = hosts::scan_on_all(ranks, request, interrupt)?;
    let opened = open_bench(&request.bench)?;
    let mut session = Session::new(opened, &request.bench, interrupt, show);
    let mut plan = ReplayPlan {
        request,
        scan,
        dealing,
        size: 0,
        found: None,
        replayed: Duration::ZERO,
    };
    let listed = match plan.prepare(&session) {
        Ok((size, listed)) => {
            plan.size = size;
            listed
        }
        Err(error) => return Err(session.bench.abandon(error)),
    };
    session.bench.serve_listed(listed.as_slice(), interrupt)?;
    session.carry_out(plan)
}

struct ReplayPlan<'a> {
    request: &'a ReplayRequest,
    scan: Scan,
    dealing: Dealing,
    /// Bytes of the target that are used: of a directory, those of the test file to be made.
    size: u64,
    /// What came of it, with the generator's own delay, nanoseconds.
    found: Option<(Replay, f64)>,
    /// How long the replay took that was kept from before a kill; zero where it was measured now.
    replayed: Duration,
}

impl MeasurementPlan for ReplayPlan<'_> {
    type Outcome = Run;

    fn plan(&self, session: &Session<'_>) -> RunPlan {
        session.filled_plan(None, ("replay", self.expected()))
    }

    fn carry_out(&mut self, session: &mut Session<'_>) -> Result<()> {
        session.size = Bytes(self.size);
        if session.fill(None)?.is_some() {
            session.settle()?;
        }
        session.size = Bytes(self.size);
        let (outcome, mut seen, parts) = self.replay(session)?;
        let broken = seen.broken.take();
        let found = self.found(&seen, parts.hosts);
        let own_ns = outcome.measurement.lateness.mean_ns;
        let doubts = doubts::doubts(&found, &seen, &self.scan.notes, own_ns);
        session.warnings.extend(doubts);
        let ranks = self.request.bench.ranks.as_ref();
        let note = ranks.map(|it| hosts::note(&self.dealing, &self.scan, it));
        session.warnings.extend(note);
        self.found = Some((found, own_ns));
        let ended = self.ended(&outcome, broken, session);
        session.measurements.push(outcome.measurement);
        session.measurements.extend(parts.rows);
        ended
    }

    fn resolve(&self, setup: &mut Setup, _: &Status) {
        setup.resolve("depth", [self.depth().to_string()]);
    }

    fn complete(self, run: Run) -> Run {
        let found = self.found.as_ref();
        let sentence = found.map(|(found, own_ns)| doubts::sentence(found, *own_ns));
        let tables = found.map(|(found, _)| found.tables());
        Run {
            elapsed_ns: run.elapsed_ns + self.replayed.as_nanos(),
            tables: tables.unwrap_or_default(),
            findings: Vec::from_iter(sentence),
            ..run
        }
    }
}

impl ReplayPlan<'_> {
    /// Refuse what cannot be replayed on some host. Returns the bytes that are used and, where
    /// another rank leads, this one's part of the replay.
    fn prepare(&self, session: &Session<'_>) -> Result<(u64, Option<Trial>)> {
        let Some(ranks) = &self.request.bench.ranks else {
            return Ok((self.size_on(session)?, None));
        };
        let own = ranks.beating(|| {
            let size = self.size_on(session)?;
            let served = (!ranks.leads()).then(|| self.trial_on(session, size));
            Ok((size, served.transpose()?.map(|(trial, _)| trial)))
        });
        ranks.if_all_can(own)
    }

    /// The bytes of the target that are used: of a directory, those of the test file to be made.
    fn size_on(&self, session: &Session<'_>) -> Result<u64> {
        let (request, scan, facts) = (self.request, &self.scan, &session.facts);
        let target = &request.bench.target;
        if scan.writes() && !facts.makes_files && !facts.may_overwrite {
            return Err(BenchError::Usage(format!(
                "the trace has {} and {}, and {target} is not written to without --overwrite. \
                 Everything in it may be lost then",
                format_counted(scan.writes, "write"),
                format_counted(scan.syncs, "sync"),
            )));
        }
        let unit = session.bench.unit();
        if !scan.unit.is_multiple_of(u64::from(unit)) {
            return Err(BenchError::Usage(format!(
                "the trace has requests at multiples of {} bytes, and direct I/O on {target} \
                 moves multiples of {unit}: use --buffered",
                scan.unit
            )));
        }
        let extent = match facts.existing {
            Some(_) => scan.places.extent,
            // One size for the test files of all ranks.
            None => self.dealing.extent(scan),
        };
        let size = match facts.existing {
            Some(existing) => existing,
            None => {
                let asked = request.bench.size.unwrap_or(holding(extent)?);
                whole_size(asked.min(facts.room))?
            }
        };
        self.refuse_beyond(extent, size.0)?;
        Ok(size.0 / scan.unit * scan.unit)
    }

    /// Where the files of the trace lie on this host: all of them, unless each rank has a test file
    /// of its own for some of them.
    fn places_on(&self, session: &Session<'_>) -> TraceLayout {
        match session.facts.existing {
            Some(_) => self.scan.places.clone(),
            None => self.scan.part_of(|file| self.dealing.has_file(file)),
        }
    }

    fn refuse_beyond(&self, extent: u64, size: u64) -> Result<()> {
        if self.request.fit != BeyondEnd::Refuse || extent <= size {
            return Ok(());
        }
        Err(BenchError::Usage(format!(
            "the trace reaches to byte {extent} ({}), and {} offers {}. Use --fit modulo to wrap \
             around, --fit clip to leave such requests out, or a larger target",
            Bytes(extent),
            self.request.bench.target,
            Bytes(size)
        )))
    }

    /// The replay that was kept, or the one that is measured now, and what each of several hosts
    /// did.
    fn replay(&mut self, session: &mut Session<'_>) -> Result<(Outcome, ReplayCounts, Parts)> {
        let cells = self.request.bench.cells.clone();
        let of = self.cell(session.facts.access);
        let kept: Option<(Outcome, ReplayCounts, Duration)> = cells.replay(&of);
        if let Some((mut outcome, seen, took)) = kept.filter(|it| it.0.is_whole()) {
            hand_over(&mut outcome);
            self.replayed = took;
            return Ok((outcome, seen, Parts::default()));
        }
        if cells.is_replay_only() {
            return Err(Killed.into());
        }
        let begun = session.bench.laboratory_itself().now();
        let (mut outcome, seen, parts) = self.replay_now(session)?;
        let took = session.bench.laboratory_itself().now().since(begun);
        if outcome.is_whole() && seen.broken.is_none() {
            cells.keep(&of, &(&outcome, &seen, took));
        }
        hand_over(&mut outcome);
        Ok((outcome, seen, parts))
    }

    /// What a replay is kept under: another trace of the same name is another one.
    fn cell(&self, access: Access) -> String {
        let (request, scan, size) = (self.request, &self.scan, self.size);
        format!(
            "{KIND} {} {} {} {} {size} {} {access:?} {:?} {:?} {:?}",
            request.bench.storage.seed,
            self.trace_name(),
            scan.requests() + scan.trims,
            scan.digest,
            self.depth(),
            request.pace,
            request.fit,
            request.duration,
        )
    }

    /// The trace, as the run records it: where it is, from wherever it was named.
    fn trace_name(&self) -> String {
        let request = self.request;
        let recorded = request.bench.setup.value("trace");
        recorded.map_or_else(|| request.trace.name(), str::to_owned)
    }

    /// This host's part of the replay, and the place where it counts its requests.
    fn trial_on(
        &self,
        session: &Session<'_>,
        size: u64,
    ) -> Result<(Trial, Arc<Mutex<ReplayCounts>>)> {
        let patience = match &session.bench {
            Bench::Simulated(_) => WhenEmpty::Wait,
            _ => WhenEmpty::Never,
        };
        let fitting = Fitting {
            fit: self.request.fit,
            target: MAIN_DIRECT,
            size,
            unit: self.scan.unit,
            bases: self.places_on(session).bases,
        };
        let part = (fitting, self.dealing.clone());
        let source = RequestSource::begin(self.request.trace.read()?, part, patience)?;
        let counts = Arc::new(Mutex::new(ReplayCounts::default()));
        let maker = MakeReplay {
            pace: self.dealing.pace(self.request.pace),
            source: Mutex::new(Some(source)),
            seen: Arc::clone(&counts),
        };
        Ok((self.trial(maker, size, session.facts.access), counts))
    }

    fn replay_now(&self, session: &mut Session<'_>) -> Result<(Outcome, ReplayCounts, Parts)> {
        let begun = match &self.request.bench.ranks {
            Some(ranks) => ranks.beating(|| self.trial_on(session, self.size)),
            None => self.trial_on(session, self.size),
        };
        let (trial, counts) = begun?;
        let expected = self.expected();
        let all = self.scan.requests().max(1) as f64;
        // What becomes of each request is known here alone, and kept with the outcome.
        let measured = session.measure(&trial, &trial.title, HostReach::Unkept, |glimpse| {
            let elapsed = glimpse.elapsed.as_secs_f64();
            let done = match expected {
                Some(expected) => elapsed / expected.as_secs_f64().max(1e-9),
                None => glimpse.operations as f64 / all,
            };
            TrialProgress {
                done: done.min(1.0),
                elapsed: glimpse.elapsed,
                left: expected.map(|it| it.saturating_sub(glimpse.elapsed)),
            }
        });
        drop(trial);
        let outcome = measured?;
        let mut seen = std::mem::take(&mut *counts.lock().unwrap_or_else(PoisonError::into_inner));
        let rate = |rank| {
            let requests = self.dealing.requests(&self.scan, rank) as f64;
            Some(requests / expected?.as_secs_f64().max(SECONDS_MIN))
        };
        let parts = Parts::of(&mut session.bench, &mut seen, rate);
        Ok((outcome, seen, parts))
    }

    /// How long the replay should take, where it has a schedule.
    fn expected(&self) -> Option<Duration> {
        match self.request.pace {
            ReplayPace::Recorded { scale } => {
                Some(Duration::from_nanos(self.scan.span_ns).mul_f64(1.0 / scale))
            }
            ReplayPace::Fast { .. } => None,
        }
    }

    /// Requests that may be outstanding, of all hosts.
    fn depth(&self) -> u32 {
        if let ReplayPace::Fast { depth } = self.request.pace {
            return depth;
        }
        let driver = self.request.bench.storage.driver;
        let block = Bytes(self.scan.length_max);
        // Files may be busy at different times: each host has room for all of it.
        let of_all = |depth: u32| depth.saturating_mul(self.dealing.ranks());
        let chosen = || of_all(open_depth(driver, 1, self.per_second(), block));
        self.request.depth.unwrap_or_else(chosen)
    }

    /// Requests per second of the schedule, on average.
    fn per_second(&self) -> f64 {
        let seconds = self.expected().unwrap_or_default().as_secs_f64();
        self.scan.requests() as f64 / seconds.max(SECONDS_MIN)
    }

    fn trial(&self, maker: MakeReplay, size: u64, access: Access) -> Trial {
        let scan = &self.scan;
        let counts = match self.request.pace {
            ReplayPace::Recorded { .. } => OwnCounts::Scheduled {
                per_second: self.per_second(),
            },
            ReplayPace::Fast { .. } => OwnCounts::Operations,
        };
        let spec = OwnSpec {
            kind: KIND.into(),
            settings: vec![("trace".into(), self.trace_name())],
            target: MAIN_DIRECT,
            len: size,
            unit: scan.unit as u32,
            len_max: scan.length_max as u32,
            reads: scan.reads > 0,
            writes: scan.writes(),
            is_durable: false,
            counts,
            maker: Some(Arc::new(maker)),
        };
        Trial {
            clients: self.dealing.ranks(),
            depth: self.depth(),
            duration_max: self.request.duration.unwrap_or(DURATION_MAX),
            // Every request of a trace counts.
            warm_up: Some(Duration::ZERO),
            ..Trial::new(KIND, ClientSpec::Own(spec), access)
        }
    }

    /// Why the replay did not come to the trace's end, if it did not.
    fn ended(
        &self,
        outcome: &Outcome,
        broken: Option<BenchError>,
        session: &Session<'_>,
    ) -> Result<()> {
        let stop = || stop_of(KIND, outcome.failure.clone(), session.interrupt);
        match (&outcome.ending, broken) {
            (_, Some(error)) => Err(error),
            (Ending::Finished, None) if outcome.failure.is_none() => Ok(()),
            (Ending::Interrupted | Ending::Failed, None) => Err(stop()),
            _ => Err(match self.request.duration {
                Some(duration) => BenchError::Usage(format!(
                    "the {duration} of --duration ended before the trace"
                )),
                None => stop(),
            }),
        }
    }

    fn found(&self, seen: &ReplayCounts, hosts: Vec<ReplayHost>) -> Replay {
        let scan = &self.scan;
        let has_schedule = matches!(self.request.pace, ReplayPace::Recorded { .. });
        Replay {
            format: self.request.trace.recognised.name.into(),
            pace: self.request.pace,
            files: scan.places.bases.len() as u32,
            extent_bytes: scan.places.extent,
            recorded: scan.requests() + scan.trims,
            requests: seen.requests,
            bytes: seen.bytes,
            moved: seen.moved,
            left_out: seen.left_out,
            length_ns: match has_schedule {
                true => seen.last_due.as_nanos(),
                false => 0,
            },
            took_ns: seen.last_issued.as_nanos(),
            behind: has_schedule.then(|| seen.behind()),
            dealt: (!hosts.is_empty()).then(|| self.dealing.unit()),
            hosts,
        }
    }
}

/// The measurement holds the series and the intervals of its trial.
fn hand_over(outcome: &mut Outcome) {
    outcome.measurement.series = outcome.series.take();
    outcome.measurement.intervals = std::mem::take(&mut outcome.intervals);
}

/// The size of a test file that holds `extent` bytes: it has whole passes of its writers.
fn holding(extent: u64) -> Result<Bytes> {
    let mut size = Bytes(extent.max(SIZE_STEP));
    while whole_size(size)?.0 < extent {
        size = Bytes(size.0 + SIZE_STEP);
    }
    Ok(size)
}
