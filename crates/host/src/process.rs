//! One run of a command of the user's: what it took, and how it ended.
//!
//! It runs in a process group of its own, so that it can be ended with all that it started. Its
//! processor time is what the kernel counted for it and all processes that it waited for
//! (wait4(2)).

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{ChildStderr, Command, Stdio};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, test_kill_process_group,
};
use rustix::time::Timespec;
use sys::{Reaped, reap};
use units::Duration;

use crate::interrupt::Interrupt;
use crate::keeper::Keeper;

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
pub const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// What is to run, and where.
#[derive(Clone, Copy, Debug)]
pub struct ProcessSpec<'a> {
    /// The program and its arguments.
    pub words: &'a [String],
    /// What it finds in its environment besides this program's.
    pub variables: &'a [(String, String)],
    /// Its working directory.
    pub directory: &'a Path,
    /// Its standard input; empty when absent.
    pub input: Option<&'a Path>,
    /// Whether what it says goes to our own output; else it is dropped, but for the end of its
    /// standard error.
    pub shows_output: bool,
    /// It is ended when it takes longer.
    pub time_limit: Duration,
    /// Ends it where this program is killed.
    pub keeper: Option<&'a Keeper>,
}

/// A command that has ended by itself.
#[derive(Clone, Debug)]
pub struct FinishedCommand {
    /// From its start to its end.
    pub elapsed: Duration,
    /// What it took, and its status.
    pub reaped: Reaped,
    /// The end of what it said on its standard error.
    pub printed: String,
}

/// Why a command did not come to its own end.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// There is no such program, or it may not be run.
    #[error("cannot run `{program}`: {error}{}", hint(error))]
    Start {
        program: String,
        /// Why.
        error: io::Error,
    },
    /// Where it is to run is no directory, or not any more.
    #[error("cannot run {command} in {directory}: there is no such directory")]
    Directory { command: String, directory: String },
    /// Its input cannot be read.
    #[error("cannot read its standard input from {path}: {error}")]
    Input {
        /// The file.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// The system does not let us watch it.
    #[error("cannot watch {command}: {error}")]
    Watch {
        command: String,
        /// Why.
        error: io::Error,
    },
    /// It took too long.
    #[error("{command} took longer than {limit}, and was killed{printed}")]
    TimeLimit {
        command: String,
        /// How long it may take.
        limit: Duration,
        /// The end of its standard error, in words.
        printed: String,
    },
    /// A signal asked this program to stop.
    #[error("stopped by {signal}")]
    Stopped {
        /// The signal's name.
        signal: &'static str,
    },
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => ". Is it installed, and in a directory of PATH?",
        io::ErrorKind::PermissionDenied => ". Is it executable for you?",
        _ => "",
    }
}

/// Run it to its end.
///
/// # Errors
/// When it cannot be started, takes too long, or a signal came; it is ended then, with all that it
/// started.
pub fn run_process(
    spec: &ProcessSpec<'_>,
    interrupt: &Interrupt,
) -> Result<FinishedCommand, ProcessError> {
    go_on(interrupt)?;
    let mut command = command_of(spec)?;
    let begun = Instant::now();
    let mut child = command.spawn().map_err(|error| {
        if !spec.directory.is_dir() {
            return ProcessError::Directory {
                command: shown(spec.words),
                directory: spec.directory.display().to_string(),
            };
        }
        ProcessError::Start {
            program: spec.words[0].clone(),
            error,
        }
    })?;
    let _kept = spec.keeper.map(|keeper| keeper.keep(child.id()));
    let stderr = child.stderr.take();
    let watch = |error| ProcessError::Watch {
        command: shown(spec.words),
        error,
    };
    let mut running = Running::new(child.id(), stderr).map_err(|error| {
        // Nobody watches it, so nobody would end it.
        let _ = child.kill();
        let _ = child.wait();
        watch(error)
    })?;
    let reaped = running.run_out(begun, spec, interrupt)?;
    let elapsed = begun.elapsed().into();
    running.listen();
    Ok(FinishedCommand {
        elapsed,
        reaped,
        printed: running.printed(),
    })
}

