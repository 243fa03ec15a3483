//! The DECUS tests, metadata and bandwidth: the order of tests and repeats, when a test is precise
//! enough, and the preparation of each.
//!
//! A round visits every group of tests that share files, in a random order of its own: on each file
//! system, in each state and at each scale. Within a visit, tests run in the order of their
//! dependencies, otherwise at random. Thus a change during the run affects all tests alike. The
//! first pass of a test warms up names and pages, and is left out of its figures. Precision is
//! checked only after 5, 7, 9, 12 ... passes.

mod sums;

use std::collections::{BTreeMap, VecDeque};

use random::{Purpose, Stream};
use results::{FileState, FileSystemRole};
use units::Duration;
use workload::{BandwidthPhase, DecusGroup, DecusTest, MetadataPhase, MetadataSpec, Spacing};

use crate::rounds::{self, RoundsRule, fits_another};
use crate::transfer::PassCount;

pub use sums::{FilePlayed, file_test, files_findings, growth, over_memory, time_alike};

/// Minimum number of counted passes per test, however little time there is.
const PASSES_LEAST: u32 = 2;

/// A test or phase to repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileItem {
    /// A DECUS test, with the spacing between its files.
    Decus(DecusTest, Spacing),
    /// A phase of the metadata workload.
    Metadata(MetadataPhase),
    /// A phase of the bandwidth workload.
    Bandwidth(BandwidthPhase),
}

/// A row of the result: a test on one file system, in one state, at one scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileCell {
    /// Its file system.
    pub role: FileSystemRole,
    /// Multiplier of the counts.
    pub scale: u32,
    pub state: FileState,
    /// The test.
    pub item: FileItem,
}

/// The next step. Steps between two `Initialise` are on one file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileStep {
    /// Remove everything, to start with an empty disk.
    Initialise(FileSystemRole),
    /// Run a test without timing it, because others need its files.
    Prepare(FileCell),
    /// Place large files between the data files.
    Space(FileCell, Spacing),
    /// Create the file that stands in for a device.
    StandIn(FileCell),
    /// Create the shared file of all clients.
    SharedFile(FileCell),
    /// Drop the caches before the following test.
    DropCaches(FileCell),
    /// Run a test and record its time.
    Measure {
        /// The row.
        cell: FileCell,
        /// Number of its pass, from 1.
        pass: u32,
    },
}

/// Order of groups within rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundOrder {
    /// A new random order in each round, with a warm-up pass.
    Random,
    /// As in the paper, without a warm-up: on a model, whose passes are all equal.
    Paper,
}

impl RoundOrder {
    const fn has_warm_up(self) -> bool {
        matches!(self, Self::Random)
    }
}

/// What TEST11 reads on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceRead {
    /// A file created for it, instead of a device.
    OwnFile,
    /// What the user named. It is never written.
    Named,
}

/// The plan of a file test.
#[derive(Clone, Debug)]
pub struct FilesPlan {
    /// The tests.
    pub items: Vec<FileItem>,
    pub roles: Vec<FileSystemRole>,
    /// States of the target. The memory disk is only tested as is.
    pub states: Vec<FileState>,
    /// Scales. TEST11 reads the same amount at any scale and is measured once.
    pub scales: Vec<u32>,
    /// What TEST11 reads.
    pub device: DeviceRead,
    /// When a test has been repeated often enough. The budget is for the whole run.
    pub rule: RoundsRule,
    pub order: RoundOrder,
    /// Seed of the order.
    pub seed: u64,
}

impl FilesPlan {
    /// The items of these DECUS tests, with each spacing for tests 4 to 5A.
    pub fn decus(tests: &[DecusTest], spacings: &[Spacing]) -> Vec<FileItem> {
        let with = |spacing: Spacing| {
            let wanted = tests
                .iter()
                .filter(move |test| spacing == Spacing::None || test.is_spaced());
            wanted.map(move |test| FileItem::Decus(*test, spacing))
        };
        let all = Spacing::ALL.into_iter();
        let wanted = all.filter(|it| *it == Spacing::None || spacings.contains(it));
        wanted.flat_map(with).collect()
    }

