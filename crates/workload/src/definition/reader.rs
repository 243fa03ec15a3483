//! Parses a definition from TOML and collects all mistakes with their lines.
//!
//! The table is walked by hand, because derived deserialisation stops at the first mistake and
//! repeats the invalid text.

use toml::de::DeValue;
use toml_reader::{TomlFault, TomlFaults, parse, place_at, unknown_key};

use crate::address::{Partition, Pattern};
use crate::definition::keys::{self, WorkloadSection};
use crate::definition::notation::{parse_clock, parse_mix, parse_pattern};
use crate::definition::values::{Noted, WorkloadTable, WorkloadValues, quoted, typed};
use crate::definition::{WorkloadDefinition, WorkloadGroup, content};
use crate::threads::{ConstraintError, THREADS_MAX, ThreadParameters, check_threads};

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
    read: impl FnOnce(&mut WorkloadValues<'_>, &WorkloadTable<'_>) -> Result<T, Noted>,
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
    let mut values = WorkloadValues::new(text);
    let top = WorkloadTable {
        keys: document.get_ref(),
        line: 1,
    };
    match read(&mut values, &top) {
        Ok(found) if values.are_right() => Ok(found),
        _ => Err(values.into_faults(file)),
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

fn read_top(
    values: &mut WorkloadValues<'_>,
    top: &WorkloadTable<'_>,
) -> Result<WorkloadDefinition, Noted> {
    check_keys(values, top, &keys::TOP, &keys::TYPE);
    let name = values.name(top, &keys::NAME);
    let name = values.required(top, &keys::NAME, name);
    let title = values.name(top, &keys::TITLE);
    let division = read_division(values, top);
    let types = read_types(values, top, division.ok());
    check_constraints(values, top, &types);
    let group = read_group(values, top, &types);
    let content = content::read(values, top);
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

fn read_division(
    values: &mut WorkloadValues<'_>,
    top: &WorkloadTable<'_>,
) -> Result<Division, Noted> {
    let partition = match values.word(top, &keys::ACCESS) {
        Ok(None | Some("contiguous")) => Ok(Partition::Contiguous),
        Ok(Some("interleaved")) => Ok(Partition::Interleaved),
        Ok(Some("contentious")) => Ok(Partition::Contending),
        Ok(Some(other)) => Err(values.refuse(top, &keys::ACCESS, &quoted(other))),
        Err(noted) => Err(noted),
    };
    let block = values.size(top, &keys::BLOCK);
    let block = match values.required(top, &keys::BLOCK, block) {
        Ok(block @ ..1) => Err(values.refuse(top, &keys::BLOCK, &block.to_string())),
        other => other,
    };
    let shares = values.integer(top, &keys::SHARES);
    let shares = match values.required(top, &keys::SHARES, shares) {
        Ok(shares) if !(1..=i64::from(u32::MAX)).contains(&shares) => {
            Err(values.refuse(top, &keys::SHARES, &shares.to_string()))
        }
        other => other,
    };
    Ok(Division {
        partition: partition?,
        block: block?,
        shares: shares?,
    })
}

fn read_types(
    values: &mut WorkloadValues<'_>,
    top: &WorkloadTable<'_>,
    division: Option<Division>,
) -> Vec<LocatedType> {
    let Some(value) = top.keys.get(keys::THREADS.name) else {
        values.note(top.line, NO_THREADS);
        return Vec::new();
    };
    let DeValue::Array(elements) = value.get_ref() else {
        values.refuse(top, &keys::THREADS, &typed(value.get_ref()));
        return Vec::new();
    };
    if elements.is_empty() {
        let line = values.line_of(top, &keys::THREADS);
        values.note(line, NO_THREADS);
    }
    let mut types = Vec::new();
    for (index, element) in elements.iter().enumerate() {
        let DeValue::Table(keys) = element.get_ref() else {
            values.refuse(top, &keys::THREADS, &typed(element.get_ref()));
            continue;
        };
        let line = values.line(&element.span());
        let table = WorkloadTable { keys, line };
        if let Ok(parameters) = read_type(values, &table, index, division) {
            types.push(LocatedType { parameters, line });
        }
    }
    types
}

fn read_type(
    values: &mut WorkloadValues<'_>,
    table: &WorkloadTable<'_>,
    index: usize,
    division: Option<Division>,
) -> Result<ThreadParameters, Noted> {
    check_keys(values, table, &keys::TYPE, &keys::TOP);
    let name = values.name(table, &keys::NAME);
    let count = values.integer(table, &keys::COUNT);
    let io = values.size(table, &keys::IO);
    let place = values.place(table);
    let mix = values.notation(table, &keys::MIX, parse_mix);
    let pattern = values.notation(table, &keys::SPACE, parse_pattern);
    let clock = values.notation(table, &keys::TIME, parse_clock);
    let ios_per_message = values.integer(table, &keys::IOS_PER_MESSAGE);
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
fn check_constraints(
    values: &mut WorkloadValues<'_>,
    top: &WorkloadTable<'_>,
    types: &[LocatedType],
) {
    let all: Vec<_> = types.iter().map(|kind| kind.parameters.clone()).collect();
    if all.is_empty() {
        return;
    }
    let violations = |types: &[_]| check_threads(types, None).err().unwrap_or_default();
    let alone: Vec<_> = all.chunks(1).map(violations).collect();
    for error in violations(&all) {
        let owner = alone.iter().position(|errors| errors.contains(&error));
        let line = match error {
            ConstraintError::FileTooLarge { .. } => values.line_of(top, &keys::SHARES),
            _ => owner.map_or(top.line, |index| types[index].line),
        };
        values.note(line, error.to_string());
    }
}

fn read_group(
    values: &mut WorkloadValues<'_>,
    top: &WorkloadTable<'_>,
    types: &[LocatedType],
) -> Result<(Option<WorkloadGroup>, Option<u32>), Noted> {
    let group = match values.word(top, &keys::GROUP) {
        Ok(Some("transaction")) => Ok(Some(WorkloadGroup::Transaction)),
        Ok(Some("batch")) => Ok(Some(WorkloadGroup::Batch)),
        Ok(Some(other)) => Err(values.refuse(top, &keys::GROUP, &quoted(other))),
        Ok(None) => Ok(None),
        Err(noted) => Err(noted),
    };
    let threads = match values.integer(top, &keys::THREADS_FIXED) {
        Ok(Some(count)) => match u32::try_from(count) {
            Ok(count) if count <= THREADS_MAX => Ok((count > 0).then_some(count)),
            _ => Err(values.refuse(top, &keys::THREADS_FIXED, &count.to_string())),
        },
        Ok(None) => Ok(None),
        Err(noted) => Err(noted),
    };
    let (group, threads) = (group?, threads?);
    let never_waits = |kind: &LocatedType| kind.parameters.clock.is_none();
    let is_transaction = match group {
        Some(group) => group == WorkloadGroup::Transaction,
        // An invalid type may be one that never waits.
        None => values.are_right() && !types.iter().any(never_waits),
    };
    if group == Some(WorkloadGroup::Batch) && threads.is_none() {
        let line = values.line_of(top, &keys::GROUP);
        values.note(line, BATCH_NEEDS_THREADS);
    }
    if is_transaction && threads.is_some() {
        let line = values.line_of(top, &keys::THREADS_FIXED);
        values.note(line, TRANSACTION_WITH_THREADS);
    }
    Ok((group, threads))
}

pub(super) fn check_keys(
    values: &mut WorkloadValues<'_>,
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
        values.note(values.line(&name.span()), message);
    }
}
