//! What a target is, and what about it would mislead a reader of results.

use results::environment::{BlockDevice, FileSystem, Throttle};
use results::{Caution, Environment, TargetDescription};
use units::{Bytes, format_count, format_rate};

use crate::page::TextPage;
use crate::style::{Style, Tone};
use crate::target::{self, joined, with};

/// The target, what it stands on, the machine, and cautions with advice.
pub fn inspection(
    target: &TargetDescription,
    environment: &Environment,
    cautions: &[Caution],
    style: &Style,
) -> String {
    let mut page = TextPage::new(style);
    page.heading(&format!("{}: {}", target.given, target::kind(target.kind)));
    if target.path != target.given {
        page.fact("path", &target.path);
    }
    page.fact("size", &size(target));
    if target.memory_backed {
        page.fact("stored in", "main memory");
    }
    if target.remote {
        page.fact("stored on", "another machine");
    }
    if let Some(file_system) = &target.file_system {
        page.fact("file system", &target::file_system_in_full(file_system));
        page.fact("mount options", &mount_options(file_system));
    }
    if let Some(raid) = &target.raid {
        page.fact(
            "RAID",
            &format!("{} ({})", target::raid_in_brief(raid), raid.source),
        );
    }
    for one in &target.devices {
        page.blank();
        device(&mut page, one);
    }
    page.blank();
    machine(&mut page, environment);
    page.blank();
    if cautions.is_empty() {
        page.heading("No problems found that can distort results.");
    } else {
        page.heading("Problems that can distort results");
        for caution in cautions {
            page.item(
                Tone::Doubtful,
                "-",
                &format!("{} [{}]", caution.text(), caution.code),
            );
        }
    }
    page.finish()
}

fn size(target: &TargetDescription) -> String {
    match (target.size_bytes, target.allocated_bytes) {
        (Some(size), Some(allocated)) => {
            format!(
                "{}, of which {} are allocated",
                Bytes(size),
                Bytes(allocated)
            )
        }
        (Some(size), None) => Bytes(size).to_string(),
        _ => String::new(),
    }
}

fn mount_options(file_system: &FileSystem) -> String {
    let both = file_system.options.iter().chain(&file_system.super_options);
    let mut options: Vec<&str> = Vec::new();
    for option in both {
        if !options.contains(&option.as_str()) {
            options.push(option);
        }
    }
    options.join(", ")
}

fn device(page: &mut TextPage<'_>, device: &BlockDevice) {
    page.heading(&format!("{} ({})", device.name, device.number));
    page.fact("device", &target::device_in_brief(device));
    page.known("partition of", device.partition_of.as_ref());
    page.fact("stands on", &device.members.join(", "));
    page.known("size", device.size_bytes.map(Bytes));
    page.known("write cache", device.write_cache.as_ref());
    page.fact("blocks", &blocks(device));
    page.fact("queue", &queue(device));
    page.fact("properties", &properties(device));
    page.known("backing file", device.backing_file.as_ref());
    if let Some(limits) = &device.throttled {
        page.fact("limits", &throttle(limits));
    }
}

fn blocks(device: &BlockDevice) -> String {
    let named = |bytes: Option<u64>, name| with(name, bytes.filter(|it| *it > 0).map(Bytes), "");
    joined([
        named(device.logical_block_bytes, "logical "),
        named(device.physical_block_bytes, "physical "),
        named(device.minimum_io_bytes, "smallest preferred "),
        named(device.optimal_io_bytes, "best for streaming "),
    ])
}

fn queue(device: &BlockDevice) -> String {
    joined([
        with("scheduler ", device.scheduler.as_ref(), ""),
        with("", device.requests, " requests"),
        with("requests up to ", device.max_sectors_kib, " KiB"),
        with("read-ahead ", device.read_ahead_kib, " KiB"),
    ])
}

fn properties(device: &BlockDevice) -> String {
    let says = |fact: Option<bool>, text: &str| (fact == Some(true)).then(|| text.to_owned());
    joined([
        says(device.discard, "accepts discards"),
        says(device.removable, "removable"),
        says(device.read_only, "read-only"),
        says(
            device.backing_direct,
            "bypasses the page cache of its backing file",
        ),
    ])
}

fn throttle(limits: &Throttle) -> String {
    let rate = |limit: Option<u64>, kind: &str| {
        limit.map(|limit| format!("{kind} {}", format_rate(limit as f64)))
    };
    let operations = |limit: Option<u64>, kind: &str| {
        limit.map(|limit| format!("{} {kind}/s", format_count(limit as f64)))
    };
    let limited = joined([
        rate(limits.read_bytes_per_second, "reads"),
        rate(limits.write_bytes_per_second, "writes"),
        operations(limits.read_operations_per_second, "reads"),
        operations(limits.write_operations_per_second, "writes"),
    ]);
    format!("{limited}, by control group {}", limits.group)
}

fn machine(page: &mut TextPage<'_>, environment: &Environment) {
    page.heading(&format!(
        "{} ({})",
        environment.host_name, environment.kernel
    ));
    page.fact("processor", &processor(environment));
    page.fact("memory", &memory(environment));
    page.known("runs in", environment.virtualised.as_ref());
    page.known("clock", environment.clock_source.as_ref());
    let load = environment.load_average.map(|[one, five, fifteen]| {
        format!("load {one:.2}, {five:.2}, {fifteen:.2} over 1, 5 and 15 minutes")
    });
    let pressure = environment.pressure_io.map(|pressure| {
        format!(
            "I/O pressure (some) {:.1} % over 10 s",
            pressure.some_percent
        )
    });
    let steal = environment
        .steal_share
        .filter(|&share| share > 0.0)
        .map(|share| format!("{:.1} % steal since boot", share * 100.0));
    page.fact("busy", &joined([load, pressure, steal]));
}

fn processor(environment: &Environment) -> String {
    let cpus = if environment.cpus_allowed == environment.cpus_online {
        format!("{} CPUs", environment.cpus_online)
    } else {
        format!(
            "{} of {} CPUs",
            environment.cpus_allowed, environment.cpus_online
        )
    };
    joined([
        environment.cpu_model.clone(),
        Some(environment.architecture.clone()),
        Some(cpus),
        environment
            .cpu_limit
            .map(|limit| format!("limited to {limit:.2} CPUs")),
    ])
}

fn memory(environment: &Environment) -> String {
    let swap = environment.swap_total_bytes.filter(|&swap| swap > 0);
    let free = environment.swap_free_bytes.filter(|_| swap.is_some());
    joined([
        with("", environment.memory_total_bytes.map(Bytes), " in all"),
        with(
            "",
            environment.memory_available_bytes.map(Bytes),
            " available",
        ),
        with("limited to ", environment.memory_limit_bytes.map(Bytes), ""),
        with("", swap.map(Bytes), " of swap"),
        with("", free.map(Bytes), " of swap free"),
    ])
}
