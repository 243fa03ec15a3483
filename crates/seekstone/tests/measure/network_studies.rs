//! The studies over a network that come with the program, shortened, with real servers: what they
//! find, and that nothing of them is left.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::pressure::Pressure;
use crate::support::tables::in_turn;
use crate::support::{Ended, Running, Scratch, finish, leftovers, skipped};
use rustix::process::Signal;
use serde_json::Value;

/// What a study says when it cannot be run here.
const MISSING: [&str; 2] = ["the study needs ", "missing: apt-get install"];

fn study(scratch: &Scratch, name: &str, more: &[&str]) -> Command {
    let target = scratch.target().display().to_string();
    let args = ["study", name, "--target", &target, "--reserve", "0"];
    scratch.seekstone([&args[..], more].concat())
}

/// Nothing of a study is left: no namespace, no mount, no file, no process at the ends of a link.
#[track_caller]
fn assert_gone(scratch: &Scratch, name: &str, spaces: [&str; 2]) {
    for space in spaces {
        let path = Path::new("/run/netns").join(space);
        assert!(!path.exists(), "{name} left the namespace {space}");
    }
    let mounts = fs::read_to_string("/proc/mounts").expect("mounts");
    let target = scratch.target().display().to_string();
    assert!(!mounts.contains(&target), "{name} left a mount: {mounts}");
    assert_eq!(
        leftovers(Path::new(&target)),
        Vec::<String>::new(),
        "{name}"
    );
}

/// Run it to its end; nothing, with a message, where it cannot be run.
#[track_caller]
fn run(scratch: &Scratch, name: &str, spaces: [&str; 2], more: &[&str]) -> Option<Ended> {
    let ended = finish(study(
        scratch,
        name,
        &[&["-q", "--json", "-"], more].concat(),
    ));
    assert_gone(scratch, name, spaces);
    let is_missing = |it: &&str| ended.stderr.contains(*it);
    if ended.code != Some(0) && MISSING.iter().any(is_missing) {
        skipped(name, ended.error());
        return None;
    }
    ended.check(&[name], 0, "");
    Some(ended)
}

/// The mean of a reading in the cells that have these levels.
#[track_caller]
fn mean(run: &Value, reading: &str, levels: &[&str]) -> f64 {
    let values = values(run, reading, levels);
    values.iter().sum::<f64>() / values.len() as f64
}

/// A reading in the cells that have these levels.
#[track_caller]
fn values(run: &Value, reading: &str, levels: &[&str]) -> Vec<f64> {
    let has = |it: &&(&Value, &Value)| {
        let own = it.0["levels"].as_array().expect("levels");
        levels.iter().all(|level| own.iter().any(|it| it == level))
    };
    let values: Vec<f64> = in_turn(run)
        .iter()
        .filter(has)
        .flat_map(|(_, it)| it["readings"].as_array().expect("readings"))
        .filter(|it| it[0] == reading)
        .map(|it| it[2].as_f64().expect("a value"))
        .collect();
    assert!(!values.is_empty(), "no {reading} at {levels:?}");
    values
}

#[test]
fn nfs_with_blocks_of_1k_is_slower_than_with_8k_and_the_study_says_so() {
    let scratch = Scratch::new();
    let spaces = ["nfs99-client", "nfs99-server"];
    let short = ["--set", "size=64KiB", "--only", "block=1KiB,8KiB"];
    let more = [&short[..], &["--only", "rsize/wsize=8k"]].concat();
    let Some(ended) = run(&scratch, "nfs-linux", spaces, &more) else {
        return;
    };
    let run = ended.json();
    let small = mean(&run, "write rate", &["1KiB"]);
    let large = mean(&run, "write rate", &["8KiB"]);
    assert!(small < large, "{small} {large}");
    let conclusions = run["findings"].to_string();
    assert!(conclusions.contains("1KiB"), "{conclusions}");
    assert!(
        conclusions.contains("times as fast as 8KiB"),
        "{conclusions}"
    );
}

#[test]
fn nfs_with_a_mount_of_1k_and_to_a_far_server() {
    let scratch = Scratch::new();
    let spaces = ["nfs98-client", "nfs98-server"];
    let short = [
        "--set",
        "size=64KiB",
        "--replicates",
        "1",
        "--only",
        "block=8KiB",
    ];
    let Some(ended) = run(&scratch, "nfs-aix-linux", spaces, &short) else {
        return;
    };
    let run = ended.json();
    let far = mean(&run, "write rate", &["far server"]);
    // 10 Mbit/s are 1.25 MB/s.
    assert!(far < 1.25e6, "{far}");
    assert!(mean(&run, "write rate", &["local disk"]) > 0.0);
}

