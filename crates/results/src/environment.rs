//! The environment of a run: the machine, the target, and what about them can distort results.
//!
//! Plain values only. Crate `host` captures them; archive, reports and screens read them. A fact
//! that the machine did not reveal is `None`, never a guess.

use serde::{Deserialize, Serialize};

use crate::warning::{Severity, Warning, advised};
use crate::warning_code::WarningCode;

/// The machine, and when the run took place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of Seekstone that made the run.
    pub seekstone_version: String,
    /// Host name.
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
    /// CPU time that the control group allows, in processors (1.5 is one and a half).
    pub cpu_limit: Option<f64>,
    /// Memory of the machine, in bytes.
    pub memory_total_bytes: Option<u64>,
    /// Memory available without swapping, in bytes.
    pub memory_available_bytes: Option<u64>,
    /// Smallest memory limit of this process's control groups, in bytes.
    pub memory_limit_bytes: Option<u64>,
    /// Swap space, in bytes.
    pub swap_total_bytes: Option<u64>,
    /// Swap space not in use, in bytes.
    pub swap_free_bytes: Option<u64>,
    /// Hypervisor, if the machine is virtual.
    pub virtualised: Option<String>,
    /// Source of the kernel's clock, such as `tsc`.
    pub clock_source: Option<String>,
    /// When this was captured, as RFC 3339 text in UTC.
    pub started_at: String,
    /// Load averages over 1, 5 and 15 minutes, in runnable or waiting tasks.
    pub load_average: Option<[f64; 3]>,
    /// I/O pressure (PSI) over the last 10 seconds.
    pub pressure_io: Option<Pressure>,
    /// Share of CPU time since boot that the hypervisor gave to other guests (steal), 0 to 1.
    pub steal_share: Option<f64>,
    /// Commit that a build server built, from its environment variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The host of each rank, if there were several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<RankHost>,
}

impl Environment {
    /// Whether the environment was captured: an imported log has none.
    pub const fn is_known(&self) -> bool {
        self.cpus_online > 0
    }
}

/// Pressure-stall information over the last 10 seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pressure {
    /// Share of time in which at least one task waited, in percent.
    pub some_percent: f64,
    /// Share of time in which all tasks waited, in percent.
    pub full_percent: f64,
}

/// The kind of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// A directory, in which Seekstone creates its own files.
    #[default]
    Directory,
    /// A regular file.
    File,
    BlockDevice,
    /// A simulated device, in virtual time.
    Simulated,
    /// A bucket of an object store.
    Bucket,
}

/// A target and the storage below it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetDescription {
    /// The target as the user typed it.
    pub given: String,
    /// Canonical path; for a simulated device the same as `given`.
    pub path: String,
    /// The kind of target.
    pub kind: TargetKind,
    /// Size of a file or a block device, in bytes.
    pub size_bytes: Option<u64>,
    /// Space that the file system has allocated for a file, in bytes.
    pub allocated_bytes: Option<u64>,
    /// The file system that holds the target; `None` for a block device.
    pub file_system: Option<FileSystem>,
    /// Block devices below the target: the direct ones first, then those below them.
    pub devices: Vec<BlockDevice>,
    /// Whether the data is in main memory (tmpfs, ramfs, zram, or a loop device on one of them).
    pub memory_backed: bool,
    /// Whether the data is on another machine.
    pub remote: bool,
    /// State of the RAID below the target.
    pub raid: Option<RaidState>,
}

impl TargetDescription {
    /// A simulated target: `given` as the user typed it, `path` as resolved.
    pub fn simulated(given: &str, path: &str, size_bytes: Option<u64>) -> Self {
        Self {
            path: path.to_owned(),
            size_bytes,
            ..Self::without_storage(given, TargetKind::Simulated)
        }
    }

