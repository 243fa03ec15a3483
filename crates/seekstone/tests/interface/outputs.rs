//! What an option such as `--json` names: a file of the user's is not replaced, and where the text
//! goes is open before anything is measured.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use crate::support::{self, Ended, Scratch, finish, skipped};
use rustix::fs::{CWD, FileType, Mode, mknodat};

/// A measurement in virtual time, which is over at once.
const SIM: [&str; 7] = [
    "trial",
    "sim:mm1?mean=100us",
    "--duration",
    "50ms",
    "--quiet",
    "--seed",
    "1",
];
const REFUSED: &str = "exists, and is not an unchanged file written by";

fn sim<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SIM[..], more].concat()
}

#[track_caller]
fn check_json(path: &Path) {
    let text = fs::read_to_string(path).expect("a file");
    serde_json::from_str::<serde_json::Value>(&text).expect("one document");
}

/// Files that a test did not put there.
fn names(scratch: &Scratch) -> Vec<String> {
    let entries = fs::read_dir(scratch.path("")).expect("a directory");
    let mut names: Vec<String> = entries
        .map(|it| it.expect("an entry").file_name().to_string_lossy().into())
        .collect();
    names.sort();
    names
}

/// Run it in a shell, with the program as `$0`.
fn shell(scratch: &Scratch, script: &str) -> Ended {
    let mut shell = Command::new("bash");
    shell.args(["-c", script, support::PROGRAM]);
    scratch.settle(&mut shell);
    finish(shell)
}

/// `echo precious > p; seekstone trial ... --json p`: it was gone.
#[test]
fn a_file_of_the_user_is_replaced_by_force_only() {
    let scratch = Scratch::new();
    let own = scratch.path("own");
    scratch.check(&SIM, 0, "Saved as run 1");
    let study = "title = \"a study\"\ntarget = \".\"\n\n[measurement]\nkind = \"command\"\n\
                 command = \"true\"\n";
    fs::write(scratch.path("study.toml"), study).expect("a study");
    let tape = ["positioning", "--rounds", "2", "--files", "3", "--quiet"];
    for args in [
        sim(&["--no-save", "--json", "own"]),
        vec!["inspect", ".", "--json", "own"],
        [&tape[..], &["--json", "own"]].concat(),
        [&tape[..], &["--svg", "own"]].concat(),
        vec!["runs", "export", "1", "-o", "own"],
        vec!["runs", "export", "1", "--form", "csv", "--output", "./own"],
        vec!["time", "--runs", "2", "--json", "own", "true"],
        vec!["devices", "validate", "--json", "own", "st15150n"],
        vec!["study", "study.toml", "--markdown", "own"],
    ] {
        fs::write(&own, "precious").expect("a file");
        let ended = scratch.check(&args, 2, REFUSED);
        assert!(ended.error().ends_with("or replace it with --force"));
        assert_eq!(ended.stdout, "", "nothing was measured");
        assert_eq!(fs::read_to_string(&own).expect("there"), "precious");
    }
    let forced = sim(&["--no-save", "--json", "own", "--force"]);
    scratch.check(&forced, 0, "");
    check_json(&own);
    fs::write(&own, "precious").expect("a file");
    let forced = ["runs", "export", "1", "-o", "own", "--force"];
    scratch.check(&forced, 0, "");
    check_json(&own);
}

#[test]
fn what_we_wrote_is_replaced_until_somebody_changes_it() {
    let scratch = Scratch::new();
    let args = sim(&["--no-save", "--json", "own"]);
    scratch.check(&args, 0, "");
    if !has_attributes(&scratch.path("own")) {
        return skipped(
            "what_we_wrote_is_replaced_until_somebody_changes_it",
            "this file system keeps no extended attributes",
        );
    }
    scratch.check(&args, 0, "");
    let mut text = fs::read(scratch.path("own")).expect("there");
    text.push(b'\n');
    fs::write(scratch.path("own"), &text).expect("changed");
    scratch.check(&args, 2, REFUSED);
    assert_eq!(fs::read(scratch.path("own")).expect("there"), text);
    // A copy of ours that has lost the mark is the user's.
    text.pop();
    fs::remove_file(scratch.path("own")).expect("removed");
    fs::write(scratch.path("own"), &text).expect("a copy");
    scratch.check(&args, 2, REFUSED);
}

