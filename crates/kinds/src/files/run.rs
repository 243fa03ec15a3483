//! Runs `files`: from a target's name to a [`Run`] with the times of the tests on it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use drivers::{CacheDrop, ReadCompare};
use engine::Clock as _;
use fleet::ClientShare;
use procedure::{
    DeviceRead, FileCell, FileItem, FilePlayed, FileStep, FilesPlan, FilesProcedure, RoundOrder,
    RoundsRule, file_test, files_findings, growth, over_memory,
};
use results::environment::TargetKind;
use results::{
    FileState, FileTests, FileTransfers, MetadataTree, Run, Saying, Setup, Status, Table,
    TargetDescription, Warning, WarningCode,
};
use sys::MonotonicClock;
use units::{Duration, Instant};
use verify::FileFindings;
use workload::{
    DecusTest, DirectoryUse, FilesShape, MetadataClient, MetadataPhase, MetadataSpec, Spacing,
};

use super::hosts::{agreed, words};
use super::stonewall::Made;
use super::stripes::LustreStripes;
use super::subject::{TestedFileSystem, check_cache_drop, fitting, open_memory, open_target};
use crate::session::{self, MeasurementSession};
use crate::stage::{RunPlan, Show, Stage};
use host::interrupt::Interrupt;
use host::processors::pin;
use lab::bench::{BenchError, BenchRequest};
use lab::hosts::{RankRounds, Ranks};

/// What is repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileWork {
    /// The DECUS tests.
    Decus {
        tests: Vec<DecusTest>,
        /// What is put into the midst of the files of tests 4 to 5A.
        spacings: Vec<Spacing>,
        /// What the counts are multiplied by, ascending.
        scales: Vec<u32>,
    },
    /// Metadata at scale.
    Metadata(MetadataTree),
    /// Large files.
    Bandwidth(FileTransfers),
}

/// Whether a memory disk runs beside the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryDisk {
    /// One does, where there is one.
    Beside,
    /// None does.
    Without,
}

/// What is asked for, as resolved from the command line.
#[derive(Clone, Debug)]
pub struct FilesRequest {
    /// A directory, a file or block device that TEST11 reads, or a model. Clients are bound to its
    /// processors in turn.
    pub bench: BenchRequest,
    /// What is repeated.
    pub work: FileWork,
    /// Phases of the workload that are carried out; all where empty.
    pub phases: Vec<FileItem>,
    pub states: Vec<FileState>,
    /// Clients at once.
    pub clients: u32,
    /// When clients that make files stop, see how far the furthest is, and go on to that.
    pub stonewall: Option<Duration>,
    /// How files are striped, where that was asked for.
    pub stripes: Option<LustreStripes>,
    /// Whether what is wrong with the data is told by class and path, and all that a pass wrote is
    /// read back.
    pub verify: bool,
    /// How much of what is read is compared.
    pub compare: ReadCompare,
    /// When a test has been repeated often enough.
    pub rule: RoundsRule,
    /// Whether the first pass of a test is in its figures, too.
    pub counts_first_pass: bool,
    /// What TEST11 reads in the place of a file of our own.
    pub device: Option<PathBuf>,
    /// Bytes that it reads at a time.
    pub device_chunk: u32,
    /// What is dropped in the cold state.
    pub cache_drop: CacheDrop,
    /// Whether a memory disk runs beside.
    pub memory: MemoryDisk,
    /// Where the memory disk is; found when absent.
    pub memory_directory: Option<PathBuf>,
}

impl FilesRequest {
    /// Which of the clients are on this host.
    pub(crate) fn share(&self) -> ClientShare {
        self.bench
            .ranks
            .as_ref()
            .map_or(ClientShare::WHOLE, Ranks::share)
    }

    /// Whether clients have directories of their own.
    pub(crate) const fn directories(&self) -> DirectoryUse {
        match &self.work {
            FileWork::Metadata(tree) => tree.directories,
            FileWork::Bandwidth(transfers) => transfers.directories,
            FileWork::Decus { .. } => DirectoryUse::Own,
        }
    }

