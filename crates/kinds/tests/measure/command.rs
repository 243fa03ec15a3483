//! `command`: real, user and system time; status, limits, and what is left of a command.

use std::fs;

use host::process::DROP_CACHES;
use kinds::measure::MeasureError;

use crate::support::{
    assert_empty, measured, model, names, page_cache_emptied, place, place_on_disk, reading,
    refused, try_measured,
};

/// The kernel shows only root what an ended process has read.
const UNSEEN: &str = "what a command has read is not shown to this user";

#[test]
#[expect(clippy::print_stderr, reason = "what is not shown is named")]
fn a_command_is_timed_with_all_that_it_waited_for() {
    let (_directory, place) = place();
    let busy = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
    let readings = measured(
        "command",
        &format!("command = \"sh -c '{busy}'; true\""),
        &place,
    );
    let of_time = ["real", "user", "system"];
    let of_reads = ["reads", "bytes read", "from storage", "from the cache"];
    if names(&readings) == of_time {
        eprintln!("skipped: a_command_is_timed_with_all_that_it_waited_for: {UNSEEN}");
    } else {
        assert_eq!(names(&readings), [&of_time[..], &of_reads].concat());
    }
    let used = reading(&readings, "user") + reading(&readings, "system");
    assert!(used > 0.0, "{readings:?}");
    assert!(reading(&readings, "real") > 0.0);
}

/// The kernel's own counts: a job reads 8 MiB, which only the second time are all in the cache.
#[test]
#[expect(clippy::print_stderr, reason = "what is not shown is named")]
fn what_the_cache_answered_is_told() {
    let _emptied = page_cache_emptied();
    let (directory, place) = place_on_disk();
    let (described, _) = host::inspect::inspect(directory.path()).expect("a directory");
    if described.memory_backed {
        eprintln!("skipped: what_the_cache_answered_is_told: the files of tests are in memory");
        return;
    }
    let data = directory.path().join("data");
    fs::write(&data, vec![7; 8 << 20]).expect("a file");
    fs::File::open(&data)
        .and_then(|it| it.sync_all())
        .expect("a file");
    let of = |settings: &str| {
        let text = format!("command = \"cat data > /dev/null\"\n{settings}");
        measured("command", &text, &place)
    };
    let warm = of("warm = true");
    if !names(&warm).contains(&"reads") {
        eprintln!("skipped: what_the_cache_answered_is_told: {UNSEEN}");
        return;
    }
    assert!(reading(&warm, "reads") >= 8.0, "{warm:?}");
    let bytes = reading(&warm, "bytes read") - 8.0 * 1_048_576.0;
    assert!((0.0..100_000.0).contains(&bytes), "{warm:?}");
    assert_eq!(reading(&warm, "from storage"), 0.0);
    assert_eq!(reading(&warm, "from the cache"), 1.0);
    let caches = fs::OpenOptions::new().write(true).open(DROP_CACHES);
    if let Err(error) = caches {
        eprintln!("skipped: what_the_cache_answered_is_told: {DROP_CACHES}: {error}");
        return;
    }
    let cold = of("cold = true");
    assert!(
        reading(&cold, "from storage") >= 8.0 * 1_048_576.0,
        "{cold:?}"
    );
    assert!(reading(&cold, "from the cache") < 0.1, "{cold:?}");
}

#[test]
fn a_warm_command_runs_once_before() {
    let (directory, place) = place();
    let log = directory.path().join("log");
    let count = || fs::read_to_string(&log).unwrap_or_default().lines().count();
    measured("command", "command = \"echo x >>log\"", &place);
    assert_eq!(count(), 1);
    measured("command", "command = \"echo x >>log\"\nwarm = true", &place);
    assert_eq!(count(), 3);
}

#[test]
fn a_list_runs_without_a_shell() {
    let (directory, place) = place();
    measured("command", "command = [\"touch\", \"a b; c\"]", &place);
    assert!(directory.path().join("a b; c").exists());
}

/// Bug: `of=$SEEKSTONE_SCRATCH/x` in a list passed the check, and dd was given it as it is.
#[test]
fn a_variable_in_a_list_is_refused_unless_the_list_names_a_shell() {
    let told = refused("command", "command = [\"dd\", \"of=$SEEKSTONE_SCRATCH/x\"]");
    assert!(
        told.contains("runs without a shell. Write {scratch}"),
        "{told}"
    );
    let (_directory, place) = place();
    let through = "command = [\"sh\", \"-c\", \"echo $SEEKSTONE_SCRATCH\"]";
    measured("command", through, &place);
}

#[test]
fn a_failure_brings_what_the_command_said() {
    let (directory, place) = place();
    let check = |settings: &str, expected: &str| {
        let error = try_measured("command", settings, &place).expect_err("a failure");
        assert_eq!(error.to_string(), expected);
    };
    check(
        "command = \"echo no such luck >&2; exit 3\"",
        "`echo no such luck >&2; exit 3` failed: exit status: 3. It said: no such luck",
    );
    check(
        "command = [\"false\"]",
        "`false` failed: exit status: 1, and it printed nothing on standard error",
    );
    check(
        "command = [\"/no/such/program\"]",
        "cannot run `/no/such/program`: No such file or directory (os error 2). Is it installed, \
         and in a directory of PATH?",
    );
    let long = "command = \"seq 1 100000 >&2; exit 1\"";
    let error = try_measured("command", long, &place)
        .expect_err("a failure")
        .to_string();
    assert!(
        error.ends_with("99999\n100000") && error.len() < 3000,
        "{error}"
    );
    assert_empty(&directory);
}

#[test]
fn what_takes_too_long_is_ended_with_all_that_it_started() {
    let (directory, place) = place();
    let settings = "command = \"sleep 1000 & echo $! >pid; wait\"\ntime-limit = \"300ms\"";
    let error = try_measured("command", settings, &place).expect_err("it takes too long");
    let expected = "took longer than 300 ms";
    assert!(error.to_string().contains(expected), "{error}");
    let pid = fs::read_to_string(directory.path().join("pid")).expect("its number");
    // Ended, though perhaps its new parent has not waited for it yet.
    let stat = format!("/proc/{}/stat", pid.trim());
    let is_alive = || fs::read_to_string(&stat).is_ok_and(|text| !text.contains(") Z "));
    let begun = std::time::Instant::now();
    while is_alive() {
        assert!(begun.elapsed().as_secs() < 60, "it is still there");
        std::thread::yield_now();
    }
}

#[test]
fn a_process_that_stays_behind_is_not_waited_for() {
    let (_directory, place) = place();
    // It keeps the standard error open, and is ended by its own number afterwards.
    let script = "command = \"sleep 1000 & echo $! >pid\"\ntime-limit = \"60s\"";
    let readings = measured("command", script, &place);
    assert!(reading(&readings, "real") < 60.0);
    measured("command", "command = \"kill $(cat pid)\"", &place);
}

#[test]
fn a_model_runs_no_commands() {
    let error = try_measured("command", "command = \"true\"", &model("sim:md1"));
    let error = error.expect_err("a model");
    assert!(matches!(error, MeasureError::Usage(_)));
    assert_eq!(
        error.to_string(),
        "sim:md1: command runs a program, and none runs on a model. Name a directory"
    );
}
