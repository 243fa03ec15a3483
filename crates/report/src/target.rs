//! What a target stands on, in a few words or in full.

use std::fmt::Display;

use results::TargetDescription;
use results::environment::{BlockDevice, FileSystem, RaidActivity, RaidState, TargetKind};
use units::Bytes;

/// What a model is called.
const SIMULATED: &str = "a simulated device, in virtual time";

/// What is known, with words before and behind it.
pub(crate) fn with(before: &str, fact: Option<impl Display>, behind: &str) -> Option<String> {
    fact.map(|fact| format!("{before}{fact}{behind}"))
}

/// What is known, in one line.
pub(crate) fn joined(facts: impl IntoIterator<Item = Option<String>>) -> String {
    let known: Vec<String> = facts.into_iter().flatten().collect();
    known.join(", ")
}

/// File system, device and free space in one line.
pub(crate) fn in_brief(target: &TargetDescription) -> String {
    described(target, true)
}

/// The same without what rarely explains a number: the scheduler, and how much is free.
pub(crate) fn in_short(target: &TargetDescription) -> String {
    described(target, false)
}

fn described(target: &TargetDescription, is_brief: bool) -> String {
    if target.kind == TargetKind::Simulated {
        let is_null = target.path == "null:";
        let what = if is_null {
            "no storage: everything completes at once"
        } else {
            SIMULATED
        };
        return what.to_owned();
    }
    let mut text = match (&target.file_system, target.devices.first()) {
        (Some(file_system), Some(device)) => {
            format!("{} on {}", file_system.kind, of_device(device, is_brief))
        }
        (Some(file_system), None) => format!("{} from {}", file_system.kind, file_system.source),
        (None, Some(device)) => of_device(device, is_brief),
        (None, None) => kind(target.kind).to_owned(),
    };
    let sizes = [
        target
            .file_system
            .as_ref()
            .and_then(|fs| fs.available_bytes)
            .map(|free| (free, "free")),
        target.size_bytes.map(|size| (size, "long")),
    ];
    for (bytes, word) in sizes.into_iter().flatten().filter(|_| is_brief) {
        text.push_str(&format!(", {} {word}", Bytes(bytes)));
    }
    if target.memory_backed {
        text.push_str(", in main memory");
    }
    if target.remote {
        text.push_str(", on another machine");
    }
    if let Some(raid) = &target.raid {
        text.push_str(&format!(", {}", raid_in_brief(raid)));
    }
    text
}

/// The same with the options of its mount, which set two places of one device apart.
pub(crate) fn mounted(target: &TargetDescription) -> String {
    let options = target.file_system.as_ref().map(mount_options);
    let options = options.filter(|it| !it.is_empty());
    let options = options.map_or_else(String::new, |it| format!(", mounted {it}"));
    in_brief(target) + &options
}

/// All options in force: of the mount, and of the file system itself.
pub(crate) fn mount_options(file_system: &FileSystem) -> String {
    let mut options = file_system.options.clone();
    let more = file_system.super_options.iter();
    let more: Vec<_> = more.filter(|it| !options.contains(it)).cloned().collect();
    options.extend(more);
    options.join(",")
}

/// A device and the facts that explain most of its speed.
pub(crate) fn device_in_brief(device: &BlockDevice) -> String {
    of_device(device, true)
}

fn of_device(device: &BlockDevice, has_scheduler: bool) -> String {
    let rotational = device.rotational.map(|rotates| {
        if rotates {
            "rotational"
        } else {
            "non-rotational"
        }
    });
    let facts = joined([
        device.model.clone(),
        device.transport.clone(),
        device.mapping.clone(),
        rotational.map(str::to_owned),
        with(
            "scheduler ",
            device.scheduler.as_ref().filter(|_| has_scheduler),
            "",
        ),
        device.throttled.as_ref().map(|_| "throttled".to_owned()),
    ]);
    if facts.is_empty() {
        return device.name.clone();
    }
    format!("{} ({facts})", device.name)
}

/// What kind of thing a target is.
pub(crate) const fn kind(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Directory => "a directory",
        TargetKind::File => "a file",
        TargetKind::BlockDevice => "a block device",
        TargetKind::Simulated => "a simulated device",
        TargetKind::Bucket => "a bucket of an object store",
    }
}

/// A file system in full.
pub(crate) fn file_system_in_full(file_system: &FileSystem) -> String {
    let mut text = format!(
        "{} from {} at {}",
        file_system.kind, file_system.source, file_system.mount_point
    );
    if file_system.read_only {
        text.push_str(", read-only");
    }
    match (file_system.available_bytes, file_system.size_bytes) {
        (Some(free), Some(size)) => {
            text.push_str(&format!(", {} free of {}", Bytes(free), Bytes(size)));
        }
        (Some(free), None) => text.push_str(&format!(", {} free", Bytes(free))),
        (None, Some(size)) => text.push_str(&format!(", {}", Bytes(size))),
        (None, None) => {}
    }
    if let Some(files) = file_system.files_free {
        text.push_str(&format!(
            ", space for {} files",
            units::format_count(files as f64)
        ));
    }
    text
}

/// A RAID, its level and what it is doing.
pub(crate) fn raid_in_brief(raid: &RaidState) -> String {
    let mut text = raid.kind.clone();
    if let Some(level) = &raid.level {
        text.push_str(&format!(" {level}"));
    }
    if let Some(members) = raid.members {
        text.push_str(&format!(" of {members} members"));
    }
    if let Some(missing) = raid.missing.filter(|&missing| missing > 0) {
        text.push_str(&format!(", {missing} missing"));
    }
    format!("{text}, {}", activity(raid.state))
}

fn activity(state: RaidActivity) -> String {
    let with = |word: &str, percent: Option<f64>| match percent {
        Some(percent) => format!("{word} ({percent:.0} % done)"),
        None => word.to_owned(),
    };
    match state {
        RaidActivity::Normal => "normal".to_owned(),
        RaidActivity::Degraded => "degraded".to_owned(),
        RaidActivity::Rebuilding { percent } => with("rebuilding", percent),
        RaidActivity::Replacing => "replacing a member".to_owned(),
        RaidActivity::Checking { percent } => with("checking", percent),
    }
}
