//! Cautions about a file system, a file or the machine that can distort results.
//!
//! Each caution states the finding and what to do. Codes never change, since archived runs contain
//! them.

use results::environment::{Caution, Environment, TargetKind};
use results::{Severity, Warning, WarningCode};
use units::Bytes;

use super::Evidence;
use super::mounts::Mount;
use super::{FetchAccount, Uncounted, has_word};

const KIB: u64 = 1 << 10;
const GIB: u64 = 1 << 30;
/// I/O pressure, in percent of time, from which background I/O counts as disturbing.
const PRESSURE_MIN_PERCENT: f64 = 5.0;
/// Share of CPU time lost to the hypervisor that is worth reporting.
const STEAL_MIN_SHARE: f64 = 0.01;
/// Mount options that weaken the durability of writes.
const NOT_DURABLE: &str = "
    nobarrier barrier=0 barrier=none data=writeback journal_async_commit fsync_mode=nobarrier
    volatile async
";
/// Mount options that make every write wait for the device.
const SYNCHRONOUS: &str = "sync dirsync wsync";

/// Collects cautions without duplicates.
#[derive(Default)]
pub(super) struct Cautions(Vec<Caution>);

impl Cautions {
    /// Adds a finding with advice, if any.
    pub(super) fn add(
        &mut self,
        code: WarningCode,
        cause: impl Into<String>,
        advice: impl Into<String>,
    ) {
        let caution = Caution {
            code,
            cause: cause.into(),
            advice: advice.into(),
        };
        if !self.0.contains(&caution) {
            self.0.push(caution);
        }
    }

    pub(super) fn into_vec(self) -> Vec<Caution> {
        self.0
    }
}

/// Adds a caution about facts that could not be examined.
pub(super) fn of_blindness(evidence: &Evidence<'_>) -> Vec<Caution> {
    let mut found = Cautions::default();
    let (facts, target) = (evidence.facts, evidence.target);
    let has_mounts = facts.proc_text("self/mountinfo").is_some();
    if !has_mounts && facts.proc_text("meminfo").is_none() {
        found.add(
            WarningCode::CouldNotLook,
            "could not look: /proc is not mounted, so file system, device, memory and the I/O of \
             others are unknown",
            "mount it",
        );
    }
    let has_device = target.kind == TargetKind::BlockDevice
        || evidence
            .mount
            .is_some_and(|mount| mount.source.starts_with("/dev/"));
    if has_device && target.devices.is_empty() && !facts.sys.join("class/block").is_dir() {
        found.add(
            WarningCode::CouldNotLook,
            "could not look: /sys is not mounted, so the device and what it does are unknown",
            "mount it",
        );
    }
    found.into_vec()
}

/// Cautions as warnings of a run.
pub fn warnings(cautions: &[Caution]) -> Vec<Warning> {
    let of_caution = |caution: &Caution| {
        let severity = match caution.code {
            WarningCode::SparseFile => Severity::Invalid,
            WarningCode::CouldNotLook => Severity::Warning,
            _ => Severity::Info,
        };
        caution.as_warning(severity)
    };
    cautions.iter().map(of_caution).collect()
}

/// Cautions about the file system and file of a target.
pub(crate) fn of_file_system(evidence: &Evidence<'_>) -> Vec<Caution> {
    let mut found = Cautions::default();
    where_it_lives(&mut found, evidence);
    if let Some(mount) = evidence.mount {
        room(&mut found, evidence);
        layout(&mut found, mount, evidence.is_compressed);
        durability(&mut found, mount);
    }
    if evidence.target.kind == TargetKind::File {
        file(&mut found, evidence);
    }
    found.into_vec()
}

fn where_it_lives(found: &mut Cautions, evidence: &Evidence<'_>) {
    let target = evidence.target;
    if target.memory_backed {
        found.add(
            WarningCode::MemoryBacked,
            "the target is in memory, so results say nothing about a disk",
            "choose a directory on the storage you want to measure",
        );
    }
    if target.remote {
        found.add(
            WarningCode::RemoteFileSystem,
            "the target is on another machine, so results include the network and that \
             machine's cache",
            "run on that machine too to tell them apart",
        );
    }
    let Some(mount) = evidence.mount else { return };
    if mount.kind.starts_with("fuse") && mount.kind != "fusectl" {
        found.add(
            WarningCode::Fuse,
            format!(
                "{} is a FUSE file system: its CPU time and page cache hits are not counted",
                mount.kind
            ),
            "",
        );
    }
    if let Some(why) = unknown_share(evidence.account) {
        let text = format!("the share of the page cache is unknown: {why}");
        found.add(WarningCode::CacheShareUnknown, text, "");
    }
    if mount.kind == "overlay" {
        found.add(
            WarningCode::Overlay,
            "this is an overlay file system, as in containers: the first write to an existing \
             file copies the whole file",
            "use new files, or a volume mounted into the container",
        );
        if evidence.target.devices.is_empty() {
            found.add(
                WarningCode::CouldNotLook,
                "could not look at the device below the overlay: the host's paths are out of sight \
                 here. What others do with it is not counted",
                "measure a volume mounted into the container",
            );
        }
    }
}

