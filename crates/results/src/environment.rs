//! Where a run happened: the machine, the target, and what about them would mislead a reader.
//!
//! Plain values only. Crate `host` captures them; archive, reports and screens read them. A fact
//! that the machine did not reveal is `None`, never a guess.

use serde::{Deserialize, Serialize};

use crate::warning::{Severity, Warning, advised};
use crate::warning_code::WarningCode;

/// The machine and the moment of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of Seekstone that ran.
    pub seekstone_version: String,
    /// Name that the host gives itself.
    pub host_name: String,
    /// Kernel name and release, such as `Linux 6.12.1`.
    pub kernel: String,
    /// Machine architecture, such as `x86_64`.
    pub architecture: String,
    /// Model name of the first processor.
    pub cpu_model: Option<String>,
    /// Processors that are online.
    pub cpus_online: u32,
    /// Processors that this process may run on.
    pub cpus_allowed: u32,
    /// CPU time that the control group allows, in processors (1.5 = one and a half).
    pub cpu_limit: Option<f64>,
    /// Memory of the machine, in bytes.
    pub memory_total_bytes: Option<u64>,
    /// Memory that could be had without swapping, in bytes.
    pub memory_available_bytes: Option<u64>,
    /// Smallest memory limit of the control groups that hold this process, in bytes.
    pub memory_limit_bytes: Option<u64>,
    /// Swap space, in bytes.
    pub swap_total_bytes: Option<u64>,
    /// Swap space not in use, in bytes.
    pub swap_free_bytes: Option<u64>,
    /// What the machine runs in, when it is a virtual machine.
    pub virtualised: Option<String>,
    /// Source of the kernel's clock, such as `tsc`.
    pub clock_source: Option<String>,
    /// When this was captured, as RFC 3339 text in UTC.
    pub started_at: String,
    /// Load averages over 1, 5 and 15 minutes, in runnable or waiting tasks.
    pub load_average: Option<[f64; 3]>,
    /// Stall of tasks that wait for I/O, over the last 10 seconds.
    pub pressure_io: Option<Pressure>,
    /// Share of the processors' time since boot that the hypervisor gave to others, 0 to 1.
    pub steal_share: Option<f64>,
    /// The commit that a build server built, as its environment says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The host of each rank, where several measured together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<RankHost>,
}

impl Environment {
    /// Whether anybody looked: a log that was imported says nothing of its machine.
    #[must_use]
    pub const fn is_known(&self) -> bool {
        self.cpus_online > 0
    }
}

/// Pressure-stall information over the last 10 seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pressure {
    /// Share of time in which some task waited, in percent.
    pub some_percent: f64,
    /// Share of time in which all tasks waited at once, in percent.
    pub full_percent: f64,
}

/// What kind of thing a target is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// A directory, in which files of our own are made.
    #[default]
    Directory,
    /// A regular file.
    File,
    BlockDevice,
    /// A model of a device, in virtual time.
    Simulated,
    /// A bucket of an object store.
    Bucket,
}

/// What a target is, and what it stands on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetDescription {
    /// The target as the user typed it.
    pub given: String,
    /// Its path without links and dots; for a simulated device the same as `given`.
    pub path: String,
    /// What kind of thing it is.
    pub kind: TargetKind,
    /// Size of a file or a block device, in bytes.
    pub size_bytes: Option<u64>,
    /// Space that the file system has allocated for a file, in bytes.
    pub allocated_bytes: Option<u64>,
    /// The file system that holds the target; `None` for a block device.
    pub file_system: Option<FileSystem>,
    /// The devices beneath: those the target stands on directly, then what these stand on.
    pub devices: Vec<BlockDevice>,
    /// The data lives in main memory (tmpfs, ramfs, zram, or a loop device on such).
    pub memory_backed: bool,
    /// The data lives on another machine.
    pub remote: bool,
    /// State of the RAID that the target stands on.
    pub raid: Option<RaidState>,
}

impl TargetDescription {
    /// A model: `given` as the user typed it, `path` as it was resolved.
    #[must_use]
    pub fn simulated(given: &str, path: &str, size_bytes: Option<u64>) -> Self {
        Self {
            path: path.to_owned(),
            size_bytes,
            ..Self::without_storage(given, TargetKind::Simulated)
        }
    }

    /// A bucket of an object store, of which this machine knows nothing.
    #[must_use]
    pub fn bucket(given: &str) -> Self {
        Self::without_storage(given, TargetKind::Bucket)
    }

