//! Each remark is made where it helps, and nowhere else.

use crate::support::Around;
use fio::{MachineFacts, lints, read_job_file, resolve};

const GIB: u64 = 1 << 30;

/// The remarks on a job file, on a machine of 8 GiB.
fn remarks(text: &str) -> Vec<String> {
    let file = read_job_file("j.fio", text, &mut Around::default());
    let found = resolve(&file, &[]);
    assert!(!found.jobs.is_empty(), "{text}: {found:?}");
    let facts = MachineFacts {
        memory: Some(8 * GIB),
    };
    let told = lints(&found.jobs, &facts).into_iter();
    told.map(|it| it.text).collect()
}

/// What the options of one job are told; nothing else may be.
#[track_caller]
fn check(options: &str, expected: &[&str]) {
    let options = options.replace(' ', "\n");
    let told = remarks(&format!("[a]\n{options}\n"));
    assert_eq!(told.len(), expected.len(), "{options}: {told:?}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.contains(expected), "{options}: {told}");
    }
}

const STEADY: &str = "time_based runtime=60 ramp_time=5";

#[test]
fn a_sound_job_is_told_nothing() {
    for rw in ["read", "randread", "write", "randwrite", "randrw"] {
        check(
            &format!("filename=f rw={rw} bs=4k size=1g direct=1 {STEADY}"),
            &[],
        );
    }
}

#[test]
fn the_page_cache_is_named_where_it_takes_part() {
    let read = format!("rw=randread bs=4k {STEADY}");
    check(
        &format!("filename=f size=1g {read}"),
        &["they measure the page cache"],
    );
    check(
        &format!("filename=f size=64g {read}"),
        &["the page cache takes part"],
    );
    check(&format!("filename=sim:mm1 size=1g {read}"), &[]);
    check(&format!("ioengine=null size=1g {read}"), &[]);
}

#[test]
fn writes_that_are_never_synced_measure_memory() {
    let write = format!("rw=write bs=1m size=1g {STEADY}");
    check(&format!("filename=f {write}"), &["they measure memory"]);
    check(&format!("filename=f end_fsync=1 {write}"), &[]);
    check(&format!("filename=f fsync=8 {write}"), &[]);
    check(&format!("filename=sim:mm1 {write}"), &[]);
}

#[test]
fn a_runtime_that_only_cuts_is_told() {
    check(
        "filename=f rw=read bs=4k size=1g direct=1 runtime=60",
        &["runtime without time_based"],
    );
}

#[test]
fn a_device_that_is_written_is_named() {
    for rw in ["randwrite", "randtrim"] {
        check(
            &format!("filename=/dev/sdx rw={rw} bs=4k size=1g direct=1 {STEADY}"),
            &["writes to /dev/sdx: everything on it is lost"],
        );
    }
}

#[test]
fn times_that_say_little_are_told() {
    let job = "filename=f rw=read bs=4k size=1g direct=1 time_based";
    check(
        &format!("{job} runtime=20 ramp_time=5"),
        &["too short to see"],
    );
    check(&format!("{job} runtime=60"), &["no ramp_time"]);
}

#[test]
fn a_depth_in_vain_and_a_rate_are_told() {
    let job = format!("filename=f rw=randread bs=4k size=1g direct=1 {STEADY}");
    check(
        &format!("{job} iodepth=8"),
        &["it has one request at a time"],
    );
    check(&format!("{job} iodepth=8 ioengine=libaio"), &[]);
    check(
        &format!("{job} rate_iops=100"),
        &["lat counts from when a request was sent"],
    );
    let buffered = format!("rw=randread bs=4k size=1g ioengine=libaio {STEADY}");
    check(
        &format!("filename=f {buffered}"),
        &["they measure the page cache", "submission blocks"],
    );
    check(&format!("filename=sim:mm1 {buffered}"), &[]);
}

#[test]
fn two_sizes_with_a_hyphen_are_no_range() {
    let job = format!("filename=f rw=randread size=1g direct=1 {STEADY}");
    check(
        &format!("{job} bs=4k-16k"),
        &["reads have 4k and writes and trims 16k"],
    );
    check(&format!("{job} bsrange=4k-16k"), &[]);
}

#[test]
fn files_that_fio_takes_otherwise_than_one_may_think_are_named() {
    let told = remarks("[global]\nfilename=/dev/a\n[a]\nfilename=/dev/b\ndirect=1\n");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("uses all of them, /dev/a, /dev/b"),
        "{told:?}"
    );
    let told = remarks("[a]\ndirectory=/data\nfilename=/dev/b\ndirect=1\n");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("the file is /data//dev/b"), "{told:?}");
}

#[test]
fn amounts_that_surprise_are_named() {
    let rest = "filename=f size=1g direct=1 rw=randrw";
    check(
        &format!("{rest} bs=4k,16k"),
        &["as in fio the job ends early"],
    );
    check(&format!("{rest} bs=4k,16k {STEADY}"), &[]);
    check(&format!("{rest} bs=4k,16k norandommap"), &[]);
    check(
        &format!("{rest} bssplit=4k/50:10k/50"),
        &["has 10240 bytes"],
    );
    check(&format!("{rest} bssplit=4k/50:16k/50:6k/0"), &[]);
    check(&format!("{rest} create_only=1"), &["no I/O is done"]);
}
