//! System counters around a measurement: CPU time, I/O of this process, activity of the device.
//!
//! Two readings and their difference. Counters for all processes (device, steal time) include other
//! processes. Sources: proc_pid_stat(5), proc_pid_io(5), proc_stat(5), and the kernel's
//! `block/stat`.

use engine::Activity;
pub use results::environment::{CountersDelta, DeviceActivity, ProcessIo};
use rustix::time::{ClockId, clock_gettime};

use crate::inspect::FetchAccount;
use crate::inspect::facts::SystemRoots;

const NS_PER_SECOND: u64 = 1_000_000_000;
/// The unit of the kernel's sector counts, whatever the device's own block size.
const SECTOR_BYTES: u64 = 512;
/// Page size in reports, whatever the machine's own is.
const PAGE_BYTES: u64 = 4096;

/// One reading of the counters.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    cpu_ns: u64,
    process: Option<ProcessTimes>,
    io: Option<ProcessIo>,
    device: Option<DeviceActivity>,
    steal_ticks: Option<u64>,
    machine: Option<MachineTicks>,
}

/// From the first line of `/proc/stat`: time of all processors, in clock ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MachineTicks {
    busy: u64,
    idle: u64,
}

/// From `/proc/self/stat`; times in clock ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ProcessTimes {
    minor_faults: u64,
    major_faults: u64,
    user_ticks: u64,
    system_ticks: u64,
}

impl Counters {
    /// Reads the counters. `device` is a kernel name such as `sda1`; without it the device is left
    /// out.
    pub fn take(device: Option<&str>) -> Self {
        Counters {
            cpu_ns: process_cpu_ns(),
            ..Self::take_from(&SystemRoots::default(), device)
        }
    }

    pub(crate) fn take_from(facts: &SystemRoots, device: Option<&str>) -> Self {
        let machine = facts.proc_text("stat");
        Counters {
            cpu_ns: 0,
            process: facts
                .proc_text("self/stat")
                .and_then(|text| process_times(&text)),
            io: facts.proc_text("self/io").map(|text| process_io(&text)),
            device: device.and_then(|name| device_activity(facts, name)),
            steal_ticks: machine.as_deref().and_then(steal_ticks),
            machine: machine.as_deref().and_then(machine_ticks),
        }
    }

    /// Activity so far, without the CPU time of the calling thread, which only observes.
    pub fn activity(&self) -> Activity {
        let tick_ns = NS_PER_SECOND / rustix::param::clock_ticks_per_second().max(1);
        let to_ns = |ticks: u64| ticks.saturating_mul(tick_ns);
        let to_ms = |ms: u64| ms.saturating_mul(1_000_000);
        let device = self.device.as_ref();
        Activity {
            cpu_busy_ns: self.machine.map(|it| to_ns(it.busy)),
            cpu_there_ns: self.machine.map(|it| to_ns(it.busy + it.idle)),
            cpu_own_ns: Some(self.cpu_ns.saturating_sub(thread_cpu_ns())),
            device_busy_ns: device.map(|it| to_ms(it.busy_ms)),
            device_queue_ns: device.map(|it| to_ms(it.weighted_ms)),
            device_reads: device.map(|it| it.reads),
            device_writes: device.map(|it| it.writes),
            device_bytes: device.map(|it| it.read_bytes.saturating_add(it.written_bytes)),
            own_bytes: self
                .io
                .map(|io| io.read_bytes.saturating_add(io.write_bytes)),
            pages_fetched: self.io.map(|io| io.read_bytes / PAGE_BYTES),
            minor_faults: self.process.map(|it| it.minor_faults),
            major_faults: self.process.map(|it| it.major_faults),
            // The kernel's page cache is shared by all processes.
            file_cache_page_us: None,
        }
    }

