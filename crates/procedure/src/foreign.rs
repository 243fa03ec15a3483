//! Background I/O during a trial: the device's activity minus what this process can have caused.
//!
//! A device counts I/O of all processes. The kernel counts this process's (proc_pid_io(5)): what
//! its reads fetched, read-ahead included, and what its writes submitted or made dirty. The file
//! system adds its own I/O. Whatever could be ours counts as ours, so that a quiet machine is never
//! blamed. The rest is background I/O.

use results::environment::{BackgroundIo, DeviceActivity, DeviceTime};
use results::{Warning, WarningCode};
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration, format_count};

/// Below this the kernel's resolution of 1 ms is worse than 10 %.
const DEVICE_MS_MIN: u64 = 10;
/// Minimum request size, unless operations are smaller.
const REQUEST_BYTES: u64 = 4096;
/// Maximum request size that a device is likely to receive, bytes. File systems and kernels split
/// larger ones.
const REQUEST_MAX: u64 = 4 << 20;
/// Background requests make a number invalid only if they moved at least this share of the bytes.
const VOID_BYTES_SHARE: f64 = 0.01;

/// Upper bound for this process's reads or writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnIo {
    pub requests: u64,
    pub bytes: u64,
}

/// How many requests the kernel may split direct operations into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Splitting {
    /// Minimum size of the split requests, bytes.
    pub request_bytes: u64,
    /// File extents per byte.
    pub extents_per_byte: f64,
}

impl OwnIo {
    /// For this many operations and all bytes that the kernel moved for them. Each may have been
    /// split, down to 4 KiB.
    pub fn of(operations: u64, bytes: u64) -> Self {
        Self {
            requests: operations.max(bytes.div_ceil(REQUEST_BYTES)),
            bytes,
        }
    }

    /// For direct operations of `asked` bytes in total, plus bytes moved besides them.
    pub fn direct(operations: u64, asked: u64, bytes: u64, splitting: Splitting) -> Self {
        let any = Self::of(operations, bytes);
        let beside = bytes.saturating_sub(asked).div_ceil(REQUEST_BYTES);
        // An operation may start and end in the middle of an extent.
        let whole = asked.div_ceil(splitting.request_bytes) + 2 * operations;
        let between = (asked as f64 * splitting.extents_per_byte) as u64;
        Self {
            requests: any.requests.min(whole + between + beside),
            bytes,
        }
    }

    const fn and(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            bytes: self.bytes + other.bytes,
        }
    }
}

/// Upper bound for the I/O of a run's processes on one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnDeviceWork {
    pub reads: OwnIo,
    /// Writes; `None` if it is unknown which of the device's writes were ours.
    pub writes: Option<OwnIo>,
}

impl OwnDeviceWork {
    /// The sum of two processes.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let writes = self.writes.zip(other.writes);
        Self {
            reads: self.reads.and(other.reads),
            writes: writes.map(|(one, other)| one.and(other)),
        }
    }
}

/// The background I/O of `device`, beyond our `own`. If it is unknown which writes were ours, no
/// writes count.
pub fn foreign_io(device: &DeviceActivity, own: OwnDeviceWork) -> BackgroundIo {
    let OwnDeviceWork { reads, writes } = own;
    let written = |own: OwnIo| {
        (
            device.written_bytes.saturating_sub(own.bytes),
            device.writes.saturating_sub(own.requests),
        )
    };
    let (written_bytes, written_requests) = writes.map_or((0, 0), written);
    let bytes = device.read_bytes.saturating_sub(reads.bytes) + written_bytes;
    let requests = device.reads.saturating_sub(reads.requests) + written_requests;
    let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    let of_bytes = share(bytes, device.read_bytes + device.written_bytes);
    BackgroundIo {
        share: of_bytes.max(share(requests, device.reads + device.writes)),
        bytes,
        requests,
    }
}

/// The device time of requests, if at most 10 % can be background I/O; `None` if the device was
/// active too briefly.
pub fn device_time(device: &DeviceActivity, foreign: &BackgroundIo) -> Option<DeviceTime> {
    if foreign.share > BackgroundIo::MARKED_SHARE {
        return None;
    }
    let mean = |requests: u64, sum_ms: Option<u64>| {
        let sum_ms = sum_ms.filter(|sum_ms| *sum_ms >= DEVICE_MS_MIN && requests > 0)?;
        Some(sum_ms as f64 * 1e6 / requests as f64)
    };
    let time = DeviceTime {
        read_mean_ns: mean(device.reads, device.read_ms),
        write_mean_ns: mean(device.writes, device.write_ms),
    };
    (time != DeviceTime::default()).then_some(time)
}

