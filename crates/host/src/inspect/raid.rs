//! State of the RAID below a target: md, btrfs and ZFS.

use std::fs;
use std::path::{Path, PathBuf};

use results::environment::{BlockDevice, RaidActivity, RaidState};

use super::facts::{self, SystemRoots};
use super::mounts::Mount;

/// The RAID in the worst state below a target: the file system itself, or an md device in the
/// stack.
pub(crate) fn state(
    facts: &SystemRoots,
    mount: Option<&Mount>,
    devices: &[BlockDevice],
) -> Option<RaidState> {
    let of_file_system = mount.and_then(|mount| match mount.kind.as_str() {
        "btrfs" => btrfs(facts, devices),
        "zfs" => zfs(facts, &mount.source),
        _ => None,
    });
    let md = devices
        .iter()
        .filter(|device| device.transport.as_deref() == Some("md"));
    let arrays = md.filter_map(|device| md_state(facts, &device.name));
    of_file_system
        .into_iter()
        .chain(arrays)
        .max_by_key(|raid| gravity(&raid.state))
}

fn gravity(activity: &RaidActivity) -> u8 {
    match activity {
        RaidActivity::Normal => 0,
        RaidActivity::Checking { .. } => 1,
        RaidActivity::Degraded => 2,
        RaidActivity::Replacing => 3,
        RaidActivity::Rebuilding { .. } => 4,
    }
}

/// md from `/proc/mdstat`, completed from sysfs. A pure stripe set has no state.
pub(crate) fn md_state(facts: &SystemRoots, name: &str) -> Option<RaidState> {
    let text = facts.proc_text("mdstat").unwrap_or_default();
    let own = facts.sys.join("class/block").join(name).join("md");
    let entry = mdstat_entry(&text, name);
    let level = facts::text(&own.join("level")).or_else(|| entry.level())?;
    let (members, present) = entry.members().unzip();
    let members =
        members.or_else(|| facts::number(&own.join("raid_disks")).and_then(|n| n.try_into().ok()));
    let degraded = facts::number(&own.join("degraded")).and_then(|n| n.try_into().ok());
    let missing = degraded.or_else(|| Some(members?.saturating_sub(present?)));
    let idle = if missing.unwrap_or(0) > 0 {
        RaidActivity::Degraded
    } else {
        RaidActivity::Normal
    };
    Some(RaidState {
        kind: "md".to_owned(),
        level: Some(level),
        members,
        missing,
        state: entry.activity().unwrap_or(idle),
        source: format!("/proc/mdstat ({name})"),
    })
}

/// The lines of one array.
struct MdEntry<'a>(Vec<&'a str>);

fn mdstat_entry<'a>(text: &'a str, name: &str) -> MdEntry<'a> {
    let is_ours = |line: &&str| line.split_whitespace().next() == Some(name);
    let mut lines = text.lines().skip_while(|line| !is_ours(line));
    let head = lines.next();
    let rest = lines.take_while(|line| line.starts_with(' '));
    MdEntry(head.into_iter().chain(rest).collect())
}

impl MdEntry<'_> {
    /// The word after `active` and an optional remark in parentheses.
    fn level(&self) -> Option<String> {
        let words = self.0.first()?.split_whitespace();
        let mut words = words.skip_while(|word| *word != "active").skip(1);
        words.find(|word| !word.starts_with('(')).map(str::to_owned)
    }

    /// `[3/2]`: configured and present members.
    fn members(&self) -> Option<(u32, u32)> {
        let words = self
            .0
            .iter()
            .skip(1)
            .flat_map(|line| line.split_whitespace());
        let inside = words.filter_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
        inside
            .filter_map(|word| word.split_once('/'))
            .find_map(|(wanted, present)| Some((wanted.parse().ok()?, present.parse().ok()?)))
    }

    /// `recovery = 12.6% (…)`, or `resync=DELAYED`.
    fn activity(&self) -> Option<RaidActivity> {
        self.0.iter().skip(1).find_map(|line| {
            let kinds = ["recovery", "resync", "reshape", "check"];
            let (kind, rest) = kinds.iter().find_map(|kind| {
                let (_, rest) = line.split_once(kind)?;
                Some((*kind, rest.trim_start().strip_prefix('=')?.trim_start()))
            })?;
            let percent = rest
                .split_once('%')
                .and_then(|(number, _)| number.parse().ok());
            Some(match kind {
                "check" => RaidActivity::Checking { percent },
                _ => RaidActivity::Rebuilding { percent },
            })
        })
    }
}

/// Directory below `/sys/fs/btrfs` of the file system with the device `name`.
fn btrfs_directory(facts: &SystemRoots, name: &str) -> Option<PathBuf> {
    let top = facts.sys.join("fs/btrfs");
    let directories = facts::names(&top).into_iter().map(|uuid| top.join(uuid));
    // A missing device of one file system may have left a dangling link in `devices`.
    directories
        .into_iter()
        .find(|path| fs::symlink_metadata(path.join("devices").join(name)).is_ok())
}

/// Kernel names of all devices of the btrfs file system with the device `name`.
pub(crate) fn btrfs_devices(facts: &SystemRoots, name: &str) -> Option<Vec<String>> {
    let names = facts::names(&btrfs_directory(facts, name)?.join("devices"));
    (!names.is_empty()).then_some(names)
}

fn btrfs(facts: &SystemRoots, devices: &[BlockDevice]) -> Option<RaidState> {
    let directory = devices
        .iter()
        .find_map(|device| btrfs_directory(facts, &device.name))?;
    let members = facts::names(&directory.join("devinfo"));
    let is_missing = |id: &&String| {
        facts::flag(&directory.join("devinfo").join(id).join("missing")) == Some(true)
    };
    let missing = u32::try_from(members.iter().filter(is_missing).count()).ok()?;
    let count = u32::try_from(members.len()).ok()?;
    if count < 2 {
        return None;
    }
    let operation = facts::text(&directory.join("exclusive_operation")).unwrap_or_default();
    let state = match operation.as_str() {
        "device replace" => RaidActivity::Replacing,
        "balance" | "device remove" => RaidActivity::Rebuilding { percent: None },
        _ if missing > 0 => RaidActivity::Degraded,
        _ => RaidActivity::Normal,
    };
    Some(RaidState {
        kind: "btrfs".to_owned(),
        level: btrfs_level(&directory),
        members: Some(count),
        missing: Some(missing),
        state,
        source: format!("/sys/fs/btrfs/{}", directory.file_name()?.to_string_lossy()),
    })
}

/// Data profiles; several after an incomplete conversion.
fn btrfs_level(directory: &Path) -> Option<String> {
    let data = directory.join("allocation/data");
    let total = |name: &String| facts::number(&data.join(name).join("total_bytes")).unwrap_or(0);
    let profiles: Vec<String> = facts::names(&data)
        .into_iter()
        .filter(|name| total(name) > 0)
        .collect();
    (!profiles.is_empty()).then(|| profiles.join(" + "))
}

fn zfs(facts: &SystemRoots, source: &str) -> Option<RaidState> {
    let pool = source.split('/').next()?;
    let text = facts.proc_text(&format!("spl/kstat/zfs/{pool}/state"))?;
    let state = if text == "ONLINE" {
        RaidActivity::Normal
    } else {
        RaidActivity::Degraded
    };
    Some(RaidState {
        kind: "zfs".to_owned(),
        level: None,
        members: None,
        missing: None,
        state,
        source: format!("/proc/spl/kstat/zfs/{pool}/state ({text})"),
    })
}
