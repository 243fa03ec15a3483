//! Storage that stops to answer: what is said of it, what is kept, and how the program ends. It
//! answers again when a test says so.

use std::fs::create_dir;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use known_storage::{Behaviour, HELD, KnownStorage, KnownSubmission};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Ended, Running, Scratch, finish, side_by_side, skipped};

/// A test that waits longer for a text has failed.
const LIMIT: Duration = Duration::from_secs(300);
/// What an operation takes before the storage hangs.
const TAKES: Duration = Duration::from_micros(500);

struct Scene {
    storage: KnownStorage,
    hangs: Arc<AtomicBool>,
    scratch: Scratch,
}

impl Scene {
    /// `None` where FUSE cannot be used.
    fn new(submission: KnownSubmission) -> Option<Self> {
        let scratch = Scratch::new();
        let mounted_on = scratch.path("known");
        create_dir(&mounted_on).expect("a new directory");
        let hangs = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&hangs);
        let behaviour = Behaviour {
            size: 64 << 20,
            submission,
            law: Box::new(move |_| match asked.load(Ordering::Acquire) {
                true => HELD,
                false => TAKES,
            }),
        };
        match KnownStorage::mount(&mounted_on, behaviour) {
            Ok(storage) => {
                storage.release_after(LIMIT);
                Some(Self {
                    storage,
                    hangs,
                    scratch,
                })
            }
            Err(error) => {
                skipped("hangs", &format!("FUSE cannot be used here ({error})"));
                None
            }
        }
    }

    fn file(&self) -> PathBuf {
        self.storage.file().to_owned()
    }

    /// A program that was let work until it said `stage`, and whose `count` operations hang.
    fn hung(&self, args: &[&str], stage: &str, count: usize) -> HungProgram<'_> {
        let file = self.file().to_string_lossy().into_owned();
        let args = args.iter().map(|arg| arg.replace("FILE", &file));
        let running = Running::start(self.scratch.seekstone(args));
        let mut hung = HungProgram {
            storage: &self.storage,
            running: Some(running),
        };
        let running = hung.running();
        running.wait_for(stage);
        let served = self.storage.log().len() + 300;
        assert!(running.runs_until(|| self.storage.log().len() > served));
        self.hangs.store(true, Ordering::Release);
        assert!(running.runs_until(|| self.storage.held() >= count));
        hung
    }
}

/// A program that cannot end, not even when its test fails, before the storage answers.
struct HungProgram<'a> {
    storage: &'a KnownStorage,
    running: Option<Running>,
}

impl HungProgram<'_> {
    fn running(&mut self) -> &mut Running {
        self.running.as_mut().expect("it has not ended")
    }

    /// The program has said all that it had to say; the storage answers, so that it can end.
    fn released(mut self) -> Ended {
        self.storage.release();
        self.running.take().expect("it has not ended").end()
    }
}

impl Drop for HungProgram<'_> {
    fn drop(&mut self) {
        self.storage.release();
    }
}

fn text_of(run: &Value, code: &str) -> String {
    let mut warnings = run["warnings"].as_array().expect("warnings").iter();
    let found = warnings.find(|it| it["code"] == code);
    found.map_or(String::new(), |it| it["text"].to_string())
}

/// What was done counts; what was given up has waited for a second at least, and is in no mean.
#[track_caller]
fn check_kept(run: &Value, count: usize, submission: KnownSubmission) {
    let told = text_of(run, "hung");
    assert!(
        told.contains(&format!("{} on ", operations(count))),
        "{run:#}"
    );
    // A ring whose submission returns has no thread that waits.
    let is_asynchronous = submission == KnownSubmission::Returns;
    assert_eq!(told.contains("in io_uring"), is_asynchronous, "{told}");
    let measurement = &run["measurements"][0];
    // A worker that hangs itself leaves what it had recorded a moment before.
    let least = if count == 1 { 1 } else { 100 };
    let kept = measurement["completions_all"].as_u64();
    assert!(kept >= Some(least), "{measurement}");
    let unfinished = &measurement["unfinished"];
    assert_eq!(unfinished["count"], count, "{measurement}");
    assert_eq!(unfinished["answered"], 0, "{unfinished}");
    let response = &measurement["response"];
    assert!(
        response["max_ns"].as_u64() >= Some(1_000_000_000),
        "{response}"
    );
    assert!(response["mean"]["value"].as_f64() < Some(1e8), "{response}");
}

fn operations(count: usize) -> &'static str {
    match count {
        1 => "1 operation",
        _ => "4 operations",
    }
}

const PARTIAL: &str = "What was measured before is above";