/// The warning for a trial of length `elapsed` with this share of background I/O, by requests or by
/// bytes, whichever is larger: small requests can disrupt a stream of large ones. If they move
/// almost nothing, they do not make the number invalid.
pub fn foreign_warning(
    title: &str,
    device: &DeviceActivity,
    foreign: &BackgroundIo,
    elapsed: Duration,
) -> Option<Warning> {
    let is_negligible = foreign.is_negligible(elapsed.as_secs_f64());
    if foreign.share < BackgroundIo::MARKED_SHARE || is_negligible {
        return None;
    }
    let all = (device.read_bytes + device.written_bytes).max(1);
    let of_bytes = foreign.bytes as f64 / all as f64;
    // If all requests or all bytes could be ours, that part is omitted.
    let noun = if foreign.requests == 1 {
        "request"
    } else {
        "requests"
    };
    // Both are lower bounds, so the two may be inconsistent: this few requests cannot have moved
    // this many bytes.
    let is_likely = foreign.bytes / REQUEST_MAX <= foreign.requests;
    let requests = (foreign.requests > 0 && is_likely)
        .then(|| format!("{} {noun}", format_count(foreign.requests as f64)));
    let bytes = (foreign.bytes > 0).then(|| Bytes(foreign.bytes).to_string());
    let what: Vec<String> = requests.into_iter().chain(bytes).collect();
    // The share of requests may be far larger.
    let counted = match of_bytes < foreign.share * 0.95 {
        true => format!(
            "requests on {}, and {:.0} % of the bytes,",
            device.name,
            of_bytes * 100.0
        ),
        false => format!("I/O on {}", device.name),
    };
    let text = format!(
        "{title}: {:.0} % of the {counted} came from other processes ({}). Stop them and rerun.",
        foreign.share * 100.0,
        what.join(", "),
    );
    let is_void = foreign.share >= BackgroundIo::VOID_SHARE && of_bytes >= VOID_BYTES_SHARE;
    Some(if is_void {
        Warning::invalid(WarningCode::BackgroundIo, text)
    } else {
        Warning::warn(WarningCode::BackgroundIo, text)
    })
}

#[cfg(test)]
mod tests {
    use results::Severity;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn device(reads: u64, read_mib: u64, writes: u64, written_mib: u64) -> DeviceActivity {
        DeviceActivity {
            reads,
            read_bytes: read_mib * MIB,
            writes,
            written_bytes: written_mib * MIB,
            ..DeviceActivity::default()
        }
    }

    fn own(operations: u64, mib: u64) -> OwnIo {
        OwnIo::of(operations, mib * MIB)
    }

    fn check(
        device: &DeviceActivity,
        reads: OwnIo,
        writes: Option<OwnIo>,
        expected: Option<Severity>,
    ) {
        let foreign = foreign_io(device, OwnDeviceWork { reads, writes });
        let warning = foreign_warning("read", device, &foreign, Duration::from_secs(3));
        assert_eq!(warning.map(|it| it.severity), expected, "{foreign:?}");
    }

    #[test]
    fn one_request_is_no_plural() {
        let foreign = BackgroundIo {
            share: 0.9,
            requests: 1,
            bytes: 4 * MIB,
        };
        let found = foreign_warning(
            "read",
            &device(9, 5, 0, 0),
            &foreign,
            Duration::from_secs(3),
        );
        let text = found.expect("a warning").text();
        assert!(
            text.contains("came from other processes (1 request, 4 MiB). Stop"),
            "{text}"
        );
    }

    /// Bug: "1 request, 45.1 MiB" was reported.
    #[test]
    fn requests_that_cannot_have_been_so_large_are_not_counted() {
        let foreign = BackgroundIo {
            share: 0.9,
            requests: 1,
            bytes: 40 * MIB,
        };
        let device = device(9, 44, 0, 0);
        let found = foreign_warning("read", &device, &foreign, Duration::from_secs(3));
        let text = found.expect("a warning").text();
        assert!(text.contains("from other processes (40 MiB)."), "{text}");
    }

