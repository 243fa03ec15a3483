//! Judges each trial on real storage by what its device did meanwhile: for others, or not at all.

use procedure::{OwnIo, Trial, device_time, foreign_io, foreign_warning};
use results::environment::{CountersDelta, DeviceTime, ForeignIo};
use results::{Access, Interval, Measurement, Severity, Warning};
use units::Duration;
use workload::ClientSpec;

use super::StorageLaboratory;
use host::counters::Counters;

/// A value of `SEEKSTONE_SHARED` other than nothing: the device is known to be shared.
const SHARED: &str = "SEEKSTONE_SHARED";
/// What a file system writes for each synced write or flush, at most: the journal's descriptor,
/// inode, bitmap and commit blocks, and the same again when the journal is emptied.
const SYNC_BYTES: u64 = 32 << 10;
/// The same for a file that is made or removed.
const METADATA_BYTES: u64 = 16 << 10;
/// What it writes in any trial: superblock, time stamps, its own log.
const HOUSEKEEPING_BYTES: u64 = 1 << 20;
/// From this share on it was not the device that answered, and who else uses it matters little.
const CACHED_SHARE: f64 = 0.5;

/// What becomes of a measurement that others disturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbours {
    /// It is marked, and void where others did most of the I/O.
    Judged,
    /// It is marked: the user knows that others use the device, and says so by `SEEKSTONE_SHARED`.
    Known,
}

impl Neighbours {
    /// As the environment says.
    #[must_use]
    pub fn of_environment() -> Self {
        match std::env::var_os(SHARED).filter(|value| !value.is_empty()) {
            Some(_) => Self::Known,
            None => Self::Judged,
        }
    }
}

/// What this process wrote and the device has not seen yet: it comes back in a later trial.
#[derive(Debug, Default)]
pub(super) struct Behind {
    last: Option<Box<Counters>>,
    bytes: u64,
}

impl Behind {
    /// Account for what happened since the last look.
    pub(super) fn look(&mut self, now: Counters) {
        if let Some(last) = &self.last {
            let since = last.delta(&now);
            let dirtied = since.process_io.map_or(0, |io| io.write_bytes);
            let written = since.device.map_or(0, |device| device.written_bytes);
            self.bytes = (self.bytes + dirtied).saturating_sub(written);
        }
        self.last = Some(Box::new(now));
    }
}

impl StorageLaboratory {
    /// Note what is on its way to the device before a trial or after it.
    pub(super) fn look_behind(&mut self) {
        self.behind
            .look(Counters::take(self.settings.device.as_deref()));
    }

    /// Say what others did during `trial`. What was behind when it began is known.
    pub(super) fn judge_neighbours(
        &mut self,
        measurement: &mut Measurement,
        trial: &Trial,
        elapsed: Duration,
    ) {
        let elsewhere = measurement
            .counters
            .as_ref()
            .and_then(|counters| not_from_device(measurement, trial, counters));
        measurement.warnings.extend(elsewhere);
        let is_cached = measurement.page_cache_share > Some(CACHED_SHARE);
        let copies_on_write = self.space().is_none_or(|space| space.copies_on_write);
        let behind = (!copies_on_write).then_some(self.behind.bytes);
        let foreign = match &measurement.counters {
            Some(counters) if !is_cached => foreign(measurement, trial, counters, behind),
            _ => None,
        };
        if let (Some(counters), Some((found, time))) = (&mut measurement.counters, foreign) {
            counters.foreign = Some(found);
            counters.device_time = time;
            let device = counters.device.as_ref();
            let warning = device
                .and_then(|device| foreign_warning(&measurement.title, device, &found, elapsed));
            measurement.warnings.extend(warning.map(|mut warning| {
                if self.settings.neighbours == Neighbours::Known {
                    warning.severity = warning.severity.min(Severity::Doubt);
                }
                warning
            }));
        }
        self.look_behind();
        self.behind.bytes += METADATA_BYTES * metadata(measurement);
    }
}

