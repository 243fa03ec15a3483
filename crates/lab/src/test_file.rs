//! Makes the test file in a directory and fills it, so that reads find what was written.

use procedure::{Ending, Trial, TrialError, fill_trial};
use results::{Access, Measurement};
use units::{Bytes, Duration, format_duration_ns};
use workload::{ClientSpec, TargetId};

use crate::bench::{Bench, BenchError, HostReach};
use crate::laboratory::{Glimpse, LaboratoryError};
use host::interrupt::Interrupt;

/// The test file that a directory gets when no size is given.
pub const SIZE_DEFAULT: Bytes = Bytes::from_gib(1);
/// Filling is given up after this long.
pub const FILL_MAX: Duration = Duration::from_secs(3600);

/// A test file that was made and filled, or several together.
pub struct Filled {
    pub size: Bytes,
    /// Whether a larger one was asked for, and there was no time for it.
    pub is_smaller: bool,
    /// What writing it gave: one pass from its first byte to its last; of several, the first's.
    pub writing: Measurement,
}

/// Share of a budget that writing the test file may take.
const FILL_SHARE: f64 = 0.4;
/// However short the budget is: it may be exceeded by as much.
const FILL_LEAST: Duration = Duration::from_secs(2);
/// Part of that time after which a file that is not written yet shows how fast it is.
const PROBE_PART: f64 = 0.15;
/// Part of what fits at that speed that is written: it may fall.
const SPEED_MARGIN: f64 = 0.85;
/// A file that is made smaller is no smaller than this.
const SIZE_LEAST: Bytes = Bytes::from_mib(16);
/// How often a file is made smaller before it is given up.
const TRIES_MAX: u32 = 4;

/// The time that a measurement has, of which writing its test file takes a share.
#[derive(Clone, Copy, Debug)]
pub struct FillBudget {
    /// Time for everything.
    pub budget: Duration,
    /// What the measurement itself needs of it.
    pub rest: Duration,
    /// Whether the file may be smaller than asked for.
    pub may_shrink: bool,
}

impl FillBudget {
    /// What writing the file may take of the time of the measurement.
    #[must_use]
    pub fn share(self) -> Duration {
        self.budget.mul_f64(FILL_SHARE)
    }

    fn time(self) -> Duration {
        let left = self.budget.saturating_sub(self.rest);
        self.share().min(left).max(FILL_LEAST)
    }

    /// What can be written of `size` at `rate` bytes per second, `spent` after the start.
    ///
    /// # Errors
    /// When the budget is too short for it; it says what would do.
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
        // The speed was found out in a part of the time, too.
        let whole = takes / (SPEED_MARGIN * (1.0 - PROBE_PART));
        if whole <= self.time().as_secs_f64() {
            // The storage is fast enough: this program was paused meanwhile.
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

/// The size that a test file of at most `size` will have. What is filled is a whole number of
/// passes of all writers; the rest would be a hole, and its zeroes would pass for wrong data.
///
/// # Errors
/// When that is too small.
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

/// Make and fill a file of at most `size`; `show` gets its title and progress. Within a
/// budget it is made smaller where the storage is too slow for it.
///
/// # Errors
/// When there is no room, or no time; when the storage fails, or somebody stopped it.
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
        // The time of a file that was made smaller goes on.
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
        // Where that is over, it was lost to a pause, and is given once more.
        patience = match budget.time().saturating_sub(spent) {
            left if left > patience => left,
            _ => budget.time(),
        };
    }
    Err(stop_of("writing the test file", None, interrupt))
}

/// Write over the first `size` bytes, or a little less, of what the user named; returns how many.
///
/// # Errors
/// When the storage fails, or somebody stopped it.
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

/// Fill one file after the other. What the first gave, or, where the time of one was not enough,
/// the bytes per second at its end.
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

/// Run the pass that writes all of a test file on that one, and whether it did in its time.
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

/// What a pass that writes gave, and whether it came to its end in its time.
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

/// What a signal ended, if one was raised.
pub fn stopped(interrupt: &Interrupt) -> Option<BenchError> {
    interrupt.is_raised().map(|signal| BenchError::Interrupted {
        signal: signal.name.into(),
    })
}

/// Why ranks stopped: a signal goes to all of them, and each takes another's for a failure.
pub fn cause(interrupt: &Interrupt, error: BenchError) -> BenchError {
    match error {
        BenchError::Served => error,
        other => stopped(interrupt).unwrap_or(other),
    }
}

/// Why a trial did not come to its end.
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

    /// 5 s for a file of which 2 s were gone, most of them in a pause of this program, were called
    /// too short for 75 ms of writing, and a budget of 1 s was asked for.
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
