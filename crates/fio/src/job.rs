//! A job as it is meant: every option resolved to a value.

use std::sync::Arc;

use units::Duration;

use crate::blocks::BlockSizes;
use crate::buffers::Buffers;
use crate::engines::{EngineKind, FioEngine, PSYNC};
use crate::fault::JobFilePosition;
use crate::logs::JobLogs;
use crate::pattern::{Directions, Distribution, RwPattern};
use crate::priority::JobPriorities;
use crate::reader::Given;
use crate::steady::SteadyState;
use crate::verify::Verify;

/// Bytes, or a share of the file or device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    Bytes(u64),
    /// Percent, 0 to 100.
    Percent(u64),
}

impl Amount {
    /// How many bytes of `whole` it is.
    #[must_use]
    pub fn of(self, whole: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Percent(percent) => (u128::from(whole) * u128::from(percent) / 100) as u64,
        }
    }
}

/// When a job begins and ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobLimits {
    /// `runtime`; none where it is zero.
    pub runtime: Duration,
    /// Whether it goes on until then, however much was done.
    pub is_time_based: bool,
    /// Time at the start that does not count.
    pub ramp: Duration,
    /// Time before the start.
    pub delay: Duration,
    /// How often the amount is done.
    pub loops: u64,
    /// Requests after which it ends.
    pub requests: Option<u64>,
}

/// A limit of speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimit {
    /// Bytes per second.
    Bytes(u64),
    /// Requests per second.
    Requests(u64),
}

/// Limits of speed of a job's copy, by direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimits {
    /// Reads, writes and trims.
    pub rates: [Option<RateLimit>; 3],
    /// Whether gaps are exponential, and not equal.
    pub is_poisson: bool,
    /// Below which the job ends; bytes a second go before requests.
    pub least: Least,
}

/// The least speed of a job's copy, by direction; none where it is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Least {
    /// Bytes per second of reads, writes and trims.
    pub bytes: [u64; 3],
    /// Requests per second of them.
    pub requests: [u64; 3],
    /// Over which time it counts.
    pub cycle: Duration,
}

impl Default for Least {
    fn default() -> Self {
        Self {
            bytes: [0; 3],
            requests: [0; 3],
            cycle: Duration::from_secs(1),
        }
    }
}

impl Least {
    /// That of reads, writes or trims, by number.
    #[must_use]
    pub const fn of(&self, direction: usize) -> Option<RateLimit> {
        match (self.bytes[direction], self.requests[direction]) {
            (0, 0) => None,
            (0, requests) => Some(RateLimit::Requests(requests)),
            (bytes, _) => Some(RateLimit::Bytes(bytes)),
        }
    }

    #[must_use]
    pub fn is_any(&self) -> bool {
        (0..3).any(|direction| self.of(direction).is_some())
    }
}

/// Zones of a file, in which a job works one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zones {
    /// Whether there are any: `zonemode=strided`.
    pub are_strided: bool,
    /// Bytes to move in each.
    pub bytes: u64,
    /// Bytes of each; as many as are moved where it is zero.
    pub range: u64,
    /// Between two of them.
    pub skip: Amount,
}

/// A job's part of what the jobs of a flow do together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobFlow {
    /// Which flow.
    pub id: u32,
    /// Its weight; none where it is zero.
    pub weight: u32,
    /// How long it waits when it is held back.
    pub sleep: Duration,
}

/// Pauses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Think {
    /// How long; none where it is zero.
    pub time: Duration,
    /// After how many requests.
    pub after: u32,
    /// Whether those are counted as they are issued, not as they complete.
    pub counts_issued: bool,
    /// Whether rates stand still meanwhile; else what falls due is made up for.
    pub stops_rates: bool,
}

/// When what was written is flushed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Syncs {
    /// `fsync` after this many writes; never where it is zero.
    pub every: u64,
    /// `fdatasync` after this many writes.
    pub data_every: u64,
    /// `sync_file_range` after this many writes.
    pub range_every: u64,
    /// What that does, in fio's words.
    pub range_steps: RangeSteps,
    /// When the job ends.
    pub at_end: bool,
    pub each: Option<EachWrite>,
}