    /// A bucket of an object store. Its storage is unknown.
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
    /// What is mounted: a device, an export or a name.
    pub source: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// Options of this mount.
    pub options: Vec<String>,
    /// Options of the file system itself, the same for all its mounts.
    pub super_options: Vec<String>,
    /// Whether the mount or the file system is read-only.
    pub read_only: bool,
    /// Size, in bytes.
    pub size_bytes: Option<u64>,
    /// Space available to unprivileged users, in bytes.
    pub available_bytes: Option<u64>,
    /// Free inodes; `None` if the file system has no limit.
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
    /// Type of a device-mapper device: `crypt`, `lvm`, `thin`, `multipath` and so on.
    pub mapping: Option<String>,
    /// Parent disk of a partition.
    pub partition_of: Option<String>,
    /// Names of the devices below this one.
    pub members: Vec<String>,
    /// Whether the kernel reports rotating media.
    pub rotational: Option<bool>,
    /// I/O scheduler in use.
    pub scheduler: Option<String>,
    /// `write back` (completed writes may still be volatile) or `write through`.
    pub write_cache: Option<String>,
    /// Size, in bytes.
    pub size_bytes: Option<u64>,
    /// Smallest addressable block, in bytes.
    pub logical_block_bytes: Option<u64>,
    /// Smallest block written without a read-modify-write, in bytes.
    pub physical_block_bytes: Option<u64>,
    /// Preferred smallest request, in bytes.
    pub minimum_io_bytes: Option<u64>,
    /// Preferred request for streaming, in bytes; 0 if the device states none.
    pub optimal_io_bytes: Option<u64>,
    /// Read-ahead of buffered reads, in KiB.
    pub read_ahead_kib: Option<u64>,
    /// Largest request before the kernel splits it, in KiB.
    pub max_sectors_kib: Option<u64>,
    /// Depth of the scheduler's queue, requests.
    pub requests: Option<u64>,
    /// Whether the device supports discard (TRIM).
    pub discard: Option<bool>,
    /// Whether the medium is removable.
    pub removable: Option<bool>,
    /// Whether the device is read-only.
    pub read_only: Option<bool>,
    /// The file behind a loop device.
    pub backing_file: Option<String>,
    /// Whether a loop device bypasses the page cache of its backing file's file system.
    pub backing_direct: Option<bool>,
    /// I/O limits of this process's control group on the device.
    pub throttled: Option<Throttle>,
}

/// Placement of one rank of a run on several hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankHost {
    pub rank: u32,
    /// Host name.
    pub host: String,
    /// Number of its machine, from 0: ranks in containers of one machine have different names.
    pub machine: u32,
    /// Processors that the rank may use.
    pub processors: u32,
}

/// I/O limits of a control group on one device. Absent limits are `None`.
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
    /// RAID implementation: `md`, `btrfs` or `zfs`.
    pub kind: String,
    /// Level, such as `raid1`.
    pub level: Option<String>,
    /// Number of members when complete.
    pub members: Option<u32>,
    /// Members missing or not yet rebuilt.
    pub missing: Option<u32>,
    /// What the array is doing.
    pub state: RaidActivity,
    /// Where the state was read.
    pub source: String,
}

/// Background activity of a RAID.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RaidActivity {
    /// All members are present, no background activity.
    Normal,
    /// A member is missing and not being replaced.
    Degraded,
    /// Data is being rebuilt or reshaped.
    Rebuilding {
        /// Progress, in percent.
        percent: Option<f64>,
    },
    /// A member is being copied to its replacement.
    Replacing,
    /// A scrub: all data is being read and compared.
    Checking {
        /// Progress, in percent.
        percent: Option<f64>,
    },
}

/// Something about the target or the machine that can distort results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caution {
    /// Its code, such as `memory-backed`.
    pub code: WarningCode,
    /// What it is, in plain words. In old runs, which did not keep advice apart, the advice is
    /// included.
    #[serde(rename = "text")]
    pub cause: String,
    /// What to do about it: the end of the sentence, after a semicolon. Empty if nothing needs
    /// doing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub advice: String,
}