/// The screen said "at most 0 s left" for as long as the storage hung, and nothing after Ctrl-C; a
/// second one threw away what had been measured.
#[test]
fn a_second_signal_keeps_what_was_measured() {
    let cases = [
        ("threads", "4", KnownSubmission::Blocks),
        ("threads", "1", KnownSubmission::Blocks),
        ("uring", "4", KnownSubmission::Returns),
        ("uring", "4", KnownSubmission::Blocks),
    ];
    side_by_side(&cases, |&(driver, clients, submission)| {
        let Some(scene) = Scene::new(submission) else {
            return;
        };
        let args = [
            "trial",
            "FILE",
            "--duration",
            "60s",
            "--driver",
            driver,
            "--clients",
            clients,
            "--json",
            "-",
        ];
        let count = clients.parse().expect("a number");
        let mut hung = scene.hung(&args, "random read", count);
        let running = hung.running();
        running.signal(Signal::INT);
        let said = running.line_with("Waiting for ");
        let operations = operations(count);
        assert!(
            said.contains(&format!("Waiting for {operations}, outstanding for")),
            "{said}"
        );
        running.signal(Signal::INT);
        let said = running.line_with("error: ");
        assert!(
            said.contains(&format!("stopped by SIGINT. {PARTIAL}")),
            "{said}"
        );
        let ended = hung.released();
        assert_eq!(ended.code, Some(1), "{ended:?}");
        check_kept(&ended.json(), count, submission);
        scene
            .scratch
            .check(&["runs", "show", "1"], 0, "PARTIAL stopped by SIGINT");
    });
}

/// A run of many trials ends by itself, and goes on behind the last that was complete.
#[test]
fn a_run_ends_at_its_limit_and_goes_on_when_the_storage_answers() {
    let job = [
        "--filename=FILE",
        "--rw=randread",
        "--time_based",
        "--runtime=1",
        "--iodepth=4",
        "--ioengine=libaio",
        "--direct=1",
    ];
    let begin = [
        "fio",
        "--eta=always",
        "--hang-limit",
        "300ms",
        "--name=first",
    ];
    let second = ["--name=second", "--stonewall"];
    let fio = [&begin[..], &job, &second, &job].concat();
    let cases: [(&[&str], &str); 3] = [
        (
            &["run", "FILE", "--budget", "8s", "--hang-limit", "300ms"],
            "random read 4 KiB, QD1",
        ),
        (
            &["curve", "FILE", "--budget", "8s", "--hang-limit", "300ms"],
            "2 clients",
        ),
        (&fio, "second"),
    ];
    side_by_side(&cases, |&(args, stage)| {
        let Some(scene) = Scene::new(KnownSubmission::Blocks) else {
            return;
        };
        let mut hung = scene.hung(args, stage, 1);
        let running = hung.running();
        let said = running.line_with("error: ");
        assert!(said.contains("outstanding for"), "{said}");
        assert!(
            said.contains("the storage does not answer (--hang-limit 300 ms)"),
            "{said}"
        );
        // A file that is written at once is written again, and counts then, too.
        running.wait_for("`seekstone runs resume` goes on after ");
        running.wait_for("the kernel may end this process only when the storage answers");
        let ended = hung.released();
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(!ended.stdout.is_empty(), "{ended:?}");
        let resumed = finish(scene.scratch.seekstone(["runs", "resume"]));
        assert!(matches!(resumed.code, Some(0 | 3)), "{resumed:?}");
        let is_stage = |it: &&str| it.starts_with('[') && !it.contains("Plan: ");
        let measured = resumed.stderr.lines().find(is_stage);
        assert!(
            measured.is_some_and(|line| line.contains(stage)),
            "{resumed:?}"
        );
        scene.scratch.check(&["runs", "list"], 0, "2");
        scene
            .scratch
            .check(&["runs", "resume", "--list"], 0, "no run was killed");
    });
}

/// Calls of a script are the program's own: nobody can go on without them, but both signals are
/// heard. The kernel gave them to the thread that hung.
#[test]
fn signals_are_heard_while_a_call_of_a_script_hangs() {
    let Some(scene) = Scene::new(KnownSubmission::Blocks) else {
        return;
    };
    let mut hung = scene.hung(&["files", "FILE", "--tests", "11"], "round 1", 1);
    let running = hung.running();
    running.signal(Signal::INT);
    let said = running.line_with("Waiting for the storage: ");
    assert!(said.contains("Ctrl-C again ends the program."), "{said}");
    running.signal(Signal::INT);
    running.wait_for("the kernel may end this process only when the storage answers");
    let ended = hung.released();
    assert_eq!(ended.code, Some(128 + 2), "{ended:?}");
}
