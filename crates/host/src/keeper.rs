//! Ends a command's processes if this program is killed.
//!
//! A shell waits on a pipe that only this program writes to. It reads the current process group
//! there, and kills that group when the pipe closes without another line. The kernel's parent-death
//! signal would reach only the command, not its children.

use std::cell::RefCell;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};

const SCRIPT: &str = "while read -r group; do last=$group; done; \
                      [ -z \"$last\" ] || kill -s KILL -- \"-$last\"";

/// A shell that waits for the end of this program.
#[derive(Debug)]
pub struct Keeper {
    shell: Child,
    pipe: RefCell<Option<ChildStdin>>,
}

/// While it lives, a process group is killed if this program is.
#[derive(Debug)]
pub struct KeptGroup<'a>(&'a Keeper);

impl Keeper {
    /// Starts it in its own process group, so that signals to ours do not end it.
    ///
    /// # Errors
    /// If no shell can be started.
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

    /// Has the process group killed with this program.
    pub fn keep(&self, group: u32) -> KeptGroup<'_> {
        self.send(&format!("{group}\n"));
        KeptGroup(self)
    }

    fn send(&self, line: &str) {
        if let Some(pipe) = self.pipe.borrow_mut().as_mut() {
            // If the shell has ended, the group is not protected, and nothing depends on that.
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
