//! Ends what a command started when this program is killed before it could.
//!
//! A shell waits at a pipe that only this program writes to. It reads there which process group is
//! at work, and kills that group when the pipe closes without another line. The signal that the
//! kernel sends to children of a dead parent reaches the command alone, not what it started itself.

use std::cell::RefCell;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};

const SCRIPT: &str = "while read -r group; do last=$group; done; \
                      [ -z \"$last\" ] || kill -s KILL -- \"-$last\"";

/// Waits for the end of this program.
#[derive(Debug)]
pub struct Keeper {
    shell: Child,
    pipe: RefCell<Option<ChildStdin>>,
}

/// While it lives, a process group is ended if this program is killed.
#[derive(Debug)]
pub struct KeptGroup<'a>(&'a Keeper);

impl Keeper {
    /// Start it, in a process group of its own, so that no signal for ours ends it.
    ///
    /// # Errors
    /// When no shell can be started.
    pub fn start() -> io::Result<Self> {
        let mut shell = Command::new("/bin/sh")
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            .process_group(0)
            .spawn()?;
        let pipe = RefCell::new(shell.stdin.take());
        Ok(Self { shell, pipe })
    }

    /// Have the process group of that number ended with this program.
    #[must_use]
    pub fn keep(&self, group: u32) -> KeptGroup<'_> {
        self.send(&format!("{group}\n"));
        KeptGroup(self)
    }

    fn send(&self, line: &str) {
        if let Some(pipe) = self.pipe.borrow_mut().as_mut() {
            // A shell that was ended keeps nothing, and nothing depends on it.
            let _ = pipe.write_all(line.as_bytes());
        }
    }
}

impl Drop for KeptGroup<'_> {
    fn drop(&mut self) {
        self.0.send("\n");
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.pipe.take();
        let _ = self.shell.wait();
    }
}
