//! Creates and fills the test file in a directory, so that reads find written data.

use procedure::{Ending, Trial, TrialError, fill_trial};
use results::{Access, Measurement};
use units::{Bytes, Duration, format_duration_ns};
use workload::{ClientSpec, TargetId};

use crate::bench::{Bench, BenchError, HostReach};
use crate::laboratory::{Glimpse, LaboratoryError};
use host::interrupt::Interrupt;

/// Default size of the test file.
pub const SIZE_DEFAULT: Bytes = Bytes::from_gib(1);
/// Maximum time to fill it.
pub const FILL_MAX: Duration = Duration::from_secs(3600);

/// A test file that was created and filled, or several.
pub struct Filled {
    pub size: Bytes,
    /// Whether a larger one was requested, but time was too short.
    pub is_smaller: bool,
    /// The sequential write that filled it; for several files, that of the first.
    pub writing: Measurement,
}

/// Share of a budget for writing the test file.
const FILL_SHARE: f64 = 0.4;
/// Minimum time for it, by which a short budget may be exceeded.
const FILL_LEAST: Duration = Duration::from_secs(2);
/// If a file is not complete after this part of that time, its write speed is extrapolated.
const PROBE_PART: f64 = 0.15;
/// Part of the size possible at that speed that is written, since the speed may drop.
const SPEED_MARGIN: f64 = 0.85;
/// Minimum size when a file is made smaller.
const SIZE_LEAST: Bytes = Bytes::from_mib(16);
/// How many times a file is made smaller before giving up.
const TRIES_MAX: u32 = 4;

/// The time of a measurement, of which writing its test file takes a share.
#[derive(Clone, Copy, Debug)]
pub struct FillBudget {
    /// Total time.
    pub budget: Duration,
    /// Time that the measurement itself needs.
    pub rest: Duration,
    /// Whether the file may be smaller than requested.
    pub may_shrink: bool,
}

impl FillBudget {
    /// Maximum time to write the file.
    pub fn share(self) -> Duration {
        self.budget.mul_f64(FILL_SHARE)
    }

    fn time(self) -> Duration {
        let left = self.budget.saturating_sub(self.rest);
        self.share().min(left).max(FILL_LEAST)
    }

    /// The size, up to `size`, that can be written at `rate` bytes per second, `spent` after the
    /// start.
    ///
    /// # Errors
    /// If the budget is too short; states a sufficient one.
    fn size(self, size: Bytes, rate: f64, spent: Duration) -> Result<Bytes, BenchError> {
        let left = self.time().saturating_sub(spent).as_secs_f64();
        let fits = Bytes((rate * left * SPEED_MARGIN) as u64);
        if fits >= size {
            return Ok(size);
        }
        let least = if self.may_shrink {
            SIZE_LEAST.min(size)
        } else {
            size
        };
        if self.may_shrink && fits >= least {
            return Ok(fits);
        }
        let takes = least.0 as f64 / rate;
        // The speed was also determined in a part of the time.
        let whole = takes / (SPEED_MARGIN * (1.0 - PROBE_PART));
        if whole <= self.time().as_secs_f64() {
            // The storage is fast enough, but this program was paused.
            return Ok(least);
        }
        let needed = (whole / FILL_SHARE).max(whole + self.rest.as_secs_f64());
        let smaller = (rate * self.time().as_secs_f64() * 0.5) as u64 >> 20;
        let smaller = match smaller {
            4.. if !self.may_shrink => format!(", or --size {smaller}MiB"),
            _ => String::new(),
        };
        Err(BenchError::Usage(format!(
            "--budget {}: a test file of {least} needs {} to be written here, at {}/s. Use \
             --budget {:.0}s, {:.1} times as long{smaller}",
            self.budget,
            format_duration_ns(takes * 1e9),
            Bytes(rate as u64),
            needed.ceil(),
            needed / self.budget.as_secs_f64()
        )))
    }
}

/// The size of a test file of at most `size`. It is a multiple of what all writers fill at once,
/// since the rest would be a hole, whose zeroes would look like wrong data.
///
/// # Errors
/// If that is too small.
pub fn whole_size(size: Bytes) -> Result<Bytes, BenchError> {
    let trial = trial_of(size, Access::Direct)?;
    Ok(match &trial.spec {
        ClientSpec::Mix(mix) => Bytes(mix.addresses.region.len),
        _ => size,
    })
}

fn trial_of(size: Bytes, access: Access) -> Result<Trial, BenchError> {
    fill_trial(size, access, FILL_MAX).ok_or_else(|| {
        BenchError::Usage(format!(
            "a test file of {size} is too small: use a --size of at least 4 MiB"
        ))
    })
}