/// What `sync_file_range` does with pages that were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RangeSteps {
    pub waits_before: bool,
    pub writes: bool,
    pub waits_after: bool,
}

impl RangeSteps {
    /// Read `write:8`, or `wait_before,write:8`: the steps, and after how many writes.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<(Self, u64), String> {
        const FORM: &str = "write wait_before, write or wait_after, several with commas, and a \
                            number of writes, as in write:8";
        let (words, count) = text.split_once(':').ok_or(FORM)?;
        let count: u64 = count.trim().parse().map_err(|_| FORM)?;
        let mut steps = Self::default();
        for word in words.split(',') {
            match word.trim() {
                "wait_before" => steps.waits_before = true,
                "write" => steps.writes = true,
                "wait_after" => steps.waits_after = true,
                other => return Err(format!("{other:?} is no step. {FORM}")),
            }
        }
        Ok((steps, count))
    }

    /// The words that [`Self::parse`] reads.
    #[must_use]
    pub fn words(self) -> String {
        let words = [
            (self.waits_before, "wait_before"),
            (self.writes, "write"),
            (self.waits_after, "wait_after"),
        ];
        let words = words.into_iter().filter(|(is_on, _)| *is_on);
        words.map(|(_, word)| word).collect::<Vec<_>>().join(",")
    }
}

impl Syncs {
    /// After how many writes the file is flushed; never where it is zero.
    #[must_use]
    pub const fn period(&self) -> u64 {
        match (self.every, self.data_every) {
            (0, 0) => self.range_every,
            (0, every) | (every, _) => every,
        }
    }

    /// Whether that is by `fdatasync`.
    #[must_use]
    pub const fn are_of_data(&self) -> bool {
        self.every == 0 && self.data_every > 0
    }

    /// What `sync_file_range` does, where it is that.
    #[must_use]
    pub const fn range(&self) -> Option<RangeSteps> {
        let is_range = self.every == 0 && self.data_every == 0 && self.range_every > 0;
        match is_range {
            true => Some(self.range_steps),
            false => None,
        }
    }
}

/// The access pattern that fio announces to the kernel with `posix_fadvise`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileHint {
    /// That of the job's requests.
    #[default]
    AsRequested,
    None,
    Random,
    Sequential,
}

/// How each write is made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EachWrite {
    /// As into a file opened with `O_SYNC`.
    Sync,
    /// As into a file opened with `O_DSYNC`.
    DataSync,
}

/// What is reported.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reports {
    /// Whether copies and jobs of a group are one row.
    pub is_grouped: bool,
    /// Percentiles, 0 to 100; fio's own where empty.
    pub percentiles: Vec<f64>,
    pub percentiles_of: PercentilesOf,
    pub directions: ReportedDirections,
    pub logs: JobLogs,
}

/// Which times have percentiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PercentilesOf {
    /// fio's `slat`.
    pub submission: bool,
    /// fio's `clat`.
    pub completion: bool,
    /// fio's `lat`.
    pub whole: bool,
}

impl Default for PercentilesOf {
    fn default() -> Self {
        Self {
            submission: false,
            completion: true,
            whole: false,
        }
    }
}

/// fio's `unified_rw_reporting`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportedDirections {
    /// Reads, writes and trims.
    #[default]
    Apart,
    /// All as one.
    Together,
    /// Both.
    Both,
}

/// Which file the next request goes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileOrder {
    /// In turn.
    #[default]
    RoundRobin,
    /// Drawn.
    Random,
    /// One after the other is done.
    Sequential,
}

/// The files of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFiles {
    /// Those that are named, with their directory; all copies share them.
    pub names: Vec<String>,
    /// Where files are that are not named, in turn.
    pub directories: Vec<String>,
    /// How files are named that are not.
    pub format: String,
    /// How many there are, where they are not named.
    pub count: u32,
    /// How many are open at once; all where it is zero.
    pub open: u32,
    /// Whether those that are not there are made.
    pub may_be_made: bool,
    /// Whether they are removed at the end, where others are kept.
    pub are_removed: bool,
    /// Whether they take what is free on their file system, as far as its reserve.
    pub fill: bool,
    /// Least and most bytes of each; the sizes between are equally likely.
    pub each: Option<(u64, u64)>,
    /// Which one is next.
    pub order: FileOrder,
    /// Requests to one before the next.
    pub run: u32,
}

