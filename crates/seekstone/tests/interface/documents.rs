//! Every command line that these documents show is run, in a small and short form.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::{PROGRAM, Scratch, finish, side_by_side, with_enough_time};

const DOCUMENTS: [&str; 8] = [
    "README.md",
    "docs/tour.md",
    "docs/check-up.md",
    "docs/reference.md",
    "docs/profiles.md",
    "docs/slow-database.md",
    "docs/choose-file-system.md",
    // Deletes the run that the others show.
    "docs/runs.md",
];
/// Each of its lines needs what those before it made.
const GATE: &str = "docs/gate.md";

/// The lines of the documents' shell blocks that begin with the program's name, without comments,
/// each once, by block: a line may need what one before it has made.
fn examples() -> Vec<Vec<String>> {
    examples_of(&DOCUMENTS)
}

fn examples_of(documents: &[&str]) -> Vec<Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut known = BTreeSet::new();
    let mut all = Vec::new();
    for document in documents {
        let text = fs::read_to_string(root.join(document)).expect("a document");
        let blocks = text.split("```sh\n").skip(1);
        for block in blocks.filter_map(|block| block.split("```").next()) {
            let lines = block.lines().filter(|line| line.starts_with("seekstone "));
            let lines = lines.map(|line| line.split(" #").next().unwrap_or(line).trim());
            let fresh = lines.filter(|line| known.insert((*line).to_owned()));
            all.push(fresh.map(str::to_owned).collect());
        }
    }
    all
}

/// What keeps an example short: a small file, a second of time, no more.
fn shortened(example: &str) -> String {
    let limits = match example.split(' ').nth(1) {
        Some("run") if example.contains("--profile") => "",
        Some("run") if example.contains("sim:") => " --budget 2s",
        Some("curve") if example.contains("sim:") => " --budget 5s",
        Some("run") if example.contains("big.file") => " --budget 4s",
        Some("curve") if example.contains("--level") => " --budget 4s --size 8MiB --reserve 0",
        Some("run" | "/data" | "curve") => " --budget 4s --size 16MiB --reserve 0",
        Some("trial") if example.contains("null:") || example.contains("--goal") => "",
        Some("trial") if example.contains("sim:") && example.contains("--duration") => "",
        Some("trial") if example.contains("sim:") => " --budget 5s",
        Some("trial") if example.contains("--duration 60s") => {
            return example.replace("60s", "1s") + " --size 16MiB --reserve 0";
        }
        Some("rab") if example.contains("sim:") => " --budget 60s",
        Some("random") => " --budget 4s --rounds 2 --size 4MiB --depths 1 --reads --reserve 0",
        Some("ssd") => " --budget 4s --round 100ms --size 16MiB --reserve 0",
        Some("files") if example.contains("sim:") => " --passes 2",
        Some("files") if example.contains("metadata") => {
            return format!("{example} --passes 1 --state as-is --memory none --reserve 0")
                .replace("10000", "100");
        }
        Some("files") => " --passes 1 --state as-is --tests 1,3,4 --memory none --reserve 0",
        Some("transfer") => " --budget 4s --size 8MiB --reserve 0",
        Some("study") if example.contains("--target") => {
            " --replicates 1 --set size=1MiB --reserve 0"
        }
        Some("compare") if example.contains("sim:") => " --rounds 2 --set duration=2s",
        Some("compare") => " --rounds 2 --set duration=100ms --set size=16MiB --reserve 0",
        Some("wal") if example.contains("sim:") => " --replicates 2",
        Some("wal") => " --replicates 2 --time 1s --size 16MiB --reserve 0",
        Some("transactions") => " --budget 4s --size 8MiB --reserve 0",
        Some("rab") if example.contains("/data") => " --budget 4s --size 8MiB --reserve 0",
        Some("time") => " --runs 2",
        Some("trial") => " --budget 4s --size 8MiB --reserve 0",
        _ => "",
    };
    format!("{example}{limits}")
}

#[test]
fn the_examples_of_the_documents_run() {
    let scratch = Scratch::in_memory();
    let data = scratch.path("data");
    fs::create_dir(&data).expect("a directory");
    fs::write(data.join("big.file"), vec![7; 16 << 20]).expect("a file");
    let data = data.display().to_string();
    let first = finish(scratch.seekstone(["run", "sim:delay", "--budget", "1s", "--quiet"]));
    first.check(&["run"], 0, "Saved as run 1");
    let curve = ["curve", "sim:mmc?servers=4&mean=5ms", "--think", "50ms"];
    let curve = [&curve[..], &["--seed", "1", "--quiet"]].concat();
    finish(scratch.seekstone(&curve)).check(&curve, 0, "Saved as run 2");
    let examples = examples();
    assert!(examples.iter().flatten().count() >= 10, "{examples:?}");
    side_by_side(&examples, |block| {
        for example in block {
            run_example(&scratch, &data, example);
        }
    });
    scratch.assert_clean(Path::new(&data));
}

#[test]
fn the_examples_of_the_gate_run_one_after_the_other() {
    let scratch = Scratch::new();
    let examples = examples_of(&[GATE]);
    assert!(examples.iter().flatten().count() >= 5, "{examples:?}");
    for example in examples.iter().flatten() {
        let line = example.replacen("seekstone", PROGRAM, 1);
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &line]);
        scratch.settle(&mut command);
        finish(command).check(&[example], 0, "");
    }
}

fn run_example(scratch: &Scratch, data: &str, example: &str) {
    let line = shortened(example)
        .replace("/data", data)
        .replace(" 12", " 1")
        .replace(" 1 15", " 1 1")
        .replace(" 34", " 2");
    let line = line.replacen("seekstone", PROGRAM, 1);
    with_enough_time(|budget| {
        let line = line.replace("--budget 4s", &format!("--budget {budget}"));
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &line]);
        scratch.settle(&mut command);
        let ended = finish(command);
        if line.contains(budget) && ended.error().contains("--budget") {
            return None;
        }
        if !ended.is_void() {
            ended.check(&[example], 0, "");
        }
        Some(())
    });
}
