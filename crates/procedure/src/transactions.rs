//! Transactions as seen by users, and consistency of the figures.
//!
//! Two laws hold on every closed system, whatever it contains (P. Denning, J. Buzen, "The
//! Operational Analysis of Queueing Network Models", Computing Surveys 10(3), 1978): N = X (R + Z),
//! by Little, and R = N / X - Z, the response-time law. A violation is an error of the measurement.

use std::collections::BTreeMap;

use engine::KindRecord;
use results::{
    Measurement, SystemSample, SystemSeries, Times, TransactionLoad, UserTimes, Warning,
    WarningCode, user_shares,
};
use stats::{CONFIDENCE, Estimate, Histogram, PercentileEstimate, Verdict};
use units::{Duration, format_count, format_counted, format_duration_ns};
use workload::{GapShape, UsersSpec};

/// Allowed deviation from the laws beyond the uncertainty of their inputs.
const LAW_TOLERANCE: f64 = 0.02;
/// Maximum share of all processors for other processes beside users who compute.
const OTHERS_MAX: f64 = 0.25;

/// Data on a trial's transactions besides its measurement.
#[derive(Clone, Copy, Debug)]
pub struct UnitCounts<'a> {
    /// Times by the number of the profile, over the whole trial.
    pub units: &'a BTreeMap<u32, KindRecord>,
    /// From the start to the end of the trial.
    pub elapsed: Duration,
    /// Number of processors of the machine, or of the model.
    pub processors: u32,
    /// Activity of the machine by interval.
    pub series: Option<&'a SystemSeries>,
    /// CPU work of a model's processors, nanoseconds.
    pub model_cpu_ns: Option<u64>,
}

/// Summarises the transactions, with warnings.
pub fn transaction_load(
    spec: &UsersSpec,
    m: &Measurement,
    counts: &UnitCounts<'_>,
) -> (TransactionLoad, Vec<Warning>) {
    let seconds = counts.elapsed.as_secs_f64().max(1e-9);
    let per_second = |count: u64| count as f64 / seconds;
    let by_profile = Shares::of(spec, counts.units);
    let laws = Laws::of(spec, m, &by_profile);
    let mut whole = KindRecord::default();
    counts.units.values().for_each(|unit| whole.merge(unit));
    let all = UserTimes {
        name: "all".into(),
        users: m.clients,
        transactions: m.completions_all,
        per_second: per_second(m.completions_all),
        bytes_each: m.bytes_all as f64 / (m.completions_all.max(1)) as f64,
        sample_mean_ns: whole.service.mean(),
        sample_95_ns: value_at(&whole.service, 0.95),
        from_start: m.service.clone(),
        from_due: m.response.clone(),
    };
    let of_kind = |name: &str| {
        let found = m.kinds.iter().find(|kind| kind.kind == name);
        per_second(found.map_or(0, |kind| kind.count))
    };
    let work = by_profile.mean(|index| spec.profiles()[index].cpu_ns as f64);
    let by_model = counts
        .model_cpu_ns
        .map(|ns| ns as f64 / m.completions_all.max(1) as f64);
    let cpu_each = m.cpu.map(|cpu| cpu.per_operation_ns).or(by_model);
    let total = counts.series.and_then(SystemSeries::total);
    let machine = machine_figures(m, counts, total.as_ref());
    let load = TransactionLoad {
        measurement: m.name.clone(),
        users: m.clients,
        elapsed_ns: counts.elapsed.as_nanos(),
        per_second_whole: all.per_second,
        per_second_steady: m.throughput,
        profiles: profile_times(spec, m, counts),
        cpu_each_ns: cpu_each,
        cpu_work_each_ns: work,
        cpu_share: cpu_each
            .map(|each| each * all.per_second / 1e9 / f64::from(counts.processors.max(1))),
        device_busy_share: machine.device_busy_share,
        device_queue: machine.device_queue,
        storage_queue: m.effective_depth,
        reads_per_second: of_kind("read"),
        writes_per_second: of_kind("write"),
        device_reads_per_second: machine.device_reads_per_second,
        device_writes_per_second: machine.device_writes_per_second,
        page_cache_share: m.page_cache_share,
        minor_faults_per_second: machine.minor_faults_per_second,
        major_faults_per_second: machine.major_faults_per_second,
        file_cache_bytes: machine.file_cache_bytes,
        think_ns: laws.think_ns,
        users_by_law: laws.users,
        response_by_law: laws.response,
        series: counts.series.cloned(),
        all,
    };
    let mut warnings = Vec::new();
    if !m.is_all_failed() {
        warnings = doubts(spec, m, counts, &laws);
    }
    warnings.extend(shared_processors(spec, m, total.as_ref()));
    (load, warnings)
}

