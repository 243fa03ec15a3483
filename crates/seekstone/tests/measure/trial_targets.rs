//! Several targets, and several workloads, in one trial: each has a row, and the rows add up.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use crate::support::pressure::Pressure;
use crate::support::storage::{FileSystem, Loop, Mirror};
use crate::support::{Scratch, finish, skipped};
use serde_json::Value;

fn rows(run: &Value) -> &[Value] {
    run["measurements"].as_array().expect("measurements")
}

fn number(row: &Value, path: &str) -> f64 {
    let found = row.pointer(path).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("no {path} in {row}"))
}

/// That the first row is the sum of the others.
fn assert_adds_up(run: &Value) {
    let rows = rows(run);
    // Bug: the sum had a client for each target, and a doubt that the harness lost time.
    for key in ["/completions_all", "/bytes_all", "/clients"] {
        let parts: f64 = rows[1..].iter().map(|row| number(row, key)).sum();
        assert!(parts > 0.0, "{key}");
        assert_eq!(number(&rows[0], key), parts, "{key}");
    }
}

fn json(scratch: &Scratch) -> Value {
    let text = fs::read_to_string(scratch.path("run.json")).expect("a run");
    serde_json::from_str(&text).expect("JSON")
}

const OUTPUT: [&str; 6] = [
    "--json",
    "run.json",
    "--force",
    "--no-save",
    "--quiet",
    "--all",
];

/// Bug: the reserve of the first target's file system was that of all, so a small one after a
/// large one had no room, and a large one after a small one was filled further than asked.
#[test]
fn each_target_keeps_the_reserve_of_its_own_file_system() {
    let test = "each_target_keeps_the_reserve_of_its_own_file_system";
    let scratch = Scratch::new();
    let large = scratch.path("large");
    fs::create_dir(&large).expect("a directory");
    let Some(small) = FileSystem::tmpfs(test, &scratch, 64) else {
        return;
    };
    let large = large.to_str().expect("text");
    let load = ["--size", "8MiB", "--duration", "100ms"];
    for targets in [[large, small.path()], [small.path(), large]] {
        let args = [&["trial"], &targets[..], &load, &OUTPUT].concat();
        scratch.check(&args, 0, "");
    }
    // Bug: 1 GiB was wanted in each, whatever the smallest has.
    let unsized_file = [
        &["trial", large, small.path(), "--duration", "100ms"],
        &OUTPUT[..],
    ]
    .concat();
    scratch.check(&unsized_file, 0, "");
    let kept = [
        "trial",
        large,
        small.path(),
        "--size",
        "8MiB",
        "--reserve",
        "1GiB",
    ];
    scratch.check(&kept, 1, "free");
    let full = ["trial", small.path(), large, "--size", "60MiB"];
    scratch.check(&full, 1, "free");
    scratch.assert_clean(&small.root);
}

#[test]
fn two_directories_have_a_row_each_and_add_up() {
    let scratch = Scratch::new();
    let [one, other] = ["one", "other"].map(|name| scratch.path(name));
    fs::create_dir(&one).expect("a directory");
    fs::create_dir(&other).expect("a directory");
    let [one, other] = [&one, &other].map(|it| it.to_str().expect("text"));
    let load = [
        "--size",
        "8MiB",
        "--clients",
        "2",
        "--writes",
        "50%",
        "--duration",
        "300ms",
    ];
    let args = [
        &["trial", one, other][..],
        &load,
        &["--verify", "--reserve", "1MiB"],
        &OUTPUT,
    ]
    .concat();
    scratch.check(&args, 0, "on each of 2 targets");
    let run = json(&scratch);
    let names: Vec<&str> = rows(&run)
        .iter()
        .filter_map(|row| row["name"].as_str())
        .collect();
    assert_eq!(names, ["trial", "one", "other"]);
    assert_adds_up(&run);
    for directory in [one, other] {
        scratch.assert_clean(directory.as_ref());
    }
}

#[test]
fn a_curve_over_two_directories_says_which_saturates() {
    let scratch = Scratch::in_memory();
    let [one, other] = ["one", "other"].map(|name| scratch.path(name));
    fs::create_dir(&one).expect("a directory");
    fs::create_dir(&other).expect("a directory");
    let [one, other] = [&one, &other].map(|it| it.to_str().expect("text"));
    let load = ["--size", "8MiB", "--reserve", "1MiB", "--budget", "4s"];
    let args = [
        &["curve", one, other][..],
        &load,
        &["--clients-max", "8"],
        &OUTPUT,
    ]
    .concat();
    scratch.seekstone(&args).output().expect("a curve");
    let run = json(&scratch);
    let names: Vec<&str> = rows(&run)
        .iter()
        .filter_map(|row| row["name"].as_str())
        .collect();
    assert_eq!(names, ["one", "other"]);
    let said = run["findings"].to_string();
    assert!(
        said.contains("aturates first") || said.contains("ot saturated"),
        "{said}"
    );
    assert!(run["curves"][0]["points"].is_array(), "{run}");
    for directory in [one, other] {
        scratch.assert_clean(directory.as_ref());
    }
}

