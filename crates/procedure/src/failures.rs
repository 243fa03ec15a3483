//! Effect of failed operations on a measurement, whose latency and throughput exclude them.

use engine::{OnError, Record};
use results::{ErrorClass, ErrorCount, Measurement, Severity, Warning, WarningCode};
use units::{format_count, format_counted, format_duration_ns};

use crate::single::{Circumstances, none_done};
use crate::trial::Trial;

/// If more than this share of operations failed, no 99th percentile of all operations exists, since
/// failed ones never completed. It must be exceeded by more than [`CHANCE`].
const FAILED_MAX: f64 = 0.01;
/// Standard deviations of a Poisson count allowed for chance.
const CHANCE: f64 = 2.0;
/// Number of failure kinds named, most frequent first.
const NAMED_MAX: usize = 3;
/// A compound operation fails with any of its parts.
const NOTHING_WHOLE: &str = " No transaction or file was completed, so there is no latency.";

/// Code of the warning about failed operations.
pub const FAILED_OPERATIONS: WarningCode = WarningCode::FailedOperations;

/// The part of a trial in which a rank completed or failed no operation, although others may have.
pub fn silent_part(trial: &Trial, record: &Record, circumstances: &Circumstances) -> Measurement {
    let mut measurement = none_done(trial, record, circumstances, Vec::new());
    let (title, elapsed) = (&trial.title, circumstances.elapsed);
    let text = format!("{title}: no operation completed in {elapsed}");
    measurement.warnings = vec![Warning::invalid(WarningCode::NoOperation, text)];
    measurement
}

/// Short transfers.
pub fn short_operations(measurement: &Measurement) -> Option<Warning> {
    (measurement.short > 0).then(|| {
        Warning::invalid(
            WarningCode::ShortOperations,
            format!(
                "{}: {} moved fewer bytes than requested, because the target shrank during the \
                 trial. Latency and throughput exclude them.",
                measurement.title,
                format_counted(measurement.short, "operation")
            ),
        )
    })
}

/// Failed operations of one or several trials, out of a total.
#[derive(Clone, Debug, Default)]
pub struct Failures {
    errors: Vec<ErrorCount>,
    operations: u64,
    /// Completed operations or compound operations.
    completed: u64,
    /// Whether trials continue after a failed operation. If the first failure ends a trial, the
    /// share of failures is meaningless.
    on_error: OnError,
}

impl Failures {
    /// Failures of one trial.
    pub fn of(measurement: &Measurement) -> Self {
        let mut failures = Self::default();
        failures.add(measurement);
        failures.on_error = OnError::Count;
        failures
    }

    /// Adds those of another trial.
    pub fn add(&mut self, measurement: &Measurement) {
        let done: u64 = measurement.kinds.iter().map(|kind| kind.count).sum();
        self.operations += done + measurement.errors_total();
        self.completed += measurement.completions_all;
        let mut codes = measurement.warnings.iter().map(|it| &it.code);
        if codes.any(|code| *code == FAILED_OPERATIONS) {
            self.on_error = OnError::Count;
        }
        for error in &measurement.errors {
            let mut known = self.errors.iter_mut();
            match known.find(|known| known.is_like(error)) {
                Some(known) => known.add(error),
                None => self.errors.push(error.clone()),
            }
        }
    }

    /// Errors by kind and errno.
    pub fn errors(&self) -> &[ErrorCount] {
        &self.errors
    }

    /// The warning about the figures of `title`, if operations failed.
    pub fn warning(&self, title: &str) -> Option<Warning> {
        if self.on_error == OnError::Stop {
            return None;
        }
        let errors = self.errors.iter();
        let mut failed: Vec<&ErrorCount> = errors
            .filter(|error| error.class != ErrorClass::Short)
            .collect();
        failed.sort_by_key(|error| std::cmp::Reverse(error.count));
        let mut sum = (*failed.first()?).clone();
        failed[1..].iter().for_each(|error| sum.add(error));
        let first: Vec<String> = failed.iter().take(NAMED_MAX).map(|it| named(it)).collect();
        let more = if failed.len() > NAMED_MAX {
            ", ..."
        } else {
            ""
        };
        let took = format!(
            "took {} on average, {} at most",
            format_duration_ns(sum.response_mean_ns),
            format_duration_ns(sum.response_max_ns as f64)
        );
        let which = format!("{}{more}", first.join(", "));
        let (severity, text) = if sum.count == self.operations {
            let count = format_count(sum.count as f64);
            (Severity::Invalid, all_failed(&count, &which, &took))
        } else {
            self.some_failed(&sum, &failed, &which, &took)
        };
        Some(Warning::new(
            severity,
            FAILED_OPERATIONS,
            format!("{title}: {text}"),
        ))
    }

