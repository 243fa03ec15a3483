//! The ranks of a run, shared by the parts of this program.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use drivers::Seal;
use fleet::{ClientShare, Fleet, FleetError, FleetGroup};
use host::processors::processors;
use procedure::Trial;
use results::RankHost;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use units::Duration;

use super::common_target::boot_of_this_machine;
use super::rounds::opened_on_all;
use super::wire::{from_bytes, to_bytes};
use crate::bench::BenchError;

/// How long a rank that rank 0 waits for may stay silent: a dead one is reported within ten
/// seconds.
const PATIENCE: Duration = Duration::from_secs(8);
/// The same for rank 0, which may be busy with its own tasks.
const PATIENCE_WITH_LEADER: Duration = Duration::from_secs(60);

/// First message from rank 0 to the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// Version of the program.
    pub version: String,
    /// The command line.
    pub words: Vec<String>,
    /// The seed of the run.
    pub seed: u64,
}

impl Welcome {
    /// Why this rank cannot measure with a rank 0 that sent this.
    fn differs_from(&self, sent: &Self) -> Option<String> {
        if sent.version != self.version {
            let (here, there) = (&self.version, &sent.version);
            return Some(format!(
                "version {here} runs here, and {there} on rank 0: install one version"
            ));
        }
        let (here, there) = (self.words.join(" "), sent.words.join(" "));
        let differs = sent.words != self.words;
        differs.then(|| format!("the command line is `{here}` here, and `{there}` on rank 0"))
    }
}

/// The machine of a rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankMachine {
    name: String,
    /// The same for all ranks on one machine, whatever names their containers have.
    machine: String,
    /// Processors that this program may use.
    processors: u32,
}

impl RankMachine {
    /// This machine, with that name.
    pub fn named(name: String) -> Self {
        let machine = boot_of_this_machine().unwrap_or_else(|| name.clone());
        let processors = processors().len() as u32;
        Self {
            name,
            machine,
            processors,
        }
    }
}

/// Whether several ranks may use one file or device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetSharing {
    Shared,
    /// Only with `--shared`.
    Separate,
    /// Not at all.
    Never,
}

/// The ranks of a run. Clones refer to the same ranks.
#[derive(Clone)]
pub struct Ranks {
    group: Arc<Mutex<FleetGroup>>,
    share: ClientShare,
    hosts: Arc<Mutex<Vec<RankMachine>>>,
    sharing: TargetSharing,
    has_parted: Arc<AtomicBool>,
    is_broken: Arc<AtomicBool>,
}

impl fmt::Debug for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ClientShare { rank, ranks } = self.share;
        write!(f, "rank {rank} of {ranks}")
    }
}

/// Result of a step on a rank, or why it cannot continue.
type FleetResult<T> = Result<T, Unable>;

/// Why a rank cannot continue.
#[derive(Debug, Serialize, Deserialize)]
enum Unable {
    /// A usage error.
    Misused(String),
    /// A failure.
    Failed(String),
    /// A signal, which a launcher sends to all ranks: whichever receives it first is not to blame.
    Stopped(String),
}

impl Ranks {
    /// The ranks of a fleet.
    pub fn new(fleet: Box<dyn Fleet>, sharing: TargetSharing) -> Self {
        let patience = if fleet.rank() == 0 {
            PATIENCE
        } else {
            PATIENCE_WITH_LEADER
        };
        let group = FleetGroup::new(fleet, patience);
        Self {
            share: group.share(),
            group: Arc::new(Mutex::new(group)),
            hosts: Arc::default(),
            sharing,
            has_parted: Arc::default(),
            is_broken: Arc::default(),
        }
    }

    /// Locks the ranks.
    pub(super) fn group(&self) -> MutexGuard<'_, FleetGroup> {
        self.group.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This rank's number, and the number of ranks.
    pub const fn share(&self) -> ClientShare {
        self.share
    }

    /// Whether several ranks may use one file or device.
    pub const fn sharing(&self) -> TargetSharing {
        self.sharing
    }

    /// Whether this is rank 0.
    pub const fn leads(&self) -> bool {
        self.share.rank == 0
    }

