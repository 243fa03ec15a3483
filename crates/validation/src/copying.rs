//! KP3: copying a tape to a disk, with and without extending the file in large steps, and searching
//! files on a tape.
//!
//! The copy is that of the study `copy-extension`. It reads ahead into six buffers, as the
//! document's settings say. Of its three buffers for the disk one is written at a time: the same
//! disk on the same machine, with three buffers too, loses a turn with each write in the disk tests
//! of the same month (3.01 Mb/s for 48 KiB), which it would not if it had the next write already. A
//! full file is extended first. The time of that is from another table: FTP to the same disks takes
//! 29.21 s without /extension and 20.87 s with steps of 2048 blocks, for 38368 blocks in steps of
//! 128.

use random::{Purpose, Stream};
use sim::{DeviceSpec, SimSpec, TapeSpec};

use super::ValidationError;
use super::experiment::{Figures, Fillers, ones};
use super::hand::SEED;
use super::studies::{COPY, StudyRow};
use host::interrupt::Interrupt;

pub(super) const FIGURES: Fillers<Figures> = &[("copy", copy), ("positioning", positioning)];

fn tape_spec(text: &str) -> Result<TapeSpec, ValidationError> {
    match SimSpec::parse(text)?.machine().map(|it| it.device.clone()) {
        Some(DeviceSpec::Tape(spec)) => Ok(spec),
        _ => Err(ValidationError::Nothing(format!("{text} is no tape"))),
    }
}

fn copy(interrupt: &Interrupt) -> Figures {
    let found = |extension| {
        let row = StudyRow::measure(COPY, &[extension], interrupt)?;
        Ok::<_, ValidationError>((row.value("copy rate")? / 1024.0, row.value("tape stops")?))
    };
    let (large, stops_large) = found("8192 blocks")?;
    let (small, stops_small) = found("none")?;
    let ratio = small / large;
    Ok(ones([large, small, ratio, stops_large, stops_small]))
}

/// Files of the tape of September 1995, and bytes of each.
const FILES: u64 = 91;
const FILE_BYTES: u64 = 10_000_000_000 / FILES;
/// Marks of a labelled file: after its header, its data, and its trailer.
const MARKS: u64 = 3;

fn positioning(_: &Interrupt) -> Figures {
    let spec = tape_spec("sim:dlt2000")?;
    let skip = spec.skip_ns(0, 31 / MARKS * FILE_BYTES) as f64 / 60e9;
    let end = spec.skip_ns(0, 7_900_000_000) as f64 / 60e9;
    Ok(ones([skip, end, mean_search(&spec)]))
}

/// Seconds to the first record of a file, over many orders of all files.
fn mean_search(spec: &TapeSpec) -> f64 {
    const ORDERS: u64 = 100;
    let mut stream = Stream::new(SEED, 0, Purpose::Address);
    let mut sum = 0;
    let mut at = 0;
    for _ in 0..ORDERS {
        let mut files: Vec<u64> = (0..FILES).collect();
        while !files.is_empty() {
            let place = stream.below(files.len() as u64) as usize;
            let there = files.swap_remove(place) * FILE_BYTES;
            sum += spec.locate_ns(at, there);
            at = there;
        }
    }
    sum as f64 / 1e9 / (ORDERS * FILES) as f64
}
