//! One pass of all streams that take part.

use procedure::{Ending, SeriesPlan, Trial};
use results::environment::CountersDelta;
use results::{
    BlockTimes, Measurement, StreamPass, TransferKind, TransferPass, Warning, WarningCode,
    histogram_in,
};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use stats::Histogram;
use std::collections::BTreeMap;
use units::{Bytes, Duration};

use super::hosts::pass_of_all;
use super::streams::{StreamLane, TransferStreams};
use crate::session::{Result, ShowGlimpse};
use host::counters::{Counters, page_cache_share};
use host::inspect::FetchAccount;
use host::interrupt::Interrupt;
use host::together::{no_thread, together};
use lab::bench::{Bench, BenchError};
use lab::laboratory::Outcome;
use lab::test_file::{stop_of, stopped};

/// What one stream brings home.
struct StreamResult {
    stream: u32,
    measurement: Measurement,
    elapsed: Duration,
    /// What the processors of a model's host worked, nanoseconds.
    model_cpu_ns: Option<u64>,
}

/// What a pass is told.
pub(super) struct PassSettings<'a> {
    pub plan: &'a SeriesPlan,
    number: u32,
    clients: u32,
    left: Duration,
    pub interrupt: &'a Interrupt,
}

/// A pass of the streams of this host.
#[derive(Serialize, Deserialize)]
pub(super) struct Summed {
    pub pass: TransferPass,
    /// The time of the shortest stream.
    pub shortest: Duration,
    /// What the devices moved, bytes.
    pub moved: Option<u64>,
    /// What is doubtful about it.
    pub warnings: Vec<Warning>,
}

impl Summed {
    pub fn with_warnings(self) -> (TransferPass, Vec<Warning>) {
        (self.pass, self.warnings)
    }
}

impl TransferStreams {
    /// One pass, with what is doubtful about it.
    ///
    /// # Errors
    /// When a stream does not come to its end.
    pub fn pass(
        &mut self,
        plan: &SeriesPlan,
        number: u32,
        left: Duration,
        interrupt: &Interrupt,
        show: ShowGlimpse<'_>,
    ) -> Result<(TransferPass, Vec<Warning>)> {
        let clients = if self.clients > 1 {
            plan.streams.len() as u32
        } else {
            1
        };
        let order = PassSettings {
            plan,
            number,
            clients,
            left,
            interrupt,
        };
        pass_of_all(self, &order, show)
    }

    /// The streams of this host that take part.
    fn taking_part(&mut self, plan: &SeriesPlan) -> Vec<&mut StreamLane> {
        let lanes = self.lanes.iter_mut();
        lanes
            .filter(|lane| plan.streams.contains(&lane.described.number))
            .collect()
    }

    /// Drop what the page cache has, where that is asked for.
    pub(super) fn make_ready(&mut self, order: &PassSettings<'_>) -> Result<()> {
        for lane in self.taking_part(order.plan) {
            if let (Bench::Real(real), true) = (&lane.bench, order.plan.drops_cache) {
                real.drop_main()?;
            }
        }
        Ok(())
    }

    /// One pass of the streams of this host.
    pub(super) fn pass_here(
        &mut self,
        order: &PassSettings<'_>,
        show: ShowGlimpse<'_>,
    ) -> Result<Summed> {
        let is_model = self.is_model();
        let account = self.fetch_account(order.plan);
        let before = Counters::take(None);
        let pieces = match self.taking_part(order.plan).as_mut_slice() {
            [one] => vec![measured(one, order, show)?],
            many => side_by_side(many, order, show)?,
        };
        let around = before.delta(&Counters::take(None));
        let virtual_now = is_model.then(|| self.now().as_nanos());
        Ok(summed(
            &pieces,
            order,
            &around,
            account.as_ref(),
            virtual_now,
        ))
    }

    /// Who counts what reads of the streams of this host that take part fetch; `None` on a model.
    fn fetch_account(&mut self, plan: &SeriesPlan) -> Option<FetchAccount> {
        let lanes = self.taking_part(plan).into_iter();
        let accounts = lanes.map(|lane| lane.bench.fetch_account());
        accounts.reduce(|one, other| Some(one?.and(other?)))?
    }
}

/// Several streams at once, each on a thread of its own; they begin together.
fn side_by_side(
    lanes: &mut [&mut StreamLane],
    order: &PassSettings<'_>,
    show: ShowGlimpse<'_>,
) -> Result<Vec<StreamResult>> {
    let Some((first, others)) = lanes.split_first_mut() else {
        return Ok(Vec::new());
    };
    let others = others.iter_mut();
    let others = others.map(|lane| move || measured(lane, order, &mut |_, _| {}));
    let (first, others) = together(others, || measured(first, order, show))
        .map_err(|error| BenchError::Refused(no_thread(&error)))?;
    let others = others.into_iter().map(|joined| {
        joined.unwrap_or_else(|_| {
            Err(BenchError::Usage(
                "a stream's thread has died: this is a mistake in the program".into(),
            ))
        })
    });
    [first].into_iter().chain(others).collect()
}