    fn without_storage(given: &str, kind: TargetKind) -> Self {
        Self {
            given: given.to_owned(),
            path: given.to_owned(),
            kind,
            ..Self::default()
        }
    }
}

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileSystem {
    /// Type, such as `ext4` or `fuse.sshfs`.
    pub kind: String,
    /// What is mounted: a device, an export, or a name.
    pub source: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// Options of this mount.
    pub options: Vec<String>,
    /// Options of the file system itself, the same for all its mounts.
    pub super_options: Vec<String>,
    /// The mount or the file system refuses writes.
    pub read_only: bool,
    /// Size, in bytes.
    pub size_bytes: Option<u64>,
    /// Space that an ordinary user may still fill, in bytes.
    pub available_bytes: Option<u64>,
    /// Files that may still be made; `None` when the file system has no such limit.
    pub files_free: Option<u64>,
}

/// A block device as the kernel describes it. A partition shows the queue of its disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BlockDevice {
    /// Kernel name, such as `nvme0n1p2`.
    pub name: String,
    /// Device number, `major:minor`.
    pub number: String,
    /// Model, or the name of a mapping.
    pub model: Option<String>,
    /// How it is attached or made: `nvme`, `sata`, `virtio`, `loop`, `dm`, `md` and so on.
    pub transport: Option<String>,
    /// What a device-mapper device does: `crypt`, `lvm`, `thin`, `multipath` and so on.
    pub mapping: Option<String>,
    /// The disk that a partition is cut from.
    pub partition_of: Option<String>,
    /// Names of the devices that this one stands on.
    pub members: Vec<String>,
    /// The kernel believes that the medium rotates.
    pub rotational: Option<bool>,
    /// I/O scheduler in use.
    pub scheduler: Option<String>,
    /// `write back` (a completed write may still be volatile) or `write through`.
    pub write_cache: Option<String>,
    /// Size, in bytes.
    pub size_bytes: Option<u64>,
    /// Smallest addressable block, in bytes.
    pub logical_block_bytes: Option<u64>,
    /// Smallest block written without reading it first, in bytes.
    pub physical_block_bytes: Option<u64>,
    /// Preferred smallest request, in bytes.
    pub minimum_io_bytes: Option<u64>,
    /// Preferred request for streaming, in bytes; 0 when the device states none.
    pub optimal_io_bytes: Option<u64>,
    /// Read-ahead of buffered reads, in KiB.
    pub read_ahead_kib: Option<u64>,
    /// Largest request before the kernel splits it, in KiB.
    pub max_sectors_kib: Option<u64>,
    /// Requests that the scheduler's queue holds.
    pub requests: Option<u64>,
    /// The device accepts discards (TRIM).
    pub discard: Option<bool>,
    /// The medium can be taken out.
    pub removable: Option<bool>,
    /// The device refuses writes.
    pub read_only: Option<bool>,
    /// The file behind a loop device.
    pub backing_file: Option<String>,
    /// A loop device goes round the page cache of the file system that holds its backing file.
    pub backing_direct: Option<bool>,
    /// Limits that a control group puts on this process's I/O to the device.
    pub throttled: Option<Throttle>,
}

/// Where a rank of a run of many hosts was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankHost {
    pub rank: u32,
    /// Name of its host.
    pub host: String,
    /// Number of its machine, from 0: ranks in containers of one machine have different names.
    pub machine: u32,
    /// Processors that it may use.
    pub processors: u32,
}

/// Limits of a control group on one device. Absent limits are `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Throttle {
    /// Reads, in bytes per second.
    pub read_bytes_per_second: Option<u64>,
    /// Writes, in bytes per second.
    pub write_bytes_per_second: Option<u64>,
    /// Reads, in operations per second.
    pub read_operations_per_second: Option<u64>,
    /// Writes, in operations per second.
    pub write_operations_per_second: Option<u64>,
    /// Control group that sets the tightest limit.
    pub group: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RaidState {
    /// Who makes the RAID: `md`, `btrfs` or `zfs`.
    pub kind: String,
    /// Level, such as `raid1`.
    pub level: Option<String>,
    /// Members of a whole array.
    pub members: Option<u32>,
    /// Members that are missing or not yet rebuilt.
    pub missing: Option<u32>,
    /// What the array is doing.
    pub state: RaidActivity,
    /// Where this was read.
    pub source: String,
}

/// What a RAID is doing beside serving requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RaidActivity {
    /// All members are there and at rest.
    Normal,
    /// A member is missing and nothing replaces it.
    Degraded,
    /// Data is being restored or spread over the members.
    Rebuilding {
        /// Share that is done, in percent.
        percent: Option<f64>,
    },
    /// A member is being copied to its replacement.
    Replacing,
    /// All data is being read and compared.
    Checking {
        /// Share that is done, in percent.
        percent: Option<f64>,
    },
}

