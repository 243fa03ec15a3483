//! `seekstone devices`, and simulated devices as targets of the commands that measure.

use std::fs;

use crate::support::tables::{figure, row, rows};
use crate::support::{Scratch, finish};

const DISK: &str = "kind = \"disk\"
title = \"a disk of mine\"
rpm = [6000, \"my data sheet\"]
heads = 2
cylinders = 1000
sectors-outer = 100
seek = \"steps\"
seek-step = \"10 us\"
seek-settle = \"2 ms\"
";

#[test]
fn devices_are_listed_and_shown_with_their_sources() {
    let scratch = Scratch::new();
    let ended = finish(scratch.seekstone(["devices", "list"]));
    ended.check(&["list"], 0, "fireball");
    for name in ["ppro", "nvme", "dlt2000", "ethernet10", "mm1"] {
        assert!(ended.stdout.contains(name), "{name}: {}", ended.stdout);
    }
    let ended = finish(scratch.seekstone(["devices", "show", "fireball"]));
    ended.check(&["show"], 0, "4500");
    assert!(ended.stdout.contains("document"), "{}", ended.stdout);
    assert!(ended.stdout.contains("sustained rate"), "{}", ended.stdout);
    finish(scratch.seekstone(["devices", "show", "sim:mmc"])).check(&["mmc"], 0, "servers=4");
    let shown = finish(scratch.seekstone(["devices", "show", "mm1"]));
    shown.check(&["mm1"], 0, "mean / (1 - rate mean)");
    let inspected = finish(scratch.seekstone(["inspect", "sim:nvme"]));
    inspected.check(
        &["inspect"],
        2,
        "`seekstone devices show nvme` describes it",
    );
    let ended = finish(scratch.seekstone(["devices", "show", "floppy"]));
    ended.check(&["floppy"], 0, "1.47 MB");
}

#[test]
fn a_definition_that_is_printed_can_be_edited_and_measured() {
    let scratch = Scratch::new();
    let printed = finish(scratch.seekstone(["devices", "show", "rz26", "--toml"]));
    printed.check(&["toml"], 0, "kind = \"disk\"");
    let path = scratch.path("mine.toml");
    fs::write(&path, printed.stdout.replace("5360", "7200")).expect("a file");
    let path = path.display().to_string();
    let shown = finish(scratch.seekstone(["devices", "show", &path]));
    shown.check(&["mine"], 0, "7200");

    let target = format!("sim:{path}?raid=1&disks=2");
    let measure = || {
        let ended = finish(scratch.seekstone([
            "trial",
            &target,
            "--seed",
            "1",
            "--budget",
            "20s",
            "--no-save",
            "--quiet",
            "--json",
            "-",
        ]));
        ended.check(&["trial"], 0, "\"throughput\"");
        let document: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
        document["measurements"].clone()
    };
    assert_eq!(measure(), measure(), "the same seed gives the same");
}

#[test]
fn wrong_definitions_are_wrong_usage_with_file_and_line() {
    let scratch = Scratch::new();
    let path = scratch.path("wrong.toml");
    let name = path.display().to_string();
    let check = |text: &str, expected: &str| {
        fs::write(&path, text).expect("a file");
        let target = format!("sim:{name}");
        let args = ["trial", &target, "--no-save"];
        finish(scratch.seekstone(args)).check(&args, 2, expected);
        let args = ["devices", "show", &name];
        finish(scratch.seekstone(args)).check(&args, 2, expected);
    };
    check(&DISK.replace("[6000", "[0"), "wrong.toml:3: rpm = 0");
    check(
        &DISK.replace("\"2 ms\"", "2"),
        "wrong.toml:9: seek-settle = 2",
    );
    check(
        &format!("{DISK}speed = 3\n"),
        "wrong.toml:10: unknown key \"speed\"",
    );
    check("", "\"kind\" is missing");
    for (target, expected) in [
        (
            "sim:/no/such/device.toml",
            "cannot read /no/such/device.toml",
        ),
        ("sim:fireball?rpm=0", "rpm=0"),
        ("sim:fireball?turns=0", "no parameter \"turns\""),
        ("sim:fddi", "is a link"),
    ] {
        let args = ["trial", target, "--no-save"];
        finish(scratch.seekstone(args)).check(&args, 2, expected);
    }
}

#[test]
fn every_measuring_command_takes_a_machine() {
    let scratch = Scratch::new();
    for (args, expected) in [
        (
            vec!["run", "sim:fireball", "--budget", "10s"],
            "random read",
        ),
        (vec!["curve", "sim:rz26", "--budget", "10s"], "saturation"),
        (
            vec!["transfer", "sim:cdrom8", "--size", "40MiB"],
            "read 40 MiB",
        ),
        (
            vec!["transfer", "sim:floppy", "--size", "1MiB"],
            "Write 1 MiB by 64 KiB at",
        ),
        (
            vec![
                "transactions",
                "sim:ppro",
                "--users",
                "2",
                "--ios",
                "5",
                "--cpu",
                "10ms",
            ],
            "2 users",
        ),
        (
            vec!["rab", "sim:raid5-rz28?mode=reduced", "--workload", "batch"],
            "Batch",
        ),
    ] {
        let ended =
            finish(scratch.seekstone(args.iter().chain(&["--seed", "1", "--quiet", "--no-save"])));
        assert!(
            matches!(ended.code, Some(0 | 3)),
            "{args:?}: {:?} {}",
            ended.code,
            ended.stderr
        );
        assert!(
            ended.stdout.contains(expected),
            "{args:?}: {}",
            ended.stdout
        );
    }
}

/// Mean seconds of a test of `files`, from a run's JSON form.
fn seconds(document: &serde_json::Value, test: &str, spacing: &str) -> f64 {
    let row = row(document, "files", &[test, "as-is", "target", spacing]);
    figure(row, "elapsed")
}

/// The paper's finding on SPACE2 and SPACE8, by the command itself.
#[test]
fn programs_that_use_files_run_on_a_simulated_file_system() {
    let scratch = Scratch::new();
    let target = "sim:rt11?disk=rd53";
    let measure = || {
        let args = [
            "files", target, "--tests", "5A", "--space", "2,8", "--passes", "3",
        ];
        let more = ["--seed", "1", "--no-save", "--quiet", "--json", "-"];
        let ended = finish(scratch.seekstone(args.iter().chain(&more)));
        ended.check(&args, 0, "\"elapsed\"");
        let document: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
        document
    };
    let document = measure();
    let [before, space2, space8] = ["", "SPACE2", "SPACE8"].map(|it| seconds(&document, "5A", it));
    assert!(
        space2 < space8 && space8 < before,
        "{before} {space2} {space8}"
    );
    let again = measure();
    let [once, twice] = [&document, &again].map(|it| rows(it, "files"));
    assert_eq!(once, twice, "the same seed gives the same");
}

#[test]
fn what_a_simulated_file_system_cannot_do_is_told() {
    let scratch = Scratch::new();
    for (args, expected) in [
        (vec!["trial", "sim:rt11"], "for `seekstone files sim:rt11`"),
        (vec!["files", "sim:ra80"], "'sim:rt11?disk=ra80'"),
        (vec!["files", "sim:rt11?depth=3"], "no parameter \"depth\""),
        (
            vec!["files", "sim:rt11", "--state", "durable"],
            "writes nothing late",
        ),
        (
            vec!["files", "sim:rt11?disk=rk05", "--tests", "10"],
            "does not hold the files of TEST10",
        ),
    ] {
        let ended = finish(scratch.seekstone(args.iter().chain(&["--no-save", "--quiet"])));
        ended.check(&args, 2, expected);
    }
    let args = [
        "files",
        "sim:rt11?disk=rk05",
        "--tests",
        "1,4,10",
        "--space",
        "8",
    ];
    let more = ["--passes", "2", "--no-save", "--quiet"];
    let ended = finish(scratch.seekstone(args.iter().chain(&more)));
    ended.check(&args, 0, "does not hold the files: TEST10, SPACE8");
}

/// Interleave and tracks shorter than a read were left out: 467 ms were told of a floppy that takes
/// 860.
#[test]
fn the_random_read_that_is_told_is_the_one_that_is_done() {
    let scratch = Scratch::new();
    let title = "random read of 4 KiB anywhere: about ";
    let mut compared = 0;
    for name in sim::device_names() {
        let sheet = finish(scratch.seekstone(["devices", "show", name])).stdout;
        let Some(told) = sheet
            .lines()
            .find_map(|line| line.trim().strip_prefix(title))
        else {
            continue;
        };
        let target = format!("sim:{name}");
        let trial = [
            "trial",
            &target,
            "--seed",
            "3",
            "--precision",
            "2%",
            "--budget",
            "2h",
        ];
        let quiet = ["--no-save", "--quiet", "--json", "-"];
        let ended = finish(scratch.seekstone(trial.iter().chain(&quiet)));
        if ended.stderr.contains("with a file system") {
            continue;
        }
        let done = ended.json()["measurements"][0]["response"]["mean"]["value"].as_f64();
        let done = done.expect("a time");
        let told = told.trim_end_matches(", one at a time");
        let ns = told.parse::<units::Duration>().expect("a time").as_nanos() as f64;
        assert!(
            (ns / done - 1.0).abs() < 0.04,
            "{name}: {told} told, {done} ns done"
        );
        compared += 1;
    }
    assert!(compared > 15, "only {compared} devices were compared");
}
