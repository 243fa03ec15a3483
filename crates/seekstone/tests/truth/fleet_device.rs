//! Several ranks on one device of a machine.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::pressure::Pressure;
use crate::support::ranks::{MPICH, json, launcher, ranks, rows, with_shim};
use crate::support::storage::{FileSystem, Loop};
use crate::support::{PROGRAM, Scratch, finish, skipped};
use serde_json::Value;

fn shares(run: &Value) -> Vec<f64> {
    let share = |row: &Value| row["counters"]["foreign"]["share"].as_f64();
    rows(run)[1..]
        .iter()
        .map(|row| share(row).expect("a share in each rank's row"))
        .collect()
}

/// Read past the page cache until told to stop.
fn disturb(path: &Path, stop: &AtomicBool) {
    const LEN: usize = 1 << 20;
    let direct = rustix::fs::OFlags::DIRECT.bits() as i32;
    let mut memory = vec![0_u8; LEN + 4096];
    let start = memory.as_ptr().align_offset(4096);
    while !stop.load(Ordering::Relaxed) {
        let mut options = File::options();
        let file = options.read(true).custom_flags(direct).open(path);
        let mut file = file.expect("direct I/O");
        let block = &mut memory[start..start + LEN];
        file.read_exact(block).expect("a read");
    }
}

/// Each of four ranks called the I/O of the others foreign, 75 % of all, and its row void.
#[test]
fn ranks_on_one_device_are_no_strangers_to_each_other() {
    let test = "ranks_on_one_device_are_no_strangers_to_each_other";
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    let options = ["-E", "lazy_itable_init=0"];
    let Some(made) = FileSystem::ext4(test, &scratch, 96, &options) else {
        return;
    };
    let others = made.root.join("others");
    fs::write(&others, vec![7; 4 << 20]).expect("a file");
    let other = File::open(&others).expect("a file");
    other.sync_all().expect("a synced file");
    let measure = |rate: &str| {
        let args = ["trial", made.path(), "--size", "4MiB", "--rate", rate];
        let rest = ["--clients", "8", "--duration", "1s", "--reserve", "1MiB"];
        let output = ["--json", "run.json", "--force", "--no-save"];
        let args = [&args[..], &rest, &output].concat();
        let mut command = ranks(&scratch, &MPICH, 4, &args);
        command.env_remove("SEEKSTONE_SHARED");
        let ended = finish(command);
        (json(&scratch.path("run.json")), ended)
    };
    let (quiet, ended) = measure("2k/s");
    let found = shares(&quiet);
    assert_eq!(found.len(), 4, "{ended:?}");
    assert!(found.iter().all(|share| *share < 0.1), "{found:?}");
    assert_ne!(ended.code, Some(3), "{ended:?}");
    let said = quiet["warnings"].to_string();
    assert!(said.contains("4 ranks on "), "{said}");

    let stop = AtomicBool::new(false);
    let disturbed = std::thread::scope(|scope| {
        scope.spawn(|| disturb(&others, &stop));
        let measured = std::panic::catch_unwind(|| measure("200/s"));
        stop.store(true, Ordering::Relaxed);
        measured.expect("a run")
    });
    let (run, ended) = disturbed;
    let found = shares(&run);
    assert!(found.iter().all(|share| *share > 0.5), "{found:?}");
    assert_eq!(ended.code, Some(3), "{ended:?}");
    let said = rows(&run)[4]["warnings"].to_string();
    assert!(
        said.contains("rank 3 on ") && said.contains("came from other processes"),
        "{said}"
    );
}

/// A control group of version 1 whose processes read a device at most so many times a second;
/// removed when dropped.
struct Throttle {
    group: PathBuf,
}

impl Throttle {
    /// `None`, with a message, where there can be none.
    fn new(test: &str, device: &Loop, reads_per_second: u32) -> Option<Self> {
        let group = PathBuf::from(format!(
            "/sys/fs/cgroup/blkio/seekstone-{}",
            std::process::id()
        ));
        if fs::create_dir(&group).is_err() {
            skipped(test, "no blkio control group can be made");
            return None;
        }
        let this = Self { group };
        let number = fs::read_to_string(format!("/sys/block/{}/dev", device.name()));
        let rule = format!("{} {reads_per_second}", number.expect("a device").trim());
        let file = this.group.join("blkio.throttle.read_iops_device");
        if fs::write(file, rule).is_err() {
            skipped(test, "blkio control groups do not throttle here");
            return None;
        }
        Some(this)
    }

    /// That command inside of it.
    fn of(&self, scratch: &Scratch, command: &Command) -> Command {
        let mut inside = Command::new("sh");
        let procs = self.group.join("cgroup.procs");
        inside
            .args(["-c", "echo $$ >\"$0\" && exec \"$@\""])
            .arg(procs);
        inside.arg(command.get_program()).args(command.get_args());
        scratch.settle(&mut inside);
        inside.env_remove("XDG_CACHE_HOME");
        inside
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.group);
    }
}

/// Four ranks share one device of 1,000 reads a second: that is what they find together. It lies in
/// memory: no disk must be slower than the throttle. The warm-up spends what the throttle saved up
/// while nobody read, up to 0.2 s of reads. It lets reads go by the 0.1 s, so that 6 s are measured
/// to 0.1 / 6 = 1.7 %.
#[test]
fn ranks_that_share_a_throttled_device_find_its_rate() {
    let test = "ranks_that_share_a_throttled_device_find_its_rate";
    const RATE: u32 = 1000;
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    let Some(memory) = FileSystem::tmpfs(test, &scratch, 64) else {
        return;
    };
    let Some(device) = Loop::within(test, &memory, 32) else {
        return;
    };
    let Some(throttle) = Throttle::new(test, &device, RATE) else {
        return;
    };
    let mut command = launcher(&scratch, &MPICH, &["-n", "4", PROGRAM]);
    command.args(["trial", device.path(), "--shared", "--clients", "8"]);
    command.args(["--duration", "7s", "--warm-up", "1s"]);
    command.args(["--json", "run.json", "--no-save", "--quiet"]);
    let pressure = Pressure::new();
    let ended = finish(throttle.of(&scratch, &command));
    assert!(ended.error().is_empty(), "{ended:?}");
    let run = json(&scratch.path("run.json"));
    let rate = rows(&run)[0]["throughput"]["value"]
        .as_f64()
        .expect("a rate");
    pressure.assert_rate(test, rate, f64::from(RATE), 0.02);
    let found = shares(&run);
    assert!(found.iter().all(|share| *share < 0.1), "{found:?}");
}
