//! What part of a trial the page cache answered.

use procedure::Trial;
use results::Measurement;
use workload::{ClientSpec, JobSpec};

use super::remote_cache::CacheReads;
use super::{Place, StorageLaboratory};
use host::counters::{CountersDelta, page_cache_share};

impl StorageLaboratory {
    /// What a cache that the kernel's account of this process leaves out was asked for so far.
    pub(super) fn cache_reads(&self) -> Option<CacheReads> {
        CacheReads::look(match &self.place {
            Place::Directory { directory, .. } => directory.path(),
            Place::Named | Place::Several { .. } => self.table.targets().first()?.path(),
        })
    }

    /// Take the share of such a cache for that of the page cache, where nothing was written.
    pub(super) fn correct_cache_share(
        &self,
        measurement: &mut Measurement,
        trial: &Trial,
        before: Option<CacheReads>,
    ) {
        let is_read = !trial.spec.changes_storage();
        if let (Some(before), Some(after)) = (before, self.cache_reads().filter(|_| is_read)) {
            measurement.page_cache_share = after.share_since(before);
        }
    }
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
