//! A single trial: runs it on one thread, and summarises it.

use engine::{DriverError, EngineState, EventLoop, KindRecord, OnError, Record};
use results::{
    ErrorClass, ErrorCount, KindTimes, Lateness, Measurement, Resolution, Tails, Times,
    WarningCode, histogram_text,
};
use stats::{
    Channel, Drift, DriftVerdict, Estimate, Evaluation, Finding, Histogram, PercentileEstimate,
    Tail, Verdict,
};
use units::{Bytes, Duration, Instant};
use workload::{ClientSpec, Errno, OpKind};

use crate::doubts::doubts;
use crate::failures::{Failures, short_operations};
use crate::mixed::estimate_kinds;
use crate::own_limits::{room_wait, standstill, storages_own};
use crate::transactions::value_at;
use crate::trial::Trial;
use crate::unfinished::{
    count_longest, count_unfinished, is_kept_back, silence_at_end, unfinished,
};
use monitor::{Ending, Monitor};

/// Base slots between two checks of the clock.
const SLICE_SLOTS: u64 = 16;
/// Upper bound, with 95 % confidence, of the expected number of independent events if none was
/// observed: -ln 0.05.
const NONE_SEEN: f64 = 2.996;

/// Warnings that more time would remove.
const WANTS_TIME: [WarningCode; 4] = [
    WarningCode::NotConverged,
    WarningCode::TooFewSamples,
    WarningCode::TooShort,
    WarningCode::NotStationary,
];

/// Runs an engine and its monitor on this thread, in virtual time or with a single worker. `go_on`
/// is called between slices.
///
/// # Errors
/// If the driver fails.
pub fn run_inline(
    engine: &mut dyn EventLoop,
    monitor: &mut Monitor,
    start: Instant,
    slot_width: Duration,
    go_on: &mut dyn FnMut(&Monitor, Duration) -> bool,
) -> Result<(Ending, Duration), DriverError> {
    let slice = slot_width * SLICE_SLOTS;
    monitor.begin_sampling(engine.activity().unwrap_or_default());
    let mut until = start + slice;
    let (ending, end) = loop {
        let state = engine.run_until(until)?;
        let now = match state {
            EngineState::Running => until.max(engine.now()),
            EngineState::Finished | EngineState::Overloaded => engine.now(),
        };
        let elapsed = now.since(start);
        monitor.push(0, engine.recorder_mut().take_slots(), elapsed);
        if monitor.is_sample_due(elapsed) {
            monitor.close_sample(elapsed, &engine.activity().unwrap_or_default());
        }
        match state {
            EngineState::Finished => break (Ending::Finished, elapsed),
            EngineState::Overloaded => break (Ending::Overloaded, elapsed),
            EngineState::Running => {}
        }
        if engine.has_failed() {
            break (Ending::Failed, elapsed);
        }
        if let Some(ending) = monitor.decide(elapsed) {
            break (ending, elapsed);
        }
        if !go_on(monitor, elapsed) {
            break (Ending::Interrupted, elapsed);
        }
        until = now + slice;
    };
    let end_instant = start + end + slot_width;
    engine.note_unfinished(start + end);
    engine.recorder_mut().close_until(end_instant);
    monitor.push(0, engine.recorder_mut().take_slots(), end);
    monitor.close_sample(end, &engine.activity().unwrap_or_default());
    monitor.finish(end);
    let ending = if engine.has_failed() {
        Ending::Failed
    } else {
        ending
    };
    Ok((ending, end))
}

/// Circumstances of a trial besides its slots.
#[derive(Clone, Debug)]
pub struct Circumstances {
    /// The driver that executed the requests.
    pub driver: String,
    /// Number of workers.
    pub workers: u32,
    /// Seed of the clients' random streams.
    pub seed: u64,
    /// Maximum number of outstanding requests.
    pub nominal_depth: u32,
    /// From the start to the end of the trial.
    pub elapsed: Duration,
    /// What a failed operation did to the trial.
    pub on_error: OnError,
    /// When this program stood still.
    pub standstill: Standstill,
}

/// How long this program was stopped or got no processor, as measured by a watching thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standstill {
    /// Total.
    pub total: Duration,
    /// Longest single standstill.
    pub longest: Duration,
}

