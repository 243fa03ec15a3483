//! `trial --verify`: an honest target has nothing wrong; one that is changed meanwhile is found
//! out.

use crate::support;
use crate::support::Scratch;

const TRIAL: [&str; 10] = [
    "trial",
    "--verify",
    "--no-save",
    "--writes",
    "50%",
    "--clients",
    "4",
    "--duration",
    "300ms",
    "--quiet",
];

#[test]
fn an_honest_directory_and_an_honest_file_pass() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let directory = target.to_str().expect("text");
    let args = [&TRIAL[..], &["--size", "16MiB", directory]].concat();
    let said = "  Verified 16 MiB: all that was written was read back intact. ";
    scratch.check(&args, 0, said);
    let listed = scratch.check(&[&args[..], &["--all"]].concat(), 0, "Warnings");
    assert_eq!(listed.stdout.matches("Verified 16 MiB").count(), 2);
    let file = scratch.path("data");
    std::fs::write(&file, vec![3; 8 << 20]).expect("a file");
    let name = file.to_str().expect("text");
    let args = [&TRIAL[..], &["--overwrite", name]].concat();
    scratch.check(&args, 0, "random 50 % write 4 KiB");
    let written = std::fs::read(&file).expect("the file");
    assert!(
        written
            .chunks(512)
            .any(|sector| sector.starts_with(b"SkVf"))
    );
}

/// A file whose sectors are zeroed while the trial goes on, again and again.
#[test]
fn a_file_that_loses_writes_is_found_out() {
    use std::os::unix::fs::FileExt as _;
    let scratch = Scratch::new();
    let file = scratch.path("data");
    std::fs::write(&file, vec![3; 1 << 20]).expect("a file");
    let name = file.to_str().expect("text");
    let args = [&TRIAL[..], &["--buffered", "--overwrite", name]].concat();
    let mut child = support::Running::start(scratch.seekstone(args));
    let open = std::fs::File::options()
        .write(true)
        .open(&file)
        .expect("the file");
    while child.is_running() {
        for block in 0..256 {
            open.write_all_at(&[0; 4096], block * 4096)
                .expect("a write");
        }
    }
    let ended = child.end();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("lost"), "{ended:?}");
}

#[test]
fn what_holds_no_data_is_refused() {
    let scratch = Scratch::new();
    let refused = |more: &[&str], said| scratch.check(&[&TRIAL[..], more].concat(), 2, said);
    refused(&["sim:nvme"], "--verify: sim:nvme holds no data");
    refused(&["null:"], "--verify: null: holds no data");
    refused(&["--block", "1000"], "whole 512-byte sectors");
}

/// Bug: nothing was checked, the exit code was 0, and no word said so.
#[test]
fn a_file_that_is_only_read_has_nothing_to_verify() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("data"), vec![3; 8 << 20]).expect("a file");
    let args = ["trial", "data", "--verify", "--no-save"];
    scratch.check(&args, 2, "--verify checks what the trial wrote");
    // What a directory's trial reads it wrote itself, and reads back.
    let target = scratch.target();
    let directory = target.to_str().expect("text");
    let own = ["trial", directory, "--size=8MiB", "--duration=300ms"];
    let more = ["--verify", "--no-save", "-q", "--all"];
    let ended = scratch.check(&[own, more].concat(), 0, "Warnings");
    assert!(ended.stdout.contains("Verified 8 MiB: "), "{ended:?}");
}

/// A trial is killed while it writes: its state knows what must be there, and finds what is not.
#[test]
fn a_state_outlives_a_kill() {
    let scratch = Scratch::new();
    let file = scratch.path("data");
    std::fs::write(&file, vec![3; 8 << 20]).expect("a file");
    let (name, state) = (file.to_str().expect("text"), scratch.path("state"));
    let state = state.to_str().expect("text");
    let args = [
        "trial",
        name,
        "--verify",
        "--verify-state",
        state,
        "--overwrite",
        "--no-save",
    ];
    let endless = ["--writes", "100%", "--clients", "4", "--duration", "1h"];
    let mut running = support::Running::start(scratch.seekstone([&args[..], &endless].concat()));
    while std::fs::read(&file).expect("the file").starts_with(&[3]) && running.is_running() {}
    scratch.check(&["verify", state], 1, "is still in progress");
    running.signal(rustix::process::Signal::KILL);
    running.end();
    scratch.check(
        &["verify", "-q", state],
        0,
        "and every acknowledged write is there",
    );
    scratch.check(
        &["verify", "-q", state, "--after", "power-loss"],
        0,
        "and every flushed write is there",
    );
    scratch.check(
        &[&args[..], &endless].concat(),
        2,
        "exists: --verify-state needs a new file",
    );

    check_what_is_found(&scratch, &file, state);
}

/// A block that is lost, a target that was cut, files that are no state.
#[track_caller]
fn check_what_is_found(scratch: &Scratch, file: &std::path::Path, state: &str) {
    use std::os::unix::fs::FileExt as _;
    let name = file.to_str().expect("text");
    let open = std::fs::File::options().write(true).open(file);
    let open = open.expect("the file");
    open.write_all_at(&[0; 4096], 0).expect("a write");
    let verify = |more: &[&str]| {
        let args = [&["verify", "-q", state], more].concat();
        let ended = support::finish(scratch.seekstone(args));
        assert_eq!(ended.code, Some(1), "{ended:?}");
        ended
    };
    let found = verify(&[]).stdout;
    // A block that was being written when the kill came is checked sector by sector.
    let count = if found.contains("one of writes") {
        8
    } else {
        1
    };
    let expected = format!("WRONG DATA: {count} lost found in");
    assert!(found.starts_with(&expected), "{found}");
    let expected = format!("data: lost at offset 0 ({} bytes)", 4096 / count);
    assert!(found.contains(&expected), "{found}");
    let json = verify(&["--json", "-"]).json();
    assert_eq!(json["classes"]["lost"], count, "{json}");
    open.set_len(4096).expect("a shorter file");
    scratch.check(
        &["verify", "-q", state],
        1,
        "It is another file or device, or was truncated",
    );
    scratch.check(
        &["verify", "-q", name],
        2,
        "it is no state of --verify-state",
    );
    scratch.check(
        &["verify", "-q", state, "--target", "a", "--target", "b"],
        2,
        "--target is given 2 times, and the state has 1 target: ",
    );
}
