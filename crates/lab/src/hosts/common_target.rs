//! What all hosts must have in common before a measurement.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use procedure::CheckUpFacts;
use results::environment::TargetKind;
use results::{Access, TargetDescription};
use serde::{Deserialize, Serialize};
use units::Bytes;

use super::ranks::{Ranks, TargetSharing};
use crate::bench::BenchError;

/// If a host has this many times the space for test files of another, they are reported to differ.
const ROOM_APART: u64 = 2;

/// A host's report on its target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetReport {
    kind: TargetKind,
    access: Access,
    file_system: Option<String>,
    source: Option<String>,
    path: String,
    is_remote: bool,
    /// The current boot of the machine, and the file's numbers on it.
    identity: Option<(String, u64, u64)>,
    /// Its device, and its mount options.
    device: Option<String>,
    options: Vec<String>,
    room: u64,
    /// Memory for page caches, bytes.
    memory: u64,
    existing: Option<u64>,
}

/// What all hosts can do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommonTarget {
    room: u64,
    memory: u64,
    existing: Option<u64>,
    /// Harmless differences between hosts, a sentence each.
    pub differences: Vec<String>,
}

impl TargetReport {
    /// The report of this host.
    pub fn of(target: &TargetDescription, facts: &CheckUpFacts) -> Self {
        Self {
            existing: facts.existing.map(|size| size.0),
            memory: facts.memory.0,
            ..Self::by_calls(target, facts.access, facts.room.0)
        }
    }

    /// The report of this host for a target not opened for trials, with that much space.
    pub fn by_calls(target: &TargetDescription, access: Access, room: u64) -> Self {
        let file_system = target.file_system.as_ref();
        Self {
            kind: target.kind,
            access,
            file_system: file_system.map(|it| it.kind.clone()),
            source: file_system.map(|it| it.source.clone()),
            path: target.path.clone(),
            is_remote: target.remote,
            identity: identity(Path::new(&target.path)),
            device: target.devices.first().map(|it| it.name.clone()),
            options: file_system.map_or_else(Vec::new, |it| it.options.clone()),
            room,
            memory: 0,
            existing: None,
        }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Whether two hosts' files take space from one file system.
    pub(super) fn shares_space_with(&self, other: &Self) -> bool {
        let device = |it: &Self| Some((it.identity.as_ref()?.0.clone(), it.identity.as_ref()?.1));
        let is_same_here = device(self).is_some() && device(self) == device(other);
        let is_same_there = self.is_remote && other.is_remote && self.source == other.source;
        is_same_here || is_same_there
    }

    fn shares_memory_with(&self, other: &Self) -> bool {
        let boot = |it: &Self| Some(it.identity.as_ref()?.0.clone());
        boot(self).is_some() && boot(self) == boot(other)
    }

    /// Whether two hosts see the same file or device.
    fn is_same_as(&self, other: &Self) -> bool {
        let is_same_here = self.identity.is_some() && self.identity == other.identity;
        let is_same_there =
            self.is_remote && self.source == other.source && self.path == other.path;
        is_same_here || is_same_there
    }
}

/// The boot id of this machine, and the file's numbers on it.
fn identity(path: &Path) -> Option<(String, u64, u64)> {
    let boot = boot_of_this_machine()?;
    let found = std::fs::metadata(path).ok()?;
    let device = match found.rdev() {
        0 => found.dev(),
        device => device,
    };
    let number = if found.rdev() == 0 { found.ino() } else { 0 };
    Some((boot, device, number))
}

/// An id unique to this boot of this machine. Ranks in containers on one machine have different
/// names, but share its devices.
pub(super) fn boot_of_this_machine() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(boot.trim().to_owned())
}