impl Standstill {
    /// Records a standstill.
    pub fn note(&mut self, length: Duration) {
        self.total += length;
        self.longest = self.longest.max(length);
    }
}

/// Why a trial has no measurement.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TrialError {
    /// An operation failed.
    #[error("{kind} failed: {name}{}", times_failed(*count))]
    Operation {
        /// Kind of operation.
        kind: String,
        /// Name of the error.
        name: String,
        /// Number of failures.
        count: u64,
    },
    /// No operation completed in the allowed time.
    #[error(
        "no operation completed in {elapsed}: the storage does not answer, or the load is \
         lower than that"
    )]
    Nothing {
        /// Time allowed.
        elapsed: Duration,
    },
    /// The storage did not respond, and the run continued without it.
    #[error(
        "{operations} outstanding for {span}: the storage does not answer (--hang-limit {limit})"
    )]
    Hung {
        /// Number of operations, with their noun.
        operations: String,
        /// How long nothing completed.
        span: Duration,
        /// How long it waited after the end of the trial.
        limit: Duration,
    },
    /// The reserve of free space would have been used.
    #[error(
        "stopped: {available} are free, {reserve} must stay free, and the file system is \
         copy-on-write, so rewriting takes space. Use a smaller test file (--size), keep less free \
         (--reserve), or free some space"
    )]
    Space {
        /// Free bytes.
        available: Bytes,
        /// Bytes that must stay free.
        reserve: Bytes,
    },
    /// The driver failed.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

/// The most frequent error of a record, if any. Short transfers are excluded: they make numbers
/// invalid but do not end a trial.
pub fn first_error(record: &Record, name: impl Fn(Errno) -> String) -> Option<TrialError> {
    let all = errors(record, name).into_iter();
    most_frequent(all.filter(|error| error.class != ErrorClass::Short))
}

fn most_frequent(errors: impl Iterator<Item = ErrorCount>) -> Option<TrialError> {
    let ErrorCount {
        kind, name, count, ..
    } = errors.max_by_key(|error| error.count)?;
    Some(TrialError::Operation { kind, name, count })
}

/// The result if nothing completed: failures that count are a measurement.
fn nothing_done(
    trial: &Trial,
    record: &Record,
    circumstances: &Circumstances,
    name: impl Fn(Errno) -> String,
) -> Result<Measurement, TrialError> {
    let elapsed = circumstances.elapsed;
    let errors = errors(record, name);
    match most_frequent(errors.iter().cloned()) {
        None => Err(TrialError::Nothing { elapsed }),
        Some(failure) if circumstances.on_error == OnError::Stop => Err(failure),
        Some(_) => Ok(none_done(trial, record, circumstances, errors)),
    }
}

/// The measurement of a trial in which every operation failed: no response time, zero operations
/// per second, and the failures with their times.
pub(crate) fn none_done(
    trial: &Trial,
    record: &Record,
    circumstances: &Circumstances,
    errors: Vec<ErrorCount>,
) -> Measurement {
    let elapsed = circumstances.elapsed;
    let with_storage = |error: &ErrorCount| error.service_mean_ns * error.count as f64;
    let busy_ns: f64 = errors.iter().map(with_storage).sum();
    let mut measurement = Measurement {
        throughput: Estimate {
            high: NONE_SEEN / elapsed.as_secs_f64().max(1e-9),
            ..Estimate::exact(0.0, 0.0)
        },
        kinds: kinds(record),
        short: shorts(record),
        unfinished: unfinished(record),
        lateness: lateness(&record.lateness),
        duration_ns: elapsed.as_nanos(),
        effective_depth: busy_ns / elapsed.as_nanos().max(1) as f64,
        verdict: verdict(trial, None, elapsed),
        errors,
        ..asked(trial, circumstances)
    };
    let failed = Failures::of(&measurement).warning(&measurement.title);
    let short = short_operations(&measurement);
    measurement.warnings = failed.into_iter().chain(short).collect();
    measurement
}

