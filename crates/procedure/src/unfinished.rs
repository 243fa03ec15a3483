//! Operations offered but not completed when a trial ended.

use engine::Record;
use results::{Measurement, Times, UnfinishedOperations, Warning, WarningCode};
use stats::{Estimate, Histogram, Silence};
use units::{Duration, format_duration_ns};
use workload::ClientSpec;

use crate::doubts::STALL_NS;
use crate::own_limits::who_kept_back;
use crate::trial::Trial;

/// Operations pending at the end are reported if they raise the mean by this factor ...
const KEPT_BACK_FACTOR: f64 = 1.01;
/// ... or by this one, if the error of that mean is unknown.
const KEPT_BACK_FACTOR_UNKNOWN: f64 = 1.1;
/// If more than this share of an open load was due but not completed ...
const UNFINISHED_SHARE: f64 = 0.05;
/// ... and had waited for this many mean times, all results are affected.
const UNFINISHED_TIMES: f64 = 2.0;

/// The mean response time including operations not completed at the end, with their final time or,
/// if unknown, their wait so far, which is a lower bound. `None` if operations are not the unit of
/// work.
fn mean_with_unfinished(trial: &Trial, measurement: &Measurement, mean_ns: f64) -> Option<f64> {
    let unfinished = measurement.unfinished?;
    let operations_count = matches!(trial.spec, ClientSpec::Mix(_) | ClientSpec::Control(_));
    if !operations_count {
        return None;
    }
    let (done, rest) = (measurement.completions_all as f64, unfinished.count as f64);
    Some((mean_ns * done + unfinished.mean_ns() * rest) / (done + rest))
}

/// Whether operations pending at the end waited long enough to bias the results. `mean_whole_ns` is
/// the mean response time of completed operations, warm-up included.
pub(crate) fn is_kept_back(trial: &Trial, measurement: &Measurement, mean_whole_ns: f64) -> bool {
    let Some(unfinished) = measurement.unfinished else {
        return false;
    };
    match mean_with_unfinished(trial, measurement, mean_whole_ns) {
        Some(with) => {
            let mean = measurement.response.mean;
            let plain = mean.value.max(mean_whole_ns);
            let rest = unfinished.count as f64;
            let share = rest / (measurement.completions_all as f64 + rest);
            let is_long = unfinished.waited_mean_ns > UNFINISHED_TIMES * plain;
            if trial.offered().is_some() && share > UNFINISHED_SHARE && is_long {
                return true;
            }
            if mean.high.is_finite() {
                with > mean.high.max(KEPT_BACK_FACTOR * plain)
            } else {
                with > KEPT_BACK_FACTOR_UNKNOWN * plain
            }
        }
        None => unfinished.waited_mean_ns > (measurement.service.max_ns.max(STALL_NS)) as f64,
    }
}

/// The warning about it.
pub(crate) fn kept_back(
    trial: &Trial,
    measurement: &Measurement,
    mean_whole_ns: f64,
) -> Option<Warning> {
    let unfinished = measurement.unfinished?;
    let count = unfinished.count;
    let (them, each) = match count {
        1 => ("it", ""),
        _ => ("them", " on average"),
    };
    let waited = format_duration_ns(unfinished.waited_mean_ns);
    let longest = unfinished.longest_ns.unwrap_or(0) as f64;
    let mean = format_duration_ns(unfinished.mean_ns());
    let what = if unfinished.is_answered() {
        format!("were under way when the trial ended, and took {mean}{each}")
    } else {
        format!("were still outstanding at the end, after {waited}{each}")
    };
    let text = match count {
        1 => format!("1 operation {}", what.replacen("were", "was", 1)),
        _ if longest > unfinished.mean_ns() => {
            let longest = format_duration_ns(longest);
            format!("{count} operations {what}, {longest} at most")
        }
        _ => format!("{count} operations {what}"),
    };
    let place = match trial.offered() {
        Some(_) => "They count in percentiles and maximum only",
        None => "They count in the maximum only",
    };
    let least = if unfinished.is_answered() {
        ""
    } else {
        "at least "
    };
    let effect = mean_with_unfinished(trial, measurement, mean_whole_ns).map(|with| {
        let with = format_duration_ns(with);
        format!(". With {them}, mean latency is {least}{with}")
    });
    Some(Warning::warn(
        WarningCode::KeptBack,
        format!(
            "{}: {text}. {place}{}. {}",
            measurement.title,
            effect.unwrap_or_default(),
            who_kept_back(measurement)
        ),
    ))
}

/// When the storage stopped responding before the end. Operations that fell due during a stall have
/// waited for half of it on average, if only the sum of waits is known.
pub(crate) fn silence_at_end(record: &Record) -> Silence {
    let rest = &record.unfinished;
    let mean = rest.waited_ns().checked_div(rest.count()).unwrap_or(0);
    Silence {
        waited_ns: rest.times.max().max(2 * mean),
        afterwards_ns: rest.silent_ns.unwrap_or(0),
    }
}