fn measured(
    lane: &mut StreamLane,
    order: &PassSettings<'_>,
    show: ShowGlimpse<'_>,
) -> Result<StreamResult> {
    let PassSettings {
        plan,
        number,
        clients,
        left,
        interrupt,
    } = *order;
    let mut measure = |trial: &Trial| -> Result<Outcome> {
        let measured = lane
            .bench
            .laboratory_itself()
            .measure(trial, &mut |glimpse| {
                show(&plan.title, glimpse);
                interrupt.is_raised().is_none()
            });
        let outcome: Outcome =
            measured.map_err(|error| stopped(interrupt).unwrap_or(error.into()))?;
        if outcome.ending == Ending::Budget {
            return Err(cut_short(trial, &outcome));
        }
        if outcome.failure.is_some() || outcome.ending != Ending::Finished {
            return Err(stop_of(&trial.title, outcome.failure, interrupt));
        }
        Ok(outcome)
    };
    let outcome = measure(&plan.trial(lane.access, number, clients, left))?;
    let mut piece = StreamResult {
        stream: lane.described.number,
        measurement: outcome.measurement,
        elapsed: outcome.elapsed,
        model_cpu_ns: outcome.model_cpu_ns,
    };
    let left = left.saturating_sub(piece.elapsed);
    if let Some(rest) = plan.rest(lane.access, number, left) {
        piece.absorb(&measure(&rest)?);
    }
    Ok(piece)
}

/// What was moved of a pass whose time was not enough.
fn cut_short(trial: &Trial, outcome: &Outcome) -> BenchError {
    BenchError::Usage(format!(
        "{}: only {} were moved in {}. Use a longer --budget, or a smaller --size",
        trial.title,
        Bytes(outcome.measurement.bytes_all),
        outcome.elapsed
    ))
}

impl StreamResult {
    /// Take in the end of the pass, which is a single operation: its bytes and its time count, and
    /// nothing can be seen in it that would be doubtful.
    fn absorb(&mut self, rest: &Outcome) {
        let (all, one) = (&mut self.measurement, &rest.measurement);
        self.elapsed += rest.elapsed;
        let model = self.model_cpu_ns.zip(rest.model_cpu_ns);
        self.model_cpu_ns = model.map(|(all, rest)| all + rest);
        let cached = |measurement: &Measurement| {
            Some(measurement.page_cache_share? * measurement.bytes_all as f64)
        };
        let bytes = all.bytes_all + one.bytes_all;
        let cached = cached(all).zip(cached(one)).map(|(all, one)| all + one);
        all.page_cache_share = cached.map(|cached| cached / bytes as f64);
        all.bytes_all = bytes;
        let Some((all, one)) = all.counters.as_mut().zip(one.counters.as_ref()) else {
            return;
        };
        all.cpu_ns += one.cpu_ns;
        let sum = |all: Option<u64>, one: Option<u64>| Some(all? + one?);
        all.cpu_user_ns = sum(all.cpu_user_ns, one.cpu_user_ns);
        all.cpu_system_ns = sum(all.cpu_system_ns, one.cpu_system_ns);
        if let Some((all, one)) = all.device.as_mut().zip(one.device.as_ref()) {
            all.read_bytes += one.read_bytes;
            all.written_bytes += one.written_bytes;
        }
    }
}

