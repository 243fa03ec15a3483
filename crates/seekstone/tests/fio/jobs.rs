//! `seekstone fio`: job files are answered and shown; what cannot be done is refused with its line.

use crate::support::{self, Scratch, finish};

#[test]
fn every_option_has_its_answer() {
    let scratch = Scratch::new();
    let text = "[global]\nioengine=libaio\nthread\nverify=0\n[a]\n\
                rw=randwrite\nsize=1m\nverify=md5\nzonemode=zbd\n";
    std::fs::write(scratch.path("jobs.fio"), text).expect("a job file");
    let args = ["fio", "jobs.fio", "--check"];
    let ended = finish(scratch.seekstone(args));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    for line in [
        "jobs.fio:2  ioengine=libaio  done",
        "jobs.fio:3  thread           no effect: a job is neither",
        "jobs.fio:4  verify=0         done: by our own header",
        "jobs.fio:8  verify=md5       done: by our own header",
        "jobs.fio:9  zonemode=zbd     refused: ",
        "1 line is refused",
    ] {
        assert!(ended.stdout.contains(line), "{line}: {}", ended.stdout);
    }
}

#[test]
fn options_on_the_command_line_make_jobs() {
    let scratch = Scratch::new();
    let args = [
        "fio",
        "--showcmd",
        "--bs=8k",
        "--name=a",
        "--rw",
        "randread",
        "--time_based",
    ];
    let shown = "fio --bs=8k --name=a --rw=randread --time_based";
    scratch.check(&args, 0, shown);
}

#[test]
fn a_refusal_names_file_and_line() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("jobs.fio"), "[a]\nioengine=rbd\n").expect("a job file");
    let said = "error: jobs.fio:2: ioengine=rbd: the engine rbd";
    scratch.check(&["fio", "jobs.fio"], 2, said);
    scratch.check(&["fio"], 2, "name a job file");
    std::fs::write(scratch.path("empty.fio"), "").expect("a job file");
    scratch.check(&["fio", "empty.fio"], 2, "empty.fio: no job to run");
}

/// One line of M/M/1 at half load, in virtual time: every run gives the same numbers.
const SIMULATED: &str = "[global]\nfilename=sim:mm1?mean=100us\nioengine=libaio\nbs=4k\n\
                         iodepth=64\n\
                         [a]\nrw=randread\nrate_iops=5000\nrate_process=poisson\nruntime=20\n\
                         time_based\n[b]\nstonewall\nrw=randrw\nsize=8m\n";

fn simulated(scratch: &Scratch, more: &[&str]) -> support::Ended {
    std::fs::write(scratch.path("jobs.fio"), SIMULATED).expect("a job file");
    let args = ["fio", "jobs.fio", "--seed", "1", "--quiet", "--no-save"];
    let ended = finish(scratch.seekstone(args.iter().chain(more)));
    ended.check(&[], 0, "");
    ended
}

#[test]
fn a_job_at_a_rate_has_the_latency_of_theory() {
    let scratch = Scratch::new();
    let found = simulated(&scratch, &["--output-format=json"]).json();
    let [a, b] = [&found["jobs"][0], &found["jobs"][1]];
    let iops = a["read"]["iops"].as_f64().expect("a number");
    assert!((4900.0..5100.0).contains(&iops), "{iops}");
    // M/M/1 at a load of 0.5: twice the service time.
    let due = &a["seekstone"]["latency_from_due_ns"]["read"];
    let mean = due["mean"].as_f64().expect("a number");
    assert!((190_000.0..210_000.0).contains(&mean), "{mean}");
    let total = |direction: &str| b[direction]["total_ios"].as_u64().expect("a number");
    assert_eq!(total("read") + total("write"), 2048);
    assert_eq!(
        found["seekstone"]["measurements"].as_array().map(Vec::len),
        Some(2)
    );
}

