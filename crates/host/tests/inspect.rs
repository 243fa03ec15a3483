//! Inspections of this machine: what every Linux has, and devices that the tests make when they
//! may.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use host::counters::{Counters, page_cache_share};
use host::environment;
use host::inspect::FetchAccount;
use host::inspect::{InspectError, inspect};
use results::environment::{Caution, RaidActivity, TargetKind};

const SHARED_MEMORY: &str = "/dev/shm";

fn has(cautions: &[Caution], code: &str) -> bool {
    cautions.iter().any(|caution| caution.code.as_str() == code)
}

#[test]
fn shared_memory_is_memory_backed() {
    if !Path::new(SHARED_MEMORY).is_dir() {
        return skip("shared_memory_is_memory_backed", "no /dev/shm");
    }
    let (target, cautions) = inspect(Path::new(SHARED_MEMORY)).expect("an inspection");
    assert!(
        target.memory_backed && target.devices.is_empty(),
        "{target:#?}"
    );
    assert!(has(&cautions, "memory-backed"), "{cautions:#?}");
}

#[test]
fn the_current_directory_lies_on_a_file_system() {
    let (target, _) = inspect(Path::new(".")).expect("an inspection");
    assert_eq!(
        (target.given.as_str(), target.kind),
        (".", TargetKind::Directory)
    );
    assert!(target.path.starts_with('/'));
    let system = target.file_system.expect("a file system");
    assert!(target.path.starts_with(&system.mount_point), "{system:#?}");
    assert!(system.size_bytes > Some(0) && system.available_bytes <= system.size_bytes);
    for device in &target.devices {
        assert!(
            device.size_bytes > Some(0) && device.number.contains(':'),
            "{device:#?}"
        );
    }
}

#[test]
fn a_missing_path_and_a_socket_are_errors_that_say_what_to_do() {
    let missing = inspect(Path::new("/no/such/place")).expect_err("nothing is there");
    assert!(matches!(missing, InspectError::Missing(_)), "{missing:?}");
    assert!(
        missing.to_string().contains("Check the spelling"),
        "{missing}"
    );
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = folder.path().join("socket");
    let _listener = UnixListener::bind(&path).expect("a socket");
    let socket = inspect(&path).expect_err("a socket is no storage");
    assert!(
        matches!(socket, InspectError::Unsupported { .. }),
        "{socket:?}"
    );
}

#[test]
fn a_file_with_holes_is_sparse() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = folder.path().join("holes");
    let file = fs::File::create(&path).expect("a file");
    file.set_len(1 << 30).expect("a length");
    let (target, cautions) = inspect(&path).expect("an inspection");
    assert_eq!(
        (target.kind, target.size_bytes),
        (TargetKind::File, Some(1 << 30))
    );
    assert!(has(&cautions, "sparse-file"), "{cautions:#?}");
}

#[test]
fn this_machine_is_described() {
    let machine = environment::capture();
    assert!(
        machine.cpus_online >= machine.cpus_allowed.min(1),
        "{machine:#?}"
    );
    assert!(machine.memory_total_bytes > Some(0), "{machine:#?}");
    assert!(machine.kernel.starts_with("Linux "), "{machine:#?}");
    assert!(machine.started_at.ends_with('Z'), "{machine:#?}");
}

#[test]
fn what_this_process_reads_is_counted() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = folder.path().join("file");
    fs::write(&path, vec![7_u8; 1 << 20]).expect("a file");
    let before = Counters::take(None);
    let read = fs::read(&path).expect("a read").len() as u64;
    let delta = before.delta(&Counters::take(None));
    assert!(delta.cpu_ns > 0);
    let Some(io) = delta.process_io else {
        return skip("what_this_process_reads_is_counted", "no /proc/self/io");
    };
    assert!(io.read_call_bytes >= read, "{io:?}");
    // Other tests of this program read beside this one, so only the range is certain.
    let share = page_cache_share(read, &delta, &FetchAccount::Process).expect("a share");
    assert!((0.0..=1.0).contains(&share), "{share}");
}

#[test]
fn ext4_on_a_loop_device() {
    let name = "ext4_on_a_loop_device";
    let folder = tempfile::tempdir().expect("a temporary directory");
    let made = LoopDevice::make(folder.path(), "disk", 64 << 20).and_then(|device| {
        run("mkfs.ext4", &["-q", "-F", &device.node])?;
        let mount = Mounted::make(folder.path(), &device.node, &[])?;
        Ok((device, mount))
    });
    let (device, mount) = match made {
        Ok(made) => made,
        Err(reason) => return skip(name, &reason),
    };
    let (target, cautions) = inspect(&mount.point).expect("an inspection");
    let system = target.file_system.as_ref().expect("a file system");
    assert_eq!(
        (system.kind.as_str(), system.source.as_str()),
        ("ext4", device.node.as_str())
    );
    assert_eq!(Path::new(&system.mount_point), mount.point);
    let first = &target.devices[0];
    assert_eq!(format!("/dev/{}", first.name), device.node);
    assert_eq!(first.transport.as_deref(), Some("loop"));
    assert_eq!(
        first.backing_file.as_deref().map(Path::new),
        Some(device.file.as_path())
    );
    assert_eq!(first.size_bytes, Some(64 << 20));
    // It is small, and empty.
    assert!(
        !has(&cautions, "nearly-full") && has(&cautions, "loop-buffered"),
        "{cautions:#?}"
    );

    let (target, cautions) = inspect(Path::new(&device.node)).expect("an inspection");
    assert_eq!(
        (target.kind, target.size_bytes),
        (TargetKind::BlockDevice, Some(64 << 20))
    );
    assert!(has(&cautions, "device-in-use"), "{cautions:#?}");
}

