//! `cargo xtask suite`: every test of the workspace, two programs of tests at a time.
//!
//! Cargo runs one program of tests after the other, and each ends with its longest test alone on
//! one processor. Here the longest programs begin first, one for each processor, and those that
//! measure real time run by themselves at the end. What a test skipped is listed by its name.
//! `--scratch DIR` has them measure on the file system of another directory.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::source::{cargo, sources};

/// Features of the program that tests need, beyond those of every build.
const FEATURES: [&str; 2] = ["--features", "seekstone/all"];
/// Programs that take longest, in the order in which they begin.
const LONGEST: [&str; 12] = [
    "seekstone/fleet",
    "seekstone/measure",
    "seekstone/interface",
    "procedure/procedure",
    "seekstone/vintage",
    "seekstone/campaign",
    "sim/sim",
    "seekstone/fio",
    "stats/stats",
    "validation/detection",
    "validation/classic_and_modern",
    "report/report",
];
/// Programs that measure real time, which nothing else may use meanwhile.
const ALONE: [&str; 3] = ["seekstone/truth", "drivers/compute", "network/wire"];
/// Tests at once for each processor: most of those of the program wait for storage.
const THREADS_PER_PROCESSOR: usize = 4;
/// How a test says that it could not run.
const SKIPPED: &str = "skipped:";

/// A program of tests.
#[derive(Clone, Debug)]
pub struct TestProgram {
    /// Package and target.
    pub name: String,
    path: PathBuf,
    /// Where its package stands.
    folder: PathBuf,
}

/// What programs of tests found.
#[derive(Debug, Default)]
struct TestCount {
    passed: u64,
    failed: u64,
    ignored: u64,
    skipped: BTreeSet<String>,
    broken: Vec<String>,
}

/// Build all tests, run them, and end with a line that counts them.
pub fn suite() -> Result<()> {
    let begun = Instant::now();
    let programs = built()?;
    println!("== build: {} s", begun.elapsed().as_secs());
    let begun = Instant::now();
    let (alone, mut together): (Vec<_>, Vec<_>) = programs
        .into_iter()
        .partition(|it| ALONE.contains(&it.name.as_str()));
    together.sort_by_key(|it| {
        LONGEST
            .iter()
            .position(|name| *name == it.name)
            .unwrap_or(LONGEST.len())
    });
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = std::env::var("RUST_TEST_THREADS").ok();
    let threads = threads.and_then(|it| it.parse().ok());
    let threads = threads.unwrap_or(THREADS_PER_PROCESSOR * processors);
    let tally = Mutex::new(TestCount::default());
    let lanes = processors.min(threads);
    run(together, lanes, threads / lanes, &tally);
    run(alone, 1, threads, &tally);
    let mut tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    tally.broken.extend(failing_examples()?);
    println!("== tests: {} s", begun.elapsed().as_secs());
    for text in &tally.skipped {
        println!("{SKIPPED} {text}");
    }
    for name in &tally.broken {
        println!("failed: {name}");
    }
    let (passed, failed) = (tally.passed, tally.failed);
    println!(
        "{passed} passed, {failed} failed, {} skipped",
        tally.ignored
    );
    ensure!(tally.broken.is_empty(), "tests failed");
    Ok(())
}

/// The same with the files of tests in `folder`: it stands, for what is started here alone, where
/// Cargo has them keep their files, and is their temporary directory.
pub fn suite_in(folder: &str) -> Result<()> {
    let program = std::env::current_exe()?;
    let build = program.ancestors().nth(2).context("no build directory")?;
    let script = "mount --bind \"$0\" \"$1\" && exec \"$2\" suite";
    let status = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, folder])
        .args([&build.join("tmp"), &program])
        .env(
            "TMPDIR",
            std::fs::canonicalize(folder).context(folder.to_owned())?,
        )
        .status()
        .context("unshare")?;
    ensure!(
        status.success(),
        "the suite failed, or root is needed to mount {folder}"
    );
    Ok(())
}

/// Build all tests, as the suite runs them.
pub fn built() -> Result<Vec<TestProgram>> {
    let mut cargo = cargo();
    cargo.args(["test", "--workspace", "--no-run", "--locked"]);
    cargo.args(FEATURES);
    cargo.arg("--message-format=json-render-diagnostics");
    let output = cargo.stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the tests cannot be built");
    let text = String::from_utf8(output.stdout)?;
    let messages = text.lines().map(serde_json::from_str::<Value>);
    let programs = messages.filter_map(|it| it.map(|it| test_program(&it)).transpose());
    Ok(programs.collect::<Result<_, _>>()?)
}

/// The program of tests that a message of Cargo is about.
fn test_program(message: &Value) -> Option<TestProgram> {
    let is_test = message["profile"]["test"].as_bool()?;
    let path = message["executable"].as_str().filter(|_| is_test)?;
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    let package = folder.file_name()?.to_str()?;
    let target = message["target"]["name"].as_str()?;
    Some(TestProgram {
        name: format!("{package}/{target}"),
        path: path.into(),
        folder: folder.into(),
    })
}

