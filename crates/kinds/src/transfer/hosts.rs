//! Streams on several hosts: they are dealt in turn, so that a stream's number, and with it its
//! data, does not depend on how many hosts there are. All ranks run the same series; each pass
//! begins on all at once and lasts until the last rank is done.

use lab::hosts::{CommonTarget, RankPart, RankRounds, Ranks, TargetReport, opened_on_all};
use lab::test_file::cause;
use results::{StreamPass, TransferKind, TransferPass, TransferStream, Warning};

use super::pass::{PassSettings, Summed};
use super::streams::{OpenedStreams, TransferStreams};
use crate::session::{Result, ShowGlimpse};
use host::interrupt::Interrupt;

/// The ranks of a transfer.
pub(super) struct PeerStreams {
    /// Those that read with all streams count.
    pub rounds: RankRounds,
    /// The streams of all ranks; on rank 0 alone.
    pub streams: Vec<TransferStream>,
}

/// The pass of a rank, behind the nanoseconds by which it began after all were to begin. One that
/// has no stream in it moves nothing.
type RankTransfer = (u64, Summed);

fn is_at_work((_, summed): &RankTransfer) -> bool {
    summed.pass.bytes > 0
}

fn ended_ns((late_ns, summed): &RankTransfer) -> u64 {
    late_ns + summed.pass.elapsed_ns
}

/// All ranks have opened their streams, or none goes on.
///
/// # Errors
/// When one cannot.
pub(super) fn agreed(
    ranks: &Ranks,
    streams_asked: u32,
    opened: Result<OpenedStreams>,
) -> Result<OpenedStreams> {
    let mut streams = Vec::new();
    let judge = |all: Vec<(TargetReport, Vec<TransferStream>)>| {
        let seen: Vec<TargetReport> = all.iter().map(|(seen, _)| seen.clone()).collect();
        for (rank, (_, own)) in (0..).zip(all) {
            let host = ranks.name(rank);
            let of_rank = |stream| TransferStream {
                host: Some(host.clone()),
                ..stream
            };
            streams.extend(own.into_iter().map(of_rank));
        }
        CommonTarget::of(&seen, ranks)
    };
    let (mut opened, common) = opened_on_all(
        opened,
        |opened| {
            let seen = TargetReport::of(&opened.description, &opened.facts);
            Ok((seen, opened.streams.described()))
        },
        |answer| ranks.agree(answer, judge),
        |mut opened, error| error.with_left(opened.streams.clean_up()),
    )?;
    common.apply(&mut opened.facts);
    opened.count = streams_asked;
    // Of the rank that has most.
    let most = u64::from(streams_asked.div_ceil(ranks.share().ranks));
    opened.files = if opened.files > 0 { most } else { 0 };
    opened.differences = common.differences;
    streams.sort_by_key(|stream: &TransferStream| stream.number);
    opened.streams.peers = Some(PeerStreams {
        rounds: RankRounds::new(ranks.clone()),
        streams,
    });
    Ok(opened)
}

/// A step that all ranks take, each on its own streams.
///
/// # Errors
/// When it failed anywhere.
pub(super) fn step<T>(
    streams: &mut TransferStreams,
    interrupt: &Interrupt,
    take: impl FnOnce(&mut TransferStreams) -> Result<T>,
) -> Result<T> {
    let Some(ranks) = streams.ranks() else {
        return take(streams);
    };
    let taken = ranks.beating(|| take(streams));
    ranks
        .if_all_can(taken)
        .map_err(|error| cause(interrupt, error))
}

/// A pass of all ranks together.
///
/// # Errors
/// When it failed anywhere.
pub(super) fn pass_of_all(
    streams: &mut TransferStreams,
    order: &PassSettings<'_>,
    show: ShowGlimpse<'_>,
) -> Result<(TransferPass, Vec<Warning>)> {
    let Some(mut peers) = streams.peers.take() else {
        streams.make_ready(order)?;
        return Ok(streams.pass_here(order, show)?.with_warnings());
    };
    let kind = order.plan.kind;
    let measured = peers.rounds.round(
        streams,
        |streams| streams.make_ready(order),
        |streams| streams.pass_here(order, show),
        |all, machines| (merged(all, machines, kind), parts(all, kind)),
    );
    streams.peers = Some(peers);
    measured.map_err(|error| cause(order.interrupt, error))
}

