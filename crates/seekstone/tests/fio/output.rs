//! What `seekstone fio` writes beside its report, and readers of fio's output who find their
//! values in it: logs, reports on the way, JSON and terse lines.

use std::path::Path;

use crate::support::{self, Scratch, finish};
use serde_json::Value;

const LOGGED: &str = "[global]\nioengine=null\nsize=1m\nbs=4k\n\
                      [a]\nrw=randrw\nnumjobs=2\niodepth=2\nwrite_bw_log=x\nwrite_iops_log=x\n\
                      write_lat_log=x\nwrite_hist_log=h\n\
                      [b]\nstonewall\nrw=write\nwrite_lat_log\nlog_offset=1\ndisable_slat=1\n\
                      [c]\nstonewall\nrw=read\nwrite_iops_log=c\nper_job_logs=0\n\
                      log_avg_msec=20\nrate_iops=1000\nruntime=1\ntime_based\n";

fn logs_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".log")).collect();
    names.sort();
    names
}

/// Number of lines, and of fields of each.
fn shape(path: &Path) -> (usize, Vec<usize>) {
    let text = std::fs::read_to_string(path).expect("a log");
    let mut fields: Vec<usize> = text.lines().map(|line| line.split(", ").count()).collect();
    let lines = fields.len();
    fields.dedup();
    (lines, fields)
}

/// Skipped by name where fio is not installed.
#[test]
fn logs_have_the_names_lines_and_fields_of_fio_s() {
    if !support::is_installed("fio") {
        let test = "logs_have_the_names_lines_and_fields_of_fio_s";
        return support::skipped(test, "fio is missing");
    }
    let scratch = Scratch::new();
    let [ours, theirs] = ["ours", "theirs"].map(|name| scratch.path(name));
    for directory in [&ours, &theirs] {
        std::fs::create_dir(directory).expect("a directory");
        std::fs::write(directory.join("j.fio"), LOGGED).expect("a job file");
    }
    let mut command = scratch.seekstone(["fio", "j.fio", "--no-save", "--quiet"]);
    command.current_dir(&ours);
    let ended = finish(command);
    ended.check(&[], 0, "");
    let mut command = std::process::Command::new("fio");
    scratch.settle(&mut command);
    command.arg("j.fio").current_dir(&theirs);
    assert_eq!(finish(command).code, Some(0));
    assert_eq!(logs_in(&ours), logs_in(&theirs));
    for name in logs_in(&ours) {
        let (lines, fields) = shape(&ours.join(&name));
        let (their_lines, their_fields) = shape(&theirs.join(&name));
        assert_eq!(fields, their_fields, "{name}");
        // Windows come and go with the clock; operations do not.
        if !name.starts_with("c_") {
            assert_eq!(lines, their_lines, "{name}");
        }
    }
}

#[test]
fn logs_of_a_model_have_the_values_of_its_law() {
    let scratch = Scratch::new();
    let jobs = "[a]\nfilename=sim:delay?time=1ms\nioengine=libaio\nrw=read\nbs=8k\nsize=64m\n\
                rate_iops=100\nruntime=2\ntime_based\nwrite_bw_log=d\nwrite_iops_log=d\n\
                write_lat_log=d\nlog_avg_msec=500\n";
    std::fs::write(scratch.path("j.fio"), jobs).expect("a job file");
    let args = [
        "fio",
        "j.fio",
        "--no-save",
        "--seed=1",
        "--status-interval=1",
    ];
    let ended = finish(scratch.seekstone(args));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    // As of fio: what stands there is taken for errors.
    assert_eq!(ended.stderr, "", "{ended:?}");
    let log = |name: &str| std::fs::read_to_string(scratch.path(name)).expect("a log");
    let windows = |values: [u64; 4]| {
        let lines = values.iter().zip(1..);
        let line = |(value, window): (&u64, u64)| format!("{}, {value}, 0, 0, 0\n", window * 500);
        lines.map(line).collect::<String>()
    };
    assert_eq!(log("d_clat.1.log"), windows([1_000_000; 4]));
    // The first is due at once, and done after 1 ms: 50 fall into each window.
    assert_eq!(log("d_iops.1.log"), windows([100; 4]));
    assert_eq!(log("d_bw.1.log"), windows([800; 4]));
    // A report after each second, and the last one.
    assert_eq!(
        ended.stdout.matches("read: IOPS=10").count(),
        2,
        "{}",
        ended.stdout
    );
}

