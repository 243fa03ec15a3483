//! Where trials run: on real storage, in virtual time, or on the null driver.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::{
    Activity, Clock as _, DriverError, Engine, EngineOptions, EventLoop, Follower, KindRecord,
    KindSet, NullDriver, OnError, Record, RowKey, RowRecord,
};
use fleet::ClientShare;
use procedure::{
    Circumstances, Ending, Monitor, Standstill, Trial, TrialError, WithinLimit, first_error,
    run_inline, summarise,
};
use random::{Purpose, Stream};
use results::{Access, CpuCost, Interval, Measurement, SystemSeries};
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration, Instant};
use workload::{AddressError, AnyClient, Errno};

use drivers::{MISMATCH, null_loop};
use sys::MonotonicClock;

use crate::cells::Killed;
use crate::deal::{deal, members, since};
use crate::kept::{as_list, whole_measurement};
pub use crate::models::SimLaboratory;
use crate::workers::SLOT_WIDTH;
pub use crate::workers::Unanswered;
use host::counters::thread_cpu_ns;
use host::limits::check_clients;

/// Why a trial has no result.
#[derive(Debug, thiserror::Error)]
pub enum LaboratoryError {
    /// The trial failed.
    #[error("{title}: {error}")]
    Trial {
        /// Title of the trial.
        title: String,
        /// The error.
        error: TrialError,
    },
    /// The trial does not fit its target.
    #[error("{0}")]
    Misfit(String),
    /// There is not enough memory to verify writes: bytes of the targets, and of the ledger.
    #[error(
        "verifying {0} needs {1} of memory, more than half of what is available: use a smaller \
         size or larger blocks"
    )]
    LedgerMemory(Bytes, Bytes),
    /// The ledger of writes cannot be kept.
    #[error(transparent)]
    Ledger(#[from] verify::LedgerError),
    /// The state file cannot be created.
    #[error(transparent)]
    State(#[from] crate::state_file::StateFileError),
    /// A file or device cannot be used.
    #[error(transparent)]
    Target(#[from] drivers::TargetError),
    /// The machine's limits do not allow it.
    #[error(transparent)]
    Limit(#[from] host::limits::LimitError),
    /// One of several hosts cannot continue.
    #[error("{0}")]
    Host(String),
    /// The run is only replayed, and no further results were kept.
    #[error(transparent)]
    Killed(#[from] Killed),
}

impl LaboratoryError {
    /// A failure of the trial.
    pub fn of(trial: &Trial, error: TrialError) -> Self {
        Self::Trial {
            title: trial.title.clone(),
            error,
        }
    }

    pub(crate) fn of_addresses(trial: &Trial, error: &AddressError) -> Self {
        Self::Misfit(format!("{}: {error}", trial.title))
    }

    /// Direct I/O on the target requires block sizes that are multiples of `unit` bytes.
    pub fn misaligned(block: u64, unit: u32) -> Self {
        let meant = in_binary(block, unit);
        Self::Misfit(format!(
            "direct I/O is not possible here with blocks of {block} bytes. Use a block size that \
             is a multiple of {unit} bytes{meant}, or --buffered"
        ))
    }

    /// The same for the control threads of a workload, which has no options for it.
    pub(crate) fn misaligned_threads(trial: &Trial, bytes: u64, unit: u32) -> Self {
        Self::Misfit(format!(
            "{}: direct I/O of {bytes} bytes is not possible here. Make I/O size, block size and \
             offset multiples of {unit} bytes",
            trial.title
        ))
    }
}

/// What was meant by a block of thousands of bytes.
fn in_binary(block: u64, unit: u32) -> String {
    let kibi = block / 1_000;
    let is_meant = block.is_multiple_of(1_000) && (kibi * 1_024).is_multiple_of(unit.into());
    match is_meant {
        true => format!(" ({kibi}KiB has {} bytes, {kibi}kB {block})", kibi * 1_024),
        false => String::new(),
    }
}

/// An error with its causes.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// Outcome of a trial. A journal keeps it if the trial is complete.
#[derive(Debug, Serialize, Deserialize)]
pub struct Outcome {
    #[serde(with = "whole_measurement")]
    pub measurement: Measurement,
    /// Why the trial ended.
    pub ending: Ending,
    /// The failed operation, if any.
    #[serde(skip)]
    pub failure: Option<TrialError>,
    /// Times of transactions by the number of their profile.
    pub units: BTreeMap<u32, KindRecord>,
    /// Times by workload and kind of operation, if there are several workloads.
    #[serde(with = "as_list")]
    pub rows: BTreeMap<RowKey, RowRecord>,
    /// From the start to the end of the trial.
    pub elapsed: Duration,
    /// Activity of the machine by interval, if requested.
    pub series: Option<SystemSeries>,
    /// Response times by interval.
    pub intervals: Vec<Interval>,
    /// Relation to the limit, if the trial has one.
    pub within: Option<WithinLimit>,
    /// CPU work of a model's host, nanoseconds.
    pub model_cpu_ns: Option<u64>,
}

impl Outcome {
    /// Whether the trial ran to its end.
    pub fn is_whole(&self) -> bool {
        let is_cut = matches!(self.ending, Ending::Failed | Ending::Interrupted);
        !is_cut && self.failure.is_none()
    }
}

/// State of a running trial, for a screen.
#[derive(Clone, Debug, Default)]
pub struct Glimpse {
    /// Time since the trial's start.
    pub elapsed: Duration,
    /// Mean response time so far, nanoseconds, with its relative half-width, once known.
    pub response: Option<(f64, f64)>,
    /// Mean response time so far, nanoseconds, even without an interval.
    pub mean_ns: Option<f64>,
    /// Operations per second so far, once known.
    pub throughput: Option<f64>,
    /// 99th percentile of the response times so far, nanoseconds; `None` with too few.
    pub p99_ns: Option<f64>,
    /// Operations at the last evaluation; all so far if there are no evaluations.
    pub operations: u64,
    /// Mean bytes per operation, once known.
    pub operation_bytes: Option<f64>,
    /// Requests that the storage does not answer.
    pub unanswered: Option<Unanswered>,
}

impl Glimpse {
    pub fn of(monitor: &Monitor, elapsed: Duration, unanswered: Option<Unanswered>) -> Self {
        let latest = monitor.latest();
        let seconds = elapsed.as_secs_f64();
        let so_far = (seconds > 0.0).then(|| monitor.operations() as f64 / seconds);
        Self {
            elapsed,
            p99_ns: monitor.p99_ns(),
            response: latest.map(|now| (now.mean.value, now.mean.relative_half_width())),
            throughput: latest.map_or(so_far, |now| Some(now.throughput.value)),
            mean_ns: monitor.mean_ns(),
            operations: latest.map_or(monitor.operations(), |now| now.completions),
            operation_bytes: (monitor.operations() > 0)
                .then(|| monitor.bytes() as f64 / monitor.operations() as f64),
            unanswered,
        }
    }
}

/// Called during a trial; returns whether to continue.
pub type Watch<'a> = &'a mut dyn FnMut(&Glimpse) -> bool;

/// Runs trials.
pub trait Laboratory {
    /// Runs one trial.
    ///
    /// # Errors
    /// If nothing could be measured. A trial with a failed operation still has an outcome if
    /// anything was measured before, and always if failures are counted.
    fn measure(&mut self, trial: &Trial, watch: Watch<'_>) -> Result<Outcome, LaboratoryError>;

    /// Passes each operation of later trials to `follower`; `None` stops that.
    fn follow(&mut self, follower: Option<Arc<dyn Follower>>);

    /// The current time on the laboratory's clock, real or virtual.
    fn now(&self) -> Instant;
}

/// The seed of a trial, different for each trial but the same in a repeated run.
pub fn trial_seed(run: u64, salt: u64) -> u64 {
    Stream::new(run, salt, Purpose::Load).next_u64()
}

/// The operating system's name of an error.
pub fn error_name(errno: Errno) -> String {
    if errno == MISMATCH {
        return "the storage returned different data from what was written".into();
    }
    std::io::Error::from_raw_os_error(errno.0).to_string()
}

/// Trials on the null driver, which show the engine's own cost.
pub struct NullLaboratory {
    seed: u64,
    follower: Option<Arc<dyn Follower>>,
    clock: MonotonicClock,
}

impl NullLaboratory {
    /// A laboratory with no storage.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            follower: None,
            clock: MonotonicClock::start(),
        }
    }
}

impl Laboratory for NullLaboratory {
    fn measure(&mut self, trial: &Trial, watch: Watch<'_>) -> Result<Outcome, LaboratoryError> {
        let seed = trial_seed(self.seed, trial.salt);
        let driver = NullDriver::new(self.clock, trial.depth as usize);
        let began = Began {
            seed,
            start: self.clock.now(),
            on_error: OnError::Stop,
            cpu: Some(thread_cpu_ns()),
            follower: self.follower.clone(),
        };
        inline(trial, driver, null_loop, "null", began, watch)?.0
    }

    fn follow(&mut self, follower: Option<Arc<dyn Follower>>) {
        self.follower = follower;
    }

    fn now(&self) -> Instant {
        self.clock.now()
    }
}

/// A trial on a driver that a kind provides, on the calling thread. Also returns the driver.
///
/// # Errors
/// If nothing could be measured.
pub fn measure_on<D: engine::Driver>(
    trial: &Trial,
    driver: D,
    name: &str,
    (seed, on_error): (u64, OnError),
    watch: Watch<'_>,
) -> Result<(Result<Outcome, LaboratoryError>, D), LaboratoryError> {
    let began = Began {
        seed: trial_seed(seed, trial.salt),
        start: driver.now(),
        on_error,
        cpu: None,
        follower: None,
    };
    inline(trial, driver, |engine| engine, name, began, watch)
}

/// Start of a trial on the calling thread.
pub(crate) struct Began {
    pub(crate) seed: u64,
    pub(crate) start: Instant,
    pub(crate) on_error: OnError,
    /// CPU time of this thread, if it counts.
    pub(crate) cpu: Option<u64>,
    pub(crate) follower: Option<Arc<dyn Follower>>,
}

/// Outcome of a trial, and the driver after it.
pub(crate) type Ran<D> = (Result<Outcome, LaboratoryError>, D);

/// Runs a trial on the calling thread. `event_loop` returns the loop compiled with the driver.
pub(crate) fn inline<D: engine::Driver>(
    trial: &Trial,
    driver: D,
    event_loop: fn(&mut Engine<D, AnyClient>) -> &mut dyn EventLoop,
    name: &str,
    began: Began,
    watch: Watch<'_>,
) -> Result<Ran<D>, LaboratoryError> {
    let Began { seed, start, .. } = began;
    check_clients(trial.clients)?;
    let mut hands = deal(trial, ClientShare::WHOLE, seed, 1)
        .map_err(|error| LaboratoryError::of_addresses(trial, &error))?;
    let clients = hands.pop().unwrap_or_default();
    let before = driver.activity();
    let mut engine = Engine::new(driver, clients, alone(trial, start))
        .with_rows(since(&members(trial, 1)[0], start))
        .with_follower(began.follower)
        .with_errors(began.on_error);
    let mut monitor = monitor_of(trial, 1);
    let ran = run_inline(
        event_loop(&mut engine),
        &mut monitor,
        start,
        SLOT_WIDTH,
        &mut |monitor, elapsed| watch(&Glimpse::of(monitor, elapsed, None)),
    );
    let fail = |error: TrialError| LaboratoryError::of(trial, error);
    let (ending, elapsed) = ran.map_err(|error: DriverError| fail(error.into()))?;
    let spent = |before| thread_cpu_ns().saturating_sub(before);
    let cpu_ns = began.cpu.map(spent);
    let (record, driver) = engine.into_parts();
    let model_cpu_ns = worked_since(&driver, before);
    let circumstances = Circumstances {
        driver: name.into(),
        workers: 1,
        seed,
        nominal_depth: trial.depth,
        elapsed,
        on_error: began.on_error,
        standstill: Standstill::default(),
    };
    let failure = failure_of(&record, began.on_error);
    let outcome = summarise(trial, &monitor, &record, &circumstances, error_name)
        .map_err(|nothing| fail(failure.clone().unwrap_or(nothing)))
        .map(|mut measurement| {
            measurement.cpu = cpu_ns.and_then(|cpu_ns| cpu_cost(&measurement, cpu_ns, elapsed));
            Outcome {
                measurement,
                ending,
                failure,
                units: record.units,
                rows: record.rows,
                elapsed,
                series: monitor.series(1),
                intervals: monitor.intervals(),
                within: monitor.within_limit(),
                model_cpu_ns,
            }
        });
    Ok((outcome, driver))
}

/// Options of a trial's only engine.
fn alone(trial: &Trial, start: Instant) -> EngineOptions {
    EngineOptions {
        start,
        slot_width: SLOT_WIDTH,
        counted: KindSet::of(&trial.spec.counted_kinds()),
        first_client: 0,
        stride: 1,
    }
}

/// CPU work of a model's processors since then, if it has any.
fn worked_since(driver: &impl engine::Driver, before: Option<Activity>) -> Option<u64> {
    let done = driver.activity()?.since(&before?);
    done.cpu_busy_ns.filter(|&ns| ns > 0)
}

/// The error that ended a trial, if any.
pub fn failure_of(record: &Record, on_error: OnError) -> Option<TrialError> {
    match on_error {
        OnError::Stop => first_error(record, error_name),
        OnError::Count => None,
    }
}

/// The monitor of a trial.
pub fn monitor_of(trial: &Trial, workers: usize) -> Monitor {
    let monitor = Monitor::new(
        trial.goal,
        trial.channel,
        trial.duration_max,
        SLOT_WIDTH,
        workers,
        trial.clients_at_work(),
    )
    .arriving(trial.arrivals())
    .limited(trial.limit)
    .warming_up(trial.warm_up)
    .sampled(
        trial.sample_every,
        matches!(trial.access, Access::Buffered | Access::Simulated),
    );
    match trial.lead_in() {
        Some(lead_in) => monitor.all_at_work(lead_in),
        None => monitor,
    }
}

/// The same for one host's share of `whole`, whose last user may start on another host.
pub fn monitor_of_share(trial: &Trial, workers: usize, whole: &Trial) -> Monitor {
    let monitor = monitor_of(trial, workers);
    match whole.lead_in() {
        Some(lead_in) => monitor.all_at_work(lead_in),
        None => monitor,
    }
}

/// CPU time by unit of work.
pub fn cpu_cost(measurement: &Measurement, cpu_ns: u64, elapsed: Duration) -> Option<CpuCost> {
    let operations = measurement.completions_all;
    let mib = measurement.bytes_all as f64 / f64::from(1 << 20);
    (operations > 0).then(|| CpuCost {
        per_operation_ns: cpu_ns as f64 / operations as f64,
        per_mib_ns: (mib > 0.0).then(|| cpu_ns as f64 / mib),
        cores_busy: cpu_ns as f64 / elapsed.as_nanos().max(1) as f64,
    })
}