/// Run programs, `lanes` at a time.
fn run(programs: Vec<TestProgram>, lanes: usize, threads: usize, tally: &Mutex<TestCount>) {
    let waiting = Mutex::new(VecDeque::from(programs));
    std::thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(|| {
                while let Some(program) = next(&waiting) {
                    let begun = Instant::now();
                    let output = program.run(threads);
                    locked(tally).add(&program, output, begun.elapsed().as_secs_f64());
                }
            });
        }
    });
}

/// The lock is not held while a program runs.
fn next(waiting: &Mutex<VecDeque<TestProgram>>) -> Option<TestProgram> {
    locked(waiting).pop_front()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The crates of which an example in the documentation fails.
fn failing_examples() -> Result<Vec<String>> {
    let sources = sources()?;
    let with_examples = sources.iter().filter(|it| {
        let mut lines = it.text.lines().map(str::trim);
        lines.any(|line| matches!(line, "//! ```" | "/// ```"))
    });
    let crates: BTreeSet<&str> = with_examples.map(|it| it.krate.as_str()).collect();
    let mut failing = Vec::new();
    for krate in crates {
        let mut examples = cargo();
        examples.args(["test", "--doc", "--quiet", "-p", krate]);
        if !examples.stdout(Stdio::null()).status()?.success() {
            failing.push(format!("an example of {krate}"));
        }
    }
    Ok(failing)
}

impl TestProgram {
    fn run(&self, threads: usize) -> Result<Output> {
        let mut command = self.command();
        command
            .arg("--show-output")
            .env("RUST_TEST_THREADS", threads.to_string())
            .output()
            .with_context(|| self.path.display().to_string())
    }

    /// The program as Cargo would run it, with no arguments yet.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .env_remove("RUSTC_WORKSPACE_WRAPPER");
        command
    }
}

impl TestCount {
    fn add(&mut self, program: &TestProgram, output: Result<Output>, seconds: f64) {
        let name = &program.name;
        let output = match output {
            Ok(output) => output,
            Err(error) => {
                println!("{name}: {error:#}");
                self.broken.push(name.clone());
                return;
            }
        };
        let text = String::from_utf8_lossy(&output.stdout);
        let count = text.lines().rev().find_map(counts);
        if let Some([passed, failed, ignored]) = count {
            println!("{seconds:7.1} s  {name}: {passed} passed, {failed} failed");
            self.passed += passed;
            self.failed += failed;
            self.ignored += ignored;
        }
        let mut test = "";
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("---- ") {
                test = rest.split(' ').next().unwrap_or_default();
            } else if let Some(why) = line.strip_prefix(SKIPPED) {
                self.skipped.insert(format!("{name} {test}:{why}"));
            }
        }
        // Those that tell it past what is kept of a test name themselves.
        let errors = String::from_utf8_lossy(&output.stderr);
        let told = errors.lines().filter_map(|it| it.strip_prefix(SKIPPED));
        self.skipped.extend(told.map(|why| format!("{name}{why}")));
        // A benchmark that runs a little of itself counts nothing.
        if !output.status.success() {
            println!("{text}{errors}");
            let failed = text.lines().filter_map(|line| {
                let line = line.strip_prefix("test ")?;
                line.strip_suffix(" ... FAILED")
            });
            let before = self.broken.len();
            self.broken.extend(failed.map(|it| format!("{name} {it}")));
            if self.broken.len() == before {
                self.broken.push(name.clone());
            }
        }
    }
}

/// What the last line of a program of tests counts: passed, failed, ignored.
fn counts(line: &str) -> Option<[u64; 3]> {
    let (_, rest) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut parts = rest.split("; ");
    let mut number = |word: &str| parts.next()?.strip_suffix(word)?.trim().parse().ok();
    Some([number("passed")?, number("failed")?, number("ignored")?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_a_program_is_read() {
        let line = "test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 0 filtered \
                    out; finished in 0.07s";
        assert_eq!(counts(line), Some([12, 3, 1]));
        assert_eq!(counts("test a ... ok"), None);
    }

    #[test]
    fn what_a_test_skipped_has_its_name() {
        let program = TestProgram {
            name: "lab/lab".into(),
            path: PathBuf::new(),
            folder: PathBuf::new(),
        };
        let text = "\nsuccesses:\n\n---- a::b stdout ----\nskipped: no fio\n\n\
                    test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n";
        let output = Output {
            status: std::process::ExitStatus::default(),
            stdout: text.into(),
            stderr: "skipped: c::d: no mkfs.ext4\n".into(),
        };
        let mut tally = TestCount::default();
        tally.add(&program, Ok(output), 0.1);
        assert_eq!((tally.passed, tally.broken.len()), (1, 0));
        let skipped: Vec<_> = tally.skipped.into_iter().collect();
        assert_eq!(
            skipped,
            ["lab/lab a::b: no fio", "lab/lab c::d: no mkfs.ext4"]
        );
    }
}