fn command_of(spec: &ProcessSpec<'_>) -> Result<Command, ProcessError> {
    let (program, arguments) = spec.words.split_first().expect("a command has a word");
    let input = match spec.input {
        None => Stdio::null(),
        // Each round reads it from its beginning, which no pipe has, and opening one would wait.
        Some(path) => {
            let opened = drivers::open_regular_file(path).map_err(io::Error::from);
            let opened = opened.or_else(|error| match error.kind() {
                io::ErrorKind::InvalidInput => endless(path).ok_or(error),
                _ => Err(error),
            });
            Stdio::from(opened.map_err(|error| ProcessError::Input {
                path: path.display().to_string(),
                error,
            })?)
        }
    };
    let (output, errors) = if spec.shows_output {
        (Stdio::inherit(), Stdio::inherit())
    } else {
        (Stdio::null(), Stdio::piped())
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .envs(spec.variables.iter().map(|(name, value)| (name, value)))
        .current_dir(spec.directory)
        .stdin(input)
        .stdout(output)
        .stderr(errors)
        .process_group(0);
    Ok(command)
}

/// A device that is read like a file.
fn endless(path: &Path) -> Option<File> {
    let known = ["/dev/null", "/dev/zero", "/dev/urandom"].map(Path::new);
    let path = known.into_iter().find(|known| *known == path)?;
    File::open(path).ok()
}

fn go_on(interrupt: &Interrupt) -> Result<(), ProcessError> {
    match interrupt.is_raised() {
        Some(signal) => Err(ProcessError::Stopped {
            signal: signal.name,
        }),
        None => Ok(()),
    }
}

/// Write everything out, and drop the page cache of the whole system.
///
/// # Errors
/// When the system does not allow it: it is for root.
pub fn drop_all_caches() -> io::Result<()> {
    rustix::fs::sync();
    std::fs::write(DROP_CACHES, "3")
}

/// The command as its user wrote it.
#[must_use]
pub fn shown(words: &[String]) -> String {
    match words {
        [shell, flag, script] if shell == "/bin/sh" && flag == "-c" => format!("`{script}`"),
        words => format!("`{}`", quoted(words)),
    }
}

/// A program and its arguments as they would be typed to a shell.
#[must_use]
pub fn quoted(words: &[String]) -> String {
    // Only a zero byte cannot be quoted, and no argument of a program holds one.
    let quoted = shlex::try_join(words.iter().map(String::as_str));
    quoted.unwrap_or_else(|_| words.join(" "))
}

/// A command that has not been waited for yet. Ends with all of its group when it is dropped.
struct Running {
    pid: u32,
    pidfd: rustix::fd::OwnedFd,
    stderr: Option<ChildStderr>,
    /// Its standard error comes to us.
    is_captured: bool,
    tail: Vec<u8>,
    is_reaped: bool,
}

impl Running {
    fn new(pid: u32, stderr: Option<ChildStderr>) -> io::Result<Self> {
        let known = process_of(pid).ok_or(io::ErrorKind::InvalidInput)?;
        let pidfd = pidfd_open(known, PidfdFlags::empty())?;
        if let Some(stderr) = &stderr {
            let flags = fcntl_getfl(stderr)?;
            fcntl_setfl(stderr, flags | OFlags::NONBLOCK)?;
        }
        Ok(Self {
            pid,
            pidfd,
            is_captured: stderr.is_some(),
            stderr,
            tail: Vec::new(),
            is_reaped: false,
        })
    }

    fn run_out(
        &mut self,
        begun: Instant,
        spec: &ProcessSpec<'_>,
        interrupt: &Interrupt,
    ) -> Result<Reaped, ProcessError> {
        loop {
            let reaped = self.reap().map_err(|error| ProcessError::Watch {
                command: shown(spec.words),
                error,
            })?;
            if let Some(reaped) = reaped {
                return Ok(reaped);
            }
            go_on(interrupt)?;
            if begun.elapsed() >= spec.time_limit.to_std() {
                return Err(ProcessError::TimeLimit {
                    command: shown(spec.words),
                    limit: spec.time_limit,
                    printed: self.printed(),
                });
            }
            self.wait_a_little();
            self.listen();
        }
    }

    fn reap(&mut self) -> io::Result<Option<Reaped>> {
        let reaped = reap(self.pid)?;
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

    fn printed(&self) -> String {
        let text = String::from_utf8_lossy(&self.tail);
        match text.trim() {
            "" if self.is_captured => ", and it printed nothing on standard error".to_owned(),
            "" => String::new(),
            printed => format!(". It said: {printed}"),
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
