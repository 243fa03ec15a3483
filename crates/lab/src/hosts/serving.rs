//! Ranks other than 0: each runs its share of the trials that rank 0 orders.

use engine::{Clock as _, DriverError, Record};
use fleet::{ClientShare, FleetError, FleetGroup};
use host::interrupt::Interrupt;
use procedure::{Ending, Monitor, Preparation, Trial};
use stats::Slot;
use sys::MonotonicClock;
use units::{Duration, Instant};
use workload::ClientSpec;

use super::ranks::Ranks;
use super::step::take_step;
use super::wire::{Note, RankCommand, RankReport, Readiness, Scope, from_bytes, to_bytes};
use crate::bench::BenchError;
use crate::coordinator::TrialCoordinator;
use crate::laboratory::{LaboratoryError, with_causes};
use crate::storage::{PartialTrial, StorageLaboratory};

/// Interval for sending slots.
const SEND_EVERY: Duration = Duration::from_millis(100);
/// Interval for checking that rank 0 is still there.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Bit of the salt that separates trials of a run (below) from ranks (above).
const RANK_BITS_FROM: u32 = 40;

/// Follows rank 0's orders until it orders to part, then removes the files created here. `listed`
/// are trials that every rank creates itself, and rank 0 names by their salt.
///
/// # Errors
/// If rank 0 does not respond, or sends an unknown order.
pub fn serve(
    ranks: &Ranks,
    local: &mut StorageLaboratory,
    (listed, interrupt): (&[Trial], &Interrupt),
) -> Result<(), BenchError> {
    loop {
        let order = ranks.round(|group| group.broadcast(&[]))?;
        match ranks.checked(from_bytes(0, &order))? {
            RankCommand::Measure(trial, scope) => {
                ranks.checked(carry_out(ranks, local, *trial, (scope, interrupt)))?;
            }
            RankCommand::Listed(salt, scope) => {
                let trial = listed.iter().find(|trial| trial.salt == salt);
                let unknown = FleetError::Unexpected {
                    rank: 0,
                    what: format!("an order for trial {salt}, which is none here"),
                };
                let trial = ranks.checked(trial.cloned().ok_or(unknown))?;
                ranks.checked(carry_out(ranks, local, trial, (scope, interrupt)))?;
            }
            RankCommand::Step(step) => {
                let taken = ranks.beating(|| take_step(local, step));
                let taken: Readiness = taken.map_err(|error| with_causes(&error));
                ranks.round(|group| group.gather(&to_bytes(&taken)))?;
            }
            RankCommand::Part => {
                let left = local.clean_up().err();
                let left = left.map_or(String::new(), |error| with_causes(&error));
                ranks.round(|group| group.gather(&to_bytes(&left)))?;
                ranks.part();
                return Ok(());
            }
        }
    }
}

/// Runs this rank's share of a trial, and reports it.
fn carry_out(
    ranks: &Ranks,
    local: &mut StorageLaboratory,
    mut trial: Trial,
    (scope, interrupt): (Scope, &Interrupt),
) -> Result<(), FleetError> {
    let mut serving = Serving::new(ranks, scope);
    if serving.share().count(trial.clients) == 0 {
        serving.stand_by()?;
    } else {
        let mut go_on = |_: &_| interrupt.is_raised().is_none();
        if scope == Scope::Each {
            // Otherwise all hosts would request the same blocks of a shared file in the same order.
            trial.salt ^= u64::from(ranks.share().rank) << RANK_BITS_FROM;
        }
        let mut trial = ranks.own_part(&trial);
        let prepared = ranks.beating(|| local.prepare(&trial, &mut go_on));
        trial.preparation = Preparation::None;
        let measured =
            prepared.and_then(|()| local.measure_among(&trial, &mut serving, &mut go_on));
        if let Err(error) = &measured
            && serving.stage == ServingStage::Ordered
        {
            serving.refuse(&reason_of(error))?;
        }
        // Clients of slow programs may have nothing to do on one host for a whole trial, and a
        // stopped trial may have been too short for any.
        let is_stopped = interrupt.is_raised().is_some();
        let is_idle = measured
            .as_ref()
            .is_ok_and(|it| it.is_silent() && (is_stopped || waits(&trial.spec)));
        serving.is_done = is_idle && !is_stopped;
        serving.found = (!is_idle).then_some(measured);
        if let ClientSpec::Own(own) = &trial.spec {
            serving.own_report = own.report();
        }
    }
    serving.report()
}

