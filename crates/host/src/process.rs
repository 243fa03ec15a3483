//! Runs a user's command and measures it.
//!
//! It runs in its own process group, so that it can be ended with all its children. Its CPU time is
//! what the kernel counted for it and for all processes that it waited for (wait4(2)).

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

/// Interval for checking signals and the time limit.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};
/// Maximum time for a command to end when asked to.
const GRACE: std::time::Duration = std::time::Duration::from_secs(2);
/// Bytes kept of its standard error.
const TAIL_BYTES: usize = 2000;
/// Writing to this file drops clean pages, names and inodes.
pub const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// A command to run.
#[derive(Clone, Copy, Debug)]
pub struct ProcessSpec<'a> {
    /// The program and its arguments.
    pub words: &'a [String],
    /// Environment variables in addition to this program's.
    pub variables: &'a [(String, String)],
    /// Its working directory.
    pub directory: &'a Path,
    /// Its standard input; empty if absent.
    pub input: Option<&'a Path>,
    /// Whether its output goes to ours; otherwise it is discarded, except for the end of its
    /// standard error.
    pub shows_output: bool,
    /// Maximum time.
    pub time_limit: Duration,
    /// Ends it if this program is killed.
    pub keeper: Option<&'a Keeper>,
}

/// A command that has finished.
#[derive(Clone, Debug)]
pub struct FinishedCommand {
    /// Elapsed time.
    pub elapsed: Duration,
    /// Resources used, and exit status.
    pub reaped: Reaped,
    /// The end of its standard error.
    pub printed: String,
}

/// Why a command did not finish.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The program does not exist or cannot be executed.
    #[error("cannot run `{program}`: {error}{}", hint(error))]
    Start {
        program: String,
        /// Why.
        error: io::Error,
    },
    /// The working directory does not exist.
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
    /// The system does not allow observing it.
    #[error("cannot watch {command}: {error}")]
    Watch {
        command: String,
        /// Why.
        error: io::Error,
    },
    /// It exceeded the time limit.
    #[error("{command} took longer than {limit}, and was killed{printed}")]
    TimeLimit {
        command: String,
        /// The limit.
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

/// Runs the command to its end.
///
/// # Errors
/// If it cannot be started, takes too long, or a signal arrived. It is then ended with all its
/// children.
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
        // Without an observer nobody would end it.
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
        // Each round reads it from the start, which is impossible for a pipe, and opening one would
        // block.
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

/// A device that can be read like a file.
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

/// Writes back all dirty data and drops the system's page cache.
///
/// # Errors
/// If not permitted: it requires root.
pub fn drop_all_caches() -> io::Result<()> {
    rustix::fs::sync();
    std::fs::write(DROP_CACHES, "3")
}

/// The command as the user wrote it.
pub fn shown(words: &[String]) -> String {
    match words {
        [shell, flag, script] if shell == "/bin/sh" && flag == "-c" => format!("`{script}`"),
        words => format!("`{}`", quoted(words)),
    }
}

/// A program and its arguments, quoted for a shell.
pub fn quoted(words: &[String]) -> String {
    // Only a NUL byte cannot be quoted, which arguments cannot contain.
    let quoted = shlex::try_join(words.iter().map(String::as_str));
    quoted.unwrap_or_else(|_| words.join(" "))
}

/// A running command. Ended with its process group on drop.
struct Running {
    pid: u32,
    pidfd: rustix::fd::OwnedFd,
    stderr: Option<ChildStderr>,
    /// Whether its standard error is captured.
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

    /// Waits until it ends, prints something, or signals must be checked.
    fn wait_a_little(&self) {
        let mut watched = vec![PollFd::new(&self.pidfd, PollFlags::IN)];
        if let Some(stderr) = &self.stderr {
            watched.push(PollFd::new(stderr, PollFlags::IN));
        }
        // An interrupted wait is as good as a complete one.
        let _ = poll(&mut watched, Some(&LOOK));
    }

    /// Keeps the end of its output. A background process may keep the pipe open, so this does not
    /// wait for its end.
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
        // It has not been waited for, so its number is still valid.
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
