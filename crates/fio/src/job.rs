//! A job with every option resolved to a value.

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

/// Bytes, or a percentage of the file or device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    Bytes(u64),
    /// Percent, 0 to 100.
    Percent(u64),
}

impl Amount {
    /// The number of bytes for a total of `whole`.
    pub fn of(self, whole: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Percent(percent) => (u128::from(whole) * u128::from(percent) / 100) as u64,
        }
    }
}

/// Start and end of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobLimits {
    /// `runtime`; zero for none.
    pub runtime: Duration,
    /// Whether it always runs until then.
    pub is_time_based: bool,
    /// Unrecorded time at the start.
    pub ramp: Duration,
    /// Time before the start.
    pub delay: Duration,
    /// Number of loops.
    pub loops: u64,
    /// Requests after which it ends.
    pub requests: Option<u64>,
}

/// A rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimit {
    /// Bytes per second.
    Bytes(u64),
    /// Requests per second.
    Requests(u64),
}

/// Rate limits of a job's copy, by direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimits {
    /// Reads, writes and trims.
    pub rates: [Option<RateLimit>; 3],
    /// Whether gaps are exponential rather than equal.
    pub is_poisson: bool,
    /// Minimum below which the job ends; bytes per second take precedence over requests.
    pub least: Least,
}

/// Minimum rates of a job's copy, by direction; zero for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Least {
    /// Bytes per second of reads, writes and trims.
    pub bytes: [u64; 3],
    /// Requests per second of them.
    pub requests: [u64; 3],
    /// Averaging time.
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
    /// For reads, writes or trims, by number.
    pub const fn of(&self, direction: usize) -> Option<RateLimit> {
        match (self.bytes[direction], self.requests[direction]) {
            (0, 0) => None,
            (0, requests) => Some(RateLimit::Requests(requests)),
            (bytes, _) => Some(RateLimit::Bytes(bytes)),
        }
    }

    pub fn is_any(&self) -> bool {
        (0..3).any(|direction| self.of(direction).is_some())
    }
}

/// Zones of a file that a job uses one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zones {
    /// Whether there are any: `zonemode=strided`.
    pub are_strided: bool,
    /// Bytes to move in each.
    pub bytes: u64,
    /// Size of each; zero for the number of bytes to move.
    pub range: u64,
    /// Gap between two of them.
    pub skip: Amount,
}

/// A job's part in a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobFlow {
    /// Number of the flow.
    pub id: u32,
    /// Its weight; zero for none.
    pub weight: u32,
    /// How long it waits when held back.
    pub sleep: Duration,
}

/// Pauses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Think {
    /// Length; zero for none.
    pub time: Duration,
    /// Number of requests between pauses.
    pub after: u32,
    /// Whether these are counted when issued rather than when completed.
    pub counts_issued: bool,
    /// Whether rates stand still during pauses; otherwise the backlog is caught up.
    pub stops_rates: bool,
}

/// When written data is flushed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Syncs {
    /// Number of writes between `fsync` calls; zero for never.
    pub every: u64,
    /// Number of writes between `fdatasync` calls.
    pub data_every: u64,
    /// Number of writes between `sync_file_range` calls.
    pub range_every: u64,
    /// Steps of `sync_file_range`, in fio's words.
    pub range_steps: RangeSteps,
    /// Whether to flush at the end of the job.
    pub at_end: bool,
    pub each: Option<EachWrite>,
}

/// What `sync_file_range` does with written pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RangeSteps {
    pub waits_before: bool,
    pub writes: bool,
    pub waits_after: bool,
}

impl RangeSteps {
    /// Parses `write:8`, or `wait_before,write:8`: the steps, and the number of writes.
    ///
    /// # Errors
    /// A description of the error.
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

    /// The text that [`Self::parse`] parses.
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
    /// Number of writes between flushes; zero for never.
    pub const fn period(&self) -> u64 {
        match (self.every, self.data_every) {
            (0, 0) => self.range_every,
            (0, every) | (every, _) => every,
        }
    }