    #[test]
    fn the_time_of_the_device_is_told_where_its_work_was_ours() {
        let check = |requests, sum_ms, foreign_share, expected: Option<f64>| {
            let device = DeviceActivity {
                read_ms: sum_ms,
                write_ms: Some(0),
                ..device(requests, 100, 3, 0)
            };
            let foreign = BackgroundIo {
                share: foreign_share,
                ..BackgroundIo::default()
            };
            let found = device_time(&device, &foreign);
            let time = |mean: f64| DeviceTime {
                read_mean_ns: Some(mean),
                write_mean_ns: None,
            };
            assert_eq!(found, expected.map(time), "{requests} {sum_ms:?}");
        };
        check(25_600, Some(2_560), 0.0, Some(100_000.0));
        check(25_600, Some(2_560), 0.1, Some(100_000.0));
        check(25_600, Some(2_560), 0.11, None);
        // Ten reads of 8 ms each are known to 1 %. A thousand of 9 us are between 9 and 10 ms.
        check(10, Some(80), 0.0, Some(8e6));
        check(1_000, Some(9), 0.0, None);
        check(0, Some(80), 0.0, None);
        check(25_600, None, 0.0, None);
    }

    /// A random read took 1.13 ms, where the disk answers in 60 us: of 117,000 requests and 6.64
    /// GiB, 28.4 MiB were ours.
    #[test]
    fn a_neighbour_that_does_nearly_all_of_it_voids_the_number() {
        let all = device(117_000, 6_799, 0, 0);
        check(
            &all,
            own(7_270, 28),
            Some(OwnIo::default()),
            Some(Severity::Invalid),
        );
    }

    #[test]
    fn a_share_of_ten_percent_is_marked() {
        let nothing = Some(OwnIo::default());
        check(
            &device(25_600, 100, 0, 0),
            own(23_040, 90),
            nothing,
            Some(Severity::Warning),
        );
        check(&device(25_600, 100, 0, 0), own(24_320, 95), nothing, None);
        // Background writes while we read, and small requests among large operations.
        check(
            &device(25_600, 100, 400, 400),
            own(25_600, 100),
            nothing,
            Some(Severity::Invalid),
        );
        check(
            &device(60_000, 110, 0, 0),
            own(100, 100),
            nothing,
            Some(Severity::Invalid),
        );
        check(
            &device(60_000, 1_005, 0, 0),
            own(100, 1_000 - 200),
            nothing,
            Some(Severity::Warning),
        );
    }

    /// Bug: 1,574 reads of 1 MiB might have been 400,000 requests, so that 102,000 background reads
    /// of 4 KiB, which halved their rate, were not detected.
    #[test]
    fn small_requests_beside_large_operations_are_seen() {
        let splitting = Splitting {
            request_bytes: 254 << 12,
            extents_per_byte: 1.0 / (128 * MIB) as f64,
        };
        let (ours, all) = (1_574 * MIB, 1_975);
        let reads = OwnIo::direct(1_574, ours, ours, splitting);
        assert_eq!(reads.requests, 4_747);
        let nothing = Some(OwnIo::default());
        check(
            &device(104_202, all, 0, 0),
            reads,
            nothing,
            Some(Severity::Invalid),
        );
        // Alone, each operation is two requests.
        check(&device(3_148, 1_574, 0, 0), reads, nothing, None);
        // A file in extents of 4 KiB may be any number of requests.
        let splitting = Splitting {
            extents_per_byte: 1.0 / 4096.0,
            ..splitting
        };
        let reads = OwnIo::direct(1_574, ours, ours, splitting);
        assert_eq!(reads, OwnIo::of(1_574, ours));
        check(&device(104_202, 1_574, 0, 0), reads, nothing, None);
    }

    /// Bug: two ranks on one disk were each reported to have 50 % background I/O, which was the
    /// other's.
    #[test]
    fn processes_of_one_run_are_no_others_to_each_other() {
        let rank = OwnDeviceWork {
            reads: own(12_800, 50),
            writes: Some(OwnIo::default()),
        };
        let device = device(25_600, 100, 0, 0);
        assert_eq!(foreign_io(&device, rank).share, 0.5);
        assert_eq!(foreign_io(&device, rank.and(rank)), BackgroundIo::default());
        let unknown = OwnDeviceWork {
            writes: None,
            ..rank
        };
        assert_eq!(rank.and(unknown).writes, None);
    }

    #[test]
    fn what_could_be_ours_is_ours() {
        let nothing = Some(OwnIo::default());
        // The kernel split 1 MiB operations, and read ahead.
        check(
            &device(8_192, 1_024, 0, 0),
            own(1_024, 1_024),
            nothing,
            None,
        );
        // Own I/O that was merged or served from memory exceeds the device's.
        check(&device(10, 1, 0, 0), own(1_000, 900), nothing, None);
        // It cannot be determined whose writes these are.
        check(&device(10, 1, 9_000, 900), own(1_000, 900), None, None);
        // An occasional log write on an otherwise idle device.
        check(&device(0, 0, 20, 1), OwnIo::default(), nothing, None);
    }
}
