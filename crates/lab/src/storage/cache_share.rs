//! What part of a trial the page cache answered.

use std::collections::BTreeMap;
use std::path::Path;

use drivers::{Target, TargetFileType};
use procedure::Trial;
use results::environment::BackgroundIo;
use results::{Access, Measurement, SystemSeries, Warning, WarningCode};
use workload::{ClientSpec, JobSpec};

use super::remote_cache::RemoteCacheReads;
use super::{StorageLaboratory, TargetLocation};
use host::counters::{CountersDelta, page_cache_share};
use host::inspect::{BytesMoved, FetchAccount, Layers, SystemRoots, Uncounted, buffered_loops};

/// A look at the caches that the kernel's account of this process leaves out.
pub(super) struct CacheLook {
    /// Who counts what reads fetch.
    pub(super) account: FetchAccount,
    remote: Option<RemoteCacheReads>,
    loops: Option<Layers>,
}

impl CacheLook {
    /// Misses of the page cache are not known where another account has them.
    pub(super) fn known_misses(&self, series: Option<SystemSeries>) -> Option<SystemSeries> {
        let mut series = series?;
        if self.account != FetchAccount::Process {
            for sample in &mut series.samples {
                sample.page_cache_misses_per_second = None;
            }
        }
        Some(series)
    }
}

impl StorageLaboratory {
    /// Who counts what reads of all its targets fetch.
    pub fn fetch_account(&self) -> FetchAccount {
        if let TargetLocation::Directory { directory, .. } = &self.place {
            return FetchAccount::of(directory.path());
        }
        // Files of one directory and file system have one account, and there may be thousands.
        let place = |target: &Target| {
            let (file_system, number) = target.identity().unwrap_or_default();
            match target.kind() {
                TargetFileType::File => (target.path().parent().map(Path::to_owned), file_system),
                TargetFileType::Device => (None, number),
            }
        };
        let targets = self.table.targets().iter();
        let places: BTreeMap<_, &Path> = targets.map(|it| (place(it), it.path())).collect();
        let accounts = places.into_values().map(FetchAccount::of);
        let all = accounts.reduce(FetchAccount::and);
        all.unwrap_or(FetchAccount::Nobody(Uncounted::OutOfSight))
    }

    /// What such caches were asked for so far.
    pub(super) fn look_at_caches(&self, account: FetchAccount) -> CacheLook {
        let device = self.settings.device.as_deref();
        let facts = SystemRoots::default();
        CacheLook {
            remote: RemoteCacheReads::look(&facts, &account),
            loops: device.and_then(|name| buffered_loops(&facts, name)),
            account,
        }
    }

    /// Take the share of such a cache for that of the page cache, where nothing was written, and
    /// add what the page cache beneath a loop device answered.
    pub(super) fn correct_cache_share(
        &self,
        measurement: &mut Measurement,
        trial: &Trial,
        before: &CacheLook,
    ) {
        let is_read = !trial.spec.changes_storage();
        let after = self.look_at_caches(before.account.clone());
        if let (Some(before), Some(after)) = (before.remote, after.remote.filter(|_| is_read)) {
            measurement.page_cache_share = after.share_since(before);
        }
        if let (Some(before), Some(after)) = (before.loops, after.loops) {
            beneath_loop(measurement, trial, (before, after));
        }
    }
}

/// What the page cache beneath a loop device answered counts as well, and spoils direct I/O.
fn beneath_loop(measurement: &mut Measurement, trial: &Trial, (before, after): (Layers, Layers)) {
    let share_of = |bytes: fn(&BytesMoved) -> u64| {
        // Another device may have taken the name of one.
        let since =
            |of: fn(&Layers) -> &BytesMoved| bytes(of(&after)).saturating_sub(bytes(of(&before)));
        let (above, below) = (since(|it| &it.above), since(|it| &it.below));
        (above > 0).then(|| (1.0 - below as f64 / above as f64).clamp(0.0, 1.0))
    };
    let (read, written) = (share_of(|it| it.read), share_of(|it| it.written));
    let (share, what) = match trial.spec.changes_storage() {
        false => (read, "read did not come from"),
        true => (written, "written did not reach"),
    };
    let Some(share) = share else {
        return;
    };
    let reached = |own: f64| 1.0 - (1.0 - own) * (1.0 - share);
    measurement.page_cache_share = measurement.page_cache_share.map(reached);
    if trial.access != Access::Direct || share < BackgroundIo::MARKED_SHARE {
        return;
    }
    let text = format!(
        "{}: {:.0} % of the bytes {what} the disk below the loop device. Its file is in the page \
         cache.",
        measurement.title,
        share * 100.0
    );
    let warning = match share {
        it if it < BackgroundIo::VOID_SHARE => Warning::warn(WarningCode::NotFromDevice, text),
        _ => Warning::invalid(WarningCode::NotFromDevice, text),
    };
    let advice = "Attach it with `losetup --direct-io=on`.";
    measurement.warnings.push(warning.advise(advice));
}

/// What part of the bytes moved was answered by the page cache, as the kernel counts it; `None`
/// where that account does not have it.
pub(super) fn cache_share(
    measurement: &Measurement,
    trial: &Trial,
    counters: &CountersDelta,
    account: &FetchAccount,
) -> Option<f64> {
    let (reads, writes) = match &trial.spec {
        ClientSpec::Mix(mix) => (mix.mix.read > 0, mix.mix.write > 0 || mix.mix.flush > 0),
        ClientSpec::Control(control) => (
            control.types.iter().any(|kind| kind.reads > 0),
            control.types.iter().any(|kind| kind.writes > 0),
        ),
        ClientSpec::Users(users) => (
            users.profiles().iter().any(|profile| profile.reads > 0),
            users.profiles().iter().any(|profile| profile.writes > 0),
        ),
        ClientSpec::Own(own) => (own.reads, own.writes),
        ClientSpec::Jobs(jobs) => (
            jobs.jobs.iter().any(|job| job.read_percent > 0),
            jobs.jobs.iter().any(JobSpec::writes),
        ),
        ClientSpec::Files(_) => return None,
    };
    if !writes {
        return page_cache_share(measurement.bytes_all, counters, account);
    }
    if reads || measurement.bytes_all == 0 || *account != FetchAccount::Process {
        return None;
    }
    let written = counters.device.as_ref()?.written_bytes;
    Some((1.0 - written as f64 / measurement.bytes_all as f64).clamp(0.0, 1.0))
}
