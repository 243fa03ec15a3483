//! Systems beside each other, as in the paper's appendices: a description of each, then a table
//! with systems as columns and tests as rows.

use std::collections::BTreeSet;

use results::{FileState, FileSystemRole, Row, Run, Table, TargetDescription};
use stats::Estimate;
use units::{Bytes, format_counted};

use crate::figure::digits;
use crate::page::TextPage;
use crate::section::in_parts;
use crate::style::{Style, Tone};
use crate::system::{DescribeModel, describe, short_name};
use crate::table::{self, Align};

/// The test that reads a device.
const TEST_11: &str = "11";
/// Bytes of 32000 blocks, the most that it reads.
const DEVICE_BYTES: u64 = 32_000 * 512;

/// Why runs cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilesComparisonError {
    /// A run holds no file tests.
    #[error("run {0} holds no file tests: they belong to runs of `seekstone files`. Name others")]
    NoFiles(String),
    /// Runs share no test.
    #[error(
        "the runs have no test in common with the same state, scale and number of \
         clients. `seekstone runs show` prints the tests of each"
    )]
    NothingShared,
    /// The system to divide by is not there.
    #[error("--against {0}: no such system. They are numbered from 1 to {1}")]
    NoSuchSystem(u32, usize),
}

/// One column.
struct FilesColumn<'a> {
    /// The place of its run among those that were named.
    place: usize,
    run: &'a Run,
    role: FileSystemRole,
    target: &'a TargetDescription,
    cells: Vec<SystemTest>,
}

/// A test of a system, and the line that it stands in.
#[derive(Clone)]
struct SystemTest {
    /// What the line is called. Times of TEST11 over other bytes, as of a smaller device, are in
    /// another one, since they do not compare.
    line: String,
    /// The line of the same on a file system as it is.
    as_is: String,
    /// Lines come by clients, scale and state.
    order: (u32, u32, FileState),
    /// Seconds, or thousands of bytes per second.
    value: Estimate,
    merit: Merit,
}

/// The figure of merit: TEST11 in bytes per second, which compare whatever the size of a device.
#[derive(Clone, PartialEq, Eq)]
enum Merit {
    /// This is a time that has none.
    None,
    /// This is a time, and that the line of its figure of merit.
    Line(String),
    /// It is the figure of merit.
    Itself,
}

/// The table of several runs, slowest system first, as from floppy disks to memory. With `against`,
/// the number of a system in that order, each figure is followed by its ratio to that system.
///
/// # Errors
/// When a run holds no file tests, or they have none in common.
pub fn files_comparison(
    runs: &[Run],
    against: Option<u32>,
    style: &Style,
    models: DescribeModel<'_>,
) -> Result<String, FilesComparisonError> {
    let mut systems = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        let number = || {
            run.id
                .map_or_else(|| "without a number".into(), |id| id.to_string())
        };
        let table = run.tables.iter().find(|it| it.name == "files");
        let table = table.ok_or_else(|| FilesComparisonError::NoFiles(number()))?;
        let target = (FileSystemRole::Target, &run.target);
        let others = run.other_targets.iter();
        let others = others.map(|it| (FileSystemRole::Memory, it));
        for (role, target) in std::iter::once(target).chain(others) {
            systems.push(FilesColumn {
                place,
                run,
                role,
                target,
                cells: cells_of(table, role),
            });
        }
    }
    let lines = lines_of(&systems);
    let is_everywhere = |line: &SystemTest| systems.iter().all(|it| it.comparable(line).is_some());
    let mut shared: Vec<SystemTest> = lines
        .iter()
        .filter(|it| is_everywhere(it))
        .cloned()
        .collect();
    // The times of TEST11 and its figure of merit say the same where as much was read.
    let timed: Vec<Merit> = shared.iter().map(|it| it.merit.clone()).collect();
    let is_timed = |it: &SystemTest| timed.contains(&Merit::Line(it.line.clone()));
    shared.retain(|it| it.merit != Merit::Itself || !is_timed(it));
    if runs.len() > 1 && lines.iter().all(|line| holders(line, &systems) < 2) {
        return Err(FilesComparisonError::NothingShared);
    }
    // By the sum of logarithms over shared lines: each test weighs the same, long or short.
    systems.sort_by(|a, b| b.weight(&shared).total_cmp(&a.weight(&shared)));
    if let Some(number) = against.filter(|&n| n == 0 || n as usize > systems.len()) {
        return Err(FilesComparisonError::NoSuchSystem(number, systems.len()));
    }
    let mut text = String::new();
    for (number, system) in (1..).zip(&systems) {
        let place = (system.target, system.role);
        describe(&mut text, number, system.run, place, models);
    }
    let base = against.map(|number| &systems[number as usize - 1]);
    let grid = grid(&lines, &systems, base, style);
    let legend = legend(&lines, &shared, &systems, base.zip(against));
    Ok(format!("{text}\n{grid}\n{legend}"))
}

