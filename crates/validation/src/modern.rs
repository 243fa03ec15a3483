//! Current devices compared with data of manufacturers, reviewers and researchers. The criteria
//! were fixed before the first comparison: 12 % for rates and times that follow from other figures
//! of a manufacturer, 2 % for those that a cloud computes like the model.

use units::Duration;

use super::ValidationError;
use super::experiment::{Figures, Fillers, ones};
use super::hand::{DataDirection, SteppedMachine};
use host::interrupt::Interrupt;

pub(super) const FIGURES: Fillers<Figures> = &[
    ("server_disk", server_disk),
    ("four_bit_cells", four_bit_cells),
    ("shingled_disk", shingled_disk),
    ("cloud_credits", cloud_credits),
    ("throttling", throttling),
];

const MIB: u64 = 1 << 20;
const KIB_PER_MB: f64 = 1024.0 / 1e6;

/// Minutes to write a whole disk sequentially, from its rate at several positions.
fn formatting(target: &str) -> Result<f64, ValidationError> {
    const PLACES: u64 = 32;
    let size = SteppedMachine::on(target)?.bytes;
    let mut seconds = 0.0;
    for number in 0..PLACES {
        let start = size / PLACES * number / MIB;
        let place = format!("{target}&start={start}MiB&size=256MiB");
        let rate = SteppedMachine::on(&place)?.in_order(256 * MIB, MIB, DataDirection::Writing)?;
        seconds += size as f64 / PLACES as f64 / (rate * 1024.0);
    }
    Ok(seconds / 60.0)
}

/// Sequential operations of 4 KiB per second.
fn small_writes(target: &str) -> Result<f64, ValidationError> {
    let rate = SteppedMachine::on(target)?.in_order(4 * MIB, 4096, DataDirection::Writing)?;
    Ok(rate / 4.0)
}

fn server_disk(_: &Interrupt) -> Figures {
    let (off, on) = ("sim:st4000nm0023?size=64MiB", "&write-cache=128MiB");
    let reading = SteppedMachine::on(off)?.in_order(64 * MIB, MIB, DataDirection::Reading)?;
    Ok(ones([
        formatting("sim:st4000nm0023?write-cache=8MiB")?,
        reading * KIB_PER_MB,
        small_writes(off)?,
        small_writes(&format!("{off}{on}"))?,
    ]))
}

fn four_bit_cells(_: &Interrupt) -> Figures {
    let target = "sim:qvo870";
    let buffer = SteppedMachine::on(target)?.in_order(6 << 30, MIB, DataDirection::Writing)?;
    let mut device = SteppedMachine::on(target)?;
    let gigabytes = |device: &mut SteppedMachine, from: u64, to: u64| {
        let mut spent = Duration::ZERO;
        for number in from..to {
            spent += device.write(number * MIB, MIB)?;
        }
        let bytes = ((to - from) * MIB) as f64;
        Ok::<_, ValidationError>(bytes / 1e6 / spent.as_secs_f64())
    };
    // 78 GB are 74,387 MiB.
    gigabytes(&mut device, 0, 75_000)?;
    let past = gigabytes(&mut device, 75_000, 79_000)?;
    Ok(ones([buffer * KIB_PER_MB, past]))
}

fn shingled_disk(_: &Interrupt) -> Figures {
    let band = 36 * MIB;
    let mut device = SteppedMachine::on("sim:st8000as0002?media-cache=1MiB")?;
    // With a cache that is full after 256 blocks, each next block cleans a band.
    let mut spent = Duration::ZERO;
    for number in 0..256 + 32 {
        let took = device.write(number * band + 4096, 4096)?;
        if number >= 256 {
            spent += took;
        }
    }
    let target = "sim:st8000as0002?size=1GiB";
    let rate = SteppedMachine::on(target)?.in_order(1 << 30, MIB, DataDirection::Writing)?;
    Ok(ones([
        spent.as_secs_f64() / 32.0,
        rate * KIB_PER_MB,
        spent.as_secs_f64() / 32.0 / (2.0 * band as f64 / (rate * 1024.0)),
    ]))
}

/// A volume so fast that its limits set the pace.
const QUICK: &str = "latency=51us&latency-least=50us";

/// How long writes at one position take at most `longest` seconds each.
fn full_rate(
    device: &mut SteppedMachine,
    len: u64,
    longest: f64,
) -> Result<Duration, ValidationError> {
    let mut spent = Duration::ZERO;
    loop {
        let took = device.write(0, len)?;
        if took.as_secs_f64() > longest {
            return Ok(spent);
        }
        spent += took;
    }
}

fn cloud_credits(_: &Interrupt) -> Figures {
    let lasts = |baseline: f64| {
        let limits = format!("iops={baseline}..3000:5.4M&credits=5%");
        let mut volume = SteppedMachine::on(&format!("sim:aws-gp2?{limits}&{QUICK}"))?;
        let longest = (1.0 / 3000.0 + 1.0 / baseline) / 2.0;
        let twentieth = full_rate(&mut volume, 4096, longest)?;
        Ok::<_, ValidationError>(20.0 * twentieth.as_secs_f64())
    };
    let scan = |name: &str| {
        let mut volume = SteppedMachine::on(&format!("sim:{name}?{QUICK}"))?;
        let bytes = volume.bytes;
        let rate = volume.in_order(bytes, 4 * MIB, DataDirection::Reading)?;
        Ok::<_, ValidationError>(bytes as f64 / 1024.0 / rate / 3600.0)
    };
    Ok(ones([
        lasts(100.0)?,
        lasts(300.0)?,
        lasts(1002.0)?,
        lasts(2250.0)?,
        scan("aws-st1")?,
        scan("aws-sc1")?,
    ]))
}

fn throttling(_: &Interrupt) -> Figures {
    let limits = "bps=2GB/s&throttle-at=80&throttle-below=75&throttle-rate=1.5GB/s";
    let mut device = SteppedMachine::on(&format!("sim:m2-warm?{limits}&{QUICK}"))?;
    // Between a MiB at 2 GB/s and one at 1.5 GB/s.
    let cold = full_rate(&mut device, MIB, 0.6e-3)?;
    let rate = device.in_order(100 << 30, MIB, DataDirection::Writing)?;
    Ok(ones([cold.as_secs_f64(), rate * KIB_PER_MB / 1e3]))
}