impl Default for JobFiles {
    fn default() -> Self {
        Self {
            names: Vec::new(),
            directories: Vec::new(),
            format: "$jobname.$jobnum.$filenum".into(),
            count: 1,
            open: 0,
            may_be_made: true,
            are_removed: false,
            fill: false,
            each: None,
            order: FileOrder::RoundRobin,
            run: 1,
        }
    }
}

/// A log of requests that a job repeats, in place of drawing its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayedLog {
    /// Its text.
    pub log: Option<Arc<str>>,
    /// Whether requests follow each other as fast as `iodepth` allows, and not as recorded.
    pub is_unpaced: bool,
    /// The file or device that they go to, in place of those that the log names.
    pub redirect: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Job {
    /// Where its section begins.
    pub place: JobFilePosition,
    /// Its section, after which its files are named.
    pub section: String,
    /// Its name: the section's, or that of `name`.
    pub name: String,
    /// How requests reach the storage.
    pub engine: FioEngine,
    /// What it repeats.
    pub replay: ReplayedLog,
    /// What it does.
    pub pattern: RwPattern,
    /// Whether the page cache is bypassed.
    pub is_direct: bool,
    /// Block sizes of reads, writes and trims.
    pub blocks: [BlockSizes; 3],
    /// What offsets of reads, writes and trims are multiples of, where that is said: their block
    /// size.
    pub alignment: [Option<u64>; 3],
    /// Whether block sizes of reads are those of requests in order, and of writes those of others.
    pub sizes_by_order: bool,
    /// Requests at once, where the engine takes several.
    pub depth: u32,
    /// Requests left outstanding at which the depth is filled again, where it is not filled as
    /// each one ends.
    pub refill_at: Option<u32>,
    /// Whether a synchronous engine has several requests at once, by `io_submit_mode=offload`.
    pub is_offloaded: bool,
    /// Copies of the job.
    pub copies: u32,
    pub files: JobFiles,
    /// The region of all its files.
    pub size: Option<Amount>,
    /// Bytes to move; the region's where nobody says.
    pub io_size: Option<Amount>,
    /// Where the region of each file begins.
    pub offset: Amount,
    /// How much further it begins for each copy.
    pub offset_increment: Amount,
    pub zones: Zones,
    /// When it begins and ends.
    pub limits: JobLimits,
    /// Percent of reads, where there are both.
    pub read_percent: u32,
    /// Whether a block may be drawn again before all were.
    pub may_repeat: bool,
    /// Whether it is drawn once all the same, by a generator that visits each before any again.
    pub draws_once: bool,
    /// Percent of requests whose address is drawn, of reads, writes and trims.
    pub random_percent: [u32; 3],
    /// How addresses are drawn.
    pub distribution: Distribution,
    /// When it flushes.
    pub syncs: Syncs,
    pub verify: Verify,
    /// What it writes.
    pub buffers: Buffers,
    /// How urgent its requests are.
    pub priorities: JobPriorities,
    /// How fast it goes.
    pub pace: RateLimits,
    /// Its pauses.
    pub think: Think,
    /// Its part of what several jobs do together.
    pub flow: JobFlow,
    /// What is reported.
    pub reports: Reports,
    /// Whether it waits for all jobs before it.
    pub is_behind_wall: bool,
    /// The job before it that it waits for.
    pub waits_for: Option<String>,
    /// Whether that means all that run side by side with that job.
    pub waits: bool,
    /// Whether it begins a group of its own.
    pub begins_group: bool,
    /// Whether cached pages of its files are dropped before.
    pub drops_cache: bool,
    /// Its `fadvise_hint`.
    pub hint: FileHint,
    /// Whether its files are read before, so that the page cache holds them.
    pub is_read_before: bool,
    /// Whether its files are made, and nothing else is done.
    pub only_creates: bool,
    /// Whether all jobs next to it end with the first of them.
    pub ends_all: bool,
    /// When it ends because it is steady.
    pub steady: SteadyState,
    /// Whether failed operations are counted, and do not end the run.
    pub outlives_errors: bool,
    /// Every option that holds for it, in the order in which they were read.
    pub given: Vec<Given>,
}

