//! Runs the program as a user does: with arguments, signals and broken storage, and looks at what
//! it says, how it ends and what it leaves.

// Each group of tests is a program of its own and uses its own part of this.
#![allow(dead_code)]

pub mod data_files;
pub mod group;
pub mod http;
pub mod network;
pub mod pressure;
pub mod ranks;
pub mod seccomp;
pub mod storage;
pub mod tables;
pub mod traps;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use tempfile::TempDir;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_seekstone");
/// A child that has not ended by then hangs. No test needs more than a few seconds, but three ranks
/// beside forty other processes on two processors took minutes.
pub const HANGING: Duration = Duration::from_secs(600);
/// How often something is looked at that says nothing when it is so.
const LOOK: Duration = Duration::from_micros(500);
/// What voids a measurement of real storage that others keep from the processors or the disk.
const BUSY: [&str; 3] = [
    "Seekstone itself was paused for",
    "came from other processes",
    "no time is left for a longer trial",
];
/// No load explains that.
const WRONG_DATA: &str = "different data from what was written";
/// As the kernel's `linux/magic.h` has it.
const RAMFS_MAGIC: libc::c_long = 0x8584_58f6;
const SHARED_MEMORY: &str = "/dev/shm";
/// That of a container may have 64 MB.
const SHARED_MEMORY_LEAST: u64 = 2 << 30;
/// The smallest check-up there is. A disk that writes its file at 4 MB/s is fast enough.
pub const SHORT: [&str; 5] = ["run", "--budget", "4s", "--size", "16MiB"];
/// The same, and leave no trace.
pub const SHORT_UNSAVED: [&str; 6] = ["run", "--budget", "4s", "--size", "16MiB", "--no-save"];

/// A directory of a test's own on the disk of the build, removed with all that is in it.
pub struct Scratch {
    directory: TempDir,
}