/// What each rank did of a pass that reads with all streams; of others nothing counts.
fn parts(all: &[RankTransfer], kind: TransferKind) -> Vec<RankPart> {
    let counts = kind == TransferKind::Read && all.iter().all(is_at_work);
    let part = |it: &RankTransfer| RankPart {
        ended_ns: ended_ns(it),
        elapsed_ns: it.1.pass.elapsed_ns,
        amount: it.1.pass.bytes,
        cpu_ns: it.1.pass.cpu_ns,
    };
    all.iter().filter(|_| counts).map(part).collect()
}

impl PeerStreams {
    /// Who held the others up, in a note.
    pub fn words(&self) -> Option<Warning> {
        self.rounds.note_of("pass", |last, times, [_, most]| {
            format!(
                "{last} was done last in {times} that read all streams. From the first rank done \
                 to the last it took {most} at most. A pass lasts until the last rank is done."
            )
        })
    }
}

/// A pass of all ranks: what each moved is added, and it lasted from the first that began to the
/// last that was done. What a device moved is that of its machine, whichever rank asked.
fn merged(
    all: &[RankTransfer],
    machines: &[Vec<u32>],
    kind: TransferKind,
) -> (TransferPass, Vec<Warning>) {
    let at_work: Vec<&RankTransfer> = all.iter().filter(|it| is_at_work(it)).collect();
    let of_ranks = |of: fn(&RankTransfer) -> u64| at_work.iter().map(move |it| of(it));
    let began = of_ranks(|it| it.0).min().unwrap_or(0);
    let ended = of_ranks(ended_ns).max().unwrap_or(0);
    let elapsed_ns = ended.saturating_sub(began);
    let seconds = (elapsed_ns as f64 / 1e9).max(1e-9);
    let all_began = of_ranks(|it| it.0).max().unwrap_or(0);
    let one_ended = of_ranks(|it| it.0 + it.1.shortest.as_nanos()).min();
    let one_ended = one_ended.unwrap_or(0);
    let passes = || at_work.iter().map(|it| &it.1.pass);
    let bytes: u64 = passes().map(|it| it.bytes).sum();
    let known = |of: fn(&TransferPass) -> Option<u64>| passes().map(of).sum::<Option<u64>>();
    let moved = moved_by(all, machines);
    let is_known = passes().all(|it| it.page_cache_share.is_some());
    let last = at_work.iter().max_by_key(|it| ended_ns(it));
    let last = last.map(|it| &it.1.pass);
    let mut streams: Vec<StreamPass> = passes().flat_map(|it| it.streams.clone()).collect();
    streams.sort_by_key(|stream| stream.stream);
    let pass = TransferPass {
        number: passes().map(|it| it.number).max().unwrap_or(0),
        bytes,
        elapsed_ns,
        rate: bytes as f64 / seconds,
        overlap_share: one_ended.saturating_sub(all_began) as f64 / 1e9 / seconds,
        streams,
        blocks: passes()
            .map(|it| it.blocks)
            .reduce(|one, other| Some(one?.with(other?)))
            .flatten(),
        cpu_ns: known(|it| it.cpu_ns),
        cpu_user_ns: known(|it| it.cpu_user_ns),
        cpu_system_ns: known(|it| it.cpu_system_ns),
        page_cache_share: match kind {
            TransferKind::Write => moved
                .filter(|_| is_known)
                .map(|moved| 1.0 - moved as f64 / bytes.max(1) as f64),
            TransferKind::Read => passes()
                .map(|it| Some(it.page_cache_share? * it.bytes as f64))
                .sum::<Option<f64>>()
                .map(|answered| answered / bytes.max(1) as f64),
        }
        .map(|share| share.clamp(0.0, 1.0)),
        device_rate: moved.map(|moved| moved as f64 / seconds),
        ended_at: last.and_then(|it| it.ended_at.clone()),
        ended_monotonic_ns: last.map_or(0, |it| it.ended_monotonic_ns),
    };
    let warnings = all.iter().flat_map(|it| it.1.warnings.clone());
    (pass, warnings.collect())
}

