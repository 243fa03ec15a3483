//! IO500: the phases of four file tests in the order of its rules, each carried out once.
//!
//! Each of the four parts is a session of file tests with files of its own. They are begun one
//! after the other, and their phases take turns; what a phase comes to is a pass of its part.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use drivers::{CacheDrop, ReadCompare, free_space};
use engine::Clock as _;
use fleet::ClientShare;
use host::interrupt::Interrupt;
use host::together::{no_thread, together};
use hpc::{
    HARD_FILE, HARD_TRANSFER, Io500Config, Io500Phase, Io500Result, Io500Score, not_a_submission,
};
use lab::bench::{BenchError, BenchRequest, inspected};
use lab::hosts::RankPart;
use lab::laboratory::LaboratoryError;
use lab::test_file::stopped;
use procedure::{FileCell, FileItem, FileStep, RoundsRule};
use results::{
    FilePass, FileState, FileSystemRole, FileTransfers, Io500Found, Io500PhaseFound, MetadataTree,
    Run, Setup, Status, TargetDescription, Warning,
};
use sys::MonotonicClock;
use units::{Duration, Instant};
use workload::{BandwidthPhase, DirectoryUse, MetadataPhase, TransferOrder};

use super::run::{FileWork, FilesRequest, FilesSession, MemoryDisk, remove_all};
use crate::session::{self, MeasurementSession};
use crate::stage::{Show, Stage};

/// Shares of the free space, and of the free names, that parts with large and with small files may
/// use.
const LARGE_SHARE: f64 = 0.4;
const SMALL_SHARE: f64 = 0.1;
const NAMES_SHARE: f64 = 0.4;
/// Bytes that a small file takes of a file system.
const SMALL_FILE: u64 = 4096;
/// What the names of files that are searched for have in them.
const WANTED_NAME: &str = "01";
const GIB: f64 = (1 << 30) as f64;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Io500Request {
    pub config: Io500Config,
    pub bench: BenchRequest,
    /// Clients of all hosts.
    pub clients: u32,
}

/// A run, and the phases as IO500 has them.
#[derive(Debug)]
pub struct Io500Outcome {
    pub run: Run,
    pub results: Vec<Io500Result>,
    /// Why it is no submission.
    pub reasons: Vec<String>,
}

/// The part that a phase belongs to, and its test; none of the search, which is of all.
const fn part_of(phase: Io500Phase) -> Option<(usize, FileItem)> {
    use BandwidthPhase::{Read, Write};
    use FileItem::{Bandwidth, Metadata};
    Some(match phase {
        Io500Phase::IorEasyWrite => (0, Bandwidth(Write)),
        Io500Phase::MdtestEasyWrite => (1, Metadata(MetadataPhase::Create)),
        Io500Phase::IorHardWrite => (2, Bandwidth(Write)),
        Io500Phase::MdtestHardWrite => (3, Metadata(MetadataPhase::Create)),
        Io500Phase::Find => return None,
        Io500Phase::IorEasyRead => (0, Bandwidth(Read)),
        Io500Phase::MdtestEasyStat => (1, Metadata(MetadataPhase::Stat)),
        Io500Phase::IorHardRead => (2, Bandwidth(Read)),
        Io500Phase::MdtestHardStat => (3, Metadata(MetadataPhase::Stat)),
        Io500Phase::MdtestEasyDelete => (1, Metadata(MetadataPhase::Remove)),
        Io500Phase::MdtestHardRead => (3, Metadata(MetadataPhase::Read)),
        Io500Phase::MdtestHardDelete => (3, Metadata(MetadataPhase::Remove)),
    })
}

/// What a file system has left for files of this run.
#[derive(Clone, Copy)]
struct FreeRoom {
    bytes: u64,
    names: u64,
    /// Whether nothing can be made durable there.
    is_in_memory: bool,
}

impl Io500Request {
    /// What this host has for files, in bytes and names, and whether they are in memory.
    fn own_room(&self) -> Result<(u64, u64, bool), BenchError> {
        let (path, description, _) = inspected(&self.bench.target)?;
        let space = free_space(path).map_err(LaboratoryError::from)?;
        let reserve = self.bench.reserve.map_or(space.reserve, |it| it.0);
        let bytes = space.available.saturating_sub(reserve);
        let names = space.files.unwrap_or(u64::MAX);
        Ok((bytes, names, description.memory_backed))
    }

