//! Makes the test file in a directory and fills it, so that reads find what was written.

use procedure::{Ending, Trial, TrialError, fill_trial};
use results::{Access, Measurement};
use units::{Bytes, Duration};
use workload::{ClientSpec, TargetId};

use crate::bench::{Bench, BenchError};
use crate::laboratory::{Glimpse, Laboratory, LaboratoryError};
use host::interrupt::Interrupt;

/// The test file that a directory gets when no size is given.
pub const SIZE_DEFAULT: Bytes = Bytes::from_gib(1);
/// Filling is given up after this long.
pub const FILL_MAX: Duration = Duration::from_secs(3600);

/// A test file that was made and filled, or several together.
pub struct Filled {
    pub size: Bytes,
    /// What writing it gave: one pass from its first byte to its last; of several, the first's.
    pub writing: Measurement,
}

/// Make and fill a file of at most `size`; `show` is told its title and how it goes. Returns the
/// size that it has.
///
/// # Errors
/// When there is no room, the storage fails, or somebody stopped it.
pub fn make_test_file(
    bench: &mut Bench,
    size: Bytes,
    access: Access,
    interrupt: &Interrupt,
    show: &mut dyn FnMut(&str, &Glimpse),
) -> Result<Bytes, BenchError> {
    Ok(fill_test_file(bench, size, access, interrupt, show)?.size)
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

/// The same as [`make_test_file`], and what the writing of it gave.
///
/// # Errors
/// When there is no room, the storage fails, or somebody stopped it.
pub fn fill_test_file(
    bench: &mut Bench,
    size: Bytes,
    access: Access,
    interrupt: &Interrupt,
    show: &mut dyn FnMut(&str, &Glimpse),
) -> Result<Filled, BenchError> {
    let files = bench.test_files();
    let each = Bytes(size.0 / files.len() as u64);
    let trial = trial_of(each, access)?;
    let each = whole_size(each)?;
    bench.lay_out(each)?;
    bench.verify_as_asked()?;
    let mut fill = |target| fill_one(bench, &trial, target, interrupt, show);
    let writing = fill(files[0])?;
    for target in &files[1..] {
        fill(*target)?;
    }
    bench.verify_from_now();
    Ok(Filled {
        size: Bytes(each.0 * files.len() as u64),
        writing,
    })
}

/// Write over the first `size` bytes, or a little less, of what the user named; returns how many.
///
/// # Errors
/// When the storage fails, or somebody stopped it.
pub fn write_over(
    laboratory: &mut dyn Laboratory,
    size: Bytes,
    access: Access,
    interrupt: &Interrupt,
) -> Result<Bytes, BenchError> {
    write_all(
        laboratory,
        &trial_of(size, access)?,
        interrupt,
        &mut |_, _| {},
    )?;
    whole_size(size)
}

/// Run the pass that writes all of a test file on that one.
fn fill_one(
    bench: &mut Bench,
    trial: &Trial,
    target: TargetId,
    interrupt: &Interrupt,
    show: &mut dyn FnMut(&str, &Glimpse),
) -> Result<Measurement, BenchError> {
    let mut trial = trial.clone();
    if let ClientSpec::Mix(mix) = &mut trial.spec {
        mix.addresses.region.target = target;
    }
    write_all(
        &mut *bench.laboratory_that_leaves(),
        &trial,
        interrupt,
        show,
    )
}

fn write_all(
    laboratory: &mut dyn Laboratory,
    trial: &Trial,
    interrupt: &Interrupt,
    show: &mut dyn FnMut(&str, &Glimpse),
) -> Result<Measurement, BenchError> {
    let measured = laboratory.measure(trial, &mut |glimpse| {
        show(&trial.title, glimpse);
        interrupt.is_raised().is_none()
    });
    let outcome = measured.map_err(|error| stopped(interrupt).unwrap_or(error.into()))?;
    match outcome.ending {
        Ending::Finished => Ok(outcome.measurement),
        _ => Err(stop_of(&trial.title, outcome.failure, interrupt)),
    }
}

/// What a signal ended, if one was raised.
pub fn stopped(interrupt: &Interrupt) -> Option<BenchError> {
    interrupt.is_raised().map(|signal| BenchError::Interrupted {
        signal: signal.name.into(),
    })
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
