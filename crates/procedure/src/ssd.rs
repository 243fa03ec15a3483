//! SSD steady state: rounds of a test's loads, until a trend larger than a limit is excluded. Each
//! round also gets the verdict by the letter of SNIA SSS PTS.
//!
//! Nothing is steady before the whole capacity was written twice, however the rounds look: as long
//! as there are spare blocks, an SSD is temporarily fast and even. A round that looks steady must
//! be confirmed by the next one. Source of the tests: SNIA, "Solid State Storage Performance Test
//! Specification" 2.0.2, 2020.

mod conclusions;
mod loads;
mod rules;
mod segments;

use results::{Access, Measurement, SsdCell, SsdCellRound, SsdLoad, SsdPattern, SsdRound, Tracked};
use stats::{DriftVerdict, Estimate, Goal, repeats_mean};
use units::{Bytes, Duration};
use workload::{
    AccessZone, AddressSpec, ClientSpec, Mix, MixSpec, OperationSize, Partition, Pattern, Region,
    ZoneSpan,
};

use crate::checkup::MAIN_DIRECT;
use crate::plan::Plan;
use crate::trial::Trial;

pub use conclusions::{ssd_findings, ssd_sayings, ssd_segments_saying, ssd_warnings};
pub use loads::{SsdPhasePlan, SsdTest};
pub use rules::{pts_window, round_trend};
pub use segments::{DemandPoint, SegmentLoad, SsdSegmentPlan, SsdSegmentProcedure};

/// How many times the capacity must be written before steady state is possible.
pub const LAPS_MIN: u64 = 2;
/// Number of writers in the passes before the first round.
const WRITERS: u32 = 4;
/// Time limit of a pass.
const PASS_MAX: Duration = Duration::from_secs(7 * 24 * 3600);
/// Sequential rounds continue at the end of the last one if at least this part of the target
/// follows.
const REST_MIN: u64 = 4;

/// Distribution of the composite load: percent of operations, and of the target.
const ZONES: [AccessZone; 3] = [zone(50, 5), zone(30, 15), zone(20, 80)];

const fn zone(percent: u32, of_target: u32) -> AccessZone {
    AccessZone {
        percent,
        span: ZoneSpan::Percent(of_target),
    }
}

/// Length of a load in a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RoundTime {
    /// As in the standard.
    Whole(Duration),
    /// Until the mean response time is this precise, or time is up.
    Precise {
        /// Relative half-width.
        precision: f64,
        most: Duration,
    },
}

impl RoundTime {
    /// Maximum time of a load in a round.
    pub const fn most(self) -> Duration {
        match self {
            Self::Whole(time) | Self::Precise { most: time, .. } => time,
        }
    }

    /// Whether the timing differs from the standard.
    pub const fn is_quick(self) -> bool {
        matches!(self, Self::Precise { .. })
    }
}

/// Options of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SsdOptions {
    /// Length of a load in a round.
    pub time: RoundTime,
    /// Maximum number of rounds; none if only time is limited.
    pub rounds_max: Option<u32>,
    /// No round of a test starts after this much time of rounds.
    pub budget: Duration,
    /// Largest change over the last half of the rounds that counts as steady, divided by the mean.
    pub trend_limit: f64,
    /// Rounds end once the capacity was written this many times.
    pub capacities: Option<u32>,
    /// Length of bursts and pauses relative to the standard.
    pub scale: f64,
}

/// Where loads go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SsdPlace {
    /// Bytes used of each host's target, from the first on.
    pub size: u64,
    /// Number of hosts. Each moves the bytes of a load.
    pub hosts: u32,
    /// Number of devices or files: one per host, or fewer if shared.
    pub shares: u32,
    /// How they are accessed.
    pub access: Access,
}

impl SsdPlace {
    /// The place of a single host.
    pub const fn alone(size: u64, access: Access) -> Self {
        Self {
            size,
            hosts: 1,
            shares: 1,
            access,
        }
    }

    /// Bytes used by all hosts.
    pub fn all(&self) -> u64 {
        self.size * u64::from(self.shares)
    }

    /// Bytes that all hosts write in `passes` passes over their own.
    pub fn written_in(&self, passes: u32) -> u64 {
        self.size * u64::from(passes) * u64::from(self.hosts)
    }
}

/// One load of one round, to be measured.
#[derive(Clone, Debug, PartialEq)]
pub struct SsdStep {
    /// Its index in the round.
    pub load: usize,
    /// Number of the round, from 1.
    pub round: u32,
    /// The trial.
    pub trial: Trial,
}

