//! Judges each trial on real storage by what its device did meanwhile: for others, or not at all.

use procedure::{OwnDeviceWork, OwnIo, Splitting, Trial, device_time, foreign_io, foreign_warning};
use results::environment::{BackgroundIo, CountersDelta, DeviceActivity};
use results::{Access, Interval, Measurement, Severity, Warning, WarningCode};
use units::Duration;
use workload::ClientSpec;

use super::StorageLaboratory;
use host::counters::Counters;
use host::inspect::{SystemRoots, request_bytes, writes_of_each_byte};
use sys::count_extents;

/// A value of `SEEKSTONE_SHARED` other than nothing: the device is known to be shared.
const SHARED: &str = "SEEKSTONE_SHARED";
/// What a file system writes for each synced write or flush, at most: the journal's descriptor,
/// inode, bitmap and commit blocks, and the same again when the journal is emptied.
const SYNC_BYTES: u64 = 32 << 10;
/// The same for a file that is made or removed.
const METADATA_BYTES: u64 = 16 << 10;
/// What it writes in any trial: superblock, time stamps, its own log.
const HOUSEKEEPING_BYTES: u64 = 1 << 20;
/// A page: the least that is written of a file.
const PAGE_BYTES: u64 = 4096;
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
    pub fn of_environment() -> Self {
        match std::env::var_os(SHARED).filter(|value| !value.is_empty()) {
            Some(_) => Self::Known,
            None => Self::Judged,
        }
    }
}

/// What this process wrote and the device has not seen yet: it comes back in a later trial.
#[derive(Debug, Default)]
pub(super) struct UnwrittenBytes {
    last: Option<Box<Counters>>,
    bytes: u64,
}

impl UnwrittenBytes {
    /// Account for what happened since the last look, of which the file system writes each byte so
    /// many `times`.
    fn look(&mut self, now: Counters, times: u64) {
        if let Some(last) = &self.last {
            let since = last.delta(&now);
            let dirtied = since.process_io.map_or(0, |io| io.write_bytes) * times;
            let written = since.device.map_or(0, |device| device.written_bytes);
            self.bytes = (self.bytes + dirtied).saturating_sub(written);
        }
        self.last = Some(Box::new(now));
    }
}

impl StorageLaboratory {
    /// Note what is on its way to the device before a trial or after it.
    pub(super) fn look_behind(&mut self) {
        let counters = Counters::take(self.settings.device.as_deref());
        self.behind.look(counters, self.writes_of_each_byte());
    }

    fn writes_of_each_byte(&self) -> u64 {
        let device = self.settings.device.as_deref();
        device.map_or(1, |it| writes_of_each_byte(&SystemRoots::default(), it))
    }

    /// What this process can have caused at most during `trial`; what was behind when it began is
    /// in it. `None` where the kernel does not count it.
    pub(super) fn account(
        &mut self,
        measurement: &Measurement,
        trial: &Trial,
    ) -> Option<OwnDeviceWork> {
        let copies_on_write = self.space().is_none_or(|space| space.copies_on_write);
        let written = (!copies_on_write).then(|| Written {
            behind: self.behind.bytes,
            times: self.writes_of_each_byte(),
        });
        let counters = measurement.counters.as_ref();
        let splitting = self.splitting(trial);
        let own = counters.and_then(|it| own_work(measurement, trial, it, (written, splitting)));
        let uncharged = counters.zip(written).map(|(it, written)| {
            let charged = it.process_io.map_or(0, |io| io.write_bytes);
            written.submitted(measurement, charged) - charged * written.times
        });
        self.behind.bytes += uncharged.unwrap_or(0);
        self.look_behind();
        self.behind.bytes += METADATA_BYTES * metadata(measurement);
        own
    }

    /// Into how many requests the operations of `trial` may be split; `None` where anything is
    /// possible: what goes through the page cache, or is laid out anew with each write.
    fn splitting(&self, trial: &Trial) -> Option<Splitting> {
        if trial.access != Access::Direct || self.space().is_some_and(|it| it.copies_on_write) {
            return None;
        }
        let (mut extents, mut bytes) = (0, 0);
        for target in self.table.targets() {
            let file = target.descriptor().ok()?;
            extents += count_extents(&file).ok()?.unwrap_or(1);
            bytes += target.size();
        }
        Some(Splitting {
            request_bytes: request_bytes(
                &SystemRoots::default(),
                self.settings.device.as_deref()?,
            )?,
            extents_per_byte: extents as f64 / bytes.max(1) as f64,
        })
    }