/// Whether clients wait by their own clocks, or may have nothing to do on this host.
fn waits(spec: &ClientSpec) -> bool {
    match spec {
        ClientSpec::Control(control) => control.types.iter().any(|it| !it.is_batch()),
        ClientSpec::Own(_) => true,
        _ => false,
    }
}

/// Stage that this rank has reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ServingStage {
    Ordered,
    CalledOff,
    Running,
    Stopped,
}

/// State of a rank other than 0 during a trial.
struct Serving {
    ranks: Ranks,
    scope: Scope,
    stage: ServingStage,
    slots: Vec<Slot>,
    /// Time until which each worker has closed its slots.
    closed: Vec<Duration>,
    sent: Instant,
    lost: Option<FleetError>,
    found: Option<Result<PartialTrial, LaboratoryError>>,
    /// Whether its clients have finished while the others continue.
    is_done: bool,
    own_report: Vec<u8>,
}

impl Serving {
    fn new(ranks: &Ranks, scope: Scope) -> Self {
        Self {
            ranks: ranks.clone(),
            scope,
            stage: ServingStage::Ordered,
            slots: Vec::new(),
            closed: Vec::new(),
            sent: Instant::START,
            lost: None,
            found: None,
            is_done: false,
            own_report: Vec::new(),
        }
    }

    /// Reports whether this rank is ready, and waits for the start on the group's clock; `None` if
    /// it was cancelled.
    fn await_start(
        &mut self,
        group: &mut FleetGroup,
        ready: &Readiness,
    ) -> Result<Option<Instant>, FleetError> {
        group.gather(&to_bytes(ready))?;
        let begun = group.now();
        loop {
            let until = group.now() + LOOK_EVERY;
            match group.next_note(until)? {
                Some((rank, bytes)) => match Note::from_bytes(rank, &bytes)? {
                    Note::Go { start } => {
                        self.stage = ServingStage::Running;
                        return Ok(Some(start));
                    }
                    Note::CallOff => {
                        self.stage = ServingStage::CalledOff;
                        return Ok(None);
                    }
                    // It had already ended by itself when told to stop the last trial.
                    Note::Stop => {}
                    Note::Slots { .. } | Note::Ended | Note::Finished => {
                        let what = "no start message".into();
                        return Err(FleetError::Unexpected { rank, what });
                    }
                },
                None => group.silent_since(begun, &[0]).map_or(Ok(()), Err)?,
            }
            group.tick()?;
        }
    }

    /// Reports that this rank cannot start.
    fn refuse(&mut self, reason: &str) -> Result<(), FleetError> {
        let ranks = self.ranks.clone();
        let mut group = ranks.group();
        self.await_start(&mut group, &Err(reason.to_owned()))
            .map(drop)
    }