/// Result of a load in a round.
#[derive(Clone, Debug)]
struct SsdLoadPart {
    round: SsdCellRound,
    tracked: Estimate,
    p99: Option<Estimate>,
    p999: Option<Estimate>,
    max_ns: u64,
    errors: u64,
}

/// Chooses the next load, and evaluates the rounds.
pub struct SsdProcedure {
    plan: SsdPhasePlan,
    options: SsdOptions,
    place: SsdPlace,
    /// Number of the test in the run, so that each draws differently.
    number: u64,
    parts: Vec<Vec<SsdLoadPart>>,
    rounds: Vec<SsdRound>,
    next: usize,
    written: u64,
    elapsed: Duration,
    /// Bytes moved by each sequential load.
    moved: Vec<u64>,
    steady_round: Option<u32>,
    pts_round: Option<u32>,
}

impl SsdProcedure {
    /// A procedure for the `number`th test of the run, after `written` bytes were written.
    pub fn new(
        plan: SsdPhasePlan,
        options: SsdOptions,
        place: SsdPlace,
        (number, written): (u64, u64),
    ) -> Self {
        let loads = plan.loads.len();
        Self {
            plan,
            options,
            place,
            number,
            parts: vec![Vec::new(); loads],
            rounds: Vec::new(),
            next: 0,
            written,
            elapsed: Duration::ZERO,
            moved: vec![0; loads],
            steady_round: None,
            pts_round: None,
        }
    }
}

impl Plan for SsdProcedure {
    type Step = SsdStep;

    fn next_step(&mut self) -> Option<SsdStep> {
        if self.next == 0 && self.is_over() {
            return None;
        }
        let round = self.rounds.len() as u32 + 1;
        let load = self.next;
        Some(SsdStep {
            load,
            round,
            trial: self.trial(load, round),
        })
    }

    fn record(&mut self, step: &SsdStep, measured: &Measurement, took: Duration) {
        let load = self.plan.loads[step.load];
        let writes = measured.kinds.iter().filter(|kind| kind.kind == "write");
        self.written += writes.map(|kind| kind.bytes).sum::<u64>();
        self.moved[step.load] += measured.bytes_all;
        self.elapsed += took;
        let part = self.part(step.round, load, measured);
        self.parts[step.load].push(part);
        self.next += 1;
        if self.next == self.plan.loads.len() {
            self.next = 0;
            self.end_round(step.round);
        }
    }
}

impl SsdProcedure {
    /// The trial of the tracked load in the first round.
    pub fn tracked_trial(&self) -> Trial {
        self.trial(self.plan.tracked_load, 1)
    }

    /// Finished rounds.
    pub fn rounds(&self) -> &[SsdRound] {
        &self.rounds
    }

    /// The round from which it is steady, and the first that meets the letter of the standard.
    pub const fn verdicts(&self) -> (Option<u32>, Option<u32>) {
        (self.steady_round, self.pts_round)
    }

    /// Maximum remaining time of its rounds.
    pub const fn time_left(&self) -> Duration {
        self.options.budget.saturating_sub(self.elapsed)
    }

    /// Progress, 0 to 1.
    pub fn share_done(&self) -> f64 {
        let loads = self.plan.loads.len() as f64;
        let done = self.rounds.len() as f64 + self.next as f64 / loads;
        let rounds = self
            .options
            .rounds_max
            .map_or(0.0, |most| done / f64::from(most));
        let time = self.elapsed.as_secs_f64() / self.options.budget.as_secs_f64();
        rounds.max(time).min(1.0)
    }

    /// Each load over the rounds of the trend, or over all rounds if there are too few for one.
    /// Loads that were never measured are left out.
    pub fn cells(&self) -> Vec<SsdCell> {
        let trend = self.rounds.last().and_then(|round| round.trend);
        let first = trend.map_or(1, |it| it.first_round);
        let loads = self.plan.loads.iter().zip(&self.parts);
        loads
            .filter_map(|(&load, parts)| cell(load, parts, first))
            .collect()
    }

    fn part(&self, number: u32, load: SsdLoad, measured: &Measurement) -> SsdLoadPart {
        let round = SsdCellRound {
            number,
            iops: measured.throughput,
            latency_ns: latency_by_little(measured),
        };
        let tracked = match self.plan.tracked {
            Tracked::Iops => round.iops,
            Tracked::Latency => round.latency_ns,
            Tracked::Throughput => round.iops.scale(load.mean_bytes()),
        };
        SsdLoadPart {
            round,
            tracked,
            p99: measured.response.percentile(0.99),
            p999: measured.response.percentile(0.999),
            max_ns: measured.response.max_ns,
            errors: measured.errors_total(),
        }
    }

