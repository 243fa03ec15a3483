//! `watch` on storage that a test slows down, stops and lets go: what is said and kept of it.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use known_storage::{Behaviour, HELD, KnownStorage, KnownSubmission};
use rustix::process::Signal;

use crate::support::{Running, Scratch, skipped};

/// What an operation takes before it is slowed down, us.
const TAKES_US: u64 = 300;
/// Probes after which it is known what is usual, and some more.
const LEARNED: usize = 700;

struct Scene {
    storage: KnownStorage,
    takes_us: Arc<AtomicU64>,
    scratch: Scratch,
}

impl Scene {
    /// `None` where FUSE cannot be used.
    fn new(test: &str) -> Option<Self> {
        let scratch = Scratch::new();
        let mounted_on = scratch.path("known");
        fs::create_dir(&mounted_on).expect("a new directory");
        let takes_us = Arc::new(AtomicU64::new(TAKES_US));
        let asked = Arc::clone(&takes_us);
        let behaviour = Behaviour {
            size: 16 << 20,
            submission: KnownSubmission::Returns,
            law: Box::new(move |_| match asked.load(Ordering::Acquire) {
                u64::MAX => HELD,
                us => Duration::from_micros(us),
            }),
        };
        match KnownStorage::mount(&mounted_on, behaviour) {
            Ok(storage) => Some(Self {
                storage,
                takes_us,
                scratch,
            }),
            Err(error) => {
                skipped(test, &format!("FUSE cannot be used here ({error})"));
                None
            }
        }
    }

    fn file(&self) -> String {
        self.storage.file().to_string_lossy().into_owned()
    }

    fn take(&self, us: u64) {
        self.takes_us.store(us, Ordering::Release);
    }

    /// Where `--exec` writes what began and ended.
    fn heard(&self) -> PathBuf {
        self.scratch.path("heard")
    }

    /// How often that began or ended.
    fn heard_times(&self, what: &str) -> usize {
        let heard = fs::read_to_string(self.heard()).unwrap_or_default();
        heard.lines().filter(|line| *line == what).count()
    }

    /// Whether an event goes on.
    fn is_slow(&self) -> bool {
        self.heard_times("began") > self.heard_times("ended")
    }

    /// A watch that knows what is usual.
    fn watching(&self, more: &[&str]) -> Running {
        let file = self.file();
        let exec = format!("echo $SEEKSTONE_WHAT >> {}", self.heard().display());
        let fixed = ["watch", &file, "--every", "2ms", "--exec", &exec];
        let command = self.scratch.seekstone([&fixed[..], more].concat());
        let mut watch = Running::start(command);
        assert!(watch.runs_until(|| self.storage.log().len() > LEARNED));
        watch
    }
}

/// A count of `/proc/PID/io`.
fn bytes_of(io: &str, name: &str) -> u64 {
    let text = fs::read_to_string(io).unwrap_or_default();
    let mut lines = text.lines().filter_map(|it| it.strip_prefix(name));
    lines.next().and_then(|it| it.parse().ok()).unwrap_or(0)
}

#[test]
fn a_stall_is_told_while_it_lasts_and_outlives_a_kill() {
    let Some(scene) = Scene::new("a_stall_is_told_while_it_lasts_and_outlives_a_kill") else {
        return;
    };
    let mut watch = scene.watching(&[]);
    scene.take(u64::MAX);
    // Without answers no event ends, also none that a busy machine began.
    assert!(watch.runs_until(|| scene.storage.held() >= 2));
    assert!(watch.runs_until(|| scene.is_slow()));
    watch.signal(Signal::KILL);
    scene.take(TAKES_US);
    scene.storage.release();
    assert_eq!(watch.end().signal, Some(9));
    let file = scene.file();
    let past = scene
        .scratch
        .check(&["watch", &file, "--past", "1h"], 0, " on read ");
    assert!(past.stdout.contains("usual p99"), "{past:?}");
}

#[test]
fn a_program_that_was_stopped_says_so() {
    let Some(scene) = Scene::new("a_program_that_was_stopped_says_so") else {
        return;
    };
    let watch = scene.watching(&["--no-save"]);
    watch.signal(Signal::STOP);
    let stopped = Instant::now();
    while stopped.elapsed() < Duration::from_secs(2) {
        scene.scratch.check(&["ping", "sim:mm1", "-q"], 0, "");
    }
    watch.signal(Signal::CONT);
    let mut watch = watch;
    let served = scene.storage.log().len() + LEARNED;
    assert!(watch.runs_until(|| scene.storage.log().len() > served));
    watch.signal(Signal::INT);
    let told = watch.end();
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(
        told.stdout.contains("seekstone stood still for"),
        "{told:?}"
    );
    assert!(
        told.stdout
            .contains("under way while seekstone stood still"),
        "{told:?}"
    );
}

/// A directory gets a file of our own, which is read and synced, and is gone at the end.
#[test]
fn a_directory_is_read_and_synced_and_left_as_it_was() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let path = target.to_str().expect("a path");
    let args = ["watch", path, "--every", "2ms", "--for", "1s", "--no-save"];
    let told = scratch.check(&args, 0, "read p50").stdout;
    assert!(told.contains("sync p50"), "{told}");
    assert!(told.contains("own CPU time: "), "{told}");
    scratch.assert_clean(&target);
}

#[test]
fn what_a_killed_watch_leaves_proves_to_be_ours() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let path = target.to_str().expect("a path");
    let args = ["watch", path, "--every", "1ms", "--no-save"];
    let mut watch = Running::start(scratch.seekstone(args));
    let io = format!("/proc/{}/io", watch.pid());
    // Its file, and blocks that were written again.
    assert!(watch.runs_until(|| bytes_of(&io, "write_bytes: ") > (16 << 20) + (64 << 10)));
    watch.signal(Signal::KILL);
    assert_eq!(watch.end().signal, Some(9));
    scratch.check(&["clean", path, "--yes"], 0, "Removed");
    scratch.assert_clean(&target);
}
