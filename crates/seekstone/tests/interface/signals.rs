//! The first signal ends the program, whatever it waits for.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Running, Scratch};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use rustix::process::{Pid, Signal, kill_process};

/// A pipe that is full and that nobody reads.
fn stuffed(path: &Path) -> File {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("a pipe");
    let mut pipe = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)
        .expect("a pipe");
    loop {
        match pipe.write(&[b'x'; 4096]) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => return pipe,
            written => assert!(written.expect("written") > 0),
        }
    }
}

/// While it waited for the reader of a pipe, the first SIGTERM was caught and not acted on.
#[test]
fn a_signal_ends_a_program_that_nobody_reads() {
    let scratch = Scratch::new();
    let _pipe = stuffed(&scratch.path("pipe"));
    let args = [
        "trial",
        "sim:mm1?mean=100us",
        "--duration",
        "50ms",
        "--json",
        "pipe",
    ];
    let mut command = scratch.seekstone(args);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).spawn().expect("a child");
    let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    // The run is kept before it is written to the pipe.
    let saved = stdout.lines().map_while(Result::ok);
    assert!({ saved }.any(|line| line.starts_with("Saved as run 1")));
    kill_process(Pid::from_child(&child), Signal::TERM).expect("a signal");
    assert_eq!(child.wait().expect("an end").code(), Some(128 + 15));
    scratch.check(&["runs", "show", "1"], 0, "mm1");
}

/// The signal had come before, and what was measured was to be delivered.
#[test]
fn a_signal_that_stops_a_measurement_ends_what_waits_afterwards() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let _pipe = stuffed(&scratch.path("pipe"));
    let args = [
        "trial",
        "--size",
        "8MiB",
        "--budget",
        "10s",
        "--precision",
        "0.1%",
        "--json",
        "pipe",
        "target",
    ];
    let mut running = Running::start(scratch.seekstone(args));
    running.wait_for("random read 4 KiB");
    running.signal(Signal::INT);
    let ended = running.end();
    assert_eq!(ended.code, Some(128 + 2), "{ended:?}");
    scratch.assert_clean(&target);
    scratch.check(&["runs", "show", "1"], 0, "PARTIAL stopped by SIGINT");
}

/// Standard output is such a pipe as well.
#[test]
fn a_signal_ends_a_program_whose_screen_is_full() {
    let scratch = Scratch::new();
    let pipe = stuffed(&scratch.path("pipe"));
    let mut blocking = OpenOptions::new();
    let blocking = blocking.read(true).write(true).open(scratch.path("pipe"));
    let args = [
        "trial",
        "--size",
        "8MiB",
        "--budget",
        "10s",
        "--precision",
        "0.1%",
        "target",
    ];
    scratch.target();
    let mut command = scratch.seekstone(args);
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    command.stdout(blocking.expect("a pipe"));
    let mut child = command.spawn().expect("a child");
    let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut said = stderr.lines().map_while(Result::ok);
    assert!(said.any(|line| line.contains("random read 4 KiB")));
    kill_process(Pid::from_child(&child), Signal::TERM).expect("a signal");
    assert_eq!(child.wait().expect("an end").code(), Some(128 + 15));
    drop(pipe);
}

/// A pipe in place of a file that is read kept the program waiting for somebody who writes.
#[test]
fn pipes_are_not_read_as_files() {
    let scratch = Scratch::new();
    let mode = Mode::from_raw_mode(0o600);
    mknodat(CWD, scratch.path("pipe"), FileType::Fifo, mode, 0).expect("a pipe");
    for (args, code) in [
        (&["study", "./pipe", "--no-save"][..], 2),
        (&["study", "check", "./pipe"], 2),
        (&["rab", "--workload", "./pipe", "sim:st15150n"], 2),
        (&["transactions", "--profiles", "pipe", "sim:st15150n"], 2),
        (&["trial", "sim:./pipe"], 2),
        (&["devices", "show", "./pipe"], 2),
        (&["runs", "import", "pipe"], 2),
        (&["runs", "merge", "./pipe"], 2),
        (&["rpt", "-t", "pipe"], 2),
        (&["time", "--input", "pipe", "--no-save", "true"], 1),
        (&["trial", "pipe", "--no-save"], 1),
        (&["trial", "sim:mm1?mean=100us", "--archive", "pipe"], 1),
    ] {
        scratch.check(args, code, "pipe");
    }
}

/// Before signals are caught, and where none are, they end the program as any other.
#[test]
fn a_signal_ends_a_command_that_measures_nothing() {
    let scratch = Scratch::new();
    let _pipe = stuffed(&scratch.path("pipe"));
    let mut command: Command = scratch.seekstone(["inspect", ".", "--json", "pipe"]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.spawn().expect("a child");
    kill_process(Pid::from_child(&child), Signal::TERM).expect("a signal");
    assert!(!child.wait().expect("an end").success());
}