fn summed(
    pieces: &[StreamResult],
    order: &PassSettings<'_>,
    around: &CountersDelta,
    account: Option<&FetchAccount>,
    virtual_now: Option<u64>,
) -> Summed {
    let bytes: u64 = pieces.iter().map(|piece| piece.measurement.bytes_all).sum();
    let longest = pieces.iter().map(|piece| piece.elapsed).max();
    let shortest = pieces.iter().map(|piece| piece.elapsed).min();
    let elapsed = longest.unwrap_or(Duration::ZERO);
    let seconds = elapsed.as_secs_f64().max(1e-9);
    let is_model = virtual_now.is_some();
    let (counters, share) = match pieces {
        _ if is_model => (None, None),
        [one] => (
            one.measurement.counters.as_ref(),
            one.measurement.page_cache_share,
        ),
        _ if order.plan.kind == TransferKind::Write => (Some(around), unwritten(pieces, bytes)),
        _ => (Some(around), cached_share(pieces, bytes, around, account)),
    };
    let streams = pieces.iter().filter(|_| order.clients == 1).map(|piece| {
        let measurement = &piece.measurement;
        let rate = measurement.bytes_all as f64 / piece.elapsed.as_secs_f64().max(1e-9);
        StreamPass {
            stream: piece.stream,
            bytes: measurement.bytes_all,
            elapsed_ns: piece.elapsed.as_nanos(),
            rate,
            within: measurement
                .bandwidth
                .filter(|within| within.is_bounded() && within.low > 0.0)
                // Slots leave the first and last moments out: their spread is put around the rate
                // of the whole pass.
                .map(|within| within.scale(rate / within.value)),
        }
    });
    let of_model: Option<u64> = pieces.iter().map(|piece| piece.model_cpu_ns).sum();
    let clock = clock_gettime(ClockId::Monotonic);
    let monotonic = clock.tv_sec as u64 * 1_000_000_000 + clock.tv_nsec as u64;
    let moved = device_bytes(pieces, order.plan.kind);
    let pass = TransferPass {
        number: order.number,
        bytes,
        elapsed_ns: elapsed.as_nanos(),
        rate: bytes as f64 / seconds,
        overlap_share: shortest.map_or(1.0, |it| it.as_secs_f64() / seconds),
        streams: streams.collect(),
        blocks: block_times(pieces),
        cpu_ns: counters.map(|counters| counters.cpu_ns).or(of_model),
        cpu_user_ns: counters.and_then(|counters| counters.cpu_user_ns),
        cpu_system_ns: counters.and_then(|counters| counters.cpu_system_ns),
        page_cache_share: share,
        device_rate: moved.map(|moved| moved as f64 / seconds),
        ended_at: (!is_model).then(|| format!("{:.3}", jiff::Timestamp::now())),
        ended_monotonic_ns: virtual_now.unwrap_or(monotonic),
    };
    let warnings = pieces
        .iter()
        .flat_map(|piece| piece.measurement.warnings.clone())
        // The rate of a pass is that of all of it: no warm-up is left out.
        .filter(|it| it.code != WarningCode::WarmUpDiffers);
    Summed {
        pass,
        shortest: shortest.unwrap_or(Duration::ZERO),
        moved,
        warnings: warnings.collect(),
    }
}

/// What the blocks of all streams took; without the part of a block at the end of a pass.
fn block_times(pieces: &[StreamResult]) -> Option<BlockTimes> {
    let kinds = || pieces.iter().flat_map(|piece| &piece.measurement.kinds);
    let mut whole = Histogram::default();
    for kind in kinds() {
        whole.merge(&histogram_in(&kind.response_histogram)?);
    }
    let count: u64 = kinds().map(|kind| kind.count).sum();
    let sum: f64 = kinds()
        .map(|kind| kind.response_mean_ns * kind.count as f64)
        .sum();
    (count > 0).then(|| BlockTimes {
        count,
        mean_ns: sum / count as f64,
        p99_ns: whole.quantile(0.99),
    })
}

/// Share of the bytes written that had not reached a device when the pass ended: the page cache has
/// them. Absent where a stream's device is not known.
fn unwritten(pieces: &[StreamResult], bytes: u64) -> Option<f64> {
    let is_counted = |piece: &StreamResult| {
        let counters = piece.measurement.counters.as_ref();
        let has_device = counters.is_some_and(|counters| counters.device.is_some());
        has_device && piece.measurement.page_cache_share.is_some()
    };
    let all = bytes > 0 && pieces.iter().all(is_counted);
    let written = device_bytes(pieces, TransferKind::Write).filter(|_| all)?;
    Some((1.0 - written as f64 / bytes as f64).clamp(0.0, 1.0))
}

/// The share of what all streams read that a cache answered. The process has it around them all;
/// every other account has it of all streams, whichever of them looks.
fn cached_share(
    pieces: &[StreamResult],
    bytes: u64,
    around: &CountersDelta,
    account: Option<&FetchAccount>,
) -> Option<f64> {
    if account == Some(&FetchAccount::Process) {
        return page_cache_share(bytes, around, &FetchAccount::Process);
    }
    let measured = pieces.iter().map(|piece| &piece.measurement);
    let cached = measured.map(|it| Some(it.page_cache_share? * it.bytes_all as f64));
    let cached: f64 = cached.sum::<Option<f64>>()?;
    (bytes > 0).then(|| cached / bytes as f64)
}

/// What the devices moved, each counted once.
fn device_bytes(pieces: &[StreamResult], kind: TransferKind) -> Option<u64> {
    let mut devices: BTreeMap<&str, u64> = BTreeMap::new();
    for piece in pieces {
        let counters = piece.measurement.counters.as_ref();
        let device = counters.and_then(|counters| counters.device.as_ref());
        if let Some(device) = device {
            let moved = match kind {
                TransferKind::Write => device.written_bytes,
                TransferKind::Read => device.read_bytes,
            };
            let most = devices.entry(&device.name).or_default();
            *most = moved.max(*most);
        }
    }
    (!devices.is_empty()).then(|| devices.values().sum())
}