    /// Joins the ranks, which must all have the same version and command line. Returns the seed.
    ///
    /// # Errors
    /// If they differ, or a rank does not respond.
    pub fn meet(&self, own: &Welcome, host: RankMachine) -> Result<u64, BenchError> {
        // Rank 0's seal proves that a file belongs to the run, whichever rank created it.
        let seal = self.leads().then(|| Seal::of_this_run().number());
        let sent = self.round(|group| group.broadcast(&to_bytes(&(own, seal))))?;
        let (sent, seal): (Welcome, Option<u64>) =
            from_bytes(0, &sent).map_err(|error| self.failed(&error))?;
        let own = match own.differs_from(&sent) {
            Some(text) => Err(BenchError::Usage(text)),
            None if !seal.is_some_and(Seal::adopt) => Err(BenchError::Refused(
                "files were made before the ranks met".into(),
            )),
            None => Ok(host),
        };
        let hosts = self.agree(own, Ok)?;
        *self.hosts.lock().unwrap_or_else(PoisonError::into_inner) = hosts;
        Ok(sent.seed)
    }

    /// A rank's name with its host's name.
    pub fn name(&self, rank: u32) -> String {
        match self.host(rank) {
            Some(host) => format!("rank {rank} on {host}"),
            None => format!("rank {rank}"),
        }
    }

    /// Host name of a rank, once the ranks have joined.
    pub fn host(&self, rank: u32) -> Option<String> {
        self.hosts().get(rank as usize).map(|it| it.name.clone())
    }

    /// The host of each rank, once they have joined.
    pub fn described(&self) -> Vec<RankHost> {
        let machines = self.machines();
        let hosts = self.hosts();
        let described = (0..).zip(hosts.iter()).map(|(rank, host)| RankHost {
            rank,
            host: host.name.clone(),
            machine: machines
                .iter()
                .position(|it| it.contains(&rank))
                .unwrap_or(0) as u32,
            processors: host.processors,
        });
        described.collect()
    }

    /// A trial under this rank's own name, which its warnings then use.
    pub(super) fn own_part(&self, trial: &Trial) -> Trial {
        Trial {
            title: self.name(self.share.rank),
            ..trial.clone()
        }
    }

    /// The ranks of each machine, by their first rank. Before they have joined, each is separate.
    pub fn machines(&self) -> Vec<Vec<u32>> {
        let hosts = self.hosts();
        let mut machines: BTreeMap<Result<&str, u32>, Vec<u32>> = BTreeMap::new();
        for rank in 0..self.share.ranks {
            let host = hosts.get(rank as usize);
            let machine = host.map(|it| it.machine.as_str()).ok_or(rank);
            machines.entry(machine).or_default().push(rank);
        }
        let mut machines: Vec<Vec<u32>> = machines.into_values().collect();
        machines.sort_unstable();
        machines
    }

    /// A rank on another machine, if there are several. The mapping is one to one, and always to
    /// another machine if all have equally many ranks.
    pub fn rank_on_next_host(&self) -> u32 {
        let machines = self.machines();
        let shift = match &machines[..] {
            [_] => 1,
            several => several.iter().map(Vec::len).max().unwrap_or(1),
        };
        let order: Vec<u32> = machines.into_iter().flatten().collect();
        let place = order.iter().position(|rank| *rank == self.share.rank);
        order[(place.unwrap_or(0) + shift) % order.len()]
    }

    /// Processors of all machines, taking for each machine the maximum of its ranks.
    pub fn processors(&self) -> u32 {
        let machines = self.machines();
        let hosts = self.hosts();
        let of = |rank: &u32| hosts.get(*rank as usize).map_or(1, |it| it.processors);
        let each = machines.iter();
        each.map(|ranks| ranks.iter().map(of).max().unwrap_or(1))
            .sum()
    }

