//! What each kind does with each sort of target is what it does: every cell of the table is run, on
//! a model and, where this machine lets us, on a loop device.

use std::io::Write as _;

use kinds::measure::{
    KINDS, Kind, MeasureError, Measured, ReplicateContext, TargetUse, WritePermission, measuring,
};
use units::Bytes;

use crate::support::storage::{FileSystem, Loop};
use crate::support::{Scratch, finish};

const TEST: &str = "every kind on every target";
const MODEL: &str = "sim:rz26";
/// Of these a server is missing here: they are checked, and not run.
pub const OF_SERVERS: [&str; 4] = ["http", "ftp", "tcp", "objects"];

/// Settings that make a kind short on that target.
pub fn settings(kind: &Kind, target: &str, source: &str) -> String {
    let is_model = target == MODEL;
    match kind.name {
        "command" => "command = \"true\"".into(),
        "transfer" | "streams" => "record = \"64KiB\"\nsize = \"256KiB\"".into(),
        "copy" => {
            let source = if is_model { MODEL } else { source };
            format!("size = \"256KiB\"\nsource = {source:?}")
        }
        "positioning" if is_model => "files = 4".into(),
        "positioning" => "files = 4\nsize = \"64KiB\"".into(),
        "archive" | "retrieve" => "files = 2\nsize = \"4KiB\"".into(),
        "backup" if is_model => format!("files = 2\nsource = {MODEL:?}"),
        "backup" => "files = 2".into(),
        "fill" => format!("target = {target:?}\nfill = \"to the last byte\"\nfile = \"1GiB\""),
        "cache" => "working-set = \"256KiB\"\nreads = 100".into(),
        "http" | "ftp" => format!("url = \"{}://127.0.0.1/x\"", kind.name),
        "tcp" | "objects" => String::new(),
        "mail" => "largest = \"64KiB\"\nsize = \"4MiB\"\ntime = \"1s\"".into(),
        "wal" => "size = \"4MiB\"\ntime = \"100ms\"".into(),
        other => panic!("{other}: say how it is made short"),
    }
}

struct Cell<'a> {
    kind: &'a Kind,
    target: &'a str,
    found: TargetUse,
    /// A file that may be copied.
    source: &'a str,
}

impl Cell<'_> {
    fn run(&self, permission: WritePermission) -> Result<Measured, MeasureError> {
        let name = self.kind.name;
        let mut table = settings(self.kind, self.target, self.source);
        if name == "streams" && permission.overwrite {
            table.push_str("\noperation = \"write\"");
        }
        let table = table.parse().expect("TOML");
        let made = measuring(name, &table).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        let mut place = ReplicateContext::new(self.target, 7);
        place.reserve = (self.found == TargetUse::OwnFiles).then_some(Bytes::from_mib(1));
        place.permission = permission;
        match OF_SERVERS.contains(&name) {
            true => made.check(&place).map(|()| Measured::default()),
            false => made.measured(&place, &host::interrupt::Interrupt::never()),
        }
    }

    /// It does what it says.
    fn check(&self) {
        let Self {
            kind,
            target,
            found,
            ..
        } = *self;
        let name = kind.name;
        let _ = writeln!(std::io::stderr(), "{name:12} {target:24} {found:?}");
        let device = target.strip_prefix("/dev/").map(str::to_owned);
        let nothing = WritePermission::default;
        let permission = WritePermission {
            overwrite: true,
            confirmed: device,
            ..WritePermission::default()
        };
        match found {
            TargetUse::Refused(why) => {
                let told = self.refused(nothing());
                let expected = format!("{target}: {name} {why}. Name ");
                assert!(told.starts_with(&expected), "{told}");
            }
            TargetUse::Overwritten => {
                let told = self.refused(nothing());
                assert!(told.contains("would overwrite what is there"), "{told}");
                self.gives(permission);
            }
            TargetUse::ReadOrOverwritten => {
                self.gives(nothing());
                self.gives(permission);
            }
            TargetUse::OwnFiles => {
                self.gives(nothing());
                let told = self.refused(permission);
                assert!(told.contains("--overwrite applies to"), "{told}");
            }
            TargetUse::Read | TargetUse::Elsewhere(_) => self.gives(nothing()),
        }
    }

    fn gives(&self, permission: WritePermission) {
        let (name, target) = (self.kind.name, self.target);
        let measured = self.run(permission);
        let measured = measured.unwrap_or_else(|why| panic!("{name} on {target}: {why:?}"));
        let is_measured = !measured.readings.is_empty() || OF_SERVERS.contains(&name);
        assert!(is_measured, "{name} on {target} gives nothing");
    }

    fn refused(&self, permission: WritePermission) -> String {
        match self.run(permission) {
            Err(MeasureError::Usage(why)) => why,
            other => panic!("{} on {}: {other:?}", self.kind.name, self.target),
        }
    }
}

