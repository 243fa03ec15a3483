//! Runs the set-up and tear-down scripts of a study.
//!
//! Each runs in the shell, in its own process group, so that Ctrl-C at the terminal reaches only
//! this program and set-ups are undone in order. A set-up may leave background processes (a
//! server), which its tear-down ends.

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

/// How often a running script is checked.
const LOOK: StdDuration = StdDuration::from_millis(5);
/// Maximum time for a script to end when asked to.
const GRACE: StdDuration = StdDuration::from_secs(2);
/// Length of a script's last output that is quoted.
const TAIL_BYTES: u64 = 600;
/// Length of a command's output that is kept.
const OUTPUT_BYTES: u64 = 2000;

/// Why a script failed.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The shell could not be started.
    #[error("{place}: sh could not be started for {what}")]
    Start {
        /// File and line.
        place: String,
        /// Name of the script.
        what: String,
        /// The system's error.
        source: io::Error,
    },
    /// It ended with an error.
    #[error("{place}: {what} failed with {status}{printed}")]
    Failed {
        /// File and line.
        place: String,
        /// Name of the script.
        what: String,
        /// Its exit status.
        status: ExitStatus,
        /// Its last output.
        printed: String,
    },
    /// It exceeded its time limit.
    #[error("{place}: {what} was ended after {limit}, its time-limit{printed}")]
    TooLong {
        /// File and line.
        place: String,
        /// Name of the script.
        what: String,
        /// Its time limit.
        limit: Duration,
        /// Its last output.
        printed: String,
    },
    /// A signal arrived.
    #[error("stopped by {0}")]
    Interrupted(&'static str),
}

/// Runs scripts in the same environment.
#[derive(Clone, Debug)]
pub struct Shell {
    /// Environment variables.
    pub variables: Vec<(String, String)>,
    /// Time limit of each.
    pub limit: Duration,
}

impl Shell {
    /// Runs a script to its end. Without `interrupt`, as for a tear-down, no signal ends it.
    ///
    /// # Errors
    /// If it fails, takes too long, or a signal arrived.
    pub fn run(
        &self,
        script: &ShellScript,
        what: &str,
        interrupt: Option<&Interrupt>,
    ) -> Result<(), ScriptError> {
        self.printed_by(script, what, interrupt).map(drop)
    }

    /// Non-blank lines of a command's output, limited to the first 2000 bytes.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run).
    pub fn lines(
        &self,
        script: &ShellScript,
        what: &str,
        interrupt: &Interrupt,
    ) -> Result<Vec<String>, ScriptError> {
        let mut output = self.printed_by(script, what, Some(interrupt))?;
        let mut text = Vec::new();
        let read = output.rewind();
        // Reading a file in memory cannot lose data.
        let _ = read.and_then(|()| output.take(OUTPUT_BYTES).read_to_end(&mut text));
        let text = String::from_utf8_lossy(&text);
        let lines = text.lines().map(str::trim).filter(|it| !it.is_empty());
        Ok(lines.map(str::to_owned).collect())
    }

    /// Runs a script to its end, and returns its output.
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

/// Kills a script with all its children. It has not been waited for, so its process id is still
/// valid.
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

/// The end of a script's output, on one line.
fn printed(output: &mut File) -> String {
    let mut text = Vec::new();
    let length = output.seek(SeekFrom::End(0)).unwrap_or(0);
    let start = length.saturating_sub(TAIL_BYTES);
    let read = output
        .seek(SeekFrom::Start(start))
        .and_then(|_| output.read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text);
    // The first word may be truncated.
    let cut = usize::from(start > 0);
    let words: Vec<&str> = text.split_whitespace().skip(cut).collect();
    if read.is_err() || words.is_empty() {
        return ", and it said nothing".into();
    }
    format!(". It said: {}", words.join(" "))
}
