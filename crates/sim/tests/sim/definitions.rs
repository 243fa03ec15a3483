//! Definitions of devices: those that are built in, and what is said of wrong ones.

use engine::Driver as _;
use sim::{
    DefinitionKind, DeviceSpec, FileSystemSpec, SimSpec, device_names, device_text, read_definition,
};
use units::Instant;
use workload::{ClientId, Durability, Op, Request, TargetId};

/// Words with which the source of a built-in value may begin.
const SOURCES: [&str; 9] = [
    "document",
    "public data set",
    "maker",
    "emulator",
    "kernel log",
    "general knowledge",
    "assumed",
    "computed",
    "default",
];

fn no_files(path: &str) -> Result<String, String> {
    Err(format!("{path}: no such file"))
}

#[test]
fn every_built_in_device_is_valid_and_names_the_source_of_every_value() {
    for name in device_names() {
        let definition = read_definition(name, &[], &mut no_files);
        let definition = definition.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!definition.parameters.is_empty(), "{name}");
        for parameter in &definition.parameters {
            let is_known = SOURCES
                .iter()
                .any(|word| parameter.source.starts_with(word));
            assert!(is_known, "{name}: {parameter:?}");
        }
        let opened = SimSpec::parse(&format!("sim:{name}"));
        let machine = definition.machine.as_ref();
        let has_files = machine.is_some_and(|machine| machine.file_system.is_some());
        assert_eq!(
            opened.is_ok(),
            definition.kind != DefinitionKind::Link && !has_files,
            "{name}: {opened:?}"
        );
        let with_files = FileSystemSpec::parse_with(&format!("sim:{name}"), &mut no_files);
        assert_eq!(with_files.is_ok(), has_files, "{name}: {with_files:?}");
    }
}

#[test]
fn options_replace_values_of_any_part() {
    let spec = |text: &str| SimSpec::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let base = spec("sim:ppro");
    let other = spec("sim:ppro?memory=64M&file-cache-max=40M&disk=rz26&size=100M");
    assert_ne!(base.machine(), other.machine());
    assert_eq!(other.size.0, 100 << 20);
    let host = other.machine().and_then(|machine| machine.host.clone());
    let host = host.expect("the machine has a host");
    assert_eq!((host.memory, host.cache_max), (64 << 20, 40 << 20));
    let array = spec("sim:rz26?raid=5&disks=5&mode=reduced");
    let single = spec("sim:rz26");
    // Four disks of data, in units of 64 KiB.
    assert_eq!(array.size.0, single.size.0 / 65_536 * 65_536 * 4);
    assert_eq!(spec("sim:nvme?cpus=4").cpus, 4);
    assert_eq!(spec("sim:ppro?cpus=2").cpus, 2);
}

fn check_file(text: &str, options: &str, expected: &[&str]) {
    let mut load = |path: &str| match path {
        "./my.toml" => Ok(text.to_owned()),
        other => no_files(other),
    };
    let error = SimSpec::parse_with(&format!("sim:./my.toml{options}"), &mut load);
    let error = error.expect_err(text).to_string();
    for expected in expected {
        assert!(
            error.contains(expected),
            "{text}\n{options}\n{error}\nlacks {expected}"
        );
    }
}

const GOOD: &str = "kind = \"disk\"
title = \"a disk\"
rpm = 5400
heads = 4
cylinders = 2000
sectors-outer = 100
seek = \"data-sheet\"
seek-min = \"2 ms\"
seek-avg = \"10 ms\"
seek-max = \"20 ms\"
";

#[test]
fn a_file_of_ones_own_is_read_and_may_name_others() {
    let machine = "kind = \"machine\"\ntitle = \"mine\"\ndisk = \"disk.toml\"\n";
    let mut load = |path: &str| match path {
        "/lab/machine.toml" => Ok(machine.to_owned()),
        "/lab/disk.toml" => Ok(GOOD.to_owned()),
        other => no_files(other),
    };
    let spec = SimSpec::parse_with("sim:/lab/machine.toml", &mut load).expect("both files");
    assert_eq!(spec.size.0, 4 * 2000 * 100 * 512);
}

#[test]
fn zones_and_measured_points_are_read_as_they_stand() {
    let text = "kind = \"disk\"\ntitle = \"measured\"\nrpm = 6000\nheads = 2\ncylinders = 300\n\
                zones = [[[100, 80], [200, 50]], \"my own\"]\n\
                seek = \"points\"\nseek-points = [[1, 1.0], [11, 2.0], [299, 9.5]]\n\
                write-cache = \"64 KiB\"\n";
    let mut load = |_: &str| Ok(text.to_owned());
    let spec = SimSpec::parse_with("sim:./x.toml", &mut load).expect("a good file");
    assert_eq!(spec.size.0, 2 * (100 * 80 + 200 * 50) * 512);
    let Some(DeviceSpec::Disk(disk)) = spec.machine().map(|machine| machine.device.clone()) else {
        panic!("a disk was defined");
    };
    let table = disk.seek_table();
    assert_eq!(
        (table[1], table[6], table[299]),
        (1_000_000, 1_500_000, 9_500_000)
    );
    assert_eq!(disk.write_cache, 65_536);
}