    /// Whether clients use each other's files or directories.
    pub(crate) const fn needs_one_directory(&self) -> bool {
        self.is_reordered() || matches!(self.directories(), DirectoryUse::Shared)
    }

    /// Whether clients read what another one made.
    const fn is_reordered(&self) -> bool {
        match &self.work {
            FileWork::Metadata(tree) => tree.is_reordered,
            FileWork::Bandwidth(transfers) => transfers.is_reordered,
            FileWork::Decus { .. } => false,
        }
    }

    /// The client of this number on this host, as the metadata workload knows it.
    ///
    /// Where files are to be read by another client than their maker, that is the one of the same
    /// number on the next host, or the next client of the only rank.
    pub(crate) fn metadata_client(&self, here: u32) -> MetadataClient {
        let share = self.share();
        let number = share.client(here);
        let reads_of = match &self.bench.ranks {
            _ if !self.is_reordered() => number,
            Some(ranks) => number - share.rank + ranks.rank_on_next_host(),
            None => (number + 1) % self.clients,
        };
        MetadataClient { number, reads_of }
    }

    /// Bind the thread of that client on this host to its processor.
    pub(super) fn pin(&self, here: u32) {
        let mut in_turn = self.bench.storage.processors.iter().cycle();
        if let Some(processor) = in_turn.nth(here as usize) {
            pin(*processor);
        }
    }

    /// How many of the clients are on this host.
    pub(crate) fn clients_here(&self) -> u32 {
        self.share().count(self.clients)
    }

    fn plan(&self, subjects: &[TestedFileSystem], states: Vec<FileState>) -> FilesPlan {
        let (items, scales) = match &self.work {
            FileWork::Decus {
                tests,
                spacings,
                scales,
            } => (FilesPlan::decus(tests, spacings), scales.clone()),
            FileWork::Metadata(tree) => (FilesPlan::metadata(&tree.of_each(1)), vec![1]),
            FileWork::Bandwidth(_) => (FilesPlan::bandwidth(), vec![1]),
        };
        let is_asked = |it: &FileItem| self.phases.is_empty() || self.phases.contains(it);
        FilesPlan {
            items: items.into_iter().filter(is_asked).collect(),
            roles: subjects.iter().map(|subject| subject.role).collect(),
            states,
            scales,
            device: match self.device {
                Some(_) => DeviceRead::Named,
                None => DeviceRead::OwnFile,
            },
            rule: RoundsRule {
                budget: self.budget().unwrap_or(Duration(u64::MAX)),
                ..self.rule
            },
            order: match self.counts_first_pass {
                true => RoundOrder::Paper,
                false => subjects[0].order,
            },
            seed: self.bench.storage.seed,
        }
    }

    /// Whether all that is done is to read what the user named.
    fn reads_only(&self) -> bool {
        let FileWork::Decus { tests, .. } = &self.work else {
            return false;
        };
        self.device.is_some() && tests[..] == [DecusTest::Test11]
    }

    /// What TEST11 reads in the place of a file of our own, if it is among the tests.
    fn named_device(&self) -> Option<&Path> {
        let FileWork::Decus { tests, .. } = &self.work else {
            return None;
        };
        let is_read = tests.contains(&DecusTest::Test11);
        self.device.as_deref().filter(|_| is_read)
    }

    fn has_phase(&self, phase: MetadataPhase) -> bool {
        self.phases.is_empty() || self.phases.contains(&FileItem::Metadata(phase))
    }

    /// What each client makes, where all do the same.
    pub(super) fn shape(&self) -> Option<FilesShape> {
        match &self.work {
            FileWork::Metadata(tree) => Some(FilesShape::Tree(MetadataSpec {
                is_renamed: self.has_phase(MetadataPhase::Rename),
                ..tree.of_each(self.clients)
            })),
            FileWork::Bandwidth(it) => Some(FilesShape::Transfers(it.of_each(self.clients))),
            FileWork::Decus { .. } => None,
        }
    }
}