impl Caution {
    /// The same as a warning of a run, with this severity.
    pub fn as_warning(&self, severity: Severity) -> Warning {
        Warning::new(severity, self.code.clone(), self.cause.clone()).advise(self.advice.clone())
    }

    /// Cause and advice, as shown to users.
    pub fn text(&self) -> String {
        advised(&self.cause, &self.advice)
    }
}

/// System counters between two readings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CountersDelta {
    /// CPU time of the process, in nanoseconds.
    pub cpu_ns: u64,
    /// User CPU time, in nanoseconds, with a resolution of one clock tick.
    pub cpu_user_ns: Option<u64>,
    /// System CPU time, in nanoseconds, with a resolution of one clock tick.
    pub cpu_system_ns: Option<u64>,
    /// Minor page faults.
    pub minor_faults: Option<u64>,
    /// Major page faults.
    pub major_faults: Option<u64>,
    /// I/O of the process.
    pub process_io: Option<ProcessIo>,
    /// Activity of the device, from all processes.
    pub device: Option<DeviceActivity>,
    /// Steal time, in nanoseconds over all processors.
    pub steal_ns: Option<u64>,
    /// I/O of other processes on the device, where it can be told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<BackgroundIo>,
    /// Device time of requests, if nearly all I/O on the device was ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_time: Option<DeviceTime>,
}

/// Device I/O that this process cannot have caused: a lower bound, since whatever could be ours
/// counts as ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BackgroundIo {
    /// Share of the device's bytes or requests, whichever is larger, 0 to 1.
    #[serde(with = "stats::undefined")]
    pub share: f64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Reads and writes.
    pub requests: u64,
}

/// Mean device time of requests, nanoseconds: from when the kernel's block layer starts a request
/// to its completion. It includes the queues of the I/O scheduler, the driver and the device, so it
/// is wait plus service. It excludes the file system, the page cache and this program. The kernel
/// counts it in whole milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceTime {
    /// Of reads; absent if there were too few for the kernel's resolution of one millisecond.
    pub read_mean_ns: Option<f64>,
    /// Of writes; absent if there were too few.
    pub write_mean_ns: Option<f64>,
}

impl BackgroundIo {
    /// Share of background I/O from which a measurement is marked.
    pub const MARKED_SHARE: f64 = 0.1;
    /// Share of background I/O from which a measurement is invalid.
    pub const VOID_SHARE: f64 = 0.5;
    /// Background I/O below this rate, bytes per second, is negligible, such as a log or a journal.
    const BYTES_MIN: f64 = 1024.0 * 1024.0;
    /// The same for requests per second.
    const REQUESTS_MIN: f64 = 100.0;

    /// Whether it is negligible over `seconds`, even if it is a large share of a nearly idle
    /// device.
    pub fn is_negligible(&self, seconds: f64) -> bool {
        let seconds = seconds.max(1.0);
        (self.bytes as f64) < Self::BYTES_MIN * seconds
            && (self.requests as f64) < Self::REQUESTS_MIN * seconds
    }
}

/// I/O of the process between two readings of `/proc/self/io`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIo {
    /// Bytes returned by read calls, from memory or device. Excludes `io_uring`.
    pub read_call_bytes: u64,
    /// Bytes accepted by write calls. Excludes `io_uring`.
    pub write_call_bytes: u64,
    pub read_calls: u64,
    pub write_calls: u64,
    /// Bytes that the process caused to be read from a device, read-ahead included.
    pub read_bytes: u64,
    /// Bytes that the process caused to be written to a device, now or later.
    pub write_bytes: u64,
}

/// Activity of one block device between two readings, from all processes.
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
    /// Requests in flight at the later reading.
    pub in_flight: u64,
    /// Time with at least one request in flight, in milliseconds.
    pub busy_ms: u64,
    /// Device time summed over all requests, in milliseconds.
    pub weighted_ms: u64,
    /// Device time of completed reads, in milliseconds; absent in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ms: Option<u64>,
    /// Device time of completed writes, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_ms: Option<u64>,
}