    /// The items of the metadata workload: all phases with work to do.
    pub fn metadata(spec: &MetadataSpec) -> Vec<FileItem> {
        let phases = MetadataPhase::ALL.into_iter();
        let phases = phases.filter(|&phase| spec.items(phase) > 0);
        phases.map(FileItem::Metadata).collect()
    }

    /// The items of the bandwidth workload.
    pub fn bandwidth() -> Vec<FileItem> {
        BandwidthPhase::ALL.map(FileItem::Bandwidth).to_vec()
    }

    fn cells(&self) -> Vec<FileCell> {
        let mut scales = self.scales.clone();
        scales.push(1);
        scales.sort_unstable();
        scales.dedup();
        let mut cells = Vec::new();
        for &role in &self.roles {
            let states = match role {
                FileSystemRole::Target => &self.states[..],
                FileSystemRole::Memory => &[FileState::AsIs],
            };
            for &scale in &scales {
                for &state in states {
                    let items = self.items.iter().map(|&item| FileCell {
                        role,
                        scale,
                        state,
                        item,
                    });
                    cells.extend(items.filter(|cell| self.says_something(cell)));
                }
            }
        }
        cells
    }

    /// Whether the cell is meaningful: TEST11 reads the same amount at any scale, and durability
    /// does not apply to reads.
    fn says_something(&self, cell: &FileCell) -> bool {
        if !matches!(cell.item, FileItem::Decus(DecusTest::Test11, _)) {
            return self.scales.contains(&cell.scale);
        }
        let is_only_read = self.device == DeviceRead::Named && cell.role == FileSystemRole::Target;
        cell.scale == 1 && !(is_only_read && cell.state == FileState::Durable)
    }
}

/// Groups of tests that share files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TestGroup {
    Decus(DecusGroup),
    Metadata,
    Bandwidth,
}

impl FileItem {
    const fn group(self) -> TestGroup {
        match self {
            Self::Decus(test, _) => TestGroup::Decus(test.group()),
            Self::Metadata(_) => TestGroup::Metadata,
            Self::Bandwidth(_) => TestGroup::Bandwidth,
        }
    }
}

/// The cells of one group, on one file system, in one state, at one scale.
type Visit = Vec<FileCell>;

#[derive(Clone, Debug)]
struct Count {
    passes: PassCount,
    /// Counted passes, before which there is the warm-up.
    counted: u32,
    warm_ups: u32,
    is_wanted: bool,
}

/// Chooses the next step from the times so far.
#[derive(Clone, Debug)]
pub struct FilesProcedure {
    plan: FilesPlan,
    cells: Vec<FileCell>,
    counts: BTreeMap<FileCell, Count>,
    stream: Stream,
    rounds: u32,
    visits: VecDeque<Visit>,
    /// Number of visits started.
    visited: u32,
    steps: VecDeque<FileStep>,
}

impl FilesProcedure {
    /// A procedure without measurements.
    ///
    /// # Panics
    /// When the plan is empty.
    pub fn new(plan: FilesPlan) -> Self {
        let cells = plan.cells();
        assert!(!cells.is_empty(), "a plan without a test");
        // The budget is for the whole run, and is checked here rather than per test.
        let rule = RoundsRule {
            budget: Duration(u64::MAX),
            ..plan.rule
        };
        let warm_ups = u32::from(plan.order.has_warm_up());
        let count = Count {
            passes: PassCount::new(rule),
            counted: 0,
            warm_ups,
            is_wanted: true,
        };
        let counts = cells.iter().map(|cell| (*cell, count.clone())).collect();
        let stream = Stream::new(plan.seed, 0, Purpose::Order);
        Self {
            plan,
            cells,
            counts,
            stream,
            rounds: 0,
            visits: VecDeque::new(),
            visited: 0,
            steps: VecDeque::new(),
        }
    }

    /// Whether each test has a warm-up pass.
    pub const fn has_warm_up(&self) -> bool {
        self.plan.order.has_warm_up()
    }