#[test]
fn mistakes_name_file_line_and_key() {
    let with = |line: &str| {
        let key = line.split(' ').next().unwrap_or("");
        let others = GOOD
            .lines()
            .filter(|known| !known.starts_with(&format!("{key} ")));
        let mut text: Vec<&str> = others.collect();
        text.push(line);
        text.join("\n")
    };
    check_file(
        &GOOD.replace("rpm = 5400\n", ""),
        "",
        &["./my.toml:1", "\"rpm\" is missing"],
    );
    check_file(
        &with("rpm = 0"),
        "",
        &["./my.toml:10", "rpm = 0", "above zero"],
    );
    check_file(
        &with("seek-min = \"-2 ms\""),
        "",
        &["./my.toml:10", "seek-min = -2 ms"],
    );
    check_file(
        &with("seek-min = 2"),
        "",
        &["./my.toml:10", "seek-min = 2", "unit"],
    );
    check_file(
        &with("bus = \"5 MB\""),
        "",
        &["./my.toml:11", "bus = 5 MB", "per second"],
    );
    check_file(
        &with("hads = 3"),
        "",
        &["unknown key \"hads\", did you mean \"heads\"?"],
    );
    check_file(
        &with("speed = 3"),
        "",
        &["./my.toml:11", "unknown key \"speed\"", "rpm"],
    );
    check_file(
        &with("heads = \"many\""),
        "",
        &["heads = many", "whole number"],
    );
    check_file("kind = \"disk", "", &["./my.toml:1", "not TOML"]);
    check_file("title = \"x\"\n", "", &["\"kind\" is missing"]);
    check_file(GOOD, "?rpm=0", &["rpm=0", "above zero"]);
    check_file(GOOD, "?turns=3", &["no parameter \"turns\"", "seek-min"]);
    check_file(GOOD, "?kind=tape", &["no parameter \"kind\""]);
    check_file(GOOD, "?size=1T", &["size=1T", "holds"]);
}

#[test]
fn values_that_disagree_are_both_named_with_their_places() {
    let with = |from: &str, to: &str| GOOD.replace(from, to);
    check_file(
        &with("seek-max = \"20 ms\"", "seek-max = \"5 ms\""),
        "",
        &[
            "./my.toml:9",
            "seek-avg = 10 ms",
            "seek-max = 5 ms (./my.toml:10)",
        ],
    );
    check_file(
        &with(
            "sectors-outer = 100\n",
            "sectors-outer = 100\ncapacity = \"1 GiB\"\n",
        ),
        "",
        &[
            "./my.toml:7",
            "capacity = 1 GiB",
            "cylinders = 2000 (./my.toml:5)",
            "409600000 bytes",
        ],
    );
    check_file(
        &with(
            "sectors-outer = 100\n",
            "zones = [[1500, 100], [400, 80]]\n",
        ),
        "",
        &["zones", "cylinders = 2000", "1900 cylinders"],
    );
    check_file(
        GOOD,
        "?raid=5&disks=2",
        &["disks = 2", "raid = 5", "three disks"],
    );
    check_file(
        GOOD,
        "?raid=0&disks=4&mode=reduced",
        &["mode = reduced", "raid = 0"],
    );
    check_file(GOOD, "?disks=4", &["\"raid\" is missing"]);
    check_file(
        GOOD,
        "?raid=5&disks=4&lost=7@60s",
        &["lost = 7@60s", "disks = 4"],
    );
    check_file(
        GOOD,
        "?segments=4&read-ahead=1M",
        &["read-ahead = 1M", "segment = 64KiB"],
    );
}

#[test]
fn all_mistakes_are_told_at_once() {
    let text = GOOD.replace("5400", "\"x\"").replace("2000", "0");
    check_file(&text, "", &["./my.toml:3: rpm", "./my.toml:5: cylinders"]);
}

#[test]
fn parts_of_the_wrong_kind_are_refused() {
    let machine = |disk: &str| format!("kind = \"machine\"\ntitle = \"m\"\ndisk = \"{disk}\"\n");
    check_file(
        &machine("ethernet10"),
        "",
        &["./my.toml:3", "a link stores nothing"],
    );
    check_file(
        &machine("ppro"),
        "",
        &["./my.toml:3", "a machine stands in no other"],
    );
    check_file(
        &machine("nothing"),
        "",
        &["./my.toml:3", "there is no device \"nothing\""],
    );
    let error = SimSpec::parse("sim:fddi").expect_err("a link").to_string();
    assert!(error.contains("is a link"), "{error}");
    assert!(device_text("ppro").is_some_and(|text| text.contains("disk = [\"fireball\"")));
}

