//! What a command writes goes over nothing that it reads or measures, and whether it can be
//! written is known before anything is measured.

use std::fs::{self, hard_link};
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::support::storage::Loop;
use crate::support::{self, Belongings, Scratch, finish};

/// `seekstone trial file --json file` left the JSON in the file that was to be measured.
#[test]
fn a_target_is_not_written_over_by_the_result() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("target")).expect("a directory");
    let named = scratch.path("target/named");
    fs::write(&named, vec![7; 2 << 20]).expect("a file");
    symlink("target/named", scratch.path("link")).expect("a link");
    hard_link(&named, scratch.path("second")).expect("a second name");
    let definition = scratch.path("own.toml");
    fs::write(&definition, "based_on = \"st15150n\"\n").expect("a definition");
    let belongings = Belongings::of(&scratch.path("target"));
    let read = "(which is read or measured). Name another file";
    let trial = ["trial", "--no-save", "--duration", "20ms", "target/named"];
    for json in ["target/named", "link", "second", "./target/../link"] {
        let args = [&trial[..], &["--json", json]].concat();
        scratch.check(&args, 2, read);
    }
    let sim = "sim:own.toml?bus=5MB/s";
    let note = ["--markdown", "link", "--target", "target/named"];
    let study = [&["study", "study.toml", "--no-save"][..], &note].concat();
    fs::write(scratch.path("study.toml"), STUDY).expect("a study");
    for args in [
        &["inspect", "target/named", "--json", "link"][..],
        &["run", sim, "--no-save", "--json", "own.toml"],
        &["positioning", sim, "--svg", "own.toml"],
        &[
            "time",
            "--input",
            "link",
            "--no-save",
            "--json",
            "second",
            "true",
        ],
        &study,
        &["study", "study.toml", "--no-save", "--json", "second"],
        &["study", "study.toml", "--no-save", "--json", "study.toml"],
    ] {
        scratch.check(args, 2, read);
    }
    belongings.assert_untouched();
    let kept = fs::read_to_string(&definition).expect("a definition");
    assert_eq!(kept, "based_on = \"st15150n\"\n");
    // Any other file is replaced whole where the user says so.
    fs::write(scratch.path("run.json"), "x".repeat(1 << 20)).expect("a file");
    let forced = ["inspect", "target/named", "--json", "run.json", "--force"];
    scratch.check(&forced, 0, "");
    let text = fs::read_to_string(scratch.path("run.json")).expect("a file");
    serde_json::from_str::<serde_json::Value>(&text).expect("nothing but JSON");
}

/// A study whose one factor has the user's file as a level.
const STUDY: &str = "title = \"a study\"\ntarget = \".\"\n\n[measurement]\nkind = \"transfer\"\n\n\
    [[factor]]\nname = \"spot\"\n[[factor.level]]\nname = \"one\"\ntarget = \"target/named\"\n\
    [[factor.level]]\nname = \"other\"\ntarget = \".\"\n";

#[test]
fn the_archive_and_other_outputs_are_not_written_over() {
    let scratch = Scratch::new();
    fs::write(scratch.path("named"), vec![7; 2 << 20]).expect("a file");
    let trial = ["trial", "--duration", "20ms", "named"];
    scratch.check(&trial, 0, "Saved as run 1");
    let archive = "(the archive of runs). Name another file";
    let to_archive = [&trial[..], &["--json", "archive.db"]].concat();
    scratch.check(&to_archive, 2, archive);
    scratch.check(&["runs", "export", "1", "-o", "archive.db"], 2, archive);
    let measured = ["trial", "--duration", "20ms", "archive.db", "--overwrite"];
    scratch.check(
        &measured,
        2,
        "is the same file as archive.db, which is read",
    );
    fs::write(scratch.path("study.toml"), STUDY).expect("a study");
    let both = ["--json", "new", "--markdown", "./new"];
    let both = [&["study", "study.toml", "--no-save"][..], &both].concat();
    scratch.check(&both, 2, "--markdown ./new would write over new (--json)");
    assert!(!scratch.path("new").exists());
    scratch.check(&["runs", "show", "1"], 0, "named");
}

/// A whole run was measured before it was said that its result could not be written.
#[test]
fn what_cannot_be_written_is_found_before_measuring() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("target")).expect("a directory");
    symlink("behind", scratch.path("dangling")).expect("a link");
    let tried = |json: &str, code, expected: &str| {
        let args = ["trial", "--duration", "1h", "target", "--json", json];
        let ended = scratch.check(&args, code, expected);
        assert_eq!(ended.stdout, "");
        scratch.assert_clean(&scratch.path("target"));
    };
    tried("missing/run.json", 1, "missing/run.json cannot be written");
    tried(
        "/proc/run.json",
        1,
        "error: /proc/run.json cannot be written",
    );
    tried("target", 2, "--json target would write over target");
    tried(".", 2, "--json . names a directory. Name a file");
    // What was made to try is gone, whether the run is measured or not.
    for json in ["run.json", "dangling"] {
        let args = ["trial", "--no-save", "nowhere", "--json", json];
        scratch.check(&args, 2, "there is nothing at `nowhere`");
    }
    assert!(!scratch.path("run.json").exists() && !scratch.path("behind").exists());
    assert!(scratch.path("dangling").is_symlink());
    let args = ["inspect", "target", "--json", "dangling"];
    scratch.check(&args, 0, "");
    assert!(scratch.path("behind").exists());
}

#[test]
fn pipes_are_written_to() {
    let scratch = Scratch::new();
    let mut shell = Command::new("bash");
    let script = "set -o pipefail; \"$0\" inspect . --json >(cat > got) && \"$0\" inspect . --json \
                  /dev/stdout | grep -q cautions && \"$0\" inspect . --json /dev/null";
    shell.args(["-c", script, support::PROGRAM]);
    scratch.settle(&mut shell);
    finish(shell).check(&["a pipe"], 0, "");
}

#[test]
fn storage_is_never_an_output() {
    let scratch = Scratch::new();
    let Some(device) = Loop::new("storage_is_never_an_output", &scratch, 2) else {
        return;
    };
    let before = device.content();
    let args = ["inspect", ".", "--json", device.path()];
    scratch.check(&args, 2, "names a block device. Name a file");
    let backing = fs::read_to_string(format!("/sys/block/{}/loop/backing_file", device.name()));
    let backing = backing.expect("a name");
    let args = ["inspect", ".", "--json", backing.trim_end()];
    scratch.check(&args, 1, "is not overwritten: ");
    assert!(device.content() == before, "a device was written");
}
