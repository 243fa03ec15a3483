//! Streams on several hosts: they are dealt in turn, so that a stream's number, and with it its
//! data, does not depend on how many hosts there are. All ranks run the same series; each pass
//! begins on all at once and lasts until the last rank is done.

use lab::bench::BenchError;
use lab::hosts::{CommonTarget, Ranks, TargetReport};
use lab::test_file::stopped;
use results::{
    StreamPass, TransferHost, TransferKind, TransferPass, TransferStream, Warning, WarningCode,
};
use serde::{Deserialize, Serialize};
use units::{format_counted, format_duration_ns};

use super::pass::{PassSettings, Summed};
use super::stage::ProgressReporter;
use super::streams::{OpenedStreams, TransferStreams};
use host::interrupt::Interrupt;

/// The ranks of a transfer, as rank 0 sees them at work.
pub(super) struct PeerStreams {
    pub ranks: Ranks,
    /// The streams of all ranks; on rank 0 alone.
    pub streams: Vec<TransferStream>,
    work: Vec<RankReading>,
    passes: u32,
    skew_ns: u64,
}

/// What a rank did in the passes that read with all streams.
#[derive(Clone, Copy, Debug, Default)]
struct RankReading {
    bytes: u64,
    elapsed_ns: u64,
    cpu_ns: Option<u64>,
    first_in: u32,
    last_in: u32,
}

/// A pass of one rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RankTransfer {
    /// When it began, after the instant at which all were to begin, nanoseconds.
    late_ns: u64,
    /// The time of its shortest stream, nanoseconds.
    shortest_ns: u64,
    /// What its devices moved, bytes.
    moved: Option<u64>,
    /// Nothing of a rank that has no stream in it.
    pass: Option<TransferPass>,
    warnings: Vec<Warning>,
}

impl RankTransfer {
    fn of(late_ns: u64, summed: Summed) -> Self {
        let has_streams = summed.pass.bytes > 0;
        Self {
            late_ns,
            shortest_ns: summed.shortest.as_nanos(),
            moved: summed.moved,
            pass: has_streams.then_some(summed.pass),
            warnings: summed.warnings,
        }
    }

    fn ended_ns(&self) -> u64 {
        self.late_ns + self.pass.as_ref().map_or(0, |it| it.elapsed_ns)
    }
}

/// All ranks have opened their streams, or none goes on.
///
/// # Errors
/// When one cannot.
pub(super) fn agreed(
    ranks: &Ranks,
    streams_asked: u32,
    opened: Result<OpenedStreams, BenchError>,
) -> Result<OpenedStreams, BenchError> {
    let (answer, opened) = match opened {
        Ok(opened) => {
            let seen = TargetReport::of(&opened.description, &opened.facts);
            (Ok((seen, opened.streams.described())), Some(opened))
        }
        Err(error) => (Err(error), None),
    };
    let mut streams = Vec::new();
    let common = ranks.agree(answer, |all: Vec<(TargetReport, Vec<TransferStream>)>| {
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
    });
    match (common, opened) {
        (Ok(common), Some(mut opened)) => {
            let mut facts = opened.facts.clone();
            common.apply(&mut facts);
            opened.room = facts.room;
            opened.existing = facts.existing;
            opened.count = streams_asked;
            // Of the rank that has most.
            let most = u64::from(streams_asked.div_ceil(ranks.share().ranks));
            opened.files = if opened.files > 0 { most } else { 0 };
            opened.differences = common.differences;
            streams.sort_by_key(|stream: &TransferStream| stream.number);
            opened.streams.peers = Some(PeerStreams::new(ranks.clone(), streams));
            Ok(opened)
        }
        (Err(error), Some(opened)) => Err(opened.abandon(error)),
        (common, None) => Err(common.err().unwrap_or(BenchError::Served)),
    }
}

/// A step that all ranks take, each on its own streams.
///
/// # Errors
/// When it failed anywhere.
pub(super) fn step<T>(
    streams: &mut TransferStreams,
    interrupt: &Interrupt,
    take: impl FnOnce(&mut TransferStreams) -> Result<T, BenchError>,
) -> Result<T, BenchError> {
    let Some(ranks) = streams.ranks() else {
        return take(streams);
    };
    let taken = ranks.beating(|| take(streams));
    agreed_by_all(Some(&ranks), taken).map_err(|error| cause(interrupt, error))
}

/// Go on if all ranks can.
///
/// # Errors
/// When one cannot.
pub(super) fn agreed_by_all<T>(
    ranks: Option<&Ranks>,
    own: Result<T, BenchError>,
) -> Result<T, BenchError> {
    let Some(ranks) = ranks else {
        return own;
    };
    let (answer, own) = match own {
        Ok(own) => (Ok(()), Some(own)),
        Err(error) => (Err(error), None),
    };
    match (ranks.agree(answer, |_| Ok(())), own) {
        (Ok(()), Some(own)) => Ok(own),
        (agreed, _) => Err(agreed.err().unwrap_or(BenchError::Served)),
    }
}

