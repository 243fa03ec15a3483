//! How the work of a trial is divided: workers, their depth, their driver, their memory.

use std::sync::Arc;

use drivers::{
    BLOCK_BYTES, ComputeSettings, ContentSource, DriverKind, DriverOptions, UringSettings,
    VARIETY_BYTES,
};
use engine::KindSet;
use fleet::ClientShare;
use procedure::{CACHE_FILE, Trial};
use results::Access;
use workload::{ClientSpec, Content, JobSpec, Request};

use super::StorageLaboratory;
use super::misfit::misfit;
use crate::laboratory::{LaboratoryError, trial_seed};
use host::limits::{ProcessLimits, check_plan};
use host::processors::processors;

use crate::deal::{deal, members, share_of};
use crate::workers::{WorkPlan, wanted};

/// Batches of this part of the depth save the most processor time without making the load pulse.
const BATCH_PART: usize = 8;
/// The part of the memory that requests may take that wait for room ...
const BACKLOG_PART: u64 = 8;
/// ... and the least and the most of them in a worker.
const BACKLOG_LEAST: usize = 1 << 16;
const BACKLOG_MOST: usize = 1 << 24;
/// What a client takes of memory, at most.
const CLIENT_BYTES: u64 = 512;

impl StorageLaboratory {
    /// What the workers are to do, and with what: this host's share of `whole`.
    pub(super) fn plan(
        &self,
        whole: &Trial,
        share: ClientShare,
        seed: u64,
    ) -> Result<WorkPlan, LaboratoryError> {
        let trial = &share_of(whole, share);
        let workers = self
            .settings
            .workers
            .min(trial.clients.min(trial.depth) as usize)
            .max(1);
        let depth = depth_of_worker(trial, workers);
        let buffer_len = trial.spec.len_max().max(4096) as usize;
        let own = match &trial.spec {
            ClientSpec::Users(users) => users.memory_bytes(trial.clients),
            _ => 0,
        };
        let memory =
            (depth * workers * buffer_len) as u64 + u64::from(trial.clients) * CLIENT_BYTES;
        let memory = memory.saturating_add(own);
        let kind = driver_kind(self.settings.driver, trial, depth);
        check_plan(&wanted(workers, depth, (kind, &self.table), memory))?;
        let dealt = deal(whole, share, seed, workers);
        let hands = dealt.map_err(|error| LaboratoryError::of_addresses(trial, &error))?;
        let mut options = DriverOptions::new(depth, buffer_len);
        options.variety = variety(trial, workers);
        options.pages = self.settings.pages;
        options.payload = self.payload.clone();
        options.payload.contents = contents(trial, seed);
        if !is_verifiable(trial) {
            options.payload.verification = None;
        }
        if let ClientSpec::Users(users) = &trial.spec
            && users.computes()
        {
            let processors = processors();
            options.compute = ComputeSettings {
                threads: processors.len(),
                processors,
            };
        }
        options.uring = UringSettings {
            batch: self.settings.batch.unwrap_or((depth / BATCH_PART).max(1)),
            notice: self.settings.notice,
            ..UringSettings::default()
        };
        Ok(WorkPlan {
            targets: Arc::clone(&self.table),
            members: members(trial, workers),
            share,
            clock: self.clock,
            kind,
            options,
            hands,
            counted: KindSet::of(&trial.spec.counted_kinds()),
            processors: self.settings.processors.clone(),
            device: self.settings.device.clone(),
            backlog_max: backlog_max(workers),
            on_error: trial.on_error(self.settings.on_error),
            follower: self.follower.clone(),
            hang_limit: self.settings.hang_limit,
            ends_after: trial.ends_after(),
        })
    }
}

/// Requests that one of `workers` workers may have outstanding. Each of several workloads needs its
/// whole depth on the worker that it is dealt to.
fn depth_of_worker(trial: &Trial, workers: usize) -> usize {
    let ClientSpec::Jobs(jobs) = &trial.spec else {
        return (trial.depth as usize).div_ceil(workers);
    };
    let of_worker = |worker| {
        let dealt = jobs.jobs.iter().skip(worker).step_by(workers);
        dealt.map(|job| job.depth as usize).sum()
    };
    (0..workers).map(of_worker).max().unwrap_or(1)
}

/// Which driver a worker of so many requests gets, where `asked` leaves it open. Blocking calls are
/// the natural, and the faster, way to memory, and to a flush: io_uring hands that to a thread of
/// the kernel. They tell the kernel of no priority.
fn driver_kind(asked: DriverKind, trial: &Trial, depth: usize) -> DriverKind {
    let prefers_calls = (trial.access == Access::Buffered || is_durable(&trial.spec))
        && !has_priorities(&trial.spec);
    match asked {
        DriverKind::Auto if depth == 1 && prefers_calls => DriverKind::Threads,
        asked => asked,
    }
}

/// Whether some requests are more or less urgent than others.
pub(super) fn has_priorities(spec: &ClientSpec) -> bool {
    match spec {
        ClientSpec::Jobs(jobs) => jobs.jobs.iter().any(JobSpec::has_priorities),
        _ => false,
    }
}

/// Whether every write is followed by a flush.
pub(super) fn is_durable(spec: &ClientSpec) -> bool {
    match spec {
        ClientSpec::Mix(mix) => mix.durability.is_durable() && mix.mix.write > 0,
        ClientSpec::Own(own) => own.is_durable,
        ClientSpec::Files(_)
        | ClientSpec::Control(_)
        | ClientSpec::Users(_)
        | ClientSpec::Jobs(_) => false,
    }
}

