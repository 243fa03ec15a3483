//! Programs that use files: a table for each state and scale, what the memory disk takes, and what
//! each call takes.

use results::environment::TargetKind;
use results::{
    DirectoryUse, FileCallTimes, FilePass, FileState, FileSystemRole, FileTest, FileTests,
    FileTransfers, MetadataTree, ONE_BLOCK,
};
use stats::Estimate;
use units::{
    Bytes, format_count, format_counted, format_duration_ns, format_interval_count, format_rate,
};

use crate::figure::{mark, tone_of};
use crate::files_matrix::{self, Group};
use crate::page::Page;
use crate::style::Tone;
use crate::table::{Align, Table};
use crate::target;

/// Everything about the tests.
pub(crate) fn section(page: &mut Page<'_>, found: &FileTests, target: TargetKind) {
    settings(page, found, target);
    let mut groups: Vec<Group> = Vec::new();
    for test in &found.tests {
        let group = (test.system, test.scale, test.state);
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let is_matrix = groups.len() > 1 && !page.style.all;
    if is_matrix {
        page.blank();
        files_matrix::section(page, found, &groups);
        groups.clear();
    }
    for group in groups {
        page.blank();
        page.heading(&heading(found, group, target));
        let is_of = |test: &&FileTest| (test.system, test.scale, test.state) == group;
        let tests: Vec<&FileTest> = found.tests.iter().filter(is_of).collect();
        table(page, found, &tests);
        if page.style.all {
            page.blank();
            costs_table(page, found, &tests);
            page.blank();
            call_table(page, &tests);
        }
    }
    growth(page, found);
    stonewalls(page, found);
    hosts(page, found);
    page.blank();
    titles(page, found);
    page.where_room_is_left(|page| match target {
        TargetKind::Simulated => virtual_legend(page),
        _ if is_matrix => {}
        _ => legend(page, found),
    });
    device(page, found, matches!(target, TargetKind::Simulated));
}

fn settings(page: &mut Page<'_>, found: &FileTests, target: TargetKind) {
    let until = match (found.passes, found.precision) {
        (Some(1), _) => "1 pass".to_owned(),
        (Some(passes), _) => format!("{passes} passes"),
        (None, Some(precision)) => format!("passes until {:.1} % precise", precision * 100.0),
        (None, None) => String::new(),
    };
    let clients = match found.clients {
        1 => "one client".to_owned(),
        many if found.transfers.is_some() => format!("{many} clients at once"),
        many => format!("{many} clients at once, each with files of its own"),
    };
    let tree = found.tree.as_ref().map_or_else(String::new, layout);
    let transfers = found.transfers.as_ref();
    let transfers = transfers.map_or_else(String::new, transfers_text);
    let host = target::host(target, &found.host_name);
    let text = format!(
        "{}{tree}{transfers}; {clients}; {until}{host}",
        found.workload
    );
    page.paragraph(Tone::Plain, &text);
    if let Some(memory) = &found.memory {
        let text = format!(
            "memory disk for comparison: {}, {}",
            memory.path,
            target::in_brief(memory)
        );
        page.paragraph(Tone::Quiet, &text);
    }
}

/// How many files of what size lie where, and who reads them.
fn layout(tree: &MetadataTree) -> String {
    let place = match (tree.directories, tree.depth) {
        (DirectoryUse::Shared, _) => "in one directory of all clients".to_owned(),
        (DirectoryUse::Own, 0) => "in a directory of each client's own".to_owned(),
        (DirectoryUse::Own, depth) => {
            format!("in a tree of depth {depth} and fan-out {}", tree.fan_out)
        }
    };
    let size = match tree.file_bytes {
        0 => ", empty".to_owned(),
        ONE_BLOCK => String::new(),
        bytes => format!(" of {bytes} bytes"),
    };
    let reader = match tree.is_reordered {
        true => ", read by another client than their maker",
        false => "",
    };
    let files = format_counted(u64::from(tree.files), "file");
    format!("; {files}{size} {place}{reader}")
}

/// How much goes where in how large parts, and who reads it.
fn transfers_text(transfers: &FileTransfers) -> String {
    let place = match transfers.directories {
        DirectoryUse::Own => "a file of its own",
        DirectoryUse::Shared => "one file of all clients, taking turns",
    };
    let reader = match transfers.is_reordered {
        true => ", read by another client than its writer",
        false => "",
    };
    format!(
        "; each client {} in transfers of {} to {place}{reader}",
        Bytes(transfers.client_bytes),
        Bytes(u64::from(transfers.transfer_bytes)),
    )
}

/// What was done when the time was up: without the wear-out, in which some wait for others.
fn stonewalls(page: &mut Page<'_>, found: &FileTests) {
    let Some(ns) = found.stonewall_ns else { return };
    let mut table = Table::new(&[
        ("at the stonewall", Align::Left, 9),
        ("seconds", Align::Right, 7),
        ("items/s", Align::Right, 9),
        ("95 % interval", Align::Left, 8),
        ("bytes/s", Align::Right, 6),
        ("items of a client", Align::Left, 7),
    ]);
    for test in &found.tests {
        let Some(wall) = &test.stonewall else {
            continue;
        };
        let rate = wall.items_per_second;
        let (value, interval) = match rate.is_bounded() {
            true => format_interval_count(rate.value, rate.low, rate.high),
            false => (format_count(rate.value), String::new()),
        };
        table.row(
            Tone::Plain,
            [
                format!("{}, {}", short_name(test), test.state.name()),
                digits(wall.elapsed_seconds.value),
                value,
                interval,
                wall.bytes_per_second
                    .map_or_else(String::new, |rate| format_rate(rate.value)),
                format!("{} .. {}", wall.items_least, wall.items_most),
            ],
        );
    }
    page.blank();
    page.table(&table);
    let text = format!(
        "At the stonewall: what was done when clients stopped after {}; then all caught \
         up with the furthest, which the rates above include.",
        format_duration_ns(ns as f64)
    );
    page.paragraph(Tone::Quiet, &text);
}

/// What each rank did.
fn hosts(page: &mut Page<'_>, found: &FileTests) {
    if found.hosts.is_empty() {
        return;
    }
    let mut table = Table::new(&[
        ("rank", Align::Right, 9),
        ("host", Align::Left, 8),
        ("calls", Align::Right, 4),
        ("calls/s", Align::Right, 9),
        ("first in", Align::Right, 6),
        ("last in", Align::Right, 7),
        ("busy", Align::Right, 7),
        ("CPUs", Align::Right, 5),
    ]);
    for host in &found.hosts {
        table.row(
            Tone::Plain,
            [
                host.rank.to_string(),
                host.host.clone(),
                format_count(host.calls as f64),
                format_count(host.calls_per_second),
                host.first_in.to_string(),
                host.last_in.to_string(),
                format!("{:.0} %", 100.0 * host.busy_share),
                host.processors_used.map_or_else(String::new, digits),
            ],
        );
    }
    page.blank();
    page.table(&table);
    let text = "first in, last in: passes in which this rank finished first, or last; busy: its \
                share of the time that passes took; CPUs: processors that its clients used while \
                at work.";
    page.paragraph(Tone::Quiet, text);
}

fn heading(
    found: &FileTests,
    (role, scale, state): (FileSystemRole, u32, FileState),
    target: TargetKind,
) -> String {
    let place = match role {
        FileSystemRole::Target => String::new(),
        FileSystemRole::Memory => "Memory disk, ".into(),
    };
    let state = match state {
        FileState::AsIs => "as is",
        FileState::Cold if target == TargetKind::Simulated => {
            "cold: the system's cache emptied before each pass"
        }
        FileState::Cold if found.cache_drop == "machine" => {
            "cold: pages, names and inodes dropped before each pass"
        }
        FileState::Cold => "cold: pages of the files dropped before each pass",
        FileState::Durable => "durable: files and directories synced",
    };
    let scale = if scale == 1 {
        String::new()
    } else {
        format!(", counts times {scale}")
    };
    let text = format!("{place}{state}{scale}");
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

fn table(page: &mut Page<'_>, found: &FileTests, tests: &[&FileTest]) {
    let mut table = Table::new(&[
        ("test", Align::Left, 9),
        ("seconds", Align::Right, 9),
        ("95 % interval", Align::Left, 8),
        ("passes", Align::Right, 3),
        ("user s", Align::Right, 5),
        ("system s", Align::Right, 5),
        ("items/s", Align::Right, 6),
        ("call mean", Align::Right, 6),
        ("call p99", Align::Right, 7),
        ("calls/s", Align::Right, 2),
        ("bytes/s", Align::Right, 6),
        ("reads", Align::Right, 4),
        ("writes", Align::Right, 4),
        ("over memory", Align::Right, 7),
    ]);
    for test in tests {
        let counted = test.passes.iter().filter(|pass| !pass.is_warm_up).count();
        let (value, interval) = seconds(test.elapsed_seconds);
        let over = found.over_memory(test);
        let main = main_call(test);
        table.row(
            tone_of(test.trust()),
            [
                format!("{}{}", mark(test.trust()), short_name(test)),
                value,
                interval,
                counted.to_string(),
                test.cpu_user_seconds.map_or_else(String::new, digits),
                test.cpu_system_seconds.map_or_else(String::new, digits),
                format_count(test.items_per_second.value),
                main.map_or_else(String::new, |it| format_duration_ns(it.mean_ns)),
                main.and_then(|it| it.p99_ns)
                    .map_or_else(String::new, |ns| format_duration_ns(ns as f64)),
                format_count(test.calls_per_second.value),
                test.bytes_per_second
                    .map_or_else(String::new, |rate| format_rate(rate.value)),
                test.device_reads.map_or_else(String::new, format_count),
                test.device_writes.map_or_else(String::new, format_count),
                over.map_or_else(String::new, |ratio| ratio_text(&ratio)),
            ],
        );
    }
    page.whole_table(&table);
}

/// The kind of call that takes most of a test's time.
fn main_call(test: &FileTest) -> Option<&FileCallTimes> {
    let time = |it: &&FileCallTimes| it.mean_ns * it.count as f64;
    let calls = test.calls.iter();
    calls.max_by(|one, other| time(one).total_cmp(&time(other)))
}

/// What a pass takes of processor and device, and the ratio, each with its interval over passes.
fn costs_table(page: &mut Page<'_>, found: &FileTests, tests: &[&FileTest]) {
    let mut table = Table::new(&[
        ("test", Align::Left, 9),
        ("user s", Align::Right, 8),
        ("system s", Align::Right, 8),
        ("calls/s", Align::Right, 3),
        ("reads", Align::Right, 6),
        ("writes", Align::Right, 6),
        ("over memory", Align::Right, 7),
    ]);
    for test in tests {
        let cpu = |of: fn(&FilePass) -> Option<u64>| {
            test.pass_mean(of, 1e-9)
                .map_or_else(String::new, |it| digits(it.value) + &half(&it))
        };
        let number = |it: &Estimate| format_count(it.value) + &half(it);
        let count = |of: fn(&FilePass) -> Option<u64>| {
            test.pass_mean(of, 1.0)
                .map_or_else(String::new, |it| number(&it))
        };
        table.row(
            Tone::Plain,
            [
                short_name(test),
                cpu(|pass| pass.cpu_user_ns),
                cpu(|pass| pass.cpu_system_ns),
                number(&test.calls_per_second),
                count(|pass| pass.device_reads),
                count(|pass| pass.device_writes),
                found
                    .over_memory(test)
                    .map_or_else(String::new, |it| number(&it)),
            ],
        );
    }
    page.table(&table);
}

/// Half of the interval, in percent; nothing where there is none.
pub(crate) fn half(estimate: &Estimate) -> String {
    if estimate.is_bounded() && estimate.value > 0.0 {
        // The lower half may have been cut off at zero.
        let share = estimate.high / estimate.value - 1.0;
        format!(" +-{:.0} %", 100.0 * share)
    } else {
        String::new()
    }
}

/// Times of each kind of call.
fn call_table(page: &mut Page<'_>, tests: &[&FileTest]) {
    let mut table = Table::new(&[
        ("call", Align::Left, 9),
        ("count", Align::Right, 5),
        ("mean", Align::Right, 8),
        ("median", Align::Right, 7),
        ("p99", Align::Right, 7),
        ("longest", Align::Right, 6),
    ]);
    let time = |ns: Option<u64>| ns.map_or_else(String::new, |ns| format_duration_ns(ns as f64));
    for test in tests {
        for call in &test.calls {
            table.row(
                Tone::Plain,
                [
                    format!("{}: {}", short_name(test), call.kind),
                    call.count.to_string(),
                    format_duration_ns(call.mean_ns),
                    time(call.median_ns),
                    time(call.p99_ns),
                    time(Some(call.max_ns)),
                ],
            );
        }
    }
    page.table(&table);
}

/// A test on one file grows by the blocks of that file, the others by their files.
fn growth(page: &mut Page<'_>, found: &FileTests) {
    if found.growth.is_empty() {
        return;
    }
    let mut table = Table::new(&[
        (
            "time for each, over that at the smallest scale",
            Align::Left,
            9,
        ),
        ("each", Align::Left, 7),
        ("scale", Align::Right, 8),
        ("ratio", Align::Right, 9),
        ("95 % interval", Align::Left, 8),
    ]);
    for row in &found.growth {
        let (value, interval) = ratio_parts(&row.ratio);
        let mut same = found.tests.iter().filter(|it| it.name() == row.name());
        let is_one_file = same.any(|it| it.items == 1);
        let place = match row.system {
            FileSystemRole::Target => "",
            FileSystemRole::Memory => " on the memory disk",
        };
        let name = word(&row.test, &row.spacing);
        table.row(
            Tone::Plain,
            [
                format!("{name}, {}{place}", row.state.name()),
                if is_one_file { "block" } else { "file" }.into(),
                row.scale.to_string(),
                value,
                interval,
            ],
        );
    }
    page.blank();
    page.table(&table);
}

/// A test as tables name it: `TEST4`, `TEST4 SPACE2`, or the word of a phase.
pub(crate) fn word(test: &str, spacing: &str) -> String {
    let name = if test.starts_with(|c: char| c.is_ascii_digit()) {
        format!("TEST{test}")
    } else {
        test.to_owned()
    };
    if spacing.is_empty() {
        name
    } else {
        format!("{name} {spacing}")
    }
}

pub(crate) fn short_name(test: &FileTest) -> String {
    word(&test.test, &test.spacing)
}

/// Passes that differ by no more than this share have no interval that says anything.
const ALIKE: f64 = 1e-4;

/// Seconds and their interval, with as many digits as the interval bears.
pub(crate) fn seconds(estimate: Estimate) -> (String, String) {
    let Estimate {
        value, low, high, ..
    } = estimate;
    if estimate.is_bounded() {
        format_interval_seconds(value, low, high)
    } else {
        (digits(value), String::new())
    }
}

fn format_interval_seconds(value: f64, low: f64, high: f64) -> (String, String) {
    let half = (high - low) / 2.0;
    // Passes of a model may be the same to the nanosecond.
    if half <= ALIKE * value.abs() {
        return (digits(value), String::new());
    }
    let places = (1.0 - half.log10().floor()).clamp(0.0, 9.0) as usize;
    (
        format!("{value:.places$}"),
        format!("{low:.places$} .. {high:.places$}"),
    )
}

/// Three digits that count.
pub(crate) fn digits(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let places = (2.0 - value.abs().log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.places$}")
}

fn ratio_parts(ratio: &Estimate) -> (String, String) {
    if ratio.is_bounded() {
        format_interval_count(ratio.value, ratio.low, ratio.high)
    } else {
        (format_count(ratio.value), String::new())
    }
}

pub(crate) fn ratio_text(ratio: &Estimate) -> String {
    ratio_parts(ratio).0
}

/// What each test does, in words.
fn titles(page: &mut Page<'_>, found: &FileTests) {
    let mut titles: Vec<String> = Vec::new();
    for test in &found.tests {
        let title = format!("{}: {}", word(&test.test, ""), test.title);
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    page.paragraph(Tone::Quiet, &format!("{}.", titles.join("; ")));
}

fn legend(page: &mut Page<'_>, found: &FileTests) {
    let text = "Seconds: from the first call to the last, a mean over passes with Student's \
                interval; the first pass of a test is left out. User and system: CPU seconds of \
                the clients in one pass, split in clock ticks. Items are files, \
                directories or transfers. Call: the kind of call that takes most of the time.";
    let mut tests = found.tests.iter();
    let device = match tests.any(|test| test.device_reads.is_some()) {
        true => {
            " Reads and writes: what the device completed in one pass, whoever asked; without \
             syncing, most writes come later."
        }
        false => "",
    };
    page.paragraph(Tone::Quiet, &format!("{text}{device}"));
    if page.style.all {
        let text = "+-: half of the 95 % interval over passes.";
        page.paragraph(Tone::Quiet, text);
    }
    if !found.over_memory.is_empty() {
        let text = "Over memory: the time over that on the memory disk, as is: what is \
                    left without CPU and system.";
        page.paragraph(Tone::Quiet, text);
    }
}

fn virtual_legend(page: &mut Page<'_>) {
    let text = "Seconds of virtual time: from the first call to the last, a mean over passes with \
                Student's interval; none where passes are alike to a ten-thousandth. User: \
                processor seconds of the program with its run-time library, in one pass; system: \
                of the system. Reads and writes: commands of the device in one pass.";
    page.paragraph(Tone::Quiet, text);
}

/// What TEST11 reads.
fn device(page: &mut Page<'_>, found: &FileTests, is_model: bool) {
    if found.tests.iter().any(|test| test.test == "11") {
        let is_cached = found
            .tests
            .iter()
            .any(|test| test.test == "11" && test.state == FileState::AsIs);
        let doubt = if is_cached && !is_model {
            " As is, reads may have come from memory: compare cold rows."
        } else {
            ""
        };
        let text = format!(
            "TEST11 reads {}; its bytes per second are the figure of merit.{doubt}",
            match found.device.as_str() {
                "own file" => "a file of 32000 blocks instead of a device",
                device => device,
            }
        );
        page.paragraph(Tone::Quiet, &text);
    }
}
