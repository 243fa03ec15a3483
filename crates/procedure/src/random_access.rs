//! Random access: which cells are measured, in which order, and when there is enough of each.
//!
//! Service times depend on how much of a file is in play (seek distance, caches), on the block size
//! and on the depth. Every cell is one load with fixed settings, visited in at least two rounds,
//! each of which goes through all cells in another random order: what changes with time shows as
//! rounds that differ, and is not taken for an effect of size. Rounds beyond those asked for go to
//! cells that are not precise yet, while there is time. Where rounds promise what they keep, each
//! further one may be the last; where they lie further apart, they are repeats, and end by the rule
//! of all repeats (`rounds`).

mod combine;
mod conclusions;
mod doubts;
mod shape;

use random::{Purpose, Stream};
use results::{Access, Measurement, RandomCell, RandomKind};
use stats::{Channel, Goal};
use units::{Bytes, Duration};
use workload::{AddressSpec, ClientSpec, Durability, Mix, MixSpec, Region};

use crate::checkup::MAIN_DIRECT;
use crate::plan::Plan;
use crate::rounds::{Rounds, RoundsRule};
use crate::trial::Trial;
use combine::{cell_of, promise_enough};

pub use conclusions::random_findings;
pub use doubts::random_doubts;
pub use shape::{BLOCKS_MIN, CellPlan, RandomShape, ShapeError, SweepCells};

/// The shortest time that counts of a cell in one round.
pub const TRIAL_MIN: Duration = Duration::from_millis(250);
/// Rounds beyond those asked for.
const ROUNDS_EXTRA: u32 = 16;
/// A fast device is looked at for this long at least, or for half of the time there is.
const LOOK_MIN: Duration = Duration::from_secs(1);

/// How cells are measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomOptions {
    /// Rounds that every cell gets.
    pub rounds: u32,
    /// Relative half-width wanted of the mean service time.
    pub precision: f64,
    /// The most time of a cell in one round, the warm-up included.
    pub trial_max: Duration,
    /// What every round of a cell leaves out at its start, whatever it looks like; a rule finds it
    /// when absent.
    pub warm_up: Option<Duration>,
    /// Time for all cells.
    pub budget: Duration,
    /// What a completed write promises.
    pub durability: Durability,
    /// Seed of the order.
    pub seed: u64,
}

impl RandomOptions {
    /// The shortest trial of a cell in one round, the warm-up included.
    #[must_use]
    pub fn trial_min(&self) -> Duration {
        TRIAL_MIN + self.warm_up.unwrap_or(Duration::ZERO)
    }
}

/// One cell in one round, before it is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomStep {
    /// Its number among the cells.
    pub cell: usize,
    pub plan: CellPlan,
    /// Number of the round, from 1.
    pub round: u32,
    /// When its answer is good enough.
    pub goal: Goal,
    /// When to stop in any case.
    pub duration_max: Duration,
}

struct MeasuredCell {
    plan: CellPlan,
    rounds: Vec<Measurement>,
    /// Rounds in which every operation failed.
    failed: Vec<Measurement>,
    /// When there are enough rounds that lie further apart than they promise.
    repeats: Rounds,
}

/// Says which cell is next, and sums up what was measured.
pub struct RandomProcedure {
    options: RandomOptions,
    cells: Vec<MeasuredCell>,
    /// What is left of the present round, the next one last.
    order: Vec<usize>,
    round: u32,
    done: usize,
    /// Trials of later rounds beyond those asked for, as far as they are known.
    later: usize,
    spent: Duration,
}

impl Plan for RandomProcedure {
    type Step = RandomStep;

    fn next_step(&mut self) -> Option<RandomStep> {
        let is_extra = |this: &Self| this.round > this.options.rounds;
        if self.order.is_empty() {
            self.round += 1;
            self.order = self.cells_of_round();
        }
        if is_extra(self) && self.spent >= self.options.budget {
            return None;
        }
        let cell = *self.order.last()?;
        let left = self.options.budget.saturating_sub(self.spent);
        let share = Duration::from_nanos(left.as_nanos() / self.trials_left().max(1) as u64);
        let duration_max = share.min(self.options.trial_max);
        let duration_max = duration_max.max(self.options.trial_min());
        let mut goal = Goal::result(self.options.precision);
        let warm_up = self.options.warm_up.unwrap_or(Duration::ZERO);
        let half = duration_max.saturating_sub(warm_up).as_nanos() / 2;
        goal.duration_min_ns = warm_up.as_nanos() + LOOK_MIN.as_nanos().min(half);
        Some(RandomStep {
            cell,
            plan: self.cells[cell].plan,
            round: self.round,
            goal,
            duration_max,
        })
    }