    /// Share of its files, 0 to 1, for which their file system has allocated room.
    fn allocated_share(&self) -> Option<f64> {
        let targets = self.table.targets().iter();
        let (mut allocated, mut all) = (0, 0);
        for target in targets {
            allocated += target.allocated().ok()?;
            all += target.size();
        }
        (all > 0).then(|| (allocated as f64 / all as f64).min(1.0))
    }

    /// Say what others did, of a process that measures by itself.
    pub(super) fn judge_alone(
        &self,
        measurement: &mut Measurement,
        trial: &Trial,
        own: Option<OwnDeviceWork>,
        elapsed: Duration,
    ) {
        let alone = Witness {
            measurement,
            own,
            elapsed,
            allocated: self.allocated_share(),
        };
        judge(&mut [alone], trial, self.settings.neighbours);
    }
}

/// What a process of a host saw of a trial.
pub(crate) struct Witness<'a> {
    /// Its measurement, which gets what is said of others.
    pub measurement: &'a mut Measurement,
    /// What it can have caused; `None` where that is not known.
    pub own: Option<OwnDeviceWork>,
    /// How long the trial was there.
    pub elapsed: Duration,
    /// Share of what it reads that its file system has allocated; `None` where that is not known.
    pub allocated: Option<f64>,
}

