//! A batch workload of the RAID Performance Test: clients that never wait, repeated at new random
//! places.
//!
//! Sequential clients that never wait stay in lockstep, so one trial, however long, shows only the
//! throughput of its own places, which varies by several percent between draws. So the clients are
//! restarted several times. Each set of places is a repeat, and the interval is that of the mean
//! over sets ([`crate::replications`]). There are enough sets when `rounds` says so.

use results::{
    KindTimes, Measurement, Times, Warning, WarningCode, histogram_in, histogram_text, shares,
};
use stats::{Channel, Estimate, Goal, Histogram, PercentileEstimate, Verdict};
use units::Duration;

use crate::curve::PointPlan;
use crate::failures::Failures;
use crate::rab::RabOptions;
use crate::repeats::{TwoKinds, drift};
use crate::replications::{
    CITABLE_SAMPLES, REPLICATIONS_MIN, are_few, by_operations, inverse, over_rounds, percentile,
    warnings_of,
};
use crate::rounds::{Rounds, RoundsRule};
use crate::single::no_drift;

/// A set takes at most this part of the time, so that there is time for that many.
const SETS_IN_TIME: u64 = 32;
/// Maximum number of sets.
const SETS_MAX: u32 = 200;
/// Minimum counted time of a set, if there is time for it.
const SET_MIN: Duration = Duration::from_secs(1);

/// The sets of places of one workload.
#[derive(Clone, Debug)]
pub(crate) struct BatchSets {
    options: RabOptions,
    clients: u32,
    sets: Vec<Measurement>,
    /// Reads and writes separately, over all sets.
    kinds: Vec<KindTimes>,
    /// A set in which every operation failed; it is the last.
    failed: Option<Box<Measurement>>,
    rounds: Rounds,
    is_over: bool,
}

impl BatchSets {
    pub fn new(options: &RabOptions, clients: u32) -> Self {
        let rule = RoundsRule {
            rounds: None,
            rounds_min: REPLICATIONS_MIN as u32,
            rounds_max: SETS_MAX,
            precision: options.precision,
            // No set starts that might not finish in time.
            budget: options.budget.saturating_sub(set_max(options)),
        };
        Self {
            options: options.clone(),
            clients,
            sets: Vec::new(),
            kinds: Vec::new(),
            failed: None,
            rounds: Rounds::new(rule),
            is_over: false,
        }
    }

    /// Whether there are enough sets for an interval.
    pub fn are_replications(&self) -> bool {
        self.sets.len() >= REPLICATIONS_MIN
    }

    /// Number of sets measured.
    pub fn count(&self) -> u32 {
        self.sets.len() as u32
    }

    /// The next set; `None` when there are enough.
    pub fn next_point(&self) -> Option<PointPlan> {
        if self.is_over {
            return None;
        }
        let warm_up = self.options.warm_up;
        let counted = |it: Duration| it + warm_up.unwrap_or(Duration::ZERO);
        let longest = set_max(&self.options);
        let mut goal = Goal::scout();
        let (least, most) = match self.sets.first() {
            None => (SET_MIN.min(longest / 2), longest),
            // All sets are as long as the first. Stopping early when precise would bias them.
            Some(first) => {
                let length = Duration::from_nanos(first.warmup_ns + first.duration_ns);
                let length = length.saturating_sub(warm_up.unwrap_or(Duration::ZERO));
                (length, length)
            }
        };
        goal.duration_min_ns = counted(least).as_nanos();
        Some(PointPlan {
            clients: self.clients,
            goal,
            duration_max: counted(most),
            warm_up,
            channel: Channel::Service,
            salt: self.sets.len() as u64,
            sources: None,
            is_scout: false,
        })
    }

    /// Records a set; `spent` is the time of all so far.
    pub fn record(&mut self, measurement: &Measurement, spent: Duration) {
        if measurement.is_all_failed() {
            self.failed = Some(Box::new(measurement.clone()));
            self.is_over = true;
            return;
        }
        add_kinds(&mut self.kinds, &measurement.kinds);
        self.sets.push(measurement.clone());
        let (count, precision) = (self.count(), self.options.precision);
        let Self { rounds, sets, .. } = self;
        let end = rounds.end(count, spent, || {
            throughput(sets).relative_half_width() <= precision
        });
        self.is_over = end.is_some();
    }

    /// All sets combined into one load; `None` before the first.
    pub fn measurement(&self) -> Option<Measurement> {
        let Some(last) = self.sets.last() else {
            return self.failed.as_deref().cloned();
        };
        let sets = &self.sets;
        let sum = |of: fn(&Measurement) -> u64| sets.iter().map(of).sum::<u64>();
        let throughput = throughput(sets);
        let (completions_all, bytes_all) = (sum(|it| it.completions_all), sum(|it| it.bytes_all));
        let bytes_each = bytes_all as f64 / completions_all.max(1) as f64;
        let service = times(sets, |it| &it.service, |it| &it.service_quantiles);
        let mut failures = Failures::default();
        sets.iter()
            .chain(self.failed.as_deref())
            .for_each(|it| failures.add(it));
        let verdict = self.verdict(throughput, completions_all);
        Some(Measurement {
            response: times(sets, |it| &it.response, |it| &it.response.percentiles),
            effective_depth: throughput.value * service.mean.value / 1e9,
            service,
            throughput,
            bandwidth: (bytes_all > 0).then(|| throughput.scale(bytes_each)),
            kinds: self.kinds.clone(),
            errors: failures.errors().to_vec(),
            short: sum(|it| it.short),
            page_cache_share: by_operations(sets, |it| it.page_cache_share),
            counters: None,
            completions: sum(|it| it.completions),
            completions_all,
            bytes_all,
            duration_ns: sum(|it| it.duration_ns),
            warmup_ns: sum(|it| it.warmup_ns),
            resolution: sets
                .iter()
                .filter_map(|it| it.resolution)
                .reduce(|a, b| a.both(b)),
            verdict,
            drift: no_drift(),
            snia_steady: None,
            warnings: self.warnings(verdict),
            window: None,
            service_window: None,
            ..last.clone()
        })
    }

