//! Simulated file systems: their definitions, and the calls that they refuse.

use engine::FileDriver as _;
use sim::{FileSystemSpec, SimError, SimSpec};
use units::Instant;
use workload::{Errno, FileName, FileOp, OpenFor};

fn files(path: &str, text: &str) -> Result<String, String> {
    match path {
        "./my.toml" => Ok(text.to_owned()),
        other => Err(format!("{other}: no such file")),
    }
}

const MACHINE: &str = "kind = \"machine\"
title = \"mine\"
disk = \"rl02\"

[file-system]
type = \"rt11\"
cpu-request = \"1 ms\"
cpu-transfer = \"1 ms\"
cpu-open = \"1 ms\"
cpu-entry = \"1 us\"
cpu-cache-block = \"1 ms\"
element = 8
cpu-element = \"1 ms\"
";

fn mistake(text: &str, options: &str, expected: &[&str]) {
    let mut load = |path: &str| files(path, text);
    let read = FileSystemSpec::parse_with(&format!("sim:./my.toml{options}"), &mut load);
    let error = read.expect_err(options).to_string();
    for expected in expected {
        assert!(error.contains(expected), "{error}\nlacks {expected}");
    }
}

#[test]
fn a_machine_of_ones_own_with_a_file_system() {
    let mut load = |path: &str| files(path, MACHINE);
    let spec = FileSystemSpec::parse_with("sim:./my.toml?system-cache=8KiB", &mut load);
    let spec = spec.expect("a good file");
    assert_eq!(
        (spec.title.as_str(), spec.text.as_str()),
        ("mine", "sim:./my.toml?system-cache=8KiB")
    );
    let system = spec.machine().file_system.clone().expect("it is there");
    assert_eq!((system.cache, system.segments), (8192, None));
    // 20,460 blocks, 31 segments by default.
    assert_eq!(system.data_blocks(spec.machine().size()), 20_460 - 6 - 62);
}

#[test]
fn mistakes_about_file_systems_name_file_line_and_key() {
    let with = |line: &str| format!("{MACHINE}{line}\n");
    mistake(
        &MACHINE.replace("\"rt11\"", "\"rsx\""),
        "",
        &["./my.toml:6: type = rsx", "one of rt11"],
    );
    mistake(
        &MACHINE.replace("cpu-open = \"1 ms\"\n", ""),
        "",
        &["./my.toml:5: the key \"cpu-open\" is missing"],
    );
    mistake(
        &with("directory-segments = 32"),
        "",
        &["./my.toml:14: directory-segments = 32", "from 1 to 31"],
    );
    mistake(
        &with("sectors = 3"),
        "",
        &["./my.toml:14: unknown key \"sectors\""],
    );
    let host = "[host]\ncpu-hit = \"1 ms\"\ncpu-serial = \"1 ms\"\nmemory = \"1 MiB\"\n\
                file-cache = \"0\"";
    mistake(
        &with(host),
        "",
        &["./my.toml:14: host: [file-system] says what the processor's"],
    );
    mistake(
        MACHINE,
        "?allocation=best",
        &["allocation=best", "one of exact, half"],
    );
    mistake(
        MACHINE,
        "?depth=3",
        &["no parameter \"depth\"", "system-cache"],
    );
    mistake(
        MACHINE,
        "?disk=rx01&start=253KB",
        &["leave no block for files"],
    );
    mistake(
        MACHINE,
        "?units=3&partition=platters",
        &[
            "units=3: units = 3 does not go with heads = 2",
            "as many surfaces",
        ],
    );
    mistake(
        MACHINE,
        "?units=1000",
        &["units = 1000 does not go with cylinders = 512"],
    );
    mistake(
        MACHINE,
        "?partition=platters",
        &["the key \"units\" is missing"],
    );
    mistake(MACHINE, "?controller-cache=much", &["cache = much"]);
}

