//! `command`: what a command of the user's takes, real, user and system.
//!
//! Processor time is what the kernel counted for the command and all processes that it waited for
//! (wait4(2)). The command runs in a process group of its own, so that it can be ended with all
//! that it started.

use std::fs;
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command as Process, Stdio};
use std::time::Instant;

use drivers::{Reaped, reap};
use results::{Better, Reading, Unit};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, test_kill_process_group,
};
use rustix::time::Timespec;
use units::Duration;

use super::Stop;
use super::kind::{Kind, Setting};
use super::place::{MeasureError, Place, go_on};
use super::settings::{SettingFault, Settings, TextOrList};

/// The kind.
pub const KIND: Kind = Kind {
    name: "command",
    about: "what a command takes: elapsed, user and system time",
    settings: &[
        Setting::required(
            "command",
            "TEXT or LIST",
            "what is run: a text by `sh -c`, a list of a program and its arguments without a shell",
        ),
        Setting::or(
            "warm",
            "true or false",
            "false",
            "run it once before, unmeasured, so that every run finds the same caches (the rule of \
             the second run)",
        ),
        Setting::or(
            "cold",
            "true or false",
            "false",
            "drop the system's page cache before the run; root only",
        ),
        Setting::or(
            "time-limit",
            "TIME",
            "1h",
            "end it, and fail, when it takes longer",
        ),
        Setting::optional(
            "directory",
            "PATH",
            "where it runs; the target of the study when not given",
        ),
    ],
    readings: &[
        ("real", "time from its start to its end"),
        ("user", "processor time in programs"),
        ("system", "processor time in the kernel"),
        (
            "memory",
            "the most memory that one of its processes had at once",
        ),
    ],
};

/// How often signals and the time limit are looked at.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};
/// How long a command that is told to end may take.
const GRACE: std::time::Duration = std::time::Duration::from_secs(2);
/// What is kept of what it says on its standard error.
const TAIL_BYTES: usize = 2000;
/// Writing this to it drops clean pages, names and inodes.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments.
    words: Vec<String>,
    caches: Caches,
    time_limit: Duration,
    directory: Option<PathBuf>,
}

/// What a run finds in the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caches {
    AsTheyAre,
    Warm,
    Cold,
}

impl Command {
    pub(super) fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let words = match settings.text_or_list("command")? {
            Some(TextOrList::List(words)) => words,
            Some(TextOrList::Text(script)) => vec!["/bin/sh".into(), "-c".into(), script],
            None => unreachable!("a required setting was seen to be there"),
        };
        let caches = match (settings.flag("warm")?, settings.flag("cold")?) {
            (true, true) => {
                let why = "warm and cold exclude each other: choose one";
                return Err(SettingFault::at("cold", why));
            }
            (true, false) => Caches::Warm,
            (false, true) => Caches::Cold,
            (false, false) => Caches::AsTheyAre,
        };
        Ok(Self {
            words,
            caches,
            time_limit: settings
                .time("time-limit")?
                .unwrap_or(Duration::from_secs(3600)),
            directory: settings.text("directory")?.map(PathBuf::from),
        })
    }

    fn directory<'a>(&'a self, place: &'a Place) -> Result<&'a Path, MeasureError> {
        let Some(directory) = &self.directory else {
            return place.directory(KIND.name);
        };
        match directory.metadata() {
            Ok(found) if found.is_dir() => Ok(directory),
            Ok(_) => Err(MeasureError::Usage(format!(
                "directory = {:?}: it is no directory",
                directory.display().to_string()
            ))),
            Err(error) => Err(MeasureError::io("look at", directory)(error)),
        }
    }

    pub(super) fn check(&self, place: &Place) -> Result<(), MeasureError> {
        self.directory(place)?;
        if self.caches == Caches::Cold {
            let opened = fs::OpenOptions::new().write(true).open(DROP_CACHES);
            opened.map_err(MeasureError::io(
                "drop caches (cold = true is for root) with",
                Path::new(DROP_CACHES),
            ))?;
        }
        Ok(())
    }

    pub(super) fn measure(&self, place: &Place, stop: &Stop) -> Result<Vec<Reading>, MeasureError> {
        let directory = self.directory(place)?;
        match self.caches {
            Caches::AsTheyAre => {}
            Caches::Warm => drop(self.run(directory, stop)?),
            Caches::Cold => drop_caches()?,
        }
        let (elapsed, reaped) = self.run(directory, stop)?;
        let seconds = |name: &str, span: Duration| {
            Reading::new(name, Unit::Seconds, span.as_secs_f64(), Better::Lower)
        };
        Ok(vec![
            seconds("real", elapsed),
            seconds("user", reaped.user),
            seconds("system", reaped.system),
            Reading::new(
                "memory",
                Unit::Bytes,
                reaped.resident_max.as_f64(),
                Better::Lower,
            ),
        ])
    }

    /// Run it once, to its end.
    fn run(&self, directory: &Path, stop: &Stop) -> Result<(Duration, Reaped), MeasureError> {
        go_on(stop)?;
        let (program, arguments) = self.words.split_first().expect("a command has a word");
        let mut process = Process::new(program);
        process
            .args(arguments)
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0);
        let begun = Instant::now();
        let mut child = process
            .spawn()
            .map_err(MeasureError::io("run", Path::new(program)))?;
        let stderr = child.stderr.take();
        let mut running = Running::new(child.id(), stderr).inspect_err(|_| {
            // Nobody watches it, so nobody would end it.
            let _ = child.kill();
            let _ = child.wait();
        })?;
        let reaped = running.wait_for_end(begun, self.time_limit, stop, &self.words)?;
        let elapsed = begun.elapsed().into();
        running.listen();
        match reaped.status.success() {
            true => Ok((elapsed, reaped)),
            false => Err(MeasureError::Failed(format!(
                "{} failed: {}{}",
                shown(&self.words),
                reaped.status,
                running.said()
            ))),
        }
    }
}