/// Say what others did during `trial` on the device that these processes of one host used: what
/// any of them did is no work of others.
pub(crate) fn judge(processes: &mut [Witness<'_>], trial: &Trial, neighbours: Neighbours) {
    not_from_device(processes, trial);
    share_what_was_cached(processes, trial);
    let own = processes.iter().map(|it| it.own);
    let own = own.reduce(|one, other| Some(one?.and(other?))).flatten();
    let Some(own) = own.filter(|_| cached_share(processes) <= CACHED_SHARE) else {
        return;
    };
    let least = OwnDeviceWork {
        writes: Some(own.writes.unwrap_or_default()),
        ..own
    };
    for process in processes {
        let Witness {
            measurement,
            elapsed,
            ..
        } = process;
        let Some(counters) = &mut measurement.counters else {
            continue;
        };
        let Some(device) = counters.device.as_ref() else {
            continue;
        };
        let found = foreign_io(device, own);
        let time = device_time(device, &foreign_io(device, least));
        let warning = foreign_warning(&measurement.title, device, &found, *elapsed);
        counters.foreign = Some(found);
        counters.device_time = time;
        measurement.warnings.extend(warning.map(|mut warning| {
            if neighbours == Neighbours::Known {
                warning.severity = warning.severity.min(Severity::Warning);
            }
            warning
        }));
    }
}

/// The share of the bytes of all processes that the page cache answered, as far as it is known.
fn cached_share(processes: &[Witness<'_>]) -> f64 {
    let each = processes.iter().map(|it| &it.measurement);
    let cached = each.clone().map(|it| {
        let share = it.page_cache_share.unwrap_or(0.0);
        share * it.bytes_all as f64
    });
    let all: u64 = each.map(|it| it.bytes_all).sum();
    cached.sum::<f64>() / all.max(1) as f64
}

/// Of writes the cache's share is what the device did not write, whichever process of the host
/// asked for it.
fn share_what_was_cached(processes: &mut [Witness<'_>], trial: &Trial) {
    let is_alone = processes.len() == 1;
    if is_alone || !trial.spec.changes_storage() {
        return;
    }
    let written = processes.iter().filter_map(|it| device_of(it.measurement));
    let written = written.map(|device| device.written_bytes).max();
    let all: u64 = processes.iter().map(|it| it.measurement.bytes_all).sum();
    let share = written.map(|it| (1.0 - it as f64 / all.max(1) as f64).clamp(0.0, 1.0));
    for process in processes {
        // It is not known of trials that read as well.
        let known = &mut process.measurement.page_cache_share;
        *known = known.and(share);
    }
}

fn device_of(measurement: &Measurement) -> Option<&DeviceActivity> {
    measurement.counters.as_ref()?.device.as_ref()
}

/// Intervals that blame others only where the whole trial does: what a file system adds and what is
/// written late is accounted for there alone.
pub(super) fn distinguished(
    mut intervals: Vec<Interval>,
    measurement: &Measurement,
) -> Vec<Interval> {
    let counters = measurement.counters.as_ref();
    let foreign = counters.and_then(|it| it.foreign.as_ref());
    if foreign.is_none_or(|it| it.bytes == 0) {
        for interval in &mut intervals {
            interval.foreign_share = foreign.map(|_| 0.0);
        }
    }
    intervals
}

/// What becomes of the bytes that a process writes.
#[derive(Clone, Copy)]
struct Written {
    /// Bytes that it wrote before and the device may write now.
    behind: u64,
    /// How many times the file system writes each byte.
    times: u64,
}

impl Written {
    /// Bytes that the device writes at most for a measurement, to which the kernel `charged` these.
    /// What is in the journal already is written again and not charged again.
    fn submitted(self, measurement: &Measurement, charged: u64) -> u64 {
        let asked = match self.times {
            1 => 0,
            _ => pages_written(measurement) * PAGE_BYTES,
        };
        charged.max(asked) * self.times
    }
}

/// Pages that a measurement's writes touched, where each begins at one.
fn pages_written(measurement: &Measurement) -> u64 {
    let writes = measurement.kinds.iter().filter(|it| it.kind == "write");
    writes
        .map(|it| OwnIo::of(it.count, it.bytes).requests)
        .sum()
}

/// What this process did, where the kernel counts both that and the device's work. `written` is
/// `None` where the file system moves data by itself.
fn own_work(
    measurement: &Measurement,
    trial: &Trial,
    counters: &CountersDelta,
    (written, splitting): (Option<Written>, Option<Splitting>),
) -> Option<OwnDeviceWork> {
    let (_, io) = (counters.device.as_ref()?, counters.process_io?);
    // Of a file system that is served by another program, that program's I/O would be "others'".
    let is_counted = io.read_bytes + io.write_bytes >= measurement.bytes_all / 2;
    if trial.access == Access::Direct && !is_counted {
        return None;
    }
    // What never reached the device was not disturbed there.
    let submitted = written.map(|it| it.submitted(measurement, io.write_bytes));
    let submitted = submitted.unwrap_or(io.write_bytes);
    let is_from_memory = io.read_bytes + submitted == 0 && measurement.bytes_all > 0;
    if trial.access == Access::Buffered && is_from_memory {
        return None;
    }
    let own_io = |kind, bytes| {
        let of_kind = measurement.kinds.iter().find(|it| it.kind == kind);
        let (operations, asked) = of_kind.map_or((0, 0), |it| (it.count, it.bytes));
        match splitting {
            Some(splitting) => OwnIo::direct(operations, asked, bytes, splitting),
            None => OwnIo::of(operations, bytes),
        }
    };
    let reads = own_io("read", io.read_bytes);
    let is_files = matches!(trial.spec, ClientSpec::Files(_)) || metadata(measurement) > 0;
    let own_writes = |written: Written| {
        let syncs = count(measurement, &["flush"]) + synced(measurement, trial);
        let uncharged = written.behind + SYNC_BYTES * syncs + HOUSEKEEPING_BYTES;
        own_io("write", submitted + uncharged)
    };
    let writes = written.filter(|_| !is_files).map(own_writes);
    Some(OwnDeviceWork { reads, writes })
}

/// Direct reads that neither the device nor the processes' accounts of it have seen: of holes, of
/// extents that were never written, of compressed data, or out of a cache.
fn not_from_device(processes: &mut [Witness<'_>], trial: &Trial) {
    if trial.access != Access::Direct {
        return;
    }
    let (mut asked, mut counted, mut from_device, mut there) = (0, 0, 0, 0.0);
    for it in processes.iter() {
        let read = it.measurement.kinds.iter().find(|it| it.kind == "read");
        let io = it
            .measurement
            .counters
            .as_ref()
            .and_then(|it| it.process_io);
        let (Some(device), Some(io)) = (device_of(it.measurement), io) else {
            return;
        };
        let bytes = read.map_or(0, |it| it.bytes);
        asked += bytes;
        counted += io.read_bytes;
        there += bytes as f64 * it.allocated.unwrap_or(1.0);
        from_device = device.read_bytes.max(from_device);
    }
    // Others read from the device as well, but nothing of a hole can come from there.
    let from_device = from_device.min(there as u64);
    let missing = 1.0 - counted.max(from_device) as f64 / asked.max(1) as f64;
    if asked == 0 || missing < BackgroundIo::MARKED_SHARE {
        return;
    }
    for Witness { measurement, .. } in processes {
        let Some(device) = device_of(measurement) else {
            continue;
        };
        let text = format!(
            "{}: {:.0} % of the bytes read did not come from {}. They were never written, \
             are compressed, or came from a cache. Fill the target with incompressible data",
            measurement.title,
            missing * 100.0,
            device.name,
        );
        measurement.warnings.push(match missing {
            it if it < BackgroundIo::VOID_SHARE => Warning::warn(WarningCode::NotFromDevice, text),
            _ => Warning::invalid(WarningCode::NotFromDevice, text),
        });
    }
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
