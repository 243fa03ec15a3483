//! Systems beside each other, as in the paper's appendices: a description of each, then a table
//! with systems as columns and tests as rows.

use results::{FileSystemRole, FileTest, FileTests, Run, Status, TargetDescription};
use stats::Estimate;
use units::Bytes;

use crate::files::{digits, word};
use crate::style::Style;
use crate::target;

/// Why runs cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilesComparisonError {
    /// A run holds no file tests.
    #[error("run {0} holds no file tests: they belong to runs of `seekstone files`; name others")]
    NoFiles(String),
    /// Runs share no test.
    #[error("the runs have no test in common in the same state and at the same scale")]
    NothingShared,
    /// The system to divide by is not there.
    #[error("--against {0}: is none of the systems; they are numbered from 1 to {1}")]
    NoSuchSystem(u32, usize),
}

/// One column.
struct System<'a> {
    run: &'a Run,
    found: &'a FileTests,
    role: FileSystemRole,
    target: &'a TargetDescription,
}

/// What a row is about.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    test: String,
    spacing: String,
    title: String,
    state: results::FileState,
    scale: u32,
    clients: u32,
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
    for run in runs {
        let number = || {
            run.id
                .map_or_else(|| "without a number".into(), |id| id.to_string())
        };
        let found = run.files.as_ref();
        let found = found.ok_or_else(|| FilesComparisonError::NoFiles(number()))?;
        for (role, target) in [
            (FileSystemRole::Target, Some(&run.target)),
            (FileSystemRole::Memory, found.memory.as_ref()),
        ] {
            if let Some(target) = target {
                systems.push(System {
                    run,
                    found,
                    role,
                    target,
                });
            }
        }
    }
    let rows = rows_of(&systems);
    let shared: Vec<&Row> = rows
        .iter()
        .filter(|row| is_everywhere(row, &systems))
        .collect();
    if shared.is_empty() && systems.len() > 1 && rows.iter().all(|row| holders(row, &systems) < 2) {
        return Err(FilesComparisonError::NothingShared);
    }
    // By the sum of logarithms over shared rows: each test weighs the same, long or short.
    systems.sort_by(|a, b| weight(b, &shared).total_cmp(&weight(a, &shared)));
    if let Some(number) = against.filter(|&n| n == 0 || n as usize > systems.len()) {
        return Err(FilesComparisonError::NoSuchSystem(number, systems.len()));
    }
    let mut text = String::new();
    for (number, system) in (1..).zip(&systems) {
        describe(&mut text, number, system);
    }
    text.push('\n');
    let base = against.map(|number| &systems[number as usize - 1]);
    text.push_str(&grid(&rows, &systems, base, style));
    text.push_str(&legend(base.and(against)));
    Ok(text)
}

fn rows_of(systems: &[System<'_>]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for system in systems {
        let own = system
            .found
            .tests
            .iter()
            .filter(|it| it.system == system.role);
        for test in own {
            let row = row_of(test, system);
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
    }
    // Stable: within a state, the paper's order.
    rows.sort_by_key(|row| (row.clients, row.scale, row.state));
    rows
}

fn row_of(test: &FileTest, system: &System<'_>) -> Row {
    Row {
        test: test.test.clone(),
        spacing: test.spacing.clone(),
        title: test.title.clone(),
        state: test.state,
        scale: test.scale,
        clients: system.found.clients,
    }
}

fn figure(row: &Row, system: &System<'_>) -> Option<Estimate> {
    let own = system
        .found
        .tests
        .iter()
        .filter(|it| it.system == system.role);
    let mut same = own.filter(|test| row_of(test, system) == *row);
    same.next().map(|test| test.elapsed_seconds)
}

fn holders(row: &Row, systems: &[System<'_>]) -> usize {
    let has = |system: &&System<'_>| figure(row, system).is_some();
    systems.iter().filter(has).count()
}

fn is_everywhere(row: &Row, systems: &[System<'_>]) -> bool {
    holders(row, systems) == systems.len()
}

fn weight(system: &System<'_>, shared: &[&Row]) -> f64 {
    let times = shared.iter().filter_map(|row| figure(row, system));
    times.map(|time| time.value.max(1e-12).ln()).sum()
}

/// The paper's appendix B, from what the machine says of itself.
fn describe(text: &mut String, number: usize, system: &System<'_>) {
    let environment = &system.run.environment;
    let run = system
        .run
        .id
        .map_or_else(String::new, |id| format!(", run {id}"));
    let partial = match system.run.status {
        Status::Complete => "",
        Status::Partial { .. } => ", partial",
    };
    let memory = match system.role {
        FileSystemRole::Target => "",
        FileSystemRole::Memory => ", memory disk",
    };
    let processor = environment
        .cpu_model
        .as_deref()
        .unwrap_or("processor not known");
    let ram = environment.memory_total_bytes;
    let ram = ram.map_or_else(String::new, |bytes| format!(", {} RAM", Bytes(bytes)));
    text.push_str(&format!(
        "[{number}] {}{memory}: {}{run}{partial}\n    host {}, {processor}, {} CPUs{ram}, {}\n",
        short_name(system),
        system.target.path,
        environment.host_name,
        environment.cpus_allowed,
        environment.kernel,
    ));
    text.push_str(&format!("    {}", target::in_brief(system.target)));
    if let Some(file_system) = &system.target.file_system {
        let mut options = file_system.options.clone();
        let more = file_system.super_options.iter();
        let more: Vec<_> = more.filter(|it| !options.contains(it)).cloned().collect();
        options.extend(more);
        text.push_str(&format!("\n    mounted {}", options.join(",")));
    }
    text.push_str(&format!(
        "\n    measured {} with Seekstone {}\n",
        environment.started_at, environment.seekstone_version
    ));
}

/// The file system and its device, or what a device or model is called.
fn short_name(system: &System<'_>) -> String {
    match (&system.target.file_system, system.target.devices.first()) {
        (Some(file_system), Some(device)) => format!("{} {}", file_system.kind, device.name),
        (Some(file_system), None) => file_system.kind.clone(),
        (None, _) => system.target.given.clone(),
    }
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
        .map(|(number, system)| format!("[{number}] {}", short_name(system)))
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
        format!(", {} clients", row.clients)
    };
    format!(
        "{} {}{scale}{clients}",
        word(&row.test, &row.spacing),
        row.state.name()
    )
}

/// Seconds with the half-width of their interval, and the ratio where one is wanted.
fn cell(row: &Row, system: &System<'_>, base: Option<&System<'_>>) -> String {
    let Some(found) = figure(row, system) else {
        return "-".into();
    };
    let width = if found.is_bounded() {
        // The lower half may have been cut off at zero.
        format!(" +-{:.0} %", 100.0 * (found.high / found.value - 1.0))
    } else {
        String::new()
    };
    let ratio = base.and_then(|base| figure(row, base)).map(|base| {
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
        digits(found.value),
        ratio.unwrap_or_default()
    )
}

fn legend(against: Option<u32>) -> String {
    let ratio = against.map_or_else(String::new, |number| {
        format!(" x: ratio to system [{number}], with its 95 % interval.")
    });
    format!(
        "Seconds for each test, with half of their 95 % interval. Systems from the slowest to the \
         fastest over the tests that all of them have.{ratio}\n"
    )
}