#[test]
fn a_log_replaces_only_what_seekstone_wrote() {
    let scratch = Scratch::new();
    let args = [
        "fio",
        "--no-save",
        "-q",
        "--name=a",
        "--ioengine=null",
        "--rw=read",
        "--size=1m",
    ];
    let log = [&args[..], &["--write_lat_log=m"]].concat();
    scratch.check(&log, 0, "read: IOPS");
    scratch.check(&log, 0, "read: IOPS");
    let mine = scratch.path("m_lat.1.log");
    std::fs::write(&mine, "mine").expect("a file");
    let said = "the log m_lat.1.log exists, and is not an unchanged file";
    scratch.check(&log, 2, said);
    assert_eq!(std::fs::read_to_string(&mine).expect("the file"), "mine");
    let onto = [&args[..], &["--filename=n_lat.1.log", "--write_lat_log=n"]].concat();
    scratch.check(&onto, 2, "the log n_lat.1.log would write over n_lat.1.log");
    scratch.check(&[&log[..], &["--force"]].concat(), 0, "read: IOPS");
    assert_ne!(std::fs::read_to_string(&mine).expect("the file"), "mine");
}

/// Skipped by name where fio is not installed.
#[test]
fn readers_take_the_same_amounts_from_our_output_as_from_fio_s() {
    if !support::is_installed("fio") {
        let test = "readers_take_the_same_amounts_from_our_output_as_from_fio_s";
        return support::skipped(test, "fio is missing");
    }
    let scratch = Scratch::new();
    let jobs = "[global]\nioengine=null\nsize=8m\nstonewall\n[a]\nrw=randread\nbs=4k\n[b]\n\
                rw=randwrite\nbs=8k\n[c]\nrw=read\nbs=64k\n[d]\nrw=write\nbs=64k\n";
    std::fs::write(scratch.path("j.fio"), jobs).expect("a job file");
    let run = |is_ours: bool, form: &str| {
        let form = format!("--output-format={form}");
        let command = match is_ours {
            true => scratch.seekstone(["fio", "j.fio", "--no-save", "-q", &form]),
            false => {
                let mut command = std::process::Command::new("fio");
                scratch.settle(&mut command);
                command.args(["j.fio", &form]);
                command
            }
        };
        let ended = finish(command);
        ended.check(&[], 0, "");
        ended
    };
    let documents = [true, false].map(|is_ours| run(is_ours, "json").json());
    let lines = [true, false].map(|is_ours| run(is_ours, "terse").stdout);
    let [ours, theirs] = documents.each_ref().map(amounts);
    assert_eq!(ours, theirs);
    let [ours, theirs] = lines.each_ref().map(|lines| terse_amounts(lines));
    assert_eq!(ours, theirs);
    for document in &documents {
        disk_mark_like(document);
        kbench_like(document);
        kubestr_like(document);
    }
}

/// Name, operations and bytes of each job and direction.
fn amounts(document: &Value) -> Vec<(String, u64, u64)> {
    let jobs = document["jobs"].as_array().expect("jobs").iter();
    let of = |job: &Value| {
        let name = job["jobname"].as_str().expect("a name").to_owned();
        let number = |direction: &str, key: &str| job[direction][key].as_u64().expect("a number");
        ["read", "write"].map(|direction| {
            let amounts = (
                number(direction, "total_ios"),
                number(direction, "io_bytes"),
            );
            (name.clone(), amounts.0, amounts.1)
        })
    };
    jobs.flat_map(of).collect()
}

/// Name and KiB of each job and direction, where scripts for version 3 look; and that rates lie
/// where they expect them.
fn terse_amounts(lines: &str) -> Vec<(String, u64, u64)> {
    let of = |line: &str| {
        let fields: Vec<&str> = line.split(';').collect();
        assert_eq!(fields[0], "3", "{line}");
        let number = |field: usize| fields[field - 1].parse::<u64>().expect("a number");
        let [reads, writes] = [number(6), number(47)];
        assert_eq!(
            [number(7) > 0, number(48) > 0],
            [reads > 0, writes > 0],
            "bandwidth"
        );
        assert_eq!(
            [number(8) > 0, number(49) > 0],
            [reads > 0, writes > 0],
            "IOPS"
        );
        (fields[2].to_owned(), reads, writes)
    };
    lines.lines().map(of).collect()
}

