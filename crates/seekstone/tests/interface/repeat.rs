//! A run holds all that it takes to measure the same again, and `runs repeat` does: to the last
//! digit where time is virtual, with the files that were read then, and never with more than is
//! allowed.

use std::fs;

use serde_json::Value;

use crate::support;
use crate::support::Scratch;
use crate::support::tables::in_turn;

/// A run of every kind that models serve, short.
const KINDS: [&[&str]; 10] = [
    &["trial", "sim:mm1?mean=1ms", "--clients", "4"],
    &[
        "trial",
        "sim:mm1?mean=1ms",
        "--rate",
        "500/s",
        "--duration",
        "5s",
    ],
    &["curve", "sim:mmc?servers=4&mean=1ms", "--budget", "20s"],
    &[
        "curve",
        "sim:mmc?servers=4&mean=1ms",
        "--open",
        "--budget",
        "20s",
    ],
    &["run", "sim:mmc?servers=4&mean=1ms", "--budget", "20s"],
    &[
        "random",
        "sim:drive?size=256MiB",
        "--budget",
        "20s",
        "--rounds",
        "1",
    ],
    &[
        "transactions",
        "sim:mm1?mean=10ms",
        "--users",
        "10",
        "--think",
        "1s",
    ],
    &[
        "rab",
        "sim:mmc?servers=4&mean=5ms",
        "--workload",
        "batch",
        "--budget",
        "20s",
    ],
    &["transfer", "sim:md1?time=1ms&size=16MiB"],
    &["files", "sim:rt11", "--tests", "1,2"],
];

/// What was found, without the moment and the number in the archive.
fn figures(mut run: Value) -> Value {
    run["environment"] = Value::Null;
    run["id"] = Value::Null;
    run
}

/// The values of a setting.
fn setting(run: &Value, name: &str) -> (Value, String) {
    let settings = run["setup"]["settings"].as_array().expect("settings");
    let setting = settings.iter().find(|it| it["name"] == name).expect(name);
    let origin = setting["origin"].as_str().expect("an origin");
    (setting["values"].clone(), origin.to_owned())
}

fn measured(scratch: &Scratch, args: &[&str]) -> Value {
    let args = [args, &["--quiet", "--json", "-"]].concat();
    scratch.check(&args, 0, "complete").json()
}

fn repeated(scratch: &Scratch, id: &str) -> Value {
    let args = ["runs", "repeat", id, "--quiet", "--json", "-"];
    scratch.check(&args, 0, "complete").json()
}

#[test]
fn a_simulated_run_of_every_kind_repeats_to_the_last_digit() {
    let scratch = Scratch::new();
    for args in KINDS {
        let first = measured(&scratch, args);
        let id = first["id"].to_string();
        let again = repeated(&scratch, &id);
        assert!(
            again["id"] != first["id"],
            "{args:?}: the first run was replaced"
        );
        assert!(figures(again) == figures(first), "{args:?}: other figures");
    }
}

#[test]
fn a_repeat_can_be_repeated_and_the_latest_is_the_default() {
    let scratch = Scratch::new();
    let first = figures(measured(&scratch, KINDS[2]));
    for _ in 0..2 {
        let args = ["runs", "repeat", "--quiet", "--json", "-"];
        assert!(figures(scratch.check(&args, 0, "complete").json()) == first);
    }
}

#[test]
fn what_the_program_chose_is_recorded() {
    let scratch = Scratch::new();
    let run = measured(&scratch, KINDS[2]);
    let chosen = |name| setting(&run, name).1 == "resolved";
    assert!(chosen("size") && chosen("workers") && chosen("seed") && chosen("level"));
    let levels = setting(&run, "level").0;
    let of_curve = run["curves"][0]["levels"].as_array().expect("levels").len();
    assert_eq!(levels.as_array().expect("values").len(), of_curve);
    assert_eq!(setting(&run, "budget").1, "given");
    assert_eq!(setting(&run, "precision").1, "default");
    assert_eq!(run["curves"][0]["workload"]["clients"], "mix");
    assert_eq!(run["curves"][0]["workload"]["sizes"][0]["len"], 4096);
}

