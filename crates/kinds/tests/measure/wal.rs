//! A write-ahead log whose commits are known.

use crate::support::{measured, model, place, reading, refused, try_measured};

/// A device that takes exactly 1 ms for each write, one at a time.
const MODEL: &str = "sim:delay?time=1ms";

#[track_caller]
fn check(settings: &str, name: &str, expected: f64) {
    let readings = measured("wal", settings, &model(MODEL));
    let found = reading(&readings, name);
    let error = (found / expected - 1.0).abs();
    assert!(
        error < 0.005,
        "{settings}: {name} is {found}, not {expected}"
    );
}

#[test]
fn a_session_alone_commits_once_for_each_append() {
    check("", "commits", 1000.0);
    check("", "latency", 0.001);
    check("", "latency-p99", 0.001);
    check("", "records per append", 1.0);
}

#[test]
fn a_group_that_holds_all_sessions_commits_them_together() {
    let settings = "writers = 8\ngroup = 8";
    check(settings, "commits", 8000.0);
    check(settings, "latency", 0.001);
    check(settings, "records per append", 8.0);
}

#[test]
fn sessions_beyond_the_group_wait_for_the_append_before() {
    let settings = "writers = 8\ngroup = 4";
    check(settings, "commits", 4000.0);
    check(settings, "latency", 0.002);
    check(settings, "records per append", 4.0);
}

#[test]
fn sessions_that_think_give_their_commits_by_littles_law() {
    let settings = "writers = 5\ngroup = 1000\nthink = \"20ms\"\ntime = \"100s\"";
    let readings = measured("wal", settings, &model(MODEL));
    let (rate, latency) = (reading(&readings, "commits"), reading(&readings, "latency"));
    // N = X (R + Z), within what 20,000 think times leave open.
    let sessions = rate * (latency + 0.020);
    assert!((sessions / 5.0 - 1.0).abs() < 0.03, "{sessions} sessions");
    assert!(latency > 0.001 && latency < 0.002, "{latency} s");
}

#[test]
fn a_disk_turns_once_for_each_commit() {
    // By the definition of the DEC RZ26: what follows the block just written has passed the head
    // when it is asked for. So each append takes a turn, the turn of its own 8 sectors, and its
    // part of the skew between tracks (57 sectors each) and cylinders (14 tracks each).
    let (turn, slots, sectors, tracks) = (60.0 / 5360.0, 58.0, 57.0, 14.0);
    let skew = (7.0 * (tracks - 1.0) + 25.0) / tracks / slots * turn;
    let each = turn * (1.0 + 8.0 / slots) + skew * 8.0 / sectors;
    let readings = measured("wal", "time = \"60s\"", &model("sim:rz26"));
    let rate = reading(&readings, "commits");
    let within = readings[0].within.expect("an interval of the trial");
    assert!(within.low <= rate && rate <= within.high, "{within:?}");
    let error = (rate * each - 1.0).abs();
    assert!(
        error < 0.005,
        "{rate} commits per second, not {}",
        1.0 / each
    );
}

#[test]
#[expect(clippy::print_stderr, reason = "what is not shown is named")]
fn every_way_of_syncing_works_on_files() {
    let (_directory, place) = place();
    for sync in ["fdatasync", "fsync", "dsync", "linked"] {
        let settings =
            format!("sync = {sync:?}\nsize = \"4MiB\"\ntime = \"1s\"\nwriters = 2\nrecord = 100");
        let found = try_measured("wal", &settings, &place);
        let told = format!("{found:?}");
        if sync == "linked" && told.contains("io_uring_setup") {
            eprintln!("skipped: every_way_of_syncing_works_on_files: io_uring is refused here");
            return;
        }
        assert!(reading(&found.expect(sync), "commits") > 0.0, "{sync}");
    }
}

#[test]
fn a_group_larger_than_the_log_is_refused() {
    let told = refused("wal", "record = \"1MiB\"\nwriters = 100\nsize = \"8MiB\"");
    assert!(
        told.starts_with("group: group = 64: an append of 64 MiB"),
        "{told}"
    );
    let told = refused("wal", "sync = \"maybe\"");
    assert!(told.starts_with("sync: "), "{told}");
}