/// `wait_for` was refused. A second job that waits for the same one runs beside the first.
#[test]
fn a_job_that_waits_for_another_starts_when_that_has_ended() {
    let scratch = Scratch::new();
    let jobs = "[global]\nfilename=sim:delay?time=1ms\nrw=randread\nbs=4k\nsize=400k\n\
                [a]\nnumjobs=2\n[b]\nwait_for=a\n[c]\nwait_for=a\n[d]\nwait_for=b\n";
    std::fs::write(scratch.path("jobs.fio"), jobs).expect("a job file");
    let args = ["fio", "jobs.fio", "--no-save", "--quiet", "--json", "-"];
    // In fio [d] starts when [b] has ended, whatever [c] does.
    let said = "jobs.fio:13: wait_for=b is refused: other jobs run with that one";
    scratch.check(&args, 2, said);
    std::fs::write(scratch.path("jobs.fio"), jobs.replace("=b", "=a")).expect("a file");
    let args = [
        "fio",
        "jobs.fio",
        "--no-save",
        "--quiet",
        "--output-format=json",
    ];
    let found = finish(scratch.seekstone(args)).json();
    let measured = found["seekstone"]["measurements"].as_array();
    assert_eq!(measured.map(Vec::len), Some(2), "{found}");
    let jobs = found["jobs"].as_array().expect("jobs");
    let groups: Vec<_> = jobs
        .iter()
        .map(|job| (&job["jobname"], &job["groupid"]))
        .collect();
    assert!(groups.iter().all(|(_, group)| **group == 0), "{groups:?}");
    assert_eq!(groups.len(), 5, "{groups:?}");
}

/// What readers of fio's output look at: KDiskMark, kubestr, fio-plot, kbench's jq lines.
#[test]
fn readers_of_fio_s_json_find_their_keys() {
    let scratch = Scratch::new();
    let found = simulated(&scratch, &["--output-format=json+"]).json();
    let job = &found["jobs"][0];
    for path in [
        "/error",
        "/jobname",
        "/groupid",
        "/job options/rw",
        "/job options/bs",
        "/job options/iodepth",
        "/job options/numjobs",
        "/read/bw",
        "/read/bw_bytes",
        "/read/iops",
        "/read/iops_mean",
        "/read/iops_stddev",
        "/read/bw_mean",
        "/read/bw_min",
        "/read/bw_max",
        "/read/io_bytes",
        "/read/total_ios",
        "/read/runtime",
        "/read/clat_ns/mean",
        "/read/clat_ns/percentile/99.000000",
        "/read/clat_ns/bins",
        "/read/lat_ns/mean",
        "/read/lat_ns/stddev",
        "/read/slat_ns/mean",
        "/write/iops",
        "/trim/iops",
        "/sync/lat_ns/mean",
        "/usr_cpu",
        "/sys_cpu",
        "/latency_us/250",
        "/latency_ms/>=2000",
        "/iodepth_level/>=64",
    ] {
        assert!(job.pointer(path).is_some_and(|it| !it.is_null()), "{path}");
    }
    for key in [
        "fio version",
        "timestamp",
        "time",
        "global options",
        "disk_util",
    ] {
        assert!(found.get(key).is_some(), "{key}");
    }
}

/// Terse version 3 has the same numbers at the places where scripts look: fields counted from 1.
#[test]
fn terse_lines_agree_with_json() {
    let scratch = Scratch::new();
    let found = simulated(&scratch, &["--output-format=json"]).json();
    let lines = simulated(&scratch, &["--minimal"]).stdout;
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines.len(), 2);
    for (number, line) in lines.iter().enumerate() {
        let fields: Vec<&str> = line.split(';').collect();
        let job = &found["jobs"][number];
        assert_eq!(fields.len(), 121, "{line}");
        assert_eq!(
            (fields[0], fields[2]),
            ("3", job["jobname"].as_str().expect("a name"))
        );
        for (direction, first) in [("read", 5), ("write", 46)] {
            let of = |key: &str| job[direction][key].as_f64().expect("a number") as u64;
            let field = |at: usize| fields[first + at].parse::<u64>().expect("a number");
            let expected = [of("io_kbytes"), of("bw"), of("iops"), of("runtime")];
            assert_eq!([field(0), field(1), field(2), field(3)], expected, "{line}");
            let mean = job[direction]["clat_ns"]["mean"]
                .as_f64()
                .expect("a number")
                / 1000.0;
            let found: f64 = fields[first + 10].parse().expect("a number");
            assert!((found - mean).abs() < 1e-3, "{found} {mean}");
        }
    }
}