    /// The next step, `spent` after the start; `None` if every test is precise enough, or if time
    /// is up and each has two counted passes.
    pub fn next_step(&mut self, spent: Duration) -> Option<FileStep> {
        loop {
            if let Some(step) = self.steps.pop_front() {
                return Some(step);
            }
            let is_over = !fits_another(self.plan.rule.budget, self.visited, spent);
            if self.visits.is_empty() {
                self.begin_round(is_over);
            }
            let visit = self.visits.pop_front()?;
            let is_wanted = |cell: &FileCell| self.is_wanted(cell, is_over);
            if visit.iter().any(is_wanted) {
                self.visited += 1;
                self.steps = self.steps_of(&visit, is_over).into();
            }
        }
    }

    /// Records a pass of a test.
    ///
    /// # Panics
    /// If the test is not in the plan.
    pub fn record(&mut self, cell: &FileCell, elapsed: Duration) {
        let count = self.counts.get_mut(cell).expect("a cell of the plan");
        if count.warm_ups > 0 {
            count.warm_ups -= 1;
        } else {
            count.counted += 1;
            // The rule uses relative widths only, so any number of bytes will do.
            count.passes.record(1, elapsed);
        }
    }

    /// The rows in the order of the report.
    pub fn cells(&self) -> &[FileCell] {
        &self.cells
    }

    /// Whether the time of a test is as precise as requested.
    pub fn is_precise(&self, cell: &FileCell) -> bool {
        let count = self.counts.get(cell);
        count.is_some_and(|count| count.counted > 0 && count.passes.is_precise())
    }

    /// Number of rounds started.
    pub const fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Minimum time for the passes of all tests, if it is certain to exceed the budget; otherwise
    /// `None`, also if the user fixed the number of passes.
    pub fn time_needed(&self, spent: Duration) -> Option<Duration> {
        let RoundsRule { budget, rounds, .. } = self.plan.rule;
        let warm_up = u32::from(self.has_warm_up());
        let least = PASSES_LEAST + warm_up;
        let of_cell = |it: &Count| (it.counted + warm_up - it.warm_ups).min(least);
        let done: u32 = self.counts.values().map(of_cell).sum();
        let done = f64::from(done) / self.counts.len() as f64;
        if rounds.is_some() || done == 0.0 {
            return None;
        }
        let needed = rounds::time_needed(budget, (done.max(1.0), spent), least)?;
        Some(needed.mul_f64(1.0 / done.min(1.0)))
    }

    /// Estimated progress, 0 to 1, for a screen.
    pub fn share_done(&self) -> f64 {
        let least = self.plan.rule.rounds.unwrap_or(PASSES_LEAST);
        let done = |count: &Count| f64::from(count.counted.min(least)) / f64::from(least.max(1));
        self.counts.values().map(done).sum::<f64>() / self.counts.len() as f64
    }

    fn is_wanted(&self, cell: &FileCell, is_over: bool) -> bool {
        let count = &self.counts[cell];
        count.is_wanted && (!is_over || count.counted < PASSES_LEAST || self.is_fixed())
    }

    /// Whether a fixed number of passes was requested, which no budget cuts short.
    const fn is_fixed(&self) -> bool {
        self.plan.rule.rounds.is_some()
    }

    fn begin_round(&mut self, is_over: bool) {
        for count in self.counts.values_mut().filter(|count| count.is_wanted) {
            count.is_wanted = count.warm_ups > 0 || count.passes.next_pass().is_some();
        }
        let mut visits: BTreeMap<(FileSystemRole, u32, FileState, TestGroup), Visit> =
            BTreeMap::new();
        for cell in &self.cells {
            let key = (cell.role, cell.scale, cell.state, cell.item.group());
            visits.entry(key).or_default().push(*cell);
        }
        let mut visits: Vec<Visit> = visits
            .into_values()
            .filter(|visit| visit.iter().any(|cell| self.is_wanted(cell, is_over)))
            .collect();
        if self.plan.order == RoundOrder::Random {
            self.stream.shuffle(&mut visits);
        }
        self.rounds += u32::from(!visits.is_empty());
        self.visits = visits.into();
    }