#[test]
fn files_are_repeated_from_their_texts() {
    let scratch = Scratch::new();
    let workload = scratch.check(&["rab", "--print-workload", "batch"], 0, "batch");
    let device = scratch.check(&["devices", "show", "fireball", "--toml"], 0, "kind = ");
    let profiles = "[[profile]]\nname = \"clerk\"\nusers = 4\nios = 5\nthink = \"1s\"\n";
    fs::write(scratch.path("mine.toml"), &workload.stdout).expect("a file");
    fs::write(scratch.path("disk.toml"), &device.stdout).expect("a file");
    fs::write(scratch.path("users.toml"), profiles).expect("a file");
    let runs = [
        measured(
            &scratch,
            &[
                "rab",
                "sim:mm1?mean=5ms",
                "-w",
                "mine.toml",
                "--budget",
                "20s",
            ],
        ),
        measured(&scratch, &["trial", "sim:./disk.toml", "--clients", "2"]),
        measured(
            &scratch,
            &["transactions", "sim:mm1", "--profiles", "users.toml"],
        ),
    ];
    assert_eq!(runs[0]["setup"]["files"][0]["text"], workload.stdout);
    assert_eq!(runs[1]["setup"]["files"][0]["text"], device.stdout);
    assert_eq!(runs[2]["setup"]["files"][0]["text"], profiles);
    for name in ["mine.toml", "disk.toml", "users.toml"] {
        fs::remove_file(scratch.path(name)).expect("removed");
    }
    for run in runs {
        let again = repeated(&scratch, &run["id"].to_string());
        assert!(figures(again) == figures(run));
    }
}

#[test]
fn permission_to_write_is_never_repeated() {
    let scratch = Scratch::new();
    let file = scratch.path("data");
    fs::write(&file, vec![0; 16 << 20]).expect("a file");
    let writing = ["trial", "data", "--writes", "100%", "--duration", "300ms"];
    measured(&scratch, &[&writing[..], &["--overwrite"]].concat());
    fs::write(&file, vec![7; 16 << 20]).expect("a file");
    for allowed in [&[][..], &["--yes"], &["--force"]] {
        let args = [&["runs", "repeat", "1"][..], allowed].concat();
        scratch.check(
            &args,
            2,
            "add --overwrite again if all data on it may be lost",
        );
    }
    let content = fs::read(&file).expect("a file");
    assert!(
        content.iter().all(|byte| *byte == 7),
        "written without permission"
    );
    scratch.check(
        &["runs", "repeat", "1", "--overwrite", "--quiet"],
        0,
        "Saved as run 2",
    );
    measured(&scratch, &["trial", "data", "--duration", "300ms"]);
    let args = ["runs", "repeat", "3", "--overwrite"];
    scratch.check(&args, 2, "it overwrote nothing: leave --overwrite out");
    scratch.check(&["runs", "repeat", "3", "--quiet"], 0, "Saved as run 4");
}

#[test]
fn what_cannot_be_repeated_says_why() {
    let scratch = Scratch::new();
    scratch.check(
        &["runs", "repeat"],
        1,
        "is empty: commands that measure fill it",
    );
    fs::write(scratch.path("data"), vec![0; 16 << 20]).expect("a file");
    measured(&scratch, &["trial", "data", "--duration", "300ms"]);
    fs::remove_file(scratch.path("data")).expect("removed");
    scratch.check(
        &["runs", "repeat", "1"],
        2,
        "run 1 cannot be repeated: there is nothing at",
    );
    scratch.check(&["runs", "repeat", "7"], 1, "the archive has no run 7");
}