/// Properties of a trial known before anything is summarised.
fn asked(trial: &Trial, circumstances: &Circumstances) -> Measurement {
    Measurement {
        name: trial.name.clone(),
        title: trial.title.clone(),
        workload: Some(trial.spec.clone()),
        work: trial.work(),
        clients: trial.clients_at_work(),
        workers: circumstances.workers,
        access: trial.access,
        driver: circumstances.driver.clone(),
        seed: circumstances.seed,
        offered: trial.offered(),
        nominal_depth: circumstances.nominal_depth,
        ..Measurement::empty()
    }
}

fn times_failed(count: u64) -> String {
    match count {
        0 | 1 => String::new(),
        count => format!(" ({count} times)"),
    }
}

/// Summarises a trial.
///
/// # Errors
/// If nothing was done at all. If every operation failed and failures count, the measurement
/// consists of the failures.
pub fn summarise(
    trial: &Trial,
    monitor: &Monitor,
    record: &Record,
    circumstances: &Circumstances,
    name: impl Fn(Errno) -> String,
) -> Result<Measurement, TrialError> {
    let elapsed = circumstances.elapsed;
    let Some(counted) = counted_record(trial, record) else {
        return nothing_done(trial, record, circumstances, &name);
    };
    let response = monitor.evaluate_at(Channel::Response, &trial.percentiles());
    let service = monitor.evaluate_at(Channel::Service, &trial.percentiles());
    let series = |found: Option<&Evaluation>| found?.window(monitor.store());
    let chosen = match trial.channel {
        Channel::Response => response.as_ref(),
        Channel::Service => service.as_ref(),
    };
    let service_times = times(trial, service.as_ref(), &counted.service);
    let (completions_all, bytes_all) = (counted.response.len(), bytes_of(record));
    let throughput = throughput_of(chosen, completions_all, elapsed);
    let effective_depth = effective_depth(trial, record, elapsed, throughput, &service_times);
    let mut measurement = Measurement {
        response: times(trial, response.as_ref(), &counted.response),
        service: service_times,
        throughput,
        bandwidth: bandwidth(throughput, bytes_all, completions_all),
        lateness: lateness(&record.lateness),
        kinds: kinds(record),
        errors: errors(record, name),
        short: shorts(record),
        unfinished: unfinished(record),
        room: room_wait(&record.room, record),
        completions: chosen.map_or(completions_all, |evaluation| evaluation.completions),
        completions_all,
        bytes_all,
        duration_ns: chosen.map_or(elapsed.as_nanos(), |evaluation| evaluation.duration_ns),
        warmup_ns: chosen.map_or(0, |evaluation| evaluation.cut.nanos),
        effective_depth,
        verdict: verdict(trial, chosen, elapsed),
        drift: chosen.map_or(no_drift(), |evaluation| evaluation.drift),
        snia_steady: chosen.map(|evaluation| evaluation.is_steady_by_snia),
        window: series(response.as_ref()),
        service_window: series(service.as_ref()),
        tails: tails(trial, monitor, response.as_ref(), service.as_ref()),
        service_quantiles: quantiles(trial, monitor, service.as_ref()),
        ..asked(trial, circumstances)
    };
    let (found, known) = (
        findings(chosen, monitor, record),
        (&counted, record, circumstances),
    );
    estimate_kinds(&mut measurement, record);
    judge(trial, &mut measurement, known, &found);
    Ok(measurement)
}

/// Adds the resolution, unfinished operations, and warnings.
fn judge(
    trial: &Trial,
    measurement: &mut Measurement,
    (counted, record, circumstances): (&KindRecord, &Record, &Circumstances),
    findings: &[Finding],
) {
    let mean_whole_ns = counted.response.mean();
    let (count, length) = (measurement.completions, measurement.duration_ns);
    measurement.resolution = Some(Resolution::of(count, length));
    if is_kept_back(trial, measurement, mean_whole_ns) {
        count_unfinished(
            measurement,
            (record, &counted.response),
            circumstances.elapsed,
        );
    }
    count_longest(measurement, record);
    let standstill = standstill(measurement, circumstances);
    let findings = match &standstill {
        Some(_) => storages_own(findings, circumstances.standstill),
        None => findings.to_vec(),
    };
    measurement.warnings = doubts(trial, measurement, mean_whole_ns, &findings);
    measurement.warnings.splice(0..0, standstill);
    if circumstances.on_error == OnError::Stop && !measurement.errors.is_empty() {
        // The trial ended because of that, and not for lack of time.
        let of_time = measurement.warnings.iter_mut();
        let of_time = of_time.filter(|it| WANTS_TIME.contains(&it.code));
        of_time.for_each(|it| it.advice.clear());
    }
    if circumstances.on_error == OnError::Count {
        let failed = Failures::of(measurement).warning(&measurement.title);
        measurement.warnings.extend(failed);
    }
}