const WORKLOADS: &str = "[[workload]]\nname = \"steady\"\nclients = 2\n\n\
                         [[workload]]\nname = \"late\"\nrate = \"250/s\"\nshape = \"constant\"\n\
                         start = \"1s\"\nduration = \"4s\"\n\n\
                         [[workload]]\nname = \"short\"\noperations = 100\nthink = \"4ms\"\n";

/// A device that takes 1 ms for each request, whatever else it does: two clients do 2,000 a second,
/// the rate is kept, and an operation with its pause takes 5 ms.
#[test]
fn workloads_of_a_file_keep_their_own_load_and_course() {
    let scratch = Scratch::new();
    fs::write(scratch.path("x.toml"), WORKLOADS).expect("a file");
    let target = "sim:delay?time=1ms";
    let args = ["trial", target, "--workload", "x.toml", "--duration", "10s"];
    let args = [&args[..], &OUTPUT].concat();
    scratch.check(&args, 0, "x.toml: 3 workloads");
    let run = json(&scratch);
    assert_adds_up(&run);
    let of = |name: &str| {
        rows(&run)
            .iter()
            .find(|row| row["name"] == name)
            .expect("a row")
    };
    let near = |name: &str, key: &str, expected: f64| {
        let found = number(of(name), key);
        assert!(
            (found / expected - 1.0).abs() < 0.002,
            "{name} {key}: {found}, not {expected}"
        );
    };
    near("steady", "/throughput/value", 2000.0);
    near("late", "/completions_all", 1000.0);
    near("late", "/offered", 250.0);
    near("short", "/completions_all", 100.0);
}

/// Block-size ranges, percentage random, fdatasync and loops, which only fio job files had before.
#[test]
fn workloads_of_a_file_have_ranges_shares_of_random_places_and_loops() {
    let scratch = Scratch::new();
    let text = "[[workload]]\nname = \"twice\"\npattern = \"sequential\"\nsize = \"1MiB\"\n\
                loops = 2\n\n\
                [[workload]]\nname = \"mixed\"\npattern = \"random:50\"\n\
                block = \"4KiB-16KiB\"\nwrites = \"100%\"\ndata-flush-every = 10\n\
                operations = 1000\n";
    fs::write(scratch.path("x.toml"), text).expect("a file");
    let target = "sim:delay?time=1ms";
    let args = ["trial", target, "--workload", "x.toml", "--duration", "60s"];
    scratch.check(&[&args[..], &OUTPUT].concat(), 0, "x.toml: 2 workloads");
    let run = json(&scratch);
    let of = |name: &str, key: &str| {
        let row = rows(&run).iter().find(|row| row["name"] == name);
        number(row.expect("a row"), key)
    };
    assert_eq!(of("twice", "/completions_all"), 512.0);
    let writes = of("mixed", "/completions_all");
    assert!(
        (1000.0..=1100.0).contains(&writes),
        "with 100 flushes: {writes}"
    );
    // 4, 8, 12 and 16 KiB, equally likely.
    let each = of("mixed", "/bytes_all") / 1000.0 / 1024.0;
    assert!((each / 10.0 - 1.0).abs() < 0.06, "{each} KiB");
    let twice = "[[workload]]\nflush-every = 2\ndata-flush-every = 2\n";
    fs::write(scratch.path("x.toml"), twice).expect("a file");
    scratch.check(&args, 2, "use one of flush-every, data-flush-every and");
}