/// So many things, as in `1 file`, `2 files`.
pub(super) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Measure programs that use files.
///
/// # Errors
/// When nothing could be measured. What was measured before something went wrong is a partial run.
pub fn measure_files(
    request: &FilesRequest,
    interrupt: &Interrupt,
    show: Show<'_>,
) -> Result<Run, BenchError> {
    let clock = MonotonicClock::start();
    let (request, left_out) = &fitting(request)?;
    let session = FilesSession::open(request, left_out.clone(), (interrupt, show, clock))?;
    session::carry_out(session)
}

/// What is measured, ready to be.
pub(super) struct OpenedSubjects {
    pub subjects: Vec<TestedFileSystem>,
    pub states: Vec<FileState>,
    pub warnings: Vec<Warning>,
}

/// Open the target, and the memory disk that it is compared with.
fn open(
    request: &FilesRequest,
    clock: MonotonicClock,
    left_out: Option<Warning>,
) -> Result<OpenedSubjects, BenchError> {
    check_cache_drop(request.cache_drop)?;
    let mut target = open_target(request, clock)?;
    let mut warnings = std::mem::take(&mut target.warnings);
    warnings.extend(left_out);
    let mut subjects = vec![target];
    if wants_memory(request, &subjects[0]) {
        match open_memory(request, clock)? {
            Ok(memory) => subjects.push(memory),
            Err(note) => warnings.push(note),
        }
    }
    let states = states_of(request, &subjects[0], &mut warnings)?;
    Ok(OpenedSubjects {
        subjects,
        states,
        warnings,
    })
}

/// A memory disk beside a memory disk, or beside a model or a device, would say nothing.
fn wants_memory(request: &FilesRequest, target: &TestedFileSystem) -> bool {
    request.memory == MemoryDisk::Beside
        && target.description.kind == TargetKind::Directory
        && !target.description.memory_backed
}

/// States that mean something on this target; what is left out is told.
fn states_of(
    request: &FilesRequest,
    target: &TestedFileSystem,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<FileState>, BenchError> {
    let is_impossible = |state: FileState| match state {
        FileState::AsIs => None,
        FileState::Cold => target.cold.why_nothing(),
        FileState::Durable if target.description.kind != TargetKind::Directory => {
            Some("nothing is written")
        }
        FileState::Durable if request.reads_only() => {
            Some("TEST11 alone reads the device, and nothing is written")
        }
        FileState::Durable if target.description.memory_backed => {
            Some("the files are in memory, and nothing makes them durable")
        }
        _ => None,
    };
    let (mut states, mut reasons) = (Vec::new(), Vec::new());
    for state in &request.states {
        match is_impossible(*state) {
            None => states.push(*state),
            Some(why) => reasons.push(format!("{}: {why}", state.name())),
        }
    }
    if states.is_empty() {
        return Err(BenchError::Usage(format!(
            "--state {} on {}: name another state, or leave it out",
            reasons.join(", "),
            request.bench.target
        )));
    }
    if !reasons.is_empty() {
        let text = format!("States left out: {}.", reasons.join("; "));
        warnings.push(Warning::info(WarningCode::StateLeftOut, text));
    }
    if let Some(device) = request.named_device()
        && states.contains(&FileState::Durable)
    {
        let text = format!(
            "TEST11 durable is left out: {} is only read, and nothing is written.",
            device.display()
        );
        warnings.push(Warning::info(WarningCode::TestLeftOut, text));
    }
    Ok(states)
}

pub(super) struct FilesSession<'a> {
    pub(super) request: &'a FilesRequest,
    pub(super) interrupt: &'a Interrupt,
    show: Show<'a>,
    pub(super) clock: MonotonicClock,
    pub(super) subjects: Vec<TestedFileSystem>,
    /// What opening found.
    pub(super) warnings: Vec<Warning>,
    pub(super) procedure: FilesProcedure,
    pub(super) played: BTreeMap<FileCell, FilePlayed>,
    /// The largest share of a pass's files that stayed in memory when caches were dropped.
    pub(super) kept: f64,
    /// What passes with a stonewall made.
    pub(super) made: Made,
    /// What told passes would have done, and has to be done before the next that is measured.
    pub(super) put_off: Vec<FileStep>,
    /// Time of the passes that were replayed.
    pub(super) replayed: Duration,
    /// What verification found in all passes.
    pub(super) found: FileFindings,
    /// The hosts that take every step with this one, where there are several.
    pub(super) peers: Option<RankRounds>,
}