    fn end_round(&mut self, number: u32) {
        let parts = &self.parts[self.plan.tracked_load];
        let tracked: Vec<Estimate> = parts.iter().map(|part| part.tracked).collect();
        let values: Vec<f64> = tracked.iter().map(|it| it.value).collect();
        let pts = pts_window(&values, self.stride());
        let mut trend = round_trend(&values, self.options.trend_limit);
        if let Some(trend) = &mut trend
            && trend.verdict == DriftVerdict::Steady
            && self.written < LAPS_MIN * self.place.all()
        {
            trend.verdict = DriftVerdict::Undecided;
        }
        if pts.is_some_and(|window| window.is_met) {
            self.pts_round.get_or_insert(number);
        }
        let is_steady = |trend: Option<results::RoundTrend>| {
            trend.is_some_and(|it| it.verdict == DriftVerdict::Steady)
        };
        let was_steady = is_steady(self.rounds.last().and_then(|round| round.trend));
        match is_steady(trend) {
            true if was_steady => {
                self.steady_round.get_or_insert(number);
            }
            true => {}
            false => self.steady_round = None,
        }
        self.rounds.push(SsdRound {
            number,
            end_ns: self.elapsed.as_nanos(),
            written_bytes: self.written,
            tracked: tracked[tracked.len() - 1],
            pts,
            trend,
        });
    }

    /// Distance between the rounds of a window; short rounds need no timing.
    pub const fn stride(&self) -> u32 {
        match self.options.time.is_quick() {
            true => 1,
            false => self.plan.stride,
        }
    }

    /// Ends when steady and the standard has a complete window, or at a limit.
    fn is_over(&self) -> bool {
        let done = self.rounds.len() as u32;
        let has_window = done > (rules::WINDOW - 1) * self.stride();
        let is_steady = self.steady_round.is_some() && has_window;
        let is_last = self.options.rounds_max.is_some_and(|most| done >= most);
        let full = self
            .options
            .capacities
            .map(|times| self.place.all() * u64::from(times));
        let is_full = done > 0 && full.is_some_and(|full| self.written >= full);
        is_steady
            || is_last
            || is_full
            || !self.plan.has_rounds
            || done > 0 && self.elapsed >= self.options.budget
    }

    fn trial(&self, place: usize, round: u32) -> Trial {
        let load = self.plan.loads[place];
        let salt = self.number << 48 | u64::from(round) << 16 | place as u64;
        let goal = match self.options.time {
            RoundTime::Whole(_) => None,
            RoundTime::Precise { precision, .. } => Some(Goal::result(precision)),
        };
        let start = sequential_start(self.place, load, self.moved[place]);
        let times = match place {
            0 => self.plan.first_times,
            _ => 1,
        };
        let test = self.plan.name;
        let name = format!("ssd-{test}-{}-round-{round}", name(&load));
        let spec = ClientSpec::Mix(spec(&load, start, self.place.size));
        Trial {
            title: title(&load),
            clients: load.depth,
            depth: load.depth,
            goal,
            duration_max: self.options.time.most() * u64::from(times),
            salt,
            // The standard averages the whole round.
            warm_up: Some(Duration::ZERO),
            ..Trial::new(name, spec, self.place.access)
        }
    }
}

/// Where a sequential load continues after moving that many bytes. It wraps around to its start, so
/// it restarts at the first byte if little is left. Other loads start there.
fn sequential_start(place: SsdPlace, load: SsdLoad, moved: u64) -> u64 {
    let size = place.size;
    let stripe = load.block_bytes * u64::from(load.depth);
    let moved = moved / u64::from(place.hosts.max(1));
    let start = moved % size / stripe * stripe;
    let rest = size - start;
    let goes_on = load.pattern == SsdPattern::Sequential && rest >= (size / REST_MIN).max(stripe);
    if goes_on { start } else { 0 }
}