/// Activity of device and memory over the whole trial, from kernel counters or, for a model, from
/// its own state.
fn machine_figures(
    m: &Measurement,
    counts: &UnitCounts<'_>,
    total: Option<&SystemSample>,
) -> SystemSample {
    let Some(counters) = &m.counters else {
        return total.cloned().unwrap_or_default();
    };
    let seconds = counts.elapsed.as_secs_f64().max(1e-9);
    let rate = |count: u64| count as f64 / seconds;
    let device = counters.device.as_ref();
    SystemSample {
        device_busy_share: device.map(|it| (rate(it.busy_ms) / 1e3).min(1.0)),
        device_queue: device.map(|it| rate(it.weighted_ms) / 1e3),
        device_reads_per_second: device.map(|it| rate(it.reads)),
        device_writes_per_second: device.map(|it| rate(it.writes)),
        minor_faults_per_second: counters.minor_faults.map(rate),
        major_faults_per_second: counters.major_faults.map(rate),
        ..SystemSample::default()
    }
}

/// Number of transactions of each profile.
struct Shares {
    counts: Vec<u64>,
}

impl Shares {
    fn of(spec: &UsersSpec, units: &BTreeMap<u32, KindRecord>) -> Self {
        let count = |index: usize| {
            let record = units.get(&(index as u32));
            record.map_or(0, |record| record.response.len())
        };
        Self {
            counts: (0..spec.profiles().len()).map(count).collect(),
        }
    }

    /// The mean over transactions of a per-profile number.
    fn mean(&self, of: impl Fn(usize) -> f64) -> f64 {
        let all: u64 = self.counts.iter().sum();
        let counts = self.counts.iter().enumerate();
        let sum: f64 = counts.map(|(index, &count)| of(index) * count as f64).sum();
        sum / all.max(1) as f64
    }
}

/// The two laws, with their inputs.
struct Laws {
    think_ns: f64,
    users: Estimate,
    response: Estimate,
}

impl Laws {
    fn of(spec: &UsersSpec, m: &Measurement, shares: &Shares) -> Self {
        let profiles = spec.profiles();
        let think_ns = shares.mean(|index| profiles[index].think.mean_ns);
        // The mean of the drawn think times differs slightly from the mean of their distribution.
        let square = shares.mean(|index| {
            let think = profiles[index].think;
            match think.shape {
                GapShape::Constant => 0.0,
                GapShape::Uniform => think.mean_ns * think.mean_ns / 3.0,
                GapShape::Exponential => think.mean_ns * think.mean_ns,
            }
        });
        let drawn = 2.0 * (square / m.completions.max(1) as f64).sqrt();
        let (rate, response) = (m.throughput, m.response.mean);
        let product = |rate: f64, response: f64, off: f64| {
            rate * (response + (think_ns + off).max(0.0)) / 1e9
        };
        let users = f64::from(m.clients);
        let quotient = |rate: f64, off: f64| (users * 1e9 / rate - think_ns + off).max(0.0);
        let samples = rate.samples.min(response.samples);
        Self {
            think_ns,
            users: Estimate {
                value: product(rate.value, response.value, 0.0),
                low: product(rate.low, response.low, -drawn),
                high: product(rate.high, response.high, drawn),
                confidence: CONFIDENCE,
                samples,
            },
            response: Estimate {
                value: quotient(rate.value, 0.0),
                low: quotient(rate.high, -drawn),
                high: if rate.low > 0.0 {
                    quotient(rate.low, drawn)
                } else {
                    f64::INFINITY
                },
                confidence: CONFIDENCE,
                samples,
            },
        }
    }

    fn holds(&self, users: f64) -> bool {
        let slack = LAW_TOLERANCE * users;
        self.users.low - slack <= users && users <= self.users.high + slack
    }
}

fn doubts(spec: &UsersSpec, m: &Measurement, counts: &UnitCounts<'_>, laws: &Laws) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let users = f64::from(m.clients);
    let ramp = spec
        .ramp_per_second
        .map_or(0.0, |rate| (users - 1.0) / rate);
    let lasted = counts.elapsed.as_secs_f64();
    if ramp >= lasted {
        warnings.push(
            Warning::warn(
                WarningCode::RampNotOver,
                format!(
                    "{}: at the rate of --ramp the last of {} users would have started after {}. \
                 The trial took {}. Not all of them were active.",
                    m.title,
                    format_count(users),
                    format_duration_ns(ramp * 1e9),
                    format_duration_ns(lasted * 1e9),
                ),
            )
            .advise("Measure longer, or start them faster."),
        );
    }
    if ramp < lasted && m.window.is_none() && m.clients > 1 {
        warnings.push(Warning::warn(
            WarningCode::UsersNotTogether,
            format!(
                "{}: the time with all users at work was too short, or there was none. Rate and \
                 times are those of the whole run, in which {} users were at work on average.",
                m.title,
                format_count(laws.users.value),
            ),
        ).advise("Start all users together with --synchronise=0s, or give them more \
                --transactions."));
    }
    warnings.extend(too_few(m));
    // The laws assume a constant number of users: the time in which all users are active.
    if m.window.is_some() && ramp < lasted && !laws.holds(users) {
        warnings.push(Warning::warn(
            WarningCode::LawBroken,
            format!(
                "{}: throughput times response and think time makes {} users, and there are {}. \
                 The trial was too short for its think times, or Seekstone lost time.",
                m.title,
                format_count(laws.users.value),
                format_count(users),
            ),
        ).advise("Measure longer."));
    }
    warnings
}