#[test]
fn a_directory_that_btrfs_compresses() {
    let name = "a_directory_that_btrfs_compresses";
    let folder = tempfile::tempdir().expect("a temporary directory");
    let made = LoopDevice::make(folder.path(), "disk", 256 << 20).and_then(|device| {
        run("mkfs.btrfs", &["-q", "-f", &device.node])?;
        let mount = Mounted::make(folder.path(), &device.node, &[])?;
        let inner = mount.point.join("inner");
        fs::create_dir(&inner).expect("a directory");
        run("chattr", &["+c", inner.to_str().expect("a plain path")])?;
        Ok((device, mount, inner))
    });
    let (_device, mount, inner) = match made {
        Ok(made) => made,
        Err(reason) => return skip(name, &reason),
    };
    for (place, expected) in [(&mount.point, false), (&inner, true)] {
        let (_, cautions) = inspect(place).expect("an inspection");
        assert_eq!(has(&cautions, "compression"), expected, "{cautions:#?}");
    }
}

#[test]
fn btrfs_raid1_on_loop_devices_whole_and_degraded() {
    let name = "btrfs_raid1_on_loop_devices_whole_and_degraded";
    let folder = tempfile::tempdir().expect("a temporary directory");
    let made = LoopDevice::make(folder.path(), "first", 256 << 20).and_then(|first| {
        let second = LoopDevice::make(folder.path(), "second", 256 << 20)?;
        let raid1 = [
            "-q",
            "-f",
            "-d",
            "raid1",
            "-m",
            "raid1",
            &first.node,
            &second.node,
        ];
        run("mkfs.btrfs", &raid1)?;
        run("btrfs", &["device", "scan", &first.node, &second.node])?;
        let mount = Mounted::make(folder.path(), &first.node, &[])?;
        Ok((first, second, mount))
    });
    let (first, second, mount) = match made {
        Ok(made) => made,
        Err(reason) => return skip(name, &reason),
    };
    let (target, cautions) = inspect(&mount.point).expect("an inspection");
    let raid = target.raid.as_ref().expect("a raid");
    assert_eq!(
        (raid.state, raid.members, raid.missing),
        (RaidActivity::Normal, Some(2), Some(0))
    );
    assert_eq!(raid.level.as_deref(), Some("raid1"));
    for node in [&first.node, &second.node] {
        assert!(
            target
                .devices
                .iter()
                .any(|d| format!("/dev/{}", d.name) == **node),
            "{target:#?}"
        );
    }
    assert!(has(&cautions, "copy-on-write"), "{cautions:#?}");

    drop(mount);
    let forgotten = run("btrfs", &["device", "scan", "-u", &second.node]);
    drop(second);
    let again = forgotten
        .and_then(|()| run("btrfs", &["device", "scan", &first.node]))
        .and_then(|()| Mounted::make(folder.path(), &first.node, &["-o", "degraded"]));
    let mount = match again {
        Ok(mount) => mount,
        Err(reason) => return skip(name, &reason),
    };
    let (target, cautions) = inspect(&mount.point).expect("an inspection");
    let raid = target.raid.as_ref().expect("a raid");
    assert_eq!(
        (raid.state, raid.missing),
        (RaidActivity::Degraded, Some(1)),
        "{raid:#?}"
    );
    assert!(has(&cautions, "raid-degraded"), "{cautions:#?}");
}

/// A loop device over a new sparse file; detached when dropped, also by a panic.
struct LoopDevice {
    node: String,
    file: PathBuf,
}

impl LoopDevice {
    fn make(folder: &Path, name: &str, bytes: u64) -> Result<Self, String> {
        let folder = folder.canonicalize().map_err(|error| error.to_string())?;
        let file = folder.join(name);
        let made = fs::File::create(&file).and_then(|made| made.set_len(bytes));
        made.map_err(|error| error.to_string())?;
        let node = output("losetup", &["-f", "--show", &file.to_string_lossy()])?;
        Ok(LoopDevice { node, file })
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        report("detach", run("losetup", &["-d", &self.node]));
    }
}

/// A mounted device; unmounted when dropped, also by a panic. Declared after the device, it is
/// dropped before it.
struct Mounted {
    point: PathBuf,
}

impl Mounted {
    fn make(folder: &Path, node: &str, options: &[&str]) -> Result<Self, String> {
        let point = folder
            .canonicalize()
            .map_err(|error| error.to_string())?
            .join("mounted");
        fs::create_dir_all(&point).map_err(|error| error.to_string())?;
        let place = point.to_string_lossy().into_owned();
        run("mount", &[options, &[node, &place]].concat())?;
        Ok(Mounted { point })
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        report("unmount", run("umount", &[&self.point.to_string_lossy()]));
    }
}

fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    output(program, arguments).map(|_| ())
}

fn output(program: &str, arguments: &[&str]) -> Result<String, String> {
    let done = Command::new(program).args(arguments).output();
    let done = done.map_err(|error| format!("{program}: {error}"))?;
    if done.status.success() {
        Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
    } else {
        Err(format!(
            "{program}: {}",
            String::from_utf8_lossy(&done.stderr).trim()
        ))
    }
}

#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
fn skip(name: &str, reason: &str) {
    eprintln!("skipped: {name}: {reason}");
}

#[expect(
    clippy::print_stderr,
    reason = "what cannot be cleaned up must be seen"
)]
fn report(what: &str, result: Result<(), String>) {
    if let Err(reason) = result {
        eprintln!("cannot {what}: {reason}");
    }
}
