//! Systems beside each other, as in the paper's appendices: a description of each, then a table
//! with systems as columns and tests as rows.

use std::collections::BTreeSet;

use results::{FileState, FileSystemRole, Run, Table, TargetDescription};
use stats::Estimate;
use units::Bytes;

use crate::figure::digits;
use crate::style::Style;
use crate::system::{describe, short_name};

/// The test that reads a device.
const TEST_11: &str = "11";
/// Bytes of 32000 blocks, the most that it reads.
const DEVICE_BYTES: u64 = 32_000 * 512;

/// Why runs cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilesComparisonError {
    /// A run holds no file tests.
    #[error("run {0} holds no file tests: they belong to runs of `seekstone files`; name others")]
    NoFiles(String),
    /// Runs share no test.
    #[error(
        "the runs have no test in common with the same state, scale and number of \
         clients: `seekstone runs show` prints the tests of each"
    )]
    NothingShared,
    /// The system to divide by is not there.
    #[error("--against {0}: no such system; they are numbered from 1 to {1}")]
    NoSuchSystem(u32, usize),
}

/// One column.
struct System<'a> {
    /// The place of its run among those that were named.
    place: usize,
    run: &'a Run,
    tests: Vec<SystemTest<'a>>,
    role: FileSystemRole,
    target: &'a TargetDescription,
}

/// A test of a system, as its table has it.
struct SystemTest<'a> {
    row: Row,
    found: &'a results::Row,
}

/// What a row is about.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    test: String,
    spacing: String,
    state: FileState,
    scale: u32,
    clients: u32,
    /// What TEST11 read: a device may be smaller than another, and times over other bytes do not
    /// compare. Nothing for other tests.
    bytes: Option<u64>,
    /// Whether it is the figure of merit: TEST11 in bytes per second, which compare whatever the
    /// size of a device.
    is_merit: bool,
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
            systems.push(System {
                place,
                run,
                tests: tests_of(table, role),
                role,
                target,
            });
        }
    }
    let rows = rows_of(&systems);
    let mut shared: Vec<&Row> = rows
        .iter()
        .filter(|row| is_everywhere(row, &systems))
        .collect();
    // The times of TEST11 and its figure of merit say the same where as much was read.
    let timed: Vec<Row> = shared
        .iter()
        .filter(|row| !row.is_merit)
        .map(|row| merit_of(row))
        .collect();
    shared.retain(|row| !row.is_merit || !timed.contains(row));
    if runs.len() > 1 && rows.iter().all(|row| holders(row, &systems) < 2) {
        return Err(FilesComparisonError::NothingShared);
    }
    // By the sum of logarithms over shared rows: each test weighs the same, long or short.
    systems.sort_by(|a, b| weight(b, &shared).total_cmp(&weight(a, &shared)));
    if let Some(number) = against.filter(|&n| n == 0 || n as usize > systems.len()) {
        return Err(FilesComparisonError::NoSuchSystem(number, systems.len()));
    }
    let mut text = String::new();
    for (number, system) in (1..).zip(&systems) {
        describe(&mut text, number, system.run, system.target, system.role);
    }
    text.push('\n');
    let base = against.map(|number| &systems[number as usize - 1]);
    text.push_str(&grid(&rows, &systems, base, style));
    text.push_str(&legend(&rows, &shared, &systems, base.zip(against)));
    Ok(text)
}