/// What the devices of all machines moved, where all ranks at work know it.
fn moved_by(all: &[RankTransfer], machines: &[Vec<u32>]) -> Option<u64> {
    let of_machine = |ranks: &Vec<u32>| -> Option<u64> {
        let at_work = ranks.iter().map(|rank| &all[*rank as usize]);
        let at_work = at_work.filter(|it| is_at_work(it));
        let each: Option<Vec<u64>> = at_work.map(|it| it.1.moved).collect();
        Some(each?.into_iter().max().unwrap_or(0))
    };
    machines.iter().map(of_machine).sum()
}

impl TransferStreams {
    /// The hosts, where there are several.
    pub(super) fn ranks(&self) -> Option<Ranks> {
        self.peers.as_ref().map(|it| it.rounds.ranks().clone())
    }
}

/// The streams of this rank, by their numbers.
pub(super) fn numbers(ranks: Option<&Ranks>, streams: u32) -> Vec<u32> {
    let share = ranks.map_or(fleet::ClientShare::WHOLE, Ranks::share);
    let own = (0..share.count(streams)).map(|index| share.client(index) + 1);
    own.collect()
}

#[cfg(test)]
#[path = "../../../fleet/tests/support/virtual_fleet.rs"]
#[allow(
    dead_code,
    reason = "hosts of these tests are other ones than servants"
)]
mod virtual_fleet;

#[cfg(test)]
mod tests {
    use fleet::{Letter, LetterKind};
    use units::{Duration, Instant};

    use lab::hosts::TargetSharing;

    use super::virtual_fleet::{HostClock, Latency, VirtualFleet, VirtualHost};
    use super::*;

    fn summed(bytes: u64, elapsed_ns: u64, streams: &[u32]) -> Summed {
        let each = |stream: &u32| StreamPass {
            stream: *stream,
            bytes: bytes / streams.len() as u64,
            elapsed_ns,
            rate: 1.0,
            within: None,
        };
        Summed {
            pass: TransferPass {
                number: 1,
                bytes,
                elapsed_ns,
                rate: 1.0,
                overlap_share: 1.0,
                streams: streams.iter().map(each).collect(),
                blocks: None,
                cpu_ns: Some(1000),
                cpu_user_ns: None,
                cpu_system_ns: Some(7),
                page_cache_share: Some(0.5),
                device_rate: None,
                ended_at: None,
                ended_monotonic_ns: 9,
            },
            shortest: Duration(elapsed_ns),
            moved: Some(bytes),
            warnings: Vec::new(),
        }
    }

    /// Two ranks of one machine see one device; the third has one of its own, and the fourth no
    /// stream in this pass.
    #[test]
    fn a_pass_of_four_ranks_is_what_all_moved_until_the_last_was_done() {
        let idle = (500, summed(0, 0, &[]));
        let all = [
            (50, summed(100, 1_000, &[1, 5])),
            (20, summed(60, 1_500, &[2])),
            (90, summed(40, 900, &[3])),
            idle,
        ];
        let machines = [vec![0, 1], vec![2, 3]];
        let (pass, _) = merged(&all, &machines, TransferKind::Read);
        assert_eq!((pass.bytes, pass.elapsed_ns), (200, 1_500));
        assert_eq!((pass.cpu_ns, pass.cpu_user_ns), (Some(3000), None));
        let numbers: Vec<u32> = pass.streams.iter().map(|it| it.stream).collect();
        assert_eq!(numbers, [1, 2, 3, 5]);
        // From 90 to 990 of 1,500 all three were at work.
        assert!((pass.overlap_share - 0.6).abs() < 1e-12, "{pass:?}");
        assert_eq!(pass.page_cache_share, Some(0.5));
        // The larger of the first machine's two counts, and 40 of the other.
        let moved = pass.device_rate.expect("known") * 1_500.0 / 1e9;
        assert!((moved - 140.0).abs() < 1e-9, "{moved}");
        let (written, _) = merged(&all, &machines, TransferKind::Write);
        let share = written.page_cache_share.expect("known");
        assert!((share - 0.3).abs() < 1e-12, "{share}");
    }

