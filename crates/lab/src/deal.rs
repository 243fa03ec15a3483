//! Distributes the clients of a trial, and their rows, to workers.

use engine::Membership;
use fleet::ClientShare;
use procedure::Trial;
use units::{Duration, Instant};
use workload::{AnyClient, ClientSpec, JobGates, JobSpec};

/// The row of a client, and the time after the start of the trial from which it is recorded.
pub type Member = (u32, Duration);

/// The rows of the clients of each of `workers`, in the order of distribution.
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

/// The same, as times after that start.
pub fn since(members: &[Member], start: Instant) -> Vec<Membership> {
    let at = |&(row, from): &Member| Membership {
        row,
        from: start + from,
    };
    members.iter().map(at).collect()
}

/// A host's share of a trial as a trial of its own: fewer clients, fewer outstanding requests.
pub fn share_of(trial: &Trial, share: ClientShare) -> Trial {
    Trial {
        clients: share.count(trial.clients),
        depth: share.depth(trial.depth, trial.clients),
        ..trial.clone()
    }
}

/// Distributes a host's share of a trial's clients to `workers` workers. A client keeps its number
/// in the whole trial.
///
/// # Errors
/// If a client's share of the region would be empty.
pub fn deal(
    trial: &Trial,
    share: ClientShare,
    seed: u64,
    workers: usize,
) -> Result<Vec<Vec<AnyClient>>, workload::AddressError> {
    let here = share.count(trial.clients);
    let mut hands: Vec<Vec<AnyClient>> = (0..workers)
        .map(|_| Vec::with_capacity(here as usize / workers + 1))
        .collect();
    let gates = JobGates::default();
    for index in 0..here {
        let client = share.client(index);
        let mut client = trial.spec.client(seed, client, trial.clients)?;
        client.join(&gates);
        hands[index as usize % workers].push(client);
    }
    Ok(hands)
}

#[cfg(test)]
mod tests {
    use procedure::Preparation;
    use results::Access;
    use stats::Channel;
    use workload::{
        AddressSpec, Durability, Gap, Mix, MixSpec, OperationSize, Pacing, Partition, Pattern,
        Region, TargetId, WalkStart,
    };

    use super::*;

    const CLIENTS: u32 = 11;

    fn trial(partition: Partition) -> Trial {
        let mix = MixSpec {
            addresses: AddressSpec {
                region: Region {
                    target: TargetId(0),
                    offset: 0,
                    len: 1 << 30,
                    block: 4096,
                },
                partition,
                pattern: Pattern::Uniform,
                start: WalkStart::Random,
            },
            mix: Mix::READ,
            sizes: vec![OperationSize {
                len: 4096,
                weight: 1,
            }],
            durability: Durability::Volatile,
            pacing: Pacing::Closed { think: Gap::NONE },
            operations: None,
            spread: None,
        };
        Trial {
            name: String::new(),
            title: String::new(),
            spec: ClientSpec::Mix(mix),
            clients: CLIENTS,
            depth: CLIENTS,
            access: Access::Direct,
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

    /// The clients of all hosts in the order of their numbers, each with the complete state that
    /// determines its operations.
    fn clients(trial: &Trial, ranks: u32, workers: usize) -> Vec<String> {
        let mut all = vec![String::new(); CLIENTS as usize];
        for share in (0..ranks).map(|rank| ClientShare { rank, ranks }) {
            let hands = deal(trial, share, 7, workers).expect("a region for all");
            for (worker, hand) in hands.into_iter().enumerate() {
                for (turn, client) in hand.into_iter().enumerate() {
                    let AnyClient::Mix(client) = client else {
                        panic!("a client of another kind");
                    };
                    let number = share.client((turn * workers + worker) as u32);
                    all[number as usize] = format!("{client:?}");
                }
            }
        }
        all
    }

    #[test]
    fn operations_do_not_depend_on_the_number_of_hosts() {
        for partition in [Partition::Contending, Partition::Interleaved] {
            let trial = trial(partition);
            let alone = clients(&trial, 1, 1);
            assert!(alone.iter().all(|it| !it.is_empty()));
            for (ranks, workers) in [(1, 3), (2, 1), (4, 2), (11, 1), (16, 2)] {
                assert!(
                    clients(&trial, ranks, workers) == alone,
                    "{ranks} x {workers}"
                );
            }
        }
    }
}