    /// The least of what all hosts have, so that all of them make the same.
    fn room(&self) -> Result<FreeRoom, BenchError> {
        let own = self.own_room();
        let (bytes, names, is_in_memory) = match &self.bench.ranks {
            None => own?,
            Some(ranks) => ranks.agree(own, |all: Vec<(u64, u64, bool)>| {
                let least = all.into_iter().reduce(|one, other| {
                    let (bytes, names) = (one.0.min(other.0), one.1.min(other.1));
                    (bytes, names, one.2 && other.2)
                });
                Ok(least.unwrap_or_default())
            })?,
        };
        Ok(FreeRoom {
            bytes,
            names,
            is_in_memory,
        })
    }

    /// The four parts, each with no more than fits.
    fn parts(&self) -> Result<Vec<FilesRequest>, BenchError> {
        let (config, room) = (&self.config, self.room()?);
        let each = |of: u64, share: f64| (of as f64 * share / f64::from(self.clients)) as u64;
        let is_reordered = self.clients > 1;
        let large = |asked: u64, transfer: u64, directories| {
            let bytes = asked.min(each(room.bytes, LARGE_SHARE)) / transfer * transfer;
            FileWork::Bandwidth(FileTransfers {
                client_bytes: bytes.max(transfer),
                transfer_bytes: u32::try_from(transfer).unwrap_or(u32::MAX),
                directories,
                is_reordered,
                in_a_row: u32::try_from(bytes / transfer).unwrap_or(1),
                order: TransferOrder::Ascending,
            })
        };
        let small = |asked: u64, file_bytes: u64, directories| {
            let fitting = match file_bytes {
                0 => u64::MAX,
                _ => each(room.bytes, SMALL_SHARE) / SMALL_FILE,
            };
            let files = asked.min(fitting).min(each(room.names, NAMES_SHARE)).max(1);
            let files = files.saturating_mul(u64::from(self.clients));
            FileWork::Metadata(MetadataTree {
                files: u32::try_from(files).unwrap_or(u32::MAX),
                depth: 0,
                fan_out: 1,
                file_bytes: file_bytes as u32,
                directories,
                is_reordered,
            })
        };
        let (own, shared) = (DirectoryUse::Own, DirectoryUse::Shared);
        let easy = match config.easy_own_files {
            true => own,
            false => shared,
        };
        let hard_bytes = config.hard_segments.saturating_mul(HARD_TRANSFER);
        let mut hard = large(hard_bytes, HARD_TRANSFER, shared);
        if let FileWork::Bandwidth(transfers) = &mut hard {
            transfers.in_a_row = 1;
        }
        let works = [
            large(config.easy_block, config.easy_transfer, easy),
            small(config.easy_files, 0, own),
            hard,
            small(config.hard_files, HARD_FILE, shared),
        ];
        let parts = works.into_iter().enumerate();
        Ok(parts
            .map(|(part, work)| self.part(part, work, room.is_in_memory))
            .collect())
    }

    fn part(&self, part: usize, work: FileWork, is_in_memory: bool) -> FilesRequest {
        let phases = Io500Phase::ALL.into_iter().filter_map(part_of);
        let phases = phases.filter(|(of, _)| *of == part);
        // IOR syncs what it wrote; mdtest does not.
        let syncs = matches!(work, FileWork::Bandwidth(_)) && !is_in_memory;
        FilesRequest {
            bench: self.bench.clone(),
            work,
            phases: phases.map(|(_, item)| item).collect(),
            states: vec![if syncs {
                FileState::Durable
            } else {
                FileState::AsIs
            }],
            clients: self.clients,
            stonewall: Some(self.config.stonewall),
            stripes: None,
            verify: false,
            compare: ReadCompare::All,
            rule: RoundsRule {
                rounds: Some(1),
                precision: 1.0,
                rounds_min: 1,
                rounds_max: 1,
                budget: Duration(u64::MAX),
            },
            counts_first_pass: true,
            device: None,
            device_chunk: workload::CHUNK_BYTES,
            cache_drop: CacheDrop::OwnFiles,
            memory: MemoryDisk::Without,
            memory_directory: None,
        }
    }
}

/// Carry the phases out.
///
/// # Errors
/// When nothing could be measured. What was measured before something went wrong is a partial run.
pub fn measure_io500(
    request: &Io500Request,
    interrupt: &Interrupt,
    show: Show<'_>,
) -> Result<Io500Outcome, BenchError> {
    let clock = MonotonicClock::start();
    let requests = request.parts()?;
    let mut quiet: Vec<_> = requests.iter().map(|_| |_: &Stage<'_>| {}).collect();
    let mut session = Io500Session {
        request,
        interrupt,
        show,
        clock,
        parts: Vec::new(),
        results: Vec::new(),
    };
    for (part, show) in requests.iter().zip(&mut quiet) {
        match FilesSession::open(part, None, (interrupt, show, clock)) {
            Ok(part) => session.parts.push(part),
            Err(error) => return Err(session::abandon(&mut session, error)),
        }
    }
    session::carry_out(session)
}

struct Io500Session<'a> {
    request: &'a Io500Request,
    interrupt: &'a Interrupt,
    show: Show<'a>,
    clock: MonotonicClock,
    parts: Vec<FilesSession<'a>>,
    results: Vec<Io500Result>,
}