    fn record(&mut self, step: &RandomStep, measurement: &Measurement, elapsed: Duration) {
        self.order.pop();
        self.done += 1;
        self.spent += elapsed;
        let cell = &mut self.cells[step.cell];
        let rounds = match measurement.is_all_failed() {
            true => &mut cell.failed,
            false => &mut cell.rounds,
        };
        rounds.push(measurement.clone());
    }
}

impl RandomProcedure {
    /// A procedure for these cells.
    #[must_use]
    pub fn new(options: RandomOptions, plans: &[CellPlan]) -> Self {
        let cells = plans.iter().map(|&plan| MeasuredCell {
            plan,
            rounds: Vec::new(),
            failed: Vec::new(),
            repeats: Rounds::new(RoundsRule {
                rounds: None,
                rounds_min: options.rounds,
                rounds_max: options.rounds + ROUNDS_EXTRA,
                precision: options.precision,
                budget: options.budget,
            }),
        });
        Self {
            options,
            cells: cells.collect(),
            order: Vec::new(),
            round: 0,
            done: 0,
            later: 0,
            spent: Duration::ZERO,
        }
    }

    /// Trials so far.
    #[must_use]
    pub const fn done(&self) -> usize {
        self.done
    }

    /// Trials that are still to come, as far as that is known.
    #[must_use]
    pub fn trials_left(&self) -> usize {
        let rounds = self.options.rounds.saturating_sub(self.round.max(1));
        let begun = if self.round == 0 {
            self.cells.len()
        } else {
            self.order.len()
        };
        begun + rounds as usize * self.cells.len() + self.later
    }

    /// What was found of each cell that has been measured, in the order of the plans.
    #[must_use]
    pub fn cells(&self) -> Vec<RandomCell> {
        let precision = self.options.precision;
        let cells = self.cells.iter();
        cells.filter_map(|cell| cell_of(cell, precision)).collect()
    }

    /// The trial of a step. Every round of a cell draws afresh.
    #[must_use]
    pub fn trial(&self, step: &RandomStep, access: Access) -> Trial {
        let CellPlan {
            kind,
            span,
            block,
            depth,
        } = step.plan;
        let is_write = kind == RandomKind::Write;
        let mix = if is_write { Mix::WRITE } else { Mix::READ };
        let region = Region::first(MAIN_DIRECT, span, block);
        let mut spec = MixSpec::closed(AddressSpec::random(region), mix);
        if is_write {
            spec.durability = self.options.durability;
        }
        let name = kind.name();
        let round = step.round;
        let name = format!("random-{name}-span-{span}-block-{block}-depth-{depth}-round-{round}");
        Trial {
            title: step.plan.title(),
            clients: depth,
            depth,
            goal: Some(step.goal),
            channel: Channel::Service,
            duration_max: step.duration_max,
            salt: u64::from(round) << 32 | step.cell as u64,
            warm_up: self.options.warm_up,
            ..Trial::new(name, ClientSpec::Mix(spec), access)
        }
    }

    /// The cells of the round that begins, in their order.
    fn cells_of_round(&mut self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.cells.len()).collect();
        if self.round > self.options.rounds {
            self.later = 0;
            order.retain(|&cell| match self.wanted(cell) {
                0 => false,
                wanted => {
                    self.later += wanted - 1;
                    true
                }
            });
        }
        let mut stream = Stream::new(self.options.seed, u64::from(self.round), Purpose::Order);
        stream.shuffle(&mut order);
        order
    }

    /// How many more rounds a cell is to have, as far as that is known.
    fn wanted(&mut self, cell: usize) -> usize {
        let Some(found) = cell_of(&self.cells[cell], self.options.precision) else {
            return 0;
        };
        if found.is_all_failed() || self.round > self.options.rounds + ROUNDS_EXTRA {
            return 0;
        }
        let is_enough = found.is_precise && found.is_citable;
        if promise_enough(&found.rounds) {
            return usize::from(!is_enough);
        }
        let done = found.rounds.len() as u32;
        let repeats = &mut self.cells[cell].repeats;
        match repeats.end(done, self.spent, || is_enough) {
            Some(_) => 0,
            None => repeats.next_look().saturating_sub(done).max(1) as usize,
        }
    }
}

impl CellPlan {
    /// What is done, in words.
    #[must_use]
    pub fn title(&self) -> String {
        let (kind, block, span) = (self.kind.name(), Bytes(self.block), Bytes(self.span));
        format!("{kind} {block} within {span}, depth {}", self.depth)
    }
}
