//! A section of the document on a machine: its published cells, and its loads as run here.

use procedure::Preparation;
use results::{StandardTable, TransactionLoad, UserTimes, ValidationRow};
use units::Duration;

use super::columns::{ColumnVerdict, JudgedColumn, StandardColumn, as_published};
use crate::hand::loads_of_users;
use crate::{Rows, ValidationError};
use host::interrupt::Interrupt;
use kinds::transactions::{Ramp, STANDARD_FILE, StandardTest, UserLoad};

/// A machine with the document's name for it, and its length of a CPU unit.
#[derive(Clone, Copy)]
pub(super) struct Pc {
    pub name: &'static str,
    pub target: &'static str,
    unit_ms: u64,
}

const fn pc(name: &'static str, target: &'static str, unit_ms: u64) -> Pc {
    Pc {
        name,
        target,
        unit_ms,
    }
}

/// Under load, the document says, the file cache has 13 MB.
pub(super) const PPRO: Pc = pc("PPro", "sim:ppro?file-cache-max=13MiB", 100);
pub(super) const P100: Pc = pc("P100", "sim:p100", 250);
pub(super) const I486: Pc = pc("486", "sim:i486", 1000);
pub(super) const LAN: Pc = pc("P100", "sim:lan-p100", 250);

/// Numbers of tasks.
pub(super) const BATCH: &[&str] = &["1", "2", "4"];
/// Number of seeds averaged for random loads: of many users, and of few, where the slowest one
/// matters more.
pub(super) const SEEDS: u64 = 2;
pub(super) const SEEDS_OF_FEW: u64 = 4;
/// Virtual time of a load.
const LONGEST: Duration = Duration::from_secs(20_000);

/// A section of the document, on a machine.
pub(super) struct StandardSection<'a> {
    interrupt: &'a Interrupt,
    test: StandardTest,
    table: StandardTable,
    pc: Pc,
}

impl<'a> StandardSection<'a> {
    pub fn new(section: &str, pc: Pc, interrupt: &'a Interrupt) -> Result<Self, ValidationError> {
        let unit = Duration::from_millis(pc.unit_ms);
        let test = StandardTest::find(section, unit, None)
            .ok_or_else(|| ValidationError::Nothing(format!("there is no section {section}")))?;
        Ok(Self {
            table: test.table(&[]),
            test,
            pc,
            interrupt,
        })
    }

    /// A published cell, and the error in its row.
    fn published(&self, tasks: &str, column: &str) -> Option<(f64, &str)> {
        let columns = &self.table.columns;
        let place = columns.iter().position(|name| name == column);
        let mut rows = self.table.rows.iter();
        let row = rows.find(|row| row.machine == self.pc.name && row.tasks == tasks);
        let (place, row) = place.zip(row).expect("a row of the document");
        // Machine and tasks have their own columns.
        let cell = &row.cells[place - 2];
        let figure = || cell.parse().expect("a number of the document");
        (cell != "-").then(|| (figure(), row.fault.as_str()))
    }

    /// Runs the loads with these labels, one after the other on one machine.
    fn run(
        &self,
        target: &str,
        tasks: &[&str],
        seed: u64,
    ) -> Result<Vec<TransactionLoad>, ValidationError> {
        let loads = self.test.loads.iter();
        let loads = loads.filter(|load| tasks.contains(&load.label.as_str()));
        let loads = loads.map(|load| UserLoad {
            name: load.label.clone(),
            users: load.users,
            profiles: load.profiles.clone(),
            goal: None,
            duration_max: LONGEST,
            preparation: Preparation::None,
            before: self.test.before.clone(),
        });
        let start = (Ramp::Synchronised, LONGEST);
        let target_of = (target, STANDARD_FILE);
        let found = loads_of_users(target_of, loads.collect(), start, seed, self.interrupt)?;
        if found.len() == tasks.len() {
            return Ok(found);
        }
        let count = found.len();
        let text = format!("{target}: {count} loads of {} were measured", tasks.len());
        Err(ValidationError::Nothing(text))
    }