impl CommonTarget {
    /// What all hosts can do, from their reports.
    ///
    /// # Errors
    /// If the targets must not be measured together.
    pub fn of(all: &[TargetReport], ranks: &Ranks) -> Result<Self, BenchError> {
        let first = &all[0];
        for (rank, seen) in (0..).zip(all).skip(1) {
            let name = ranks.name(rank);
            let both = [
                (
                    "kind of target",
                    format!("{:?}", seen.kind),
                    format!("{:?}", first.kind),
                ),
                (
                    "file system",
                    or_none(&seen.file_system),
                    or_none(&first.file_system),
                ),
                (
                    "way to it",
                    format!("{:?}", seen.access),
                    format!("{:?}", first.access),
                ),
            ];
            for (what, here, there) in both {
                if here != there {
                    return Err(BenchError::Usage(format!(
                        "{name}: the {what} of {} is {here}, and {there} on {}. Measure the same \
                         on all hosts",
                        seen.path,
                        ranks.name(0)
                    )));
                }
            }
            if seen.is_remote && seen.source != first.source {
                return Err(BenchError::Usage(format!(
                    "{name}: {} is mounted from {}, and from {} on {}. Mount the same everywhere",
                    seen.path,
                    or_none(&seen.source),
                    or_none(&first.source),
                    ranks.name(0)
                )));
            }
        }
        if ranks.sharing() != TargetSharing::Shared && first.kind != TargetKind::Directory {
            refuse_one_file(all, ranks)?;
        }
        Ok(Self {
            room: least_share(
                all,
                first.existing,
                |it| it.room,
                TargetReport::shares_space_with,
            ),
            memory: least_share(all, None, |it| it.memory, TargetReport::shares_memory_with),
            existing: all.iter().map(|it| it.existing).min().flatten(),
            differences: differences(all, ranks),
        })
    }

    /// Checks that all ranks can create files of that size.
    ///
    /// # Errors
    /// If there is no space for them.
    pub fn holds(&self, size: Option<Bytes>) -> Result<(), BenchError> {
        match size {
            Some(size) if self.existing.is_none() && size.0 > self.room => {
                Err(BenchError::Usage(format!(
                    "--size {size}: each rank creates its own file, and ranks that share a file \
                     system have space for {} each. Use at most that, or start fewer ranks",
                    Bytes(self.room)
                )))
            }
            _ => Ok(()),
        }
    }

    /// Applies the common minimum to this host's facts.
    pub fn apply(&self, facts: &mut CheckUpFacts) {
        facts.room = Bytes(self.room);
        facts.memory = Bytes(self.memory);
        facts.existing = self.existing.map(Bytes);
    }
}

/// The smallest amount of something that a rank has. Ranks that share it get equal parts; existing
/// files are shared as they are.
fn least_share(
    all: &[TargetReport],
    existing: Option<u64>,
    amount: fn(&TargetReport) -> u64,
    shares: fn(&TargetReport, &TargetReport) -> bool,
) -> u64 {
    let part = |seen: &TargetReport| {
        let sharers = all.iter().filter(|it| shares(it, seen)).count().max(1);
        match existing {
            Some(_) => amount(seen),
            None => amount(seen) / sharers as u64,
        }
    };
    all.iter().map(part).min().unwrap_or(0)
}

fn or_none(text: &Option<String>) -> String {
    text.clone().unwrap_or_else(|| "none".into())
}

/// Several ranks on one file would be counted as several files.
fn refuse_one_file(all: &[TargetReport], ranks: &Ranks) -> Result<(), BenchError> {
    for (rank, seen) in (0..).zip(all) {
        let earlier = (0..).zip(&all[..rank as usize]);
        if let Some((other, _)) = earlier.into_iter().find(|(_, it)| it.is_same_as(seen)) {
            let advice = match ranks.sharing() {
                TargetSharing::Never => "Name",
                _ => "Add --shared if you want to measure that, or name",
            };
            return Err(BenchError::Usage(format!(
                "{}: {} and {} would use the same file or device. {advice} a directory, where each \
                 rank creates its own file",
                seen.path,
                ranks.name(other),
                ranks.name(rank)
            )));
        }
    }
    Ok(())
}

