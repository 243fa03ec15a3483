//! The order of a study: rounds that visit every cell once, in a random order of their own.
//!
//! Changes of the machine then affect all cells alike, and two levels are compared within each
//! round. Cells whose levels need a set-up are grouped, so that each set-up runs once per round.
//! The groups, and the cells within each, come in random order.

use random::{Purpose, Stream};

use crate::study::definition::{FactorLevel, ShellScript, StudyDefinition};
use crate::study::variables::{level_variable, names_variable};

/// Cells that share a set-up, in order of measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellGroup {
    /// One level per factor; `None` for a factor without set-up.
    pub setup: Vec<Option<usize>>,
    /// Indices of the cells.
    pub cells: Vec<usize>,
}

/// The cells of a study, and the set-up of each.
#[derive(Clone, Debug)]
pub struct StudyPlan {
    cells: Vec<Vec<usize>>,
    setups: Vec<Vec<Option<usize>>>,
}

impl StudyPlan {
    /// The plan of a study.
    pub fn new(definition: &StudyDefinition) -> Self {
        let cells = definition.cells();
        let needs = needs_setup(definition);
        let setup = |cell: &Vec<usize>| {
            let pairs = cell.iter().zip(&needs);
            pairs
                .map(|(&level, &needed)| needed.then_some(level))
                .collect()
        };
        let setups = cells.iter().map(setup).collect();
        Self { cells, setups }
    }

    /// All combinations of levels to measure.
    pub fn cells(&self) -> &[Vec<usize>] {
        &self.cells
    }

    /// The order of a round, counted from 1. It depends only on the seed and the round, so that a
    /// resumed study continues unchanged.
    pub fn round(&self, seed: u64, round: u32) -> Vec<CellGroup> {
        let mut stream = Stream::new(seed, u64::from(round), Purpose::Order);
        let mut groups = self.groups();
        stream.shuffle(&mut groups);
        for group in &mut groups {
            stream.shuffle(&mut group.cells);
        }
        groups
    }

    /// The cells grouped by set-up, in the order of the file.
    pub fn groups(&self) -> Vec<CellGroup> {
        let mut groups: Vec<CellGroup> = Vec::new();
        for (cell, setup) in self.setups.iter().enumerate() {
            match groups.iter_mut().find(|group| group.setup == *setup) {
                Some(group) => group.cells.push(cell),
                None => groups.push(CellGroup {
                    setup: setup.clone(),
                    cells: vec![cell],
                }),
            }
        }
        groups
    }
}

/// For each factor, whether its levels are created by scripts or named in those of another.
fn needs_setup(definition: &StudyDefinition) -> Vec<bool> {
    let levels = definition.factors.iter().flat_map(|factor| &factor.levels);
    let scripts: Vec<&ShellScript> = levels
        .flat_map(|level| [&level.setup, &level.teardown])
        .flatten()
        .collect();
    let factors = definition.factors.iter();
    factors
        .map(|factor| {
            let variable = level_variable(&factor.name);
            let is_named = scripts
                .iter()
                .any(|script| names_variable(&script.text, &variable));
            is_named || factor.levels.iter().any(FactorLevel::has_scripts)
        })
        .collect()
}