/// Bugs: a rate of trims was that of reads, of which there are none; a part beyond the file that
/// --size asks for made the file larger; pauses beside a rate were forgotten.
#[test]
fn what_a_workload_asks_for_is_done_or_refused() {
    let scratch = Scratch::new();
    let directory = scratch.target();
    let check = |text: &str, code: i32, expected: &str| {
        fs::write(scratch.path("x.toml"), format!("[[workload]]\n{text}")).expect("a file");
        let target = directory.to_str().expect("a path");
        let args = ["trial", target, "--workload", "x.toml", "--size", "8MiB"];
        let more = ["--duration", "1s", "--reserve", "0", "--overwrite"];
        scratch.check(&[&args[..], &more, &OUTPUT].concat(), code, expected)
    };
    check(
        "trims = true\nrate = \"50/s\"\nshape = \"constant\"\n",
        0,
        "",
    );
    let run = json(&scratch);
    let done = number(&rows(&run)[0], "/completions_all");
    // A slow disk does fewer.
    assert!((1.0..=60.0).contains(&done), "{done} trims in a second");
    check(
        "offset = \"8MiB\"\n",
        2,
        "offset: the file has 8 MiB, as --size says",
    );
    let size = "offset = \"6MiB\"\nsize = \"4MiB\"\n";
    check(size, 2, "size: 2 MiB are left of the file of 8 MiB");
    check(
        "rate = \"50/s\"\nthink = \"1ms\"\n",
        2,
        "think: leave it out, or rate",
    );
    let two = "name = \"a\"\n[[workload]]\nname = \"b\"\nbuffered = true\n";
    check(two, 0, "");
    let run = json(&scratch);
    let access = |name: &str| {
        let row = rows(&run).iter().find(|row| row["name"] == name);
        row.expect("a row")["access"].clone()
    };
    assert_eq!(access("b"), "buffered");
    assert_ne!(access("a"), "buffered", "the other one is not");
}

#[test]
fn mistakes_are_one_sentence_with_their_place() {
    let scratch = Scratch::new();
    let check = |text: &str, expected: &str| {
        fs::write(scratch.path("x.toml"), text).expect("a file");
        scratch.check(&["trial", "sim:mm1", "--workload", "x.toml"], 2, expected);
    };
    check("", "x.toml:1: there is no [[workload]]");
    check("workload = []\n", "x.toml:1: there is no [[workload]]");
    check(
        "[[workload]]\nname = \"a\"\nclient = 3\n",
        "x.toml:3: unknown key \"client\", did you mean \"clients\"?: a workload takes",
    );
    check(
        "[[wrokload]]\nname = \"a\"\n",
        "x.toml:1: unknown key \"wrokload\", did you mean \"workload\"",
    );
    check("[[workload]\n", "x.toml:1: not TOML: ");
    check(
        "[[workload]]\nclients = \"3\"\n",
        "x.toml:2: clients = \"3\": clients is a whole number from 1 to 65536",
    );
    check(
        "[[workload]]\ndurable = 1\n",
        "x.toml:2: durable = 1: durable is true or false",
    );
    // Every mistake of the file at once.
    check(
        "[[workload]]\nsize = \"4QB\"\nclients = 0\n\n[[workload]]\nthink = \"soon\"\n",
        "x.toml:6: think: ",
    );
    check(
        "[[workload]]\nname = \"a\"\nrate = \"x\"\n",
        "x.toml:3: rate: ",
    );
    check(
        "[[workload]]\nname = \"a\"\npattern = \"up\"\n",
        "x.toml:3: pattern: \"up\" is none of",
    );
    check(
        "[[workload]]\nname = \"a\"\ntargets = [\"b\"]\n",
        "targets: b is not among the named targets",
    );
    check(
        "[[workload]]\nname = \"a\"\nblock = \"4KiB/60\"\n",
        "the percentages add up to 60",
    );
    check(
        "[[workload]]\nname = \"a\"\nstart = \"2min\"\n",
        "the trial ends after 1 min",
    );
    scratch.check(&["trial", "null:", "null:"], 2, "null: is named twice");
    // Bug: "[missing] missing does not exist: give size= in bytes", as if it were a job file.
    let missing = "there is nothing at `missing`. Check the spelling";
    scratch.check(&["trial", ".", "missing"], 2, missing);
    scratch.check(&["curve", ".", "missing"], 2, missing);
    let method = "--verify takes no method";
    scratch.check(&["trial", ".", "--verify", "crc32c"], 2, method);
    scratch.check(&["trial", "sim:mm1", "null:"], 2, "run on different clocks");
    scratch.check(
        &["trial", "sim:mm1", ".", "--files", "2"],
        2,
        "--files works with a single target and workload",
    );
}

/// fio's reader takes what is printed, and means the same.
#[test]
fn a_trial_is_printed_as_a_job_file_that_is_read_as_what_it_was() {
    let scratch = Scratch::new();
    let args = [
        "trial",
        ".",
        "--as-fio",
        "--writes",
        "25%",
        "--clients",
        "8",
        "--size",
        "64MiB",
    ];
    let ended = scratch.check(&args, 0, "[.]");
    for line in [
        "rw=randrw",
        "rwmixread=75",
        "iodepth=8",
        "direct=1",
        "size=67108864",
    ] {
        assert!(
            ended.stdout.lines().any(|it| it == line),
            "{line} in {}",
            ended.stdout
        );
    }
    fs::write(scratch.path("x.fio"), &ended.stdout).expect("a file");
    scratch.check(&["fio", "x.fio", "--check"], 0, "done");
    let rated = ["trial", ".", "--as-fio", "--rate", "500/s"];
    scratch.check(&rated, 0, "rate_iops=500,0");
    let hyperbolic = ["trial", ".", "--as-fio", "--pattern", "hyperbolic:1"];
    scratch.check(&hyperbolic, 2, "do not exist in fio");
}