    fn hosts(&self) -> MutexGuard<'_, Vec<RankMachine>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All ranks report their result of a step, and rank 0 judges. Either all continue with the
    /// result of `judge`, or none: rank 0 gets the reason, the others [`BenchError::Served`].
    ///
    /// # Errors
    /// If the step failed anywhere, or a rank does not respond.
    pub fn agree<T, U>(
        &self,
        own: Result<T, BenchError>,
        judge: impl FnOnce(Vec<T>) -> Result<U, BenchError>,
    ) -> Result<U, BenchError>
    where
        T: Serialize + DeserializeOwned,
        U: Serialize + DeserializeOwned,
    {
        let sent: FleetResult<T> = match &own {
            Ok(_) => own.map_err(|_| Unable::Failed(String::new())),
            Err(BenchError::Interrupted { signal }) => Err(Unable::Stopped(signal.clone())),
            Err(error) if error.is_usage() => Err(Unable::Misused(error.reason())),
            Err(error) => Err(Unable::Failed(error.reason())),
        };
        // Even if a rank is missing, the others wait for a verdict.
        let all = self.round(|group| group.gather(&to_bytes(&sent)));
        let judged = all.and_then(|all| match self.leads() {
            true => self.judged(&all, judge),
            false => Err(BenchError::Served),
        });
        // Not an `Option`: MessagePack encodes `None` and `Some(())` alike.
        let verdict = to_bytes(&judged.as_ref().map_err(|_| ()));
        let verdict = self.round(|group| group.broadcast(&verdict))?;
        let verdict: Result<U, ()> =
            from_bytes(0, &verdict).map_err(|error| self.failed(&error))?;
        match (verdict, judged) {
            (Ok(joined), _) => Ok(joined),
            (Err(()), judged) => {
                self.has_parted.store(true, Ordering::Relaxed);
                Err(judged.err().unwrap_or(BenchError::Served))
            }
        }
    }

    /// Continues with this rank's value if all ranks can.
    ///
    /// # Errors
    ///
    /// Those of [`Ranks::agree`].
    pub fn if_all_can<T>(&self, own: Result<T, BenchError>) -> Result<T, BenchError> {
        let agree = |answer| self.agree(answer, |_| Ok(()));
        let (own, ()) = opened_on_all(own, |_| Ok(()), agree, |_, error| error)?;
        Ok(own)
    }

    fn judged<T: DeserializeOwned, U>(
        &self,
        all: &[Vec<u8>],
        judge: impl FnOnce(Vec<T>) -> Result<U, BenchError>,
    ) -> Result<U, BenchError> {
        let mut found = Vec::with_capacity(all.len());
        for (rank, bytes) in (0..).zip(all) {
            let sent: FleetResult<T> =
                from_bytes(rank, bytes).map_err(|error| self.failed(&error))?;
            match sent {
                Ok(it) => found.push(it),
                Err(unable) => {
                    let named = |text: &str| format!("{}: {text}", self.name(rank));
                    return Err(match unable {
                        Unable::Misused(text) => BenchError::Usage(named(&text)),
                        Unable::Failed(text) => BenchError::Refused(named(&text)),
                        Unable::Stopped(signal) => BenchError::Interrupted { signal },
                    });
                }
            }
        }
        judge(found)
    }

    /// Sends a heartbeat while this rank is busy.
    pub fn beat(&self) {
        // An error here occurs again at the next wait.
        let _ = self.group().tick();
    }

    /// Whether the ranks have parted.
    pub fn has_parted(&self) -> bool {
        self.has_parted.load(Ordering::Relaxed)
    }

    pub(super) fn part(&self) {
        self.has_parted.store(true, Ordering::Relaxed);
    }

    pub(super) fn stay(&self) {
        self.has_parted.store(false, Ordering::Relaxed);
    }

    /// Whether a rank was lost.
    pub fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    /// Marks a rank as lost: the others cannot part in order.
    pub(super) fn lose(&self) {
        self.is_broken.store(true, Ordering::Relaxed);
    }

    /// Ends the run of several ranks, in order if all are present. Otherwise rank 0 ends the others
    /// once they have removed their files.
    pub fn end(&self, code: u8) {
        let mut group = self.group();
        let is_whole = self.has_parted() && !self.is_broken() && group.gather(&[]).is_ok();
        if !is_whole || group.leave().is_err() {
            group.abort(i32::from(code));
        }
    }

    /// A round, or the reason why it failed.
    pub(super) fn round<T>(
        &self,
        step: impl FnOnce(&mut FleetGroup) -> Result<T, FleetError>,
    ) -> Result<T, BenchError> {
        let went = step(&mut self.group());
        self.checked(went)
    }

    /// The result, or the reason of a failure, after which the ranks cannot part in order.
    pub(super) fn checked<T>(&self, went: Result<T, FleetError>) -> Result<T, BenchError> {
        went.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &FleetError) -> BenchError {
        self.lose();
        BenchError::Refused(self.words(error))
    }