/// As KDiskMark reads a result: an error ends it, else rates and the mean of one direction.
fn disk_mark_like(document: &Value) {
    for (job, direction) in [(0, "read"), (1, "write"), (2, "read"), (3, "write")] {
        let job = &document["jobs"][job];
        assert_eq!(job["error"].as_i64(), Some(0));
        let moved = &job[direction];
        for key in ["bw", "iops"] {
            assert!(moved[key].as_f64() > Some(0.0), "{key}: {moved}");
        }
        assert!(moved["clat_ns"]["mean"].as_f64() >= Some(0.0), "{moved}");
    }
}

/// As kbench's lines for jq read it: jobs by their place, always a number.
fn kbench_like(document: &Value) {
    for job in 0..4 {
        for direction in ["read", "write"] {
            for path in ["iops_mean", "bw_mean", "lat_ns/mean"] {
                let pointer = format!("/jobs/{job}/{direction}/{path}");
                let found = document.pointer(&pointer).and_then(Value::as_f64);
                assert!(found.is_some(), "{pointer}");
            }
        }
    }
}

/// As kubestr reads it: into fields of fixed types.
fn kubestr_like(document: &Value) {
    assert!(document["fio version"].is_string());
    assert!(document["global options"]["ioengine"].is_string());
    for job in document["jobs"].as_array().expect("jobs") {
        for option in ["rw", "bs"] {
            assert!(job["job options"][option].is_string(), "{option}");
        }
        for direction in ["read", "write"] {
            let moved = &job[direction];
            for key in [
                "bw",
                "bw_min",
                "bw_max",
                "iops_min",
                "iops_max",
                "total_ios",
            ] {
                assert!(moved[key].is_u64(), "{direction}/{key}: {moved}");
            }
            for key in ["iops", "iops_mean", "bw_mean"] {
                assert!(moved[key].is_number(), "{direction}/{key}: {moved}");
            }
        }
    }
    for disk in document["disk_util"].as_array().into_iter().flatten() {
        assert!(
            disk["name"].is_string() && disk["read_ios"].is_u64(),
            "{disk}"
        );
    }
}

/// fio-plot draws our logs and our JSON. Skipped by name where it is not installed.
#[test]
fn fio_plot_draws_our_output() {
    if !support::is_installed("fio-plot") {
        return support::skipped("fio_plot_draws_our_output", "fio-plot is missing");
    }
    let scratch = Scratch::new();
    let name = "randread-iodepth-1-numjobs-1";
    let options = [
        "--name=a",
        "--filename=sim:mm1?mean=100us",
        "--ioengine=libaio",
        "--rw=randread",
        "--bs=4k",
        "--size=64m",
        "--iodepth=1",
        "--numjobs=1",
        "--runtime=5",
        "--time_based",
        "--log_avg_msec=500",
        &format!("--write_lat_log={name}"),
        &format!("--write_iops_log={name}"),
    ];
    let output = "--output=randread-1-1.json";
    let args = ["fio", "--no-save", "-q", "--output-format=json", output];
    let ended = finish(scratch.seekstone(args.iter().chain(&options)));
    ended.check(&[], 0, "");
    let graphs = [
        ("bars.png", vec!["-l", "-d", "1", "-n", "1"]),
        (
            "lines.png",
            vec!["-g", "-t", "lat", "iops", "-d", "1", "-n", "1"],
        ),
    ];
    for (graph, wanted) in graphs {
        let mut command = std::process::Command::new("fio-plot");
        scratch.settle(&mut command);
        command.args(["-i", ".", "-T", "t", "-r", "randread", "-o", graph]);
        command.args(wanted);
        let ended = finish(command);
        ended.check(&[graph], 0, "");
        assert!(scratch.path(graph).exists(), "{graph}: {ended:?}");
    }
}