fn lines_of(systems: &[FilesColumn<'_>]) -> Vec<SystemTest> {
    let mut lines: Vec<SystemTest> = Vec::new();
    for cell in systems.iter().flat_map(|it| &it.cells) {
        if !lines.iter().any(|it| it.line == cell.line) {
            lines.push(cell.clone());
        }
    }
    // Stable: within a state, the paper's order.
    lines.sort_by_key(|it| it.order);
    lines
}

/// The tests of one file system.
fn cells_of(table: &Table, role: FileSystemRole) -> Vec<SystemTest> {
    let of_system = table
        .rows
        .iter()
        .filter(|it| it.levels.get(2).is_some_and(|it| it == role.name()));
    of_system.filter_map(cells_of_row).flatten().collect()
}

/// The time of a test, and the figure of merit of TEST11.
fn cells_of_row(row: &Row) -> Option<Vec<SystemTest>> {
    let [test, state, _, spacing, scale] = row.levels.as_slice() else {
        return None;
    };
    let state = FileState::ALL.into_iter().find(|it| it.name() == state)?;
    let scale: u32 = scale.parse().ok()?;
    let clients = row.figure("clients")?.value.value as u32;
    let time = row.figure("elapsed")?.value;
    let times = match scale {
        1 => String::new(),
        scale => format!(", counts times {scale}"),
    };
    let by = match clients {
        1 => String::new(),
        clients => format!(", {}", format_counted(clients.into(), "client")),
    };
    let readings = row.replicates.first().map(|it| it.readings.iter());
    let mut readings = readings.into_iter().flatten();
    let bytes = readings.find(|(name, ..)| name == "bytes");
    let bytes = bytes.filter(|_| test == TEST_11).map(|(_, _, it)| *it);
    let each = bytes.map(|it| it as u64 / u64::from(clients.max(1)));
    let read = each.filter(|&it| it != DEVICE_BYTES);
    let read = read.map_or_else(String::new, |it| format!(", of {}", Bytes(it)));
    let number = match test.starts_with(|c: char| c.is_ascii_digit()) {
        true => "TEST",
        false => "",
    };
    let name = format!("{number}{test} {spacing}");
    let line = |state: FileState| format!("{} {}{read}{times}{by}", name.trim_end(), state.name());
    let merit_line = |state: FileState| format!("merit kB/s {}{times}{by}", state.name());
    let cell = |line: &dyn Fn(FileState) -> String, value, merit| SystemTest {
        line: line(state),
        as_is: line(FileState::AsIs),
        order: (clients, scale, state),
        value,
        merit,
    };
    let Some(bytes) = bytes else {
        return Some(vec![cell(&line, time, Merit::None)]);
    };
    // Thousands of bytes have as many digits as seconds.
    let [value, low, high] = [time.value, time.high, time.low].map(|it| bytes / 1e3 / it);
    let rate = Estimate {
        value,
        low,
        high,
        ..time
    };
    Some(vec![
        cell(&line, time, Merit::Line(merit_line(state))),
        cell(&merit_line, rate, Merit::Itself),
    ])
}

impl FilesColumn<'_> {
    fn value(&self, line: &str) -> Option<Estimate> {
        let mut cells = self.cells.iter();
        cells.find(|it| it.line == line).map(|it| it.value)
    }

    /// What a line is compared with: a memory disk has one state only, which stands for all.
    fn comparable(&self, line: &SystemTest) -> Option<Estimate> {
        let is_memory = self.role == FileSystemRole::Memory;
        let as_is = || self.value(&line.as_is).filter(|_| is_memory);
        self.value(&line.line).or_else(as_is)
    }

    fn weight(&self, shared: &[SystemTest]) -> f64 {
        let logarithm = |line: &SystemTest| {
            let value = self.comparable(line)?.value.max(1e-12).ln();
            Some(if line.merit == Merit::Itself {
                -value
            } else {
                value
            })
        };
        shared.iter().filter_map(logarithm).sum()
    }
}

