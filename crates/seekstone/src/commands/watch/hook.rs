//! `--exec`: a command of the user's for each event, which nobody waits for.

use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::output;

/// Commands that run at once, at most.
const RUNNING_MAX: usize = 4;

/// A command, and those of it that run.
#[derive(Debug)]
pub struct Hook {
    command: String,
    running: Vec<Child>,
}

impl Hook {
    pub fn new(command: String) -> Self {
        Self {
            command,
            running: Vec::new(),
        }
    }

    /// Run it; what cannot be run is said.
    pub fn run(&mut self, what: &str, event: &Value) {
        self.reap();
        if self.running.len() >= RUNNING_MAX {
            output::complain("warning: --exec is left out, four of its commands still run");
            return;
        }
        let started = Command::new("sh")
            .args(["-c", &self.command])
            .env("SEEKSTONE_WHAT", what)
            .env("SEEKSTONE_EVENT", event.to_string())
            .stdin(Stdio::null())
            .stdout(std::io::stderr())
            .spawn();
        match started {
            Ok(child) => self.running.push(child),
            Err(error) => output::complain(&format!("warning: --exec cannot be run: {error}")),
        }
    }

    /// Let those go that ended.
    pub fn reap(&mut self) {
        let runs = |child: &mut Child| matches!(child.try_wait(), Ok(None));
        self.running.retain_mut(runs);
    }
}