/// A command that has not been waited for yet. Ends with all of its group when it is dropped.
struct Running {
    pid: u32,
    pidfd: rustix::fd::OwnedFd,
    stderr: Option<ChildStderr>,
    tail: Vec<u8>,
    is_reaped: bool,
}

impl Running {
    fn new(pid: u32, stderr: Option<ChildStderr>) -> Result<Self, MeasureError> {
        let refused = |error: rustix::io::Errno| {
            MeasureError::Failed(format!(
                "cannot watch the command: {}",
                io::Error::from(error)
            ))
        };
        let known = process_of(pid)
            .ok_or_else(|| MeasureError::Failed(format!("{pid} is no process number")))?;
        let pidfd = pidfd_open(known, PidfdFlags::empty()).map_err(refused)?;
        if let Some(stderr) = &stderr {
            let flags = fcntl_getfl(stderr).map_err(refused)?;
            fcntl_setfl(stderr, flags | OFlags::NONBLOCK).map_err(refused)?;
        }
        Ok(Self {
            pid,
            pidfd,
            stderr,
            tail: Vec::new(),
            is_reaped: false,
        })
    }

    fn wait_for_end(
        &mut self,
        begun: Instant,
        limit: Duration,
        stop: &Stop,
        words: &[String],
    ) -> Result<Reaped, MeasureError> {
        loop {
            if let Some(reaped) = self.reap()? {
                return Ok(reaped);
            }
            go_on(stop)?;
            if begun.elapsed() >= limit.to_std() {
                return Err(MeasureError::Failed(format!(
                    "{} took longer than its time-limit of {limit}, and was ended{}",
                    shown(words),
                    self.said()
                )));
            }
            self.wait_a_little();
            self.listen();
        }
    }

    fn reap(&mut self) -> Result<Option<Reaped>, MeasureError> {
        let reaped = reap(self.pid).map_err(|error| {
            MeasureError::Failed(format!("cannot wait for the command: {error}"))
        })?;
        self.is_reaped = reaped.is_some();
        Ok(reaped)
    }

    /// Until it ends, says something, or it is time to look at signals again.
    fn wait_a_little(&self) {
        let mut watched = vec![PollFd::new(&self.pidfd, PollFlags::IN)];
        if let Some(stderr) = &self.stderr {
            watched.push(PollFd::new(stderr, PollFlags::IN));
        }
        // An interrupted wait is as good as one that came to its end.
        let _ = poll(&mut watched, Some(&LOOK));
    }

    /// Keep the end of what it has said. A process that it left behind may hold the pipe open, so
    /// nobody waits for its end.
    fn listen(&mut self) {
        let Some(stderr) = &mut self.stderr else {
            return;
        };
        let mut chunk = [0; 4096];
        let is_open = loop {
            match stderr.read(&mut chunk) {
                Ok(0) => break false,
                Ok(len) => self.tail.extend_from_slice(&chunk[..len]),
                Err(error) => break error.kind() == io::ErrorKind::WouldBlock,
            }
            let excess = self.tail.len().saturating_sub(TAIL_BYTES);
            self.tail.drain(..excess);
        };
        if !is_open {
            self.stderr = None;
        }
    }

    fn said(&self) -> String {
        let text = String::from_utf8_lossy(&self.tail);
        match text.trim() {
            "" => "; it said nothing on its standard error".to_owned(),
            said => format!("; it said: {said}"),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(group) = process_of(self.pid).filter(|_| !self.is_reaped) else {
            return;
        };
        // It has not been waited for, so the number still stands for it.
        let _ = kill_process_group(group, Signal::TERM);
        let asked = Instant::now();
        while asked.elapsed() < GRACE && !matches!(self.reap(), Ok(Some(_)) | Err(_)) {
            self.wait_a_little();
            self.listen();
        }
        if self.is_reaped && test_kill_process_group(group).is_err() {
            return;
        }
        let _ = kill_process_group(group, Signal::KILL);
        while !self.is_reaped && matches!(self.reap(), Ok(None)) {
            self.wait_a_little();
        }
    }
}

fn process_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

fn drop_caches() -> Result<(), MeasureError> {
    rustix::fs::sync();
    fs::write(DROP_CACHES, "3")
        .map_err(MeasureError::io("drop caches with", Path::new(DROP_CACHES)))
}

/// The command as its user wrote it.
fn shown(words: &[String]) -> String {
    match words {
        [shell, flag, script] if shell == "/bin/sh" && flag == "-c" => format!("`{script}`"),
        words => format!("`{}`", words.join(" ")),
    }
}