impl MeasurementSession for FilesSession<'_> {
    type Outcome = Run;

    /// In the time of the target.
    fn now(&mut self) -> Instant {
        Instant::START + self.elapsed()
    }

    fn plan(&self) -> RunPlan {
        let is_fixed = self.request.rule.rounds.is_some();
        RunPlan {
            phases: vec![("a warm-up of each test", None), ("passes", None)],
            budget: self.request.budget().filter(|_| !is_fixed),
        }
    }

    fn show(&mut self, stage: &Stage<'_>) {
        (self.show)(stage);
    }

    fn measure(&mut self) -> Result<(), BenchError> {
        self.run().and_then(|()| self.wrong_data())
    }

    fn is_empty(&self) -> bool {
        self.played.is_empty()
    }

    fn warnings(&mut self) -> Vec<Warning> {
        let mut warnings = std::mem::take(&mut self.warnings);
        warnings.extend(self.doubts());
        warnings.extend(self.peers.as_ref().and_then(words));
        warnings
    }

    fn clean_up(&mut self) -> Result<Vec<Warning>, BenchError> {
        let subjects = self.subjects.iter_mut().collect();
        remove_all(subjects, self.request.bench.ranks.as_ref())
    }

    fn recorded(&self, _: &Status) -> (Setup, TargetDescription) {
        let target = self.subjects[0].description.clone();
        (self.request.bench.setup.clone(), target)
    }

    fn complete(self, run: Run) -> Run {
        self.run_of(run)
    }
}

impl<'a> FilesSession<'a> {
    /// Open what is measured, on all hosts.
    ///
    /// # Errors
    /// When one of them cannot.
    pub(super) fn open(
        request: &'a FilesRequest,
        left_out: Option<Warning>,
        (interrupt, show, clock): (&'a Interrupt, Show<'a>, MonotonicClock),
    ) -> Result<Self, BenchError> {
        let opened = open(request, clock, left_out);
        let OpenedSubjects {
            subjects,
            states,
            warnings,
        } = match &request.bench.ranks {
            Some(ranks) => agreed(ranks, request, opened)?,
            None => opened?,
        };
        let procedure = FilesProcedure::new(request.plan(&subjects, states));
        Ok(Self {
            request,
            interrupt,
            show,
            clock,
            subjects,
            warnings,
            procedure,
            played: BTreeMap::new(),
            kept: 0.0,
            made: Made::new(),
            put_off: Vec::new(),
            replayed: Duration::ZERO,
            found: FileFindings::default(),
            peers: request.bench.ranks.clone().map(RankRounds::new),
        })
    }
}