/// Harmless differences between hosts: for each kind, the first host that has it, and how many
/// more.
fn differences(all: &[TargetReport], ranks: &Ranks) -> Vec<String> {
    let kinds = [size_differs, device_differs, options_differ, room_differs];
    let of_kind = |differs: fn(&TargetReport, &TargetReport) -> Option<HostDifference>| {
        let others = (0..).zip(all).skip(1);
        let found = others.filter_map(|(rank, it)| Some((rank, differs(it, &all[0])?)));
        let found: Vec<(u32, HostDifference)> = found.collect();
        let (rank, first) = found.first()?;
        let HostDifference {
            what,
            here,
            there,
            then,
        } = first;
        let more = match found.len() - 1 {
            0 => String::new(),
            1 => " (1 more rank differs)".to_owned(),
            more => format!(" ({more} more ranks differ)"),
        };
        Some(format!(
            "{what} {here} on {}, and {there} on {}{more}{then}.",
            ranks.name(*rank),
            ranks.name(0)
        ))
    };
    kinds.into_iter().filter_map(of_kind).collect()
}

/// A property of a host that differs from rank 0.
struct HostDifference {
    what: &'static str,
    here: String,
    there: String,
    /// Its consequence.
    then: &'static str,
}

fn size_differs(seen: &TargetReport, first: &TargetReport) -> Option<HostDifference> {
    let (here, there) = (seen.existing?, first.existing?);
    (here != there).then(|| HostDifference {
        what: "The target has",
        here: Bytes(here).to_string(),
        there: Bytes(there).to_string(),
        then: ": the smallest size is used",
    })
}

fn device_differs(seen: &TargetReport, first: &TargetReport) -> Option<HostDifference> {
    let (here, there) = (seen.device.clone()?, first.device.clone()?);
    let differs = here != there && !seen.is_remote;
    differs.then_some(HostDifference {
        what: "The target is on",
        here,
        there,
        then: ": results of all ranks are sums over different devices",
    })
}

fn options_differ(seen: &TargetReport, first: &TargetReport) -> Option<HostDifference> {
    let only = |one: &TargetReport, other: &TargetReport| {
        let own = one.options.iter().filter(|it| !other.options.contains(it));
        match own.cloned().collect::<Vec<String>>().join(",") {
            none if none.is_empty() => "without these options".to_owned(),
            own => format!("with {own}"),
        }
    };
    // Each client of a network file system has its own addresses among the options.
    let is_same = seen.options == first.options || seen.is_remote;
    (!is_same).then(|| HostDifference {
        what: "The file system is mounted",
        here: only(seen, first),
        there: only(first, seen),
        then: "",
    })
}

fn room_differs(seen: &TargetReport, first: &TargetReport) -> Option<HostDifference> {
    let (least, most) = (seen.room.min(first.room), seen.room.max(first.room));
    let differs = least.saturating_mul(ROOM_APART) < most;
    let is_apart = !seen.shares_space_with(first) && first.existing.is_none();
    (differs && is_apart).then(|| HostDifference {
        what: "Test files may take",
        here: Bytes(seen.room).to_string(),
        there: Bytes(first.room).to_string(),
        then: ": all are as large as the least space allows",
    })
}

#[cfg(test)]
mod tests {
    use crate::hosts::virtual_fleet::{HostClock, Latency, VirtualFleet};
    use units::Duration;

    use super::*;

    fn seen() -> TargetReport {
        TargetReport {
            kind: TargetKind::Directory,
            access: Access::Direct,
            file_system: Some("nfs4".into()),
            source: Some("server:/export".into()),
            path: "/mnt/data".into(),
            is_remote: true,
            identity: Some(("boot".into(), 1, 2)),
            device: None,
            options: Vec::new(),
            room: 1000,
            memory: 800,
            existing: None,
        }
    }