    /// Whether these use `fdatasync`.
    pub const fn are_of_data(&self) -> bool {
        self.every == 0 && self.data_every > 0
    }

    /// Steps of `sync_file_range`, if that is used.
    pub const fn range(&self) -> Option<RangeSteps> {
        let is_range = self.every == 0 && self.data_every == 0 && self.range_every > 0;
        match is_range {
            true => Some(self.range_steps),
            false => None,
        }
    }
}

/// Access pattern that fio announces to the kernel with `posix_fadvise`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileHint {
    /// The pattern of the job's requests.
    #[default]
    AsRequested,
    None,
    Random,
    Sequential,
}

/// How each write is made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EachWrite {
    /// Like a write to a file opened with `O_SYNC`.
    Sync,
    /// Like a write to a file opened with `O_DSYNC`.
    DataSync,
}

/// Reporting options.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reports {
    /// Whether copies and jobs of a group share one row.
    pub is_grouped: bool,
    /// Percentiles, 0 to 100; fio's default if empty.
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

/// Choice of the next file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileOrder {
    /// In turn.
    #[default]
    RoundRobin,
    /// At random.
    Random,
    /// The next one when one is finished.
    Sequential,
}

/// The files of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFiles {
    /// Named files, with their directory; shared by all copies.
    pub names: Vec<String>,
    /// Directories of unnamed files, in turn.
    pub directories: Vec<String>,
    /// Name format of unnamed files.
    pub format: String,
    /// Number of unnamed files.
    pub count: u32,
    /// Number of files open at once; zero for all.
    pub open: u32,
    /// Whether missing ones are created.
    pub may_be_made: bool,
    /// Whether they are removed at the end.
    pub are_removed: bool,
    /// Whether they fill the free space of their file system, up to its reserve.
    pub fill: bool,
    /// Minimum and maximum size of each; sizes in between are equally likely.
    pub each: Option<(u64, u64)>,
    /// Choice of the next file.
    pub order: FileOrder,
    /// Requests to one file before the next.
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

/// A log of requests that a job replays instead of generating its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayedLog {
    /// Its text.
    pub log: Option<Arc<str>>,
    /// Whether requests are issued as fast as `iodepth` allows, rather than as recorded.
    pub is_unpaced: bool,
    /// The file or device for the requests, instead of those named in the log.
    pub redirect: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Job {
    /// Start of its section.
    pub place: JobFilePosition,
    /// Its section, after which its files are named.
    pub section: String,
    /// Its name: the section's, or that of the option `name`.
    pub name: String,
    /// How requests access the storage.
    pub engine: FioEngine,
    /// The log to replay.
    pub replay: ReplayedLog,
    /// Its access pattern.
    pub pattern: RwPattern,
    /// Whether the page cache is bypassed.
    pub is_direct: bool,
    /// Block sizes of reads, writes and trims.
    pub blocks: [BlockSizes; 3],
    /// Alignment of reads, writes and trims, if given; otherwise their block size.
    pub alignment: [Option<u64>; 3],
    /// Whether block sizes of reads are for sequential requests, and those of writes for others.
    pub sizes_by_order: bool,
    /// Depth, if the engine supports it.
    pub depth: u32,
    /// Number of outstanding requests at which the depth is refilled, unless at each completion.
    pub refill_at: Option<u32>,
    /// Whether a synchronous engine has several requests at once, by `io_submit_mode=offload`.
    pub is_offloaded: bool,
    /// Number of copies.
    pub copies: u32,
    pub files: JobFiles,
    /// Size of the region over all its files.
    pub size: Option<Amount>,
    /// Bytes to move; the region's size by default.
    pub io_size: Option<Amount>,
    /// Start of the region in each file.
    pub offset: Amount,
    /// Additional start offset per copy.
    pub offset_increment: Amount,
    pub zones: Zones,
    /// Start and end.
    pub limits: JobLimits,
    /// Percentage of reads in a mix.
    pub read_percent: u32,
    /// Whether a block may be drawn again before all were.
    pub may_repeat: bool,
    /// Whether each is drawn once in any case, by a generator that visits all before it repeats
    /// any.
    pub draws_once: bool,
    /// Percentage of random requests, for reads, writes and trims.
    pub random_percent: [u32; 3],
    /// Distribution of random addresses.
    pub distribution: Distribution,
    /// When it flushes.
    pub syncs: Syncs,
    pub verify: Verify,
    /// Content of its writes.
    pub buffers: Buffers,
    /// Priorities of its requests.
    pub priorities: JobPriorities,
    /// Its rates.
    pub pace: RateLimits,
    /// Its pauses.
    pub think: Think,
    /// Its part in a flow of several jobs.
    pub flow: JobFlow,
    /// Reporting options.
    pub reports: Reports,
    /// Whether it waits for all earlier jobs.
    pub is_behind_wall: bool,
    /// The earlier job for which it waits.
    pub waits_for: Option<String>,
    /// Whether that includes all jobs concurrent with that one.
    pub waits: bool,
    /// Whether it starts a new group.
    pub begins_group: bool,
    /// Whether cached pages of its files are dropped first.
    pub drops_cache: bool,
    /// Its `fadvise_hint`.
    pub hint: FileHint,
    /// Whether its files are read first, to fill the page cache.
    pub is_read_before: bool,
    /// Whether its files are only created.
    pub only_creates: bool,
    /// Whether all concurrent jobs end with the first of them.
    pub ends_all: bool,
    /// Its steady-state criterion.
    pub steady: SteadyState,
    /// Whether failed operations are counted instead of ending the run.
    pub outlives_errors: bool,
    /// All options that apply to it, in the order in which they were read.
    pub given: Vec<Given>,
}

