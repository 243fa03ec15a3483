//! Reads a profile and collects all mistakes with their lines.

use toml_reader::{KeyedTable, TomlFaults, TomlText, parse};
use units::Bytes;

use super::{
    ApplicationProfile, LoadOperation, LoadOrder, PerMachine, ProfileLimit, ProfileLoad,
    ProfileStep,
};
use crate::requirement::Requirement;

const NUMBER: &str = "a number, such as \"16\" or \"2 per core\"";
const RATE: &str = "a rate, such as \"500/s\" or \"500/s per core\"";
const OPERATIONS: [(&str, LoadOperation); 3] = [
    ("read", LoadOperation::Read),
    ("write", LoadOperation::Write),
    ("log", LoadOperation::Log),
];
const ORDERS: [(&str, LoadOrder); 2] = [
    ("random", LoadOrder::Random),
    ("sequential", LoadOrder::Sequential),
];
/// Maximum operation size of a profile.
const IO_MAX: Bytes = Bytes::from_mib(64);

/// Read a profile.
///
/// # Errors
/// All mistakes, in the order of the file.
// not fuzzed: the texts are built in
pub fn read_profile(file: &str, text: &str) -> Result<ApplicationProfile, TomlFaults> {
    let document = parse(file, text)?;
    let mut source = TomlText::new(file, text);
    let place = source.place(&document.span());
    let mut top = KeyedTable::new(&mut source, document.get_ref(), place, "a profile");
    let name = name_of(&mut top, "name");
    let title = name_of(&mut top, "title");
    let steps = top.tables("steps", "tables that begin with [[steps]]");
    top.finish();
    let steps = steps.into_iter().filter_map(|(table, place)| {
        read_step(KeyedTable::new(&mut source, table, place, "a step"))
    });
    let steps: Vec<ProfileStep> = steps.collect();
    let profile = ApplicationProfile {
        name: name.unwrap_or_default(),
        title: title.unwrap_or_default(),
        steps,
    };
    source.finish(profile)
}

fn name_of(table: &mut KeyedTable<'_, '_>, key: &'static str) -> Option<String> {
    const WANTED: &str = "a text of one line";
    let name = table.name(key, WANTED);
    table.require(key, name, WANTED)
}

fn read_step(mut table: KeyedTable<'_, '_>) -> Option<ProfileStep> {
    let name = name_of(&mut table, "name");
    let title = name_of(&mut table, "title");
    let part = name_of(&mut table, "part");
    let supports = table.name("supports", "a text, such as \"commits\"");
    let load = read_load(&mut table);
    let beside = table.tables("meanwhile", "tables that begin with [[steps.meanwhile]]");
    let limits = table.tables("limits", "tables that begin with [[steps.limits]]");
    let mut loads = Vec::new();
    for (inner, place) in beside {
        let mut inner = KeyedTable::new(table.source, inner, place, "a load during a step");
        loads.extend(read_load(&mut inner));
        inner.finish();
    }
    let mut read = Vec::new();
    for (inner, place) in limits {
        let inner = KeyedTable::new(table.source, inner, place, "a limit");
        read.extend(read_limit(inner));
    }
    table.finish();
    Some(ProfileStep {
        name: name?,
        title: title?,
        part: part?,
        supports,
        load: load?,
        beside: loads,
        limits: read,
    })
}

fn read_load(table: &mut KeyedTable<'_, '_>) -> Option<ProfileLoad> {
    let operation = word(table, "operation", &OPERATIONS);
    let operation = table.require("operation", operation, "\"read\", \"write\" or \"log\"");
    let io = io_of(table);
    let order = word(table, "order", &ORDERS);
    let is_synced = table.flag("fdatasync").unwrap_or(false);
    let is_cached = table.flag("page-cache").unwrap_or(false);
    let clients = number(table, "clients", NUMBER);
    let clients = table.require("clients", clients, NUMBER);
    let rate = number(table, "rate", RATE);
    Some(ProfileLoad {
        operation: operation?,
        io: io?,
        order: order.unwrap_or(LoadOrder::Sequential),
        is_synced,
        is_cached,
        clients: clients?,
        rate,
    })
}

fn io_of(table: &mut KeyedTable<'_, '_>) -> Option<Bytes> {
    const WANTED: &str = "a size up to 64 MiB, such as \"8 KiB\"";
    let size = |text: &str| {
        let size = text.parse().ok();
        let size = size.filter(|it| (Bytes(1)..=IO_MAX).contains(it));
        size.ok_or_else(|| format!("{text:?} is not {WANTED}"))
    };
    let size = table.notation("io", WANTED, size);
    table.require("io", size, WANTED)
}

fn word<T: Copy>(
    table: &mut KeyedTable<'_, '_>,
    key: &'static str,
    words: &[(&str, T)],
) -> Option<T> {
    let known: Vec<&str> = words.iter().map(|it| it.0).collect();
    let wanted = format!("one of {}", known.join(", "));
    table.notation(key, &wanted, |text| {
        let found = words.iter().find(|it| it.0 == text);
        let found = found.map(|it| it.1);
        found.ok_or_else(|| format!("{text:?} is not {wanted}"))
    })
}

fn number(
    table: &mut KeyedTable<'_, '_>,
    key: &'static str,
    wanted: &'static str,
) -> Option<PerMachine> {
    table.notation(key, wanted, |text| {
        PerMachine::parse(text).ok_or_else(|| format!("{text:?} is not {wanted}"))
    })
}

fn read_limit(mut table: KeyedTable<'_, '_>) -> Option<ProfileLimit> {
    const LIMIT: &str = "a goal, such as \"p99 <= 10ms\"";
    const SOURCE: &str = "where the limit is published";
    let goal = |text: &str| text.parse::<Requirement>().map(|_| text.to_owned());
    let limit = table.notation("limit", LIMIT, goal);
    let limit = table.require("limit", limit, LIMIT);
    let source = table.text("source", SOURCE);
    let source = table.require("source", source, SOURCE);
    let reason = table.text("reason", "what is published there");
    let reason = table.require("reason", reason, "what is published there");
    table.finish();
    Some(ProfileLimit {
        limit: limit?,
        source: source?,
        reason: reason?,
    })
}