impl Job {
    /// Whether it goes on to the end of its time, however much it has done; without a `runtime` fio
    /// takes `time_based` back.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.limits.is_time_based && self.limits.runtime > Duration::ZERO
    }

    /// Whether its engine hands requests over and waits for their ends later, so that fio measures
    /// how long that takes.
    #[must_use]
    pub const fn has_submission(&self) -> bool {
        match self.engine.kind {
            EngineKind::Asynchronous => true,
            EngineKind::Null => self.depth > 1,
            EngineKind::Synchronous | EngineKind::Calls(_) => false,
        }
    }

    /// What a copy of it is called, and its logs are: fio gives the first one alone the name of
    /// `name`.
    #[must_use]
    pub fn name_of_copy(&self, copy: u32) -> &str {
        match copy {
            0 => &self.name,
            _ => &self.section,
        }
    }

    /// Whether it starts when all jobs before it have ended.
    #[must_use]
    pub const fn begins_phase(&self) -> bool {
        self.is_behind_wall || self.waits
    }

    /// Percent of reads among its requests.
    #[must_use]
    pub const fn read_percent_effective(&self) -> u32 {
        match self.pattern.directions {
            Directions::Read => 100,
            Directions::Write | Directions::Trim | Directions::TrimWrite => 0,
            Directions::Mixed => self.read_percent,
        }
    }

    /// What offsets that are drawn are multiples of, where it is not the block size.
    #[must_use]
    pub fn alignment_effective(&self) -> Option<u64> {
        match self.pattern.directions {
            Directions::Write | Directions::TrimWrite => self.alignment[1].or(self.alignment[0]),
            Directions::Trim => self.alignment[2].or(self.alignment[0]),
            Directions::Read | Directions::Mixed => self.alignment[0],
        }
    }

    /// The zones in which it works.
    #[must_use]
    pub fn zones_effective(&self) -> Option<Zones> {
        let zones = self.zones;
        (zones.are_strided && zones.bytes > 0).then_some(Zones {
            range: if zones.range > 0 {
                zones.range
            } else {
                zones.bytes
            },
            ..zones
        })
    }

    /// What a job is before any option is read.
    #[must_use]
    pub fn new(name: &str, place: &JobFilePosition) -> Self {
        Self {
            place: place.clone(),
            section: name.to_owned(),
            name: name.to_owned(),
            engine: PSYNC,
            replay: ReplayedLog::default(),
            pattern: RwPattern::READ,
            is_direct: false,
            blocks: [4096; 3].map(BlockSizes::fixed),
            alignment: [None; 3],
            sizes_by_order: false,
            depth: 1,
            refill_at: None,
            is_offloaded: false,
            copies: 1,
            files: JobFiles::default(),
            size: None,
            io_size: None,
            offset: Amount::Bytes(0),
            offset_increment: Amount::Bytes(0),
            zones: Zones {
                are_strided: false,
                bytes: 0,
                range: 0,
                skip: Amount::Bytes(0),
            },
            limits: JobLimits {
                loops: 1,
                ..JobLimits::default()
            },
            read_percent: 50,
            may_repeat: false,
            draws_once: false,
            random_percent: [100; 3],
            distribution: Distribution::Uniform,
            syncs: Syncs::default(),
            verify: Verify::default(),
            buffers: Buffers::default(),
            priorities: JobPriorities::default(),
            pace: RateLimits::default(),
            think: Think {
                time: Duration::ZERO,
                after: 1,
                counts_issued: false,
                stops_rates: false,
            },
            flow: JobFlow::default(),
            reports: Reports::default(),
            is_behind_wall: false,
            waits_for: None,
            waits: false,
            begins_group: false,
            drops_cache: true,
            hint: FileHint::default(),
            is_read_before: false,
            only_creates: false,
            ends_all: false,
            steady: SteadyState::OFF,
            outlives_errors: false,
            given: Vec::new(),
        }
    }
}