fn rows_of(systems: &[System<'_>]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for test in systems.iter().flat_map(|it| &it.tests) {
        let merit = test.row.bytes.map(|_| merit_of(&test.row));
        for row in std::iter::once(test.row.clone()).chain(merit) {
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
    }
    // Stable: within a state, the paper's order.
    rows.sort_by_key(|row| (row.clients, row.scale, row.state));
    rows
}

/// The tests of one file system.
fn tests_of(table: &Table, role: FileSystemRole) -> Vec<SystemTest<'_>> {
    let rows = table.rows.iter().filter_map(|found| {
        let [test, state, place, spacing, scale] = found.levels.as_slice() else {
            return None;
        };
        let mut states = FileState::ALL.into_iter();
        let bytes = || {
            let readings = &found.replicates.first()?.readings;
            let moved = readings.iter().find(|(name, ..)| name == "bytes");
            moved.map(|(_, _, bytes)| *bytes as u64)
        };
        let row = Row {
            test: test.clone(),
            spacing: spacing.clone(),
            state: states.find(|it| it.name() == state)?,
            scale: scale.parse().ok()?,
            clients: found.figure("clients")?.value.value as u32,
            bytes: (test == TEST_11).then(bytes).flatten(),
            is_merit: false,
        };
        (place == role.name()).then_some(SystemTest { row, found })
    });
    rows.collect()
}

/// The figure of merit of a row of TEST11.
fn merit_of(row: &Row) -> Row {
    Row {
        bytes: None,
        is_merit: true,
        ..row.clone()
    }
}

fn figure(row: &Row, system: &System<'_>) -> Option<Estimate> {
    for test in &system.tests {
        let seconds = test.found.figure("elapsed")?.value;
        if !row.is_merit && test.row == *row {
            return Some(seconds);
        }
        if row.is_merit && merit_of(&test.row) == *row {
            return Some(rate_of(test.row.bytes? as f64, seconds));
        }
    }
    None
}

/// Bytes per second, where seconds are known with an interval.
fn rate_of(bytes: f64, seconds: Estimate) -> Estimate {
    Estimate {
        value: bytes / seconds.value,
        low: bytes / seconds.high,
        high: bytes / seconds.low,
        ..seconds
    }
}

/// What a row is compared with: a memory disk has one state only, which stands for all of them.
fn comparable(row: &Row, system: &System<'_>) -> Option<Estimate> {
    let as_it_is = || {
        let row = Row {
            state: FileState::AsIs,
            ..row.clone()
        };
        figure(&row, system)
    };
    let is_memory = system.role == FileSystemRole::Memory;
    figure(row, system).or_else(|| is_memory.then(as_it_is).flatten())
}