/// A job that had one request under way was said to have 16, and a `slat` above its `lat`.
#[test]
fn a_rate_shows_in_the_depths_and_in_no_slat() {
    let scratch = Scratch::new();
    let words = [
        "fio",
        "--no-save",
        "--output-format=json",
        "--filename=sim:mm1?mean=100us",
        "--ioengine=libaio",
        "--rw=randread",
        "--iodepth=16",
        "--name=rate",
        "--rate_iops=1000",
        "--rate_process=poisson",
        "--runtime=5",
        "--time_based",
        "--write_lat_log=rate",
        "--name=full",
        "--stonewall",
        "--number_ios=10000",
    ];
    let found = finish(scratch.seekstone(words)).json();
    let [rate, full] = [&found["jobs"][0], &found["jobs"][1]];
    assert_eq!(rate["iodepth_level"]["1"], 100.0, "{rate}");
    assert_eq!(full["iodepth_level"]["16"], 100.0, "{full}");
    let times = |of: &str| rate["read"][of]["mean"].as_f64().expect("a mean");
    assert_eq!(times("slat_ns"), 0.0, "{rate}");
    assert_eq!(times("clat_ns"), times("lat_ns"), "{rate}");
    let log = std::fs::read_to_string(scratch.path("rate_lat.1.log")).expect("a log");
    let value = |line: &str| line.split(", ").nth(1)?.parse::<u64>().ok();
    let most = log.lines().filter_map(value).max();
    assert_eq!(most, rate["read"]["lat_ns"]["max"].as_u64(), "{rate}");
}

/// How etcd, OpenShift and others judge a disk: the last 99th percentile of the report, which is
/// that of the flushes.
#[test]
fn the_report_has_the_times_of_flushes() {
    let scratch = Scratch::new();
    let args = [
        "fio",
        "--rw=write",
        "--ioengine=sync",
        "--fdatasync=1",
        "--directory=.",
        "--size=230k",
        "--bs=2300",
        "--name=mytest",
        "--no-save",
        "--quiet",
    ];
    let ended = finish(scratch.seekstone(args));
    ended.check(&[], 0, "");
    let lines: Vec<&str> = ended.stdout.lines().collect();
    let at = |text: &str| lines.iter().position(|line| line.contains(text));
    let flushes = at("  fsync/fdatasync/sync_file_range:").expect("a section");
    assert!(lines[flushes + 1].contains("    sync (") && lines[flushes + 1].contains("avg="));
    assert!(lines[flushes + 2].starts_with("    sync percentiles ("));
    let last = lines.iter().rposition(|line| line.contains("99.00th=["));
    assert!(last > Some(flushes), "{}", ended.stdout);
    let ends: Vec<&&str> = lines
        .iter()
        .filter(|line| line.contains("99.99th=["))
        .collect();
    assert!(
        ends.len() == 2 && ends.iter().all(|line| line.ends_with(']')),
        "{ends:?}"
    );
}

/// kbench reads `.cpu_idleness.system`.
#[test]
fn idleness_of_processors_stands_under_fio_s_keys() {
    let scratch = Scratch::new();
    let run = |which: &str, form: &str| {
        let which = format!("--idle-prof={which}");
        let form = format!("--output-format={form}");
        let job = [
            "--name=a",
            "--ioengine=null",
            "--size=1m",
            "--rate_iops=500",
        ];
        let words = [&["fio", "--no-save", "-q", &which, &form][..], &job].concat();
        let ended = finish(scratch.seekstone(&words));
        ended.check(&[], 0, "");
        ended
    };
    let idleness = run("percpu", "json").json()["cpu_idleness"].clone();
    let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let names = (0..count).map(|number| format!("cpu-{number}"));
    for name in names.chain(["system".into()]) {
        let share = idleness[&name].as_f64().expect("a share");
        assert!((0.0..=100.0).contains(&share), "{name}: {idleness}");
    }
    let idleness = run("system", "json").json()["cpu_idleness"].clone();
    assert!(
        idleness["system"].is_f64() && idleness["cpu-0"].is_null(),
        "{idleness}"
    );
    let text = run("system", "normal").stdout;
    assert!(text.contains("CPU idleness:\n  system: "), "{text}");
}

