//! What part of a trial the page cache answered.

use procedure::Trial;
use results::environment::ForeignIo;
use results::{Access, Measurement, Warning, WarningCode};
use workload::{ClientSpec, JobSpec};

use super::remote_cache::CacheReads;
use super::{Place, StorageLaboratory};
use host::counters::{CountersDelta, page_cache_share};
use host::inspect::{BytesMoved, Facts, Layers, buffered_loops};

/// A look at the caches that the kernel's account of this process leaves out.
pub(super) struct CacheLook {
    remote: Option<CacheReads>,
    loops: Option<Layers>,
}

impl StorageLaboratory {
    /// What such caches were asked for so far.
    pub(super) fn look_at_caches(&self) -> CacheLook {
        let path = match &self.place {
            Place::Directory { directory, .. } => Some(directory.path()),
            Place::Named | Place::Several { .. } => {
                self.table.targets().first().map(|target| target.path())
            }
        };
        let device = self.settings.device.as_deref();
        CacheLook {
            remote: path.and_then(CacheReads::look),
            loops: device.and_then(|name| buffered_loops(&Facts::default(), name)),
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
        let after = self.look_at_caches();
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
    if trial.access != Access::Direct || share < ForeignIo::MARKED_SHARE {
        return;
    }
    let text = format!(
        "{}: {:.0} % of the bytes {what} the disk beneath the loop device: its file is in the page \
         cache.",
        measurement.title,
        share * 100.0
    );
    let warning = match share {
        it if it < ForeignIo::VOID_SHARE => Warning::doubt(WarningCode::NotFromDevice, text),
        _ => Warning::void(WarningCode::NotFromDevice, text),
    };
    let advice = "Attach it with `losetup --direct-io=on`.";
    measurement.warnings.push(warning.advise(advice));
}

/// What part of the bytes moved was answered by the page cache, as the kernel counts it.
pub(super) fn cache_share(
    measurement: &Measurement,
    trial: &Trial,
    counters: &CountersDelta,
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
        return page_cache_share(measurement.bytes_all, counters);
    }
    if reads || measurement.bytes_all == 0 {
        return None;
    }
    let written = counters.device.as_ref()?.written_bytes;
    Some((1.0 - written as f64 / measurement.bytes_all as f64).clamp(0.0, 1.0))
}
