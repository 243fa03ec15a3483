//! Makes a device or file forget what was written, and reads samples back.
//!
//! Only a target that was opened for overwriting can be purged: every check of that stands before.
//! A discard says which blocks are worthless; what a device makes of it is its own affair, so that
//! what is read back is part of the result. Formatting and sanitizing is left to
//! the vendor's tools.

use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use rustix::fs::Advice;

use crate::blocking::{discard, punch};
use crate::target::{AccessMode, Target, TargetFileType};
use crate::target_error::TargetError;

/// So much at a time, so that it can be stopped between.
const PIECE: u64 = 1 << 30;
/// Blocks that are read back, and their bytes.
const SAMPLES: u64 = 64;
const SAMPLE_BYTES: usize = 4096;

units::words! {
    /// How a target is made to forget.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PurgeMethod {
        /// `BLKDISCARD` of all of a device.
        Discard = "discard",
        /// The blocks of a file are given back to the file system.
        Punch = "punch",
    }
}

/// What reading back found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadBack {
    /// Blocks of 4 KiB that were read.
    pub sampled: u32,
    /// Those that held only zeroes.
    pub zero: u32,
}

/// Make all of `target` forget. `go_on` is asked between pieces; `Ok(None)` when it says no.
///
/// # Errors
/// When the target is of another kind, may not be overwritten, or the system refuses.
pub fn purge(
    target: &Target,
    method: PurgeMethod,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<ReadBack>, TargetError> {
    let wanted = match method {
        PurgeMethod::Discard => TargetFileType::Device,
        PurgeMethod::Punch => TargetFileType::File,
    };
    assert_eq!(
        target.kind(),
        wanted,
        "the method was checked against the kind"
    );
    assert_eq!(
        target.access(),
        AccessMode::Overwrite,
        "it may be overwritten"
    );
    let failed = |error| TargetError::io("purge", target.path(), error);
    target.file().sync_all().map_err(failed)?;
    let mut at = 0;
    while at < target.size() {
        if !go_on() {
            return Ok(None);
        }
        let len = PIECE.min(target.size() - at);
        let done = match method {
            PurgeMethod::Discard => discard(target.file(), at, len),
            PurgeMethod::Punch => punch(target.file(), at, len),
        };
        done.map_err(failed)?;
        at += len;
    }
    target.file().sync_all().map_err(failed)?;
    zero_blocks(target, &(0..target.size()), SAMPLES, Duration::MAX).map(Some)
}

/// Reads up to `samples` blocks spread over these bytes of the target, at least one, and no more
/// once `limit` has passed.
///
/// # Errors
/// When the system refuses.
pub fn zero_blocks(
    target: &Target,
    bytes: &Range<u64>,
    samples: u64,
    limit: Duration,
) -> Result<ReadBack, TargetError> {
    let failed = |error| TargetError::io("read", target.path(), error);
    let buffered = target.open_again(crate::target::Caching::Buffered)?;
    let file = buffered.file();
    // What the page cache holds would say nothing of the device.
    rustix::fs::fadvise(file, 0, None, Advice::DontNeed).map_err(|error| failed(error.into()))?;
    let blocks = bytes.end.saturating_sub(bytes.start) / SAMPLE_BYTES as u64;
    let samples = samples.min(blocks);
    let (mut sampled, mut zero) = (0, 0);
    let begun = Instant::now();
    let mut block = [0; SAMPLE_BYTES];
    for number in 0..samples {
        if sampled > 0 && begun.elapsed() >= limit {
            break;
        }
        let place = number * (blocks - 1) / (samples - 1).max(1);
        file.read_exact_at(&mut block, bytes.start + place * SAMPLE_BYTES as u64)
            .map_err(failed)?;
        sampled += 1;
        zero += u32::from(block.iter().all(|&byte| byte == 0));
    }
    Ok(ReadBack { sampled, zero })
}