    fn steps_of(&mut self, visit: &Visit, is_over: bool) -> Vec<FileStep> {
        let first = visit[0];
        let mut steps = vec![FileStep::Initialise(first.role)];
        match first.item.group() {
            TestGroup::Metadata | TestGroup::Bandwidth => {
                if first.item.group() == TestGroup::Bandwidth {
                    steps.push(FileStep::SharedFile(first));
                }
                for cell in visit {
                    self.perform(cell, is_over, &mut steps);
                }
            }
            TestGroup::Decus(DecusGroup::Data) => self.data_steps(visit, is_over, &mut steps),
            TestGroup::Decus(group) => {
                if group == DecusGroup::Device {
                    steps.push(FileStep::StandIn(first));
                }
                for cell in visit {
                    self.make_needed(cell, visit, &mut steps);
                    self.perform(cell, is_over, &mut steps);
                }
            }
        }
        steps.push(FileStep::Initialise(first.role));
        steps
    }

    /// TEST3, then tests 4 to 5A, then these again with each spacing.
    fn data_steps(&mut self, visit: &Visit, is_over: bool, steps: &mut Vec<FileStep>) {
        let mut before = Spacing::None;
        for spacing in Spacing::ALL {
            let is_here = |cell: &&FileCell| {
                let FileItem::Decus(_, of) = cell.item else {
                    return false;
                };
                of == spacing
            };
            let mut cells: Vec<FileCell> = visit.iter().filter(is_here).copied().collect();
            let is_wanted = |cell: &FileCell| self.is_wanted(cell, is_over);
            if spacing != Spacing::None && !cells.iter().any(is_wanted) {
                continue;
            }
            match spacing {
                Spacing::None => {
                    let made = cells.iter().position(|cell| is_test_3(cell.item));
                    match made {
                        Some(place) => self.perform(&cells.remove(place), is_over, steps),
                        None => steps.push(FileStep::Prepare(with_test_3(&visit[0]))),
                    }
                }
                _ => {
                    // SPACE8 replaces SPACE2, which must therefore exist.
                    if spacing == Spacing::Space8 && before == Spacing::None {
                        steps.push(FileStep::Space(visit[0], Spacing::Space2));
                    }
                    steps.push(FileStep::Space(visit[0], spacing));
                }
            }
            before = spacing;
            if self.plan.order == RoundOrder::Random {
                self.stream.shuffle(&mut cells);
            }
            for cell in cells.iter().filter(|cell| self.is_wanted(cell, is_over)) {
                self.perform(cell, is_over, steps);
            }
        }
    }

    /// The files that a test reads, if the test that creates them is not in the plan.
    fn make_needed(&self, cell: &FileCell, visit: &Visit, steps: &mut Vec<FileStep>) {
        let FileItem::Decus(test, spacing) = cell.item else {
            return;
        };
        let Some(needed) = test.needs() else { return };
        let item = FileItem::Decus(needed, spacing);
        if visit.iter().all(|other| other.item != item) {
            steps.push(FileStep::Prepare(FileCell { item, ..*cell }));
        }
    }

    /// Measures a test, or only runs it if its time is known and others need its files.
    fn perform(&self, cell: &FileCell, is_over: bool, steps: &mut Vec<FileStep>) {
        if !self.is_wanted(cell, is_over) {
            steps.push(FileStep::Prepare(*cell));
            return;
        }
        if cell.state == FileState::Cold {
            steps.push(FileStep::DropCaches(*cell));
        }
        let count = &self.counts[cell];
        let warm = u32::from(self.has_warm_up() && count.warm_ups == 0);
        steps.push(FileStep::Measure {
            cell: *cell,
            pass: count.counted + warm + 1,
        });
    }
}

const fn is_test_3(item: FileItem) -> bool {
    matches!(item, FileItem::Decus(DecusTest::Test3, _))
}

const fn with_test_3(cell: &FileCell) -> FileCell {
    FileCell {
        item: FileItem::Decus(DecusTest::Test3, Spacing::None),
        ..*cell
    }
}