/// Why the row of users who finished all their transactions is marked. A trial with a goal has its
/// own warning.
fn too_few(m: &Measurement) -> Option<Warning> {
    let is_known = m
        .warnings
        .iter()
        .any(|it| it.code == WarningCode::TooFewSamples);
    let is_citable = match m.verdict {
        Verdict::Budget { is_citable }
        | Verdict::Short { is_citable }
        | Verdict::Timed { is_citable } => is_citable,
        _ => true,
    };
    (!is_citable && !is_known).then(|| {
        let samples = m.response.mean.samples;
        Warning::warn(
            WarningCode::TooFewSamples,
            format!(
                "{}: {} of the steady part make only {samples:.0} independent samples. Do not \
                 quote the mean or the rate.",
                m.title,
                format_counted(m.completions, "transaction"),
            ),
        )
        .advise("Use more --transactions.")
    })
}

/// CPU work of users waits for processors used by others. That time is not the storage's.
fn shared_processors(
    spec: &UsersSpec,
    m: &Measurement,
    total: Option<&SystemSample>,
) -> Option<Warning> {
    let total = total.filter(|_| spec.computes())?;
    let others = total.cpu_share? - total.cpu_own_share?;
    (others >= OTHERS_MAX).then(|| {
        Warning::warn(
            WarningCode::ProcessorsShared,
            format!(
                "{}: other processes used {:.0} % of all CPUs, and the users' processor \
                 work had to wait for them.",
                m.title,
                others * 100.0
            ),
        )
        .advise("Stop them and rerun.")
    })
}

/// Each profile by itself, if there are several.
fn profile_times(spec: &UsersSpec, m: &Measurement, counts: &UnitCounts<'_>) -> Vec<UserTimes> {
    if spec.profiles().len() == 1 {
        return Vec::new();
    }
    let seconds = counts.elapsed.as_secs_f64().max(1e-9);
    let users = spec.count_by_profile(m.clients);
    let profiles = spec.profiles().iter().zip(users).enumerate();
    let none = KindRecord::default();
    // A single profile equals the total.
    let of = |all: &Times, own: &Histogram| match spec.profiles() {
        [_] => all.clone(),
        _ => times(own),
    };
    profiles
        .map(|(index, (profile, users))| {
            let record = counts.units.get(&(index as u32)).unwrap_or(&none);
            let transactions = record.response.len();
            UserTimes {
                name: profile.name.clone(),
                users,
                transactions,
                per_second: transactions as f64 / seconds,
                bytes_each: record.bytes as f64 / transactions.max(1) as f64,
                sample_mean_ns: record.service.mean(),
                sample_95_ns: value_at(&record.service, 0.95),
                from_start: of(&m.service, &record.service),
                from_due: of(&m.response, &record.response),
            }
        })
        .collect()
}

/// Mean and percentiles of one profile, without intervals: the correlation within it is unknown.
/// That of all transactions does not help, since a mix hides the queue of one kind.
fn times(histogram: &Histogram) -> Times {
    let exact = |value: f64| Estimate::exact(value, histogram.len() as f64);
    let percentile = |&p: &f64| PercentileEstimate::judged(p, exact(value_at(histogram, p)), 0.0);
    Times {
        mean: exact(histogram.mean()).without_interval(),
        percentiles: user_shares().iter().map(percentile).collect(),
        min_ns: histogram.min(),
        max_ns: histogram.max(),
    }
}

/// The time at or below which the share `p` lies.
pub(crate) fn value_at(histogram: &Histogram, p: f64) -> f64 {
    let wanted = p * histogram.len() as f64;
    let mut passed = 0.0;
    for bucket in histogram.iter_recorded() {
        passed += bucket.count as f64;
        if passed >= wanted {
            return (bucket.low as f64 + bucket.high as f64) / 2.0;
        }
    }
    histogram.max() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bug: three rows were marked "do not quote", and nothing said why.
    #[test]
    fn a_row_with_too_few_samples_says_so_once() {
        let of = |verdict| Measurement {
            verdict,
            ..Measurement::empty()
        };
        let few = Verdict::Short { is_citable: false };
        let warning = too_few(&of(few)).expect("a reason");
        assert_eq!(warning.code, WarningCode::TooFewSamples);
        assert_eq!(too_few(&of(Verdict::Short { is_citable: true })), None);
        let known = Measurement {
            warnings: vec![warning],
            ..of(few)
        };
        assert_eq!(too_few(&known), None);
    }
}
