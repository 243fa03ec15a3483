//! Limits of control groups on this process, in version 1 and version 2 hierarchies.
//!
//! See the kernel's `admin-guide/cgroup-v1` and `admin-guide/cgroup-v2`.

use std::path::{Path, PathBuf};

use results::environment::Throttle;

use super::facts::{self, SystemRoots};
use super::mounts::Mount;

/// Version 1 limits from here on mean "no limit": the kernel shows a rounded `i64::MAX`.
const NO_LIMIT_FROM: u64 = 1 << 60;

/// Directories of this process's groups, from its own up to the root.
#[derive(Clone, Debug, Default)]
struct Groups(Vec<PathBuf>);

/// The groups of one version 1 controller.
fn version_1(facts: &SystemRoots, mounts: &[Mount], controller: &str) -> Groups {
    let mounted = mounts
        .iter()
        .find(|m| m.kind == "cgroup" && m.super_options.iter().any(|option| option == controller));
    own_path(facts, |names| {
        names.split(',').any(|name| name == controller)
    })
    .zip(mounted)
    .map_or_else(Groups::default, |(own, mount)| climb(facts, mount, &own))
}

/// The groups of the version 2 hierarchy.
fn version_2(facts: &SystemRoots, mounts: &[Mount]) -> Groups {
    own_path(facts, str::is_empty)
        .zip(mounts.iter().find(|mount| mount.kind == "cgroup2"))
        .map_or_else(Groups::default, |(own, mount)| climb(facts, mount, &own))
}

/// This process's path in the hierarchy whose controllers satisfy `wanted`.
fn own_path(facts: &SystemRoots, wanted: impl Fn(&str) -> bool) -> Option<PathBuf> {
    let table = facts.proc_text("self/cgroup")?;
    table.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        wanted(controllers).then(|| PathBuf::from(path))
    })
}

/// In a container the path may point outside the mount. Then only the mounted root counts.
fn climb(facts: &SystemRoots, mount: &Mount, own: &Path) -> Groups {
    let top = facts.place(&mount.point);
    let below = own.strip_prefix(&mount.root).unwrap_or(Path::new(""));
    let start = top.join(below.strip_prefix("/").unwrap_or(below));
    let start = if start.is_dir() { start } else { top.clone() };
    let groups = start
        .ancestors()
        .take_while(|group| group.starts_with(&top));
    Groups(groups.map(Path::to_path_buf).collect())
}

/// Smallest memory limit in bytes, and the usage that cannot be reclaimed.
pub(crate) fn memory_limit(facts: &SystemRoots, mounts: &[Mount]) -> Option<(u64, u64)> {
    let first = memory_of(&version_2(facts, mounts), "memory.max", "memory.current");
    let second = memory_of(
        &version_1(facts, mounts, "memory"),
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
    );
    first
        .into_iter()
        .chain(second)
        .min_by_key(|(limit, _)| *limit)
}

fn memory_of(groups: &Groups, limit: &str, usage: &str) -> Option<(u64, u64)> {
    let limits = groups.0.iter().filter_map(|group| {
        let limit = facts::number(&group.join(limit)).filter(|limit| *limit < NO_LIMIT_FROM)?;
        let used = facts::number(&group.join(usage)).unwrap_or(0);
        Some((limit, used.saturating_sub(file_pages(group))))
    });
    limits.min_by_key(|(limit, _)| *limit)
}

/// Bytes of file pages in a group, which the kernel can reclaim.
fn file_pages(group: &Path) -> u64 {
    let table = facts::text(&group.join("memory.stat")).unwrap_or_default();
    let value = |name: &str| {
        table.lines().find_map(|line| {
            line.strip_prefix(name)?
                .strip_prefix(' ')?
                .trim()
                .parse::<u64>()
                .ok()
        })
    };
    let sum = |prefix: &str| {
        let active = value(&format!("{prefix}active_file"));
        let inactive = value(&format!("{prefix}inactive_file"));
        active
            .zip(inactive)
            .map(|(active, inactive)| active.saturating_add(inactive))
    };
    // Version 1 lists the group alone first, and with its children as `total_`.
    sum("total_").or_else(|| sum("")).unwrap_or(0)
}