    /// What happened between this reading and a `later` one.
    pub fn delta(&self, later: &Counters) -> CountersDelta {
        let tick_ns = NS_PER_SECOND / rustix::param::clock_ticks_per_second().max(1);
        let times = self.process.zip(later.process);
        let between = |field: fn(&ProcessTimes) -> u64| {
            times.map(|(first, last)| field(&last).saturating_sub(field(&first)))
        };
        let to_ns = |ticks: u64| ticks.saturating_mul(tick_ns);
        CountersDelta {
            cpu_ns: later.cpu_ns.saturating_sub(self.cpu_ns),
            cpu_user_ns: between(|times| times.user_ticks).map(to_ns),
            cpu_system_ns: between(|times| times.system_ticks).map(to_ns),
            minor_faults: between(|times| times.minor_faults),
            major_faults: between(|times| times.major_faults),
            process_io: self
                .io
                .zip(later.io)
                .map(|(first, last)| io_between(&first, &last)),
            device: self
                .device
                .as_ref()
                .zip(later.device.as_ref())
                .and_then(device_between),
            steal_ns: self
                .steal_ticks
                .zip(later.steal_ticks)
                .map(|(first, last)| to_ns(last.saturating_sub(first))),
            foreign: None,
            device_time: None,
        }
    }
}

/// CPU time of the whole process so far, in nanoseconds.
pub fn process_cpu_ns() -> u64 {
    clock_ns(ClockId::ProcessCPUTime)
}

/// CPU time of the calling thread so far, in nanoseconds, which an observing thread must subtract
/// from the cost of the measurement.
pub fn thread_cpu_ns() -> u64 {
    clock_ns(ClockId::ThreadCPUTime)
}

/// How long the calling thread has waited for a processor so far, nanoseconds; `None` if the kernel
/// does not count it.
pub fn thread_wait_ns() -> Option<u64> {
    let counts = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    counts.split_whitespace().nth(1)?.parse().ok()
}

/// Share, 0 to 1, of the `bytes_read` by this process that did not come from a device.
///
/// `None` if nothing was read, or if the process counters do not cover this `account`. The kernel's
/// count includes read-ahead, which may fetch more than was requested, so a share of 0 may hide
/// some hits. Direct I/O counts as fetched even if the device or the host serves it from its own
/// cache. Concurrent reads of other files by this process lower the share.
pub fn page_cache_share(
    bytes_read: u64,
    delta: &CountersDelta,
    account: &FetchAccount,
) -> Option<f64> {
    let fetched = delta.process_io?.read_bytes;
    let is_known = bytes_read > 0 && *account == FetchAccount::Process;
    is_known.then(|| (1.0 - fetched as f64 / bytes_read as f64).clamp(0.0, 1.0))
}

pub(crate) fn clock_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds
        .saturating_mul(NS_PER_SECOND)
        .saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}

/// The program's name may contain blanks and parentheses, so fields are counted from the last
/// parenthesis.
fn process_times(text: &str) -> Option<ProcessTimes> {
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    // The manual numbers fields from 1. The first after the name is number 3.
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some(ProcessTimes {
        minor_faults: field(10)?,
        major_faults: field(12)?,
        user_ticks: field(14)?,
        system_ticks: field(15)?,
    })
}

fn process_io(text: &str) -> ProcessIo {
    let value = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(": "));
        lines
            .find(|(key, _)| *key == name)
            .and_then(|(_, n)| n.trim().parse().ok())
            .unwrap_or(0)
    };
    ProcessIo {
        read_call_bytes: value("rchar"),
        write_call_bytes: value("wchar"),
        read_calls: value("syscr"),
        write_calls: value("syscw"),
        read_bytes: value("read_bytes"),
        write_bytes: value("write_bytes"),
    }
}

pub(crate) fn device_activity(facts: &SystemRoots, name: &str) -> Option<DeviceActivity> {
    let text = facts.sys_text(&format!("class/block/{name}/stat"))?;
    let fields: Vec<u64> = text
        .split_whitespace()
        .map_while(|word| word.parse().ok())
        .collect();
    let field = |index: usize| fields.get(index).copied();
    Some(DeviceActivity {
        name: name.to_owned(),
        reads: field(0)?,
        read_bytes: field(2)?.saturating_mul(SECTOR_BYTES),
        writes: field(4)?,
        written_bytes: field(6)?.saturating_mul(SECTOR_BYTES),
        in_flight: field(8)?,
        busy_ms: field(9)?,
        weighted_ms: field(10)?,
        read_ms: field(3),
        write_ms: field(7),
        flushes: field(15),
    })
}