#[test]
fn every_kind_does_with_every_target_what_it_says() {
    let scratch = Scratch::new();
    let pattern: Vec<u8> = (0..1_u32 << 21).flat_map(u32::to_le_bytes).collect();
    let (file, source) = (scratch.path("file"), scratch.path("source"));
    std::fs::write(&file, &pattern).expect("a file");
    std::fs::write(&source, &pattern[..1 << 20]).expect("a file");
    let text = |path: &std::path::Path| path.to_str().expect("a plain path").to_owned();
    let (file, source) = (text(&file), text(&source));
    let device = Loop::new(TEST, &scratch, 8);
    let own = FileSystem::ext4(TEST, &scratch, 16, &[]);
    let place = scratch.path("place");
    std::fs::create_dir(&place).expect("a directory");
    let place = text(&place);
    for kind in KINDS {
        let check = |target: &str, found| {
            let source = source.as_str();
            Cell {
                kind,
                target,
                found,
                source,
            }
            .check();
        };
        let targets = kind.targets;
        match &own {
            Some(own) if kind.name == "fill" => check(&text(&own.root), targets.directory),
            None if kind.name == "fill" => {}
            _ => check(&place, targets.directory),
        }
        check(MODEL, targets.model);
        check(&file, targets.named);
        if let Some(device) = &device {
            check(device.path(), targets.named);
        }
    }
    let left = std::fs::read_dir(&place).expect("a directory").count();
    assert_eq!(left, 0, "something was left behind");
}

#[test]
fn a_log_on_a_device_needs_permission_and_consent_to_lose_what_is_there() {
    let scratch = Scratch::new();
    let Some(device) = Loop::new(TEST, &scratch, 16) else {
        return;
    };
    let before = device.content();
    let short = [
        "--size",
        "4MiB",
        "--time",
        "100ms",
        "--replicates",
        "1",
        "-q",
        "--no-save",
    ];
    let check = |more: &[&str], code, expected: &str| {
        let args = [&["wal", device.path()], &short[..], more].concat();
        scratch.check(&args, code, expected);
    };
    check(&[], 2, "wal would overwrite what is there");
    check(&["--confirm", device.name()], 2, "--overwrite");
    assert!(device.content() == before, "it was written to");
    check(&["--overwrite"], 1, "data of unknown kind");
    assert!(device.content() == before, "it was written to");
    check(&["--overwrite", "--confirm", device.name()], 0, "commits");
    assert!(device.content() != before, "it was not written to");
}

#[test]
fn what_a_replicate_left_on_a_blank_device_needs_no_consent() {
    let scratch = Scratch::new();
    let Some(device) = Loop::new(TEST, &scratch, 8) else {
        return;
    };
    let source = scratch.path("source");
    std::fs::write(&source, [7; 1 << 20]).expect("a file");
    let source = source.to_str().expect("a plain path");
    for args in [
        &["copy", "--source", source][..],
        &["streams", "--operation", "write", "--size", "1MiB"],
        &["wal", "--size", "4MiB", "--time", "100ms"],
        &[
            "wal", "--size", "4MiB", "--time", "100ms", "--record", "100",
        ],
    ] {
        std::fs::write(device.path(), vec![0; 8 << 20]).expect("a blank device");
        let same = [
            device.path(),
            "--overwrite",
            "--replicates",
            "2",
            "-q",
            "--no-save",
        ];
        let args = [&args[..1], &same, &args[1..]].concat();
        finish(scratch.seekstone(&args)).check(&args, 0, "");
    }
}
