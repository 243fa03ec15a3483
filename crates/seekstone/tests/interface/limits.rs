//! What asks for more than there is ends with an error that says so, before anything is measured:
//! never with an abort, and never without an end.

use std::fs;
use std::process::Command;

use crate::support::{Ended, PROGRAM, Scratch, finish};

/// A trial of 64 workers on a directory.
const WORKERS: [&str; 10] = [
    "trial",
    "--clients",
    "64",
    "--depth",
    "64",
    "--workers",
    "64",
    "--size",
    "16MiB",
    "--no-save",
];

/// The same with the threads of a driver.
const BLOCKING: [&str; 7] = [
    "trial",
    "--clients",
    "64",
    "--driver",
    "threads",
    "--size=16MiB",
    "--no-save",
];

/// A trial under a limit that the shell sets; nothing is left of it.
fn limited(limit: &str, args: &[&str]) -> Ended {
    let scratch = Scratch::new();
    let target = scratch.target();
    let mut shell = Command::new("sh");
    let script = format!("{limit}; exec \"$0\" \"$@\" --duration 50ms --quiet target");
    shell.args(["-c", &script, PROGRAM]).args(args);
    scratch.settle(&mut shell);
    let ended = finish(shell);
    scratch.assert_clean(&target);
    ended
}

/// The stacks of 64 workers were asked for one by one under `ulimit -d 20000`, and the first
/// allocation that was refused was an abort.
#[test]
fn threads_whose_stacks_do_not_fit_are_refused() {
    for (limit, args, expected) in [
        ("ulimit -d 20000", &WORKERS[..], " of data is needed, "),
        ("ulimit -d 20000", &BLOCKING, "(ulimit -d 20000) leaves "),
        ("ulimit -v 100000", &WORKERS, " of address space is needed"),
        ("ulimit -v 100000", &WORKERS, "(ulimit -v 100000) leaves "),
    ] {
        limited(limit, args).check(&[limit], 1, expected);
    }
    // What fits is measured.
    let one = ["trial", "--size", "16MiB", "--no-save"];
    for limit in ["ulimit -d 40000", "ulimit -v 800000"] {
        limited(limit, &one).check(&[limit], 0, "random read");
    }
}

/// `files` ended with "memory allocation of 229376 bytes failed" and left its directory.
#[test]
fn a_limit_on_data_that_is_too_narrow_for_any_command_is_told() {
    for limit in ["ulimit -d 5000", "ulimit -d 8000", "ulimit -d 12000"] {
        let scratch = Scratch::new();
        let target = scratch.target();
        let mut shell = Command::new("sh");
        let script =
            format!("{limit}; exec \"$0\" files --passes 2 --tests 1,4 -q --no-save target");
        shell.args(["-c", &script, PROGRAM]);
        scratch.settle(&mut shell);
        let ended = finish(shell);
        scratch.assert_clean(&target);
        ended.check(&[limit], 1, " of data is needed, ");
    }
}

/// `only 0 more are allowed` was said where 32 were.
#[test]
fn the_limit_on_open_files_is_told_as_it_is() {
    let one = ["trial", "--size", "16MiB", "--no-save"];
    let ended = limited("ulimit -n 32", &one);
    ended.check(&["ulimit -n 32"], 1, ", and the limit is 32: ");
    let advice = "have the administrator raise the hard limit from 32 to ";
    ended.check(&["ulimit -n 32"], 1, advice);
}

/// Directories of `files` stay open while there are descriptors. The others are opened for each
/// call, which is slower, and told.
#[test]
fn more_directories_than_descriptors_are_told() {
    for (limit, expected) in [
        (
            "ulimit -n 100",
            " of 60 directories of each client stay open, and ",
        ),
        ("ulimit -n 32", ", and the limit is 32: "),
        ("ulimit -n 400", ""),
    ] {
        let scratch = Scratch::in_memory();
        let target = scratch.target();
        let mut shell = Command::new("sh");
        let script = format!(
            "{limit}; exec \"$0\" files --workload metadata --files 120 --depth 1 --fan-out 60 \
             --passes 2 --state as-is --memory none --reserve 0 --all --no-save target"
        );
        shell.args(["-c", &script, PROGRAM]);
        scratch.settle(&mut shell);
        let ended = finish(shell);
        scratch.assert_clean(&target);
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(said.contains(expected), "{limit}: {said}");
        assert_eq!(
            said.contains("stay open"),
            limit == "ulimit -n 100",
            "{said}"
        );
    }
}

