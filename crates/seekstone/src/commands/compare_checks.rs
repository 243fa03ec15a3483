//! What of the targets would spoil a comparison, looked at before the first round.

use std::thread::sleep;
use std::time::Duration;

use host::counters::Counters;
use lab::bench::inspected;
use results::environment::{Caution, TargetKind};
use results::{TargetDescription, WarningCode};
use units::{TargetName, format_count};

use crate::exit::InvalidComparison;

/// How long the counters of the devices are watched.
const WATCHED: Duration = Duration::from_secs(1);
/// Fewer requests a second disturb nothing: a journal or a log makes as many.
const REQUESTS_MIN: u64 = 20;
/// What is told of a target; of the rest each run says enough.
const TOLD: [WarningCode; 5] = [
    WarningCode::LoopBuffered,
    WarningCode::MemoryBacked,
    WarningCode::NearlyFull,
    WarningCode::Compression,
    WarningCode::SparseFile,
];

/// A target that is real, and what is known of it.
type Inspected<'a> = (&'a TargetName, TargetDescription, Vec<Caution>);

/// What would spoil a comparison of these targets, a line each. `reads` says whether every
/// operation reads, and `watches` whether the devices are watched for a second.
///
/// # Errors
/// When what is read of a target would come from memory, or from holes.
pub fn doubts(targets: &[TargetName], reads: bool, watches: bool) -> anyhow::Result<Vec<String>> {
    let real = targets.iter().filter(|it| !it.is_model());
    // What cannot be looked at is refused where it is measured.
    let real = real.filter_map(|it| {
        let (_, description, cautions) = inspected(it).ok()?;
        Some((it, description, cautions))
    });
    let real: Vec<Inspected<'_>> = real.collect();
    if let Some(why) = real.iter().find_map(|it| invalid(it, reads)) {
        return Err(InvalidComparison(why).into());
    }
    let told = real.iter().flat_map(|(target, _, cautions)| {
        let told = cautions.iter().filter(|it| TOLD.contains(&it.code));
        told.map(move |it| format!("{target}: {}", it.text()))
    });
    let mut lines: Vec<String> = told.chain(shared_device(&real)).collect();
    if watches {
        lines.extend(background(&real));
    }
    Ok(lines)
}

/// Why nothing that is read of a target would be of its device.
fn invalid((target, description, cautions): &Inspected<'_>, reads: bool) -> Option<String> {
    let of = |code: WarningCode| cautions.iter().find(|it| it.code == code);
    let is_directory = description.kind == TargetKind::Directory;
    // A test file that was just written is in memory.
    let found = of(WarningCode::LoopBuffered).filter(|_| is_directory);
    let found = found.filter(|_| reads)?;
    Some(format!("{target}: {}", found.text()))
}

/// That two targets are one device, as two directories of a file system are.
fn shared_device(real: &[Inspected<'_>]) -> Option<String> {
    let device = |it: &Inspected<'_>| it.1.devices.first().map(|it| it.name.clone());
    let pairs = (1..real.len()).flat_map(|at| real[..at].iter().map(move |it| (it, &real[at])));
    let mut same =
        pairs.filter(|(one, other)| device(one).is_some() && device(one) == device(other));
    let (one, other) = same.next()?;
    let name = device(one)?;
    Some(match one.0 == other.0 {
        true => format!("{} is compared with itself.", one.0),
        false => format!("{} and {} are on the same device, {name}.", one.0, other.0),
    })
}

/// What other processes do on the devices, which nothing of ours uses yet.
fn background(real: &[Inspected<'_>]) -> Vec<String> {
    let mut devices: Vec<&str> = Vec::new();
    for name in real.iter().filter_map(|it| it.1.devices.first()) {
        if !devices.contains(&name.name.as_str()) {
            devices.push(&name.name);
        }
    }
    if devices.is_empty() {
        return Vec::new();
    }
    let look = || devices.iter().map(|it| Counters::take(Some(it)));
    let before: Vec<Counters> = look().collect();
    sleep(WATCHED);
    let moved = before
        .iter()
        .zip(look())
        .zip(&devices)
        .filter_map(|((before, after), name)| {
            let device = before.delta(&after).device?;
            let requests = device.reads + device.writes;
            (requests >= REQUESTS_MIN).then(|| {
                let rate = format_count(requests as f64 / WATCHED.as_secs_f64());
                format!(
                    "{name}: other processes make {rate} I/O requests a second. Stop them first."
                )
            })
        });
    moved.collect()
}

#[cfg(test)]
mod tests {
    use results::environment::BlockDevice;

    use super::*;

    fn target<'a>(name: &'a TargetName, device: &str, codes: &[WarningCode]) -> Inspected<'a> {
        let description = TargetDescription {
            kind: TargetKind::Directory,
            devices: vec![BlockDevice {
                name: device.into(),
                ..BlockDevice::default()
            }],
            ..TargetDescription::simulated(name.as_str(), name.as_str(), None)
        };
        let cautions = codes.iter().map(|code| Caution {
            code: code.clone(),
            cause: code.as_str().into(),
            advice: "mend it".into(),
        });
        (name, description, cautions.collect())
    }

    /// Story: a comparison measured for 75 s, and then said that its loop devices were buffered.
    #[test]
    fn reads_through_a_buffered_loop_are_refused_and_writes_are_not() {
        let name = TargetName::from("/mnt/a");
        let found = target(&name, "loop0", &[WarningCode::LoopBuffered]);
        let why = invalid(&found, true).expect("refused");
        assert!(why.starts_with("/mnt/a: loop-buffered"), "{why}");
        assert_eq!(invalid(&found, false), None);
        let other = target(&name, "sda", &[WarningCode::NearlyFull]);
        assert_eq!(invalid(&other, true), None);
    }

    #[test]
    fn targets_on_one_device_are_named() {
        let [a, b] = ["/mnt/a", "/mnt/b"].map(TargetName::from);
        let shared = |devices: [&str; 2]| {
            shared_device(&[target(&a, devices[0], &[]), target(&b, devices[1], &[])])
        };
        let said = shared(["sda", "sda"]).expect("one device");
        assert_eq!(said, "/mnt/a and /mnt/b are on the same device, sda.");
        assert_eq!(shared(["sda", "sdb"]), None);
        let itself = shared_device(&[target(&a, "sda", &[]), target(&a, "sda", &[])]);
        assert_eq!(itself.as_deref(), Some("/mnt/a is compared with itself."));
    }
}