fn has_attributes(path: &Path) -> bool {
    let mut value = [0; 64];
    rustix::fs::getxattr(path, "user.seekstone.output", &mut value).is_ok()
}

/// What `mktemp` makes holds nothing that could be lost.
#[test]
fn an_empty_file_is_filled_and_keeps_its_permissions() {
    let scratch = Scratch::new();
    let own = scratch.path("own");
    fs::write(&own, "").expect("a file");
    fs::set_permissions(&own, fs::Permissions::from_mode(0o640)).expect("permissions");
    let args = ["inspect", ".", "--json", "own"];
    scratch.check(&args, 0, "");
    check_json(&own);
    assert_eq!(fs::metadata(&own).expect("there").mode() & 0o7777, 0o640);
    assert_eq!(names(&scratch), ["own"]);
}

/// The length was set to zero first, in the file that all of its names stand for.
#[test]
fn a_second_name_keeps_what_it_had_and_a_link_is_followed() {
    let scratch = Scratch::new();
    fs::write(scratch.path("own"), "precious").expect("a file");
    fs::hard_link(scratch.path("own"), scratch.path("second")).expect("a second name");
    symlink("own", scratch.path("link")).expect("a link");
    let args = ["inspect", ".", "--json", "link", "--force"];
    scratch.check(&args, 0, "");
    let second = fs::read_to_string(scratch.path("second"));
    assert_eq!(second.expect("there"), "precious");
    assert!(scratch.path("link").is_symlink());
    check_json(&scratch.path("own"));
    assert_eq!(names(&scratch), ["link", "own", "second"]);
}

/// Between the look at the name and the writing there is a whole measurement.
#[test]
fn a_file_that_comes_while_it_is_measured_is_kept_and_the_result_too() {
    let scratch = Scratch::new();
    let own = scratch.path("own");
    let timed = |command| {
        let args = ["time", "--runs", "2", "--no-save", "--json", "own", command];
        let ended = scratch.check(&args, 1, "it was created or changed in the meantime");
        assert!(!ended.stdout.is_empty(), "it is printed all the same");
    };
    timed("sh -c 'echo precious > own'");
    assert_eq!(fs::read_to_string(&own).expect("there"), "precious\n");
    check_json(&scratch.path("own.1"));
    // An empty one that is filled meanwhile, and one that another takes the place of.
    fs::write(&own, "").expect("a file");
    timed("sh -c 'echo precious > own'");
    check_json(&scratch.path("own.2"));
    fs::write(&own, "").expect("a file");
    timed("sh -c 'rm own; echo another > own'");
    assert_eq!(fs::read_to_string(&own).expect("there"), "another\n");
    check_json(&scratch.path("own.3"));
    assert_eq!(names(&scratch), ["own", "own.1", "own.2", "own.3"]);
}

