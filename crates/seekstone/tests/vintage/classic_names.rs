//! The classic programs by the documents' own names, and the log of `rpt`.

use std::fs;
use std::process::Command;

use crate::support::{Scratch, finish};

const DISK: &str = "sim:mm1?mean=10ms";

/// A test of one short workload.
fn write_test(scratch: &Scratch, extra: &str) {
    scratch.check(&["rpt", "--write-files"], 0, "wrote rpt.rpt");
    let text = format!(
        "TestFile=t.rpt\nParmFile=rpt.rpp\nReptFile=t.rpr\nDnmin=2\nDnmax=2\n{extra}\nParmFile\n\
         ArchiveWorkload\n"
    );
    fs::write(scratch.path("t.rpt"), text).expect("a test file");
}

fn read(scratch: &Scratch, name: &str) -> String {
    fs::read_to_string(scratch.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What the documents print as typed works as typed.
#[test]
fn the_programs_are_called_by_their_own_names() {
    let scratch = Scratch::new();
    let bin = scratch.path("bin");
    fs::create_dir(&bin).expect("a directory");
    let install = ["classic", "install", "bin"];
    scratch.check(
        &install,
        0,
        "rpt, transact, diskmbps, diskrand in bin are now links to",
    );
    scratch.check(&install, 0, "are now links to");
    let call = |name: &str, args: &[&str]| {
        let mut command = Command::new(bin.join(name));
        command.args(args);
        scratch.settle(&mut command);
        finish(command)
    };
    write_test(&scratch, "");
    let args = ["-t", "t.rpt", "-f", DISK, "--seed", "1"];
    call("rpt", &args).check(&args, 0, "Rabmarks");
    assert!(read(&scratch, "t.rpl").contains("\trpt -t t.rpt -f sim:mm1?mean=10ms --seed 1 \n"));
    let disk = "sim:delay?time=15.625ms&size=8MiB";
    let args = ["8", "2", "A", disk];
    call("diskmbps", &args).check(&args, 0, "4.00 Mbytes/second");
    let args = ["-f", DISK, "-C", "1", "-b", "4096", "--messages", "1"];
    call("transact", &args).check(&args, 0, "#00:");
    let args = ["Read", DISK, "4", "1", "L.txt", "10", "0"];
    call("diskrand", &args).check(&args, 0, "L.txt");
    // Nothing that is there is replaced.
    fs::remove_file(bin.join("rpt")).expect("a link");
    fs::write(bin.join("rpt"), "mine").expect("a file");
    scratch.check(&install, 2, "bin/rpt exists and is no link to");
    assert_eq!(read(&scratch, "bin/rpt"), "mine");
}

/// The manual: "The log file should be checked for any warnings and error messages after a run."
#[test]
fn the_log_holds_warnings_of_the_files_and_the_error_that_ended_it() {
    let scratch = Scratch::new();
    write_test(&scratch, "NoSuchThing=1");
    let failing = format!("{DISK}&error=EIO@3");
    let args = ["rpt", "-t", "t.rpt", "-f", &failing, "--seed", "1"];
    let ended = finish(scratch.seekstone(args));
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let log = read(&scratch, "t.rpl");
    assert!(log.contains("warning: t.rpt:6: "), "{log}");
    let error = ended
        .stderr
        .lines()
        .find(|line| line.starts_with("error: "));
    let error = error.expect("an error");
    assert!(log.trim_end().ends_with(error), "{error}: {log}");
}
