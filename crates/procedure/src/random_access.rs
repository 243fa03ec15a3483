//! Random access: which cells are measured, in which order, and when each is precise enough.
//!
//! Service times depend on the span (seek distance, caches), the block size and the depth. Every
//! cell is one load with fixed settings, visited in at least two rounds. Each round goes through
//! all cells in a new random order, so that changes over time show as differences between rounds
//! and are not mistaken for an effect of size. Further rounds go to cells that are not precise yet,
//! while there is time. If the intervals of the rounds cover their differences, each further round
//! may be the last. Otherwise rounds are repeats, and end by the rule of all repeats (`rounds`).

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

/// Minimum counted time of a cell in one round.
pub const TRIAL_MIN: Duration = Duration::from_millis(250);
/// Maximum number of rounds beyond those requested.
const ROUNDS_EXTRA: u32 = 16;
/// A fast device is measured for at least this long, or for half of the available time.
const LOOK_MIN: Duration = Duration::from_secs(1);

/// Settings of the cells' measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomOptions {
    /// Minimum number of rounds per cell.
    pub rounds: u32,
    /// Requested relative half-width of the mean service time.
    pub precision: f64,
    /// Maximum time of a cell in one round, warm-up included.
    pub trial_max: Duration,
    /// Fixed warm-up of every round of a cell; detected automatically if absent.
    pub warm_up: Option<Duration>,
    /// Time for all cells.
    pub budget: Duration,
    /// Durability of a completed write.
    pub durability: Durability,
    /// Seed of the order.
    pub seed: u64,
}

impl RandomOptions {
    /// Minimum length of a cell's trial in one round, warm-up included.
    pub fn trial_min(&self) -> Duration {
        TRIAL_MIN + self.warm_up.unwrap_or(Duration::ZERO)
    }
}

/// One cell in one round, to be measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomStep {
    /// Index of the cell.
    pub cell: usize,
    pub plan: CellPlan,
    /// Number of the round, from 1.
    pub round: u32,
    /// When it is precise enough.
    pub goal: Goal,
    /// Time limit.
    pub duration_max: Duration,
}

struct MeasuredCell {
    plan: CellPlan,
    rounds: Vec<Measurement>,
    /// Rounds in which every operation failed.
    failed: Vec<Measurement>,
    /// When rounds that differ by more than their intervals are enough.
    repeats: Rounds,
}

/// Chooses the next cell, and summarises the measurements.
pub struct RandomProcedure {
    options: RandomOptions,
    cells: Vec<MeasuredCell>,
    /// Rest of the current round, the next cell last.
    order: Vec<usize>,
    round: u32,
    done: usize,
    /// Trials in later rounds beyond those requested, as far as known.
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

    /// Number of trials so far.
    pub const fn done(&self) -> usize {
        self.done
    }

    /// Number of trials left, as far as known.
    pub fn trials_left(&self) -> usize {
        let rounds = self.options.rounds.saturating_sub(self.round.max(1));
        let begun = if self.round == 0 {
            self.cells.len()
        } else {
            self.order.len()
        };
        begun + rounds as usize * self.cells.len() + self.later
    }

    /// Results of the cells measured so far, in the order of the plans.
    pub fn cells(&self) -> Vec<RandomCell> {
        let precision = self.options.precision;
        let cells = self.cells.iter();
        cells.filter_map(|cell| cell_of(cell, precision)).collect()
    }

    /// The trial of a step. Every round of a cell uses new random draws.
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

    /// The cells of the new round, in their order.
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

    /// How many more rounds a cell needs, as far as known.
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
    /// Description of the cell's operations.
    pub fn title(&self) -> String {
        let (kind, block, span) = (self.kind.name(), Bytes(self.block), Bytes(self.span));
        format!("{kind} {block} within {span}, depth {}", self.depth)
    }
}