/// Steal ticks of all processors, from the first line of `/proc/stat`.
pub(crate) fn steal_ticks(text: &str) -> Option<u64> {
    text.lines()
        .next()?
        .strip_prefix("cpu ")?
        .split_whitespace()
        .nth(7)?
        .parse()
        .ok()
}

/// User, nice, system, idle, I/O wait, interrupts, soft interrupts, steal; guest time is included
/// in the first.
fn machine_ticks(text: &str) -> Option<MachineTicks> {
    let words = text.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = words
        .split_whitespace()
        .take(8)
        .map_while(|word| word.parse().ok())
        .collect();
    let [user, nice, system, idle, io_wait, rest @ ..] = ticks.as_slice() else {
        return None;
    };
    // Steal time was neither used nor available.
    let interrupts: u64 = rest.iter().take(2).sum();
    Some(MachineTicks {
        busy: user + nice + system + interrupts,
        idle: idle + io_wait,
    })
}

fn io_between(first: &ProcessIo, last: &ProcessIo) -> ProcessIo {
    ProcessIo {
        read_call_bytes: last.read_call_bytes.saturating_sub(first.read_call_bytes),
        write_call_bytes: last.write_call_bytes.saturating_sub(first.write_call_bytes),
        read_calls: last.read_calls.saturating_sub(first.read_calls),
        write_calls: last.write_calls.saturating_sub(first.write_calls),
        read_bytes: last.read_bytes.saturating_sub(first.read_bytes),
        write_bytes: last.write_bytes.saturating_sub(first.write_bytes),
    }
}

