//! Captures the environment of a run: the machine and the time.

use jiff::Timestamp;
use results::environment::{Environment, Pressure};
use units::Duration;

use crate::inspect::cgroup;
use crate::inspect::facts::SystemRoots;
use crate::inspect::mounts;

/// Describes this machine now. Unknown facts stay `None`.
pub fn capture() -> Environment {
    capture_from(&SystemRoots::default())
}

/// The time `ago` before now, as RFC 3339 text in UTC.
pub fn moment_before(ago: Duration) -> String {
    (Timestamp::now() - std::time::Duration::from_nanos(ago.as_nanos())).to_string()
}

/// Converts an RFC 3339 time to local date and time in seconds, and to seconds since 1970; `None`
/// if it is invalid.
pub fn local_moment(rfc_3339: &str) -> Option<(String, f64, f64)> {
    let moment: Timestamp = rfc_3339.parse().ok()?;
    let local = moment.to_zoned(jiff::tz::TimeZone::system());
    let wall = moment.as_millisecond() as f64 / 1000.0;
    let offset = f64::from(local.offset().seconds());
    Some((local.strftime("%H:%M:%S").to_string(), wall + offset, wall))
}

/// Milliseconds since 1970 as ISO 8601 text to the second, in local time with its offset.
pub fn local_iso(unix_ms: u64) -> String {
    let moment = Timestamp::from_millisecond(i64::try_from(unix_ms).unwrap_or(i64::MAX));
    let local = moment
        .unwrap_or(Timestamp::MAX)
        .to_zoned(jiff::tz::TimeZone::system());
    local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// The same in UTC, for clocks that belong to no machine.
pub fn utc_iso(unix_ms: u64) -> String {
    let moment = Timestamp::from_millisecond(i64::try_from(unix_ms).unwrap_or(i64::MAX));
    format!("{:.0}", moment.unwrap_or(Timestamp::MAX))
}

/// Milliseconds since 1970 by the wall clock.
pub fn unix_ms() -> u64 {
    u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0)
}

/// Describes the machine whose `/proc` and `/sys` are given. Host name, kernel and allowed
/// processors still come from system calls.
// fuzzed: system_text
pub fn capture_from(facts: &SystemRoots) -> Environment {
    let system = rustix::system::uname();
    let table = mounts::read(facts);
    Environment {
        hosts: Vec::new(),
        commit: commit(),
        seekstone_version: crate::VERSION.to_owned(),
        host_name: system.nodename().to_string_lossy().into_owned(),
        kernel: format!(
            "{} {}",
            system.sysname().to_string_lossy(),
            system.release().to_string_lossy()
        ),
        architecture: system.machine().to_string_lossy().into_owned(),
        cpu_model: cpu_model(facts),
        cpus_online: cpus_online(facts),
        cpus_allowed: cpus_allowed(),
        cpu_limit: cgroup::cpu_limit(facts, &table),
        memory_total_bytes: facts.memory_bytes("MemTotal"),
        memory_available_bytes: facts.memory_bytes("MemAvailable"),
        memory_limit_bytes: cgroup::memory_limit(facts, &table).map(|(limit, _)| limit),
        swap_total_bytes: facts.memory_bytes("SwapTotal"),
        swap_free_bytes: facts.memory_bytes("SwapFree"),
        virtualised: virtualised(facts),
        clock_source: facts.sys_text("devices/system/clocksource/clocksource0/current_clocksource"),
        started_at: Timestamp::now().to_string(),
        load_average: load_average(facts),
        pressure_io: pressure_io(facts),
        steal_share: steal_share(facts),
    }
}

/// Environment variables with a commit: ours, GitHub's and GitLab's.
const COMMIT_VARIABLES: [&str; 3] = ["SEEKSTONE_COMMIT", "GITHUB_SHA", "CI_COMMIT_SHA"];
/// Maximum length of a commit.
const COMMIT_CHARS_MAX: usize = 64;