fn bytes_of(record: &Record) -> u64 {
    record.kinds.values().map(|kind| kind.bytes).sum()
}

fn bandwidth(throughput: Estimate, bytes: u64, completions: u64) -> Option<Estimate> {
    (bytes > 0).then(|| throughput.scale(bytes as f64 / completions as f64))
}

/// Anomalies. If the trial was too short, only its stalls are known.
fn findings(evaluation: Option<&Evaluation>, monitor: &Monitor, record: &Record) -> Vec<Finding> {
    let mut findings = evaluation.map_or_else(Vec::new, |known| known.findings.clone());
    let Some(stalls) = monitor.store().stalls(silence_at_end(record)) else {
        return findings;
    };
    // Periodic stalls explain them, and have their own warning.
    let is_periodic = stalls.period_ns.is_some();
    findings.retain(|it| !(is_periodic && matches!(it, Finding::Oscillation { .. })));
    findings.insert(0, Finding::Stalled(stalls));
    findings
}

/// A trial without a goal that ran to its end has not missed any.
fn verdict(trial: &Trial, found: Option<&Evaluation>, elapsed: Duration) -> Verdict {
    let verdict = found.map_or(Verdict::Budget { is_citable: false }, |known| known.verdict);
    let is_over = trial.ends_after().is_none_or(|time| elapsed >= time);
    match verdict {
        Verdict::Budget { is_citable } | Verdict::Short { is_citable }
            if trial.goal.is_none() && is_over =>
        {
            Verdict::Timed { is_citable }
        }
        other => other,
    }
}

/// The percentile of the goal, with its influence series.
fn tails(
    trial: &Trial,
    monitor: &Monitor,
    response: Option<&Evaluation>,
    service: Option<&Evaluation>,
) -> Option<Tails> {
    let p = trial.goal?.percentile?;
    let tail = |channel, known| Tail::of(monitor.store(), channel, known, p);
    Some(Tails {
        response: response.and_then(|known| tail(Channel::Response, known)),
        service: service.and_then(|known| tail(Channel::Service, known)),
    })
}

/// Percentiles of the service time, however few samples they rest on.
fn quantiles(
    trial: &Trial,
    monitor: &Monitor,
    service: Option<&Evaluation>,
) -> Vec<PercentileEstimate> {
    let quantiles = |known| monitor.quantiles(Channel::Service, known, &trial.percentiles());
    service.map_or_else(Vec::new, quantiles)
}

fn counted_record(trial: &Trial, record: &Record) -> Option<KindRecord> {
    let mut sum = KindRecord::default();
    for unit in record.units.values() {
        sum.merge(unit);
    }
    for kind in trial.spec.counted_kinds() {
        if let Some(kind) = record.kinds.get(&kind) {
            sum.merge(kind);
        }
    }
    (!sum.response.is_empty()).then_some(sum)
}

/// Mean number of requests in the storage.
fn effective_depth(
    trial: &Trial,
    record: &Record,
    elapsed: Duration,
    throughput: Estimate,
    service: &Times,
) -> f64 {
    match &trial.spec {
        ClientSpec::Users(_) | ClientSpec::Own(_) | ClientSpec::Jobs(_) => {
            requests_at_storage(record, elapsed)
        }
        _ => throughput.value * service.mean.value / 1e9,
    }
}

/// Mean number of requests in the storage over the whole trial: total service time over elapsed
/// time.
fn requests_at_storage(record: &Record, elapsed: Duration) -> f64 {
    let of_storage = record
        .kinds
        .iter()
        .filter(|(kind, _)| **kind != OpKind::Compute);
    let busy: f64 = of_storage
        .map(|(_, kind)| kind.service.mean() * kind.service.len() as f64)
        .sum();
    busy / elapsed.as_nanos().max(1) as f64
}