/// A few reads and writes; on flash, which is slow to build, none.
fn use_it(spec: &SimSpec) {
    let machine = spec.machine().expect("a machine");
    if matches!(machine.device, DeviceSpec::Flash(_)) {
        return;
    }
    let mut driver = spec.driver(1, 8, Instant::START);
    let target = TargetId(0);
    for number in 0..8 {
        let offset = spec.size.0 / 8 * (number * 5 % 8);
        let op = match number {
            0..5 => Op::Read {
                target,
                offset,
                len: 70_000,
            },
            _ => Op::Write {
                target,
                offset,
                len: 70_000,
                durability: Durability::Volatile,
            },
        };
        let request = Request::new(ClientId(0), Instant::START, op);
        driver.submit(request).expect("room");
    }
    let mut done = Vec::new();
    while done.len() < 8 {
        driver
            .wait(None, &mut done)
            .expect("requests are under way");
    }
}

/// Whatever stands in a file, it is read or refused; and what is read can be used.
#[test]
fn garbage_is_refused_without_harm() {
    check_garbage(3);
}

#[test]
#[ignore = "nightly: three times the garbage of every day"]
fn all_garbage_is_refused_without_harm() {
    check_garbage(1);
}

/// Every line of every built-in device without it, and with one in `step` of the wrong values.
fn check_garbage(step: usize) {
    let values = [
        "0",
        "-1",
        "1",
        "7",
        "1e300",
        "\"\"",
        "\"0 ms\"",
        "\"99999999 d\"",
        "\"16 EiB\"",
        "[]",
        "true",
        "\"1 B/s\"",
        "[[1, 1]]",
        "[3, \"x\"]",
        "\"100%\"",
        "99999",
        "\"512\"",
    ];
    let (mut read, mut refused) = (0, 0);
    let mut check = |text: String| {
        let mut load = |path: &str| match path {
            "./x.toml" => Ok(text.clone()),
            other => no_files(other),
        };
        match SimSpec::parse_with("sim:./x.toml", &mut load) {
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
            Ok(spec) => {
                read += 1;
                let pages = spec.machine().map(|machine| machine.facts().len());
                assert!(pages > Some(0) && spec.size.0 > 0, "{text}");
                use_it(&spec);
            }
        }
    };
    for name in device_names() {
        let text = device_text(name).expect("a built-in device");
        let lines: Vec<&str> = text.lines().collect();
        for index in 0..lines.len() {
            let without = [&lines[..index], &lines[index + 1..]].concat();
            check(without.join("\n"));
            let Some((key, _)) = lines[index].split_once(" = ") else {
                continue;
            };
            for value in values.iter().skip(index % step).step_by(step) {
                let mut changed = lines.clone();
                let line = format!("{key} = {value}");
                changed[index] = &line;
                check(changed.join("\n"));
            }
        }
        check(text.chars().rev().collect());
    }
    assert!(
        read > 100 && refused > 1000,
        "{read} read, {refused} refused"
    );
}

/// Sizes, rates and times as large as they can be written had no bound.
#[test]
fn sizes_rates_and_times_have_a_bound() {
    for (text, expected) in [
        (
            "sim:ppro?memory=15360PiB",
            "memory is from 0 B to 1,024 PiB",
        ),
        ("sim:ppro?bus=15000PB/s", "at most 1,024 PiB/s"),
        ("sim:mm1?size=15360PiB", "holds at most 1,024 PiB"),
        ("sim:mm1?mean=25h", "a service time is at most a day"),
        ("sim:mm1?stall=500d@5", "a stall lasts at most a day"),
    ] {
        let error = SimSpec::parse(text).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

/// Disks are counted from one, and the zeroth was an overflow.
#[test]
fn a_disk_that_is_none_is_refused() {
    for options in ["slow=0:3", "lost=0@1s", "slow=6:3", "lost=6@1s"] {
        let error = SimSpec::parse(&format!("sim:rz26?raid=5&disks=5&{options}"));
        let error = error.expect_err(options).to_string();
        assert!(error.starts_with(options), "{error}");
    }
}

/// Nobody can say that a row was predicted whose figure the definition was made from.
#[test]
fn every_definition_says_which_published_numbers_it_used() {
    for name in device_names() {
        let text = device_text(name).expect("a built-in definition");
        assert!(text.contains("# Published numbers used: "), "{name}");
    }
}