/// Why page-cache hits are unknown, if no other caution explains it.
fn unknown_share(account: &FetchAccount) -> Option<String> {
    let FetchAccount::Nobody(why) = account else {
        return None;
    };
    match why {
        Uncounted::FileSystem(kind) => Some(format!("the kernel does not count reads of {kind}")),
        Uncounted::Dax => Some("mount option `dax` goes past it".to_owned()),
        // Covered by the codes `fuse`, `could-not-look`, and `loop-buffered` or `memory-backed`.
        Uncounted::Program | Uncounted::OutOfSight | Uncounted::LoopFile | Uncounted::Several => {
            None
        }
    }
}

fn room(found: &mut Cautions, evidence: &Evidence<'_>) {
    let Some(system) = &evidence.target.file_system else {
        return;
    };
    if system.read_only {
        found.add(
            WarningCode::ReadOnly,
            format!(
                "{} is mounted read-only, so only existing files can be read",
                system.mount_point
            ),
            "remount it to measure writes",
        );
    }
    let Some((size, available)) = system.size_bytes.zip(system.available_bytes) else {
        return;
    };
    // A small empty file system is not full.
    let is_scarce = available < size / 10 || available < (2 * GIB).min(size / 2);
    if !system.read_only && size > 0 && is_scarce {
        found.add(
            WarningCode::NearlyFull,
            format!(
                "only {} of {} are free, and a nearly full file system allocates poorly",
                Bytes(available),
                Bytes(size)
            ),
            "free some space, or use a smaller working set",
        );
    }
}

fn layout(found: &mut Cautions, mount: &Mount, is_compressed: bool) {
    let options = [
        "compress",
        "compress-force",
        "compress_algorithm",
        "compression",
    ];
    let uncompressed = ["none", "no", "off"];
    let named = options.iter().any(|name| {
        mount.has(name)
            && !mount
                .value(name)
                .is_some_and(|value| uncompressed.contains(&value))
    });
    let how = match (named, is_compressed, mount.kind.as_str()) {
        (true, ..) => Some("compresses data"),
        (_, true, _) => Some("compresses this target (its attribute `c`)"),
        (.., "zfs") => Some("may compress data"),
        _ => None,
    };
    if let Some(how) = how {
        found.add(
            WarningCode::Compression,
            format!(
                "{} {how}, so repetitive data looks faster than the device is",
                mount.kind
            ),
            "use incompressible data",
        );
    }
    let copies = ["btrfs", "zfs", "bcachefs"].contains(&mount.kind.as_str());
    if copies && !mount.has("nodatacow") {
        found.add(
            WarningCode::CopyOnWrite,
            format!(
                "{} is copy-on-write with checksums, so overwrites get slower \
                 as a file fragments",
                mount.kind
            ),
            "measure for long enough, on aged files",
        );
    }
}

fn durability(found: &mut Cautions, mount: &Mount) {
    let all = || mount.options.iter().chain(&mount.super_options);
    for option in all().filter(|option| has_word(NOT_DURABLE, option)) {
        found.add(
            WarningCode::DurabilityWeakened,
            format!(
                "mount option `{option}` can lose data in a power cut even after a successful \
                 fsync"
            ),
            "do not compare durable writes with those of other mounts",
        );
    }
    for option in all().filter(|option| has_word(SYNCHRONOUS, option)) {
        found.add(
            WarningCode::SynchronousMount,
            format!("mount option `{option}` makes writes wait for the device even without fsync"),
            "remount without it to measure ordinary writes",
        );
    }
    if all().any(|option| option == "data=journal") {
        found.add(
            WarningCode::DataJournalled,
            "mount option `data=journal` writes all data twice",
            "remount with `data=ordered` to measure the device",
        );
    }
}

/// Cautions only for those who create files, listed last.
pub(crate) fn of_created_files(evidence: &Evidence<'_>) -> Vec<Caution> {
    let mut found = Cautions::default();
    if let Some(mount) = evidence.mount {
        journal(&mut found, evidence, mount);
    }
    found.into_vec()
}

