//! Links between network namespaces of a test's own. They end with their process, also by a panic.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{Scratch, finish, skipped};

/// A link that has not gone by then hangs.
const HANGING: Duration = Duration::from_secs(20);

/// A link under way.
pub struct Link {
    /// The namespace at its first end.
    pub near: String,
    /// The namespace at its second end.
    pub far: String,
    pid_file: PathBuf,
}

impl Link {
    /// A link; `None`, with a message, where there can be none.
    pub fn new(test: &str, scratch: &Scratch, options: &[&str]) -> Option<Self> {
        let name = |end: &str| format!("ss-{}-{end}", std::process::id());
        let (near, far) = (name(&format!("{test}-n")), name(&format!("{test}-f")));
        let tried = Command::new("ip").args(["netns", "list"]).output();
        let is_root = rustix::process::geteuid().is_root();
        if tried.is_err() || !is_root || !PathBuf::from("/dev/net/tun").exists() {
            skipped(test, "a link needs root, iproute2 and /dev/net/tun");
            return None;
        }
        let ends = ["wire", &near, "10.90.0.1/24", &far, "10.90.0.2/24"];
        let pid_file = scratch.path(&format!("{test}.pid"));
        let mut command = scratch.seekstone(ends);
        command.args(options).arg("--background");
        command.arg("--pid-file").arg(&pid_file);
        finish(command).check(options, 0, "the link is up");
        Some(Self {
            near,
            far,
            pid_file,
        })
    }

    /// Whether its namespaces are there.
    pub fn is_there(near: &str, far: &str) -> [bool; 2] {
        [near, far].map(|it| PathBuf::from("/run/netns").join(it).exists())
    }

    /// The process that carries its packets.
    pub fn pid(&self) -> Option<Pid> {
        let text = fs::read_to_string(&self.pid_file).ok()?;
        Pid::from_raw(text.trim().parse().ok()?)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let Some(pid) = self.pid() else {
            return;
        };
        let _ = kill_process(pid, Signal::TERM);
        let begun = Instant::now();
        while self.pid_file.exists() && begun.elapsed() < HANGING {
            std::thread::yield_now();
        }
    }
}