/// The commit being built, if a build server provides it.
fn commit() -> Option<String> {
    let named = COMMIT_VARIABLES
        .iter()
        .find_map(|it| std::env::var(it).ok());
    let is_commit = |it: &String| {
        let mut letters = it.chars();
        (1..=COMMIT_CHARS_MAX).contains(&it.len())
            && letters.all(|it| it.is_ascii_alphanumeric() || "-_./".contains(it))
    };
    named.filter(is_commit)
}

/// A line `NAME : value` of `/proc/cpuinfo`.
fn cpu_line(facts: &SystemRoots, name: &str) -> Option<String> {
    let text = facts.proc_text("cpuinfo")?;
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    let mut named = lines.filter(|(key, _)| key.trim() == name);
    named.next().map(|(_, value)| value.trim().to_owned())
}

fn cpu_model(facts: &SystemRoots) -> Option<String> {
    ["model name", "Model", "cpu model", "cpu"]
        .iter()
        .find_map(|name| cpu_line(facts, name))
}

/// Counts a list of ranges such as `0-3,5`.
fn cpus_online(facts: &SystemRoots) -> u32 {
    let text = facts
        .sys_text("devices/system/cpu/online")
        .unwrap_or_default();
    let count = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (
            first.trim().parse::<u32>().ok()?,
            last.trim().parse::<u32>().ok()?,
        );
        last.checked_sub(first)?.checked_add(1)
    };
    let online: u32 = text.split(',').filter_map(count).sum();
    if online == 0 { cpus_allowed() } else { online }
}

fn cpus_allowed() -> u32 {
    let set = rustix::thread::sched_getaffinity(None);
    set.map_or(1, |set| set.count().max(1))
}

/// A hypervisor sets a processor flag, and firmware tables name it. The tables alone are no proof,
/// since some clouds sell bare metal under the same name.
fn virtualised(facts: &SystemRoots) -> Option<String> {
    if let Some(kind) = facts.sys_text("hypervisor/type") {
        return Some(kind);
    }
    let named = ["sys_vendor", "product_name"]
        .iter()
        .filter_map(|file| facts.sys_text(&format!("class/dmi/id/{file}")))
        .collect::<Vec<String>>()
        .join(" ");
    let makers = [
        "QEMU",
        "KVM",
        "VMware",
        "VirtualBox",
        "Virtual Machine",
        "Xen",
        "Bochs",
    ];
    match cpu_line(facts, "flags") {
        Some(flags) if !flags.split_whitespace().any(|flag| flag == "hypervisor") => None,
        Some(_) if named.is_empty() => Some("virtual machine".to_owned()),
        Some(_) => Some(named),
        // Only x86 has such a flag.
        None => makers
            .iter()
            .any(|maker| named.contains(maker))
            .then_some(named),
    }
}

fn load_average(facts: &SystemRoots) -> Option<[f64; 3]> {
    let text = facts.proc_text("loadavg")?;
    let mut values = text.split_whitespace().map(str::parse::<f64>);
    let mut next = || values.next()?.ok();
    Some([next()?, next()?, next()?])
}

fn pressure_io(facts: &SystemRoots) -> Option<Pressure> {
    let text = facts.proc_text("pressure/io")?;
    let average = |kind: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(kind))?;
        let words = line.split_whitespace();
        words
            .filter_map(|word| word.strip_prefix("avg10="))
            .next()?
            .parse::<f64>()
            .ok()
    };
    Some(Pressure {
        some_percent: average("some")?,
        full_percent: average("full")?,
    })
}