    /// A rank that is ready at once, hears when to begin, and then tells of its pass.
    struct Mover {
        rank: u32,
        round: u32,
    }

    impl VirtualHost for Mover {
        fn take_letter(&mut self, bytes: &[u8], at: Instant) -> Vec<Vec<u8>> {
            let letter = Letter::from_bytes(bytes).expect("a letter");
            let (kind, number, body) = match letter.kind {
                LetterKind::Ask => {
                    let own = at.as_nanos().to_le_bytes().to_vec();
                    (LetterKind::Answer, letter.number, own)
                }
                LetterKind::Round => {
                    self.round = letter.number + 1;
                    let ready: Result<(), ()> = Ok(());
                    (LetterKind::Round, self.round, lab::hosts::to_bytes(&ready))
                }
                LetterKind::Note => {
                    let own_pass: Result<RankTransfer, ()> = Ok(of_rank(self.rank));
                    let own_bytes = lab::hosts::to_bytes(&own_pass);
                    (LetterKind::Round, self.round + 1, own_bytes)
                }
                LetterKind::Answer | LetterKind::Alive => return Vec::new(),
            };
            vec![Letter { kind, number, body }.to_bytes()]
        }
    }

    fn of_rank(rank: u32) -> RankTransfer {
        let work = u64::from(rank) + 1;
        let summed = summed(work << 20, work * 1_000, &[rank + 1]);
        (u64::from(rank % 7), summed)
    }

    /// Rank 0 of 200 hosts with clocks of their own, in virtual time.
    #[test]
    fn passes_of_two_hundred_hosts_add_up_exactly() {
        let latency = Latency {
            least: Duration::from_micros(20),
            more: Duration::from_micros(80),
        };
        let mut fleet = VirtualFleet::new(HostClock::default(), latency, 5);
        for rank in 1..200 {
            let clock = HostClock {
                ahead_ns: i64::from(rank) * 10_000 - 1_000_000,
                drift_ppm: f64::from(rank) / 2.0 - 50.0,
            };
            fleet = fleet.with(Mover { rank, round: 0 }, clock, Instant::NEVER);
        }
        let ranks = Ranks::new(Box::new(fleet), TargetSharing::Separate);
        ranks.from_leader(&0_u64).expect("the first round");
        let mut peers = PeerStreams {
            rounds: RankRounds::new(ranks),
            streams: Vec::new(),
        };
        for kind in [TransferKind::Write, TransferKind::Read, TransferKind::Read] {
            let measured = peers.rounds.round(
                &mut (),
                |()| Ok(()),
                |()| Ok(summed(1 << 20, 1_000, &[1])),
                |all, machines| (merged(all, machines, kind), parts(all, kind)),
            );
            let (pass, _) = measured.expect("all are here");
            assert_eq!(pass.bytes, (1..=200_u64).sum::<u64>() << 20);
            assert_eq!(pass.streams.len(), 200);
            assert!(pass.elapsed_ns >= 199_000, "{}", pass.elapsed_ns);
        }
        let hosts = peers.rounds.shares();
        // Of what was written nothing is in the rows of hosts.
        let expected: Vec<u64> = (1..=200).map(|work| (2 * work) << 20).collect();
        let bytes: Vec<u64> = hosts.iter().map(|it| it.amount).collect();
        assert_eq!(bytes, expected);
        assert_eq!((hosts[199].last_in, hosts[199].rank), (2, 199));
        let text = peers.words().expect("passes").text();
        assert!(
            text.contains("200 ranks: rank 199 was done last in 2 of 2 passes"),
            "{text}"
        );
    }
}