/// A pass of all ranks together.
///
/// # Errors
/// When it failed anywhere.
pub(super) fn pass_of_all(
    streams: &mut TransferStreams,
    order: &PassSettings<'_>,
    progress: &mut ProgressReporter<'_>,
) -> Result<(TransferPass, Vec<Warning>), BenchError> {
    step(streams, order.interrupt, |streams| {
        streams.make_ready(order)
    })?;
    let Some(mut peers) = streams.peers.take() else {
        return Ok(streams.pass_here(order, progress)?.with_warnings());
    };
    let measured = peers.pass(order.plan.kind, || streams.pass_here(order, progress));
    streams.peers = Some(peers);
    measured.map_err(|error| cause(order.interrupt, error))
}

/// A signal goes to all ranks, and each takes another's for a failure.
fn cause(interrupt: &Interrupt, error: BenchError) -> BenchError {
    match error {
        BenchError::Served => error,
        other => stopped(interrupt).unwrap_or(other),
    }
}

impl PeerStreams {
    fn new(ranks: Ranks, streams: Vec<TransferStream>) -> Self {
        Self {
            work: vec![RankReading::default(); ranks.share().ranks as usize],
            ranks,
            streams,
            passes: 0,
            skew_ns: 0,
        }
    }

    fn pass(
        &mut self,
        kind: TransferKind,
        measure: impl FnOnce() -> Result<Summed, BenchError>,
    ) -> Result<(TransferPass, Vec<Warning>), BenchError> {
        let late = self.ranks.begin_together()?;
        let found = self.ranks.beating(measure);
        let answer = found.map(|summed| RankTransfer::of(late.as_nanos(), summed));
        let machines = self.ranks.machines();
        let mut passes = Vec::new();
        let merged = self.ranks.agree(answer, |all: Vec<RankTransfer>| {
            let merged = merged(&all, &machines, kind);
            passes = all;
            Ok(merged)
        })?;
        let is_of_all = passes.iter().all(|it| it.pass.is_some());
        if kind == TransferKind::Read && is_of_all {
            self.note(&passes);
        }
        Ok(merged)
    }

    fn note(&mut self, passes: &[RankTransfer]) {
        let ends = || passes.iter().map(RankTransfer::ended_ns);
        let (Some(first), Some(last)) = (ends().min(), ends().max()) else {
            return;
        };
        self.passes += 1;
        self.skew_ns = self.skew_ns.max(last - first);
        for (work, transfer) in self.work.iter_mut().zip(passes) {
            let Some(pass) = &transfer.pass else { continue };
            let before = if self.passes == 1 {
                Some(0)
            } else {
                work.cpu_ns
            };
            work.cpu_ns = before.zip(pass.cpu_ns).map(|(sum, more)| sum + more);
            work.bytes += pass.bytes;
            work.elapsed_ns += pass.elapsed_ns;
            work.first_in += u32::from(transfer.ended_ns() == first);
            work.last_in += u32::from(transfer.ended_ns() == last);
        }
    }

    /// What each rank did, in a row each.
    pub fn hosts(&self) -> Vec<TransferHost> {
        let row = |(rank, work): (u32, &RankReading)| {
            let seconds = (work.elapsed_ns as f64 / 1e9).max(1e-9);
            TransferHost {
                rank,
                host: self.ranks.host(rank).unwrap_or_default(),
                bytes: work.bytes,
                rate: work.bytes as f64 / seconds,
                first_in: work.first_in,
                last_in: work.last_in,
                processors_used: work.cpu_ns.map(|cpu| cpu as f64 / 1e9 / seconds),
            }
        };
        if self.passes == 0 {
            return Vec::new();
        }
        (0..).zip(&self.work).map(row).collect()
    }

    /// Part from the others; what could not be removed, a warning each. On other ranks than 0 that
    /// is the end.
    ///
    /// # Errors
    /// [`BenchError::Served`] on other ranks than 0, or why the others are silent.
    pub fn part(&self, left: &[Warning]) -> Result<Vec<Warning>, BenchError> {
        let texts: Vec<String> = left.iter().map(Warning::text).collect();
        let parted = self.ranks.part_with(&texts.join("; "));
        if !self.ranks.leads() {
            return Err(parted.err().unwrap_or(BenchError::Served));
        }
        let texts = parted.unwrap_or_else(|error| vec![error.reason()]);
        let warning = |text| Warning::warn(WarningCode::LeftBehind, text);
        Ok(texts.into_iter().map(warning).collect())
    }

    /// Who held the others up, in a note.
    pub fn words(&self) -> Option<Warning> {
        let (last, work) = (0..).zip(&self.work).max_by_key(|it| it.1.last_in)?;
        let text = format!(
            "{}, {} ranks: {} was done last in {} of {} that read all streams; from the first \
             rank done to the last it took {} at most. A pass lasts until the last rank is done.",
            format_counted(self.ranks.machines().len() as u64, "host"),
            self.ranks.share().ranks,
            self.ranks.name(last),
            work.last_in,
            format_counted(u64::from(self.passes), "pass"),
            format_duration_ns(self.skew_ns as f64),
        );
        (self.passes > 0).then(|| Warning::info(WarningCode::Hosts, text))
    }
}