/// `threads-fixed = 4294967295` on a model ended with "memory allocation of 171798691840 bytes
/// failed" and SIGABRT.
#[test]
fn a_workload_of_too_many_threads_is_refused_at_its_line() {
    let scratch = Scratch::new();
    let text = "name = \"x\"\ngroup = \"batch\"\nblock = \"4KiB\"\nshares = 1\n\
                threads-fixed = 4294967295\n[[threads]]\nio = \"4KiB\"\n";
    fs::write(scratch.path("many.toml"), text).expect("a workload");
    let args = ["rab", "sim:mm1", "--workload", "many.toml", "--no-save"];
    let expected = "many.toml:5: threads-fixed = 4294967295: threads-fixed is a whole number up";
    scratch.check(&args, 2, expected);
}

/// `Nios=4294967295` was one message without end, in a test without a budget.
#[test]
fn a_message_without_end_is_refused_at_its_line() {
    let scratch = Scratch::new();
    scratch.check(&["rpt", "--write-files"], 0, "wrote rpt.rpt");
    let parameters = fs::read_to_string(scratch.path("rpt.rpp")).expect("a parameter file");
    let endless = parameters.replace("Nios=100", "Nios=4294967295");
    fs::write(scratch.path("rpt.rpp"), endless).expect("a parameter file");
    let args = ["rpt", "-t", "rptq.rpt", "-f", "sim:mm1?mean=10ms"];
    let expected = "rpt.rpp:49: Nios -n is 4294967295, and must be 1000000 or less";
    scratch.check(&args, 2, expected);
}

/// `nrfiles=25000 openfiles=1` passed `--check`, and ended in the middle of laying its files out
/// with "Too many open files".
#[test]
fn the_files_of_a_job_are_counted_before_one_is_made() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let job = "[many]\nrw=read\nbs=4k\ndirectory=target\nnumber_ios=600\n";
    let fio = |limit: &str, files: &str, options: &str| {
        fs::write(scratch.path("n.fio"), format!("{job}{files}\n")).expect("a job");
        let mut shell = Command::new("sh");
        let script = format!("{limit}; exec \"$0\" fio {options} n.fio");
        shell.args(["-c", &script, PROGRAM]);
        scratch.settle(&mut shell);
        finish(shell)
    };
    let limit = "ulimit -S -n 128; ulimit -H -n 512";
    let needed = "50000 open files are needed on top of Seekstone's own ";
    let many = "filesize=4k\nnrfiles=25000";
    let checked = fio(limit, many, "--check");
    assert_eq!(checked.code, Some(2), "{}", checked.stderr);
    assert!(
        checked.stdout.contains("n.fio:1: [many]: 50000 open files"),
        "{}",
        checked.stdout
    );
    fio(limit, many, "--no-save").check(&["fio"], 1, needed);
    scratch.assert_clean(&target);
    // As many as counted are enough, with the soft limit raised: all of them, or those that
    // `openfiles` keeps open and those that requests hold. Sizes may differ from file to file.
    for files in [
        "filesize=4k\nnrfiles=100",
        "filesize=4k\nnrfiles=400\nopenfiles=1",
        "filesize=4k-16k\nnrfiles=240\nopenfiles=20\niodepth=4\nioengine=io_uring",
        "filesize=8k\nnrfiles=240\nopenfiles=20\niodepth=4\nioengine=libaio\nrw=randrw\n\
         verify=crc32c\npre_read=1",
    ] {
        let checked = fio(limit, files, "--check");
        checked.check(&["--check"], 0, "nothing refused");
        let measured = fio(limit, files, "--no-save --reserve 0");
        assert!(
            [Some(0), Some(3)].contains(&measured.code),
            "{files}: {}",
            measured.stderr
        );
        scratch.assert_clean(&target);
    }
}

/// Files that exist are opened one after the other, too, and hold what is written.
#[test]
fn a_job_on_more_files_than_may_be_open_uses_those_that_are_there() {
    let scratch = Scratch::new();
    let target = scratch.target();
    for number in 0..300 {
        fs::write(target.join(format!("f.{number}")), [7; 4096]).expect("a file");
    }
    let job = "[many]\nrw=write\nbs=4k\nfilesize=4k\ndirectory=target\nnrfiles=300\n\
               filename_format=f.$filenum\nopenfiles=2\n";
    fs::write(scratch.path("n.fio"), job).expect("a job");
    let mut shell = Command::new("sh");
    let script = "ulimit -n 400; exec \"$0\" fio --overwrite --no-save n.fio";
    shell.args(["-c", script, PROGRAM]);
    scratch.settle(&mut shell);
    let measured = finish(shell);
    assert!([Some(0), Some(3)].contains(&measured.code), "{measured:?}");
    for number in 0..300 {
        let content = fs::read(target.join(format!("f.{number}"))).expect("a file");
        assert!(content.len() == 4096 && content != [7; 4096], "f.{number}");
    }
}