impl MeasurementSession for Io500Session<'_> {
    type Outcome = Io500Outcome;

    fn now(&mut self) -> Instant {
        self.clock.now()
    }

    /// All of its phases take as long as their work does.
    fn show(&mut self, stage: &Stage<'_>) {
        (self.show)(stage);
    }

    fn measure(&mut self) -> Result<(), BenchError> {
        for (number, phase) in Io500Phase::ALL.into_iter().enumerate() {
            (self.show)(&Stage {
                title: phase.name(),
                done: number as f64 / Io500Phase::ALL.len() as f64,
                elapsed: self.clock.now().since(Instant::START),
                ..Stage::default()
            });
            if let (Some(stop), None) = (stopped(self.interrupt), &self.request.bench.ranks) {
                return Err(stop);
            }
            let result = match part_of(phase) {
                Some((part, item)) => self.phase(phase, part, item)?,
                None => self.search()?,
            };
            self.results.push(result);
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    fn warnings(&mut self) -> Vec<Warning> {
        let mut warnings: Vec<Warning> = Vec::new();
        for warning in self.parts.iter().flat_map(|part| &part.warnings) {
            if !warnings.contains(warning) {
                warnings.push(warning.clone());
            }
        }
        warnings
    }

    fn clean_up(&mut self) -> Result<Vec<Warning>, BenchError> {
        let subjects = self.parts.iter_mut().flat_map(|part| &mut part.subjects);
        remove_all(subjects.collect(), self.request.bench.ranks.as_ref())
    }

    fn recorded(&self, _: &Status) -> (Setup, TargetDescription) {
        let target = self.parts[0].subjects[0].description.clone();
        (self.request.bench.setup.clone(), target)
    }

    fn complete(self, run: Run) -> Io500Outcome {
        let reasons = not_a_submission(&self.request.config, &self.results);
        let is_whole = self.results.len() == Io500Phase::ALL.len();
        let score = Io500Score::of(&self.results);
        let scores = [
            ("bandwidth", score.bandwidth),
            ("metadata", score.metadata),
            ("total", score.total),
        ];
        let scores = scores.into_iter().filter(|_| is_whole);
        let found = Io500Found {
            phases: self.results.iter().map(phase_found).collect(),
            scores: scores
                .map(|(name, score)| (name.to_owned(), score))
                .collect(),
            reasons: reasons.clone(),
        };
        Io500Outcome {
            run: Run {
                tables: found.tables(),
                ..run
            },
            results: self.results,
            reasons,
        }
    }
}

impl Io500Session<'_> {
    /// A phase of one part: its only pass.
    fn phase(
        &mut self,
        phase: Io500Phase,
        part: usize,
        item: FileItem,
    ) -> Result<Io500Result, BenchError> {
        let part = &mut self.parts[part];
        let cell = FileCell {
            role: FileSystemRole::Target,
            scale: 1,
            state: part.request.states[0],
            item,
        };
        if phase.has_stonewall() {
            part.perform(&FileStep::Initialise(cell.role))?;
            if let FileItem::Bandwidth(_) = item {
                part.perform(&FileStep::SharedFile(cell))?;
            }
        }
        part.perform(&FileStep::Measure { cell, pass: 1 })?;
        let played = part.played.get(&cell).and_then(|it| it.passes.last());
        Ok(result(phase, played.expect("its pass was kept")))
    }

    /// Look through all directories for files of mdtest-hard's size with a name that is wanted.
    fn search(&mut self) -> Result<Io500Result, BenchError> {
        let places: Vec<SearchedPlace> = self.parts.iter().map(SearchedPlace::of).collect();
        let share = self.parts[0].request.share();
        let clients = self.request.clients;
        let work = |part: &mut FilesSession<'_>| {
            let began = part.clock.now();
            let total = searched(&places, share, clients)?;
            Ok((part.clock.now().since(began).as_nanos(), total))
        };
        let part = &mut self.parts[0];
        let (elapsed_ns, total) = match part.peers.take() {
            None => work(part)?,
            Some(mut peers) => {
                let found = peers.round(
                    part,
                    |_| Ok(()),
                    work,
                    |all, _| {
                        let of_rank = |(late, (elapsed_ns, amount)): &(u64, (u64, u64))| RankPart {
                            ended_ns: late + elapsed_ns,
                            elapsed_ns: *elapsed_ns,
                            amount: *amount,
                            cpu_ns: None,
                        };
                        let began = all.iter().map(|(late, _)| *late).min().unwrap_or(0);
                        let ended = all.iter().map(|it| of_rank(it).ended_ns).max().unwrap_or(0);
                        let total: u64 = all.iter().map(|(_, (_, total))| total).sum();
                        ((ended - began, total), all.iter().map(of_rank).collect())
                    },
                );
                part.peers = Some(peers);
                found?
            }
        };
        let seconds = elapsed_ns as f64 / 1e9;
        Ok(Io500Result {
            phase: Io500Phase::Find,
            score: total as f64 / seconds / 1000.0,
            at_stonewall: None,
            seconds,
            stonewall_seconds: None,
        })
    }
}