/// Steal share from the first line of `/proc/stat`. Guest time is left out, since user time
/// includes it.
fn steal_share(facts: &SystemRoots) -> Option<f64> {
    let text = facts.proc_text("stat")?;
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line
        .split_whitespace()
        .take(8)
        .map_while(|t| t.parse().ok())
        .collect();
    let total: u64 = ticks.iter().sum();
    (total > 0).then_some(*ticks.get(7)? as f64 / total as f64)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, SystemRoots) {
        let top = tempfile::tempdir().expect("a temporary directory");
        for (path, text) in files {
            let path = top.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, text).expect("a file");
        }
        let facts = SystemRoots {
            proc: top.path().join("proc"),
            sys: top.path().join("sys"),
        };
        (top, facts)
    }

    #[test]
    fn an_empty_tree_gives_no_facts_and_no_failure() {
        let (_top, facts) = tree(&[]);
        let found = capture_from(&facts);
        assert_eq!(found.memory_total_bytes, None);
        assert_eq!(found.virtualised, None);
        assert_eq!(found.steal_share, None);
        assert!(found.cpus_online >= 1);
    }

    #[test]
    fn facts_of_a_virtual_machine_are_read() {
        let (_top, facts) = tree(&[
            (
                "proc/cpuinfo",
                "processor : 0\nmodel name\t: Some CPU\nflags\t\t: fpu hypervisor\n",
            ),
            (
                "proc/meminfo",
                "MemTotal: 2048 kB\nMemAvailable: 1024 kB\nSwapTotal: 0 kB\n",
            ),
            ("proc/loadavg", "0.12 1.5 2.25 1/86 5129\n"),
            (
                "proc/pressure/io",
                "some avg10=7.50 avg60=0.05 avg300=0.1 total=3\nfull avg10=1.25 avg60=0 total=3\n",
            ),
            ("proc/stat", "cpu  50 0 30 10 0 0 0 10 40 0\ncpu0 1 2\n"),
            ("sys/devices/system/cpu/online", "0-3,5\n"),
            ("sys/class/dmi/id/sys_vendor", "QEMU\n"),
        ]);
        let found = capture_from(&facts);
        assert_eq!(found.cpu_model.as_deref(), Some("Some CPU"));
        assert_eq!(found.virtualised.as_deref(), Some("QEMU"));
        assert_eq!(found.memory_total_bytes, Some(2048 * 1024));
        assert_eq!(found.cpus_online, 5);
        assert_eq!(found.load_average, Some([0.12, 1.5, 2.25]));
        assert_eq!(found.steal_share, Some(0.1));
        let pressure = Pressure {
            some_percent: 7.5,
            full_percent: 1.25,
        };
        assert_eq!(found.pressure_io, Some(pressure));
    }

    #[test]
    fn limits_of_both_kinds_of_control_group_are_found() {
        let first = "1 0 0:1 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                     2 0 0:2 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n";
        let (_top, facts) = tree(&[
            ("proc/self/mountinfo", first),
            (
                "proc/self/cgroup",
                "4:memory:/a/b\n1:cpu,cpuacct:/a\n0::/\n",
            ),
            (
                "sys/fs/cgroup/memory/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
            ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1048576\n"),
            (
                "sys/fs/cgroup/memory/a/b/memory.limit_in_bytes",
                "2097152\n",
            ),
            ("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "150000\n"),
            ("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"),
        ]);
        let found = capture_from(&facts);
        assert_eq!(found.memory_limit_bytes, Some(1_048_576));
        assert_eq!(found.cpu_limit, Some(1.5));

        // A container sees its own group as the root of the mount.
        let second = "1 0 0:1 /pod/box /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let (_top, facts) = tree(&[
            ("proc/self/mountinfo", second),
            ("proc/self/cgroup", "0::/pod/box/inner\n"),
            ("sys/fs/cgroup/memory.max", "4096000\n"),
            ("sys/fs/cgroup/inner/memory.max", "max\n"),
            ("sys/fs/cgroup/inner/cpu.max", "max 100000\n"),
        ]);
        let found = capture_from(&facts);
        assert_eq!(found.memory_limit_bytes, Some(4_096_000));
        assert_eq!(found.cpu_limit, None);
    }
}
