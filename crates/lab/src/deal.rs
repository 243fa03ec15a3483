//! Deals the clients of a trial, and the rows that they are filed under, to workers.

use engine::Membership;
use fleet::Share;
use procedure::Trial;
use units::{Duration, Instant};
use workload::{AnyClient, ClientSpec, JobSpec};

/// The row of a client, and from how long after the start of the trial it is recorded.
pub type Member = (u32, Duration);

/// The rows of the clients that each of `workers` gets, in the order in which they are dealt.
#[must_use]
pub fn members(trial: &Trial, workers: usize) -> Vec<Vec<Member>> {
    let ClientSpec::Jobs(jobs) = &trial.spec else {
        return vec![Vec::new(); workers];
    };
    let member = |job: &JobSpec| (job.row, job.recorded_from());
    let of_worker = |worker| jobs.jobs.iter().skip(worker).step_by(workers).map(member);
    (0..workers)
        .map(|worker| of_worker(worker).collect())
        .collect()
}

/// The same, from that start.
#[must_use]
pub fn since(members: &[Member], start: Instant) -> Vec<Membership> {
    let at = |&(row, from): &Member| Membership {
        row,
        from: start + from,
    };
    members.iter().map(at).collect()
}

/// A host's share of a trial, as a trial of its own: fewer clients, fewer requests outstanding.
#[must_use]
pub fn share_of(trial: &Trial, share: Share) -> Trial {
    Trial {
        clients: share.count(trial.clients),
        depth: share.depth(trial.depth, trial.clients),
        ..trial.clone()
    }
}

/// Deal a host's share of a trial's clients to `workers` hands. A client keeps the number that it
/// has in the whole trial.
///
/// # Errors
/// When a client's share of the region would be empty.
pub fn deal(
    trial: &Trial,
    share: Share,
    seed: u64,
    workers: usize,
) -> Result<Vec<Vec<AnyClient>>, workload::AddressError> {
    let here = share.count(trial.clients);
    let mut hands: Vec<Vec<AnyClient>> = (0..workers)
        .map(|_| Vec::with_capacity(here as usize / workers + 1))
        .collect();
    for index in 0..here {
        let client = share.client(index);
        hands[index as usize % workers].push(trial.spec.client(seed, client, trial.clients)?);
    }
    Ok(hands)
}
