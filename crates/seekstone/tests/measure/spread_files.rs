//! A load on several test files: each client has one, and all of them go.

use crate::support::{Scratch, finish};

const LOAD: [&str; 7] = [
    "--reserve=0",
    "--clients=5",
    "--workers=2",
    "--files=3",
    "--size=24MiB",
    "--duration=200ms",
    "--quiet",
];

#[test]
fn clients_use_as_many_files_as_were_asked_for() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let target = target.to_str().expect("a plain path");
    for writes in ["--writes=0%", "--writes=50%"] {
        let mut args = vec!["trial", target, "--seed=7", writes, "--json", "-"];
        args.extend(LOAD);
        let ended = finish(scratch.seekstone(&args));
        ended.check(&[], 0, "");
        let run = ended.json();
        let measurement = &run["measurements"][0];
        let workload = &measurement["workload"];
        assert_eq!(workload["spread"]["files"], 3, "{workload}");
        assert_eq!(workload["addresses"]["region"]["len"], 8 << 20);
        let title = measurement["title"].as_str().expect("a title");
        assert!(title.ends_with(", 3 files"), "{title}");
        assert!(measurement["completions_all"].as_u64() > Some(0));
        // A read of another file's block, or of a hole, would be wrong data.
        assert_eq!(measurement["errors"].as_array().map(Vec::len), Some(0));
        scratch.assert_clean(&scratch.target());
    }
    // A run that is measured again has them, too.
    let ended = finish(scratch.seekstone(["runs", "repeat", "2", "--json", "-", "--quiet"]));
    ended.check(&[], 0, "");
    let again = &ended.json()["measurements"][0]["workload"]["spread"];
    assert_eq!(again["files"], 3);
    scratch.assert_clean(&scratch.target());
}

#[test]
fn where_no_files_are_made_their_number_is_refused() {
    let scratch = Scratch::new();
    let file = scratch.path("mine");
    std::fs::write(&file, vec![7; 4 << 20]).expect("a file");
    let file = file.to_str().expect("a plain path");
    for target in [file, "sim:mm1", "null:"] {
        let args = ["trial", target, "--files=2", "--no-save", "--quiet"];
        scratch.check(&args, 2, "--files");
    }
    let target = scratch.target();
    let target = target.to_str().expect("a plain path");
    let args = [
        "trial",
        target,
        "--files=8",
        "--reserve=0",
        "--size=16MiB",
        "--no-save",
        "--quiet",
    ];
    scratch.check(&args, 2, "is too small");
    scratch.assert_clean(&scratch.target());
}