/// A control group of version 1 whose processes read each of several devices at most so many times
/// a second; removed when dropped.
struct ReadLimits {
    group: PathBuf,
}

impl ReadLimits {
    /// `None`, with a message, where there can be none.
    fn new(test: &str, limits: &[(&str, u32)]) -> Option<Self> {
        let name = format!("seekstone-limits-{}", std::process::id());
        let group = PathBuf::from("/sys/fs/cgroup/blkio").join(name);
        if fs::create_dir(&group).is_err() {
            skipped(test, "no blkio control group can be made");
            return None;
        }
        let this = Self { group };
        for (device, rate) in limits {
            let number = fs::read_to_string(format!("/sys/block/{device}/dev"));
            let rule = format!("{} {rate}", number.expect("a device").trim());
            let file = this.group.join("blkio.throttle.read_iops_device");
            if fs::write(file, rule).is_err() {
                skipped(test, "blkio control groups do not throttle here");
                return None;
            }
        }
        Some(this)
    }

    /// That command inside of it.
    fn of(&self, scratch: &Scratch, command: &Command) -> Command {
        let mut inside = Command::new("sh");
        inside.args(["-c", "echo $$ >\"$0\" && exec \"$@\""]);
        inside.arg(self.group.join("cgroup.procs"));
        inside.arg(command.get_program()).args(command.get_args());
        scratch.settle(&mut inside);
        inside
    }
}

impl Drop for ReadLimits {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.group);
    }
}

/// The warm-up spends what a throttle saved up while nobody read. It lets reads go by the 0.1 s, so
/// that 6 s are measured to 0.1 / 6 = 1.7 %.
#[test]
fn two_devices_in_one_trial_each_find_their_own_limit() {
    let test = "two_devices_in_one_trial_each_find_their_own_limit";
    let scratch = Scratch::new();
    let Some(slow) = Mirror::device(test, &scratch, "slow", 32) else {
        return;
    };
    let Some(fast) = Mirror::device(test, &scratch, "fast", 32) else {
        return;
    };
    let limits = [(slow.name(), 300), (fast.name(), 900)];
    let Some(throttle) = ReadLimits::new(test, &limits) else {
        return;
    };
    let args = ["trial", slow.path(), fast.path(), "--clients", "8"];
    let time = ["--duration", "7s", "--warm-up", "1s"];
    let command = scratch.seekstone([&args[..], &time, &OUTPUT].concat());
    let pressure = Pressure::new();
    let ended = finish(throttle.of(&scratch, &command));
    assert!(ended.error().is_empty(), "{ended:?}");
    let run = json(&scratch);
    assert_adds_up(&run);
    for (row, (name, limit)) in rows(&run)[1..].iter().zip(limits) {
        assert_eq!(row["name"], name);
        let rate = number(row, "/throughput/value");
        pressure.assert_rate(test, rate, f64::from(limit), 0.02);
    }
}

/// A device that was never written answers from nowhere, and its numbers say nothing of its media.
#[test]
fn reads_of_a_device_that_was_never_written_are_named() {
    let test = "reads_of_a_device_that_was_never_written_are_named";
    let scratch = Scratch::in_memory();
    let Some(memory) = FileSystem::tmpfs(test, &scratch, 64) else {
        return;
    };
    let Some(device) = Loop::thin(test, &memory, 16) else {
        return;
    };
    let warns = |more: &[&str]| {
        let args = [
            "trial",
            device.path(),
            "--duration",
            "100ms",
            "--size",
            "8MiB",
        ];
        let ended = finish(scratch.seekstone([&args[..], more, &OUTPUT].concat()));
        assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
        let run = json(&scratch);
        let warnings = run["warnings"].as_array().expect("warnings");
        let named = warnings.iter().any(|it| it["code"] == "unwritten");
        assert_eq!(
            named,
            ended.stdout.contains("hold only zeroes"),
            "{ended:?}"
        );
        named
    };
    assert!(warns(&[]));
    // Who only writes reads nothing.
    assert!(!warns(&["--writes", "100%", "--overwrite", "--yes"]));
    // Only the part that is read counts.
    let opened = fs::File::options().write(true).open(&device.device);
    let mut opened = opened.expect("the device");
    opened.write_all(&vec![7; 8 << 20]).expect("room");
    opened.sync_all().expect("a device that holds data");
    assert!(!warns(&[]));
}