/// Runs, not systems: a run's target and memory disk had the same tests anyway.
fn holders(line: &SystemTest, systems: &[FilesColumn<'_>]) -> usize {
    let having = systems.iter().filter(|it| it.value(&line.line).is_some());
    let runs: BTreeSet<usize> = having.map(|it| it.place).collect();
    runs.len()
}

/// Columns that do not fit beside each other come below.
fn grid(
    lines: &[SystemTest],
    systems: &[FilesColumn<'_>],
    base: Option<&FilesColumn<'_>>,
    style: &Style,
) -> String {
    let mut page = TextPage::new(style);
    let numbered: Vec<(usize, &FilesColumn<'_>)> = (1..).zip(systems).collect();
    in_parts(&mut page, &numbered, |part| {
        let heading = |(number, system): &(usize, &FilesColumn<'_>)| {
            let name = format!("[{number}] {}", short_name(system.target));
            (name.into(), Align::Right, 9)
        };
        let first = ("".into(), Align::Left, 10);
        let headings = std::iter::once(first).chain(part.iter().map(heading));
        let mut grid = table::TextTable::with_headings(headings);
        for line in lines {
            let cells = part.iter().map(|(_, it)| cell(line, it, base));
            let cells = std::iter::once(line.line.clone()).chain(cells);
            grid.row(Tone::Plain, cells.collect::<Vec<_>>());
        }
        grid
    });
    page.finish()
}

/// A value with the half-width of its interval, and the ratio where one is wanted.
fn cell(line: &SystemTest, system: &FilesColumn<'_>, base: Option<&FilesColumn<'_>>) -> String {
    let Some(found) = system.value(&line.line) else {
        return "-".into();
    };
    let base = base.filter(|base| !std::ptr::eq(*base, system));
    let ratio = base.and_then(|base| base.comparable(line)).map(|base| {
        let ratio = found.over(&base);
        let (low, high) = (digits(ratio.low), digits(ratio.high));
        let interval = ratio.is_bounded().then(|| format!(" ({low} .. {high})"));
        format!("  x{}{}", digits(ratio.value), interval.unwrap_or_default())
    });
    let (value, half) = (digits(found.value), half(&found));
    format!("{value}{half}{}", ratio.unwrap_or_default())
}

fn legend(
    lines: &[SystemTest],
    shared: &[SystemTest],
    systems: &[FilesColumn<'_>],
    against: Option<(&FilesColumn<'_>, u32)>,
) -> String {
    let mut text = "Seconds for each test, with half of their 95 % interval.".to_owned();
    if lines.iter().any(|it| it.merit == Merit::Itself) {
        text.push_str(
            " Merit: the paper's figure of merit, what TEST11 read in a second. As is, \
             memory may have answered.",
        );
    }
    let mut cells = systems.iter().flat_map(|it| &it.cells);
    if cells.any(|it| !it.value.is_bounded()) {
        text.push_str(" What was measured once has no interval.");
    }
    let is_filled = |line: &SystemTest, system: &FilesColumn<'_>| {
        system.value(&line.line).is_none() && system.comparable(line).is_some()
    };
    let one_state = "A memory disk has one state, as is, which stands for the others there.";
    let is_order_filled = shared
        .iter()
        .any(|line| systems.iter().any(|it| is_filled(line, it)));
    let is_ratio_filled =
        against.is_some_and(|(base, _)| lines.iter().any(|it| is_filled(it, base)));
    if shared.is_empty() {
        text.push_str(
            " No test is common to all systems, so they are in the order in which they were \
             named.",
        );
    } else {
        text.push_str(
            " Systems from the slowest to the fastest over the tests that all of them have.",
        );
    }
    if let Some((_, number)) = against {
        text.push_str(&format!(
            " x: ratio to system [{number}], with its 95 % interval."
        ));
    }
    if is_order_filled || is_ratio_filled {
        text.push(' ');
        text.push_str(one_state);
    }
    text.push('\n');
    text
}

/// Half of the interval, in percent; nothing where there is none.
fn half(estimate: &Estimate) -> String {
    if estimate.is_bounded() && estimate.value > 0.0 {
        // The lower half may have been cut off at zero.
        let share = estimate.high / estimate.value - 1.0;
        format!(" +-{:.0} %", 100.0 * share)
    } else {
        String::new()
    }
}