impl SsdPhasePlan {
    /// The sequential writes before the first round, `passes` times from end to end.
    pub fn precondition_trial(&self, place: SsdPlace, passes: u32, number: u64) -> Trial {
        let block = self.precondition_block;
        let load = SsdLoad {
            block_bytes: block,
            read_percent: 0,
            pattern: SsdPattern::Sequential,
            depth: WRITERS,
        };
        let mut spec = spec(&load, 0, place.size);
        let each = (place.size / block).div_ceil(u64::from(WRITERS));
        spec.operations = Some(each * u64::from(passes));
        let name = format!("ssd-{}-precondition", self.name);
        Trial {
            title: format!("writing {} {passes} times", Bytes(place.size)),
            clients: WRITERS,
            depth: WRITERS,
            duration_max: PASS_MAX,
            salt: number << 48,
            ..Trial::new(name, ClientSpec::Mix(spec), place.access)
        }
    }
}

/// Description of a load.
fn title(load: &SsdLoad) -> String {
    let what = match load.read_percent {
        100 => "read".to_owned(),
        0 => "write".to_owned(),
        reads => format!("{reads}/{} mix", 100 - reads),
    };
    let pattern = load.pattern.name();
    let block = match load.pattern {
        SsdPattern::Composite => "of many sizes".to_owned(),
        _ => Bytes(load.block_bytes).to_string(),
    };
    format!("{pattern} {what} {block}, depth {}", load.depth)
}

fn name(load: &SsdLoad) -> String {
    let (pattern, block, reads) = (load.pattern.name(), load.block_bytes, load.read_percent);
    format!("{pattern}-{block}-read-{reads}")
}

fn spec(load: &SsdLoad, start: u64, size: u64) -> MixSpec {
    // Operations larger than a block must fit behind the last one.
    let size = size - (load.largest() - load.block_bytes);
    let len = (size - start) / load.block_bytes * load.block_bytes;
    let region = Region {
        offset: start,
        ..Region::first(MAIN_DIRECT, len, load.block_bytes)
    };
    let addresses = match load.pattern {
        SsdPattern::Random => AddressSpec::random(region),
        SsdPattern::Composite => AddressSpec {
            pattern: Pattern::Zoned { zones: ZONES },
            ..AddressSpec::random(region)
        },
        SsdPattern::Sequential => AddressSpec {
            partition: Partition::Interleaved,
            ..AddressSpec::sequential(region)
        },
    };
    let mix = Mix {
        read: load.read_percent,
        write: 100 - load.read_percent,
        flush: 0,
    };
    let sizes = load
        .sizes()
        .map(|(len, weight)| OperationSize { len, weight });
    MixSpec {
        sizes: sizes.collect(),
        ..MixSpec::closed(addresses, mix)
    }
}

fn cell(load: SsdLoad, parts: &[SsdLoadPart], first: u32) -> Option<SsdCell> {
    let of_result = || parts.iter().filter(move |part| part.round.number >= first);
    let rounds: Vec<SsdCellRound> = of_result().map(|part| part.round).collect();
    let last = rounds.last()?;
    let known = |of: fn(&SsdLoadPart) -> Option<Estimate>| {
        let found: Vec<Estimate> = of_result().filter_map(of).collect();
        mean_of(&found)
    };
    Some(SsdCell {
        load,
        iops: mean_of(&rounds.iter().map(|it| it.iops).collect::<Vec<_>>()).unwrap_or(last.iops),
        latency_ns: mean_of(&rounds.iter().map(|it| it.latency_ns).collect::<Vec<_>>())
            .unwrap_or(last.latency_ns),
        p99_ns: known(|part| part.p99),
        p999_ns: known(|part| part.p999),
        max_ns: of_result().map(|part| part.max_ns).max().unwrap_or(0),
        errors: parts.iter().map(|part| part.errors).sum(),
        rounds,
    })
}

/// Mean latency of a round by Little's law. Requests outstanding at the end count with their time
/// so far, as completed ones do. Otherwise slow operations would be left out, which are many in
/// short rounds at high depths.
fn latency_by_little(measured: &Measurement) -> Estimate {
    let mean = measured.response.mean;
    let done = mean.value * measured.completions_all as f64;
    let rest = measured.unfinished;
    let rest = rest.map_or(0.0, |it| it.waited_mean_ns * it.count as f64);
    match done > 0.0 {
        true => mean.scale(1.0 + rest / done),
        false => mean,
    }
}

/// The mean of rounds; for a single one its own estimate.
fn mean_of(rounds: &[Estimate]) -> Option<Estimate> {
    let values: Vec<f64> = rounds.iter().map(|it| it.value).collect();
    repeats_mean(&values).or(rounds.last().copied())
}