impl Scratch {
    pub fn new() -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        Self { directory }
    }

    /// On a disk, of which caches can be dropped; `None`, with a message, where tests have their
    /// files in memory.
    pub fn on_disk(test: &str) -> Option<Self> {
        let scratch = Self::new();
        let is_on_disk = !scratch.is_in_memory();
        if !is_on_disk {
            skipped(test, "the files of tests are in memory");
        }
        is_on_disk.then_some(scratch)
    }

    /// Whether the files of tests are on a file system in memory.
    pub fn is_in_memory(&self) -> bool {
        let system = rustix::fs::statfs(self.directory.path()).expect("a file system");
        [libc::TMPFS_MAGIC, RAMFS_MAGIC].contains(&system.f_type)
    }

    /// In memory, where that is a directory with room, for what is not about the storage: a disk of
    /// 5 MB/s does not write a test file within a short budget. Many small files are made there at
    /// the same speed on every machine; ext4 without a journal looks at each inode that was deleted
    /// lately.
    pub fn in_memory() -> Self {
        let free = rustix::fs::statvfs(SHARED_MEMORY).map_or(0, |it| it.f_bavail * it.f_frsize);
        match tempfile::tempdir_in(SHARED_MEMORY) {
            Ok(directory) if free >= SHARED_MEMORY_LEAST => Self { directory },
            _ => Self::new(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The directory to be measured, with files of a user in it whose names are like ours.
    pub fn target(&self) -> PathBuf {
        let target = self.path("target");
        fs::create_dir_all(&target).expect("a directory");
        for name in [
            "main",
            "cache",
            "owner",
            "probe",
            "f0000001",
            ".seekstone-mine",
        ] {
            fs::write(target.join(name), format!("{name} of the user\n")).expect("a file");
        }
        target
    }

    /// The program, started here, with an archive of its own and nothing from outside.
    pub fn seekstone<S: AsRef<std::ffi::OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(args);
        self.settle(&mut command);
        command
    }

    /// Another command in the same surroundings.
    pub fn settle(&self, command: &mut Command) {
        command
            .current_dir(self.directory.path())
            .env("SEEKSTONE_ARCHIVE", self.archive())
            .env("HOME", self.path("home"))
            .env_remove("XDG_DATA_HOME")
            // Other tests use the same disk.
            .env("SEEKSTONE_SHARED", "1")
            .env("LC_ALL", "C");
    }

    pub fn archive(&self) -> PathBuf {
        self.path("archive.db")
    }

    /// Run it; it must end with this code and print this. An error is one sentence.
    #[track_caller]
    pub fn check(&self, args: &[&str], code: i32, expected: &str) -> Ended {
        let ended = finish(self.seekstone(args));
        ended.check(args, code, expected);
        ended
    }

    /// What is left of us in `directory`.
    #[track_caller]
    pub fn assert_clean(&self, directory: &Path) {
        assert_eq!(leftovers(directory), Vec::<String>::new(), "left behind");
    }
}

/// Our directories in `directory`. A user's file with such a name is none.
pub fn leftovers(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("the measured directory");
    let names = entries.map(|entry| {
        let name = entry.expect("an entry").file_name();
        name.to_string_lossy().into_owned()
    });
    names
        .filter(|name| name.starts_with(".seekstone-") && name != ".seekstone-mine")
        .collect()
}

/// What a user has: names, contents and times of change of the files in a directory.
#[derive(PartialEq, Eq)]
pub struct Belongings {
    files: BTreeMap<PathBuf, (Vec<u8>, SystemTime)>,
}

impl Belongings {
    /// A file, or the files directly in a directory.
    pub fn of(path: &Path) -> Self {
        let paths = if path.is_dir() {
            let entries = fs::read_dir(path).expect("a directory");
            entries
                .map(|entry| entry.expect("an entry").path())
                .collect()
        } else {
            vec![path.to_owned()]
        };
        let read = |path: PathBuf| {
            let metadata = fs::metadata(&path).expect("metadata");
            let content = fs::read(&path).expect("content");
            let changed = metadata.modified().expect("a time");
            metadata.is_file().then_some((path, (content, changed)))
        };
        let files = paths.into_iter().filter(|path| path.is_file());
        Self {
            files: files.filter_map(read).collect(),
        }
    }

    #[track_caller]
    pub fn assert_untouched(&self) {
        for (path, (content, changed)) in &self.files {
            // Compared by hand: nobody wants to see megabytes of both.
            let is_same = fs::read(path).is_ok_and(|found| found == *content);
            assert!(is_same, "{} has another content", path.display());
            let found = fs::metadata(path).and_then(|metadata| metadata.modified());
            assert_eq!(found.ok().as_ref(), Some(changed), "{}", path.display());
        }
    }
}

/// How a program ended, and what it said.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// It ended with this code, and printed this. A busy machine voids rows of real storage,
    /// rightly: then a measurement ends with 3 in place of 0.
    #[track_caller]
    pub fn check(&self, args: &[&str], code: i32, expected: &str) {
        let Self { stdout, stderr, .. } = self;
        let is_of_model = args.iter().any(|it| it.contains("sim:"));
        let code = match code {
            0 if !is_of_model && self.is_void() => 3,
            code => code,
        };
        let told = format!("{args:?}\nstdout: {stdout}\nstderr: {stderr}");
        assert_eq!(self.code, Some(code), "{told}");
        assert!(
            stdout.contains(expected) || stderr.contains(expected),
            "{expected:?}: {told}"
        );
        assert!(!stderr.contains("panicked"), "{told}");
        let errors = stderr.lines().filter(|line| line.starts_with("error: "));
        let errors = errors.count();
        let are_as_wanted = match code {
            1 | 2 => errors == 1,
            // Nothing is measured where the result would be invalid.
            3 => errors <= 1,
            _ => errors == 0,
        };
        // Help in answer to nothing is no error message.
        let is_help = stderr.contains("Usage:") && args.is_empty();
        assert!(is_help || are_as_wanted, "{told}");
    }

    /// Whether it measured, and said that the machine was too busy for what it measured.
    pub fn is_void(&self) -> bool {
        let said = format!("{} {}", self.stdout, self.stderr);
        let said: Vec<&str> = said.split_whitespace().collect();
        let said = said.join(" ");
        let says = |text: &&str| said.contains(text);
        self.code == Some(3) && BUSY.iter().any(says) && !says(&WRONG_DATA)
    }

    /// Whether it would have used io_uring, which is refused here: then a message says so.
    pub fn lacks_io_uring(&self, test: &str) -> bool {
        let is_refused = self.error().contains("io_uring_setup failed");
        if is_refused {
            skipped(test, "io_uring is refused here");
        }
        is_refused
    }

    /// The line that begins with `error: `.
    pub fn error(&self) -> &str {
        let is_error = |line: &&str| line.starts_with("error: ");
        self.stderr.lines().find(is_error).unwrap_or_default()
    }

    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        let read = serde_json::from_str(&self.stdout);
        read.unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

/// Run a command to its end.
pub fn finish(command: Command) -> Ended {
    Running::start(command).end()
}

/// A program under way. Killed when it hangs, or when its test fails.
pub struct Running {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
    said: String,
    stdout: Option<JoinHandle<String>>,
    watchdog: Option<(Sender<()>, JoinHandle<bool>)>,
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("a child process");
        let mut stdout = child.stdout.take().expect("a pipe");
        let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let stdout = thread::spawn(move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).expect("text");
            text
        });
        let pid = Pid::from_child(&child);
        let (sender, receiver) = channel();
        let watchdog = thread::spawn(move || {
            let is_hanging = receiver.recv_timeout(HANGING) == Err(RecvTimeoutError::Timeout);
            if is_hanging {
                let _ = kill_process(pid, Signal::KILL);
            }
            is_hanging
        });
        Self {
            child,
            stderr,
            said: String::new(),
            stdout: Some(stdout),
            watchdog: Some((sender, watchdog)),
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("a signal");
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_none()
    }

    /// Wait until `is_so` holds; `false` if the program ended first.
    pub fn runs_until(&mut self, mut is_so: impl FnMut() -> bool) -> bool {
        let handle = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty());
        let handle = handle.expect("a handle of a process");
        let span = Timespec::try_from(LOOK).expect("a short span");
        while !is_so() {
            let mut handles = [PollFd::new(&handle, PollFlags::IN)];
            if poll(&mut handles, Some(&span)).expect("a poll") > 0 {
                return false;
            }
        }
        true
    }

    /// Read what it says until a line holds `text`.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) {
        self.line_with(text);
    }

    /// The same, and give the line.
    #[track_caller]
    pub fn line_with(&mut self, text: &str) -> String {
        let line = self.next_line_with(text);
        line.unwrap_or_else(|| panic!("it ended without {text:?}: {}", self.said))
    }

    /// The same, if its budget is enough to come that far.
    #[track_caller]
    pub fn in_time_for(mut self, text: &str) -> Option<Self> {
        let is_there = self.next_line_with(text).is_some();
        let lacks_time = self.said.contains("--budget");
        assert!(
            is_there || lacks_time,
            "it ended without {text:?}: {}",
            self.said
        );
        is_there.then_some(self)
    }

    fn next_line_with(&mut self, text: &str) -> Option<String> {
        loop {
            let mut line = String::new();
            let read = self.stderr.read_line(&mut line).expect("text");
            self.said.push_str(&line);
            if read == 0 || line.contains(text) {
                return (read > 0).then_some(line);
            }
        }
    }

    /// Wait for its end.
    pub fn end(mut self) -> Ended {
        let mut stderr = std::mem::take(&mut self.said);
        self.stderr.read_to_string(&mut stderr).expect("text");
        let status = self.child.wait().expect("an end");
        let stdout = self.stdout.take().expect("a reader").join().expect("text");
        let (sender, watchdog) = self.watchdog.take().expect("a watchdog");
        drop(sender);
        let is_hanging = watchdog.join().expect("a watchdog");
        assert!(!is_hanging, "killed because it hung: {stderr}");
        Ended {
            code: status.code(),
            signal: status.signal(),
            stdout,
            stderr,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What comes of `run` with the first budget that is enough, if one is: it gives `None` where what
/// has ended asks for a longer one. Storage that others use, too, may be hundreds of times slower.
pub fn with_enough_time<T>(run: impl FnMut(&str) -> Option<T>) -> T {
    let found = ["4s", "16s", "64s"].into_iter().find_map(run);
    found.expect("64 s are enough")
}

/// Do `work` for each of `items`, four at a time: programs that wait leave the processors idle.
pub fn side_by_side<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(item);
                }
            });
        }
    });
}

/// Say why a test shows nothing on this machine.
pub fn skipped(test: &str, reason: &str) {
    // What `eprintln` says of a test that passes is never shown.
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {reason}");
}

/// Whether a command is there.
pub fn is_installed(name: &str) -> bool {
    let found = Command::new("sh")
        .args(["-c", "command -v \"$0\"", name])
        .stdout(Stdio::null())
        .status();
    found.is_ok_and(|status| status.success())
}