impl Job {
    /// Whether it runs to the end of its time in any case; without `runtime`, fio ignores
    /// `time_based`.
    pub fn is_timed(&self) -> bool {
        self.limits.is_time_based && self.limits.runtime > Duration::ZERO
    }

    /// Whether its engine submits requests and reaps them later, so that fio measures the
    /// submission.
    pub const fn has_submission(&self) -> bool {
        match self.engine.kind {
            EngineKind::Asynchronous => true,
            EngineKind::Null => self.depth > 1,
            EngineKind::Synchronous | EngineKind::Calls(_) => false,
        }
    }

    /// Name of a copy and its logs: fio uses the option `name` only for the first one.
    pub fn name_of_copy(&self, copy: u32) -> &str {
        match copy {
            0 => &self.name,
            _ => &self.section,
        }
    }

    /// Whether it starts when all earlier jobs have ended.
    pub const fn begins_phase(&self) -> bool {
        self.is_behind_wall || self.waits
    }

    /// Percentage of reads among its requests.
    pub const fn read_percent_effective(&self) -> u32 {
        match self.pattern.directions {
            Directions::Read => 100,
            Directions::Write | Directions::Trim | Directions::TrimWrite => 0,
            Directions::Mixed => self.read_percent,
        }
    }

    /// Whether its requests have times at which they are due.
    pub fn has_rate(&self) -> bool {
        let is_replayed = self.replay.log.is_some() && !self.replay.is_unpaced;
        is_replayed || self.pace.rates.iter().any(Option::is_some)
    }

    /// Whether its requests go in one direction, and are larger than those that it has for the
    /// other, in which fio's random map counts.
    pub fn exceeds_map(&self) -> bool {
        let [reads, writes] = [0, 1].map(|at| self.blocks[at].least());
        match self.read_percent_effective() {
            100 => reads > writes,
            0 if self.pattern.directions.writes() => writes > reads,
            _ => false,
        }
    }

    /// Alignment of random offsets, if not the block size.
    pub fn alignment_effective(&self) -> Option<u64> {
        match self.pattern.directions {
            Directions::Write | Directions::TrimWrite => self.alignment[1].or(self.alignment[0]),
            Directions::Trim => self.alignment[2].or(self.alignment[0]),
            Directions::Read | Directions::Mixed => self.alignment[0],
        }
    }

    /// The zones it uses.
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

    /// A job with fio's defaults.
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