    fn judged(all: &[TargetReport], sharing: TargetSharing) -> Result<CommonTarget, String> {
        let latency = Latency {
            least: Duration::ZERO,
            more: Duration::ZERO,
        };
        let fleet = VirtualFleet::new(HostClock::default(), latency, 1);
        let ranks = Ranks::new(Box::new(fleet), sharing);
        CommonTarget::of(all, &ranks).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn check_refused(other: TargetReport, expected: &str) {
        let error = judged(&[seen(), other], TargetSharing::Separate).expect_err("they differ");
        assert_eq!(error, expected);
    }

    #[test]
    fn the_least_room_of_all_hosts_is_what_a_test_file_may_take() {
        let small = TargetReport {
            room: 10,
            ..apart("b")
        };
        let common =
            judged(&[apart("a"), small, apart("c")], TargetSharing::Separate).expect("directories");
        assert_eq!((common.room, common.existing), (10, None));
        assert_eq!(common.memory, 800);
    }

    /// A directory on its own file system and machine.
    fn apart(machine: &str) -> TargetReport {
        TargetReport {
            file_system: Some("ext4".into()),
            source: Some("/dev/sda1".into()),
            identity: Some((machine.into(), 1, 2)),
            is_remote: false,
            ..seen()
        }
    }

    /// Four ranks with files of 300 would fill a disk with space for 1000.
    #[test]
    fn ranks_that_share_a_file_system_share_its_space() {
        let remote =
            judged(&[seen(), seen(), seen(), seen()], TargetSharing::Separate).expect("one export");
        assert_eq!((remote.room, remote.memory), (250, 200));
        assert!(remote.holds(Some(Bytes(250))).is_ok());
        assert!(remote.holds(None).is_ok());
        let error = remote.holds(Some(Bytes(300))).expect_err("too large");
        assert!(error.is_usage(), "{error}");
        let local = judged(
            &[apart("a"), apart("a"), apart("b")],
            TargetSharing::Separate,
        )
        .expect("two disks");
        assert_eq!((local.room, local.memory), (500, 400));
    }

    #[test]
    fn hosts_that_do_not_see_the_same_are_named() {
        check_refused(
            TargetReport {
                source: Some("other:/export".into()),
                ..seen()
            },
            "rank 1: /mnt/data is mounted from other:/export, and from server:/export on rank 0. \
             Mount the same everywhere",
        );
        check_refused(
            TargetReport {
                file_system: Some("ext4".into()),
                ..seen()
            },
            "rank 1: the file system of /mnt/data is ext4, and nfs4 on rank 0. Measure the same on \
             all hosts",
        );
        check_refused(
            TargetReport {
                access: Access::Buffered,
                ..seen()
            },
            "rank 1: the way to it of /mnt/data is Buffered, and Direct on rank 0. Measure the \
             same on all hosts",
        );
    }

    /// Bug: two devices were added up as one target without a note.
    #[test]
    fn hosts_with_other_devices_options_and_space_are_named() {
        let other = TargetReport {
            device: Some("loop1".into()),
            options: vec!["rw".into(), "noatime".into()],
            room: 100,
            ..apart("b")
        };
        let first = TargetReport {
            device: Some("vda".into()),
            options: vec!["rw".into()],
            ..apart("a")
        };
        let common =
            judged(&[first, other.clone(), other], TargetSharing::Separate).expect("directories");
        let expected = [
            "The target is on loop1 on rank 1, and vda on rank 0 (1 more rank differs): results of \
             all ranks are sums over different devices.",
            "The file system is mounted with noatime on rank 1, and without these options on rank \
             0 (1 more rank differs).",
            "Test files may take 100 B on rank 1, and 1,000 B on rank 0 (1 more rank differs): all \
             are as large as the least space allows.",
        ];
        assert_eq!(common.differences, expected);
    }

    #[test]
    fn one_file_for_two_ranks_must_be_asked_for() {
        let file = |inode, is_remote, size| TargetReport {
            kind: TargetKind::File,
            identity: Some(("boot".into(), 1, inode)),
            is_remote,
            existing: Some(size),
            ..seen()
        };
        let same = [file(7, false, 50), file(8, false, 50), file(7, false, 50)];
        let error =
            judged(&same, TargetSharing::Separate).expect_err("rank 2 has the file of rank 0");
        assert!(
            error.starts_with("/mnt/data: rank 0 and rank 2 would use the same file"),
            "{error}"
        );
        // Bug: `wal FILE` named an option that it does not have.
        let error = judged(&same, TargetSharing::Never).expect_err("the same");
        assert!(!error.contains("--shared"), "{error}");
        assert!(judged(&same, TargetSharing::Shared).is_ok());
        let remote = [file(7, true, 50), file(8, true, 50)];
        assert!(judged(&remote, TargetSharing::Separate).is_err());
        let apart = [file(7, false, 50), file(8, false, 40)];
        let common = judged(&apart, TargetSharing::Separate).expect("two files");
        assert_eq!(common.existing, Some(40));
        assert_eq!(common.differences.len(), 1);
    }
}