#[test]
fn ftp_over_a_link_is_as_fast_as_its_window_allows() {
    let test = "ftp_over_a_link_is_as_fast_as_its_window_allows";
    let scratch = Scratch::new();
    let spaces = ["fddi-axp612", "fddi-mvs16"];
    let file = ["--set", "url=ftp://10.99.3.2/short"];
    let short = [&["--replicates", "1"][..], &file].concat();
    let windows = ["--only", "window=9216,32768", "--only", "transfers=1"];
    let windows = [&short[..], &windows].concat();
    let pressure = Pressure::new();
    let Some(ended) = run(&scratch, "fddi-ftp", spaces, &windows) else {
        return;
    };
    let first = ended.json();
    let small = mean(&first, "rate", &["9216"]);
    let large = mean(&first, "rate", &["32768"]);
    // 128 KiB at window by round trip, and two round trips to ask for the file and hear of its end.
    let expected = 131_072.0 / (131_072.0 / (9216.0 / 0.020) + 2.0 * 0.020);
    pressure.assert_rate(test, small, expected, 0.1);
    assert!(large < 1.25e6 && large > small, "{small} {large}");
    // One that follows a late packet looks shorter by as much as that was late.
    let round_trips = values(&first, "round trip", &[]);
    let longest = round_trips.into_iter().fold(0.0, f64::max);
    assert!(longest >= 0.018, "the link's delay: {longest}");

    // The second finds the link full: each has half of it, and both together have all. The whole
    // file, so that they run beside each other for nearly all of their time.
    let both = ["--only", "window=32768", "--only", "buffer=32KiB"];
    let once = ["--replicates", "1", "--only", "extent=0"];
    let both = [once, both].concat();
    let Some(ended) = run(&scratch, "fddi-ftp", spaces, &both) else {
        return;
    };
    let second = ended.json();
    let share = mean(&second, "rate each", &["2"]) / mean(&second, "rate each", &["1"]);
    let is_half = (0.4..0.7).contains(&share);
    pressure.assert(test, is_half, &format!("{share} of the rate"));
    let together = mean(&second, "rate", &["2"]) / mean(&second, "rate", &["1"]);
    let is_all = (0.9..1.3).contains(&together);
    pressure.assert(test, is_all, &format!("{together} of the rate"));
}

#[test]
fn a_web_page_waits_a_second_for_each_look_up_of_a_name() {
    let scratch = Scratch::new();
    let spaces = ["cern-axp612", "cern-vsbz"];
    let taken = Command::new("ip")
        .args(["netns", "add", spaces[1]])
        .status();
    if taken.is_ok_and(|status| status.success()) {
        let ended = finish(study(&scratch, "cern-httpd", &["-q", "--replicates", "1"]));
        let is_there = Path::new("/run/netns").join(spaces[1]).exists();
        let removed = Command::new("ip")
            .args(["netns", "del", spaces[1]])
            .status();
        assert!(
            is_there && removed.is_ok(),
            "a foreign namespace is left alone"
        );
        assert_gone(&scratch, "cern-httpd", spaces);
        assert_ne!(ended.code, Some(0), "{}", ended.stderr);
    }
    let short = ["--replicates", "1", "--only", "client=another host"];
    let objects = ["--set", "objects=[\"/0.gif\"]"];
    let more = [&short[..], &objects].concat();
    let Some(ended) = run(&scratch, "cern-httpd", spaces, &more) else {
        return;
    };
    let run = ended.json();
    let time = |levels: &[&str]| mean(&run, "page time", levels);
    assert!(
        time(&["apache, names looked up", "cold"]) >= 2.0,
        "two connections"
    );
    let kept = time(&["apache, names looked up", "kept"]);
    assert!((1.0..2.0).contains(&kept), "{kept}");
    for server in ["apache", "nginx"] {
        assert!(time(&[server, "cold"]) < 1.0, "{server}");
    }
}

#[test]
fn a_study_that_is_stopped_takes_its_servers_down() {
    let scratch = Scratch::new();
    let spaces = ["fddi-axp612", "fddi-mvs16"];
    // Beside the other test of this study, and what another run of the tests has left.
    let own = format!("s{}-", std::process::id());
    let text = fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../studies/fddi-ftp.toml"
    ));
    let text = text.expect("the study").replace("fddi-", &own);
    let file = scratch.path("stop.toml");
    fs::write(&file, text).expect("a file");
    let spaces = spaces.map(|it| it.replace("fddi-", &own));
    let file = file.display().to_string();
    let running = Running::start(study(&scratch, &file, &["--replicates", "1000"]));
    let there = || Path::new("/run/netns").join(&spaces[1]).exists();
    let begun = std::time::Instant::now();
    while !there() && begun.elapsed().as_secs() < 10 {
        std::thread::yield_now();
    }
    if !there() {
        skipped(
            "a_study_that_is_stopped_takes_its_servers_down",
            "no link here",
        );
        return;
    }
    running.signal(Signal::INT);
    let ended = running.end();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert_gone(&scratch, "stop", [&spaces[0], &spaces[1]]);
}