    /// This rank has no clients and waits for the others.
    fn stand_by(&mut self) -> Result<(), FleetError> {
        let ranks = self.ranks.clone();
        let mut group = ranks.group();
        let begun = self.await_start(&mut group, &Ok(()))?;
        while begun.is_some() && self.stage == ServingStage::Running {
            let until = group.now() + LOOK_EVERY;
            if let Some((rank, bytes)) = group.next_note(until)? {
                self.take(rank, &bytes)?;
            }
            group.tick()?;
            group
                .silent_since(begun.unwrap_or_default(), &[0])
                .map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    fn take(&mut self, rank: u32, bytes: &[u8]) -> Result<(), FleetError> {
        match Note::from_bytes(rank, bytes)? {
            Note::Stop => {
                self.stage = ServingStage::Stopped;
                Ok(())
            }
            _ => Err(FleetError::Unexpected {
                rank,
                what: "something else than to stop".into(),
            }),
        }
    }

    /// Sends the slots closed so far.
    fn send(&mut self, group: &mut FleetGroup) -> Result<(), FleetError> {
        let elapsed = self.closed.iter().min().copied().unwrap_or_default();
        let slots = std::mem::take(&mut self.slots);
        group.note(0, &Note::Slots { elapsed, slots }.to_bytes())
    }

    /// How this rank ended on its own.
    fn last_word(&self) -> Note {
        match &self.found {
            Some(Ok(part)) if part.outcome.ending == Ending::Finished => Note::Finished,
            None if self.is_done => Note::Finished,
            _ => Note::Ended,
        }
    }

    /// Reports the results to rank 0.
    fn report(mut self) -> Result<(), FleetError> {
        if self.stage == ServingStage::CalledOff {
            return Ok(());
        }
        let ranks = self.ranks.clone();
        let mut group = ranks.group();
        // Nothing may follow the message that this rank has finished.
        self.send(&mut group)?;
        if self.stage == ServingStage::Running {
            group.note(0, &self.last_word().to_bytes())?;
        }
        if let Some(error) = self.lost.take() {
            return Err(error);
        }
        let report = match self.found.take() {
            None => RankReport::of_nothing(None),
            Some(Ok(part)) => RankReport::of(part),
            Some(Err(error)) => RankReport::of_nothing(Some(reason_of(&error))),
        };
        let report = RankReport {
            own_report: self.own_report,
            ..report
        };
        group.gather(&to_bytes(&report)).map(drop)
    }
}

/// Why nothing was measured, without this rank's name, which rank 0 adds.
fn reason_of(error: &LaboratoryError) -> String {
    match error {
        LaboratoryError::Trial { error, .. } => with_causes(error),
        other => with_causes(other),
    }
}

impl RankReport {
    fn of(part: PartialTrial) -> Self {
        let PartialTrial {
            outcome,
            record,
            own,
        } = part;
        Self {
            own,
            elapsed: outcome.elapsed,
            record,
            row: Some(outcome.measurement),
            own_report: Vec::new(),
            failure: outcome.failure.as_ref().map(ToString::to_string),
        }
    }

    fn of_nothing(failure: Option<String>) -> Self {
        Self {
            elapsed: Duration::ZERO,
            record: Record::default(),
            row: None,
            own: None,
            own_report: Vec::new(),
            failure,
        }
    }
}

impl TrialCoordinator for Serving {
    fn share(&self) -> ClientShare {
        self.scope.share(self.ranks.share())
    }

    fn start(&mut self, clock: MonotonicClock, workers: usize) -> Result<Instant, DriverError> {
        let ranks = self.ranks.clone();
        let mut group = ranks.group();
        let refused = |reason: String| DriverError::System {
            operation: "starting with the other hosts",
            reason,
        };
        self.closed = vec![Duration::ZERO; workers];
        match self.await_start(&mut group, &Ok(())) {
            Ok(Some(start)) => Ok(clock.now() + start.since(group.now())),
            Ok(None) => Err(refused("another rank failed".into())),
            Err(error) => {
                self.stage = ServingStage::CalledOff;
                let words = refused(self.ranks.words(&error));
                self.lost = Some(error);
                Err(words)
            }
        }
    }

    fn add_slots(&mut self, worker: usize, slots: &[Slot], elapsed: Duration) {
        self.slots.extend_from_slice(slots);
        self.closed[worker] = elapsed;
    }

    fn attend(&mut self) {
        let ranks = self.ranks.clone();
        let mut group = ranks.group();
        let mut step = || -> Result<(), FleetError> {
            group.tick()?;
            while let Some((rank, bytes)) = group.next_note(Instant::START)? {
                self.take(rank, &bytes)?;
            }
            if group.now().since(self.sent) >= SEND_EVERY {
                self.sent = group.now();
                self.send(&mut group)?;
            }
            group.silent_since(Instant::START, &[0]).map_or(Ok(()), Err)
        };
        if let Err(error) = step() {
            self.lost.get_or_insert(error);
        }
    }

    fn decide(&mut self, _own: &mut Monitor, _elapsed: Duration) -> Option<Ending> {
        match (self.stage, &self.lost) {
            (_, Some(_)) => Some(Ending::Interrupted),
            (ServingStage::Stopped, None) => Some(Ending::Goal),
            _ => None,
        }
    }

    fn shown<'a>(&'a self, own: &'a Monitor) -> &'a Monitor {
        own
    }
}
