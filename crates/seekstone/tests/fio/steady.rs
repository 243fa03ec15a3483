//! `steadystate` of fio's jobs: a job ends when its rate was even for so long, and its report says
//! so where readers of fio's output look.

use crate::support::pressure::Pressure;
use crate::support::{self, Ended, Scratch};
use serde_json::Value;

/// A model that takes 1 ms for each request: 1000 a second, in virtual time.
const JOB: &str = "[global]\nfilename=sim:delay?time=1ms\nrw=randread\nbs=4k\ntime_based\n\
                   runtime=100\n[a]\n";

fn run(text: &str) -> Ended {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("jobs.fio"), text).expect("a job file");
    let args = [
        "fio",
        "jobs.fio",
        "--no-save",
        "-q",
        "--seed=1",
        "--output-format=json",
    ];
    support::finish(scratch.seekstone(args))
}

fn steady_job(more: &str) -> Value {
    let ended = run(&format!("{JOB}{more}"));
    ended.check(&[], 0, "");
    ended.json()["jobs"][0].clone()
}

#[test]
fn a_job_ends_when_it_was_steady_for_so_long() {
    for rule in ["iops:1%", "iops_slope:0.1%", "bw:100k", "lat:10us"] {
        let job = steady_job(&format!("ss={rule}\nss_dur=10\nss_ramp=5\n"));
        let found = &job["steadystate"];
        assert_eq!(found["attained"], 1, "{rule}: {found}");
        // Five seconds are left out, then ten fill the window.
        let count = job["read"]["total_ios"].as_u64().expect("a number");
        assert!((15_000..16_500).contains(&count), "{rule}: {count}");
        let data = &found["data"];
        assert_eq!(data["iops"].as_array().map(Vec::len), Some(10), "{data}");
        let iops = data["iops_mean"].as_f64().expect("a number");
        assert!((990.0..1010.0).contains(&iops), "{rule}: {iops}");
        let bw = data["bw_mean"].as_f64().expect("a number");
        let bw = bw / 4096.0;
        assert!((990.0..1010.0).contains(&bw), "{rule}: {bw} blocks/s");
        let lat = data["lat_mean"].as_f64().expect("a number");
        assert!((999_000.0..1_001_000.0).contains(&lat), "{rule}: {lat} ns");
    }
}

#[test]
fn a_job_that_is_never_steady_runs_for_its_runtime() {
    // Two requests a window of a second cannot be even to a millionth.
    let job = steady_job(
        "thinktime=490ms\nss=iops:0.000001\nss_dur=10\nrate_process=poisson\n\
                          rate_iops=2\niodepth=4\n",
    );
    assert_eq!(job["steadystate"]["attained"], 0);
    assert!(job["job_runtime"].as_u64() > Some(90_000), "{job}");
    let job = steady_job("ss=iops:1%\n");
    assert_eq!(
        job.get("steadystate"),
        None,
        "without ss_dur it is off, as in fio"
    );
    assert!(job["job_runtime"].as_u64() > Some(99_000), "{job}");
}

/// Copies of a group are judged by their sum, and end together.
#[test]
fn a_group_is_steady_as_a_whole() {
    let job = steady_job("numjobs=3\ngroup_reporting\nss=iops:1%\nss_dur=10\n");
    assert_eq!(job["steadystate"]["attained"], 1);
    let iops = job["steadystate"]["data"]["iops_mean"].as_f64();
    assert!(iops.is_some_and(|iops| iops > 900.0), "{iops:?}");
    let refused = |more: &str, said: &str| {
        let ended = run(&format!("{JOB}{more}"));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(said), "{ended:?}");
    };
    let apart = "is refused: of jobs side by side it is done where all have the same";
    refused("ss=iops:1%\nss_dur=10\nnumjobs=2\n", apart);
    refused("ss=iops:1%\nss_dur=10\n[b]\nrw=randread\n", apart);
    refused("ss=iops:1%\nss_dur=1\n", "ss_dur holds two intervals");
}

/// Bug: operations that came faster than a thread looked at them were in no sample.
#[test]
fn samples_of_a_fast_job_hold_all_that_was_done() {
    let pressure = Pressure::new();
    let ended = run(
        "[a]\nioengine=null\nrw=read\nbs=4k\nsize=1g\ntime_based\nruntime=3\n\
                     ss=iops:0.000001%\nss_dur=2\nss_interval=500ms\n",
    );
    ended.check(&[], 0, "");
    let document = ended.json();
    let job = &document["jobs"][0];
    let number = |value: &Value| value.as_f64().expect("a number");
    let samples = job["steadystate"]["data"]["iops"]
        .as_array()
        .expect("samples");
    // A thread without a processor looks later: then a sample is of more than its interval.
    assert!(samples.len() == 4 || pressure.is_high(), "{samples:?}");
    let sampled = samples.iter().map(number).sum::<f64>() / samples.len() as f64;
    let rate = number(&job["read"]["iops"]);
    // The samples are of two of the three seconds.
    let told = format!("{sampled} a second in samples, {rate} in all");
    let windows = job["read"]["iops_max"]
        .as_f64()
        .zip(job["read"]["iops_min"].as_f64());
    let (most, least) = windows.expect("numbers");
    assert!(
        (least * 0.9..=most * 1.1).contains(&sampled),
        "{told}: {least} to {most}"
    );
    assert!(!document["seekstone"].to_string().contains("log-incomplete"));
}