    /// Figures of the columns for each load, averaged over several seeds, and for the users of each
    /// profile if there are several.
    fn means(
        &self,
        target: &str,
        tasks: &[&str],
        columns: &[StandardColumn],
        seeds: u64,
    ) -> Result<Vec<Vec<f64>>, ValidationError> {
        let mut sums: Vec<Vec<f64>> = Vec::new();
        for seed in 1..=seeds {
            let loads = self.run(target, tasks, seed)?;
            let figures = |load: &TransactionLoad, users: &UserTimes| {
                let figures = columns.iter().map(|it| (it.figure)(load, users));
                figures.collect::<Vec<f64>>()
            };
            let found = loads
                .iter()
                .flat_map(|load| match load.profiles.as_slice() {
                    [] => vec![figures(load, &load.all)],
                    profiles => profiles.iter().map(|it| figures(load, it)).collect(),
                });
            let found: Vec<Vec<f64>> = found.collect();
            if sums.is_empty() {
                sums = found;
                continue;
            }
            for (sum, one) in sums.iter_mut().flatten().zip(found.iter().flatten()) {
                *sum += one;
            }
        }
        let count = seeds as f64;
        sums.iter_mut().flatten().for_each(|sum| *sum /= count);
        Ok(sums)
    }

    /// A row for a published cell, marked if the document is wrong; none if it has no figure.
    fn row(&self, tasks: &str, column: &StandardColumn) -> Option<ValidationRow> {
        let (published, fault) = self.published(tasks, column.heading)?;
        let called = column.called;
        let name = match (self.test.section, tasks) {
            ("9.5", megabytes) => format!("{}, {megabytes} MB{called}", self.pc.name),
            (_, "1") => format!("{}, 1 task{called}", self.pc.name),
            (_, tasks) => format!(
                "{}, {} tasks{called}",
                self.pc.name,
                tasks.trim_end_matches('*')
            ),
        };
        let row = ValidationRow::new(name, column.unit, published);
        // A row's error is reported with the figure that it concerns.
        let is_about = match column.heading {
            "TPS" => fault.contains("a second"),
            "95%" => fault.contains("95 %"),
            _ => false,
        };
        Some(if is_about { row.misprinted(fault) } else { row })
    }

    /// Rows without simulated figures.
    pub fn out_of_reach(
        &self,
        tasks: &[&str],
        columns: &[StandardColumn],
        why: &str,
    ) -> Vec<ValidationRow> {
        let cells = columns.iter().flat_map(|column| {
            let rows = tasks.iter().filter_map(|tasks| self.row(tasks, column));
            rows.map(|row| row.noted(why))
        });
        cells.collect()
    }

    /// Rows of one model. Labels are those of loads; a load with several profiles is identified by
    /// `run`, and has a label for each profile.
    pub fn rows(
        &self,
        run: &[&str],
        labels: &[&str],
        columns: &[JudgedColumn],
        seeds: u64,
    ) -> Rows {
        let those: Vec<StandardColumn> = columns.iter().map(|it| it.0).collect();
        let found = self.means(self.pc.target, run, &those, seeds)?;
        let mut rows = Vec::new();
        for (place, (column, verdict)) in columns.iter().enumerate() {
            for (tasks, found) in labels.iter().zip(&found) {
                let row = self.row(tasks, column);
                rows.extend(row.map(|row| verdict.of(row.simulated(found[place]))));
            }
        }
        Ok(rows)
    }

    /// Rows of two models that bracket the published figure: processors on which waiting tasks poll
    /// with their share, and with all of it. A row judged by a tolerance uses the first.
    pub fn brackets(&self, tasks: &[&str], columns: &[JudgedColumn], seeds: u64) -> Rows {
        let those: Vec<StandardColumn> = columns.iter().map(|it| it.0).collect();
        let polling = self.means(self.pc.target, tasks, &those, seeds)?;
        let spinning = format!("{}?waiting=spinning", self.pc.target);
        let spinning = self.means(&spinning, tasks, &those, seeds)?;
        let mut rows = Vec::new();
        for (place, (column, verdict)) in columns.iter().enumerate() {
            for (index, tasks) in tasks.iter().enumerate() {
                let row = self.row(tasks, column);
                let [one, other] =
                    [&polling, &spinning].map(|found| as_published(column, found[index][place]));
                rows.extend(row.map(|row| match verdict {
                    ColumnVerdict::Within(_) => verdict.of(row.simulated(one)),
                    _ => verdict.of(row.between(one, other)),
                }));
            }
        }
        Ok(rows)
    }
}
