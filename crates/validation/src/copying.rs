//! KP3: a tape is copied to a disk, with and without extending the file in large steps; files on a
//! tape are looked for.
//!
//! The copy is that of the study `copy-extension`. It reads ahead into six buffers, as the
//! document's settings say. Of its three buffers for the disk one is written at a time: the same
//! disk on the same machine, with three buffers too, loses a turn with each write in the disk tests
//! of the same month (3.01 Mb/s for 48 KiB), which it would not if it had the next write already.
//! Whenever the file is full it is extended first; what that takes is from another table: FTP to
//! the same disks takes 29.21 s without /extension and 20.87 s with steps of 2048 blocks, for 38368
//! blocks in steps of 128.

use random::{Purpose, Stream};
use results::{Bar, ValidationRow};
use sim::{DeviceSpec, SimSpec, TapeSpec};

use super::hand::SEED;
use super::studies::{COPY, StudyRow};
use super::{Rows, Runs, ValidationError};
use host::interrupt::Interrupt;

pub(super) const RUNS: Runs = &[("copy", copy), ("positioning", positioning)];

fn tape_spec(text: &str) -> Result<TapeSpec, ValidationError> {
    match SimSpec::parse(text)?.machine().map(|it| it.device.clone()) {
        Some(DeviceSpec::Tape(spec)) => Ok(spec),
        _ => Err(ValidationError::Nothing(format!("{text} is no tape"))),
    }
}

fn copy(interrupt: &Interrupt) -> Rows {
    let found = |extension| {
        let row = StudyRow::measure(COPY, &[extension], interrupt)?;
        Ok::<_, ValidationError>((row.value("copy rate")? / 1024.0, row.value("tape stops")?))
    };
    let (large, stops_large) = found("8192 blocks")?;
    let (small, stops_small) = found("none")?;
    let with = ValidationRow::new("with /ext=8192", "KiB/s", 1256.0);
    let without = ValidationRow::new("without, steps of 128 blocks", "KiB/s", 781.0);
    let ratio = ValidationRow::new("without over with", "", 781.0 / 1256.0);
    let streams = ValidationRow::in_words("stops of the tape with /ext=8192", "");
    let backs = ValidationRow::in_words("stops of the tape without", "");
    Ok(vec![
        with.simulated(large).within(0.05),
        without
            .simulated(small)
            .noted("the ratio is judged, not this rate: what extending takes is from another test"),
        ratio.simulated(small / large).judged(Bar::Range {
            low: 0.55,
            high: Some(0.75),
        }),
        streams
            .simulated(stops_large)
            .noted("\"is streaming\"")
            .judged(Bar::Range {
                low: 0.0,
                high: Some(1.0),
            }),
        backs
            .simulated(stops_small)
            .noted("\"has to backup frequently\": once in ten seconds at least")
            .judged(Bar::Range {
                low: 9.0,
                high: None,
            }),
    ])
}

/// Files of the tape of September 1995, and bytes of each.
const FILES: u64 = 91;
const FILE_BYTES: u64 = 10_000_000_000 / FILES;
/// Marks of a labelled file: after its header, its data, and its trailer.
const MARKS: u64 = 3;

fn positioning(_: &Interrupt) -> Rows {
    let spec = tape_spec("sim:dlt2000")?;
    let skip = spec.skip_ns(0, 31 / MARKS * FILE_BYTES) as f64 / 60e9;
    let end = spec.skip_ns(0, 7_900_000_000) as f64 / 60e9;
    let skipped = ValidationRow::new("skip of 31 marks, to the 10th file", "min", 10.0);
    let all = ValidationRow::new("skip to the end of 7.9 GB", "min", 62.0);
    let mean = ValidationRow::new("search for a file, mean of 91", "s", 35.9);
    Ok(vec![
        skipped.simulated(skip).within(0.20),
        all.simulated(end)
            .noted("the speed of searching is not the maker's figure"),
        mean.simulated(mean_search(&spec)).within(0.20),
    ])
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