/// `mkfifo f; seekstone trial ... --json f` waited for ever, after the measurement.
#[test]
fn a_pipe_that_nobody_reads_is_refused_before_measuring() {
    let scratch = Scratch::new();
    let pipe = scratch.path("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("a pipe");
    let expected = "is a pipe without a reader: start the reader first";
    let ended = scratch.check(&sim(&["--json", "pipe"]), 2, expected);
    assert_eq!(ended.stdout, "");
    // The reader has the pipe open before anything is written, and sees its end after that.
    let script = "exec 3<> pipe 4< pipe; cat <&4 3>&- > got & \
                  \"$0\" inspect . --json pipe && exec 3>&- 4<&- && wait $! && \
                  \"$0\" inspect . --json >(cat > other; : > done) && \
                  while [ ! -e done ]; do :; done";
    shell(&scratch, script).check(&["a pipe"], 0, "");
    check_json(&scratch.path("got"));
    check_json(&scratch.path("other"));
}

#[test]
fn what_the_shell_has_opened_is_written_where_it_stands() {
    let scratch = Scratch::new();
    fs::write(scratch.path("log"), "before\n").expect("a file");
    fs::write(scratch.path("own"), "precious").expect("a file");
    let script = "\"$0\" inspect . --json /dev/fd/3 3> new > text && \
                  \"$0\" inspect . --json /dev/stdout >> log && \
                  \"$0\" inspect . --json /dev/stderr 2>&1 > text | grep -q cautions";
    shell(&scratch, script).check(&["descriptors"], 0, "");
    check_json(&scratch.path("new"));
    let log = fs::read_to_string(scratch.path("log")).expect("there");
    assert!(log.starts_with("before\n{"), "{log}");
    let script = "\"$0\" inspect . --json /dev/fd/3 3< own";
    let expected = "/dev/fd/3 is not open for writing";
    shell(&scratch, script).check(&["descriptors"], 2, expected);
    assert_eq!(
        fs::read_to_string(scratch.path("own")).expect("there"),
        "precious"
    );
}

/// A tape would have been moved, and the kernel's log written.
#[test]
fn devices_and_sockets_are_no_outputs() {
    let scratch = Scratch::new();
    let tried = |path: &str, code, expected: &str| {
        let args = ["inspect", ".", "--force", "--json", path];
        scratch.check(&args, code, expected);
    };
    let _listener = UnixListener::bind(scratch.path("socket")).expect("a socket");
    tried("socket", 2, "names a socket. Name a file");
    tried("/dev/random", 2, "names a device. Name a file");
    if Path::new("/dev/kmsg").exists() {
        tried("/dev/kmsg", 2, "names a device. Name a file");
    }
    tried("/dev/null", 0, "");
    tried("/dev/full", 1, "/dev/full cannot be written");
    tried("own/", 1, "own/ cannot be written");
    tried("", 1, "cannot be written");
}

/// `nd-journal` and `nd-wal` of the user were deleted by `--archive nd`, and so was the target
/// `q.db-journal` by `--archive q.db`.
#[test]
fn what_lies_beside_an_archive_is_not_taken_for_its_own() {
    let scratch = Scratch::new();
    for name in ["nd-journal", "nd-wal", "nd-shm", "q.db-journal"] {
        fs::write(scratch.path(name), "precious").expect("a file");
    }
    fs::write(scratch.path("empty.txt"), "").expect("a file");
    let before = names(&scratch);
    let args = sim(&["--archive", "nd"]);
    let ended = scratch.check(&args, 1, "nd-journal, ");
    let error = ended.error();
    assert!(
        error.contains("nd-wal") && error.contains("nd-shm"),
        "{error}"
    );
    scratch.check(
        &["runs", "import", "nd-wal", "--archive", "nd"],
        2,
        "needs the name of nd-wal",
    );
    let trial = ["trial", "q.db-journal", "--archive", "q.db"];
    scratch.check(&trial, 2, "needs the name of q.db-journal");
    for name in ["q.db-journal", "q.db-wal", "q.db.study-1234"] {
        let args = sim(&["--archive", "q.db", "--json", name, "--force"]);
        scratch.check(&args, 2, "is a name that the archive q.db needs");
    }
    scratch.check(&sim(&["--archive", "empty.txt"]), 1, "but an empty file");
    assert_eq!(names(&scratch), before);
    for name in ["nd-journal", "nd-wal", "nd-shm", "q.db-journal"] {
        let found = fs::read_to_string(scratch.path(name)).expect("there");
        assert_eq!(found, "precious", "{name}");
    }
}

/// A new archive was readable by everybody; other outputs are made to be read.
#[test]
fn an_archive_is_for_its_owner_and_an_output_for_whom_the_umask_lets() {
    let scratch = Scratch::new();
    let script = "umask 022 && \"$0\" trial 'sim:mm1?mean=100us' --duration 50ms --json run.json";
    shell(&scratch, script).check(&["modes"], 0, "Saved as run 1");
    let mode = |path: &Path| fs::metadata(path).expect("there").mode() & 0o777;
    assert_eq!(mode(&scratch.archive()), 0o600);
    assert_eq!(mode(&scratch.path("run.json")), 0o644);
}

/// An output in a directory without room for names was found out after the measurement.
#[test]
fn an_output_that_can_have_no_name_is_found_before_measuring() {
    let scratch = Scratch::new();
    let long = "x".repeat(300);
    let ended = scratch.check(&sim(&["--json", &long]), 1, "cannot be written");
    assert_eq!(ended.stdout, "");
    // What reads it for itself needs no rights to write.
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(scratch.path("taken"))
        .expect("a file");
    scratch.check(&sim(&["--json", "taken/below"]), 1, "cannot be written");
}

/// JSON in `x.svg` opens as a broken picture: the ending chooses the form, or is refused.
#[test]
fn an_ending_is_the_form_or_a_mistake() {
    let scratch = Scratch::new();
    let told = "the ending of x.svg means svg, and this is json: name it";
    scratch.check(&sim(&["--no-save", "--json", "x.svg"]), 2, told);
    scratch.check(
        &sim(&["--csv", "x.md", "--no-save"]),
        2,
        "the ending of x.md means markdown",
    );
    assert!(!scratch.path("x.svg").exists());
    let curve = [
        "curve",
        "sim:mm1?mean=1ms",
        "--level",
        "2ms",
        "-q",
        "--seed",
        "1",
    ];
    scratch.check(&curve, 0, "Saved as run 1");
    scratch.check(&["runs", "export", "1", "-o", "x.svg"], 0, "");
    let picture = fs::read_to_string(scratch.path("x.svg")).expect("a picture");
    assert!(picture.starts_with("<svg"), "{picture}");
    scratch.check(&["runs", "export", "latest", "-o", "x.md"], 0, "");
    let table = fs::read_to_string(scratch.path("x.md")).expect("a table");
    assert!(table.contains("| --- |"), "{table}");
    let args = ["runs", "export", "1", "--form", "json", "-o", "y.svg"];
    scratch.check(&args, 2, "means svg, and this is json");
}

/// Scripts read the list, and need no number for the run that was just made.
#[test]
fn the_list_is_json_and_the_latest_has_a_name() {
    let scratch = Scratch::new();
    let empty = scratch
        .check(&["runs", "list", "--json", "-"], 0, "")
        .json();
    assert_eq!(empty, serde_json::json!([]));
    scratch.check(&sim(&[]), 0, "Saved as run 1");
    scratch.check(&sim(&[]), 0, "Saved as run 2");
    let list = scratch
        .check(&["runs", "list", "--json", "-"], 0, "")
        .json();
    assert_eq!(list[0]["id"], 2);
    assert_eq!(list[1]["command"], "trial");
    let latest = scratch.check(&["runs", "export", "latest"], 0, "").json();
    assert_eq!(latest["id"], 2);
    scratch.check(&["runs", "compare", "1", "latest"], 0, "run 2");
    scratch.check(
        &["runs", "show", "last"],
        2,
        "\"last\" names no run: use numbers, ranges as in 3..7, latest, latest:5, or JSON files",
    );
}

/// Bug: "to pass '-o' as a value, use '-- -o'".
#[test]
fn the_ending_of_a_file_says_in_which_form_results_are_written() {
    let scratch = Scratch::new();
    let trial = ["trial", "sim:mm1", "--duration", "100ms", "--no-save", "-q"];
    let with = |files: &[&'static str]| {
        let options = files.iter().flat_map(|file| ["-o", file]);
        trial.into_iter().chain(options).collect::<Vec<_>>()
    };
    scratch.check(&with(&["x.html", "x.json"]), 0, "sim:mm1");
    let page = fs::read_to_string(scratch.path("x.html")).expect("a page");
    assert!(page.starts_with("<!doctype html>"));
    let json = fs::read_to_string(scratch.path("x.json")).expect("a file");
    serde_json::from_str::<serde_json::Value>(&json).expect("JSON");
    for name in ["x", "x.txt", "x.pdf"] {
        scratch.check(
            &with(&[name]),
            2,
            "use a name that ends in .json, .csv, .md, .html",
        );
    }
}