/// Creates and fills a file of at most `size`. `show` receives its title and progress. Within a
/// budget it is made smaller if the storage is too slow.
///
/// # Errors
/// If there is no space or time, the storage fails, or the run is stopped.
pub fn fill_test_file(
    bench: &mut Bench,
    size: Bytes,
    access: Access,
    budget: Option<FillBudget>,
    interrupt: &Interrupt,
    show: &mut dyn FnMut(&str, &Glimpse),
) -> Result<Filled, BenchError> {
    let begun = bench.laboratory().now();
    let count = bench.test_files().len() as u64;
    let (asked, mut size) = (size, size);
    let mut patience = budget.map_or(FILL_MAX, |it| it.time().mul_f64(PROBE_PART));
    for _ in 0..TRIES_MAX {
        let each = Bytes(size.0 / count);
        let whole = whole_size(each)?;
        let trial = Trial {
            duration_max: Duration::from_nanos(patience.as_nanos() / count),
            ..trial_of(each, access)?
        };
        bench.lay_out(whole)?;
        bench.verify_as_asked()?;
        // The time of a file that was made smaller continues.
        let before = bench.laboratory().now().since(begun);
        let mut show = |title: &str, glimpse: &Glimpse| {
            let elapsed = before + glimpse.elapsed;
            show(
                title,
                &Glimpse {
                    elapsed,
                    ..glimpse.clone()
                },
            );
        };
        let rate = match fill_all(bench, &trial, interrupt, &mut show)? {
            Ok(writing) => {
                bench.verify_from_now();
                return Ok(Filled {
                    size: Bytes(whole.0 * count),
                    is_smaller: size < asked,
                    writing,
                });
            }
            Err(rate) => rate,
        };
        let Some(budget) = budget else { break };
        let spent = bench.laboratory().now().since(begun);
        size = budget.size(size, rate, spent)?;
        // If that is over, a pause used it up, and it is granted once more.
        patience = match budget.time().saturating_sub(spent) {
            left if left > patience => left,
            _ => budget.time(),
        };
    }
    Err(stop_of("writing the test file", None, interrupt))
}

/// Overwrites the first `size` bytes, or slightly fewer, of the user's target. Returns how many.
///
/// # Errors
/// If the storage fails, or the run is stopped.
pub fn write_over(
    bench: &mut Bench,
    size: Bytes,
    access: Access,
    interrupt: &Interrupt,
) -> Result<Bytes, BenchError> {
    let trial = trial_of(size, access)?;
    match write_all(bench, &trial, interrupt, &mut |_, _| {})? {
        (_, true) => whole_size(size),
        (_, false) => Err(stop_of(&trial.title, None, interrupt)),
    }
}

/// Fills one file after the other. Returns the measurement of the first or, if the time for one was
/// too short, its rate in bytes per second at the end.
fn fill_all(
    bench: &mut Bench,
    trial: &Trial,
    interrupt: &Interrupt,
    show: &mut dyn FnMut(&str, &Glimpse),
) -> Result<Result<Measurement, f64>, BenchError> {
    let mut first = None;
    for target in bench.test_files() {
        let (writing, is_whole) = fill_one(bench, trial, target, interrupt, show)?;
        if !is_whole {
            let rate = writing.bandwidth.map_or(0.0, |it| it.value);
            return Ok(Err(rate.max(1.0)));
        }
        first.get_or_insert(writing);
    }
    Ok(Ok(first.expect("a test file")))
}

/// Runs the pass that writes one whole test file, and tells whether it finished in time.
fn fill_one(
    bench: &mut Bench,
    trial: &Trial,
    target: TargetId,
    interrupt: &Interrupt,
    show: &mut dyn FnMut(&str, &Glimpse),
) -> Result<(Measurement, bool), BenchError> {
    let mut trial = trial.clone();
    if let ClientSpec::Mix(mix) = &mut trial.spec {
        mix.addresses.region.target = target;
    }
    write_all(bench, &trial, interrupt, show)
}

/// The result of a pass that writes, and whether it finished in time.
fn write_all(
    bench: &mut Bench,
    trial: &Trial,
    interrupt: &Interrupt,
    show: &mut dyn FnMut(&str, &Glimpse),
) -> Result<(Measurement, bool), BenchError> {
    let measured = bench.measure(trial, HostReach::Leaving, &mut |glimpse| {
        show(&trial.title, glimpse);
        interrupt.is_raised().is_none()
    });
    let outcome = measured.map_err(|error| stopped(interrupt).unwrap_or(error.into()))?;
    match outcome.ending {
        Ending::Finished => Ok((outcome.measurement, true)),
        Ending::Budget => Ok((outcome.measurement, false)),
        _ => Err(stop_of(&trial.title, outcome.failure, interrupt)),
    }
}

/// The error for a run ended by a signal, if one was received.
pub fn stopped(interrupt: &Interrupt) -> Option<BenchError> {
    interrupt.is_raised().map(|signal| BenchError::Interrupted {
        signal: signal.name.into(),
    })
}

/// Why ranks stopped: a signal reaches all of them, and each sees another's stop as a failure.
pub fn cause(interrupt: &Interrupt, error: BenchError) -> BenchError {
    match error {
        BenchError::Served => error,
        other => stopped(interrupt).unwrap_or(other),
    }
}

/// Why a trial did not finish.
pub fn stop_of(title: &str, failure: Option<TrialError>, interrupt: &Interrupt) -> BenchError {
    if let Some(error) = failure {
        return LaboratoryError::Trial {
            title: title.into(),
            error,
        }
        .into();
    }
    stopped(interrupt)
        .unwrap_or_else(|| BenchError::Usage(format!("{title}: not finished in time")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bug: 5 s for a file, of which 2 s had passed, mostly in a pause of this program, were
    /// reported as too short for 75 ms of writing, and a budget of 1 s was requested.
    #[test]
    fn time_that_was_lost_to_a_pause_is_no_reason_for_a_longer_budget() {
        let budget = FillBudget {
            budget: Duration::from_secs(5),
            rest: Duration::from_secs(3),
            may_shrink: false,
        };
        let size = Bytes::from_mib(16);
        let spent = Duration::from_millis(2100);
        let fast = budget.size(size, 212e6, spent);
        assert_eq!(fast.expect("time enough"), size);
        let slow = budget.size(size, 4e6, spent).expect_err("4 s of writing");
        assert!(
            slow.to_string()
                .contains("Use --budget 15s, 2.9 times as long"),
            "{slow}"
        );
    }
}