    fn some_failed(
        &self,
        sum: &ErrorCount,
        failed: &[&ErrorCount],
        which: &str,
        took: &str,
    ) -> (Severity, String) {
        let (count, all) = (sum.count as f64, self.operations as f64);
        let surely = count - CHANCE * count.sqrt();
        let (severity, effect) = match self.completed {
            0 => (Severity::Invalid, NOTHING_WHOLE),
            _ => effect(surely / all, failed),
        };
        let text = format!(
            "{} of {} operations failed ({:.2} %): {which}. Latency and throughput exclude them. \
             They {took}.{effect}",
            format_count(count),
            format_count(all),
            count / all * 100.0,
        );
        (severity, text)
    }
}

fn all_failed(count: &str, which: &str, took: &str) -> String {
    format!("all {count} operations failed: {which}. The failures {took}. Check dmesg.")
}

fn named(error: &ErrorCount) -> String {
    let count = format_count(error.count as f64);
    let (kind, name) = (&error.kind, &error.name);
    format!("{count} {kind} with \"{name}\" ({})", error.class.name())
}

/// How far the numbers can still be used; `share` is the minimum share of failures.
fn effect(share: f64, failed: &[&ErrorCount]) -> (Severity, &'static str) {
    let mut failed = failed.iter();
    if failed.any(|error| error.class == ErrorClass::Verification) {
        let text = " The storage returned wrong data. Do not use these results.";
        return (Severity::Invalid, text);
    }
    if share >= FAILED_MAX {
        let text = " With 1 % or more failed there is no p99.";
        return (Severity::Invalid, text);
    }
    (Severity::Warning, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(kind: &str, class: ErrorClass, count: u64, mean: f64) -> ErrorCount {
        ErrorCount {
            kind: kind.into(),
            class,
            name: "a name".into(),
            count,
            response_mean_ns: mean,
            response_max_ns: 3 * mean as u64,
            ..ErrorCount::default()
        }
    }

    #[track_caller]
    fn check(errors: &[ErrorCount], expected: Option<(Severity, &str)>) {
        let failures = Failures {
            errors: errors.to_vec(),
            operations: 100_000,
            completed: 1,
            on_error: OnError::Count,
        };
        let warning = failures.warning("reads");
        let found = warning.as_ref().map(|it| it.severity);
        assert_eq!(found, expected.map(|(severity, _)| severity), "{warning:?}");
        if let (Some(warning), Some((_, part))) = (&warning, expected) {
            assert!(warning.text().contains(part), "{warning}");
        }
    }

    #[test]
    fn failures_are_a_doubt_until_no_p99_exists_or_data_are_wrong() {
        let io = |count| failed("read", ErrorClass::Io, count, 1e6);
        check(&[], None);
        check(&[failed("read", ErrorClass::Short, 9, 1e6)], None);
        let text = "reads: 999 of 100,000 operations failed (1.00 %): 999 read with \"a name\" \
                    (I/O error). Latency and throughput exclude them. They took 1.00 ms on \
                    average, 3.00 ms at most.";
        check(&[io(999)], Some((Severity::Warning, text)));
        check(&[io(1050)], Some((Severity::Warning, "(1.05 %)")));
        check(&[io(1070)], Some((Severity::Invalid, "there is no p99")));
        let text = "reads: all 100,000 operations failed: 100,000 read with \"a name\" (I/O \
                    error). The failures took 1.00 ms on \
                    average, 3.00 ms at most.";
        check(&[io(100_000)], Some((Severity::Invalid, text)));
        let wrong = failed("read", ErrorClass::Verification, 1, 1e6);
        check(&[io(10), wrong], Some((Severity::Invalid, "wrong data")));
        let space = failed("write", ErrorClass::Space, 30, 5e6);
        let text = "30 write with \"a name\" (no space), 10 read with \"a name\" (I/O error). \
                    Latency and throughput exclude them. They took 4.00 ms on average, 15.0 ms";
        check(&[io(10), space], Some((Severity::Warning, text)));
    }
}