/// Intervals that blame others only where the whole trial does: what a file system adds and what is
/// written late is accounted for there alone.
pub(super) fn told_apart(mut intervals: Vec<Interval>, measurement: &Measurement) -> Vec<Interval> {
    let counters = measurement.counters.as_ref();
    let foreign = counters.and_then(|it| it.foreign.as_ref());
    if foreign.is_none_or(|it| it.bytes == 0) {
        for interval in &mut intervals {
            interval.foreign_share = foreign.map(|_| 0.0);
        }
    }
    intervals
}

/// What others did, where the kernel counts both the device's work and ours, and what a request
/// took the device, where nearly all of its work was certainly ours. `behind` is what this
/// process wrote before and the device may write now; `None` where the file system moves data by
/// itself.
fn foreign(
    measurement: &Measurement,
    trial: &Trial,
    counters: &CountersDelta,
    behind: Option<u64>,
) -> Option<(ForeignIo, Option<DeviceTime>)> {
    let (device, io) = (counters.device.as_ref()?, counters.process_io?);
    // Of a file system that is served by another program, that program's I/O would be "others'".
    let is_counted = io.read_bytes + io.write_bytes >= measurement.bytes_all / 2;
    if trial.access == Access::Direct && !is_counted {
        return None;
    }
    // What never reached the device was not disturbed there.
    let is_from_memory = io.read_bytes + io.write_bytes == 0 && measurement.bytes_all > 0;
    if trial.access == Access::Buffered && is_from_memory {
        return None;
    }
    let reads = OwnIo {
        operations: count(measurement, &["read"]),
        bytes: io.read_bytes,
    };
    let is_files = matches!(trial.spec, ClientSpec::Files(_));
    let own_writes = |behind| {
        let syncs = count(measurement, &["flush"]) + synced(measurement, trial);
        OwnIo {
            operations: count(measurement, &["write"]),
            bytes: io.write_bytes + behind + SYNC_BYTES * syncs + HOUSEKEEPING_BYTES,
        }
    };
    let writes = behind.filter(|_| !is_files).map(own_writes);
    let most = foreign_io(device, reads, Some(writes.unwrap_or_default()));
    Some((
        foreign_io(device, reads, writes),
        device_time(device, &most),
    ))
}

/// Direct reads that neither the device nor this process's account of it has seen: of holes, of
/// extents that were never written, of compressed data, or out of a cache.
fn not_from_device(
    measurement: &Measurement,
    trial: &Trial,
    counters: &CountersDelta,
) -> Option<Warning> {
    let (device, io) = (counters.device.as_ref()?, counters.process_io?);
    let reads = measurement.kinds.iter().find(|it| it.kind == "read")?;
    let missing = 1.0 - device.read_bytes.max(io.read_bytes) as f64 / reads.bytes.max(1) as f64;
    if trial.access != Access::Direct || missing < ForeignIo::MARKED_SHARE {
        return None;
    }
    let text = format!(
        "{}: {:.0} % of what was read did not come from {}: it was never written, it is \
         compressed, or a cache answered; fill the target with data that do not compress",
        measurement.title,
        missing * 100.0,
        device.name,
    );
    Some(if missing < ForeignIo::VOID_SHARE {
        Warning::doubt("not-from-device", text)
    } else {
        Warning::void("not-from-device", text)
    })
}

fn synced(measurement: &Measurement, trial: &Trial) -> u64 {
    match &trial.spec {
        ClientSpec::Mix(mix) if mix.durability.is_durable() => count(measurement, &["write"]),
        ClientSpec::Own(own) if own.is_durable => count(measurement, &["write"]),
        _ => 0,
    }
}

fn metadata(measurement: &Measurement) -> u64 {
    count(measurement, &["create", "remove"])
}

fn count(measurement: &Measurement, kinds: &[&str]) -> u64 {
    let all = measurement.kinds.iter();
    let of_kinds = all.filter(|it| kinds.contains(&it.kind.as_str()));
    of_kinds.map(|it| it.count).sum()
}