/// Operations due but not completed when the trial ended.
pub(crate) fn unfinished(record: &Record) -> Option<UnfinishedOperations> {
    let rest = &record.unfinished;
    let count = rest.count();
    (count > 0).then(|| UnfinishedOperations {
        count,
        waited_mean_ns: rest.waited_ns() as f64 / count as f64,
        answered: rest.done,
        response_mean_ns: Some(rest.times.mean()),
        longest_ns: Some(rest.times.max()),
    })
}

/// An operation outstanding at the end may be the longest of all. Its time is known, since the
/// trial waited for it, or at least its wait so far.
pub(crate) fn count_longest(measurement: &mut Measurement, record: &Record) {
    let rest = &record.unfinished;
    let longest = &mut measurement.response.max_ns;
    *longest = rest.times.max().max(*longest);
    let longest = &mut measurement.service.max_ns;
    *longest = rest.longest_service_ns.max(*longest);
}

/// Includes operations pending at the end, which were with the storage all that time. `done` are
/// the response times of the completed ones of a scheduled load. Percentiles cover all operations,
/// and are lower bounds where some still wait.
pub(crate) fn count_unfinished(
    measurement: &mut Measurement,
    (record, done): (&Record, &Histogram),
    elapsed: Duration,
) {
    let unfinished = &record.unfinished;
    if let (Some(_), Some(rest)) = (measurement.offered, measurement.unfinished) {
        let mut all = done.clone();
        all.merge(&unfinished.times);
        count_in_percentiles(&mut measurement.response, &all, rest);
    }
    let elapsed_ns = elapsed.as_nanos().max(1) as f64;
    measurement.effective_depth += unfinished.with_storage_ns as f64 / elapsed_ns;
    let service = unfinished
        .with_storage_ns
        .checked_div(unfinished.with_storage);
    let longest = &mut measurement.service.max_ns;
    *longest = service.unwrap_or(0).max(*longest);
}

fn count_in_percentiles(times: &mut Times, all: &Histogram, rest: UnfinishedOperations) {
    let highest = |value: f64, high: f64| match rest.is_answered() {
        true => value.max(high),
        false => f64::INFINITY,
    };
    times.mean.high = highest(all.mean(), times.mean.high);
    for percentile in &mut times.percentiles {
        let Some(value) = all.value_at(percentile.p) else {
            continue;
        };
        let value = value as f64;
        let known = percentile.estimate;
        percentile.is_indicative = true;
        percentile.estimate = Some(Estimate {
            low: known.map_or(value, |it| it.low.min(value)),
            high: highest(value, known.map_or(f64::INFINITY, |it| it.high)),
            ..Estimate::exact(value, all.len() as f64)
        });
    }
}

#[cfg(test)]
mod tests {
    use stats::PercentileEstimate;

    use super::*;

    const MS: u64 = 1_000_000;

    /// A stall of 8 s from the 24,500th of 40,000 arrivals on. The first half completed within 1
    /// ms, and p99 was that of these.
    #[test]
    fn what_waits_at_the_end_is_in_the_percentiles() {
        let mut all = Histogram::new();
        (0..24_500).for_each(|i| all.record(i * MS / 24_500));
        (0..15_500).for_each(|i| all.record(i * 7_750 * MS / 15_500));
        let check = |answered: u64, p: f64, expected_ms: f64, is_bounded: bool| {
            let rest = UnfinishedOperations {
                count: 15_500,
                waited_mean_ns: 3_875.0 * 1e6,
                answered,
                response_mean_ns: None,
                longest_ns: None,
            };
            let mut times = Measurement::empty().response;
            times.percentiles = vec![PercentileEstimate::judged(
                p,
                Estimate::exact(MS as f64, 24_500.0),
                245.0,
            )];
            count_in_percentiles(&mut times, &all, rest);
            let found = times.percentiles[0]
                .estimate
                .map_or(f64::NAN, |it| it.value / 1e6);
            assert!((found / expected_ms - 1.0).abs() < 0.01, "p{p}: {found} ms");
            let high = times.percentiles[0].estimate.map(|it| it.high);
            assert_eq!(high.is_some_and(f64::is_finite), is_bounded, "{high:?}");
            assert_eq!(times.max_ns, 0, "no percentile is a maximum");
        };
        check(0, 0.3, 0.489, false);
        // 40,000 x .95 - 24,500 of 15,500, evenly from 0 to 7.75 s.
        check(0, 0.95, 6_750.0, false);
        check(15_500, 0.99, 7_550.0, true);
    }
}