/// A pass of all ranks: what each moved is added, and it lasted from the first that began to the
/// last that was done. What a device moved is that of its machine, whichever rank asked.
fn merged(
    all: &[RankTransfer],
    machines: &[Vec<u32>],
    kind: TransferKind,
) -> (TransferPass, Vec<Warning>) {
    let at_work: Vec<(&RankTransfer, &TransferPass)> = all
        .iter()
        .filter_map(|it| Some((it, it.pass.as_ref()?)))
        .collect();
    let of_ranks =
        |of: fn(&RankTransfer) -> u64| at_work.iter().map(move |(transfer, _)| of(transfer));
    let began = of_ranks(|it| it.late_ns).min().unwrap_or(0);
    let ended = of_ranks(RankTransfer::ended_ns).max().unwrap_or(0);
    let elapsed_ns = ended.saturating_sub(began);
    let seconds = (elapsed_ns as f64 / 1e9).max(1e-9);
    let all_began = of_ranks(|it| it.late_ns).max().unwrap_or(0);
    let one_ended = of_ranks(|it| it.late_ns + it.shortest_ns)
        .min()
        .unwrap_or(0);
    let passes = || at_work.iter().map(|(_, pass)| *pass);
    let bytes: u64 = passes().map(|it| it.bytes).sum();
    let known = |of: fn(&TransferPass) -> Option<u64>| passes().map(of).sum::<Option<u64>>();
    let moved = moved_by(all, machines);
    let is_known = passes().all(|it| it.page_cache_share.is_some());
    let last = at_work
        .iter()
        .max_by_key(|(transfer, _)| transfer.ended_ns());
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
        ended_at: last.and_then(|(_, pass)| pass.ended_at.clone()),
        ended_monotonic_ns: last.map_or(0, |(_, pass)| pass.ended_monotonic_ns),
    };
    let warnings = all.iter().flat_map(|it| it.warnings.clone());
    (pass, warnings.collect())
}

/// What the devices of all machines moved, where all ranks at work know it.
fn moved_by(all: &[RankTransfer], machines: &[Vec<u32>]) -> Option<u64> {
    let of_machine = |ranks: &Vec<u32>| -> Option<u64> {
        let at_work = ranks.iter().map(|rank| &all[*rank as usize]);
        let at_work = at_work.filter(|it| it.pass.is_some());
        let each: Option<Vec<u64>> = at_work.map(|it| it.moved).collect();
        Some(each?.into_iter().max().unwrap_or(0))
    };
    machines.iter().map(of_machine).sum()
}

impl TransferStreams {
    /// The hosts, where there are several.
    pub(super) fn ranks(&self) -> Option<Ranks> {
        self.peers.as_ref().map(|it| it.ranks.clone())
    }
}

/// The streams of this rank, by their numbers.
pub(super) fn numbers(ranks: Option<&Ranks>, streams: u32) -> Vec<u32> {
    let share = ranks.map_or(fleet::ClientShare::WHOLE, Ranks::share);
    let own = (0..share.count(streams)).map(|index| share.client(index) + 1);
    own.collect()
}

#[cfg(test)]
mod tests {
    use fleet::{HostClock, Latency, Letter, LetterKind, VirtualFleet, VirtualHost};
    use units::{Duration, Instant};

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
        let idle = RankTransfer::of(500, summed(0, 0, &[]));
        let all = [
            RankTransfer::of(50, summed(100, 1_000, &[1, 5])),
            RankTransfer::of(20, summed(60, 1_500, &[2])),
            RankTransfer::of(90, summed(40, 900, &[3])),
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
                    (LetterKind::Round, self.round, Vec::new())
                }
                LetterKind::Note => {
                    let own_pass: Result<RankTransfer, (bool, String)> = Ok(of_rank(self.rank));
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
        RankTransfer::of(
            u64::from(rank % 7),
            summed(work << 20, work * 1_000, &[rank + 1]),
        )
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
        let ranks = Ranks::new(Box::new(fleet), false);
        ranks.from_leader(&0_u64).expect("the first round");
        let mut peers = PeerStreams::new(ranks, Vec::new());
        for kind in [TransferKind::Write, TransferKind::Read, TransferKind::Read] {
            let own = || Ok(summed(1 << 20, 1_000, &[1]));
            let (pass, _) = peers.pass(kind, own).expect("all are here");
            assert_eq!(pass.bytes, (1..=200_u64).sum::<u64>() << 20);
            assert_eq!(pass.streams.len(), 200);
            assert!(pass.elapsed_ns >= 199_000, "{}", pass.elapsed_ns);
        }
        let hosts = peers.hosts();
        // Of what was written nothing is in the rows of hosts.
        let expected: Vec<u64> = (1..=200).map(|work| (2 * work) << 20).collect();
        let bytes: Vec<u64> = hosts.iter().map(|it| it.bytes).collect();
        assert_eq!(bytes, expected);
        assert_eq!((hosts[199].last_in, hosts[199].rank), (2, 199));
        let text = peers.words().expect("passes").text();
        assert!(
            text.contains("200 ranks: rank 199 was done last in 2 of 2 passes"),
            "{text}"
        );
    }
}