/// `None` if the readings are of different devices.
fn device_between(looks: (&DeviceActivity, &DeviceActivity)) -> Option<DeviceActivity> {
    let (first, last) = looks;
    let between = |last: Option<u64>, first| {
        last.zip(first)
            .map(|(last, first)| last.saturating_sub(first))
    };
    (first.name == last.name).then(|| DeviceActivity {
        name: last.name.clone(),
        reads: last.reads.saturating_sub(first.reads),
        read_bytes: last.read_bytes.saturating_sub(first.read_bytes),
        writes: last.writes.saturating_sub(first.writes),
        written_bytes: last.written_bytes.saturating_sub(first.written_bytes),
        flushes: between(last.flushes, first.flushes),
        in_flight: last.in_flight,
        busy_ms: last.busy_ms.saturating_sub(first.busy_ms),
        weighted_ms: last.weighted_ms.saturating_sub(first.weighted_ms),
        read_ms: between(last.read_ms, first.read_ms),
        write_ms: between(last.write_ms, first.write_ms),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::inspect::Uncounted;

    fn look(top: &Path, files: &[(&str, &str)]) -> Counters {
        for (path, text) in files {
            let path = top.join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, text).expect("a file");
        }
        let facts = SystemRoots {
            proc: top.join("proc"),
            sys: top.join("sys"),
        };
        Counters::take_from(&facts, Some("sda"))
    }

    /// Two readings of a machine, and the difference.
    fn two_looks() -> [Counters; 2] {
        let top = tempfile::tempdir().expect("a temporary directory");
        let first = look(
            top.path(),
            &[
                (
                    "proc/self/stat",
                    "7 (a ) b) R 1 1 1 0 -1 0 100 0 5 0 20 30 0 0",
                ),
                (
                    "proc/self/io",
                    "rchar: 10\nwchar: 20\nsyscr: 1\nsyscw: 2\nread_bytes: 4096\n",
                ),
                ("proc/stat", "cpu  1 2 3 4 5 6 7 8 9 10\n"),
                (
                    "sys/class/block/sda/stat",
                    "1 0 8 2 3 0 16 4 0 5 6 0 0 0 0 7 8\n",
                ),
            ],
        );
        let last = look(
            top.path(),
            &[
                (
                    "proc/self/stat",
                    "7 (a ) b) R 1 1 1 0 -1 0 160 0 6 0 22 33 0 0",
                ),
                (
                    "proc/self/io",
                    "rchar: 110\nwchar: 20\nsyscr: 3\nsyscw: 2\nread_bytes: 12288\n",
                ),
                ("proc/stat", "cpu  1 2 3 4 5 6 7 18 9 10\n"),
                (
                    "sys/class/block/sda/stat",
                    "11 0 28 9 3 0 16 4 2 15 26 0 0 0 0 9 8\n",
                ),
            ],
        );
        [first, last]
    }

    #[test]
    fn the_difference_of_two_looks_is_what_happened_between() {
        let [first, last] = two_looks();
        let delta = first.delta(&last);
        let tick = NS_PER_SECOND / rustix::param::clock_ticks_per_second();
        assert_eq!(delta.cpu_user_ns, Some(2 * tick));
        assert_eq!(delta.cpu_system_ns, Some(3 * tick));
        assert_eq!(
            (delta.minor_faults, delta.major_faults),
            (Some(60), Some(1))
        );
        assert_eq!(delta.steal_ns, Some(10 * tick));
        let io = delta.process_io.expect("counters of the process");
        assert_eq!(
            (io.read_call_bytes, io.read_calls, io.read_bytes),
            (100, 2, 8192)
        );
        let expected = DeviceActivity {
            name: "sda".to_owned(),
            reads: 10,
            read_bytes: 20 * 512,
            flushes: Some(2),
            in_flight: 2,
            busy_ms: 10,
            weighted_ms: 20,
            read_ms: Some(7),
            write_ms: Some(0),
            ..DeviceActivity::default()
        };
        assert_eq!(delta.device, Some(expected));
    }

    #[test]
    fn activity_is_what_both_looks_know() {
        let [first, last] = two_looks();
        let done = last.activity().since(&first.activity());
        let expected = Activity {
            cpu_busy_ns: Some(0),
            cpu_there_ns: Some(0),
            cpu_own_ns: Some(0),
            device_busy_ns: Some(10_000_000),
            device_queue_ns: Some(20_000_000),
            device_reads: Some(10),
            device_writes: Some(0),
            device_bytes: Some(20 * 512),
            own_bytes: Some(2 * 4096),
            pages_fetched: Some(2),
            minor_faults: Some(60),
            major_faults: Some(1),
            file_cache_page_us: None,
        };
        assert_eq!(done, expected);
    }

    #[test]
    fn the_machine_is_busy_when_it_does_not_idle() {
        let text = "cpu  100 2 30 4000 500 6 7 80 9 10\ncpu0 1 2 3 4\n";
        let expected = MachineTicks {
            busy: 100 + 2 + 30 + 6 + 7,
            idle: 4000 + 500,
        };
        assert_eq!(machine_ticks(text), Some(expected));
        assert_eq!(machine_ticks("cpu  1 2 3\n"), None);
        assert_eq!(machine_ticks(""), None);
    }

    #[test]
    fn missing_sources_leave_gaps_and_nothing_else() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let nothing = look(top.path(), &[]);
        assert_eq!(nothing.delta(&nothing), CountersDelta::default());
    }

    #[test]
    fn the_share_of_the_page_cache_stays_between_none_and_all() {
        let check = |bytes_read: u64, fetched: Option<u64>, expected: Option<f64>| {
            let io = |read_bytes| ProcessIo {
                read_bytes,
                ..ProcessIo::default()
            };
            let delta = CountersDelta {
                process_io: fetched.map(io),
                ..CountersDelta::default()
            };
            let share = |account| page_cache_share(bytes_read, &delta, &account);
            let text = format!("{bytes_read} {fetched:?}");
            assert_eq!(share(FetchAccount::Process), expected, "{text}");
            let nobody = FetchAccount::Nobody(Uncounted::Program);
            assert_eq!(share(nobody), None, "{text}");
            assert_eq!(share(FetchAccount::Arc), None, "{text}");
        };
        check(1000, Some(0), Some(1.0));
        check(1000, Some(250), Some(0.75));
        check(1000, Some(1000), Some(0.0));
        check(1000, Some(5000), Some(0.0));
        check(0, Some(5000), None);
        check(1000, None, None);
    }

    #[test]
    fn a_busy_thread_shows_in_both_clocks() {
        let (process, thread) = (process_cpu_ns(), thread_cpu_ns());
        let mut value = 1_u64;
        while thread_cpu_ns() == thread {
            value = std::hint::black_box(value.wrapping_mul(3));
        }
        assert!(process_cpu_ns() > process);
    }
}