#[test]
fn files_are_laid_out_and_removed_and_existing_ones_are_safe() {
    let scratch = Scratch::new();
    let data = scratch.path("data");
    std::fs::create_dir(&data).expect("a directory");
    let jobs = "[global]\ndirectory=data\nsize=2m\nbs=4k\n[w]\nrw=write\nend_fsync=1\n[r]\n\
                stonewall\n\
                rw=randrw\nnrfiles=3\nioengine=libaio\niodepth=4\nnumjobs=2\ngroup_reporting\n";
    std::fs::write(scratch.path("jobs.fio"), jobs).expect("a job file");
    let args = [
        "fio",
        "jobs.fio",
        "--quiet",
        "--reserve",
        "0",
        "--output-format",
        "json",
        "--no-save",
    ];
    let ended = finish(scratch.seekstone(args));
    ended.check(&[], 0, "");
    let found = ended.json();
    assert_eq!(found["jobs"][0]["write"]["total_ios"], 512);
    assert_eq!(found["jobs"][0]["sync"]["total_ios"], 1);
    let total = |direction: &str| found["jobs"][1][direction]["total_ios"].as_u64();
    // Each copy has three files of 170 whole blocks.
    assert_eq!(
        total("read").zip(total("write")).map(|(a, b)| a + b),
        Some(2 * 510)
    );
    assert_eq!(std::fs::read_dir(&data).expect("the directory").count(), 0);

    let mine = data.join("mine");
    std::fs::write(&mine, vec![7; 1 << 20]).expect("a file");
    let write = [
        "--name=a",
        "--rw=write",
        "--filename=data/mine",
        "--size=1m",
    ];
    let said = "data/mine exists, and a job writes to it: fio would overwrite filename=data/mine";
    scratch.check(&[&["fio", "--no-save"], &write[..]].concat(), 2, said);
    assert!(
        std::fs::read(&mine)
            .expect("the file")
            .iter()
            .all(|byte| *byte == 7)
    );
    scratch.check(
        &[&["fio", "--no-save", "--overwrite"], &write[..]].concat(),
        0,
        "WRITE: bw=",
    );
    assert!(
        std::fs::read(&mine)
            .expect("the file")
            .iter()
            .any(|byte| *byte != 7)
    );
    let large = ["--name=a", "--rw=read", "--filename=data/mine", "--size=2m"];
    let said = "data/mine holds 1048576 bytes, and the job wants 2097152";
    scratch.check(&[&["fio", "--no-save"], &large[..]].concat(), 2, said);
}

/// Skipped by name where fio is not installed.
#[test]
fn counts_and_bytes_are_those_of_fio_on_the_null_engine() {
    if !support::is_installed("fio") {
        let test = "counts_and_bytes_are_those_of_fio_on_the_null_engine";
        return support::skipped(test, "fio is missing");
    }
    let scratch = Scratch::new();
    let jobs = "[global]\nioengine=null\nsize=32m\n[seq]\nrw=read\nbs=64k\n[once]\nrw=randread\n\
                bs=4k\niodepth=8\nnumjobs=2\n[loops]\nstonewall\nrw=write\nbs=8k\nloops=3\n\
                [number]\nrw=randwrite\nbs=4k\nnumber_ios=1000\n[part]\nrw=write\nbs=4k\n\
                io_size=1m\n\
                [split]\nrw=randread\nbssplit=4k/60:16k/40\nnorandommap\n[range]\nrw=write\n\
                bsrange=4k-16k\n[odd]\nrw=read\nbs=4k\nsize=10k\n[endless]\n\
                time_based\nrw=read\nbs=64k\n";
    std::fs::write(scratch.path("jobs.fio"), jobs).expect("a job file");
    let args = [
        "fio",
        "jobs.fio",
        "--quiet",
        "--no-save",
        "--output-format=json",
    ];
    let ours = finish(scratch.seekstone(args)).json();
    let mut command = std::process::Command::new("fio");
    scratch.settle(&mut command);
    command.args(["jobs.fio", "--output-format=json"]);
    let theirs = finish(command).json();
    let moved = |found: &serde_json::Value| {
        let jobs = found["jobs"].as_array().expect("jobs").iter();
        let of = |job: &serde_json::Value| {
            let sum = |key: &str| {
                let of = |direction: &str| job[direction][key].as_u64().expect("a number");
                of("read") + of("write")
            };
            let name = job["jobname"].as_str().expect("a name").to_owned();
            (name, sum("total_ios"), sum("io_bytes"))
        };
        jobs.map(of).collect::<Vec<_>>()
    };
    for (ours, theirs) in moved(&ours).iter().zip(moved(&theirs)) {
        assert_eq!(ours.0, theirs.0);
        match ours.0.as_str() {
            // Of drawn sizes without a map the last one goes beyond `size` here and there, as in
            // fio: with eight seeds each in one and in four of eight runs.
            "split" => assert!(ours.2.abs_diff(theirs.2) < 16 << 10, "{ours:?} {theirs:?}"),
            _ => assert_eq!(ours.2, theirs.2, "bytes of {}", ours.0),
        }
        match ours.0.as_str() {
            // Sizes are drawn: counts lie within 5 % of each other.
            "split" | "range" => {
                let ratio = ours.1 as f64 / theirs.1 as f64;
                assert!((0.95..1.05).contains(&ratio), "{ours:?} {theirs:?}");
            }
            _ => assert_eq!(ours.1, theirs.1, "{}", ours.0),
        }
    }
}

