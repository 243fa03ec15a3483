//! I/O of others during a trial: what the device did, less what this process can have caused.
//!
//! A device counts everybody's I/O, the kernel counts this process's (proc_pid_io(5)): what its
//! reads fetched, read-ahead included, and what its writes handed over or made dirty. The file
//! system adds I/O of its own. Whatever could be ours is taken for ours, so that a quiet machine is
//! never blamed; what is left was others'.

use results::environment::{BackgroundIo, DeviceActivity, DeviceTime};
use results::{Warning, WarningCode};
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration, format_count};

/// Of fewer milliseconds the kernel's steps of one are more than a tenth.
const DEVICE_MS_MIN: u64 = 10;
/// The least that a request moves, where operations are not smaller.
const REQUEST_BYTES: u64 = 4096;
/// The largest request that a device is likely to be sent, bytes: file systems and kernels split
/// what is larger.
const REQUEST_MAX: u64 = 4 << 20;
/// Many requests of others void a number where they moved this share of the bytes.
const VOID_BYTES_SHARE: f64 = 0.01;

/// What this process can have caused at most, reads or writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnIo {
    pub requests: u64,
    pub bytes: u64,
}

/// Into how many requests the kernel may split direct operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Splitting {
    /// What it leaves together at least, bytes.
    pub request_bytes: u64,
    /// Pieces of the files, for each byte.
    pub extents_per_byte: f64,
}

impl OwnIo {
    /// Of so many operations, and all that the kernel moved for them. Each may have been split, but
    /// never below 4 KiB.
    #[must_use]
    pub fn of(operations: u64, bytes: u64) -> Self {
        Self {
            requests: operations.max(bytes.div_ceil(REQUEST_BYTES)),
            bytes,
        }
    }

    /// Of so many direct operations of `asked` bytes altogether, and what was moved beside them.
    #[must_use]
    pub fn direct(operations: u64, asked: u64, bytes: u64, splitting: Splitting) -> Self {
        let any = Self::of(operations, bytes);
        let beside = bytes.saturating_sub(asked).div_ceil(REQUEST_BYTES);
        // An operation may begin in the midst of a piece, and end in another one.
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

/// What processes of one run can have caused at most on one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnDeviceWork {
    pub reads: OwnIo,
    /// Writes; `None` where it is not known which of the device's were ours.
    pub writes: Option<OwnIo>,
}

impl OwnDeviceWork {
    /// Of two processes together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let writes = self.writes.zip(other.writes);
        Self {
            reads: self.reads.and(other.reads),
            writes: writes.map(|(one, other)| one.and(other)),
        }
    }
}

/// What of the work of `device` is not among our `own`; where it is not known which writes were
/// ours, none is blamed on others.
#[must_use]
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

/// What a request took the device, where no more than a tenth of its work can have been others';
/// `None` where it did nothing for long enough.
#[must_use]
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

/// What must be said of a trial of length `elapsed` in which others did that much of the work of
/// `device`, by requests or by bytes, whichever is more: small requests break up a stream of large
/// ones. Where they move next to nothing, they only mark the number.
#[must_use]
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
    // Where either could all be ours, nothing is said of it.
    let noun = if foreign.requests == 1 {
        "request"
    } else {
        "requests"
    };
    // Both are the least that others did: so few requests cannot have been so many bytes.
    let is_likely = foreign.bytes / REQUEST_MAX <= foreign.requests;
    let requests = (foreign.requests > 0 && is_likely)
        .then(|| format!("{} {noun}", format_count(foreign.requests as f64)));
    let bytes = (foreign.bytes > 0).then(|| Bytes(foreign.bytes).to_string());
    let what: Vec<String> = requests.into_iter().chain(bytes).collect();
    // The share of requests may be the larger one by far.
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

    /// Bug: "1 request, 45.1 MiB".
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
        // Ten reads of 8 ms each are known to 1 %; a thousand of 9 us are 9 ms or nearly 10.
        check(10, Some(80), 0.0, Some(8e6));
        check(1_000, Some(9), 0.0, None);
        check(0, Some(80), 0.0, None);
        check(25_600, None, 0.0, None);
    }

    /// A random read of 1.13 ms, where the disk answers in 60 us: of 117,000 requests and 6.64 GiB
    /// 28.4 MiB were ours.
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
        // Writes of others while we read, and small requests among large operations.
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

    /// Bug: 1,574 reads of 1 MiB might have been 400,000 requests, so that 102,000 reads of 4 KiB
    /// beside them, which halved their rate, were nobody's.
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
        // Alone, each is two requests.
        check(&device(3_148, 1_574, 0, 0), reads, nothing, None);
        // A file in pieces of 4 KiB may be any number of requests.
        let splitting = Splitting {
            extents_per_byte: 1.0 / 4096.0,
            ..splitting
        };
        let reads = OwnIo::direct(1_574, ours, ours, splitting);
        assert_eq!(reads, OwnIo::of(1_574, ours));
        check(&device(104_202, 1_574, 0, 0), reads, nothing, None);
    }

    /// Two ranks on one disk were each said to have 50 % of foreign I/O: the other's.
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
        // Own I/O that merged, or was answered from memory, is more than the device's.
        check(&device(10, 1, 0, 0), own(1_000, 900), nothing, None);
        // It cannot be told whose writes these are.
        check(&device(10, 1, 9_000, 900), own(1_000, 900), None, None);
        // A log is written now and then, and nothing else happens.
        check(&device(0, 0, 20, 1), OwnIo::default(), nothing, None);
    }
}
