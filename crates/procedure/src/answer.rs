//! The answer of a run in a sentence, for kinds that find one figure or one curve.
//!
//! As in the findings of a check-up, only what the report lets be quoted is said, with its
//! interval.

use results::{
    Curve, LevelOutcome, Measurement, Rab, Run, Severity, Transactions, Transfer, TransferSeries,
};
use stats::Estimate;
use units::{
    format_count, format_counted, format_duration_ns, format_interval_count, format_interval_ns,
    format_interval_rate,
};

use crate::checkup::{KNOWN, is_quotable, load_carried};

/// Operations of at least this many bytes are told by their bandwidth.
const STREAMING_BYTES: f64 = 262_144.0;
/// Series of transfers, and averages of RABmarks, that a sentence has room for.
const PARTS_MAX: usize = 3;

/// What a run found, in a sentence; `None` where it let nothing be quoted.
#[must_use]
pub fn answer(run: &Run) -> Option<String> {
    if run.warnings.iter().any(|it| it.severity == Severity::Void) {
        return None;
    }
    if let Some(found) = &run.transactions {
        return of_users(found, run);
    }
    if let Some(found) = &run.transfer {
        return of_series(found);
    }
    if let Some(found) = &run.rab {
        return of_rabmarks(found);
    }
    if let Some(curve) = &run.curve {
        return of_curve(curve);
    }
    let has_own_form = run.study.is_some() || run.files.is_some() || run.timing.is_some();
    match run.measurements.as_slice() {
        [first, ..] if !has_own_form => of_trial(first),
        _ => None,
    }
}

/// Rate, mean latency and, where enough lies beyond it, the 99th percentile.
fn of_trial(row: &Measurement) -> Option<String> {
    let mean = row.response.mean;
    let is_void = row.warnings.iter().any(|it| it.severity == Severity::Void);
    if let Some(offered) = row.offered.filter(|_| row.is_overloaded() && !is_void) {
        return Some(format!(
            "Does not carry {}/s: {} completed.",
            format_count(offered),
            operations(row.throughput)
        ));
    }
    let widest = mean
        .relative_half_width()
        .max(row.throughput.relative_half_width());
    if !is_quotable(row) || widest > KNOWN {
        return None;
    }
    let (value, interval) = format_interval_ns(mean.value, mean.low, mean.high);
    let carried = match row.offered {
        Some(offered) => format!("{}/s as offered", format_count(offered)),
        None => format!(
            "{} with {}",
            rate(row),
            format_counted(row.clients.into(), "client")
        ),
    };
    let mut percentiles = row.response.percentiles.iter();
    let firm = percentiles.find(|it| it.p == 0.99 && !it.is_indicative);
    let slowest = firm
        .and_then(|it| it.estimate)
        .map_or_else(String::new, |p99| {
            format!(", and 99 % take at most {}", format_duration_ns(p99.value))
        });
    Some(format!(
        "Carries {carried}; the mean latency is {value} ({interval}){slowest}."
    ))
}

/// What a row moves: bytes where its operations are large, else operations.
fn rate(row: &Measurement) -> String {
    let large = row
        .bandwidth
        .filter(|it| it.value / row.throughput.value >= STREAMING_BYTES && it.is_bounded());
    match large {
        Some(it) => {
            let (value, interval) = format_interval_rate(it.value, it.low, it.high);
            format!("{value} ({interval})")
        }
        None => operations(row.throughput),
    }
}

/// Operations per second with their interval.
fn operations(load: Estimate) -> String {
    let (value, interval) = format_interval_count(load.value, load.low, load.high);
    format!("{value} ({interval}) IOPS")
}

/// The load at the first level that is known, and the highest; or that no load keeps a level.
fn of_curve(curve: &Curve) -> Option<String> {
    if curve
        .warnings
        .iter()
        .any(|it| it.severity == Severity::Void)
    {
        return None;
    }
    let saturation = curve
        .saturation
        .filter(|it| it.is_saturated && it.is_converged && it.load.relative_half_width() <= KNOWN);
    let highest = saturation.map(|it| {
        let clients = format_counted(it.clients.into(), "client");
        format!("saturates at {} with {clients}", operations(it.load))
    });
    let carried = load_carried(curve, "IOPS").or_else(|| no_load_keeps(curve));
    sentence(carried.into_iter().chain(highest))
}