/// Requests that may wait for room in each of so many workers: an eighth of the memory, so that a
/// storage that stalls for seconds under a million arrivals a second is still measured.
fn backlog_max(workers: usize) -> usize {
    let memory = ProcessLimits::capture().memory_available_bytes.unwrap_or(0);
    let bytes = memory / BACKLOG_PART / workers as u64;
    (bytes as usize / size_of::<Request>()).clamp(BACKLOG_LEAST, BACKLOG_MOST)
}

/// The variety of bytes that one of so many workers needs for what it writes.
fn variety(trial: &Trial, workers: usize) -> usize {
    let writes = match &trial.spec {
        ClientSpec::Mix(mix) => mix.mix.write > 0,
        ClientSpec::Control(control) => control.types.iter().any(|kind| kind.writes > 0),
        ClientSpec::Users(users) => users.profiles().iter().any(|profile| profile.writes > 0),
        ClientSpec::Own(own) => own.writes,
        ClientSpec::Jobs(jobs) => jobs.jobs.iter().any(JobSpec::writes),
        ClientSpec::Files(_) => true,
    };
    if writes { VARIETY_BYTES / workers } else { 0 }
}

/// What clients write, by their number; nothing where they write blocks with stamps.
fn contents(trial: &Trial, seed: u64) -> Arc<[Option<ContentSource>]> {
    let seed_of = |client| trial_seed(seed, u64::from(client) + 1);
    let source = |client: u32, content: &Content| {
        let is_own = !content.is_default();
        is_own.then(|| ContentSource::new(content.clone(), seed_of(client)))
    };
    match &trial.spec {
        ClientSpec::Jobs(jobs) => {
            let numbered = (0..).zip(&jobs.jobs);
            numbered
                .map(|(client, job)| source(client, &job.content))
                .collect()
        }
        ClientSpec::Control(control) if !control.content.is_default() => {
            let clients = 0..trial.clients;
            clients
                .map(|client| source(client, &control.content))
                .collect()
        }
        _ => Arc::default(),
    }
}

/// Whether what is read can be held against what was written: stamps stand in blocks of one size,
/// and only whole blocks can be judged.
fn is_verifiable(trial: &Trial) -> bool {
    let may_be = match &trial.spec {
        ClientSpec::Mix(mix) => mix.addresses.region.target != CACHE_FILE,
        ClientSpec::Control(control) => control.content.is_default(),
        ClientSpec::Users(_) => true,
        ClientSpec::Files(_) | ClientSpec::Own(_) | ClientSpec::Jobs(_) => false,
    };
    may_be && misfit(&trial.spec, BLOCK_BYTES as u32).is_none()
}

#[cfg(test)]
mod tests {
    use procedure::Preparation;
    use stats::Channel;
    use units::Duration;
    use workload::{
        AddressSpec, Durability, Gap, Mix, MixSpec, OperationSize, Pacing, Partition, Pattern,
        Region, TargetId, WalkStart,
    };

    use super::*;

    fn trial(access: Access, durability: Durability, mix: Mix) -> Trial {
        let region = Region {
            target: TargetId(0),
            offset: 0,
            len: 1 << 20,
            block: 4096,
        };
        let spec = MixSpec {
            addresses: AddressSpec {
                region,
                partition: Partition::Contending,
                pattern: Pattern::Uniform,
                start: WalkStart::Random,
            },
            mix,
            sizes: vec![OperationSize {
                len: 4096,
                weight: 1,
            }],
            durability,
            pacing: Pacing::Closed { think: Gap::NONE },
            operations: None,
            spread: None,
        };
        Trial {
            name: String::new(),
            title: String::new(),
            spec: ClientSpec::Mix(spec),
            clients: 4,
            depth: 4,
            access,
            preparation: Preparation::None,
            goal: None,
            channel: Channel::Response,
            duration_max: Duration::from_secs(1),
            salt: 0,
            sample_every: None,
            limit: None,
            warm_up: None,
        }
    }

    const WRITE: Mix = Mix {
        read: 0,
        write: 1,
        flush: 0,
    };

    /// Two workers of two requests each got threads, since two is two, even where io_uring was
    /// asked for.
    #[test]
    fn threads_are_chosen_for_one_request_a_worker_and_never_against_a_wish() {
        let check = |asked, (access, durability, mix), depth, expected| {
            let found = driver_kind(asked, &trial(access, durability, mix), depth);
            assert_eq!(
                found, expected,
                "{asked:?} {access:?} {durability:?} {depth}"
            );
        };
        let cached = (Access::Buffered, Durability::Volatile, Mix::READ);
        let direct = (Access::Direct, Durability::Volatile, WRITE);
        let durable = (Access::Direct, Durability::Synced, WRITE);
        check(DriverKind::Auto, cached, 1, DriverKind::Threads);
        check(DriverKind::Auto, cached, 2, DriverKind::Auto);
        check(DriverKind::Uring, cached, 1, DriverKind::Uring);
        check(DriverKind::Auto, direct, 1, DriverKind::Auto);
        check(DriverKind::Auto, durable, 1, DriverKind::Threads);
        check(DriverKind::Auto, durable, 2, DriverKind::Auto);
        check(DriverKind::Uring, durable, 1, DriverKind::Uring);
    }

    #[test]
    fn workers_share_the_variety_that_writes_need() {
        let of = |mix, workers| {
            let trial = trial(Access::Direct, Durability::Volatile, mix);
            variety(&trial, workers)
        };
        assert_eq!(of(Mix::READ, 4), 0);
        assert_eq!(of(WRITE, 1), VARIETY_BYTES);
        assert_eq!(of(WRITE, 4), VARIETY_BYTES / 4);
    }
}
