//! A command on a terminal of 24 rows and 100 columns, which `script` of util-linux provides.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::support::{Scratch, is_installed};

pub struct Terminal {
    child: Child,
    keys: ChildStdin,
    screen: ChildStdout,
    unread: String,
}

impl Terminal {
    /// Whether this machine has what it takes.
    pub fn is_possible() -> bool {
        is_installed("script") && is_installed("timeout")
    }

    /// Begin the shell's command `line` in `directory`. One that does not end is ended.
    pub fn open(scratch: &Scratch, directory: &Path, line: &str) -> Self {
        let line = format!("stty rows 24 cols 100; {line}");
        let mut command = Command::new("timeout");
        command.args(["120", "script", "-qefc", &line, "/dev/null"]);
        scratch.settle(&mut command);
        command.current_dir(directory).env("TERM", "xterm");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("script");
        Self {
            keys: child.stdin.take().expect("a pipe"),
            screen: child.stdout.take().expect("a pipe"),
            unread: String::new(),
            child,
        }
    }

    pub fn press(&mut self, key: &str) {
        self.keys.write_all(key.as_bytes()).expect("a key");
    }

    /// What is written until it has this text, or until the end.
    pub fn read_until(&mut self, shown: &str) -> String {
        let mut bytes = [0; 4096];
        while !self.unread.contains(shown) {
            match self.screen.read(&mut bytes) {
                Ok(0) | Err(_) => break,
                Ok(count) => self
                    .unread
                    .push_str(&String::from_utf8_lossy(&bytes[..count])),
            }
        }
        let found = self.unread.find(shown);
        let rest = found.map_or(self.unread.len(), |at| at + shown.len());
        let rest = self.unread.split_off(rest);
        std::mem::replace(&mut self.unread, rest)
    }

    /// The exit code, and the rest of what was written.
    pub fn end(mut self) -> (Option<i32>, String) {
        let mut after = Vec::new();
        self.screen.read_to_end(&mut after).expect("the rest");
        let ended = self.child.wait().expect("an end");
        let after = format!("{}{}", self.unread, String::from_utf8_lossy(&after));
        (ended.code(), after)
    }
}
