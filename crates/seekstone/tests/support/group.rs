//! Control groups of a test's own.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::{PROGRAM, Scratch, skipped};

/// A control group of the first version, removed when it is dropped.
pub struct Group {
    path: PathBuf,
}

impl Group {
    /// A group; `None`, with a message, where there can be none.
    pub fn new(test: &str, controller: &str) -> Option<Self> {
        let name = format!("seekstone-{}-{test}", std::process::id());
        let path = PathBuf::from("/sys/fs/cgroup").join(controller).join(name);
        match fs::create_dir(&path) {
            Ok(()) => Some(Self { path }),
            Err(error) => {
                skipped(test, &format!("no control group for {controller}: {error}"));
                None
            }
        }
    }

    /// Set a limit; whether the kernel took it.
    pub fn set(&self, file: &str, text: &str) -> bool {
        fs::write(self.path.join(file), text).is_ok()
    }

    /// The program, started inside of the group.
    pub fn command(&self, scratch: &Scratch, args: &[&str]) -> Command {
        let mut command = Command::new("sh");
        let entry = format!(
            "echo $$ > {}/cgroup.procs; exec \"$0\" \"$@\"",
            self.path.display()
        );
        command.arg("-c").arg(entry).arg(PROGRAM).args(args);
        scratch.settle(&mut command);
        command
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.set("freezer.state", "THAWED");
        // Pages that belong to a memory group keep it.
        self.set("memory.force_empty", "1");
        let _ = fs::remove_dir(&self.path);
    }
}