/// That not even the least load keeps the highest level.
fn no_load_keeps(curve: &Curve) -> Option<String> {
    let level = curve.levels.last()?;
    let LevelOutcome::Exceeded { response } = level.outcome else {
        return None;
    };
    let time = match curve.percentile {
        None => "mean latency".to_owned(),
        Some(share) => format!("p{} latency", share * 100.0),
    };
    Some(format!(
        "No load keeps a {time} of {}: the least takes {}",
        format_duration_ns(level.level_ns as f64),
        format_duration_ns(response.value)
    ))
}

/// How many users meet the limit; or what the users that there were did.
fn of_users(found: &Transactions, run: &Run) -> Option<String> {
    if let Some(search) = &found.search {
        let users = match search.meets {
            0 => "No number of users is sure to have".to_owned(),
            users => format!("Carries {} with", format_counted(users.into(), "user")),
        };
        return Some(format!(
            "{users} {} % of the transactions within {}.",
            (search.share * 1e5).round() / 1e3,
            format_duration_ns(search.limit_ns as f64)
        ));
    }
    let [load] = found.loads.as_slice() else {
        return None;
    };
    let (steady, mean) = (load.per_second_steady, load.all.from_due.mean);
    let is_known = |it: Estimate| it.is_bounded() && it.relative_half_width() <= KNOWN;
    let is_usable = run.measurement(&load.measurement).is_some_and(is_quotable);
    if !is_usable || !is_known(steady) || !is_known(mean) {
        return None;
    }
    let (value, interval) = format_interval_count(steady.value, steady.low, steady.high);
    let (time, times) = format_interval_ns(mean.value, mean.low, mean.high);
    Some(format!(
        "{} did {value} transactions/s ({interval}); the mean response time was {time} ({times}).",
        format_counted(load.users.into(), "user"),
    ))
}

fn of_series(found: &Transfer) -> Option<String> {
    let is_known =
        |it: &&TransferSeries| it.rate.is_bounded() && it.rate.relative_half_width() <= KNOWN;
    let parts = found.series.iter().filter(is_known).take(PARTS_MAX);
    let parts = parts.map(|it| {
        let (value, interval) = format_interval_rate(it.rate.value, it.rate.low, it.rate.high);
        format!("{} at {value} ({interval})", it.title)
    });
    sentence(parts)
}

fn of_rabmarks(found: &Rab) -> Option<String> {
    let whole = found.averages_to_tell().filter(|(_, mark)| mark.is_whole);
    let parts = whole.take(PARTS_MAX).map(|(group, mark)| {
        let Estimate {
            value, low, high, ..
        } = mark.value;
        let (value, interval) = format_interval_count(value, low, high);
        let group = group.name();
        format!("{group} workloads have RABmark[r] {value} ({interval}) on average")
    });
    sentence(parts)
}

/// Parts as one sentence.
fn sentence(parts: impl Iterator<Item = String>) -> Option<String> {
    let text = parts.collect::<Vec<String>>().join("; ");
    let mut letters = text.chars();
    let first = letters.next()?;
    Some(format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::of_mean;
    use results::{Warning, WarningCode};
    use stats::Verdict;

    fn trial(verdict: Verdict) -> Measurement {
        let mean = Estimate {
            low: 98e3,
            high: 102e3,
            ..Estimate::exact(100e3, 1000.0)
        };
        let mut row = of_mean(mean, 1000);
        row.verdict = verdict;
        row
    }

    #[test]
    fn a_trial_is_told_with_its_intervals() {
        let mut row = trial(Verdict::Converged);
        let told = of_trial(&row).expect("is quotable");
        let expected = "Carries 10,000 (9,800 .. 10,200) IOPS with 1 client; the mean latency is \
                        100 us (98 .. 102)";
        assert!(told.starts_with(expected), "{told}");
        row.offered = Some(10_000.0);
        let told = of_trial(&row).expect("is quotable");
        assert!(
            told.starts_with("Carries 10,000/s as offered; the mean"),
            "{told}"
        );
    }

    #[test]
    fn what_may_not_be_quoted_is_not_told() {
        assert_eq!(of_trial(&trial(Verdict::NotStationary)), None);
        let mut void = trial(Verdict::Converged);
        void.warnings = vec![Warning::void(WarningCode::SparseFile, "nothing was stored")];
        assert_eq!(of_trial(&void), None);
    }
}
