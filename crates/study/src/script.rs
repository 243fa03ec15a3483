//! Runs the set-ups and tear-downs of a study.
//!
//! Each runs in the shell, in a process group of its own, so that a Ctrl-C at the terminal reaches
//! this program alone and what was set up is taken down in order. A set-up may leave processes
//! behind (a server): nobody waits for them, and its tear-down ends them.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration as StdDuration, Instant};

use procedure::study::ShellScript;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, kill_process_group};
use units::Duration;

use host::interrupt::Interrupt;

/// How often a script is looked at.
const LOOK: StdDuration = StdDuration::from_millis(5);
/// How long a script that is told to end may take.
const GRACE: StdDuration = StdDuration::from_secs(2);
/// How much of what a script says last is repeated.
const TAIL_BYTES: u64 = 600;
/// How much of what a command prints is kept.
const OUTPUT_BYTES: u64 = 2000;

/// Why a script did not do its work.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The shell could not be started.
    #[error("{place}: sh could not be started for {what}")]
    Start {
        /// File and line.
        place: String,
        /// Which script.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// It ended with an error.
    #[error("{place}: {what} failed with {status}{printed}")]
    Failed {
        /// File and line.
        place: String,
        /// Which script.
        what: String,
        /// How it ended.
        status: ExitStatus,
        /// What it said last.
        printed: String,
    },
    /// It took too long.
    #[error("{place}: {what} was ended after {limit}, its time-limit{printed}")]
    TooLong {
        /// File and line.
        place: String,
        /// Which script.
        what: String,
        /// How long it may take.
        limit: Duration,
        /// What it said last.
        printed: String,
    },
    /// A signal came.
    #[error("stopped by {0}")]
    Interrupted(&'static str),
}

/// Runs scripts with the same surroundings.
#[derive(Clone, Debug)]
pub struct Shell {
    /// What they find in their environment.
    pub variables: Vec<(String, String)>,
    /// How long each may take.
    pub limit: Duration,
}

impl Shell {
    /// Run a script to its end. Without an interrupt, as for a tear-down, no signal ends it.
    ///
    /// # Errors
    /// When it fails, takes too long, or a signal came.
    pub fn run(
        &self,
        script: &ShellScript,
        what: &str,
        interrupt: Option<&Interrupt>,
    ) -> Result<(), ScriptError> {
        self.printed_by(script, what, interrupt).map(drop)
    }

    /// What a command prints, each line that is not blank; of a long output the first 2000 bytes.
    ///
    /// # Errors
    /// As of [`run`](Self::run).
    pub fn lines(
        &self,
        script: &ShellScript,
        what: &str,
        interrupt: &Interrupt,
    ) -> Result<Vec<String>, ScriptError> {
        let mut output = self.printed_by(script, what, Some(interrupt))?;
        let mut text = Vec::new();
        let read = output.rewind();
        // Of a file in memory nothing is lost.
        let _ = read.and_then(|()| output.take(OUTPUT_BYTES).read_to_end(&mut text));
        let text = String::from_utf8_lossy(&text);
        let lines = text.lines().map(str::trim).filter(|it| !it.is_empty());
        Ok(lines.map(str::to_owned).collect())
    }

    /// Run a script to its end, and give what it printed.
    fn printed_by(
        &self,
        script: &ShellScript,
        what: &str,
        interrupt: Option<&Interrupt>,
    ) -> Result<File, ScriptError> {
        let place = || script.place.clone();
        let cannot = |source: io::Error| ScriptError::Start {
            place: place(),
            what: what.to_owned(),
            source,
        };
        let output = memfd_create("seekstone-script", MemfdFlags::CLOEXEC);
        let mut output = File::from(output.map_err(|error| cannot(error.into()))?);
        let shared = |output: &File| output.try_clone().map(Stdio::from);
        let mut child = Command::new("sh")
            .args(["-c", &script.text])
            .envs(self.variables.iter().cloned())
            .stdin(Stdio::null())
            .stdout(shared(&output).map_err(cannot)?)
            .stderr(shared(&output).map_err(cannot)?)
            .process_group(0)
            .spawn()
            .map_err(cannot)?;
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().map_err(cannot)? {
                break status;
            }
            if let Some(signal) = interrupt.and_then(Interrupt::is_raised) {
                end(&mut child);
                return Err(ScriptError::Interrupted(signal.name));
            }
            if begun.elapsed() >= self.limit.to_std() {
                end(&mut child);
                return Err(ScriptError::TooLong {
                    place: place(),
                    what: what.to_owned(),
                    limit: self.limit,
                    printed: printed(&mut output),
                });
            }
            sleep(LOOK);
        };
        if status.success() {
            return Ok(output);
        }
        Err(ScriptError::Failed {
            place: place(),
            what: what.to_owned(),
            status,
            printed: printed(&mut output),
        })
    }
}

/// End a script with all that it started. It has not been waited for, so its number is its own.
fn end(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let Some(group) = group else { return };
    let _ = kill_process_group(group, Signal::TERM);
    let asked = Instant::now();
    while asked.elapsed() < GRACE {
        if matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
            return;
        }
        sleep(LOOK);
    }
    let _ = kill_process_group(group, Signal::KILL);
    let _ = child.wait();
}

/// The end of what a script said, on one line.
fn printed(output: &mut File) -> String {
    let mut text = Vec::new();
    let length = output.seek(SeekFrom::End(0)).unwrap_or(0);
    let start = length.saturating_sub(TAIL_BYTES);
    let read = output
        .seek(SeekFrom::Start(start))
        .and_then(|_| output.read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text);
    // The first word may have been cut.
    let cut = usize::from(start > 0);
    let words: Vec<&str> = text.split_whitespace().skip(cut).collect();
    if read.is_err() || words.is_empty() {
        return ", and it said nothing".into();
    }
    format!(". It said: {}", words.join(" "))
}