    fn verdict(&self, throughput: Estimate, operations: u64) -> Verdict {
        if !are_few(
            self.sets.iter().map(|it| it.verdict),
            Verdict::NotStationary,
        ) {
            return Verdict::NotStationary;
        }
        let is_citable =
            self.sets.len() >= REPLICATIONS_MIN && operations as f64 >= CITABLE_SAMPLES;
        let is_precise = throughput.relative_half_width() <= self.options.precision;
        match is_citable && is_precise {
            true => Verdict::Converged,
            false => Verdict::Budget { is_citable },
        }
    }

    fn warnings(&self, verdict: Verdict) -> Vec<Warning> {
        let title = self.sets.last().map_or("", |it| &it.title);
        let failed = self.failed.as_deref().map_or(&[][..], std::slice::from_ref);
        let mut warnings = warnings_of(title, &self.sets, failed);
        let count = self.count();
        let times = self.sets.iter().map(|it| it.service.mean.value / 1e9);
        let times: Vec<f64> = times.collect();
        warnings.extend(TwoKinds::of(&times).map(|it| it.warning(title)));
        warnings.extend(drift(&times).map(|change| {
            Warning::warn(
                WarningCode::Drift,
                format!(
                    "{title}: service time changed by {:+.0} % between the first and the second \
                     half of {count} sets of places.",
                    100.0 * change
                ),
            )
            .advise("Precondition the target, or check for other users.")
        }));
        warnings.extend(match verdict {
            Verdict::Budget { is_citable: true } => Some(
                Warning::info(
                    WarningCode::NotConverged,
                    format!(
                        "{title}: did not reach the requested precision after {count} sets of \
                         places."
                    ),
                )
                .advise("Allow more time with --budget."),
            ),
            Verdict::Budget { .. } => Some(
                Warning::warn(
                    WarningCode::TooFewSamples,
                    format!("{title}: too few operations to quote, at {count} sets of places."),
                )
                .advise("Allow more time with --budget."),
            ),
            Verdict::NotStationary => Some(Warning::warn(
                WarningCode::NotStationary,
                format!("{title}: half of {count} sets of places never reached steady state."),
            )),
            _ => None,
        });
        warnings
    }
}

fn set_max(options: &RabOptions) -> Duration {
    options.budget / SETS_IN_TIME
}

/// The mean load over sets. Rates are averaged as the gaps between completions, so that load times
/// service time is the number of clients. A few sets do not show the variation between sets, and
/// the interval of a single one covers only its own places.
fn throughput(sets: &[Measurement]) -> Estimate {
    let gaps: Vec<Estimate> = sets.iter().map(|it| inverse(it.throughput)).collect();
    let mean = inverse(over_rounds(&gaps));
    match sets.len() >= REPLICATIONS_MIN {
        true => mean,
        false => mean.without_interval(),
    }
}

/// The times of all sets.
fn times(
    sets: &[Measurement],
    of: fn(&Measurement) -> &Times,
    percentiles: fn(&Measurement) -> &[PercentileEstimate],
) -> Times {
    let means: Vec<Estimate> = sets.iter().map(|it| of(it).mean).collect();
    let quantiles: Vec<&[PercentileEstimate]> = sets.iter().map(percentiles).collect();
    Times {
        mean: over_rounds(&means),
        percentiles: shares()
            .into_iter()
            .map(|p| percentile(&quantiles, p))
            .collect(),
        min_ns: sets.iter().map(|it| of(it).min_ns).min().unwrap_or(0),
        max_ns: sets.iter().map(|it| of(it).max_ns).max().unwrap_or(0),
    }
}

fn add_kinds(kinds: &mut Vec<KindTimes>, others: &[KindTimes]) {
    for other in others {
        match kinds.iter_mut().find(|it| it.kind == other.kind) {
            Some(known) => add(known, other),
            None => kinds.push(KindTimes {
                response: None,
                ..other.clone()
            }),
        }
    }
}

fn add(known: &mut KindTimes, other: &KindTimes) {
    let merged = |one: &str, other: &str| -> Histogram {
        let mut sum = Histogram::new();
        [one, other]
            .into_iter()
            .filter_map(histogram_in)
            .for_each(|it| sum.merge(&it));
        sum
    };
    let response = merged(&known.response_histogram, &other.response_histogram);
    let service = merged(&known.service_histogram, &other.service_histogram);
    known.count += other.count;
    known.bytes += other.bytes;
    known.service_mean_ns = service.mean();
    known.service_p99_ns = service.quantile(0.99);
    known.service_max_ns = service.max();
    known.response_mean_ns = response.mean();
    known.response_p99_ns = response.quantile(0.99);
    known.response_max_ns = response.max();
    known.response_histogram = histogram_text(&response);
    known.service_histogram = histogram_text(&service);
}
