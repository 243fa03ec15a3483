//! What is printed of a storage that keeps a log of its own, held against that log.

use std::fs::create_dir;
use std::time::Duration;

use known_storage::{
    Arrival, Behaviour, KnownStorage, KnownSubmission, OperationType, ServedOperation,
};
use serde_json::Value;

use crate::support::pressure::Pressure;
use crate::support::{Scratch, finish, skipped};

const MS: Duration = Duration::from_millis(1);

/// A trial of eight clients on a storage with that law, and the storage's log.
fn measured(
    test: &str,
    submission: KnownSubmission,
    law: impl FnMut(&Arrival) -> Duration + Send + 'static,
    duration: &str,
) -> Option<(Value, Vec<ServedOperation>)> {
    let scratch = Scratch::new();
    let mounted_on = scratch.path("known");
    create_dir(&mounted_on).expect("a new directory");
    let behaviour = Behaviour {
        size: 64 << 20,
        submission,
        law: Box::new(law),
    };
    let storage = match KnownStorage::mount(&mounted_on, behaviour) {
        Ok(storage) => storage,
        Err(error) => {
            skipped(test, &format!("FUSE cannot be used here ({error})"));
            return None;
        }
    };
    let file = storage.file().to_string_lossy().into_owned();
    let fixed = ["--clients", "8", "--no-save", "--quiet", "--json", "-"];
    let args = [&["trial", &*file, "--duration", duration][..], &fixed].concat();
    let ended = finish(scratch.seekstone(&args));
    assert!(matches!(ended.code, Some(0 | 3)), "{}", ended.stderr);
    Some((ended.json(), storage.log()))
}

/// What was read while the trial ran: what looks at the target before has no seven others beside.
fn of_trial(log: &[ServedOperation]) -> Vec<ServedOperation> {
    let first = log.iter().position(|served| served.at_once > 2);
    let reads = log[first.unwrap_or(0)..].iter();
    reads
        .filter(|it| it.arrival.kind == OperationType::Read)
        .copied()
        .collect()
}

/// The mean response time of all that the log holds: the warm-up is in it, and what ended late.
fn mean_of_all_ns(measurement: &Value) -> f64 {
    let number = |path| measurement.pointer(path).and_then(Value::as_f64);
    let done = number("/kinds/0/count").expect("reads");
    let late = number("/unfinished/count").unwrap_or(0.0);
    let of_done = done * number("/kinds/0/response_mean_ns").expect("a mean");
    let of_late = late * number("/unfinished/response_mean_ns").unwrap_or(0.0);
    (of_done + of_late) / (done + late)
}

fn said<'a>(measurement: &'a Value, code: &str) -> Option<&'a str> {
    let mut warnings = measurement["warnings"].as_array()?.iter();
    warnings.find(|it| it["code"] == code)?["text"].as_str()
}

/// Whether or not entering the kernel waits for the storage, it gets what eight clients ask for,
/// and its times are those of its log.
#[test]
fn a_storage_gets_all_clients_at_once_however_it_takes_requests() {
    let test = "a_storage_gets_all_clients_at_once_however_it_takes_requests";
    for (submission, driver) in [
        (KnownSubmission::Blocks, "threads"),
        (KnownSubmission::Returns, "io_uring"),
    ] {
        let pressure = Pressure::new();
        let Some((run, log)) = measured(test, submission, |_| MS * 5, "1s") else {
            return;
        };
        let measurement = &run["measurements"][0];
        let log = of_trial(&log);
        let most = log.iter().map(|served| served.at_once).max();
        assert_eq!(most, Some(8));
        let took: Duration = log.iter().map(|served| served.took).sum();
        let truth = took.as_nanos() as f64 / log.len() as f64;
        let ratio = mean_of_all_ns(measurement) / truth;
        let found = format!("{ratio} of the storage's own {truth} ns");
        pressure.assert_printed(test, ratio, &found);
        if measurement["driver"] == driver {
            let told = said(measurement, "engine-fallback");
            assert_eq!(told.is_some(), driver == "threads", "{told:?}");
        } else {
            // Where io_uring is refused.
            assert_eq!(measurement["driver"], "threads");
        }
    }
}

/// Reads that have been made by the time that all clients of a trial are at work.
const AT_WORK: u32 = 50;

/// A storage that falls silent in the middle of a trial, and answers after its end.
///
/// Bug: the silence began so long after the mount, and on a busy machine the trial later.
#[test]
fn a_stall_that_outlives_the_trial_is_told_in_full() {
    let test = "a_stall_that_outlives_the_trial_is_told_in_full";
    let (mut reads, mut begun) = (0, Duration::ZERO);
    let law = move |arrival: &Arrival| {
        reads += 1;
        if reads == AT_WORK {
            begun = arrival.at;
        }
        let silent = (begun + MS * 1500)..(begun + MS * 6500);
        match reads > AT_WORK && silent.contains(&arrival.at) {
            true => silent.end - arrival.at,
            false => MS * 2,
        }
    };
    let Some((run, log)) = measured(test, KnownSubmission::Returns, law, "3s") else {
        return;
    };
    let measurement = &run["measurements"][0];
    let longest = of_trial(&log).iter().map(|served| served.took).max();
    let longest_ns = longest.expect("some were served").as_nanos() as u64;
    let told_ns = measurement["response"]["max_ns"]
        .as_u64()
        .expect("a maximum");
    assert!(told_ns >= longest_ns, "{told_ns} is less than {longest_ns}");
    let unfinished = &measurement["unfinished"];
    assert_eq!(unfinished["answered"], unfinished["count"], "{unfinished}");
    let stall = said(measurement, "stall").unwrap_or_default();
    assert!(stall.contains("stalled for"), "{measurement}");
    let kept = said(measurement, "kept-back").unwrap_or_default();
    assert!(
        kept.contains("were under way when the trial ended"),
        "{kept}"
    );
}
