//! The data file of `rpt`: where there is no place for it, and where another program uses it.

use std::fs;

use crate::support::{Running, Scratch};
use rustix::process::Signal;

/// Bug: "cannot find the free space of /data".
#[test]
fn a_data_file_without_a_directory_is_told_so() {
    let scratch = Scratch::new();
    let args = [
        "transact",
        "-f",
        "nowhere/data",
        "-B",
        "4MiB",
        "-C",
        "1",
        "-b",
        "4096",
    ];
    let said = "there is no directory nowhere for the data file nowhere/data: make it, or name";
    scratch.check(&args, 2, said);
}

/// Bug: two tests on one file disturbed each other without a word.
#[test]
fn a_second_test_on_one_data_file_is_warned() {
    let scratch = Scratch::new();
    let text = "TestFile=t.rpt\nParmFile=rpt.rpp\nReptFile=t.rpr\nMode=1\nDnmin=2\nDnmax=2\n\n\
                ParmFile\nArchiveWorkload\n";
    scratch.check(&["rpt", "--write-files"], 0, "wrote rpt.rpt");
    fs::write(scratch.path("t.rpt"), text).expect("a test file");
    let first = [
        "rpt",
        "-t",
        "t.rpt",
        "-f",
        "data",
        "-B",
        "16MiB",
        "--reserve",
        "0",
    ];
    let mut first = Running::start(scratch.seekstone(first));
    first.wait_for("run 2 workload 0 ArchiveWorkload");
    let args = [
        "transact",
        "-f",
        "data",
        "-C",
        "1",
        "-b",
        "4096",
        "--messages",
        "1",
    ];
    scratch.check(&args, 0, "another rpt or transact is using it now");
    first.signal(Signal::INT);
    first.end().check(&["rpt"], 1, "stopped by SIGINT");
    let alone = scratch.check(&args, 0, "");
    assert!(!alone.stderr.contains("another rpt"), "{alone:?}");
}