#[test]
fn a_job_that_failed_carries_its_error_number() {
    let scratch = Scratch::new();
    let text = "[a]\nfilename=sim:delay?time=1ms&error=EIO@2%\nrw=randread\nbs=4k\nsize=1m\n";
    std::fs::write(scratch.path("jobs.fio"), text).expect("a job file");
    let args = [
        "fio",
        "jobs.fio",
        "--output-format=json",
        "--seed=1",
        "-q",
        "--no-save",
    ];
    let ended = finish(scratch.seekstone(args));
    assert_ne!(ended.code, Some(0), "{ended:?}");
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(json["jobs"][0]["error"], 5, "EIO");
    assert!(
        json["jobs"][0]["read"]["total_ios"].as_u64() > Some(0),
        "what came before"
    );
}

/// Bug: nothing was kept of a phase that Ctrl-C ended.
#[test]
fn what_was_measured_before_a_signal_is_reported() {
    let scratch = Scratch::new();
    // What is done at once is done before the first line of progress.
    let text = "[a]\nioengine=null\nrw=randread\nbs=4k\nsize=4m\ntime_based\nruntime=600\n";
    std::fs::write(scratch.path("jobs.fio"), text).expect("a job file");
    let args = [
        "fio",
        "jobs.fio",
        "--output-format=json",
        "--reserve=0",
        "--eta=always",
    ];
    let mut running = support::Running::start(scratch.seekstone(args));
    running.wait_for("] a");
    running.signal(rustix::process::Signal::INT);
    let ended = running.end();
    assert_ne!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended
            .stderr
            .contains("stopped by SIGINT. What was measured"),
        "{ended:?}"
    );
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert!(
        json["jobs"][0]["read"]["total_ios"].as_u64() > Some(0),
        "{json}"
    );
    scratch.assert_clean(&scratch.path("."));
}

/// Verdicts stand on standard error: what fio prints stays fio's.
#[test]
fn goals_are_judged_by_the_names_of_jobs() {
    let scratch = Scratch::new();
    let jobs = "[global]\nfilename=sim:mmc?servers=4\nsize=64m\nruntime=5\ntime_based\n\
                [lookup]\nrw=randread\n[scan]\nstonewall\nrw=read\nbs=64k\n";
    let file = scratch.path("two.fio");
    std::fs::write(&file, jobs).expect("a job file");
    let file = file.display().to_string();
    let with = |goals: &[&str]| {
        let goals = goals.iter().flat_map(|goal| ["--goal", goal]);
        let args = ["fio", &file, "--seed", "1", "--minimal"].into_iter();
        finish(scratch.seekstone(args.chain(goals)))
    };
    let met = with(&["lookup.p99 <= 1s"]);
    assert_eq!(met.code, Some(0), "{}", met.stderr);
    assert!(
        met.stderr.contains("PASS lookup.p99 <= 1s: "),
        "{}",
        met.stderr
    );
    assert!(!met.stdout.contains("PASS"), "{}", met.stdout);
    let missed = with(&["lookup.p99 <= 1s", "scan.iops >= 1000000/s"]);
    assert_eq!(missed.code, Some(4), "{}", missed.stderr);
    assert!(
        missed.stderr.contains("FAIL scan.iops"),
        "{}",
        missed.stderr
    );
    for unknown in ["other.p99 <= 1s", "p99 <= 1s", "lookup.rabmark-r >= 1x"] {
        let refused = with(&[unknown]);
        assert_eq!(refused.code, Some(2), "{unknown}: {}", refused.stderr);
    }
}

