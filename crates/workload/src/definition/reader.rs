//! Parses a definition from TOML and collects all mistakes with their lines.
//!
//! The table is walked by hand, because derived deserialisation stops at the first mistake and
//! repeats the invalid text.

use toml_reader::{TomlFault, TomlFaults, parse, place_at, unknown_key};

use crate::address::{Partition, Pattern};
use crate::definition::keys::{self, WorkloadSection};
use crate::definition::notation::{parse_clock, parse_mix, parse_pattern};
use crate::definition::values::{Noted, WorkloadTable, WorkloadText};
use crate::definition::{WorkloadDefinition, WorkloadGroup, content};
use crate::threads::{THREADS_MAX, ThreadParameters, check_threads};

/// Maximum length of a definition.
const BYTES_MAX: usize = 64 << 10;

/// Why a workload is invalid.
const NO_THREADS: &str = "the workload has no threads: add a table that begins with [[threads]]";
const BATCH_NEEDS_THREADS: &str = "a batch workload runs a fixed number of threads: add \
                                   threads-fixed = 5, or leave the group out";
const TRANSACTION_WITH_THREADS: &str = "a transaction workload adds threads until the response \
                                        times are reached: leave threads-fixed out, or write \
                                        group = \"batch\"";

/// Parses a text with `read`, which gets its table. Returns all mistakes otherwise.
pub(super) fn read_table<T>(
    text: &str,
    file: &str,
    read: impl FnOnce(&WorkloadTable<'_>) -> Result<T, Noted>,
) -> Result<T, TomlFaults> {
    if text.len() > BYTES_MAX {
        let message = format!(
            "the file has {} bytes, and a workload definition has {BYTES_MAX} at most",
            text.len()
        );
        let place = place_at(file, 1);
        return Err(TomlFaults {
            faults: vec![TomlFault { place, message }],
        });
    }
    let document = parse(file, text)?;
    let text = WorkloadText::new(text);
    let top = WorkloadTable {
        file: &text,
        keys: document.get_ref(),
        line: 1,
    };
    match read(&top) {
        Ok(found) if text.is_right() => Ok(found),
        _ => Err(text.into_faults(file)),
    }
}

pub(super) fn read(text: &str, file: &str) -> Result<WorkloadDefinition, TomlFaults> {
    read_table(text, file, read_top)
}

/// How all types divide the file.
#[derive(Clone, Copy)]
struct Division {
    partition: Partition,
    block: i64,
    shares: i64,
}

/// A valid type with its line.
struct LocatedType {
    parameters: ThreadParameters,
    line: usize,
}

fn read_top(top: &WorkloadTable<'_>) -> Result<WorkloadDefinition, Noted> {
    check_keys(top, &keys::TOP, &keys::TYPE);
    let name = top.required(&keys::NAME, top.name(&keys::NAME));
    let title = top.name(&keys::TITLE);
    let division = read_division(top).ok();
    let types = top.tables(&keys::THREADS, NO_THREADS);
    let types = types.into_iter().filter_map(|(index, table)| {
        let (parameters, line) = (read_type(&table, index, division).ok()?, table.line);
        Some(LocatedType { parameters, line })
    });
    let types: Vec<LocatedType> = types.collect();
    check_constraints(top, &types);
    let group = read_group(top, &types);
    let content = content::read(top);
    let (name, (group, threads), content) = (name?, group?, content?);
    let title = title?.unwrap_or_else(|| name.clone());
    let parameters: Vec<_> = types.into_iter().map(|kind| kind.parameters).collect();
    let made = WorkloadDefinition::new(&name, &title, group, threads, &parameters);
    made.map(|definition| WorkloadDefinition {
        content,
        ..definition
    })
    .map_err(|_| Noted)
}

fn read_division(top: &WorkloadTable<'_>) -> Result<Division, Noted> {
    let partition = top.choice(
        &keys::ACCESS,
        &[
            ("contiguous", Partition::Contiguous),
            ("interleaved", Partition::Interleaved),
            ("contentious", Partition::Contending),
        ],
    );
    let block = top.within(&keys::BLOCK, top.size(&keys::BLOCK), 1..=i64::MAX);
    let block = top.required(&keys::BLOCK, block);
    let shares = top.integer(&keys::SHARES);
    let shares = top.within(&keys::SHARES, shares, 1..=u32::MAX.into());
    let shares = top.required(&keys::SHARES, shares);
    Ok(Division {
        partition: partition?.unwrap_or(Partition::Contiguous),
        block: block?,
        shares: shares?,
    })
}

fn read_type(
    table: &WorkloadTable<'_>,
    index: usize,
    division: Option<Division>,
) -> Result<ThreadParameters, Noted> {
    check_keys(table, &keys::TYPE, &keys::TOP);
    let name = table.name(&keys::NAME);
    let count = table.integer(&keys::COUNT);
    let io = table.size(&keys::IO);
    let place = table.place();
    let mix = table.notation(&keys::MIX, parse_mix);
    let pattern = table.notation(&keys::SPACE, parse_pattern);
    let clock = table.notation(&keys::TIME, parse_clock);
    let ios_per_message = table.integer(&keys::IOS_PER_MESSAGE);
    let (reads, writes) = mix?.unwrap_or((0, 0));
    let division = division.ok_or(Noted)?;
    Ok(ThreadParameters {
        name: name?.unwrap_or_else(|| format!("type {}", index + 1)),
        count: count?.unwrap_or(1),
        data_file: None,
        partition: division.partition,
        block_bytes: division.block,
        io_bytes: io?.unwrap_or(0),
        io_offset: place?.unwrap_or(-1),
        threads_max: division.shares,
        control_thread: None,
        reads,
        writes,
        pattern: pattern?.unwrap_or(Pattern::Sequential { step: 1 }),
        clock: clock?.flatten(),
        ios_per_message: ios_per_message?.unwrap_or(100),
    })
}

/// Reports violated constraints at the type that violates them, or at the top if all do.
fn check_constraints(top: &WorkloadTable<'_>, types: &[LocatedType]) {
    let all: Vec<_> = types.iter().map(|kind| kind.parameters.clone()).collect();
    if all.is_empty() {
        return;
    }
    let violations = |types: &[_]| check_threads(types, None).err().unwrap_or_default();
    let alone: Vec<_> = all.chunks(1).map(violations).collect();
    for error in violations(&all) {
        let owner = alone.iter().position(|errors| errors.contains(&error));
        let line = match error.is_of_shares {
            true => top.line_of(&keys::SHARES),
            false => owner.map_or(top.line, |index| types[index].line),
        };
        top.file.note(line, error.to_string());
    }
}

fn read_group(
    top: &WorkloadTable<'_>,
    types: &[LocatedType],
) -> Result<(Option<WorkloadGroup>, Option<u32>), Noted> {
    let groups = [
        ("transaction", WorkloadGroup::Transaction),
        ("batch", WorkloadGroup::Batch),
    ];
    let group = top.choice(&keys::GROUP, &groups);
    let threads = top.integer(&keys::THREADS_FIXED);
    let threads = top.within(&keys::THREADS_FIXED, threads, 0..=THREADS_MAX.into());
    let (group, threads) = (group?, threads?);
    let threads = threads.filter(|&count| count > 0).map(|count| count as u32);
    let never_waits = |kind: &LocatedType| kind.parameters.clock.is_none();
    let is_transaction = match group {
        Some(group) => group == WorkloadGroup::Transaction,
        // An invalid type may be one that never waits.
        None => top.file.is_right() && !types.iter().any(never_waits),
    };
    if group == Some(WorkloadGroup::Batch) && threads.is_none() {
        top.file
            .note(top.line_of(&keys::GROUP), BATCH_NEEDS_THREADS);
    }
    if is_transaction && threads.is_some() {
        let line = top.line_of(&keys::THREADS_FIXED);
        top.file.note(line, TRANSACTION_WITH_THREADS);
    }
    Ok((group, threads))
}

pub(super) fn check_keys(
    table: &WorkloadTable<'_>,
    section: &WorkloadSection,
    other: &WorkloadSection,
) {
    for (name, _) in table.keys {
        let typed: &str = name.get_ref();
        if section.find(typed).is_some() {
            continue;
        }
        let message = match other.find(typed) {
            Some(key) => format!("the key {key:?} belongs {}", other.belongs),
            None => unknown_key(typed, section.place, &section.names()),
        };
        table.file.note(table.file.line(&name.span()), message);
    }
}