/// The tightest limit on threads, and the current number.
pub(crate) fn threads_limit(facts: &SystemRoots, mounts: &[Mount]) -> Option<(u64, u64)> {
    let second = version_2(facts, mounts).0.into_iter();
    let groups = second.chain(version_1(facts, mounts, "pids").0);
    let limits = groups.filter_map(|group| {
        let limit = facts::number(&group.join("pids.max"))?;
        let used = facts::number(&group.join("pids.current"))?;
        Some((limit, used))
    });
    limits.min_by_key(|(limit, used)| limit.saturating_sub(*used))
}

/// CPU time allowed by the groups, in processors.
pub(crate) fn cpu_limit(facts: &SystemRoots, mounts: &[Mount]) -> Option<f64> {
    let second = version_2(facts, mounts).0.into_iter().filter_map(|group| {
        let text = facts::text(&group.join("cpu.max"))?;
        let (quota, period) = text.split_once(' ')?;
        Some((
            quota.parse::<f64>().ok()?,
            period.trim().parse::<f64>().ok()?,
        ))
    });
    let first = version_1(facts, mounts, "cpu")
        .0
        .into_iter()
        .filter_map(|group| {
            let quota = facts::text(&group.join("cpu.cfs_quota_us"))?
                .parse::<f64>()
                .ok()?;
            Some((
                quota,
                facts::number(&group.join("cpu.cfs_period_us"))? as f64,
            ))
        });
    let limits = second
        .chain(first)
        .filter(|(quota, period)| *quota > 0.0 && *period > 0.0);
    limits
        .map(|(quota, period)| quota / period)
        .min_by(f64::total_cmp)
}

/// Limits on this process's I/O to the device `number` (`major:minor`).
pub(crate) fn throttle(facts: &SystemRoots, mounts: &[Mount], number: &str) -> Option<Throttle> {
    let first = throttle_version_1(&version_1(facts, mounts, "blkio"), number);
    first.or_else(|| throttle_version_2(&version_2(facts, mounts), number))
}

/// In version 1, limits of parents and children do not combine: a group's own rules apply to its
/// processes. Those of the root apply to write-back, and are used if there are no others.
fn throttle_version_1(groups: &Groups, number: &str) -> Option<Throttle> {
    let rule = |group: &Path, name: &str| {
        let table = facts::text(&group.join(format!("blkio.throttle.{name}_device")))?;
        table.lines().find_map(|line| {
            let (device, value) = line.split_once(' ')?;
            (device == number).then(|| value.trim().parse::<u64>().ok())?
        })
    };
    let (own, root) = (groups.0.first()?, groups.0.last()?);
    [own, root].into_iter().find_map(|group| {
        let throttle = Throttle {
            read_bytes_per_second: rule(group, "read_bps"),
            write_bytes_per_second: rule(group, "write_bps"),
            read_operations_per_second: rule(group, "read_iops"),
            write_operations_per_second: rule(group, "write_iops"),
            group: group.display().to_string(),
        };
        is_limiting(&throttle).then_some(throttle)
    })
}

/// In version 2, the rules of every group up to the root apply, so the smallest value counts.
fn throttle_version_2(groups: &Groups, number: &str) -> Option<Throttle> {
    let mut throttle = Throttle::default();
    for group in &groups.0 {
        let table = facts::text(&group.join("io.max")).unwrap_or_default();
        let rules = table.lines().filter_map(|line| line.split_once(' '));
        for (_, rules) in rules.filter(|(device, _)| *device == number) {
            tighten(&mut throttle, group, rules);
        }
    }
    is_limiting(&throttle).then_some(throttle)
}

fn tighten(throttle: &mut Throttle, group: &Path, rules: &str) {
    for (name, value) in rules
        .split_whitespace()
        .filter_map(|rule| rule.split_once('='))
    {
        let slot = match name {
            "rbps" => &mut throttle.read_bytes_per_second,
            "wbps" => &mut throttle.write_bytes_per_second,
            "riops" => &mut throttle.read_operations_per_second,
            "wiops" => &mut throttle.write_operations_per_second,
            _ => continue,
        };
        let Ok(value) = value.parse::<u64>() else {
            continue;
        };
        if slot.is_none_or(|known| value < known) {
            *slot = Some(value);
            throttle.group = group.display().to_string();
        }
    }
}

fn is_limiting(throttle: &Throttle) -> bool {
    throttle.read_bytes_per_second.is_some()
        || throttle.write_bytes_per_second.is_some()
        || throttle.read_operations_per_second.is_some()
        || throttle.write_operations_per_second.is_some()
}