/// As `getopt_long_only` has it, and as thousands of scripts write it.
#[test]
fn one_dash_is_as_good_as_two() {
    let scratch = Scratch::new();
    let shown = |words: &[&str]| {
        let words = [&["fio"], words, &["--showcmd", "--no-save"]].concat();
        let ended = finish(scratch.seekstone(&words));
        ended.check(&[], 0, "");
        ended.stdout
    };
    let two = shown(&[
        "--filename=null",
        "--direct=1",
        "--iodepth",
        "4",
        "--thread",
        "--rw=randrw",
        "--rwmixread=70",
        "--ioengine=libaio",
        "--bs=8k",
        "--size=1g",
        "--group_reporting",
        "--name=a",
    ]);
    let one = shown(&[
        "-filename=null",
        "-direct=1",
        "-iodepth",
        "4",
        "-thread",
        "-rw=randrw",
        "-rwmixread=70",
        "-ioengine=libaio",
        "-bs=8k",
        "-size=1g",
        "-group_reporting",
        "-name=a",
    ]);
    assert_eq!(one, two);
    for typo in ["-iodepht=4", "--iodepht=4"] {
        let words = ["fio", typo, "-name=a", "-size=1m"];
        scratch.check(&words, 2, "Did you mean iodepth?");
    }
}

/// As `getopt_long_only` completes them. An option of ours is never taken for the letters of one.
#[test]
fn options_of_fio_may_be_cut_short_where_that_is_clear() {
    let scratch = Scratch::new();
    let words = [
        "fio",
        "--na=a",
        "--group_report",
        "-runt",
        "5",
        "--readw=randread",
        "--ioeng=null",
        "--no-save",
        "--force",
        "--showcmd",
    ];
    let shown = "fio --name=a --group_reporting --runtime=5 --rw=randread --ioengine=null";
    scratch.check(&words, 0, shown);
    let words = ["fio", "--name=a", "--size=1m", "--iodep", "4"];
    let said = "--iodep begins several options: iodepth, iodepth_batch,";
    scratch.check(&words, 2, said);
    // What is nearer to an option of ours is answered as there.
    scratch.check(&["fio", "--name=a", "--no-saev"], 2, "--no-save");
}

#[test]
fn options_of_the_program_itself_have_an_answer() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("jobs.fio"), "[b]\n").expect("a job file");
    let run = |words: &[&str]| {
        let job = ["--name=a", "--filename=null", "--size=1m", "--rw=randread"];
        let words = [&["fio"], &job[..], words, &["--no-save", "--quiet"]].concat();
        finish(scratch.seekstone(&words))
    };
    let harmless = [
        "--readonly",
        "--alloc-size",
        "1024",
        "-max-jobs=9",
        "--eta-interval=500",
        "--terse-version",
        "3",
        "--warnings-fatal",
        "-output-format=json",
    ];
    let both = run(&["--output-format=json,normal"]).stdout;
    let at = |text: &str| both.find(text).unwrap_or(usize::MAX);
    assert!(at("READ: bw=") < at("\"total_ios\""), "{both}");
    let terse = run(&["--append-terse"]).stdout;
    assert!(
        terse.contains("READ: bw=") && terse.contains("3;fio-"),
        "{terse}"
    );
    let ended = run(&harmless);
    ended.check(&[], 0, "");
    assert!(ended.stdout.contains("\"total_ios\""), "{}", ended.stdout);
    for (words, why) in [
        (
            &["--client", "ip:10.0.0.1,8765", "--client=two", "jobs.fio"][..],
            "--client is refused: start no server, and type `mpirun --host 10.0.0.1,two seekstone \
             fio jobs.fio`",
        ),
        (
            &["--server"],
            "--server is refused: start no server, and type `mpirun --host HOST1,HOST2 seekstone",
        ),
        (&["--terse-version=6"], "fio has versions 2, 3, 4 and 5"),
        (
            &["--idle-prof=calibrate"],
            "invalid value 'calibrate' for '--idle-prof <WHICH>'",
        ),
        (
            &["--readonly", "--rw=randrw"],
            "[a] writes or trims, and --readonly allows neither",
        ),
    ] {
        run(words).check(words, 2, why);
    }
}