impl FilesSession<'_> {
    fn run(&mut self) -> Result<(), BenchError> {
        loop {
            let spent = match &self.peers {
                Some(peers) => peers.agree_on_time(self.elapsed())?,
                None => self.elapsed(),
            };
            self.refuse_short_time(spent)?;
            let Some(step) = self.procedure.next_step(spent) else {
                return Ok(());
            };
            if matches!(step, FileStep::Measure { .. }) {
                self.report(spent);
            }
            self.perform(&step)?;
        }
    }

    /// How long the run took, in the time of its target.
    pub(super) fn elapsed(&self) -> Duration {
        let now = self.subjects[0]
            .hands
            .first()
            .map_or_else(|| self.clock.now(), |hand| hand.looked_at().now());
        (now + self.replayed).since(Instant::START)
    }

    fn report(&mut self, elapsed: Duration) {
        let budget = self.request.budget();
        (self.show)(&Stage {
            title: &format!("round {} of the tests", self.procedure.rounds()),
            done: self.procedure.share_done(),
            elapsed,
            left: budget.map(|it| it.saturating_sub(elapsed)),
            ..Stage::default()
        });
    }

    fn run_of(self, run: Run) -> Run {
        let request = self.request;
        let shape = request.shape();
        let row = |cell: &FileCell| {
            let played = self.played.get(cell)?;
            let is_precise = self.procedure.is_precise(cell);
            Some(file_test(
                cell,
                shape.as_ref(),
                request.clients,
                is_precise,
                request.rule.end(),
                played,
            ))
        };
        let tests: Vec<_> = self.procedure.cells().iter().filter_map(row).collect();
        let mut others = self.subjects.into_iter().skip(1);
        let is_fixed = request.rule.rounds.is_some();
        let device = device_word(request, &run.target);
        let files = FileTests {
            workload: match request.work {
                FileWork::Decus { .. } => "decus".into(),
                FileWork::Metadata(_) => "metadata".into(),
                FileWork::Bandwidth(_) => "bandwidth".into(),
            },
            clients: request.clients,
            precision: (!is_fixed).then_some(request.rule.precision),
            passes: request.rule.rounds,
            cache_drop: match request.cache_drop {
                CacheDrop::OwnFiles => "own-files".into(),
                CacheDrop::Machine => "machine".into(),
            },
            device,
            tree: match &request.work {
                FileWork::Metadata(tree) => Some(*tree),
                FileWork::Decus { .. } | FileWork::Bandwidth(_) => None,
            },
            transfers: match &request.work {
                FileWork::Bandwidth(transfers) => Some(*transfers),
                FileWork::Decus { .. } | FileWork::Metadata(_) => None,
            },
            is_sampled: request.compare == ReadCompare::FirstBlock,
            stonewall_ns: request.stonewall.map(Duration::as_nanos),
            hosts: self
                .peers
                .as_ref()
                .map_or_else(Vec::new, RankRounds::shares),
            memory: others.next().map(|subject| subject.description),
            over_memory: over_memory(&tests),
            growth: growth(&tests),
            tests,
        };
        let findings = files_findings(&files);
        let tables = with_finding(files.tables(run.target.kind), findings.first());
        Run {
            findings,
            tables,
            row_warnings: files.row_warnings(),
            other_targets: files.memory.into_iter().collect(),
            ..run
        }
    }
}

/// Remove what was made in all of them, and part from the other hosts; what could not be removed is
/// a warning each.
pub(super) fn remove_all(
    mut subjects: Vec<&mut TestedFileSystem>,
    ranks: Option<&Ranks>,
) -> Result<Vec<Warning>, BenchError> {
    let cleared = subjects.iter_mut().filter_map(|it| it.clear());
    let mut left: Vec<Warning> = cleared.collect();
    left.extend(Ranks::part_from(ranks, &left)?);
    // Now the other ranks have removed theirs from it, too.
    left.extend(subjects.into_iter().filter_map(TestedFileSystem::remove));
    Ok(left)
}

/// What the tests say about each other comes before what each took.
fn with_finding(mut tables: Vec<Table>, finding: Option<&String>) -> Vec<Table> {
    if let (Some(table), Some(finding)) = (tables.first_mut(), finding) {
        table.says = Some(Saying::quoting(finding.trim_end_matches('.')));
    }
    tables
}

/// What TEST11 reads.
fn device_word(request: &FilesRequest, target: &TargetDescription) -> String {
    match (&request.device, target.kind) {
        (Some(path), _) => path.display().to_string(),
        (None, TargetKind::Directory) => "own file".into(),
        (None, _) => target.given.clone(),
    }
}
