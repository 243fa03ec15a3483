//! What was offered and not done when a trial ended.

use engine::Record;
use results::{Measurement, Times, Unfinished, Warning, WarningCode};
use stats::{Estimate, Histogram};
use units::{Duration, format_duration_ns};
use workload::ClientSpec;

use crate::doubts::STALL_NS;
use crate::own_limits::who_kept_back;
use crate::trial::Trial;

/// Operations that were kept back at the end are told when the mean wait with theirs is this much
/// larger than the mean without ...
const KEPT_BACK_FACTOR: f64 = 1.01;
/// ... or than this, where nothing is known of the error of that mean.
const KEPT_BACK_FACTOR_UNKNOWN: f64 = 1.1;
/// More of the open load than this was due and not done at the end ...
const UNFINISHED_SHARE: f64 = 0.05;
/// ... and had waited so many mean times: then it is missing in all that is measured.
const UNFINISHED_TIMES: f64 = 2.0;

/// The mean response time with what was not done at the end, as long as that had waited by then:
/// less than the truth. `None` where operations are not what is measured.
fn mean_with_unfinished(trial: &Trial, measurement: &Measurement, mean_ns: f64) -> Option<f64> {
    let unfinished = measurement.unfinished?;
    let operations_count = matches!(trial.spec, ClientSpec::Mix(_) | ClientSpec::Control(_));
    if !operations_count {
        return None;
    }
    let (done, rest) = (measurement.completions_all as f64, unfinished.count as f64);
    Some((mean_ns * done + unfinished.waited_mean_ns * rest) / (done + rest))
}

/// Whether the storage kept operations back at the end for so long that what is measured without
/// them misleads. `mean_whole_ns` is the mean response time of what was done, warm-up included.
#[must_use]
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

/// The doubt that says so.
pub(crate) fn kept_back(
    trial: &Trial,
    measurement: &Measurement,
    mean_whole_ns: f64,
) -> Option<Warning> {
    let Unfinished {
        count,
        waited_mean_ns,
    } = measurement.unfinished?;
    let waited = format_duration_ns(waited_mean_ns);
    let (told, them) = match count {
        1 => (
            format!(
                "1 operation was due and not done when the trial ended, after {waited}, and is"
            ),
            "it",
        ),
        _ => (
            format!(
                "{count} operations were due and not done when the trial ended, after {waited} on \
                 average, and are"
            ),
            "them",
        ),
    };
    let place = match trial.offered() {
        Some(_) => "in the percentiles alone",
        None => "in no other figure",
    };
    let effect = mean_with_unfinished(trial, measurement, mean_whole_ns).map(|with| {
        let with = format_duration_ns(with);
        format!(": with {them} the mean latency is at least {with}")
    });
    Some(Warning::doubt(
        WarningCode::KeptBack,
        format!(
            "{}: {told} {place}{}. {}",
            measurement.title,
            effect.unwrap_or_default(),
            who_kept_back(measurement)
        ),
    ))
}

/// For how long something was due at the end, nanoseconds. What fell due all through a stall has
/// waited for half of it on average.
pub(crate) fn waited_at_end(record: &Record) -> u64 {
    unfinished(record).map_or(0, |rest| (2.0 * rest.waited_mean_ns) as u64)
}

/// What was due and not done when the trial ended.
pub(crate) fn unfinished(record: &Record) -> Option<Unfinished> {
    let count = record.unfinished.count();
    (count > 0).then(|| Unfinished {
        count,
        waited_mean_ns: record.unfinished.waited_ns() as f64 / count as f64,
    })
}

/// What was kept back at the end was with the storage all that time, and waited that long at least.
/// Of what was offered on a schedule, `done` are the response times of the rest: percentiles are of
/// all of it, and where what waits still counts they are known to be at least so long.
pub(crate) fn count_unfinished(
    measurement: &mut Measurement,
    (record, done): (&Record, &Histogram),
    elapsed: Duration,
) {
    let unfinished = &record.unfinished;
    if let (Some(_), Some(rest)) = (measurement.offered, measurement.unfinished) {
        count_in_percentiles(&mut measurement.response, done, rest);
    }
    let elapsed_ns = elapsed.as_nanos().max(1) as f64;
    measurement.effective_depth += unfinished.with_storage_ns as f64 / elapsed_ns;
    let mean = |sum: u64, count: u64| sum.checked_div(count).unwrap_or(0);
    let service = mean(unfinished.with_storage_ns, unfinished.with_storage);
    let response = service.max(mean(unfinished.waited_ns(), unfinished.count()));
    let longest = &mut measurement.response.max_ns;
    *longest = response.max(*longest);
    let longest = &mut measurement.service.max_ns;
    *longest = service.max(*longest);
}

fn count_in_percentiles(times: &mut Times, done: &Histogram, rest: Unfinished) {
    times.mean.high = f64::INFINITY;
    for percentile in &mut times.percentiles {
        let value = quantile_with(done, rest, percentile.p);
        let low = percentile.estimate.map_or(value, |it| it.low.min(value));
        percentile.is_indicative = true;
        times.max_ns = times.max_ns.max(value as u64);
        percentile.estimate = Some(Estimate {
            low,
            high: f64::INFINITY,
            ..Estimate::exact(value, done.len() as f64)
        });
    }
}

/// The time (nanoseconds) at or below which the share `p` of all operations lies, those that are
/// not done with the time that they had waited for by then. They fell due one after the other, so
/// that these times are spread evenly from none to twice their mean.
fn quantile_with(done: &Histogram, rest: Unfinished, p: f64) -> f64 {
    let waiting = rest.count as f64;
    let longest_ns = (2.0 * rest.waited_mean_ns).max(1.0);
    let wanted = p * (done.len() as f64 + waiting);
    let waited_to = |time: f64| waiting * (time / longest_ns).min(1.0);
    let mut passed = 0.0;
    for bucket in done.iter_recorded() {
        if passed + waited_to(bucket.low as f64) >= wanted {
            break;
        }
        passed += bucket.count as f64;
        if passed + waited_to(bucket.high as f64) >= wanted {
            return (bucket.low as f64 + bucket.high as f64) / 2.0;
        }
    }
    longest_ns * ((wanted - passed) / waiting).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A stall of 8 s from the 24,500th of 40,000 arrivals on: the first half was done within a
    /// millisecond, and p99 was that of these.
    #[test]
    fn what_waits_at_the_end_is_in_the_percentiles() {
        let mut done = Histogram::new();
        (0..24_500).for_each(|i| done.record(i * MS / 24_500));
        let rest = Unfinished {
            count: 15_500,
            waited_mean_ns: 3_875.0 * 1e6,
        };
        let check = |p: f64, expected_ms: f64| {
            let found = quantile_with(&done, rest, p) / 1e6;
            assert!((found / expected_ms - 1.0).abs() < 0.01, "p{p}: {found} ms");
        };
        check(0.3, 0.489);
        // 40,000 x .95 - 24,500 of 15,500, evenly from none to 7.75 s.
        check(0.95, 6_750.0);
        check(0.99, 7_550.0);
        check(1.0, 7_750.0);
        let none = Unfinished {
            count: 1,
            waited_mean_ns: 1.0,
        };
        let found = quantile_with(&done, none, 0.5);
        assert!((found / (0.5 * MS as f64) - 1.0).abs() < 0.01, "{found}");
    }
}
