//! A program that may do anything but last for ever: what it did is told, not asserted at once.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::support::HANGING;

/// How often something is looked at that says nothing when it is so.
const LOOK: Duration = Duration::from_micros(500);
/// As a shell says that a program ended by a panic.
const PANIC: i32 = 101;

/// A program under way, killed when its case fails.
pub struct Bounded {
    child: Child,
    handle: OwnedFd,
    said: File,
}

/// How it ended.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub is_hung: bool,
    /// All that it printed.
    pub said: String,
}

impl Bounded {
    #[track_caller]
    pub fn start(mut command: Command) -> Self {
        let said = tempfile::tempfile().expect("a file");
        let clone = || Stdio::from(said.try_clone().expect("a descriptor"));
        command.stdin(Stdio::null()).stdout(clone()).stderr(clone());
        let child = command.spawn().expect("a child process");
        let handle = pidfd_open(Pid::from_child(&child), PidfdFlags::empty());
        let handle = handle.expect("a handle of a process");
        Self {
            child,
            handle,
            said,
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Wait so long for its end; whether it came.
    pub fn ends_within(&self, span: Duration) -> bool {
        let mut handles = [PollFd::new(&self.handle, PollFlags::IN)];
        let span = Timespec::try_from(span).expect("a short span");
        poll(&mut handles, Some(&span)).expect("a poll") > 0
    }

    /// Wait until `is_so` holds, or the program ends.
    pub fn await_that(&self, mut is_so: impl FnMut() -> bool) {
        while !is_so() && !self.ends_within(LOOK) {}
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("a signal");
    }

    /// Whether it does something of its own about this signal; `false` when it has ended.
    pub fn catches(&self, signal: Signal) -> bool {
        let status = self.proc("status");
        let caught = status
            .lines()
            .find_map(|line| line.strip_prefix("SigCgt:"))
            .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        caught.is_some_and(|mask| mask & (1 << (signal.as_raw() - 1)) != 0)
    }

    /// Whether it stands still because somebody stopped it.
    pub fn is_stopped(&self) -> bool {
        let status = self.proc("status");
        let state = status.lines().find_map(|line| line.strip_prefix("State:"));
        state.is_some_and(|state| state.trim_start().starts_with('T'))
    }

    fn proc(&self, file: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.pid())).unwrap_or_default()
    }

    /// What it has said so far.
    pub fn said(&self) -> String {
        // Read in place: the program writes where the file stands.
        let mut said = vec![0; self.said.metadata().expect("a file").len() as usize];
        let read = self.said.read_at(&mut said, 0).expect("what it said");
        String::from_utf8_lossy(&said[..read]).into_owned()
    }

    /// Wait for its end, but not for ever.
    pub fn end(mut self) -> Outcome {
        let is_hung = !self.ends_within(HANGING);
        if is_hung {
            let _ = self.child.kill();
        }
        let status = self.child.wait().expect("an end");
        self.said.rewind().expect("a file");
        let mut said = Vec::new();
        self.said.read_to_end(&mut said).expect("what it said");
        Outcome {
            code: status.code(),
            signal: status.signal(),
            is_hung,
            said: String::from_utf8_lossy(&said).into_owned(),
        }
    }
}

impl Drop for Bounded {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Run a command to its end.
#[track_caller]
pub fn run(command: Command) -> Outcome {
    Bounded::start(command).end()
}

impl Outcome {
    /// What is wrong with an end that has to have one of these codes; `None` when nothing is.
    pub fn fault(&self, codes: &[i32]) -> Option<String> {
        let told = || {
            let last: Vec<&str> = self.said.lines().rev().take(4).collect();
            last.into_iter().rev().collect::<Vec<_>>().join(" / ")
        };
        if self.is_hung {
            return Some(format!("hangs: {}", told()));
        }
        if let Some(signal) = self.signal {
            return Some(format!("died of signal {signal}: {}", told()));
        }
        let code = self.code.unwrap_or(PANIC);
        if !codes.contains(&code) || self.said.contains("panicked") {
            return Some(format!("exit code {code}: {}", told()));
        }
        let has_sentence = self.said.lines().any(|line| line.starts_with("error: "));
        let is_mute = matches!(code, 1 | 2) && !has_sentence;
        is_mute.then(|| format!("exit code {code} without a sentence: {}", told()))
    }
}