/// A file was blamed for the name of a disk that stood in an option; of two names the second one
/// was said to be no parameter at all.
#[test]
fn a_disk_that_cannot_be_is_looked_for_where_it_was_named() {
    let nonsense = "disk=nonsense: there is no device \"nonsense\"";
    mistake(MACHINE, "?disk=nonsense", &[nonsense]);
    mistake(
        MACHINE,
        "?disk=ethernet10",
        &["disk=ethernet10: disk: a link stores nothing"],
    );
    mistake(
        &MACHINE.replace("rl02", "rl0"),
        "",
        &["./my.toml:3: there is no device \"rl0\""],
    );
    let twice = "disk is given twice, rl02 and ra80. Leave one of them out";
    mistake(MACHINE, "?disk=rl02&disk=ra80", &[twice]);
    for text in ["sim:mm1?mean=1ms&mean=1ms", "sim:rl02?units=2&units=2"] {
        let error = SimSpec::parse(text).expect_err(text).to_string();
        assert!(error.contains("is given twice"), "{text}: {error}");
    }
}

/// What means something beside another key only was not among the known ones.
#[test]
fn known_keys_of_a_disk_are_named() {
    let mut disk = |path: &str| match path {
        "./disk.toml" => Ok(sim::device_text("rl02").expect("a disk").to_owned() + "\nspeed = 3\n"),
        other => Err(format!("{other}: no such file")),
    };
    let error = SimSpec::parse_with("sim:./disk.toml", &mut disk).expect_err("an unknown key");
    let error = error.to_string();
    for known in [
        "unknown key \"speed\"",
        "partition",
        "units",
        "sectors-inner",
    ] {
        assert!(error.contains(known), "{error}\nlacks {known}");
    }
}

#[test]
fn what_has_files_and_what_has_none_are_told_apart() {
    let mut none = |path: &str| Err(format!("{path}: no such file"));
    let error = SimSpec::parse("sim:rt11?disk=ra80").expect_err("it has files");
    assert_eq!(error, SimError::HasFileSystem("rt11".into()));
    for name in ["ra80", "ppro", "mm1"] {
        let error = FileSystemSpec::parse_with(&format!("sim:{name}"), &mut none);
        assert_eq!(error, Err(SimError::NoFileSystem(name.into())));
    }
    let error = FileSystemSpec::parse_with("sim:drum", &mut none).expect_err("no such device");
    assert!(
        error.to_string().contains("no simulated device \"drum\""),
        "{error}"
    );
}

#[test]
fn calls_that_cannot_be_fail_and_leave_nothing_open() {
    let text = "sim:rt11?disk=rx02&directory-segments=1";
    let mut none = |path: &str| Err(format!("{path}: no such file"));
    let spec = FileSystemSpec::parse_with(text, &mut none).expect("a built-in machine");
    let mut system = spec.build(1, Instant::START);
    let file = FileName::new('d', 1);
    let other = FileName::new('d', 2);
    let open = FileOp::Open {
        file,
        purpose: OpenFor::Reading,
    };
    let block = FileOp::Write { bytes: 512 };
    let create = |file, bytes| FileOp::Create { file, bytes };
    let mut check = |op: FileOp, expected: Result<u64, i32>| {
        let found = system.perform(&op);
        assert_eq!(found, expected.map_err(Errno), "{op:?}");
    };
    check(open, Err(2));
    check(block, Err(9));
    check(create(file, 512), Ok(0));
    check(block, Ok(512));
    // It was given one block; what was written of it is given up.
    check(block, Err(28));
    check(open, Err(2));
    check(create(file, 1024), Ok(0));
    check(block, Ok(512));
    check(FileOp::Close, Ok(0));
    check(create(file, 512), Err(17));
    check(create(other, 0), Ok(0));
    check(FileOp::Close, Ok(0));
    check(
        FileOp::Rename {
            from: file,
            to: other,
        },
        Err(17),
    );
    check(open, Ok(0));
    check(open, Err(16));
    check(FileOp::Close, Err(9));
    check(open, Ok(0));
    check(FileOp::Read { bytes: 512 }, Ok(512));
    check(FileOp::Read { bytes: 512 }, Err(5));
    check(FileOp::Close, Err(9));
    check(FileOp::WriteNull { bytes: 512 }, Err(9));
    check(FileOp::OpenNull, Ok(0));
    check(FileOp::WriteNull { bytes: 512 }, Ok(512));
    check(FileOp::Close, Ok(0));
    check(FileOp::Remove { file: other }, Ok(0));
    check(FileOp::Stat { file: other }, Err(2));
    check(create(other, 1 << 30), Err(28));
    let beyond = FileOp::ReadDevice {
        offset: 1 << 30,
        bytes: 512,
    };
    check(beyond, Err(22));
    check(FileOp::Sync, Ok(0));
    check(FileOp::Initialise, Ok(0));
    check(open, Err(2));
}