/// Without a journal, ext4 skips inodes deleted less than five minutes ago, and examines each of
/// them for every new file (`recently_deleted` in the kernel's fs/ext4/ialloc.c).
fn journal(found: &mut Cautions, evidence: &Evidence<'_>, mount: &Mount) {
    let options = || {
        let device = &evidence.target.devices.first()?.name;
        evidence
            .facts
            .proc_text(&format!("fs/ext4/{device}/options"))
    };
    let (true, Some(options)) = (mount.kind == "ext4", options()) else {
        return;
    };
    if !options.lines().any(|option| option.starts_with("data=")) {
        found.add(
            WarningCode::NoJournal,
            "ext4 has no journal here. For up to five minutes after many files were removed, \
             creating files may be many times slower",
            "wait that long before you measure file creation again",
        );
    }
}

/// Share of random reads that may hit unallocated parts of a file: the error of the mean is no
/// larger, a third of the precision of a check-up.
const FEW_HOLES: f64 = 0.01;

/// Unallocated parts of a file of `size` bytes.
fn holes(found: &mut Cautions, evidence: &Evidence<'_>, size: u64) {
    let target = evidence.target;
    let allocated = target.allocated_bytes.unwrap_or(size);
    // Remote file systems and FUSE programs need not report what is allocated.
    let by_program = evidence.mount.is_some_and(|it| it.kind.starts_with("fuse"));
    if target.remote || by_program && allocated == 0 {
        return;
    }
    let missing = size.saturating_sub(allocated);
    if missing < 4 * KIB {
        return;
    }
    let advice = "fill the file first, with data that do not compress";
    if missing as f64 <= FEW_HOLES * size as f64 {
        let text = format!(
            "{} of the file's {} are not allocated. The {:.2} % of random reads that meet them \
             do not reach the device",
            Bytes(missing),
            Bytes(size),
            missing as f64 / size as f64 * 100.0,
        );
        return found.add(WarningCode::FewHoles, text, advice);
    }
    let text = format!(
        "only {} of the file's {} are allocated: holes and compressed blocks are read without \
         the device",
        Bytes(allocated),
        Bytes(size)
    );
    found.add(WarningCode::SparseFile, text, advice);
}

fn file(found: &mut Cautions, evidence: &Evidence<'_>) {
    let target = evidence.target;
    let Some(size) = target.size_bytes else {
        return;
    };
    holes(found, evidence, size);
    let wanted = evidence.memory_bytes.unwrap_or(0).max(GIB);
    if size < wanted {
        found.add(
            WarningCode::SmallFile,
            format!(
                "the file of {} fits in memory, so buffered reads may never reach the device",
                Bytes(size),
            ),
            format!("use direct I/O, or a file larger than {}", Bytes(wanted)),
        );
    }
}

/// Cautions about the machine, whatever the target.
pub fn of_machine(machine: &Environment) -> Vec<Caution> {
    let mut found = Cautions::default();
    if machine.cpus_allowed == 1 {
        found.add(
            WarningCode::SingleCpu,
            "only one CPU is available, so the load generator competes with the kernel's I/O",
            "treat high loads as a lower bound, or allow more CPUs",
        );
    }
    if let Some(limit) = machine
        .cpu_limit
        .filter(|limit| *limit < f64::from(machine.cpus_allowed))
    {
        found.add(
            WarningCode::CpuLimited,
            format!(
                "a control group allows {limit:.2} CPUs and throttles Seekstone beyond that, \
                 which shows as high latency"
            ),
            "raise the limit for the run",
        );
    }
    if let Some((limit, total)) = machine.memory_limit_bytes.zip(machine.memory_total_bytes)
        && limit < total
    {
        found.add(
            WarningCode::MemoryLimited,
            format!(
                "a control group allows {} of the machine's {} of memory, so the page cache is \
                 smaller than it looks",
                Bytes(limit),
                Bytes(total)
            ),
            "choose the working set by that limit",
        );
    }
    if let Some(share) = machine
        .steal_share
        .filter(|share| *share >= STEAL_MIN_SHARE)
    {
        found.add(
            WarningCode::CpuStolen,
            format!(
                "the hypervisor took {:.1} % of CPU time since boot (steal)",
                share * 100.0
            ),
            "repeat the run at another time, and compare",
        );
    }
    if let Some(some) = machine.pressure_io.map(|pressure| pressure.some_percent)
        && some > PRESSURE_MIN_PERCENT
    {
        found.add(
            WarningCode::OtherIo,
            format!(
                "processes waited for I/O in {some:.0} % of the last 10 seconds, so others are \
                 using the storage"
            ),
            "stop them, or wait",
        );
    }
    found.into_vec()
}