/// Runs, not systems: a run's target and memory disk had the same tests anyway.
fn holders(row: &Row, systems: &[System<'_>]) -> usize {
    let having = systems.iter().filter(|it| figure(row, it).is_some());
    let runs: BTreeSet<usize> = having.map(|it| it.place).collect();
    runs.len()
}

fn is_everywhere(row: &Row, systems: &[System<'_>]) -> bool {
    systems.iter().all(|it| comparable(row, it).is_some())
}

fn weight(system: &System<'_>, shared: &[&Row]) -> f64 {
    let logarithm = |row: &Row| {
        let value = comparable(row, system)?.value.max(1e-12).ln();
        Some(if row.is_merit { -value } else { value })
    };
    shared.iter().filter_map(|row| logarithm(row)).sum()
}

fn grid(rows: &[Row], systems: &[System<'_>], base: Option<&System<'_>>, style: &Style) -> String {
    let first = rows.iter().map(|row| label(row).chars().count()).max();
    let first = first.unwrap_or(0).max(4);
    let columns: Vec<Vec<String>> = systems
        .iter()
        .map(|system| rows.iter().map(|row| cell(row, system, base)).collect())
        .collect();
    let heads: Vec<String> = (1..)
        .zip(systems)
        .map(|(number, system)| format!("[{number}] {}", short_name(system.target)))
        .collect();
    let widths: Vec<usize> = columns
        .iter()
        .zip(&heads)
        .map(|(cells, head)| {
            let widest = cells.iter().map(|cell| cell.chars().count()).max();
            widest.unwrap_or(0).max(head.chars().count())
        })
        .collect();
    // Columns that do not fit beside each other come below, in as many blocks as they need.
    let mut text = String::new();
    let mut at = 0;
    while at < systems.len() {
        let mut taken = first;
        let mut end = at;
        while end < systems.len() && (end == at || taken + 2 + widths[end] <= style.columns()) {
            taken += 2 + widths[end];
            end += 1;
        }
        let mut lines = vec![(String::new(), &heads[at..end])];
        let cells: Vec<Vec<String>> = (0..rows.len())
            .map(|row| {
                columns[at..end]
                    .iter()
                    .map(|column| column[row].clone())
                    .collect()
            })
            .collect();
        lines.extend(rows.iter().map(label).zip(cells.iter().map(Vec::as_slice)));
        for (label, cells) in lines {
            let mut line = format!("{label:<first$}");
            for (cell, width) in cells.iter().zip(&widths[at..end]) {
                line.push_str(&format!("  {cell:>width$}"));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text.push('\n');
        at = end;
    }
    text
}

fn label(row: &Row) -> String {
    let scale = if row.scale == 1 {
        String::new()
    } else {
        format!(", counts times {}", row.scale)
    };
    let clients = if row.clients == 1 {
        String::new()
    } else {
        format!(", {}", units::format_counted(row.clients.into(), "client"))
    };
    if row.is_merit {
        return format!("merit kB/s {}{scale}{clients}", row.state.name());
    }
    let bytes = row.bytes.map(|bytes| bytes / u64::from(row.clients.max(1)));
    let bytes = bytes.filter(|&bytes| bytes != DEVICE_BYTES);
    let bytes = bytes.map_or_else(String::new, |bytes| format!(", of {}", Bytes(bytes)));
    format!(
        "{} {}{bytes}{scale}{clients}",
        word(&row.test, &row.spacing),
        row.state.name()
    )
}

/// Seconds with the half-width of their interval, and the ratio where one is wanted.
fn cell(row: &Row, system: &System<'_>, base: Option<&System<'_>>) -> String {
    let Some(found) = figure(row, system) else {
        return "-".into();
    };
    // Thousands of bytes per second have as many digits as seconds.
    let shown = if row.is_merit {
        found.scale(1e-3)
    } else {
        found
    };
    let width = half(&shown);
    let is_base = base.is_some_and(|base| std::ptr::eq(base, system));
    let base = base.filter(|_| !is_base);
    let ratio = base.and_then(|base| comparable(row, base)).map(|base| {
        let ratio = found.over(&base);
        if ratio.is_bounded() {
            let (low, high) = (digits(ratio.low), digits(ratio.high));
            format!("  x{} ({low} .. {high})", digits(ratio.value))
        } else {
            format!("  x{}", digits(ratio.value))
        }
    });
    format!(
        "{}{width}{}",
        digits(shown.value),
        ratio.unwrap_or_default()
    )
}

fn legend(
    rows: &[Row],
    shared: &[&Row],
    systems: &[System<'_>],
    against: Option<(&System<'_>, u32)>,
) -> String {
    let mut text = "Seconds for each test, with half of their 95 % interval.".to_owned();
    if rows.iter().any(|row| row.is_merit) {
        text.push_str(
            " Merit: the paper's figure of merit, what TEST11 read in a second. As is, \
             memory may have answered.",
        );
    }
    let figures = || {
        let of_row = |row| systems.iter().filter_map(move |it| figure(row, it));
        rows.iter().flat_map(of_row)
    };
    if figures().any(|found| !found.is_bounded()) {
        text.push_str(" What was measured once has no interval.");
    }
    let is_filled = |row: &Row, system: &System<'_>| {
        figure(row, system).is_none() && comparable(row, system).is_some()
    };
    let one_state = "A memory disk has one state, as is, which stands for the others there.";
    let is_order_filled = shared
        .iter()
        .any(|row| systems.iter().any(|it| is_filled(row, it)));
    let is_ratio_filled =
        against.is_some_and(|(base, _)| rows.iter().any(|it| is_filled(it, base)));
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

/// A test as tables name it: `TEST4`, `TEST4 SPACE2`, or the word of a phase.
fn word(test: &str, spacing: &str) -> String {
    let number = match test.starts_with(|c: char| c.is_ascii_digit()) {
        true => "TEST",
        false => "",
    };
    format!("{number}{test} {spacing}").trim_end().to_owned()
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