#[test]
fn the_target_is_the_same_from_another_directory() {
    let scratch = Scratch::new();
    fs::write(scratch.path("data"), vec![0; 16 << 20]).expect("a file");
    let run = measured(&scratch, &["trial", "data", "--duration", "300ms"]);
    fs::create_dir(scratch.path("elsewhere")).expect("a directory");
    let mut command = scratch.seekstone(["runs", "repeat", "--quiet", "--json", "-"]);
    command.current_dir(scratch.path("elsewhere"));
    let again = support::finish(command);
    again.check(&["repeat"], 0, "complete");
    assert_eq!(again.json()["target"]["path"], run["target"]["path"]);
}

#[test]
fn a_study_is_repeated_from_its_text() {
    let scratch = Scratch::new();
    let study = "title = \"A model\"\ntarget = \"sim:dlt2000\"\nreplicates = 2\n\n\
                 [measurement]\nkind = \"positioning\"\nfiles = 10\n";
    fs::write(scratch.path("mine.toml"), study).expect("a file");
    let first = measured(&scratch, &["study", "mine.toml", "--seed", "1"]);
    fs::remove_file(scratch.path("mine.toml")).expect("removed");
    let again = repeated(&scratch, &first["id"].to_string());
    assert_eq!(again["setup"], first["setup"]);
    let readings = |run: &Value| in_turn(run)[0].1["readings"].clone();
    assert_eq!(readings(&again), readings(&first));
}

#[test]
fn what_was_given_is_recorded_as_it_was_resolved() {
    let scratch = Scratch::new();
    let args = [
        "random",
        "sim:drive?size=64MiB",
        "--spans",
        "1MiB,all",
        "--budget",
        "20s",
    ];
    let run = measured(&scratch, &args);
    let expected = (serde_json::json!(["1MiB", "64MiB"]), "given".to_owned());
    assert_eq!(setting(&run, "spans"), expected);
}

/// A run as another machine exported it, changed by hand.
fn imported(scratch: &Scratch, mut run: Value, status: Value) {
    run["environment"]["host_name"] = "elsewhere".into();
    run["status"] = status;
    fs::write(scratch.path("run.json"), run.to_string()).expect("a file");
    scratch.check(&["runs", "import", "run.json"], 0, "imported run.json");
}

#[test]
fn runs_of_other_machines_start_no_programs() {
    let scratch = Scratch::new();
    let partial = serde_json::json!({"state": "partial", "reason": "stopped by SIGINT"});
    let trial = measured(&scratch, KINDS[0]);
    imported(&scratch, trial.clone(), partial);
    let args = ["runs", "repeat", "--quiet"];
    let again = scratch.check(&args, 0, "Saved as run 3");
    assert!(
        again
            .stderr
            .contains("note: the run was measured on elsewhere"),
        "{}",
        again.stderr
    );
    let time = measured(&scratch, &["time", "--runs", "2", "true"]);
    repeated(&scratch, &time["id"].to_string());
    imported(&scratch, time, serde_json::json!({"state": "complete"}));
    scratch.check(&args, 2, "would start the programs that it names here");
}

#[test]
fn the_setup_is_shown() {
    let scratch = Scratch::new();
    measured(&scratch, KINDS[0]);
    let brief = scratch.check(
        &["runs", "show"],
        0,
        "given: target sim:mm1?mean=1ms; clients 4",
    );
    assert!(
        brief.stdout.contains("settings (--all shows them)"),
        "{}",
        brief.stdout
    );
    let whole = scratch.check(&["runs", "show", "--all"], 0, "4KiB  (default)");
    assert!(whole.stdout.contains("(auto)"), "{}", whole.stdout);
}

#[test]
fn a_run_of_another_schema_is_refused() {
    let scratch = Scratch::new();
    let mut run = measured(&scratch, KINDS[0]);
    run["schema"] = 1.into();
    fs::write(scratch.path("run.json"), run.to_string()).expect("a file");
    let expected = "Read it with the version of Seekstone that wrote it, or rerun";
    scratch.check(&["runs", "import", "run.json"], 2, expected);
}