/// Half of the requests are urgent: their times and those of the others make up those of all.
#[test]
fn times_by_priority_add_up() {
    let scratch = Scratch::new();
    let run = |percent: &str| {
        let percent = format!("--cmdprio_percentage={percent}");
        let args = [
            "fio",
            "--no-save",
            "--output-format=json+",
            "--name=a",
            "--rw=randread",
            "--size=1m",
            "--ioengine=libaio",
            "--cmdprio_class=2",
            "--cmdprio=3",
            &percent,
        ];
        let ended = finish(scratch.seekstone(args));
        assert!([Some(0), Some(3)].contains(&ended.code), "{ended:?}");
        let json: Value = serde_json::from_str(&ended.stdout).expect("JSON");
        json["jobs"][0]["read"].clone()
    };
    assert!(run("0").get("prios").is_none());
    let read = run("50");
    let rows = read["prios"].as_array().expect("a row of each");
    let named: Vec<_> = rows
        .iter()
        .map(|it| (&it["prioclass"], &it["prio"]))
        .collect();
    assert_eq!(
        named,
        [(&0.into(), &0.into()), (&2.into(), &3.into())],
        "{read}"
    );
    let counts = rows.iter().map(|it| it["clat_ns"]["N"].as_u64());
    assert_eq!(counts.sum::<Option<u64>>(), Some(256), "{read}");
    assert_eq!(read["total_ios"], 256);
}

/// fio's version 2 has no version and no disks; 4 has trims, and 5 samples of rates.
#[test]
fn terse_lines_have_the_fields_of_their_version() {
    let scratch = Scratch::new();
    for (version, fields) in [("2", 161), ("3", 121), ("4", 162), ("5", 180)] {
        let args = [
            "fio",
            "--no-save",
            "--name=a",
            "--ioengine=null",
            "--size=1m",
            "--output-format=terse",
            "--terse-version",
            version,
        ];
        let ended = finish(scratch.seekstone(args));
        let line = ended.stdout.trim();
        assert_eq!(line.split(';').count(), fields, "{line}");
        assert!(line.starts_with(&format!("{version};")), "{line}");
    }
}

#[test]
fn a_log_that_was_written_is_replayed() {
    let scratch = Scratch::new();
    let wrote = [
        "fio",
        "--no-save",
        "--name=a",
        "--filename=data",
        "--rw=randwrite",
        "--size=1m",
        "--write_iolog=log",
    ];
    scratch.check(&wrote, 0, "write: IOPS=");
    let replayed = [
        "fio",
        "--no-save",
        "--output-format=json",
        "--name=b",
        "--read_iolog=log",
        "--replay_no_stall=1",
        "--replay_redirect=other",
    ];
    let ended = finish(scratch.seekstone(replayed));
    assert!([Some(0), Some(3)].contains(&ended.code), "{ended:?}");
    let json: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(json["jobs"][0]["write"]["io_kbytes"], 1024);
    assert_eq!(json["jobs"][0]["write"]["total_ios"], 256);
}

/// Reads of a hole come from nowhere, which makes figures invalid. Scripts took code 3 for a failed
/// run. Skipped by name where the system does not tell.
#[test]
fn an_invalid_number_is_said_and_ends_as_in_fio() {
    let test = "an_invalid_number_is_said_and_ends_as_in_fio";
    let Some(scratch) = Scratch::on_disk(test) else {
        return;
    };
    let hole = std::fs::File::create(scratch.path("hole")).expect("a file");
    hole.set_len(32 << 20).expect("a length");
    let run = |words: &[&str]| {
        let job = ["--name=a", "--rw=randread", "--bs=64k", "--direct=1"];
        let fixed = ["fio", "--no-save", "--filename=hole"];
        finish(scratch.seekstone(fixed.iter().chain(&job).chain(words)))
    };
    let ended = run(&["--strict"]);
    if !ended.stderr.contains("invalid: ") {
        return support::skipped(test, "the system does not tell where reads came from");
    }
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert_eq!(run(&["--goal", "iops > 1"]).code, Some(3));
    let ended = run(&[]);
    ended.check(&[], 0, "invalid: ");
    assert!(ended.stdout.contains("READ: bw="), "{}", ended.stdout);
}