    /// The error, with the host's name.
    pub(super) fn words(&self, error: &FleetError) -> String {
        let text = error.to_string();
        match error {
            FleetError::Silent { rank, .. } | FleetError::Unexpected { rank, .. } => {
                text.replacen(&format!("rank {rank}"), &self.name(*rank), 1)
            }
            FleetError::Transport { .. } => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::hosts::virtual_fleet::{HostClock, Latency, Servant, VirtualFleet};
    use units::Instant;

    use super::*;

    fn welcome(version: &str, words: &[&str]) -> Welcome {
        Welcome {
            version: version.into(),
            words: words.iter().map(|it| (*it).into()).collect(),
            seed: 7,
        }
    }

    /// Rank 0's answer to a rank that replies to its welcome with `own`.
    fn met(own: &Welcome, leader: &Welcome) -> Result<u64, BenchError> {
        let latency = Latency {
            least: Duration::ZERO,
            more: Duration::ZERO,
        };
        let own = own.clone();
        let answer = move |sent: &[u8]| {
            let Ok((sent, _)) = from_bytes::<(Welcome, Option<u64>)>(0, sent) else {
                return Vec::new();
            };
            let sent: FleetResult<RankMachine> = match own.differs_from(&sent) {
                None => Ok(RankMachine::named("far".into())),
                Some(text) => Err(Unable::Misused(text)),
            };
            to_bytes(&sent)
        };
        let fleet = VirtualFleet::new(HostClock::default(), latency, 1);
        let fleet = fleet.with(Servant { answer }, HostClock::default(), Instant::NEVER);
        let ranks = Ranks::new(Box::new(fleet), TargetSharing::Separate);
        ranks.meet(leader, RankMachine::named("near".into()))
    }

    #[test]
    fn ranks_of_one_version_and_command_line_meet() {
        let own = welcome("1.2.3", &["trial", "/data"]);
        assert_eq!(met(&own, &own).expect("the same"), 7);
    }

    fn rank_of(ranks: &[(u32, &str)], rank: u32) -> u32 {
        let latency = Latency {
            least: Duration::ZERO,
            more: Duration::ZERO,
        };
        let fleet = VirtualFleet::new(HostClock::default(), latency, 1);
        let hosts = ranks.iter().map(|(_, machine)| RankMachine {
            name: (*machine).into(),
            machine: (*machine).into(),
            processors: 1,
        });
        let ranks = Ranks {
            share: ClientShare {
                rank,
                ranks: ranks.len() as u32,
            },
            hosts: Arc::new(Mutex::new(hosts.collect())),
            ..Ranks::new(Box::new(fleet), TargetSharing::Separate)
        };
        ranks.rank_on_next_host()
    }

    /// Whether launchers fill one host after the other or deal ranks in turn, each rank gets its
    /// own rank on another host.
    #[test]
    fn each_rank_reads_of_a_rank_on_another_host() {
        let blocks = [(0, "a"), (1, "a"), (2, "b"), (3, "b")];
        let turns = [(0, "a"), (1, "b"), (2, "a"), (3, "b")];
        let one = [(0, "a"), (1, "a"), (2, "a")];
        let all = |ranks: &[(u32, &str)]| -> Vec<u32> {
            (0..ranks.len() as u32)
                .map(|rank| rank_of(ranks, rank))
                .collect()
        };
        assert_eq!(all(&blocks), [2, 3, 0, 1]);
        assert_eq!(all(&turns), [1, 0, 3, 2]);
        assert_eq!(all(&one), [1, 2, 0]);
    }

    #[test]
    fn another_version_or_command_line_is_a_mistake_named_with_its_rank() {
        let leader = welcome("1.2.3", &["trial", "/data"]);
        let check = |own: Welcome, expected: &str| {
            let error = met(&own, &leader).expect_err("they differ");
            assert!(error.is_usage(), "{error}");
            assert_eq!(error.to_string(), expected);
        };
        check(
            welcome("1.2.4", &["trial", "/data"]),
            "rank 1: version 1.2.4 runs here, and 1.2.3 on rank 0: install one version",
        );
        check(
            welcome("1.2.3", &["trial", "/other"]),
            "rank 1: the command line is `trial /other` here, and `trial /data` on rank 0",
        );
    }
}