fn result(phase: Io500Phase, pass: &FilePass) -> Io500Result {
    let rate = |bytes: u64, items: u64, ns: u64| {
        let seconds = ns as f64 / 1e9;
        match phase.is_bandwidth() {
            true => bytes as f64 / seconds / GIB,
            false => items as f64 / seconds / 1000.0,
        }
    };
    let wall = pass.stonewall;
    Io500Result {
        phase,
        score: rate(pass.bytes, pass.items.unwrap_or(0), pass.elapsed_ns),
        at_stonewall: wall.map(|it| rate(it.bytes, it.items, it.elapsed_ns)),
        seconds: pass.elapsed_ns as f64 / 1e9,
        stonewall_seconds: wall.map(|it| it.elapsed_ns as f64 / 1e9),
    }
}

fn phase_found(result: &Io500Result) -> Io500PhaseFound {
    let is_bandwidth = result.phase.is_bandwidth();
    let unit = if is_bandwidth { GIB } else { 1000.0 };
    Io500PhaseFound {
        name: result.phase.name().to_owned(),
        seconds: result.seconds,
        rate: result.score * unit,
        at_stonewall: result.at_stonewall.map(|it| it * unit),
        is_bandwidth,
    }
}

/// A directory that is searched, with those of its clients within.
struct SearchedPlace {
    path: PathBuf,
    directories: DirectoryUse,
}

impl SearchedPlace {
    fn of(part: &FilesSession<'_>) -> Self {
        Self {
            path: part.subjects[0].work_path().to_owned(),
            directories: part.request.directories(),
        }
    }
}

/// Search, each client of this host on a thread of its own; how many files it has seen. Directories
/// of one client are dealt in turn; of one of all, names are.
fn searched(places: &[SearchedPlace], share: ClientShare, clients: u32) -> Result<u64, BenchError> {
    let work = (0..share.count(clients)).map(|here| {
        let client = u64::from(share.client(here));
        move || searched_by(places, client, clients.into())
    });
    let ((), joined) =
        together(work, || ()).map_err(|error| BenchError::Refused(no_thread(&error)))?;
    let found = joined.into_iter();
    let found = found.map(|it| it.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
    found.sum::<io::Result<u64>>().map_err(|error| {
        BenchError::Refused(format!("find in {}: {error}", places[0].path.display()))
    })
}

fn searched_by(places: &[SearchedPlace], client: u64, clients: u64) -> io::Result<u64> {
    let mut total = 0;
    for place in places {
        let mut directories = Vec::new();
        for entry in fs::read_dir(&place.path)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                directories.push(entry.path());
            }
        }
        directories.sort_unstable();
        for (number, directory) in (0_u64..).zip(&directories) {
            match place.directories {
                DirectoryUse::Own if number % clients != client => {}
                DirectoryUse::Own => total += searched_in(directory, |_| true)?,
                DirectoryUse::Shared => {
                    total += searched_in(directory, |name| hashed(name) % clients == client)?;
                }
            }
        }
    }
    Ok(total)
}

/// How many of a directory's names are this client's; of those that are wanted the size is looked
/// at.
fn searched_in(directory: &Path, is_own: impl Fn(&[u8]) -> bool) -> io::Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if !is_own(name.as_encoded_bytes()) {
            continue;
        }
        total += 1;
        if name.to_string_lossy().contains(WANTED_NAME) {
            // That it is found is not counted; that its size was asked for takes the time.
            std::hint::black_box(entry.metadata()?.size() == HARD_FILE);
        }
    }
    Ok(total)
}

fn hashed(name: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}