fn times(trial: &Trial, evaluation: Option<&Evaluation>, histogram: &Histogram) -> Times {
    let of_all = |p: &f64| {
        let estimate = Estimate::exact(value_at(histogram, *p), 0.0);
        PercentileEstimate::judged(*p, estimate, 0.0)
    };
    Times {
        mean: evaluation.map_or_else(
            || unknown(histogram.mean(), histogram.len()),
            |known| known.mean,
        ),
        percentiles: evaluation.map_or_else(
            || trial.percentiles().iter().map(of_all).collect(),
            |known| {
                let percentiles = known.percentiles.iter();
                let capped = percentiles.map(|it| at_most(*it, histogram.max()));
                capped.collect()
            },
        ),
        min_ns: histogram.min(),
        max_ns: histogram.max(),
    }
}

fn throughput_of(evaluation: Option<&Evaluation>, completions: u64, elapsed: Duration) -> Estimate {
    let plain = completions as f64 / elapsed.as_secs_f64().max(1e-9);
    evaluation.map_or_else(|| unknown(plain, completions), |known| known.throughput)
}

/// A value of unknown error.
fn unknown(value: f64, samples: u64) -> Estimate {
    Estimate {
        low: 0.0,
        high: f64::INFINITY,
        ..Estimate::exact(value, samples as f64)
    }
}

/// Limits a percentile to the longest time, which bins do not know as exactly.
fn at_most(one: PercentileEstimate, max_ns: u64) -> PercentileEstimate {
    let capped = one.estimate.map(|it| {
        let value = it.value.min(max_ns as f64);
        Estimate {
            value,
            low: it.low.min(value),
            ..it
        }
    });
    PercentileEstimate {
        estimate: capped,
        ..one
    }
}

pub(crate) const fn no_drift() -> Drift {
    Drift {
        total: 0.0,
        standard_error: 0.0,
        bound: f64::INFINITY,
        verdict: DriftVerdict::Undecided,
    }
}

fn lateness(histogram: &Histogram) -> Lateness {
    Lateness {
        mean_ns: histogram.mean(),
        p99_ns: histogram.quantile(0.99),
        max_ns: histogram.max(),
    }
}

fn kinds(record: &Record) -> Vec<KindTimes> {
    let kinds = record.kinds.iter();
    kinds
        .map(|(kind, record)| kind_times(*kind, record))
        .collect()
}

pub(crate) fn kind_times(kind: OpKind, record: &KindRecord) -> KindTimes {
    KindTimes {
        kind: kind.name().into(),
        count: record.service.len(),
        bytes: record.bytes,
        service_mean_ns: record.service.mean(),
        service_p99_ns: record.service.quantile(0.99),
        service_max_ns: record.service.max(),
        response_mean_ns: record.response.mean(),
        response_p99_ns: record.response.quantile(0.99),
        response_max_ns: record.response.max(),
        response: None,
        response_histogram: histogram_text(&record.response),
        service_histogram: histogram_text(&record.service),
    }
}

fn shorts(record: &Record) -> u64 {
    record.short.values().map(|short| short.service.len()).sum()
}

/// Errors, short transfers last.
fn errors(record: &Record, name: impl Fn(Errno) -> String) -> Vec<ErrorCount> {
    let failed = record.errors.iter().map(|(&(kind, errno), times)| {
        let class = ErrorClass::of(errno.0);
        error_count(kind, (class, errno.0, name(errno)), times)
    });
    let short = record.short.iter().map(|(&kind, times)| {
        let name = "fewer bytes were moved than requested".into();
        error_count(kind, (ErrorClass::Short, 0, name), times)
    });
    failed.chain(short).collect()
}

fn error_count(
    kind: OpKind,
    (class, errno, name): (ErrorClass, i32, String),
    times: &KindRecord,
) -> ErrorCount {
    ErrorCount {
        kind: kind.name().into(),
        class,
        errno,
        name,
        count: times.service.len(),
        response_mean_ns: times.response.mean(),
        response_max_ns: times.response.max(),
        service_mean_ns: times.service.mean(),
        service_max_ns: times.service.max(),
    }
}
