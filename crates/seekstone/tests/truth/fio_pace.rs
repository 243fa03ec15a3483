//! How fast fio's jobs go beside one another and alone: `flow`, `rate_min`, `rate_iops_min`, next
//! to the real fio.

use std::process::Command;

use crate::support::pressure::Pressure;
use crate::support::{self, Ended, Scratch, finish, skipped};
use serde_json::Value;

fn run(scratch: &Scratch, mut program: Command, jobs: &str) -> Ended {
    std::fs::write(scratch.path("jobs.fio"), jobs).expect("a job file");
    scratch.settle(&mut program);
    program.args(["jobs.fio", "--output-format=json"]);
    finish(program)
}

fn ours(jobs: &str) -> Ended {
    let scratch = Scratch::new();
    let program = scratch.seekstone(["fio", "--no-save", "--quiet", "--seed=1"]);
    run(&scratch, program, jobs)
}

fn counts(found: &Value) -> Vec<f64> {
    let jobs = found["jobs"].as_array().expect("jobs");
    let count = |job: &Value| {
        let count = |word: &str| job[word]["total_ios"].as_f64().expect("a count");
        count("read") + count("write")
    };
    jobs.iter().map(count).collect()
}

/// The share of each job of all requests.
fn shares(found: &Value) -> Vec<f64> {
    let counts = counts(found);
    let all: f64 = counts.iter().sum();
    counts.iter().map(|count| count / all).collect()
}

/// The share of all requests that a round of twelve is, of which a slow disk does few: the end may
/// fall into one.
fn round(found: &Value) -> f64 {
    12.0 / counts(found).iter().sum::<f64>()
}

/// Without `flow_sleep`, fio's jobs of null starve each other in some runs, on an idle machine too.
const FLOW: &str = "[global]\nsize=64m\nbs=4k\ntime_based\nruntime=2\nflow_id=3\nflow_sleep=100\n\
                    [a]\nrw=randread\nflow=8\n[b]\nrw=write\nflow=3\n[c]\nrw=read\nflow=1\n";

/// `flow` was refused. Both keep to the weights: of null, and of files.
#[test]
fn jobs_of_a_flow_have_the_shares_of_fio() {
    if !support::is_installed("fio") {
        return skipped("jobs_of_a_flow_have_the_shares_of_fio", "fio is missing");
    }
    let pressure = Pressure::new();
    for engine in ["null", "psync"] {
        let jobs = FLOW.replace("[global]", &format!("[global]\nioengine={engine}"));
        let ended = ours(&jobs);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let ours = ended.json();
        let scratch = Scratch::new();
        let theirs = run(&scratch, Command::new("fio"), &jobs).json();
        let (our_round, their_round) = (round(&ours), round(&theirs));
        let (ours, theirs) = (shares(&ours), shares(&theirs));
        for ((ours, theirs), weight) in ours.iter().zip(&theirs).zip([8.0, 3.0, 1.0]) {
            let told = format!("{engine}: {ours} and {theirs} of fio's, weight {weight} of 12");
            let off = (ours - weight / 12.0).abs();
            assert!(off < 0.01 + our_round, "{told}");
            // Where processors are short, fio itself gives a job far less than its share.
            let apart = (ours - theirs).abs();
            let is_close = apart < 0.02 + our_round + their_round;
            assert!(is_close || pressure.is_high(), "{told}");
        }
    }
}

/// A model that does 1000 a second, in virtual time.
const RATED: &str = "[global]\nfilename=sim:delay?time=1ms\nrw=randread\nbs=4k\ntime_based\n\
                     runtime=10\n[slow]\n";

/// `rate_min` was refused.
#[test]
fn a_job_below_its_least_rate_ends_with_the_error_of_fio() {
    for (option, said) in [
        ("rate_min=5m", "below rate_min of 5 MiB/s"),
        (
            "rate_iops_min=1100",
            "reads came to 1000 IOPS in 1.00 s, below rate_iops_min of 1100 IOPS",
        ),
    ] {
        let ended = ours(&format!("{RATED}{option}\n"));
        assert_eq!(ended.code, Some(1), "{option}: {ended:?}");
        assert!(
            ended.stderr.contains("[slow] ended: reads came to"),
            "{ended:?}"
        );
        assert!(ended.stderr.contains(said), "{option}: {}", ended.stderr);
        let found = ended.json();
        assert_eq!(found["jobs"][0]["error"], 5, "{option}");
        // Two seconds settle, and one is looked at.
        assert_eq!(counts(&found), [3000.0], "{option}");
        let status = &found["seekstone"]["status"];
        assert!(status.to_string().contains("[slow] ended"), "{status}");
    }
    for option in [
        "rate_min=3m",
        "rate_iops_min=900",
        "rate_min=3m,9g",
        "rate_iops_min=0",
    ] {
        let ended = ours(&format!("{RATED}{option}\n"));
        assert_eq!(ended.code, Some(0), "{option}: {ended:?}");
        assert_eq!(counts(&ended.json()), [10_000.0], "{option}");
    }
}

/// The other jobs go on, as in fio, and so do later ones.
#[test]
fn a_job_below_its_least_rate_ends_alone() {
    let jobs = format!("{RATED}rate_iops_min=2000\n[fast]\n[later]\nstonewall\n");
    let ended = ours(&jobs);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let found = ended.json();
    let errors = found["jobs"].as_array().expect("jobs").iter();
    let errors: Vec<&Value> = errors.map(|job| &job["error"]).collect();
    assert_eq!(errors, [5, 0, 0]);
    assert_eq!(counts(&found), [3000.0, 10_000.0, 10_000.0]);
}

/// The same error as fio's own.
#[test]
fn fio_ends_such_a_job_as_we_do() {
    if !support::is_installed("fio") {
        return skipped("fio_ends_such_a_job_as_we_do", "fio is missing");
    }
    let jobs = "[a]\nioengine=null\nrw=read\nbs=4k\nsize=1g\ntime_based\nruntime=8\n\
                rate_iops=500\nthinktime=5ms\nrate_iops_min=400\nrate_cycle=500\n";
    let scratch = Scratch::new();
    let theirs = run(&scratch, Command::new("fio"), jobs);
    let ours = ours(jobs);
    assert_eq!(
        (ours.code, theirs.code),
        (Some(1), Some(1)),
        "{ours:?} {theirs:?}"
    );
    let last = |ended: &Ended| {
        // fio says before its document what was not met.
        let text = &ended.stdout[ended.stdout.find('{').expect("a document")..];
        let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        documents.next().expect("a document").expect("json")
    };
    let (ours, theirs) = (last(&ours), last(&theirs));
    assert_eq!(ours["jobs"][0]["error"], theirs["jobs"][0]["error"]);
}