/// fio 3.33: 512 KiB of `a` in blocks of 4 KiB, as the file says, `c` before it, and nothing of the
/// command line for the second file.
#[test]
fn options_before_a_job_file_are_its_defaults() {
    let scratch = Scratch::new();
    let file = "[global]\nrw=randread\nbs=4k\nsize=1m\nfilename=null\n[a]\n[b]\nbs=8k\n";
    std::fs::write(scratch.path("one.fio"), file).expect("a job file");
    let file = "[z]\nrw=read\nsize=64k\nfilename=null\n";
    std::fs::write(scratch.path("two.fio"), file).expect("a job file");
    let requests = |words: &[&str]| {
        let always = ["--output-format=json", "--no-save", "--quiet"];
        let ended = finish(scratch.seekstone([&["fio"], words, &always].concat()));
        ended.check(&[], 0, "");
        let found: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
        let job = |it: &serde_json::Value| {
            let name = it["jobname"].as_str().unwrap_or_default().to_owned();
            (name, it["read"]["total_ios"].as_u64().unwrap_or(0))
        };
        let jobs = found["jobs"].as_array().expect("jobs").iter();
        jobs.map(job).collect::<Vec<_>>()
    };
    let named = |jobs: &[(&str, u64)]| -> Vec<(String, u64)> {
        let owned = jobs
            .iter()
            .map(|(name, count)| ((*name).to_owned(), *count));
        owned.collect()
    };
    let both = named(&[("a", 128), ("b", 64)]);
    let half = ["--bs=16k", "--io_size=512k"];
    assert_eq!(requests(&[&half[..], &["one.fio"]].concat()), both);
    assert_eq!(requests(&[&["one.fio"], &half[..]].concat()), both);
    let job = ["--name=c", "--filename=null", "--size=64k", "--rw=read"];
    let words = [&half[..], &["one.fio", "two.fio"], &job].concat();
    let all = named(&[("c", 32), ("a", 128), ("b", 64), ("z", 16)]);
    assert_eq!(requests(&words), all);
    let some = [&["--section", "b", "one.fio"][..], &half].concat();
    assert_eq!(requests(&some), named(&[("b", 64)]));
}

/// Skipped by name where fio is not installed.
#[test]
fn rows_are_named_as_fio_names_them() {
    if !support::is_installed("fio") {
        return support::skipped("rows_are_named_as_fio_names_them", "fio is missing");
    }
    let scratch = Scratch::new();
    let jobs = "[global]\nname=g\nioengine=null\nsize=64k\nnumjobs=2\n[a]\n[b]\nname=c\n\
                [d]\nname=e\nstonewall\ngroup_reporting\n";
    std::fs::write(scratch.path("jobs.fio"), jobs).expect("a job file");
    let names = |mut command: std::process::Command| {
        scratch.settle(&mut command);
        command.args(["jobs.fio", "--output-format=json"]);
        let found = finish(command).json();
        let jobs = found["jobs"].as_array().expect("jobs").iter();
        let name = |job: &serde_json::Value| job["jobname"].as_str().map(str::to_owned);
        jobs.map(name).collect::<Vec<_>>()
    };
    let ours = names(scratch.seekstone(["fio", "--no-save", "--quiet"]));
    assert_eq!(ours, names(std::process::Command::new("fio")));
    assert_eq!(ours.len(), 5, "{ours:?}");
}