/// Something about the target or the machine that would mislead a reader of results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caution {
    /// What kind it is, such as `memory-backed`.
    pub code: WarningCode,
    /// What it is, in plain words. Of runs before advice was kept apart, with what to do about it.
    #[serde(rename = "text")]
    pub cause: String,
    /// What to do about it: the end of the sentence, behind a semicolon. Empty where nothing needs
    /// to be done.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub advice: String,
}

impl Caution {
    /// A warning of that weight in a run.
    #[must_use]
    pub fn as_warning(&self, severity: Severity) -> Warning {
        Warning::new(severity, self.code.clone(), self.cause.clone()).advise(self.advice.clone())
    }

    /// What it is and what to do about it, as a reader sees them.
    #[must_use]
    pub fn text(&self) -> String {
        advised(&self.cause, &self.advice)
    }
}

/// What the machine did between two looks at its counters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CountersDelta {
    /// CPU time of the whole process, in nanoseconds.
    pub cpu_ns: u64,
    /// CPU time spent in the program, in nanoseconds, in steps of one clock tick.
    pub cpu_user_ns: Option<u64>,
    /// CPU time spent in the kernel, in nanoseconds, in steps of one clock tick.
    pub cpu_system_ns: Option<u64>,
    /// Page faults served from memory.
    pub minor_faults: Option<u64>,
    /// Page faults that had to wait for a device.
    pub major_faults: Option<u64>,
    /// What the process asked of storage.
    pub process_io: Option<ProcessIo>,
    /// What the device did, for all processes together.
    pub device: Option<DeviceActivity>,
    /// CPU time that the hypervisor gave to others, in nanoseconds over all processors.
    pub steal_ns: Option<u64>,
    /// What of the device's work was not ours, where that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<BackgroundIo>,
    /// What a request took the device, where nearly all of its work was ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_time: Option<DeviceTime>,
}

/// Work of a device that this process cannot have caused. Others may have done more: what could be
/// either counts as ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BackgroundIo {
    /// Share of the device's bytes or of its requests, whichever is larger, 0 to 1.
    #[serde(with = "stats::undefined")]
    pub share: f64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Reads and writes.
    pub requests: u64,
}

/// Mean time of the device's requests, nanoseconds: from when the kernel's block layer began one
/// to its end. The queues of the I/O scheduler, the driver and the device are in it, so that it is
/// wait and service together; the file system, the page cache and this program are not. The kernel
/// sums it in whole milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceTime {
    /// Of a read; absent where too few were done for the kernel's milliseconds.
    pub read_mean_ns: Option<f64>,
    /// Of a write; absent where too few were done.
    pub write_mean_ns: Option<f64>,
}

impl BackgroundIo {
    /// From this share on a measurement is marked ...
    pub const MARKED_SHARE: f64 = 0.1;
    /// ... and from this one on it says more about others than about the storage.
    pub const VOID_SHARE: f64 = 0.5;
    /// Fewer bytes a second than this disturb nobody: a log, a journal.
    const BYTES_MIN: f64 = 1024.0 * 1024.0;
    /// The same for requests.
    const REQUESTS_MIN: f64 = 100.0;

    /// Whether it is so little over `seconds` that it disturbs nobody, whatever its share of a
    /// device that had hardly anything to do.
    #[must_use]
    pub fn is_negligible(&self, seconds: f64) -> bool {
        let seconds = seconds.max(1.0);
        (self.bytes as f64) < Self::BYTES_MIN * seconds
            && (self.requests as f64) < Self::REQUESTS_MIN * seconds
    }
}

/// I/O of the whole process between two looks (`/proc/self/io`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIo {
    /// Bytes that read calls returned, from memory or device. `io_uring` does not count here.
    pub read_call_bytes: u64,
    /// Bytes that write calls accepted. `io_uring` does not count here.
    pub write_call_bytes: u64,
    pub read_calls: u64,
    pub write_calls: u64,
    /// Bytes that the process caused to be fetched from a device, read-ahead included.
    pub read_bytes: u64,
    /// Bytes that the process caused to be sent to a device, now or later.
    pub write_bytes: u64,
}

/// Work of one block device between two looks, whoever asked for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceActivity {
    /// Kernel name of the device.
    pub name: String,
    /// Reads completed.
    pub reads: u64,
    pub read_bytes: u64,
    /// Writes completed.
    pub writes: u64,
    pub written_bytes: u64,
    /// Flushes completed.
    pub flushes: Option<u64>,
    /// Requests in flight at the later look.
    pub in_flight: u64,
    /// Time in which at least one request was in flight, in milliseconds.
    pub busy_ms: u64,
    /// Time that requests spent in the device, summed over requests, in milliseconds.
    pub weighted_ms: u64,
    /// The same of reads alone, once they were completed; absent in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ms: Option<u64>,
    /// The same of writes alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_ms: Option<u64>,
}
